/* generate.c - a language model continues a text within limits: it reads files and nothing else, has
 * 2 GB and a minute, and ends after 50 tokens.
 *
 *   cc -std=c99 generate.c $(pkg-config --cflags --libs ltensor_lua) -o generate
 *   ./generate model.gguf 'The capital of France is' */
#include <stdio.h>

#include "ltensor_lm.h"

static bool authorize(void *user, int access, const char *name)
{
    (void)user, (void)name;
    return access == LT_ACCESS_FILE_READ || access == LT_ACCESS_LIBRARY;
}

static bool write_piece(const char *piece, size_t n, void *user)
{
    (void)user;
    return fwrite(piece, 1, n, stdout) == n && fflush(stdout) == 0;
}

int main(int argc, char **argv)
{
    lt_context_config config = lt_context_defaults();
    lt_lm_options options = lt_lm_options_defaults();
    lt_context *context = NULL;
    lt_lm *model = NULL;
    lt_lm_result result;
    if (argc != 3) {
        fprintf(stderr, "usage: %s model.gguf prompt\n", argv[0]);
        return 1;
    }
    config.memory_limit = (int64_t)2 << 30;
    config.deadline = 60;
    config.authorize = authorize;
    options.max_tokens = 50;
    result.size = sizeof result;
    lt_status status = lt_context_new(&config, &context);
    if (status == LT_OK) {
        lt_context_enter(context);
        status = lt_lm_load(argv[1], NULL, &model);
    }
    if (status == LT_OK)
        status = lt_lm_generate(model, argv[2], &options, write_piece, NULL, &result);
    if (status == LT_OK)
        printf("\n%d tokens were read and %d generated, %.1f per second\n",
               (int)result.prompt_tokens, (int)result.tokens,
               result.tokens > 1 ? (double)(result.tokens - 1) / result.seconds : 0.0);
    else
        fprintf(stderr, "%s\n", lt_error_message());
    lt_lm_release(model);
    lt_context_enter(NULL);
    lt_context_release(context);
    return status == LT_OK ? 0 : 1;
}
