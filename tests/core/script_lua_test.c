/* script_lua_test.c - lt_script: values on their way in and out, errors, limits, and what scripts
 * that are not trusted try. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "ltensor_script.h"
#include "system/clock.h"
#include "emulated.h"
#include "expect.h"
#include "memory/system.h"

static lt_script *new_script(lt_script_config config)
{
    lt_script *script = NULL;
    if (lt_script_new(&config, &script) != LT_OK) fail_msg("%s", lt_error_message());
    return script;
}

static lt_status load(lt_script *script, const char *text)
{
    return lt_script_load(script, text, strlen(text), "test", NULL, NULL);
}

static void loads(lt_script *script, const char *text)
{
    if (load(script, text) != LT_OK) fail_msg("%s", lt_error_message());
}

/* The first result of a text, whose kind is known. */
static lt_value result(lt_script *script, const char *text, lt_kind kind)
{
    lt_value value = lt_value_none();
    int n = 1;
    if (lt_script_load(script, text, strlen(text), "test", &value, &n) != LT_OK)
        fail_msg("%s", lt_error_message());
    assert_int_equal(value.kind, kind);
    return value;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void values_go_in_and_come_out(void **state)
{
    (void)state;
    lt_script *script = new_script(lt_script_defaults());
    loads(script, "function same(...) return ... end");
    static double numbers[] = {1, 2, 3};
    const int64_t sizes[] = {3};
    lt_tensor *t = NULL;
    assert_int_equal(lt_tensor_wrap(numbers, LT_FLOAT64, 1, sizes, NULL, NULL, &t), LT_OK);
    lt_table *inner = NULL, *outer = NULL;
    assert_int_equal(lt_table_new(&inner), LT_OK);
    assert_int_equal(lt_table_new(&outer), LT_OK);
    lt_value value = lt_value_double(0.5);
    assert_int_equal(lt_table_set(inner, "lr", &value), LT_OK);
    value = lt_value_string("adam");
    assert_int_equal(lt_table_set(inner, "kind", &value), LT_OK);
    value = lt_value_table(inner);
    assert_int_equal(lt_table_append(outer, &value), LT_OK);
    value = lt_value_bool(true);
    assert_int_equal(lt_table_append(outer, &value), LT_OK);

    lt_value zeros = lt_value_string("a\0b");
    zeros.v.text.n = 3;
    const lt_value args[] = {lt_value_tensor(t),
                             lt_value_int(-7),
                             lt_value_double(1.5),
                             lt_value_bool(false),
                             lt_value_none(),
                             zeros,
                             lt_value_dtype(LT_BFLOAT16),
                             lt_value_table(outer),
                             lt_value_device((lt_device){LT_CPU, 0})};
    enum { N = sizeof args / sizeof *args };
    lt_value results[N + 2];
    for (int i = 0; i < N + 2; i++) results[i] = lt_value_none();
    int n = N + 2;
    assert_int_equal(lt_script_call(script, "same", args, N, results, &n), LT_OK);
    assert_int_equal(results[0].kind, LT_KIND_TENSOR);
    assert_int_equal(lt_tensor_numel(results[0].v.tensor), 3);
    assert_ptr_equal(lt_tensor_data(results[0].v.tensor), lt_tensor_data(t));
    assert_int_equal(results[1].v.i, -7);
    assert_true(results[2].kind == LT_KIND_DOUBLE && results[2].v.d == 1.5);
    assert_true(results[3].kind == LT_KIND_BOOL && !results[3].v.b);
    assert_int_equal(results[4].kind, LT_KIND_NONE);
    assert_int_equal(results[5].v.text.n, 3);
    assert_memory_equal(results[5].v.s, "a\0b", 4);
    assert_true(results[6].kind == LT_KIND_DTYPE && results[6].v.dtype == LT_BFLOAT16);
    assert_true(results[8].kind == LT_KIND_DEVICE && results[8].v.device.type == LT_CPU);
    const lt_table *back = results[7].v.table;
    assert_int_equal(lt_table_length(back), 2);
    assert_true(lt_table_at(back, 1)->v.b);
    const lt_table *first = lt_table_at(back, 0)->v.table;
    assert_int_equal(lt_table_names(first), 2);
    assert_string_equal(lt_table_name(first, 0), "kind");
    assert_string_equal(lt_table_get(first, "kind")->v.s, "adam");
    assert_true(lt_table_get(first, "lr")->v.d == 0.5);
    assert_null(lt_table_get(first, "none"));
    assert_null(lt_table_at(back, 2));
    for (int i = 0; i < n; i++) lt_value_release(&results[i]);
    lt_table_release(inner);
    lt_table_release(outer);
    lt_tensor_release(t);
    lt_script_release(script);
}

static void what_has_no_kind_does_not_leave(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {{"return print", "a function cannot leave"},
                 {"return coroutine.create(print)", "a thread cannot leave"},
                 {"return torch.nn.Linear(1, 1)", "a Linear cannot leave"},
                 {"return {[1.5] = 1}", "a key that is number"},
                 {"return {1, nil, nil, 4, [9] = 1}", "beyond its list"},
                 {"local t = {} t[1] = t return t", "contains itself"},
                 {"return {['a\\0b'] = 1}", "zero byte"}};
    lt_script *script = new_script(lt_script_defaults());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lt_value value = lt_value_none();
        int n = 1;
        assert_fails(
            lt_script_load(script, cases[i].text, strlen(cases[i].text), "test", &value, &n),
            LT_ERR_RUNTIME, cases[i].message);
        assert_int_equal(value.kind, LT_KIND_NONE);
    }
    lt_script_release(script);
}

