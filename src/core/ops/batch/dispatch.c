/* dispatch.c - an op with batched arguments: selects the level to handle and the rule, and rejects
 * unsupported calls. */
#include <string.h>

#include "batch.h"
#include "levels.h"

bool lt_any_batched(const lt_tensor_list *list)
{
    for (int64_t i = 0; i < list->n; i++)
        if (lt_is_batched(list->v[i])) return true;
    return false;
}

static unsigned batches_of(const lt_tensor *t)
{
    return t != NULL ? t->flags & LT_FLAGS_BATCHES : 0;
}

static unsigned batches_of_all(const lt_batch_call *c)
{
    unsigned found = 0;
    for (int i = 0; i < c->op->n_args; i++) {
        if (c->op->args[i].kind == LT_BATCH_TENSOR) found |= batches_of(c->v[i].tensor);
        for (int64_t k = 0; c->op->args[i].kind == LT_BATCH_LIST && k < c->v[i].list.n; k++)
            found |= batches_of(c->v[i].list.v[k]);
    }
    return found;
}

static lt_status refuse_inplace(const lt_batch_call *c, int level)
{
    const lt_batch_op *op = c->op;
    const char *other = "other";
    for (int i = op->n_args - 1; i > 0; i--)
        if (op->args[i].kind == LT_BATCH_TENSOR && lt_batch_has(c->v[i].tensor, level))
            other = op->args[i].name;
    const int length = (int)strlen(op->name) - 1;
    return lt_error(
        LT_ERR_RUNTIME,
        "vmap: aten::%s(self, *extra_args) is not possible because there exists a Tensor `%s` in "
        "extra_args that has more elements than `self`. This happened due to `%s` being vmapped "
        "over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
        "operators instead of %s. If said operator is being called inside the library, please file "
        "a bug report instead. (The out-of-place operator is %.*s.)",
        op->name, other, other, op->name, length, op->name);
}

static lt_status refuse_value(const lt_batch_call *c)
{
    return lt_error(LT_ERR_RUNTIME,
                    "vmap: It looks like you're attempting to use a Tensor in some data-dependent "
                    "control flow. We don't support that yet: %s() has a result that differs from "
                    "sample to sample and is no Tensor.",
                    c->op->name);
}

/* A random op without a batched argument. */
static lt_status check_randomness(lt_batch_call *c, int level)
{
    const lt_batch_level *l = &lt_batch_levels[level];
    if (l->randomness == LT_RANDOM_ERROR)
        return lt_error(LT_ERR_RUNTIME,
                        "vmap: called random operation while in randomness error mode. Please "
                        "either use the 'same' or 'different' randomness flags on vmap or perform "
                        "the randomness operation out of vmap");
    if (l->randomness == LT_RANDOM_SAME || c->op->form == LT_BATCH_INPLACE) {
        if (l->randomness == LT_RANDOM_DIFFERENT)
            return lt_error(LT_ERR_RUNTIME,
                            "vmap: Cannot ask for different inplace randomness on an unbatched "
                            "tensor. This will appear like same randomness. If this is necessary "
                            "for your usage, please file an issue with functorch.");
        lt_tls.batches--;
        lt_status status = c->op->run(c);
        lt_tls.batches++;
        return status;
    }
    const uint8_t outer = lt_tls.batches;
    lt_tls.batches = (uint8_t)level;
    lt_status status = lt_batch_loop(c, level, l->size);
    lt_tls.batches = outer;
    return status;
}

/* A random op outside vmap with tensors left over from one. */
static lt_status outside(lt_batch_call *c)
{
    const bool left = atomic_load_explicit(&lt_batched_tensors, memory_order_relaxed) > 0;
    lt_tls.batches = 0;
    lt_status status = c->op->run(c);
    lt_tls.batches = left ? LT_BATCHES_LEFT : 0;
    return status;
}

static lt_status done_at(lt_batch_call *c, int level)
{
    const lt_batch_op *op = c->op;
    const int64_t size = lt_batch_levels[level].size;
    if (op->random && lt_batch_levels[level].randomness != LT_RANDOM_DIFFERENT) {
        if (lt_batch_levels[level].randomness == LT_RANDOM_ERROR) return check_randomness(c, level);
        return lt_error(LT_ERR_RUNTIME,
                        "vmap: %s() of a batched tensor with randomness 'same' is not supported: "
                        "draw once outside of vmap, or of a tensor that is not batched",
                        op->name);
    }
    if (op->form == LT_BATCH_INPLACE && op->args[0].kind == LT_BATCH_TENSOR &&
        !lt_batch_has(c->v[0].tensor, level))
        return refuse_inplace(c, level);
    /* An op that draws numbers for all samples at once must not draw again for this level. */
    const uint8_t outer = lt_tls.batches;
    if (op->random) lt_tls.batches = (uint8_t)level;
    lt_status status = op->rule != NULL ? op->rule(c, level, size) : lt_batch_loop(c, level, size);
    lt_tls.batches = outer;
    return status;
}

lt_status lt_batch_do(lt_batch_call *c)
{
    const unsigned found = batches_of_all(c);
    int level = LT_MAX_BATCHES - 1;
    if (found == 0)
        return lt_batch_depth() > 0 ? check_randomness(c, lt_batch_depth() - 1) : outside(c);
    while (!(found & (unsigned)LT_FLAG_FIRST_BATCH << level)) level--;
    if (level >= lt_batch_depth())
        return lt_error(LT_ERR_RUNTIME,
                        "%s(): got a Tensor of a vmap that has ended: return values from the "
                        "function that vmap calls",
                        c->op->name);
    if (!c->op->tensors) return refuse_value(c);
    if (c->op->form == LT_BATCH_OUT)
        return lt_error(LT_ERR_RUNTIME,
                        "vmap: %s() with out= is not possible for batched tensors: use its result",
                        c->op->name);
    if (c->op->form == LT_BATCH_INPLACE_VIEW)
        return lt_error(LT_ERR_RUNTIME,
                        "vmap: %s() changes the sizes of a batched tensor in place: use the "
                        "operator that returns a new tensor",
                        c->op->name);
    return done_at(c, level);
}
