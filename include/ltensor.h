/* ltensor.h - tensors, operations and derivatives for programs in C and C++.
 *
 *   lt_tensor *a = NULL, *b = NULL;
 *   const int64_t sizes[] = {2, 3};
 *   float numbers[6] = {1, 2, 3, 4, 5, 6};
 *   if (lt_tensor_wrap(numbers, LT_FLOAT32, 2, sizes, NULL, NULL, &a) != LT_OK ||
 *       lt_exp(a, &b) != LT_OK)
 *       fprintf(stderr, "%s\n", lt_error_message());
 *   lt_tensor_release(a);
 *   lt_tensor_release(b);
 *
 * Include this file only: C99, C11, C++17. It includes ltensor_ops.h, which has a function for each
 * operation; lt_call() calls them by name. For the Lua interpreter, include ltensor_lua.h.
 *
 * Ownership:
 * - "New" results are references that you release with lt_tensor_release (lists:
 *   lt_tensor_list_release, values: lt_value_release). Every operation returns new references.
 * - "Borrowed" results belong to the object that you passed and are valid as long as it is. To keep
 *   one, call lt_tensor_retain.
 * - Functions borrow their arguments, and copy or retain the parts that they keep.
 *
 * Errors:
 * - A function that can fail returns an lt_status, sets lt_error_message(), and does not change its
 *   outputs.
 * - NULL for a required handle or output, and values outside of an enum, are LT_ERR_TYPE. Functions
 *   without a status return 0, false or NULL for them. Functions that release accept NULL.
 * - No function ends the program.
 *
 * Indices: dimensions, indices and index tensors count from 0. A negative dimension counts from the
 * end.
 *
 * Threads:
 * - Any thread may call any function.
 * - Several threads may read, retain and release a tensor at once. Only one thread at a time may
 *   write to it (in-place operations, lt_tensor_copy_from, its gradient). The same holds for a
 *   generator.
 * - The error message and the current GPU belong to the thread. Seed, settings and limits belong to
 *   the thread's context (lt_context), by default the context of the process. */
#ifndef LTENSOR_H
#define LTENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LT_VERSION        "0.2.0"
#define LT_VERSION_NUMBER 2000 /* major * 1000000 + minor * 1000 + patch */
#define LT_MAX_DIMS       16

#if defined(__GNUC__)
#define LT_API __attribute__((visibility("default")))
#else
#define LT_API
#endif

/* A helper that the library exports, too, for bindings by FFI. */
#ifndef LT_INLINE
#define LT_INLINE static inline
#endif

/* Marks a function that a later version removes; the text names its replacement. */
#if defined(__GNUC__)
#define LT_DEPRECATED(replacement) __attribute__((deprecated("use " replacement)))
#else
#define LT_DEPRECATED(replacement)
#endif

/* ---- errors ---------------------------------------------------------------------------------- */

typedef enum lt_status {
    LT_OK = 0,
    LT_ERR_RUNTIME, /* wrong shapes, dtypes, devices, arguments */
    LT_ERR_INDEX,   /* an index or a dimension out of range */
    LT_ERR_TYPE,    /* an argument of the wrong kind, or NULL */
    LT_ERR_MEMORY,  /* host or device memory exhausted */
    LT_ERR_DEVICE,  /* a device is missing or reported an error */
    /* lt_interrupt() or lt_context_interrupt() was called while an operation ran */
    LT_ERR_INTERRUPTED,
    LT_ERR_IO,        /* a file could not be read or written */
    LT_ERR_DEADLINE,  /* the context's deadline has passed */
    LT_ERR_PERMISSION /* the context's authorizer denied access */
} lt_status;

/* Message of the last failure on this thread. Borrowed until the next failing call on this thread;
 * never NULL. */
LT_API const char *lt_error_message(void);

/* ---- version and features -------------------------------------------------------------------- */

/* LT_VERSION_NUMBER and LT_VERSION of the loaded library; the macros are the ones of the header
 * that you compiled with. The text is static. */
LT_API int lt_version_number(void);
LT_API const char *lt_version(void);

/* True if the loaded library supports a feature on this machine:
 *   "cuda"            there is a GPU and its backend was found
 *   "simulator"       GPUs are simulated (LTENSOR_SIM_GPUS is set)
 *   "lua"             the program contains the Lua binding, ltensor_lua.h
 *   "onednn"          oneDNN is installed (convolutions)
 *   "int8"            oneDNN is installed and the processor has instructions for 8-bit products
 *   "mpi"             the library was built with an engine for Open MPI or MPICH
 *   "lapack"          LAPACK or OpenBLAS is installed (factorizations, solvers)
 *   "avx2", "avx512", "neon"  the processor runs kernels with these instructions
 * False for other names and NULL, so you may query features of later versions. Loads the libraries
 * that it tests. */
LT_API bool lt_has(const char *feature);

/* The configuration of the build in one line: version, compiler, GPU backend. Static. */
LT_API const char *lt_build_options(void);

