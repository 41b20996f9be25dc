/* steps.c - see steps.h. */
#include "steps.h"

#include <string.h>

#include "memory/alloc.h"
#include "op/_slice.h"
#include "op/all.h"
#include "op/any.h"
#include "op/arange.h"
#include "op/cat.h"
#include "op/clamp.h"
#include "op/copy_.h"
#include "op/diagonal.h"
#include "op/flip.h"
#include "op/stack.h"
#include "op/to.h"

#define STEP(call)                                                                                 \
    lt_tensor *out = NULL;                                                                         \
    if (s->status != LT_OK) return NULL;                                                           \
    lt_status status = call;                                                                       \
    return lt_scope_hold(s, status, out);

lt_tensor *do_part(lt_scope *s, lt_tensor *a, int64_t dim, int64_t from, int64_t to)
{
    if (s->status == LT_OK && dim < 0) dim += a->ndim;
    STEP(lt__slice(a, dim, from, to, 1, &out))
}
lt_tensor *do_diagonal(lt_scope *s, lt_tensor *a, int64_t offset, int64_t dim1, int64_t dim2){
    STEP(lt_diagonal(a, offset, dim1, dim2, &out))} lt_tensor *do_flip(lt_scope *s, lt_tensor *a,
                                                                       int64_t dim){
    STEP(lt_flip(a, &(lt_dims){1, {dim}}, &out))} lt_tensor *do_cat(lt_scope *s,
                                                                    lt_tensor **tensors, int64_t n,
                                                                    int64_t dim){
    STEP(lt_cat(&(lt_tensor_list){n, tensors}, dim, &out))} lt_tensor *do_stack(lt_scope *s,
                                                                                lt_tensor **tensors,
                                                                                int64_t n,
                                                                                int64_t dim){
    STEP(lt_stack(&(lt_tensor_list){n, tensors}, dim,
                  &out))} lt_tensor *do_clamp_within(lt_scope *s, lt_tensor *a, int64_t min,
                                                     int64_t max)
{
    lt_scalar low = lt_scalar_from_int(min), high = lt_scalar_from_int(max);
    STEP(lt_clamp(a, &low, &high, &out))
}
lt_tensor *do_mul_scalar(lt_scope *s, lt_tensor *a, lt_scalar factor)
{
    return do_mul(s, a, do_scalar(s, factor));
}

lt_tensor *do_store(lt_scope *s, lt_tensor *view, lt_tensor *src)
{
    if (s->status == LT_OK) s->status = lt_copy_(view, src, false);
    return s->status == LT_OK ? view : NULL;
}

lt_tensor *do_range(lt_scope *s, int64_t n, lt_device device){
    STEP(lt_arange(lt_scalar_from_int(n), NULL, lt_scalar_from_int(1), LT_INT64, &device, &out))}

lt_tensor *do_positions(lt_scope *s, int64_t *values, const lt_dims *sizes, lt_device device)
{
    lt_tensor *host = NULL, *there = NULL;
    if (s->status == LT_OK && values == NULL) s->status = LT_ERR_MEMORY;
    if (s->status == LT_OK) s->status = lt_tensor_new(LT_INT64, lt_host, sizes->n, sizes->v, &host);
    if (s->status == LT_OK && host->numel > 0)
        memcpy(lt_data(host), values, (size_t)host->numel * sizeof *values);
    lt_mem_free(values);
    if (s->status == LT_OK) s->status = lt_to(host, &device, LT_INT64, false, false, &there);
    lt_tensor_release(host);
    return s->status == LT_OK ? lt_scope_hold(s, LT_OK, there) : NULL;
}

lt_tensor *do_flatten(lt_scope *s, lt_tensor *a) { return do_reshape(s, a, &(lt_dims){1, {-1}}); }

/* ---- lists ----------------------------------------------------------------------------------- */

lt_status lt_list_new(int64_t n, lt_tensor_list *list)
{
    list->n = 0;
    list->v = lt_mem_zarray(n, sizeof *list->v);
    return list->v != NULL ? LT_OK : LT_ERR_MEMORY;
}

void lt_list_release(lt_tensor_list *list)
{
    for (int64_t i = 0; i < list->n; i++) lt_tensor_release(list->v[i]);
    lt_mem_free(list->v);
}

lt_status lt_scope_give_list(lt_scope *s, lt_tensor_list *list, lt_tensor_list *out)
{
    lt_status status = lt_scope_close(s);
    if (status == LT_OK)
        *out = *list;
    else
        lt_list_release(list);
    return status;
}

static lt_status read_flag(lt_scope *s, lt_status (*reduce)(const lt_tensor *, lt_tensor **),
                           lt_tensor *flags, bool *out)
{
    lt_tensor *one = NULL;
    lt_scalar value = lt_scalar_from_bool(false);
    if (s->status != LT_OK) return s->status;
    const lt_status status = reduce(flags, &one);
    one = lt_scope_hold(s, status, one);
    if (s->status == LT_OK) s->status = lt_tensor_item(one, &value);
    *out = lt_scalar_double(value) != 0;
    return s->status;
}

lt_status lt_any_set(lt_scope *s, lt_tensor *flags, bool *out)
{
    return read_flag(s, lt_any, flags, out);
}
lt_status lt_all_set(lt_scope *s, lt_tensor *flags, bool *out)
{
    return read_flag(s, lt_all, flags, out);
}