static void a_model_lives_in_the_script(void **state)
{
    (void)state;
    lt_script *script = new_script(lt_script_defaults());
    loads(script, "local nn = torch.nn\n"
                  "torch.manual_seed(1)\n"
                  "model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))\n"
                  "optimizer = torch.optim.Adam(model:parameters(), {lr = 0.05})\n"
                  "training = {}\n"
                  "function training.step(x, y)\n"
                  "  optimizer:zero_grad()\n"
                  "  local loss = nn.functional.mse_loss(model(x), y)\n"
                  "  loss:backward()\n"
                  "  optimizer:step()\n"
                  "  return loss:item()\n"
                  "end\n");
    lt_value data[2] = {result(script, "x = torch.rand(32, 2) return x", LT_KIND_TENSOR),
                        result(script, "return x:sum(2, true)", LT_KIND_TENSOR)};
    double first = 0, last = 0;
    for (int i = 0; i < 100; i++) {
        lt_value loss = lt_value_none();
        int n = 1;
        assert_int_equal(lt_script_call(script, "training.step", data, 2, &loss, &n), LT_OK);
        last = loss.v.d;
        if (i == 0) first = last;
    }
    assert_true(last < first / 20);
    lt_value y = lt_value_none();
    int n = 1;
    assert_int_equal(lt_script_call(script, "model:forward", data, 1, &y, &n), LT_OK);
    assert_int_equal(lt_tensor_sizes(y.v.tensor)[0], 32);
    lt_value_release(&y);
    lt_value_release(&data[0]);
    lt_value_release(&data[1]);
    lt_script_release(script);
}

static void results_are_kept(void **state)
{
    (void)state;
    lt_script *script = new_script(lt_script_defaults());
    const lt_value sizes[] = {lt_value_int(3), lt_value_int(2)};
    assert_int_equal(lt_script_keep(script, "layer", "torch.nn.Linear", sizes, 2), LT_OK);
    const int64_t four_three[] = {4, 3};
    lt_tensor *x = NULL;
    assert_int_equal(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, 2, four_three, &x), LT_OK);
    memset(lt_tensor_data(x), 0, 12 * sizeof(float));
    const lt_value input = lt_value_tensor(x);
    lt_value y = lt_value_none();
    int n = 1;
    assert_int_equal(lt_script_call(script, "layer", &input, 1, &y, &n), LT_OK);
    assert_int_equal(lt_tensor_sizes(y.v.tensor)[1], 2);
    lt_value_release(&y);
    lt_tensor_release(x);
    assert_fails(lt_script_keep(script, "layer", "torch.nn.Nothing", NULL, 0), LT_ERR_RUNTIME,
                 "the script has no function 'torch.nn.Nothing'");
    assert_fails(lt_script_keep(script, "layer", "torch.nn.Linear", NULL, -1), LT_ERR_RUNTIME,
                 "-1 arguments");
    lt_script_release(script);
}