/* ---- dtypes, devices, scalars ---------------------------------------------------------------- */

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
    /* pairs of float16, real part first; can be stored and converted only */
    LT_COMPLEX32,
    LT_COMPLEX64,  /* pairs of float */
    LT_COMPLEX128, /* pairs of double */
    /* uint16 to uint64 can be stored, converted, compared for equality and added; few other
     * operations support them */
    LT_UINT16,
    LT_UINT32,
    LT_UINT64, /* an lt_scalar stores a value above INT64_MAX as a double */
    /* Floats of one byte can be stored, moved, compared for equality, and converted to and from
     * float32 with PyTorch's rounding. */
    LT_FLOAT8_E5M2,     /* the upper half of a float16, with infinities */
    LT_FLOAT8_E4M3FN,   /* no infinities; larger values become 448, the largest number */
    LT_FLOAT8_E5M2FNUZ, /* no infinities and no -0; larger values become nan */
    LT_FLOAT8_E4M3FNUZ,
    /* powers of two from 2^-127 to 2^127 without sign and zero; scales of blocks */
    LT_FLOAT8_E8M0FNU
} lt_dtype;
#define LT_DTYPE_COUNT 21 /* in this header; later versions have more */

LT_API size_t lt_dtype_size(lt_dtype dtype);      /* bytes of an element; 0 for an invalid dtype */
LT_API const char *lt_dtype_name(lt_dtype dtype); /* "float32"; NULL for an invalid dtype. Static */

/* Storage of the elements: all, or only some with their indices; the others are 0. */
typedef enum lt_layout {
    LT_STRIDED = 0,
    LT_SPARSE_COO, /* indices of each value; the values of equal indices are added */
    LT_SPARSE_CSR, /* matrices by row: the column of each value, and the start of each row */
    LT_SPARSE_CSC  /* matrices by column */
} lt_layout;

typedef enum lt_device_type { LT_CPU = 0, LT_CUDA = 1 } lt_device_type;
#define LT_DEVICE_TYPES 2 /* in this header; later versions have more */

/* A device: an lt_device_type and a number. The CPU is {LT_CPU, 0}; -1 is the current GPU. */
typedef struct lt_device {
    int8_t type;
    int8_t index;
} lt_device;

/* A number: bool, integer, float or complex. Passed by value; its layout is final, because no
 * element is larger than two doubles. */
typedef enum lt_scalar_kind {
    LT_SCALAR_BOOL,
    LT_SCALAR_INT,
    LT_SCALAR_FLOAT,
    LT_SCALAR_COMPLEX
} lt_scalar_kind;
typedef struct lt_scalar {
    lt_scalar_kind kind;
    union {
        int64_t i; /* BOOL and INT */
        double d;  /* FLOAT; COMPLEX: the real part */
    } v;
    double imaginary; /* COMPLEX; otherwise 0 */
} lt_scalar;

LT_INLINE lt_scalar lt_scalar_from_int(int64_t i)
{
    lt_scalar s;
    s.kind = LT_SCALAR_INT, s.v.i = i, s.imaginary = 0;
    return s;
}
LT_INLINE lt_scalar lt_scalar_from_float(double d)
{
    lt_scalar s;
    s.kind = LT_SCALAR_FLOAT, s.v.d = d, s.imaginary = 0;
    return s;
}
LT_INLINE lt_scalar lt_scalar_from_bool(bool b)
{
    lt_scalar s;
    s.kind = LT_SCALAR_BOOL, s.v.i = b, s.imaginary = 0;
    return s;
}

LT_INLINE lt_scalar lt_scalar_from_complex(double real, double imaginary)
{
    lt_scalar s;
    s.kind = LT_SCALAR_COMPLEX, s.v.d = real, s.imaginary = imaginary;
    return s;
}

/* Sizes, strides or a set of dimensions. */
typedef struct lt_dims {
    int n;
    int64_t v[LT_MAX_DIMS];
} lt_dims;

typedef struct lt_tensor lt_tensor;
typedef struct lt_generator lt_generator;

/* A list of tensors. As an argument it belongs to the caller; free a list that an operation
 * returned with lt_tensor_list_release. */
typedef struct lt_tensor_list {
    int64_t n;
    lt_tensor **v;
} lt_tensor_list;

/* ---- contexts -----------------------------------------------------------------------------------
 *
 * A context owns the state of one user of the library: random seed and generators, default dtype,
 * grad mode, number of threads, limits of memory and time, and callbacks. Threads in different
 * contexts are isolated from each other.
 * - A thread starts in the context of the process, which has no limits and no callbacks, and is in
 *   one context at a time.
 * - Several threads may enter a context and share it; each has its own grad mode.
 * - Tensors belong to no context and can be used in any. Their memory counts against the context in
 *   which they were created.
 * - The state of other libraries belongs to the process: OpenBLAS uses the number of threads of the
 *   last context that called it; oneDNN convolutions of all contexts share their plans and run one
 *   after the other.
 *
 *   lt_context_config config = lt_context_defaults();
 *   config.memory_limit = 1 << 30;
 *   config.authorize = nothing_outside;
 *   if (lt_context_new(&config, &mine) != LT_OK) ...
 *   lt_context *before = lt_context_enter(mine);
 *   ...
 *   lt_context_enter(before);
 *   lt_context_release(mine); */
typedef struct lt_context lt_context;

/* An access that an authorizer permits or denies. The comment describes its name argument. */
typedef enum lt_access {
    LT_ACCESS_FILE_READ,   /* the path of a file, or of a folder to list */
    LT_ACCESS_FILE_WRITE,  /* the path */
    LT_ACCESS_PROCESS,     /* the purpose of the process: "worker" */
    LT_ACCESS_LIBRARY,     /* a shared object to open: "libopenblas.so.0" */
    LT_ACCESS_DEVICE,      /* "cuda:1"; host memory needs no permission */
    LT_ACCESS_FILE_REMOVE, /* the path of a file to delete */
    LT_ACCESS_FOLDER_MAKE  /* the path of a folder to create, with its parents */
} lt_access;

