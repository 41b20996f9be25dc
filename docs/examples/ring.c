/* ring.c - frames of a camera, without a copy: a tensor over the whole ring buffer that the driver
 * fills, and views of its slots. The ring is given back when the last tensor over it is gone.
 *
 *   cc -std=c99 ring.c $(pkg-config --cflags --libs ltensor) -o ring && ./ring
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ltensor.h"

/* rows lie further apart than they are long */
enum { SLOTS = 4, ROWS = 48, COLUMNS = 64, PITCH = 80 };

static uint8_t *ring;

/* What the driver does: the frame of a moment is as bright as the moment. */
static void camera_writes(int moment)
{
    uint8_t *frame = ring + (moment % SLOTS) * ROWS * PITCH;
    for (int i = 0; i < ROWS * PITCH; i++) frame[i] = (uint8_t)(10 * moment);
}

static void give_back(void *ctx)
{
    (void)ctx;
    free(ring);
    printf("the ring is given back\n");
}

static int failed(void)
{
    fprintf(stderr, "%s\n", lt_error_message());
    return 1;
}

int main(void)
{
    const int64_t sizes[] = {SLOTS, ROWS, COLUMNS}, strides[] = {ROWS * PITCH, PITCH, 1};
    lt_tensor *frames = NULL;
    ring = calloc(SLOTS, ROWS * PITCH);
    if (ring == NULL) return 1;
    lt_device cpu;
    cpu.type = LT_CPU, cpu.index = 0;
    if (lt_tensor_wrap_strided(ring, LT_UINT8, cpu, 3, sizes, strides, give_back, NULL, &frames) !=
        LT_OK)
        return failed();
    for (int moment = 1; moment <= 6; moment++) {
        lt_tensor *frame = NULL, *numbers = NULL, *mean = NULL;
        lt_scalar brightness;
        camera_writes(moment);
        /* a view: no pixel is copied */
        if (lt_select(frames, 0, moment % SLOTS, &frame) != LT_OK ||
            lt_tensor_to(frame, LT_FLOAT32, NULL, &numbers) != LT_OK ||
            lt_mean(numbers, LT_DTYPE_NONE, &mean) != LT_OK ||
            lt_tensor_item(mean, &brightness) != LT_OK)
            return failed();
        printf("moment %d: brightness %g, %s\n", moment, brightness.v.d,
               (uint8_t *)lt_tensor_data(frame) == ring + (moment % SLOTS) * ROWS * PITCH
                   ? "in the ring"
                   : "a copy");
        lt_tensor_release(frame);
        lt_tensor_release(numbers);
        lt_tensor_release(mean);
    }
    lt_tensor_release(frames);
    return 0;
}
