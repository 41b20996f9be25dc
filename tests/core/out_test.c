/* out_test.c - operations of networks with out=: the given tensors receive the elements that the
 * operation returns without it, whatever their shape, strides and memory. tests/cpp/realtime.c counts
 * the allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ltensor.h"
#include "ltensor_ops.h"

#include "expect.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

/* ---- operations ------------------------------------------------------------------------------ */

#define MOST_ARGS    10
#define MOST_RESULTS 2

typedef struct operation {
    const char *name;
    int nargs, nresults;
    lt_value args[MOST_ARGS];
} operation;

static lt_tensor *made[128];
static int n_made;

/* A tensor of random numbers that lives until the end. */
static lt_tensor *rand_of(int ndim, const int64_t *v)
{
    lt_dims sizes = {.n = ndim};
    for (int d = 0; d < ndim; d++) sizes.v[d] = v[d];
    lt_tensor **t = &made[n_made++];
    assert_ok(lt_randn(&sizes, NULL, LT_DTYPE_NONE, NULL, t));
    return *t;
}

#define RANDOM(...) rand_of(COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})
#define R(...)      lt_value_tensor(RANDOM(__VA_ARGS__))
#define I(number)   lt_value_int(number)
#define NONE        lt_value_none()

static lt_value indices_below(int64_t high, int64_t n)
{
    lt_tensor **t = &made[n_made++];
    assert_ok(lt_randint(0, high, &(lt_dims){2, {2, n}}, NULL, LT_INT64, NULL, t));
    return lt_value_tensor(*t);
}

static lt_value sizes_of(int64_t n, const int64_t *v) { return lt_value_dims(n, v); }

static lt_tensor *parts[2];
static operation operations[96];
static int n_operations;

#define ADD(op_name, results, ...)                                                                 \
    operations[n_operations++] = (operation)                                                       \
    {                                                                                              \
        op_name, COUNT(((lt_value[]){__VA_ARGS__})), results, { __VA_ARGS__ }                      \
    }

static void add_products(void)
{
    lt_value x = R(5, 4), w = R(3, 4), b = R(3), images = R(2, 3, 4);
    ADD("linear", 1, x, w, b);
    ADD("linear", 1, x, w);
    ADD("linear", 1, images, w, b);
    ADD("linear", 1, images, w);
    ADD("linear", 1, R(4), w, b);
    ADD("matmul", 1, x, R(4, 5));
    ADD("matmul", 1, x, R(4));
    ADD("matmul", 1, R(4), R(4));
    ADD("matmul", 1, R(4), R(4, 3));
    ADD("matmul", 1, R(4), R(2, 4, 3));
    ADD("matmul", 1, images, R(4));
    ADD("matmul", 1, images, R(4, 5));
    ADD("matmul", 1, images, R(2, 4, 3));
    ADD("matmul", 1, images, R(5, 1, 4, 3));
    ADD("mm", 1, x, R(4, 5));
    ADD("bmm", 1, images, R(2, 4, 3));
}

static void add_windows(void)
{
    static const int64_t two[] = {2, 2};
    lt_value line = R(2, 3, 8), plane = R(2, 3, 8, 8), volume = R(2, 3, 4, 4, 4), bias = R(6);
    ADD("conv1d", 1, line, R(6, 3, 3), bias);
    ADD("conv1d", 1, R(3, 8), R(6, 3, 3), bias);
    ADD("conv2d", 1, plane, R(6, 3, 3, 3), bias, I(1), I(1));
    ADD("conv2d", 1, plane, R(6, 3, 1, 1));
    ADD("conv2d", 1, R(3, 8, 8), R(6, 3, 3, 3), bias);
    ADD("conv2d", 1, plane, R(6, 3, 2, 2), bias, I(1), lt_value_string("same"));
    ADD("conv3d", 1, volume, R(6, 3, 2, 2, 2), bias);
    ADD("conv_transpose2d", 1, plane, R(3, 4, 3, 3));
    ADD("max_pool1d", 1, line, I(2));
    ADD("max_pool2d", 1, plane, I(2));
    ADD("max_pool3d", 1, volume, I(2));
    ADD("max_pool2d_with_indices", 2, plane, I(2));
    ADD("avg_pool1d", 1, line, I(2));
    ADD("avg_pool2d", 1, plane, I(2));
    ADD("avg_pool3d", 1, volume, I(2));
    ADD("adaptive_avg_pool1d", 1, line, I(3));
    ADD("adaptive_avg_pool2d", 1, plane, sizes_of(2, two));
    ADD("adaptive_avg_pool3d", 1, volume, I(2));
    ADD("adaptive_max_pool1d", 2, line, I(3));
    ADD("adaptive_max_pool2d", 2, plane, sizes_of(2, two));
    ADD("adaptive_max_pool3d", 2, volume, I(2));
}

