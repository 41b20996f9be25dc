/* layers.c - softmax, normalization, embedding and recurrent layers of generated programs. */

/* y = exp(x - max) / sum; returns the sum. y may be x. */
static float softmax_row(ptrdiff_t n, const float *x, float *y)
{
    float largest = -INFINITY, sum = 0;
    for (ptrdiff_t i = 0; i < n; i++) largest = x[i] > largest ? x[i] : largest;
    if (largest == -INFINITY) largest = 0;
    for (ptrdiff_t i = 0; i < n; i++) y[i] = exp_of(x[i] - largest);
    for (ptrdiff_t i = 0; i < n; i++) sum += y[i];
    const float scale = 1 / sum;
    for (ptrdiff_t i = 0; i < n; i++) y[i] *= scale;
    return sum;
}

static void softmax(ptrdiff_t rows, ptrdiff_t n, const float *x, float *y)
{
    for (ptrdiff_t row = 0; row < rows; row++, x += n, y += n) softmax_row(n, x, y);
}

/* log(sum(exp(x))). */
static float log_sum(ptrdiff_t n, const float *x)
{
    float largest = -INFINITY, sum = 0;
    for (ptrdiff_t i = 0; i < n; i++) largest = x[i] > largest ? x[i] : largest;
    if (fabsf(largest) == INFINITY) return largest;
    for (ptrdiff_t i = 0; i < n; i++) sum += exp_of(x[i] - largest);
    return largest + logf(sum);
}

static void log_sums(ptrdiff_t rows, ptrdiff_t n, const float *x, float *y)
{
    for (ptrdiff_t row = 0; row < rows; row++) y[row] = log_sum(n, x + row * n);
}

static void log_softmax(ptrdiff_t rows, ptrdiff_t n, const float *x, float *y)
{
    for (ptrdiff_t row = 0; row < rows; row++, x += n, y += n) {
        const float shift = log_sum(n, x);
        for (ptrdiff_t i = 0; i < n; i++) y[i] = x[i] - shift;
    }
}

/* The mean of n elements and 1 / sqrt(variance + eps). */
static void moments(ptrdiff_t n, const float *x, float eps, float *mean, float *scale)
{
    double sum = 0, squares = 0;
    for (ptrdiff_t i = 0; i < n; i++) sum += x[i];
    *mean = (float)(sum / (double)n);
    for (ptrdiff_t i = 0; i < n; i++) squares += (double)(x[i] - *mean) * (x[i] - *mean);
    *scale = 1 / sqrtf((float)(squares / (double)n) + eps);
}

/* Layer normalization of rows of n elements; weight and bias may be NULL. */
static void layer_norm(ptrdiff_t rows, ptrdiff_t n, const float *x, const float *weight,
                       const float *bias, float eps, float *y)
{
    for (ptrdiff_t row = 0; row < rows; row++, x += n, y += n) {
        float mean, scale;
        moments(n, x, eps, &mean, &scale);
        for (ptrdiff_t i = 0; i < n; i++)
            y[i] = (x[i] - mean) * scale * (weight ? weight[i] : 1) + (bias ? bias[i] : 0);
    }
}

/* Root mean square normalization of rows of n elements; weight may be NULL. */
static void rms_norm(ptrdiff_t rows, ptrdiff_t n, const float *x, const float *weight, float eps,
                     float *y)
{
    for (ptrdiff_t row = 0; row < rows; row++, x += n, y += n) {
        double squares = 0;
        for (ptrdiff_t i = 0; i < n; i++) squares += (double)x[i] * x[i];
        const float scale = 1 / sqrtf((float)(squares / (double)n) + eps);
        for (ptrdiff_t i = 0; i < n; i++) y[i] = x[i] * scale * (weight ? weight[i] : 1);
    }
}

/* Group normalization of x[size[0]][size[1] * size[2]][size[3]]: images, groups * channels of a
 * group, elements; weight and bias may be NULL. */
static void group_norm(const ptrdiff_t *size, const float *x, const float *weight,
                       const float *bias, float eps, float *y)
{
    const ptrdiff_t groups = size[1], channels = size[2], n = size[3];
    for (ptrdiff_t i = 0; i < size[0] * groups; i++) {
        float mean, scale;
        moments(channels * n, x, eps, &mean, &scale);
        for (ptrdiff_t c = 0; c < channels; c++, x += n, y += n) {
            const ptrdiff_t channel = i % groups * channels + c;
            const float factor = scale * (weight ? weight[channel] : 1);
            const float shift = (bias ? bias[channel] : 0) - mean * factor;
            for (ptrdiff_t j = 0; j < n; j++) y[j] = x[j] * factor + shift;
        }
    }
}

/* y = x * scale + shift of each channel of x[batch][channels][n]; y may be x. */
static void scale_channels(ptrdiff_t batch, ptrdiff_t channels, ptrdiff_t n, const float *x,
                           const float *scale, const float *shift, float *y)
{
    for (ptrdiff_t i = 0; i < batch * channels; i++, x += n, y += n) {
        const float factor = scale[i % channels], rest = shift[i % channels];
        for (ptrdiff_t j = 0; j < n; j++) y[j] = x[j] * factor + rest;
    }
}

