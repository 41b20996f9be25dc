/* stream.c - torch.cuda.Stream and Event as userdata, current streams, and x:record_stream.
 *
 * A stream made by a user is freed when it is collected; the registry holds the current ones, so
 * that a stream in use is never collected. An event has no device and no handle until it is first
 * recorded; queried before that, it counts as complete. Methods are in the metatables. */
#include <stdio.h>
#include <string.h>

#include "compile/trace.h"
#include "gpu.h"
#include "sparse.h"

#define STREAM_META "ltensor.Stream"
#define EVENT_META  "ltensor.Event"

static const char current_key = 0; /* device -> the Stream last made current by set_stream */

typedef struct lua_stream {
    int device;
    uint64_t handle; /* 0: the default stream */
    bool own;
} lua_stream;

typedef struct event {
    int device;
    uint64_t handle; /* 0 until recorded */
    bool timing;
} event;

static lua_stream *check_stream(lua_State *L, int arg)
{
    return lt_lua_check_udata(L, arg, STREAM_META);
}
static event *check_event(lua_State *L, int arg) { return lt_lua_check_udata(L, arg, EVENT_META); }

/* Reads a field of the value's metatable: its methods. */
static int push_method(lua_State *L)
{
    if (!lua_getmetatable(L, 1)) return 0;
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    return 1;
}

static int raise(lua_State *L, const char *message)
{
    lt_error_set(LT_ERR_RUNTIME, "%s", message);
    return lt_lua_raise(L);
}

/* ---- streams --------------------------------------------------------------------------------- */

static lua_stream *push_stream(lua_State *L, int device)
{
    lua_stream *s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (lua_stream){device, 0, false};
    luaL_setmetatable(L, STREAM_META);
    return s;
}

/* Stream(device, priority) */
static int stream_new(lua_State *L)
{
    if (!lua_isnoneornil(L, 2) && !lua_isinteger(L, 2))
        return raise(L, "Stream(): argument 'priority' must be an integer");
    lua_Integer priority = lua_tointeger(L, 2);
    int device = lt_lua_gpu_device(L, 1);
    /* the backend clamps it to the device's range */
    priority = priority < -100 ? -100 : priority > 100 ? 100 : priority;
    lua_stream *s = push_stream(L, device);
    lt_lua_gpu_do(L, stream_new(device, (int)priority, &s->handle));
    s->own = true;
    return 1;
}

static int stream_gc(lua_State *L)
{
    lua_stream *s = check_stream(L, 1);
    if (!s->own) return 0;
    const lt_backend *backend = lt_backends[LT_CUDA];
    if (backend->current_stream(s->device) == s->handle) backend->set_stream(s->device, 0);
    backend->stream_free(s->device, s->handle);
    s->own = false;
    s->handle = 0;
    return 0;
}

static int stream_index(lua_State *L)
{
    lua_stream *s = check_stream(L, 1);
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (strcmp(key, "device") == 0)
        lt_lua_push_device(L, (lt_device){LT_CUDA, (int8_t)s->device});
    else if (strcmp(key, "cuda_stream") == 0)
        lua_pushinteger(L, (lua_Integer)s->handle);
    else
        return push_method(L);
    return 1;
}

static int stream_tostring(lua_State *L)
{
    lua_stream *s = check_stream(L, 1);
    char text[80];
    snprintf(text, sizeof text, "<torch.cuda.Stream device=cuda:%d cuda_stream=0x%llx>", s->device,
             (unsigned long long)s->handle);
    lua_pushstring(L, text);
    return 1;
}

static int stream_eq(lua_State *L)
{
    const lua_stream *a = luaL_testudata(L, 1, STREAM_META), *b = luaL_testudata(L, 2, STREAM_META);
    lua_pushboolean(L, a != NULL && b != NULL && a->device == b->device && a->handle == b->handle);
    return 1;
}

static int stream_synchronize(lua_State *L)
{
    lua_stream *s = check_stream(L, 1);
    lt_lua_do(L, lt_trace_flush());
    lt_lua_gpu_do(L, stream_synchronize(s->device, s->handle));
    return 0;
}

static int stream_query(lua_State *L)
{
    lua_stream *s = check_stream(L, 1);
    bool done;
    lt_lua_do(L, lt_trace_flush());
    lt_lua_gpu_do(L, stream_query(s->device, s->handle, &done));
    lua_pushboolean(L, done);
    return 1;
}

/* s:wait_stream(other): work submitted to s from now on starts after all work now queued on other
 */
