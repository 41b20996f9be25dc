/* own_lua_test.c - own operations between C and Lua: C calls an operation that is written in Lua,
 * scripts call one of the host, and a context forbids plugins and compilers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>

#undef LT_OPS_BY_NAME /* as a host sees it: with every op */
#include "emulated.h"
#include "expect.h"
#include "ltensor.h"
#include "ltensor_lua.h"

static lua_State *new_state(lt_context *context)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    if (context != NULL) assert_ok(lt_lua_set_context(L, context));
    luaL_requiref(L, "torch", luaopen_torch, 1);
    lua_settop(L, 0);
    return L;
}

/* Runs a chunk; its first result as text, or the error. */
static const char *run(lua_State *L, const char *chunk)
{
    static char text[4096];
    lua_settop(L, 0);
    const bool ok = luaL_loadstring(L, chunk) == LUA_OK && lua_pcall(L, 0, 1, 0) == LUA_OK;
    snprintf(text, sizeof text, "%s%s", ok ? "" : "error: ", luaL_tolstring(L, -1, NULL));
    lua_settop(L, 0);
    return text;
}

static void assert_raises(lua_State *L, const char *chunk, const char *part)
{
    const char *raised = run(L, chunk);
    if (strncmp(raised, "error: ", 7) != 0 || strstr(raised, part) == NULL)
        fail_msg("'%s' is not in: %s", part, raised);
}

/* x^2 with a derivative; the second implementation raises an error. */
static const char definition[] =
    "square = torch.library.custom_op('own_lua::square', function(x)\n"
    "  if x:numel() > 1 then error('too many') end\n"
    "  return x * x\n"
    "end, {mutates_args = {}, schema = '(Tensor x) -> Tensor'})\n"
    "square:register_autograd(function(ctx, grad) return 2 * grad * ctx.saved_tensors[1] end,\n"
    "  {setup_context = function(ctx, inputs) ctx:save_for_backward(inputs[1]) end})\n";

static lt_tensor *of_number(double number, int64_t n)
{
    lt_tensor *t = NULL;
    const lt_dims sizes = {1, {n}};
    assert_ok(lt_full(&sizes, lt_scalar_from_float(number), LT_FLOAT64, NULL, &t));
    return t;
}

static lt_status call_square(lt_tensor *x, lt_tensor **out)
{
    const lt_value arg = lt_value_tensor(x);
    lt_value result = lt_value_none();
    int n = 1;
    const lt_status status = lt_call("own_lua::square", &arg, 1, NULL, 0, &result, &n);
    if (status == LT_OK) *out = result.v.tensor;
    return status;
}

static void *call_elsewhere(void *context)
{
    lt_tensor *x = of_number(3, 1), *y = NULL;
    lt_context *before = lt_context_enter(context);
    assert_fails(call_square(x, &y), LT_ERR_RUNTIME, "called from outside of its interpreter");
    lt_context_enter(before);
    lt_tensor_release(x);
    return NULL;
}

