/* model_save_lua_test.c - lt_model_save to .pt2: a program that PyTorch exported, and one of an ONNX
 * model, are trained in C and saved; the loaded file continues with the same outputs and gradients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "ltensor_model.h"
#include "ltensor_ops.h"
#include "ltensor_script.h"

#include "difference.h"
#include "expect.h"

static char folder[] = "/tmp/ltensor-saved-XXXXXX";

/* A path in the folder; at most two are in use. */
static const char *in_folder(const char *name)
{
    static char paths[2][100];
    static int next;
    next = 1 - next;
    snprintf(paths[next], sizeof paths[next], "%s/%s", folder, name);
    return paths[next];
}

/* The sum of squares of the output; adds to the gradients of the parameters. */
static double backward(lt_model *model, lt_tensor *input)
{
    lt_tensor *output = NULL, *square = NULL, *loss = NULL;
    assert_ok(lt_model_run(model, &input, 1, &output, 1));
    assert_ok(lt_square(output, &square));
    assert_ok(lt_sum(square, LT_DTYPE_NONE, &loss));
    assert_ok(lt_backward(loss, NULL, false, false));
    const double result = item(loss);
    lt_tensor_release(output);
    lt_tensor_release(square);
    lt_tensor_release(loss);
    return result;
}

static void descend(lt_model *model)
{
    lt_set_grad_enabled(false);
    for (int i = 0; i < lt_model_parameter_count(model); i++) {
        lt_tensor *p = lt_model_tensor(model, i), *grad = lt_tensor_grad(p);
        if (grad != NULL) assert_ok(lt_add_(p, grad, lt_scalar_from_float(-0.01)));
        assert_ok(lt_tensor_set_grad(p, NULL));
    }
    lt_set_grad_enabled(true);
}

/* Trains the model of a file, saves it, and continues with both. */
static void train_save_and_continue(const char *path, int ndim, const int64_t *shape)
{
    lt_model *model = NULL, *saved = NULL;
    lt_tensor *input = NULL;
    assert_ok(lt_model_load(path, &model));
    assert_ok(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, ndim, shape, &input));
    for (int64_t i = 0; i < lt_tensor_numel(input); i++)
        ((float *)lt_tensor_data(input))[i] = (float)(i % 7) / 7;
    double first = 0, last = 0;
    for (int i = 0; i < 3; i++) {
        last = backward(model, input);
        if (i == 0) first = last;
        descend(model);
    }
    assert_true(last < first);
    const char *written = in_folder("trained.pt2");
    assert_ok(lt_model_save(model, written));
    assert_ok(lt_model_load(written, &saved));
    assert_string_equal(lt_model_input(saved, 0)->name, "x");
    const double here = backward(model, input), there = backward(saved, input);
    assert_true(here < last);
    assert_true(there > here - 1e-5 * here && there < here + 1e-5 * here);
    int compared = 0;
    for (int i = 0; i < lt_model_parameter_count(model); i++) {
        lt_tensor *other = lt_model_find(saved, lt_model_tensor_name(model, i));
        lt_tensor *grad = lt_tensor_grad(lt_model_tensor(model, i));
        assert_non_null(other);
        if (grad == NULL) continue;
        assert_true(difference(grad, lt_tensor_grad(other)) < 1e-4);
        compared++;
    }
    assert_true(compared >= 4);
    remove(written);
    lt_tensor_release(input);
    lt_model_release(model);
    lt_model_release(saved);
}

static void a_trained_program_continues_after_a_save(void **state)
{
    (void)state;
    train_save_and_continue("tests/core/models/convolution.pt2", 4, (int64_t[]){2, 1, 8, 8});
    train_save_and_continue("tests/core/models/mixer.pt2", 2, (int64_t[]){3, 6});
}

static void a_trained_onnx_model_is_saved_as_a_program(void **state)
{
    (void)state;
    static const char writes[] =
        "debug.sethook() -- the exporter has its own\n"
        "torch.onnx.export(torch.nn.Sequential(torch.nn.Linear(6, 9), torch.nn.Tanh(),\n"
        "  torch.nn.Linear(9, 3)), {torch.rand(4, 6)}, path,\n"
        "  {input_names = {'x'}, dynamic_axes = {x = {'n'}}})\n";
    lt_script *lua = NULL;
    lt_script_config config = lt_script_defaults();
    config.trusted = true;
    assert_ok(lt_script_new(&config, &lua));
    lt_value path = lt_value_string(in_folder("net.onnx"));
    assert_ok(lt_script_set(lua, "path", &path));
    assert_ok(lt_script_load(lua, writes, sizeof writes - 1, "writes", NULL, NULL));
    lt_script_release(lua);
    train_save_and_continue(in_folder("net.onnx"), 2, (int64_t[]){5, 6});
    remove(in_folder("net.onnx"));
}

static void a_save_that_fails_leaves_no_file(void **state)
{
    (void)state;
    lt_model *model = NULL;
    assert_ok(lt_model_load("tests/core/models/mixer.pt2", &model));
    assert_int_not_equal(lt_model_save(model, in_folder("absent/net.pt2")), LT_OK);
    assert_int_equal(lt_model_save(model, in_folder("net.pth")), LT_ERR_RUNTIME);
    assert_int_not_equal(access(in_folder("net.pth"), F_OK), 0);
    lt_model_release(model);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trained_program_continues_after_a_save),
        cmocka_unit_test(a_trained_onnx_model_is_saved_as_a_program),
        cmocka_unit_test(a_save_that_fails_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