static int stream_wait_stream(lua_State *L)
{
    lua_stream *s = check_stream(L, 1), *other = check_stream(L, 2);
    const lt_backend *backend = lt_lua_gpu(L);
    uint64_t mark;
    lt_lua_do(L, lt_trace_flush());
    lt_lua_do(L, backend->event_new(other->device, false, &mark));
    lt_status status = backend->event_record(mark, other->device, other->handle);
    if (status == LT_OK) status = backend->stream_wait_event(s->device, s->handle, mark);
    backend->event_free(mark);
    lt_lua_check(L, status);
    return 0;
}

/* ---- current streams ------------------------------------------------------------------------- */

static void push_current(lua_State *L, const lt_backend *backend, int device)
{
    uint64_t handle = backend->current_stream(device);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &current_key);
    lua_rawgeti(L, -1, device);
    lua_remove(L, -2);
    const lua_stream *s = luaL_testudata(L, -1, STREAM_META);
    if (s != NULL && s->handle == handle) return;
    lua_pop(L, 1);
    push_stream(L, device)->handle = handle;
}

static int current_stream(lua_State *L)
{
    int device = lt_lua_gpu_device(L, 1);
    push_current(L, lt_lua_gpu(L), device);
    return 1;
}

static int default_stream(lua_State *L)
{
    push_stream(L, lt_lua_gpu_device(L, 1));
    return 1;
}

/* set_stream(s): its device becomes the current one, too; nil changes nothing */
static int set_stream(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) return 0;
    lua_stream *s = check_stream(L, 1);
    const lt_backend *backend = lt_lua_gpu(L);
    lt_lua_do(L, lt_trace_flush());
    lt_lua_do(L, backend->set_device(s->device));
    lua_rawgetp(L, LUA_REGISTRYINDEX, &current_key);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, s->device);
    backend->set_stream(s->device, s->handle);
    return 0;
}

/* The Stream at arg (left there), or if absent the current one of the current device. */
static lua_stream *stream_or_current(lua_State *L, int arg)
{
    if (lua_isnoneornil(L, arg)) {
        const lt_backend *backend = lt_lua_gpu(L);
        lua_settop(L, arg);
        push_current(L, backend, backend->current_device());
        lua_replace(L, arg);
    }
    return check_stream(L, arg);
}

/* x:record_stream(s): once x is freed, its memory is reused only after the work then queued on s */
static int record_stream(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    lua_stream *s = check_stream(L, 2);
    lt_lua_check(L, lt_require_strided("record_stream", t));
    if (t->device.type != LT_CUDA)
        return raise(L, "record_stream() expects a tensor on a cuda device, got cpu");
    if (t->device.index != s->device)
        return raise(L, "record_stream(): the stream and the tensor are on different devices");
    lt_lua_do(L, lt_materialize("record_stream", t));
    if (t->storage->release == NULL) lt_lua_gpu(L)->record_stream(t->storage->ctx, s->handle);
    return 0;
}

/* torch._C.ready_for(tensor, stream): makes the stream wait for the work that writes the tensor.
 * For lib/utils/dlpack.lua */
static int ready_for(lua_State *L)
{
    const lt_tensor *t = lt_lua_check_tensor(L, 1);
    const lua_stream *s = check_stream(L, 2);
    if (t->device.type != LT_CUDA || t->device.index != s->device)
        return raise(L, "__dlpack__(): the stream and the tensor are on different devices");
    lt_lua_do(L, lt_tensor_ready_for(t, s->handle));
    return 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool read_flag(lua_State *L, int index, const char *name)
{
    if (!lua_isnoneornil(L, index) && !lua_isboolean(L, index)) {
        lt_error_set(LT_ERR_TYPE, "Event(): argument '%s' must be bool, not %s", name,
                     lt_lua_type_name(L, index));
        lt_lua_raise(L);
    }
    return lua_toboolean(L, index);
}

static event *push_event(lua_State *L, bool timing)
{
    event *e = lua_newuserdatauv(L, sizeof *e, 0);
    *e = (event){-1, 0, timing};
    luaL_setmetatable(L, EVENT_META);
    return e;
}

/* Event(enable_timing, blocking); blocking, PyTorch's hint on how to wait, is ignored: the
 * backend decides */
static int event_new(lua_State *L)
{
    bool timing = read_flag(L, 1, "enable_timing");
    read_flag(L, 2, "blocking");
    lt_lua_gpu(L);
    push_event(L, timing);
    return 1;
}

static int event_gc(lua_State *L)
{
    event *e = check_event(L, 1);
    if (e->handle != 0) lt_backends[LT_CUDA]->event_free(e->handle);
    e->handle = 0;
    return 0;
}

static void record(lua_State *L, event *e, const lua_stream *s)
{
    const lt_backend *backend = lt_lua_gpu(L);
    lt_lua_do(L, lt_trace_flush());
    if (e->handle == 0) {
        lt_lua_do(L, backend->event_new(s->device, e->timing, &e->handle));
        e->device = s->device;
    }
    lt_lua_do(L, backend->event_record(e->handle, s->device, s->handle));
}

static int event_record(lua_State *L)
{
    event *e = check_event(L, 1);
    record(L, e, stream_or_current(L, 2));
    return 0;
}

/* s:record_event([e]) -> e */
static int stream_record_event(lua_State *L)
{
    lua_stream *s = check_stream(L, 1);
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        push_event(L, false);
        lua_replace(L, 2);
    }
    record(L, check_event(L, 2), s);
    return 1;
}

