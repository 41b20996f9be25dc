/* print.c - see print.h.
 *
 * Three passes: select the shown elements (all, or both ends of each long dimension); measure them,
 * which determines notation and column width; write them. Text is appended to one buffer that
 * stores its first failure, so that only the end checks it. Includes core headers only. */
#include "print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "autograd/autograd.h"
#include "lock.h"
#include "saturating.h"
#include "context/context.h"
#include "context/interrupt.h"
#include "devices/copies.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "system/plain_locale.h"
#include "user_index.h"
#include "compile/deferred.h"
#include "memory/alloc.h"
#include "sparse.h"
#include "tensor.h"
#include "op/_to_copy.h"
#include "op/add.h"
#include "op/contiguous.h"

/* Continuation lines are indented by the length of this prefix, also for parameters. */
#define OPENING "tensor("

lt_print_options lt_print_settings(lt_context *c)
{
    pthread_mutex_lock(&c->lock);
    const lt_print_options options = c->print;
    lt_unlock(&c->lock);
    return options;
}

void lt_print_set(lt_context *c, const lt_print_options *options)
{
    pthread_mutex_lock(&c->lock);
    c->print = *options;
    lt_unlock(&c->lock);
}

/* ---- text ------------------------------------------------------------------------------------ */

typedef struct cell_text {
    char *v; /* NULL until the first write */
    size_t n, capacity;
    lt_status status;
} cell_text;

/* Ensures capacity for n more bytes and a zero byte. */
static bool text_reserve(cell_text *t, size_t n)
{
    if (t->status != LT_OK) return false;
    if (t->n + n < t->capacity) return true;
    size_t capacity = 2 * (t->n + n) + 128;
    char *v = lt_mem_realloc(t->v, capacity);
    if (v == NULL) {
        t->status = LT_ERR_MEMORY;
        return false;
    }
    t->v = v;
    t->capacity = capacity;
    return true;
}

static void text_repeat(cell_text *t, char c, int64_t n)
{
    if (n <= 0 || !text_reserve(t, (size_t)n)) return;
    memset(t->v + t->n, c, (size_t)n);
    t->n += (size_t)n;
}

static void text_add_list(cell_text *t, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    if (text_reserve(t, 0)) {
        int n = vsnprintf(t->v + t->n, t->capacity - t->n, format, args);
        if (n < 0)
            t->status = lt_error(LT_ERR_RUNTIME, "too many digits to print");
        else if (t->n + (size_t)n < t->capacity)
            t->n += (size_t)n;
        else if (text_reserve(t, (size_t)n))
            t->n += (size_t)vsnprintf(t->v + t->n, t->capacity - t->n, format, again);
    }
    va_end(again);
}

__attribute__((format(printf, 2, 3))) static void text_add(cell_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_add_list(t, format, args);
    va_end(args);
}

/* ---- the elements that are shown ------------------------------------------------------------- */

/* Dimension d shows positions 0 to shown[d] - 1; from position `edge` on, a position is skip[d]
 * less than its index in memory. */
typedef struct elements {
    lt_tensor *owner; /* keeps data alive; NULL if no element is shown */
    const char *data;
    lt_dtype dtype;
    int ndim;
    int64_t edge;
    int64_t shown[LT_MAX_DIMS];
    int64_t skip[LT_MAX_DIMS];
    int64_t strides[LT_MAX_DIMS]; /* bytes */
    bool cut[LT_MAX_DIMS];        /* shown with "..." after `edge` elements */
} elements;

/* Copies the shown elements to the host. A cut dimension of size n is viewed as 2 by edge with a
 * stride of n - edge, so that one strided copy gathers the whole summary. If LT_MAX_DIMS does not
 * suffice, the last dimensions are copied uncut. */
static lt_status fetch(elements *e, lt_tensor *t)
{
    lt_status status = LT_OK;
    lt_tensor *view = NULL, *arrived = NULL, *host = NULL;
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS], dense = 1;
    int ndim = 0, spare = LT_MAX_DIMS - t->ndim;
    lt_copy_cause before = lt_copies_set_cause((lt_copy_cause){"print", true});
    for (int d = 0; d < t->ndim; d++) {
        int64_t length = t->sizes[d];
        if (e->cut[d] && spare > 0) {
            spare--;
            sizes[ndim] = 2;
            strides[ndim++] = (length - e->edge) * t->strides[d];
            length = e->edge;
            e->skip[d] = 0;
        }
        sizes[ndim] = length;
        strides[ndim++] = t->strides[d];
    }
    LT_CHECK(lt_tensor_view(t, ndim, sizes, strides, t->offset, &view));
    LT_CHECK(lt__to_copy_impl(view, LT_DTYPE_NONE, &lt_host, false, &arrived));
    LT_CHECK(lt_contiguous_impl(arrived, &host));
    for (int d = t->ndim - 1; d >= 0; d--) {
        e->strides[d] = dense * (int64_t)lt_dtype_size(e->dtype);
        dense *= e->shown[d] + e->skip[d];
    }
    e->owner = host;
    e->data = lt_data(host);
