/* mem_test.c - arithmetic on sizes, arrays, structs that are kept, the cache of blocks: its classes
 * of sizes, its limit, other threads and processes; what a context may use, and the interpreter
 * that is asked to collect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "saturating.h"
#include "error.h"
#include "memory/alloc.h"
#include "memory/block.h"
#include "memory/freelist.h"
#include "memory/limit.h"
#include "memory/pressure.h"
#include "memory/system.h"
#include "tensor.h"

static void sizes_are_multiplied(void **state)
{
    (void)state;
    assert_int_equal(lt_mul_sat(6, 7), 42);
    assert_int_equal(lt_mul_sat(0, INT64_MAX), 0);
    assert_int_equal(lt_mul_sat(INT64_C(1) << 31, INT64_C(1) << 31), INT64_C(1) << 62);
    assert_int_equal(lt_mul_sat(INT64_C(1) << 32, INT64_C(1) << 31), LT_TOO_MUCH);
    assert_int_equal(lt_mul_sat(-1, 3), LT_TOO_MUCH);
    assert_int_equal(lt_mul_sat(3, -1), LT_TOO_MUCH);
    assert_int_equal(lt_mul_sat(lt_mul_sat(INT64_C(1) << 40, INT64_C(1) << 40), 2), LT_TOO_MUCH);
    assert_int_equal(lt_mul_sat(LT_TOO_MUCH, 0), 0);
}

static void sizes_are_added(void **state)
{
    (void)state;
    assert_int_equal(lt_add_sat(40, 2), 42);
    assert_int_equal(lt_add_sat(INT64_MAX - 1, 1), INT64_MAX);
    assert_int_equal(lt_add_sat(INT64_MAX, 1), LT_TOO_MUCH);
    assert_int_equal(lt_add_sat(LT_TOO_MUCH, 0), LT_TOO_MUCH);
    assert_int_equal(lt_add_sat(-1, 3), LT_TOO_MUCH);
    assert_int_equal(lt_add_sat(3, -1), LT_TOO_MUCH);
}

static void positions_stay_within(void **state)
{
    (void)state;
    assert_int_equal(lt_add_within(-3, 5), 2);
    assert_int_equal(lt_add_within(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(lt_add_within(INT64_MIN, -1), INT64_MIN);
    assert_int_equal(lt_sub_within(0, INT64_MIN), INT64_MAX);
    assert_int_equal(lt_sub_within(-2, INT64_MAX), INT64_MIN);
    assert_int_equal(lt_sub_within(-2, 3), -5);
    assert_int_equal(lt_mul_within(-4, 3), -12);
    assert_int_equal(lt_mul_within(INT64_MAX, 2), INT64_MAX);
    assert_int_equal(lt_mul_within(INT64_MAX, -2), INT64_MIN);
    assert_int_equal(lt_mul_within(INT64_MIN, -1), INT64_MAX);
}

static void parts_hold_all(void **state)
{
    (void)state;
    assert_int_equal(lt_parts(0, 3), 0);
    assert_int_equal(lt_parts(6, 3), 2);
    assert_int_equal(lt_parts(7, 3), 3);
    assert_int_equal(lt_parts(INT64_MAX, 2), (INT64_C(1) << 62));
    assert_int_equal(lt_parts(5, INT64_MAX), 1);
}

static void arrays_need_a_size_that_is_a_number(void **state)
{
    (void)state;
    size_t capacity;
    int64_t *a = lt_mem_array(0, sizeof *a); /* never NULL */
    assert_non_null(a);
    lt_mem_free(a);
    a = lt_mem_zarray(1000, sizeof *a);
    assert_non_null(a);
    for (int i = 0; i < 1000; i++) assert_int_equal(a[i], 0);
    a[999] = 7;
    a = lt_mem_rearray(a, 2000, sizeof *a);
    assert_non_null(a);
    assert_int_equal(a[999], 7);
    assert_null(lt_mem_rearray(a, INT64_MAX / 8 + 1, sizeof *a)); /* the old one stays */
    assert_int_equal(a[999], 7);
    lt_mem_free(a);
    const int64_t counts[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 8 + 1, INT64_C(1) << 62};
    for (int i = 0; i < 5; i++) {
        assert_null(lt_mem_array(counts[i], 8));
        assert_null(lt_mem_zarray(counts[i], 8));
        assert_null(lt_block_array(counts[i], 8, &capacity));
        assert_non_null(strstr(lt_error_message(), "out of memory"));
    }
}

