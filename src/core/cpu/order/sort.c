/* sort.c - stable sort of 1-D slices ("lines") along a dimension, with the original positions of
 * the elements; single elements of the sorted slice (kthvalue).
 *
 * An element has an unsigned key of 32 or 64 bits in the same order: nan is the largest, the zeros
 * are equal. Its rank is the distance of the key from that of the slice's first element in the
 * requested order, so that a descending order needs no code of its own, equal elements keep their
 * order either way, and few bits remain to sort by. Pairs of rank and position are sorted, short
 * slices by merge sort, long ones by radix sort. Before that, elements are dropped if the highest
 * digit of their rank excludes them from the requested positions. The values are computed from the
 * ranks again, or fetched by position where several have the same key. Ranks that fit into 32 bits
 * make pairs of half the size.
 *
 * Many slices are partitioned over the threads; of few slices each is cut into one part per thread.
 * Many short slices are sorted side by side (vector/order/sort.c). */
#include <string.h>

#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "context/interrupt.h"
#include "cpu/common/slices.h"
#include "cpu/common/loops.h"
#include "cpu/common/scratch.h"
#include "cpu/common/is_nan.h"
#include "cpu/common/threads.h"

/* tuning: elements; longer slices are radix sorted, where counting digits costs as much as so many
 * elements; slices of 400 are radix sorted in 0.43 of the time of merge sort (Zen 5, 2026-11-28) */
#define MERGED 256
/* tuning: requested elements; up to as many are found by one pass over the slice; topk of 24 of 400
 * takes 2.69 of its time with 16 (Zen 5, 2026-11-28) */
#define FEW 32
/* fixed: elements per requested element from which on candidates are collected in one pass, which then
 * sorts at most a few of them */
#define SOME 128
/* fixed: bounds the memory for counts of parts */
#define MOST_PARTS 64

typedef struct sort_job {
    lt_slices lines; /* view 0: input, 1: values, 2: positions */
    lt_dtype read;   /* dtype in which elements are read */
    bool descending, values, indices;
    int64_t wanted; /* number of sorted elements requested, from the first on */
    bool one;       /* lt_cpu_kth: only index k is requested */
    int64_t k;
    int64_t jobs;  /* over which slices are partitioned */
    int parts;     /* of a slice; an interrupt waits for the end of one */
    int threads;   /* that process them */
    char *scratch; /* bytes for each job */
    size_t bytes;
} sort_job;

/* Statistics of a part of a slice. */
typedef struct extent {
    uint64_t least, greatest; /* keys */
    int64_t numbers;          /* elements that are not nan */
} extent;

struct element_kind;

/* The current slice of a job. */
typedef struct sort_line {
    const sort_job *j;
    const struct element_kind *elements;
    int64_t line, n;
    const void *x;         /* contiguous elements in the `read` dtype */
    bool wide;             /* pairs of 64-bit ranks and positions */
    bool stopped;          /* interrupted: the data is incomplete */
    uint64_t flip, first;  /* rank = (key ^ flip) - first */
    bool whole;            /* all elements become pairs: no digit was examined */
    int bits, shift;       /* the examined digit */
    uint64_t low, high;    /* digits that are kept */
    void *from, *to;       /* pairs */
    int64_t count;         /* of pairs */
    int64_t place, stored; /* the range of sorted pairs to store */
    extent *extents;       /* [part] */
    int64_t *counts;       /* [part][digit]: elements; then the index of the next one */
} sort_line;

static int64_t part_start(const sort_line *l, int64_t n, int64_t part)
{
    return n * part / l->j->parts;
}

/* Longer digits if there are enough elements to amortize their counts. */
static int digit_bits(int64_t n) { return n >= 16384 ? 11 : 8; }

/* ---- keys ------------------------------------------------------------------------------------ */

static inline uint32_t key_of_float(float x)
{
    uint32_t bits;
    if (x != x) return UINT32_MAX;
    x += 0; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
}

