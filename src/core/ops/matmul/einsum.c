/* einsum.c - sums of products described by the letters of their dimensions.
 *
 * Every letter, and every dimension that an ellipsis stands for, is a label; labels are numbered in
 * the order of the result, followed by the summed ones. Each operand is brought to one dimension
 * per label (of size 1 if it lacks the label), repeated letters becoming diagonals. Two operands at
 * a time are multiplied as batches of matrices, summing over labels that neither a later operand
 * nor the result has. */
#include <stdio.h>
#include <string.h>

#include "ops/steps.h"
#include "op/einsum.h"
#include "user_index.h"

#define LETTERS      52
#define ELLIPSIS     52
#define MAX_OPERANDS 64

static int letter_number(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    return c >= 'a' && c <= 'z' ? 26 + c - 'a' : -1;
}

static char letter_name(int label) { return (char)(label < 26 ? 'A' + label : 'a' + label - 26); }

/* The subscripts of one operand or of the result: letters, and ELLIPSIS for "...". */
typedef struct subscripts {
    int n;
    int8_t label[LT_MAX_DIMS + 1];
    bool ellipsis;
} subscripts;

typedef struct equation {
    int operands;
    subscripts in[MAX_OPERANDS], out;
    bool has_arrow;
} equation;

static lt_status add_label(subscripts *s, int label, int operand)
{
    if (s->n > LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "einsum(): too many subscripts for operand %lld",
                        lt_user_index(operand));
    s->label[s->n++] = (int8_t)label;
    return LT_OK;
}

static lt_status parse(const char *text, equation *e)
{
    memset(e, 0, sizeof *e);
    subscripts *s = &e->in[0];
    e->operands = 1;
    for (const char *p = text; *p != 0; p++) {
        if (*p == ' ') continue;
        if (*p == ',' && !e->has_arrow) {
            if (e->operands == MAX_OPERANDS)
                return lt_error(LT_ERR_RUNTIME, "einsum(): at most %d operands", MAX_OPERANDS);
            s = &e->in[e->operands++];
        } else if (p[0] == '-' && p[1] == '>' && !e->has_arrow) {
            e->has_arrow = true;
            s = &e->out;
            p++;
        } else if (p[0] == '.' && p[1] == '.' && p[2] == '.') {
            if (s->ellipsis)
                return e->has_arrow
                           ? lt_error(LT_ERR_RUNTIME, "einsum(): found '.' for output but an "
                                                      "ellipsis (...) was already found")
                           : lt_error(LT_ERR_RUNTIME,
                                      "einsum(): found '.' in subscripts string for operand %lld "
                                      "for which an ellipsis was already found",
                                      lt_user_index(e->operands - 1));
            s->ellipsis = true;
            LT_TRY(add_label(s, ELLIPSIS, e->operands - 1));
            p += 2;
        } else if (letter_number(*p) >= 0) {
            LT_TRY(add_label(s, letter_number(*p), e->operands - 1));
        } else {
            return lt_error(LT_ERR_RUNTIME,
                            "einsum(): invalid subscript given at index %lld in the equation "
                            "string, subscripts must be in [a-zA-Z]",
                            lt_user_index(p - text));
        }
    }
    return LT_OK;
}

/* The dimensions of the labels in the permuted operands. */
typedef struct einsum_layout {
    int total, out;  /* all dimensions; the first `out` are the result's */
    int at[LETTERS]; /* -1: not used */
    int ellipsis_at, ellipsis_dims;
} einsum_layout;

static lt_status count_ellipsis(const equation *e, const lt_tensor_list *operands, einsum_layout *l)
{
    for (int i = 0; i < e->operands; i++) {
        int named = e->in[i].n - (e->in[i].ellipsis ? 1 : 0), own = operands->v[i]->ndim - named;
        if (own < 0 || (own > 0 && !e->in[i].ellipsis))
            return lt_error(LT_ERR_RUNTIME,
                            "einsum(): the number of subscripts in the equation (%d) %s the number "
                            "of dimensions (%d) for operand %lld%s",
                            named, e->in[i].ellipsis ? "is more than" : "does not match",
                            operands->v[i]->ndim, lt_user_index(i),
                            e->in[i].ellipsis ? "" : " and no ellipsis was given");
        if (e->in[i].ellipsis && own > l->ellipsis_dims) l->ellipsis_dims = own;
    }
    return LT_OK;
}

