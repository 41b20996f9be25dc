/* user_index_test.c - dimensions, indices and entries in messages count as their caller counts: from
 * 0 for a host, in the words of PyTorch where it has some, and from 1 for an interpreter whose
 * first is 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#undef LT_OPS_BY_NAME
#include "context/context.h"
#include "user_index.h"
#include "devices/backend.h"
#include "expect.h"
#include "find_backend.h"
#include "ltensor.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static const lt_device cpu = {LT_CPU, 0};

static void collect(void *ctx) { (void)ctx; }
static void nowhere(void *ctx, char *buffer, size_t n)
{
    (void)ctx;
    if (n > 0) buffer[0] = '\0';
}
static const lt_host_binding_class interpreter = {1, collect, NULL, nowhere};

static void call_as(const lt_host_binding_class *class)
{
    lt_tls.binding = (lt_host_binding){class, NULL};
}

/* ---- what operations are given --------------------------------------------------------------- */

static lt_tensor *x, *y, *square, *cube, *empty, *number, *at, *classes, *singular, *two[2], *bags,
    *offsets;

static lt_tensor *zeros(lt_dtype dtype, int ndim, const int64_t *sizes)
{
    lt_tensor *t = NULL;
    lt_dims dims = {.n = ndim};
    for (int d = 0; d < ndim; d++) dims.v[d] = sizes[d];
    assert_ok(lt_zeros(&dims, dtype, NULL, &t));
    return t;
}

static lt_tensor *whole(int n, const int64_t *values)
{
    lt_tensor *t = NULL;
    assert_ok(lt_tensor_new(LT_INT64, cpu, 1, (const int64_t[]){n}, &t));
    assert_ok(lt_tensor_copy_from(t, values, (size_t)n * sizeof *values));
    return t;
}

#define SIZES(...)                                                                                 \
    COUNT(((int64_t[]){__VA_ARGS__})), (const int64_t[]) { __VA_ARGS__ }

static lt_tensor **const all[] = {&x,  &y,       &square,   &cube, &empty,  &number,
                                  &at, &classes, &singular, &bags, &offsets};

static int setup(void **state)
{
    (void)state;
    x = zeros(LT_FLOAT32, SIZES(2, 3));
    y = zeros(LT_FLOAT32, SIZES(2, 5));
    square = zeros(LT_FLOAT32, SIZES(3, 3));
    cube = zeros(LT_FLOAT32, SIZES(2, 3, 4));
    singular = zeros(LT_FLOAT32, SIZES(2, 3, 3));
    empty = zeros(LT_FLOAT32, SIZES(2, 0));
    number = zeros(LT_FLOAT32, 0, NULL);
    at = whole(SIZES(0, 7));
    classes = whole(SIZES(1, 3));
    bags = whole(SIZES(0, 1));
    offsets = whole(SIZES(1, 0));
    two[0] = x, two[1] = y;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(all); i++) lt_tensor_release(*all[i]);
    return 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* The call fails, for a host and for an interpreter, and says so. */
static void says(const lt_value *args, int n, const char *op, const char *host, const char *guest)
{
    lt_value results[4];
    int n_results = 4;
    for (int i = 0; i < 4; i++) results[i] = lt_value_none();
    assert_int_not_equal(lt_call(op, args, n, NULL, 0, results, &n_results), LT_OK);
    if (strstr(lt_error_message(), host) == NULL)
        fail_msg("%s says to a host: %s", op, lt_error_message());
    call_as(&interpreter);
    assert_int_not_equal(lt_call(op, args, n, NULL, 0, results, &n_results), LT_OK);
    call_as(NULL);
    if (strstr(lt_error_message(), guest) == NULL)
        fail_msg("%s says to an interpreter: %s", op, lt_error_message());
}

#define T(t)      lt_value_tensor(t)
#define I(i)      lt_value_int(i)
#define DIMS(...) lt_value_dims(SIZES(__VA_ARGS__))
#define ARGS(...) (const lt_value[]){__VA_ARGS__}, COUNT(((const lt_value[]){__VA_ARGS__}))

