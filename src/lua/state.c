/* state.c - one interpreter's state, raising core's errors, and the collector's pace.
 *
 * Lua's collector counts a tensor as a few bytes. So that a loop over temporaries runs in bounded
 * memory, the binding also runs it by the bytes of tensors (memory/pressure.h), before a result:
 * - a minor collection every LT_LUA_YOUNG_BYTES of results, or LT_LUA_DEVICE_BYTES of a device's, in
 *   generational mode, which the program and the scripts of ltensor_script.h select. It takes a
 *   microsecond and frees short-lived temporaries, so that the next results reuse memory that is in
 *   L2. In incremental mode, the default of a new state, a basic step of Lua's runs after each
 *   eighth of the garbage for a full collection.
 * - a full collection when the tensors hold twice the bytes that remained after the last one.
 * A failed allocation runs a full collection before it is retried. */
#include <stdio.h>
#include <string.h>

#include "assertion.h"
#include "autograd/autograd.h"
#include "binding.h"
#include "compile/trace.h"
#include "devices/copies.h"
#include "memory/alloc.h"
#include "memory/idle.h"
#include "memory/limit.h"
#include "memory/pressure.h"
#include "settings/autocast.h"

/* Values that two minor collections find in use become old: minor collections no longer free them.
 * So one waits for a few results, unless these are large, lest an operand of the next ops ages. */
#define YOUNG_RESULTS 4
#define SPARE_BYTES   ((int64_t)16 << 20) /* less garbage causes no full collection */
/* bytes; garbage fills at most half of the memory below a limit, which counts as at least this */
#define MIN_ROOM ((int64_t)2 << 20)

static const char state_key = 0;
static const char callbacks_key = 0;

/* ---- the state ------------------------------------------------------------------------------- */

lt_lua_state *lt_lua_state_retain(lt_lua_state *s)
{
    LT_ASSERT(s->refs > 0, "refs %d", s->refs);
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void lt_lua_state_release(lt_lua_state *s)
{
    LT_ASSERT(s->refs > 0, "refs %d", s->refs);
    if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1) return;
    LT_ASSERT(s->main == NULL && s->running == NULL, "the interpreter is open");
    lt_context_drop(s->context);
    if (s->autocast != NULL) s->autocast_free(s->autocast);
    if (s->saved_values != NULL) s->saved_free(s->saved_values);
    lt_mem_free(s);
}

static int state_close(lua_State *L)
{
    lt_lua_state **holder = lua_touserdata(L, 1);
    if (*holder == NULL) return 0;
    (*holder)->main = (*holder)->running = NULL;
    const lt_context_outer outer = lt_context_visit((*holder)->context);
    /* all tensors of the state are freed, except reference cycles; collect these, then release the
     * context */
    lt_cycles_collect();
    lt_context_return(outer);
    lt_lua_state_release(*holder);
    *holder = NULL;
    return 0;
}

lt_lua_state *lt_lua_state_of(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
    lt_lua_state *s = *(lt_lua_state **)lua_touserdata(L, -1);
    lua_pop(L, 1);
    return s;
}

/* ---- its context ----------------------------------------------------------------------------- */

/* holds the context that the host set before the module was opened */
static const char context_key = 0;

static lt_lua_state *opened_state(lua_State *L)
{
    lt_lua_state *s = NULL;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key) == LUA_TUSERDATA)
        s = *(lt_lua_state **)lua_touserdata(L, -1);
    lua_pop(L, 1);
    return s;
}

static lt_context **given_context(lua_State *L)
{
    lt_context **holder = NULL;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &context_key) == LUA_TUSERDATA)
        holder = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return holder;
}

static int drop_context(lua_State *L)
{
    lt_context **holder = lua_touserdata(L, 1);
    lt_context_release(*holder);
    *holder = NULL;
    return 0;
}