/* The rows of a table at n positions, from 1. Returns 1 if a position is outside. */
static int embedding(ptrdiff_t n, ptrdiff_t rows, ptrdiff_t width, const int64_t *positions,
                     const float *table, float *y)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        if (positions[i] < 1 || positions[i] > rows) return 1;
        memcpy(y + i * width, table + (positions[i] - 1) * width, (size_t)width * sizeof *y);
    }
    return 0;
}

/* A recurrent layer over the steps of sequences, forward or backward. */
struct recurrence {
    ptrdiff_t steps, batch, hidden;
    int is_reversed;
};

/* y[steps][batch][hidden] of an LSTM: x[steps][batch][4 * hidden] has the gates of the inputs,
 * weight[hidden][4 * hidden] and bias are of the state; bias may be NULL. state[2][batch][hidden]
 * has h and c and receives the last ones. work has batch * 4 * hidden elements. */
static void lstm(const struct recurrence *r, const float *x, const float *weight, const float *bias,
                 float *work, float *y, float *state)
{
    const ptrdiff_t hidden = r->hidden, size = r->batch * hidden;
    for (ptrdiff_t k = 0; k < r->steps; k++) {
        const ptrdiff_t step = r->is_reversed ? r->steps - 1 - k : k;
        linear(r->batch, hidden, 4 * hidden, state, weight, bias, work);
        for (ptrdiff_t i = 0; i < 4 * size; i++) work[i] += x[step * 4 * size + i];
        for (ptrdiff_t i = 0; i < size; i++) {
            const float *gate = work + i / hidden * 4 * hidden + i % hidden;
            float *cell = state + size + i;
            *cell =
                sigmoid_of(gate[hidden]) * *cell + sigmoid_of(gate[0]) * tanh_of(gate[2 * hidden]);
            state[i] = sigmoid_of(gate[3 * hidden]) * tanh_of(*cell);
        }
        memcpy(y + step * size, state, (size_t)size * sizeof *y);
    }
}

/* The same for a GRU, with 3 * hidden gates and state[batch][hidden]. */
static void gru(const struct recurrence *r, const float *x, const float *weight, const float *bias,
                float *work, float *y, float *state)
{
    const ptrdiff_t hidden = r->hidden, size = r->batch * hidden;
    for (ptrdiff_t k = 0; k < r->steps; k++) {
        const ptrdiff_t step = r->is_reversed ? r->steps - 1 - k : k;
        linear(r->batch, hidden, 3 * hidden, state, weight, bias, work);
        for (ptrdiff_t i = 0; i < size; i++) {
            const ptrdiff_t at = i / hidden * 3 * hidden + i % hidden;
            const float *in = x + step * 3 * size + at, *gate = work + at;
            const float reset = sigmoid_of(in[0] + gate[0]);
            const float update = sigmoid_of(in[hidden] + gate[hidden]);
            const float proposed = tanh_of(in[2 * hidden] + reset * gate[2 * hidden]);
            state[i] = (state[i] - proposed) * update + proposed;
        }
        memcpy(y + step * size, state, (size_t)size * sizeof *y);
    }
}

/* The same for layers of one gate: tanh_layer and relu_layer. */
static void tanh_layer(const struct recurrence *r, const float *x, const float *weight,
                       const float *bias, float *work, float *y, float *state)
{
    const ptrdiff_t size = r->batch * r->hidden;
    for (ptrdiff_t k = 0; k < r->steps; k++) {
        const ptrdiff_t step = r->is_reversed ? r->steps - 1 - k : k;
        linear(r->batch, r->hidden, r->hidden, state, weight, bias, work);
        for (ptrdiff_t i = 0; i < size; i++) state[i] = tanh_of(x[step * size + i] + work[i]);
        memcpy(y + step * size, state, (size_t)size * sizeof *y);
    }
}

static void relu_layer(const struct recurrence *r, const float *x, const float *weight,
                       const float *bias, float *work, float *y, float *state)
{
    const ptrdiff_t size = r->batch * r->hidden;
    for (ptrdiff_t k = 0; k < r->steps; k++) {
        const ptrdiff_t step = r->is_reversed ? r->steps - 1 - k : k;
        linear(r->batch, r->hidden, r->hidden, state, weight, bias, work);
        for (ptrdiff_t i = 0; i < size; i++) {
            const float gate = x[step * size + i] + work[i];
            state[i] = gate > 0 || gate != gate ? gate : 0;
        }
        memcpy(y + step * size, state, (size_t)size * sizeof *y);
    }
}

/* y = the variance of each row, with `correction` subtracted from the number of elements. */
static void variance(ptrdiff_t rows, ptrdiff_t n, float correction, const float *x, float *y)
{
    for (ptrdiff_t row = 0; row < rows; row++, x += n) {
        double sum = 0, squares = 0;
        for (ptrdiff_t i = 0; i < n; i++) sum += x[i];
        const double mean = sum / (double)n;
        for (ptrdiff_t i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
        y[row] = (float)(squares / ((double)n - correction));
    }
}

static void cumulative_sum(ptrdiff_t rows, ptrdiff_t n, const float *x, float *y)
{
    for (ptrdiff_t row = 0; row < rows; row++, x += n, y += n) {
        double sum = 0;
        for (ptrdiff_t i = 0; i < n; i++) y[i] = (float)(sum += x[i]);
    }
}
