/* protect_test.c - with LTENSOR_SIM_PROTECT the memory of a simulated GPU is out of the host's
 * reach: code that takes a GPU tensor for one of the host's is killed where it does so, and ops are
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devices/transfer.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "find_backend.h"
#include "tensor.h"
#include "op/_to_copy.h"
#include "op/full.h"
#include "op/sum.h"

/* How a child ends that reads the tensor's first element as the host's: 0, or a signal's number. */
static int signal_of_reading(const lt_tensor *t)
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*(volatile const float *)lt_data(t) == 12345);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void the_host_cannot_read_a_gpu(void **state)
{
    (void)state;
    const lt_dims sizes = {.n = 2, .v = {3, 4}};
    const lt_device gpu = {LT_CUDA, 0};
    lt_tensor *there = NULL, *sum = NULL, *here = NULL;
    lt_scalar value;
    if (lt_full(&sizes, lt_scalar_from_float(2), LT_FLOAT32, &gpu, &there) != LT_OK)
        fail_msg("%s", lt_error_message());
    assert_int_equal(lt_sum(there, LT_DTYPE_NONE, &sum), LT_OK);
    assert_int_equal(lt_tensor_item(sum, &value), LT_OK);
    assert_float_equal(lt_scalar_double(value), 24, 0);
    assert_int_equal(lt__to_copy(there, LT_DTYPE_NONE, &lt_host, false, &here), LT_OK);
    assert_int_equal(signal_of_reading(here), 0);
    assert_int_equal(signal_of_reading(there), SIGSEGV);
    lt_tensor_release(there);
    lt_tensor_release(sum);
    lt_tensor_release(here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_host_cannot_read_a_gpu)};
    find_backend();
    setenv("LTENSOR_SIM_GPUS", "1", 1);
    setenv("LTENSOR_SIM_PROTECT", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