lt_status lt_lua_set_context(lua_State *L, lt_context *context)
{
    if (L == NULL || context == NULL)
        return lt_null_argument(__func__, L == NULL ? "L" : "context");
    lt_lua_state *s = opened_state(L);
    if (s != NULL) {
        lt_context *before = s->context;
        s->context = lt_context_retain(context);
        memset(s->last_minor, 0, sizeof s->last_minor); /* relative to the previous context */
        s->in_use = 0;
        lt_context_release(before);
        return LT_OK;
    }
    lt_context **holder = given_context(L);
    if (holder == NULL) {
        holder = lua_newuserdatauv(L, sizeof *holder, 0);
        *holder = NULL;
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, drop_context);
        lua_setfield(L, -2, "__gc");
        lua_setmetatable(L, -2);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &context_key);
    }
    lt_context *before = *holder;
    *holder = lt_context_retain(context);
    lt_context_release(before);
    return LT_OK;
}

lt_context *lt_lua_context(lua_State *L)
{
    if (L == NULL) return NULL;
    const lt_lua_state *s = opened_state(L);
    if (s != NULL) return s->context;
    lt_context *const *holder = given_context(L);
    return holder != NULL ? *holder : NULL;
}

/* New reference: the context given by the host, or a new one with the process's callbacks. */
static lt_context *own_context(lua_State *L)
{
    lt_context *const *holder = given_context(L), *context = NULL;
    if (holder != NULL && *holder != NULL) return lt_context_retain(*holder);
    const lt_context *process = lt_context_process();
    lt_context_config config = lt_context_defaults();
    config.user = process->user, config.authorize = process->authorize, config.log = process->log;
    config.progress = process->progress, config.progress_seconds = process->progress_seconds;
    if (lt_context_new(&config, &context) != LT_OK) lt_lua_raise(L);
    return context;
}

void *lt_lua_alloc(void *context, void *old, size_t old_bytes, size_t bytes)
{
    lt_context *c = context != NULL ? context : &lt_process_context;
    if (old == NULL) old_bytes = 0; /* then Lua passes the kind of the new object */
    return lt_mem_realloc_charged(c, old, old_bytes, bytes);
}

void lt_lua_open_state(lua_State *L)
{
    lt_lua_state **holder = lua_newuserdatauv(L, sizeof *holder, 0);
    *holder = NULL;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, state_close);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &state_key);

    lt_lua_state *s = lt_mem_zalloc(sizeof *s);
    if (s == NULL) lt_lua_error(L, "not enough memory");
    atomic_init(&s->refs, 1);
    *holder = s;
    s->context = own_context(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    s->main = lua_tothread(L, -1);
    s->generational = true; /* the first collection corrects it */
    lua_pop(L, 1);

    luaL_newmetatable(L, LT_TENSOR_META_NAME);
    lua_pop(L, 1);

    lua_newtable(L); /* id -> closure, held by tokens only */
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &callbacks_key);
}

void lt_lua_pushvalues(lua_State *L)
{
    luaL_getmetatable(L, LT_TENSOR_META_NAME);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
}

void lt_lua_pushfunction(lua_State *L, lua_CFunction f)
{
    lt_lua_pushvalues(L);
    lua_pushcclosure(L, f, LT_UPVALUES);
}

void lt_lua_setfuncs(lua_State *L, const luaL_Reg *functions)
{
    lt_lua_pushvalues(L);
    luaL_setfuncs(L, functions, LT_UPVALUES);
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Writes "train.lua:31", or "(cell 7)" for chunks named without a file. It is stored for each large
 * block of GPU memory: snprintf would take as long as the rest of an allocation. */
static void write_origin(void *ctx, char *buffer, size_t n)
{
    lua_Debug frame;
    const bool found = lt_lua_users_frame(ctx, &frame);
    const char *const text = found ? frame.short_src : lt_lua_state_of(ctx)->origin;
    char number[16], *digit = number + sizeof number;
    *--digit = '\0';
    if (found && frame.source[0] != '=') {
        int line = frame.currentline; /* a user's frame has one */
        do *--digit = (char)('0' + line % 10);
        while ((line /= 10) > 0);
        *--digit = ':';
    }
    const size_t tail = (size_t)(number + sizeof number - digit), length = strnlen(text, n - tail);
    memcpy(buffer, text, length);
    memcpy(buffer + length, digit, tail);
}

int lt_lua_raise(lua_State *L) { return lt_lua_error(L, "%s", lt_error_message()); }

/* ---- calling core ---------------------------------------------------------------------------- */

static const char reclaimer_key = 0; /* its address is the key of set_reclaimer's function */

/* set_reclaimer(f): f() is called before the full collection when an allocation fails. */
static int set_reclaimer(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &reclaimer_key);
    return 0;
}