static void dimensions(void **state)
{
    (void)state;
    says(ARGS(T(x), I(2)), "softmax",
         "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
         "Dimension out of range (expected to be in range of [1, 2] or [-2, -1], but got 3)");
    says(ARGS(T(x), I(-3)), "softmax", "in range of [-2, 1], but got -3)",
         "in range of [1, 2] or [-2, -1], but got -3)");
    says(ARGS(T(x), DIMS(1, 1)), "sum", "dim 1 appears multiple times in the list of dims",
         "dim 2 appears multiple times");
    says(
        ARGS(T(x), T(y)), "add",
        "The size of tensor a (3) must match the size of tensor b (5) at non-singleton dimension 1",
        "at non-singleton dimension 2");
    says(ARGS(T(x), DIMS(5, 3)), "expand",
         "must match the existing size (2) at non-singleton dimension 0",
         "at non-singleton dimension 1");
    says(ARGS(T(empty), I(1)), "argmax", "Expected reduction dim 1 to have non-zero size",
         "Expected reduction dim 2 to have");
    says(ARGS(T(x), I(1), DIMS(2, 2)), "unflatten", "the size of dim 1 (3)",
         "the size of dim 2 (3)");
    says(ARGS(T(x), I(1)), "nn.functional.glu",
         "Halving dimension must be even, but dimension 1 is size 3", "but dimension 2 is size 3");
    says(ARGS(T(x), I(0), I(0), I(0)), "diagonal", "diagonal dimensions cannot be identical 0, 0",
         "cannot be identical 1, 1");
    says(ARGS(T(cube), DIMS(2, 2), I(1)), "split", "(input tensor's size at dimension 1)",
         "(input tensor's size at dimension 2)");
    says(ARGS(T(x), I(1), I(4), I(1)), "unfold",
         "maximum size for tensor at dimension 1 is 3 but size is 4", "at dimension 2 is 3");
}

static void indices(void **state)
{
    (void)state;
    says(ARGS(T(x), I(1), I(3)), "select",
         "select(): index 3 out of range for tensor of size [2, 3] at dimension 1",
         "select(): index 4 out of range for tensor of size [2, 3] at dimension 2");
    says(ARGS(T(x), I(1), I(-4)), "select",
         "index -4 out of range for tensor of size [2, 3] at dimension 1", "index -4 out of range");
    says(ARGS(T(x), I(1), I(4), I(1)), "narrow",
         "start out of range (expected to be in range of [-3, 3], but got 4)",
         "(expected to be in range of [-3, 4], but got 5)");
    says(ARGS(T(x), I(1), I(2), I(2)), "narrow",
         "start (2) + length (2) exceeds dimension size (3)", "start (3) + length (2) exceeds");
    says(ARGS(T(x), I(1), T(at)), "index_select",
         "index 7 is out of bounds for dimension 1 with size 3",
         "index 8 is out of bounds for dimension 2 with size 3");
    says(ARGS(T(x), T(classes)), "nll_loss", "Target 3 is out of bounds",
         "Target 4 is out of bounds");
    says(ARGS(T(bags), T(x), T(offsets)), "nn.functional.embedding_bag",
         "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
         "position 0. However, got 1",
         "offsets[1] has to be 1, i.e., the first sequence in the mini-batch has to start from "
         "position 1. However, got 2");
}

static void entries_of_lists(void **state)
{
    (void)state;
    lt_tensor *with_number[] = {x, number}, *matrices[] = {x, cube, x};
    says(ARGS(lt_value_tensors(2, with_number)), "cat",
         "zero-dimensional tensor (at position 1) cannot be concatenated", "(at position 2)");
    says(ARGS(lt_value_tensors(2, two), I(0)), "cat",
         "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 5 for "
         "tensor number 1 in the list",
         "except in dimension 1. Expected size 3 but got size 5 for tensor number 2 in the list");
    says(ARGS(lt_value_tensors(2, two)), "stack", "got [2, 3] at entry 0 and [2, 5] at entry 1",
         "got [2, 3] at entry 1 and [2, 5] at entry 2");
    says(ARGS(lt_value_string("ij,ik"), lt_value_tensors(2, matrices)), "einsum", "for operand 1",
         "for operand 2");
    says(ARGS(lt_value_tensors(3, matrices)), "linalg_multi_dot", "tensor 1 must be 2D but got 3D",
         "tensor 2 must be 2D but got 3D");
    says(ARGS(T(singular)), "inverse", "(Batch element 0): The diagonal element 0 is zero",
         "(Batch element 1): The diagonal element 1 is zero");
}

