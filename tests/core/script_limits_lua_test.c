/* script_limits_lua_test.c - the limits of lt_script: time and interrupts in whatever a script can
 * keep busy, also while a callback of the host calls the script again, and memory of every kind
 * that a script can fill. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "system/clock.h"
#include "emulated.h"
#include "expect.h"
#include "ltensor_script.h"

#define SECONDS 0.3
#define LATE    3.0 /* seconds more, on a machine with other work and with sanitizers */

static lt_script *new_script(double seconds, int64_t memory,
                             void (*print)(void *, const char *, size_t), void *user)
{
    lt_script_config config = lt_script_defaults();
    config.seconds = seconds, config.memory_limit = memory, config.print = print,
    config.user = user;
    lt_script *script = NULL;
    assert_ok(lt_script_new(&config, &script));
    return script;
}

static lt_status load(lt_script *script, const char *text)
{
    return lt_script_load(script, text, strlen(text), "test", NULL, NULL);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Each goes on for hours, most of it in C or in steps that are large. */
static const char *const endless[] = {
    "table.insert(setmetatable({}, {__len = function() return 1 << 50 end}), 1, 0)",
    "table.remove(setmetatable({}, {__len = function() return 1 << 50 end}), 1)",
    "table.move(setmetatable({}, {__index = math}), 1, 1 << 50, 2, setmetatable({}, {__newindex = "
    "{}}))",
    "table.sort(setmetatable({}, {__len = function() return (1 << 31) - 2 end, __index = rawlen, "
    "__newindex = {}}), math.ult)",
    "local function f() while true do pcall(coroutine.resume, coroutine.create(f)) end end f()",
    "local function f() while true do pcall(coroutine.wrap(f)) end end f()",
    "while true do coroutine.resume(coroutine.create(function() for i = 1, 20 do end end)) end",
    "('x'):rep(1 << 20):find('[' .. ('a'):rep(1 << 20) .. ']*b')",
    "('x'):rep(1 << 20):gsub('[^' .. ('a'):rep(1 << 20) .. ']*b', '')",
    "('x'):rep(1 << 16):find(('.-'):rep(20) .. 'b')",
    "('('):rep(1 << 22):gsub('%b()', '')",
    "local s = ('x'):rep(20 << 20) while true do local t = s .. s end",
    "local s, t = ('x'):rep(40 << 20), ('x'):rep(40 << 20) while true do local same = s == t end",
    "local s = ('x'):rep(20 << 20) while true do pcall(string.sub, s, 2) end",
    "local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(1 << 20) end) end",
    "local t = {} for i = 1, 1 << 20 do t[i] = 1 end for i = 1, 1 << 20 do t[i] = nil end while "
    "true do next(t) end",
    "local x = torch.ones(1000000) while true do pcall(x.add, x, 1) end",
    "local x = torch.ones(200, 200) while true do pcall(torch.mm, x, x) end",
    "while true do pcall(error, setmetatable({}, {__tostring = function() while true do end end})) "
    "end",
};

static void check_deadline(const char *text)
{
    lt_script *script = new_script(SECONDS, 256 << 20, NULL, NULL);
    const double begin = lt_clock();
    const lt_status status = load(script, text);
    const double took = lt_clock() - begin;
    if (status != LT_ERR_DEADLINE) fail_msg("%s: %d, %s", text, status, lt_error_message());
    if (took > SECONDS + LATE) fail_msg("%s: took %.1f s", text, took);
    lt_script_release(script);
}

static void the_deadline_ends_whatever_keeps_a_script_busy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
        if (sampled(i)) check_deadline(endless[i]);
}

static void *interrupt_soon(void *context)
{
    usleep(100000);
    lt_context_interrupt(context);
    return NULL;
}

static void an_interrupt_ends_whatever_keeps_a_script_busy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        if (!sampled(i)) continue;
        lt_script *script = new_script(0, 256 << 20, NULL, NULL);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, lt_script_context(script)),
                         0);
        if (load(script, endless[i]) != LT_ERR_INTERRUPTED)
            fail_msg("%s: %s", endless[i], lt_error_message());
        pthread_join(thread, NULL);
        lt_script_release(script);
    }
}

/* ---- callbacks ------------------------------------------------------------------------------- */

typedef struct host {
    lt_script *script;
    const char *calls; /* text that the callback runs; NULL: it reads a global */
    lt_status status;
    int called;
} host;

static void call_again(void *user, const char *line, size_t bytes)
{
    (void)line, (void)bytes;
    host *h = user;
    lt_value value = lt_value_none();
    h->called++;
    h->status =
        h->calls != NULL ? load(h->script, h->calls) : lt_script_get(h->script, "verbose", &value);
    lt_value_release(&value);
}

