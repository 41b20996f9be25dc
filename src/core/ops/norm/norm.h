/* norm.h - shared by the files of normalization: rows (norm.c), channels (batch_norm.c), and the
 * derivatives as formulas (formula.c). Included by these only. */
#ifndef LT_OPS_NORM_H
#define LT_OPS_NORM_H

#include "ops/compose.h"

/* As in lt_row_norm_args. */
typedef struct lt_rows_shape {
    int64_t rows, length, groups, run;
} lt_rows_shape;

/* The operands of a derivative. mean NULL: none was subtracted. needs: of input, weight, bias. */
typedef struct lt_norm_grads {
    lt_tensor *grad, *input, *weight, *mean, *rstd;
    double eps;
    bool needs[3];
    bool channels_last; /* the kernels' arrays are in that order */
} lt_norm_grads;

/* The derivatives in differentiable ops: the input is viewed as sizes, its parameters as
 * `parameters`, statistics are over the dimensions `over`; if `over` is empty they are constants,
 * the given ones. outs: three, NULL where not needed. */
lt_status lt_norm_formula(const lt_norm_grads *g, const lt_dims *sizes, const lt_dims *parameters,
                          const lt_dims *over, bool centered, lt_tensor **outs);

/* The operands of a tangent; a NULL weight or bias has none. mean, rstd: only if the statistics are
 * constants. */
typedef struct lt_norm_tangents {
    lt_tensor *input, *weight, *mean, *rstd;
    lt_tensor *input_t, *weight_t, *bias_t;
    double eps;
} lt_norm_tangents;

/* The tangent of the result, in differentiable ops; arguments as in lt_norm_formula. */
lt_status lt_norm_tangent(const lt_norm_tangents *t, const lt_dims *sizes,
                          const lt_dims *parameters, const lt_dims *over, bool centered,
                          lt_tensor **out);

/* Helpers of rows and channels (norm.c; lt_norm_return: formula.c). */
lt_dtype lt_norm_type(const lt_tensor *input);
lt_status lt_norm_check_parameters(const lt_tensor *input, const lt_tensor *weight,
                                   const lt_tensor *bias);
lt_tensor *lt_norm_dense(lt_scope *s, lt_tensor *t, lt_dtype statistics, bool channels_last);
lt_tensor *lt_norm_new(lt_scope *s, lt_dtype dtype, lt_device device, const lt_dims *sizes,
                       bool channels_last);
/* The array of a result in input's sizes: the memory of *out if possible, else new. */
lt_tensor *lt_norm_output(lt_scope *s, lt_tensor *const *out, const lt_tensor *input,
                          lt_dtype dtype, bool channels_last);
/* The arguments of backward kernels: contiguous operands, and in results (three) the requested
 * gradients, for parameters of the size `parameters`; zeros if the input is empty. weight:
 * contiguous, in the kernel's dtype. */
lt_norm_args lt_norm_backward_args(lt_scope *s, const lt_norm_grads *g, lt_tensor *weight,
                                   const lt_dims *parameters, lt_tensor **results);
/* Whether an operand will be differentiated or is batched. */
bool lt_norm_needs_formula(const lt_norm_grads *g);
lt_status lt_norm_return(lt_scope *s, int n, lt_tensor *const *results, lt_tensor **const *outs);

static inline void *lt_norm_data(const lt_tensor *t) { return t != NULL ? lt_data(t) : NULL; }

#endif
