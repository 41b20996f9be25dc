/* ltensor.h - tensors, their operations and their derivatives, for programs in C and C++.
 *
 *   lt_tensor *a = NULL, *b = NULL; const int64_t sizes[] = {2, 3}; float numbers[6] = {1, 2, 3, 4,
 *       5, 6}; if (lt_tensor_wrap(numbers, LT_FLOAT32, 2, sizes, NULL, NULL, &a) != LT_OK ||
 *       lt_exp(a, &b) != LT_OK)
 *       fprintf(stderr, "%s\n", lt_error_message());
 *   lt_tensor_release(a);
 *   lt_tensor_release(b);
 *
 * This file is all that a program includes: C99, C11, C++17. ltensor_ops.h, which it includes, has
 * a function per operation; lt_call() does them by name. The Lua interpreter has a header of its
 * own, ltensor_lua.h.
 *
 * Ownership. "New": what a function writes to its last argument is a reference of the caller's, who
 * gives it back with lt_tensor_release (lists: lt_tensor_list_free, values: lt_value_free).
 * "Borrowed": it belongs to what it was asked of and is valid as long as that is; lt_tensor_retain
 * makes it the caller's. Functions borrow their arguments, and copy what they keep of them. Every
 * operation gives new references.
 *
 * Errors. A function that can fail returns an lt_status, says why by lt_error_message(), and leaves
 * what it would have written as it was. NULL where a handle or a place for a result is needed, and
 * numbers that no enum has, are LT_ERR_TYPE; functions without a status then return 0, false or
 * NULL, and those that give back take NULL in silence. No function ends the program.
 *
 * Counting. Dimensions, indices and tensors of indices count from 0; a negative dimension counts
 * from the end.
 *
 * Threads. Any function may be called by any thread. A tensor may be read, retained and released by
 * several threads at once; what writes to it (in-place operations, lt_tensor_copy_from, its
 * gradient) is one thread's at a time, and so is a generator. Error message and the current GPU are
 * each thread's own; seed, settings and limits are the context's in which a thread works
 * (lt_context): the process's own, until it enters another.
 */
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

/* ---- errors ---------------------------------------------------------------------------------- */

typedef enum lt_status {
    LT_OK = 0,
    LT_ERR_RUNTIME, /* wrong shapes, dtypes, devices, arguments */
    LT_ERR_INDEX,   /* an index or a dimension out of range */
    LT_ERR_TYPE,    /* an argument of the wrong kind, NULL among them */
    LT_ERR_MEMORY,  /* host or device memory exhausted */
    LT_ERR_DEVICE,  /* a device is missing or reported an error */
    /* lt_interrupt() or lt_context_interrupt() was called while an operation ran */
    LT_ERR_INTERRUPTED,
    LT_ERR_IO,        /* a file could not be read or written */
    LT_ERR_DEADLINE,  /* the context's deadline has passed */
    LT_ERR_PERMISSION /* the context's authorizer said no */
} lt_status;

/* Message of the last failure on this thread. Borrowed until the next failing call of the thread;
 * never NULL. */
LT_API const char *lt_error_message(void);

/* ---- which library this is ------------------------------------------------------------------- */

/* LT_VERSION_NUMBER and LT_VERSION of the library that runs; the macros are those of the header
 * that was compiled with. The text is static. */
LT_API int lt_version_number(void);
LT_API const char *lt_version(void);

/* Whether the library that runs can do something here and now:
 *   "cuda"       there is a GPU, and a backend for it was found "simulator"  simulated GPUs are in
 *                use (the environment has LTENSOR_SIM_GPUS) "lua"        the program has the Lua
 *                binding, ltensor_lua.h "onednn"     convolutions by oneDNN: the library is
 *                installed "int8"       products of 8-bit integers by oneDNN: it is installed, and
 *                the processor has instructions for them "mpi"        it was built with an engine
 *                for Open MPI or MPICH "lapack"     decompositions and solvers: LAPACK or OpenBLAS
 *                is installed "avx2", "avx512"  kernels for these instructions run on this
 *                processor
 * Other names, and NULL, give false: a program may ask for what later versions have. Loads what it
 * has to look at. */
LT_API bool lt_has(const char *feature);

/* What the library was built with, in a line: version, compiler, GPU backend. Static. */
LT_API const char *lt_build_options(void);