typedef enum lt_log_level { LT_LOG_NOTICE, LT_LOG_WARNING, LT_LOG_ERROR } lt_log_level;

/* Configuration of a context, initialized by lt_context_defaults. Any thread in the context may
 * call the callbacks, several at once; they must return. NULL: no callback. */
typedef struct lt_context_config {
    size_t size; /* sizeof(lt_context_config) in the caller */
    void *user;  /* first argument of the callbacks */
    /* called once when the context is freed; not if lt_context_new fails */
    void (*release)(void *user);
    int64_t memory_limit;    /* bytes of host memory; 0: no limit */
    double deadline;         /* seconds after the creation of the context; 0: none */
    int32_t default_dtype;   /* a floating lt_dtype; 0: float32 */
    int32_t threads;         /* 0: the number of processors */
    double progress_seconds; /* between two calls of progress; 0: 0.1 */

    /* Called before an operation accesses a resource outside of its memory. False: the operation
     * fails with LT_ERR_PERMISSION. `access` is an lt_access; later versions may have more, so
     * return false for unknown values. */
    bool (*authorize)(void *user, int access, const char *name);
    /* Receives a line for stderr, without its newline. `level` is an lt_log_level. */
    void (*log)(void *user, int level, const char *text);
    /* Called at intervals during a long operation, by its thread. False stops the operation, as
     * lt_context_interrupt does. Must not use the tensors of the operation. */
    bool (*progress)(void *user);
} lt_context_config;

LT_INLINE lt_context_config lt_context_defaults(void)
{
    lt_context_config config;
    config.size = sizeof config;
    config.user = NULL, config.release = NULL;
    config.memory_limit = 0, config.deadline = 0;
    config.default_dtype = 0, config.threads = 0;
    config.progress_seconds = 0;
    config.authorize = NULL, config.log = NULL, config.progress = NULL;
    return config;
}

/* New. config NULL: lt_context_defaults(). The generators have PyTorch's default seed.
 * LT_ERR_MEMORY; LT_ERR_TYPE: invalid dtype or config size; LT_ERR_RUNTIME: a negative number. */
LT_API lt_status lt_context_new(const lt_context_config *config, lt_context **out);

/* Adds and removes a reference. The memory of live tensors also holds the context, so `release` is
 * called when the last of them is freed. A thread does not hold its current context: leave it
 * first. */
LT_API lt_context *lt_context_retain(lt_context *context);
LT_API void lt_context_release(lt_context *context);

/* Enters a context; NULL is the context of the process. Returns the previous one, borrowed. */
LT_API lt_context *lt_context_enter(lt_context *context);
/* The context of this thread, and that of the process. Borrowed, never NULL. */
LT_API lt_context *lt_context_current(void);
LT_API lt_context *lt_context_process(void);

/* Limits the memory on a device of tensors that are created in the context, with the temporary
 * memory of operations. On the CPU it includes a lua_State that uses lt_lua_alloc. An operation
 * that would exceed the limit fails with LT_ERR_MEMORY. INT64_MAX: no limit. May be called at any
 * time; existing small tensors are not counted. The library returns cached memory (lt_memory_trim)
 * to the system before cache and used memory exceed the limit. */
LT_API lt_status lt_context_set_memory_limit(lt_context *context, lt_device device, int64_t bytes);
/* Used bytes and the limit; either pointer may be NULL. */
LT_API lt_status lt_context_memory(const lt_context *context, lt_device device, int64_t *used,
                                   int64_t *limit);

/* After this number of seconds, operations in the context fail with LT_ERR_DEADLINE, and running
 * ones stop at their next check, until you set another deadline. INFINITY: none. LT_ERR_RUNTIME for
 * nan. */
LT_API lt_status lt_context_set_deadline(lt_context *context, double seconds);

/* Requests that operations in the context stop with LT_ERR_INTERRUPTED at their next check, until
 * you clear it. May be called by any thread and in a signal handler. */
LT_API void lt_context_interrupt(lt_context *context);
LT_API void lt_context_interrupt_clear(lt_context *context);

/* Settings of this thread's context: the default floating dtype (LT_ERR_TYPE for other dtypes), and
 * the maximum number of threads of an operation, 1 to 1024. */
LT_API lt_dtype lt_get_default_dtype(void);
LT_API lt_status lt_set_default_dtype(lt_dtype dtype);
LT_API int lt_get_num_threads(void);
LT_API lt_status lt_set_num_threads(int n);

/* Threads of the host that run the library's parallel loops, instead of the library's own threads.
 * - threads: the maximum number of tasks of one run(), the calling thread included; at least 1.
 * - run(user, n, task, argument) calls task(argument, i) once for each i in [0, n) and returns
 *   after all calls have returned. The calls may be concurrent, on any threads and in any order; a
 *   task never waits for another one. run() itself may be called by several threads at the same
 *   time. */
typedef struct lt_thread_pool {
    void *user;
    int threads;
    void (*run)(void *user, int n, void (*task)(void *argument, int index), void *argument);
} lt_thread_pool;

