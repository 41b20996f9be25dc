/* ltensor_script.h - Lua scripts for a host in C without the Lua API: an interpreter with limits
 * that runs texts, calls their functions, and exchanges tensors, numbers, strings and tables.
 * Modules, optimizers and models of torch.nn are written in the script.
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
 * A script is untrusted unless the configuration trusts it. An untrusted script has math, string,
 * table, utf8, coroutine, torch and the safe functions of Lua, none of which it can replace for the
 * rest of the interpreter. It has no io, os, debug and package, no bytecode and no finalizers.
 * Accesses of torch to files, processes, libraries and GPUs fail unless the authorizer permits
 * them. An error or an exceeded limit is the error of that load or call; the interpreter remains
 * usable.
 *
 * A script belongs to one thread at a time; several scripts are isolated from each other. In Lua,
 * dimensions and indices count from 1: entry i of an lt_table's list, from 0, is entry i + 1.
 * Errors are reported as in ltensor.h; an error that a script raises is LT_ERR_RUNTIME with its
 * message, which starts with the chunk's name and the line. */
#ifndef LTENSOR_SCRIPT_H
#define LTENSOR_SCRIPT_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lua_State;

typedef struct lt_script lt_script;

/* Configuration of the interpreter, initialized by lt_script_defaults. Strings and callbacks as in
 * lt_context_config. */
typedef struct lt_script_config {
    size_t size;          /* sizeof(lt_script_config) in the caller */
    bool trusted;         /* all of Lua, and torch without restrictions */
    int64_t memory_limit; /* bytes of the interpreter and its tensors; 0: no limit */
    double seconds;       /* maximum duration of a load or a call; 0: no limit */
    void *user;           /* first argument of the callbacks */
    /* called once when the script is freed, or when its last large tensor is */
    void (*release)(void *user);
    /* Receives a printed line without its newline; it may contain zero bytes. NULL: stdout. */
    void (*print)(void *user, const char *line, size_t bytes);
    /* As in lt_context_config. NULL: an untrusted script is denied everything, a trusted one
     * nothing. */
    bool (*authorize)(void *user, int access, const char *name);
    void (*log)(void *user, int level, const char *text);
} lt_script_config;

LT_INLINE lt_script_config lt_script_defaults(void)
{
    lt_script_config config;
    config.size = sizeof config;
    config.trusted = false;
    config.memory_limit = 0, config.seconds = 0;
    config.user = NULL, config.release = NULL;
    config.print = NULL, config.authorize = NULL, config.log = NULL;
    return config;
}

/* New, with its own context; config NULL: lt_script_defaults(). LT_ERR_MEMORY: not enough memory,
 * or the limit is below the minimum of an interpreter (about 4 MB); LT_ERR_TYPE: config.size is too
 * small; LT_ERR_RUNTIME: a negative number. */
LT_API lt_status lt_script_new(const lt_script_config *config, lt_script **out);
/* Do not call it while one of its functions runs. */
LT_API void lt_script_release(lt_script *script);
/* The old name of lt_script_release. */
LT_API void lt_script_free(lt_script *script) LT_DEPRECATED("lt_script_release");

/* Runs a text (not bytecode) of the given number of bytes; name is used in messages. Results as in
 * lt_call, but surplus results are dropped and missing ones are none. Values without an lt_kind
 * (functions, modules) are errors, and so are tables with keys other than names and 1 to n, that
 * contain themselves, or that are nested more than 100 deep. */
LT_API lt_status lt_script_load(lt_script *script, const char *text, size_t bytes, const char *name,
                                lt_value *results, int *nresults);

/* Calls a function by its path: "f", "model.forward", or with a colon for a method:
 * "model:forward". */
LT_API lt_status lt_script_call(lt_script *script, const char *function, const lt_value *args,
                                int nargs, lt_value *results, int *nresults);

/* As lt_script_call, and stores the first result of any type as a global: a module, an optimizer, a
 * function. A host can run a model without Lua code: lt_script_keep(script, "net",
 * "torch.onnx.load", &path, 1), then lt_script_call(script, "net", ...). */
LT_API lt_status lt_script_keep(lt_script *script, const char *global, const char *function,
                                const lt_value *args, int nargs);

/* Sets or reads a global; the read value is new. */
LT_API lt_status lt_script_set(lt_script *script, const char *name, const lt_value *value);
LT_API lt_status lt_script_get(lt_script *script, const char *name, lt_value *value);

/* Borrowed: the context, for lt_context_interrupt from another thread or lt_context_memory; and the
 * interpreter, to use the Lua API (in that context: lt_context_enter). The script's limits do not
 * apply to such calls. */
LT_API lt_context *lt_script_context(lt_script *script);
LT_API struct lua_State *lt_script_state(lt_script *script);

#ifdef __cplusplus
}
#endif

#endif
