/* index.c - reading and writing at positions held in tensors. One kernel serves x[index], x[index] = y,
 * gather and scatter (gather.c): it walks the iterator, adds to the address of the indexed tensor what the
 * indices say, and copies or combines elements. Where the indices stay the same along a run (whole rows are
 * taken), the run is one copy. Indices are all checked before anything is written by position. */
#include "index.h"

#include "cpu.h"
#include "dtype.h"
#include "error.h"
#include "for_each.h"
#include "half.h"

typedef struct indexing {
    const lt_index_args *args;
    lt_dtype dtype;
    lt_loop copy, combine; /* combine: NULL for setting */
    const lt_scalar *params;
    int *bad_index; /* number of the first index tensor found with a bad value, or -1 */
    int64_t *bad_value;
} indexing;

/* Byte offset that the indices at ptrs[2..] stand for; they have been checked. */
static inline int64_t offset_at(const lt_index_args *args, char *const *ptrs)
{
    int64_t offset = 0;
    for (int k = 0; k < args->count; k++) {
        int64_t i = *(const int64_t *)ptrs[2 + k];
        offset += (i < 0 ? i + args->sizes[k] : i) * args->strides[k];
    }
    return offset;
}

static bool constant_along(const lt_index_args *args, const int64_t *strides)
{
    for (int k = 0; k < args->count; k++)
        if (strides[2 + k] != 0) return false;
    return true;
}

static void check_run(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const indexing *x = context;
    const lt_index_args *args = x->args;
    if (constant_along(args, strides)) n = 1;
    for (int k = 0; k < args->count; k++) {
        const char *p = ptrs[2 + k];
        const int64_t size = args->sizes[k];
        if (strides[2 + k] == sizeof(int64_t)) { /* nearly always all are good: one pass without a way out */
            const int64_t *v = (const int64_t *)(const void *)p;
            int64_t inside = -1; /* i or, if negative, -i - 1 is below size: a negative difference */
#pragma omp simd reduction(&:inside)
            for (int64_t i = 0; i < n; i++) inside &= (v[i] ^ v[i] >> 63) - size;
            if (inside < 0) continue;
        }
        for (int64_t i = 0; i < n; i++, p += strides[2 + k]) {
            int64_t value = *(const int64_t *)p;
            if (value >= -size && value < size) continue;
#pragma omp critical(lt_index_error)
            if (*x->bad_index < 0) {
                *x->bad_index = k;
                *x->bad_value = value;
            }
            return;
        }
    }
}

/* Positions as the user counts them, from 1. */
static lt_status range_error(const lt_index_args *args, int k, int64_t value)
{
    return lt_error(LT_ERR_INDEX, "index %lld is out of bounds for dimension %d with size %lld",
                    (long long)lt_index_shown(value), args->dims[k] + 1, (long long)args->sizes[k]);
}