/* ---- kinds of elements, devices, numbers ----------------------------------------------------- */

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
    /* pairs of halves, the real part first; stored and converted, not computed with */
    LT_COMPLEX32,
    LT_COMPLEX64,  /* of floats */
    LT_COMPLEX128, /* of doubles */
    /* these three are stored and converted, compared for equality and added, but have few of the
     * other operations */
    LT_UINT16,
    LT_UINT32,
    LT_UINT64, /* an lt_scalar holds one above INT64_MAX as a double */
    /* Floats of one byte: stored, moved, compared for equality and converted (to and from float32
     * with PyTorch's rounding). */
    LT_FLOAT8_E5M2,     /* as float16 without the lower half of its bits: with infinities */
    LT_FLOAT8_E4M3FN,   /* no infinities: what is too large becomes the largest number, 448 */
    LT_FLOAT8_E5M2FNUZ, /* no infinities and no -0: what is too large becomes nan */
    LT_FLOAT8_E4M3FNUZ,
    /* powers of two from 2^-127 to 2^127, without sign and 0: scales of blocks */
    LT_FLOAT8_E8M0FNU
} lt_dtype;
#define LT_DTYPE_COUNT 21 /* of this header; later versions have more */

LT_API size_t lt_dtype_size(lt_dtype dtype); /* bytes of an element; 0: there is no such dtype */
LT_API const char *
lt_dtype_name(lt_dtype dtype); /* "float32"; NULL: there is no such dtype. Static */

/* How the elements of a tensor are stored: all of them, or only some, with their places: the others
 * are 0. */
typedef enum lt_layout {
    LT_STRIDED = 0,
    LT_SPARSE_COO, /* the indices of each value; a place may occur twice, its values add up */
    LT_SPARSE_CSR, /* matrices, row by row: the columns of the values, and where each row begins */
    LT_SPARSE_CSC  /* column by column */
} lt_layout;

typedef enum lt_device_type { LT_CPU = 0, LT_CUDA = 1 } lt_device_type;
#define LT_DEVICE_TYPES 2 /* of this header; later versions have more */

/* A place for tensors: an lt_device_type and a number. The CPU is {LT_CPU, 0}; of GPUs, -1 is the
 * current one. */
typedef struct lt_device {
    int8_t type;
    int8_t index;
} lt_device;

/* A number: truth value, integer, float or complex. It is passed by value and stays as it is:
 * nothing that an element can be is larger than its two doubles. */
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
    double imaginary; /* COMPLEX; 0 in the others */
} lt_scalar;

static inline lt_scalar lt_int(int64_t i)
{
    lt_scalar s;
    s.kind = LT_SCALAR_INT, s.v.i = i, s.imaginary = 0;
    return s;
}
static inline lt_scalar lt_float(double d)
{
    lt_scalar s;
    s.kind = LT_SCALAR_FLOAT, s.v.d = d, s.imaginary = 0;
    return s;
}
static inline lt_scalar lt_boolean(bool b)
{
    lt_scalar s;
    s.kind = LT_SCALAR_BOOL, s.v.i = b, s.imaginary = 0;
    return s;
}

static inline lt_scalar lt_complex_number(double real, double imaginary)
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

/* Several tensors. As an argument it is the caller's; what an operation filled in is freed by
 * lt_tensor_list_free. */
typedef struct lt_tensor_list {
    int64_t n;
    lt_tensor **v;
} lt_tensor_list;

/* ---- contexts -----------------------------------------------------------------------------------
 *
 * A context is what one user of the library has to himself: the seed and the streams of random
 * numbers, default dtype, grad mode, number of threads, limits of memory and time, and whom to ask
 * and tell. Threads that work in two contexts do not notice each other. A thread begins in the
 * process's context, which has no limits and asks nobody, and is in one context at a time; a
 * context may be entered by several threads at once, which then share what it has (but each has the
 * grad mode with which it came). Tensors belong to no context and may be used in any; their memory
 * counts against the one in which they were made, as long as they live. What the libraries beneath
 * keep is the process's: OpenBLAS has the number of threads of the context that called it last, and
 * oneDNN's convolutions, whose plans serve all contexts, take turns.
 *
 *   lt_context_config config = lt_context_defaults();
 *   config.memory_limit = 1 << 30;
 *   config.authorize = nothing_outside;
 *   if (lt_context_new(&config, &mine) != LT_OK) ...
 *   lt_context *before = lt_context_enter(mine);
 *   ...
 *   lt_context_enter(before);
 *   lt_context_release(mine);
 */
typedef struct lt_context lt_context;

/* What an authorizer is asked for, and the name that goes with it. */
typedef enum lt_access {
    LT_ACCESS_FILE_READ,   /* the path; of a folder, whose names are to be listed */
    LT_ACCESS_FILE_WRITE,  /* the path */
    LT_ACCESS_PROCESS,     /* what the process is for: "worker" */
    LT_ACCESS_LIBRARY,     /* a shared object that is to be opened: "libopenblas.so.0" */
    LT_ACCESS_DEVICE,      /* "cuda:1"; memory of the host needs no permission */
    LT_ACCESS_FILE_REMOVE, /* the path of a file that is to be deleted */
    LT_ACCESS_FOLDER_MAKE  /* the path of a folder that is to be made, with the folders around it */
} lt_access;

