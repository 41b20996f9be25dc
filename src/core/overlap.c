/* overlap.c - see overlap.h. Most layouts are decided by their strides; for the others, a bitmap of
 * the spanned memory is marked element by element. */
#include "overlap.h"

#include <string.h>

#include "assertion.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "memory/alloc.h"

/* Bytes of the storage from a tensor's first element to the end of its last. */
typedef struct memory_range {
    int64_t from, to;
} memory_range;

static memory_range memory_span(const lt_tensor *t)
{
    const int64_t size = (int64_t)lt_dtype_size((lt_dtype)t->dtype);
    memory_range s = {t->offset, t->offset + 1};
    for (int d = 0; d < t->ndim; d++) s.to += (t->sizes[d] - 1) * t->strides[d];
    s.from *= size;
    s.to *= size;
    return s;
}

/* The dimensions of more than one element, sorted by stride, shortest first. Returns their number.
 */
static int moving_dims(const lt_tensor *t, int *dims)
{
    int n = 0;
    for (int d = 0; d < t->ndim; d++) {
        if (t->sizes[d] == 1) continue;
        int at = n++;
        for (; at > 0 && t->strides[dims[at - 1]] > t->strides[d]; at--) dims[at] = dims[at - 1];
        dims[at] = d;
    }
    return n;
}

/* Whether each stride exceeds the extent of all shorter ones: then no two elements overlap. */
static bool is_nested(const lt_tensor *t, const int *dims, int n)
{
    int64_t reach = 0;
    for (int i = 0; i < n; i++) {
        if (t->strides[dims[i]] <= reach) return false;
        reach += (t->sizes[dims[i]] - 1) * t->strides[dims[i]];
    }
    return true;
}

/* Whether a byte of t is already marked in a bitmap that begins at byte `from` of the storage. set:
 * also marks t's bytes, and so detects an overlap of t with itself. */
static bool mark(const lt_tensor *t, int64_t from, uint8_t *map, bool set)
{
    const int64_t size = (int64_t)lt_dtype_size((lt_dtype)t->dtype);
    int64_t at[LT_MAX_DIMS] = {0}, element = t->offset;
    bool met = false;
    for (int64_t i = 0; i < t->numel && (set || !met); i++) {
        LT_ASSERT(element * size >= from, "element %lld", (long long)element);
        for (int64_t byte = element * size - from, k = 0; k < size; k++, byte++) {
            met = met || (map[byte / 8] >> (byte % 8) & 1);
            if (set) map[byte / 8] |= (uint8_t)(1u << (byte % 8));
        }
        for (int d = t->ndim - 1; d >= 0; d--) {
            element += t->strides[d];
            if (++at[d] < t->sizes[d]) break;
            element -= t->sizes[d] * t->strides[d];
            at[d] = 0;
        }
    }
    return met;
}

static lt_status map_of(memory_range s, uint8_t **out)
{
    *out = lt_mem_zalloc((size_t)(s.to - s.from) / 8 + 1);
    return *out != NULL ? LT_OK : LT_ERR_MEMORY;
}

lt_status lt_overlaps_itself(const lt_tensor *t, bool *out)
{
    int dims[LT_MAX_DIMS];
    *out = false;
    if (t->numel < 2) return LT_OK;
    const int n = moving_dims(t, dims);
    if (is_nested(t, dims, n)) return LT_OK;
    *out = t->strides[dims[0]] == 0;
    if (*out) return LT_OK;
    uint8_t *map;
    const memory_range s = memory_span(t);
    LT_TRY(map_of(s, &map));
    *out = mark(t, s.from, map, true);
    lt_mem_free(map);
    return LT_OK;
}

/* Whether an element of t overlaps the span. Recursive: the first d indices lead to the offset
 * `element`. */
static bool reaches(const lt_tensor *t, int d, int64_t element, memory_range s)
{
    const int64_t size = (int64_t)lt_dtype_size((lt_dtype)t->dtype);
    if (d == t->ndim) return element * size < s.to && (element + 1) * size > s.from;
    bool met = false;
    for (int64_t i = 0; i < t->sizes[d] && !met; i++)
        met = reaches(t, d + 1, element + i * t->strides[d], s);
    return met;
}

static bool same_elements(const lt_tensor *a, const lt_tensor *b)
{
    bool same = a->offset == b->offset && a->ndim == b->ndim && a->dtype == b->dtype;
    for (int d = 0; same && d < a->ndim; d++)
        same = a->sizes[d] == b->sizes[d] && (a->sizes[d] == 1 || a->strides[d] == b->strides[d]);
    return same;
}

lt_status lt_overlap_of(const lt_tensor *a, const lt_tensor *b, lt_overlap *out)
{
    *out = LT_OVERLAP_NONE;
    if (a->storage != b->storage || a->numel == 0 || b->numel == 0) return LT_OK;
    const memory_range sa = memory_span(a), sb = memory_span(b);
    if (sa.to <= sb.from || sb.to <= sa.from) return LT_OK;
    *out = same_elements(a, b) ? LT_OVERLAP_SAME : LT_OVERLAP_PART;
    const bool a_is_dense = lt_is_dense(a), b_is_dense = lt_is_dense(b);
    if (*out == LT_OVERLAP_SAME || (a_is_dense && b_is_dense)) return LT_OK;
    if (a_is_dense || b_is_dense) {
        const bool meet = a_is_dense ? reaches(b, 0, b->offset, sa) : reaches(a, 0, a->offset, sb);
        if (!meet) *out = LT_OVERLAP_NONE; /* it fits into a gap of the other */
        return LT_OK;
    }
    const memory_range both = {sa.from < sb.from ? sa.from : sb.from,
                               sa.to > sb.to ? sa.to : sb.to};
    uint8_t *map;
    LT_TRY(map_of(both, &map));
    mark(a, both.from, map, true);
    if (!mark(b, both.from, map, false)) *out = LT_OVERLAP_NONE;
    lt_mem_free(map);
    return LT_OK;
}

lt_status lt_read_only_error(const lt_tensor *t)
{
    char sizes[256];
    return lt_error(LT_ERR_RUNTIME,
                    "the written-to tensor of size %s has read-only memory. Please clone() the "
                    "tensor before performing the operation.",
                    lt_format_sizes(sizes, sizeof sizes, t->ndim, t->sizes));
}

lt_status lt_check_no_self_overlap(const lt_tensor *written)
{
    bool overlaps;
    LT_TRY(lt_overlaps_itself(written, &overlaps));
    if (!overlaps) return LT_OK;
    return lt_error(
        LT_ERR_RUNTIME,
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation.");
}

static lt_status overlap_error(void)
{
    return lt_error(
        LT_ERR_RUNTIME,
        "unsupported operation: some elements of the input tensor and the written-to tensor refer "
        "to a single memory location. Please clone() the tensor before performing the operation.");
}

/* Accepts overlapping tensors with gaps, as PyTorch does: such ops compute the result in a
 * temporary. */
lt_status lt_check_same_or_disjoint(const lt_tensor *written, const lt_tensor *read)
{
    lt_overlap how;
    if (!lt_is_dense(written) || !lt_is_dense(read)) return LT_OK;
    LT_TRY(lt_overlap_of(written, read, &how));
    return how == LT_OVERLAP_PART ? overlap_error() : LT_OK;
}

lt_status lt_check_disjoint(const lt_tensor *written, const lt_tensor *read)
{
    lt_overlap how;
    LT_TRY(lt_overlap_of(written, read, &how));
    return how == LT_OVERLAP_NONE ? LT_OK : overlap_error();
}
