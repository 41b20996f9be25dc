/* model.c - an ONNX model of pictures runs on a stream of frames, as a camera gives them. Frames and
 * results stay in the same memory. The model may read its file and nothing else, and has 256 MB and
 * a second for each frame.
 *
 *   cc -std=c99 model.c $(pkg-config --cflags --libs ltensor_lua) -o model
 *   ./model classifier.onnx 3 224 224 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ltensor_model.h"

#define FRAMES 8

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

/* Stands in for a camera: a bright spot on a dark ground that goes from the left to the right. */
static void next_frame(float *pixels, int64_t channels, int64_t height, int64_t width,
                       int64_t moment)
{
    const int64_t center = width * (2 * moment + 1) / (2 * FRAMES);
    for (int64_t c = 0; c < channels; c++)
        for (int64_t y = 0; y < height; y++)
            for (int64_t x = 0; x < width; x++) {
                const int64_t away = x > center ? x - center : center - x;
                pixels[(c * height + y) * width + x] = away <= width / 16 ? 1.0f : 0.0f;
            }
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s model.onnx channels height width\n", argv[0]);
        return 1;
    }
    const int64_t sizes[4] = {1, atoi(argv[2]), atoi(argv[3]), atoi(argv[4])};
    if (sizes[1] < 1 || sizes[2] < 1 || sizes[3] < 1) return 1;
    float *pixels = malloc((size_t)(sizes[1] * sizes[2] * sizes[3]) * sizeof *pixels);
    lt_tensor *frame = NULL;
    if (pixels == NULL) return 1;
    CHECK(lt_tensor_wrap(pixels, LT_FLOAT32, 4, sizes, NULL, NULL, &frame));

    lt_context_config config = lt_context_defaults();
    lt_context *context = NULL;
    config.memory_limit = 256 << 20;
    config.user = argv[1];
    config.authorize = authorize;
    CHECK(lt_context_new(&config, &context));
    lt_context_enter(context);

    lt_model *model = NULL;
    CHECK(lt_model_load(argv[1], &model));
    lt_set_grad_enabled(false); /* it is run, not trained */
    lt_tensor *output = NULL;   /* the first run creates it, later runs write to it */
    for (int64_t moment = 0; moment < FRAMES; moment++) {
        lt_tensor *index = NULL;
        lt_scalar best;
        next_frame(pixels, sizes[1], sizes[2], sizes[3], moment);
        CHECK(lt_context_set_deadline(context, 1));
        CHECK(lt_model_run(model, &frame, 1, &output, 1));
        CHECK(lt_argmax(output, NULL, false, &index));
        CHECK(lt_tensor_item(index, &best));
        printf("frame %d: output %d of %d is the largest\n", (int)moment + 1, (int)best.v.i + 1,
               (int)lt_tensor_numel(output));
        lt_tensor_release(index);
    }
    lt_tensor_release(output);
    lt_tensor_release(frame);
    lt_model_release(model);
    lt_context_enter(NULL);
    lt_context_release(context);
    free(pixels);
    return 0;
}
