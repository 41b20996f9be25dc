/* call_test.c - operations by name, as the binding of another language does them: values in, values
 * out, messages for what does not fit, and the list of all there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#undef LT_OPS_BY_NAME /* as a host sees it: with every op */
#include "expect.h"
#include "ltensor.h"
#include "memory/block.h"
#include "memory/limit.h"
#include "memory/system.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))
/* Arguments in a row, and arguments by name. */
#define ARGS(...) (const lt_value[]){__VA_ARGS__}, COUNT(((const lt_value[]){__VA_ARGS__}))
#define NAMED(...)                                                                                 \
    (const lt_named_value[]){__VA_ARGS__}, COUNT(((const lt_named_value[]){__VA_ARGS__}))
#define NONE NULL, 0

static lt_tensor *x; /* [[1, 5, 3], [4, 2, 6]] */
static lt_tensor *mask, *at;

static lt_tensor *of_floats(int ndim, const int64_t *sizes, const float *values, size_t bytes)
{
    lt_tensor *t = NULL;
    assert_ok(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, ndim, sizes, &t));
    assert_ok(lt_tensor_copy_from(t, values, bytes));
    return t;
}

static int setup(void **state)
{
    (void)state;
    const float values[] = {1, 5, 3, 4, 2, 6};
    const int64_t sizes[] = {2, 3};
    const lt_dims length = {1, {2}};
    x = of_floats(2, sizes, values, sizeof values);
    assert_ok(lt_zeros(&length, LT_INT32, NULL, &at));
    assert_ok(lt_tensor_copy_from(at, (int32_t[]){2, 0}, 8));
    lt_value result = lt_value_none();
    int n = 1;
    assert_ok(lt_call("gt", ARGS(lt_value_tensor(x), lt_value_double(2.5)), NONE, &result, &n));
    mask = result.v.tensor;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lt_tensor_release(x);
    lt_tensor_release(mask);
    lt_tensor_release(at);
    return 0;
}

/* The elements of a result as text, "1 2 3", and gives it back. */
static const char *text_of(lt_value *result)
{
    static char text[400];
    size_t n = 0;
    lt_tensor *wide = NULL;
    double numbers[64];
    assert_int_equal(result->kind, LT_KIND_TENSOR);
    assert_ok(lt_tensor_to(result->v.tensor, LT_FLOAT64, NULL, &wide));
    int64_t numel = lt_tensor_numel(wide);
    assert_true(numel <= 64);
    assert_ok(lt_tensor_copy_to(wide, numbers, (size_t)numel * sizeof *numbers));
    text[0] = '\0';
    for (int64_t i = 0; i < numel; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, i > 0 ? " %g" : "%g", numbers[i]);
    lt_tensor_release(wide);
    lt_value_release(result);
    assert_int_equal(result->kind, LT_KIND_NONE);
    return text;
}

/* What an operation of one result gives. */
static const char *call(const char *name, const lt_value *args, int nargs,
                        const lt_named_value *named, int nnamed)
{
    lt_value result = lt_value_none();
    int n = 1;
    assert_ok(lt_call(name, args, nargs, named, nnamed, &result, &n));
    assert_int_equal(n, 1);
    return text_of(&result);
}

static lt_status refused(const char *name, const lt_value *args, int nargs,
                         const lt_named_value *named, int nnamed)
{
    lt_value result = lt_value_none();
    int n = 1;
    lt_status status = lt_call(name, args, nargs, named, nnamed, &result, &n);
    assert_int_equal(result.kind, LT_KIND_NONE);
    return status;
}

#define X         lt_value_tensor(x)
#define DIMS(...) lt_value_dims(COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})

/* ---- what calls look like -------------------------------------------------------------------- */

static void test_elementwise(void **state)
{
    (void)state;
    assert_string_equal(call("neg", ARGS(X), NONE), "-1 -5 -3 -4 -2 -6");
    assert_string_equal(call("add", ARGS(X, X), NONE), "2 10 6 8 4 12");
    assert_string_equal(call("add", ARGS(X, lt_value_int(1)), NONE), "2 6 4 5 3 7");
    assert_string_equal(call("add", ARGS(X, X), NAMED({"alpha", lt_value_int(10)})),
                        "11 55 33 44 22 66");
    assert_string_equal(call("multiply", ARGS(X, lt_value_double(0.5)), NONE),
                        "0.5 2.5 1.5 2 1 3"); /* another name of mul */
    assert_string_equal(call("sub", ARGS(lt_value_int(10), X), NONE), "9 5 7 6 8 4");
    assert_string_equal(call("where", ARGS(lt_value_tensor(mask), X, lt_value_int(0)), NONE),
                        "0 5 3 4 0 6");
    assert_string_equal(call("clamp", ARGS(X), NAMED({"max", lt_value_int(3)})), "1 3 3 3 2 3");
    assert_string_equal(call("clamp", ARGS(X, lt_value_none(), lt_value_int(3)), NONE),
                        "1 3 3 3 2 3");
    assert_string_equal(call("logical_not", ARGS(lt_value_tensor(mask)), NONE), "1 0 0 0 1 0");
}

