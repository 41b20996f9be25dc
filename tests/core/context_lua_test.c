/* context_lua_test.c - contexts of Lua interpreters: two in one thread, two in two, and what a host
 * may forbid to one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "find_backend.h"
#include "ltensor_lua.h"
#include "system/lua_versions.h"

static const lt_device cpu = {LT_CPU, 0};

static lua_State *open_state(lua_State *L)
{
    luaL_openlibs(L);
    luaL_requiref(L, "torch", luaopen_torch, 1);
    lua_settop(L, 0);
    return L;
}

static lua_State *new_state(void) { return open_state(luaL_newstate()); }

/* Runs a chunk; its first result as text, or the error. Valid until the next call of this
 * thread. */
static const char *run(lua_State *L, const char *chunk)
{
    static _Thread_local char text[4096];
    lua_settop(L, 0);
    const bool ok = luaL_loadstring(L, chunk) == LUA_OK && lua_pcall(L, 0, 1, 0) == LUA_OK;
    snprintf(text, sizeof text, "%s%s", ok ? "" : "error: ", luaL_tolstring(L, -1, NULL));
    lua_settop(L, 0);
    return text;
}

#define assert_runs(L, chunk, expected) assert_string_equal(run(L, chunk), expected)
#define assert_raises(L, chunk, part)                                                              \
    do {                                                                                           \
        const char *raised_ = run(L, chunk);                                                       \
        if (strncmp(raised_, "error: ", 7) != 0 || strstr(raised_, part) == NULL)                  \
            fail_msg("'%s' is not in: %s", part, raised_);                                         \
    } while (0)

/* ---- two interpreters in one thread ---------------------------------------------------------- */

static void states_of_one_thread_are_apart(void **state)
{
    (void)state;
    lua_State *a = new_state(), *b = new_state();
    assert_true(lt_lua_context(a) != lt_lua_context(b));
    assert_runs(a, "torch.manual_seed(3); return torch.rand(1):item()",
                run(b, "torch.manual_seed(3); return torch.rand(1):item()"));
    char second[100];
    snprintf(second, sizeof second, "%s", run(a, "return torch.rand(1):item()"));
    lt_manual_seed(99); /* the host's own */
    assert_runs(b, "return torch.rand(1):item()", second);

    run(a, "torch.set_default_dtype('float64'); torch.set_num_threads(3)");
    run(a, "torch.set_printoptions{precision = 2}; torch.use_deterministic_algorithms(true)");
    run(a, "scope = torch.no_grad()");
    assert_runs(a, "return torch.get_default_dtype()", "torch.float64");
    assert_runs(b, "return torch.get_default_dtype()", "torch.float32");
    assert_runs(a, "return torch.ones(1) / 3", "tensor([0.33])");
    assert_runs(b, "return torch.ones(1) / 3", "tensor([0.3333])");
    assert_runs(a, "return torch.is_grad_enabled()", "false");
    assert_runs(b, "return torch.is_grad_enabled()", "true");
    assert_runs(
        b, "return torch.get_num_threads() == 3 or torch.are_deterministic_algorithms_enabled()",
        "false");
    assert_runs(
        b, "x = torch.ones(1, {requires_grad = true}); (x * x):sum():backward(); return x.grad",
        "tensor([2.])");
    assert_int_equal(lt_get_default_dtype(), LT_FLOAT32);
    assert_true(lt_grad_enabled());
    assert_ptr_equal(lt_context_current(), lt_context_process());
    lua_close(a);
    lua_close(b);
}

static void autocast_is_an_interpreters_own(void **state)
{
    (void)state;
    lua_State *a = new_state(), *b = new_state();
    const char *product = "return torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype";
    run(a, "torch._C.autocast_set('cpu', true, nil, true)");
    assert_runs(a, product, "torch.bfloat16");
    assert_runs(b, product, "torch.float32");
    lua_close(a); /* with the scope open */
    assert_runs(b, product, "torch.float32");
    lua_close(b);
}

/* ---- what a host gives ----------------------------------------------------------------------- */