static void wait_event(lua_State *L, const lua_stream *s, const event *e)
{
    if (e->handle != 0) lt_lua_gpu_do(L, stream_wait_event(s->device, s->handle, e->handle));
}

static int stream_wait_event(lua_State *L)
{
    lua_stream *s = check_stream(L, 1);
    wait_event(L, s, check_event(L, 2));
    return 0;
}

static int event_wait(lua_State *L)
{
    event *e = check_event(L, 1);
    wait_event(L, stream_or_current(L, 2), e);
    return 0;
}

static int event_query(lua_State *L)
{
    event *e = check_event(L, 1);
    bool done = true;
    if (e->handle != 0) lt_lua_gpu_do(L, event_query(e->handle, &done));
    lua_pushboolean(L, done);
    return 1;
}

static int event_synchronize(lua_State *L)
{
    event *e = check_event(L, 1);
    if (e->handle != 0) lt_lua_gpu_do(L, event_synchronize(e->handle));
    return 0;
}

/* start:elapsed_time(stop) -> milliseconds */
static int event_elapsed_time(lua_State *L)
{
    event *start = check_event(L, 1), *stop = check_event(L, 2);
    double milliseconds;
    if (start->handle == 0 || stop->handle == 0)
        return raise(L, "Both events must be recorded before calculating elapsed time.");
    lt_lua_gpu_do(L, event_elapsed(start->handle, stop->handle, &milliseconds));
    lua_pushnumber(L, milliseconds);
    return 1;
}

static int event_index(lua_State *L)
{
    event *e = check_event(L, 1);
    if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "device") != 0)
        return push_method(L);
    if (e->device < 0)
        lua_pushnil(L);
    else
        lt_lua_push_device(L, (lt_device){LT_CUDA, (int8_t)e->device});
    return 1;
}

static int event_tostring(lua_State *L)
{
    event *e = check_event(L, 1);
    char text[64] = "<torch.cuda.Event uninitialized>";
    if (e->handle != 0)
        snprintf(text, sizeof text, "<torch.cuda.Event 0x%llx>", (unsigned long long)e->handle);
    lua_pushstring(L, text);
    return 1;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void make_metatable(lua_State *L, const char *key, const char *name,
                           const luaL_Reg *functions, const char *const *fields)
{
    luaL_newmetatable(L, key);
    lt_lua_setfuncs(L, functions);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__methods");
    lt_lua_set_field_names(L, fields);
    lua_pop(L, 1);
}

void lt_lua_open_streams(lua_State *L)
{
    static const luaL_Reg stream_functions[] = {{"synchronize", stream_synchronize},
                                                {"query", stream_query},
                                                {"wait_stream", stream_wait_stream},
                                                {"wait_event", stream_wait_event},
                                                {"record_event", stream_record_event},
                                                {"__index", stream_index},
                                                {"__tostring", stream_tostring},
                                                {"__eq", stream_eq},
                                                {"__gc", stream_gc},
                                                {NULL, NULL}};
    static const luaL_Reg event_functions[] = {{"record", event_record},
                                               {"synchronize", event_synchronize},
                                               {"query", event_query},
                                               {"wait", event_wait},
                                               {"elapsed_time", event_elapsed_time},
                                               {"__index", event_index},
                                               {"__tostring", event_tostring},
                                               {"__gc", event_gc},
                                               {NULL, NULL}};
    static const luaL_Reg functions[] = {{"Stream", stream_new},
                                         {"Event", event_new},
                                         {"current_stream", current_stream},
                                         {"default_stream", default_stream},
                                         {"set_stream", set_stream},
                                         {NULL, NULL}};
    make_metatable(L, STREAM_META, "Stream", stream_functions,
                   (const char *const[]){"device", "cuda_stream", NULL});
    make_metatable(L, EVENT_META, "Event", event_functions, (const char *const[]){"device", NULL});
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &current_key);
    lt_lua_setfuncs(L, functions);
    lt_lua_pushfunction(L, record_stream);
    lua_setfield(L, 3, "record_stream");
    lt_lua_pushfunction(L, ready_for);
    lua_setfield(L, 2, "ready_for");
}