static void test_reductions(void **state)
{
    (void)state;
    assert_string_equal(call("sum", ARGS(X), NONE), "21");
    assert_string_equal(call("sum", ARGS(X, DIMS(0)), NONE), "5 7 9");
    assert_string_equal(call("sum", ARGS(X, lt_value_int(-1)), NONE),
                        "9 12"); /* an int is a set of one */
    assert_string_equal(
        call("sum", ARGS(X), NAMED({"dim", DIMS(0, 1)}, {"keepdim", lt_value_bool(true)})), "21");
    assert_string_equal(
        call("mean", ARGS(X),
             NAMED({"dim", lt_value_int(1)}, {"dtype", lt_value_dtype(LT_FLOAT64)})),
        "3 4");
    assert_string_equal(call("argmax", ARGS(X, lt_value_int(1)), NONE),
                        "1 2"); /* indices count from 0 */
    assert_string_equal(call("cumsum", ARGS(X, lt_value_int(1)), NONE), "1 6 9 4 6 12");
}

static void test_lists(void **state)
{
    (void)state;
    lt_value result = lt_value_none();
    int n = 1;
    assert_ok(lt_call("split", ARGS(X, lt_value_int(2), lt_value_int(1)), NONE, &result, &n));
    assert_int_equal(result.kind, LT_KIND_TENSORS);
    assert_int_equal(result.v.tensors.n, 2);
    assert_int_equal(lt_tensor_sizes(result.v.tensors.v[1])[1], 1);
    /* Back together, the other way round. */
    lt_tensor *turned[] = {result.v.tensors.v[1], result.v.tensors.v[0]};
    assert_string_equal(
        call("cat", ARGS(lt_value_tensors(2, turned)), NAMED({"dim", lt_value_int(1)})),
        "3 1 5 6 4 2");
    lt_value_release(&result);
    assert_string_equal(call("stack", ARGS(lt_value_tensors(1, &x)), NONE), "1 5 3 4 2 6");
}

/* An operation in place on lists: a step of SGD. */
static void test_lists_in_place(void **state)
{
    (void)state;
    lt_tensor *parameter = NULL, *gradient = NULL;
    lt_value result = lt_value_none();
    int n = 1;
    assert_ok(lt_clone(x, &parameter));
    assert_ok(lt_ones_like(x, LT_DTYPE_NONE, NULL, &gradient));
    assert_ok(lt_call("fused_sgd_",
                      ARGS(lt_value_tensors(1, &parameter), lt_value_tensors(1, &gradient),
                           lt_value_tensors(0, NULL), lt_value_double(0.5), lt_value_double(0),
                           lt_value_double(0), lt_value_double(0), lt_value_bool(false),
                           lt_value_bool(false), lt_value_bool(true)),
                      NONE, &result, &n));
    assert_int_equal(n, 0);
    assert_int_equal(result.kind, LT_KIND_NONE);
    result = lt_value_tensor(parameter);
    assert_string_equal(text_of(&result), "0.5 4.5 2.5 3.5 1.5 5.5");
    lt_tensor_release(gradient);
}

/* PyTorch's qualified names, and C functions of the same names. */
static void test_names_of_modules(void **state)
{
    (void)state;
    const lt_dims two = {1, {2}};
    lt_tensor *square = NULL, *diagonal = NULL, *y = NULL;
    assert_ok(lt_full(&two, lt_scalar_from_float(2), LT_FLOAT32, NULL, &diagonal));
    assert_ok(lt_diag(diagonal, 0, &square));
    const char *const names[] = {"linalg.inv", "inverse"};
    for (int i = 0; i < 2; i++)
        assert_string_equal(call(names[i], ARGS(lt_value_tensor(square)), NONE), "0.5 0 0 0.5");
    const char *const solves[] = {"linalg.solve", "linalg_solve"};
    for (int i = 0; i < 2; i++)
        assert_string_equal(
            call(solves[i], ARGS(lt_value_tensor(square), lt_value_tensor(diagonal)), NONE), "1 1");
    assert_ok(lt_linalg_inv(square, &y));
    lt_value result = lt_value_tensor(y);
    assert_string_equal(text_of(&result), "0.5 0 0 0.5");
    assert_string_equal(call("nn.functional.relu", ARGS(X), NONE), "1 5 3 4 2 6");
    assert_string_equal(call("special.gammaln", ARGS(lt_value_tensor(diagonal)), NONE), "0 0");
    y = NULL;
    assert_ok(lt_special_gammaln(diagonal, &y));
    result = lt_value_tensor(y);
    assert_string_equal(text_of(&result), "0 0");
    lt_tensor_release(square);
    lt_tensor_release(diagonal);
}