static void a_host_may_give_a_context(void **state)
{
    (void)state;
    lt_context *mine = NULL;
    lua_State *before = luaL_newstate(), *after = new_state(),
              *counted = lt_lua_new_state(lt_lua_alloc, NULL);
    assert_non_null(counted); /* in the process's context */
    lua_close(counted);
    assert_int_equal(lt_context_new(NULL, &mine), LT_OK);
    assert_null(lt_lua_context(before));
    assert_int_equal(lt_lua_set_context(before, mine), LT_OK);
    open_state(before);
    assert_ptr_equal(lt_lua_context(before), mine);
    assert_int_equal(lt_lua_set_context(after, mine), LT_OK);
    run(before, "torch.set_default_dtype('float64')");
    assert_runs(after, "return torch.get_default_dtype()", "torch.float64");
    assert_runs(after, "return coroutine.wrap(function() return torch.get_default_dtype() end)()",
                "torch.float64");
    assert_int_equal(lt_lua_set_context(after, NULL), LT_ERR_TYPE);
    assert_int_equal(lt_lua_set_context(NULL, mine), LT_ERR_TYPE);
    assert_null(lt_lua_context(NULL));
    lua_close(before);
    lua_close(after);
    lt_context_release(mine);
}

static void count_release(void *user) { ++*(int *)user; }

/* Nothing that a script runs keeps a reference to its context. */
static void a_closed_state_releases_its_context(void **state)
{
    (void)state;
    static const char *const chunks[] = {
        "return torch.compile(function(x) return (x * 2 + 1):tanh() end)(torch.ones(70000))",
        "return torch.kernel.elementwise('x * x + 1')(torch.ones(70000))",
        "local x = torch.ones(3, {requires_grad = true}); (x * x):sum():backward()",
        "local x = torch.ones(3, {requires_grad = true}); held = (x * x):sum()",
        "torch.manual_seed(1); return torch.rand(3)",
        "return torch.func.vmap(torch.func.grad(function(x) return x * x end))(torch.ones(3))",
        "torch.linalg.solve(torch.eye(3), torch.ones(3))",
        "scope = torch.no_grad()",
        "error 'no'",
        "torch.compile(function() error 'no' end)()",
    };
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        int released = 0;
        lt_context_config config = lt_context_defaults();
        config.user = &released;
        config.release = count_release;
        lt_context *mine = NULL;
        lua_State *L = luaL_newstate();
        assert_int_equal(lt_context_new(&config, &mine), LT_OK);
        assert_int_equal(lt_lua_set_context(L, mine), LT_OK);
        lt_context_release(mine);
        run(open_state(L), chunks[i]);
        assert_int_equal(released, 0);
        lua_close(L);
        if (released != 1) fail_msg("released %d times after: %s", released, chunks[i]);
    }
}

static bool allow_nothing(void *user, int access, const char *name)
{
    snprintf(user, 200, "%d %s", access, name);
    return false;
}

/* Denies one kind of access that a kernel from text needs, and stores its name. */
typedef struct kernel_access {
    int denied;
    char name[200];
} kernel_access;

static bool allow_other_accesses(void *user, int access, const char *name)
{
    kernel_access *a = user;
    const bool backend = access == LT_ACCESS_LIBRARY && strstr(name, ".cu") == NULL;
    if (access != a->denied || backend) return true;
    snprintf(a->name, sizeof a->name, "%s", name);
    return false;
}

