/* header_lua_test.c - every function of ltensor_script.h and ltensor_lua.h: with memory that ends
 * at any of its requests, and with NULL for each of its pointers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#include "ltensor_lua.h"
#include "ltensor_model.h"
#include "ltensor_script.h"

#include "ending.h"
#include "system/lua_versions.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static const lt_device cpu = {LT_CPU, 0};
static const int64_t three[] = {3};

/* ---- memory that ends ------------------------------------------------------------------------ */

static lt_script *script; /* what the calls below use: fresh for each of them */
static lua_State *L;
static lt_tensor *x;

static void open_all(void)
{
    lt_script_config config = lt_script_defaults();
    assert_ok(lt_script_new(&config, &script));
    static const char text[] =
        "function same(...) return ... end model = {forward = function(self, x) return x * 2 end}";
    assert_ok(lt_script_load(script, text, sizeof text - 1, "setup", NULL, NULL));
    L = lt_lua_new_state(lt_lua_alloc, NULL);
    assert_non_null(L);
    luaL_openlibs(L);
    luaL_requiref(L, "torch", luaopen_torch, 1);
    lua_settop(L, 0);
    assert_ok(lt_tensor_new(LT_FLOAT32, cpu, 1, three, &x));
}

static void close_all(void)
{
    lt_script_release(script);
    lua_close(L);
    lt_tensor_release(x);
}

static void clear_stack(void) { lua_settop(L, 0); }

static int end_anywhere(const char *name, lt_status (*call)(void))
{
    open_all();
    const int failures = end_at_requests(name, call, clear_stack, 60);
    close_all();
    return failures;
}

/* ---- scripts --------------------------------------------------------------------------------- */

static void count_call(void *user) { ++*(int *)user; }

static lt_status script_new(void)
{
    int released = 0;
    lt_script *made = NULL;
    lt_script_config config = lt_script_defaults();
    config.memory_limit = 64 << 20;
    config.seconds = 1000;
    config.user = &released, config.release = count_call;
    const lt_status status = lt_script_new(&config, &made);
    assert_int_equal(status == LT_OK, made != NULL);
    lt_script_release(made);
    assert_int_equal(released, status == LT_OK);
    return status;
}
static void script_new_null(void)
{
    lt_script *made = NULL;
    assert_no_null(lt_script_new(NULL, NULL), "'out'");
    assert_ok(lt_script_new(NULL, &made)); /* the defaults */
    lt_script_release(made);
    lt_script_release(NULL);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* The old name of lt_script_release. */
static lt_status script_free(void)
{
    lt_script *made = NULL;
    const lt_status status = lt_script_new(NULL, &made);
    lt_script_free(made);
    return status;
}
static void script_free_null(void) { lt_script_free(NULL); }
#pragma GCC diagnostic pop

static lt_status script_load(void)
{
    static const char text[] =
        "local t = {} for i = 1, 20 do t[i] = 'text ' .. i end\n"
        "return torch.ones(3), {n = 1, inner = {'a', 'b'}}, table.concat(t), 2.5";
    lt_value results[4] = {lt_value_none(), lt_value_none(), lt_value_none(), lt_value_none()};
    int n = 4;
    const lt_status status = lt_script_load(script, text, sizeof text - 1, "text", results, &n);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(results[i].kind != LT_KIND_NONE, status == LT_OK);
        lt_value_release(&results[i]);
    }
    return status;
}
static void script_load_null(void)
{
    lt_value result = lt_value_none();
    assert_no_null(lt_script_load(NULL, "", 0, "text", NULL, NULL), "'script'");
    assert_no_null(lt_script_load(script, NULL, 0, "text", NULL, NULL), "'text'");
    assert_no_null(lt_script_load(script, "", 0, NULL, NULL, NULL), "'name'");
    assert_no_null(lt_script_load(script, "", 0, "text", &result, NULL), "'nresults'");
    assert_ok(
        lt_script_load(script, "return 1", 8, "text", NULL, NULL)); /* the result is dropped */
}

