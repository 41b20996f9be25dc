/* model_lua_test.c - lt_model: outputs and gradients equal the ones of Lua, later runs allocate
 * nothing, threads share a model, files from memory, damaged files. The ONNX files are written by
 * the library, the .pt2 files by PyTorch (tests/models/programs.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "ltensor_model.h"
#include "ltensor_ops.h"
#include "ltensor_script.h"

#include "difference.h"
#include "expect.h"

/* ---- an allocator that counts ---------------------------------------------------------------- */

static _Atomic long allocations;

static void *resize(void *user, void *old, size_t bytes)
{
    (void)user;
    if (bytes > 0)
        atomic_fetch_add(&allocations, 1);
    else
        free(old);
    return bytes > 0 ? realloc(old, bytes) : NULL;
}

static void *take_block(void *user, size_t bytes)
{
    (void)user;
    atomic_fetch_add(&allocations, 1);
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void give_block(void *user, void *block, size_t bytes)
{
    (void)user, (void)bytes;
    free(block);
}

/* ---- models and the values that Lua computes with them --------------------------------------- */

static char folder[] = "/tmp/ltensor-model-XXXXXX";
static lt_script *lua;

static const char *const names[] = {
    "lenet.onnx",    "mlp.onnx",  "signal.onnx", "gru.onnx",     "convolution.pt2", "attention.pt2",
    "recurrent.pt2", "mixer.pt2", "lstm.onnx",   "branches.pt2", "rounds.pt2"};
enum { N_MODELS = sizeof names / sizeof *names, MOST = 4 };

static const char prelude[] =
    "debug.sethook() -- the exporter has its own\n"
    "nn = torch.nn\n"
    "local function write(net, args, name, names)\n"
    "  torch.onnx.export(net:eval(), args, folder .. '/' .. name, {input_names = names})\n"
    "end\n"
    "torch.manual_seed(3)\n"
    "write(nn.Sequential(nn.Conv2d(1, 6, 5, {padding = 2}), nn.ReLU(), nn.MaxPool2d(2),\n"
    "  nn.Conv2d(6, 16, 5), nn.BatchNorm2d(16), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),\n"
    "  nn.Linear(400, 30), nn.Tanh(), nn.Linear(30, 10)), {torch.rand(2, 1, 28, 28)},\n"
    "  'lenet.onnx', {'x'})\n"
    "write(nn.Sequential(nn.Linear(6, 9), nn.LayerNorm(9), nn.GELU(), nn.Linear(9, 3),\n"
    "  nn.Softmax {dim = 2}), {torch.rand(4, 6)}, 'mlp.onnx', {'x'})\n"
    "write(nn.Sequential(nn.Conv1d(2, 3, 3), nn.ELU(), nn.MaxPool1d(2), nn.Flatten(),\n"
    "  nn.Linear(12, 2), nn.Sigmoid()), {torch.rand(3, 2, 10)}, 'signal.onnx', {'x'})\n"
    "write(nn.GRU(3, 5, {batch_first = true}), {torch.rand(2, 4, 3)}, 'gru.onnx', {'x'})\n"
    "write(nn.LSTM(3, 5, 2, {bidirectional = true}), {torch.rand(4, 2, 3)}, 'lstm.onnx', {'x'})\n"
    "torch.manual_seed(4)\n"
    "inputs = {['lenet.onnx'] = {torch.rand(2, 1, 28, 28)}, ['mlp.onnx'] = {torch.rand(4, 6)},\n"
    "  ['gru.onnx'] = {torch.rand(2, 4, 3)}, ['signal.onnx'] = {torch.rand(3, 2, 10)}, "
    "['convolution.pt2'] = {torch.rand(2, 1, 8, 8)}, ['mixer.pt2'] = {torch.rand(3, 6)},\n"
    "  ['lstm.onnx'] = {torch.rand(4, 2, 3)}, ['branches.pt2'] = {torch.rand(2, 3)},\n"
    "  ['rounds.pt2'] = {torch.tensor(3), torch.rand(2)},\n"
    "  ['attention.pt2'] = {torch.randint(0, 11, {2, 7})},\n"
    "  ['recurrent.pt2'] = {torch.rand(2, 5, 3), torch.rand(1, 2, 6)}}\n"
    "function path_of(name)\n"
    "  return (name:find 'pt2$' and 'tests/core/models/' or folder .. '/') .. name\n"
    "end\n"
    "local function open(name)\n"
    "  return (name:find 'pt2$' and torch.export or torch.onnx).load(path_of(name))\n"
    "end\n"
    "function outputs(name)\n"
    "  local net = open(name)\n"
    "  return torch.no_grad(function() return table.pack(net(table.unpack(inputs[name]))) end)\n"
    "end\n"
    "function gradients(name)\n"
    "  local net, list = open(name), {}\n"
    "  net(inputs[name][1]):square():sum():backward()\n"
    "  for _, p in ipairs(net:parameters()) do list[#list + 1] = p.grad end\n"
    "  return list\n"
    "end\n";

static lt_value call_lua(const char *function, const char *name)
{
    lt_value argument = lt_value_string(name), result = lt_value_none();
    int n = 1;
    assert_ok(lt_script_call(lua, function, &argument, 1, &result, &n));
    return result;
}

static lt_tensor *entry(const lt_value *table, int i)
{
    const lt_value *value = lt_table_at(table->v.table, i);
    assert_non_null(value);
    return value->v.tensor;
}

static int inputs_of(const char *name, lt_value *table, lt_tensor **list)
{
    lt_value all = lt_value_none();
    assert_ok(lt_script_get(lua, "inputs", &all));
    const lt_value *own = lt_table_get(all.v.table, name);
    *table = lt_value_table(lt_table_retain(own->v.table));
    lt_value_release(&all);
    const int n = (int)lt_table_length(table->v.table);
    for (int i = 0; i < n; i++) list[i] = entry(table, i);
    return n;
}

static const char *path_of(const char *name)
{
    static char path[200];
    const bool is_fixture = strstr(name, ".pt2") != NULL;
    snprintf(path, sizeof path, "%s/%s", is_fixture ? "tests/core/models" : folder, name);
    return path;
}

static lt_model *load(const char *name)
{
    lt_model *model = NULL;
    assert_ok(lt_model_load(path_of(name), &model));
    return model;
}

static void run(lt_model *model, lt_tensor **inputs, lt_tensor **outputs)
{
    assert_ok(lt_model_run(model, inputs, lt_model_input_count(model), outputs,
                           lt_model_output_count(model)));
}

static void release_all(lt_tensor **list, int n)
{
    for (int i = 0; i < n; i++) {
        lt_tensor_release(list[i]);
        list[i] = NULL;
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void outputs_equal_the_ones_of_lua_and_later_runs_allocate_nothing(void **state)
{
    (void)state;
    lt_set_grad_enabled(false);
    for (int k = 0; k < N_MODELS; k++) {
        lt_value wanted = call_lua("outputs", names[k]), table;
        lt_tensor *inputs[MOST], *outputs[MOST] = {NULL};
        lt_model *model = load(names[k]);
        assert_int_equal(inputs_of(names[k], &table, inputs), lt_model_input_count(model));
        const int n = lt_model_output_count(model);
        for (int i = 0; i < 4; i++) { /* the first run makes the outputs, the others fill them */
            for (int j = 0; j < n && i > 0; j++) assert_ok(lt_zero_(outputs[j]));
            const long before = atomic_load(&allocations);
            run(model, inputs, outputs);
            if (lt_model_interpreted(model) != NULL)
                fail_msg("%s: %s", names[k], lt_model_interpreted(model));
            if (i > 0 && allocations != before)
                fail_msg("%s: %ld allocations in run %d", names[k], allocations - before, i + 1);
            for (int j = 0; j < n; j++) assert_true(difference(outputs[j], entry(&wanted, j)) == 0);
        }
        release_all(outputs, n);
        lt_value_release(&wanted);
        lt_value_release(&table);
        lt_model_release(model);
    }
    lt_set_grad_enabled(true);
}

static void a_model_describes_its_inputs_outputs_and_parameters(void **state)
{
    (void)state;
    lt_model *model = load("mlp.onnx");
    assert_int_equal(lt_model_input_count(model), 1);
    const lt_model_value *x = lt_model_input(model, 0);
    assert_string_equal(x->name, "x");
    assert_int_equal(x->dtype, LT_FLOAT32);
    assert_int_equal(x->ndim, 2);
    assert_int_equal(x->dims[0], 4);
    assert_int_equal(x->dims[1], 6);
    assert_null(lt_model_input(model, 1));
    assert_int_equal(lt_model_output_count(model), 1);
    assert_null(lt_model_output(model, -1));
    assert_true(lt_model_parameter_count(model) >= 6);
    lt_tensor *weight = lt_model_find(model, "0.weight");
    assert_int_equal(lt_tensor_numel(weight), 54);
    assert_true(lt_tensor_requires_grad(weight));
    assert_null(lt_model_find(model, "9.weight"));
    lt_model_release(model);
    model = load("rounds.pt2");
    assert_int_equal(lt_model_input(model, 0)->dtype, LT_INT64);
    assert_int_equal(lt_model_input(model, 0)->ndim, 0);
    assert_int_equal(lt_model_input(model, 1)->dims[0], 2);
    assert_int_equal(lt_model_output(model, 0)->dtype, LT_FLOAT32);
    assert_int_equal(lt_model_output(model, 0)->ndim, 1);
    lt_model_release(model);
}

static void preallocated_outputs_receive_the_elements(void **state)
{
    (void)state;
    lt_set_grad_enabled(false);
    lt_value wanted = call_lua("outputs", "mlp.onnx"), table;
    lt_tensor *inputs[MOST], *output = NULL, *kept;
    lt_model *model = load("mlp.onnx");
    inputs_of("mlp.onnx", &table, inputs);
    const int64_t sizes[] = {4, 3};
    assert_ok(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, 2, sizes, &output));
    kept = output;
    for (int i = 0; i < 2; i++) {
        assert_ok(lt_zero_(output));
        run(model, inputs, &output);
        assert_ptr_equal(output, kept);
        assert_true(difference(output, entry(&wanted, 0)) == 0);
    }
    lt_tensor_release(output);
    assert_ok(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, 1, sizes, &output));
    assert_fails(lt_model_run(model, inputs, 1, &output, 1), LT_ERR_RUNTIME, "another shape");
    lt_tensor_release(output);
    lt_value_release(&wanted);
    lt_value_release(&table);
    lt_model_release(model);
    lt_set_grad_enabled(true);
}

static void a_model_whose_sizes_depend_on_elements_runs_in_the_interpreter(void **state)
{
    (void)state;
    static const char indices[] = /* y = NonZero(x) */
        "\x08\x08\x3A\x2A\x0A\x0F\x0A\x01x\x12\x01y\x22\x07NonZero\x12\x01g"
        "\x5A\x09\x0A\x01x\x12\x04\x0A\x02\x08\x01\x62\x09\x0A\x01y\x12\x04\x0A\x02\x08\x07\x42\x02"
        "\x10\x0D";
    lt_model *model = NULL;
    assert_ok(lt_model_load_memory(indices, sizeof indices - 1, &model));
    lt_tensor *x = NULL, *y = NULL;
    float numbers[4] = {1, 0, 1, 0};
    const int64_t sizes[] = {4};
    assert_ok(lt_tensor_wrap(numbers, LT_FLOAT32, 1, sizes, NULL, NULL, &x));
    for (int i = 0; i < 3; i++) {
        run(model, &x, &y);
        assert_int_equal(lt_tensor_numel(y), 2 + i);
        assert_non_null(lt_model_interpreted(model));
        release_all(&y, 1);
        numbers[i == 0 ? 1 : 3] = 1;
    }
    lt_tensor_release(x);
    lt_model_release(model);
}

static void bytes_in_memory_give_the_same_model(void **state)
{
    (void)state;
    lt_set_grad_enabled(false);
    for (int k = 0; k < N_MODELS; k++) {
        lt_value wanted = call_lua("outputs", names[k]), table;
        lt_tensor *inputs[MOST], *outputs[MOST] = {NULL};
        FILE *file = fopen(path_of(names[k]), "rb");
        assert_non_null(file);
        char *bytes = malloc(1 << 20);
        const size_t size = fread(bytes, 1, 1 << 20, file);
        fclose(file);
        lt_model *model = NULL;
        assert_ok(lt_model_load_memory(bytes, size, &model));
        inputs_of(names[k], &table, inputs);
        run(model, inputs, outputs);
        assert_true(difference(outputs[0], entry(&wanted, 0)) == 0);
        release_all(outputs, lt_model_output_count(model));
        lt_model_release(model);
        model = NULL;
        assert_int_not_equal(lt_model_load_memory(bytes, size / 2, &model), LT_OK);
        assert_null(model);
        free(bytes);
        lt_value_release(&wanted);
        lt_value_release(&table);
    }
    lt_set_grad_enabled(true);
}

static void bad_files_are_errors(void **state)
{
    (void)state;
    lt_model *model = NULL;
    assert_fails(lt_model_load("/tmp/no/such.onnx", &model), LT_ERR_IO, "such.onnx");
    assert_fails(lt_model_load("README.md", &model), LT_ERR_RUNTIME, "neither an ONNX model");
    assert_fails(lt_model_load_memory("words", 5, &model), LT_ERR_RUNTIME, "neither an ONNX model");
    assert_fails(lt_model_load_memory("", 0, &model), LT_ERR_RUNTIME, "neither an ONNX model");
    assert_int_equal(lt_model_load(NULL, &model), LT_ERR_TYPE);
    assert_int_equal(lt_model_load("README.md", NULL), LT_ERR_TYPE);
    model = load("mlp.onnx");
    lt_tensor *x = NULL, *y = NULL;
    assert_ok(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, 1, (int64_t[]){6}, &x));
    assert_fails(lt_model_run(model, &x, 1, &y, 1), LT_ERR_RUNTIME, "input 'x' has the shape [6]");
    assert_fails(lt_model_run(model, &x, 2, &y, 1), LT_ERR_RUNTIME, "2 inputs");
    assert_fails(lt_model_run(model, &x, 1, &y, 0), LT_ERR_RUNTIME, "0 outputs");
    assert_int_equal(lt_model_run(model, NULL, 1, &y, 1), LT_ERR_TYPE);
    assert_null(y);
    lt_tensor_release(x);
    lt_model_release(model);
    lt_model_release(NULL);
}