/* Transforms by their functions and by name. */
static void test_transforms(void **state)
{
    (void)state;
    lt_tensor *half = NULL, *y = NULL;
    const int64_t n = 3;
    assert_ok(lt_fft_rfft(x, NULL, -1, NULL, &half));
    assert_int_equal(lt_tensor_sizes(half)[1], 2);
    assert_ok(lt_fft_irfft(half, &n, -1, NULL, &y));
    lt_value result = lt_value_tensor(y);
    assert_string_equal(text_of(&result), "1 5 3 4 2 6");
    assert_string_equal(call("fft.irfft", ARGS(lt_value_tensor(half), lt_value_int(3)), NONE),
                        "1 5 3 4 2 6");
    assert_string_equal(call("fft.fftshift", ARGS(X, lt_value_int(1)), NONE), "3 1 5 6 4 2");
    assert_fails(lt_fft_rfft(half, NULL, -1, NULL, &y), LT_ERR_RUNTIME,
                 "rfft expects a real input tensor, but got ComplexFloat");
    assert_fails(lt_fft_fft(x, NULL, 2, NULL, &y), LT_ERR_INDEX, "Dimension out of range");
    lt_tensor_release(half);
}

/* Operations that are composed of others, by name and as C functions. */
static void test_composed_operations(void **state)
{
    (void)state;
    lt_tensor *LU = NULL, *pivots = NULL, *info = NULL, *y = NULL, *ends = NULL;
    const float ones[] = {4, 1, 2, 2}, range[] = {0, 4};
    lt_tensor *matrix = of_floats(2, (const int64_t[]){2, 2}, ones, sizeof ones);
    assert_ok(lt_linalg_lu_factor_ex(matrix, true, false, &LU, &pivots, &info));
    assert_ok(lt_linalg_lu_solve(LU, pivots, matrix, true, false, &y));
    lt_value result = lt_value_tensor(y);
    assert_string_equal(text_of(&result), "1 0 0 1");
    result = lt_value_tensor(pivots); /* LAPACK's, from 1 */
    assert_string_equal(text_of(&result), "1 2");
    assert_ok(lt_deg2rad_(LU));
    assert_fails(lt_linalg_lu_factor(pivots, true, &y, &info), LT_ERR_RUNTIME, "at least 2 dim");
    lt_tensor_release(LU);
    lt_tensor_release(info);
    assert_string_equal(call("diff", ARGS(X), NONE), "4 -2 -2 4");
    assert_string_equal(call("linalg.norm", ARGS(X), NAMED({"ord", lt_value_int(1)})), "9");
    assert_string_equal(call("isin", ARGS(X, lt_value_int(3)), NONE), "0 0 1 0 0 0");
    assert_string_equal(call("slice_scatter", ARGS(X, lt_value_tensor(matrix), lt_value_int(1)),
                             NAMED({"start", lt_value_int(1)}, {"end", lt_value_int(2)})),
                        "1 4 1 4 2 2");
    /* a list of numbers is a vector */
    ends = of_floats(1, (const int64_t[]){2}, range, sizeof range);
    assert_ok(lt_histogram(x, 2, ends, NULL, false, &y, &LU));
    result = lt_value_tensor(y);
    assert_string_equal(text_of(&result), "1 3");
    lt_tensor_release(LU);
    lt_tensor_list slopes = {0, NULL};
    assert_ok(lt_gradient_each(matrix, ends, NULL, 1, &slopes));
    assert_int_equal(slopes.n, 2);
    lt_tensor_list_release(&slopes);
    assert_fails(lt_histogram(x, 2, matrix, NULL, false, &y, &LU), LT_ERR_RUNTIME,
                 "histogram(): argument 'range' must be a vector of 2 real numbers");
    lt_tensor_release(ends);
    lt_tensor_release(matrix);
}

