/* reduce.h - the plan of a reduction, which reduce.c makes, and its two ways of going through the elements. */
#ifndef LT_CPU_REDUCE_H
#define LT_CPU_REDUCE_H

#include "cpu/common/loops.h"
#include "devices/reduction.h"
#include "iter.h"

#define LT_REDUCE_CHUNKS 64 /* at most so many pieces of one result */

typedef struct lt_reduce_plan {
    lt_reduction op;
    double parameter;
    /* What is done with the elements. A second pass has a parameter for each result, from the first one's total. */
    const lt_reduce_loops *passes[2];
    int npasses;
    int type;        /* LT_ROWS_F32 ... */
    lt_dtype read;   /* elements are read as this dtype */
    int64_t size;    /* bytes of it */
    int64_t in_size; /* bytes of the input's elements */
    lt_loop convert; /* from the input's dtype to it; NULL when it is the same */
    lt_loop gather;  /* as convert, or a copy: for strided input */
    lt_loop store;   /* totals to the output's dtype */
    int64_t count;   /* reduced elements per result */
    int64_t results;
    const lt_iter *it;
    int reduced_dims;
} lt_reduce_plan;

/* Makes n totals of the first pass parameters of the second. */
void lt_reduce_between(const lt_reduce_plan *p, lt_total *totals, int64_t n);
/* Finishes n totals and stores them; parameters: of the second pass, if there was one. Overwrites totals. */
void lt_reduce_store(const lt_reduce_plan *p, char *out, int64_t stride, lt_total *totals, const lt_total *parameters,
                     int64_t n);
void lt_reduce_begin(const lt_reduce_plan *p, int pass, lt_total *totals, int64_t n);
/* Addresses of result number `index` (counted along the dimensions from first_dim on), operands 0 and 1. */
void lt_reduce_result_at(const lt_iter *it, int first_dim, int64_t index, char **ptrs);

/* Down the columns: the dimension after the reduced ones is dense in the input. */
lt_status lt_reduce_columns(const lt_reduce_plan *p);

#endif
