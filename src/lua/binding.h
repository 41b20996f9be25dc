/* binding.h - shared by the files of src/lua: the state of one Lua interpreter, tensors as
 * userdata, raising core's errors, pacing the collector, and the links through which the collector
 * sees the autograd graph.
 *
 * A tensor is a userdata ("box") that holds one counted reference. Every C function of the module
 * is a closure with the upvalues of LT_UPVALUES, so that checking and making boxes needs no
 * registry lookup. Only this folder includes it. */
#ifndef LT_LUA_BINDING_H
#define LT_LUA_BINDING_H

#include <lauxlib.h>
#include <lua.h>

#include "context/interrupt.h"
#include "context/profile.h"
#include "error.h"
#include "ltensor_lua.h"
#include "system/lua_versions.h"
#include "refuse.h"
#include "tensor.h"

/* ---- the interpreter's state ----------------------------------------------------------------- */

/* Upvalues of every function made by lt_lua_setfuncs: the metatable of tensors, the state. More may
 * follow. */
#define LT_UPVALUES      2
#define LT_TENSOR_META   lua_upvalueindex(1)
#define LT_STATE_UPVALUE lua_upvalueindex(2)

/* One per lua_State universe; counted, since hooks in the graph may outlive the interpreter. */
typedef struct lt_lua_state {
    _Atomic int32_t refs;
    lt_context *context; /* counted; the context in which this interpreter's scripts run */
    lua_State *main;     /* NULL after lua_close */
    lua_State *running;  /* the thread inside backward, on which hooks are called */
    /* The collector's pace. last_minor: context->allocated, at the last minor collection; results:
     * made since then; in_use: the pressure (memory/pressure.h) that remained after the last full
     * collection, or less; generational: Lua's mode at the last collection; postponed: a due minor
     * collection was left to an open trace of torch.compile. */
    uint64_t last_minor[LT_PACES];
    int64_t results, in_use;
    bool generational, postponed;
    int64_t next_callback; /* id of the next hook or Function context */
    char origin[32];       /* origin of copies made while no user code runs: "(cell 7)", "" */
    /* autocast.c's; NULL: no scope has been opened yet */
    struct lt_autocast *autocast;
    void (*autocast_free)(struct lt_autocast *settings);
    /* saved.c's; NULL: no hook has been set yet */
    struct lt_saved_values *saved_values;
    void (*saved_free)(struct lt_saved_values *values);
    void (*saved_forget)(lua_State *L, struct lt_lua_state *s); /* lt_lua_forget_saved */
} lt_lua_state;

static inline lt_lua_state *lt_lua_state_current(lua_State *L)
{
    return *(lt_lua_state **)lua_touserdata(L, LT_STATE_UPVALUE);
}
/* The same without upvalues (registry lookup). */
lt_lua_state *lt_lua_state_of(lua_State *L);
lt_lua_state *lt_lua_state_retain(lt_lua_state *s);
void lt_lua_state_release(lt_lua_state *s);

/* luaL_setfuncs with the upvalues above; the table is on top of the stack. Needs lt_lua_open_state
 * first. */
void lt_lua_setfuncs(lua_State *L, const luaL_Reg *functions);
/* Pushes the upvalues, for a closure that has more. */
void lt_lua_pushvalues(lua_State *L);
/* Pushes one such closure. */
void lt_lua_pushfunction(lua_State *L, lua_CFunction f);

/* ---- calling core ---------------------------------------------------------------------------- */

/* Between these two calls the thread runs in the interpreter's context: an allocation that fails
 * triggers a full Lua collection, and copies are recorded with the user's line. No Lua error may be
 * raised in between. Requires the upvalues. Calls of core that use the context (settings, random
 * numbers, permissions, memory, interrupts) must be made in between. */
typedef struct lt_entry {
    lt_host_binding binding;
    lt_context_outer outer;
    int32_t event; /* index of the profiler's event; -1: none */
} lt_entry;
lt_entry lt_enter(lua_State *L);
void lt_leave(lt_entry entry);
/* Makes the call in between; returns its value. */
#define LT_INSIDE(L, call)                                                                         \
    __extension__({                                                                                \
        const lt_entry entry_inside_ = lt_enter(L);                                                \
        const __typeof__(call) value_inside_ = (call);                                             \
        lt_leave(entry_inside_);                                                                   \
        value_inside_;                                                                             \
    })
/* The same for an op; the profiler records it by name. */
static inline lt_entry lt_enter_op(lua_State *L, const char *name)
{
    lt_entry entry = lt_enter(L);
    if (lt_profiling) entry.event = lt_profile_begin(name, LT_PROFILE_OP);
    return entry;
}

/* Raises the last error with the caller's position; never returns. */
int lt_lua_raise(lua_State *L);
/* As lt_lua_raise unless status is LT_OK. */
static inline void lt_lua_check(lua_State *L, lt_status status)
{
    if (status != LT_OK) lt_lua_raise(L);
}