/* The engine's own, also of operations that were recorded for somebody else. */
static void derivatives(void **state)
{
    (void)state;
    lt_tensor *leaf = zeros(LT_FLOAT32, SIZES(3)), *other = zeros(LT_FLOAT32, SIZES(3)),
              *result = NULL, *sum = NULL, *grad = NULL;
    assert_fails(lt_backward(leaf, NULL, false, false), LT_ERR_RUNTIME,
                 "element 0 of tensors does not require grad");
    assert_ok(lt_tensor_set_requires_grad(leaf, true));
    assert_ok(lt_tensor_set_requires_grad(other, true));
    call_as(&interpreter);
    assert_ok(lt_exp(leaf, &result));
    assert_ok(lt_sum(result, LT_DTYPE_NONE, &sum));
    assert_ok(lt_zero_(result)); /* what exp's derivative needs */
    assert_fails(lt_grad(&sum, 1, &other, 1, NULL, true, false, false, &grad), LT_ERR_RUNTIME,
                 "The differentiated Tensor at index 1");
    assert_fails(lt_backward(sum, NULL, true, false), LT_ERR_RUNTIME, "which is output 1 of Exp");
    call_as(NULL);
    assert_fails(lt_grad(&sum, 1, &other, 1, NULL, true, false, false, &grad), LT_ERR_RUNTIME,
                 "The differentiated Tensor at index 0");
    assert_fails(lt_backward(sum, NULL, true, false), LT_ERR_RUNTIME, "which is output 0 of Exp");
    lt_tensor_release(leaf);
    lt_tensor_release(other);
    lt_tensor_release(result);
    lt_tensor_release(sum);
}

/* A GPU finds out later, and says it to who waits. */
static void of_a_gpu(void **state)
{
    (void)state;
    const lt_device gpu = {LT_CUDA, 0};
    lt_tensor *there = NULL, *indices_there = NULL;
    assert_ok(lt_tensor_to(x, LT_DTYPE_NONE, &gpu, &there));
    assert_ok(lt_tensor_to(at, LT_DTYPE_NONE, &gpu, &indices_there));
    for (int turn = 0; turn < 2; turn++) {
        lt_tensor *picked = NULL;
        call_as(turn == 0 ? NULL : &interpreter);
        lt_status status = lt_index_select(there, 1, indices_there, &picked);
        if (status == LT_OK) status = lt_device_synchronize(gpu);
        call_as(NULL);
        lt_tensor_release(picked);
        assert_fails(status, LT_ERR_INDEX,
                     turn == 0 ? "index 7 is out of bounds for dimension 1"
                               : "index 8 is out of bounds for dimension 2");
    }
    lt_tensor_release(there);
    lt_tensor_release(indices_there);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void numbers_at_the_ends(void **state)
{
    (void)state;
    assert_true(lt_user_index(0) == 0 && lt_user_index(5) == 5 && lt_user_index(-1) == -1);
    assert_true(lt_user_index(INT64_MIN) == INT64_MIN &&
                lt_user_index_reason(INT64_MIN)[0] == '\0'); /* the host's own number */
    assert_true(lt_user_index(-5 & ~LT_INDEX_FROM_END) == -5);
    call_as(&interpreter);
    assert_true(lt_user_index(0) == 1 && lt_user_index(5) == 6 && lt_user_index(-1) == -1);
    assert_true(lt_user_index(LT_INDEX_NO_POSITION) == 0);
    assert_string_equal(lt_user_index_reason(LT_INDEX_NO_POSITION), ": positions count from 1");
    call_as(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dimensions),       cmocka_unit_test(indices),
        cmocka_unit_test(entries_of_lists), cmocka_unit_test(derivatives),
        cmocka_unit_test(of_a_gpu),         cmocka_unit_test(numbers_at_the_ends),
    };
    find_backend();
    setenv("LTENSOR_SIM_GPUS", "1", 0);
    return cmocka_run_group_tests(tests, setup, teardown);
}
