/* windows.c - convolution and pooling of generated programs. Layers of one dimension have a height
 * of 1. */

/* A layer of windows that slide over images. */
struct windows {
    ptrdiff_t batch, groups;           /* images, groups of channels */
    ptrdiff_t in, out;                 /* channels of a group */
    ptrdiff_t height, width;           /* of the input */
    ptrdiff_t rows, columns;           /* of the output */
    ptrdiff_t kernel[2], stride[2];    /* height, width */
    ptrdiff_t padding[2], dilation[2]; /* height, width */
    ptrdiff_t strip;                   /* rows of the output that are computed at a time */
};

/* The elements of a channel's row below the column `at` of the kernel, for each column of the
 * output; 0 outside of the row. */
static void copy_row(const struct windows *w, ptrdiff_t at, const float *x, float *y)
{
    const ptrdiff_t stride = w->stride[1], first = at * w->dilation[1] - w->padding[1];
    ptrdiff_t j = 0;
    for (; j < w->columns && j * stride + first < 0; j++) y[j] = 0;
    if (stride == 1)
        for (; j < w->columns && j + first < w->width; j++) y[j] = x[j + first];
    else
        for (; j < w->columns && j * stride + first < w->width; j++) y[j] = x[j * stride + first];
    for (; j < w->columns; j++) y[j] = 0;
}

/* The elements of a group's channels below the kernel: work[in * kernel][count * columns] for
 * `count` rows of the output from `row`. */
static void copy_windows(const struct windows *w, ptrdiff_t row, ptrdiff_t count, const float *x,
                         float *work)
{
    for (ptrdiff_t c = 0; c < w->in; c++, x += w->height * w->width)
        for (ptrdiff_t i = 0; i < w->kernel[0]; i++)
            for (ptrdiff_t j = 0; j < w->kernel[1]; j++)
                for (ptrdiff_t r = row; r < row + count; r++, work += w->columns) {
                    const ptrdiff_t at = r * w->stride[0] + i * w->dilation[0] - w->padding[0];
                    if (at < 0 || at >= w->height)
                        memset(work, 0, (size_t)w->columns * sizeof *work);
                    else
                        copy_row(w, j, x + at * w->width, work);
                }
}

/* Convolution as products of the weights with copied windows, some rows of the output at a time:
 * weight[groups * out][in * kernel]; bias may be NULL; work has in * kernel * strip * columns
 * elements. A kernel of one element with stride 1 needs no copies and no work. */
static void convolution(const struct windows *w, const float *x, const float *weight,
                        const float *bias, float *work, float *y)
{
    const ptrdiff_t area = w->rows * w->columns, k = w->in * w->kernel[0] * w->kernel[1];
    for (ptrdiff_t i = 0; i < w->batch * w->groups; i++) {
        const ptrdiff_t channel = i % w->groups * w->out;
        for (ptrdiff_t c = 0; c < w->out; c++)
            for (ptrdiff_t j = 0; j < area; j++) y[c * area + j] = bias ? bias[channel + c] : 0;
        const struct matrix kernels = {weight + channel * k, k};
        if (work == NULL) add_product(w->out, area, k, kernels, (struct matrix){x, area}, y, area);
        for (ptrdiff_t row = 0; work != NULL && row < w->rows; row += w->strip) {
            const ptrdiff_t count = row + w->strip < w->rows ? w->strip : w->rows - row;
            copy_windows(w, row, count, x, work);
            add_product(w->out, count * w->columns, k, kernels,
                        (struct matrix){work, count * w->columns}, y + row * w->columns, area);
        }
        x += w->in * w->height * w->width;
        y += w->out * area;
    }
}

/* Adds the elements of an image, times those of a kernel, to the windows of y around them. */
static void add_windows(const struct windows *w, const float *x, const float *kernel, float *y)
{
    for (ptrdiff_t i = 0; i < w->kernel[0]; i++)
        for (ptrdiff_t j = 0; j < w->kernel[1]; j++)
            for (ptrdiff_t r = 0; r < w->height; r++)
                for (ptrdiff_t c = 0; c < w->width; c++) {
                    const ptrdiff_t row = r * w->stride[0] + i * w->dilation[0] - w->padding[0];
                    const ptrdiff_t column = c * w->stride[1] + j * w->dilation[1] - w->padding[1];
                    if (row >= 0 && row < w->rows && column >= 0 && column < w->columns)
                        y[row * w->columns + column] +=
                            x[r * w->width + c] * kernel[i * w->kernel[1] + j];
                }
}

