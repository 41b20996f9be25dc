/* lm.c - lt_lm (ltensor_lm.h): a language model of lib/lm in an interpreter of its own, with
 * lib/lm/host.lua. */
#include "ltensor_lm.h"

#include <string.h>

#include "binding.h"
#include "error.h"
#include "files/paths.h"
#include "interpreter.h"
#include "lock.h"
#include "memory/alloc.h"

#include <sys/stat.h>
#include <unistd.h>

struct lt_lm {
    lt_interpreter interpreter;
};

/* A request to the interpreter. */
typedef struct lm_request {
    const char *text; /* a path, a prompt, a text */
    lt_lm_config config;
    lt_lm_options options;
    lt_lm_callback callback;
    void *user;
    lt_lm_result result;
    const char *const *texts;
    int64_t n_texts;
    lt_lm_embed_options embed_options;
    lt_tensor *tensor; /* ids, or vectors */
    char *buffer;
    size_t length;
} lm_request;

static void push_host(lua_State *L, const char *function)
{
    lt_interpreter_push(L, "torch.lm.host", function);
}

/* Copies a struct of a caller, of which a later version may have more fields. */
static lt_status copy_struct(void *to, size_t size, const void *from, const char *name)
{
    size_t given;
    memcpy(&given, from, sizeof given); /* the first field */
    if (given < size)
        return lt_error(LT_ERR_TYPE, "lt_lm: the size in %s is %zu, expected sizeof(%s), %zu", name,
                        given, name, size);
    memcpy(to, from, size);
    return LT_OK;
}

static lt_status call_locked(lt_lm *model, lua_CFunction f, lm_request *r)
{
    pthread_mutex_lock(&model->interpreter.lock);
    const lt_status status = lt_interpreter_call(&model->interpreter, f, r);
    lt_unlock(&model->interpreter.lock);
    return status;
}

/* ---- fields of tables of arguments, at the top of the stack ----------------------------------- */

