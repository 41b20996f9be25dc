/* gpus.c - operations between GPUs of several processes (devices/device_engine.h) for
 * lib/distributed/nccl.lua: torch._C.device_id, device_join. Precondition, checked by
 * lib/distributed: tensors are contiguous and on the group's GPU. */
#include "gpus.h"

#include <string.h>

#include "binding.h"
#include "comm/comm.h"
#include "comm/device.h"
#include "compile/deferred.h"
#include "tensor.h"

#define GROUP_NAME "ltensor.DeviceGroup"

typedef struct gpu_group_box {
    const lt_device_engine *engine;
    lt_device_group *group;
    int rank, size;
} gpu_group_box;

static gpu_group_box *check_group(lua_State *L) { return lt_lua_check_udata(L, 1, GROUP_NAME); }

/* device_id() -> the unique id for a new group, which all its ranks pass to device_join */
static int device_id(lua_State *L)
{
    const lt_device_engine *engine;
    char id[LT_DEVICE_ENGINE_ID];
    lt_lua_do(L, lt_device_engine_get(&engine));
    lt_lua_do(L, engine->new_id(id));
    lua_pushlstring(L, id, sizeof id);
    return 1;
}

/* device_join(id, rank, size) -> the group, of the current GPU */
static int device_join(lua_State *L)
{
    size_t n;
    const char *id = luaL_checklstring(L, 1, &n);
    if (n != LT_DEVICE_ENGINE_ID) return lt_lua_error(L, "an id has %d bytes", LT_DEVICE_ENGINE_ID);
    gpu_group_box *box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = (gpu_group_box){NULL, NULL, (int)lt_lua_check_integer(L, 2),
                           (int)lt_lua_check_integer(L, 3)};
    luaL_setmetatable(L, GROUP_NAME);
    lt_lua_do(L, lt_device_engine_get(&box->engine));
    lt_lua_do(L, box->engine->join(id, box->rank, box->size, &box->group));
    return 1;
}

static int group_gc(lua_State *L)
{
    gpu_group_box *box = check_group(L);
    if (box->group != NULL) box->engine->leave(box->group);
    box->group = NULL;
    return 0;
}

/* look(): raises an error if the group has failed since the last call */
static int group_look(lua_State *L)
{
    gpu_group_box *box = check_group(L);
    lt_lua_do(L, box->engine->look(box->group));
    return 0;
}

/* The arguments of an operation. */
typedef struct collective_call {
    const gpu_group_box *box;
    lt_tensor *input, *output; /* NULL: none */
    int peer, reduction;
    uint64_t stream;
} collective_call;

static char *data_of(lt_tensor *t) { return t != NULL ? lt_data(t) : NULL; }
static int64_t tensor_bytes(const lt_tensor *t)
{
    return t != NULL ? t->numel * (int64_t)lt_dtype_size((lt_dtype)t->dtype) : 0;
}

/* All-to-all: sends a part to each rank and receives one from each, in order; byte counts by rank,
 * NULL: none. */
static lt_status exchange(const collective_call *c, const int64_t *given, const int64_t *got)
{
    const lt_device_engine *e = c->box->engine;
    lt_device_group *g = c->box->group;
    char *from = data_of(c->input), *to = data_of(c->output);
    lt_status status = e->begin(g);
    if (status != LT_OK) return status;
    for (int r = 0; r < c->box->size && status == LT_OK; r++) {
        if (given != NULL && given[r] > 0) status = e->send(g, from, given[r], r, c->stream);
        if (status == LT_OK && got != NULL && got[r] > 0)
            status = e->receive(g, to, got[r], r, c->stream);
        from += given != NULL ? given[r] : 0;
        to += got != NULL ? got[r] : 0;
    }
    const lt_status ended = e->end(g);
    return status != LT_OK ? status : ended;
}

/* Sets all counts to `bytes`, except the peer's, which is `of_peer`. */
static int64_t *fill_counts(int64_t *counts, const collective_call *c, int64_t bytes,
                            int64_t of_peer)
{
    for (int r = 0; r < c->box->size; r++) counts[r] = r == c->peer ? of_peer : bytes;
    return counts;
}

