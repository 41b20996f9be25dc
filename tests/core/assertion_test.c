/* assertion_test.c - a broken invariant ends the process with a message that names it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assertion.h"
#include "ltensor.h"
#include "tensor.h"

/* Calls the function in a child process. Returns the signal that ended it, 0 if none did, and what
 * it wrote to stderr. */
static int run_in_child(void (*function)(void), char *text, size_t size)
{
    int pipe_ends[2], status;
    assert_int_equal(pipe(pipe_ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGABRT, SIG_DFL);
        dup2(pipe_ends[1], STDERR_FILENO);
        function();
        _exit(0);
    }
    close(pipe_ends[1]);
    size_t n = 0;
    for (ssize_t got; (got = read(pipe_ends[0], text + n, size - 1 - n)) > 0;) n += (size_t)got;
    text[n] = '\0';
    close(pipe_ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void retain_released(void)
{
    lt_tensor *t = NULL;
    if (lt_tensor_new(LT_FLOAT32, lt_host, 0, NULL, &t) != LT_OK) return;
    atomic_store(&t->refs, 0);
    lt_tensor_retain(t);
}

static void a_failed_assertion_prints_file_line_expression_and_values(void **state)
{
    char text[1000];
    (void)state;
    if (!LT_ASSERTIONS) skip();
    assert_int_equal(run_in_child(retain_released, text, sizeof text), SIGABRT);
    assert_non_null(strstr(text, "src/core/tensor.c:"));
    assert_non_null(strstr(text, ": assertion failed: t->refs > 0; refs 0\n"));
}

static void hold(void)
{
    int calls = 0;
    LT_ASSERT(++calls > 0 || LT_ASSERTIONS == 0, "calls %d", calls);
    if (calls != LT_ASSERTIONS) _exit(1);
}

static void an_assertion_that_holds_goes_on_and_is_absent_with_assert_no(void **state)
{
    char text[100];
    (void)state;
    assert_int_equal(run_in_child(hold, text, sizeof text), 0);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_assertion_prints_file_line_expression_and_values),
        cmocka_unit_test(an_assertion_that_holds_goes_on_and_is_absent_with_assert_no),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
