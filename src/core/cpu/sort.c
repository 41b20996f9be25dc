/* sort.c - stable sorting of lines along a dimension, with the positions that the elements had.
 *
 * An element becomes an unsigned key of 32 or 64 bits whose order is that of the elements: nan is the largest,
 * the zeros are equal, and a descending order is that of the complements, so that equal elements keep their
 * order either way. Pairs of key and position are sorted, short lines by merging, long ones by the bytes of the
 * key, after those were left out that can't be among the places asked for; the values are then fetched by
 * position. */
#include <string.h>

#include "cpu.h"
#include "dtype.h"
#include "interrupt.h"
#include "lines.h"
#include "mem.h"
#include "threads.h"

#define RUN 16         /* elements sorted by insertion before they are merged */
#define MERGED 512     /* elements up to which merging is faster */
#define DIGIT_VALUES 256
#define BLOCK 128
#define FEW 32 /* places wanted up to which a line is only looked through */

typedef struct sort_job {
    lt_lines lines; /* view 0: input, 1: values, 2: positions */
    lt_dtype read;  /* what elements are read as */
    bool descending, values, indices;
    int64_t wanted; /* places of a sorted line, from the first on */
    int64_t k;      /* of lt_cpu_kth: the place asked for */
    int64_t jobs;
    char *scratch; /* bytes for each job */
    size_t bytes;
} sort_job;

/* ---- keys ------------------------------------------------------------------------------------------------- */

static uint32_t key_of_float(float x)
{
    uint32_t bits;
    if (x != x) return UINT32_MAX;
    x += 0; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
}

static uint64_t key_of_double(double x)
{
    uint64_t bits;
    if (x != x) return UINT64_MAX;
    x += 0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint32_t key_of_int(int32_t x) { return (uint32_t)x ^ UINT32_C(1) << 31; }
static uint64_t key_of_long(int64_t x) { return (uint64_t)x ^ UINT64_C(1) << 63; }

/* ---- sorting pairs --------------------------------------------------------------------------------------- */

/* U: the key. Sorts n pairs of a with the help of b; the result is where the sorted pairs are. Digits that all
 * keys share are left out. */
#define PAIR_SORT(s, U)                                                                            \
    typedef struct pair_##s {                                                                      \
        U key, index;                                                                              \
    } pair_##s;                                                                                    \
    static pair_##s *merge_sort_##s(pair_##s *a, pair_##s *b, int64_t n)                           \
    {                                                                                              \
        for (int64_t from = 0; from < n; from += RUN) {                                            \
            int64_t to = from + RUN < n ? from + RUN : n;                                          \
            for (int64_t i = from + 1; i < to; i++) {                                              \
                pair_##s moved = a[i];                                                             \
                int64_t at = i;                                                                    \
                for (; at > from && a[at - 1].key > moved.key; at--) a[at] = a[at - 1];            \
                a[at] = moved;                                                                     \
            }                                                                                      \
        }                                                                                          \
        for (int64_t width = RUN; width < n; width *= 2) {                                         \
            for (int64_t from = 0; from < n; from += 2 * width) {                                  \
                int64_t middle = from + width < n ? from + width : n;                              \
                int64_t end = middle + width < n ? middle + width : n;                             \
                int64_t left = from, right = middle;                                               \
                for (int64_t i = from; i < end; i++) {                                             \
                    bool second = left == middle || (right < end && a[right].key < a[left].key);   \
                    b[i] = second ? a[right++] : a[left++];                                        \
                }                                                                                  \
            }                                                                                      \
            pair_##s *other = a;                                                                   \
            a = b;                                                                                 \
            b = other;                                                                             \
        }                                                                                          \
        return a;                                                                                  \
    }                                                                                              \
    static pair_##s *radix_sort_##s(pair_##s *a, pair_##s *b, int64_t n)                           \
    {                                                                                              \
        enum { DIGITS = sizeof(U) };                                                               \
        int64_t counts[DIGITS][DIGIT_VALUES] = {{0}};                                              \
        for (int64_t i = 0; i < n && !lt_interrupted(); i++)                                       \
            for (int d = 0; d < DIGITS; d++) counts[d][a[i].key >> (8 * d) & 0xff]++;              \
        for (int d = 0; d < DIGITS; d++) {                                                         \
            int64_t *count = counts[d], at = 0;                                                    \
            if (count[a[0].key >> (8 * d) & 0xff] == n) continue;                                  \
            for (int v = 0; v < DIGIT_VALUES; v++) {                                               \
                int64_t here = count[v];                                                           \
                count[v] = at;                                                                     \
                at += here;                                                                        \
            }                                                                                      \
            for (int64_t i = 0; i < n && !lt_interrupted(); i++)                                   \
                b[count[a[i].key >> (8 * d) & 0xff]++] = a[i];                                     \
            if (lt_interrupted()) return a;                                                        \
            pair_##s *other = a;                                                                   \
            a = b;                                                                                 \
            b = other;                                                                             \
        }                                                                                          \
        return a;                                                                                  \
    }