static void globals_are_set_and_read(void **state)
{
    (void)state;
    lt_script *script = new_script(lt_script_defaults());
    const lt_value rate = lt_value_double(0.25);
    assert_int_equal(lt_script_set(script, "rate", &rate), LT_OK);
    loads(script, "settings = {twice = rate * 2}");
    lt_value value = lt_value_none();
    assert_int_equal(lt_script_get(script, "settings.twice", &value), LT_OK);
    assert_true(value.v.d == 0.5);
    assert_int_equal(lt_script_get(script, "nothing", &value), LT_OK);
    assert_int_equal(value.kind, LT_KIND_NONE);
    assert_fails(lt_script_get(script, "nothing.more", &value), LT_ERR_RUNTIME,
                 "'nothing.more' has no part before 'more': it is nil");
    lt_script_release(script);
}

static void errors_say_where(void **state)
{
    (void)state;
    lt_script *script = new_script(lt_script_defaults());
    assert_fails(load(script, "local x = 1\nlocal y = x + nil"), LT_ERR_RUNTIME,
                 "test:2: attempt to perform arithmetic on a nil value");
    assert_fails(load(script, "x ="), LT_ERR_RUNTIME, "test:1: unexpected symbol");
    assert_fails(load(script, "torch.ones(2) + torch.ones(3)"), LT_ERR_RUNTIME, "test:1: ");
    assert_fails(load(script, "error({})"), LT_ERR_RUNTIME, "an error that is a table");
    assert_fails(lt_script_call(script, "f", NULL, 0, NULL, NULL), LT_ERR_RUNTIME,
                 "no function 'f'");
    loads(script, "answer = 42");
    assert_fails(lt_script_call(script, "answer", NULL, 0, NULL, NULL), LT_ERR_RUNTIME,
                 "attempt to call a number value");
    lt_script_release(script);
}

static void null_is_an_error(void **state)
{
    (void)state;
    lt_script *script = new_script(lt_script_defaults());
    lt_table *table = NULL;
    assert_int_equal(lt_table_new(&table), LT_OK);
    lt_value value = lt_value_int(1), none = lt_value_none(), dims = lt_value_dims(0, NULL),
             text = lt_value_string(NULL);
    assert_fails(lt_script_new(NULL, NULL), LT_ERR_TYPE, "'out'");
    assert_fails(lt_script_load(NULL, "", 0, "", NULL, NULL), LT_ERR_TYPE, "'script'");
    assert_fails(lt_script_load(script, NULL, 0, "", NULL, NULL), LT_ERR_TYPE, "'text'");
    assert_fails(lt_script_load(script, "", 0, NULL, NULL, NULL), LT_ERR_TYPE, "'name'");
    assert_fails(lt_script_call(NULL, "f", NULL, 0, NULL, NULL), LT_ERR_TYPE, "'script'");
    assert_fails(lt_script_call(script, NULL, NULL, 0, NULL, NULL), LT_ERR_TYPE, "'function'");
    assert_fails(lt_script_call(script, "f", NULL, 1, NULL, NULL), LT_ERR_TYPE, "'args'");
    assert_fails(lt_script_set(script, "x", NULL), LT_ERR_TYPE, "'value'");
    assert_fails(lt_script_get(script, NULL, &value), LT_ERR_TYPE, "'name'");
    assert_fails(lt_script_set(script, "x", &text), LT_ERR_RUNTIME, "NULL");
    assert_null(lt_script_context(NULL));
    assert_null(lt_script_state(NULL));
    lt_script_release(NULL);
    assert_fails(lt_table_new(NULL), LT_ERR_TYPE, "'out'");
    assert_fails(lt_table_set(NULL, "x", &value), LT_ERR_TYPE, "'table'");
    assert_fails(lt_table_set(table, NULL, &value), LT_ERR_TYPE, "'name'");
    assert_fails(lt_table_set(table, "x", NULL), LT_ERR_TYPE, "'value'");
    assert_fails(lt_table_set(table, "x", &dims), LT_ERR_TYPE, "kind");
    assert_fails(lt_table_append(table, &none), LT_ERR_TYPE, "kind");
    assert_fails(lt_table_append(table, &text), LT_ERR_TYPE, "'value'");
    assert_int_equal(lt_table_length(table), 0);
    assert_int_equal(lt_table_length(NULL), 0);
    assert_int_equal(lt_table_names(NULL), 0);
    assert_null(lt_table_name(NULL, 0));
    assert_null(lt_table_get(NULL, "x"));
    assert_null(lt_table_at(NULL, 0));
    assert_null(lt_table_retain(NULL));
    lt_table_release(NULL);
    lt_table_release(table);
    lt_script_config config = lt_script_defaults();
    lt_script *no = NULL;
    config.size = 3;
    assert_fails(lt_script_new(&config, &no), LT_ERR_TYPE, "size");
    config = lt_script_defaults();
    config.seconds = -1;
    assert_fails(lt_script_new(&config, &no), LT_ERR_RUNTIME, "seconds");
    lt_script_release(script);
}

