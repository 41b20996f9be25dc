/* dropout.c - dropout of elements and of whole channels, as products with noise. As in PyTorch, one
 * random number is drawn per element of the noise. */
#include <math.h>

#include "ops/compose.h"
#include "op/alpha_dropout.h"
#include "op/bernoulli_.h"
#include "op/copy_.h"
#include "op/div.h"
#include "op/dropout.h"
#include "op/dropout1d.h"
#include "op/dropout2d.h"
#include "op/dropout3d.h"
#include "op/feature_alpha_dropout.h"

/* For channels the noise has the shape [n, channels, 1, ...]. */
typedef struct kind {
    bool channels, alpha;
} kind;

#define ALPHA 1.7580993408473766 /* the negative of selu's limit */

static lt_tensor *do_noise(lt_scope *s, lt_tensor *input, double p, bool channels)
{
    lt_tensor *noise = NULL;
    lt_dims sizes = lt_dims_of(input);
    for (int d = 2; d < sizes.n; d++) sizes.v[d] = 1;
    if (s->status != LT_OK) return NULL;
    lt_status status =
        channels ? lt_tensor_new((lt_dtype)input->dtype, input->device, sizes.n, sizes.v, &noise)
                 : lt_tensor_like(input, (lt_dtype)input->dtype, input->device, &noise);
    noise = lt_scope_hold(s, status, noise);
    if (s->status == LT_OK) s->status = lt_bernoulli_(noise, 1 - p, NULL);
    return noise;
}

static lt_status finish_dropout(lt_scope *s, lt_tensor *input, lt_tensor *result, bool inplace,
                                lt_tensor **out)
{
    if (inplace && s->status == LT_OK) s->status = lt_copy_(input, result, false);
    return lt_scope_return(s, inplace ? input : result, out);
}

static lt_status do_dropout(kind k, lt_tensor *input, double p, bool training, bool inplace,
                            lt_tensor **out)
{
    if (!(p >= 0 && p <= 1))
        return lt_error(LT_ERR_RUNTIME, "dropout probability has to be between 0 and 1, but got %g",
                        p);
    if (!training || p == 0 || input->numel == 0) {
        *out = lt_tensor_retain(input);
        return LT_OK;
    }
    if (k.channels && input->ndim < 2)
        return lt_error(LT_ERR_RUNTIME,
                        "Feature dropout requires at least 2 dimensions in the input");
    lt_scope s;
    lt_scope_open(&s, true);
    if (p == 1) {
        lt_tensor *zero = do_zeros(&s, input, &(lt_dims){.n = 0});
        return finish_dropout(&s, input, do_mul(&s, input, zero), inplace, out);
    }
    lt_tensor *noise = do_noise(&s, input, p, k.channels);
    if (!k.alpha) {
        lt_tensor *kept = do_number(&s, 1 - p);
        if (s.status == LT_OK) s.status = lt_div_(noise, kept);
        return finish_dropout(&s, input, do_mul(&s, input, noise), inplace, out);
    }
    const double a = 1 / sqrt((ALPHA * ALPHA * p + 1) * (1 - p));
    lt_tensor *shift = plus(&s, times(&s, plus(&s, noise, -1), ALPHA * a), ALPHA * a * p);
    return finish_dropout(&s, input, do_add(&s, do_mul(&s, input, times(&s, noise, a)), shift),
                          inplace, out);
}

lt_status lt_dropout_impl(lt_tensor *input, double p, bool training, lt_tensor **out)
{
    return do_dropout((kind){false, false}, input, p, training, false, out);
}

lt_status lt_dropout_nn_impl(lt_tensor *input, double p, bool training, bool inplace,
                             lt_tensor **out)
{
    return do_dropout((kind){false, false}, input, p, training, inplace, out);
}

lt_status lt_alpha_dropout_impl(lt_tensor *input, double p, bool training, bool inplace,
                                lt_tensor **out)
{
    return do_dropout((kind){false, true}, input, p, training, inplace, out);
}

lt_status lt_feature_alpha_dropout_impl(lt_tensor *input, double p, bool training, bool inplace,
                                        lt_tensor **out)
{
    return do_dropout((kind){true, true}, input, p, training, inplace, out);
}

/* An input without a batch dimension (`ndim` dimensions) is a batch of one. */
static lt_status drop_channels(lt_tensor *input, int ndim, double p, bool training, bool inplace,
                               lt_tensor **out)
{
    lt_scope s;
    if (input->ndim != ndim)
        return do_dropout((kind){true, false}, input, p, training, inplace, out);
    if (!training || p == 0)
        return do_dropout((kind){false, false}, input, p, training, inplace, out);
    lt_tensor *result = NULL;
    lt_scope_open(&s, true);
    lt_tensor *batch = do_unsqueeze(&s, input, 0);
    if (s.status == LT_OK) {
        lt_status status = do_dropout((kind){true, false}, batch, p, training, false, &result);
        result = lt_scope_hold(&s, status, result);
    }
    return finish_dropout(&s, input, do_squeeze_dim(&s, result, 0), inplace, out);
}

lt_status lt_dropout1d_impl(lt_tensor *input, double p, bool training, bool inplace,
                            lt_tensor **out)
{
    if (input->ndim != 2 && input->ndim != 3)
        return lt_error(LT_ERR_RUNTIME,
                        "dropout1d: Expected 2D or 3D input, but received a %dD input.",
                        input->ndim);
    return drop_channels(input, 2, p, training, inplace, out);
}

/* PyTorch interprets three dimensions as [n, channels, l] here. */
lt_status lt_dropout2d_impl(lt_tensor *input, double p, bool training, bool inplace,
                            lt_tensor **out)
{
    return do_dropout((kind){true, false}, input, p, training, inplace, out);
}

lt_status lt_dropout3d_impl(lt_tensor *input, double p, bool training, bool inplace,
                            lt_tensor **out)
{
    return drop_channels(input, 4, p, training, inplace, out);
}
