/* ltensor.h - the public C interface: tensors, operations, and the Lua interpreter that carries them.
 *
 * A host application includes this file alone. Dimensions, indices and index tensors count from 0
 * here, as C does; only Lua counts from 1. Every function that can fail returns an lt_status; the
 * message of the last failure on this thread is lt_error_message(). A function that fails leaves its
 * outputs untouched. Functions that return a new reference say so; all others borrow.
 * Tensors may be shared between threads (their counts are atomic); one tensor must not be written by
 * two threads at once.
 */
#ifndef LTENSOR_H
#define LTENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LT_VERSION "0.1.0"
#define LT_MAX_DIMS 16

#if defined(__GNUC__)
#define LT_API __attribute__((visibility("default")))
#else
#define LT_API
#endif

typedef enum lt_status {
    LT_OK = 0,
    LT_ERR_RUNTIME,     /* wrong shapes, dtypes, devices, arguments */
    LT_ERR_INDEX,       /* a position out of range */
    LT_ERR_TYPE,        /* an argument of the wrong kind */
    LT_ERR_MEMORY,      /* host or device memory exhausted */
    LT_ERR_DEVICE,      /* a device is missing or reported an error */
    LT_ERR_INTERRUPTED, /* lt_interrupt() was called while an operation ran */
    LT_ERR_IO           /* a file could not be read or written */
} lt_status;

/* Message of the last failure on this thread; valid until the next failing call. Never NULL. */
LT_API const char *lt_error_message(void);

typedef enum lt_dtype {
    LT_DTYPE_NONE = -1, /* "not given" where a dtype is optional */
    LT_BOOL = 0,
    LT_UINT8,
    LT_INT8,
    LT_INT16,
    LT_INT32,
    LT_INT64,
    LT_FLOAT16,
    LT_BFLOAT16,
    LT_FLOAT32,
    LT_FLOAT64,
    LT_DTYPE_COUNT
} lt_dtype;

typedef enum lt_device_type { LT_CPU = 0, LT_CUDA = 1, LT_DEVICE_TYPES } lt_device_type;

/* A place for tensors. index is 0 for the CPU; for CUDA -1 means "whichever device is current". */
typedef struct lt_device {
    int8_t type;
    int8_t index;
} lt_device;

/* A number as Lua has it: integer, float or boolean. */
typedef enum lt_scalar_kind { LT_SCALAR_BOOL, LT_SCALAR_INT, LT_SCALAR_FLOAT } lt_scalar_kind;
typedef struct lt_scalar {
    lt_scalar_kind kind;
    union {
        int64_t i; /* BOOL and INT */
        double d;  /* FLOAT */
    } v;
} lt_scalar;

/* Sizes, strides or a set of dimensions. */
typedef struct lt_dims {
    int n;
    int64_t v[LT_MAX_DIMS];
} lt_dims;

typedef struct lt_tensor lt_tensor;
typedef struct lt_generator lt_generator;

typedef struct lt_tensor_list {
    int64_t n;
    lt_tensor **v;
} lt_tensor_list;

