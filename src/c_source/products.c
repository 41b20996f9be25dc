/* products.c - matrix products, linear layers and attention of generated programs. */

/* Rows and columns of a block of a product that stays in registers. */
#define BLOCK_ROWS 4
#if defined __AVX512F__
#define BLOCK_COLUMNS 32
#elif defined __AVX__
#define BLOCK_COLUMNS 16
#else
#define BLOCK_COLUMNS 8
#endif

/* y[rows][columns] += a[rows][k] b[k][columns] for a whole block. */
static void add_block(ptrdiff_t k, const float *a, ptrdiff_t lda, const float *b, ptrdiff_t ldb,
                      float *y, ptrdiff_t ldy)
{
    float sum[BLOCK_ROWS][BLOCK_COLUMNS] = {{0}};
    for (ptrdiff_t p = 0; p < k; p++)
        for (int i = 0; i < BLOCK_ROWS; i++)
            for (int j = 0; j < BLOCK_COLUMNS; j++) sum[i][j] += a[i * lda + p] * b[p * ldb + j];
    for (int i = 0; i < BLOCK_ROWS; i++)
        for (int j = 0; j < BLOCK_COLUMNS; j++) y[i * ldy + j] += sum[i][j];
}

/* The same for one row and any number of columns, four rows of b at a time. */
static void add_row(ptrdiff_t n, ptrdiff_t k, const float *a, const float *b, ptrdiff_t ldb,
                    float *restrict y)
{
    ptrdiff_t p = 0;
    for (; p + 4 <= k; p += 4, a += 4, b += 4 * ldb) {
        const float *b1 = b + ldb, *b2 = b1 + ldb, *b3 = b2 + ldb;
        for (ptrdiff_t j = 0; j < n; j++)
            y[j] += (a[0] * b[j] + a[1] * b1[j]) + (a[2] * b2[j] + a[3] * b3[j]);
    }
    for (; p < k; p++, a++, b += ldb)
        for (ptrdiff_t j = 0; j < n; j++) y[j] += a[0] * b[j];
}

/* A matrix: its first element and the distance of its rows. */
struct matrix {
    const float *first;
    ptrdiff_t distance;
};

/* y[m][n] += a[m][k] b[k][n]; ldy is the distance of the rows of y. */
static void add_product(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, struct matrix a, struct matrix b,
                        float *y, ptrdiff_t ldy)
{
    const ptrdiff_t whole_m = m - m % BLOCK_ROWS, whole_n = n - n % BLOCK_COLUMNS;
    const ptrdiff_t lda = a.distance, ldb = b.distance;
    for (ptrdiff_t j = 0; j < whole_n; j += BLOCK_COLUMNS)
        for (ptrdiff_t i = 0; i < whole_m; i += BLOCK_ROWS)
            add_block(k, a.first + i * lda, lda, b.first + j, ldb, y + i * ldy + j, ldy);
    if (whole_n < n)
        for (ptrdiff_t i = 0; i < whole_m; i++)
            add_row(n - whole_n, k, a.first + i * lda, b.first + whole_n, ldb,
                    y + i * ldy + whole_n);
    for (ptrdiff_t i = whole_m; i < m; i++)
        add_row(n, k, a.first + i * lda, b.first, ldb, y + i * ldy);
}

/* Products of matrices: y[batch][m][n] = a[batch][m][k] b[batch][k][n]. */
struct products {
    ptrdiff_t batch, m, n, k;
    ptrdiff_t step_a, step_b; /* distances of matrices */
};

static void matrix_products(const struct products *p, const float *a, const float *b, float *y)
{
    const ptrdiff_t size = p->m * p->n;
    memset(y, 0, (size_t)(p->batch * size) * sizeof *y);
    for (ptrdiff_t i = 0; i < p->batch; i++, a += p->step_a, b += p->step_b, y += size)
        add_product(p->m, p->n, p->k, (struct matrix){a, p->k}, (struct matrix){b, p->n}, y, p->n);
}

/* y[rows][out] = x[rows][in] weight[in][out] + bias[out]; bias may be NULL. */
static void linear(ptrdiff_t rows, ptrdiff_t in, ptrdiff_t out, const float *x, const float *weight,
                   const float *bias, float *y)
{
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t j = 0; j < out; j++) y[i * out + j] = bias ? bias[j] : 0;
    add_product(rows, out, in, (struct matrix){x, in}, (struct matrix){weight, out}, y, out);
}

/* Attention: query[batch][length][size], key[batch][sources][size], value[batch][sources][width].
 * Causal: row r attends to the sources 0 to r. */
struct attention_sizes {
    ptrdiff_t batch, length, sources, size, width;
    float scale;
    int is_causal;
};

/* y = softmax(scale * query key^T + mask) value; a row without sources is 0.
 * mask[batch][length][sources] may be NULL. work has sources * (size + length) elements. */
static void attention(const struct attention_sizes *s, const float *query, const float *key,
                      const float *value, const float *mask, float *work, float *y)
{
    const ptrdiff_t length = s->length, sources = s->sources, size = s->size, width = s->width;
    float *columns = work, *scores = work + sources * size;
    memset(y, 0, (size_t)(s->batch * length * width) * sizeof *y);
    for (ptrdiff_t i = 0; i < s->batch; i++) {
        for (ptrdiff_t c = 0; c < sources; c++)
            for (ptrdiff_t d = 0; d < size; d++) columns[d * sources + c] = key[c * size + d];
        memset(scores, 0, (size_t)(length * sources) * sizeof *scores);
        add_product(length, sources, size, (struct matrix){query, size},
                    (struct matrix){columns, sources}, scores, sources);
        for (ptrdiff_t r = 0; r < length; r++) {
            float *row = scores + r * sources;
            const ptrdiff_t seen = s->is_causal && r + 1 < sources ? r + 1 : sources;
            for (ptrdiff_t c = 0; c < seen; c++)
                row[c] = row[c] * s->scale + (mask ? mask[r * sources + c] : 0);
            const float sum = softmax_row(seen, row, row);
            for (ptrdiff_t c = sum == 0 ? 0 : seen; c < sources; c++) row[c] = 0;
        }
        add_product(length, width, sources, (struct matrix){scores, sources},
                    (struct matrix){value, width}, y, width);
        query += length * size, key += sources * size, value += sources * width;
        y += length * width;
        if (mask) mask += length * sources;
    }
}
