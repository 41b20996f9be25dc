/* allocator_test.c - a host that gives the library its memory. A program of its own, since that
 * comes before everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdatomic.h>

#undef LT_OPS_BY_NAME
#include "ltensor.h"

typedef struct host {
    _Atomic int64_t structs, blocks, bytes; /* that are out */
    int64_t most;                           /* of bytes; then there are no more */
} host;

static void *resize(void *user, void *old, size_t bytes)
{
    host *h = user;
    if (old == NULL) h->structs++;
    if (bytes > 0) return realloc(old, bytes);
    h->structs--;
    free(old);
    return NULL;
}

static void *take_block(void *user, size_t bytes)
{
    host *h = user;
    if (h->bytes + (int64_t)bytes > h->most) return NULL;
    h->blocks++;
    h->bytes += (int64_t)bytes;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void give_block(void *user, void *block, size_t bytes)
{
    host *h = user;
    h->blocks--;
    h->bytes -= (int64_t)bytes;
    free(block);
}

static host mine = {.most = 64 << 20};
static const lt_allocator allocator = {sizeof allocator, &mine, resize, take_block, give_block};

static void all_memory_is_the_hosts(void **state)
{
    (void)state;
    lt_tensor *t = NULL, *doubled = NULL;
    const lt_dims sizes = {1, {1000000}};
    lt_allocator wrong = allocator;
    wrong.size = 8;
    assert_int_equal(lt_set_allocator(&wrong), LT_ERR_TYPE);
    wrong = allocator;
    wrong.take_block = NULL;
    assert_int_equal(lt_set_allocator(&wrong), LT_ERR_TYPE);
    assert_int_equal(lt_set_allocator(&allocator), LT_OK);

    assert_int_equal(lt_ones(&sizes, LT_FLOAT32, NULL, &t), LT_OK);
    assert_int_equal(mine.blocks, 1);
    assert_true(mine.bytes >= 4000000);
    assert_int_equal((uintptr_t)lt_tensor_data(t) % 64, 0);
    assert_int_equal(lt_tensor_set_requires_grad(t, true), LT_OK);
    assert_int_equal(lt_mul(t, t, &doubled), LT_OK);
    assert_int_equal(mine.blocks, 2);
    assert_true(mine.structs > 2);
    lt_tensor_release(t);
    lt_tensor_release(doubled);
    assert_int_equal(mine.blocks, 0);
    assert_int_equal(mine.bytes, 0);
}

static void what_the_host_refuses_is_reported(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    const lt_dims sizes = {1, {100000000}};
    assert_int_equal(lt_ones(&sizes, LT_FLOAT32, NULL, &t), LT_ERR_MEMORY);
    assert_non_null(strstr(lt_error_message(), "out of memory"));
    assert_null(t);
    assert_int_equal(mine.blocks, 0);
}

static void it_is_too_late_afterwards(void **state)
{
    (void)state;
    assert_int_equal(lt_set_allocator(&allocator), LT_ERR_RUNTIME);
    assert_non_null(strstr(lt_error_message(), "before"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_memory_is_the_hosts),
        cmocka_unit_test(what_the_host_refuses_is_reported),
        cmocka_unit_test(it_is_too_late_afterwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
