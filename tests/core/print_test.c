/* print_test.c - the text of tensors: PyTorch's to the character (print_texts.inc), what follows
 * the elements, layouts, options of contexts, and what becomes of a text that cannot be
 * finished. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "autograd/autograd.h"
#include "dtypes/dtype.h"
#include "expect.h"
#include "memory/alloc.h"
#include "memory/system.h"
#include "print/print.h"
#include "tensor.h"
#include "op/as_strided.h"
#include "op/expand.h"
#include "op/fill_.h"
#include "op/mul.h"
#include "op/select.h"
#include "op/to.h"
#include "op/transpose.h"

/* Each test is in a context of its own, with the options that it sets. */
static lt_context *before, *own;

static int enter_context(void **state)
{
    (void)state;
    if (lt_context_new(NULL, &own) != LT_OK) return -1;
    before = lt_context_enter(own);
    return 0;
}

static int leave_context(void **state)
{
    (void)state;
    lt_context_enter(before);
    lt_context_release(own);
    return 0;
}

/* Numbers, or i * scale + shift. */
static lt_tensor *make(lt_dtype dtype, int ndim, const int64_t *sizes, const double *numbers,
                       double scale, double shift)
{
    lt_tensor *doubles = NULL, *t = NULL;
    assert_ok(lt_tensor_new(LT_FLOAT64, lt_host, ndim, sizes, &doubles));
    double *to = lt_tensor_data(doubles);
    for (int64_t i = 0; i < lt_tensor_numel(doubles); i++)
        to[i] = scale != 0 ? (double)i * scale + shift : numbers[i];
    assert_ok(lt_tensor_to(doubles, dtype, NULL, &t));
    lt_tensor_release(doubles);
    return t;
}

static void assert_prints(lt_tensor *t, const char *expected)
{
    char *text = NULL;
    size_t n = 0;
    assert_ok(lt_tensor_format(t, &text, &n));
    assert_string_equal(text, expected);
    assert_int_equal(n, strlen(expected));
    lt_mem_free(text);
}

/* ---- elements -------------------------------------------------------------------------------- */

static const struct {
    lt_dtype dtype;
    int ndim;
    int64_t sizes[4];
    double numbers[4];
    double scale, shift; /* a scale: instead of numbers */
    lt_print_options options;
    const char *text;
} examples[] = {
#include "print_texts.inc"
};

static void elements_print_as_pytorch_prints_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        lt_tensor *t = make(examples[i].dtype, examples[i].ndim, examples[i].sizes,
                            examples[i].numbers, examples[i].scale, examples[i].shift);
        lt_print_set(own, &examples[i].options);
        assert_prints(t, examples[i].text);
        lt_tensor_release(t);
    }
}

/* What lies between the elements has no say. */
static void layouts_do_not_show(void **state)
{
    (void)state;
    const int64_t sizes[] = {2, 3};
    const double numbers[] = {1, 1e30, 2, 1e30, 3, 1e30};
    const lt_dims shape = {2, {2, 2}}, strides = {2, {0, 4}}, wide = {2, {2, 3}};
    lt_tensor *t = make(LT_FLOAT32, 2, sizes, numbers, 0, 0), *view = NULL, *row = NULL;
    assert_ok(lt_as_strided(t, &shape, &strides, NULL, &view));
    assert_prints(view, "tensor([[1., 3.],\n"
                        "        [1., 3.]])");
    lt_tensor_release(view);
    lt_tensor_release(t);
    t = make(LT_INT64, 2, sizes, NULL, 1, 0);
    assert_ok(lt_transpose(t, 0, 1, &view));
    assert_prints(view, "tensor([[0, 3],\n"
                        "        [1, 4],\n"
                        "        [2, 5]])");
    lt_print_set(own, &(lt_print_options){4, 2, 1, 80, -1});
    assert_prints(view, "tensor([[0, 3],\n"
                        "        ...,\n"
                        "        [2, 5]])");
    lt_tensor_release(view);
    assert_ok(lt_select(t, 0, 1, &row));
    assert_ok(lt_expand(row, &wide, &view));
    assert_prints(view, "tensor([[3,  ..., 5],\n"
                        "        [3,  ..., 5]])");
    lt_tensor_release(view);
    lt_tensor_release(row);
    lt_tensor_release(t);
}

/* ---- what follows them ----------------------------------------------------------------------- */