/* Of n pairs in a those that may be among the first `wanted`, in their order, with the help of b: by the highest
 * byte of the key, then among those that share the last such byte by the next one. *n becomes how many remain. */
#define PAIR_SELECT(s, U)                                                                          \
    static pair_##s *select_##s(pair_##s *a, pair_##s *b, int64_t *n, int64_t wanted)              \
    {                                                                                              \
        int64_t below = 0; /* kept for good: pairs in front of those looked at */                  \
        for (int d = sizeof(U) - 1; d >= 0 && *n > 2 * wanted + MERGED; d--) {                     \
            int64_t counts[DIGIT_VALUES] = {0}, upto = below;                                      \
            U last = 0;                                                                            \
            for (int64_t i = below; i < *n && !lt_interrupted(); i++)                              \
                counts[a[i].key >> (8 * d) & 0xff]++;                                              \
            if (lt_interrupted()) return a;                                                        \
            while (upto + counts[last] < wanted) upto += counts[last++];                           \
            if (upto + counts[last] == *n && upto == below) continue;                              \
            memcpy(b, a, (size_t)below * sizeof *b);                                               \
            int64_t inside = below, edge = upto;                                                   \
            for (int64_t i = below; i < *n; i++) {                                                 \
                U digit = a[i].key >> (8 * d) & 0xff;                                              \
                if (digit < last)                                                                  \
                    b[inside++] = a[i];                                                            \
                else if (digit == last)                                                            \
                    b[edge++] = a[i];                                                              \
            }                                                                                      \
            below = inside;                                                                        \
            *n = edge;                                                                             \
            pair_##s *other = a;                                                                   \
            a = b;                                                                                 \
            b = other;                                                                             \
        }                                                                                          \
        return a;                                                                                  \
    }

/* The `wanted` least of n keys, in order, equal ones as they come: those found so far are kept sorted, and most keys
 * are turned away by the last of them. For few. */
