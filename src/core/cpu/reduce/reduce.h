/* reduce.h - the plan of a reduction, which reduce.c makes, and its two ways of going through the
 * elements. */
#ifndef LT_CPU_REDUCE_H
#define LT_CPU_REDUCE_H

#include "cpu/common/loops.h"
#include "cpu/compile/fused.h"
#include "devices/reduction.h"
#include "dtypes/dtype.h"
#include "iter.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

/* fixed: pieces of one result, at most; decides the order of additions */
#define LT_REDUCE_CHUNKS 64
/* Results that are reduced together. */
#define LT_REDUCE_BATCH (LT_BLOCK / 2)
/* Elements of a piece, at least. */
#define LT_REDUCE_CHUNK ((int64_t)LT_CPU_GRAIN)
/* Elements of a result from which it is reduced in pieces. */
#define LT_REDUCE_LONG (2 * LT_REDUCE_CHUNK)
/* Columns at a time. */
#define LT_REDUCE_TILE LT_STRIP
/* Short lines are cut after multiples of it, so that the loops take the same ones together. */
#define LT_REDUCE_SLICES LT_SHORT_SLICES

typedef struct lt_reduce_plan {
    lt_reduction op;
    double parameter;
    /* What is done with the elements. A second pass has a parameter for each result, from the first
     * one's total. */
    const lt_reduce_loops *passes[2];
    int npasses;
    /* variance: the first pass has a parameter for each result, too, its first element */
    bool varies;
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
    /* what computes the elements, in lines, or rows, one after the other; NULL: they are in
     * memory */
    const lt_fused_program *fusion;
} lt_reduce_plan;

/* The parameters of the first pass over n results, `step` bytes from one's elements to the next's.
 * NULL if all have p->parameter, else `parameters`. */
lt_total *lt_reduce_before(const lt_reduce_plan *p, const char *elements, int64_t step, int64_t n,
                           lt_total *parameters);
/* Makes n totals of the first pass, whose parameters are `before`, parameters of the second. */
void lt_reduce_between(const lt_reduce_plan *p, lt_total *totals, const lt_total *before,
                       int64_t n);
/* Finishes n totals and stores them; parameters: of the second pass, if there was one. Overwrites
 * totals. */
void lt_reduce_store(const lt_reduce_plan *p, char *out, int64_t stride, lt_total *totals,
                     const lt_total *parameters, int64_t n);
void lt_reduce_begin(const lt_reduce_plan *p, int pass, lt_total *totals, int64_t n);
/* Joins n elements, one after the other, into a total. */
void lt_reduce_line(const lt_reduce_plan *p, int pass, double parameter, char *elements, int64_t n,
                    lt_total *total);
/* n results that lie along the first dimension that stays; ptrs: of the first one and its
 * elements. */
void lt_reduce_batch(const lt_reduce_plan *p, char *const *ptrs, int64_t n);
/* Addresses of result number `index` (counted along the dimensions from first_dim on), operands 0
 * and 1. */
void lt_reduce_result_at(const lt_iter *it, int first_dim, int64_t index, char **ptrs);

/* reduce_fusion.c: elements [from, to) of the fusion joined into a total, where there is one pass; n
 * results from number `first` on, of which the first is stored at out. */
void lt_reduce_fused_part(const lt_reduce_plan *p, int64_t from, int64_t to, lt_total *total);
void lt_reduce_fused_lines(const lt_reduce_plan *p, char *out, int64_t first, int64_t n);
/* Rows [from, to) of the fusion, at_once of them at a time, given to `take` as operand 1, a row a
 * step. */
void lt_reduce_fused_rows(const lt_reduce_plan *p, int64_t from, int64_t to, int64_t at_once,
                          lt_loop take, const void *context);

/* Down the columns: the dimension after the reduced ones is dense in the input. */
lt_status lt_reduce_columns(const lt_reduce_plan *p);

#endif
