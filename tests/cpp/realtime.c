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

/* glibc's own functions, which the definitions below replace in the whole process. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *memory);

void *malloc(size_t bytes)
{
    allocations++;
    return __libc_malloc(bytes);
}
void *calloc(size_t n, size_t bytes)
{
    allocations++;
    return __libc_calloc(n, bytes);
}
void *realloc(void *old, size_t bytes)
{
    allocations++;
    return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes)
{
    allocations++;
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    allocations++;
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
    allocations++;
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

int main(void)
{
    CHECK(lt_set_num_threads(1));
    lt_set_grad_enabled(false);
    equalizer_open(&e);
    callback_counts();
    table_counts();
    equalizer_close(&e);
    return failures != 0;
}