static void a_callback_that_calls_the_script_leaves_its_deadline(void **state)
{
    (void)state;
    static const struct {
        const char *calls, *text;
    } cases[] = {
        {NULL, "verbose = true print 'hello' while true do end"},
        {"x = 1", "print 'hello' while true do end"},
        {"x = 1", "while true do print 'hello' end"},
        {"x = 1", "coroutine.wrap(function() print 'hello' while true do end end)()"},
        {"error 'no'", "print 'hello' while true do end"},
        {"while true do end", "pcall(print, 'hello') while true do end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        host h = {.calls = cases[i].calls};
        lt_script *script = h.script = new_script(SECONDS, 0, call_again, &h);
        const double begin = lt_clock();
        assert_fails(load(script, cases[i].text), LT_ERR_DEADLINE,
                     "the deadline of 0.3 seconds has passed");
        assert_true(lt_clock() - begin < SECONDS + LATE);
        assert_true(h.called > 0);
        h.calls = "y = 2"; /* the next call has its own time, whole */
        assert_ok(load(script, "print 'again' for i = 1, 1e5 do end"));
        assert_ok(h.status);
        lt_script_release(script);
    }
}

static void a_callback_finds_the_stack_of_the_script_as_it_was(void **state)
{
    (void)state;
    host h = {.calls = "function f(...) return ... end x = f(1, 2, 3)"};
    h.script = new_script(0, 0, call_again, &h);
    assert_ok(load(
        h.script,
        "local a, b = {}, 'b' print(a, b) assert(type(a) == 'table' and b == 'b' and x == 3 - 2) "
        "local t = table.pack(coroutine.wrap(function(...) print(...) return ... end)(4, 5)) "
        "assert(t[1] == 4 and t[2] == 5)"));
    assert_int_equal(h.called, 2);
    assert_ok(h.status);
    lt_script_release(h.script);
}

/* ---- results --------------------------------------------------------------------------------- */

/* 2^60 paths lead through 60 tables. */
static void a_table_in_several_places_is_copied_once(void **state)
{
    (void)state;
    static const char text[] =
        "local t = {7} for i = 1, 60 do t = {t, t, again = t} end return t, t";
    lt_script *script = new_script(10, 64 << 20, NULL, NULL);
    lt_value results[2] = {lt_value_none(), lt_value_none()};
    int n = 2;
    assert_ok(lt_script_load(script, text, strlen(text), "test", results, &n));
    const lt_table *table = results[0].v.table;
    assert_ptr_equal(results[1].v.table, table);
    for (int i = 0; i < 60; i++) {
        const lt_value *first = lt_table_at(table, 0), *second = lt_table_at(table, 1),
                       *named = lt_table_get(table, "again");
        assert_ptr_equal(first->v.table, second->v.table);
        assert_ptr_equal(first->v.table, named->v.table);
        table = first->v.table;
    }
    assert_int_equal(lt_table_at(table, 0)->v.i, 7);
    for (int i = 0; i < 2; i++) lt_value_release(&results[i]);
    static const char inside[] = "local t = {} t[1] = {t} return t";
    n = 1;
    assert_fails(lt_script_load(script, inside, strlen(inside), "test", results, &n),
                 LT_ERR_RUNTIME, "a table contains itself");
    lt_script_release(script);
}

static void results_have_the_limits_of_the_script(void **state)
{
    (void)state;
    lt_script *script = new_script(60, 128 << 20, NULL, NULL);
    lt_value result = lt_value_none();
    int n = 1;
    static const char large[] =
        "local s, t = ('x'):rep(10 << 20), {} for i = 1, 100 do t[i] = s end return t";
    assert_int_not_equal(lt_script_load(script, large, strlen(large), "test", &result, &n), LT_OK);
    assert_non_null(strstr(lt_error_message(), "memory"));
    lt_script_release(script);
    script = new_script(SECONDS, 128 << 20, NULL, NULL);
    static const char many[] = "local t = {} for i = 1, 300000 do t['n' .. i] = 1 end return t";
    n = 1;
    const double begin = lt_clock();
    const lt_status status = lt_script_load(script, many, strlen(many), "test", &result, &n);
    if (status != LT_ERR_DEADLINE) fail_msg("%d, %s", status, lt_error_message());
    assert_true(lt_clock() - begin < SECONDS + LATE);
    lt_script_release(script);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Kilobytes of the process that are in memory. */
static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void every_kind_of_memory_counts(void **state)
{
    (void)state;
    skip_if_emulated(); /* expects to fill the memory within a minute */
    static const char *const fillers[] = {
        "local x, t = torch.ones(2), {} for i = 1, 1e8 do t[i] = x:view(2) end",
        "local x, t = torch.ones(2), {} for i = 1, 1e8 do t[i] = x:detach() end",
        "local x = torch.ones(2, {requires_grad = true}) for i = 1, 1e8 do x = x + 1 end",
        "local x = torch.ones(2, {requires_grad = true}) local y = x * 2 for i = 1, 1e8 do "
        "y:register_hook(print) end",
        "local x = torch.ones(2, {requires_grad = true}) for i = 1, 1e8 do x:register_hook(print) "
        "end",
        "local t = {} for i = 1, 1e8 do t[i] = torch.ones(1, {requires_grad = true}) t[i].grad = "
        "torch.ones(1) end",
        "local t = {} for i = 1, 1e8 do t[i] = torch.ones(300) end",
        "local t = {} for i = 1, 1e8 do t[i] = torch.Generator() end",
        "local x, t = torch.ones(64), {} for i = 1, 1e8 do t[i] = x:unbind() end",
        "local t = {} for i = 1, 1e8 do t[i] = torch.ones(2, 2):to_sparse() end",
        "local t = {} for i = 1, 1e8 do t[i] = torch.nn.Linear(1, 1) end",
    };
    enum { LIMIT = 64 << 20 };
    for (size_t i = 0; i < sizeof fillers / sizeof *fillers; i++) {
        if (!sampled(i)) continue;
        lt_script *script = new_script(60, LIMIT, NULL, NULL);
        const long before = resident();
        const lt_status status = load(script, fillers[i]);
        const long grown = resident() - before;
        if (status != LT_ERR_MEMORY && strstr(lt_error_message(), "memory") == NULL)
            fail_msg("%s: %d, %s", fillers[i], status, lt_error_message());
#if !defined(__SANITIZE_ADDRESS__) /* which keeps what was freed */
        if (grown > 2 * (LIMIT >> 10))
            fail_msg("%s: %ld MB of %d", fillers[i], grown >> 10, LIMIT >> 20);
#endif
        lt_script_release(script);
    }
}

static void count_release(void *user) { (*(int *)user)++; }

/* What the library keeps of a script's computing is the process's: contexts end. */
static void a_context_ends_after_whatever_was_done_in_it(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "local x = torch.randn(4, 8, 9, 9, {requires_grad = true}) torch.nn.Conv2d(8, 8, "
        "3)(x):sum():backward()",
        "torch.fft.fft(torch.randn(1000)) torch.fft.rfft(torch.randn(4, 37))",
        "torch.matmul(torch.randn(8, 8), torch.randn(8, 8)) torch.einsum('ij,jk', torch.randn(3, "
        "4), torch.randn(4, 5))",
        "local x = torch.ones(2, {requires_grad = true}) local y = x:sin():sum() "
        "torch.autograd.grad(y, x, {create_graph = true})[1]:sum():backward()",
        "local x = torch.ones(2, {requires_grad = true}) x:register_hook(function(g) return g * 2 "
        "end) x:square():sum():backward({create_graph = true})",
        "torch.func.vmap(torch.func.grad(function(x) return x:sin():sum() end))(torch.ones(2, 3))",
        "local f = torch.compile(function(x) return x:sin() + 1 end) f(torch.ones(100))",
        "tostring(torch.randn(50, 50)) torch.randperm(100) torch.ones(3, 3):to_sparse():to_dense()",
        "pcall(error, 'x') error('the end')",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int released = 0;
        lt_script_config config = lt_script_defaults();
        config.memory_limit = 256 << 20, config.user = &released, config.release = count_release;
        lt_script *script = NULL;
        assert_ok(lt_script_new(&config, &script));
        const lt_status status = load(script, texts[i]);
        if (status != LT_OK && strstr(lt_error_message(), "the end") == NULL)
            fail_msg("%s: %s", texts[i], lt_error_message());
        lt_script_release(script);
        if (released != 1) fail_msg("%s: its context has not ended", texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_deadline_ends_whatever_keeps_a_script_busy),
        cmocka_unit_test(an_interrupt_ends_whatever_keeps_a_script_busy),
        cmocka_unit_test(a_callback_that_calls_the_script_leaves_its_deadline),
        cmocka_unit_test(a_callback_finds_the_stack_of_the_script_as_it_was),
        cmocka_unit_test(a_table_in_several_places_is_copied_once),
        cmocka_unit_test(results_have_the_limits_of_the_script),
        cmocka_unit_test(every_kind_of_memory_counts),
        cmocka_unit_test(a_context_ends_after_whatever_was_done_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