/* Sets the pool of the process. NULL: the library's own threads, the default. *pool is borrowed
 * until you set another pool. Call it while no operation runs. LT_ERR_TYPE if run is NULL,
 * LT_ERR_RUNTIME if threads is below 1. */
LT_API lt_status lt_set_thread_pool(const lt_thread_pool *pool);

/* Functions that allocate host memory instead of the C library and the system. Any thread may call
 * them. */
typedef struct lt_allocator {
    size_t size; /* sizeof(lt_allocator) in the caller */
    void *user;  /* first argument of the functions */
    /* As realloc. old NULL: allocates; bytes 0: frees old and returns NULL. Returns NULL if there
     * is no memory. */
    void *(*resize)(void *user, void *old, size_t bytes);
    /* Allocates and frees the data of tensors, aligned to 64 bytes; give_block receives the
     * requested size. */
    void *(*take_block)(void *user, size_t bytes);
    void (*give_block)(void *user, void *block, size_t bytes);
} lt_allocator;

/* Sets the allocator of the process. Call it before any other function: LT_ERR_RUNTIME afterwards.
 * LT_ERR_TYPE: a function is missing. */
LT_API lt_status lt_set_allocator(const lt_allocator *allocator);

/* Returns cached memory of released tensors to the system. Tensors are not affected. The library
 * caches at most 256 MB, in a context with a memory limit at most the unused part of that limit,
 * and returns everything after 5 seconds in which 16 MB or more were not used.
 * - Result: the bytes of the returned blocks; structs that the calling thread caches are freed,
 *   too.
 * - Threads: any, at any time. */
LT_API int64_t lt_memory_trim(void);

/* ---- creating tensors ------------------------------------------------------------------------ */

/* New, contiguous, uninitialized. To fill it, call lt_zeros, lt_full, lt_arange, lt_randn and
 * others of ltensor_ops.h. sizes has ndim entries and may be NULL if ndim is 0. LT_ERR_MEMORY,
 * LT_ERR_DEVICE. */
LT_API lt_status lt_tensor_new(lt_dtype dtype, lt_device device, int ndim, const int64_t *sizes,
                               lt_tensor **out);

/* New: host memory of the caller as a row-major tensor without a copy. release(ctx) is called once,
 * by the thread that releases the last tensor over the memory; NULL: no callback. It is not called
 * after a failure. Elements of LT_BOOL are 0 or 1. */
LT_API lt_status lt_tensor_wrap(void *data, lt_dtype dtype, int ndim, const int64_t *sizes,
                                void (*release)(void *ctx), void *ctx, lt_tensor **out);

/* New: a number as an operand, with 0 dimensions on the CPU. It does not widen other operands:
 * float32 times lt_scalar_from_float(0.5) is float32. */
LT_API lt_status lt_tensor_from_scalar(lt_scalar number, lt_tensor **out);

/* As lt_tensor_wrap, with memory on any device and strides in elements, which are not negative: a
 * part of a larger array, or a column of records. NULL strides: row-major. The caller guarantees
 * that all elements are in valid memory. In-place operations fail with overlapping elements. */
LT_API lt_status lt_tensor_wrap_strided(void *data, lt_dtype dtype, lt_device device, int ndim,
                                        const int64_t *sizes, const int64_t *strides,
                                        void (*release)(void *ctx), void *ctx, lt_tensor **out);

/* Adds a reference and returns the tensor; removes one, and frees the tensor with the last one. */
LT_API lt_tensor *lt_tensor_retain(lt_tensor *t);
LT_API void lt_tensor_release(lt_tensor *t);

/* Releases the tensors of a list that an operation returned (lt_unbind, lt_split) and its array.
 * The list is empty afterwards. */
LT_API void lt_tensor_list_release(lt_tensor_list *list);

/* ---- reading tensors ------------------------------------------------------------------------- */

LT_API lt_dtype lt_tensor_dtype(const lt_tensor *t); /* LT_DTYPE_NONE for NULL */
LT_API lt_device lt_tensor_device(const lt_tensor *t);
LT_API int lt_tensor_ndim(const lt_tensor *t);
/* ndim sizes, and ndim strides in elements. Borrowed. */
LT_API const int64_t *lt_tensor_sizes(const lt_tensor *t);
LT_API const int64_t *lt_tensor_strides(const lt_tensor *t);
LT_API int64_t lt_tensor_numel(const lt_tensor *t);
LT_API bool lt_tensor_is_contiguous(const lt_tensor *t);
/* LT_STRIDED for dense tensors and NULL. */
LT_API lt_layout lt_tensor_layout(const lt_tensor *t);
/* Address of the first element, borrowed; for a tensor on a GPU an address on that GPU. NULL for
 * NULL and for a sparse tensor. NULL with an error message if the memory was freed temporarily
 * (parameters of torch.distributed's fully_shard). */
LT_API void *lt_tensor_data(const lt_tensor *t);

/* The value of a tensor with one element. Waits for the tensor's GPU. */
LT_API lt_status lt_tensor_item(const lt_tensor *t, lt_scalar *out);

/* Copies all elements, in row-major order and the tensor's dtype, from and to host memory, for
 * every layout and device. bytes must be their size. Autograd does not record copy_from, so you may
 * write to a leaf. */
