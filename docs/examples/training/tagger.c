/* tagger.c - a bidirectional LSTM learns to tag the words of sentences: embedding, LSTM, linear
 * layer, Adam. The tag of a word depends on the word before it. tagger.lua computes the same
 * numbers.
 *
 *   cc -std=c99 tagger.c $(pkg-config --cflags --libs ltensor) -lm -o tagger && ./tagger
 *   ./tagger tagger.safetensors         # saves the parameters */
#include "training.h"

#define SENTENCES 16
#define LENGTH    10
#define WORDS     50
#define TAGS      5
#define WIDTH     16 /* of a word's vector */
#define HIDDEN    32

/* The weights and biases of one direction, in the order of lt_lstm. */
static void new_direction(const char *suffix, lt_tensor **weights)
{
    const double bound = 1 / sqrt(HIDDEN);
    const char *const kinds[] = {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"};
    const lt_dims *const sizes[] = {LT_DIMS(4 * HIDDEN, WIDTH), LT_DIMS(4 * HIDDEN, HIDDEN),
                                    LT_DIMS(4 * HIDDEN), LT_DIMS(4 * HIDDEN)};
    for (int i = 0; i < 4; i++) {
        char kind[32];
        snprintf(kind, sizeof kind, "%s%s", kinds[i], suffix);
        weights[i] = add_parameter("lstm", kind, uniform(sizes[i], bound));
    }
}

/* Random sentences; the tag of a word is the sum of the word and the previous word, modulo TAGS.
 * Before the first word is the last one of the sentence. */
static void new_sentences(lt_tensor **words, lt_tensor **tags)
{
    *words = to_device(
        NEW(lt_randint(0, WORDS, LT_DIMS(SENTENCES, LENGTH), NULL, LT_INT64, NULL, &out)));
    lt_tensor *previous = NEW(lt_roll(*words, LT_DIMS(1), LT_DIMS(1), &out));
    lt_tensor *sums = NEW(lt_add(*words, previous, lt_scalar_from_int(1), &out));
    CHECK(lt_remainder_scalar(sums, lt_scalar_from_int(TAGS), tags));
}

int main(int argc, char **argv)
{
    lt_tensor *words = NULL, *tags = NULL, *weights[8];
    read_options(argc, argv);
    lt_tensor *vectors = add_parameter(
        "embedding", "weight", NEW(lt_randn(LT_DIMS(WORDS, WIDTH), NULL, LT_FLOAT32, NULL, &out)));
    new_direction("", weights);
    new_direction("_reverse", weights + 4);
    const layer last = new_layer("linear", LT_DIMS(TAGS, 2 * HIDDEN), true);
    new_sentences(&words, &tags);

    for (int step = 0; step < 20; step++) {
        lt_tensor *zeros = filled(LT_DIMS(2, SENTENCES, HIDDEN), 0), *states[2] = {zeros, zeros};
        const lt_tensor_list initial = {2, states}, lstm = {8, weights};
        lt_tensor *last_hidden = NULL, *last_cell = NULL;
        lt_tensor *x = NEW(lt_embedding(vectors, words, NULL, false, false, &out));
        x = NEW(lt_lstm(x, &initial, &lstm, true, 1, 0, true, true, true, &out, &last_hidden,
                        &last_cell)); /* (SENTENCES, LENGTH, 2 * HIDDEN) */
        lt_tensor_release(last_hidden);
        lt_tensor_release(last_cell);
        x = NEW(lt_flatten(NEW(lt_linear(x, last.weight, last.bias, &out)), 0, 1, &out));
        lt_tensor *targets = NEW(lt_flatten(tags, 0, 1, &out));
        descend_adam(NEW(lt_cross_entropy(x, targets, NULL, -100, "mean", 0, &out)), 0.01, 0,
                     false);
    }
    finish();
    lt_tensor_release(words);
    lt_tensor_release(tags);
    return 0;
}
