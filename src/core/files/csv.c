/* csv.c - see csv.h. Values are stored in a linked list of pieces, which never move: a long column
 * exists twice only while it is copied to its tensor, piece by piece. */
#include "csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv_number.h"
#include "error.h"
#include "memory/alloc.h"
#include "memory/budget.h"
#include "tensor.h"

enum {
    FIRST_PIECE = 1 << 6,
    LARGEST_PIECE = 1 << 18, /* bytes; each piece is twice as large as its predecessor */
    LUA_TEXT = 64            /* bytes of a short string in a Lua list */
};

/* Numbers, or strings, each preceded by its length. */
struct lt_csv_piece {
    struct lt_csv_piece *next;
    int64_t used, room, taken; /* bytes; taken: returned by lt_csv_next_text */
    _Alignas(8) char bytes[];
};
typedef struct lt_csv_piece piece;

typedef struct csv_reading {
    const char *path;
    const lt_csv_options *options;
    lt_csv_table *table;
    bool starts_missing[256]; /* first characters of the strings that mean a missing value */
    bool empty_is_missing;
} csv_reading;

/* ---- pieces ---------------------------------------------------------------------------------- */

static void free_pieces(piece **first)
{
    while (*first != NULL) {
        piece *next = (*first)->next;
        lt_mem_free(*first);
        *first = next;
    }
}

/* Appends n bytes of space, in a new piece if necessary; NULL: out of memory or budget. */
static char *append_piece(piece **first, piece **last, int64_t n)
{
    if (*first == NULL || (*last)->used + n > (*last)->room) {
        int64_t room = *first == NULL                  ? FIRST_PIECE
                       : (*last)->room < LARGEST_PIECE ? 2 * (*last)->room
                                                       : LARGEST_PIECE;
        if (room < n) room = n;
        if (lt_budget_spend((int64_t)sizeof(piece) + room) != LT_OK) return NULL;
        piece *fresh = lt_mem_alloc(sizeof *fresh + (size_t)room);
        if (fresh == NULL) return NULL;
        *fresh = (piece){.room = room};
        if (*first == NULL)
            *first = fresh;
        else
            (*last)->next = fresh;
        *last = fresh;
    }
    char *at = (*last)->bytes + (*last)->used;
    (*last)->used += n;
    return at;
}

static lt_status add_number(lt_csv_column *c, const void *number)
{
    char *to = append_piece(&c->first, &c->last, 8);
    if (to == NULL) return LT_ERR_MEMORY;
    memcpy(to, number, 8);
    return LT_OK;
}

static lt_status add_text(lt_csv_column *c, const lt_csv_field *f)
{
    char *to = append_piece(&c->first, &c->last, (int64_t)sizeof f->length + f->length);
    if (to == NULL) return LT_ERR_MEMORY;
    memcpy(to, &f->length, sizeof f->length);
    memcpy(to + sizeof f->length, f->text, (size_t)f->length);
    return LT_OK;
}

/* Converts the column's integers to the nearest doubles. */
static void make_float(lt_csv_column *c)
{
    for (piece *p = c->first; p != NULL; p = p->next)
        for (int64_t i = 0; i < p->used; i += 8) {
            int64_t integer;
            memcpy(&integer, p->bytes + i, 8);
            const double number = (double)integer;
            memcpy(p->bytes + i, &number, 8);
        }
    c->kind = LT_CSV_FLOAT;
}

/* Moves the numbers to a tensor. */
static lt_status finish_numbers(lt_csv_column *c, int64_t rows)
{
    LT_TRY(lt_tensor_new(c->kind == LT_CSV_INTEGER ? LT_INT64 : LT_FLOAT64, lt_host, 1, &rows,
                         &c->numbers));
    char *to = lt_data(c->numbers);
    while (c->first != NULL) {
        piece *p = c->first;
        memcpy(to, p->bytes, (size_t)p->used);
        to += p->used;
        c->first = p->next;
        lt_mem_free(p);
    }
    return LT_OK;
}