static void names_are_replaced_and_taken_away(void **state)
{
    (void)state;
    lt_table *table = NULL;
    assert_int_equal(lt_table_new(&table), LT_OK);
    char name[16];
    for (int i = 99; i >= 0; i--) {
        lt_value value = lt_value_int(i);
        snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(lt_table_set(table, name, &value), LT_OK);
    }
    lt_value text = lt_value_string("new"), none = lt_value_none();
    assert_int_equal(lt_table_set(table, "n50", &text), LT_OK);
    assert_int_equal(lt_table_set(table, "n51", &none), LT_OK);
    assert_int_equal(lt_table_names(table), 99);
    assert_string_equal(lt_table_get(table, "n50")->v.s, "new");
    assert_null(lt_table_get(table, "n51"));
    for (int64_t i = 1; i < 99; i++)
        assert_true(strcmp(lt_table_name(table, i - 1), lt_table_name(table, i)) < 0);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "n%d", i);
        if (i != 50 && i != 51) assert_int_equal(lt_table_get(table, name)->v.i, i);
    }
    lt_table_release(table);
}

/* ---- what a script that is not trusted tries ------------------------------------------------- */

static int printed;
static void count_print(void *user, const char *line, size_t bytes)
{
    (void)user, (void)line, (void)bytes;
    printed++;
}

static lt_script *sandbox(void)
{
    lt_script_config config = lt_script_defaults();
    config.memory_limit = 64 << 20;
    config.seconds = 0.3;
    config.print = count_print;
    return new_script(config);
}