LT_API lt_status lt_tensor_copy_from(lt_tensor *t, const void *data, size_t bytes);
LT_API lt_status lt_tensor_copy_to(const lt_tensor *t, void *data, size_t bytes);

/* New: the tensor with a dtype (LT_DTYPE_NONE: unchanged) on a device (NULL: unchanged); a new
 * reference to t if nothing changes. Differentiable. */
LT_API lt_status lt_tensor_to(const lt_tensor *t, lt_dtype dtype, const lt_device *device,
                              lt_tensor **out);

/* ---- files ----------------------------------------------------------------------------------- */

/* Writes n tensors under distinct UTF-8 names to a safetensors file, which PyTorch, NumPy and
 * others read. The write is atomic. LT_ERR_IO. */
LT_API lt_status lt_save(const char *path, const char *const *names, lt_tensor *const *tensors,
                         int64_t n);

/* New: the contents of a safetensors file, on the host, in file order. The file may be untrusted:
 * everything is validated before memory is allocated. LT_ERR_IO. */
typedef struct lt_archive lt_archive;
LT_API lt_status lt_load(const char *path, lt_archive **out);
LT_API int64_t lt_archive_count(const lt_archive *archive);
/* Borrowed from the archive; NULL if out of range or not found. */
LT_API const char *lt_archive_name(const lt_archive *archive, int64_t i);
LT_API lt_tensor *lt_archive_tensor(const lt_archive *archive, int64_t i);
LT_API lt_tensor *lt_archive_find(const lt_archive *archive, const char *name);
/* Retained tensors remain valid. */
LT_API void lt_archive_release(lt_archive *archive);

/* ---- devices --------------------------------------------------------------------------------- */

/* Number of devices of a type: 1 CPU; 0 if no GPU can be used, and lt_error_message() gives the
 * reason. */
LT_API int lt_device_count(lt_device_type type);
/* "NVIDIA H200", "cpu"; at most n bytes, including the final 0. */
LT_API lt_status lt_device_name(lt_device device, char *buffer, size_t n);
/* Free and total bytes; either pointer may be NULL. */
LT_API lt_status lt_device_memory(lt_device device, size_t *free_bytes, size_t *total_bytes);
/* Waits for all queued operations of a device, and reports their errors. */
LT_API lt_status lt_device_synchronize(lt_device device);

/* ---- random numbers -------------------------------------------------------------------------- */

/* Seeds the default generators of this thread's context on all devices. The numbers are PyTorch's
 * for the same seed. */
LT_API void lt_manual_seed(uint64_t seed);

/* New: a generator for tensors on that device. Free it with lt_generator_release. */
LT_API lt_status lt_generator_new(lt_device device, lt_generator **out);
LT_API lt_status lt_generator_seed(lt_generator *generator, uint64_t seed);
LT_API void lt_generator_release(lt_generator *generator);

/* ---- derivatives ----------------------------------------------------------------------------- */

/* Operations on a tensor that requires grad are recorded, and their results require grad. You can
 * set it on leaves (tensors that no recorded operation created) of floating dtypes only. */
LT_API bool lt_tensor_requires_grad(const lt_tensor *t);
LT_API lt_status lt_tensor_set_requires_grad(lt_tensor *t, bool on);
LT_API bool lt_tensor_is_leaf(const lt_tensor *t);

/* The gradient that lt_backward accumulated in a leaf. Borrowed, valid until the next backward or
 * change. NULL: none. */
LT_API lt_tensor *lt_tensor_grad(const lt_tensor *t);
/* Replaces the gradient; NULL clears it. grad has t's shape, dtype and device. */
LT_API lt_status lt_tensor_set_grad(lt_tensor *t, lt_tensor *grad);

/* Adds the gradients of t to the leaves of its graph. grad has t's shape and is the gradient of t;
 * NULL is 1, for a tensor with one element. The graph is freed unless retain_graph. create_graph
 * records the computation of the gradients. */
LT_API lt_status lt_backward(lt_tensor *t, const lt_tensor *grad, bool retain_graph,
                             bool create_graph);

/* The gradients of outputs by inputs: n_inputs new references in grads, an array of the caller.
 * Leaves are not changed. grad_outputs is NULL or has one entry for each output, NULL as in
 * lt_backward. An input that the outputs do not depend on is an error, or NULL in grads with
 * allow_unused. */
LT_API lt_status lt_grad(lt_tensor *const *outputs, int n_outputs, lt_tensor *const *inputs,
                         int n_inputs, lt_tensor *const *grad_outputs, bool retain_graph,
                         bool create_graph, bool allow_unused, lt_tensor **grads);

/* True if operations of this thread are recorded, the default in every context. lt_set_grad_enabled
 * returns the previous mode. A context keeps its mode for the next thread that enters it; the
 * context of the process has one for each thread. */
LT_API bool lt_grad_enabled(void);
LT_API bool lt_set_grad_enabled(bool on);

/* Called with a gradient (borrowed) when it is computed. May store a new reference in *replacement
 * to replace it. A status other than LT_OK ends the backward with that status. */
typedef lt_status (*lt_grad_hook)(void *ctx, lt_tensor *grad, lt_tensor **replacement);
/* Calls the hook for each gradient of t until it is removed by *id (which may be NULL) or t is
 * freed; then calls release(ctx), unless it is NULL. After a failure release is not called. */
