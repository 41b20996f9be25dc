/* slices.h - the lines (1-D slices) along a dimension of views of one shape: their addresses, and
 * conversion of blocks of a line to contiguous memory and back.
 *
 * Kernels process LT_LANES neighbouring lines at a time, block by block: if the elements of a line
 * are far apart in memory, a cache line then serves several lines. */
#ifndef LT_CPU_SLICES_H
#define LT_CPU_SLICES_H

#include "devices/backend.h"
#include "cpu/common/sizes.h"

#define LT_SLICES_VIEWS 3

typedef struct lt_slices {
    int ndim;                                      /* dimensions except that of the lines */
    int64_t count;                                 /* number of lines */
    int64_t length;                                /* elements of a line in views[0] */
    int64_t sizes[LT_MAX_DIMS];                    /* innermost first */
    int64_t strides[LT_SLICES_VIEWS][LT_MAX_DIMS]; /* bytes */
    char *base[LT_SLICES_VIEWS];
    int64_t step[LT_SLICES_VIEWS]; /* bytes between elements of a line */
    lt_dtype dtype[LT_SLICES_VIEWS];
} lt_slices;

/* The lines of views along dim. Views have equal sizes except along dim, where views[0] determines
 * `length`; NULL views are skipped. */
void lt_slices_of(lt_slices *lines, const lt_array *const *views, int n, int dim);

/* Whether in the first n views neighbouring lines (along the innermost other dimension) are
 * adjacent in memory, and the elements of a line are not. */
bool lt_slices_are_interleaved(const lt_slices *lines, int n);
/* Whether in the first n views the elements of a line are contiguous. */
bool lt_slices_are_dense(const lt_slices *lines, int n);
/* Returns the index of the type in which reductions of dtype are computed (float, double or int64),
 * and stores the type in *read. */
int lt_slices_type(lt_dtype dtype, lt_dtype *read);

/* The number of lines from `first` on, before `last`, that are strides[v][0] apart in each view v.
 */
int64_t lt_slices_in_row(const lt_slices *lines, int64_t first, int64_t last);

/* The address of the first element of line `index` in view v. */
char *lt_slice_at(const lt_slices *lines, int v, int64_t index);

/* Converts elements [from, from + n) of a line to contiguous memory of another dtype, and back. */
void lt_slice_load(const lt_slices *lines, int v, const char *line, int64_t from, int64_t n,
                   void *dense, lt_dtype to);
void lt_slice_store(const lt_slices *lines, int v, char *line, int64_t from, int64_t n,
                    const void *dense, lt_dtype of);

#endif