static void a_kernel_from_text_needs_permission(void **state)
{
    (void)state;
    static const char chunk[] =
        "local x = torch.zeros(2, {device = 'cuda'})\n"
        "torch.cuda._compile_kernel('__global__ void f(float *x) { x[threadIdx.x] = 3; }', 'f') "
        "{block = 2, args = {x}}\n"
        "return tostring(x:sum():item())";
    const struct {
        int denied;
        const char *name;
    } tries[] = {{LT_ACCESS_PROCESS, "/"},
                 {LT_ACCESS_FILE_WRITE, "/"},
                 {LT_ACCESS_LIBRARY, "f.cu"},
                 {-1, ""}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        kernel_access asked = {tries[i].denied, ""};
        lt_context *mine = NULL;
        lt_context_config config = lt_context_defaults();
        config.user = &asked, config.authorize = allow_other_accesses;
        assert_int_equal(lt_context_new(&config, &mine), LT_OK);
        lua_State *L = new_state();
        assert_int_equal(lt_lua_set_context(L, mine), LT_OK);
        if (tries[i].denied < 0)
            assert_runs(L, chunk, "6.0");
        else
            assert_raises(L, chunk, "not permitted: ");
        assert_non_null(strstr(asked.name, tries[i].name));
        lua_close(L);
        lt_context_release(mine);
    }
}

static void a_script_touches_nothing_without_permission(void **state)
{
    (void)state;
    char asked[200] = "";
    lt_context *mine = NULL;
    lt_context_config config = lt_context_defaults();
    config.user = asked, config.authorize = allow_nothing;
    assert_int_equal(lt_context_new(&config, &mine), LT_OK);
    lua_State *L = new_state();
    assert_int_equal(lt_lua_set_context(L, mine), LT_OK);
    const struct {
        const char *chunk, *asked;
    } tries[] = {
        {"torch.save(torch.ones(2), '/tmp/ltensor-forbidden')", "1 /tmp/ltensor-forbidden"},
        {"torch.save(torch.ones(2), '/tmp/ltensor-forbidden.pt')", "1 /tmp/ltensor-forbidden.pt"},
        {"torch.load('/etc/passwd')", "0 /etc/passwd"},
        {"torch.from_file('/etc/passwd', {size = 3, dtype = torch.uint8})", "0 /etc/passwd"},
        {"torch.utils.data.text.read_lines('/etc/passwd')", "0 /etc/passwd"},
        {"torch._C.create_file('/tmp/ltensor-forbidden')", "1 /tmp/ltensor-forbidden"},
        {"torch._C.open_file('/etc/passwd')", "0 /etc/passwd"},
        {"assert(torch._C.gunzip('/etc/passwd'))", "0 /etc/passwd"},
        {"torch.hub.list('/etc')", "0 /etc/hubconf.lua"},
        {"torch.audio.save('/tmp/ltensor-forbidden', torch.ones(1, 4), 8000)",
         "1 /tmp/ltensor-forbidden"},
        {"torch.utils.plot.lines({1, 2}):save('/tmp/ltensor-forbidden.svg')",
         "1 /tmp/ltensor-forbidden.svg"},
        {"torch.utils.log.CSVLogger('/tmp/ltensor-forbidden')", "1 /tmp/ltensor-forbidden"},
        {"torch.utils.tensorboard.SummaryWriter('/tmp/ltensor-forbidden')",
         "6 /tmp/ltensor-forbidden"},
        {"torch._C.remove_file('/tmp/ltensor-forbidden')", "5 /tmp/ltensor-forbidden"},
        {"torch._C.list_folder('/etc')", "0 /etc"},
        {"torch._C.fork_worker(function() end)", "2 worker"},
        {"local data = torch.utils.data; for _ in "
         "data.DataLoader(data.TensorDataset(torch.ones(4)), {num_workers = 1}):iter() do end",
         "2 worker"},
        {"torch.ones(2):to('cuda')", "3 libltensor_cuda.so"},
        {"torch.linalg.inv(torch.eye(3))", "3 libopenblas.so.0"},
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        asked[0] = '\0';
        assert_raises(L, tries[i].chunk, "not permitted: ");
        assert_string_equal(asked, tries[i].asked);
    }
    assert_int_equal(access("/tmp/ltensor-forbidden", F_OK), -1);
    assert_int_equal(access("/tmp/ltensor-forbidden.pt", F_OK), -1);
    assert_runs(L, "return torch.cuda.is_available()", "false");
    assert_runs(L, "return torch.ones(2):sum():item()", "2.0"); /* and goes on */
    lua_close(L);
    lt_context_release(mine);
}

