/* transformer.c - a small transformer learns a text letter by letter: blocks of causal attention and
 * a perceptron, each after a LayerNorm (A. Radford et al. 2019), AdamW. transformer.lua computes the
 * same numbers.
 *
 *   cc -std=c99 transformer.c $(pkg-config --cflags --libs ltensor) -lm -o transformer && ./transformer
 *   ./transformer transformer.safetensors       # saves the parameters */
#include "training.h"

#define WINDOWS 8 /* parts of the text in a batch */
#define LENGTH  16
#define KINDS   27 /* a space and letters */
#define WIDTH   32
#define HEADS   4
#define BLOCKS  2

static const char text[] =
    "the quick brown fox jumps over the lazy dog and the lazy dog sleeps while the quick "
    "brown fox jumps over it again and again";

typedef struct block {
    layer norm1, norm2, qkv, out, up, down;
} block;

static block new_block(int number)
{
    static const char *const names[] = {"norm1", "norm2", "qkv", "out", "up", "down"};
    char full[6][24];
    block b;
    for (int i = 0; i < 6; i++) snprintf(full[i], sizeof full[i], "blocks.%d.%s", number, names[i]);
    b.norm1 = new_norm(full[0], WIDTH);
    b.norm2 = new_norm(full[1], WIDTH);
    b.qkv = new_layer(full[2], LT_DIMS(3 * WIDTH, WIDTH), true);
    b.out = new_layer(full[3], LT_DIMS(WIDTH, WIDTH), true);
    b.up = new_layer(full[4], LT_DIMS(4 * WIDTH, WIDTH), true);
    b.down = new_layer(full[5], LT_DIMS(WIDTH, 4 * WIDTH), true);
    return b;
}

static lt_tensor *new_embedding(const char *name, int64_t rows)
{
    lt_tensor *t = NEW(lt_empty(LT_DIMS(rows, WIDTH), LT_FLOAT32, NULL, &out));
    CHECK(lt_normal_(t, 0, 0.02, NULL));
    return add_parameter(name, "weight", t);
}

static lt_tensor *linear(const layer *l, lt_tensor *x)
{
    return NEW(lt_linear(x, l->weight, l->bias, &out));
}

static lt_tensor *normalize(const layer *l, lt_tensor *x)
{
    return NEW(lt_layer_norm(x, LT_DIMS(WIDTH), l->weight, l->bias, 1e-5, &out));
}

static lt_tensor *add(lt_tensor *x, lt_tensor *y)
{
    return NEW(lt_add(x, y, lt_scalar_from_int(1), &out));
}

/* x: (WINDOWS, LENGTH, WIDTH), as all tensors between blocks. */
static lt_tensor *attend(const block *b, lt_tensor *x)
{
    lt_tensor_list parts;
    lt_tensor *heads[3];
    CHECK(lt_chunk(linear(&b->qkv, x), 3, 2, &parts));
    for (int i = 0; i < 3; i++) {
        heads[i] = NEW(lt_reshape(parts.v[i], LT_DIMS(WINDOWS, LENGTH, HEADS, -1), &out));
        heads[i] = NEW(lt_transpose(heads[i], 1, 2, &out));
    }
    lt_tensor_list_release(&parts);
    x = NEW(lt_scaled_dot_product_attention(heads[0], heads[1], heads[2], NULL, 0, true, NULL,
                                            false, &out)); /* (WINDOWS, HEADS, LENGTH, -1) */
    x = NEW(lt_transpose(x, 1, 2, &out));
    return linear(&b->out, NEW(lt_reshape(x, LT_DIMS(WINDOWS, LENGTH, WIDTH), &out)));
}

static lt_tensor *transform(const block *b, lt_tensor *x)
{
    x = add(x, attend(b, normalize(&b->norm1, x)));
    lt_tensor *hidden = NEW(lt_gelu(linear(&b->up, normalize(&b->norm2, x)), "none", &out));
    return add(x, linear(&b->down, hidden));
}

/* The letters of the windows, which begin every LENGTH / 2 letters, and the letters that follow. */
static void read_text(int64_t letters[WINDOWS][LENGTH], int64_t next[WINDOWS][LENGTH])
{
    for (int i = 0; i < WINDOWS; i++)
        for (int j = 0; j < LENGTH; j++) {
            const char *at = text + i * LENGTH / 2 + j;
            letters[i][j] = at[0] == ' ' ? 0 : at[0] - 'a' + 1;
            next[i][j] = at[1] == ' ' ? 0 : at[1] - 'a' + 1;
        }
}

/* An array of the program, which is not copied on the CPU. */
static lt_tensor *wrap(const lt_dims *sizes, int64_t *values)
{
    CHECK(lt_tensor_wrap(values, LT_INT64, sizes->n, sizes->v, NULL, NULL, &out));
    return to_device(keep());
}

int main(int argc, char **argv)
{
    static int64_t letters[WINDOWS][LENGTH], next[WINDOWS][LENGTH];
    block blocks[BLOCKS];
    read_options(argc, argv);
    lt_tensor *letter = new_embedding("tokens", KINDS);
    lt_tensor *position = new_embedding("positions", LENGTH);
    for (int i = 0; i < BLOCKS; i++) blocks[i] = new_block(i);
    const layer norm = new_norm("norm", WIDTH);
    const layer head = new_layer("head", LT_DIMS(KINDS, WIDTH), true);
    read_text(letters, next);
    lt_tensor *batch = wrap(LT_DIMS(WINDOWS, LENGTH), letters[0]);
    lt_tensor *targets = wrap(LT_DIMS(WINDOWS * LENGTH), next[0]);
    const lt_scalar end = lt_scalar_from_int(LENGTH);
    lt_tensor *positions = NULL;
    CHECK(lt_arange(end, NULL, lt_scalar_from_int(1), LT_INT64, &device, &positions));

    for (int step = 0; step < 20; step++) {
        lt_tensor *x = NEW(lt_embedding(letter, batch, NULL, false, false, &out));
        x = add(x, NEW(lt_embedding(position, positions, NULL, false, false, &out)));
        for (int i = 0; i < BLOCKS; i++) x = transform(&blocks[i], x);
        x = NEW(lt_flatten(linear(&head, normalize(&norm, x)), 0, 1, &out));
        descend_adam(NEW(lt_cross_entropy(x, targets, NULL, -100, "mean", 0, &out)), 3e-3, 0.01,
                     true);
    }
    finish();
    lt_tensor_release(batch);
    lt_tensor_release(targets);
    lt_tensor_release(positions);
    return 0;
}
