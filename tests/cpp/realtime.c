/* realtime.c - docs/examples/audio.c in a program that counts allocations and locks: after the
 * warm-up, a call of the audio callback has none. Calls of which the guide says that they allocate
 * are counted, too, so that a counter that counts nothing is noticed. */
#define _GNU_SOURCE
#define AUDIO_NO_MAIN
#include "../../docs/examples/audio.c"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/types.h>

static atomic_int allocations, locks;
static atomic_size_t largest; /* bytes of an allocation */

static void note(size_t bytes)
{
    allocations++;
    if (bytes > largest) largest = bytes;
}

/* glibc's own functions, which the definitions below replace in the whole process. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *memory);

void *malloc(size_t bytes)
{
    note(bytes);
    return __libc_malloc(bytes);
}
void *calloc(size_t n, size_t bytes)
{
    note(n * bytes);
    return __libc_calloc(n, bytes);
}
void *realloc(void *old, size_t bytes)
{
    note(bytes);
    return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes)
{
    note(bytes);
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    note(bytes);
    *out = __libc_memalign(alignment, bytes);
    return *out == NULL;
}
void free(void *memory)
{
    allocations += memory != NULL;
    __libc_free(memory);
}

static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    static void *(*theirs)(void *, size_t, int, int, int, off_t);
    note(bytes);
    if (theirs == NULL) *(void **)&theirs = next("mmap");
    return theirs(address, bytes, protection, flags, file, offset);
}
int munmap(void *address, size_t bytes)
{
    static int (*theirs)(void *, size_t);
    allocations++;
    if (theirs == NULL) *(void **)&theirs = next("munmap");
    return theirs(address, bytes);
}
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*theirs)(pthread_mutex_t *);
    locks++;
    if (theirs == NULL) *(void **)&theirs = next("pthread_mutex_lock");
    return theirs(mutex);
}
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    static int (*theirs)(pthread_cond_t *, pthread_mutex_t *);
    locks++;
    if (theirs == NULL) *(void **)&theirs = next("pthread_cond_wait");
    return theirs(condition, mutex);
}

static int failures;
static void expect(const char *name, int calls, int counted, bool none)
{
    if ((counted == 0) == none) return;
    fprintf(stderr, "realtime.c: %s: %d allocations or locks in %d calls, expected %s\n", name,
            counted, calls, none ? "none" : "some");
    failures++;
}

/* Runs the call twice to warm up, then counts. */
#define COUNT(name, none, call)                                                                    \
    do {                                                                                           \
        for (int i_ = 0; i_ < 2; i_++) CHECK(call);                                                \
        const int before_ = allocations + locks;                                                   \
        for (int i_ = 0; i_ < 50; i_++) CHECK(call);                                               \
        expect(name, 50, allocations + locks - before_, none);                                     \
    } while (0)

/* The same for calls that may lock the cache of memory. */
#define COUNT_ALLOCATIONS(name, call)                                                              \
    do {                                                                                           \
        for (int i_ = 0; i_ < 2; i_++) CHECK(call);                                                \
        const int before_ = allocations;                                                           \
        for (int i_ = 0; i_ < 50; i_++) CHECK(call);                                               \
        expect(name, 50, allocations - before_, true);                                             \
    } while (0)

/* The same for calls of oneDNN, which allocates its small descriptors: no array of the result. */
#define COUNT_ARRAYS(name, result, call)                                                           \
    do {                                                                                           \
        for (int i_ = 0; i_ < 2; i_++) CHECK(call);                                                \
        largest = 0;                                                                               \
        for (int i_ = 0; i_ < 50; i_++) CHECK(call);                                               \
        expect(name, 50, largest >= (size_t)lt_tensor_numel(result) * sizeof(float), true);        \
    } while (0)

static equalizer e;

static void callback_counts(void)
{
    float block[BLOCK] = {0};
    for (int n = 0; n < 3; n++) equalizer_process(&e, block);
    const int allocated = allocations, locked = locks;
    for (int n = 0; n < 100; n++) {
        for (int i = 0; i < BLOCK; i++) block[i] = (float)(i % 7 - 3);
        equalizer_process(&e, block);
    }
    expect("the callback, allocations", 100, allocations - allocated, true);
    expect("the callback, locks", 100, locks - locked, true);
}