static void memory_of_lua_counts_where_the_host_asks_for_it(void **state)
{
    (void)state;
    lt_context *mine = NULL;
    lt_context_config config = lt_context_defaults();
    config.memory_limit = 64 << 20;
    assert_int_equal(lt_context_new(&config, &mine), LT_OK);
    lua_State *L = lt_lua_new_state(lt_lua_alloc, mine);
    assert_non_null(L);
    assert_int_equal(lt_lua_set_context(L, mine), LT_OK);
    open_state(L);
    run(L, "for i = 1, 2 do collectgarbage() end");
    int64_t before = 0, with = 0, after = -1;
    assert_int_equal(lt_context_memory(mine, cpu, &before, NULL), LT_OK);
    assert_true(before > 100000);
    assert_runs(L, "s = ('x'):rep(2 ^ 20) return #s", "1048576");
    assert_int_equal(lt_context_memory(mine, cpu, &with, NULL), LT_OK);
    assert_true(with - before > 1000000);
    assert_raises(L, "t = {} while true do t[#t + 1] = ('x'):rep(2 ^ 16) .. #t end",
                  "not enough memory");
    /* Large ones: what is left would hold all of Lua's that stands beside one. */
    assert_raises(L, "t = {} while true do t[#t + 1] = torch.ones(1000000) end",
                  "of host memory, of which");
    assert_runs(L, "t = nil collectgarbage() return torch.ones(10000):sum():item()", "10000.0");
    /* Tensors that are garbage make room: a loop of temporaries goes on for ever. */
    assert_runs(L, "for i = 1, 1000 do local x = torch.ones(1000000) end return 'all'", "all");
    lua_close(L);
    assert_int_equal(lt_context_memory(mine, cpu, &after, NULL), LT_OK);
    assert_int_equal(after, 0);
    lt_context_release(mine);
}

static void a_deadline_ends_what_a_script_computes(void **state)
{
    (void)state;
    lua_State *L = new_state();
    assert_int_equal(lt_context_set_deadline(lt_lua_context(L), 0.05), LT_OK);
    assert_raises(L, "return torch.ones(1):as_strided({1 << 20, 1 << 20}, {0, 0}):sum()",
                  "the deadline of 0.05 seconds has passed");
    assert_raises(L, "return pcall(torch.ones, 3) or torch.ones(3)",
                  "deadline"); /* each that follows fails, too */
    lua_State *other = new_state();
    assert_runs(other, "return torch.ones(3):sum():item()", "3.0");
    lua_close(other);
    lua_close(L);
}

static void keep_text(void *user, int level, const char *text)
{
    (void)level;
    FILE *file = fopen(user, "w");
    if (file == NULL) return;
    fputs(text, file);
    fclose(file);
}

static void a_deadline_holds_in_a_worker_too(void **state)
{
    (void)state;
    char name[64], said[400] = "";
    snprintf(name, sizeof name, "/tmp/ltensor-context-worker-%d", (int)getpid());
    lt_context_config config = lt_context_defaults();
    config.user = name, config.log = keep_text;
    lt_context *mine = NULL;
    assert_int_equal(lt_context_new(&config, &mine), LT_OK);
    lua_State *L = new_state();
    assert_int_equal(lt_lua_set_context(L, mine), LT_OK);
    assert_int_equal(lt_context_set_deadline(mine, 0.2), LT_OK);
    assert_runs(L,
                "w = torch._C.fork_worker(function()"
                "  return torch.ones(1):as_strided({1 << 20, 1 << 20}, {0, 0}):sum()"
                "end)",
                "nil");
    assert_int_equal(lt_context_set_deadline(mine, INFINITY),
                     LT_OK); /* the worker has its own by now */
    assert_runs(L, "return select(2, w:receive(20))", "exit code 1");
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_true(fread(said, 1, sizeof said - 1, file) > 0);
    fclose(file);
    unlink(name);
    assert_non_null(strstr(said, "the deadline of 0.2 seconds has passed"));
    lua_close(L);
    lt_context_release(mine);
}

