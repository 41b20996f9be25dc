/* graph.c - torch.cuda.CUDAGraph as userdata: work of a stream that is recorded once and replayed.
 *
 * Collecting a graph frees its memory; collecting one during its capture, after an error, ends the
 * capture. torch.cuda.graph, the usual way to capture, is in lib/cuda.lua. */
#include "compile/trace.h"
#include "devices/device_type.h"
#include "gpu.h"

#define GRAPH_META "ltensor.CUDAGraph"

typedef struct lua_graph {
    uint64_t handle; /* 0: could not be made */
} lua_graph;

/* The graph's handle. Raises an error if a script has called its __gc. */
static uint64_t check_graph(lua_State *L)
{
    const lua_graph *g = lt_lua_check_udata(L, 1, GRAPH_META);
    if (g->handle == 0) {
        lt_error_set(LT_ERR_RUNTIME, "this CUDAGraph has been collected");
        lt_lua_raise(L);
    }
    return g->handle;
}

/* CUDAGraph() */
static int graph_new(lua_State *L)
{
    const lt_backend *backend = lt_lua_gpu(L);
    lua_graph *g = lua_newuserdatauv(L, sizeof *g, 0);
    g->handle = 0;
    luaL_setmetatable(L, GRAPH_META);
    lt_lua_do(L, backend->graph_new(&g->handle));
    return 1;
}

static int graph_gc(lua_State *L)
{
    lua_graph *g = lt_lua_check_udata(L, 1, GRAPH_META);
    const lt_entry entry = lt_enter(L); /* its memory counts against the context */
    if (g->handle != 0) lt_backends[LT_CUDA]->graph_free(g->handle);
    lt_leave(entry);
    g->handle = 0;
    return 0;
}

/* A pool handle from g:pool() or graph_pool_handle(); 0 if absent. */
static uint64_t pool_argument(lua_State *L, int arg)
{
    if (lua_isnoneornil(L, arg)) return 0;
    lua_Integer pool = lua_isinteger(L, arg) ? lua_tointeger(L, arg) : 0;
    if (pool <= 0) {
        lt_error_set(
            LT_ERR_TYPE,
            "capture_begin(): argument 'pool' must be a result of graph_pool_handle() or pool()");
        lt_lua_raise(L);
    }
    return (uint64_t)pool;
}

/* g:capture_begin([pool]) */
static int capture_begin(lua_State *L)
{
    uint64_t handle = check_graph(L);
    lua_settop(L, 2);
    const uint64_t pool = pool_argument(L, 2);
    lt_lua_do(L, lt_trace_flush()); /* deferred ops recorded before the capture run before it */
    lt_lua_gpu_do(L, graph_begin(handle, pool));
    return 0;
}

static int capture_end(lua_State *L)
{
    const uint64_t handle = check_graph(L);
    lt_lua_do(L, lt_trace_flush());
    lt_lua_gpu_do(L, graph_end(handle, true));
    return 0;
}

static int replay(lua_State *L)
{
    const uint64_t handle = check_graph(L);
    lt_lua_do(L, lt_trace_flush()); /* it writes memory that deferred ops may read */
    lt_lua_gpu_do(L, graph_replay(handle));
    return 0;
}

static int reset(lua_State *L)
{
    const uint64_t handle = check_graph(L);
    const lt_backend *backend = lt_lua_gpu(L);
    const lt_entry entry = lt_enter(L);
    backend->graph_reset(handle);
    lt_leave(entry);
    return 0;
}

static int pool(lua_State *L)
{
    uint64_t id = lt_lua_gpu(L)->graph_pool(check_graph(L));
    if (id == 0) {
        lt_error_set(LT_ERR_RUNTIME,
                     "Called CUDAGraph::pool() without a preceding successful capture.");
        return lt_lua_raise(L);
    }
    lua_pushinteger(L, (lua_Integer)id);
    return 1;
}

static int graph_pool_handle(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)lt_lua_gpu(L)->graph_pool_new());
    return 1;
}

/* Without a GPU in use nothing is captured; this does not load the backend. */
static int is_current_stream_capturing(lua_State *L)
{
    const lt_backend *gpus = lt_backends[lt_accelerator()];
    lua_pushboolean(L, gpus != NULL && gpus->graph_recording());
    return 1;
}

void lt_lua_open_graphs(lua_State *L)
{
    static const luaL_Reg methods[] = {{"capture_begin", capture_begin},
                                       {"capture_end", capture_end},
                                       {"replay", replay},
                                       {"reset", reset},
                                       {"pool", pool},
                                       {"__gc", graph_gc},
                                       {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"CUDAGraph", graph_new},
        {"graph_pool_handle", graph_pool_handle},
        {"is_current_stream_capturing", is_current_stream_capturing},
        {NULL, NULL}};
    luaL_newmetatable(L, GRAPH_META);
    lt_lua_setfuncs(L, methods);
    lua_pushliteral(L, "CUDAGraph");
    lua_setfield(L, -2, "__name");
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__methods");
    lua_pop(L, 1);
    lt_lua_setfuncs(L, functions);
}