/* scratch: two counts for each rank; for all_to_all they are set. */
static lt_status carry_out(lt_collective kind, const collective_call *c, int64_t *scratch)
{
    const lt_device_engine *e = c->box->engine;
    lt_device_group *g = c->box->group;
    const int size = c->box->size;
    const bool root = c->peer == c->box->rank;
    lt_tensor *t = c->output != NULL ? c->output : c->input;
    const lt_dtype dtype = (lt_dtype)t->dtype;
    int64_t *second = scratch + size;
    lt_device_reduction r = {.dtype = dtype, .reduction = c->reduction, .stream = c->stream};
    switch (kind) {
    case LT_ALL_REDUCE:
        r.from = data_of(c->input), r.to = data_of(c->output), r.count = t->numel;
        return e->all_reduce(g, &r);
    case LT_REDUCE:
        r.from = data_of(c->input), r.to = root ? data_of(c->output) : NULL;
        r.count = c->input->numel;
        return e->reduce(g, &r, c->peer);
    case LT_REDUCE_SCATTER:
        r.from = data_of(c->input), r.to = data_of(c->output), r.count = c->output->numel;
        return e->reduce_scatter(g, &r);
    case LT_BROADCAST:
        return e->broadcast(g, data_of(c->output), data_of(c->output), tensor_bytes(c->output),
                            c->peer, c->stream);
    case LT_ALL_GATHER:
        return e->all_gather(g, data_of(c->input), data_of(c->output), tensor_bytes(c->input),
                             c->stream);
    case LT_GATHER:
        return exchange(
            c, fill_counts(scratch, c, 0, tensor_bytes(c->input)),
            root ? fill_counts(second, c, tensor_bytes(c->input), tensor_bytes(c->input)) : NULL);
    case LT_SCATTER:
        return exchange(
            c,
            root ? fill_counts(scratch, c, tensor_bytes(c->output), tensor_bytes(c->output)) : NULL,
            fill_counts(second, c, 0, tensor_bytes(c->output)));
    case LT_ALL_TO_ALL: return exchange(c, scratch, second);
    case LT_SEND: return e->send(g, data_of(c->input), tensor_bytes(c->input), c->peer, c->stream);
    case LT_RECV:
        return e->receive(g, data_of(c->output), tensor_bytes(c->output), c->peer, c->stream);
    default: return lt_error(LT_ERR_TYPE, "this is no operation between GPUs");
    }
}

static lt_tensor *optional_tensor(lua_State *L, int arg)
{
    lt_tensor *t = lua_isnoneornil(L, arg) ? NULL : lt_lua_check_tensor(L, arg);
    if (t != NULL && (t->device.type != LT_CUDA || !lt_is_contiguous(t)))
        lt_lua_error(L, "a contiguous tensor on a GPU is expected");
    return t;
}

/* Whether all tensors of the operation are present. */
static bool is_complete(lt_collective kind, const collective_call *c)
{
    const bool root = c->peer == c->box->rank;
    if (c->peer < 0 || c->peer >= c->box->size) return false;
    switch (kind) {
    case LT_ALL_REDUCE:
    case LT_REDUCE_SCATTER:
    case LT_ALL_GATHER:
    case LT_ALL_TO_ALL: return c->input != NULL && c->output != NULL;
    case LT_REDUCE:
    case LT_GATHER: return c->input != NULL && (c->output != NULL || !root);
    case LT_SCATTER: return c->output != NULL && (c->input != NULL || !root);
    case LT_BROADCAST:
    case LT_RECV: return c->output != NULL;
    case LT_SEND: return c->input != NULL;
    default: return false;
    }
}

/* Reads the elements per rank in the list at arg, as byte counts. */
static void read_counts(lua_State *L, int arg, int size, int64_t each, int64_t *out)
{
    for (int r = 0; r < size; r++) {
        lua_rawgeti(L, arg, r + 1);
        out[r] = lua_tointeger(L, -1) * each;
        lua_pop(L, 1);
    }
}

/* begin(kind, input, output, peer, reduction, given, got, stream): submits the operation to the
 * stream. kind: its number in comm.h */
static int group_begin(lua_State *L)
{
    const gpu_group_box *box = check_group(L);
    lua_settop(L, 9);
    const collective_call c = {box,
                               optional_tensor(L, 3),
                               optional_tensor(L, 4),
                               (int)lt_lua_opt_integer(L, 5, 0),
                               (int)lt_lua_opt_integer(L, 6, 0),
                               (uint64_t)lt_lua_check_integer(L, 9)};
    const lt_collective kind = (lt_collective)lt_lua_check_integer(L, 2);
    if (!is_complete(kind, &c)) return lt_lua_error(L, "an argument of the operation is missing");
    int64_t *scratch = lua_newuserdatauv(L, 2 * (size_t)box->size * sizeof *scratch, 0);
    memset(scratch, 0, 2 * (size_t)box->size * sizeof *scratch);
    if (kind == LT_ALL_TO_ALL) {
        const int64_t each = (int64_t)lt_dtype_size((lt_dtype)c.output->dtype);
        lt_lua_check_type(L, 7, LUA_TTABLE);
        lt_lua_check_type(L, 8, LUA_TTABLE);
        read_counts(L, 7, box->size, each, scratch);
        read_counts(L, 8, box->size, each, scratch + box->size);
    }
    lt_lua_do(L,
              lt_materialize_all("torch.distributed", 2, (lt_tensor *const[]){c.input, c.output}));
    if (c.output != NULL) lt_bump_version(c.output);
    lt_lua_do(L, carry_out(kind, &c, scratch));
    return 0;
}

void lt_lua_open_device_comm(lua_State *L)
{
    static const luaL_Reg methods[] = {{"begin", group_begin}, {"look", group_look}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"device_id", device_id}, {"device_join", device_join}, {NULL, NULL}};
    luaL_newmetatable(L, GROUP_NAME);
    lua_createtable(L, 0, 2);
    lt_lua_setfuncs(L, methods);
    lua_setfield(L, -2, "__index");
    lt_lua_pushfunction(L, group_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