/* Calls core inside and raises its failure. The arguments must not raise. */
#define lt_lua_do(L, call) lt_lua_check(L, LT_INSIDE(L, call))
/* For loops of the binding: raises an error if the interpreter's context was requested to stop. */
static inline void lt_lua_look(lua_State *L)
{
    if (lt_something_up(lt_lua_state_current(L)->context))
        lt_lua_do(L, lt_interrupted() ? lt_stopped() : LT_OK);
}

/* Runs the garbage collector when it is due (state.c). Call it before every result. */
void lt_lua_run_collector(lua_State *L, lt_lua_state *s);
/* It is due after so many bytes of results on the host, after so many (scaled) on devices, or after
 * so many small results: each uses 80 bytes of Lua memory, freed one collection later. */
#define LT_LUA_YOUNG_BYTES   ((int64_t)256 << 10)
#define LT_LUA_DEVICE_BYTES  ((int64_t)2 << 20)
#define LT_LUA_MINOR_RESULTS 16384
/* pace: LT_PACE_HOST or LT_PACE_DEVICES */
static inline int64_t lt_lua_new_bytes(const lt_lua_state *s, int pace)
{
    return (int64_t)(atomic_load_explicit(&s->context->allocated[pace], memory_order_relaxed) -
                     s->last_minor[pace]); /* negative after let_go */
}
static inline bool lt_lua_has_new_bytes(const lt_lua_state *s)
{
    return lt_lua_new_bytes(s, LT_PACE_HOST) >= LT_LUA_YOUNG_BYTES ||
           lt_lua_new_bytes(s, LT_PACE_DEVICES) >= LT_LUA_DEVICE_BYTES;
}
static inline void lt_lua_pace(lua_State *L, lt_lua_state *s)
{
    if (++s->results >= LT_LUA_MINOR_RESULTS || lt_lua_has_new_bytes(s)) lt_lua_run_collector(L, s);
}

/* Calls f, protected, with the argument as a light userdata: for callbacks from core during
 * backward. Backward raises the error value of f unchanged. */
lt_status lt_lua_call_back(const lt_lua_state *state, lua_CFunction f, void *argument);

/* ---- boxes ----------------------------------------------------------------------------------- */

#define LT_TENSOR_NAME      "Tensor"
#define LT_TENSOR_META_NAME "ltensor.Tensor" /* in the registry */

/* Distinguishes boxes from other userdata in two loads. __gc clears the tag, since the next owner
 * of the memory may leave it unchanged. */
extern const char lt_box_tag;

typedef struct lt_box {
    const void *tag;   /* &lt_box_tag */
    lt_tensor *tensor; /* counted; NULL while an op has not yet filled it, and after __gc */
} lt_box;

/* Pushes a userdata that frees the text that is stored in it (lt_string_release). */
char **lt_lua_new_text(lua_State *L);

/* Pushes an empty box; first collects dead temporaries if due. Requires the upvalues. */
static inline lt_tensor **lt_lua_new(lua_State *L)
{
    lt_lua_pace(L, lt_lua_state_current(L));
    lt_box *box = lua_newuserdatauv(L, sizeof *box, 1);
    *box = (lt_box){&lt_box_tag, NULL};
    lua_pushvalue(L, LT_TENSOR_META);
    lua_setmetatable(L, -2);
    return &box->tensor;
}

/* The box at index; NULL when the value is none. */
static inline lt_box *lt_lua_box(lua_State *L, int index)
{
    lt_box *box = lua_touserdata(L, index);
    return box != NULL && lua_rawlen(L, index) == sizeof *box && box->tag == &lt_box_tag ? box
                                                                                         : NULL;
}

/* Its tensor, borrowed; NULL when the value is none. */
static inline lt_tensor *lt_lua_get(lua_State *L, int index)
{
    const lt_box *box = lt_lua_box(L, index);
    return box != NULL ? box->tensor : NULL;
}

/* The same, or "bad argument". */
lt_tensor *lt_lua_check_tensor(lua_State *L, int arg);

/* ---- the graph as the collector sees it ---------------------------------------------------------
 *
 * Hooks and custom Functions refer to Lua closures through tokens: a small userdata per node of the
 * graph that refers to the tokens of the node's inputs. A box of a tensor that requires grad has
 * its token as user value 1, so a closure lives exactly as long as some tensor with that node in
 * its graph, cycles or not. */

/* Gives the box at `result` (absolute index), just filled by an op, a token if it requires grad.
 * args: the stack indices of the op's n arguments; others than boxes and tables of boxes are
 * skipped. */
void lt_lua_link(lua_State *L, int result, const int *args, int n);
/* Pushes the table of closures of the box's token, creating both if missing. */
void lt_lua_push_anchors(lua_State *L, int box);
/* Anchors the value on top of the stack (popped) at the box; returns its id. */
int64_t lt_lua_anchor(lua_State *L, int box, lt_lua_state *s);
/* Pushes the value with this id; false (nothing pushed) if it was collected. */
bool lt_lua_push_anchored(lua_State *L, int64_t id);
/* Removes an anchored value from the box. */
void lt_lua_drop_anchor(lua_State *L, int box, int64_t id);

/* ---- other values ---------------------------------------------------------------------------- */

void lt_lua_push_size(lua_State *L, int n,
                      const int64_t *sizes);          /* a torch.Size: a table with a metatable */