static void tensors_need_one_too(void **state)
{
    (void)state;
    int64_t n = -1;
    assert_int_equal(lt_check_sizes(3, (int64_t[]){INT64_C(1) << 32, INT64_C(1) << 32, 1}, &n),
                     LT_ERR_RUNTIME);
    assert_int_equal(lt_check_sizes(2, (int64_t[]){INT64_C(1) << 30, INT64_C(1) << 30}, &n),
                     LT_ERR_RUNTIME);
    assert_int_equal(lt_check_sizes(2, (int64_t[]){3, -1}, &n), LT_ERR_RUNTIME);
    assert_int_equal(lt_check_sizes(3, (int64_t[]){0, INT64_C(1) << 62, INT64_C(1) << 62}, &n),
                     LT_ERR_RUNTIME);
    assert_int_equal(lt_check_sizes(3, (int64_t[]){INT64_C(1) << 62, INT64_C(1) << 62, 0}, &n),
                     LT_ERR_RUNTIME);
    assert_int_equal(n, -1);
    assert_int_equal(lt_check_sizes(2, (int64_t[]){INT64_C(1) << 61, 0}, &n), LT_OK);
    assert_int_equal(n, 0);
    assert_int_equal(lt_check_sizes(0, NULL, &n), LT_OK);
    assert_int_equal(n, 1);
    assert_int_equal(lt_check_sizes(1, (int64_t[]){INT64_MAX / 16}, &n), LT_OK);
    assert_int_equal(lt_check_sizes(1, (int64_t[]){INT64_MAX / 16 + 1}, &n), LT_ERR_RUNTIME);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

#define MIB ((size_t)1 << 20)

static void a_freed_block_is_handed_out_again(void **state)
{
    (void)state;
    size_t capacity, again;
    lt_block_trim();
    void *p = lt_block_alloc(3 * MIB, &capacity);
    assert_non_null(p);
    assert_true(capacity >= 3 * MIB);
    lt_block_free(p, capacity);
    assert_int_equal(lt_block_cached(), capacity);
    void *q = lt_block_alloc(3 * MIB - 100, &again); /* of the same class */
    assert_ptr_equal(q, p);
    assert_int_equal(again, capacity);
    assert_int_equal(lt_block_cached(), 0);
    lt_block_free(q, again);
    lt_block_trim();
    assert_int_equal(lt_block_cached(), 0);
}

static void blocks_are_aligned_and_large_enough(void **state)
{
    (void)state;
    for (size_t n = 0; n < 5 * MIB; n = n * 3 / 2 + 1) {
        size_t capacity;
        char *p = lt_block_alloc(n, &capacity);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        assert_true(capacity >= n);
        memset(p, 1, capacity);
        lt_block_free(p, capacity);
    }
    lt_block_trim();
}

/* Blocks of one size after another: what is kept of them never passes the limit. */
static void what_is_kept_is_bounded(void **state)
{
    (void)state;
    void *blocks[40];
    size_t capacity[40];
    lt_block_trim();
    for (int i = 0; i < 40; i++) {
        blocks[i] = lt_block_alloc((size_t)(8 + i % 5) * MIB, &capacity[i]);
        assert_non_null(blocks[i]);
    }
    for (int i = 0; i < 40; i++) {
        lt_block_free(blocks[i], capacity[i]);
        assert_true(lt_block_cached() <= LT_BLOCK_CACHE_MAX);
    }
    assert_true(lt_block_cached() > 0);
    size_t large;
    lt_block_trim();
    void *p = lt_block_alloc(LT_BLOCK_CACHE_MAX + MIB, &large); /* alone too large to be kept */
    assert_non_null(p);
    lt_block_free(p, large);
    assert_int_equal(lt_block_cached(), 0);
}

static void what_is_held_is_counted(void **state)
{
    (void)state;
    const int64_t before = lt_mem_live();
    size_t small, large;
    void *a = lt_block_alloc(100, &small), *b = lt_block_alloc(MIB, &large);
    assert_int_equal(lt_mem_live(), before + (int64_t)(small + large));
    lt_block_free(a, small);
    lt_block_free(b, large);
    assert_int_equal(lt_mem_live(), before);
}

/* Sixteen sizes per power of two: at most a seventeenth of a block is not asked for, and what is
 * asked for in between is the same size. */
static void sizes_come_in_classes(void **state)
{
    (void)state;
    size_t before = 0;
    int classes = 0;
    for (size_t n = 64 * 1024 + 1; n <= 4 * MIB; n += 4096) {
        size_t capacity;
        void *p = lt_block_alloc(n, &capacity);
        assert_non_null(p);
        assert_true(capacity >= n && capacity - n <= capacity / 17 && capacity >= before);
        classes += capacity != before;
        before = capacity;
        lt_block_free(p, capacity);
        assert_true(lt_block_cached() >= capacity);
        lt_block_trim();
    }
    assert_int_equal(classes, 16 * 6); /* from 64 KiB to 4 MiB */
    lt_block_trim();
}

static void a_pool_serves_repeated_requests_and_nothing_else(void **state)
{
    (void)state;
    static const size_t sizes[] = {100, 5000, MIB, 5000};
    void *first[4], *again[4];
    size_t capacities[4];
    lt_block_pool pool = {NULL, 0, 0};
    const int64_t held = lt_mem_live();
    lt_block_trim();
    assert_null(lt_block_pool_enter(&pool));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++) {
            again[i] = lt_block_alloc(sizes[i], &capacities[i]);
            assert_non_null(again[i]);
        }
        for (int i = 0; i < 4 && round == 1; i++)
            assert_true(again[i] == first[i] || (i % 2 == 1 && again[i] == first[4 - i]));
        assert_true(lt_mem_live() >= held + (int64_t)MIB + 10100);
        for (int i = 0; i < 4; i++) lt_block_free(first[i] = again[i], capacities[i]);
        assert_int_equal(pool.n, 4);
        assert_int_equal(lt_mem_live(), held);
        assert_int_equal(lt_block_cached(), 0);
    }
    assert_ptr_equal(lt_block_pool_enter(NULL), &pool);
    void *other = lt_block_alloc(MIB, capacities);
    assert_ptr_not_equal(other, first[2]);
    lt_block_free(other, capacities[0]);
    assert_int_equal(pool.n, 4);
    lt_block_trim();
    lt_block_pool_clear(&pool);
    assert_true(lt_block_cached() >= MIB);
    assert_int_equal(pool.n, 0);
    lt_block_trim();
}