/* A layer of cells with relu and weights of 1 adds up its input; also with gradients. */
static void test_recurrent_layers(void **state)
{
    (void)state;
    const lt_dims steps = {3, {3, 1, 1}}, one = {3, {1, 1, 1}}, weight = {2, {1, 1}};
    lt_tensor *input = NULL, *h = NULL, *w[2] = {NULL, NULL}, *total = NULL;
    assert_ok(lt_ones(&steps, LT_FLOAT32, NULL, &input));
    assert_ok(lt_zeros(&one, LT_FLOAT32, NULL, &h));
    for (int i = 0; i < 2; i++) assert_ok(lt_ones(&weight, LT_FLOAT32, NULL, &w[i]));
    const lt_tensor_list params = {2, w};
    for (int recorded = 0; recorded < 2; recorded++) {
        lt_tensor *output = NULL, *hn = NULL;
        assert_ok(lt_tensor_set_requires_grad(w[0], recorded == 1));
        assert_ok(lt_rnn_relu(input, h, &params, false, 1, 0, false, false, false, &output, &hn));
        if (recorded) assert_ok(lt_sum(output, LT_DTYPE_NONE, &total));
        lt_value result = lt_value_tensor(output);
        assert_string_equal(text_of(&result), "1 2 3");
        result = lt_value_tensor(hn);
        assert_string_equal(text_of(&result), "3");
    }
    assert_ok(lt_backward(total, NULL, false, false));
    lt_value gradient = lt_value_none();
    int n = 1;
    assert_ok(lt_call("clone", ARGS(lt_value_tensor(lt_tensor_grad(w[0]))), NONE, &gradient, &n));
    assert_string_equal(text_of(&gradient), "6");
    lt_tensor *const tensors[] = {input, h, w[0], w[1], total};
    for (int i = 0; i < COUNT(tensors); i++) lt_tensor_release(tensors[i]);
}

/* Each form of an operation with a number in place of its last tensor, and its gradient. */
static void test_operands_that_are_numbers(void **state)
{
    (void)state;
    lt_tensor *t = NULL, *sum = NULL, *total = NULL;
    lt_scalar value;
    assert_ok(lt_full(LT_DIMS(3), lt_scalar_from_float(2), LT_FLOAT32, NULL, &t));
    assert_ok(lt_tensor_set_requires_grad(t, true));
    assert_ok(lt_pow_scalar(t, lt_scalar_from_int(3), &sum));
    assert_int_equal(lt_tensor_dtype(sum), LT_FLOAT32);
    assert_ok(lt_add_scalar_(sum, lt_scalar_from_float(0.5), lt_scalar_from_int(2)));
    assert_ok(lt_sum(sum, LT_DTYPE_NONE, &total));
    assert_ok(lt_tensor_item(total, &value));
    assert_true(value.v.d == 27);
    assert_ok(lt_backward(total, NULL, false, false));
    lt_tensor *grad = lt_tensor_grad(t), *above = NULL;
    assert_ok(lt_gt_scalar(grad, lt_scalar_from_int(11), &above));
    assert_ok(lt_mul_scalar_out(above, lt_scalar_from_float(1.5), grad));
    lt_value result = lt_value_tensor(above);
    assert_string_equal(text_of(&result), "1 1 1");
    result = lt_value_tensor(lt_tensor_retain(grad));
    assert_string_equal(text_of(&result), "1.5 1.5 1.5");
    assert_fails(lt_mul_scalar(NULL, lt_scalar_from_int(1), &total), LT_ERR_TYPE, "'self'");
    assert_fails(lt_mul_scalar(grad, lt_scalar_from_int(1), NULL), LT_ERR_TYPE, "'out'");
    lt_tensor *const tensors[] = {t, sum, total};
    for (int i = 0; i < COUNT(tensors); i++) lt_tensor_release(tensors[i]);
}

/* An overload that takes a number is preferred to one that takes a list of sizes. */
static void test_numbers_choose_an_overload(void **state)
{
    (void)state;
    lt_tensor *two = NULL;
    assert_ok(lt_full(&(lt_dims){0}, lt_scalar_from_int(2), LT_INT64, NULL, &two));
    const lt_value counts[] = {lt_value_int(2), lt_value_double(2), lt_value_tensor(two)};
    static const char *const names[] = {"tensor_split", "vsplit", "split"};
    for (int i = 0; i < COUNT(counts); i++) {
        for (int k = 0; k < COUNT(names); k++) {
            const lt_named_value dim = {"dim", lt_value_int(1)};
            const bool has_dim = k != 1;
            lt_value parts = lt_value_none();
            int n = 1;
            assert_ok(lt_call(names[k], ARGS(X, counts[i]), &dim, has_dim ? 1 : 0, &parts, &n));
            assert_int_equal(parts.kind, LT_KIND_TENSORS);
            assert_int_equal(parts.v.tensors.n, 2);
            lt_value_release(&parts);
        }
    }
    lt_tensor_release(two);
}

static void test_several_results(void **state)
{
    (void)state;
    lt_value results[3] = {lt_value_none(), lt_value_none(), lt_value_int(7)};
    int n = 3;
    assert_ok(lt_call("topk", ARGS(X, lt_value_int(2)), NONE, results, &n));
    assert_int_equal(n, 2);
    assert_string_equal(text_of(&results[0]), "5 3 6 4");
    assert_string_equal(text_of(&results[1]), "1 2 2 0");
    assert_int_equal(results[2].v.i, 7); /* there were no more */
    n = 1;
    assert_fails(lt_call("topk", ARGS(X, lt_value_int(2)), NONE, results, &n), LT_ERR_TYPE,
                 "topk() returns 2 results, but nresults is 1");
    assert_ok(lt_call("topk", ARGS(X, lt_value_int(2)), NONE, NULL, NULL)); /* dropped */
    lt_value result = lt_value_none();
    n = 1;
    assert_ok(lt_call("equal", ARGS(X, X), NONE, &result, &n));
    assert_true(result.kind == LT_KIND_BOOL && result.v.b);
}