/* Each ends as an error of that script alone, soon, and the script can be used on. */
static void escapes_end_in_errors(void **state)
{
    (void)state;
    skip_if_emulated(); /* expects deadlines of parts of a second */
    static const struct {
        const char *what, *text;
        lt_status status; /* LT_OK: whatever error, but one */
    } escapes[] = {
        {"a file by io", "io.open('/etc/passwd')", LT_ERR_RUNTIME},
        {"a file by torch", "torch.save(torch.ones(1), '/tmp/ltensor-escape.pt')", LT_ERR_RUNTIME},
        {"a text by torch", "torch.utils.data.text.read_lines('/etc/passwd')", LT_ERR_RUNTIME},
        {"a memory map", "torch.from_file('/etc/passwd', {size = 4, dtype = torch.uint8})",
         LT_ERR_RUNTIME},
        {"a library", "package.loadlib('libc.so.6', '*')", LT_ERR_RUNTIME},
        {"a module in C", "require 'posix'", LT_ERR_RUNTIME},
        {"a command", "os.execute 'true'", LT_ERR_RUNTIME},
        {"a fork",
         "for x in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4)), "
         "{num_workers = 1}) do end",
         LT_ERR_RUNTIME},
        {"a GPU", "torch.ones(1, {device = 'cuda'})", LT_ERR_RUNTIME},
        {"bytecode", "assert(load('\\27Lua\\x54'))", LT_ERR_RUNTIME},
        {"bytecode by mode", "assert(load('\\27Lua', 'x', 'b'))", LT_ERR_RUNTIME},
        {"debug", "debug.getregistry()", LT_ERR_RUNTIME},
        {"the threads of the process", "torch.threads.configure{limit = 1}", LT_ERR_RUNTIME},
        {"the functions below torch", "torch._C.fork_worker()", LT_ERR_RUNTIME},
        {"strings' metatable", "getmetatable('').__index = nil", LT_ERR_RUNTIME},
        {"a library's function", "string.rep = nil", LT_ERR_RUNTIME},
        {"a library's function, raw", "rawset(string, 'rep', nil) assert(string.rep == nil)",
         LT_ERR_RUNTIME},
        {"torch's functions", "torch.nn.functional.relu = print", LT_ERR_RUNTIME},
        {"a tensor's metatable", "getmetatable(torch.ones(1)).__add = nil", LT_ERR_RUNTIME},
        {"a module's metatable", "getmetatable(torch.nn.ReLU()).__gc = print", LT_ERR_RUNTIME},
        {"a finalizer", "setmetatable({}, {__gc = function() while true do end end})",
         LT_ERR_RUNTIME},
        {"a finalizer of a class",
         "local C = torch.nn.Module:extend('C') C.__gc = print getmetatable(C()).__gc = print",
         LT_ERR_RUNTIME},
        {"a string bomb", "local s = 'x' while true do s = s .. s end", LT_OK},
        {"a long string", "return ('x'):rep(1e9)", LT_ERR_MEMORY},
        {"nothing, repeated", "assert(#(''):rep(math.maxinteger) == 1)", LT_ERR_RUNTIME},
        {"a table without end", "local t = {} while true do t[#t + 1] = 'x' end", LT_OK},
        {"many tensors", "local t = {} while true do t[#t + 1] = torch.ones(1000) end", LT_OK},
        {"a huge tensor", "torch.zeros(2^40)", LT_ERR_RUNTIME},
        {"a tensor as large as it can be", "torch.empty(2^61 | 0)", LT_ERR_RUNTIME},
        {"deep recursion", "local function f() return 1 + f() end f()", LT_OK},
        {"recursion in C",
         "local function f() return pcall(string.gsub, 'a', 'a', f) end while true do f() end",
         LT_ERR_DEADLINE},
        {"nested coroutines", "local function f() return coroutine.wrap(f)() end f()", LT_OK},
        {"nested text", "load(('('):rep(1e6))() ", LT_ERR_RUNTIME},
        {"a loop", "while true do end", LT_ERR_DEADLINE},
        {"a loop that catches", "while true do pcall(function() while true do end end) end",
         LT_ERR_DEADLINE},
        {"a handler",
         "while true do xpcall(function() while true do end end, function() while true do end end) "
         "end",
         LT_ERR_DEADLINE},
        {"loops in coroutines",
         "while true do pcall(coroutine.wrap(function() while true do end end)) end",
         LT_ERR_DEADLINE},
#if LUA_VERSION_NUM >= 504
        {"a scope in a coroutine",
         "local co = coroutine.create(function() local x <close> = setmetatable({}, {__close = "
         "function() while true do end end}) "
         "while true do end end) coroutine.resume(co) coroutine.close(co)",
         LT_ERR_DEADLINE},
        {"a scope in a wrapped coroutine",
         "coroutine.wrap(function() local x <close> = setmetatable({}, {__close = function() while "
         "true do end end}) "
         "while true do end end)()",
         LT_ERR_DEADLINE},
#endif
        {"a coroutine, and done",
         "coroutine.resume(coroutine.create(function() while true do end end))", LT_ERR_DEADLINE},
        {"an endless match", "return ('a'):rep(40):find(('a*'):rep(40) .. 'b')", LT_ERR_DEADLINE},
        {"an endless replacement", "return ('a'):rep(1e4):gsub(('a-'):rep(20) .. 'b', '')",
         LT_ERR_DEADLINE},
        {"a slow comparison",
         "local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function() while true do end "
         "end)",
         LT_ERR_DEADLINE},
        {"a metamethod while printing",
         "print(setmetatable({}, {__tostring = function() while true do end end}))",
         LT_ERR_DEADLINE},
        {"an error that loops",
         "error(setmetatable({}, {__tostring = function() while true do end end}))",
         LT_ERR_RUNTIME},
        {"a long operation", "local x = torch.rand(500, 500) while true do x = x:matmul(x) end",
         LT_ERR_DEADLINE},
        {"a long decomposition", "while true do pcall(torch.linalg.svd, torch.rand(200, 200)) end",
         LT_ERR_DEADLINE},
        {"a hook of autograd",
         "local x = torch.ones(1, {requires_grad = true}) x:register_hook(function() while true do "
         "end end) "
         "x:sum():backward()",
         LT_ERR_DEADLINE},
        {"a module's forward",
         "local M = torch.nn.Module:extend('M') function M:forward() while true do end end M()(1)",
         LT_ERR_DEADLINE},
        {"a move of nothing", "table.move({}, 1, math.maxinteger - 1, 1)", LT_ERR_DEADLINE},
        {"concatenation of what has no end",
         "table.concat(setmetatable({}, {__len = function() return math.maxinteger end, "
         "__index = function() return '' end}))",
         LT_ERR_DEADLINE},
    };
    lt_script *script = sandbox();
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        if (!sampled(i)) continue;
        const double began = lt_clock();
        const lt_status status = load(script, escapes[i].text);
        const double took = lt_clock() - began;
        if (status == LT_OK) fail_msg("%s: no error", escapes[i].what);
        if (escapes[i].status != LT_OK && status != escapes[i].status)
            fail_msg("%s: %s", escapes[i].what, lt_error_message());
        /* a busy machine, sanitizers */
        if (took > 20) fail_msg("%s: %g seconds", escapes[i].what, took);
        lt_value sum =
            result(script, "return ('x'):rep(3), torch.ones(3):sum():item()", LT_KIND_STRING);
        assert_string_equal(sum.v.s, "xxx");
        lt_value_release(&sum);
    }
    assert_int_equal(access("/tmp/ltensor-escape.pt", F_OK), -1);
    lt_script_release(script);
}

