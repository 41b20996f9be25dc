/* lm_lua_test.c - lt_lm: texts and vectors equal the ones of Lua, callbacks end texts, limits and
 * interrupts of contexts hold, errors. Needs PCRE2, as the tokenizer does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "ltensor_lm.h"
#include "ltensor_ops.h"
#include "ltensor_script.h"

#include "expect.h"

static char path[] = "/tmp/ltensor-lm-XXXXXX", encoder_path[] = "/tmp/ltensor-lm-XXXXXX";
static lt_script *lua;

/* Writes the files of a small random Llama (tests/lua/support/tiny_llama.lua) and of an encoder. */
static const char prelude[] =
    "debug.sethook()\n"
    "local tiny = dofile 'tests/lua/support/tiny_llama.lua'\n"
    "torch.manual_seed(5)\n"
    "local file = assert(io.open(path, 'wb'))\n"
    "file:write((tiny.text(tiny.tokenizer())))\n"
    "file:close()\n"
    "file = assert(io.open(encoder_path, 'wb'))\n"
    "file:write(dofile('tests/lua/support/family_tensors.lua').encoder_gguf())\n"
    "file:close()\n"
    "function vectors(normalize)\n"
    "  local encoder = torch.lm.load(encoder_path)\n"
    "  return encoder:embed({'n c s f f k b q a e', 'N C S', 'a'}, {normalize = normalize})\n"
    "end\n"
    "local model = torch.lm.load(path)\n"
    "function text(prompt, stop)\n"
    "  return model:complete(prompt, {max_tokens = 20, stop = stop ~= '' and stop or nil})\n"
    "end\n"
    "function drawn(prompt)\n"
    "  return model:complete(prompt, {max_tokens = 20, temperature = 1.5, seed = 7, top_k = 30,\n"
    "    top_p = 0.95, min_p = 0.001, repetition_penalty = 1.2, frequency_penalty = 0.1,\n"
    "    presence_penalty = 0.2})\n"
    "end\n";

