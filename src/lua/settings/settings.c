/* settings.c - torch's settings: threads of the context and of the process, default dtype, printing, and the configuration of this
 * build. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "binding.h"
#include "build_config.h" /* generated */
#include "devices/backend.h"
#include "dtypes/dtype.h"
#include "libraries/dnnl.h"
#include "libraries/lapack.h"
#include "ltensor_threads.h"
#include "print/print.h"
#include "system/system.h"

#define MOST_DIGITS 64

static int raise_type(lua_State *L, const char *what, const char *wanted, int index)
{
    lt_error_set(LT_ERR_TYPE, "%s expects %s, but got %s", what, wanted,
                 lt_lua_type_name(L, index));
    return lt_lua_raise(L);
}

/* ---- threads, default dtype ------------------------------------------------------------------ */

static int set_num_threads(lua_State *L)
{
    lt_lua_check_any(L, 1);
    if (!lua_isinteger(L, 1)) return raise_type(L, "set_num_threads", "an int", 1);
    lua_Integer n = lua_tointeger(L, 1);
    lt_lua_do(L, lt_set_num_threads(n > INT_MAX ? INT_MAX : n < 0 ? -1 : (int)n));
    return 0;
}

static int get_num_threads(lua_State *L)
{
    lua_pushinteger(L, LT_INSIDE(L, lt_get_num_threads()));
    return 1;
}

static int clamped_int(lua_State *L, int index)
{
    const lua_Integer n = lua_tointeger(L, index);
    return n > INT_MAX ? INT_MAX : n < INT_MIN ? INT_MIN : (int)n;
}

/* threads_configure(limit or nil, list of processors or nil, nice), of checked types */
static int threads_configure(lua_State *L)
{
    lt_thread_config config = lt_thread_defaults();
    config.limit = lua_isnil(L, 1) ? 0 : clamped_int(L, 1);
    config.nice = clamped_int(L, 3);
    if (config.limit < 1 && !lua_isnil(L, 1)) config.limit = -1; /* 0 is no limit for a host */
    if (!lua_isnil(L, 2)) {
        config.n_cpus = (int)lua_rawlen(L, 2);
        int *cpus = lua_newuserdatauv(L, ((size_t)config.n_cpus + 1) * sizeof *cpus, 0);
        for (int i = 0; i < config.n_cpus; i++) {
            lua_rawgeti(L, 2, i + 1);
            cpus[i] = clamped_int(L, -1);
            lua_pop(L, 1);
        }
        config.cpus = cpus;
    }
    lt_lua_do(L, lt_threads_configure(&config));
    return 0;
}

static int threads_count(lua_State *L)
{
    lua_pushinteger(L, lt_threads_count());
    return 1;
}

static int threads_processors(lua_State *L)
{
    lua_pushinteger(L, lt_threads_processors());
    return 1;
}

static int set_default_dtype(lua_State *L)
{
    lt_lua_check_any(L, 1);
    lt_dtype dtype = lt_lua_to_dtype(L, 1);
    if (dtype == LT_DTYPE_NONE)
        return raise_type(L, "set_default_dtype", "a floating-point torch.dtype", 1);
    lt_lua_do(L, lt_set_default_dtype(dtype));
    return 0;
}

