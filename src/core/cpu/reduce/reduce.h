/* reduce.h - the plan of a reduction, made by reduce.c, and its two algorithms. */
#ifndef LT_CPU_REDUCE_H
#define LT_CPU_REDUCE_H

#include "cpu/common/loops.h"
#include "cpu/compile/fused.h"
#include "devices/reduction.h"
#include "dtypes/dtype.h"
#include "iter.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

/* fixed: maximum number of pieces of one result; determines the order of additions */
#define LT_REDUCE_CHUNKS 64
/* Results that are reduced together. */
#define LT_REDUCE_BATCH (LT_BLOCK / 2)
/* Minimum number of elements of a piece. */
#define LT_REDUCE_CHUNK ((int64_t)LT_CPU_GRAIN)
/* Results of more elements are reduced in pieces. */
#define LT_REDUCE_LONG (2 * LT_REDUCE_CHUNK)
/* Columns at a time. */
#define LT_REDUCE_TILE LT_STRIP
/* Short slices are partitioned at multiples of it, so that the loops process the same ones
 * together. */
#define LT_REDUCE_SLICES LT_SHORT_SLICES

typedef struct lt_reduce_plan {
    lt_reduction op;
    double parameter;
    /* The loops of each pass. A second pass has a parameter for each result, from the first one's
     * total. */
    const lt_reduce_loops *passes[2];
    int npasses;
    /* variance: the first pass also has a parameter for each result, its first element */
    bool varies;
    int type;        /* LT_ROWS_F32 ... */
    lt_dtype read;   /* elements are read as this dtype */
    int64_t size;    /* bytes of it */
    int64_t in_size; /* bytes of the input's elements */
    lt_loop convert; /* from the input's dtype to `read`; NULL if they are equal */
    lt_loop gather;  /* as convert, or a copy: for strided input */
    lt_loop store;   /* totals to the output's dtype */
    int64_t count;   /* reduced elements per result */
    int64_t results;
    const lt_iter *it;
    int reduced_dims;
    /* fused producer of the elements, in consecutive slices or rows; NULL: they are in memory */
    const lt_fused_program *fusion;
} lt_reduce_plan;

/* The parameters of the first pass over n results with elements `step` bytes apart. NULL if all
 * have p->parameter, else `parameters`. */
lt_total *lt_reduce_before(const lt_reduce_plan *p, const char *elements, int64_t step, int64_t n,
                           lt_total *parameters);
/* Converts n totals of the first pass, of which `before` are the parameters, to parameters of the
 * second. */
void lt_reduce_between(const lt_reduce_plan *p, lt_total *totals, const lt_total *before,
                       int64_t n);
/* Finishes n totals and stores them; parameters: of the second pass, if there was one. Overwrites
 * totals. */
void lt_reduce_store(const lt_reduce_plan *p, char *out, int64_t stride, lt_total *totals,
                     const lt_total *parameters, int64_t n);
void lt_reduce_begin(const lt_reduce_plan *p, int pass, lt_total *totals, int64_t n);
/* Reduces n contiguous elements into a total. */
void lt_reduce_line(const lt_reduce_plan *p, int pass, double parameter, char *elements, int64_t n,
                    lt_total *total);
/* n results along the first kept dimension; ptrs: of the first one and its elements. */
void lt_reduce_batch(const lt_reduce_plan *p, char *const *ptrs, int64_t n);
/* Addresses of result number `index` (counted along the dimensions from first_dim on), operands 0
 * and 1. */
void lt_reduce_result_at(const lt_iter *it, int first_dim, int64_t index, char **ptrs);

/* fused_reduce.c: reduces elements [from, to) of the fused producer into a total, for one pass; n
 * results from number `first` on, stored from out on. */
void lt_reduce_fused_part(const lt_reduce_plan *p, int64_t from, int64_t to, lt_total *total);
void lt_reduce_fused_lines(const lt_reduce_plan *p, char *out, int64_t first, int64_t n);
/* Calls `take` for rows [from, to) of the fused producer, at_once at a time, as operand 1 with a
 * row per step. */
void lt_reduce_fused_rows(const lt_reduce_plan *p, int64_t from, int64_t to, int64_t at_once,
                          lt_loop take, const void *context);

/* Down the columns: the dimension after the reduced ones is contiguous in the input. */
lt_status lt_reduce_columns(const lt_reduce_plan *p);

#endif
