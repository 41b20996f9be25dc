/* finetune.c - an ONNX model learns on the spot: its last layer is trained with frames of a camera
 * and their labels (here: the half of the picture with a bar). The other parameters stay unchanged.
 * The model's file may be untrusted: it is read in a context with limits.
 *
 *   cc -std=c99 finetune.c $(pkg-config --cflags --libs ltensor_lua) -o finetune
 *   ./finetune classifier.onnx 3 16 32 last.safetensors
 *
 * This trains 3.weight and 3.bias for images of 16 x 32 and saves them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ltensor_model.h"

#define FRAMES 32
#define STEPS  200
#define RATE   1.0

static void check(lt_status status, const char *what)
{
    if (status == LT_OK) return;
    fprintf(stderr, "%s: %s\n", what, lt_error_message());
    exit(1);
}
#define CHECK(call) check(call, #call)

/* The model's file; libraries such as OpenBLAS. */
static bool authorize(void *model, int access, const char *name)
{
    if (access == LT_ACCESS_LIBRARY) return true;
    return access == LT_ACCESS_FILE_READ && strcmp(name, (const char *)model) == 0;
}

/* Stands in for a camera: a bright bar at a place that changes from frame to frame. The label: 0 on
 * the left half, 1 on the right. */
static int64_t next_frame(float *pixels, int64_t height, int64_t width, int64_t moment)
{
    const int64_t center = moment * 11 % width;
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            const int64_t away = x > center ? x - center : center - x;
            pixels[y * width + x] = away <= width / 8 ? 1.0f : 0.0f;
        }
    return center < width / 2 ? 0 : 1;
}

/* A parameter of the layer, borrowed. */
static lt_tensor *parameter(lt_model *model, const char *layer, const char *kind)
{
    char name[100];
    snprintf(name, sizeof name, "%s.%s", layer, kind);
    lt_tensor *found = lt_model_find(model, name);
    if (found == NULL) {
        fprintf(stderr, "the model has no parameter %s\n", name);
        exit(1);
    }
    CHECK(lt_tensor_set_requires_grad(found, true));
    return found;
}

/* The model, of which only one layer has gradients. */
static lt_model *load(const char *path, const char *layer, lt_tensor **weights)
{
    lt_model *model = NULL;
    CHECK(lt_model_load(path, &model));
    for (int i = 0; i < lt_model_parameter_count(model); i++)
        CHECK(lt_tensor_set_requires_grad(lt_model_tensor(model, i), false));
    weights[0] = parameter(model, layer, "weight");
    weights[1] = parameter(model, layer, "bias");
    return model;
}

/* A step of gradient descent. */
static void descend(lt_tensor *t)
{
    const bool recording = lt_set_grad_enabled(false);
    CHECK(lt_sub_(t, lt_tensor_grad(t), lt_scalar_from_float(RATE)));
    CHECK(lt_tensor_set_grad(t, NULL));
    lt_set_grad_enabled(recording);
}

/* The number of frames with the largest score at the label. */
static int count_right(lt_tensor *scores, const int64_t *labels)
{
    const int64_t last = 1;
    int64_t best[FRAMES];
    lt_tensor *indices = NULL;
    int i, right = 0;
    CHECK(lt_argmax(scores, &last, false, &indices));
    CHECK(lt_tensor_copy_to(indices, best, sizeof best));
    for (i = 0; i < FRAMES; i++) right += best[i] == labels[i];
    lt_tensor_release(indices);
    return right;
}

int main(int argc, char **argv)
{
    lt_context_config config = lt_context_defaults();
    lt_context *context = NULL;
    lt_model *model = NULL;
    lt_tensor *frames = NULL, *targets = NULL, *weights[2];
    const int64_t count = FRAMES;
    int64_t sizes[4] = {FRAMES, 1, 0, 0}, labels[FRAMES];
    float *pixels;
    int i, step, right = 0;

    if (argc != 6 || (sizes[2] = atoi(argv[3])) < 1 || (sizes[3] = atoi(argv[4])) < 1) {
        fprintf(stderr, "usage: %s model.onnx layer height width last.safetensors\n", argv[0]);
        return 1;
    }
    pixels = malloc((size_t)(FRAMES * sizes[2] * sizes[3]) * sizeof *pixels);
    if (pixels == NULL) return 1;
    for (i = 0; i < FRAMES; i++)
        labels[i] = next_frame(pixels + i * sizes[2] * sizes[3], sizes[2], sizes[3], i);
    CHECK(lt_tensor_wrap(pixels, LT_FLOAT32, 4, sizes, NULL, NULL, &frames));
    CHECK(lt_tensor_wrap(labels, LT_INT64, 1, &count, NULL, NULL, &targets));

    config.memory_limit = 256 << 20;
    config.deadline = 60;
    config.user = argv[1];
    config.authorize = authorize;
    CHECK(lt_context_new(&config, &context));
    lt_context_enter(context);
    model = load(argv[1], argv[2], weights);

    for (step = 0; step <= STEPS; step++) {
        lt_tensor *scores = NULL, *loss = NULL;
        lt_scalar value;
        CHECK(lt_model_run(model, &frames, 1, &scores, 1));
        CHECK(lt_cross_entropy(scores, targets, NULL, -100, "mean", 0, &loss));
        CHECK(lt_tensor_item(loss, &value));
        right = count_right(scores, labels);
        if (step % 50 == 0)
            printf("step %d: loss %.3f, %d of %d frames are right\n", step, value.v.d, right,
                   FRAMES);
        if (step < STEPS) {
            CHECK(lt_backward(loss, NULL, false, false));
            for (i = 0; i < 2; i++) descend(weights[i]);
        }
        lt_tensor_release(loss);
        lt_tensor_release(scores);
    }
    const char *const names[] = {"weight", "bias"};
    lt_context_enter(NULL); /* the authorizer permits no other file */
    CHECK(lt_save(argv[5], names, weights, 2));
    printf("the layer is kept in %s\n", argv[5]);
    lt_tensor_release(frames);
    lt_tensor_release(targets);
    lt_model_release(model);
    lt_context_release(context);
    free(pixels);
    return right == FRAMES ? 0 : 1;
}