typedef enum lt_log_level { LT_LOG_NOTE, LT_LOG_WARNING, LT_LOG_ERROR } lt_log_level;

/* How a context is to be; made by lt_context_defaults. The functions may be called by any thread
 * that works in the context, several at once, and must return; NULL: nobody is asked or told. */
typedef struct lt_context_config {
    size_t size; /* sizeof(lt_context_config) as the caller was compiled */
    void *user;  /* first argument of the functions */
    /* called once, when the context is gone; not when making it failed */
    void (*release)(void *user);
    int64_t memory_limit;    /* bytes of the host's memory; 0: no limit */
    double deadline;         /* seconds from when the context is made; 0: none */
    int32_t default_dtype;   /* a floating lt_dtype; 0: float32 */
    int32_t threads;         /* 0: as many as there are processors */
    double progress_seconds; /* between two calls of progress; 0: 0.1 */

    /* Asked before an operation touches what lies outside of its memory. False: it fails with
     * LT_ERR_PERMISSION. `access` is an lt_access; later versions may have more: say no to what you
     * do not know. */
    bool (*authorize)(void *user, int access, const char *name);
    /* Told a line without its end, which would go to stderr. `level` is an lt_log_level. */
    void (*log)(void *user, int level, const char *text);
    /* Called now and then while an operation takes long, by its thread. False ends it, as
     * lt_context_interrupt does. It must not use the tensors of the operation. */
    bool (*progress)(void *user);
} lt_context_config;

static inline lt_context_config lt_context_defaults(void)
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

/* New; config NULL: lt_context_defaults(). Its generators are seeded as PyTorch's are.
 * LT_ERR_MEMORY; LT_ERR_TYPE: a dtype or a size of config that there is not; LT_ERR_RUNTIME: a
 * negative number. */
LT_API lt_status lt_context_new(const lt_context_config *config, lt_context **out);

/* One reference more, and the context; one less. The memory of tensors that live on keeps it as
 * well, so that `release` is called when the last of them is gone. A thread does not hold the
 * context that it is in: leave it before. */
LT_API lt_context *lt_context_retain(lt_context *context);
LT_API void lt_context_release(lt_context *context);

/* The thread goes on in a context; NULL is the process's. Returns the one before, borrowed. */
LT_API lt_context *lt_context_enter(lt_context *context);
/* Borrowed: the one that this thread is in; the process's. Never NULL. */
LT_API lt_context *lt_context_current(void);
LT_API lt_context *lt_context_process(void);

/* How much memory tensors made in the context, and what operations need meanwhile, may take on a
 * device; of the CPU, the interpreter of a lua_State as well where it uses lt_lua_alloc. What would
 * pass the limit fails with LT_ERR_MEMORY. INT64_MAX: no limit. May be called at any time; small
 * tensors that there are already are not counted. Memory of released tensors that the library keeps
 * (lt_memory_trim) is returned to the system before it and the memory in use together pass the
 * limit. */
LT_API lt_status lt_context_set_memory_limit(lt_context *context, lt_device device, int64_t bytes);
/* Bytes in use and the limit; either may be NULL. */
LT_API lt_status lt_context_memory(const lt_context *context, lt_device device, int64_t *used,
                                   int64_t *limit);

/* From so many seconds from now on, operations in the context fail with LT_ERR_DEADLINE, and
 * running ones stop at their next look; until another deadline is set. INFINITY: none.
 * LT_ERR_RUNTIME for nan. */
LT_API lt_status lt_context_set_deadline(lt_context *context, double seconds);

/* Asks the operations that run in the context to stop with LT_ERR_INTERRUPTED at their next look,
 * until it is cleared. Any thread and any signal handler may call these. */
LT_API void lt_context_interrupt(lt_context *context);
LT_API void lt_context_interrupt_clear(lt_context *context);

/* Settings of the context that this thread is in. The dtype of floats that no tensor decides;
 * LT_ERR_TYPE if it is not a floating one. How many threads an operation may use: 1 to 1024. */
LT_API lt_dtype lt_default_dtype(void);
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

/* Sets the pool of the process; NULL: the library's own threads, the default. *pool is borrowed
 * until another pool is set. Call it while no operation runs. LT_ERR_TYPE if run is NULL,
 * LT_ERR_RUNTIME if threads is below 1. */
LT_API lt_status lt_set_thread_pool(const lt_thread_pool *pool);

/* Where the library takes memory of the host from, instead of from the C library and the system.
 * Both functions must be callable by any thread. */