LT_API lt_status lt_tensor_add_hook(lt_tensor *t, lt_grad_hook hook, void (*release)(void *ctx),
                                    void *ctx, int64_t *id);
LT_API lt_status lt_tensor_remove_hook(lt_tensor *t, int64_t id);

/* ---- operations by name ---------------------------------------------------------------------- */

typedef enum lt_kind {
    LT_KIND_NONE, /* absent; represents the default of an argument that has one */
    LT_KIND_BOOL,
    LT_KIND_INT,
    LT_KIND_DOUBLE,
    LT_KIND_STRING,
    LT_KIND_TENSOR,
    LT_KIND_DIMS,
    LT_KIND_TENSORS,
    LT_KIND_DTYPE,
    LT_KIND_DEVICE,
    LT_KIND_GENERATOR,
    LT_KIND_TABLE /* for scripts (ltensor_script.h); no operation accepts one */
} lt_kind;

typedef struct lt_table lt_table;

/* A value of one of these kinds. Create it with the functions below, which set its size; later
 * versions may have larger values. Arguments are borrowed; results are new and freed by
 * lt_value_release. */
typedef struct lt_value {
    uint32_t size; /* sizeof(lt_value) in the caller */
    int32_t kind;  /* lt_kind */
    union {
        bool b;
        int64_t i;
        double d;
        const char *s;
        lt_tensor *tensor;
        struct {
            const int64_t *v;
            int64_t n;
        } dims;
        struct {
            const char *s; /* ends with a zero byte */
            int64_t n;     /* bytes; 0 in an argument: up to the first zero byte */
        } text;
        lt_table *table;
        lt_tensor_list tensors;
        int32_t dtype;
        lt_device device;
        lt_generator *generator;
    } v;
} lt_value;

LT_INLINE lt_value lt_value_of(lt_kind kind)
{
    lt_value value;
    value.size = (uint32_t)sizeof value, value.kind = (int32_t)kind;
    value.v.dims.v = NULL, value.v.dims.n = 0;
    return value;
}
LT_INLINE lt_value lt_value_none(void) { return lt_value_of(LT_KIND_NONE); }
LT_INLINE lt_value lt_value_bool(bool b)
{
    lt_value value = lt_value_of(LT_KIND_BOOL);
    value.v.b = b;
    return value;
}
LT_INLINE lt_value lt_value_int(int64_t i)
{
    lt_value value = lt_value_of(LT_KIND_INT);
    value.v.i = i;
    return value;
}
LT_INLINE lt_value lt_value_double(double d)
{
    lt_value value = lt_value_of(LT_KIND_DOUBLE);
    value.v.d = d;
    return value;
}
LT_INLINE lt_value lt_value_string(const char *s)
{
    lt_value value = lt_value_of(LT_KIND_STRING);
    value.v.s = s;
    return value;
}
LT_INLINE lt_value lt_value_tensor(lt_tensor *t)
{
    lt_value value = lt_value_of(LT_KIND_TENSOR);
    value.v.tensor = t;
    return value;
}
LT_INLINE lt_value lt_value_dims(int64_t n, const int64_t *v) /* sizes, or a set of dimensions */
{
    lt_value value = lt_value_of(LT_KIND_DIMS);
    value.v.dims.n = n, value.v.dims.v = v;
    return value;
}
LT_INLINE lt_value lt_value_tensors(int64_t n, lt_tensor **v)
{
    lt_value value = lt_value_of(LT_KIND_TENSORS);
    value.v.tensors.n = n, value.v.tensors.v = v;
    return value;
}
LT_INLINE lt_value lt_value_dtype(lt_dtype dtype)
{
    lt_value value = lt_value_of(LT_KIND_DTYPE);
    value.v.dtype = (int32_t)dtype;
    return value;
}
LT_INLINE lt_value lt_value_device(lt_device device)
{
    lt_value value = lt_value_of(LT_KIND_DEVICE);
    value.v.device = device;
    return value;
}
LT_INLINE lt_value lt_value_generator(lt_generator *generator)
{
    lt_value value = lt_value_of(LT_KIND_GENERATOR);
    value.v.generator = generator;
    return value;
}

LT_INLINE lt_value lt_value_table(lt_table *table)
{
    lt_value value = lt_value_of(LT_KIND_TABLE);
    value.v.table = table;
    return value;
}

typedef struct lt_named_value {
    const char *name;
    lt_value value;
} lt_named_value;

/* Calls an operation by PyTorch's name without "torch.": "add_" (in place), "linalg.solve",
 * "nn.functional.glu". nargs positional arguments come first, then nnamed named ones. Overloads are
 * tried in the order of their declarations; the first one that matches is called. These values are
 * converted: a number to a tensor if the operation allows it, a 0-dim tensor to a number, an int to
 * a set of one dimension, "float64" to a dtype, "cuda:1" to a device. The tensor named "out", or the
 * list of one tensor for each of several results, receives the results if lt_<name>_out exists.
 * - results: an array of *nresults values initialized by lt_value_none; *nresults is set to the
 *   number of results. In-place operations return the changed tensor (of a list: nothing). Both
 *   pointers may be NULL to drop the results.
 * - LT_ERR_TYPE: no such operation, or no matching overload; the message has the argument, its
 *   actual and its expected kind. */
LT_API lt_status lt_call(const char *name, const lt_value *args, int nargs,
                         const lt_named_value *named, int nnamed, lt_value *results, int *nresults);

