/* model.c - an ONNX model of pictures runs on a stream of frames, as a camera gives them. The
 * frames stay in the host's own buffer, the model may read its file and nothing else, and has 256
 * MB and a second for each frame; there is no Lua in the host.
 *
 *   cc -std=c99 model.c $(pkg-config --cflags --libs ltensor_lua) -o model && ./model
 *   classifier.onnx 3 224 224
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ltensor_script.h"

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

    lt_script_config config = lt_script_defaults();
    config.memory_limit = 256 << 20;
    config.seconds = 1;
    config.user = argv[1];
    config.authorize = authorize;
    lt_script *script = NULL;
    CHECK(lt_script_new(&config, &script));
    lt_value path = lt_value_string(argv[1]), off = lt_value_bool(false);
    CHECK(lt_script_keep(script, "model", "torch.onnx.load", &path, 1));
    /* it is run, not trained */
    CHECK(lt_script_call(script, "torch.set_grad_enabled", &off, 1, NULL, NULL));

    const lt_value input = lt_value_tensor(frame);
    for (int64_t moment = 0; moment < FRAMES; moment++) {
        lt_value output = lt_value_none();
        lt_tensor *place = NULL;
        lt_scalar best;
        int n = 1;
        next_frame(pixels, sizes[1], sizes[2], sizes[3], moment);
        CHECK(lt_script_call(script, "model", &input, 1, &output, &n));
        CHECK(lt_argmax(output.v.tensor, NULL, false, &place));
        CHECK(lt_tensor_item(place, &best));
        printf("frame %d: output %d of %d is the largest\n", (int)moment + 1, (int)best.v.i + 1,
               (int)lt_tensor_numel(output.v.tensor));
        lt_tensor_release(place);
        lt_value_release(&output);
    }
    lt_tensor_release(frame);
    lt_script_release(script);
    free(pixels);
    return 0;
}