static inline lt_scalar lt_int(int64_t i)
{
    lt_scalar s;
    s.kind = LT_SCALAR_INT, s.v.i = i;
    return s;
}
static inline lt_scalar lt_float(double d)
{
    lt_scalar s;
    s.kind = LT_SCALAR_FLOAT, s.v.d = d;
    return s;
}
static inline lt_scalar lt_boolean(bool b)
{
    lt_scalar s;
    s.kind = LT_SCALAR_BOOL, s.v.i = b;
    return s;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* New uninitialized contiguous tensor; *out is a new reference. LT_ERR_MEMORY, LT_ERR_DEVICE. */
LT_API lt_status lt_tensor_new(lt_dtype dtype, lt_device device, int ndim, const int64_t *sizes,
                               lt_tensor **out);

/* Wraps host memory the caller owns, without copying: row-major, ndim sizes. release(ctx) is called
 * once, when the last tensor that shares the memory is gone; it may be NULL. */
LT_API lt_status lt_tensor_wrap(void *data, lt_dtype dtype, int ndim, const int64_t *sizes,
                                void (*release)(void *ctx), void *ctx, lt_tensor **out);

LT_API lt_tensor *lt_tensor_retain(lt_tensor *t); /* returns t */
LT_API void lt_tensor_release(lt_tensor *t);      /* NULL is allowed */

LT_API lt_dtype lt_tensor_dtype(const lt_tensor *t);
LT_API lt_device lt_tensor_device(const lt_tensor *t);
LT_API int lt_tensor_ndim(const lt_tensor *t);
LT_API const int64_t *lt_tensor_sizes(const lt_tensor *t);   /* ndim entries */
LT_API const int64_t *lt_tensor_strides(const lt_tensor *t); /* ndim entries, in elements */
LT_API int64_t lt_tensor_numel(const lt_tensor *t);
LT_API bool lt_tensor_is_contiguous(const lt_tensor *t);
/* Address of the first element; a device address for CUDA tensors. */
LT_API void *lt_tensor_data(const lt_tensor *t);

LT_API size_t lt_dtype_size(lt_dtype dtype);      /* bytes per element */
LT_API const char *lt_dtype_name(lt_dtype dtype); /* "float32" */

/* ---- interop: DLPack ---------------------------------------------------------------------------------
 *
 * DLPack (https://dmlc.github.io/dlpack/latest/) is how libraries lend each other tensors without copying them: NumPy,
 * PyTorch, JAX, CuPy, TensorFlow and others. A managed tensor is a pointer to a DLManagedTensorVersioned (versioned:
 * DLPack 1.x) or to a DLManagedTensor (before 1.0); in Python it lies in a capsule called "dltensor_versioned" or
 * "dltensor", from x.__dlpack__(max_version=(1, 0)) or x.__dlpack__(). */

/* Lends t: *out is a new managed tensor over the same memory, which lives until its deleter is called (or it is given
 * to lt_tensor_from_dlpack), on any thread. What is written into one is seen in the other. LT_ERR_RUNTIME when t
 * requires grad, or is read-only and versioned is false. GPU memory is ready on the current stream of its device:
 * lt_tensor_ready_for. Memory of a simulated GPU is lent as kDLExtDev, which only this library takes back. */
LT_API lt_status lt_tensor_to_dlpack(lt_tensor *t, bool versioned, void **out);

/* Takes a managed tensor: *out is a new tensor over its memory, and its deleter (which may be NULL) is called once, when
 * the last tensor that shares the memory is gone, on whatever thread that is. When the call fails the managed tensor
 * is still the caller's. A read-only one gives a tensor that every op refuses to write; who writes through
 * lt_tensor_data must ask lt_tensor_is_read_only. LT_ERR_RUNTIME for other versions, dtypes, lanes, negative strides,
 * sizes that overflow and NULL where there are elements; LT_ERR_DEVICE for devices that are not here. The current
 * stream of a GPU must already wait for what its owner has to do. */
LT_API lt_status lt_tensor_from_dlpack(void *managed, bool versioned, lt_tensor **out);

/* Whether ops refuse to write t, since its memory was lent so. */
LT_API bool lt_tensor_is_read_only(const lt_tensor *t);

/* Makes a stream of t's device (a cudaStream_t; 0: the default one) wait for what the device's current stream still has
 * to do: what a producer does with the stream that a consumer names. Nothing for memory of the host. */
LT_API lt_status lt_tensor_ready_for(const lt_tensor *t, uint64_t stream);

/* ---- interop: files as memory ---------------------------------------------------------------------- */

/* Maps numel elements of a file: *out is a new tensor of one dimension over its first bytes, unmapped when the last
 * tensor that shares the memory is gone. shared: what is written goes into the file, which is made when there is none
 * and grows when it is too small; else it stays in memory, and the file must be large enough. LT_ERR_IO with the path.
 * Somebody else must not make the file shorter meanwhile: reading what is no longer there ends the process. */
LT_API lt_status lt_tensor_from_file(const char *path, bool shared, int64_t numel, lt_dtype dtype, lt_tensor **out);

/* ---- running ops from another thread's signal handler ---------------------------------------- */

/* Asks running operations to stop with LT_ERR_INTERRUPTED at their next check. Async-signal-safe. */
LT_API void lt_interrupt(void);
LT_API void lt_interrupt_clear(void);

/* ---- Lua --------------------------------------------------------------------------------------- */

struct lua_State;

/* The module `torch`: leaves the module table on the stack (for luaL_requiref and package.preload). */
LT_API int luaopen_torch(struct lua_State *L);

/* Pushes t as a userdata that shares it (takes its own reference). May raise a Lua memory error. */
LT_API void lt_lua_push(struct lua_State *L, lt_tensor *t);

/* The tensor at a stack index, borrowed; NULL when the value there is not a tensor. */
LT_API lt_tensor *lt_lua_tensor(struct lua_State *L, int index);

/* Pushes a capsule that owns a managed tensor of DLPack, for torch.from_dlpack. One that nobody takes has its deleter
 * called by the collector. May raise a Lua memory error: then it is still the caller's. */
LT_API void lt_lua_push_dlpack(struct lua_State *L, void *managed, bool versioned);

/* Takes the managed tensor out of the capsule at a stack index (of torch.to_dlpack or x:__dlpack__): it is the caller's.
 * LT_ERR_TYPE when the value is no capsule, or was used before. */
LT_API lt_status lt_lua_take_dlpack(struct lua_State *L, int index, void **managed, bool *versioned);

#ifdef __cplusplus
}
#endif

#ifndef LT_OPS_BY_NAME
#include "ltensor_ops.h" /* generated: one function per op */
#endif

#endif
