/* steps.h - more steps of formulas (compose.h): slicing, joining and indexing. Included by
 * src/core/ops only. */
#ifndef LT_OPS_STEPS_H
#define LT_OPS_STEPS_H

#include "compose.h"
#include "random/random.h"
#include "step/cumsum.h"
#include "step/gather.h"
#include "step/index_select.h"
#include "step/permute.h"
#include "step/select.h"

/* entries from .. to - 1 */
lt_tensor *do_part(lt_scope *s, lt_tensor *a, int64_t dim, int64_t from, int64_t to);
lt_tensor *do_diagonal(lt_scope *s, lt_tensor *a, int64_t offset, int64_t dim1, int64_t dim2);
lt_tensor *do_flip(lt_scope *s, lt_tensor *a, int64_t dim);
lt_tensor *do_cat(lt_scope *s, lt_tensor **tensors, int64_t n, int64_t dim);
lt_tensor *do_stack(lt_scope *s, lt_tensor **tensors, int64_t n, int64_t dim);
lt_tensor *do_clamp_within(lt_scope *s, lt_tensor *a, int64_t min, int64_t max);
lt_tensor *do_mul_scalar(lt_scope *s, lt_tensor *a, lt_scalar factor);
/* Copies src into the view of a tensor of this formula; returns view. */
lt_tensor *do_store(lt_scope *s, lt_tensor *view, lt_tensor *src);

/* Whether any element of flags (or each of them) is not 0; waits for the device. */
lt_status lt_any_set(lt_scope *s, lt_tensor *flags, bool *out);
lt_status lt_all_set(lt_scope *s, lt_tensor *flags, bool *out);
/* Checks that a generator (NULL: the default one) can draw on t's device. */
lt_status lt_check_generator(const lt_generator *generator, const lt_tensor *t);
/* Fills t, contiguous, with random numbers, holding the generator's lock. */
lt_status lt_draw_into(lt_tensor *t, lt_distribution what, lt_scalar a, lt_scalar b,
                       lt_generator *generator);

/* -- leaves on a device ------------------------------------------------------------------------ */
/* 0 .. n - 1, int64 */
lt_tensor *do_range(lt_scope *s, int64_t n, lt_device device);
/* An int64 tensor of values from the host, of these sizes; steals and frees values. NULL values:
 * out of memory. */
lt_tensor *do_positions(lt_scope *s, int64_t *values, const lt_dims *sizes, lt_device device);

/* The elements of a, flattened to a vector. */
lt_tensor *do_flatten(lt_scope *s, lt_tensor *a);

/* scatter in any mode (index/along_dim.c). No autograd. */
lt_status lt_scatter_combine(const char *op, lt_scatter_mode mode, lt_tensor *self, int64_t dim,
                             lt_tensor *index, lt_tensor *src, lt_tensor **out);

/* ---- results that are lists ------------------------------------------------------------------ */
/* capacity n; list->n counts the tensors stored so far */
lt_status lt_list_new(int64_t n, lt_tensor_list *list);
void lt_list_release(lt_tensor_list *list);
/* Closes the scope; on success moves list to *out, on failure releases it. */
lt_status lt_scope_give_list(lt_scope *s, lt_tensor_list *list, lt_tensor_list *out);

#endif