static void collect_garbage(void *ctx)
{
    lua_State *L = ctx;
    if (lua_checkstack(L, 4)) {
        /* An error of the reclaimer is ignored: the failed allocation is the one to report. */
        if (lua_rawgetp(L, LUA_REGISTRYINDEX, &reclaimer_key) != LUA_TFUNCTION ||
            lua_pcall(L, 0, 0, 0) != LUA_OK)
            lua_pop(L, 1);
    }
    lt_lua_collect(L);
    lt_cycles_collect();
    lt_idle_release_all(0);
}

static const char sentinel_key = 0;

/* An unreachable object: every collection finalizes it, and its finalizer makes the next one.
 * Reference cycles of gradients are in core, invisible to the collector; the finalizer searches for
 * cycles of which the last box was just freed. */
static void push_sentinel(lua_State *L)
{
    lua_newuserdatauv(L, 0, 0);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sentinel_key);
    lua_setmetatable(L, -2);
}

static int sentinel_found(lua_State *L)
{
    const lt_entry entry = lt_enter(L);
    lt_cycles_collect_if_due();
    lt_idle_release_all(LT_IDLE_SECONDS);
    lt_leave(entry);
    lt_lua_state *s = lt_lua_state_current(L);
    if (s->saved_values != NULL) s->saved_forget(L, s);
    push_sentinel(L);
    return 0;
}

/* memory_live() -> the bytes that tensors hold, on all devices */
static int memory_live(lua_State *L)
{
    lua_pushinteger(L, LT_INSIDE(L, lt_mem_live()));
    return 1;
}

/* memory_peak() -> the peak of host memory held by tensors since the last call, in bytes */
static int memory_peak(lua_State *L)
{
    lua_pushinteger(L, LT_INSIDE(L, lt_mem_reset_peak()));
    return 1;
}

/* memory_trim() -> the bytes of kept blocks that went back to the system */
static int memory_trim(lua_State *L)
{
    lua_pushinteger(L, LT_INSIDE(L, lt_memory_trim()));
    return 1;
}

/* let_go(tensor): releases the box's tensor now, before the collector finds it; for results without
 * another reference. The freed bytes no longer count as a reason to collect. */
static int let_go(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    lt_box *box = lua_touserdata(L, 1);
    const lt_entry entry = lt_enter(L);
    const int64_t before = lt_mem_gc_pressure();
    const int pace = t->device.type == LT_CPU ? LT_PACE_HOST : LT_PACE_DEVICES;
    LT_ASSERT(box->tag == &lt_box_tag && box->tensor == t);
    box->tensor = NULL;
    lt_tensor_release(t);
    const int64_t back = before - lt_mem_gc_pressure();
    if (back > 0)
        atomic_fetch_sub_explicit(&lt_lua_state_current(L)->context->allocated[pace],
                                  (uint64_t)back, memory_order_relaxed);
    lt_leave(entry);
    return 0;
}

void lt_lua_open_reclaimer(lua_State *L)
{
    lt_lua_pushfunction(L, let_go);
    lua_setfield(L, 2, "let_go");
    lt_lua_pushfunction(L, memory_live);
    lua_setfield(L, 2, "memory_live");
    lt_lua_pushfunction(L, memory_peak);
    lua_setfield(L, 2, "memory_peak");
    lt_lua_pushfunction(L, memory_trim);
    lua_setfield(L, 2, "memory_trim");
    lua_createtable(L, 0, 1);
    lt_lua_pushfunction(L, sentinel_found);
    lua_setfield(L, -2, "__gc");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &sentinel_key);
    push_sentinel(L);
    lua_pop(L, 1);

    lua_pushcfunction(L, set_reclaimer);
    lua_setfield(L, 2, "set_reclaimer");
}

static void collect_young(void *ctx);

lt_entry lt_enter(lua_State *L)
{
    static const lt_host_binding_class lua = {1, collect_garbage, collect_young, write_origin};
    const lt_lua_state *s = lt_lua_state_current(L);
    LT_ASSERT(s->refs > 0 && s->main != NULL, "refs %d", s->refs);
    const lt_entry entry = {lt_tls.binding, lt_context_visit(s->context), -1};
    lt_tls.binding = (lt_host_binding){&lua, L};
    return entry;
}