/* Transposed convolution: weight[groups * in][out][kernel]; bias may be NULL. */
static void transposed_convolution(const struct windows *w, const float *x, const float *weight,
                                   const float *bias, float *y)
{
    const ptrdiff_t area = w->rows * w->columns, size = w->kernel[0] * w->kernel[1];
    for (ptrdiff_t i = 0; i < w->batch * w->groups; i++) {
        const ptrdiff_t group = i % w->groups;
        for (ptrdiff_t o = 0; o < w->out; o++, y += area) {
            for (ptrdiff_t j = 0; j < area; j++) y[j] = bias ? bias[group * w->out + o] : 0;
            for (ptrdiff_t c = 0; c < w->in; c++)
                add_windows(w, x + c * w->height * w->width,
                            weight + ((group * w->in + c) * w->out + o) * size, y);
        }
        x += w->in * w->height * w->width;
    }
}

/* The largest element of each window; NaN if there is one. */
static void max_pool(const struct windows *w, const float *x, float *y)
{
    for (ptrdiff_t i = 0; i < w->batch; i++, x += w->height * w->width)
        for (ptrdiff_t row = 0; row < w->rows; row++)
            for (ptrdiff_t column = 0; column < w->columns; column++) {
                float best = -INFINITY;
                for (ptrdiff_t j = 0; j < w->kernel[0]; j++)
                    for (ptrdiff_t k = 0; k < w->kernel[1]; k++) {
                        const ptrdiff_t r = row * w->stride[0] + j * w->dilation[0] - w->padding[0];
                        const ptrdiff_t c =
                            column * w->stride[1] + k * w->dilation[1] - w->padding[1];
                        if (r < 0 || r >= w->height || c < 0 || c >= w->width) continue;
                        const float element = x[r * w->width + c];
                        if (element > best || element != element) best = element;
                    }
                *y++ = best;
            }
}

/* The sum of the elements of rows from[0] to to[0] and columns from[1] to to[1] of an image. */
static float sum_of_window(ptrdiff_t width, const ptrdiff_t *from, const ptrdiff_t *to,
                           const float *x)
{
    float sum = 0;
    for (ptrdiff_t r = from[0]; r < to[0]; r++)
        for (ptrdiff_t c = from[1]; c < to[1]; c++) sum += x[r * width + c];
    return sum;
}

/* The mean of each window. divisor: of the sums, or 0 for the number of elements, with those of the
 * padding if it counts. */
static void avg_pool(const struct windows *w, int counts_padding, ptrdiff_t divisor, const float *x,
                     float *y)
{
    const ptrdiff_t size[2] = {w->height, w->width};
    for (ptrdiff_t i = 0; i < w->batch; i++, x += w->height * w->width)
        for (ptrdiff_t at = 0; at < w->rows * w->columns; at++) {
            const ptrdiff_t output[2] = {at / w->columns, at % w->columns};
            ptrdiff_t from[2], to[2], all = 1, inside = 1;
            for (int d = 0; d < 2; d++) {
                from[d] = output[d] * w->stride[d] - w->padding[d];
                to[d] = from[d] + w->kernel[d];
                if (to[d] > size[d] + w->padding[d]) to[d] = size[d] + w->padding[d];
                all *= to[d] - from[d];
                if (from[d] < 0) from[d] = 0;
                if (to[d] > size[d]) to[d] = size[d];
                inside *= to[d] - from[d];
            }
            const ptrdiff_t count = divisor != 0 ? divisor : counts_padding ? all : inside;
            *y++ = sum_of_window(w->width, from, to, x) / (float)count;
        }
}

/* The means of rows * columns windows that divide each of `images` images. */
static void adaptive_avg_pool(ptrdiff_t images, ptrdiff_t height, ptrdiff_t width, ptrdiff_t rows,
                              ptrdiff_t columns, const float *x, float *y)
{
    for (ptrdiff_t i = 0; i < images; i++, x += height * width)
        for (ptrdiff_t at = 0; at < rows * columns; at++) {
            const ptrdiff_t r = at / columns, c = at % columns;
            const ptrdiff_t from[2] = {r * height / rows, c * width / columns};
            const ptrdiff_t to[2] = {((r + 1) * height + rows - 1) / rows,
                                     ((c + 1) * width + columns - 1) / columns};
            const float sum = sum_of_window(width, from, to, x);
            *y++ = sum / (float)((to[0] - from[0]) * (to[1] - from[1]));
        }
}

/* The maxima of such windows; NaN if there is one. */
static void adaptive_max_pool(ptrdiff_t images, ptrdiff_t height, ptrdiff_t width, ptrdiff_t rows,
                              ptrdiff_t columns, const float *x, float *y)
{
    for (ptrdiff_t i = 0; i < images; i++, x += height * width)
        for (ptrdiff_t at = 0; at < rows * columns; at++) {
            const ptrdiff_t r = at / columns, c = at % columns;
            float best = -INFINITY;
            for (ptrdiff_t j = r * height / rows; j < ((r + 1) * height + rows - 1) / rows; j++)
                for (ptrdiff_t k = c * width / columns;
                     k < ((c + 1) * width + columns - 1) / columns; k++) {
                    const float element = x[j * width + k];
                    if (element > best || element != element) best = element;
                }
            *y++ = best;
        }
}