/* Loss: the sum of squares of the first output. Gradients are added to the parameters. */
static double backward(lt_model *model, lt_tensor **inputs)
{
    lt_tensor *outputs[MOST] = {NULL}, *square = NULL, *loss = NULL;
    run(model, inputs, outputs);
    assert_ok(lt_square(outputs[0], &square));
    assert_ok(lt_sum(square, LT_DTYPE_NONE, &loss));
    assert_ok(lt_backward(loss, NULL, false, false));
    const double result = item(loss);
    release_all(outputs, lt_model_output_count(model));
    lt_tensor_release(square);
    lt_tensor_release(loss);
    return result;
}

static void descend(lt_model *model, double rate)
{
    lt_set_grad_enabled(false);
    for (int i = 0; i < lt_model_parameter_count(model); i++) {
        lt_tensor *p = lt_model_tensor(model, i), *grad = lt_tensor_grad(p);
        if (grad != NULL) assert_ok(lt_add_(p, grad, lt_scalar_from_float(-rate)));
        assert_ok(lt_tensor_set_grad(p, NULL));
    }
    lt_set_grad_enabled(true);
}

static void training_has_the_gradients_of_lua_and_lowers_the_loss(void **state)
{
    (void)state;
    static const char *const trained[] = {"lenet.onnx", "convolution.pt2", "gru.onnx"};
    for (int k = 0; k < 3; k++) {
        lt_value wanted = call_lua("gradients", trained[k]), table;
        lt_tensor *inputs[MOST];
        lt_model *model = load(trained[k]);
        inputs_of(trained[k], &table, inputs);
        double first = 0, last = 0;
        for (int i = 0; i < 12; i++) {
            last = backward(model, inputs);
            if (i == 0) first = last;
            for (int j = 0; j < lt_model_parameter_count(model) && i == 0; j++) {
                lt_tensor *grad = lt_tensor_grad(lt_model_tensor(model, j));
                assert_true(difference(grad, entry(&wanted, j)) < 1e-6);
            }
            if (i < 2) /* the second run uses the plan, with the same parameters */
                assert_true(last == first);
            if (i == 0)
                for (int j = 0; j < lt_model_parameter_count(model); j++)
                    assert_ok(lt_tensor_set_grad(lt_model_tensor(model, j), NULL));
            else
                descend(model, 0.01);
        }
        if (lt_model_interpreted(model) != NULL)
            fail_msg("%s: %s", trained[k], lt_model_interpreted(model));
        assert_true(last < 0.9 * first);
        lt_value_release(&wanted);
        lt_value_release(&table);
        lt_model_release(model);
    }
}