/* The table of the guide. */
static void table_counts(void)
{
    lt_tensor *x = zeros(64, 64), *y = zeros(64, 64), *out = zeros(64, 64), *row = zeros(1, 64);
    const lt_dims first = {1, {0}};
    float elements[64];
    COUNT("add_out", true, lt_add_out(x, y, lt_scalar_from_int(1), out));
    COUNT("mul_", true, lt_mul_(x, y));
    COUNT("tanh_out", true, lt_tanh_out(x, out));
    COUNT("add_out that broadcasts", true, lt_add_out(x, row, lt_scalar_from_int(1), out));
    COUNT("maximum_out", true, lt_maximum_out(x, y, out));
    COUNT("mm_out", true, lt_mm_out(x, y, out));
    COUNT("sum_dim_out", true, lt_sum_dim_out(x, &first, true, LT_DTYPE_NONE, row));
    COUNT("cumsum_out", true, lt_cumsum_out(x, 0, LT_DTYPE_NONE, out));
    COUNT("copy_", true, lt_copy_(out, x, false));
    COUNT("fill_", true, lt_fill_(out, lt_scalar_from_float(2)));
    COUNT("copy_to", true, lt_tensor_copy_to(row, elements, sizeof elements));
    COUNT("copy_from", true, lt_tensor_copy_from(row, elements, sizeof elements));
    CHECK(lt_fill_(row, lt_scalar_from_int(0)));
    COUNT("a product of overlapping rows", false, lt_mm_out(e.windows, e.filters, e.bands));
    COUNT("rand", false, lt_uniform_(row, 0, 1, NULL)); /* locks the generator */
    lt_tensor *large = zeros(1000, 1000), *larger = NULL;
    const lt_dims sizes = {2, {4000, 4000}};
    COUNT("a large new tensor", false,
          (lt_tensor_release(larger), larger = NULL, lt_memory_trim(),
           lt_zeros(&sizes, LT_FLOAT32, NULL, &larger)));
    lt_tensor *all[] = {x, y, out, row, large, larger};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) lt_tensor_release(all[i]);
}

static lt_tensor *filled(int ndim, const int64_t *sizes, double value)
{
    lt_dims dims = {.n = ndim};
    lt_tensor *t = NULL;
    for (int d = 0; d < ndim; d++) dims.v[d] = sizes[d];
    CHECK(lt_full(&dims, lt_scalar_from_float(value), LT_FLOAT32, NULL, &t));
    return t;
}
#define FILLED(...)                                                                                \
    filled((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__}, 1)

static lt_tensor *integers(int64_t rows, int64_t columns)
{
    lt_tensor *t = NULL;
    CHECK(lt_zeros(&(lt_dims){2, {rows, columns}}, LT_INT64, NULL, &t));
    return t;
}

