/* batch.h - vmap: ops on tensors with leading batch dimensions that the mapped function does not
 * see.
 *
 * A call of vmap is a level; the function gets its tensors without the mapped dimension. Such a
 * batched tensor has the sizes of one sample; its flags record its levels, and view_base is the
 * tensor with all levels shown, as its first dimensions in the order of the levels. Showing or
 * hiding a level makes a view of the same memory and records nothing. Autograd records only ops on
 * tensors with all levels shown, so it is independent of batches, and the derivative of a whole
 * batch is the derivative of each sample.
 *
 * The wrapper of every op (scripts/gen/batches.lua) tests lt_tls.batches, and checks its arguments
 * only while a vmap is active. With a batched argument lt_batch_do executes the op: it shows the
 * highest level, and the op's rule (rules.c) treats one more leading dimension; the rule calls the
 * op again, which handles the next level in the same way. */
#ifndef LT_OPS_BATCH_H
#define LT_OPS_BATCH_H

#include "context/context.h"
#include "error.h"
#include "tensor.h"

#define LT_BATCH_ARGS    18
#define LT_BATCH_RESULTS 5

/* ---- levels ---------------------------------------------------------------------------------- */

typedef enum lt_batch_randomness {
    LT_RANDOM_ERROR,
    LT_RANDOM_DIFFERENT,
    LT_RANDOM_SAME
} lt_batch_randomness;

/* Begins a vmap on this thread, over `size` samples; levels count from 0. */
lt_status lt_batch_enter(int64_t size, lt_batch_randomness randomness, int *level);
/* Ends the innermost vmap. */
void lt_batch_leave(void);

/* New reference: t with its first dimension hidden at the level, which must be above all levels of
 * t. */
lt_status lt_batch_hide(lt_tensor *t, int level, lt_tensor **out);
/* New reference: t with the level shown as its first dimension; levels above it stay hidden.
 * Expanded along it if t lacks the level. */
lt_status lt_batch_show(lt_tensor *t, int level, lt_tensor **out);
/* New reference: t with all levels below `count` shown, in order, expanded along levels that it
 * lacks; the other levels hidden. */
lt_status lt_batch_show_below(lt_tensor *t, int count, lt_tensor **out);
/* New reference: the reverse of lt_batch_show_below. */
lt_status lt_batch_hide_below(lt_tensor *t, int count, lt_tensor **out);

/* New reference: zeros with like's dtype and device, of these sizes and batched like it, so that
 * samples can be written to them. */
lt_status lt_batch_zeros(const lt_tensor *like, const lt_dims *sizes, lt_tensor **out);

/* ---- ops ------------------------------------------------------------------------------------- */

typedef enum lt_batch_kind {
    LT_BATCH_TENSOR,
    LT_BATCH_LIST,
    LT_BATCH_DIM,
    LT_BATCH_DIMS,
    LT_BATCH_REDUCED_DIMS, /* an empty list stands for all dims */
    LT_BATCH_SIZE,
    LT_BATCH_VALUE /* passed on unchanged */
} lt_batch_kind;

typedef struct lt_batch_arg {
    const char *name;
    lt_batch_kind kind;
} lt_batch_arg;

typedef union lt_batch_slot {
    lt_tensor *tensor;
    lt_tensor_list list;
    lt_scalar scalar;
    int64_t i;
    double d;
    bool b;
    const char *s;
    lt_dims dims;
    lt_dtype dtype;
    lt_device device;
    lt_generator *generator;
} lt_batch_slot;

/* A call: arguments are borrowed, results are new references. */
typedef struct lt_batch_call {
    const struct lt_batch_op *op;
    lt_batch_slot v[LT_BATCH_ARGS];
    bool present[LT_BATCH_ARGS];
    lt_batch_slot r[LT_BATCH_RESULTS];
} lt_batch_call;

typedef struct lt_batch_op lt_batch_op;

/* level: the level to handle; size: its number of samples. */
typedef lt_status (*lt_batch_rule)(lt_batch_call *c, int level, int64_t size);

typedef enum lt_batch_form {
    LT_BATCH_NEW,
    LT_BATCH_INPLACE,
    LT_BATCH_OUT,
    LT_BATCH_INPLACE_VIEW
} lt_batch_form;

struct lt_batch_op {
    const char *name;
    lt_batch_form form;
    bool random;
    int n_args, n_results;
    bool tensors;    /* all results are tensors, or lists of them */
    bool gives_list; /* the only result is a list */
    const lt_batch_arg *args;
    lt_status (*run)(lt_batch_call *c);
    lt_batch_rule rule; /* NULL: sample by sample */
    /* of an in-place op: the out-of-place op, if it has a rule */
    const lt_batch_op *result;
};

/* Executes an op with a batched argument, or a random op. */
lt_status lt_batch_do(lt_batch_call *c);

bool lt_any_batched(const lt_tensor_list *list);

/* ---- rules (a file for each kind of op), selected by `batch` of a declaration ---------------- */

lt_status lt_batch_broadcast(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_dims(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_new_dim(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_expand(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_permute(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_resampled(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_front(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_whole(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_strided(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_turn(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_squeeze(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_nll(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_loss(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_index_select(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_by_index(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_embedding(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_scaled_rows(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_batch_norm(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_fold(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_joined(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_matmul(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_linear(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_addmm(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_addbmm(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_addr(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_convolution(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_attention(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_group_norm(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_by_tensors(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_each_index(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_trace(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_filled(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_masked_fill(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_index_fill(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_searched(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_conv_input(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_conv_weight(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_pooled(lt_batch_call *c, int level, int64_t size);
lt_status lt_batch_nll_backward(lt_batch_call *c, int level, int64_t size);
/* In place: copies the result of the out-of-place op into self. */
lt_status lt_batch_replaced(lt_batch_call *c, int level, int64_t size);
/* Executes the op sample by sample; warns once per op. */
lt_status lt_batch_loop(lt_batch_call *c, int level, int64_t size);

/* ---- for rules ------------------------------------------------------------------------------- */

static inline bool lt_batch_has(const lt_tensor *t, int level)
{
    return t != NULL && t->flags & (LT_FLAG_FIRST_BATCH << level);
}
/* The maximum number of dimensions of the tensors, as the function sees them. */
int lt_batch_max_dims(const lt_batch_call *c);
/* New reference: the first sample of t; t itself if it lacks the level. */
lt_status lt_batch_first(lt_tensor *t, int level, lt_tensor **out);
/* New reference: shown with 1s inserted behind its first dimension until it has `ndim` others. */
lt_status lt_batch_padded(lt_tensor *shown, int ndim, lt_tensor **out);
/* New reference: t with its first two dimensions merged, or the first one split in two, with the
 * first of them given. */
lt_status lt_batch_join(lt_tensor *t, lt_tensor **out);
lt_status lt_batch_part(lt_tensor *t, int64_t first, lt_tensor **out);
/* New reference: [size, n, channels, ...] as [n, size * channels, ...], with the samples as groups
 * of channels; and the reverse. */
lt_status lt_batch_beside(lt_tensor *shown, lt_tensor **out);
lt_status lt_batch_outer_products(lt_tensor *t, int64_t size, lt_tensor **out);
/* Hides the first dimension of the results of c, the batch, at the level. */
lt_status lt_batch_hide_results(lt_batch_call *c, int level);

#endif