/* Everything that the globals lead to, by fields and metatables, is neither one of Lua's functions
 * that reach outside nor a table from which a finalizer could be had. */
static void nothing_dangerous_can_be_reached(void **state)
{
    (void)state;
    static const char walk[] =
        "local globals = ...\n"
        "local forbidden, seen, found = {[_G] = '_G', [package.loaded] = 'loaded', "
        "[debug.getregistry()] = 'registry',\n"
        "  [torch._C] = '_C', [load] = 'load', [loadfile] = 'loadfile', [dofile] = 'dofile', "
        "[require] = 'require',\n"
        "  [setmetatable] = 'setmetatable', [getmetatable] = 'getmetatable', [xpcall] = 'xpcall',\n"
        "  [collectgarbage] = 'collectgarbage', [string.dump] = 'dump', [coroutine.wrap] = 'wrap', "
        "[coroutine.close or false] = 'close',\n"
        "  [os.exit] = 'exit', [os.getenv] = 'getenv', [os.remove] = 'remove', [os.rename] = "
        "'rename', [os.tmpname] = 'tmpname',\n"
        "  [os.execute] = 'execute', [os.setlocale] = 'setlocale', [string] = 'string', [table] = "
        "'table', [math] = 'math'}, {}, {}\n"
        "for _, library in ipairs {io, debug, package} do\n"
        "  for name, f in pairs(library) do if type(f) == 'function' or type(f) == 'table' then "
        "forbidden[f] = name end end\n"
        "end\n"
        "local todo = {{globals, 'globals'}}\n"
        "local count = 0\n"
        "while #todo > 0 do\n"
        "  local value, way = table.unpack(table.remove(todo))\n"
        "  if forbidden[value] then found[#found + 1] = way .. ' is ' .. forbidden[value] end\n"
        "  if not seen[value] then\n"
        "    seen[value] = true\n"
        "    count = count + 1\n"
        "    if type(value) == 'table' then\n"
        "      if rawget(value, '__gc') then found[#found + 1] = way .. ' has __gc' end\n"
        "      local list = {}\n"
        "      for k, v in pairs(value) do list[k] = v end\n"
        "      for k, v in next, value do list[k] = v end\n"
        "      for k, v in pairs(list) do\n"
        "        for _, one in ipairs {k, v} do\n"
        "          local kind = type(one)\n"
        "          if kind == 'table' or kind == 'function' or kind == 'userdata' then todo[#todo "
        "+ 1] = {one, way .. '.' .. tostring(k)} end\n"
        "        end\n"
        "      end\n"
        "    end\n"
        "  end\n"
        "end\n"
        "assert(count > 500, count)\n"
        "return table.concat(found, '; ')\n";
    lt_script *script = sandbox();
    loads(script, "for _, name in ipairs {'nn', 'optim', 'utils', 'linalg', 'cuda', "
                  "'distributions', 'autograd', 'amp'} do assert(torch[name]) end "
                  "model = torch.nn.Sequential(torch.nn.Linear(2, 2)) local x = "
                  "torch.utils.data.DataLoader globals = _G");
    lua_State *L = lt_script_state(script);
    lt_context *before = lt_context_enter(lt_script_context(script));
    lua_sethook(L, NULL, 0, 0);
    assert_int_equal(luaL_loadstring(L, walk), LUA_OK);
    lua_getfield(L, LUA_REGISTRYINDEX, "ltensor.script.globals");
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) fail_msg("%s", lua_tostring(L, -1));
    assert_string_equal(lua_tostring(L, -1), "");
    lua_settop(L, 0);
    lt_context_enter(before);
    lt_script_release(script);
}