static void set_integer_option(lua_State *L, const char *name, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

static void set_number_option(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void set_dtype_option(lua_State *L, const char *name, lt_dtype dtype)
{
    if (dtype == LT_DTYPE_NONE) return;
    lt_lua_push_dtype(L, dtype);
    lua_setfield(L, -2, name);
}

static void push_config(lua_State *L, const lt_lm_config *config)
{
    lua_newtable(L);
    set_dtype_option(L, "dtype", config->dtype);
    set_dtype_option(L, "cache_dtype", config->cache_dtype);
    if (config->context != 0) set_integer_option(L, "context", config->context);
    lt_lua_push_device(L, config->device);
    lua_setfield(L, -2, "device");
}

static void push_options(lua_State *L, const lt_lm_options *options)
{
    lua_newtable(L);
    set_integer_option(L, "max_tokens", options->max_tokens);
    set_number_option(L, "temperature", options->temperature);
    set_integer_option(L, "top_k", options->top_k);
    set_number_option(L, "top_p", options->top_p);
    set_number_option(L, "min_p", options->min_p);
    set_number_option(L, "repetition_penalty", options->repetition_penalty);
    set_number_option(L, "frequency_penalty", options->frequency_penalty);
    set_number_option(L, "presence_penalty", options->presence_penalty);
    if (options->seed >= 0) set_integer_option(L, "seed", options->seed);
    if (options->context_shift >= 0) set_integer_option(L, "context_shift", options->context_shift);
    lua_newtable(L);
    for (int i = 0; i < options->n_stop; i++) {
        lua_pushstring(L, options->stop[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "stop");
}

/* ---- loading --------------------------------------------------------------------------------- */

static int open_lm(lua_State *L)
{
    const lm_request *r = lua_touserdata(L, 1);
    lt_interpreter_open_libraries(L);
    push_host(L, "open");
    lua_pop(L, 1);
    lua_pushstring(L, r->text);
    push_config(L, &r->config);
    lua_call(L, 2, 1);
    lt_interpreter_set_state(L);
    lt_lua_collect(L);
    return 0;
}

lt_status lt_lm_load(const char *path, const lt_lm_config *config, lt_lm **out)
{
    LT_REQUIRE(path);
    LT_REQUIRE(out);
    lm_request r = {.text = path, .config = lt_lm_config_defaults()};
    if (config != NULL) LT_TRY(copy_struct(&r.config, sizeof r.config, config, "lt_lm_config"));
    struct stat kind;
    if (stat(path, &kind) != 0 || !S_ISDIR(kind.st_mode)) {
        int fd;
        int64_t size;
        LT_TRY(lt_open_to_read(path, &fd, &size)); /* for the status of a missing file */
        close(fd);
    }
    lt_lm *model = lt_mem_zalloc(sizeof *model);
    if (model == NULL) return LT_ERR_MEMORY;
    lt_status status = lt_interpreter_new(&model->interpreter);
    if (status == LT_OK) status = lt_interpreter_call(&model->interpreter, open_lm, &r);
    if (status == LT_OK)
        *out = model;
    else
        lt_lm_release(model);
    return status;
}

void lt_lm_release(lt_lm *model)
{
    if (model == NULL) return;
    lt_interpreter_close(&model->interpreter);
    lt_mem_free(model);
}

/* ---- generation ------------------------------------------------------------------------------ */

static int generate(lua_State *L)
{
    lm_request *r = lua_touserdata(L, 1);
    lua_settop(L, 0);
    push_host(L, "generate");
    lua_pushstring(L, r->text);
    push_options(L, &r->options);
    lua_call(L, 3, 1);
    for (;;) {
        size_t n;
        lua_pushvalue(L, 1);
        lua_call(L, 0, 1);
        if (lua_isnil(L, -1)) return 0;
        const char *piece = lua_tolstring(L, -1, &n);
        if (!r->callback(piece, n, r->user)) {
            r->result.finish = LT_LM_CALLBACK;
            return 0;
        }
        lua_settop(L, 1);
    }
}

static int read_stats(lua_State *L)
{
    lm_request *r = lua_touserdata(L, 1);
    lua_settop(L, 0);
    push_host(L, "stats");
    lua_call(L, 1, 5);
    r->result.prompt_tokens = lua_tointeger(L, 1);
    r->result.tokens = lua_tointeger(L, 2);
    r->result.prompt_seconds = lua_tonumber(L, 3);
    r->result.seconds = lua_tonumber(L, 4);
    if (r->result.finish == LT_LM_FAILED && !lua_isnil(L, 5))
        r->result.finish = strcmp(lua_tostring(L, 5), "stop") == 0 ? LT_LM_STOP : LT_LM_LENGTH;
    return 0;
}

/* Checks the texts of the options. */
static lt_status check_options(const lt_lm_options *options)
{
    if (options->n_stop > 0 && options->stop == NULL)
        return lt_null_argument("lt_lm_generate", "stop");
    for (int i = 0; i < options->n_stop; i++)
        if (options->stop[i] == NULL) return lt_null_argument("lt_lm_generate", "stop");
    return LT_OK;
}

lt_status lt_lm_generate(lt_lm *model, const char *prompt, const lt_lm_options *options,
                         lt_lm_callback callback, void *user, lt_lm_result *result)
{
    LT_REQUIRE(model);
    LT_REQUIRE(prompt);
    LT_REQUIRE(callback);
    lm_request r = {.text = prompt, .callback = callback, .user = user};
    r.options = lt_lm_options_defaults();
    if (options != NULL)
        LT_TRY(copy_struct(&r.options, sizeof r.options, options, "lt_lm_options"));
    LT_TRY(check_options(&r.options));
    if (result != NULL) LT_TRY(copy_struct(&r.result, sizeof r.result, result, "lt_lm_result"));
    r.result = (lt_lm_result){.size = sizeof r.result, .finish = LT_LM_FAILED};
    pthread_mutex_lock(&model->interpreter.lock);
    lt_status status = lt_interpreter_call(&model->interpreter, generate, &r);
    if (status == LT_OK) status = lt_interpreter_call(&model->interpreter, read_stats, &r);
    lt_unlock(&model->interpreter.lock);
    if (result != NULL) {
        r.result.size = result->size;
        *result = r.result;
    }
    return status;
}

/* ---- embeddings ------------------------------------------------------------------------------ */

static void push_embed_options(lua_State *L, const lt_lm_embed_options *options)
{
    lua_newtable(L);
    set_integer_option(L, "batch_size", options->batch_size);
    lua_pushboolean(L, options->normalize);
    lua_setfield(L, -2, "normalize");
}

static int embed(lua_State *L)
{
    lm_request *r = lua_touserdata(L, 1);
    lua_settop(L, 0);
    push_host(L, "embed");
    lua_newtable(L);
    for (int64_t i = 0; i < r->n_texts; i++) {
        lua_pushstring(L, r->texts[i]);
        lua_rawseti(L, -2, i + 1);
    }
    push_embed_options(L, &r->embed_options);
    lua_call(L, 3, 1);
    r->tensor = lt_tensor_retain(lt_lua_get(L, -1));
    return 0;
}

lt_status lt_lm_embed(lt_lm *model, const char *const *texts, int64_t n,
                      const lt_lm_embed_options *options, lt_tensor **out)
{
    LT_REQUIRE(model);
    if (n != 0) LT_REQUIRE(texts);
    LT_REQUIRE(out);
    if (n < 0)
        return lt_error(LT_ERR_TYPE, "lt_lm_embed(): n is %lld, expected 0 or more", (long long)n);
    for (int64_t i = 0; i < n; i++)
        if (texts[i] == NULL) return lt_null_argument("lt_lm_embed", "texts");
    lm_request r = {.texts = texts, .n_texts = n, .embed_options = lt_lm_embed_defaults()};
    if (options != NULL)
        LT_TRY(
            copy_struct(&r.embed_options, sizeof r.embed_options, options, "lt_lm_embed_options"));
    const lt_status status = call_locked(model, embed, &r);
    if (status == LT_OK) *out = r.tensor;
    return status;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static int tokenize(lua_State *L)
{
    lm_request *r = lua_touserdata(L, 1);
    lua_settop(L, 0);
    push_host(L, "tokenize");
    lua_pushstring(L, r->text);
    lua_call(L, 2, 1);
    r->tensor = lt_tensor_retain(lt_lua_get(L, -1));
    return 0;
}

lt_status lt_lm_tokenize(lt_lm *model, const char *text, lt_tensor **out)
{
    LT_REQUIRE(model);
    LT_REQUIRE(text);
    LT_REQUIRE(out);
    lm_request r = {.text = text};
    const lt_status status = call_locked(model, tokenize, &r);
    if (status == LT_OK) *out = r.tensor;
    return status;
}

static int detokenize(lua_State *L)
{
    lm_request *r = lua_touserdata(L, 1);
    size_t n, size = r->length;
    lua_settop(L, 0);
    push_host(L, "detokenize");
    lt_lua_push(L, r->tensor);
    lua_call(L, 2, 1);
    const char *text = lua_tolstring(L, -1, &n);
    r->length = n;
    if (size > 0) {
        const size_t copied = n < size ? n : size - 1;
        memcpy(r->buffer, text, copied);
        r->buffer[copied] = '\0';
    }
    return 0;
}

lt_status lt_lm_detokenize(lt_lm *model, lt_tensor *ids, char *buffer, size_t size, size_t *length)
{
    LT_REQUIRE(model);
    LT_REQUIRE(ids);
    if (size > 0) LT_REQUIRE(buffer);
    lm_request r = {.tensor = ids, .buffer = buffer, .length = size};
    const lt_status status = call_locked(model, detokenize, &r);
    if (status == LT_OK && length != NULL) *length = r.length;
    return status;
}