void lt_leave(lt_entry entry)
{
    LT_ASSERT(lt_tls.binding.class != NULL, "no interpreter has been entered");
    if (entry.event >= 0) lt_profile_end(entry.event);
    lt_context_return(entry.outer);
    lt_tls.binding = entry.binding;
}

/* ---- the collector's pace -------------------------------------------------------------------- */

/* The bytes of garbage that cause a full collection. */
static int64_t max_garbage(const lt_lua_state *s)
{
    const int64_t limit =
        atomic_load_explicit(&s->context->use[LT_USE_HOST].limit, memory_order_relaxed);
    const int64_t room = limit - s->in_use, by_limit = (room > MIN_ROOM ? room : MIN_ROOM) / 2,
                  by_use = s->in_use > SPARE_BYTES ? s->in_use : SPARE_BYTES;
    return by_limit < by_use ? by_limit : by_use;
}

static bool minor_is_due(const lt_lua_state *s)
{
    const int64_t bytes = lt_lua_new_bytes(s, LT_PACE_HOST) + lt_lua_new_bytes(s, LT_PACE_DEVICES);
    return s->results >= LT_LUA_MINOR_RESULTS || bytes >= max_garbage(s) / 8 ||
           (s->generational && s->results >= YOUNG_RESULTS && lt_lua_has_new_bytes(s));
}

static void begin_period(lt_lua_state *s)
{
    for (int i = 0; i < LT_PACES; i++)
        s->last_minor[i] = atomic_load_explicit(&s->context->allocated[i], memory_order_relaxed);
    s->results = 0;
}

/* Updates s->generational. Setting the current mode again costs nothing; after a script has changed
 * the mode, this switches twice. */
static void query_mode(lua_State *L, lt_lua_state *s)
{
    const int expected = s->generational ? LUA_GCGEN : LUA_GCINC,
              mode = lt_lua_set_gc_mode(L, expected);
    if (mode == expected) return;
    lt_lua_set_gc_mode(L, mode);
    s->generational = mode == LUA_GCGEN;
}

static void end_collection(lua_State *L, lt_lua_state *s)
{
    query_mode(L, s);
    begin_period(s);
    s->postponed = false;
}

static void minor_collection(lua_State *L, lt_lua_state *s)
{
    lua_gc(L, LUA_GCSTEP, 0);
    end_collection(L, s);
}

static void full_collection(lua_State *L, lt_lua_state *s)
{
    lua_gc(L, LUA_GCCOLLECT, 0);
    const lt_entry entry = lt_enter(L);
    lt_cycles_collect_if_due();
    s->in_use = lt_mem_gc_pressure();
    lt_leave(entry);
    end_collection(L, s);
}

/* lt_host_binding_class.tidy: an open trace of torch.compile is about to compute the values in use. */
static void collect_young(void *ctx)
{
    if (lua_gc(ctx, LUA_GCISRUNNING, 0) != 1 || !lua_checkstack(ctx, 1)) return;
    minor_collection(ctx, lt_lua_state_of(ctx)); /* the running function may have no upvalues */
}

/* Postpones a minor collection once while a trace is open: the trace runs one before it computes, and
 * with both the last result would become old. A trace that recorded nothing runs none. */
static bool postpone_minor(lt_lua_state *s)
{
    if (lt_tls.open_trace == NULL || s->postponed) return false;
    s->postponed = true;
    begin_period(s);
    return true;
}