static lt_status script_call(void)
{
    lt_table *table = NULL;
    lt_status status = lt_table_new(&table);
    const lt_value text = lt_value_string("text"), tensor = lt_value_tensor(x);
    if (status == LT_OK) status = lt_table_set(table, "tensor", &tensor);
    if (status == LT_OK) status = lt_table_append(table, &text);
    const lt_value args[] = {lt_value_table(table), tensor, text};
    lt_value results[3] = {lt_value_none(), lt_value_none(), lt_value_none()};
    int n = 3;
    if (status == LT_OK) status = lt_script_call(script, "same", args, 3, results, &n);
    if (status == LT_OK) assert_ptr_equal(lt_table_get(results[0].v.table, "tensor")->v.tensor, x);
    for (int i = 0; i < 3; i++) lt_value_release(&results[i]);
    n = 1;
    if (status == LT_OK) status = lt_script_call(script, "model:forward", &tensor, 1, results, &n);
    lt_value_release(&results[0]);
    lt_table_release(table);
    return status;
}
static void script_call_null(void)
{
    const lt_value none[] = {lt_value_tensor(NULL), lt_value_string(NULL), lt_value_table(NULL),
                             lt_value_int(1)};
    lt_value result = lt_value_none();
    assert_no_null(lt_script_call(NULL, "same", NULL, 0, NULL, NULL), "'script'");
    assert_no_null(lt_script_call(script, NULL, NULL, 0, NULL, NULL), "'function'");
    assert_no_null(lt_script_call(script, "same", NULL, 1, NULL, NULL), "'args'");
    assert_no_null(lt_script_call(script, "same", &none[3], 1, &result, NULL), "'nresults'");
    for (int i = 0; i < 3; i++) {
        if (lt_script_call(script, "same", &none[i], 1, NULL, NULL) == LT_OK) continue; /* nil */
        assert_non_null(strstr(lt_error_message(), "NULL"));
    }
}

static lt_status script_set(void)
{
    const lt_value text =
        lt_value_string("a text that is none of the short ones, which are kept once");
    lt_value back = lt_value_none();
    lt_status status = lt_script_set(script, "global", &text);
    if (status == LT_OK) status = lt_script_get(script, "global", &back);
    assert_int_equal(back.kind, status == LT_OK ? LT_KIND_STRING : LT_KIND_NONE);
    lt_value_release(&back);
    return status;
}
static void script_set_null(void)
{
    const lt_value one = lt_value_int(1);
    assert_no_null(lt_script_set(NULL, "global", &one), "'script'");
    assert_no_null(lt_script_set(script, NULL, &one), "'name'");
    assert_no_null(lt_script_set(script, "global", NULL), "'value'");
}
static lt_status script_keep(void)
{
    const lt_value value = lt_value_tensor(x);
    return lt_script_keep(script, "kept", "same", &value, 1);
}
static void script_keep_null(void)
{
    assert_no_null(lt_script_keep(NULL, "kept", "same", NULL, 0), "'script'");
    assert_no_null(lt_script_keep(script, NULL, "same", NULL, 0), "'global'");
    assert_no_null(lt_script_keep(script, "kept", NULL, NULL, 0), "'function'");
    assert_no_null(lt_script_keep(script, "kept", "same", NULL, 1), "'args'");
}
static void script_get_null(void)
{
    lt_value value = lt_value_none();
    assert_no_null(lt_script_get(NULL, "global", &value), "'script'");
    assert_no_null(lt_script_get(script, NULL, &value), "'name'");
    assert_no_null(lt_script_get(script, "global", NULL), "'value'");
}

static lt_status script_look(void)
{
    return lt_script_context(script) != NULL && lt_script_state(script) != NULL ? LT_OK
                                                                                : LT_ERR_TYPE;
}
static void script_look_null(void)
{
    assert_null(lt_script_context(NULL));
    assert_null(lt_script_state(NULL));
}

/* ---- the binding ----------------------------------------------------------------------------- */

/* What a call that may raise comes to. */
static lt_status protected(lua_State *state, lua_CFunction f)
{
    int status = LUA_ERRMEM;
    if (lua_checkstack(state, 10)) {
        lua_pushcfunction(state, f); /* needs no memory */
        status = lua_pcall(state, 0, 0, 0);
    }
    if (status == LUA_OK) return LT_OK;
    if (status == LUA_ERRMEM) return lt_error(LT_ERR_MEMORY, "not enough memory");
    const char *text = lua_tostring(state, -1);
    const bool memory = text != NULL && strstr(text, "memory") != NULL;
    return lt_error(memory ? LT_ERR_MEMORY : LT_ERR_RUNTIME, "%s", text != NULL ? text : "no text");
}

static int open_torch(lua_State *state)
{
    luaL_openlibs(state);
    luaL_requiref(state, "torch", luaopen_torch, 1);
    return 0;
}

static lt_status open_module(void)
{
    lua_State *own = lt_lua_new_state(lt_lua_alloc, NULL);
    if (own == NULL) return lt_error(LT_ERR_MEMORY, "not enough memory");
    const lt_status status = protected(own, open_torch);
    lua_close(own);
    return status;
}
static void open_module_null(void) { assert_int_equal(luaopen_torch(NULL), 0); }