typedef struct lt_allocator {
    size_t size; /* sizeof(lt_allocator) as the caller was compiled */
    void *user;  /* first argument of the functions */
    /* As realloc; old NULL: new memory; bytes 0: gives old back and returns NULL. NULL: there is
     * none. */
    void *(*resize)(void *user, void *old, size_t bytes);
    /* The data of tensors, aligned to 64 bytes; and back, with the bytes that were asked for. */
    void *(*take_block)(void *user, size_t bytes);
    void (*give_block)(void *user, void *block, size_t bytes);
} lt_allocator;

/* For the whole process, before anything else of the library is used: LT_ERR_RUNTIME afterwards.
 * LT_ERR_TYPE: a function is missing. */
LT_API lt_status lt_set_allocator(const lt_allocator *allocator);

/* Returns the memory of released tensors that the library keeps for later results to the system.
 * Tensors are not affected; the next results take new pages. The library keeps at most 256 MB, in a
 * context with a memory limit at most the rest of that limit, and returns all of it by itself when
 * 16 MB or more were not used for 5 seconds.
 * - Result: the bytes of the blocks that were returned; structs that the calling thread keeps are
 *   returned as well.
 * - Threads: any, at any time. */
LT_API int64_t lt_memory_trim(void);

/* ---- making tensors -------------------------------------------------------------------------- */

/* New, contiguous, of any content; lt_zeros, lt_full, lt_arange, lt_randn and others of
 * ltensor_ops.h fill theirs. ndim sizes, which may be NULL where ndim is 0. LT_ERR_MEMORY,
 * LT_ERR_DEVICE. */
LT_API lt_status lt_tensor_new(lt_dtype dtype, lt_device device, int ndim, const int64_t *sizes,
                               lt_tensor **out);

/* New: the caller's host memory as a tensor, row-major, without copying. release(ctx) is called
 * once, by the thread that gives back the last tensor that shares the memory; NULL: nobody is told.
 * After a failure it is not called. Elements of LT_BOOL are 0 or 1. */
LT_API lt_status lt_tensor_wrap(void *data, lt_dtype dtype, int ndim, const int64_t *sizes,
                                void (*release)(void *ctx), void *ctx, lt_tensor **out);

/* New: a number as an operand, of no dimensions on the CPU. It does not decide the dtype of what is
 * computed with it: float32 times lt_float(0.5) stays float32. */
LT_API lt_status lt_tensor_from_scalar(lt_scalar number, lt_tensor **out);

/* As lt_tensor_wrap, of memory on any device and with strides, in elements and not negative: a part
 * of a larger array, a column of records. NULL strides are row-major. That all the elements lie in
 * memory of the caller's is the caller's word; in-place operations refuse a tensor whose elements
 * overlap. */
LT_API lt_status lt_tensor_wrap_strided(void *data, lt_dtype dtype, lt_device device, int ndim,
                                        const int64_t *sizes, const int64_t *strides,
                                        void (*release)(void *ctx), void *ctx, lt_tensor **out);

/* One reference more, and the tensor; one less, and the last one frees. */
LT_API lt_tensor *lt_tensor_retain(lt_tensor *t);
LT_API void lt_tensor_release(lt_tensor *t);

/* Gives back the tensors of a list that an operation made (lt_unbind, lt_split) and its array; the
 * list is empty then. */
LT_API void lt_tensor_list_free(lt_tensor_list *list);

/* ---- looking at tensors ---------------------------------------------------------------------- */

LT_API lt_dtype lt_tensor_dtype(const lt_tensor *t); /* LT_DTYPE_NONE for NULL */
LT_API lt_device lt_tensor_device(const lt_tensor *t);
LT_API int lt_tensor_ndim(const lt_tensor *t);
/* ndim sizes and strides, the latter in elements; borrowed. */
LT_API const int64_t *lt_tensor_sizes(const lt_tensor *t);
LT_API const int64_t *lt_tensor_strides(const lt_tensor *t);
LT_API int64_t lt_tensor_numel(const lt_tensor *t);
LT_API bool lt_tensor_is_contiguous(const lt_tensor *t);
/* LT_STRIDED for ordinary tensors; and NULL. */
LT_API lt_layout lt_tensor_layout(const lt_tensor *t);
/* Address of the first element, borrowed; of a tensor on a GPU an address on that GPU. NULL for
 * NULL and for a sparse tensor, and with an error's message where the memory has been taken away
 * for a while (parameters that torch.distributed's fully_shard has freed). */
LT_API void *lt_tensor_data(const lt_tensor *t);

/* The number in a tensor of one element. Waits for the GPU that the tensor is on. */
LT_API lt_status lt_tensor_item(lt_tensor *t, lt_scalar *out);

/* All elements, in row-major order and in the tensor's dtype, from and to host memory, whatever the
 * tensor's layout and device. bytes must be what they take. copy_from is recorded by no derivative:
 * a leaf may be written. */