static void changed_parameters_take_effect_and_survive_a_save(void **state)
{
    (void)state;
    lt_value table;
    lt_tensor *inputs[MOST], *before = NULL, *after = NULL, *again = NULL;
    lt_model *model = load("lenet.onnx"), *other = NULL;
    inputs_of("lenet.onnx", &table, inputs);
    lt_set_grad_enabled(false);
    run(model, inputs, &before);
    for (int i = 0; i < lt_model_parameter_count(model); i++) {
        lt_tensor *p = lt_model_tensor(model, i);
        assert_ok(lt_add_(p, p, lt_scalar_from_float(0.5)));
    }
    run(model, inputs, &after);
    assert_true(difference(before, after) > 0);
    char path[100];
    snprintf(path, sizeof path, "%s/state.safetensors", folder);
    assert_ok(lt_model_save_state(model, path));
    assert_fails(lt_model_load(path, &other), LT_ERR_RUNTIME, "safetensors without a graph");
    lt_model_release(model);
    model = load("lenet.onnx");
    run(model, inputs, &again);
    assert_true(difference(before, again) == 0);
    lt_tensor_release(again);
    again = NULL;
    assert_ok(lt_model_load_state(model, path));
    run(model, inputs, &again);
    assert_true(difference(after, again) == 0);
    lt_set_grad_enabled(true);
    lt_tensor *all[] = {before, after, again};
    release_all(all, 3);
    lt_value_release(&table);
    lt_model_release(model);
}

