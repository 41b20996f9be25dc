/* levels.c - the active vmap levels of this thread, and views of tensors with and without their
 * batch dimensions. */
#include "batch.h"
#include "dims.h"
#include "ops/compose.h"
#include "levels.h"
#include "ops/common.h"
#include "op/expand.h"
#include "op/permute.h"
#include "op/unsqueeze.h"

_Thread_local lt_batch_level lt_batch_levels[LT_MAX_BATCHES];

static unsigned bit(int level) { return (unsigned)LT_FLAG_FIRST_BATCH << level; }
static unsigned batches_of(const lt_tensor *t) { return t->flags & LT_FLAGS_BATCHES; }
/* The levels below `count`. */
static unsigned below(int count) { return (bit(count) - 1) & LT_FLAGS_BATCHES; }

lt_status lt_batch_enter(int64_t size, lt_batch_randomness randomness, int *level)
{
    if (lt_batch_depth() == LT_MAX_BATCHES)
        return lt_error(LT_ERR_RUNTIME, "vmap: more than %d calls of vmap inside of each other",
                        LT_MAX_BATCHES);
    *level = lt_batch_depth();
    lt_batch_levels[*level] = (lt_batch_level){size, randomness};
    lt_tls.batches++;
    return LT_OK;
}

void lt_batch_leave(void)
{
    const bool left = atomic_load_explicit(&lt_batched_tensors, memory_order_relaxed) > 0;
    lt_tls.batches = (uint8_t)((lt_batch_depth() - 1) | (left ? LT_BATCHES_LEFT : 0));
}

/* New reference: a view of `whole`, which shows all levels, with these levels, its first
 * dimensions, hidden. */
static lt_status hide_batches(lt_tensor *whole, unsigned batches, lt_tensor **out)
{
    if (batches != 0) return lt_tensor_hide(whole, batches, out);
    *out = lt_tensor_retain(whole);
    return LT_OK;
}

static lt_tensor *whole_of(lt_tensor *t) { return lt_is_batched(t) ? t->view_base : t; }

lt_status lt_batch_hide(lt_tensor *t, int level, lt_tensor **out)
{
    return hide_batches(whole_of(t), batches_of(t) | bit(level), out);
}

/* New reference: whole with its first n dimensions permuted by `order`. */
static lt_status reordered(lt_tensor *whole, const int *order, int n, lt_tensor **out)
{
    lt_dims dims = {.n = whole->ndim};
    bool same = true;
    for (int d = 0; d < whole->ndim; d++) {
        dims.v[d] = d < n ? order[d] : d;
        same = same && dims.v[d] == d;
    }
    if (!same) return lt_permute(whole, &dims, out);
    *out = lt_tensor_retain(whole);
    return LT_OK;
}

/* A permutation of dimensions that are ordered by level: the levels of `first`, then the levels of
 * `second`, each in order. */
static int order_of(unsigned first, unsigned second, int *order)
{
    int n = 0;
    for (int pass = 0; pass < 2; pass++) {
        int place = 0;
        for (int level = 0; level < LT_MAX_BATCHES; level++) {
            if (!((first | second) & bit(level))) continue;
            if ((pass == 0 ? first : second) & bit(level)) order[n++] = place;
            place++;
        }
    }
    return n;
}

/* New reference: t, which lacks the level, expanded along it. */
static lt_status repeated(lt_tensor *t, int level, lt_tensor **out)
{
    lt_tensor *one = NULL, *many = NULL, *whole = whole_of(t);
    const unsigned before = batches_of(t);
    const int place = __builtin_popcount(before & below(level));
    lt_dims size = lt_dims_of(whole);
    lt_status status;
    LT_TRY(lt_dims_insert(&size, place, lt_batch_levels[level].size));
    LT_CHECK(lt_unsqueeze(whole, place, &one));
    LT_CHECK(lt_expand(one, &size, &many));
    LT_CHECK(hide_batches(many, before | bit(level), out));
done:
    lt_tensor_release(one);
    lt_tensor_release(many);
    return status;
}

lt_status lt_batch_show(lt_tensor *t, int level, lt_tensor **out)
{
    lt_tensor *with = NULL, *whole = NULL;
    lt_status status;
    if (!lt_batch_has(t, level)) {
        LT_CHECK(repeated(t, level, &with));
    } else {
        with = lt_tensor_retain(t);
    }
    int order[LT_MAX_BATCHES];
    const unsigned hidden = batches_of(with) & ~bit(level);
    const int n = order_of(hidden, bit(level), order);
    LT_CHECK(reordered(whole_of(with), order, n, &whole));
    LT_CHECK(hide_batches(whole, hidden, out));
done:
    lt_tensor_release(with);
    lt_tensor_release(whole);
    return status;
}

lt_status lt_batch_show_below(lt_tensor *t, int count, lt_tensor **out)
{
    lt_tensor *with = lt_tensor_retain(t), *whole = NULL;
    lt_status status = LT_OK;
    for (int level = 0; level < count; level++) {
        lt_tensor *more = NULL;
        if (lt_batch_has(with, level)) continue;
        LT_CHECK(repeated(with, level, &more));
        lt_tensor_release(with);
        with = more;
    }
    int order[LT_MAX_BATCHES];
    const unsigned hidden = batches_of(with) & ~below(count);
    const int n = order_of(hidden, below(count), order);
    LT_CHECK(reordered(whole_of(with), order, n, &whole));
    LT_CHECK(hide_batches(whole, hidden, out));
done:
    lt_tensor_release(with);
    lt_tensor_release(whole);
    return status;
}

lt_status lt_batch_hide_below(lt_tensor *t, int count, lt_tensor **out)
{
    lt_tensor *whole = NULL;
    lt_status status;
    int order[LT_MAX_BATCHES], back[LT_MAX_BATCHES];
    const unsigned hidden = batches_of(t);
    const int n = order_of(hidden, below(count), order);
    for (int i = 0; i < n; i++) back[order[i]] = i;
    LT_CHECK(reordered(whole_of(t), back, n, &whole));
    LT_CHECK(hide_batches(whole, hidden | below(count), out));
done:
    lt_tensor_release(whole);
    return status;
}

lt_status lt_batch_zeros(const lt_tensor *like, const lt_dims *sizes, lt_tensor **out)
{
    const unsigned batches = batches_of(like);
    lt_dims whole = {.n = 0};
    lt_tensor *t = NULL;
    for (int level = 0; level < LT_MAX_BATCHES; level++)
        if (batches & bit(level))
            LT_TRY(lt_dims_insert(&whole, whole.n, lt_batch_levels[level].size));
    for (int d = 0; d < sizes->n; d++) LT_TRY(lt_dims_insert(&whole, whole.n, sizes->v[d]));
    LT_TRY(lt_tensor_new((lt_dtype)like->dtype, like->device, whole.n, whole.v, &t));
    lt_status status = lt_fill_value(t, lt_scalar_from_int(0));
    if (status == LT_OK) status = hide_batches(t, batches, out);
    lt_tensor_release(t);
    return status;
}