/* Releases a result and sets it to lt_value_none. Do not call it on arguments, which are borrowed.
 */
LT_API void lt_value_release(lt_value *value);

/* ---- tables -------------------------------------------------------------------------------------
 *
 * A table contains a list of values, indexed from 0, and values by name. Hosts and scripts exchange
 * tables. They are reference counted; one thread at a time may write to a table. A table must not
 * contain itself. */

/* New and empty. LT_ERR_MEMORY. */
LT_API lt_status lt_table_new(lt_table **out);
LT_API lt_table *lt_table_retain(lt_table *table);
LT_API void lt_table_release(lt_table *table);

/* Sets a named value, or appends to the list. Strings are copied, tensors and tables retained.
 * LT_KIND_NONE removes the name; in a list it is LT_ERR_TYPE, as are dims, tensor lists and
 * generators in both. LT_ERR_MEMORY. */
LT_API lt_status lt_table_set(lt_table *table, const char *name, const lt_value *value);
LT_API lt_status lt_table_append(lt_table *table, const lt_value *value);

/* Borrowed until the table is changed or freed; NULL if there is no such name or index. */
LT_API const lt_value *lt_table_get(const lt_table *table, const char *name);
LT_API const lt_value *lt_table_at(const lt_table *table, int64_t i);

/* The length of the list, the number of names, and the i-th name in byte order (borrowed; NULL if
 * out of range). */
LT_API int64_t lt_table_length(const lt_table *table);
LT_API int64_t lt_table_names(const lt_table *table);
LT_API const char *lt_table_name(const lt_table *table, int64_t i);

/* An argument or a result of an operation. Static, like all of the following. */
typedef struct lt_arg_info {
    size_t size;              /* sizeof this struct in the library */
    const char *name;         /* "dim"; "" for a single result */
    const char *type;         /* as in src/ops/README.md: "Tensor", "Dims?" */
    const char *default_text; /* "1", "nil"; NULL: required */
    lt_kind kind;             /* kind of the value; for numbers the widest that fits */
    bool optional;            /* accepts LT_KIND_NONE */
    bool named_only;
} lt_arg_info;

/* An overload of an operation. */
typedef struct lt_op_info {
    size_t size;      /* sizeof this struct in the library */
    const char *name; /* for lt_call */
    /* "sum(Tensor self, Dims? dim, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor" */
    const char *signature;
    const char *doc;   /* a description in sentences */
    const char *group; /* "reduce" */
    int n_args, n_results;
    bool in_place; /* the result is the first argument */
} lt_op_info;

/* All overloads, grouped by name, in the order in which they are tried. NULL if out of range. */
LT_API int lt_op_count(void);
LT_API const lt_op_info *lt_op_at(int i);
/* i from 0 to n_args - 1 and n_results - 1; NULL if out of range, or if op is not from lt_op_at. */
LT_API const lt_arg_info *lt_op_arg(const lt_op_info *op, int i);
LT_API const lt_arg_info *lt_op_result(const lt_op_info *op, int i);

/* ---- interop: DLPack ----------------------------------------------------------------------------
 *
 * Libraries exchange tensors without copies by DLPack (https://dmlc.github.io/dlpack/latest/):
 * NumPy, PyTorch, JAX, CuPy, TensorFlow and others. A managed tensor is a pointer to a
 * DLManagedTensorVersioned (versioned: DLPack 1.x) or to a DLManagedTensor (before 1.0). In Python
 * it is in a capsule named "dltensor_versioned" or "dltensor", from x.__dlpack__(max_version=(1,
 * 0)) or x.__dlpack__(). */

/* Exports t: *out is a new managed tensor over the same memory, valid until its deleter is called
 * (or it is passed to lt_tensor_from_dlpack), on any thread. Both sides see each other's changes.
 * LT_ERR_RUNTIME if t requires grad, or is read-only and versioned is false. GPU memory is ready on
 * the current stream of its device: see lt_tensor_ready_for. Memory of a simulated GPU is exported
 * as kDLExtDev, which only this library imports. */
LT_API lt_status lt_tensor_to_dlpack(const lt_tensor *t, bool versioned, void **out);

/* Imports a managed tensor: *out is a new tensor over its memory. Its deleter (which may be NULL)
 * is called once, on any thread, when the last tensor over the memory is freed. After a failure the
 * managed tensor still belongs to the caller. Operations do not write to a read-only tensor; before
 * you write through lt_tensor_data, call lt_tensor_is_read_only. LT_ERR_RUNTIME for unsupported
 * versions, dtypes, lanes, negative strides, overflowing sizes, and NULL data with elements;
 * LT_ERR_DEVICE for missing devices. The current stream of a GPU must already wait for the work of
 * the owner. */
LT_API lt_status lt_tensor_from_dlpack(void *managed, bool versioned, lt_tensor **out);

/* True if operations must not write to t, because its memory is read-only. */
LT_API bool lt_tensor_is_read_only(const lt_tensor *t);

/* Makes a stream of t's device (a cudaStream_t; 0: the default one) wait for the current stream of
 * the device: call it with the stream of a consumer. No effect for host memory. */
LT_API lt_status lt_tensor_ready_for(const lt_tensor *t, uint64_t stream);