static void gradients_and_parameters_are_told(void **state)
{
    (void)state;
    const int64_t n = 2;
    const double numbers[] = {1.5, -2};
    lt_tensor *t = make(LT_FLOAT32, 1, &n, numbers, 0, 0), *product = NULL;
    assert_ok(lt_set_requires_grad(t, true));
    assert_prints(t, "tensor([ 1.5000, -2.0000], requires_grad=True)");
    assert_ok(lt_mul(t, t, &product));
    assert_prints(product, "tensor([2.2500, 4.0000], grad_fn=<MulBackward0>)");
    lt_print_set(own, &(lt_print_options){4, 1000, 3, 40, -1});
    assert_prints(product, "tensor([2.2500, 4.0000],\n"
                           "       grad_fn=<MulBackward0>)");
    t->flags |= LT_FLAG_PARAMETER;
    assert_prints(t, "Parameter containing:\n"
                     "tensor([ 1.5000, -2.0000],\n"
                     "       requires_grad=True)");
    lt_tensor_release(product);
    lt_tensor_release(t);
}

static void the_default_dtype_is_not_told(void **state)
{
    (void)state;
    const int64_t n = 1;
    const double number = 1;
    lt_tensor *single = make(LT_FLOAT32, 1, &n, &number, 0, 0),
              *twice = make(LT_FLOAT64, 1, &n, &number, 0, 0);
    assert_prints(single, "tensor([1.])");
    assert_prints(twice, "tensor([1.], dtype=torch.float64)");
    assert_ok(lt_set_default_dtype(LT_FLOAT64));
    assert_prints(single, "tensor([1.], dtype=torch.float32)");
    assert_prints(twice, "tensor([1.])");
    lt_tensor_release(single);
    lt_tensor_release(twice);
}

/* ---- where it is printed --------------------------------------------------------------------- */

static void options_belong_to_a_context(void **state)
{
    (void)state;
    const int64_t n = 1;
    const double number = 1.0 / 3;
    lt_tensor *t = make(LT_FLOAT32, 1, &n, &number, 0, 0);
    lt_print_set(own, &(lt_print_options){1, 1000, 3, 80, -1});
    assert_prints(t, "tensor([0.3])");
    lt_context_enter(before);
    assert_prints(t, "tensor([0.3333])");
    lt_context_enter(own);
    assert_prints(t, "tensor([0.3])");
    lt_tensor_release(t);
}

/* Wherever a program has a comma for it, the point is a point; and the program's setting stays. */
static void a_point_is_a_point_in_every_language(void **state)
{
    (void)state;
    const int64_t n = 1;
    const double number = 0.5;
    const char *const with_comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"};
    lt_tensor *t = make(LT_FLOAT32, 1, &n, &number, 0, 0);
    for (int i = 0; i < 3; i++) {
        const locale_t language = newlocale(LC_ALL_MASK, with_comma[i], (locale_t)0);
        if (language == (locale_t)0) continue; /* not installed */
        const locale_t usual = uselocale(language);
        assert_prints(t, "tensor([0.5000])");
        assert_true(uselocale((locale_t)0) == language);
        uselocale(usual);
        freelocale(language);
    }
    lt_tensor_release(t);
}

/* ---- what cannot be finished ----------------------------------------------------------------- */

static void each_allocation_may_fail(void **state)
{
    (void)state;
    const int64_t sizes[] = {40, 12};
    lt_tensor *t = make(LT_FLOAT32, 2, sizes, NULL, 0.25, 0);
    char untouched, *text = &untouched;
    size_t n = 77;
    int64_t nth = 1;
    for (;; nth++) {
        lt_mem_fail_after(nth);
        const lt_status status = lt_tensor_format(t, &text, &n);
        lt_mem_fail_after(0);
        if (status == LT_OK) break;
        assert_int_equal(status, LT_ERR_MEMORY);
        assert_ptr_equal(text, &untouched);
        assert_int_equal(n, 77);
        assert_true(nth < 100);
    }
    assert_true(nth > 3); /* the text grows */
    assert_int_equal(n, strlen(text));
    lt_mem_free(text);
    lt_tensor_release(t);
}

static void an_interrupt_ends_it(void **state)
{
    (void)state;
    const int64_t n = 100;
    lt_tensor *t = make(LT_INT32, 1, &n, NULL, 1, 0);
    char *text = NULL;
    size_t length = 0;
    lt_context_interrupt(own);
    assert_int_equal(lt_tensor_format(t, &text, &length), LT_ERR_INTERRUPTED);
    assert_null(text);
    lt_context_interrupt_clear(own);
    assert_ok(lt_tensor_format(t, &text, &length));
    lt_mem_free(text);
    lt_tensor_release(t);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter_context, leave_context)
    const struct CMUnitTest tests[] = {
        TEST(elements_print_as_pytorch_prints_them),
        TEST(layouts_do_not_show),
        TEST(gradients_and_parameters_are_told),
        TEST(the_default_dtype_is_not_told),
        TEST(options_belong_to_a_context),
        TEST(a_point_is_a_point_in_every_language),
        TEST(each_allocation_may_fail),
        TEST(an_interrupt_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
