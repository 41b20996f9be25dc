/* header_lm_lua_test.c - every function of ltensor_lm.h: with memory that ends at any of its
 * requests, and with NULL for each of its pointers. Needs PCRE2, as the tokenizer does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "ltensor_lm.h"
#include "ltensor_script.h"

#include "ending.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))
#define MOST_POINTS  30 /* at which the memory ends; more requests are taken by steps */

static char path[] = "/tmp/ltensor-header-XXXXXX", encoder_path[] = "/tmp/ltensor-header-XXXXXX";

/* Writes the files of a small random Llama and of an encoder. */
static int set_up(void **state)
{
    static const char text[] =
        "debug.sethook()\n"
        "local function write(path, text)\n"
        "  local file = assert(io.open(path, 'wb'))\n"
        "  file:write(text)\n"
        "  file:close()\n"
        "end\n"
        "local tiny = dofile 'tests/lua/support/tiny_llama.lua'\n"
        "write(path, (tiny.text(tiny.tokenizer())))\n"
        "write(encoder_path, dofile('tests/lua/support/family_tensors.lua').encoder_gguf())\n";
    lt_value name = lt_value_string(path), encoder_name = lt_value_string(encoder_path);
    lt_script *lua = NULL;
    lt_script_config config = lt_script_defaults();
    (void)state;
    config.trusted = true;
    close(mkstemp(path));
    close(mkstemp(encoder_path));
    assert_ok(lt_script_new(&config, &lua));
    assert_ok(lt_script_set(lua, "path", &name));
    assert_ok(lt_script_set(lua, "encoder_path", &encoder_name));
    assert_ok(lt_script_load(lua, text, sizeof text - 1, "files", NULL, NULL));
    lt_script_release(lua);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(path);
    remove(encoder_path);
    return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static lt_lm *model, *encoder; /* fresh for each sweep */

static bool ignore(const char *piece, size_t n, void *user)
{
    (void)piece, (void)n, (void)user;
    return true;
}

static lt_status load(void)
{
    lt_lm *made = NULL;
    lt_lm_config config = lt_lm_config_defaults();
    config.cache_dtype = LT_INT8;
    const lt_status status = lt_lm_load(path, &config, &made);
    assert_int_equal(status == LT_OK, made != NULL);
    lt_lm_release(made);
    return status;
}

static lt_status generate(void)
{
    static const char *const stops[] = {"never", "ever"};
    lt_lm_options options = lt_lm_options_defaults();
    lt_lm_result result = {.size = sizeof result};
    options.max_tokens = 4;
    options.temperature = 1;
    options.seed = 3;
    options.stop = stops, options.n_stop = 2;
    const lt_status status = lt_lm_generate(model, "abc", &options, ignore, NULL, &result);
    assert_int_equal(status == LT_OK, result.finish != LT_LM_FAILED);
    return status;
}

static lt_status embed(void)
{
    static const char *const texts[] = {"a b c", "d"};
    lt_tensor *vectors = NULL;
    const lt_status status = lt_lm_embed(encoder, texts, 2, NULL, &vectors);
    assert_int_equal(status == LT_OK, vectors != NULL);
    lt_tensor_release(vectors);
    return status;
}

static lt_status tokens(void)
{
    char text[8] = "";
    size_t length = 0;
    lt_tensor *ids = NULL;
    lt_status status = lt_lm_tokenize(model, "abcd", &ids);
    assert_int_equal(status == LT_OK, ids != NULL);
    if (status == LT_OK) status = lt_lm_detokenize(model, ids, text, sizeof text, &length);
    if (status == LT_OK) assert_string_equal(text, "abcd");
    lt_tensor_release(ids);
    return status;
}

/* ---- NULL ------------------------------------------------------------------------------------ */

static void load_null(void)
{
    lt_lm *made = NULL;
    assert_no_null(lt_lm_load(NULL, NULL, &made), "'path'");
    assert_no_null(lt_lm_load(path, NULL, NULL), "'out'");
    assert_null(made);
    lt_lm_release(NULL);
}

static void generate_null(void)
{
    static const char *const stops[] = {"a", NULL};
    lt_lm_options options = lt_lm_options_defaults();
    options.n_stop = 2;
    assert_no_null(lt_lm_generate(NULL, "a", NULL, ignore, NULL, NULL), "'model'");
    assert_no_null(lt_lm_generate(model, NULL, NULL, ignore, NULL, NULL), "'prompt'");
    assert_no_null(lt_lm_generate(model, "a", NULL, NULL, NULL, NULL), "'callback'");
    assert_no_null(lt_lm_generate(model, "a", &options, ignore, NULL, NULL), "'stop'");
    options.stop = stops;
    assert_no_null(lt_lm_generate(model, "a", &options, ignore, NULL, NULL), "'stop'");
}

static void embed_null(void)
{
    static const char *const texts[] = {"a", NULL};
    lt_tensor *vectors = NULL;
    assert_no_null(lt_lm_embed(NULL, texts, 1, NULL, &vectors), "'model'");
    assert_no_null(lt_lm_embed(encoder, NULL, 1, NULL, &vectors), "'texts'");
    assert_no_null(lt_lm_embed(encoder, texts, 2, NULL, &vectors), "'texts'");
    assert_no_null(lt_lm_embed(encoder, texts, 1, NULL, NULL), "'out'");
    assert_null(vectors);
}

static void tokens_null(void)
{
    const int64_t size = 1;
    char text[8];
    lt_tensor *ids = NULL;
    assert_no_null(lt_lm_tokenize(NULL, "a", &ids), "'model'");
    assert_no_null(lt_lm_tokenize(model, NULL, &ids), "'text'");
    assert_no_null(lt_lm_tokenize(model, "a", NULL), "'out'");
    assert_no_null(lt_lm_detokenize(model, NULL, text, sizeof text, NULL), "'ids'");
    assert_ok(lt_tensor_new(LT_INT64, (lt_device){LT_CPU, 0}, 1, &size, &ids));
    *(int64_t *)lt_tensor_data(ids) = 1;
    assert_no_null(lt_lm_detokenize(NULL, ids, text, sizeof text, NULL), "'model'");
    assert_no_null(lt_lm_detokenize(model, ids, NULL, 8, NULL), "'buffer'");
    assert_ok(lt_lm_detokenize(model, ids, NULL, 0, NULL));
    lt_tensor_release(ids);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const row rows[] = {
    {"lt_lm_load", load, load_null},
    {"lt_lm_release", load, load_null},
    {"lt_lm_generate", generate, generate_null},
    {"lt_lm_embed", embed, embed_null},
    {"lt_lm_tokenize", tokens, tokens_null},
    {"lt_lm_detokenize", tokens, tokens_null},
};

static void open_models(void)
{
    assert_ok(lt_lm_load(path, NULL, &model));
    assert_ok(lt_lm_load(encoder_path, NULL, &encoder));
}

static void close_models(void)
{
    lt_lm_release(model);
    lt_lm_release(encoder);
}

static int end_anywhere(const char *name, lt_status (*call)(void))
{
    open_models();
    const int failures = end_at_requests(name, call, NULL, MOST_POINTS);
    close_models();
    return failures;
}

static void test_no_function_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(every_function_has_a_row(__FILE__, "ltensor_lm.h", rows, COUNT(rows)),
                     COUNT(rows));
}

static void test_the_end_of_memory_is_reported(void **state)
{
    (void)state;
    int failures = 0;
    for (int i = 0; i < COUNT(rows); i++)
        if (i == 0 || rows[i].call != rows[i - 1].call)
            failures += fail_without_a_leak((sweep){end_anywhere, rows[i].name, rows[i].call});
    assert_int_equal(complaints, 0);
    assert_true(failures > 40);
}

static void test_null_is_an_error(void **state)
{
    (void)state;
    open_models();
    for (int i = 0; i < COUNT(rows); i++) rows[i].null();
    close_models();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_function_is_left_out),
        cmocka_unit_test(test_the_end_of_memory_is_reported),
        cmocka_unit_test(test_null_is_an_error),
    };
    if (count_memory() != LT_OK) return 1;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