static lt_status plan_layout(const equation *e, const lt_tensor_list *operands, einsum_layout *l)
{
    int count[LETTERS] = {0};
    bool any_ellipsis = false;
    l->total = l->ellipsis_dims = 0;
    l->ellipsis_at = -1;
    for (int c = 0; c < LETTERS; c++) l->at[c] = -1;
    LT_TRY(count_ellipsis(e, operands, l));
    for (int i = 0; i < e->operands; i++)
        for (int k = 0; k < e->in[i].n; k++) {
            if (e->in[i].label[k] == ELLIPSIS)
                any_ellipsis = true;
            else
                count[e->in[i].label[k]]++;
        }
    if (e->has_arrow) {
        for (int k = 0; k < e->out.n; k++) {
            int label = e->out.label[k];
            if (label == ELLIPSIS) {
                l->ellipsis_at = l->total;
                l->total += l->ellipsis_dims;
                continue;
            }
            if (l->at[label] >= 0)
                return lt_error(
                    LT_ERR_RUNTIME,
                    "einsum(): output subscript %c appears more than once in the output",
                    letter_name(label));
            if (count[label] == 0)
                return lt_error(LT_ERR_RUNTIME,
                                "einsum(): output subscript %c does not appear in the equation for "
                                "any input operand",
                                letter_name(label));
            l->at[label] = l->total++;
        }
    } else { /* the ellipsis, then the letters that occur once, in alphabetical order */
        if (any_ellipsis) l->ellipsis_at = 0, l->total = l->ellipsis_dims;
        for (int c = 0; c < LETTERS; c++)
            if (count[c] == 1) l->at[c] = l->total++;
    }
    l->out = l->total;
    if (any_ellipsis && l->ellipsis_at < 0) l->ellipsis_at = l->total, l->total += l->ellipsis_dims;
    for (int c = 0; c < LETTERS; c++)
        if (count[c] > 0 && l->at[c] < 0) l->at[c] = l->total++;
    if (l->total > LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "einsum(): more than %d different dimensions", LT_MAX_DIMS);
    return LT_OK;
}

/* t permuted to the layout's dimensions, with diagonals for repeated letters. */
static lt_tensor *brought(lt_scope *s, lt_tensor *t, const subscripts *in, int operand,
                          const einsum_layout *l)
{
    int place[LT_MAX_DIMS], n = 0; /* the layout's dimension of each dimension of t */
    for (int k = 0; k < in->n; k++) {
        int label = in->label[k];
        if (label == ELLIPSIS) {
            int own = t->ndim - (in->n - 1), first = l->ellipsis_at + l->ellipsis_dims - own;
            for (int j = 0; j < own; j++) place[n++] = first + j;
        } else {
            place[n++] = l->at[label];
        }
    }
    for (int a = 0; a < n; a++) {
        for (int b = a + 1; b < n;) {
            if (place[b] != place[a]) {
                b++;
                continue;
            }
            if (t->sizes[a] != t->sizes[b]) {
                s->status = lt_error(LT_ERR_RUNTIME,
                                     "einsum(): subscript %c is repeated for operand %lld but the "
                                     "sizes don't match, %lld != %lld",
                                     letter_name(in->label[0]), lt_user_index(operand),
                                     (long long)t->sizes[b], (long long)t->sizes[a]);
                return NULL;
            }
            t = do_diagonal(s, t, 0, a, b); /* becomes the last dimension */
            if (t == NULL) return NULL;
            int kept = place[a];
            for (int k = b; k < n - 1; k++) place[k] = place[k + 1];
            for (int k = a; k < n - 2; k++) place[k] = place[k + 1];
            place[n - 2] = kept;
            n--;
            a = -1; /* restart: dimensions have moved */
            break;
        }
    }
    lt_dims order = {.n = n}, shape = {.n = l->total};
    for (int d = 0; d < n; d++) { /* dimensions in the layout's order */
        int rank = 0;
        for (int k = 0; k < n; k++) rank += place[k] < place[d];
        order.v[rank] = d;
    }
    for (int d = 0; d < l->total; d++) shape.v[d] = 1;
    for (int d = 0; d < n; d++) shape.v[place[d]] = t->sizes[d];
    return do_reshape(s, do_permute(s, t, &order), &shape);
}