/* A kept block serves what is up to a quarter smaller, as the block that it is. */
static void a_block_is_handed_out_for_a_little_less(void **state)
{
    (void)state;
    size_t capacity, other;
    lt_block_trim();
    void *p = lt_block_alloc(5 * MIB, &capacity);
    lt_block_free(p, capacity);
    const int64_t held = lt_mem_live();
    void *q = lt_block_alloc(4 * MIB + 1, &other);
    assert_ptr_equal(q, p);
    assert_int_equal(other, capacity);
    assert_int_equal(lt_block_cached(), 0);
    assert_int_equal(lt_mem_live(), held + (int64_t)capacity);
    lt_block_free(q, other);
    q = lt_block_alloc(3 * MIB, &other);
    assert_int_equal(other, 3 * MIB);
    assert_int_equal(lt_block_cached(), capacity);
    assert_int_equal(lt_mem_live(), held + 3 * (int64_t)MIB);
    lt_block_free(q, other);
    lt_block_trim();
}

/* Where that would pass a limit a block of the right size is made. */
static void a_larger_block_does_not_pass_a_limit(void **state)
{
    (void)state;
    size_t capacity, other;
    lt_context *context = lt_context_current();
    lt_block_trim();
    void *p = lt_block_alloc(5 * MIB, &capacity);
    lt_block_free(p, capacity);
    assert_int_equal(
        lt_context_set_memory_limit(context, lt_host, lt_mem_live() + 4 * (int64_t)MIB), LT_OK);
    p = lt_block_alloc(4 * MIB, &other);
    assert_non_null(p);
    assert_int_equal(other, 4 * MIB);
    assert_int_equal(lt_block_cached(), 0); /* the kept one counts against the limit as well */
    lt_block_free(p, other);
    assert_int_equal(lt_context_set_memory_limit(context, lt_host, INT64_MAX), LT_OK);
    lt_block_trim();
}