static int set_up(void **state)
{
    (void)state;
    const int fd = mkstemp(path), encoder_fd = mkstemp(encoder_path);
    const lt_value name = lt_value_string(path), encoder_name = lt_value_string(encoder_path);
    lt_script_config config = lt_script_defaults();
    config.trusted = true;
    assert_true(fd >= 0 && encoder_fd >= 0);
    close(fd);
    close(encoder_fd);
    assert_ok(lt_script_new(&config, &lua));
    assert_ok(lt_script_set(lua, "path", &name));
    assert_ok(lt_script_set(lua, "encoder_path", &encoder_name));
    assert_ok(lt_script_load(lua, prelude, sizeof prelude - 1, "prelude", NULL, NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    lt_script_release(lua);
    remove(path);
    remove(encoder_path);
    return 0;
}

/* The text that Lua generates. */
static void text_of_lua(const char *function, const char *prompt, const char *stop, char *out)
{
    lt_value arguments[] = {lt_value_string(prompt), lt_value_string(stop)};
    lt_value result = lt_value_none();
    int n = 1;
    assert_ok(lt_script_call(lua, function, arguments, 2, &result, &n));
    strcpy(out, result.v.text.s);
    lt_value_release(&result);
}

typedef struct collected {
    char text[1000];
    int pieces, most; /* most: number of pieces after which the callback ends the text; 0: none */
} collected;

static bool collect(const char *piece, size_t n, void *user)
{
    collected *c = user;
    assert_int_equal(strlen(piece), n);
    strcat(c->text, piece);
    return ++c->pieces != c->most;
}

static lt_lm *load(void)
{
    lt_lm *model = NULL;
    assert_ok(lt_lm_load(path, NULL, &model));
    return model;
}

static void test_texts_equal_those_of_lua(void **state)
{
    (void)state;
    char expected[1000];
    const char *stops[] = {"never", "cd"};
    collected got = {"", 0, 0};
    lt_lm *model = load();
    lt_lm_options options = lt_lm_options_defaults();
    lt_lm_result result = {.size = sizeof result};
    options.max_tokens = 20;
    text_of_lua("text", "abc", "", expected);
    assert_ok(lt_lm_generate(model, "abc", &options, collect, &got, &result));
    assert_string_equal(got.text, expected);
    assert_true(got.pieces > 1);
    assert_int_equal(result.prompt_tokens, 2);
    assert_int_equal(result.tokens, 20);
    assert_int_equal(result.finish, LT_LM_LENGTH);
    assert_true(result.prompt_seconds > 0 && result.seconds > 0);

    got = (collected){"", 0, 0};
    options.stop = stops, options.n_stop = 2;
    text_of_lua("text", "abc", "cd", expected);
    assert_ok(lt_lm_generate(model, "abc", &options, collect, &got, &result));
    assert_string_equal(got.text, expected);
    assert_int_equal(result.finish, LT_LM_STOP);

    got = (collected){"", 0, 0};
    options = lt_lm_options_defaults();
    options.max_tokens = 20, options.temperature = 1.5, options.seed = 7, options.top_k = 30;
    options.top_p = 0.95, options.min_p = 0.001, options.repetition_penalty = 1.2;
    options.frequency_penalty = 0.1, options.presence_penalty = 0.2;
    text_of_lua("drawn", "abc", "", expected);
    assert_ok(lt_lm_generate(model, "abc", &options, collect, &got, NULL));
    assert_string_equal(got.text, expected);
    lt_lm_release(model);
}

static void test_a_callback_ends_the_text(void **state)
{
    (void)state;
    collected got = {"", 0, 3};
    lt_lm *model = load();
    lt_lm_result result = {.size = sizeof result};
    assert_ok(lt_lm_generate(model, "abc", NULL, collect, &got, &result));
    assert_int_equal(got.pieces, 3);
    assert_int_equal(result.finish, LT_LM_CALLBACK);
    assert_true(result.tokens >= 3 && result.tokens < 60);
    lt_lm_release(model);
}

static void test_tokens(void **state)
{
    (void)state;
    char text[8];
    size_t length = 0;
    lt_tensor *ids = NULL;
    lt_lm *model = load();
    assert_ok(lt_lm_tokenize(model, "abcd", &ids));
    assert_int_equal(lt_tensor_numel(ids), 2);
    assert_int_equal(lt_tensor_dtype(ids), LT_INT64);
    assert_int_equal(((int64_t *)lt_tensor_data(ids))[1], 28);
    assert_ok(lt_lm_detokenize(model, ids, text, sizeof text, &length));
    assert_string_equal(text, "abcd");
    assert_int_equal(length, 4);
    assert_ok(lt_lm_detokenize(model, ids, text, 3, &length));
    assert_string_equal(text, "ab");
    assert_int_equal(length, 4);
    assert_ok(lt_lm_detokenize(model, ids, NULL, 0, &length));
    assert_int_equal(length, 4);
    lt_tensor_release(ids);
    lt_lm_release(model);
}

static const char *const texts[] = {"n c s f f k b q a e", "N C S", "a"};

static lt_lm *load_encoder(void)
{
    lt_lm *model = NULL;
    assert_ok(lt_lm_load(encoder_path, NULL, &model));
    return model;
}

/* The vectors of the texts equal those of Lua. */
static void check_vectors(lt_lm *model, const lt_lm_embed_options *options, bool normalized)
{
    lt_tensor *vectors = NULL;
    lt_value normalize = lt_value_bool(normalized), expected = lt_value_none();
    int n = 1;
    assert_ok(lt_lm_embed(model, texts, 3, options, &vectors));
    assert_ok(lt_script_call(lua, "vectors", &normalize, 1, &expected, &n));
    assert_int_equal(lt_tensor_dtype(vectors), LT_FLOAT32);
    assert_int_equal(lt_tensor_ndim(vectors), 2);
    assert_int_equal(lt_tensor_sizes(vectors)[0], 3);
    assert_int_equal(lt_tensor_sizes(vectors)[1], 16);
    assert_false(lt_tensor_requires_grad(vectors));
    const float *got = lt_tensor_data(vectors), *wanted = lt_tensor_data(expected.v.tensor);
    for (int i = 0; i < 3 * 16; i++) assert_true(fabsf(got[i] - wanted[i]) < 1e-5f);
    lt_value_release(&expected);
    lt_tensor_release(vectors);
}

static void test_vectors_equal_those_of_lua(void **state)
{
    (void)state;
    lt_tensor *none = NULL;
    lt_lm *model = load_encoder();
    lt_lm_embed_options options = lt_lm_embed_defaults();
    check_vectors(model, NULL, true);
    options.batch_size = 1;
    check_vectors(model, &options, true);
    options.normalize = false;
    check_vectors(model, &options, false);
    assert_ok(lt_lm_embed(model, NULL, 0, NULL, &none));
    assert_int_equal(lt_tensor_sizes(none)[0], 0);
    assert_int_equal(lt_tensor_sizes(none)[1], 16);
    lt_tensor_release(none);
    lt_lm_release(model);
}

static void test_errors_of_embeddings(void **state)
{
    (void)state;
    const char *const with_null[] = {"a", NULL};
    lt_tensor *vectors = NULL;
    lt_lm_embed_options options = lt_lm_embed_defaults();
    collected got = {"", 0, 0};
    lt_lm *model = load();
    assert_fails(lt_lm_embed(model, texts, 3, NULL, &vectors), LT_ERR_RUNTIME,
                 "this model generates text; expected an encoder");
    lt_lm_release(model);
    model = load_encoder();
    assert_fails(lt_lm_generate(model, "a", NULL, collect, &got, NULL), LT_ERR_RUNTIME,
                 "this model makes embeddings of texts");
    options.batch_size = 0;
    assert_fails(lt_lm_embed(model, texts, 3, &options, &vectors), LT_ERR_RUNTIME,
                 "batch_size is 0, expected 1 or more");
    options.size = 3;
    assert_fails(lt_lm_embed(model, texts, 3, &options, &vectors), LT_ERR_TYPE,
                 "the size in lt_lm_embed_options is 3");
    assert_fails(lt_lm_embed(model, texts, -1, NULL, &vectors), LT_ERR_TYPE,
                 "lt_lm_embed(): n is -1, expected 0 or more");
    assert_fails(lt_lm_embed(model, with_null, 2, NULL, &vectors), LT_ERR_TYPE, "'texts'");
    assert_null(vectors);
    lt_lm_release(model);
}

static void test_a_model_is_loaded_as_configured(void **state)
{
    (void)state;
    collected got = {"", 0, 0};
    lt_lm *model = NULL;
    lt_lm_config config = lt_lm_config_defaults();
    config.dtype = LT_BFLOAT16, config.cache_dtype = LT_INT8, config.context = 10;
    assert_ok(lt_lm_load(path, &config, &model));
    const lt_status status = lt_lm_generate(model, "abc", NULL, collect, &got, NULL);
    assert_int_equal(status, LT_ERR_RUNTIME);
    assert_non_null(strstr(lt_error_message(), "the context of 10 tokens is full"));
    assert_true(got.pieces > 3);
    lt_lm_options options = lt_lm_options_defaults();
    options.context_shift = 0, options.max_tokens = 30;
    lt_lm_result result = {.size = sizeof result};
    got = (collected){"", 0, 0};
    assert_ok(lt_lm_generate(model, "abc", &options, collect, &got, &result));
    lt_lm_release(model);
}

static void test_errors(void **state)
{
    (void)state;
    collected got = {"", 0, 0};
    lt_lm *model = NULL;
    lt_lm_options options = lt_lm_options_defaults();
    assert_int_equal(lt_lm_load("/nowhere/model.gguf", NULL, &model), LT_ERR_IO);
    assert_int_equal(lt_lm_load("Makefile", NULL, &model), LT_ERR_RUNTIME);
    assert_non_null(strstr(lt_error_message(), "not a GGUF file"));
    assert_int_equal(lt_lm_load("tests", NULL, &model), LT_ERR_RUNTIME); /* a folder */
    assert_non_null(strstr(lt_error_message(), "Is a directory"));
    assert_null(model);
    model = load();
    assert_int_equal(lt_lm_generate(model, "", NULL, collect, &got, NULL), LT_ERR_RUNTIME);
    assert_non_null(strstr(lt_error_message(), "the prompt is empty"));
    options.top_p = 2;
    assert_int_equal(lt_lm_generate(model, "a", &options, collect, &got, NULL), LT_ERR_RUNTIME);
    assert_non_null(strstr(lt_error_message(), "top_p is 2"));
    lt_lm_release(model);
}

/* As a program does that was compiled with the header of a later version. */
static void test_a_larger_result_keeps_its_size_and_its_end(void **state)
{
    (void)state;
    struct {
        lt_lm_result result;
        char later[8];
    } larger = {.result = {.size = sizeof larger}, .later = "unknown"};
    collected got = {"", 0, 0};
    lt_lm_options options = lt_lm_options_defaults();
    lt_lm *model = load();
    options.max_tokens = 2;
    assert_ok(lt_lm_generate(model, "abc", &options, collect, &got, &larger.result));
    assert_int_equal(larger.result.tokens, 2);
    assert_int_equal(larger.result.size, sizeof larger);
    assert_string_equal(larger.later, "unknown");
    lt_lm_release(model);
}

static void test_null_and_sizes_are_errors(void **state)
{
    (void)state;
    lt_lm *model = NULL;
    lt_tensor *ids = NULL;
    lt_lm_config config = lt_lm_config_defaults();
    lt_lm_options options = lt_lm_options_defaults();
    lt_lm_result result = {.size = 3};
    collected got = {"", 0, 3};
    assert_int_equal(lt_lm_load(NULL, NULL, &model), LT_ERR_TYPE);
    assert_int_equal(lt_lm_load(path, NULL, NULL), LT_ERR_TYPE);
    config.size = 3;
    assert_int_equal(lt_lm_load(path, &config, &model), LT_ERR_TYPE);
    assert_non_null(strstr(lt_error_message(), "the size in lt_lm_config is 3"));
    assert_int_equal(lt_lm_generate(NULL, "a", NULL, collect, &got, NULL), LT_ERR_TYPE);
    assert_int_equal(lt_lm_tokenize(NULL, "a", &ids), LT_ERR_TYPE);
    assert_int_equal(lt_lm_detokenize(NULL, ids, NULL, 0, NULL), LT_ERR_TYPE);
    lt_lm_release(NULL);
    model = load();
    assert_int_equal(lt_lm_generate(model, NULL, NULL, collect, &got, NULL), LT_ERR_TYPE);
    assert_int_equal(lt_lm_generate(model, "a", NULL, NULL, &got, NULL), LT_ERR_TYPE);
    assert_int_equal(lt_lm_generate(model, "a", NULL, collect, &got, &result), LT_ERR_TYPE);
    options.n_stop = 1;
    assert_int_equal(lt_lm_generate(model, "a", &options, collect, &got, NULL), LT_ERR_TYPE);
    options.size = 3;
    assert_int_equal(lt_lm_generate(model, "a", &options, collect, &got, NULL), LT_ERR_TYPE);
    assert_int_equal(lt_lm_tokenize(model, NULL, &ids), LT_ERR_TYPE);
    assert_int_equal(lt_lm_tokenize(model, "a", NULL), LT_ERR_TYPE);
    assert_int_equal(lt_lm_detokenize(model, NULL, NULL, 0, NULL), LT_ERR_TYPE);
    lt_lm_release(model);
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* An endless text, for the limits of a context. */
static lt_lm_options endless(void)
{
    lt_lm_options options = lt_lm_options_defaults();
    options.max_tokens = INT64_MAX;
    options.context_shift = 2;
    options.temperature = 5; /* for tokens of all kinds */
    return options;
}

static bool ignore(const char *piece, size_t n, void *user)
{
    (void)piece, (void)n, (void)user;
    return true;
}

/* Generates until an error: texts may end by the token that ends texts. */
static lt_status generate_endlessly(lt_lm *model)
{
    const lt_lm_options options = endless();
    lt_status status;
    do status = lt_lm_generate(model, "abc", &options, ignore, NULL, NULL);
    while (status == LT_OK);
    return status;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void test_a_deadline_holds(void **state)
{
    (void)state;
    lt_context_config config = lt_context_defaults();
    lt_context *context = NULL;
    assert_ok(lt_context_new(&config, &context));
    lt_context *before = lt_context_enter(context);
    lt_lm *model = load();
    assert_ok(lt_context_set_deadline(context, 0.05));
    const double start = seconds();
    assert_int_equal(generate_endlessly(model), LT_ERR_DEADLINE);
    assert_true(seconds() - start < 5);
    lt_lm_release(model);
    lt_context_enter(before);
    lt_context_release(context);
}

static void test_a_memory_limit_holds(void **state)
{
    (void)state;
    lt_lm *model = NULL;
    lt_context_config config = lt_context_defaults();
    lt_context *context = NULL;
    config.memory_limit = 1 << 20;
    assert_ok(lt_context_new(&config, &context));
    lt_context *before = lt_context_enter(context);
    assert_int_equal(lt_lm_load(path, NULL, &model), LT_ERR_MEMORY);
    assert_null(model);
    lt_context_enter(before);
    lt_context_release(context);
}

static void *interrupt_later(void *context)
{
    usleep(50000);
    lt_context_interrupt(context);
    return NULL;
}

static void test_an_interrupt_ends_the_text(void **state)
{
    (void)state;
    pthread_t thread;
    lt_lm *model = load();
    collected got = {"", 0, 3};
    assert_int_equal(pthread_create(&thread, NULL, interrupt_later, lt_context_current()), 0);
    assert_int_equal(generate_endlessly(model), LT_ERR_INTERRUPTED);
    pthread_join(thread, NULL);
    lt_context_interrupt_clear(lt_context_current());
    assert_ok(lt_lm_generate(model, "abc", NULL, collect, &got, NULL));
    assert_int_equal(got.pieces, 3);
    lt_lm_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_equal_those_of_lua),
        cmocka_unit_test(test_a_callback_ends_the_text),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_vectors_equal_those_of_lua),
        cmocka_unit_test(test_errors_of_embeddings),
        cmocka_unit_test(test_a_model_is_loaded_as_configured),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_a_larger_result_keeps_its_size_and_its_end),
        cmocka_unit_test(test_null_and_sizes_are_errors),
        cmocka_unit_test(test_a_deadline_holds),
        cmocka_unit_test(test_a_memory_limit_holds),
        cmocka_unit_test(test_an_interrupt_ends_the_text),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