static int64_t broadcast_size(int64_t a, int64_t b) { return a == 1 ? b : a; }

/* The product of a and b, both with all labels; summed over the labels in `summed`, which remain
 * with size 1. */
static lt_tensor *contracted(lt_scope *s, lt_tensor *a, lt_tensor *b, uint32_t summed)
{
    if (a == NULL || b == NULL) return NULL;
    lt_dims early_a = {.n = 0}, early_b = {.n = 0};
    for (int d = 0; d < a->ndim; d++) { /* labels of only one operand are summed first */
        if (!(summed >> d & 1)) continue;
        if (b->sizes[d] == 1 && a->sizes[d] != 1) early_a.v[early_a.n++] = d;
        if (a->sizes[d] == 1 && b->sizes[d] != 1) early_b.v[early_b.n++] = d;
    }
    if (early_a.n > 0) a = do_sum_dims(s, a, &early_a, true);
    if (early_b.n > 0) b = do_sum_dims(s, b, &early_b, true);
    if (a == NULL || b == NULL) return NULL;
    bool sums = false;
    for (int d = 0; d < a->ndim; d++) sums = sums || (summed >> d & 1 && a->sizes[d] != 1);
    /* in the promoted dtype: a sum of small integers would be int64 */
    if (!sums) return do_mul(s, a, b);
    /* batch (in both), rows (in a), columns (in b), inner (in both, summed) */
    lt_dims batch = {.n = 0}, rows = {.n = 0}, columns = {.n = 0}, inner = {.n = 0};
    int64_t n_batch = 1, n_rows = 1, n_columns = 1, n_inner = 1;
    for (int d = 0; d < a->ndim; d++) {
        if (summed >> d & 1)
            inner.v[inner.n++] = d, n_inner *= broadcast_size(a->sizes[d], b->sizes[d]);
        else if (a->sizes[d] != 1 && b->sizes[d] != 1)
            batch.v[batch.n++] = d, n_batch *= a->sizes[d];
        else if (b->sizes[d] == 1)
            rows.v[rows.n++] = d, n_rows *= a->sizes[d];
        else
            columns.v[columns.n++] = d, n_columns *= b->sizes[d];
    }
    lt_dims of_a = batch, of_b = batch, back = {.n = a->ndim}, shape = {.n = 0};
    const lt_dims *groups[] = {&batch, &rows, &columns, &inner};
    for (int d = 0; d < rows.n; d++) of_a.v[of_a.n++] = rows.v[d];
    for (int d = 0; d < inner.n; d++) of_a.v[of_a.n++] = inner.v[d];
    for (int d = 0; d < columns.n; d++) of_a.v[of_a.n++] = columns.v[d];
    for (int d = 0; d < inner.n; d++) of_b.v[of_b.n++] = inner.v[d];
    for (int d = 0; d < columns.n; d++) of_b.v[of_b.n++] = columns.v[d];
    for (int d = 0; d < rows.n; d++) of_b.v[of_b.n++] = rows.v[d];
    for (int g = 0; g < 4; g++)
        for (int d = 0; d < groups[g]->n; d++) {
            int label = (int)groups[g]->v[d];
            back.v[label] = shape.n;
            shape.v[shape.n++] = g == 3 ? 1 : broadcast_size(a->sizes[label], b->sizes[label]);
        }
    lt_tensor *left =
        do_reshape(s, do_permute(s, a, &of_a), &(lt_dims){3, {n_batch, n_rows, n_inner}});
    lt_tensor *right =
        do_reshape(s, do_permute(s, b, &of_b), &(lt_dims){3, {n_batch, n_inner, n_columns}});
    return do_permute(s, do_reshape(s, do_bmm(s, left, right), &shape), &back);
}