static int get_default_dtype(lua_State *L)
{
    lt_lua_push_dtype(L, LT_INSIDE(L, lt_get_default_dtype()));
    return 1;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* The integer option on top of the stack (popped) or `otherwise` when it is nil; infinity is
 * `most`. */
static int64_t read_option(lua_State *L, const char *name, int64_t least, int64_t most,
                           int64_t otherwise)
{
    int whole;
    if (lua_getfield(L, 1, name) == LUA_TNIL) {
        lua_pop(L, 1);
        return otherwise;
    }
    bool infinite = lua_type(L, -1) == LUA_TNUMBER && lua_tonumber(L, -1) == (lua_Number)INFINITY;
    int64_t value = infinite ? most : lua_tointegerx(L, -1, &whole);
    if (lua_type(L, -1) != LUA_TNUMBER || (!infinite && (!whole || value < least))) {
        lt_error_set(LT_ERR_TYPE, "set_printoptions(): %s must be an integer from %lld on", name,
                     (long long)least);
        lt_lua_raise(L);
    }
    lua_pop(L, 1);
    return value < most ? value : most;
}

static const lt_print_options profiles[] = {
    {4, 1000, 3, 80, -1}, {2, 1000, 2, 80, -1}, {4, INT64_MAX, 3, 80, -1}};

/* As in PyTorch, sci_mode becomes automatic unless it is given; an invalid option changes nothing.
 */
static int set_printoptions(lua_State *L)
{
    static const char *const names[] = {"default", "short", "full", NULL};
    static const char *const known[] = {"precision", "threshold", "edgeitems", "linewidth",
                                        "sci_mode",  "profile",   NULL};
    lt_context *context = lt_lua_state_current(L)->context;
    lt_print_options o = lt_print_settings(context);
    lua_settop(L, 1);
    lt_lua_check_names(L, 1, "set_printoptions", known);
    if (lua_getfield(L, 1, "profile") != LUA_TNIL) {
        int i = 0;
        const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
        while (names[i] != NULL && strcmp(names[i], name) != 0) i++;
        if (names[i] == NULL) {
            lt_error_set(LT_ERR_RUNTIME,
                         "set_printoptions(): profile must be 'default', 'short' or 'full'");
            return lt_lua_raise(L);
        }
        o = profiles[i];
    }
    o.precision = (int)read_option(L, "precision", 0, MOST_DIGITS, o.precision);
    o.threshold = read_option(L, "threshold", 0, INT64_MAX, o.threshold);
    o.edgeitems = (int)read_option(L, "edgeitems", 0, INT_MAX, o.edgeitems);
    o.linewidth = (int)read_option(L, "linewidth", 1, INT_MAX, o.linewidth);
    o.sci_mode = -1;
    if (lua_getfield(L, 1, "sci_mode") != LUA_TNIL) o.sci_mode = lua_toboolean(L, -1);
    lt_print_set(context, &o);
    return 0;
}

static int get_printoptions(lua_State *L)
{
    const lt_print_options options = lt_print_settings(lt_lua_state_current(L)->context),
                           *o = &options;
    lua_createtable(L, 0, 5);
    lua_pushinteger(L, o->precision);
    lua_setfield(L, -2, "precision");
    if (o->threshold == INT64_MAX)
        lua_pushnumber(L, (lua_Number)INFINITY);
    else
        lua_pushinteger(L, o->threshold);
    lua_setfield(L, -2, "threshold");
    lua_pushinteger(L, o->edgeitems);
    lua_setfield(L, -2, "edgeitems");
    lua_pushinteger(L, o->linewidth);
    lua_setfield(L, -2, "linewidth");
    if (o->sci_mode >= 0) {
        lua_pushboolean(L, o->sci_mode);
        lua_setfield(L, -2, "sci_mode");
    }
    return 1;
}

/* ---- determinism ----------------------------------------------------------------------------- */

/* use_deterministic_algorithms(mode, {warn_only = false}) */
static int use_deterministic_algorithms(lua_State *L)
{
    static const char *const names[] = {"warn_only", NULL};
    if (!lua_isboolean(L, 1)) return lt_lua_refuse(L, 1, "a boolean");
    bool warn_only = false;
    if (!lua_isnoneornil(L, 2)) {
        if (!lua_istable(L, 2)) return lt_lua_refuse(L, 2, "a table of options");
        lt_lua_check_names(L, 2, "use_deterministic_algorithms", names);
        lua_getfield(L, 2, "warn_only");
        warn_only = lua_toboolean(L, -1);
    }
    const lt_entry entry = lt_enter(L);
    lt_set_deterministic(lua_toboolean(L, 1), warn_only);
    lt_leave(entry);
    return 0;
}

static int are_deterministic_algorithms_enabled(lua_State *L)
{
    lua_pushboolean(L, LT_INSIDE(L, lt_deterministic()));
    return 1;
}

static int is_deterministic_algorithms_warn_only_enabled(lua_State *L)
{
    lua_pushboolean(L, LT_INSIDE(L, lt_deterministic_warn_only()));
    return 1;
}

/* ---- the build ------------------------------------------------------------------------------- */

/* torch.__config__.show() -> a few lines, for `ltensor --version` and bug reports */
static int show_config(lua_State *L)
{
    const int threads = LT_INSIDE(L, lt_get_num_threads());
    const char *lapack = LT_INSIDE(L, lt_lapack_config());
    const char *onednn = LT_INSIDE(L, lt_dnnl_config());
    const char *instructions = lt_has("avx512") ? "avx512"
                               : lt_has("avx2") ? "avx2"
                               : lt_has("neon") ? "neon"
                                                : "baseline";
    lua_pushfstring(L,
                    "CPU: %s instructions, %d thread%s\nBLAS: %s\noneDNN: %s\nGPU: %s\nMPI: %s\n"
                    "line editing: %s\n",
                    instructions, threads, threads == 1 ? "" : "s", lapack, onednn, LT_BUILD_CUDA,
                    LT_BUILD_MPI[0] != '\0' ? LT_BUILD_MPI : "none", LT_BUILD_READLINE);
    return 1;
}

/* torch.__config__.has(feature) -> boolean: lt_has */
static int has(lua_State *L)
{
    const char *feature = luaL_checkstring(L, 1);
    lua_pushboolean(L, LT_INSIDE(L, lt_has(feature)));
    return 1;
}

void lt_lua_open_settings(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"set_num_threads", set_num_threads},
        {"get_num_threads", get_num_threads},
        {"set_default_dtype", set_default_dtype},
        {"get_default_dtype", get_default_dtype},
        {"set_printoptions", set_printoptions},
        {"get_printoptions", get_printoptions},
        {"use_deterministic_algorithms", use_deterministic_algorithms},
        {"are_deterministic_algorithms_enabled", are_deterministic_algorithms_enabled},
        {"is_deterministic_algorithms_warn_only_enabled",
         is_deterministic_algorithms_warn_only_enabled},
        {"time", lt_lua_clock},
        {NULL, NULL}};
    static const luaL_Reg internal[] = {{"threads_configure", threads_configure},
                                        {"threads_count", threads_count},
                                        {"threads_processors", threads_processors},
                                        {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, internal);
    lua_pop(L, 1);
    lua_pushvalue(L, 1);
    lt_lua_setfuncs(L, functions);
    lua_pushliteral(L, LT_VERSION);
    lua_setfield(L, -2, "__version__");
    lua_createtable(L, 0, 2);
    lt_lua_pushfunction(L, show_config);
    lua_setfield(L, -2, "show");
    lt_lua_pushfunction(L, has);
    lua_setfield(L, -2, "has");
    lua_setfield(L, -2, "__config__");
    lua_pop(L, 1);
}