static int give_context(lua_State *state)
{
    if (lt_lua_set_context(state, lt_context_process()) != LT_OK)
        luaL_error(state, "%s", lt_error_message());
    return 0;
}

static lt_status set_context(void)
{
    lua_State *own = lt_lua_new_state(lt_lua_alloc, NULL);
    if (own == NULL) return lt_error(LT_ERR_MEMORY, "not enough memory");
    assert_null(lt_lua_context(own));
    const lt_status status = protected(own, give_context);
    if (status == LT_OK) assert_ptr_equal(lt_lua_context(own), lt_context_process());
    lua_close(own);
    return status;
}
static void set_context_null(void)
{
    assert_no_null(lt_lua_set_context(NULL, lt_context_process()), "'L'");
    assert_no_null(lt_lua_set_context(L, NULL), "'context'");
    assert_null(lt_lua_context(NULL));
}

static lt_status alloc(void)
{
    void *p = lt_lua_alloc(lt_context_process(), NULL, 0, 100);
    if (p == NULL) return lt_error(LT_ERR_MEMORY, "not enough memory");
    void *more = lt_lua_alloc(lt_context_process(), p, 100, 200);
    lt_lua_alloc(lt_context_process(), more != NULL ? more : p, more != NULL ? 200 : 100, 0);
    return more != NULL ? LT_OK : lt_error(LT_ERR_MEMORY, "not enough memory");
}
static void alloc_null(void)
{
    void *p = lt_lua_alloc(NULL, NULL, 0, 100); /* the process's context */
    assert_non_null(p);
    assert_null(lt_lua_alloc(NULL, p, 100, 0));
    assert_null(lt_lua_alloc(NULL, NULL, 0, 0));
}

static int push_and_read(lua_State *state)
{
    lt_lua_push(state, x);
    if (lt_lua_tensor(state, -1) != x) luaL_error(state, "another tensor");
    return 0;
}
static lt_status push(void) { return protected(L, push_and_read); }
static void push_null(void)
{
    lt_lua_push(NULL, x);
    lt_lua_push(L, NULL);
    assert_true(lua_isnil(L, -1));
    assert_null(lt_lua_tensor(L, -1));
    assert_null(lt_lua_tensor(NULL, 1));
    lua_settop(L, 0);
}

static void *managed; /* the host's, until a capsule has it */

static int push_and_take(lua_State *state)
{
    bool versioned = false;
    lt_lua_push_dlpack(state, managed, true);
    managed = NULL;
    if (lt_lua_take_dlpack(state, -1, &managed, &versioned) != LT_OK || !versioned)
        luaL_error(state, "%s", lt_error_message());
    if (lt_lua_take_dlpack(state, -1, &managed, &versioned) != LT_ERR_TYPE)
        luaL_error(state, "taken twice");
    return 0;
}

static lt_status dlpack(void)
{
    lt_tensor *back = NULL;
    lt_status status = lt_tensor_to_dlpack(x, true, &managed);
    if (status != LT_OK) return status;
    status = protected(L, push_and_take);
    const int64_t ended = none_from;
    none_from = 0; /* it is ours again, or still */
    assert_non_null(managed);
    assert_int_equal(lt_tensor_from_dlpack(managed, true, &back), LT_OK);
    none_from = ended;
    lt_tensor_release(back);
    if (status != LT_OK) lt_error_set(LT_ERR_MEMORY, "not enough memory");
    return status;
}
static void dlpack_null(void)
{
    bool versioned = false;
    lt_lua_push_dlpack(NULL, NULL, true);
    lt_lua_push_dlpack(L, NULL, true); /* as one that was used */
    assert_no_null(lt_lua_take_dlpack(NULL, 1, &managed, &versioned), "'L'");
    assert_no_null(lt_lua_take_dlpack(L, 1, NULL, &versioned), "'managed'");
    assert_no_null(lt_lua_take_dlpack(L, 1, &managed, NULL), "'versioned'");
    assert_fails(lt_lua_take_dlpack(L, 1, &managed, &versioned), LT_ERR_TYPE, "used before");
    lua_settop(L, 0);
}

static struct ArrowSchema schema;
static struct ArrowArray array;

static int push_and_take_column(lua_State *state)
{
    lt_lua_push_arrow(state, &schema, &array);
    if (lt_lua_take_arrow(state, -1, &schema, &array) != LT_OK)
        luaL_error(state, "%s", lt_error_message());
    return 0;
}