/* The integer that a program reads selects the plan; numbers that vary too much end planning. */
static void a_plan_applies_to_the_numbers_that_the_program_read(void **state)
{
    (void)state;
    lt_set_grad_enabled(false);
    int64_t rounds = 1;
    float numbers[2] = {1, 2};
    lt_tensor *inputs[2], *outputs[1] = {NULL};
    assert_ok(lt_tensor_wrap(&rounds, LT_INT64, 0, NULL, NULL, NULL, &inputs[0]));
    assert_ok(lt_tensor_wrap(numbers, LT_FLOAT32, 1, (int64_t[]){2}, NULL, NULL, &inputs[1]));
    lt_model *model = load("rounds.pt2");
    for (int i = 0; i < 30; i++) {
        rounds = i < 12 ? i % 3 : i - 11;
        const long before = atomic_load(&allocations);
        run(model, inputs, outputs);
        assert_true(i < 3 || i >= 12 || allocations == before);
        float wanted = numbers[1];
        for (int64_t n = rounds; n > 0; n--) wanted = wanted * 1.5f + (float)n;
        assert_true(((float *)lt_tensor_data(outputs[0]))[1] == wanted);
        assert_true((lt_model_interpreted(model) == NULL) == (i < 19));
    }
    release_all(inputs, 2);
    release_all(outputs, 1);
    lt_model_release(model);
    lt_set_grad_enabled(true);
}

