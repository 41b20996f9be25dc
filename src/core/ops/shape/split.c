/* split.c - more names of operations that split a tensor into views. */
#include "error.h"
#include "tensor.h"
#include "op/chunk.h"
#include "op/dsplit.h"
#include "op/hsplit.h"
#include "op/split.h"
#include "op/split_with_sizes.h"
#include "op/tensor_split.h"
#include "op/unsafe_chunk.h"
#include "op/unsafe_split.h"
#include "op/unsafe_split_with_sizes.h"
#include "op/vsplit.h"

lt_status lt_split_with_sizes_impl(lt_tensor *self, const lt_dims *split_sizes, int64_t dim,
                                   lt_tensor_list *out)
{
    return lt_split_sizes(self, split_sizes, dim, out);
}

lt_status lt_unsafe_split_with_sizes_impl(lt_tensor *self, const lt_dims *split_sizes, int64_t dim,
                                          lt_tensor_list *out)
{
    return lt_split_sizes(self, split_sizes, dim, out);
}

lt_status lt_unsafe_split_impl(lt_tensor *self, int64_t split_size, int64_t dim,
                               lt_tensor_list *out)
{
    return lt_split(self, split_size, dim, out);
}

lt_status lt_unsafe_chunk_impl(lt_tensor *self, int64_t chunks, int64_t dim, lt_tensor_list *out)
{
    return lt_chunk(self, chunks, dim, out);
}

/* ---- along a fixed dimension ----------------------------------------------------------------- */

static lt_status check_ndim(const char *op, const lt_tensor *self, int least)
{
    if (self->ndim >= least) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "torch.%s requires a tensor with at least %d dimension, but got a tensor with "
                    "%d dimensions!",
                    op, least, self->ndim);
}

static lt_status split_equally(const char *op, lt_tensor *self, int64_t sections, int dim,
                               lt_tensor_list *out)
{
    if (sections == 0 || self->sizes[dim] % sections != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "torch.%s attempted to split along dimension %d, but the size of the "
                        "dimension %lld is not divisible by the split_size %lld!",
                        op, dim + 1, (long long)self->sizes[dim], (long long)sections);
    return lt_tensor_split(self, sections, dim, out);
}

/* The second dimension, of vectors the first one. */
static int horizontal(const lt_tensor *self) { return self->ndim == 1 ? 0 : 1; }

lt_status lt_hsplit_impl(lt_tensor *self, int64_t sections, lt_tensor_list *out)
{
    LT_TRY(check_ndim("hsplit", self, 1));
    return split_equally("hsplit", self, sections, horizontal(self), out);
}

lt_status lt_hsplit_indices_impl(lt_tensor *self, const lt_dims *indices, lt_tensor_list *out)
{
    LT_TRY(check_ndim("hsplit", self, 1));
    return lt_tensor_split_indices(self, indices, horizontal(self), out);
}

lt_status lt_vsplit_impl(lt_tensor *self, int64_t sections, lt_tensor_list *out)
{
    LT_TRY(check_ndim("vsplit", self, 2));
    return split_equally("vsplit", self, sections, 0, out);
}

lt_status lt_vsplit_indices_impl(lt_tensor *self, const lt_dims *indices, lt_tensor_list *out)
{
    LT_TRY(check_ndim("vsplit", self, 2));
    return lt_tensor_split_indices(self, indices, 0, out);
}

lt_status lt_dsplit_impl(lt_tensor *self, int64_t sections, lt_tensor_list *out)
{
    LT_TRY(check_ndim("dsplit", self, 3));
    return split_equally("dsplit", self, sections, 2, out);
}

lt_status lt_dsplit_indices_impl(lt_tensor *self, const lt_dims *indices, lt_tensor_list *out)
{
    LT_TRY(check_ndim("dsplit", self, 3));
    return lt_tensor_split_indices(self, indices, 2, out);
}
