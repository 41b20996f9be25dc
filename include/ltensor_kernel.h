/* ltensor_kernel.h - elementwise operations from a formula in text. Included by ltensor.h.
 *
 *   lt_formula *f;
 *   lt_tensor *y;
 *   lt_kernel_elementwise("x * exp(-x / (w + 1))", NULL, &f);
 *   lt_formula_call(f, (lt_value[]){lt_value_tensor(x), lt_value_double(2)}, 2, &y);
 *
 * The formula is an expression of Lua: numbers, names, + - * / // % ^, comparisons (== ~= < <= > >=),
 * parentheses, and calls of elementwise operations by their names in torch (exp, erf, where, clamp,
 * logical_and ...). pi, inf and nan are numbers. Statements `name = expression`, separated by ; or
 * line ends, can precede it. Each function of the text is the operation of that name, with its
 * promotion, broadcasting, rounding and errors. */
#ifndef LTENSOR_KERNEL_H
#define LTENSOR_KERNEL_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A formula: reference counted, constant; any number of threads may call it. */
typedef struct lt_formula lt_formula;

typedef struct lt_kernel_options {
    size_t size;      /* sizeof this struct in the caller; set by lt_kernel_options_new */
    const char *name; /* in errors and in the graph; NULL: "elementwise" */
    /* The names of the inputs in the order of the arguments, at most 16. NULL: all names of the
     * text, in order of first appearance. */
    const char *const *inputs;
    int n_inputs;
    /* The assigned names that are results, at most 8. NULL: the last expression is the only one. */
    const char *const *outputs;
    int n_outputs;
    lt_dtype dtype; /* to which the results are converted; LT_DTYPE_NONE: as computed */
} lt_kernel_options;

LT_INLINE lt_kernel_options lt_kernel_options_new(void)
{
    lt_kernel_options options;
    options.size = sizeof options, options.name = NULL;
    options.inputs = NULL, options.n_inputs = 0;
    options.outputs = NULL, options.n_outputs = 0;
    options.dtype = LT_DTYPE_NONE;
    return options;
}

/* New: parses the text. options may be NULL; it is copied. LT_ERR_TYPE with the column (from 1) of
 * an error in the text. */
LT_API lt_status lt_kernel_elementwise(const char *text, const lt_kernel_options *options,
                                       lt_formula **out);
/* Returns f, with one more reference. */
LT_API lt_formula *lt_formula_retain(lt_formula *f);
LT_API void lt_formula_release(lt_formula *f);

/* The number of inputs and of results; the name of input i, borrowed, NULL if out of range. */
LT_API int lt_formula_inputs(const lt_formula *f);
LT_API int lt_formula_outputs(const lt_formula *f);
LT_API const char *lt_formula_input(const lt_formula *f, int i);

/* Computes the formula in one pass over memory where possible: the operations of the text are
 * executed together, block by block, with the bits that they have one by one; on a GPU as one
 * generated kernel. args: one tensor or number (bool, int, double) per input. results: an array of
 * lt_formula_outputs(f) tensors, filled with new references; unchanged after a failure. The results
 * are differentiable like those of the operations; a formula is one node of the graph, and its
 * derivative runs fused, too. LT_ERR_TYPE for a wrong number or kind of arguments, and the errors of
 * the operations. */
LT_API lt_status lt_formula_call(lt_formula *f, const lt_value *args, int nargs,
                                 lt_tensor **results);

/* ---- compiled loops on the CPU ---------------------------------------------------------------
 *
 * By default the CPU interprets a formula: it calls one vector loop per operation for each block of
 * elements. The C source of the formula as one function is faster. Compile it at run time or with
 * your program, with ltensor's folders src/core, src/core/formulas and src/core/cpu/vector in the
 * include path, and set the loop. torch.kernel.elementwise does so with `compile = true`. */

/* Computes elements [from, to). data: the addresses of the values of the formula, in the order that
 * its source defines. Called by several threads at once. */
typedef void (*lt_formula_loop)(char *const *data, int64_t from, int64_t to);

/* New: C source of the function lt_loop, a lt_formula_loop for these arguments and all others with
 * the same dtypes: contiguous tensors of one shape in float32, bool or integers, with arithmetic in
 * float32, and numbers. NULL: there is none, as for arithmetic in other dtypes, for broadcast
 * inputs, and for sin, cos, tan, %, // and special functions. It equals for other numbers, except
 * exponents. Computes the formula once. Free it with lt_string_release. */
LT_API lt_status lt_formula_c_source(lt_formula *f, const lt_value *args, int nargs, char **source);

/* Calls with the dtypes and the numbers of these arguments use this loop from now on; NULL: the
 * interpreter. The loop must stay loaded. The formula keeps the last 8 combinations. */
LT_API lt_status lt_formula_set_loop(lt_formula *f, const lt_value *args, int nargs,
                                     lt_formula_loop loop);

#ifdef __cplusplus
}
#endif

#endif
