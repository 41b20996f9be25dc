/* fused_rows.h - rows of elements that a fusion group computes, a few at a time: for kernels that read a
 * tensor line by line and are given it as an lt_fused_producer. */
#ifndef LT_CPU_FUSED_ROWS_H
#define LT_CPU_FUSED_ROWS_H

#include "fused.h"

/* Does not move once it is made. */
typedef struct lt_fused_row_reader {
    lt_fused_program program;
    int64_t length;  /* of a line */
    int64_t size;    /* bytes of an element as it is read */
    int64_t at_once; /* lines in a call */
    /* Threads begin at multiples of so many lines: no two of them compute one element, and lines
     * that are taken together stay together. */
    int64_t unit;
    lt_loop convert; /* NULL: from the dtype itself */
    size_t plain;    /* bytes of a thread's room for elements as they are computed */
} lt_fused_row_reader;

/* Lines of `length` elements, read as `to`; at_once: how many together, where the results depend on
 * that, or 0: as many as a near cache has room for. */
void lt_fused_row_reader_init(lt_fused_row_reader *l, const lt_fused_producer *producer,
                              int64_t length, int64_t at_once, lt_dtype to);

/* Bytes of memory, aligned to 64, that each thread needs to read lines. */
size_t lt_fused_row_reader_bytes(const lt_fused_row_reader *l);

/* Lines [first, last), l->at_once of them in a call of `take` as long as there are so many, which
 * lie at `in` one after the other and may not be written. room: as above, one for each thread. */
typedef void (*lt_take_lines)(const void *context, int64_t first, int64_t last, const char *in);
void lt_fused_row_reader_read(const lt_fused_row_reader *l, int64_t first, int64_t last, char *room,
                              lt_take_lines take, const void *context);

/* The same of part t of `count` lines, of which there are as many parts as threads. */
void lt_fused_row_reader_part(const lt_fused_row_reader *l, int64_t count, int64_t t, int64_t parts,
                              char *room, lt_take_lines take, const void *context);

#endif