static void scale_parameters(lt_model *model)
{
    for (int i = 0; i < lt_model_parameter_count(model); i++) {
        lt_tensor *p = lt_model_tensor(model, i);
        assert_ok(lt_add_(p, p, lt_scalar_from_float(0.25)));
    }
}

/* The reason why torch.onnx.export does not write a program of PyTorch; NULL: it does. */
static const char *export_problem(const char *name)
{
    return strcmp(name, "branches.pt2") == 0 || strcmp(name, "rounds.pt2") == 0 ? "item" : NULL;
}

static void saved_models_have_the_changed_parameters(void **state)
{
    (void)state;
    static const char *const suffixes[] = {".onnx", ".pt2", ".safetensors"};
    lt_set_grad_enabled(false);
    for (int k = 0; k < N_MODELS; k++) {
        const bool is_program = strstr(names[k], ".pt2") != NULL;
        for (int j = 0; j < 3; j++) {
            lt_value table;
            lt_tensor *inputs[MOST], *wanted[MOST] = {NULL}, *given[MOST] = {NULL};
            char path[200], again[200];
            snprintf(path, sizeof path, "%s/saved%s", folder, suffixes[j]);
            snprintf(again, sizeof again, "%s/again%s", folder, suffixes[j]);
            lt_model *model = load(names[k]), *second = NULL;
            const int n = lt_model_output_count(model);
            inputs_of(names[k], &table, inputs);
            scale_parameters(model);
            run(model, inputs, wanted);
            const lt_status status = lt_model_save(model, path);
            if (j == 0 && is_program && export_problem(names[k]) != NULL) {
                assert_fails(status, LT_ERR_RUNTIME, export_problem(names[k]));
            } else {
                if (status != LT_OK) fail_msg("%s: %s", path, lt_error_message());
                for (int round = 0; round < 2; round++) { /* also a model that was saved before */
                    if (lt_model_load(round == 0 ? path : again, &second) != LT_OK)
                        fail_msg("%s as %s: %s", names[k], path, lt_error_message());
                    run(second, inputs, given);
                    for (int i = 0; i < n; i++)
                        if (!(difference(given[i], wanted[i]) < 1e-6))
                            fail_msg("%s as %s: output %d", names[k], path, i);
                    release_all(given, n);
                    if (round == 0) assert_ok(lt_model_save(second, again));
                    lt_model_release(second);
                }
                remove(path);
                remove(again);
            }
            release_all(wanted, n);
            lt_value_release(&table);
            lt_model_release(model);
        }
    }
    lt_set_grad_enabled(true);
}