LT_API lt_status lt_tensor_copy_from(lt_tensor *t, const void *data, size_t bytes);
LT_API lt_status lt_tensor_copy_to(lt_tensor *t, void *data, size_t bytes);

/* New: the tensor in a dtype (LT_DTYPE_NONE: its own) on a device (NULL: its own); another
 * reference to it when it is so already. Differentiable. */
LT_API lt_status lt_tensor_to(lt_tensor *t, lt_dtype dtype, const lt_device *device,
                              lt_tensor **out);

/* ---- files ----------------------------------------------------------------------------------- */

/* Writes n tensors under names (UTF-8, all different) into a file of the safetensors format, which
 * PyTorch, NumPy and others read. The file appears whole or not at all. LT_ERR_IO. */
LT_API lt_status lt_save(const char *path, const char *const *names, lt_tensor *const *tensors,
                         int64_t n);

/* New: what a safetensors file holds, on the host, in the order of the file. Files may come from
 * strangers: all is checked before memory is asked for. LT_ERR_IO. */
typedef struct lt_archive lt_archive;
LT_API lt_status lt_load(const char *path, lt_archive **out);
LT_API int64_t lt_archive_count(const lt_archive *archive);
/* Borrowed from the archive; NULL out of range, or where no tensor has that name. */
LT_API const char *lt_archive_name(const lt_archive *archive, int64_t i);
LT_API lt_tensor *lt_archive_tensor(const lt_archive *archive, int64_t i);
LT_API lt_tensor *lt_archive_find(const lt_archive *archive, const char *name);
/* Tensors that were retained stay. */
LT_API void lt_archive_free(lt_archive *archive);

/* ---- devices --------------------------------------------------------------------------------- */

/* How many there are of a type: 1 CPU; 0 where a GPU cannot be used, lt_error_message() then says
 * why. */
LT_API int lt_device_count(lt_device_type type);
/* "NVIDIA H200", "cpu"; at most n bytes with the final 0. */
LT_API lt_status lt_device_name(lt_device device, char *buffer, size_t n);
/* Bytes that are free, and all there are; either may be NULL. */
LT_API lt_status lt_device_memory(lt_device device, size_t *free_bytes, size_t *total_bytes);
/* Waits for all that was asked of a device, and reports what went wrong meanwhile. */
LT_API lt_status lt_device_synchronize(lt_device device);

/* ---- random numbers -------------------------------------------------------------------------- */

/* Seeds what operations in this thread's context draw from when they are given no generator, on
 * every device. A seed gives PyTorch's numbers. */
LT_API void lt_manual_seed(uint64_t seed);

/* New: a stream of numbers of its own, for tensors on that device. Freed by lt_generator_free. */
LT_API lt_status lt_generator_new(lt_device device, lt_generator **out);
LT_API lt_status lt_generator_seed(lt_generator *generator, uint64_t seed);
LT_API void lt_generator_free(lt_generator *generator);

/* ---- derivatives ----------------------------------------------------------------------------- */

/* Operations on a tensor that requires grad are recorded, and their results require grad. Only a
 * leaf, which was not made by a recorded operation, can be asked to begin or to stop; floating
 * dtypes only. */
LT_API bool lt_tensor_requires_grad(const lt_tensor *t);
LT_API lt_status lt_tensor_set_requires_grad(lt_tensor *t, bool on);
LT_API bool lt_tensor_is_leaf(const lt_tensor *t);

/* The gradient that lt_backward has added up in a leaf: borrowed, until the next backward or
 * change; NULL: none yet. */
LT_API lt_tensor *lt_tensor_grad(const lt_tensor *t);
/* Replaces it; NULL clears it, as before the next step. Of t's shape, dtype and device. */
LT_API lt_status lt_tensor_set_grad(lt_tensor *t, lt_tensor *grad);

/* Adds the gradients of t to the leaves it was computed from. grad, of t's shape, is the gradient
 * of t itself; NULL is 1, for a tensor of one element. What was recorded is freed unless
 * retain_graph; create_graph records the gradients' own. */
LT_API lt_status lt_backward(lt_tensor *t, lt_tensor *grad, bool retain_graph, bool create_graph);

/* The gradients of outputs by inputs: n_inputs new references in grads, which the caller has made
 * room for; nothing is added to leaves. grad_outputs: NULL, or one for each output, NULL as in
 * lt_backward. An input that the outputs do not depend on is an error, or NULL in grads where
 * allow_unused. */
LT_API lt_status lt_grad(lt_tensor *const *outputs, int n_outputs, lt_tensor *const *inputs,
                         int n_inputs, lt_tensor *const *grad_outputs, bool retain_graph,
                         bool create_graph, bool allow_unused, lt_tensor **grads);

/* Whether this thread's operations are recorded; true at first in every context. Setting it returns
 * what it was before. A context that is left keeps its mode for who enters it next; the process's
 * has one for each thread. */
