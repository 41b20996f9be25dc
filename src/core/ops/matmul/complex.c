/* complex.c - products of complex matrices as one product of real ones. The rows of A are read in
 * place as pairs of real numbers, and every row b of B becomes the two rows of pairs b and i b: A B
 * is then a real product of matrices m x 2k and 2k x 2n, and its rows are pairs again. It takes as
 * many multiplications as a complex product. */
#include "complex.h"
#include "dims.h"

#include "ops/complex/complex.h"
#include "ops/compose.h"
#include "op/bmm.h"
#include "op/mm.h"

/* New reference: a as real rows of pairs, [..., 2 * last]. */
static lt_status as_pairs(lt_tensor *a, lt_tensor **out)
{
    lt_tensor *dense = NULL, *parts = NULL;
    lt_dims sizes = lt_dims_of(a);
    int64_t strides[LT_MAX_DIMS];
    lt_status status;
    LT_CHECK(lt_make_contiguous(a, &dense));
    LT_CHECK(lt_parts_of(dense, &parts));
    sizes.v[sizes.n - 1] *= 2;
    lt_contiguous_strides(sizes.n, sizes.v, strides);
    LT_CHECK(lt_tensor_view(parts, sizes.n, sizes.v, strides, parts->offset, out));
done:
    lt_tensor_release(parts);
    lt_tensor_release(dense);
    return status;
}

/* New reference: each row b of the matrices as b and i b, real rows of pairs: [..., 2 rows, 2
 * columns]. */
static lt_status doubled_rows(lt_tensor *b, lt_tensor **out)
{
    const int d = b->ndim - 2;
    lt_tensor *twice = NULL, *rows[2] = {NULL, NULL}, *turned = NULL, *i = NULL;
    lt_dims sizes = lt_dims_of(b), lines = sizes;
    int64_t strides[LT_MAX_DIMS];
    lt_status status;
    LT_CHECK(lt_dims_insert(&lines, d + 1, 2));
    LT_CHECK(lt_tensor_new((lt_dtype)b->dtype, b->device, lines.n, lines.v, &twice));
    for (int k = 0; k < d; k++) strides[k] = twice->strides[k];
    strides[d] = twice->strides[d], strides[d + 1] = 1;
    for (int k = 0; k < 2; k++)
        LT_CHECK(lt_tensor_view(twice, sizes.n, sizes.v, strides, k * sizes.v[d + 1], &rows[k]));
    LT_CHECK(lt_copy_elements(rows[0], b));
    lt_scope s;
    lt_scope_open(&s, false);
    i = do_scalar(&s, lt_scalar_from_complex(0, 1));
    turned = do_mul(&s, b, i);
    if (s.status == LT_OK) s.status = lt_copy_elements(rows[1], turned);
    LT_CHECK(lt_scope_close(&s));
    lt_tensor *pairs = NULL;
    LT_CHECK(as_pairs(twice, &pairs));
    sizes.v[d] *= 2, sizes.v[d + 1] *= 2;
    lt_contiguous_strides(sizes.n, sizes.v, strides);
    status = lt_tensor_view(pairs, sizes.n, sizes.v, strides, pairs->offset, out);
    lt_tensor_release(pairs);
done:
    lt_tensor_release(rows[0]);
    lt_tensor_release(rows[1]);
    lt_tensor_release(twice);
    return status;
}

/* New: a b of complex matrices or batches of them, contiguous. */
static lt_status multiplied(lt_tensor *a, lt_tensor *b, lt_tensor **out)
{
    const int d = a->ndim - 2;
    lt_tensor *left = NULL, *right = NULL, *product = NULL, *real = NULL;
    lt_dims sizes = lt_dims_of(a);
    lt_status status;
    sizes.v[d + 1] = b->sizes[d + 1];
    LT_CHECK(lt_tensor_new((lt_dtype)a->dtype, a->device, sizes.n, sizes.v, &product));
    if (product->numel > 0) {
        LT_CHECK(as_pairs(a, &left));
        LT_CHECK(doubled_rows(b, &right));
        LT_CHECK(as_pairs(product, &real));
        LT_CHECK(d > 0 ? lt_bmm_out(left, right, real) : lt_mm_out(left, right, real));
    }
    *out = lt_tensor_retain(product);
done:
    lt_tensor_release(left);
    lt_tensor_release(right);
    lt_tensor_release(real);
    lt_tensor_release(product);
    return status;
}

lt_status lt_complex_product(lt_tensor *start, lt_tensor *a, lt_tensor *b, lt_scalar beta,
                             lt_scalar alpha, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, false);
    const bool row = a->ndim == 1, column = b->ndim == 1;
    lt_tensor *left = row ? do_unsqueeze(&s, a, 0) : a,
              *right = column ? do_unsqueeze(&s, b, 1) : b, *result = NULL;
    if (s.status == LT_OK) s.status = multiplied(left, right, &result);
    result = lt_scope_hold(&s, s.status, result);
    if (column) result = do_squeeze_dim(&s, result, -1);
    if (row) result = do_squeeze_dim(&s, result, 0);
    const bool scales = !lt_scalar_equals(alpha, 1);
    if (scales) result = do_mul(&s, result, do_scalar(&s, alpha));
    if (start != NULL && !lt_scalar_equals(beta, 0))
        result = do_add(&s, result, do_mul(&s, start, do_scalar(&s, beta)));
    return lt_scope_store(&s, result, out);
}