static void a_model_from_memory_is_saved_and_other_suffixes_are_errors(void **state)
{
    (void)state;
    lt_set_grad_enabled(false);
    static const char *const formats[] = {"lenet.onnx", "mixer.pt2"};
    for (int k = 0; k < 2; k++) {
        lt_value table;
        lt_tensor *inputs[MOST], *wanted = NULL, *given = NULL;
        char path[200], *bytes = malloc(1 << 20);
        FILE *file = fopen(path_of(formats[k]), "rb");
        assert_non_null(file);
        const size_t size = fread(bytes, 1, 1 << 20, file);
        fclose(file);
        lt_model *model = NULL, *second = NULL;
        assert_ok(lt_model_load_memory(bytes, size, &model));
        free(bytes);
        inputs_of(formats[k], &table, inputs);
        scale_parameters(model);
        run(model, inputs, &wanted);
        snprintf(path, sizeof path, "%s/saved%s", folder, strchr(formats[k], '.'));
        assert_ok(lt_model_save(model, path));
        assert_fails(lt_model_save(model, "model.pth"), LT_ERR_RUNTIME, "lt_model_save_state");
        assert_ok(lt_model_load(path, &second));
        run(second, inputs, &given);
        assert_true(difference(given, wanted) == 0);
        remove(path);
        lt_tensor_release(wanted);
        lt_tensor_release(given);
        lt_value_release(&table);
        lt_model_release(model);
        lt_model_release(second);
    }
    lt_set_grad_enabled(true);
}