LT_API bool lt_grad_enabled(void);
LT_API bool lt_set_grad_enabled(bool on);

/* Called with a gradient (borrowed) as it arrives. May put a new reference into *replacement, which
 * goes on in its place. A status other than LT_OK ends the backward with it. */
typedef lt_status (*lt_grad_hook)(void *ctx, lt_tensor *grad, lt_tensor **replacement);
/* Has the hook called for every gradient of t until it is removed by *id (which may be NULL) or t
 * is gone; then release(ctx), unless it is NULL. After a failure release is not called. */
LT_API lt_status lt_tensor_add_hook(lt_tensor *t, lt_grad_hook hook, void (*release)(void *ctx),
                                    void *ctx, int64_t *id);
LT_API lt_status lt_tensor_remove_hook(lt_tensor *t, int64_t id);

/* ---- operations by name ---------------------------------------------------------------------- */

typedef enum lt_kind {
    LT_KIND_NONE, /* absent: stands for the default of an argument that has one */
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
    LT_KIND_TABLE /* of scripts (ltensor_script.h); no operation takes one */
} lt_kind;

typedef struct lt_table lt_table;

/* A value of one of these kinds. Values are made by the functions below, which set its size: later
 * versions may have larger ones. As an argument it borrows what it points to; results are new, and
 * given back by lt_value_free. */
typedef struct lt_value {
    uint32_t size; /* sizeof(lt_value) as the caller was compiled */
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
            const char *s; /* a zero byte follows it */
            int64_t n;     /* bytes; as an argument 0: up to the first zero byte */
        } text;
        lt_table *table;
        lt_tensor_list tensors;
        int32_t dtype;
        lt_device device;
        lt_generator *generator;
    } v;
} lt_value;

static inline lt_value lt_value_of(lt_kind kind)
{
    lt_value value;
    value.size = (uint32_t)sizeof value, value.kind = (int32_t)kind;
    value.v.dims.v = NULL, value.v.dims.n = 0;
    return value;
}
static inline lt_value lt_value_none(void) { return lt_value_of(LT_KIND_NONE); }
static inline lt_value lt_value_bool(bool b)
{
    lt_value value = lt_value_of(LT_KIND_BOOL);
    value.v.b = b;
    return value;
}
static inline lt_value lt_value_int(int64_t i)
{
    lt_value value = lt_value_of(LT_KIND_INT);
    value.v.i = i;
    return value;
}
static inline lt_value lt_value_double(double d)
{
    lt_value value = lt_value_of(LT_KIND_DOUBLE);
    value.v.d = d;
    return value;
}
static inline lt_value lt_value_string(const char *s)
{
    lt_value value = lt_value_of(LT_KIND_STRING);
    value.v.s = s;
    return value;
}
static inline lt_value lt_value_tensor(lt_tensor *t)
{
    lt_value value = lt_value_of(LT_KIND_TENSOR);
    value.v.tensor = t;
    return value;
}
static inline lt_value lt_value_dims(int64_t n,
                                     const int64_t *v) /* sizes, or a set of dimensions */
{
    lt_value value = lt_value_of(LT_KIND_DIMS);
    value.v.dims.n = n, value.v.dims.v = v;
    return value;
}
static inline lt_value lt_value_tensors(int64_t n, lt_tensor **v)
{
    lt_value value = lt_value_of(LT_KIND_TENSORS);
    value.v.tensors.n = n, value.v.tensors.v = v;
    return value;
}
static inline lt_value lt_value_dtype(lt_dtype dtype)
{
    lt_value value = lt_value_of(LT_KIND_DTYPE);
    value.v.dtype = (int32_t)dtype;
    return value;
}
static inline lt_value lt_value_device(lt_device device)
{
    lt_value value = lt_value_of(LT_KIND_DEVICE);
    value.v.device = device;
    return value;
}
static inline lt_value lt_value_generator(lt_generator *generator)
{
    lt_value value = lt_value_of(LT_KIND_GENERATOR);
    value.v.generator = generator;
    return value;
}

static inline lt_value lt_value_table(lt_table *table)
{
    lt_value value = lt_value_of(LT_KIND_TABLE);
    value.v.table = table;
    return value;
}

typedef struct lt_named_value {
    const char *name;
    lt_value value;
} lt_named_value;

/* Does the operation of a name: "add", in place "add_", "nn.functional.glu". First come nargs
 * arguments in their order, then nnamed by name; overloads are tried in the order in which they are
 * declared, and the first that fits is done. A number stands for a tensor where the operation
 * allows one, a tensor of one number and no dimensions for that number, an int for a set of one
 * dimension, "float64" for a dtype, "cuda:1" for a device. The tensor named "out" is filled, where
 * the operation has that form.
 *
 * *nresults says how many values there is room for, and afterwards how many there are; results were
 * made by lt_value_none. In-place operations have what they wrote as their result. Both may be
 * NULL: the results are dropped. LT_ERR_TYPE: no such operation, or no overload fits; the message
 * has the argument, what came and what was expected. */