done:
    lt_copies_set_cause(before);
    lt_tensor_release(view);
    lt_tensor_release(arrived);
    return status;
}

static lt_status find_elements(elements *e, lt_tensor *t, const lt_print_options *options)
{
    bool summarize = t->numel > options->threshold, any = true;
    *e = (elements){.dtype = (lt_dtype)t->dtype, .ndim = t->ndim};
    e->edge = summarize ? options->edgeitems : INT64_MAX / 2;
    for (int d = 0; d < t->ndim; d++) {
        e->cut[d] = t->sizes[d] > 2 * e->edge;
        e->shown[d] = e->cut[d] ? 2 * e->edge : t->sizes[d];
        e->skip[d] = t->sizes[d] - e->shown[d];
        e->strides[d] = lt_mul_within(t->strides[d], (int64_t)lt_dtype_size(e->dtype));
        any = any && e->shown[d] > 0;
    }
    if (!any) return LT_OK;
    LT_TRY(lt_materialize("print", t));
    if (t->device.type != LT_CPU) return fetch(e, t);
    e->owner = lt_tensor_retain(t);
    e->data = lt_data(t);
    return LT_OK;
}

/* The address of position i of dimension d, where `at` is the address of position 0. */
static const char *place(const elements *e, int d, const char *at, int64_t i)
{
    return at + (i < e->edge ? i : i + e->skip[d]) * e->strides[d];
}

/* ---- notation and width ---------------------------------------------------------------------- */

/* Magnitudes of the elements. Zeros, infinities and nan do not affect notation or width. */
typedef struct measures {
    double min, max; /* of the magnitudes */
    bool any, whole;
} measures;

/* The format of a column of numbers: elements, or the real or imaginary parts of complex elements.
 */
typedef struct notation {
    bool sci, whole; /* scientific; all are integers, printed "1." */
    int64_t width;   /* characters of a number */
} notation;

typedef struct printer {
    cell_text out;
    lt_print_options options;
    elements shown;
    notation parts[2]; /* the second only for complex elements */
} printer;

static bool is_complex(const printer *p) { return lt_dtype_is_complex(p->shown.dtype); }

/* The element at an address, or one part of a complex element as a number; a uint64 as the int64 of
 * equal bits. */
static lt_scalar load_part(const elements *e, const char *at, int part)
{
    if (e->dtype == LT_UINT64) return lt_load_scalar(at, LT_INT64);
    lt_scalar s = lt_load_scalar(at, e->dtype);
    return s.kind != LT_SCALAR_COMPLEX ? s : lt_scalar_from_float(part == 0 ? s.v.d : s.imaginary);
}

static bool counts(double x) { return isfinite(x) && x != 0; }

static void measure(measures *m, const elements *e, int part, int d, const char *at)
{
    if (d < e->ndim) {
        for (int64_t i = 0; i < e->shown[d] && !lt_interrupted(); i++)
            measure(m, e, part, d + 1, place(e, d, at, i));
        return;
    }
    double x = lt_scalar_double(load_part(e, at, part)), magnitude = fabs(x);
    if (!counts(x)) return;
    if (!m->any || magnitude < m->min) m->min = magnitude;
    if (!m->any || magnitude > m->max) m->max = magnitude;
    m->any = true;
    m->whole = m->whole && x == ceil(x);
}

static void choose_notation(printer *p, int part)
{
    notation *n = &p->parts[part];
    measures m = {.whole = true};
    measure(&m, &p->shown, part, 0, p->shown.data);
    n->whole = m.whole;
    if (!m.any)
        n->sci = false;
    else if (p->options.sci_mode >= 0)
        n->sci = p->options.sci_mode != 0;
    else
        n->sci = m.max / m.min > 1000.0 || m.max > 1.0e8 || m.min < 1.0e-4;
}