static lt_status mismatch(const einsum_layout *l, int dim, int operand, int64_t own, int64_t seen)
{
    char name[16] = "...";
    for (int c = 0; c < LETTERS; c++)
        if (l->at[c] == dim) snprintf(name, sizeof name, "%c", letter_name(c));
    return lt_error(LT_ERR_RUNTIME,
                    "einsum(): subscript %s has size %lld for operand %lld which does not "
                    "broadcast with previously seen size %lld",
                    name, (long long)own, lt_user_index(operand), (long long)seen);
}

static lt_status check_sizes(lt_tensor *const *operands, int n, const einsum_layout *l)
{
    for (int d = 0; d < l->total; d++) {
        int64_t seen = 1;
        for (int i = 0; i < n; i++) {
            int64_t own = operands[i]->sizes[d];
            if (seen == 1) seen = own;
            if (own != 1 && own != seen) return mismatch(l, d, i, own, seen);
        }
    }
    return LT_OK;
}

/* Labels to sum over that no operand from `next` on has. */
static uint32_t finished(lt_tensor *const *operands, int next, int n, const einsum_layout *l)
{
    uint32_t mask = 0;
    for (int d = l->out; d < l->total; d++) {
        bool needed = false;
        for (int i = next; i < n; i++) needed = needed || operands[i]->sizes[d] != 1;
        if (!needed) mask |= 1u << d;
    }
    return mask;
}

lt_status lt_einsum_impl(const char *text, const lt_tensor_list *operands, lt_tensor **out)
{
    equation e;
    einsum_layout l;
    lt_tensor *ready[MAX_OPERANDS] = {NULL}, *now = NULL;
    lt_status status = LT_OK;
    if (operands->n == 0)
        return lt_error(LT_ERR_RUNTIME, "einsum(): must provide at least one operand");
    LT_TRY(parse(text, &e));
    if (operands->n != e.operands)
        return lt_error(LT_ERR_RUNTIME,
                        "einsum(): %s operands were provided than specified in the equation",
                        operands->n > e.operands ? "more" : "fewer");
    LT_TRY(plan_layout(&e, operands, &l));
    for (int i = 0; i < e.operands; i++) {
        lt_scope s;
        lt_scope_open(&s, LT_COMPOSITE(einsum));
        lt_tensor *t = brought(&s, operands->v[i], &e.in[i], i, &l);
        LT_CHECK(lt_scope_return(&s, t, &ready[i]));
    }
    LT_CHECK(check_sizes(ready, e.operands, &l));
    now = lt_tensor_retain(ready[0]);
    for (int i = 1; i < e.operands; i++) {
        lt_scope s;
        lt_scope_open(&s, LT_COMPOSITE(einsum));
        lt_tensor *t = contracted(&s, now, ready[i], finished(ready, i + 1, e.operands, &l)),
                  *next = NULL;
        LT_CHECK(lt_scope_return(&s, t, &next));
        lt_tensor_release(now);
        now = next;
    }
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(einsum));
    lt_tensor *result = now;
    lt_dims left = {.n = 0}, shape = {.n = l.out};
    for (int d = l.out; d < l.total; d++)
        if (e.operands == 1 || now->sizes[d] != 1) left.v[left.n++] = d;
    if (left.n > 0) result = do_sum_dims(&s, now, &left, true);
    for (int d = 0; d < l.out; d++) shape.v[d] = now->sizes[d];
    status = lt_scope_return(&s, do_reshape(&s, result, &shape), out);
done:
    lt_tensor_release(now);
    for (int i = 0; i < e.operands; i++) lt_tensor_release(ready[i]);
    return status;
}