/* ---- interop: the Arrow C data interface --------------------------------------------------------
 *
 * Libraries exchange tables by Apache Arrow
 * (https://arrow.apache.org/docs/format/CDataInterface.html): pandas, Polars, DuckDB, R. A column
 * is an array and its schema: two structs of the caller with release functions, which free the
 * memory that they refer to. A struct with release NULL is empty, because it was released or moved.
 * The structs are defined by the specification. To move one, copy it and set the release of the
 * original to NULL.
 *
 * A table is a struct array (format "+s"). Import each child, which is a column:
 *
 *   for (int64_t i = 0; i < schema.n_children; i++)
 *       if (lt_tensor_from_arrow(schema.children[i], array.children[i], &columns[i]) != LT_OK) ...
 *   array.release(&array);    the columns remain valid
 *   schema.release(&schema);
 *
 * If array.offset is not 0, or array.length is less than the length of a child, the rows are a
 * slice of each child. If array.null_count is not 0, the table itself has null rows. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format;   /* "f" is float32 */
    const char *name;     /* may be NULL */
    const char *metadata; /* may be NULL */
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *self);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count; /* -1: not counted */
    int64_t offset;     /* elements before the first */
    int64_t n_buffers;
    int64_t n_children;
    /* for numbers: a validity bitmap (or NULL), the elements */
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *self);
    void *private_data;
};

#endif

/* Exports t, which has one dimension, as a column: fills a schema and an array, which belong to the
 * caller and can be released on any thread in any order. Contiguous elements are not copied:
 * changes of t are visible in the array, and consumers must not write to it. Strided elements and
 * bools are copied. LT_ERR_RUNTIME for other numbers of dimensions, for bfloat16, which Arrow does
 * not have, and if t requires grad; LT_ERR_DEVICE for GPU memory. */
LT_API lt_status lt_tensor_to_arrow(const lt_tensor *t, struct ArrowSchema *schema,
                                    struct ArrowArray *array);

/* Imports a column of numbers or bools: *out is a new tensor of one dimension. The array is moved
 * (array->release becomes NULL); the schema is only read. If *out uses the memory of the array, it
 * is released when the last tensor over it is freed, on any thread, and operations do not write to
 * it: lt_tensor_is_read_only. *out is a copy, and the array is released immediately, for bools,
 * empty columns, floats with nulls (which become nan), and data that are not aligned. After a
 * failure the array still belongs to the caller. LT_ERR_RUNTIME for integers and bools with nulls,
 * for other formats (text, times, dictionaries, nested), for released arrays, and for invalid
 * arrays. */
LT_API lt_status lt_tensor_from_arrow(const struct ArrowSchema *schema, struct ArrowArray *array,
                                      lt_tensor **out);

/* ---- interop: mapped files ------------------------------------------------------------------- */

/* Maps numel elements of a file: *out is a new tensor of one dimension over its first bytes,
 * unmapped when the last tensor over the memory is freed. shared: writes go to the file, which is
 * created if missing and extended if too small. Otherwise writes stay in memory, and the file must
 * be large enough. LT_ERR_IO with the path. No process may truncate the file while it is mapped:
 * reading beyond its end ends the program. */
LT_API lt_status lt_tensor_from_file(const char *path, bool shared, int64_t numel, lt_dtype dtype,
                                     lt_tensor **out);

/* ---- interrupting ---------------------------------------------------------------------------- */

/* As lt_context_interrupt for all contexts: requests that running operations stop with
 * LT_ERR_INTERRUPTED at their next check, until you clear it. May be called in a signal handler. */
LT_API void lt_interrupt(void);
LT_API void lt_interrupt_clear(void);

/* ---- deprecated names ------------------------------------------------------------------------ */

/* They work as before; a later version removes them (docs/guide/versions.md). */
LT_API lt_dtype lt_default_dtype(void) LT_DEPRECATED("lt_get_default_dtype");
LT_API void lt_tensor_list_free(lt_tensor_list *list) LT_DEPRECATED("lt_tensor_list_release");
LT_API void lt_archive_free(lt_archive *archive) LT_DEPRECATED("lt_archive_release");
LT_API void lt_generator_free(lt_generator *generator) LT_DEPRECATED("lt_generator_release");
LT_API void lt_value_free(lt_value *value) LT_DEPRECATED("lt_value_release");
LT_DEPRECATED("lt_scalar_from_int") static inline lt_scalar lt_int(int64_t i)
{
    return lt_scalar_from_int(i);
}
LT_DEPRECATED("lt_scalar_from_float") static inline lt_scalar lt_float(double d)
{
    return lt_scalar_from_float(d);
}
LT_DEPRECATED("lt_scalar_from_bool") static inline lt_scalar lt_boolean(bool b)
{
    return lt_scalar_from_bool(b);
}
LT_DEPRECATED("lt_scalar_from_complex")
static inline lt_scalar lt_complex_number(double real, double imaginary)
{
    return lt_scalar_from_complex(real, imaginary);
}

#ifdef __cplusplus
}
#endif

#include "ltensor_kernel.h"
#include "ltensor_register.h"

#ifndef LT_OPS_BY_NAME
#include "ltensor_binding.h" /* handles of operations, names of statuses */
#include "ltensor_device.h"  /* memory, the current GPU, streams */
#include "ltensor_host.h"    /* text, states of generators, profiles, the process's context */
#include "ltensor_ops.h"     /* generated: one function per op */
#endif

#endif