void lt_lua_push_dtype(lua_State *L, lt_dtype dtype); /* the one userdata of each dtype */
void lt_lua_push_device(lua_State *L, lt_device device);
void lt_lua_push_scalar(lua_State *L, lt_scalar s);
void lt_lua_push_complex(lua_State *L, double real, double imaginary);
/* Whether the value is a complex number; stores it in *out if out is not NULL. */
bool lt_lua_to_complex(lua_State *L, int index, lt_scalar *out);
/* A dtype, or its name ("float64", "torch.float64"); LT_DTYPE_NONE for other values. */
lt_dtype lt_lua_to_dtype(lua_State *L, int index);
/* A device userdata, or a string ("cuda:0"; false with core's error set when it is malformed). */
bool lt_lua_to_device(lua_State *L, int index, lt_device *out);
bool lt_lua_is_device(lua_State *L, int index);             /* a userdata, not a string */
lt_generator *lt_lua_to_generator(lua_State *L, int index); /* NULL when the value is none */
/* A userdata for a generator of the caller of a callback, until lt_lua_lent_end. */
typedef struct lt_lua_lent lt_lua_lent;
void lt_lua_push_lent_generator(lua_State *L, lt_generator *g, lt_lua_lent **lent);
/* Ends the use of all generators of the list: later ones raise an error. Does not raise. */
void lt_lua_lent_end(lt_lua_lent **lent);
/* A userdata for the device's default generator; it stays valid if that is replaced. */
void lt_lua_push_default_generator(lua_State *L, lt_device device);

/* Pushes a node of the graph as a userdata (nil for NULL). box: the stack index of the tensor that
 * it was read from. */
struct lt_node;
void lt_lua_push_node(lua_State *L, struct lt_node *node, int box);

/* ---- openers: each fills the named tables; stack: 1 torch, 2 torch._C, 3 the methods --------- */
void lt_lua_open_state(lua_State *L);     /* registry only; first */
void lt_lua_open_reclaimer(lua_State *L); /* the function that frees caches when out of memory */
void lt_lua_open_types(lua_State *L);     /* Size, dtypes, device */
void lt_lua_open_ops(lua_State *L);       /* generated functions and methods */
void lt_lua_open_tensor(lua_State *L);    /* metatable, fields, methods without declaration */
void lt_lua_open_index(lua_State *L);
void lt_lua_open_complex(lua_State *L); /* complex numbers; after the ops */
void lt_lua_open_nonzero(lua_State *L); /* where, nonzero; after the ops */
void lt_lua_open_convert(lua_State *L);
void lt_lua_open_promotion(lua_State *L); /* torch._C.promote_types, can_cast, result_type */
void lt_lua_open_autograd(lua_State *L);
void lt_lua_open_batches(lua_State *L);
void lt_lua_open_duals(lua_State *L);
void lt_lua_open_saved(lua_State *L);    /* hooks of saved tensors */
void lt_lua_open_traces(lua_State *L);   /* of torch.compile */
void lt_lua_open_own(lua_State *L);      /* torch._C.own_define ...: own operations */
void lt_lua_open_formulas(lua_State *L); /* torch._C.formula ... */
/* Releases the values of hooks that no graph needs any more. */
void lt_lua_forget_saved(lua_State *L, lt_lua_state *s);
void lt_lua_open_random(lua_State *L);
void lt_lua_open_cuda(lua_State *L);
void lt_lua_open_files(lua_State *L);  /* torch._C.save_safetensors, load_safetensors */
void lt_lua_open_json(lua_State *L);   /* torch._C.read_json */
void lt_lua_open_bytes(lua_State *L);  /* torch._C.tensor_bytes, tensor_of_bytes */
void lt_lua_open_images(lua_State *L); /* torch._C.decode_image */
void lt_lua_open_csv(lua_State *L);    /* torch._C.read_csv */
void lt_lua_open_worker(lua_State *L); /* torch._C.fork_worker */
/* An argument that is a path. Rejects zero bytes, at which the system would end it. */
const char *lt_lua_check_path(lua_State *L, int arg);
/* torch._C.open_stream, remove_file, path_inside, within_budget ... */
void lt_lua_open_paths(lua_State *L);
void lt_lua_open_byte_files(lua_State *L); /* torch._C.open_file, create_file ... */
void lt_lua_open_stoppable(lua_State *L);  /* torch._C.stoppable */
void lt_lua_open_dlpack(lua_State *L);     /* torch._C.to_dlpack, from_dlpack, map_file ... */
void lt_lua_open_arrow(lua_State *L);      /* torch._C.to_arrow, from_arrow */
void lt_lua_open_comm(lua_State *L);       /* torch._C.comm_open ... */
void lt_lua_open_profile(lua_State *L);    /* torch._C.profile_... */
void lt_lua_open_autocast(lua_State *L);   /* torch.is_autocast_enabled ... */
void lt_lua_open_settings(lua_State *L);   /* threads, printing, default dtype, versions */

/* x[key] and x[key] = value; functions for the metatable. */
int lt_lua_index(lua_State *L);
int lt_lua_newindex(lua_State *L);

#endif