LT_API lt_status lt_call(const char *name, const lt_value *args, int nargs,
                         const lt_named_value *named, int nnamed, lt_value *results, int *nresults);

/* Gives back what a result holds; the value is lt_value_none then. Never for arguments, which
 * borrow. */
LT_API void lt_value_free(lt_value *value);

/* ---- tables -------------------------------------------------------------------------------------
 *
 * What scripts hand over and are handed: a list of values, counted from 0, and values by name.
 * Reference counted as tensors are; one thread writes to it at a time. A table must not contain
 * itself.
 */

/* New and empty. LT_ERR_MEMORY. */
LT_API lt_status lt_table_new(lt_table **out);
LT_API lt_table *lt_table_retain(lt_table *table);
LT_API void lt_table_release(lt_table *table);

/* The value of a name, or one more at the end of the list: strings are copied, tensors and tables
 * retained. LT_KIND_NONE takes the name away; in a list it is LT_ERR_TYPE, as are dims, lists of
 * tensors and generators in both. LT_ERR_MEMORY. */
LT_API lt_status lt_table_set(lt_table *table, const char *name, const lt_value *value);
LT_API lt_status lt_table_append(lt_table *table, const lt_value *value);

/* Borrowed until the table is written to or gone; NULL: there is no such name, or entry. */
LT_API const lt_value *lt_table_get(const lt_table *table, const char *name);
LT_API const lt_value *lt_table_at(const lt_table *table, int64_t i);

/* How many values the list has, how many names there are, and the i-th of them in the order of
 * their bytes (borrowed; NULL: there are not as many). */
LT_API int64_t lt_table_length(const lt_table *table);
LT_API int64_t lt_table_names(const lt_table *table);
LT_API const char *lt_table_name(const lt_table *table, int64_t i);

/* An argument or a result of an operation. Static, as all of the following. */
typedef struct lt_arg_info {
    size_t size;              /* of this struct in the library */
    const char *name;         /* "dim"; of a single result "" */
    const char *type;         /* as src/ops/README.md has it: "Tensor", "Dims?" */
    const char *default_text; /* "1", "nil"; NULL: required */
    lt_kind kind;             /* what is passed or results; numbers: the widest that fits */
    bool optional;            /* LT_KIND_NONE is a value of it */
    bool named_only;
} lt_arg_info;

/* An overload of an operation. */
typedef struct lt_op_info {
    size_t size;      /* of this struct in the library */
    const char *name; /* for lt_call */
    /* "sum(Tensor self, Dims? dim, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor" */
    const char *signature;
    const char *doc;   /* sentences */
    const char *group; /* "reduce" */
    int n_args, n_results;
    bool in_place; /* its result is its first argument */
} lt_op_info;

/* Overloads, those of a name together, in the order in which they are tried. NULL out of range. */
LT_API int lt_op_count(void);
LT_API const lt_op_info *lt_op_at(int i);
/* From 0 to n_args - 1 and n_results - 1; NULL out of range, and for infos that lt_op_at did not
 * give. */
LT_API const lt_arg_info *lt_op_arg(const lt_op_info *op, int i);
LT_API const lt_arg_info *lt_op_result(const lt_op_info *op, int i);

/* ---- interop: DLPack ----------------------------------------------------------------------------
 *
 * DLPack (https://dmlc.github.io/dlpack/latest/) is how libraries lend each other tensors without
 * copying them: NumPy, PyTorch, JAX, CuPy, TensorFlow and others. A managed tensor is a pointer to
 * a DLManagedTensorVersioned (versioned: DLPack 1.x) or to a DLManagedTensor (before 1.0); in
 * Python it lies in a capsule called "dltensor_versioned" or "dltensor", from
 * x.__dlpack__(max_version=(1, 0)) or x.__dlpack__(). */

/* Lends t: *out is a new managed tensor over the same memory, which lives until its deleter is
 * called (or it is given to lt_tensor_from_dlpack), on any thread. What is written into one is seen
 * in the other. LT_ERR_RUNTIME when t requires grad, or is read-only and versioned is false. GPU
 * memory is ready on the current stream of its device: lt_tensor_ready_for. Memory of a simulated
 * GPU is lent as kDLExtDev, which only this library takes back. */
LT_API lt_status lt_tensor_to_dlpack(lt_tensor *t, bool versioned, void **out);