static void add_others(void)
{
    static const int64_t last[] = {6}, last_two[] = {4, 6};
    lt_value x = R(3, 4, 6), w = R(6), b = R(6), channels = R(4), positive;
    lt_tensor **variance = &made[n_made++], *square;
    square = RANDOM(4);
    assert_ok(lt_square(square, variance));
    positive = lt_value_tensor(*variance);
    ADD("softmax", 1, x, I(1));
    ADD("softmax", 1, x, I(-1));
    ADD("log_softmax", 1, x, I(2));
    ADD("nn.functional.layer_norm", 1, x, sizes_of(1, last), w, b);
    ADD("layer_norm", 1, x, sizes_of(2, last_two), R(4, 6));
    ADD("rms_norm", 1, x, sizes_of(1, last), w);
    ADD("group_norm", 1, x, I(2), channels, R(4));
    ADD("nn.functional.batch_norm", 1, x, R(4), positive, channels, R(4));
    parts[0] = RANDOM(3, 2, 6), parts[1] = RANDOM(3, 4, 6);
    ADD("cat", 1, lt_value_tensors(2, parts), I(1));
    static lt_tensor *rows[2];
    rows[0] = RANDOM(3, 2), rows[1] = RANDOM(3, 2);
    ADD("stack", 1, lt_value_tensors(2, rows), I(1));
    ADD("argmax", 1, x);
    ADD("argmax", 1, x, NONE, lt_value_bool(true));
    ADD("argmax", 1, x, I(1));
    ADD("argmin", 1, x, I(-1), lt_value_bool(true));
    ADD("max", 2, x, I(1));
    ADD("topk", 2, x, I(3));
    ADD("topk", 2, x, I(2), I(0));
    ADD("sort", 2, x, I(1));
    ADD("embedding", 1, R(7, 5), indices_below(7, 3));
    ADD("nn.functional.embedding", 1, indices_below(7, 4), R(7, 5));
    ADD("nn.functional.scaled_dot_product_attention", 1, R(2, 3, 5, 8), R(2, 3, 6, 8),
        R(2, 3, 6, 4));
    ADD("nn.functional.scaled_dot_product_attention", 1, R(3, 5, 8), R(3, 6, 8), R(3, 6, 8));
}