static void test_c_calls_and_differentiates_an_op_in_lua(void **state)
{
    (void)state;
    lua_State *L = new_state(NULL);
    lt_context *context = lt_context_retain(lt_lua_context(L));
    lt_tensor *x = of_number(3, 1), *two = of_number(1, 2), *y = NULL, *none = NULL;
    pthread_t thread;
    assert_string_equal(run(L, definition), "nil");
    assert_fails(call_square(x, &y), LT_ERR_TYPE, "unknown operation"); /* another context */
    lt_context *before = lt_context_enter(context);
    assert_ok(lt_tensor_set_requires_grad(x, true));
    assert_ok(call_square(x, &y));
    assert_true(item(y) == 9);
    lua_gc(L, LUA_GCCOLLECT, 0);
    assert_ok(lt_backward(y, NULL, false, false));
    assert_true(item(lt_tensor_grad(x)) == 6);
    assert_fails(lt_backward(y, NULL, false, false), LT_ERR_RUNTIME,
                 "Trying to backward through the graph a second time");
    assert_fails(call_square(two, &none), LT_ERR_RUNTIME, "too many");
    assert_string_equal(run(L, "return torch.ones(1) + 1"), "tensor([2.])"); /* no error is left */
    lt_tensor_release(y);
    assert_int_equal(pthread_create(&thread, NULL, call_elsewhere, context), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    /* a graph outlives the interpreter, its derivative does not */
    assert_ok(call_square(x, &y));
    lua_close(L);
    assert_fails(lt_backward(y, NULL, false, false), LT_ERR_RUNTIME, "outside of its interpreter");
    assert_fails(call_square(x, &none), LT_ERR_TYPE, "unknown operation");
    lt_context_enter(before);
    lt_tensor_release(x);
    lt_tensor_release(y);
    lt_tensor_release(two);
    lt_context_release(context);
}

static void test_interpreters_have_their_own_ops_and_share_those_of_the_process(void **state)
{
    (void)state;
    lua_State *a = new_state(lt_context_process()), *b = new_state(lt_context_process());
    assert_string_equal(run(a, definition), "nil");
    assert_string_equal(run(b, definition), "nil"); /* the same name, in the same context */
    assert_raises(a, definition, "already registered");
    lua_close(a);
    assert_string_equal(run(b, "return square(torch.tensor{3.0})"), "tensor([9.])");
    lua_close(b);
}

/* ---- the host's ------------------------------------------------------------------------------ */

static lt_status negative(void *user, const lt_value *args, int nargs, lt_value *results,
                          int nresults)
{
    (void)nargs, (void)nresults;
    *(int *)user += 1;
    results[0] = lt_value_tensor(NULL);
    return lt_neg(args[0].v.tensor, &results[0].v.tensor);
}

static void test_scripts_call_an_op_of_the_host(void **state)
{
    (void)state;
    int calls = 0;
    lt_op_definition d = lt_op_definition_of(
        "own_host::negative(Tensor x, IndexTensor? at=nil) -> Tensor", negative);
    d.user = &calls;
    d.doc = "Minus x.";
    assert_ok(lt_op_register(&d));
    lua_State *L = new_state(NULL);
    assert_string_equal(run(L, "return torch.ops.own_host.negative(torch.ones(2))"),
                        "tensor([-1., -1.])");
    assert_raises(L, "torch.ops.own_host.negative(1)",
                  "own_host::negative(): argument 'x' (position 1) must be Tensor, not number");
    assert_raises(L, "torch.library.register_fake('own_host::negative', print)",
                  "no operation 'own_host::negative' was defined");
    assert_string_equal(run(L, "f = torch.ops.own_host.negative"), "nil");
    assert_ok(lt_op_unregister("own_host::negative"));
    assert_raises(L, "return torch.ops.own_host.negative", "the namespace is empty");
    assert_string_equal(run(L, "return f(torch.ones(1))"), "tensor([-1.])"); /* f owns it */
    lua_close(L);
    assert_int_equal(calls, 2);
}

/* ---- permissions ----------------------------------------------------------------------------- */

static char asked[4096];

static bool note_and_deny(void *user, int access, const char *name)
{
    const int denied = *(const int *)user;
    static const char *const names[] = {"read",   "write",  "process", "library",
                                        "device", "remove", "folder"};
    snprintf(asked + strlen(asked), sizeof asked - strlen(asked), "%s %s\n",
             access <= LT_ACCESS_FOLDER_MAKE ? names[access] : "?", name);
    return access != denied;
}

static void test_a_context_forbids_plugins_and_compilers(void **state)
{
    (void)state;
    int denied = LT_ACCESS_LIBRARY;
    lt_context *context = NULL;
    lt_context_config config = lt_context_defaults();
    config.authorize = note_and_deny;
    config.user = &denied;
    assert_ok(lt_context_new(&config, &context));
    lua_State *L = new_state(context);
    unsetenv("CC");
    assert_string_equal(run(L, "folder = os.tmpname() .. '.d'"), "nil");
    assert_raises(L, "torch.ops.load_library '/tmp/plugin.so'", "/tmp/plugin.so");
    assert_non_null(strstr(asked, "library /tmp/plugin.so\n"));
    denied = LT_ACCESS_PROCESS;
    asked[0] = '\0';
    assert_raises(L,
                  "torch.utils.cpp_extension.load_inline{name = 'own_denied', c_sources = '', "
                  "functions = {}, build_directory = folder}",
                  "cc");
    assert_non_null(strstr(asked, "process cc\n"));
    assert_null(strstr(asked, "library "));
    denied = -1;
    setenv("CC", "/nowhere/cc", 1);
    /* qemu loses the error of posix_spawn: the child that cannot start the program ends with 127. */
    assert_raises(L,
                  "torch.utils.cpp_extension.load_inline{name = 'own_denied', c_sources = '', "
                  "functions = {}, build_directory = folder}",
                  emulator() != NULL ? "the compiler '/nowhere/cc' failed"
                                     : "the C compiler '/nowhere/cc' was not found; install one");
    unsetenv("CC");
    assert_string_equal(run(L, "return os.execute('rm -rf ' .. folder)"), "true");
    lua_close(L);
    lt_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c_calls_and_differentiates_an_op_in_lua),
        cmocka_unit_test(test_interpreters_have_their_own_ops_and_share_those_of_the_process),
        cmocka_unit_test(test_scripts_call_an_op_of_the_host),
        cmocka_unit_test(test_a_context_forbids_plugins_and_compilers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