static lt_status arrow(void)
{
    lt_status status = lt_tensor_to_arrow(x, &schema, &array);
    if (status != LT_OK) return status;
    status = protected(L, push_and_take_column);
    assert_true(schema.release != NULL && array.release != NULL); /* ours again, or still */
    array.release(&array);
    schema.release(&schema);
    return status;
}
static void arrow_null(void)
{
    lt_lua_push_arrow(NULL, &schema, &array);
    lt_lua_push_arrow(L, NULL, NULL); /* as one that was used */
    assert_no_null(lt_lua_take_arrow(NULL, 1, &schema, &array), "'L'");
    assert_no_null(lt_lua_take_arrow(L, 1, NULL, &array), "'schema'");
    assert_no_null(lt_lua_take_arrow(L, 1, &schema, NULL), "'array'");
    assert_fails(lt_lua_take_arrow(L, 1, &schema, &array), LT_ERR_TYPE, "used before");
    lua_settop(L, 0);
}

/* ---- models ---------------------------------------------------------------------------------- */

static const char program[] = "tests/core/models/mixer.pt2"; /* an input of (3, 6) */

/* The model of the program: loaded, run, with its tensors read. */
static lt_status model_run(void)
{
    lt_model *model = NULL;
    lt_tensor *input = NULL, *output = NULL;
    lt_status status = lt_model_load(program, &model);
    assert_int_equal(status == LT_OK, model != NULL);
    if (status == LT_OK) status = lt_tensor_new(LT_FLOAT32, cpu, 2, (int64_t[]){3, 6}, &input);
    if (status == LT_OK) memset(lt_tensor_data(input), 0, 18 * sizeof(float));
    for (int i = 0; i < 2 && status == LT_OK; i++)
        status = lt_model_run(model, &input, 1, &output, 1);
    if (status == LT_OK) {
        assert_null(lt_model_interpreted(model));
        assert_int_equal(lt_model_input_count(model), 1);
        assert_int_equal(lt_model_output_count(model), 1);
        assert_int_equal(lt_model_input(model, 0)->dims[1], 6);
        assert_int_equal(lt_model_output(model, 0)->ndim, 2);
        assert_int_equal(lt_model_tensor_count(model), lt_model_parameter_count(model));
        assert_ptr_equal(lt_model_find(model, lt_model_tensor_name(model, 1)),
                         lt_model_tensor(model, 1));
        status = lt_model_set_training(model, true);
    }
    lt_tensor_release(input);
    lt_tensor_release(output);
    lt_model_release(model);
    return status;
}
static void model_null(void)
{
    lt_model *model = NULL;
    lt_tensor *output = NULL;
    assert_no_null(lt_model_load(NULL, &model), "'path'");
    assert_no_null(lt_model_load(program, NULL), "'out'");
    assert_no_null(lt_model_load_memory(NULL, 1, &model), "'bytes'");
    assert_no_null(lt_model_load_memory("", 0, NULL), "'out'");
    assert_no_null(lt_model_run(NULL, &x, 1, &output, 1), "'model'");
    assert_no_null(lt_model_set_training(NULL, true), "'model'");
    assert_no_null(lt_model_save(NULL, program), "'model'");
    assert_no_null(lt_model_load_state(NULL, program), "'model'");
    assert_int_equal(lt_model_input_count(NULL) + lt_model_output_count(NULL), 0);
    assert_int_equal(lt_model_tensor_count(NULL) + lt_model_parameter_count(NULL), 0);
    assert_null(lt_model_input(NULL, 0));
    assert_null(lt_model_output(NULL, 0));
    assert_null(lt_model_tensor_name(NULL, 0));
    assert_null(lt_model_tensor(NULL, 0));
    assert_null(lt_model_find(NULL, "x"));
    assert_null(lt_model_interpreted(NULL));
    lt_model_release(NULL);
    assert_ok(lt_model_load(program, &model));
    assert_no_null(lt_model_run(model, NULL, 1, &output, 1), "'inputs'");
    assert_no_null(lt_model_run(model, &x, 1, NULL, 1), "'outputs'");
    assert_no_null(lt_model_save(model, NULL), "'path'");
    assert_no_null(lt_model_save_state(NULL, program), "'model'");
    assert_no_null(lt_model_save_state(model, NULL), "'path'");
    assert_no_null(lt_model_load_state(model, NULL), "'path'");
    assert_null(lt_model_find(model, NULL));
    lt_model_release(model);
}

