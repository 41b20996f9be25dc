/* lenet.c - LeNet (Y. LeCun et al. 1998), with ReLU and max pooling, learns 16 random images by
 * heart. lenet.lua computes the same numbers.
 *
 *   cc -std=c99 lenet.c $(pkg-config --cflags --libs ltensor) -lm -o lenet && ./lenet
 *   ./lenet lenet.safetensors           # saves the parameters, as Lua and PyTorch load them */
#include "training.h"

#define IMAGES 16

/* Convolution, ReLU and the largest of each 2 x 2 elements: half the height and width. */
static lt_tensor *halve(const layer *convolution, const lt_dims *padding, lt_tensor *x)
{
    x = NEW(lt_conv2d(x, convolution->weight, convolution->bias, LT_DIMS(1, 1), padding,
                      LT_DIMS(1, 1), 1, &out));
    x = NEW(lt_relu(x, &out));
    return NEW(lt_max_pool2d(x, LT_DIMS(2, 2), NULL, LT_DIMS(0, 0), LT_DIMS(1, 1), false, &out));
}

static lt_tensor *linear(const layer *l, lt_tensor *x)
{
    return NEW(lt_linear(x, l->weight, l->bias, &out));
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    const layer conv1 = new_layer("0", LT_DIMS(6, 1, 5, 5), true);
    const layer conv2 = new_layer("3", LT_DIMS(16, 6, 5, 5), true);
    const layer linear1 = new_layer("7", LT_DIMS(120, 400), true);
    const layer linear2 = new_layer("9", LT_DIMS(84, 120), true);
    const layer linear3 = new_layer("11", LT_DIMS(10, 84), true);
    lt_tensor *images =
        to_device(NEW(lt_randn(LT_DIMS(IMAGES, 1, 28, 28), NULL, LT_FLOAT32, NULL, &out)));
    lt_tensor *labels =
        to_device(NEW(lt_randint(0, 10, LT_DIMS(IMAGES), NULL, LT_INT64, NULL, &out)));

    for (int step = 0; step < 10; step++) {
        lt_tensor *x = halve(&conv1, LT_DIMS(2, 2), images); /* (16, 6, 14, 14) */
        x = halve(&conv2, LT_DIMS(0, 0), x);                 /* (16, 16, 5, 5) */
        x = NEW(lt_flatten(x, 1, -1, &out));
        x = NEW(lt_relu(linear(&linear1, x), &out));
        x = NEW(lt_relu(linear(&linear2, x), &out));
        x = linear(&linear3, x);
        descend(NEW(lt_cross_entropy(x, labels, NULL, -100, "mean", 0, &out)), 0.05, 0.9, 0);
    }
    finish();
    lt_tensor_release(images);
    lt_tensor_release(labels);
    return 0;
}