/* The memory that a script filled is garbage after the error; only finalizers release its
 * tensors. */
static void a_script_goes_on_after_its_memory_limit(void **state)
{
    (void)state;
    static const char *const fillers[] = {
        "local t = {} for i = 1, 1e9 do t[i] = torch.ones(1000) end",
        "local t = {} for i = 1, 1e9 do t[i] = {torch.ones(10), 'string ' .. i} end",
        "local t = {torch.ones(11000000)} for i = 1, 1e9 do t[i + 1] = ('x'):rep(100000) .. i end",
    };
    static const char *const next[] = {
        "return string.find(string.rep('a', 40), string.rep('a?', 4))",
        "return torch.nn.Linear(2, 2)(torch.ones(1, 2)):sum():item()",
        "local t = {} for i = 1, 1e5 do t[i] = i end return #t",
        "return torch.ones(1000000):sum():item()",
    };
    lt_script_config config = lt_script_defaults();
    config.memory_limit = 64 << 20;
    for (size_t f = 0; f < sizeof fillers / sizeof *fillers; f++) {
        lt_script *script = new_script(config);
        for (size_t i = 0; i < sizeof next / sizeof *next; i++) {
            if (!sampled(f * (sizeof next / sizeof *next) + i)) continue;
            assert_int_not_equal(load(script, fillers[f]), LT_OK);
            loads(script, next[i]);
        }
        if (!sampled(f)) continue;
        /* Also where the script itself catches the error. */
        char text[300];
        snprintf(
            text, sizeof text,
            "assert(not pcall(function() %s end)) local x = 0 for i = 1, 1000 do x = x + i end %s",
            fillers[f], next[2]);
        loads(script, text);
        lt_script_release(script);
    }
}

static void a_trusted_script_has_all_of_lua(void **state)
{
    (void)state;
    lt_script_config config = lt_script_defaults();
    config.trusted = true;
    config.seconds = 0.3;
    lt_script *script = new_script(config);
    loads(script,
          "assert(io.open('/dev/null')):close() assert(debug and os.getenv and package.path)");
    assert_fails(load(script, "while true do pcall(error) end"), LT_ERR_DEADLINE, "0.3 seconds");
    lt_script_release(script);
}

static bool only_devices(void *user, int access, const char *name)
{
    (void)name;
    ++*(int *)user;
    return access == LT_ACCESS_FILE_READ;
}

static void count_release(void *user) { *(int *)user += 1000; }

static void the_host_is_asked_and_told(void **state)
{
    (void)state;
    int calls = 0;
    lt_script_config config = lt_script_defaults();
    config.user = &calls;
    config.release = count_release;
    config.authorize = only_devices;
    config.print = count_print;
    lt_script *script = new_script(config);
    printed = 0;
    loads(script, "print(1, 'a') print()");
    assert_int_equal(printed, 2);
    const int before = calls;
    assert_fails(load(script, "torch.save(torch.ones(1), '/tmp/ltensor-no.pt')"), LT_ERR_RUNTIME,
                 "not permitted: writing the file");
    assert_fails(load(script, "torch.load('/tmp/ltensor-no.pt')"), LT_ERR_RUNTIME, "No such file");
    assert_true(calls >= before + 2);
    lt_value kept = result(script, "return torch.ones(100000)", LT_KIND_TENSOR);
    lt_script_release(script);
    assert_true(calls < 1000); /* a tensor of it lives */
    lt_value_release(&kept);
    assert_true(calls >= 1000);
}

static void *interrupt_soon(void *context)
{
    usleep(50000);
    lt_context_interrupt(context);
    return NULL;
}