static void the_most_that_was_held_is_told_once(void **state)
{
    (void)state;
    size_t a, b;
    lt_mem_reset_peak();
    const int64_t held = lt_mem_live();
    void *p = lt_block_alloc(MIB, &a), *q = lt_block_alloc(2 * MIB, &b);
    lt_block_free(p, a);
    assert_int_equal(lt_mem_reset_peak(), held + 3 * (int64_t)MIB);
    assert_int_equal(lt_mem_reset_peak(), held + 2 * (int64_t)MIB);
    lt_block_free(q, b);
    lt_block_trim();
}

static void blocks_of_another_class_are_not_handed_out(void **state)
{
    (void)state;
    size_t capacity, other;
    lt_block_trim();
    void *p = lt_block_alloc(MIB, &capacity);
    lt_block_free(p, capacity);
    void *q = lt_block_alloc(MIB + 1, &other);
    assert_true(other > capacity);
    assert_int_equal(lt_block_cached(), capacity);
    lt_block_free(q, other);
    assert_int_equal(lt_block_cached(), capacity + other);
    lt_block_trim();
}

static void small_blocks_are_not_kept(void **state)
{
    (void)state;
    size_t capacity;
    lt_block_trim();
    void *p = lt_block_alloc(1024, &capacity);
    assert_int_equal(capacity, 1024);
    lt_block_free(p, capacity);
    assert_int_equal(lt_block_cached(), 0);
    lt_block_free(NULL, 12345);                              /* nothing */
    assert_null(lt_block_alloc((size_t)1 << 48, &capacity)); /* there is not as much */
    assert_non_null(strstr(lt_error_message(), "out of memory"));
}

/* Those of some pages too, which come from malloc. */
static void blocks_of_pages_are_kept(void **state)
{
    (void)state;
    size_t capacity, again;
    lt_block_trim();
    for (size_t n = 1025; n <= 64 * 1024; n += 3000) {
        void *p = lt_block_alloc(n, &capacity);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        assert_true(capacity >= n && capacity <= n + n / 4 + 64);
        lt_block_free(p, capacity);
        assert_int_equal(lt_block_cached(), capacity);
        assert_ptr_equal(lt_block_alloc(n, &again), p);
        assert_int_equal(again, capacity);
        assert_int_equal(lt_block_cached(), 0);
        lt_block_free(p, capacity);
        lt_block_trim();
        assert_int_equal(lt_block_cached(), 0);
    }
}

