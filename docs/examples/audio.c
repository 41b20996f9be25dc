/* audio.c - an audio callback: each block of samples passes an equalizer, a matrix of FIR filters
 * for four bands, and a small network that sets the gain of the block. After the warm-up, a call
 * neither allocates memory nor locks.
 *
 *   cc audio.c $(pkg-config --cflags --libs ltensor) -lm -o audio && ./audio
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ltensor.h"

#define BLOCK  128 /* samples of a call: 2.7 ms at 48 kHz */
#define TAPS   64
#define BANDS  4
#define HIDDEN 16

static void check(lt_status status, const char *call)
{
    if (status == LT_OK) return;
    fprintf(stderr, "%s: %s\n", call, lt_error_message());
    exit(1);
}
#define CHECK(call) check(call, #call)

/* All memory of the callback: parameters, and a tensor for each intermediate result. */
typedef struct equalizer {
    float samples[TAPS - 1 + BLOCK]; /* the end of the last block, and this block */
    float output[BLOCK];
    lt_tensor *windows; /* [BLOCK, TAPS], a view of samples; its rows overlap */
    lt_tensor *rows;    /* a copy, since a product would copy such a view into new memory */
    lt_tensor *filters; /* [TAPS, BANDS] */
    lt_tensor *bands, *power, *levels, *weight1, *hidden, *weight2, *gains, *mixed, *gain_column;
} equalizer;

static lt_tensor *zeros(int64_t rows, int64_t columns)
{
    const lt_dims sizes = {2, {rows, columns}};
    lt_tensor *t = NULL;
    CHECK(lt_zeros(&sizes, LT_FLOAT32, NULL, &t));
    return t;
}

static void equalizer_open(equalizer *e)
{
    const lt_device cpu = {LT_CPU, 0};
    const int64_t window_sizes[] = {BLOCK, TAPS}, window_strides[] = {1, 1};
    const int64_t output_sizes[] = {BLOCK, 1};
    const lt_dims column = {2, {BANDS, 1}};
    int band, tap, i;
    for (i = 0; i < TAPS - 1 + BLOCK; i++) e->samples[i] = 0;
    CHECK(lt_tensor_wrap_strided(e->samples, LT_FLOAT32, cpu, 2, window_sizes, window_strides, NULL,
                                 NULL, &e->windows));
    e->rows = zeros(BLOCK, TAPS), e->filters = zeros(TAPS, BANDS);
    for (band = 0; band < BANDS; band++)
        for (tap = 0; tap < TAPS; tap++) {
            const double t = tap - TAPS / 2, window = 0.5 - 0.5 * cos(6.2831853 * tap / TAPS);
            ((float *)lt_tensor_data(e->filters))[tap * BANDS + band] =
                (float)(window * cos(3.1415927 * (band + 0.5) / BANDS * t) / TAPS);
        }
    e->bands = zeros(BLOCK, BANDS), e->power = zeros(BLOCK, BANDS), e->levels = zeros(1, BANDS);
    e->weight1 = zeros(BANDS, HIDDEN), e->hidden = zeros(1, HIDDEN);
    e->weight2 = zeros(HIDDEN, BANDS), e->gains = zeros(1, BANDS);
    CHECK(lt_fill_(e->weight1, lt_scalar_from_float(0.5)));
    CHECK(lt_fill_(e->weight2, lt_scalar_from_float(-0.5)));
    CHECK(lt_tensor_wrap(e->output, LT_FLOAT32, 2, output_sizes, NULL, NULL, &e->mixed));
    CHECK(lt_view(e->gains, &column, &e->gain_column));
}

static void equalizer_close(equalizer *e)
{
    lt_tensor **all[] = {&e->windows, &e->rows,   &e->filters, &e->bands,
                         &e->power,   &e->levels, &e->weight1, &e->hidden,
                         &e->weight2, &e->gains,  &e->mixed,   &e->gain_column};
    size_t i;
    for (i = 0; i < sizeof all / sizeof *all; i++) lt_tensor_release(*all[i]);
}

/* The callback: replaces the BLOCK samples. Every call writes to an existing tensor. */
static void equalizer_process(equalizer *e, float *block)
{
    const lt_dims samples = {1, {0}};
    int i;
    for (i = 0; i < TAPS - 1; i++) e->samples[i] = e->samples[BLOCK + i];
    for (i = 0; i < BLOCK; i++) e->samples[TAPS - 1 + i] = block[i];
    CHECK(lt_copy_(e->rows, e->windows, false));
    CHECK(lt_mm_out(e->rows, e->filters, e->bands));
    CHECK(lt_square_out(e->bands, e->power));
    CHECK(lt_mean_dim_out(e->power, &samples, true, LT_DTYPE_NONE, e->levels));
    CHECK(lt_mm_out(e->levels, e->weight1, e->hidden));
    CHECK(lt_tanh_(e->hidden));
    CHECK(lt_mm_out(e->hidden, e->weight2, e->gains));
    CHECK(lt_exp_(e->gains));
    CHECK(lt_mm_out(e->bands, e->gain_column, e->mixed));
    for (i = 0; i < BLOCK; i++) block[i] = e->output[i];
}

#ifndef AUDIO_NO_MAIN
int main(void)
{
    static equalizer e;
    float block[BLOCK];
    double loudest = 0;
    int n, i;
    /* The audio thread must not wait for other threads, and needs no derivatives. */
    CHECK(lt_set_num_threads(1));
    lt_set_grad_enabled(false);
    equalizer_open(&e);
    for (n = 0; n < 10; n++) { /* warm up before the stream starts */
        for (i = 0; i < BLOCK; i++) block[i] = 0;
        equalizer_process(&e, block);
    }
    for (n = 0; n < 100; n++) { /* here the sound card calls */
        for (i = 0; i < BLOCK; i++) block[i] = (float)sin(0.4 * (n * BLOCK + i));
        equalizer_process(&e, block);
        for (i = 0; i < BLOCK; i++)
            if (fabs(block[i]) > loudest) loudest = fabs(block[i]);
    }
    printf("100 blocks of %d samples, the loudest is %.2f\n", BLOCK, loudest);
    equalizer_close(&e);
    return 0;
}
#endif