static void test_factories(void **state)
{
    (void)state;
    const lt_device cpu = {LT_CPU, 0};
    assert_string_equal(call("zeros", ARGS(DIMS(2, 2)), NONE), "0 0 0 0");
    assert_string_equal(call("full", ARGS(DIMS(2), lt_value_double(1.5)),
                             NAMED({"dtype", lt_value_dtype(LT_FLOAT64)})),
                        "1.5 1.5");
    assert_string_equal(
        call("arange", ARGS(lt_value_int(3)),
             NAMED({"dtype", lt_value_string("float64")}, {"device", lt_value_string("cpu")})),
        "0 1 2");
    lt_value result = lt_value_none();
    int n = 1;
    assert_ok(lt_call("ones", ARGS(DIMS(1)),
                      NAMED({"dtype", lt_value_dtype(LT_INT16)}, {"device", lt_value_device(cpu)}),
                      &result, &n));
    assert_int_equal(lt_tensor_dtype(result.v.tensor), LT_INT16);
    lt_value_release(&result);
    /* A generator of one's own. */
    lt_generator *generator = NULL;
    char first[100];
    assert_ok(lt_generator_new(cpu, &generator));
    for (int run = 0; run < 2; run++) {
        assert_ok(lt_generator_seed(generator, 3));
        const char *text =
            call("rand", ARGS(DIMS(3)), NAMED({"generator", lt_value_generator(generator)}));
        if (run == 0) snprintf(first, sizeof first, "%s", text);
        assert_string_equal(text, first);
    }
    lt_generator_release(generator);
}

static void test_indices_count_from_zero(void **state)
{
    (void)state;
    lt_value indices = lt_value_tensor(at); /* int32; [2, 0] */
    assert_string_equal(call("index_select", ARGS(X, lt_value_int(1), indices), NONE), "3 1 6 4");
    assert_string_equal(call("select", ARGS(X, lt_value_int(0), lt_value_int(1)), NONE), "4 2 6");
    assert_string_equal(
        call("narrow", ARGS(X, lt_value_int(1), lt_value_int(1), lt_value_int(2)), NONE),
        "5 3 2 6");
    assert_string_equal(call("one_hot", ARGS(indices), NONE), "0 0 1 1 0 0");
    assert_string_equal(call("nonzero", ARGS(lt_value_tensor(mask)), NONE), "0 1 0 2 1 0 1 2");
    assert_string_equal(call("masked_select", ARGS(X, lt_value_tensor(mask)), NONE), "5 3 4 6");
    assert_fails(
        refused("index_select", ARGS(X, lt_value_int(1), X), NONE), LT_ERR_TYPE,
        "'index' (argument 2) must be Tensor of indices, of an integer dtype, not float32");
}

static void test_strings_choose(void **state)
{
    (void)state;
    assert_string_equal(call("mse_loss", ARGS(X, lt_value_tensor(mask)),
                             NAMED({"reduction", lt_value_string("sum")})),
                        "59");
    assert_fails(refused("mse_loss", ARGS(X, X), NAMED({"reduction", lt_value_string("most")})),
                 LT_ERR_RUNTIME, "most");
    /* What torch.nn.functional alone has. */
    assert_string_equal(
        call("nn.functional.huber_loss", ARGS(X, X), NAMED({"reduction", lt_value_string("sum")})),
        "0");
}

static void test_in_place_and_out(void **state)
{
    (void)state;
    lt_value copy = lt_value_none(), result = lt_value_none();
    int n = 1;
    assert_ok(lt_call("clone", ARGS(X), NONE, &copy, &n));
    assert_ok(lt_call("add_", ARGS(copy, lt_value_int(1)), NONE, &result, &n));
    assert_ptr_equal(result.v.tensor, copy.v.tensor);
    assert_string_equal(text_of(&result), "2 6 4 5 3 7");
    assert_ok(lt_call("zero_", ARGS(copy), NONE, NULL, NULL));
    assert_ok(lt_call("mul", ARGS(X, X), NAMED({"out", copy}), &result, &n));
    assert_ptr_equal(result.v.tensor, copy.v.tensor);
    lt_value_release(&result);
    assert_string_equal(text_of(&copy), "1 25 9 16 4 36");
}

/* Tensors of one number and no dimensions stand for it; callers without integers have whole
 * doubles. */