static void add_activations(void)
{
    static const char *const names[] = {"relu",
                                        "relu6",
                                        "hardtanh",
                                        "elu",
                                        "selu",
                                        "celu",
                                        "gelu",
                                        "silu",
                                        "leaky_relu",
                                        "hardsigmoid",
                                        "mish",
                                        "hardswish",
                                        "hardshrink",
                                        "softplus",
                                        "tanh",
                                        "sigmoid",
                                        "nn.functional.logsigmoid",
                                        "nn.functional.softshrink"};
    for (int i = 0; i < COUNT(names); i++) ADD(names[i], 1, R(3, 4));
    ADD("threshold", 1, R(3, 4), lt_value_double(0.1), I(2));
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void results_of(const operation *op, lt_tensor **results)
{
    lt_value values[MOST_RESULTS] = {lt_value_none(), lt_value_none()};
    int n = MOST_RESULTS;
    if (lt_call(op->name, op->args, op->nargs, NULL, 0, values, &n) != LT_OK)
        fail_msg("%s: %s", op->name, lt_error_message());
    assert_int_equal(n, op->nresults);
    for (int i = 0; i < n; i++) results[i] = values[i].v.tensor;
}

static lt_status call_with(const operation *op, lt_tensor **outs)
{
    const lt_named_value out = {"out", op->nresults > 1 ? lt_value_tensors(op->nresults, outs)
                                                        : lt_value_tensor(outs[0])};
    return lt_call(op->name, op->args, op->nargs, &out, 1, NULL, NULL);
}

static void assert_same(const operation *op, const char *form, lt_tensor *a, lt_tensor *b)
{
    lt_tensor *difference = NULL, *most = NULL;
    bool same = lt_tensor_ndim(a) == lt_tensor_ndim(b);
    for (int d = 0; same && d < lt_tensor_ndim(a); d++)
        same = lt_tensor_sizes(a)[d] == lt_tensor_sizes(b)[d];
    if (!same) fail_msg("%s, out= %s: the shape differs", op->name, form);
    assert_ok(lt_sub(a, b, lt_scalar_from_int(1), &difference));
    assert_ok(lt_abs_(difference));
    assert_ok(lt_max(difference, &most));
    if (item(most) > 1e-5) fail_msg("%s, out= %s: differs by %g", op->name, form, item(most));
    lt_tensor_release(difference);
    lt_tensor_release(most);
}

/* A tensor of this result's shape and dtype: contiguous, or every second element of another. */
static lt_tensor *given_for(const lt_tensor *result, bool strided)
{
    lt_dims sizes = {.n = lt_tensor_ndim(result)};
    lt_tensor *whole = NULL, *part = NULL;
    for (int d = 0; d < sizes.n; d++) sizes.v[d] = lt_tensor_sizes(result)[d];
    if (!strided || sizes.n == 0) {
        assert_ok(lt_full(&sizes, lt_scalar_from_int(7), lt_tensor_dtype(result), NULL, &part));
        return part;
    }
    sizes.v[sizes.n++] = 2;
    assert_ok(lt_full(&sizes, lt_scalar_from_int(7), lt_tensor_dtype(result), NULL, &whole));
    assert_ok(lt_select(whole, -1, 0, &part));
    lt_tensor_release(whole);
    return part;
}

static void release_all(lt_tensor **list, int n)
{
    for (int i = 0; i < n; i++) {
        lt_tensor_release(list[i]);
        list[i] = NULL;
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void the_given_tensors_receive_the_result(void **state)
{
    (void)state;
    static const char *const forms[] = {"of the shape", "with gaps", "that is empty"};
    for (int k = 0; k < n_operations; k++) {
        const operation *op = &operations[k];
        lt_tensor *wanted[MOST_RESULTS] = {NULL}, *outs[MOST_RESULTS] = {NULL};
        results_of(op, wanted);
        for (int form = 0; form < COUNT(forms); form++) {
            for (int i = 0; i < op->nresults; i++) {
                outs[i] = given_for(wanted[i], form == 1);
                if (form == 2) assert_ok(lt_resize_(outs[i], &(lt_dims){1, {0}}));
            }
            if (call_with(op, outs) != LT_OK)
                fail_msg("%s, out= %s: %s", op->name, forms[form], lt_error_message());
            for (int i = 0; i < op->nresults; i++) assert_same(op, forms[form], outs[i], wanted[i]);
            release_all(outs, op->nresults);
        }
        release_all(wanted, op->nresults);
    }
}

/* Images in channels-last order, and a result in this order or in the row-major one. */
static void images_keep_their_order(void **state)
{
    (void)state;
    lt_tensor *last = NULL, *wanted[1], *out[1], *weight = RANDOM(6, 3, 3, 3), *line = RANDOM(3);
    lt_tensor **variance = &made[n_made++];
    assert_ok(lt_square(line, variance));
    assert_ok(lt_clone_format(RANDOM(2, 3, 8, 8), "channels_last", &last));
    const lt_value x = lt_value_tensor(last), two = I(2);
    const operation images[] = {
        {"conv2d", 2, 1, {x, lt_value_tensor(weight)}},
        {"max_pool2d", 2, 1, {x, two}},
        {"avg_pool2d", 2, 1, {x, two}},
        {"adaptive_avg_pool2d", 2, 1, {x, two}},
        {"nn.functional.batch_norm", 3, 1, {x, lt_value_tensor(line), lt_value_tensor(*variance)}},
    };
    for (int k = 0; k < COUNT(images); k++) {
        results_of(&images[k], wanted);
        for (int form = 0; form < 2; form++) {
            assert_ok(
                lt_clone_format(wanted[0], form == 0 ? "channels_last" : "contiguous_format", out));
            assert_ok(lt_zero_(out[0]));
            assert_ok(call_with(&images[k], out));
            assert_same(&images[k], form == 0 ? "channels-last" : "row-major", out[0], wanted[0]);
            lt_tensor_release(out[0]);
        }
        lt_tensor_release(wanted[0]);
    }
    lt_tensor_release(last);
}

/* out= that is an argument, or a part of it, is written after the arguments were read. */
static void an_argument_may_be_the_output(void **state)
{
    (void)state;
    lt_tensor *x = RANDOM(4, 4), *w = RANDOM(4, 4), *wanted = NULL, *row = NULL;
    assert_ok(lt_linear(x, w, NULL, &wanted));
    assert_ok(lt_linear_out(x, w, NULL, x));
    assert_same(&(operation){.name = "linear"}, "self", x, wanted);
    lt_tensor_release(wanted);
    assert_ok(lt_softmax(x, 1, LT_DTYPE_NONE, &wanted));
    assert_ok(lt_softmax_out(x, 1, LT_DTYPE_NONE, x));
    assert_same(&(operation){.name = "softmax"}, "self", x, wanted);
    lt_tensor_release(wanted);
    assert_ok(lt_select(x, 0, 0, &row));
    assert_ok(lt_matmul(x, row, &wanted));
    assert_ok(lt_matmul_out(x, row, row));
    assert_same(&(operation){.name = "matmul"}, "a row of self", row, wanted);
    lt_tensor_release(wanted);
    lt_tensor_release(row);
}

static void another_dtype_a_gradient_and_shared_memory_are_refused(void **state)
{
    (void)state;
    lt_tensor *x = RANDOM(3, 4), *w = RANDOM(3, 4), *outs[2] = {NULL}, *shared = NULL;
    const lt_dims square = {2, {3, 3}};
    assert_ok(lt_zeros(&square, LT_INT64, NULL, &outs[0]));
    assert_fails(lt_linear_out(x, w, NULL, outs[0]), LT_ERR_RUNTIME, "can't be cast");
    assert_fails(lt_topk_out(x, 1, 1, true, true, outs[0], outs[0]), LT_ERR_RUNTIME,
                 "single memory location");
    assert_ok(lt_zeros(&square, LT_FLOAT64, NULL, &outs[1]));
    assert_fails(lt_topk_out(x, 1, 1, true, true, outs[1], outs[0]), LT_ERR_RUNTIME,
                 "Expected out tensor to have dtype torch.float32, but got torch.float64");
    assert_fails(lt_topk_out(x, 1, 1, true, true, NULL, outs[0]), LT_ERR_TYPE, "out_values");
    assert_ok(lt_linear_out(x, w, NULL, outs[1]));
    lt_tensor_set_requires_grad(w, true);
    assert_fails(lt_linear_out(x, w, NULL, outs[1]), LT_ERR_RUNTIME,
                 "don't support automatic differentiation");
    lt_tensor_set_requires_grad(w, false);
    assert_ok(lt_expand(x, &(lt_dims){3, {2, 3, 4}}, &shared));
    assert_fails(lt_stack_out(&(lt_tensor_list){2, (lt_tensor *[]){x, w}}, 0, shared),
                 LT_ERR_RUNTIME, "more than one element of the written-to tensor");
    release_all(outs, 2);
    lt_tensor_release(shared);
}

static int set_up(void **state)
{
    (void)state;
    add_products();
    add_windows();
    add_others();
    add_activations();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    release_all(made, n_made);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_given_tensors_receive_the_result),
        cmocka_unit_test(images_keep_their_order),
        cmocka_unit_test(an_argument_may_be_the_output),
        cmocka_unit_test(another_dtype_a_gradient_and_shared_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
