/* mapped_file_test.c - lt_tensor_from_file from C: what is written and what stays, failing
 * allocations, wrong arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ltensor.h"
#include "memory/system.h"

static char folder[] = "/tmp/mapped_file_test.XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(path, sizeof path, "%s/numbers", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static float stored(int i)
{
    float value = -1;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &value, sizeof value, i * (off_t)sizeof value), sizeof value);
    close(fd);
    return value;
}

static void a_shared_file_is_written_and_a_private_one_is_not(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    assert_int_equal(lt_tensor_from_file(path, true, 4, LT_FLOAT32, &t), LT_OK);
    assert_int_equal(lt_tensor_numel(t), 4);
    ((float *)lt_tensor_data(t))[3] = 7;
    lt_tensor_release(t);
    assert_true(stored(3) == 7);
    assert_int_equal(lt_tensor_from_file(path, false, 4, LT_FLOAT32, &t), LT_OK);
    assert_true(((float *)lt_tensor_data(t))[3] == 7);
    ((float *)lt_tensor_data(t))[3] = 8;
    lt_tensor_release(t);
    assert_true(stored(3) == 7);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    unlink(path);
    for (int64_t n = 1; t == NULL; n++) {
        lt_mem_fail_after(n);
        const lt_status status = lt_tensor_from_file(path, true, 4, LT_FLOAT32, &t);
        lt_mem_fail_after(0);
        if (status == LT_OK) break;
        assert_int_equal(status, LT_ERR_MEMORY);
        assert_null(t);
        assert_int_not_equal(access(path, F_OK), 0); /* what was made in vain is gone */
        assert_true(n < 10);
    }
    lt_tensor_release(t);
    assert_int_equal(access(path, F_OK), 0);
}

static void wrong_arguments_are_errors(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    assert_int_equal(lt_tensor_from_file(NULL, true, 4, LT_FLOAT32, &t), LT_ERR_TYPE);
    assert_int_equal(lt_tensor_from_file(path, true, 4, LT_FLOAT32, NULL), LT_ERR_TYPE);
    assert_int_equal(lt_tensor_from_file(path, true, 4, LT_DTYPE_COUNT, &t), LT_ERR_TYPE);
    assert_int_equal(lt_tensor_from_file(path, true, 4, LT_DTYPE_NONE, &t), LT_ERR_TYPE);
    assert_int_equal(lt_tensor_from_file(path, true, -1, LT_FLOAT32, &t), LT_ERR_RUNTIME);
    assert_int_equal(lt_tensor_from_file(path, true, INT64_MAX, LT_FLOAT32, &t), LT_ERR_RUNTIME);
    assert_int_equal(lt_tensor_from_file(path, false, 5, LT_FLOAT32, &t), LT_ERR_IO);
    assert_non_null(strstr(lt_error_message(), path));
    assert_int_equal(lt_tensor_from_file(folder, false, 1, LT_FLOAT32, &t), LT_ERR_IO);
    assert_int_equal(lt_tensor_from_file("/nowhere/x", true, 1, LT_FLOAT32, &t), LT_ERR_IO);
    assert_null(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shared_file_is_written_and_a_private_one_is_not),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(wrong_arguments_are_errors),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
