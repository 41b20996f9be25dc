/* sparse.c - see sparse.h. The components are stored as the ctx of a foreign storage, so that
 * aliases share them and the storage frees them. */
#include "sparse.h"

#include <string.h>

#include "assertion.h"
#include "error.h"
#include "memory/alloc.h"

static const char *const layout_names[] = {"torch.strided", "torch.sparse_coo", "torch.sparse_csr",
                                           "torch.sparse_csc"};

const char *lt_layout_name(lt_layout layout)
{
    LT_ASSERT((size_t)layout < sizeof layout_names / sizeof *layout_names, "layout %d",
              (int)layout);
    return layout_names[layout];
}

lt_status lt_layout_from_name(const char *name, lt_layout *out)
{
    const char *word = strncmp(name, "torch.", 6) == 0 ? name + 6 : name;
    for (int i = 0; i < (int)(sizeof layout_names / sizeof *layout_names); i++)
        if (strcmp(layout_names[i] + 6, word) == 0) {
            *out = (lt_layout)i;
            return LT_OK;
        }
    return lt_error(LT_ERR_TYPE,
                    "unknown layout '%s': torch.strided, torch.sparse_coo, torch.sparse_csr or "
                    "torch.sparse_csc",
                    name);
}

lt_layout lt_tensor_layout(const lt_tensor *t)
{
    return lt_is_sparse(t) ? lt_sparse_of(t)->layout : LT_STRIDED;
}

bool lt_any_sparse(const lt_tensor_list *list)
{
    for (int64_t i = 0; i < list->n; i++)
        if (lt_is_sparse(list->v[i])) return true;
    return false;
}

lt_status lt_refuse_sparse(const char *op)
{
    return lt_error(LT_ERR_RUNTIME, "%s() does not support sparse tensors; call to_dense() first",
                    op);
}

/* ---- components ------------------------------------------------------------------------------ */

static void release_parts(void *ctx)
{
    lt_sparse *parts = ctx;
    LT_ASSERT(parts->values != NULL && parts->values->refs > 0);
    lt_tensor_release(parts->indices);
    lt_tensor_release(parts->compressed);
    lt_tensor_release(parts->plain);
    lt_tensor_release(parts->values);
    lt_mem_free(parts);
}

static void retain_parts(lt_sparse *parts)
{
    lt_tensor_retain(parts->indices);
    lt_tensor_retain(parts->compressed);
    lt_tensor_retain(parts->plain);
    lt_tensor_retain(parts->values);
}

lt_status lt_sparse_new(const lt_sparse *parts, int ndim, const int64_t *sizes, lt_tensor **out)
{
    /* Backs sparse tensors with a stride-0 view of one static zero, so that code that wrongly reads
     * their data reads valid memory. */
    static const uint64_t zero[2];
    static const int64_t no_strides[LT_MAX_DIMS];
    LT_ASSERT(parts->values != NULL && (parts->indices != NULL || parts->compressed != NULL));
    lt_sparse *own = lt_mem_alloc(sizeof *own);
    if (own == NULL) return LT_ERR_MEMORY;
    *own = *parts;
    const lt_foreign memory = {.data = (void *)zero,
                               .device = parts->values->device,
                               .read_only = true,
                               .release = release_parts,
                               .ctx = own};
    const lt_status status =
        lt_tensor_over(&memory, (lt_dtype)parts->values->dtype, ndim, sizes, no_strides, out);
    if (status != LT_OK) {
        lt_mem_free(own);
        return status;
    }
    retain_parts(own);
    (*out)->flags |= LT_FLAG_SPARSE;
    (*out)->flags &= (uint16_t)~LT_FLAG_CONTIGUOUS;
    return LT_OK;
}

void lt_sparse_replace(lt_tensor *t, lt_tensor *src)
{
    LT_ASSERT(lt_is_sparse(t) && lt_is_sparse(src));
    LT_ASSERT(t->dtype == src->dtype && lt_same_sizes(t, src), "dtypes %d, %d", t->dtype,
              src->dtype);
    lt_sparse *own = t->storage->ctx, old = *own;
    *own = *lt_sparse_of(src);
    retain_parts(own);
    lt_tensor_release(old.indices);
    lt_tensor_release(old.compressed);
    lt_tensor_release(old.plain);
    lt_tensor_release(old.values);
}