void lt_lua_run_collector(lua_State *L, lt_lua_state *s)
{
    if (!minor_is_due(s)) return;
    if (lua_gc(L, LUA_GCISRUNNING, 0) != 1) return; /* stopped, or inside a finalizer */
    const int64_t held = LT_INSIDE(L, lt_mem_gc_pressure());
    if (held < s->in_use) s->in_use = held;
    if (held - s->in_use > max_garbage(s))
        full_collection(L, s);
    else if (!postpone_minor(s))
        minor_collection(L, s);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

lt_tensor *lt_lua_check_tensor(lua_State *L, int arg)
{
    lt_tensor *t = lt_lua_get(L, arg);
    if (t == NULL) lt_lua_refuse(L, arg, "a " LT_TENSOR_NAME);
    return t;
}

lt_tensor *lt_lua_tensor(lua_State *L, int index)
{
    const lt_box *box = L != NULL ? lt_lua_box(L, index) : NULL;
    if (box == NULL) return NULL;
    /* A host may use the tensor freely, in other threads too, so deferred ops are evaluated. A
     * failure is reported when the elements are read. */
    if (lt_any_trace()) (void)lt_trace_flush();
    return box->tensor;
}

void lt_lua_push(lua_State *L, lt_tensor *t)
{
    if (L == NULL) return;
    if (t == NULL) {
        lua_pushnil(L);
        return;
    }
    LT_ASSERT(t->refs > 0, "refs %d", t->refs);
    lt_box *box = lua_newuserdatauv(L, sizeof *box, 1);
    *box = (lt_box){&lt_box_tag, NULL};
    luaL_setmetatable(L, LT_TENSOR_META_NAME);
    box->tensor = lt_tensor_retain(t);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool wants_token(const lt_tensor *t)
{
    return t != NULL && ((t->flags & LT_FLAG_REQUIRES_GRAD) ||
                         (t->view_base != NULL && (t->view_base->flags & LT_FLAG_REQUIRES_GRAD)));
}

/* Pushes the box's token, making an empty one for a leaf. box: absolute index. */
static void push_token(lua_State *L, int box)
{
    LT_ASSERT(box > 0 && lua_isuserdata(L, box), "index %d", box);
    if (lua_getiuservalue(L, box, 1) == LUA_TUSERDATA) return;
    lua_pop(L, 1);
    lua_newuserdatauv(L, 0, 1);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, box, 1);
}

/* Pushes the tokens of a box, or of the boxes in a table; returns their number. */
static int push_tokens(lua_State *L, int index)
{
    if (index == 0) return 0;
    if (lua_type(L, index) == LUA_TUSERDATA) {
        if (!wants_token(lt_lua_get(L, index))) return 0;
        push_token(L, index);
        return 1;
    }
    if (lua_type(L, index) != LUA_TTABLE) return 0;
    int pushed = 0;
    int n = (int)lua_rawlen(L, index);
    luaL_checkstack(L, n + 4, "too many tensors");
    for (int i = 1; i <= n; i++) {
        lua_rawgeti(L, index, i);
        if (wants_token(lt_lua_get(L, -1))) {
            push_token(L, lua_gettop(L));
            lua_remove(L, -2);
            pushed++;
        } else {
            lua_pop(L, 1);
        }
    }
    return pushed;
}

void lt_lua_link(lua_State *L, int result, const int *args, int n)
{
    int top = lua_gettop(L);
    LT_ASSERT(lt_lua_box(L, result) != NULL, "index %d is no box", result);
    for (int i = 0; i < n; i++) push_tokens(L, args[i]);
    int inputs = lua_gettop(L) - top;
    luaL_checkstack(L, 4, NULL);
    lua_newuserdatauv(L, 0, inputs + 1);
    lua_insert(L, top + 1);
    lt_lua_set_inputs(L, top + 1, inputs);
    lua_setiuservalue(L, result, 1);
}

void lt_lua_push_anchors(lua_State *L, int box)
{
    push_token(L, lua_absindex(L, box));
    if (lua_getiuservalue(L, -1, 1) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, -3, 1);
    }
    lua_remove(L, -2);
}

int64_t lt_lua_anchor(lua_State *L, int box, lt_lua_state *s)
{
    int64_t id = ++s->next_callback;
    box = lua_absindex(L, box);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &callbacks_key);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, id);
    lua_pop(L, 1);
    lt_lua_push_anchors(L, box);
    lua_insert(L, -2);
    lua_rawseti(L, -2, id);
    lua_pop(L, 1);
    return id;
}

bool lt_lua_push_anchored(lua_State *L, int64_t id)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &callbacks_key);
    bool there = lua_rawgeti(L, -1, id) != LUA_TNIL;
    lua_remove(L, -2);
    if (!there) lua_pop(L, 1);
    return there;
}

void lt_lua_drop_anchor(lua_State *L, int box, int64_t id)
{
    lt_lua_push_anchors(L, box);
    lua_pushnil(L);
    lua_rawseti(L, -2, id);
    lua_pop(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &callbacks_key);
    lua_pushnil(L);
    lua_rawseti(L, -2, id);
    lua_pop(L, 1);
}
