/* ltensor_register.h - operations of a host or a plugin. ltensor.h includes it.
 *
 *   static lt_status axpy(void *user, const lt_value *args, int nargs, lt_value *results,
 *                         int nresults) ...
 *   lt_op_definition definition = lt_op_definition_of("myops::axpy(Tensor x, Tensor y, *, "
 *                                                     "Scalar a=1) -> Tensor", axpy);
 *   definition.derivative = axpy_derivative;
 *   if (lt_op_register(&definition) != LT_OK) ...
 *
 * A registered operation is called by lt_call("myops::axpy", ...) and in Lua by
 * torch.ops.myops.axpy(x, y, {a = 2}), with the same checks of arguments as a built-in one. It
 * works with autograd, with vmap (one sample after the other), in forward mode (from its
 * derivative) and in torch.compile (it is not fused). Not with sparse tensors. */
#ifndef LTENSOR_REGISTER_H
#define LTENSOR_REGISTER_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the results of a call.
 * - args: one value for each declared argument, in order, borrowed. LT_KIND_NONE: absent. Defaults
 *   are filled in. A Scalar is a bool, int or double, a Tensor|Scalar always a tensor, a Dim, Dims
 *   or Index counts from 0. Tensors have memory, on any device.
 * - results: lt_value_none on entry. Store a new value of the declared kind in each; the library
 *   releases them, also after a failure. A tensor must not share memory with an argument or another
 *   result. A list of tensors is an array from lt_op_allocate.
 * - Autograd records nothing in between. Tensors are written only if the declaration has (a!).
 * - Any thread may call it, several at once. Set the message of a failure by lt_op_error. */
typedef lt_status (*lt_op_function)(void *user, const lt_value *args, int nargs, lt_value *results,
                                    int nresults);

/* A call of a derivative. The tensors of a call are numbered in the order of its arguments or
 * results; the entries of a list count one by one. */
typedef struct lt_op_gradient {
    size_t size;          /* sizeof this struct in the library */
    const lt_value *args; /* as in the call; LT_KIND_NONE for tensors that were not kept */
    const lt_value *results;
    int32_t nargs, nresults;
    int64_t ngrads; /* number of tensors in the results */
    lt_tensor *const
        *grads;        /* gradient of each, zeros if the loss does not depend on it; borrowed */
    int64_t ninputs;   /* number of tensors in the arguments */
    const bool *needs; /* the inputs with a gradient to compute */
    /* Store a new reference for each of these; NULL is a gradient of zero. Broadcast gradients are
     * summed to the sizes of the input, and converted to its dtype. */
    lt_tensor **input_grads;
    void *state; /* reserved: NULL */
} lt_op_gradient;

/* Computes the gradients of the arguments from those of the results. If it consists of
 * differentiable operations, second derivatives follow. */
typedef lt_status (*lt_op_derivative)(void *user, const lt_op_gradient *call);

/* An operation. Initialize it by lt_op_definition_of; the other fields are optional. */
typedef struct lt_op_definition {
    size_t size; /* sizeof(lt_op_definition) in the caller */
    /* "namespace::name(arguments) -> results" in the language of src/ops/README.md. PyTorch's
     * spellings str, SymInt, int[], ScalarType, None, True and False are accepted; Tensor(a!) is an
     * argument that the operation writes to; -> () is no result. Copied. */
    const char *declaration;
    const char *doc; /* sentences for lt_op_info; copied */
    void *user;      /* first argument of the functions */
    /* called once, when the operation is unregistered and no graph refers to it; not after a
     * failure of lt_op_register */
    void (*release)(void *user);
    lt_op_function run;
    /* NULL: a result of tensors that require grad requires grad, and its backward is an error. Not
     * allowed for operations that write to arguments. */
    lt_op_derivative derivative;
    /* Names of the arguments and results whose elements the derivative reads, separated by spaces;
     * the memory of the others is not kept. NULL: all of them. */
    const char *saves;
    /* Creates results with the dtypes, sizes and devices that run() would create, with any elements:
     * lt_op_infer. NULL: run() is used. */
    lt_op_function meta;
} lt_op_definition;

LT_INLINE lt_op_definition lt_op_definition_of(const char *declaration, lt_op_function run)
{
    lt_op_definition d;
    d.size = sizeof d;
    d.declaration = declaration, d.doc = NULL, d.user = NULL, d.release = NULL;
    d.run = run, d.derivative = NULL, d.saves = NULL, d.meta = NULL;
    return d;
}

/* Registers an operation in the thread's context: calls in this context find it. In the context of
 * the process, it is for all contexts. LT_ERR_TYPE: an invalid declaration; LT_ERR_RUNTIME: the name
 * is in use. Any thread. */
LT_API lt_status lt_op_register(const lt_op_definition *definition);

/* Removes an operation of the thread's context. Graphs that contain it remain valid; its
 * lt_op_info does not. LT_ERR_RUNTIME if it is not registered. */
LT_API lt_status lt_op_unregister(const char *name);

/* Number and descriptions of the operations that the thread's context finds, in the order of their
 * registration; NULL if out of range. lt_op_arg and lt_op_result accept them. lt_op_count and
 * lt_op_at enumerate the built-in operations only. Borrowed until the operation is unregistered. */
LT_API int lt_op_registered_count(void);
LT_API const lt_op_info *lt_op_registered_at(int i);

/* Calls the meta function of a registered operation: *results as in lt_call, with unspecified
 * elements. */
LT_API lt_status lt_op_infer(const char *name, const lt_value *args, int nargs,
                             const lt_named_value *named, int nnamed, lt_value *results,
                             int *nresults);

/* For functions of an operation. lt_op_error sets the error message and returns the status:
 * `return lt_op_error(LT_ERR_RUNTIME, "axpy(): expected 2 dimensions")`. lt_op_allocate returns
 * zeroed memory for the array of a list of tensors; NULL with an error message if there is none. */
LT_API lt_status lt_op_error(lt_status status, const char *message);
LT_API lt_tensor **lt_op_allocate(int64_t n);

/* Opens a plugin: a shared object with operations (ltensor_plugin.h). Opening it again has no
 * effect; it stays loaded. Requests LT_ACCESS_LIBRARY with the path. LT_ERR_IO: the file cannot be
 * loaded; LT_ERR_RUNTIME: it is not a plugin, or needs a later version of the library; the errors
 * of its lt_plugin_open. Its operations are registered in the context of the process. */
LT_API lt_status lt_plugin_load(const char *path);

#ifdef __cplusplus
}
#endif

#endif
