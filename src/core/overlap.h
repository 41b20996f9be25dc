/* overlap.h - checks whether an op may write a tensor: overlapping elements, and operands that
 * share memory with the output.
 *
 * The generated wrapper of every in-place and out= form calls these checks first
 * (scripts/gen/autograd.lua), as the op's declaration states (`overlap`, src/ops/README.md).
 * Messages are PyTorch's. */
#ifndef LT_OVERLAP_H
#define LT_OVERLAP_H

#include "autograd/saved_copies.h"
#include "compile/trace.h"
#include "error.h"
#include "tensor.h"

typedef enum lt_overlap {
    LT_OVERLAP_NONE, /* no common byte */
    LT_OVERLAP_SAME, /* identical elements at the same positions */
    LT_OVERLAP_PART
} lt_overlap;

/* How the memory of two tensors overlaps. Exact. LT_ERR_MEMORY if the check itself is out of
 * memory. */
lt_status lt_overlap_of(const lt_tensor *a, const lt_tensor *b, lt_overlap *out);

/* Whether two elements of t overlap. Exact; errors as lt_overlap_of. */
lt_status lt_overlaps_itself(const lt_tensor *t, bool *out);

/* lt_prepare_write must be called before every write to an argument: in-place and out= forms, and
 * other functions that write. Error if t's memory is read-only, or t is an inference tensor outside
 * of inference mode. Evaluates deferred values that read t, and copies tensors saved for backward
 * that share its memory. */
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

/* The slow paths of the inline functions below. */
lt_status lt_check_no_self_overlap(const lt_tensor *written);
lt_status lt_check_same_or_disjoint(const lt_tensor *written, const lt_tensor *read);
lt_status lt_check_disjoint(const lt_tensor *written, const lt_tensor *read);

/* Error if elements of the written tensor overlap: the result would depend on the order of the
 * writes. */
static inline lt_status lt_refuse_overlap(const lt_tensor *written)
{
    return lt_is_contiguous(written) ? LT_OK : lt_check_no_self_overlap(written);
}

/* For ops that read each element before they write it at the same position: an operand may be
 * identical to the output, but not overlap it partially. NULL is allowed. */
static inline lt_status lt_refuse_partial_overlap(const lt_tensor *written, const lt_tensor *read)
{
    if (read == NULL || read == written || read->storage != written->storage) return LT_OK;
    return lt_check_same_or_disjoint(written, read);
}

/* For all other ops: no operand may overlap the output. NULL is allowed. */
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