/* Takes a managed tensor: *out is a new tensor over its memory, and its deleter (which may be NULL)
 * is called once, when the last tensor that shares the memory is gone, on whatever thread that is.
 * When the call fails the managed tensor is still the caller's. A read-only one gives a tensor that
 * every op refuses to write; who writes through lt_tensor_data must ask lt_tensor_is_read_only.
 * LT_ERR_RUNTIME for other versions, dtypes, lanes, negative strides, sizes that overflow and NULL
 * where there are elements; LT_ERR_DEVICE for devices that are not here. The current stream of a
 * GPU must already wait for what its owner has to do. */
LT_API lt_status lt_tensor_from_dlpack(void *managed, bool versioned, lt_tensor **out);

/* Whether ops refuse to write t, since its memory was lent so. */
LT_API bool lt_tensor_is_read_only(const lt_tensor *t);

/* Makes a stream of t's device (a cudaStream_t; 0: the default one) wait for what the device's
 * current stream still has to do: what a producer does with the stream that a consumer names.
 * Nothing for memory of the host. */
LT_API lt_status lt_tensor_ready_for(const lt_tensor *t, uint64_t stream);

/* ---- interop: the Arrow C data interface --------------------------------------------------------
 *
 * Apache Arrow (https://arrow.apache.org/docs/format/CDataInterface.html) is how tables go from
 * library to library: pandas, Polars, DuckDB, R. A column is an array and the schema that says of
 * what: two structs of the caller's, whose release functions give back what they refer to; one
 * whose release is NULL is empty, since it was released or moved elsewhere. The structs are the
 * specification's. They may be moved: copied, and the release of where they were set to NULL.
 *
 * A table comes as a struct array (format "+s"). Each of its children is a column, and is taken
 * alone:
 *
 *   for (int64_t i = 0; i < schema.n_children; i++)
 *       if (lt_tensor_from_arrow(schema.children[i], array.children[i], &columns[i]) != LT_OK) ...
 *   array.release(&array);    the columns live on
 *   schema.release(&schema);
 *
 * (Where array.offset is not 0, or array.length is less than a child's, the rows are those of a
 * slice of each child. Where array.null_count is not 0 there are rows that the table itself says
 * are null.) */
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
    /* of a column of numbers: a bit for each element that is not null (or NULL), the elements */
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *self);
    void *private_data;
};

#endif

/* Lends t, of one dimension, as a column: fills a schema and an array, which are the caller's and
 * are released on any thread, in any order. Contiguous elements are not copied: the array has t's
 * memory, and what is written into t is seen in it; Arrow asks its consumers not to write. The
 * elements of a strided tensor are copied; bools too, since Arrow has eight in a byte.
 * LT_ERR_RUNTIME for other numbers of dimensions, for bfloat16, which Arrow has not, and when t
 * requires grad; LT_ERR_DEVICE for memory of a GPU. */
LT_API lt_status lt_tensor_to_arrow(lt_tensor *t, struct ArrowSchema *schema,
                                    struct ArrowArray *array);

/* Takes a column of numbers or bools: *out is a new tensor of one dimension. The array is moved
 * (array->release is NULL then); the schema is only read, and stays the caller's. Where *out has
 * the array's memory, that is released when the last tensor that shares it is gone, on whatever
 * thread that is, and as Arrow's memory is not to be written, ops refuse to:
 * lt_tensor_is_read_only. Of bools, of empty columns, of floats of which some are null (they become
 * nan), and of data that are not aligned to their elements *out is a copy, and the array is
 * released at once. When the call fails the array is still the caller's. LT_ERR_RUNTIME for
 * integers and bools of which some are null, for other formats (text, times, dictionaries, nested
 * ones), for what was released before, and for arrays that no producer may make. */
LT_API lt_status lt_tensor_from_arrow(const struct ArrowSchema *schema, struct ArrowArray *array,
                                      lt_tensor **out);

/* ---- interop: files as memory ---------------------------------------------------------------- */

/* Maps numel elements of a file: *out is a new tensor of one dimension over its first bytes,
 * unmapped when the last tensor that shares the memory is gone. shared: what is written goes into
 * the file, which is made when there is none and grows when it is too small; else it stays in
 * memory, and the file must be large enough. LT_ERR_IO with the path. Somebody else must not make
 * the file shorter meanwhile: reading what is no longer there ends the process. */
LT_API lt_status lt_tensor_from_file(const char *path, bool shared, int64_t numel, lt_dtype dtype,
                                     lt_tensor **out);

/* ---- stopping -------------------------------------------------------------------------------- */

/* As lt_context_interrupt for all contexts at once: asks running operations to stop with
 * LT_ERR_INTERRUPTED at their next look, until it is cleared. May be called by a signal handler. */
LT_API void lt_interrupt(void);
LT_API void lt_interrupt_clear(void);

#ifdef __cplusplus
}
#endif

#ifndef LT_OPS_BY_NAME
#include "ltensor_ops.h" /* generated: one function per op */
#endif

#endif
