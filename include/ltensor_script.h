/* ltensor_script.h - scripts in Lua for a host in C that knows nothing of Lua: an interpreter with
 * limits, which runs texts, has its functions called, and hands tensors, numbers, strings and
 * tables across. Modules, optimizers and models of torch.nn are written in the script and used
 * through it.
 *
 *   lt_script_config config = lt_script_defaults();
 *   config.memory_limit = 256 << 20;
 *   config.seconds = 0.5;
 *   if (lt_script_new(&config, &script) != LT_OK) ...
 *   if (lt_script_load(script, text, strlen(text), "plugin.lua", NULL, NULL) != LT_OK) ...
 *   lt_value x = lt_value_tensor(image), y = lt_value_none();
 *   int n = 1;
 *   if (lt_script_call(script, "transform", &x, 1, &y, &n) != LT_OK) puts(lt_error_message());
 *
 * A script is not trusted unless the config says so. Then it has what a computation needs (math,
 * string, table, utf8, coroutine, torch and the harmless functions of Lua, none of which can be
 * replaced for the rest of the interpreter), and nothing that touches what lies outside of it: no
 * io, os, debug or package, no bytecode, no finalizers; and what torch would do outside (files,
 * processes, libraries, GPUs) is refused unless the config's authorizer permits it. Whatever it
 * does wrong, also to its limits, is an error of that load or call; the interpreter can be used on.
 *
 * A script belongs to one thread at a time; several scripts know nothing of each other. In Lua
 * dimensions and indices count from 1; the i-th entry of a lt_table's list, from 0, is its entry i
 * + 1. Errors are reported as those of ltensor.h; what a script raises is LT_ERR_RUNTIME with its
 * message, which begins with the chunk's name and the line.
 */
#ifndef LTENSOR_SCRIPT_H
#define LTENSOR_SCRIPT_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lua_State;

typedef struct lt_script lt_script;

/* How the interpreter is to be; made by lt_script_defaults. Strings and functions as in
 * lt_context_config. */
typedef struct lt_script_config {
    size_t size;          /* sizeof(lt_script_config) as the caller was compiled */
    bool trusted;         /* all of Lua, and torch as it is */
    int64_t memory_limit; /* bytes of the interpreter and of its tensors together; 0: no limit */
    double seconds;       /* that a load or a call may take; 0: no limit */
    void *user;           /* first argument of the functions */
    /* called once, when the script is gone; a large tensor of it that lives on puts it off */
    void (*release)(void *user);
    /* What the script prints: a line without its end, which may contain zero bytes. NULL: to
     * stdout. */
    void (*print)(void *user, const char *line, size_t bytes);
    /* As lt_context_config has it. NULL: of a script that is not trusted everything is refused, of
     * one that is nothing. */
    bool (*authorize)(void *user, int access, const char *name);
    void (*log)(void *user, int level, const char *text);
} lt_script_config;

static inline lt_script_config lt_script_defaults(void)
{
    lt_script_config config;
    config.size = sizeof config;
    config.trusted = false;
    config.memory_limit = 0, config.seconds = 0;
    config.user = NULL, config.release = NULL;
    config.print = NULL, config.authorize = NULL, config.log = NULL;
    return config;
}

/* New, with a context of its own; config NULL: lt_script_defaults(). LT_ERR_MEMORY: not enough, or
 * the limit is below what an interpreter needs to begin (some 4 MB); LT_ERR_TYPE: config.size is
 * too small; LT_ERR_RUNTIME: a number below 0. */
LT_API lt_status lt_script_new(const lt_script_config *config, lt_script **out);
/* Not while one of its functions runs. */
LT_API void lt_script_free(lt_script *script);

/* Runs a text (no bytecode) of so many bytes; name stands in messages. Results: as those of
 * lt_call, but what there is no room for is dropped, and missing ones are none. Values that have no
 * lt_kind (functions, modules) are errors, as are tables with keys other than names and 1 to n, and
 * such that contain themselves or are nested more than 100 deep. */
LT_API lt_status lt_script_load(lt_script *script, const char *text, size_t bytes, const char *name,
                                lt_value *results, int *nresults);

/* Calls the function that a name leads to: "f", "model.forward", or with a colon for a method:
 * "model:forward". */
LT_API lt_status lt_script_call(lt_script *script, const char *function, const lt_value *args,
                                int nargs, lt_value *results, int *nresults);

/* The same, and keeps the first result as a global, whatever it is: a module, an optimizer, a
 * function. So a host runs a model without a line of Lua: lt_script_keep(script, "net",
 * "torch.onnx.load", &path, 1), then lt_script_call(script, "net", ...). */
LT_API lt_status lt_script_keep(lt_script *script, const char *global, const char *function,
                                const lt_value *args, int nargs);

/* Sets or reads a global: *value is new. */
LT_API lt_status lt_script_set(lt_script *script, const char *name, const lt_value *value);
LT_API lt_status lt_script_get(lt_script *script, const char *name, lt_value *value);

/* Borrowed: its context, for lt_context_interrupt from another thread or lt_context_memory; and the
 * interpreter, for who wants to use the Lua API (in that context: lt_context_enter). The script's
 * limits are not those of such calls. */
LT_API lt_context *lt_script_context(lt_script *script);
LT_API struct lua_State *lt_script_state(lt_script *script);

#ifdef __cplusplus
}
#endif

#endif