static void add_float(printer *p, const notation *n, double x)
{
    if (isnan(x)) /* printf may print a sign */
        text_add(&p->out, "nan");
    else if (isinf(x))
        text_add(&p->out, x < 0 ? "-inf" : "inf");
    else if (n->sci)
        text_add(&p->out, "%.*e", p->options.precision, x);
    else if (n->whole)
        text_add(&p->out, "%.0f.", x);
    else
        text_add(&p->out, "%.*f", p->options.precision, x);
}

/* Appends a number without padding; returns its length. */
static int64_t add_element(printer *p, const notation *n, lt_scalar s)
{
    size_t start = p->out.n;
    if (s.kind == LT_SCALAR_FLOAT)
        add_float(p, n, s.v.d);
    else if (p->shown.dtype == LT_UINT64)
        text_add(&p->out, "%llu", (unsigned long long)s.v.i);
    else if (s.kind == LT_SCALAR_INT)
        text_add(&p->out, "%lld", (long long)s.v.i);
    else
        text_add(&p->out, s.v.i ? "True" : "False");
    return (int64_t)(p->out.n - start);
}

static void add_aligned(printer *p, const notation *n, lt_scalar s)
{
    size_t start = p->out.n;
    int64_t columns = add_element(p, n, s), missing = n->width - columns;
    if (missing <= 0 || p->out.status != LT_OK) return;
    text_repeat(&p->out, ' ', missing);
    if (p->out.status != LT_OK) return;
    memmove(p->out.v + start + missing, p->out.v + start, (size_t)columns);
    memset(p->out.v + start, ' ', (size_t)missing);
}

/* "1.0000+2.0000j": no padding between the sign and the imaginary part. */
static void add_complex(printer *p, lt_scalar s)
{
    add_aligned(p, &p->parts[0], lt_scalar_from_float(s.v.d));
    if (!signbit(s.imaginary) || isnan(s.imaginary)) text_add(&p->out, "+");
    add_element(p, &p->parts[1], lt_scalar_from_float(s.imaginary));
    text_add(&p->out, "j");
}

/* Widens the column to the longest element: each one is appended to the buffer and removed again.
 */
