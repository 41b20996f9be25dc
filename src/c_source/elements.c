/* elements.c - loops over elements. TYPE_A, TYPE_B, TYPE_C, TYPE_Y, NAME and FORMULA are replaced by
 * the types and the formula of an operation. */

/* Elements of several dimensions as rows along the last one. */
struct element_loop {
    ptrdiff_t ndim;         /* dimensions outside of a row */
    ptrdiff_t rows, n;      /* rows, elements of a row */
    ptrdiff_t step[3];      /* of each operand along a row */
    ptrdiff_t size[7];      /* of the dimensions outside of a row */
    ptrdiff_t stride[3][7]; /* of each operand along them */
};

/* Moves the offsets of the operands to the next row. */
static void next_row(const struct element_loop *e, ptrdiff_t *at, ptrdiff_t *offset)
{
    for (ptrdiff_t d = e->ndim - 1; d >= 0; d--) {
        for (int k = 0; k < 3; k++) offset[k] += e->stride[k][d];
        if (++at[d] < e->size[d]) return;
        for (int k = 0; k < 3; k++) offset[k] -= e->size[d] * e->stride[k][d];
        at[d] = 0;
    }
}

static inline TYPE_Y unary_NAME(TYPE_A a) { return FORMULA; }

/* y = NAME(a) for n elements; y may be a. */
static void apply_NAME(ptrdiff_t n, const TYPE_A *a, TYPE_Y *y)
{
    for (ptrdiff_t i = 0; i < n; i++) y[i] = unary_NAME(a[i]);
}

static inline TYPE_Y binary_NAME(WORK_A a, WORK_B b) { return FORMULA; }

/* y = NAME(a, b) with broadcasting: an operand with step or stride 0 is repeated. y may be an
 * operand that is not. */
static void combine_NAME(const struct element_loop *e, const TYPE_A *a, const TYPE_B *b, TYPE_Y *y)
{
    ptrdiff_t at[7] = {0}, offset[3] = {0};
    for (ptrdiff_t row = 0; row < e->rows; row++, y += e->n) {
        const TYPE_A *p = a + offset[0];
        const TYPE_B *q = b + offset[1];
        if (e->step[0] == 1 && e->step[1] == 1) {
            for (ptrdiff_t i = 0; i < e->n; i++) y[i] = binary_NAME(p[i], q[i]);
        } else if (e->step[0] == 1 && e->step[1] == 0) {
            const TYPE_B one = *q;
            for (ptrdiff_t i = 0; i < e->n; i++) y[i] = binary_NAME(p[i], one);
        } else {
            for (ptrdiff_t i = 0; i < e->n; i++)
                y[i] = binary_NAME(p[i * e->step[0]], q[i * e->step[1]]);
        }
        next_row(e, at, offset);
    }
}

static inline TYPE_Y ternary_NAME(WORK_A a, WORK_B b, WORK_C c) { return FORMULA; }

/* y = NAME(a, b, c) with broadcasting. */
static void select_NAME(const struct element_loop *e, const TYPE_A *a, const TYPE_B *b,
                        const TYPE_C *c, TYPE_Y *y)
{
    ptrdiff_t at[7] = {0}, offset[3] = {0};
    for (ptrdiff_t row = 0; row < e->rows; row++, y += e->n) {
        const TYPE_A *p = a + offset[0];
        const TYPE_B *q = b + offset[1];
        const TYPE_C *r = c + offset[2];
        for (ptrdiff_t i = 0; i < e->n; i++)
            y[i] = ternary_NAME(p[i * e->step[0]], q[i * e->step[1]], r[i * e->step[2]]);
        next_row(e, at, offset);
    }
}

/* Copies elements between arrays with strides. */
static void copy_NAME(const struct element_loop *e, const TYPE_A *a, TYPE_Y *y)
{
    ptrdiff_t at[7] = {0}, offset[3] = {0};
    for (ptrdiff_t row = 0; row < e->rows; row++) {
        const TYPE_A *p = a + offset[0];
        TYPE_Y *q = y + offset[1];
        if (e->step[0] == 1 && e->step[1] == 1)
            memcpy(q, p, (size_t)e->n * sizeof *q);
        else
            for (ptrdiff_t i = 0; i < e->n; i++) q[i * e->step[1]] = p[i * e->step[0]];
        next_row(e, at, offset);
    }
}

/* y[i] = a[from[i]], or `rest` where from[i] is -1. */
static void gather_NAME(ptrdiff_t n, const int32_t *from, TYPE_A rest, const TYPE_A *a, TYPE_Y *y)
{
    for (ptrdiff_t i = 0; i < n; i++) y[i] = from[i] < 0 ? rest : a[from[i]];
}

/* y[row] = FORMULA of the result so far, y, and an element, a, over n elements; then FINISH of y. */
static void reduce_NAME(ptrdiff_t rows, ptrdiff_t n, const TYPE_A *x, TYPE_Y *result)
{
    for (ptrdiff_t row = 0; row < rows; row++, x += n) {
        TYPE_SUM y = START;
        for (ptrdiff_t i = 0; i < n; i++) {
            const TYPE_A a = x[i];
            y = FORMULA;
        }
        result[row] = (TYPE_Y)(FINISH);
    }
}

/* The position, from 1, of the first element of each row that FORMULA of it, a, and the best one
 * before, y, accepts; NaN is accepted first. */
static void position_NAME(ptrdiff_t rows, ptrdiff_t n, const TYPE_A *x, int64_t *result)
{
    for (ptrdiff_t row = 0; row < rows; row++, x += n) {
        ptrdiff_t best = 0;
        for (ptrdiff_t i = 1; i < n; i++) {
            const TYPE_A a = x[i], y = x[best];
            if (y == y && (a != a || FORMULA)) best = i;
        }
        result[row] = best + 1;
    }
}