/* Its state, saved and loaded. */
static lt_status model_state(void)
{
    static const char path[] = "/tmp/ltensor-header-lua.safetensors";
    lt_model *model = NULL;
    lt_status status = lt_model_load(program, &model);
    if (status == LT_OK) status = lt_model_save(model, path);
    if (status == LT_OK) status = lt_model_save_state(model, path);
    if (status == LT_OK) status = lt_model_load_state(model, path);
    lt_model_release(model);
    remove(path);
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const row of_scripts[] = {
    {"lt_script_new", script_new, script_new_null},
    {"lt_script_release", script_new, script_new_null},
    {"lt_script_free", script_free, script_free_null},
    {"lt_script_load", script_load, script_load_null},
    {"lt_script_call", script_call, script_call_null},
    {"lt_script_keep", script_keep, script_keep_null},
    {"lt_script_set", script_set, script_set_null},
    {"lt_script_get", script_set, script_get_null},
    {"lt_script_context", script_look, script_look_null},
    {"lt_script_state", script_look, script_look_null},
};

static const row of_the_binding[] = {
    {"luaopen_torch", open_module, open_module_null},
    {"lt_lua_set_context", set_context, set_context_null},
    {"lt_lua_context", set_context, set_context_null},
    {"lt_lua_alloc", alloc, alloc_null},
    {"lt_lua_push", push, push_null},
    {"lt_lua_tensor", push, push_null},
    {"lt_lua_push_dlpack", dlpack, dlpack_null},
    {"lt_lua_take_dlpack", dlpack, dlpack_null},
    {"lt_lua_push_arrow", arrow, arrow_null},
    {"lt_lua_take_arrow", arrow, arrow_null},
};

static const row of_models[] = {
    {"lt_model_load", model_run, model_null},
    {"lt_model_load_memory", model_run, model_null},
    {"lt_model_release", model_run, model_null},
    {"lt_model_input_count", model_run, model_null},
    {"lt_model_output_count", model_run, model_null},
    {"lt_model_input", model_run, model_null},
    {"lt_model_output", model_run, model_null},
    {"lt_model_run", model_run, model_null},
    {"lt_model_interpreted", model_run, model_null},
    {"lt_model_tensor_count", model_run, model_null},
    {"lt_model_parameter_count", model_run, model_null},
    {"lt_model_tensor_name", model_run, model_null},
    {"lt_model_tensor", model_run, model_null},
    {"lt_model_find", model_run, model_null},
    {"lt_model_set_training", model_run, model_null},
    {"lt_model_save", model_state, model_null},
    {"lt_model_save_state", model_state, model_null},
    {"lt_model_load_state", model_state, model_null},
};

static void test_no_function_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(
        every_function_has_a_row(__FILE__, "ltensor_script.h", of_scripts, COUNT(of_scripts)),
        COUNT(of_scripts));
    assert_int_equal(
        every_function_has_a_row(__FILE__, "ltensor_lua.h", of_the_binding, COUNT(of_the_binding)),
        COUNT(of_the_binding));
    assert_int_equal(
        every_function_has_a_row(__FILE__, "ltensor_model.h", of_models, COUNT(of_models)),
        COUNT(of_models));
}

static void end_of_memory(const row *rows, int n)
{
    int failures = 0;
    for (int i = 0; i < n; i++)
        if (i == 0 || rows[i].call != rows[i - 1].call)
            failures += fail_without_a_leak((sweep){end_anywhere, rows[i].name, rows[i].call});
    assert_int_equal(complaints, 0);
    assert_true(failures > 50);
}

static void test_scripts_without_memory(void **state)
{
    (void)state;
    end_of_memory(of_scripts, COUNT(of_scripts));
}

static void test_the_binding_without_memory(void **state)
{
    (void)state;
    end_of_memory(of_the_binding, COUNT(of_the_binding));
}

static void test_models_without_memory(void **state)
{
    (void)state;
    end_of_memory(of_models, COUNT(of_models));
}

static void test_null_is_an_error(void **state)
{
    (void)state;
    open_all();
    for (int i = 0; i < COUNT(of_scripts); i++) of_scripts[i].null();
    for (int i = 0; i < COUNT(of_the_binding); i++) of_the_binding[i].null();
    for (int i = 0; i < COUNT(of_models); i++) of_models[i].null();
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_function_is_left_out),
        cmocka_unit_test(test_scripts_without_memory),
        cmocka_unit_test(test_the_binding_without_memory),
        cmocka_unit_test(test_models_without_memory),
        cmocka_unit_test(test_null_is_an_error),
    };
    if (count_memory() != LT_OK) return 1;

    return cmocka_run_group_tests(tests, NULL, NULL);
}