bool lt_csv_next_text(lt_csv_column *c, lt_csv_text *out)
{
    while (c->texts != NULL && c->texts->taken == c->texts->used) {
        piece *next = c->texts->next;
        lt_mem_free(c->texts);
        c->texts = next;
    }
    if (c->texts == NULL) return false;
    char *at = c->texts->bytes + c->texts->taken;
    memcpy(&out->length, at, sizeof out->length);
    out->bytes = at + sizeof out->length;
    c->texts->taken += (int64_t)sizeof out->length + out->length;
    return true;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool is_text(const lt_csv_text *text, const lt_csv_field *f)
{
    return text->length == f->length && memcmp(text->bytes, f->text, (size_t)f->length) == 0;
}

static bool is_missing(const csv_reading *r, const lt_csv_field *f)
{
    if (f->length == 0) return r->empty_is_missing;
    if (!r->starts_missing[(unsigned char)f->text[0]]) return false;
    for (int64_t i = 0; i < r->options->n_missing; i++)
        if (is_text(&r->options->missing[i], f)) return true;
    return false;
}

static lt_status refuse_field(const csv_reading *r, const lt_csv_column *c, const lt_csv_field *f,
                              int64_t line)
{
    return lt_error(LT_ERR_IO, "%s:%lld: column '%.*s': \"%.*s\" is no %s", r->path,
                    (long long)line, (int)(c->name.length < 100 ? c->name.length : 100),
                    c->name.bytes, (int)(f->length < 100 ? f->length : 100), f->text,
                    c->asked == LT_CSV_INTEGER ? "integer" : "number");
}

/* Converts x for an integer column; false if x is no int64. */
static bool as_integer(double x, int64_t *out)
{
    if (!(x >= -0x1p63 && x < 0x1p63) || x != floor(x)) return false;
    *out = (int64_t)x;
    return true;
}

static lt_status take_asked_integer(const csv_reading *r, lt_csv_column *c, lt_csv_field *f,
                                    int64_t line)
{
    lt_csv_number number;
    const lt_scalar fill = r->options->fill;
    if (is_missing(r, f)) {
        number.whole = fill.kind == LT_SCALAR_INT;
        number.integer = fill.v.i;
        number.real = lt_scalar_double(fill);
    } else if (!lt_csv_number_parse(f->text, f->length, &number)) {
        return refuse_field(r, c, f, line);
    }
    if (!number.whole && !as_integer(number.real, &number.integer))
        return refuse_field(r, c, f, line);
    return add_number(c, &number.integer);
}

static lt_status take_field(const csv_reading *r, lt_csv_column *c, lt_csv_field *f, int64_t line)
{
    lt_csv_number number;
    if (f->doubled) lt_csv_undouble(f);
    if (c->kind == LT_CSV_TEXT) return add_text(c, f);
    if (c->asked == LT_CSV_INTEGER) return take_asked_integer(r, c, f, line);
    if (is_missing(r, f)) {
        number.whole = false;
        number.real = lt_scalar_double(r->options->fill);
    } else if (!lt_csv_number_parse(f->text, f->length, &number)) {
        if (c->asked == LT_CSV_FLOAT) return refuse_field(r, c, f, line);
        c->again = r->table->rows > 0;
        c->kind = LT_CSV_TEXT;
        free_pieces(&c->first);
        return c->again ? LT_OK : add_text(c, f);
    }
    if (c->kind == LT_CSV_INTEGER && !number.whole) make_float(c);
    return add_number(c, c->kind == LT_CSV_INTEGER ? (const void *)&number.integer : &number.real);
}

/* ---- columns --------------------------------------------------------------------------------- */

static lt_status copy_text(const char *bytes, int64_t length, lt_csv_text *out)
{
    char *copy = lt_mem_array(length + 1, 1);
    if (copy == NULL) return LT_ERR_MEMORY;
    memcpy(copy, bytes, (size_t)length);
    copy[length] = '\0';
    *out = (lt_csv_text){copy, length};
    return LT_OK;
}

static lt_status name_column(const csv_reading *r, int64_t i, lt_csv_field *f)
{
    lt_csv_column *c = &r->table->columns[i];
    char made[32];
    if (r->options->headed && f->doubled) lt_csv_undouble(f);
    if (r->options->headed)
        LT_TRY(copy_text(f->text, f->length, &c->name));
    else if (r->options->names != NULL)
        LT_TRY(copy_text(r->options->names[i].bytes, r->options->names[i].length, &c->name));
    else
        LT_TRY(copy_text(made, snprintf(made, sizeof made, "column_%lld", (long long)i + 1),
                         &c->name));
    return LT_OK;
}

static lt_csv_column *column_of(const lt_csv_table *t, const char *name)
{
    const int64_t length = (int64_t)strlen(name);
    for (int64_t i = 0; i < t->n; i++)
        if (t->columns[i].name.length == length &&
            memcmp(t->columns[i].name.bytes, name, (size_t)length) == 0)
            return &t->columns[i];
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    const lt_csv_text *x = a, *y = b;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return memcmp(x->bytes, y->bytes, (size_t)x->length);
}

static lt_status check_names(const csv_reading *r)
{
    const lt_csv_table *t = r->table;
    lt_csv_text *names = lt_mem_array(t->n, sizeof *names);
    if (names == NULL) return LT_ERR_MEMORY;
    for (int64_t i = 0; i < t->n; i++) names[i] = t->columns[i].name;
    qsort(names, (size_t)t->n, sizeof *names, compare_names);
    lt_status status = LT_OK;
    for (int64_t i = 1; i < t->n && status == LT_OK; i++)
        if (compare_names(&names[i - 1], &names[i]) == 0)
            status =
                lt_error(LT_ERR_IO, "%s: two columns are called '%.100s'", r->path, names[i].bytes);
    lt_mem_free(names);
    return status;
}

static lt_status apply_types(const csv_reading *r)
{
    for (int64_t i = 0; i < r->options->n_types; i++) {
        const lt_csv_type *type = &r->options->types[i];
        lt_csv_column *c = column_of(r->table, type->name);
        if (c == NULL)
            return lt_error(LT_ERR_IO, "%s: unknown column '%.100s' in types%s%.100s%s", r->path,
                            type->name, r->table->n > 0 ? "; the first column is '" : "",
                            r->table->n > 0 ? r->table->columns[0].name.bytes : "",
                            r->table->n > 0 ? "'" : "");
        c->asked = type->kind;
        c->kind = type->kind == LT_CSV_ANY ? LT_CSV_INTEGER : type->kind;
    }
    return LT_OK;
}

/* Creates the columns from the first record, which contains their names or determines their number.
 */
static lt_status begin_columns(const csv_reading *r, lt_csv_field *fields, int64_t n)
{
    const bool named = !r->options->headed && r->options->names != NULL;
    lt_csv_table *t = r->table;
    const int64_t count = named ? r->options->n_names : n;
    t->columns = lt_mem_zarray(count, sizeof *t->columns);
    if (t->columns == NULL) return LT_ERR_MEMORY;
    for (t->n = 0; t->n < count; t->n++) {
        LT_TRY(name_column(r, t->n, named ? NULL : &fields[t->n]));
        t->columns[t->n].kind = LT_CSV_INTEGER;
    }
    LT_TRY(check_names(r));
    return apply_types(r);
}

static lt_status take_record(const csv_reading *r, lt_csv_field *fields, int64_t n, int64_t line,
                             bool again)
{
    lt_csv_table *t = r->table;
    if (n != t->n)
        return lt_error(LT_ERR_IO, "%s:%lld: got %lld fields, expected %lld", r->path,
                        (long long)line, (long long)n, (long long)t->n);
    for (int64_t i = 0; i < n; i++)
        if (t->columns[i].again == again) LT_TRY(take_field(r, &t->columns[i], &fields[i], line));
    return LT_OK;
}

/* Reads the file once; again: only for columns that turned out to hold text. */
static lt_status pass(const csv_reading *r, bool again)
{
    lt_csv_reader *reader = NULL;
    lt_csv_field *fields;
    int64_t n;
    int64_t records = 0;
    lt_status status;
    bool begun = false;
    LT_TRY(lt_csv_open(r->path, &r->options->format, &reader));
    for (;;) {
        LT_CHECK(lt_csv_next(reader, &fields, &n));
        const bool first = !begun;
        begun = true;
        if (first && !again) {
            if (n > 0 || r->options->names != NULL)
                LT_CHECK(begin_columns(r, fields, n));
            else
                LT_CHECK(apply_types(r));
        }
        if (n == 0) break;
        if (first && r->options->headed) continue;
        LT_CHECK(take_record(r, fields, n, lt_csv_line(reader), again));
        records++;
        if (!again) r->table->rows = records;
    }
    if (records != r->table->rows)
        status = lt_error(LT_ERR_IO, "%s: the file was changed while it was read", r->path);
done:
    lt_csv_close(reader);
    return status;
}

static lt_status finish_table(const csv_reading *r)
{
    bool again = false;
    for (int64_t i = 0; i < r->table->n; i++) again = again || r->table->columns[i].again;
    if (again) LT_TRY(pass(r, true));
    for (int64_t i = 0; i < r->table->n; i++) {
        lt_csv_column *c = &r->table->columns[i];
        if (c->kind != LT_CSV_TEXT) {
            LT_TRY(finish_numbers(c, r->table->rows));
            continue;
        }
        LT_TRY(lt_budget_spend(LUA_TEXT * r->table->rows));
        c->texts = c->first;
        c->first = NULL;
    }
    return LT_OK;
}

lt_status lt_csv_read(const char *path, const lt_csv_options *options, lt_csv_table *out)
{
    csv_reading r = {.path = path, .options = options, .table = out};
    *out = (lt_csv_table){0};
    for (int64_t i = 0; i < options->n_missing; i++) {
        if (options->missing[i].length == 0)
            r.empty_is_missing = true;
        else
            r.starts_missing[(unsigned char)options->missing[i].bytes[0]] = true;
    }
    lt_status status = pass(&r, false);
    if (status == LT_OK) status = finish_table(&r);
    if (status != LT_OK) lt_csv_free(out);
    return status;
}

void lt_csv_free(lt_csv_table *table)
{
    for (int64_t i = 0; i < table->n; i++) {
        lt_csv_column *c = &table->columns[i];
        lt_mem_free((char *)c->name.bytes);
        lt_tensor_release(c->numbers);
        free_pieces(&c->texts);
        free_pieces(&c->first);
    }
    lt_mem_free(table->columns);
    *table = (lt_csv_table){0};
}