/* A block that does not fit evicts the blocks that were freed first, and no others. */
static void a_full_cache_evicts_the_oldest_blocks(void **state)
{
    (void)state;
    enum { N = 4 };
    char *blocks[N];
    size_t capacity[N], again;
    lt_block_trim();
    const size_t quarter = LT_BLOCK_CACHE_MAX / N;
    for (int i = 0; i < N; i++) blocks[i] = lt_block_alloc(quarter, &capacity[i]);
    for (int i = 0; i < N; i++) lt_block_free(blocks[i], capacity[i]);
    assert_int_equal(lt_block_cached(), LT_BLOCK_CACHE_MAX); /* all fit, just */
    char *reused = lt_block_alloc(quarter, &again);
    assert_ptr_equal(reused, blocks[N - 1]); /* the block that was freed last */
    lt_block_free(reused, again);
    size_t small;
    char *p = lt_block_alloc(MIB, &small);
    lt_block_free(p, small);
    assert_int_equal(lt_block_cached(), (N - 1) * quarter + MIB);
    for (int i = N - 1; i > 0; i--) { /* the first block is gone, the others are left */
        assert_ptr_equal(lt_block_alloc(quarter, &again), blocks[i]);
        assert_int_equal(again, quarter);
    }
    assert_int_equal(lt_block_cached(), MIB);
    assert_ptr_equal(lt_block_alloc(MIB, &again), p);
    lt_block_free(p, small);
    for (int i = 1; i < N; i++) lt_block_free(blocks[i], capacity[i]);
    char *whole = lt_block_alloc(LT_BLOCK_CACHE_MAX, &again);
    lt_block_free(whole, again);
    assert_int_equal(lt_block_cached(), LT_BLOCK_CACHE_MAX); /* it evicts all others */
    lt_block_trim();
    assert_int_equal(lt_block_cached(), 0);
}

/* Blocks leave the middle of a bin and of the order of ages, too. */
static void evicted_blocks_leave_both_lists(void **state)
{
    (void)state;
    const size_t sizes[] = {48 * MIB, 64 * MIB, 48 * MIB, 64 * MIB, 48 * MIB};
    char *blocks[5];
    size_t capacity[5], again;
    lt_block_trim();
    for (int i = 0; i < 5; i++) blocks[i] = lt_block_alloc(sizes[i], &capacity[i]);
    for (int i = 0; i < 4; i++) lt_block_free(blocks[i], capacity[i]);
    lt_block_free(blocks[4], capacity[4]); /* 272 MiB: evicts the first */
    assert_int_equal(lt_block_cached(), 224 * MIB);
    assert_ptr_equal(lt_block_alloc(48 * MIB, &again), blocks[4]);
    assert_ptr_equal(lt_block_alloc(48 * MIB, &again), blocks[2]); /* between two others */
    assert_int_equal(lt_block_cached(), 128 * MIB);
    char *p = lt_block_alloc(208 * MIB, &again);
    lt_block_free(p, again); /* evicts both that are left, from the oldest on */
    assert_int_equal(lt_block_cached(), 208 * MIB);
    lt_block_free(blocks[2], capacity[2]);
    assert_int_equal(lt_block_cached(), 256 * MIB);
    lt_block_free(blocks[4], capacity[4]);
    assert_int_equal(lt_block_cached(), 96 * MIB);
    lt_block_trim();
    assert_int_equal(lt_block_cached(), 0);
}

typedef struct handed {
    void *p;
    size_t capacity;
} handed;

static void *give_from_here(void *argument)
{
    handed *h = argument;
    lt_block_free(h->p, h->capacity);
    lt_freelist_free(lt_freelist_alloc(100), 100); /* kept by this thread, freed at its end */
    return NULL;
}

