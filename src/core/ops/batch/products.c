/* products.c - batching rules of products of matrices and of convolutions. */
#include "batch.h"
#include "dims.h"
#include "ops/compose.h"
#include "op/add.h"
#include "op/convolution.h"
#include "op/linear.h"
#include "op/matmul.h"
#include "op/movedim.h"
#include "op/reshape.h"
#include "op/squeeze.h"
#include "op/transpose.h"
#include "op/unsqueeze.h"

/* New reference: the operand with its batch first, as matrices: a vector as a row, or as a column.
 * It has `ndim` other dimensions. */
static lt_status as_matrices(lt_tensor *t, int level, bool column, int ndim, lt_tensor **out)
{
    lt_tensor *shown = NULL;
    const bool vector = t->ndim == 1;
    lt_status status = LT_OK;
    if (!lt_batch_has(t, level)) {
        shown = lt_tensor_retain(t);
    } else {
        LT_TRY(lt_batch_show(t, level, &shown));
    }
    if (vector) {
        lt_tensor *matrix = NULL;
        LT_CHECK(lt_unsqueeze(shown, column ? -1 : -2, &matrix));
        lt_tensor_release(shown);
        shown = matrix;
    }
    while (lt_batch_has(t, level) && shown->ndim - 1 < ndim) {
        lt_tensor *longer = NULL;
        LT_CHECK(lt_unsqueeze(shown, 1, &longer));
        lt_tensor_release(shown);
        shown = longer;
    }
    *out = lt_tensor_retain(shown);
done:
    lt_tensor_release(shown);
    return status;
}

static int dims_as_matrix(const lt_tensor *t) { return t->ndim > 1 ? t->ndim : 2; }

lt_status lt_batch_matmul(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *a = c->v[0].tensor, *b = c->v[1].tensor;
    lt_tensor *left = NULL, *right = NULL, *product = NULL;
    lt_status status;
    if (a->ndim == 0 || b->ndim == 0) return lt_batch_loop(c, level, size);
    const int ndim = dims_as_matrix(a) > dims_as_matrix(b) ? dims_as_matrix(a) : dims_as_matrix(b);
    LT_CHECK(as_matrices(a, level, false, ndim, &left));
    LT_CHECK(as_matrices(b, level, true, ndim, &right));
    LT_CHECK(lt_matmul(left, right, &product));
    for (int i = 0; i < 2; i++) {
        lt_tensor *vector = NULL;
        if ((i == 0 ? b : a)->ndim != 1) continue;
        LT_CHECK(lt_squeeze_dim(product, i == 0 || b->ndim == 1 ? -1 : -2, &vector));
        lt_tensor_release(product);
        product = vector;
    }
    LT_CHECK(lt_batch_hide(product, level, &c->r[0].tensor));
done:
    lt_tensor_release(left);
    lt_tensor_release(right);
    lt_tensor_release(product);
    return status;
}

lt_status lt_batch_linear(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *input = c->v[0].tensor, *weight = c->v[1].tensor, *bias = c->v[2].tensor;
    lt_tensor *turned = NULL, *product = NULL;
    lt_status status;
    if (!lt_batch_has(weight, level) && !lt_batch_has(bias, level))
        return lt_batch_front(c, level, size);
    if (weight->ndim == 2) {
        LT_CHECK(lt_transpose(weight, 0, 1, &turned));
    } else {
        turned = lt_tensor_retain(weight);
    }
    LT_CHECK(lt_matmul(input, turned, &product));
    if (bias != NULL) {
        LT_CHECK(lt_add(product, bias, lt_scalar_from_int(1), &c->r[0].tensor));
    } else {
        c->r[0].tensor = lt_tensor_retain(product);
    }
done:
    lt_tensor_release(turned);
    lt_tensor_release(product);
    return status;
}

/* ---- convolutions ---------------------------------------------------------------------------- */