#define KEEP_FEW(s, U)                                                                             \
    static void offer_##s(pair_##s *kept, int64_t *count, int64_t wanted, U key, int64_t index)     \
    {                                                                                              \
        if (*count == wanted && key >= kept[wanted - 1].key) return;                               \
        int64_t at = *count < wanted ? (*count)++ : wanted - 1;                                    \
        for (; at > 0 && kept[at - 1].key > key; at--) kept[at] = kept[at - 1];                    \
        kept[at] = (pair_##s){key, (U)index};                                                      \
    }

PAIR_SORT(u32, uint32_t)
PAIR_SORT(u64, uint64_t)
KEEP_FEW(u32, uint32_t)
KEEP_FEW(u64, uint64_t)
PAIR_SELECT(u32, uint32_t)
PAIR_SELECT(u64, uint64_t)
#undef PAIR_SORT
#undef PAIR_SELECT
#undef KEEP_FEW

/* ---- lines ------------------------------------------------------------------------------------------------ */

/* T: elements as read. The memory of a job: the elements, and twice the pairs; the pairs not in use in the end
 * make room for what is stored. */
#define LINE_SORT(s, T, U, KEY)                                                                    \
    /* Whether an element may come before the limit; nan on either side may. */                    \
    static bool any_beats_##s(const T *x, int64_t n, T limit, bool descending)                     \
    {                                                                                              \
        int any = 0;                                                                               \
        if (descending) {                                                                          \
            _Pragma("omp simd reduction(|:any)") for (int64_t i = 0; i < n; i++) any |= !(x[i] <= limit); \
        } else {                                                                                   \
            _Pragma("omp simd reduction(|:any)") for (int64_t i = 0; i < n; i++) any |= !(x[i] >= limit); \
        }                                                                                          \
        return any != 0;                                                                           \
    }                                                                                              \
    static void sort_line_##s(const sort_job *j, char *memory, int64_t line)                       \
    {                                                                                              \
        int64_t n = j->lines.length, wanted = j->wanted;                                           \
        T *x = (T *)(void *)memory;                                                                \
        pair_##U *a = (pair_##U *)(void *)(memory + n * 8), *b = a + n;                            \
        lt_line_load(&j->lines, 0, lt_line_at(&j->lines, 0, line), 0, n, x, j->read);              \
        const bool few = wanted <= FEW && n >= 4 * FEW;                                            \
        int64_t kept = 0;                                                                          \
        for (int64_t from = 0; from < n && few && !lt_interrupted(); from += BLOCK) {              \
            const int64_t to = from + BLOCK < n ? from + BLOCK : n;                                \
            const __typeof__(a->key) flip = j->descending ? ~(__typeof__(a->key))0 : 0;            \
            if (kept == wanted && !any_beats_##s(x + from, to - from, x[a[wanted - 1].index], j->descending)) continue; \
            for (int64_t i = from; i < to; i++)                                                    \
                offer_##U(a, &kept, wanted, (__typeof__(a->key))KEY(x[i]) ^ flip, i);              \
        }                                                                                          \
        for (int64_t i = 0; i < n && !few && !lt_interrupted(); i++) {                             \
            a[i].key = j->descending ? ~KEY(x[i]) : KEY(x[i]);                                     \
            a[i].index = (__typeof__(a[i].index))i;                                                \
        }                                                                                          \
        if (few) n = kept;                                                                         \
        if (wanted < n) {                                                                          \
            pair_##U *chosen = select_##U(a, b, &n, wanted);                                       \
            b = chosen == a ? b : a;                                                               \
            a = chosen;                                                                            \
        }                                                                                          \
        pair_##U *sorted = few ? a : n <= MERGED ? merge_sort_##U(a, b, n) : radix_sort_##U(a, b, n);        \
        if (lt_interrupted()) return; /* what is sorted is not complete */                         \
        void *room = sorted == a ? b : a;                                                          \
        if (j->values) {                                                                           \
            T *y = room;                                                                           \
            for (int64_t i = 0; i < wanted && !lt_interrupted(); i++) y[i] = x[sorted[i].index];   \
            lt_line_store(&j->lines, 1, lt_line_at(&j->lines, 1, line), 0, wanted, y, j->read);    \
        }                                                                                          \
        if (j->indices) {                                                                          \
            int64_t *y = room;                                                                     \
            for (int64_t i = 0; i < wanted; i++) y[i] = (int64_t)sorted[i].index;                  \
            lt_line_store(&j->lines, 2, lt_line_at(&j->lines, 2, line), 0, wanted, y, LT_INT64);   \
        }                                                                                          \
    }
/* One place of a sorted line: byte by byte from the highest on, the pairs remain whose byte is the one there. */
#define LINE_KTH(s, T, U, KEY)                                                                     \
    static void kth_of_line_##s(const sort_job *j, char *memory, int64_t line)                     \
    {                                                                                              \
        int64_t n = j->lines.length, numbers = n, k = j->k;                                        \
        T *x = (T *)(void *)memory;                                                                \
        pair_##U *a = (pair_##U *)(void *)(memory + n * 8);                                        \
        lt_line_load(&j->lines, 0, lt_line_at(&j->lines, 0, line), 0, n, x, j->read);              \
        for (int64_t i = 0; i < n && !lt_interrupted(); i++) {                                     \
            a[i].key = KEY(x[i]);                                                                  \
            a[i].index = (__typeof__(a[i].index))i;                                                \
            numbers -= x[i] != x[i];                                                               \
        }                                                                                          \
        if (k == LT_KTH_MEDIAN) k = numbers < n ? numbers : (n - 1) / 2;                           \
        if (k == LT_KTH_NANMEDIAN) k = numbers > 0 ? (numbers - 1) / 2 : 0;                        \
        for (int d = sizeof a->key - 1; d >= 0 && n > 1 && !lt_interrupted(); d--) {               \
            int64_t counts[DIGIT_VALUES] = {0}, below = 0, left = 0;                               \
            unsigned digit = 0;                                                                    \
            for (int64_t i = 0; i < n; i++) counts[a[i].key >> (8 * d) & 0xff]++;                  \
            while (below + counts[digit] <= k) below += counts[digit++];                           \
            k -= below;                                                                            \
            if (counts[digit] == n) continue;                                                      \
            for (int64_t i = 0; i < n; i++)                                                        \
                if ((a[i].key >> (8 * d) & 0xff) == digit) a[left++] = a[i];                       \
            n = left;                                                                              \
        }                                                                                          \
        if (lt_interrupted()) return;                                                              \
        int64_t at = (int64_t)a[k].index;                                                          \
        lt_line_store(&j->lines, 1, lt_line_at(&j->lines, 1, line), 0, 1, &x[at], j->read);        \
        lt_line_store(&j->lines, 2, lt_line_at(&j->lines, 2, line), 0, 1, &at, LT_INT64);          \
    }
LINE_KTH(float, float, u32, key_of_float)
LINE_KTH(double, double, u64, key_of_double)
LINE_KTH(int, int32_t, u32, key_of_int)
LINE_KTH(long, int64_t, u64, key_of_long)
LINE_KTH(long_float, float, u64, (uint64_t)key_of_float)
LINE_KTH(long_int, int32_t, u64, (uint64_t)key_of_int)
#undef LINE_KTH
LINE_SORT(float, float, u32, key_of_float)
LINE_SORT(double, double, u64, key_of_double)
LINE_SORT(int, int32_t, u32, key_of_int)
LINE_SORT(long, int64_t, u64, key_of_long)
/* A line too long for positions of 32 bits. */
LINE_SORT(long_float, float, u64, (uint64_t)key_of_float)
LINE_SORT(long_int, int32_t, u64, (uint64_t)key_of_int)
#undef LINE_SORT

static void run_sort(const void *context, int64_t job)
{
    const sort_job *j = context;
    char *memory = j->scratch + (size_t)job * j->bytes;
    const bool longer = j->lines.length > UINT32_MAX;
    const int64_t count = j->lines.count, last = count * (job + 1) / j->jobs;
    for (int64_t line = count * job / j->jobs; line < last && !lt_interrupted(); line++)
        switch (j->read) {
        case LT_FLOAT32: longer ? sort_line_long_float(j, memory, line) : sort_line_float(j, memory, line); break;
        case LT_FLOAT64: sort_line_double(j, memory, line); break;
        case LT_INT32: longer ? sort_line_long_int(j, memory, line) : sort_line_int(j, memory, line); break;
        default: sort_line_long(j, memory, line); break;
        }
}

static void run_kth(const void *context, int64_t job)
{
    const sort_job *j = context;
    char *memory = j->scratch + (size_t)job * j->bytes;
    const bool longer = j->lines.length > UINT32_MAX;
    const int64_t count = j->lines.count, last = count * (job + 1) / j->jobs;
    for (int64_t line = count * job / j->jobs; line < last && !lt_interrupted(); line++)
        switch (j->read) {
        case LT_FLOAT32: longer ? kth_of_line_long_float(j, memory, line) : kth_of_line_float(j, memory, line); break;
        case LT_FLOAT64: kth_of_line_double(j, memory, line); break;
        case LT_INT32: longer ? kth_of_line_long_int(j, memory, line) : kth_of_line_int(j, memory, line); break;
        default: kth_of_line_long(j, memory, line); break;
        }
}

/* Lines shared out among the threads, with room for the elements and twice the pairs. */
static lt_status run_lines(sort_job *j, void (*run)(const void *context, int64_t job))
{
    int threads = lt_cpu_threads_for(j->lines.count > 1 ? 8 * j->lines.count * j->lines.length : 0);
    j->jobs = threads < j->lines.count ? threads : j->lines.count;
    j->bytes = ((size_t)j->lines.length * (8 + 2 * sizeof(pair_u64)) + 63) / 64 * 64;
    j->scratch = lt_mem_alloc((size_t)j->jobs * j->bytes);
    if (j->scratch == NULL) return LT_ERR_MEMORY;
    lt_status status = lt_cpu_share(j->jobs, threads, run, j);
    lt_mem_free(j->scratch);
    return status;
}

static lt_dtype read_dtype(lt_dtype dtype)
{
    if (dtype == LT_FLOAT64 || dtype == LT_INT64) return dtype;
    return lt_dtype_is_float(dtype) ? LT_FLOAT32 : LT_INT32;
}

lt_status lt_cpu_kth(int64_t k, const lt_array *values, const lt_array *indices, const lt_array *in, int dim)
{
    sort_job j = {.k = k, .read = read_dtype(in->dtype)};
    lt_lines_of(&j.lines, (const lt_array *const[]){in, values, indices}, 3, dim);
    return j.lines.count == 0 ? LT_OK : run_lines(&j, run_kth);
}

lt_status lt_cpu_sort(bool descending, const lt_array *values, const lt_array *indices, const lt_array *in, int dim)
{
    sort_job j = {.descending = descending, .values = values != NULL, .indices = indices != NULL};
    j.read = read_dtype(in->dtype);
    lt_lines_of(&j.lines, (const lt_array *const[]){in, values, indices}, 3, dim);
    const lt_array *out = values != NULL ? values : indices;
    j.wanted = out->ndim > 0 ? out->sizes[dim] : 1;
    if (j.lines.count == 0 || j.wanted == 0) return LT_OK;
    return run_lines(&j, run_sort);
}
