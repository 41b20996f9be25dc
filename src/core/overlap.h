/* overlap.h - which tensors an op may write: elements that share memory, and arguments that lie in
 * what is written.
 *
 * Every in-place and every out= form asks before it starts: its generated wrapper does
 * (scripts/gen/autograd.lua), as the op's declaration says (`overlap`, src/ops/README.md).
 * PyTorch's messages. */
#ifndef LT_OVERLAP_H
#define LT_OVERLAP_H

#include "autograd/saved_copies.h"
#include "compile/trace.h"
#include "error.h"
#include "tensor.h"

typedef enum lt_overlap {
    LT_OVERLAP_NONE, /* no byte belongs to both */
    LT_OVERLAP_SAME, /* the same elements, at the same positions */
    LT_OVERLAP_PART
} lt_overlap;

/* How the memory of two tensors meets. Exact: LT_ERR_MEMORY when there is none to find out in. */
lt_status lt_overlap_of(const lt_tensor *a, const lt_tensor *b, lt_overlap *out);

/* Whether two of t's elements lie in the same memory. Exact, as lt_overlap_of. */
lt_status lt_overlaps_itself(const lt_tensor *t, bool *out);

/* Error when t's memory may only be read, or t is an inference tensor outside of inference mode:
 * every in-place and every out= form asks, and whatever else writes arguments. What is still to be
 * computed from what is there is computed before, and what is to be kept of it is copied. */
lt_status lt_read_only_error(const lt_tensor *t);
lt_status lt_inference_write_error(void);
static inline lt_status lt_prepare_write(const lt_tensor *written)
{
    if (__builtin_expect(written->storage->read_only, 0)) return lt_read_only_error(written);
    if (__builtin_expect((written->flags & LT_FLAG_INFERENCE) && !lt_tls.inference, 0))
        return lt_inference_write_error();
    LT_TRY(lt_before_write(written));
    return __builtin_expect(lt_tls.saved_copies != NULL, 0) ? lt_copy_saved(written) : LT_OK;
}

/* What the inline functions below do once the usual case is excluded. */
lt_status lt_check_no_self_overlap(const lt_tensor *written);
lt_status lt_check_same_or_disjoint(const lt_tensor *written, const lt_tensor *read);
lt_status lt_check_disjoint(const lt_tensor *written, const lt_tensor *read);

/* Error when elements of the written tensor share memory: what they hold afterwards would depend on
 * the order. */
static inline lt_status lt_refuse_overlap(const lt_tensor *written)
{
    return lt_is_contiguous(written) ? LT_OK : lt_check_no_self_overlap(written);
}

/* For ops that read an element and write it at the same position: an argument may be what is
 * written, but not lie across it. NULL is allowed. */
static inline lt_status lt_refuse_partial_overlap(const lt_tensor *written, const lt_tensor *read)
{
    if (read == NULL || read == written || read->storage != written->storage) return LT_OK;
    return lt_check_same_or_disjoint(written, read);
}

/* For all others: nothing that is read lies in what is written. NULL is allowed. */
static inline lt_status lt_refuse_sharing(const lt_tensor *written, const lt_tensor *read)
{
    return read == NULL || read->storage != written->storage ? LT_OK
                                                             : lt_check_disjoint(written, read);
}
static inline lt_status lt_refuse_sharing_list(const lt_tensor *written, const lt_tensor_list *read)
{
    for (int64_t i = 0; i < read->n; i++) LT_TRY(lt_refuse_sharing(written, read->v[i]));
    return LT_OK;
}

#endif
