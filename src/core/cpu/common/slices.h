/* slices.h - the lines of views of one shape along a dimension: where each begins, and blocks of
 * them brought into contiguous memory and back with conversion.
 *
 * Kernels take LT_LANES neighbouring lines at a time and move them block by block: where lines
 * lie across memory, a cache line that was fetched for one serves its neighbours. */
#ifndef LT_CPU_SLICES_H
#define LT_CPU_SLICES_H

#include "devices/backend.h"
#include "cpu/common/sizes.h"

#define LT_SLICES_VIEWS 3

typedef struct lt_slices {
    int ndim;                                      /* dimensions other than the lines' own */
    int64_t count;                                 /* lines */
    int64_t length;                                /* of a line, in views[0] */
    int64_t sizes[LT_MAX_DIMS];                    /* innermost first */
    int64_t strides[LT_SLICES_VIEWS][LT_MAX_DIMS]; /* bytes */
    char *base[LT_SLICES_VIEWS];
    int64_t step[LT_SLICES_VIEWS]; /* bytes between elements of a line */
    lt_dtype dtype[LT_SLICES_VIEWS];
} lt_slices;

/* Views of the same sizes except along dim; NULL views are skipped. views[0] gives the length. */
void lt_slices_of(lt_slices *lines, const lt_array *const *views, int n, int dim);

/* Whether in the first n views neighbouring lines (along the innermost other dimension) lie side by
 * side, and their elements don't. */
bool lt_slices_are_interleaved(const lt_slices *lines, int n);
/* Whether in the first n views the elements of a line do. */
bool lt_slices_are_dense(const lt_slices *lines, int n);
/* The index of float, double or int64 among the types of reductions in which a dtype is computed;
 * that dtype. */
int lt_slices_type(lt_dtype dtype, lt_dtype *read);

/* Of lines first, first + 1, ... before `last`: how many lie strides[v][0] from one to the next in
 * each view. */
int64_t lt_slices_in_row(const lt_slices *lines, int64_t first, int64_t last);

/* First element of line number index in view v. */
char *lt_slice_at(const lt_slices *lines, int v, int64_t index);

/* Elements [from, from + n) of a line to dense memory of dtype to, and back. */
void lt_slice_load(const lt_slices *lines, int v, const char *line, int64_t from, int64_t n,
                   void *dense, lt_dtype to);
void lt_slice_store(const lt_slices *lines, int v, char *line, int64_t from, int64_t n,
                    const void *dense, lt_dtype of);

#endif