static inline uint64_t key_of_double(double x)
{
    uint64_t bits;
    if (x != x) return UINT64_MAX;
    x += 0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static inline uint32_t key_of_int(int32_t x) { return (uint32_t)x ^ UINT32_C(1) << 31; }
static inline uint64_t key_of_long(int64_t x) { return (uint64_t)x ^ UINT64_C(1) << 63; }

/* The element that has a key; false if several have it: the zeros, nan. */
static inline bool float_of_key(uint32_t key, float *x)
{
    const uint32_t zero = UINT32_C(1) << 31, bits = key >> 31 ? key ^ zero : ~key;
    memcpy(x, &bits, sizeof bits);
    return key != zero && key != UINT32_MAX;
}

static inline bool double_of_key(uint64_t key, double *x)
{
    const uint64_t zero = UINT64_C(1) << 63, bits = key >> 63 ? key ^ zero : ~key;
    memcpy(x, &bits, sizeof bits);
    return key != zero && key != UINT64_MAX;
}

static inline bool int_of_key(uint32_t key, int32_t *x)
{
    *x = (int32_t)(key ^ UINT32_C(1) << 31);
    return true;
}

static inline bool long_of_key(uint64_t key, int64_t *x)
{
    *x = (int64_t)(key ^ UINT64_C(1) << 63);
    return true;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

#define U       uint32_t
#define S(name) name##_narrow
#include "sort_pairs.inc"
#undef U
#undef S
#define U       uint64_t
#define S(name) name##_wide
#include "sort_pairs.inc"
#undef U
#undef S

typedef struct pair_kind {
    size_t bytes;
    void *(*merge_sort)(void *pairs, void *help, int64_t n);
    lt_job count, move;
    void (*positions)(const void *pairs, int64_t from, int64_t n, int64_t *out);
} pair_kind;

static const pair_kind pair_kinds[] = {
    /* [wide] */
    {sizeof(pair_narrow), merge_sort_narrow, count_pairs_narrow, move_pairs_narrow,
     positions_narrow},
    {sizeof(pair_wide), merge_sort_wide, count_pairs_wide, move_pairs_wide, positions_wide},
};

/* ---- elements -------------------------------------------------------------------------------- */

#define T       float
#define K       uint32_t
#define KEY_OF  key_of_float
#define OF_KEY  float_of_key
#define S(name) name##_float
#include "sort_elements.inc"
#undef T
#undef K
#undef KEY_OF
#undef OF_KEY
#undef S
#define T       double
#define K       uint64_t
#define KEY_OF  key_of_double
#define OF_KEY  double_of_key
#define S(name) name##_double
#include "sort_elements.inc"
#undef T
#undef K
#undef KEY_OF
#undef OF_KEY
#undef S
#define T       int32_t
#define K       uint32_t
#define KEY_OF  key_of_int
#define OF_KEY  int_of_key
#define S(name) name##_int
#include "sort_elements.inc"
#undef T
#undef K
#undef KEY_OF
#undef OF_KEY
#undef S
#define T       int64_t
#define K       uint64_t
#define KEY_OF  key_of_long
#define OF_KEY  long_of_key
#define S(name) name##_long
#include "sort_elements.inc"
#include "cpu/common/sizes.h"
#undef T
#undef K
#undef KEY_OF
#undef OF_KEY
#undef S

typedef struct element_kind {
    lt_job extent, count, build[2]; /* for narrow and wide pairs, like the next one */
    void (*values[2])(const sort_line *l, int64_t from, int64_t n, void *out);
    void (*few)(const sort_line *l);
    bool (*some)(sort_line *l);
} element_kind;

static const element_kind *sort_kind_of(lt_dtype read)
{
#define KIND(s)                                                                                    \
    {                                                                                              \
        extent_##s, count_##s, {build_narrow_##s, build_wide_##s},                                 \
            {values_narrow_##s, values_wide_##s}, few_##s, some_##s                                \
    }
    static const element_kind of_float = KIND(float), of_double = KIND(double);
    static const element_kind of_int = KIND(int), of_long = KIND(long);
#undef KIND
    return read == LT_FLOAT32   ? &of_float
           : read == LT_FLOAT64 ? &of_double
           : read == LT_INT32   ? &of_int
                                : &of_long;
}

/* ---- one slice ------------------------------------------------------------------------------- */

static int significant_bits(uint64_t x) { return x > 0 ? 64 - __builtin_clzll(x) : 0; }

static void in_parts(sort_line *l, lt_job run)
{
    if (l->stopped)
        return;
    else if (l->j->parts == 1)
        run(l, 0);
    else if (lt_parallel_for(l->j->parts, l->j->threads, run, l) != LT_OK)
        l->stopped = true;
}

/* Prefix sum: converts counts to the indices to which pairs are moved, by digit, then by part. */
static void counts_to_places(sort_line *l)
{
    int64_t at = 0;
    for (int64_t d = 0; d < (int64_t)1 << l->bits; d++)
        for (int64_t part = 0; part < l->j->parts; part++) {
            int64_t *count = &l->counts[(part << l->bits) + d], here = *count;
            *count = at;
            at += here;
        }
}

/* Sorts by so many bits, from the lowest digit on. */
static void radix_sort(sort_line *l, int bits)
{
    const pair_kind *pairs = &pair_kinds[l->wide];
    const int most = digit_bits(l->count), digits = (bits + most - 1) / most;
    for (int d = 0; d < digits; d++) {
        l->bits = (bits + digits - 1) / digits;
        l->shift = d * l->bits;
        in_parts(l, pairs->count);
        if (l->stopped || lt_interrupted()) return;
        counts_to_places(l);
        in_parts(l, pairs->move);
        void *other = l->from;
        l->from = l->to;
        l->to = other;
    }
}

/* Selects the highest digits to keep so that they include all positions up to `last`, or only the
 * digit of that position; l->place is then relative to the first kept element. Returns the number
 * of bits in which the kept ranks may differ. */
static int narrow(sort_line *l, int bits, int64_t last)
{
    const bool one = l->j->one;
    l->bits = digit_bits(l->n);
    l->shift = bits > l->bits ? bits - l->bits : 0;
    in_parts(l, l->elements->count);
    if (l->stopped) return 0;
    int64_t upto = 0, here = 0; /* not stopped: the counts include all elements */
    for (l->high = 0;; l->high++) {
        here = 0;
        for (int64_t part = 0; part < l->j->parts; part++)
            here += l->counts[((uint64_t)part << l->bits) + l->high];
        if (upto + here > last) break;
        upto += here;
    }
    l->whole = false;
    l->low = one ? l->high : 0;
    l->count = one ? here : upto + here;
    if (one) l->place -= upto;
    return one ? l->shift : l->shift + significant_bits(l->high);
}

/* Stores a part of the requested pairs at the beginning of the slice. */
static void store_part(const void *context, int64_t part)
{
    const sort_line *l = context;
    const sort_job *j = l->j;
    const int64_t end = part_start(l, l->stored, part + 1);
    char *values = j->values ? lt_slice_at(&j->lines, 1, l->line) : NULL;
    char *positions = j->indices ? lt_slice_at(&j->lines, 2, l->line) : NULL;
    int64_t block[LT_BLOCK];
    for (int64_t at = part_start(l, l->stored, part); at < end; at += LT_BLOCK) {
        const int64_t n = end - at < LT_BLOCK ? end - at : LT_BLOCK;
        if (j->values) {
            l->elements->values[l->wide](l, l->place + at, n, block);
            lt_slice_store(&j->lines, 1, values, at, n, block, j->read);
        }
        if (j->indices) {
            pair_kinds[l->wide].positions(l->from, l->place + at, n, block);
            lt_slice_store(&j->lines, 2, positions, at, n, block, LT_INT64);
        }
    }
}

/* Finds the origin of the ranks: the least key, or the greatest one if descending. Returns the
 * number of bits of the ranks. */
static int measure(sort_line *l)
{
    in_parts(l, l->elements->extent);
    if (l->stopped) return 0;
    extent all = l->extents[0];
    for (int part = 1; part < l->j->parts; part++) {
        const extent *e = &l->extents[part];
        if (e->least < all.least) all.least = e->least;
        if (e->greatest > all.greatest) all.greatest = e->greatest;
        all.numbers += e->numbers;
    }
    l->first = l->j->descending ? ~all.greatest : all.least;
    l->wide = all.greatest - all.least > UINT32_MAX || l->n > UINT32_MAX;
    if (l->j->k == LT_KTH_MEDIAN) l->place = all.numbers < l->n ? all.numbers : (l->n - 1) / 2;
    if (l->j->k == LT_KTH_NANMEDIAN) l->place = all.numbers > 0 ? (all.numbers - 1) / 2 : 0;
    return significant_bits(all.greatest - all.least);
}

static void sort_pairs(sort_line *l, char *memory)
{
    int bits = measure(l);
    if (l->n > MERGED && (l->j->one || l->stored <= l->n / 2))
        bits = narrow(l, bits, l->j->one ? l->place : l->stored - 1);
    l->from = memory;
    l->to = memory + (size_t)l->count * pair_kinds[l->wide].bytes;
    in_parts(l, l->elements->build[l->wide]);
    if (l->stopped) return;
    if (l->count <= MERGED)
        l->from = pair_kinds[l->wide].merge_sort(l->from, l->to, l->count);
    else
        radix_sort(l, bits);
}

/* ---- slices ---------------------------------------------------------------------------------- */

static size_t counts_bytes(const sort_job *j)
{
    const int64_t n = j->lines.length;
    return n > MERGED ? (size_t)j->parts * sizeof(int64_t) << digit_bits(n) : 0;
}

static bool job_is_dense(const sort_job *j)
{
    return j->lines.dtype[0] == j->read && j->lines.step[0] == (int64_t)lt_dtype_size(j->read);
}

static void load_part(const void *context, int64_t part)
{
    const sort_line *l = context;
    const int64_t from = part_start(l, l->n, part), n = part_start(l, l->n, part + 1) - from;
    const size_t size = lt_dtype_size(l->j->read);
    lt_slice_load(&l->j->lines, 0, l->x, from, n, (char *)l->to + (size_t)from * size, l->j->read);
}

/* memory: extents, counts, the elements if they must be gathered, two arrays of pairs. */
static void sort_line_at(const sort_job *j, char *memory, int64_t line)
{
    const int64_t n = j->lines.length;
    sort_line l = {.j = j,
                   .elements = sort_kind_of(j->read),
                   .line = line,
                   .n = n,
                   .x = lt_slice_at(&j->lines, 0, line),
                   .flip = j->descending ? UINT64_MAX : 0,
                   .whole = true,
                   .count = n,
                   .place = j->one ? j->k : 0,
                   .stored = j->one ? 1 : j->wanted};
    l.extents = (extent *)(void *)memory;
    memory += (size_t)j->parts * sizeof *l.extents;
    l.counts = (int64_t *)(void *)memory;
    memory += counts_bytes(j);
    if (!job_is_dense(j)) {
        l.to = memory;
        in_parts(&l, load_part);
        l.x = memory;
        memory += n * 8;
    }
    l.wide = true;
    l.from = memory;
    if (!j->one && j->wanted <= FEW)
        l.elements->few(&l);
    else if (j->one || j->wanted > n / SOME || !l.elements->some(&l))
        sort_pairs(&l, memory);
    if (!lt_interrupted()) in_parts(&l, store_part);
}

static void sort_some(const void *context, int64_t job)
{
    const sort_job *j = context;
    const int64_t count = j->lines.count, last = count * (job + 1) / j->jobs;
    for (int64_t line = count * job / j->jobs; line < last && !lt_interrupted(); line++)
        sort_line_at(j, j->scratch + (size_t)job * j->bytes, line);
}

/* ---- short slices side by side --------------------------------------------------------------- */

static bool dense_in(const sort_job *j, int v, lt_dtype dtype)
{
    return j->lines.dtype[v] == dtype &&
           (j->lines.length == 1 || j->lines.step[v] == (int64_t)lt_dtype_size(dtype));
}

/* A few slices take as long as LT_LANES of them, and longer slices make this worse. */
static bool side_by_side(const sort_job *j)
{
    const lt_slices *lines = &j->lines;
    return !j->one && lines->length <= lt_loops.sort[j->read].most && lines->ndim > 0 &&
           lines->sizes[0] >= LT_LANES / 4 && lines->sizes[0] >= lines->length / LT_LANES &&
           dense_in(j, 0, j->read) && (!j->values || dense_in(j, 1, j->read)) &&
           (!j->indices || dense_in(j, 2, LT_INT64));
}

static void sort_short_lines(const void *context, int64_t job)
{
    const sort_job *j = context;
    const lt_slices *lines = &j->lines;
    const int64_t size = (int64_t)lt_dtype_size(j->read), last = lines->count * (job + 1) / j->jobs;
    lt_short_slices s = {.n = lines->length, .wanted = j->wanted, .descending = j->descending};
    s.in_step = lines->strides[0][0] / size;
    s.values_step = j->values ? lines->strides[1][0] / size : 0;
    s.places_step = j->indices ? lines->strides[2][0] / (int64_t)sizeof *s.places : 0;
    for (int64_t line = lines->count * job / j->jobs; line < last && !lt_interrupted();
         line += s.lines) {
        s.lines = lt_slices_in_row(lines, line, last);
        if (s.lines > LT_LANES) s.lines = LT_LANES;
        s.in = lt_slice_at(lines, 0, line);
        s.values = j->values ? lt_slice_at(lines, 1, line) : NULL;
        s.places = j->indices ? (int64_t *)(void *)lt_slice_at(lines, 2, line) : NULL;
        lt_loops.sort[j->read].lines(&s);
    }
}

/* ---- sorting slices in parts of the memory --------------------------------------------------- */

static lt_status sort_lines(sort_job *j, const lt_array *in)
{
    const int64_t count = j->lines.count, n = j->lines.length;
    const int threads = lt_cpu_threads_for(8 * count * n);
    lt_scratch scratch;
    j->read = in->dtype == LT_FLOAT64 || in->dtype == LT_INT64 ? in->dtype
              : lt_dtype_is_float(in->dtype)                   ? LT_FLOAT32
                                                               : LT_INT32;
    j->jobs = count >= threads ? threads : 1;
    j->threads = count >= threads ? 1 : threads;
    if (side_by_side(j)) return lt_parallel_for(j->jobs, (int)j->jobs, sort_short_lines, j);
    j->parts = j->threads;
    if (n / (2 * LT_INTERRUPT_STEP) >= j->parts)
        j->parts = n / (2 * LT_INTERRUPT_STEP) < MOST_PARTS ? (int)(n / (2 * LT_INTERRUPT_STEP)) + 1
                                                            : MOST_PARTS;
    const size_t pair =
        lt_dtype_size(j->read) == 8 || n > UINT32_MAX ? sizeof(pair_wide) : sizeof(pair_narrow);
    j->bytes = (size_t)j->parts * sizeof(extent) + counts_bytes(j) +
               (size_t)n * (2 * pair + (job_is_dense(j) ? 0 : 8));
    j->bytes = (j->bytes + FEW * sizeof(pair_wide) + 63) / 64 * 64;
    j->scratch = lt_scratch_alloc(&scratch, j->jobs, j->bytes);
    if (j->scratch == NULL) return LT_ERR_MEMORY;
    lt_status status = lt_parallel_for(j->jobs, (int)j->jobs, sort_some, j);
    lt_scratch_free(&scratch, j->scratch);
    return status;
}

lt_status lt_cpu_kth(int64_t k, const lt_array *values, const lt_array *indices, const lt_array *in,
                     int dim)
{
    sort_job j = {.one = true, .k = k, .values = true, .indices = true};
    lt_slices_of(&j.lines, (const lt_array *const[]){in, values, indices}, 3, dim);
    return j.lines.count == 0 ? LT_OK : sort_lines(&j, in);
}

lt_status lt_cpu_sort(bool descending, const lt_array *values, const lt_array *indices,
                      const lt_array *in, int dim)
{
    sort_job j = {.descending = descending, .values = values != NULL, .indices = indices != NULL};
    lt_slices_of(&j.lines, (const lt_array *const[]){in, values, indices}, 3, dim);
    const lt_array *out = values != NULL ? values : indices;
    j.wanted = out->ndim > 0 ? out->sizes[dim] : 1;
    return j.lines.count == 0 || j.wanted == 0 ? LT_OK : sort_lines(&j, in);
}
