/* nonzero.c - the number of nonzero elements, and their coordinates in row-major order. The
 * elements are partitioned into chunks; a prefix sum of the chunks' counts gives the offsets of
 * their coordinates. */
#include <string.h>

#include "saturating.h"
#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "memory/alloc.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

typedef struct nonzero_job {
    const lt_array *in, *out;
    int64_t numel, chunk; /* elements: all, of a chunk */
    int outer;            /* dimensions outside the runs */
    int64_t run, step;    /* elements of a run; the distance between them (bytes) */
    /* [chunk]: number of nonzero elements, then the offset of their coordinates */
    int64_t *counts;
} nonzero_job;

static nonzero_job search_of(const lt_array *in, const lt_array *out)
{
    nonzero_job s = {.in = in, .out = out, .numel = 1, .outer = in->ndim, .run = 1};
    const int last = in->ndim - 1;
    for (int d = 0; d < in->ndim; d++) s.numel = lt_mul_sat(s.numel, in->sizes[d]);
    s.step = last >= 0 ? lt_mul_within(in->strides[last], (int64_t)lt_dtype_size(in->dtype)) : 0;
    for (; s.outer > 0 &&
           (s.outer > last || in->strides[s.outer - 1] == lt_mul_within(s.run, in->strides[last]));
         s.outer--)
        s.run = lt_mul_sat(s.run, in->sizes[s.outer - 1]);
    s.chunk = LT_CPU_GRAIN;
    return s;
}

/* Flags, 0 or 1, of n elements: converted into the buffer, or in place. */
static const uint8_t *flags_of(const nonzero_job *s, int64_t from, int64_t n, uint8_t *buffer)
{
    const int64_t size = (int64_t)lt_dtype_size(s->in->dtype);
    for (int64_t done = 0, part; done < n; done += part) {
        const int64_t at = (from + done) % s->run;
        int64_t rest = (from + done) / s->run;
        char *p = (char *)s->in->data + at * s->step;
        for (int d = s->outer - 1; d >= 0; d--) {
            p += rest % s->in->sizes[d] * s->in->strides[d] * size;
            rest /= s->in->sizes[d];
        }
        part = s->run - at < n - done ? s->run - at : n - done;
        if (part == n && s->in->dtype == LT_BOOL && s->step == 1) return (const uint8_t *)p;
        lt_loops.cast[LT_BOOL][s->in->dtype]((char *[]){(char *)buffer + done, p},
                                             (int64_t[]){1, s->step}, part, NULL);
    }
    return buffer;
}

static int64_t chunk_end(const nonzero_job *s, int64_t chunk)
{
    return (chunk + 1) * s->chunk < s->numel ? (chunk + 1) * s->chunk : s->numel;
}

static void count_chunk(const void *context, int64_t chunk)
{
    const nonzero_job *s = context;
    const int64_t end = chunk_end(s, chunk);
    uint8_t buffer[LT_BLOCK];
    int64_t count = 0;
    for (int64_t from = chunk * s->chunk; from < end; from += LT_BLOCK) {
        const int n = end - from < LT_BLOCK ? (int)(end - from) : LT_BLOCK;
        const uint8_t *flags = flags_of(s, from, n, buffer);
        int set = 0;
        for (int i = 0; i < n; i++) set += flags[i];
        count += set;
    }
    s->counts[chunk] = count;
}

/* Writes the indices of the set flags to set; returns their number. */
static int set_flags(const uint8_t *flags, int n, uint16_t *set)
{
    int count = 0, i = 0;
    for (; i + (int)sizeof(uint64_t) <= n; i += (int)sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, flags + i, sizeof word);
        if (word == 0) continue;
        for (int k = i; k < i + (int)sizeof(uint64_t); k++) {
            set[count] = (uint16_t)k;
            count += flags[k];
        }
    }
    for (; i < n; i++) {
        set[count] = (uint16_t)i;
        count += flags[i];
    }
    return count;
}

static void write_chunk(const void *context, int64_t chunk)
{
    const nonzero_job *s = context;
    const int last = s->in->ndim - 1;
    const int64_t end = chunk_end(s, chunk), *sizes = s->in->sizes, *strides = s->out->strides;
    int64_t *out = (int64_t *)s->out->data + s->counts[chunk] * strides[0], row[LT_MAX_DIMS];
    uint8_t buffer[LT_BLOCK];
    uint16_t set[LT_BLOCK];
    /* the row along the last dimension, then its first element */
    int64_t start = chunk * s->chunk / sizes[last];
    for (int64_t d = last - 1, rest = start; d >= 0; rest /= sizes[d--]) row[d] = rest % sizes[d];
    start *= sizes[last];
    for (int64_t from = chunk * s->chunk; from < end; from += LT_BLOCK) {
        const int n = end - from < LT_BLOCK ? (int)(end - from) : LT_BLOCK;
        const int count = set_flags(flags_of(s, from, n, buffer), n, set);
        for (int k = 0; k < count; k++, out += strides[0]) {
            const int64_t at = from + set[k];
            while (at - start >= sizes[last]) {
                start += sizes[last];
                for (int d = last - 1; d >= 0 && ++row[d] == sizes[d]; d--) row[d] = 0;
            }
            for (int d = 0; d < last; d++) out[d * strides[1]] = row[d];
            out[last * strides[1]] = at - start;
        }
    }
}

/* Counts the elements of each chunk, and their sum. */
static lt_status count_chunks(nonzero_job *s, int64_t chunks, int64_t *total)
{
    *total = 0;
    LT_TRY(lt_parallel_for(chunks, lt_cpu_threads_for(s->numel), count_chunk, s));
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t here = s->counts[c];
        s->counts[c] = *total;
        *total += here;
    }
    return LT_OK;
}

static lt_status search_chunks(nonzero_job *s, int64_t *total)
{
    int64_t one = 0;
    /* one chunk: the offsets of chunks are not needed */
    if (s->out != NULL && s->numel <= LT_INTERRUPT_STEP && lt_cpu_threads_for(s->numel) == 1) {
        s->chunk = s->numel;
        s->counts = &one;
        return lt_parallel_for(1, 1, write_chunk, s);
    }
    const int64_t chunks = (s->numel + s->chunk - 1) / s->chunk;
    s->counts = chunks > 1 ? lt_mem_array(chunks, sizeof *s->counts) : &one;
    if (s->counts == NULL) return LT_ERR_MEMORY;
    lt_status status = count_chunks(s, chunks, total);
    if (status == LT_OK && s->out != NULL)
        status = lt_parallel_for(chunks, lt_cpu_threads_for(s->numel), write_chunk, s);
    if (chunks > 1) lt_mem_free(s->counts);
    return status;
}

lt_status lt_cpu_nonzero_count(const lt_array *in, int64_t *count)
{
    nonzero_job s = search_of(in, NULL);
    return search_chunks(&s, count);
}

lt_status lt_cpu_nonzero(const lt_array *in, const lt_array *out)
{
    int64_t count;
    nonzero_job s = search_of(in, out);
    return search_chunks(&s, &count);
}