/* The rows of the guide for layers: sizes of a small network, and larger ones. */
static void layer_counts(int64_t n)
{
    const lt_dims one = {1, {1}}, two = {1, {2}}, none = {1, {0}}, width = {1, {n}};
    lt_tensor *x = FILLED(4, n), *w = FILLED(n, n), *b = FILLED(n), *y = FILLED(4, n),
              *pair = FILLED(2, 4, n), *images = FILLED(2, 4, n, n),
              *volumes = FILLED(2, 4, 4, n, n), *lines = FILLED(2, 4, n),
              *kernel1 = FILLED(4, 4, 3), *kernel2 = FILLED(4, 4, 3, 3),
              *kernel3 = FILLED(4, 4, 1, 3, 3), *channels = FILLED(4),
              *narrow = FILLED(2, 4, n - 2), *planes = FILLED(2, 4, n - 2, n - 2),
              *solids = FILLED(2, 4, 4, n - 2, n - 2), *halves = FILLED(2, 4, n / 2, n / 2),
              *small = FILLED(2, 4, 2, 2), *top = FILLED(4, 2), *normal = FILLED(2, 4, n, n),
              *heads = FILLED(2, 4, n, n), *rows = FILLED(2, 3, n);
    lt_tensor *best = integers(4, 2), *position = NULL, *ids = integers(2, 3), *places = NULL;
    const lt_tensor_list both = {2, (lt_tensor *[]){x, x}};
    lt_tensor *joined = FILLED(8, n), *batch = FILLED(2, 4, n);
    CHECK(lt_select(best, 1, 0, &position));
    CHECK(lt_zeros(&(lt_dims){4, {2, 4, 2, 2}}, LT_INT64, NULL, &places));
    COUNT("linear_out", true, lt_linear_out(x, w, b, y));
    COUNT("linear_out of a batch", true, lt_linear_out(pair, w, b, batch));
    COUNT("matmul_out of a batch", true, lt_matmul_out(pair, w, batch));
    COUNT("gelu_out", true, lt_gelu_out(x, "none", y));
    COUNT("silu_out", true, lt_silu_out(x, y));
    COUNT("softmax_out", true, lt_softmax_out(x, 1, LT_DTYPE_NONE, y));
    COUNT("log_softmax_out", true, lt_log_softmax_out(x, 0, LT_DTYPE_NONE, y));
    COUNT("layer_norm_out", true, lt_layer_norm_out(x, &width, b, b, 1e-5, y));
    COUNT("rms_norm_out", true, lt_rms_norm_out(x, &width, b, NULL, y));
    COUNT("group_norm_out", true, lt_group_norm_out(images, 2, channels, channels, 1e-5, normal));
    COUNT("batch_norm_out", true,
          lt_batch_norm_out(images, channels, channels, channels, channels, false, 0.1, 1e-5,
                            normal));
    COUNT("cat_out", true, lt_cat_out(&both, 0, joined));
    COUNT("stack_out", true, lt_stack_out(&both, 0, batch));
    COUNT("argmax_out", true, lt_argmax_out(x, &(int64_t){1}, false, position));
    COUNT("topk_out", true, lt_topk_out(x, 2, 1, true, true, top, best));
    COUNT("embedding_out", true, lt_embedding_out(w, ids, NULL, false, false, rows));
    COUNT_ARRAYS("conv1d_out", narrow,
                 lt_conv1d_out(lines, kernel1, channels, &one, &none, &one, 1, narrow));
    COUNT_ARRAYS("conv2d_out", planes,
                 lt_conv2d_out(images, kernel2, channels, &one, &none, &one, 1, planes));
    COUNT_ARRAYS("conv3d_out", solids,
                 lt_conv3d_out(volumes, kernel3, channels, &one, &none, &one, 1, solids));
    COUNT_ALLOCATIONS("max_pool2d_out",
                      lt_max_pool2d_out(images, &two, NULL, &none, &one, false, halves));
    COUNT_ALLOCATIONS("avg_pool2d_out",
                      lt_avg_pool2d_out(images, &two, NULL, &none, false, true, NULL, halves));
    COUNT_ALLOCATIONS("adaptive_avg_pool2d_out", lt_adaptive_avg_pool2d_out(images, &two, small));
    COUNT_ALLOCATIONS("adaptive_max_pool2d_out",
                      lt_adaptive_max_pool2d_out(images, &two, small, places));
    COUNT_ALLOCATIONS("scaled_dot_product_attention_out",
                      lt_scaled_dot_product_attention_out(images, images, images, NULL, 0, false,
                                                          NULL, false, heads));
    lt_tensor *all[] = {x,      w,        b,       y,       pair,     images, volumes,
                        lines,  kernel1,  kernel2, kernel3, channels, narrow, planes,
                        solids, halves,   small,   top,     normal,   heads,  rows,
                        best,   position, ids,     places,  joined,   batch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) lt_tensor_release(all[i]);
}

int main(void)
{
    CHECK(lt_set_num_threads(1));
    lt_set_grad_enabled(false);
    equalizer_open(&e);
    callback_counts();
    table_counts();
    layer_counts(8);
    layer_counts(64);
    equalizer_close(&e);
    return failures != 0;
}
