/* ltensor_lm.h - language models of files for a host in C.
 *
 *   lt_lm *model = NULL;
 *   lt_lm_options options = lt_lm_options_defaults();
 *   options.max_tokens = 50;
 *   if (lt_lm_load("model.gguf", NULL, &model) != LT_OK ||
 *       lt_lm_generate(model, "The capital of France is", &options, write_piece, stdout, NULL))
 *       fprintf(stderr, "%s\n", lt_error_message());
 *   lt_lm_release(model);
 *
 * write_piece(piece, n, user) writes a piece of text and returns whether it succeeded.
 *
 * A model runs in an interpreter of the library; your source needs no Lua. The tokens of a text stay
 * in the model: a prompt that begins like the text before is read from the first difference on.
 *
 * Threads: calls for one model wait for each other. Load a model for each thread that must run at
 * the same time: quantized weights of a file are shared. Calls use the context of the calling
 * thread: its limits of memory and time, number of threads and random numbers. lt_context_interrupt
 * and lt_interrupt stop a call within 100 ms. Strings are UTF-8. Link libltensor_lua. Errors are
 * reported as in ltensor.h. */
#ifndef LTENSOR_LM_H
#define LTENSOR_LM_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lt_lm lt_lm;

/* How a model is loaded, initialized by lt_lm_config_defaults. */
typedef struct lt_lm_config {
    size_t size;          /* sizeof(lt_lm_config) in the caller */
    lt_dtype dtype;       /* of the weights; LT_DTYPE_NONE: as in the file, quantized ones mapped */
    lt_device device;     /* of the weights */
    int64_t context;      /* maximum number of tokens of a text; 0: that of the model */
    lt_dtype cache_dtype; /* of the stored keys and values: LT_FLOAT32, LT_FLOAT16, LT_BFLOAT16 or
                             LT_INT8; LT_DTYPE_NONE: that of the activations */
} lt_lm_config;

LT_INLINE lt_lm_config lt_lm_config_defaults(void)
{
    lt_lm_config config;
    config.size = sizeof config;
    config.dtype = config.cache_dtype = LT_DTYPE_NONE;
    config.device.type = LT_CPU;
    config.device.index = 0;
    config.context = 0;
    return config;
}

/* New: the model of a GGUF file, or of a folder with config.json, safetensors and tokenizer.json: a
 * model that generates text, or an encoder for lt_lm_embed.
 * config: NULL for the defaults. LT_ERR_IO, LT_ERR_PERMISSION: the file cannot be read;
 * LT_ERR_RUNTIME: it is damaged, or of a kind that the library does not have (the message has the
 * reason). */
LT_API lt_status lt_lm_load(const char *path, const lt_lm_config *config, lt_lm **out);
/* Do not call it while a thread is in another call for the model. */
LT_API void lt_lm_release(lt_lm *model);

/* How a text is continued, initialized by lt_lm_options_defaults. */
typedef struct lt_lm_options {
    size_t size;               /* sizeof(lt_lm_options) in the caller */
    int64_t max_tokens;        /* of the new text; 256 */
    double temperature;        /* divisor of the logits; 0: the most likely token, the default */
    int64_t top_k;             /* tokens that are considered; 0: all */
    double top_p;              /* sum of the probabilities of the tokens that are considered; 1 */
    double min_p;              /* least probability, relative to that of the most likely token; 0 */
    double repetition_penalty; /* divisor of the logits of tokens that occurred; 1 */
    double frequency_penalty;  /* lowers a logit for each time that its token was generated; 0 */
    double presence_penalty;   /* lowers a logit if its token was generated; 0 */
    int64_t seed;              /* of the random numbers; -1: those of the context */
    const char *const *stop;   /* n_stop texts at which the output ends */
    int n_stop;
    int64_t context_shift; /* first tokens that are kept when the context is full, while the older
                              half of the others is forgotten; -1: then it is an error */
} lt_lm_options;

