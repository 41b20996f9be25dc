/* resnet18.c - ResNet-18 (K. He et al. 2015), a quarter as wide, learns 8 random images by heart:
 * eight residual blocks of two convolutions, batch normalization, SGD with momentum and weight decay.
 * resnet18.lua computes the same numbers.
 *
 *   cc -std=c99 resnet18.c $(pkg-config --cflags --libs ltensor) -lm -o resnet18 && ./resnet18
 *   ./resnet18 resnet18.safetensors     # saves the parameters and running statistics */
#include "training.h"

#define IMAGES 8
#define WIDTH  16 /* channels of the first blocks; each of the other three pairs has twice as many */
#define BLOCKS 8

typedef struct norm {
    layer scale;
    lt_tensor *mean, *variance;
} norm;

typedef struct block {
    layer conv1, conv2, shortcut; /* shortcut.weight NULL: none */
    norm norm1, norm2, shortcut_norm;
    int64_t stride;
} block;

/* prefix.name, borrowed until the next call. */
static const char *join(const char *prefix, const char *name)
{
    static char text[40];
    snprintf(text, sizeof text, "%s.%s", prefix, name);
    return text;
}

static norm new_batch_norm(const char *name, int64_t channels)
{
    norm n;
    n.scale = new_norm(name, channels);
    n.mean = add_buffer(name, "running_mean", filled(LT_DIMS(channels), 0));
    n.variance = add_buffer(name, "running_var", filled(LT_DIMS(channels), 1));
    return n;
}

static block new_block(int number, int64_t inputs, int64_t outputs, int64_t stride)
{
    char name[8];
    block b = {.stride = stride};
    snprintf(name, sizeof name, "%d", number);
    b.conv1 = new_layer(join(name, "conv1"), LT_DIMS(outputs, inputs, 3, 3), false);
    b.conv2 = new_layer(join(name, "conv2"), LT_DIMS(outputs, outputs, 3, 3), false);
    b.norm1 = new_batch_norm(join(name, "bn1"), outputs);
    b.norm2 = new_batch_norm(join(name, "bn2"), outputs);
    if (stride == 1 && inputs == outputs) return b;
    b.shortcut = new_layer(join(name, "shortcut.0"), LT_DIMS(outputs, inputs, 1, 1), false);
    b.shortcut_norm = new_batch_norm(join(name, "shortcut.1"), outputs);
    return b;
}

static lt_tensor *convolve(const layer *l, int64_t stride, int64_t padding, lt_tensor *x)
{
    return NEW(lt_conv2d(x, l->weight, NULL, LT_DIMS(stride, stride), LT_DIMS(padding, padding),
                         LT_DIMS(1, 1), 1, &out));
}

static lt_tensor *normalize(const norm *n, lt_tensor *x)
{
    return NEW(lt_batch_norm(x, n->mean, n->variance, n->scale.weight, n->scale.bias, true, 0.1,
                             1e-5, &out));
}

static lt_tensor *residual(const block *b, lt_tensor *x)
{
    lt_tensor *y = normalize(&b->norm1, convolve(&b->conv1, b->stride, 1, x));
    y = normalize(&b->norm2, convolve(&b->conv2, 1, 1, NEW(lt_relu(y, &out))));
    if (b->shortcut.weight != NULL)
        x = normalize(&b->shortcut_norm, convolve(&b->shortcut, b->stride, 0, x));
    return NEW(lt_relu(NEW(lt_add(y, x, lt_scalar_from_int(1), &out)), &out));
}

int main(int argc, char **argv)
{
    block blocks[BLOCKS];
    int64_t channels = WIDTH;
    read_options(argc, argv);
    const layer first = new_layer("0", LT_DIMS(WIDTH, 3, 7, 7), false);
    const norm first_norm = new_batch_norm("1", WIDTH);
    for (int i = 0; i < BLOCKS; i++) {
        const int64_t outputs = WIDTH << (i / 2);
        blocks[i] = new_block(4 + i, channels, outputs, outputs == channels ? 1 : 2);
        channels = outputs;
    }
    const layer last = new_layer("14", LT_DIMS(10, channels), true);
    lt_tensor *images =
        to_device(NEW(lt_randn(LT_DIMS(IMAGES, 3, 64, 64), NULL, LT_FLOAT32, NULL, &out)));
    lt_tensor *labels =
        to_device(NEW(lt_randint(0, 10, LT_DIMS(IMAGES), NULL, LT_INT64, NULL, &out)));

    for (int step = 0; step < 5; step++) {
        lt_tensor *x = convolve(&first, 2, 3, images);
        x = NEW(lt_relu(normalize(&first_norm, x), &out));
        x = NEW(lt_max_pool2d(x, LT_DIMS(3, 3), LT_DIMS(2, 2), LT_DIMS(1, 1), LT_DIMS(1, 1), false,
                              &out));
        for (int i = 0; i < BLOCKS; i++) x = residual(&blocks[i], x);
        x = NEW(lt_flatten(NEW(lt_adaptive_avg_pool2d(x, LT_DIMS(1, 1), &out)), 1, -1, &out));
        x = NEW(lt_linear(x, last.weight, last.bias, &out));
        descend(NEW(lt_cross_entropy(x, labels, NULL, -100, "mean", 0, &out)), 0.02, 0.9, 5e-4);
    }
    finish();
    lt_tensor_release(images);
    lt_tensor_release(labels);
    return 0;
}
