/* fused_rows.c - see fused_rows.h. */
#include "fused_rows.h"

#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "dtypes/dtype.h"

enum {
    /* Elements passed to a kernel at a time: several rows, which softmax processes pass by pass;
     * few, so that they stay in L1 beside the operands of the next block. */
    NEAR = 2048,
    ALIGNED = 64
};

static size_t aligned_bytes(int64_t bytes)
{
    return ((size_t)bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

void lt_fused_row_reader_init(lt_fused_row_reader *l, const lt_fused_producer *producer,
                              int64_t length, int64_t at_once, lt_dtype to)
{
    const lt_dtype dtype = producer->fusion->values[producer->value].dtype;
    lt_fused_prepare(&l->program, producer->fusion, producer->value);
    l->length = length;
    l->size = (int64_t)lt_dtype_size(to);
    l->at_once = at_once > 0 ? at_once : length < NEAR ? NEAR / length : 1;
    l->unit = LT_FUSED_UNIT;
    for (int64_t n = length; l->unit > 1 && n % 2 == 0; n /= 2) l->unit /= 2;
    if (at_once > l->unit) l->unit = at_once;
    l->convert = dtype != to ? lt_loops.cast[to][dtype] : NULL;
    l->plain =
        aligned_bytes((l->at_once * length + LT_FUSED_AROUND) * (int64_t)lt_dtype_size(dtype));
}

size_t lt_fused_row_reader_bytes(const lt_fused_row_reader *l)
{
    return l->plain + (l->convert != NULL ? aligned_bytes(l->at_once * l->length * l->size) : 0);
}

void lt_fused_row_reader_read(const lt_fused_row_reader *l, int64_t first, int64_t last, char *room,
                              lt_take_lines take, const void *context)
{
    const int64_t in_size =
        (int64_t)lt_dtype_size(l->program.fusion->values[l->program.seen].dtype);
    lt_fused_run run; /* not zeroed */
    lt_fused_begin(&run, &l->program);
    for (int64_t at = first; at < last && !lt_interrupted(); at += l->at_once) {
        const int64_t n = last - at < l->at_once ? last - at : l->at_once;
        char *in = lt_fused_elements(&run, at * l->length, n * l->length, room);
        if (l->convert != NULL) {
            char *const converted = room + l->plain;
            l->convert((char *[]){converted, in}, (int64_t[]){l->size, in_size}, n * l->length,
                       NULL);
            in = converted;
        }
        take(context, at, at + n, in);
    }
}

void lt_fused_row_reader_part(const lt_fused_row_reader *l, int64_t count, int64_t t, int64_t parts,
                              char *room, lt_take_lines take, const void *context)
{
    const int64_t units = (count + l->unit - 1) / l->unit, end = (t + 1) * units / parts * l->unit;
    lt_fused_row_reader_read(l, t * units / parts * l->unit, end < count ? end : count, room, take,
                             context);
}