lt_status lt_batch_beside(lt_tensor *shown, lt_tensor **out)
{
    lt_tensor *turned = NULL;
    lt_status status;
    LT_CHECK(lt_transpose(shown, 0, 1, &turned));
    lt_dims size = {.n = turned->ndim - 1,
                    .v = {turned->sizes[0], turned->sizes[1] * turned->sizes[2]}};
    for (int d = 2; d < size.n; d++) size.v[d] = turned->sizes[d + 1];
    LT_CHECK(lt_reshape(turned, &size, out));
done:
    lt_tensor_release(turned);
    return status;
}

lt_status lt_batch_outer_products(lt_tensor *t, int64_t size, lt_tensor **out)
{
    lt_tensor *parts = NULL;
    lt_status status;
    lt_dims dims = lt_dims_of(t);
    dims.v[1] /= size;
    LT_TRY(lt_dims_insert(&dims, 1, size));
    LT_CHECK(lt_reshape(t, &dims, &parts));
    LT_CHECK(lt_transpose(parts, 0, 1, out));
done:
    lt_tensor_release(parts);
    return status;
}

static lt_status convolve_inner(const lt_batch_call *c, lt_tensor *input, lt_tensor *weight,
                                lt_tensor *bias, int64_t groups, lt_tensor **out)
{
    return lt_convolution(input, weight, bias, &c->v[3].dims, &c->v[4].dims, &c->v[5].dims,
                          c->v[6].b, &c->v[7].dims, groups, out);
}

/* One weight: the samples' images are joined into one batch. */
static lt_status by_one_weight(lt_batch_call *c, int level, int64_t size, lt_tensor **out)
{
    lt_tensor *shown = NULL, *images = NULL, *made = NULL;
    lt_status status;
    LT_CHECK(lt_batch_show(c->v[0].tensor, level, &shown));
    LT_CHECK(lt_batch_join(shown, &images));
    LT_CHECK(convolve_inner(c, images, c->v[1].tensor, c->v[2].tensor, c->v[8].i, &made));
    LT_CHECK(lt_batch_part(made, size, out));
done:
    lt_tensor_release(shown);
    lt_tensor_release(images);
    lt_tensor_release(made);
    return status;
}

/* A weight per sample: the samples become groups of channels. */
static lt_status by_own_weights(lt_batch_call *c, int level, int64_t size, lt_tensor **out)
{
    lt_tensor *input = NULL, *images = NULL, *weights = NULL, *weight = NULL, *biases = NULL,
              *bias = NULL, *made = NULL;
    lt_status status;
    LT_CHECK(lt_batch_show(c->v[0].tensor, level, &input));
    LT_CHECK(lt_batch_beside(input, &images));
    LT_CHECK(lt_batch_show(c->v[1].tensor, level, &weights));
    LT_CHECK(lt_batch_join(weights, &weight));
    if (c->v[2].tensor != NULL) {
        LT_CHECK(lt_batch_show(c->v[2].tensor, level, &biases));
        LT_CHECK(lt_batch_join(biases, &bias));
    }
    LT_CHECK(convolve_inner(c, images, weight, bias, c->v[8].i * size, &made));
    LT_CHECK(lt_batch_outer_products(made, size, out));
done:
    lt_tensor_release(input);
    lt_tensor_release(images);
    lt_tensor_release(weights);
    lt_tensor_release(weight);
    lt_tensor_release(biases);
    lt_tensor_release(bias);
    lt_tensor_release(made);
    return status;
}

lt_status lt_batch_convolution(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *made = NULL;
    if (size == 0 || c->v[0].tensor->ndim != c->v[1].tensor->ndim)
        return lt_batch_loop(c, level, size);
    const bool one = !lt_batch_has(c->v[1].tensor, level) && !lt_batch_has(c->v[2].tensor, level);
    LT_TRY(one ? by_one_weight(c, level, size, &made) : by_own_weights(c, level, size, &made));
    lt_status status = lt_batch_hide(made, level, &c->r[0].tensor);
    lt_tensor_release(made);
    return status;
}