/* ---- two interpreters in two threads --------------------------------------------------------- */

static const char training[] =
    "torch.manual_seed(5)"
    "local nn = torch.nn "
    "local net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 1))"
    "local sgd = torch.optim.SGD(net:parameters(), {lr = 0.05})"
    "local x, y, text = torch.randn(64, 8), torch.randn(64, 1), '' "
    "for i = 1, 20 do sgd:zero_grad() local loss = nn.functional.mse_loss(net(x), y) "
    "loss:backward() sgd:step()"
    "  text = text .. ('%.17g '):format(loss:item()) end "
    "return text";

typedef struct worker {
    lua_State *L;
    const char *chunk;
    char text[4096];
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    snprintf(w->text, sizeof w->text, "%s", run(w->L, w->chunk));
    return NULL;
}

static void states_of_two_threads_are_apart(void **state)
{
    (void)state;
    static worker alone, w[8];
    enum { N = sizeof w / sizeof *w };
    pthread_t threads[N];
    alone = (worker){.L = new_state(), .chunk = training};
    work(&alone);
    assert_null(strstr(alone.text, "error"));
    for (int i = 0; i < N; i++) /* the last one works until it is interrupted */
        w[i] = (worker){
            .L = new_state(),
            .chunk = i < N - 1
                         ? training
                         : "return torch.ones(1):as_strided({1 << 20, 1 << 20}, {0, 0}):sum()"};
    for (int i = 0; i < N; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, &w[i]), 0);
    lt_context_interrupt(lt_lua_context(w[N - 1].L));
    for (int i = 0; i < N; i++) pthread_join(threads[i], NULL);
    assert_non_null(strstr(w[N - 1].text, "interrupted"));
    for (int i = 0; i < N - 1; i++) assert_string_equal(w[i].text, alone.text);
    for (int i = 0; i < N; i++) lua_close(w[i].L);
    lua_close(alone.L);
}

/* Gradients that lead back to their tensor are found by a walk over the graphs of the interpreter
 * that collects, while the others change theirs. */
static void circles_of_two_threads_are_collected_apart(void **state)
{
    (void)state;
    static const char circles[] =
        "for i = 1, 300 do"
        "  local x = torch.full({400}, i + 0.5, {requires_grad = true});"
        "  (x * x * x):sum():backward{create_graph = true}"
        "  x.grad:sum():backward{create_graph = true}"
        "  if i % 5 == 0 then collectgarbage() end "
        "end "
        "local last = torch._C.clock() + 60 " /* they are looked for now and then */
        "while torch._C.memory_live() > 0 and torch._C.clock() < last do "
        "  collectgarbage() "
        "end "
        "return torch._C.memory_live()";
    static worker w[4];
    enum { N = sizeof w / sizeof *w };
    pthread_t threads[N];
    for (int i = 0; i < N; i++) w[i] = (worker){.L = new_state(), .chunk = circles};
    for (int i = 0; i < N; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, &w[i]), 0);
    for (int i = 0; i < N; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < N; i++) {
        assert_string_equal(w[i].text, "0");
        lua_close(w[i].L);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_script_touches_nothing_without_permission), /* before anything is loaded */
        cmocka_unit_test(a_kernel_from_text_needs_permission),
        cmocka_unit_test(states_of_one_thread_are_apart),
        cmocka_unit_test(autocast_is_an_interpreters_own),
        cmocka_unit_test(a_host_may_give_a_context),
        cmocka_unit_test(a_closed_state_releases_its_context),
        cmocka_unit_test(memory_of_lua_counts_where_the_host_asks_for_it),
        cmocka_unit_test(a_deadline_ends_what_a_script_computes),
        cmocka_unit_test(a_deadline_holds_in_a_worker_too),
        cmocka_unit_test(states_of_two_threads_are_apart),
        cmocka_unit_test(circles_of_two_threads_are_collected_apart),
    };
    find_backend();
    setenv("LTENSOR_SIM_GPUS", "1", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