LT_INLINE lt_lm_options lt_lm_options_defaults(void)
{
    lt_lm_options options;
    options.size = sizeof options;
    options.max_tokens = 256;
    options.temperature = 0;
    options.top_k = 0;
    options.top_p = 1;
    options.min_p = 0;
    options.repetition_penalty = 1;
    options.frequency_penalty = options.presence_penalty = 0;
    options.seed = -1;
    options.stop = NULL;
    options.n_stop = 0;
    options.context_shift = -1;
    return options;
}

/* Receives a piece of text of n bytes, which are whole characters; a zero byte follows. Borrowed
 * during the call. Returns false to end the text. Must not call functions for the same model. */
typedef bool (*lt_lm_callback)(const char *piece, size_t n, void *user);

typedef enum lt_lm_finish {
    LT_LM_STOP,     /* a token that ends texts, or a stop text */
    LT_LM_LENGTH,   /* max_tokens */
    LT_LM_CALLBACK, /* the callback returned false */
    LT_LM_FAILED    /* an error */
} lt_lm_finish;

/* The numbers of a text. */
typedef struct lt_lm_result {
    size_t size; /* sizeof(lt_lm_result) in the caller; set it before the call */
    int64_t prompt_tokens, tokens;
    double prompt_seconds, seconds; /* for the prompt and the first token; for the others */
    lt_lm_finish finish;
} lt_lm_result;

/* Continues the prompt, and passes the new text piece by piece to the callback, in this thread.
 * - options: NULL for the defaults. result: NULL, or receives the numbers; after an error, finish is
 *   LT_LM_FAILED and the others are 0.
 * - LT_ERR_RUNTIME: the prompt is empty or too long, the context is full, or an option is out of its
 *   range. LT_ERR_MEMORY, LT_ERR_INTERRUPTED, LT_ERR_DEADLINE as in ltensor.h. The pieces before the
 *   error are valid. */
LT_API lt_status lt_lm_generate(lt_lm *model, const char *prompt, const lt_lm_options *options,
                                lt_lm_callback callback, void *user, lt_lm_result *result);

/* How the vectors of texts are computed, initialized by lt_lm_embed_defaults. */
typedef struct lt_lm_embed_options {
    size_t size;        /* sizeof(lt_lm_embed_options) in the caller */
    int64_t batch_size; /* texts that are computed together; 32 */
    bool normalize;     /* whether the vectors have the length 1; true */
} lt_lm_embed_options;

LT_INLINE lt_lm_embed_options lt_lm_embed_defaults(void)
{
    lt_lm_embed_options options;
    options.size = sizeof options;
    options.batch_size = 32;
    options.normalize = true;
    return options;
}

/* New: the embeddings of n texts, float32 [n, dim] on the model's device, without gradients; row i is
 * the vector of texts[i]. The products of rows of length 1 are the cosines of their angles. Longer
 * texts than the model's maximum are cut off.
 * - options: NULL for the defaults. n: 0 or more; texts: may be NULL if n is 0.
 * - LT_ERR_RUNTIME: the model generates text, a text has no tokens (the message counts texts from 1),
 *   or an option is out of its range. LT_ERR_MEMORY, LT_ERR_INTERRUPTED, LT_ERR_DEADLINE as in
 *   ltensor.h; *out is unchanged then. */
LT_API lt_status lt_lm_embed(lt_lm *model, const char *const *texts, int64_t n,
                             const lt_lm_embed_options *options, lt_tensor **out);

/* New: the token ids of a text, from 0, an int64 tensor [n]; with the tokens that begin a text if
 * the model expects them. */
LT_API lt_status lt_lm_tokenize(lt_lm *model, const char *text, lt_tensor **out);
/* Writes the text of token ids, an int64 tensor of one dimension, and a zero byte to a buffer of
 * size bytes; a longer text is cut. Special tokens are left out. Returns the bytes of the whole text
 * in *length; NULL: not needed. */
LT_API lt_status lt_lm_detokenize(lt_lm *model, lt_tensor *ids, char *buffer, size_t size,
                                  size_t *length);

#ifdef __cplusplus
}
#endif

#endif