static void find_width(printer *p, int part, int d, const char *at)
{
    const elements *e = &p->shown;
    if (d < e->ndim) {
        for (int64_t i = 0; i < e->shown[d] && !lt_interrupted(); i++)
            find_width(p, part, d + 1, place(e, d, at, i));
        return;
    }
    notation *n = &p->parts[part];
    lt_scalar s = load_part(e, at, part);
    if (s.kind == LT_SCALAR_FLOAT && !counts(s.v.d)) return;
    size_t start = p->out.n;
    int64_t columns = add_element(p, n, s);
    p->out.n = start;
    if (columns > n->width) n->width = columns;
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct list {
    cell_text *out;
    int64_t items, per_line;
    int newlines, indent; /* between rows; columns of indentation */
} list;

static void next_item(list *l)
{
    int64_t item = l->items++;
    if (item == 0) return;
    text_add(l->out, ",");
    if (item % l->per_line != 0) {
        text_add(l->out, " ");
    } else {
        text_repeat(l->out, '\n', l->newlines);
        text_repeat(l->out, ' ', l->indent);
    }
}

/* Writes dimension d and the dimensions inside it; indent: columns before it. The innermost
 * dimension fills lines; the others write one item per line, with blank lines between blocks of
 * more than one dimension. */
static void write_dimension(printer *p, int d, const char *at, int indent)
{
    const elements *e = &p->shown;
    int inside = e->ndim - d - 1;
    if (inside < 0) {
        if (is_complex(p))
            add_complex(p, lt_load_scalar(at, e->dtype));
        else
            add_aligned(p, &p->parts[0], load_part(e, at, 0));
        return;
    }
    list l = {.out = &p->out, .per_line = 1, .newlines = 1, .indent = indent + 1};
    if (inside > 0) {
        l.newlines = inside;
    } else {
        l.per_line = (p->options.linewidth - indent) /
                     (p->parts[0].width + 2 + (is_complex(p) ? p->parts[1].width + 1 : 0));
        if (l.per_line < 1) l.per_line = 1;
    }
    text_add(&p->out, "[");
    for (int64_t i = 0; i < e->shown[d] && !lt_interrupted(); i++) {
        if (e->cut[d] && i == e->edge) {
            next_item(&l);
            text_add(&p->out, inside > 0 ? "..." : " ...");
        }
        next_item(&l);
        write_dimension(p, d + 1, place(e, d, at, i), indent + 1);
    }
    if (e->shown[d] == 0) text_add(&p->out, "...");
    text_add(&p->out, "]");
}

/* indent: columns before the elements. */
static lt_status write_elements(printer *p, lt_tensor *t, int indent)
{
    if (t->numel == 0) {
        text_add(&p->out, "[]");
        return LT_OK;
    }
    LT_TRY(find_elements(&p->shown, t, &p->options));
    p->parts[0].width = p->parts[1].width = 1;
    for (int part = 0; part <= is_complex(p) && p->shown.owner != NULL; part++) {
        if (lt_dtype_is_inexact(p->shown.dtype)) choose_notation(p, part);
        find_width(p, part, 0, p->shown.data);
    }
    write_dimension(p, 0, p->shown.data, indent);
    lt_tensor_release(p->shown.owner);
    if (lt_interrupted()) return lt_stopped();
    return LT_OK;
}

/* ---- attributes after the elements ----------------------------------------------------------- */

typedef struct trailer {
    cell_text *out;
    const lt_print_options *options;
    int64_t column; /* column at the end of the text */
} trailer;

/* Counts columns as PyTorch does: 1 too many initially, 2 for a text of one line. */
static void trailer_begin(trailer *s, printer *p, size_t start)
{
    cell_text *out = s->out = &p->out;
    s->options = &p->options;
    s->column = (int64_t)(out->n - start) + 2;
    for (size_t i = start; i < out->n; i++)
        if (out->v[i] == '\n') s->column = (int64_t)(out->n - i) + 1;
}

__attribute__((format(printf, 2, 3))) static void trailer_add(trailer *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int64_t columns = vsnprintf(NULL, 0, format, args), indent = (int64_t)strlen(OPENING);
    va_end(args);
    if (s->column + columns + 2 > s->options->linewidth) {
        text_add(s->out, ",\n");
        text_repeat(s->out, ' ', indent);
        s->column = indent + columns;
    } else {
        text_add(s->out, ", ");
        s->column += columns + 2;
    }
    va_start(args, format);
    text_add_list(s->out, format, args);
    va_end(args);
}

/* Whether the printed elements determine the dtype, so that it is omitted. */
static bool is_usual(lt_dtype dtype)
{
    return dtype == lt_get_default_dtype() || dtype == LT_INT64 || dtype == LT_BOOL ||
           dtype == (lt_get_default_dtype() == LT_FLOAT64 ? LT_COMPLEX128 : LT_COMPLEX64);
}

/* "(2, 0)", "(5,)", "()". */
static void trailer_add_size(trailer *s, const lt_tensor *t)
{
    char sizes[LT_MAX_DIMS * 22];
    lt_format_sizes(sizes, sizeof sizes, t->ndim, t->sizes);
    int inner = (int)strlen(sizes) - 2; /* without the brackets */
    trailer_add(s, "size=(%.*s%s)", inner, sizes + 1, t->ndim == 1 ? "," : "");
}

/* The attributes of a sparse tensor after its components; in COO they start a new line. */
static void trailer_add_sparse(trailer *s, const lt_tensor *t)
{
    const lt_sparse *parts = lt_sparse_of(t);
    if (parts->layout == LT_SPARSE_COO) s->column = s->options->linewidth;
    if (t->device.type != LT_CPU) {
        char device[16];
        trailer_add(s, "device='%s'", lt_format_device(device, sizeof device, t->device));
    }
    trailer_add_size(s, t);
    trailer_add(s, "nnz=%lld", (long long)parts->values->sizes[0]);
    if (!is_usual((lt_dtype)t->dtype))
        trailer_add(s, "dtype=torch.%s", lt_dtype_name((lt_dtype)t->dtype));
    trailer_add(s, "layout=%s", lt_layout_name(parts->layout));
}

static lt_status trailer_add_gradient(trailer *s, lt_tensor *t)
{
    lt_node *node = NULL;
    lt_status status = lt_grad_fn(t, &node);
    if (status == LT_ERR_RUNTIME) /* the history of the view is lost */
        trailer_add(s, "grad_fn=<Invalid>");
    else if (status != LT_OK)
        return status;
    else if (node != NULL)
        trailer_add(s, "grad_fn=<%s>", lt_node_name(node));
    else if (lt_requires_grad(t))
        trailer_add(s, "requires_grad=True");
    return LT_OK;
}

/* start: offset of the line that begins with OPENING. */
static lt_status write_trailer(printer *p, size_t start, lt_tensor *t)
{
    lt_dtype dtype = (lt_dtype)t->dtype;
    bool usual = dtype == lt_get_default_dtype();
    trailer s;
    trailer_begin(&s, p, start);
    if (lt_is_sparse(t)) {
        trailer_add_sparse(&s, t);
        return trailer_add_gradient(&s, t);
    }
    if (t->device.type != LT_CPU) {
        char device[16];
        trailer_add(&s, "device='%s'", lt_format_device(device, sizeof device, t->device));
    }
    if (t->numel == 0) {
        if (t->ndim != 1) trailer_add_size(&s, t);
    } else {
        usual = is_usual(dtype);
        if (p->options.edgeitems == 0) trailer_add_size(&s, t);
    }
    if (!usual) trailer_add(&s, "dtype=torch.%s", lt_dtype_name(dtype));
    return trailer_add_gradient(&s, t);
}

/* One component: "values=tensor([1., 2.])". */
static lt_status write_component(printer *p, const char *name, lt_tensor *t)
{
    const size_t start = p->out.n;
    text_add(&p->out, "%s=%s", name, OPENING);
    LT_TRY(write_elements(p, t, (int)(2 * strlen(OPENING) + strlen(name) + 1)));
    if (t->numel == 0) {
        /* never starts a new line */
        trailer size = {
            .out = &p->out, .options = &p->options, .column = (int64_t)start - (int64_t)p->out.n};
        trailer_add_size(&size, t);
    }
    text_add(&p->out, ")");
    return p->out.status;
}

/* Writes an index component, counted from the caller's first position. */
static lt_status write_indices(printer *p, const char *name, lt_tensor *indices)
{
    lt_tensor *base = NULL, *counted = NULL;
    lt_status status = lt_tensor_from_scalar(lt_scalar_from_int(lt_user_index(0)), &base);
    if (status == LT_OK) status = lt_add(indices, base, lt_scalar_from_int(1), &counted);
    if (status == LT_OK) status = write_component(p, name, counted);
    lt_tensor_release(base);
    lt_tensor_release(counted);
    text_add(&p->out, ",\n%*s", (int)strlen(OPENING), "");
    return status;
}

static lt_status write_components(printer *p, const lt_tensor *t)
{
    const lt_sparse *parts = lt_sparse_of(t);
    const bool by_rows = parts->layout == LT_SPARSE_CSR;
    if (parts->layout == LT_SPARSE_COO) {
        LT_TRY(write_indices(p, "indices", parts->indices));
    } else {
        LT_TRY(write_indices(p, by_rows ? "crow_indices" : "ccol_indices", parts->compressed));
        LT_TRY(write_indices(p, by_rows ? "col_indices" : "row_indices", parts->plain));
    }
    return write_component(p, "values", parts->values);
}

/* Writes the whole text; after a failure p->out holds the text so far, which the caller frees. */
static lt_status write_tensor(printer *p, lt_tensor *t)
{
    /* includes the batch dimensions that the function under vmap does not see */
    if (lt_is_batched(t)) {
        text_add(&p->out, "BatchedTensor(");
        LT_TRY(write_tensor(p, t->view_base));
        text_add(&p->out, ")");
        return p->out.status;
    }
    if (t->flags & LT_FLAG_PARAMETER) text_add(&p->out, "Parameter containing:\n");
    size_t start = p->out.n;
    text_add(&p->out, OPENING);
    LT_TRY(lt_is_sparse(t) ? write_components(p, t) : write_elements(p, t, (int)strlen(OPENING)));
    LT_TRY(p->out.status);
    LT_TRY(write_trailer(p, start, t));
    text_add(&p->out, ")");
    return p->out.status;
}

lt_status lt_tensor_format(lt_tensor *t, char **out, size_t *n)
{
    printer p = {.out = {.status = LT_OK}, .options = lt_print_settings(lt_tls.context)};
    const lt_locale before = lt_plain_locale_begin();
    lt_status status = write_tensor(&p, t);
    lt_plain_locale_end(before);
    if (status != LT_OK) {
        lt_mem_free(p.out.v);
        return status;
    }
    *out = p.out.v;
    *n = p.out.n;
    return LT_OK;
}