typedef struct shared_run {
    lt_model *model;
    lt_tensor *input, *wanted;
    int wrong;
} shared_run;

static void *run_often(void *argument)
{
    shared_run *r = argument;
    lt_tensor *y = NULL;
    lt_set_grad_enabled(false);
    for (int i = 0; i < 50; i++) {
        if (lt_model_run(r->model, &r->input, 1, &y, 1) != LT_OK) {
            r->wrong++;
            continue;
        }
        r->wrong += memcmp(lt_tensor_data(y), lt_tensor_data(r->wanted),
                           (size_t)lt_tensor_numel(y) * sizeof(float)) != 0;
        if (i % 2 == 1) release_all(&y, 1);
    }
    return NULL;
}

/* Half of the threads negate the input, which selects another branch of branches.pt2. */
static void eight_threads_run_one_model(void **state)
{
    (void)state;
    static const char *const shared[] = {"lenet.onnx", "branches.pt2"};
    for (int k = 0; k < 2; k++) {
        lt_value table;
        lt_tensor *inputs[MOST], *wanted[2][MOST] = {{NULL}};
        shared_run runs[8];
        pthread_t threads[8];
        lt_model *model = load(shared[k]);
        const int n = lt_model_output_count(model);
        inputs_of(shared[k], &table, inputs);
        assert_ok(lt_neg(inputs[0], &inputs[1]));
        lt_set_grad_enabled(false);
        run(model, &inputs[0], wanted[0]);
        run(model, &inputs[1], wanted[1]);
        lt_set_grad_enabled(true);
        lt_model_release(model);
        model = load(shared[k]);
        for (int i = 0; i < 8; i++) {
            runs[i] = (shared_run){model, inputs[i % 2], wanted[i % 2][0], 0};
            assert_int_equal(pthread_create(&threads[i], NULL, run_often, &runs[i]), 0);
        }
        for (int i = 0; i < 8; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(runs[i].wrong, 0);
        }
        release_all(wanted[0], n);
        release_all(wanted[1], n);
        lt_tensor_release(inputs[1]);
        lt_value_release(&table);
        lt_model_release(model);
    }
}

/* ---- the program ----------------------------------------------------------------------------- */

static int set_up(void **state)
{
    (void)state;
    static const lt_allocator counting = {sizeof counting, NULL, resize, take_block, give_block};
    assert_ok(lt_set_allocator(&counting));
    assert_non_null(mkdtemp(folder));
    lt_script_config config = lt_script_defaults();
    config.trusted = true;
    assert_ok(lt_script_new(&config, &lua));
    lt_value value = lt_value_string(folder);
    assert_ok(lt_script_set(lua, "folder", &value));
    assert_ok(lt_script_load(lua, prelude, sizeof prelude - 1, "prelude", NULL, NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    lt_script_release(lua);
    static const char *const files[] = {"lenet.onnx",  "mlp.onnx",  "gru.onnx",
                                        "signal.onnx", "lstm.onnx", "state.safetensors"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) remove(path_of(files[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_equal_the_ones_of_lua_and_later_runs_allocate_nothing),
        cmocka_unit_test(a_model_describes_its_inputs_outputs_and_parameters),
        cmocka_unit_test(preallocated_outputs_receive_the_elements),
        cmocka_unit_test(a_model_whose_sizes_depend_on_elements_runs_in_the_interpreter),
        cmocka_unit_test(bytes_in_memory_give_the_same_model),
        cmocka_unit_test(bad_files_are_errors),
        cmocka_unit_test(training_has_the_gradients_of_lua_and_lowers_the_loss),
        cmocka_unit_test(changed_parameters_take_effect_and_survive_a_save),
        cmocka_unit_test(saved_models_have_the_changed_parameters),
        cmocka_unit_test(a_model_from_memory_is_saved_and_other_suffixes_are_errors),
        cmocka_unit_test(a_plan_applies_to_the_numbers_that_the_program_read),
        cmocka_unit_test(eight_threads_run_one_model),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
