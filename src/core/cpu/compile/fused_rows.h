/* fused_rows.h - iterates over rows that a fusion group computes, a few at a time, for kernels
 * that read an input by rows and get it as an lt_fused_producer. */
#ifndef LT_CPU_FUSED_ROWS_H
#define LT_CPU_FUSED_ROWS_H

#include "fused.h"

/* Contains pointers to itself: do not move it. */
typedef struct lt_fused_row_reader {
    lt_fused_program program;
    int64_t length;  /* elements of a row */
    int64_t size;    /* bytes of an element, converted */
    int64_t at_once; /* rows per call */
    /* Threads start at multiples of this number of rows: so no two of them compute the same
     * element, and rows that are processed together stay together. */
    int64_t unit;
    lt_loop convert; /* NULL: no conversion */
    size_t plain;    /* bytes of a thread's buffer for elements before conversion */
} lt_fused_row_reader;

/* Initializes l for rows of `length` elements, converted to `to`. at_once: rows per call, if
 * results depend on that; 0: as many as stay in L1. */
void lt_fused_row_reader_init(lt_fused_row_reader *l, const lt_fused_producer *producer,
                              int64_t length, int64_t at_once, lt_dtype to);

/* Bytes of the buffer `room` (aligned to 64 bytes) that each thread needs. */
size_t lt_fused_row_reader_bytes(const lt_fused_row_reader *l);

/* Calls take for rows [first, last), l->at_once rows at a time (the last call: the rest). in: the
 * rows, contiguous and read-only. room: the thread's buffer. */
typedef void (*lt_take_lines)(const void *context, int64_t first, int64_t last, const char *in);
void lt_fused_row_reader_read(const lt_fused_row_reader *l, int64_t first, int64_t last, char *room,
                              lt_take_lines take, const void *context);

/* Calls take for the rows of part t of `parts`, which together are `count` rows; one part per
 * thread. */
void lt_fused_row_reader_part(const lt_fused_row_reader *l, int64_t count, int64_t t, int64_t parts,
                              char *room, lt_take_lines take, const void *context);

#endif