static void a_block_given_by_another_thread_is_handed_out(void **state)
{
    (void)state;
    handed h;
    size_t capacity;
    pthread_t thread;
    const int64_t before = lt_mem_live();
    lt_block_trim();
    h.p = lt_block_alloc(MIB, &h.capacity);
    assert_int_equal(pthread_create(&thread, NULL, give_from_here, &h), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(lt_mem_live(), before); /* both threads are in the process's context */
    assert_int_equal(lt_block_cached(), h.capacity);
    void *p = lt_block_alloc(MIB, &capacity);
    assert_ptr_equal(p, h.p);
    lt_block_free(p, capacity);
    lt_block_trim();
}

static _Atomic bool stop;

static void *take_and_give(void *unused)
{
    while (!stop) {
        size_t capacity;
        void *p = lt_block_alloc(MIB, &capacity);
        lt_block_free(p, capacity);
    }
    return unused;
}

/* A process that is forked while another thread is in the middle of it has a cache that works. */
static void a_forked_process_has_its_own(void **state)
{
    (void)state;
    pthread_t thread;
    stop = false;
    assert_int_equal(pthread_create(&thread, NULL, take_and_give, NULL), 0);
    for (int i = 0; i < 20; i++) {
        const pid_t child = fork();
        if (child == 0) {
            size_t capacity;
            alarm(20);
            void *p = lt_block_alloc(MIB, &capacity);
            lt_block_free(p, capacity);
            lt_block_trim();
            _exit(p != NULL && lt_block_cached() == 0 ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    stop = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    lt_block_trim();
}

static void structs_are_kept_by_their_size(void **state)
{
    (void)state;
#if !defined(__SANITIZE_ADDRESS__)
    void *p = lt_freelist_alloc(100), *large = lt_freelist_alloc(5000);
    lt_freelist_free(p, 100);
    void *other = lt_freelist_alloc(200);
    assert_ptr_not_equal(other, p);              /* another size */
    assert_ptr_equal(lt_freelist_alloc(128), p); /* 100 and 128 bytes are the same piece */
    void *next = lt_freelist_alloc(128);
    assert_ptr_not_equal(next, p); /* which is handed out once */
    lt_freelist_free(next, 128);
    lt_freelist_free(p, 128);
    lt_freelist_free(other, 200);
    lt_freelist_free(large, 5000); /* too large to be kept */
#endif
    lt_mem_fail_after(1);
    assert_null(lt_freelist_alloc(100)); /* also of those that are kept */
    assert_non_null(strstr(lt_error_message(), "out of memory: you tried to allocate 100 bytes"));
}

/* ---- limits, and the interpreter ------------------------------------------------------------- */

static int collections;
static void *garbage; /* what the interpreter below can do without */
static size_t garbage_capacity;

static void collect(void *ctx)
{
    assert_ptr_equal(ctx, &collections);
    collections++;
    assert_false(lt_mem_reclaim()); /* not within itself */
    lt_block_free(garbage, garbage_capacity);
    garbage = NULL;
}

static void nobody(void *ctx, char *buffer, size_t n)
{
    (void)ctx;
    if (n > 0) buffer[0] = '\0';
}

static const lt_host_binding_class interpreter = {1, collect, NULL, nobody};

static void an_interpreter_is_asked_to_collect(void **state)
{
    (void)state;
    collections = 0;
    assert_false(lt_mem_reclaim()); /* nobody has called */
    lt_tls.binding = (lt_host_binding){&interpreter, &collections};
    assert_true(lt_mem_reclaim());
    assert_int_equal(collections, 1);
    lt_tls.binding = (lt_host_binding){NULL, NULL};
}

/* What would pass the limit of the context is tried again after a collection, then refused. What is
 * kept does not count. */
static void a_limit_asks_and_refuses(void **state)
{
    (void)state;
    lt_context *mine = NULL;
    lt_context_config config = lt_context_defaults();
    size_t capacity;
    config.memory_limit = 4 << 20;
    assert_int_equal(lt_context_new(&config, &mine), LT_OK);
    lt_context *before = lt_context_enter(mine);
    collections = 0;
    lt_tls.binding = (lt_host_binding){&interpreter, &collections};
    garbage = lt_block_alloc(3 * MIB, &garbage_capacity);
    void *p = lt_block_alloc(2 * MIB, &capacity); /* only without the garbage */
    assert_non_null(p);
    assert_null(garbage);
    assert_int_equal(collections, 1);
    assert_int_equal(lt_mem_live(), capacity);
    size_t more;
    assert_null(lt_block_alloc(3 * MIB, &more));
    assert_int_equal(collections, 2);
    assert_non_null(
        strstr(lt_error_message(),
               "the limit is 4194304 bytes of host memory, of which 2097152 are in use"));
    assert_int_equal(lt_mem_live(), capacity);
    lt_block_free(p, capacity);
    p = lt_block_alloc(4 * MIB, &capacity); /* all of it */
    assert_non_null(p);
    assert_int_equal(lt_mem_live(), 4 * MIB);
    lt_block_free(p, capacity);
    assert_int_equal(lt_mem_live(), 0);
    lt_tls.binding = (lt_host_binding){NULL, NULL};
    lt_context_enter(before);
    lt_context_release(mine);
    lt_block_trim();
}

/* What the interpreter's collector is paced by: of 80 GB of a device 16 bytes weigh as one of the
 * host, of 2 GB each does. */
static void bytes_of_a_large_device_weigh_less(void **state)
{
    (void)state;
    const int large = LT_USE_DEVICE(LT_MAX_DEVICES - 1), little = LT_USE_DEVICE(LT_MAX_DEVICES - 2);
    const int64_t before = lt_mem_gc_pressure(), live = lt_mem_live(), megabyte = 1 << 20;
    assert_false(lt_mem_has_device_size(large));
    lt_mem_set_device_size(large, INT64_C(80) << 30);
    lt_mem_set_device_size(little, INT64_C(2) << 30);
    assert_true(lt_mem_has_device_size(large));
    const uint64_t allocated = lt_tls.context->allocated[LT_PACE_DEVICES];
    assert_true(lt_mem_charge(large, 64 * megabyte) && lt_mem_charge(little, 64 * megabyte));
    assert_int_equal(lt_mem_live() - live, 128 * megabyte);
    assert_int_equal(lt_mem_gc_pressure() - before, 4 * megabyte + 64 * megabyte);
    assert_int_equal(lt_tls.context->allocated[LT_PACE_DEVICES] - allocated,
                     4 * megabyte + 64 * megabyte);
    assert_true(lt_mem_charge(large, -64 * megabyte) && lt_mem_charge(little, -64 * megabyte));
    assert_int_equal(lt_mem_gc_pressure(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_multiplied),
        cmocka_unit_test(sizes_are_added),
        cmocka_unit_test(positions_stay_within),
        cmocka_unit_test(parts_hold_all),
        cmocka_unit_test(arrays_need_a_size_that_is_a_number),
        cmocka_unit_test(tensors_need_one_too),
        cmocka_unit_test(a_freed_block_is_handed_out_again),
        cmocka_unit_test(blocks_are_aligned_and_large_enough),
        cmocka_unit_test(what_is_kept_is_bounded),
        cmocka_unit_test(what_is_held_is_counted),
        cmocka_unit_test(sizes_come_in_classes),
        cmocka_unit_test(a_pool_serves_repeated_requests_and_nothing_else),
        cmocka_unit_test(a_block_is_handed_out_for_a_little_less),
        cmocka_unit_test(a_larger_block_does_not_pass_a_limit),
        cmocka_unit_test(the_most_that_was_held_is_told_once),
        cmocka_unit_test(blocks_of_another_class_are_not_handed_out),
        cmocka_unit_test(small_blocks_are_not_kept),
        cmocka_unit_test(blocks_of_pages_are_kept),
        cmocka_unit_test(a_full_cache_evicts_the_oldest_blocks),
        cmocka_unit_test(evicted_blocks_leave_both_lists),
        cmocka_unit_test(a_block_given_by_another_thread_is_handed_out),
        cmocka_unit_test(a_forked_process_has_its_own),
        cmocka_unit_test(structs_are_kept_by_their_size),
        cmocka_unit_test(an_interpreter_is_asked_to_collect),
        cmocka_unit_test(a_limit_asks_and_refuses),
        cmocka_unit_test(bytes_of_a_large_device_weigh_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