static void test_numbers_of_other_kinds(void **state)
{
    (void)state;
    lt_value one = lt_value_none();
    int n = 1;
    assert_ok(lt_call("full", ARGS(lt_value_dims(0, NULL), lt_value_int(1)),
                      NAMED({"dtype", lt_value_dtype(LT_INT64)}), &one, &n));
    assert_string_equal(call("cumsum", ARGS(X, one), NONE), "1 6 9 4 6 12");
    lt_value_release(&one);
    assert_string_equal(call("cumsum", ARGS(X, lt_value_double(1)), NONE), "1 6 9 4 6 12");
    assert_fails(refused("cumsum", ARGS(X, lt_value_double(0.5)), NONE), LT_ERR_TYPE,
                 "'dim' (argument 1) must be int, not double");
}

/* Operations by name are recorded as others are. */
static void test_gradients(void **state)
{
    (void)state;
    lt_value w = lt_value_none(), y = lt_value_none(), loss = lt_value_none();
    int n = 1;
    assert_ok(lt_call("clone", ARGS(X), NONE, &w, &n));
    assert_ok(lt_tensor_set_requires_grad(w.v.tensor, true));
    assert_ok(lt_call("pow", ARGS(w, lt_value_int(2)), NONE, &y, &n));
    assert_ok(lt_call("sum", ARGS(y), NONE, &loss, &n));
    assert_ok(lt_backward(loss.v.tensor, NULL, false, false));
    assert_string_equal(call("clone", ARGS(lt_value_tensor(lt_tensor_grad(w.v.tensor))), NONE),
                        "2 10 6 8 4 12");
    lt_value_release(&loss);
    lt_value_release(&y);
    lt_value_release(&w);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void test_what_does_not_fit_is_told(void **state)
{
    (void)state;
    assert_fails(refused("frobnicate", ARGS(X), NONE), LT_ERR_TYPE,
                 "unknown operation 'frobnicate'");
    assert_fails(refused("exp", ARGS(lt_value_string("x")), NONE), LT_ERR_TYPE,
                 "exp(): 'self' (argument 0) must be Tensor, not string");
    assert_fails(refused("exp", ARGS(lt_value_tensor(NULL)), NONE), LT_ERR_TYPE,
                 "must be Tensor, not NULL");
    assert_fails(refused("exp", NONE, NONE), LT_ERR_TYPE, "exp() misses the argument 'self'");
    assert_fails(refused("exp", ARGS(X, X, X), NONE), LT_ERR_TYPE,
                 "exp() takes 1 positional argument but 3 were given");
    assert_fails(refused("exp", ARGS(X), NAMED({"base", lt_value_int(2)})), LT_ERR_TYPE,
                 "unknown argument 'base' (known: self, out)");
    assert_fails(refused("topk", ARGS(X, lt_value_int(1)), NAMED({"k", lt_value_int(2)})),
                 LT_ERR_TYPE, "two values for the argument 'k'");
    assert_fails(refused("softmax", ARGS(X, lt_value_int(5)), NONE), LT_ERR_INDEX,
                 "Dimension out of range");
    assert_fails(
        refused("sum", ARGS(X, lt_value_string("all")), NAMED({"keepdim", lt_value_bool(true)})),
        LT_ERR_TYPE,
        "got (Tensor, string, keepdim=bool), but expected one of:\n * sum(Tensor self");
    lt_tensor *pair[] = {x, NULL};
    assert_fails(refused("cat", ARGS(lt_value_tensors(2, pair)), NONE), LT_ERR_TYPE,
                 "list of Tensors, but entry 1 is NULL");
    int64_t many[17] = {0};
    assert_fails(refused("zeros", ARGS(lt_value_dims(17, many)), NONE), LT_ERR_TYPE,
                 "has 17 entries, at most 16");
    assert_fails(refused("mm", ARGS(X, X), NONE), LT_ERR_RUNTIME,
                 "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
}

static void test_values_that_are_none(void **state)
{
    (void)state;
    lt_value garbage, result = lt_value_none();
    int n = 1;
    memset(&garbage, 0x5a, sizeof garbage);
    assert_fails(refused("exp", &garbage, 1, NONE), LT_ERR_TYPE, "argument 0 is not a value");
    garbage = lt_value_int(1);
    garbage.kind = 99;
    assert_fails(refused("exp", &garbage, 1, NONE), LT_ERR_TYPE, "is of kind 99");
    assert_fails(lt_call("exp", ARGS(X), NONE, &result, NULL), LT_ERR_TYPE, "'nresults'");
    memset(&garbage, 0, sizeof garbage);
    assert_fails(lt_call("exp", ARGS(X), NONE, &garbage, &n), LT_ERR_TYPE,
                 "result 0 is not a value");
    assert_fails(lt_call(NULL, NONE, NONE, NULL, NULL), LT_ERR_TYPE, "'name'");
    assert_fails(lt_call("exp", NULL, 1, NONE, NULL, NULL), LT_ERR_TYPE, "'args'");
    assert_fails(lt_call("exp", ARGS(X), NULL, 1, NULL, NULL), LT_ERR_TYPE, "'named'");
    assert_fails(lt_call("exp", ARGS(X), NAMED({NULL, X}), NULL, NULL), LT_ERR_TYPE,
                 "named argument 0 has no name");
    lt_value_release(NULL);
}

/* A program that was compiled when values were larger. */
static void test_larger_values(void **state)
{
    (void)state;
    struct {
        lt_value value;
        char more[16];
    } args[2], result;
    int n = 1;
    memset(args, 0x77, sizeof args);
    args[0].value = X;
    args[1].value = lt_value_int(1);
    result.value = lt_value_none();
    args[0].value.size = args[1].value.size = result.value.size = sizeof *args;
    assert_ok(lt_call("add", &args[0].value, 2, NONE, &result.value, &n));
    assert_int_equal(result.value.size, sizeof result);
    assert_string_equal(text_of(&result.value), "2 6 4 5 3 7");
}

/* The functions per op check what they are given, too. */
static void test_null_in_functions(void **state)
{
    (void)state;
    lt_tensor *out = NULL, *pair[] = {x, NULL};
    const lt_tensor_list list = {2, pair};
    assert_fails(lt_add(x, NULL, lt_scalar_from_int(1), &out), LT_ERR_TYPE,
                 "add(): argument 'other' must not be NULL");
    assert_fails(lt_add(x, x, lt_scalar_from_int(1), NULL), LT_ERR_TYPE, "'out'");
    assert_fails(lt_exp_(NULL), LT_ERR_TYPE, "'self'");
    assert_fails(lt_exp_out(x, NULL), LT_ERR_TYPE, "'out'");
    assert_fails(lt_zeros(NULL, LT_FLOAT32, NULL, &out), LT_ERR_TYPE, "'size'");
    assert_fails(lt_cat(&list, 0, &out), LT_ERR_TYPE, "'tensors'");
    assert_fails(lt_topk(x, 1, 0, true, true, &out, NULL), LT_ERR_TYPE, "'out_indices'");
    assert_null(out);
}

/* ---- what there is --------------------------------------------------------------------------- */

static void test_every_operation_is_described(void **state)
{
    (void)state;
    assert_true(lt_op_count() > 500);
    assert_null(lt_op_at(-1));
    assert_null(lt_op_at(lt_op_count()));
    for (int i = 0; i < lt_op_count(); i++) {
        const lt_op_info *op = lt_op_at(i);
        size_t length = strlen(op->name);
        assert_true(op->size == sizeof *op && length > 0 && strlen(op->doc) > 0 &&
                    strlen(op->group) > 0);
        assert_memory_equal(op->signature, op->name, length);
        assert_int_equal(op->signature[length], '(');
        assert_true(op->n_results >= (op->in_place ? 0 : 1) && op->n_results <= 8 &&
                    op->n_args <= 16);
        assert_true(i == 0 || strcmp(lt_op_at(i - 1)->name, op->name) <= 0);
        for (int j = 0; j < op->n_args; j++) {
            const lt_arg_info *arg = lt_op_arg(op, j);
            char declared[128];
            snprintf(declared, sizeof declared, "%s %s", arg->type, arg->name);
            assert_non_null(strstr(op->signature, declared));
            assert_true(arg->kind > LT_KIND_NONE && arg->kind <= LT_KIND_GENERATOR);
            assert_false(arg->default_text != NULL && strcmp(arg->default_text, "nil") == 0 &&
                         !arg->optional);
        }
        assert_null(lt_op_arg(op, op->n_args));
        assert_true(op->n_results == 0 || lt_op_result(op, 0)->size == sizeof(lt_arg_info));
        assert_null(lt_op_result(op, op->n_results));
        if (op->in_place) assert_int_equal(op->name[length - 1], '_');
    }
    lt_op_info mine = *lt_op_at(0);
    assert_null(lt_op_arg(&mine, 0));
    assert_null(lt_op_arg(NULL, 0));
}

static const lt_op_info *find(const char *signature)
{
    for (int i = 0; i < lt_op_count(); i++)
        if (strcmp(lt_op_at(i)->signature, signature) == 0) return lt_op_at(i);
    fail_msg("no operation is described as %s", signature);
    return NULL;
}

static void test_defaults_count_from_zero(void **state)
{
    (void)state;
    const lt_op_info *op = find("cat(Tensor[] tensors, Dim dim=0, *, Tensor? out=nil) -> Tensor");
    assert_string_equal(lt_op_arg(op, 1)->default_text, "0");
    assert_int_equal(lt_op_arg(op, 0)->kind, LT_KIND_TENSORS);
    op = find("topk(Tensor self, int k, Dim dim=-1, bool largest=true, bool sorted=true, *, "
              "Tensor[]? out=nil) -> "
              "(Tensor values, IndexTensor indices)");
    assert_string_equal(lt_op_result(op, 1)->name, "indices");
    assert_null(lt_op_arg(op, 1)->default_text);
}

/* Hostile hosts: whatever values an operation is given, it does it or says why, and nothing is
 * kept. */
static void test_every_operation_survives_any_values(void **state)
{
    (void)state;
    lt_tensor *mine = NULL; /* some write to what they are given, if they are asked to */
    assert_ok(lt_clone(x, &mine));
    const lt_value values[] = {
        lt_value_none(),      lt_value_bool(true),        lt_value_int(1),
        lt_value_double(0.5), lt_value_string("mean"),    lt_value_tensor(mine),
        DIMS(2, 3),           lt_value_tensors(1, &mine), lt_value_dtype(LT_FLOAT32),
        lt_value_tensor(at),  lt_value_tensor(mask),
    };
    unsigned seed = 1;
    int done = 0, n_values = COUNT(values);
    for (int i = 0; i < lt_op_count(); i++) {
        const lt_op_info *op = lt_op_at(i);
        if (op->in_place) continue;
        for (int attempt = 0; attempt < 12; attempt++) {
            lt_value args[16], results[8];
            int n = 8, nargs = op->n_args;
            while (nargs > 0 && lt_op_arg(op, nargs - 1)->named_only) nargs--;
            for (int j = 0; j < nargs; j++) {
                args[j] = values[(seed = seed * 1103515245u + 12345u) / 65536 % (unsigned)n_values];
                /* Mostly what is asked for, so that something is done. */
                for (int k = 0; attempt % 4 != 0 && k < n_values &&
                                args[j].kind != (int)lt_op_arg(op, j)->kind;
                     k++)
                    args[j] = values[(k + attempt) % n_values];
            }
            for (int j = 0; j < 8; j++) results[j] = lt_value_none();
            lt_status status = lt_call(op->name, args, nargs, NONE, results, &n);
            assert_true(status == LT_OK ? n >= 1 : strlen(lt_error_message()) > 0);
            done += status == LT_OK;
            for (int j = 0; j < 8; j++) lt_value_release(&results[j]);
        }
    }
    assert_true(done > 1000);
    lt_tensor_release(mine);
}

/* ---- no memory ------------------------------------------------------------------------------- */

static lt_status many_conversions(void)
{
    lt_value result = lt_value_none();
    int n = 1;
    lt_status status = lt_call("add", ARGS(X, lt_value_int(1)), NONE, &result, &n);
    lt_value_release(&result);
    if (status == LT_OK)
        status = lt_call("index_select", ARGS(X, lt_value_int(1), lt_value_tensor(at)), NONE,
                         &result, &n);
    lt_value_release(&result);
    if (status == LT_OK) status = lt_call("unbind", ARGS(X), NONE, &result, &n);
    lt_value_release(&result);
    return status;
}

static void test_every_failing_allocation_is_reported(void **state)
{
    (void)state;
    assert_ok(many_conversions());
    int64_t live = lt_mem_live();
    int n = 0;
    lt_status status;
    do {
        lt_block_trim();
        lt_mem_fail_after(++n);
        status = many_conversions();
        lt_mem_fail_after(0);
        assert_true(status == LT_OK || status == LT_ERR_MEMORY);
        assert_int_equal(lt_mem_live(), live);
    } while (status != LT_OK && n < 1000);
    assert_int_equal(status, LT_OK);
    assert_true(n > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_lists_in_place),
        cmocka_unit_test(test_names_of_modules),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_composed_operations),
        cmocka_unit_test(test_recurrent_layers),
        cmocka_unit_test(test_operands_that_are_numbers),
        cmocka_unit_test(test_numbers_choose_an_overload),
        cmocka_unit_test(test_several_results),
        cmocka_unit_test(test_factories),
        cmocka_unit_test(test_indices_count_from_zero),
        cmocka_unit_test(test_strings_choose),
        cmocka_unit_test(test_in_place_and_out),
        cmocka_unit_test(test_numbers_of_other_kinds),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_what_does_not_fit_is_told),
        cmocka_unit_test(test_values_that_are_none),
        cmocka_unit_test(test_larger_values),
        cmocka_unit_test(test_null_in_functions),
        cmocka_unit_test(test_every_operation_is_described),
        cmocka_unit_test(test_defaults_count_from_zero),
        cmocka_unit_test(test_every_operation_survives_any_values),
        cmocka_unit_test(test_every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