/* One element per step: to[..] = from[..], where one side is indexed. */
#define MOVE(bits)                                                                                 \
    static void move_##bits(const lt_index_args *args, char *const *ptrs, const int64_t *strides, int64_t n, \
                            bool put)                                                              \
    {                                                                                              \
        char *at[LT_ITER_OPERANDS];                                                                \
        for (int k = 0; k < 2 + args->count; k++) at[k] = ptrs[k];                                 \
        if (args->count == 1 && strides[0] == bits / 8 && strides[2] == sizeof(int64_t)) {         \
            const int64_t *v = (const int64_t *)(void *)at[2], size = args->sizes[0], step = args->strides[0]; \
            uint##bits##_t *dense = (uint##bits##_t *)(void *)at[0];                               \
            for (int64_t i = 0; i < n; i++) {                                                      \
                char *indexed = at[1] + i * strides[1] + (v[i] < 0 ? v[i] + size : v[i]) * step;   \
                if (put)                                                                           \
                    *(uint##bits##_t *)(void *)indexed = dense[i];                                 \
                else                                                                               \
                    dense[i] = *(const uint##bits##_t *)(void *)indexed;                           \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            uint##bits##_t *indexed = (uint##bits##_t *)(at[1] + offset_at(args, at));             \
            if (put)                                                                               \
                *indexed = *(const uint##bits##_t *)at[0];                                         \
            else                                                                                   \
                *(uint##bits##_t *)at[0] = *indexed;                                               \
            for (int k = 0; k < 2 + args->count; k++) at[k] += strides[k];                         \
        }                                                                                          \
    }
MOVE(8)
MOVE(16)
MOVE(32)
MOVE(64)
#undef MOVE

static void move_run(const indexing *x, char *const *ptrs, const int64_t *strides, int64_t n, bool put)
{
    switch (lt_dtype_size(x->dtype)) {
    case 1: move_8(x->args, ptrs, strides, n, put); break;
    case 2: move_16(x->args, ptrs, strides, n, put); break;
    case 4: move_32(x->args, ptrs, strides, n, put); break;
    default: move_64(x->args, ptrs, strides, n, put); break;
    }
}

/* Checks as it goes: the indices are then still in the cache, and what was read so far does no harm. */
static void get_run(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const indexing *x = context;
    check_run(ptrs, strides, n, context);
    if (__atomic_load_n(x->bad_index, __ATOMIC_RELAXED) >= 0) return;
    if (constant_along(x->args, strides))
        x->copy((char *[]){ptrs[0], ptrs[1] + offset_at(x->args, ptrs)}, strides, n, NULL);
    else
        move_run(x, ptrs, strides, n, false);
}

static void put_run(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const indexing *x = context;
    if (constant_along(x->args, strides))
        x->copy((char *[]){ptrs[1] + offset_at(x->args, ptrs), ptrs[0]}, (int64_t[]){strides[1], strides[0]}, n,
                NULL);
    else
        move_run(x, ptrs, strides, n, true);
}

/* n elements: at = at op values; half types by way of float. */
static void combine_elements(const indexing *x, char *at, int64_t stride, char *values, int64_t value_stride,
                             int64_t n)
{
    if (x->dtype != LT_FLOAT16 && x->dtype != LT_BFLOAT16) {
        x->combine((char *[]){at, at, values}, (int64_t[]){stride, stride, value_stride}, n, x->params);
        return;
    }
    lt_loop load = lt_loops.cast[LT_FLOAT32][x->dtype], store = lt_loops.cast[x->dtype][LT_FLOAT32];
    const int64_t dense[] = {sizeof(float), sizeof(float), sizeof(float)};
    for (int64_t i = 0; i < n; i++) {
        float a, b;
        load((char *[]){(char *)&a, at + i * stride}, dense, 1, NULL);
        load((char *[]){(char *)&b, values + i * value_stride}, dense, 1, NULL);
        x->combine((char *[]){(char *)&a, (char *)&a, (char *)&b}, dense, 1, x->params);
        store((char *[]){at + i * stride, (char *)&a}, dense, 1, NULL);
    }
}

/* The commonest combination: sums at the places of one dense index tensor. U: what T wraps around in. */
#define ADD(name, T, U)                                                                            \
    static void add_##name(const lt_index_args *args, char *const *ptrs, const int64_t *strides, int64_t n) \
    {                                                                                              \
        const int64_t *v = (const int64_t *)(void *)ptrs[2], size = args->sizes[0], step = args->strides[0]; \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T *at = (T *)(void *)(ptrs[1] + i * strides[1] + (v[i] < 0 ? v[i] + size : v[i]) * step); \
            *at = (T)((U)*at + (U) * (const T *)(void *)(ptrs[0] + i * strides[0]));                \
        }                                                                                          \
    }
ADD(float, float, float)
ADD(double, double, double)
ADD(long, int64_t, uint64_t)
#undef ADD

static void combine_run(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const indexing *x = context;
    if (constant_along(x->args, strides)) {
        combine_elements(x, ptrs[1] + offset_at(x->args, ptrs), strides[1], ptrs[0], strides[0], n);
        return;
    }
    if (x->args->count == 1 && x->params != NULL && strides[2] == sizeof(int64_t)) {
        switch (x->dtype) {
        case LT_FLOAT32: add_float(x->args, ptrs, strides, n); return;
        case LT_FLOAT64: add_double(x->args, ptrs, strides, n); return;
        case LT_INT64: add_long(x->args, ptrs, strides, n); return;
        default: break;
        }
    }
    char *at[LT_ITER_OPERANDS];
    for (int k = 0; k < 2 + x->args->count; k++) at[k] = ptrs[k];
    for (int64_t i = 0; i < n; i++) {
        char *indexed = at[1] + offset_at(x->args, at);
        if (x->dtype == LT_FLOAT32 && x->params != NULL)
            *(float *)indexed += *(const float *)at[0];
        else
            combine_elements(x, indexed, 0, at[0], 0, 1);
        for (int k = 0; k < 2 + x->args->count; k++) at[k] += strides[k];
    }
}

static void begin(indexing *x, const lt_iter *it, const lt_index_args *args, int *bad_index, int64_t *bad_value)
{
    *bad_index = -1;
    x->args = args;
    x->dtype = it->dtype[1];
    x->copy = lt_loops.cast[x->dtype][x->dtype];
    x->combine = NULL;
    x->params = NULL;
    x->bad_index = bad_index;
    x->bad_value = bad_value;
}

static lt_status prepare(indexing *x, const lt_iter *it, const lt_index_args *args, int *bad_index,
                         int64_t *bad_value)
{
    begin(x, it, args, bad_index, bad_value);
    LT_TRY(lt_cpu_for_each(it, check_run, x));
    return *bad_index < 0 ? LT_OK : range_error(args, *bad_index, *bad_value);
}

lt_status lt_cpu_index_get(const lt_iter *it, const lt_index_args *args)
{
    indexing x;
    int bad_index;
    int64_t bad_value;
    begin(&x, it, args, &bad_index, &bad_value);
    LT_TRY(lt_cpu_for_each(it, get_run, &x));
    return bad_index < 0 ? LT_OK : range_error(args, bad_index, bad_value);
}

/* On one thread, because an element may be written more than once. */
lt_status lt_cpu_index_combine(const lt_iter *it, const lt_index_args *args, lt_scatter_mode mode)
{
    static const lt_scalar one = {LT_SCALAR_INT, {.i = 1}};
    indexing x;
    int bad_index;
    int64_t bad_value;
    LT_TRY(prepare(&x, it, args, &bad_index, &bad_value));
    if (it->numel == 0) return LT_OK;
    lt_dtype computed = x.dtype == LT_FLOAT16 || x.dtype == LT_BFLOAT16 ? LT_FLOAT32 : x.dtype;
    if (mode == LT_SCATTER_SET) {
        lt_cpu_walk(it, it->ndim, it->data, 0, it->numel, put_run, &x);
        return LT_OK;
    }
    static const int combining[] = {[LT_SCATTER_ADD] = LT_PW_ADD, [LT_SCATTER_MUL] = LT_PW_MUL,
                                    [LT_SCATTER_MAX] = LT_PW_MAXIMUM, [LT_SCATTER_MIN] = LT_PW_MINIMUM};
    x.combine = lt_pointwise_loops[combining[mode]][computed];
    x.params = mode == LT_SCATTER_ADD ? &one : NULL;
    lt_cpu_walk(it, it->ndim, it->data, 0, it->numel, combine_run, &x);
    return LT_OK;
}

lt_status lt_cpu_index_put(const lt_iter *it, const lt_index_args *args, bool accumulate)
{
    return lt_cpu_index_combine(it, args, accumulate ? LT_SCATTER_ADD : LT_SCATTER_SET);
}