static void another_thread_stops_it(void **state)
{
    (void)state;
    lt_script *script = new_script(lt_script_defaults());
    lt_script *other = new_script(lt_script_defaults());
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, lt_script_context(script)), 0);
    assert_fails(load(script, "while true do pcall(function() while true do end end) end"),
                 LT_ERR_INTERRUPTED, "interrupted");
    pthread_join(thread, NULL);
    loads(other, "for i = 1, 1e5 do end");
    assert_int_equal(load(script, "for i = 1, 1e5 do end"), LT_ERR_INTERRUPTED);
    lt_context_interrupt_clear(lt_script_context(script));
    loads(script, "for i = 1, 1e5 do end");
    lt_script_release(script);
    lt_script_release(other);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Values in and out, a table among them; the nth allocation fails. */
static lt_status exchange(lt_script *script)
{
    lt_table *table = NULL;
    lt_value name = lt_value_string("x"), results[2] = {lt_value_none(), lt_value_none()};
    lt_status status = lt_table_new(&table);
    if (status == LT_OK) status = lt_table_set(table, "a", &name);
    if (status == LT_OK) status = lt_table_append(table, &name);
    lt_value argument = lt_value_table(table);
    int n = 2;
    if (status == LT_OK) status = lt_script_call(script, "f", &argument, 1, results, &n);
    for (int i = 0; i < 2; i++) lt_value_release(&results[i]);
    lt_table_release(table);
    return status;
}

static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    lt_script *script = new_script(lt_script_defaults());
    loads(script, "function f(t) return {t, 'text', {torch.ones(2)}}, t.a .. 'y' end");
    assert_int_equal(exchange(script), LT_OK);
    int n = 0;
    lt_status status;
    do {
        lt_mem_fail_after(++n);
        status = exchange(script);
        lt_mem_fail_after(0);
        assert_true(status == LT_OK || status == LT_ERR_MEMORY || status == LT_ERR_RUNTIME);
    } while (status != LT_OK && n < 1000);
    assert_int_equal(status, LT_OK);
    assert_true(n > 3);
    lt_script_release(script);
}

/* A host counts from 0 and its scripts from 1, and so do the messages that each is told. */
static void messages_count_as_their_caller(void **state)
{
    (void)state;
    lt_script *script = new_script(lt_script_defaults());
    const int64_t sizes[] = {2, 3};
    lt_tensor *t = NULL;
    assert_ok(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, 2, sizes, &t));
    const lt_value tensor = lt_value_tensor(t), dim = lt_value_int(2), args[] = {tensor, dim};
    assert_ok(lt_script_set(script, "x", &tensor));
    assert_fails(load(script, "x:softmax(3)"), LT_ERR_RUNTIME,
                 "in range of [1, 2] or [-2, -1], but got 3)");
    assert_fails(lt_call("softmax", args, 2, NULL, 0, NULL, NULL), LT_ERR_INDEX,
                 "in range of [-2, 1], but got 2)");
    assert_fails(load(script, "x:backward()"), LT_ERR_RUNTIME,
                 "element 1 of tensors does not require grad");
    assert_fails(lt_backward(t, NULL, false, false), LT_ERR_RUNTIME,
                 "element 0 of tensors does not require grad");
    lt_tensor_release(t);
    lt_script_release(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_go_in_and_come_out),
        cmocka_unit_test(what_has_no_kind_does_not_leave),
        cmocka_unit_test(a_model_lives_in_the_script),
        cmocka_unit_test(results_are_kept),
        cmocka_unit_test(globals_are_set_and_read),
        cmocka_unit_test(errors_say_where),
        cmocka_unit_test(null_is_an_error),
        cmocka_unit_test(names_are_replaced_and_taken_away),
        cmocka_unit_test(escapes_end_in_errors),
        cmocka_unit_test(nothing_dangerous_can_be_reached),
        cmocka_unit_test(a_script_goes_on_after_its_memory_limit),
        cmocka_unit_test(a_trusted_script_has_all_of_lua),
        cmocka_unit_test(the_host_is_asked_and_told),
        cmocka_unit_test(another_thread_stops_it),
        cmocka_unit_test(every_failing_allocation_is_reported),
        cmocka_unit_test(messages_count_as_their_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
