/* safetensors.c - see safetensors.h. The header is parsed and printed by cJSON, which reads numbers
 * as doubles: sizes and offsets are exact up to 2^53. Includes cJSON and core. */
#include "safetensors.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/interrupt.h"
#include "system/atomic_file.h"
#include "user_index.h"
#include "error.h"
#include "mapped_file.h"
#include "memory/alloc.h"
#include "paths.h"
#include "saved_form.h"
#include "tensor.h"

#ifndef LT_OPENED_CJSON_H
static lt_status lt_json_open(void) { return LT_OK; } /* the library is linked */
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are stored in little-endian order");

enum {
    LENGTH_BYTES = 8,
    HEADER_MAX = 100000000, /* the format's limit */
    ALIGNMENT = 8           /* of the first element; the header is padded with blanks */
};
static const char METADATA[] = "__metadata__";

/* NULL: the format does not support the dtype. */
static const char *const dtype_names[LT_DTYPE_COUNT] = {
    [LT_BOOL] = "BOOL",
    [LT_UINT8] = "U8",
    [LT_INT8] = "I8",
    [LT_INT16] = "I16",
    [LT_INT32] = "I32",
    [LT_INT64] = "I64",
    [LT_FLOAT16] = "F16",
    [LT_BFLOAT16] = "BF16",
    [LT_FLOAT32] = "F32",
    [LT_FLOAT64] = "F64",
    [LT_COMPLEX64] = "C64",
    [LT_UINT16] = "U16",
    [LT_UINT32] = "U32",
    [LT_UINT64] = "U64",
    [LT_FLOAT8_E5M2] = "F8_E5M2",
    [LT_FLOAT8_E4M3FN] = "F8_E4M3",
    [LT_FLOAT8_E5M2FNUZ] = "F8_E5M2FNUZ",
    [LT_FLOAT8_E4M3FNUZ] = "F8_E4M3FNUZ",
    [LT_FLOAT8_E8M0FNU] = "F8_E8M0",
};

/* ---- reading the header ---------------------------------------------------------------------- */

typedef struct tensor_entry {
    const char *name;
    lt_dtype dtype;
    int ndim;
    int64_t sizes[LT_MAX_DIMS];
    int64_t begin, end; /* byte range, relative to the first element in the file */
} tensor_entry;

#define DAMAGED(path, format, ...) lt_error(LT_ERR_IO, "%s: " format, path, __VA_ARGS__)
/* Truncates names, which come from the file. */
#define BAD_TENSOR(path, name, format, ...)                                                        \
    DAMAGED(path, "tensor '%.100s': " format, name, __VA_ARGS__)

static bool read_count(const cJSON *item, int64_t *out)
{
    double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
    if (!(value >= 0 && value <= 0x1p53) || value != (double)(int64_t)value) return false;
    *out = (int64_t)value;
    return true;
}

static lt_status parse_shape(const char *path, const cJSON *shape, tensor_entry *e, int64_t *bytes)
{
    const cJSON *size;
    int64_t numel;
    cJSON_ArrayForEach(size, shape)
    {
        if (e->ndim == LT_MAX_DIMS)
            return BAD_TENSOR(path, e->name, "more than %d dimensions", LT_MAX_DIMS);
        if (!read_count(size, &e->sizes[e->ndim++]))
            return BAD_TENSOR(path, e->name, "size %d of its shape is not a whole number", e->ndim);
    }
    bool fits = lt_check_sizes(e->ndim, e->sizes, &numel) == LT_OK;
    if (!fits || __builtin_mul_overflow(numel, (int64_t)lt_dtype_size(e->dtype), bytes))
        return BAD_TENSOR(path, e->name, "%s", "its shape is too large");
    return LT_OK;
}

static lt_status parse_dtype(const char *path, const char *name, tensor_entry *e)
{
    for (int d = 0; d < LT_DTYPE_COUNT; d++) {
        if (dtype_names[d] == NULL || strcmp(name, dtype_names[d]) != 0) continue;
        e->dtype = (lt_dtype)d;
        return LT_OK;
    }
    return BAD_TENSOR(path, e->name, "elements of type '%.20s', which ltensor does not have", name);
}

static lt_status parse_entry(const char *path, const char *name, const cJSON *item, tensor_entry *e)
{
    const cJSON *dtype = NULL, *shape = NULL, *offsets = NULL, *field;
    *e = (tensor_entry){.name = name};
    if (!cJSON_IsObject(item))
        return BAD_TENSOR(path, e->name, "%s", "its description is not an object");
    cJSON_ArrayForEach(field, item)
    {
        const cJSON **slot = strcmp(field->string, "dtype") == 0          ? &dtype
                             : strcmp(field->string, "shape") == 0        ? &shape
                             : strcmp(field->string, "data_offsets") == 0 ? &offsets
                                                                          : NULL;
        if (slot == NULL) continue;
        if (*slot != NULL) return BAD_TENSOR(path, e->name, "%s occurs twice", field->string);
        *slot = field;
    }
    if (!cJSON_IsString(dtype) || !cJSON_IsArray(shape) || !cJSON_IsArray(offsets))
        return BAD_TENSOR(path, e->name, "%s",
                          "dtype, shape or data_offsets is missing or of the wrong kind");
    int64_t bytes;
    LT_TRY(parse_dtype(path, dtype->valuestring, e));
    LT_TRY(parse_shape(path, shape, e, &bytes));
    const cJSON *begin = offsets->child, *end = begin != NULL ? begin->next : NULL;
    if (end == NULL || end->next != NULL || !read_count(begin, &e->begin) ||
        !read_count(end, &e->end))
        return BAD_TENSOR(path, e->name, "%s", "data_offsets are not two whole numbers");
    if (e->begin > e->end || e->end - e->begin != bytes)
        return BAD_TENSOR(path, e->name,
                          "its shape needs %lld bytes, its offsets %lld to %lld are for others",
                          (long long)bytes, (long long)e->begin, (long long)e->end);
    return LT_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tensor_entry *)a)->name, ((const tensor_entry *)b)->name);
}

static int by_offset(const void *a, const void *b)
{
    const tensor_entry *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return strcmp(x->name, y->name); /* a deterministic order for empty ones */
}

/* Sorts the entries by offset. Error unless they cover the data_bytes bytes without gaps or
 * overlaps. */
static lt_status check_entries(const char *path, tensor_entry *entries, int64_t n,
                               int64_t data_bytes)
{
    if (n > 0) qsort(entries, (size_t)n, sizeof *entries, by_name);
    for (int64_t i = 1; i < n; i++) {
        if (strcmp(entries[i - 1].name, entries[i].name) == 0)
            return BAD_TENSOR(path, entries[i].name, "%s", "the name occurs twice");
    }
    if (n > 0) qsort(entries, (size_t)n, sizeof *entries, by_offset);
    int64_t end = 0;
    for (int64_t i = 0; i < n; i++) {
        if (entries[i].begin != end)
            return BAD_TENSOR(
                path, entries[i].name,
                "its bytes start at %lld, expected %lld, the end of the previous tensor",
                (long long)entries[i].begin, (long long)end);
        end = entries[i].end;
    }
    if (end != data_bytes)
        return DAMAGED(path, "%lld bytes of elements, the header describes %lld%s",
                       (long long)data_bytes, (long long)end,
                       end > data_bytes ? " (the file is cut short)" : "");
    return LT_OK;
}

static lt_status parse_texts(const char *path, const cJSON *object, lt_safetensors *out)
{
    const cJSON *item;
    if (!cJSON_IsObject(object)) return DAMAGED(path, "%s is not an object", METADATA);
    out->texts = lt_mem_array(cJSON_GetArraySize(object), sizeof *out->texts);
    if (out->texts == NULL) return LT_ERR_MEMORY;
    cJSON_ArrayForEach(item, object)
    {
        if (!cJSON_IsString(item))
            return DAMAGED(path, "%s has '%.100s', which is not a text", METADATA, item->string);
        out->texts[out->n_texts++] = (lt_named_text){item->string, item->valuestring};
    }
    return LT_OK;
}

/* The zero-terminated text of a header and the parser's position in it. */
typedef struct parser {
    const char *path, *text, *at, *end;
} parser;

static lt_status fail_at(const parser *p)
{
    return DAMAGED(p->path, "the header is not a JSON object (error at byte %lld)",
                   lt_user_index(p->at - p->text));
}

static char skip_blanks(parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
    return *p->at;
}

/* Consumes a character of the grammar. */
static lt_status expect(parser *p, char c)
{
    if (skip_blanks(p) != c) return fail_at(p);
    p->at++;
    return LT_OK;
}

/* The caller owns *out. */
static lt_status parse_value(parser *p, cJSON **out)
{
    skip_blanks(p);
    const char *end = p->at;
    *out = cJSON_ParseWithLengthOpts(p->at, (size_t)(p->end - p->at), &end, false);
    p->at = end;
    return *out != NULL ? LT_OK : fail_at(p);
}

/* The names and texts of a header, in out->json, and its entries. */
typedef struct file_header {
    lt_safetensors *out;
    tensor_entry *v;
    int64_t n, capacity;
} file_header;

static lt_status add_entry(file_header *h, const char *path, const char *name, const cJSON *item)
{
    if (h->n == h->capacity) {
        const int64_t capacity = h->capacity > 0 ? h->capacity + h->capacity / 2 : 64;
        tensor_entry *v = lt_mem_rearray(h->v, capacity, sizeof *v);
        if (v == NULL) return LT_ERR_MEMORY;
        h->v = v, h->capacity = capacity;
    }
    return parse_entry(path, name, item, &h->v[h->n++]);
}

static lt_status parse_member(parser *p, file_header *h)
{
    cJSON *name, *value;
    if (skip_blanks(p) != '"') return fail_at(p);
    LT_TRY(parse_value(p, &name));
    cJSON_AddItemToArray(h->out->json, name);
    LT_TRY(expect(p, ':'));
    LT_TRY(parse_value(p, &value));
    if (strcmp(name->valuestring, METADATA) == 0) {
        cJSON_AddItemToArray(h->out->json, value);
        if (h->out->texts != NULL) return DAMAGED(p->path, "%s occurs twice", METADATA);
        return parse_texts(p->path, value, h->out);
    }
    const lt_status status = add_entry(h, p->path, name->valuestring, value);
    cJSON_Delete(value);
    return status;
}

/* Parses member by member: a tree of the whole header would use 900 bytes per tensor. */
static lt_status parse_header(parser *p, file_header *h)
{
    LT_TRY(lt_json_open());
    h->out->json = cJSON_CreateArray();
    if (h->out->json == NULL) return lt_error(LT_ERR_MEMORY, "out of memory");
    if (*p->text != '{' || memchr(p->text, '\0', (size_t)(p->end - p->text)) != NULL)
        return fail_at(p);
    p->at++;
    if (skip_blanks(p) != '}') {
        LT_TRY(parse_member(p, h));
        while (skip_blanks(p) == ',') {
            p->at++;
            LT_TRY(parse_member(p, h));
        }
    }
    LT_TRY(expect(p, '}'));
    skip_blanks(p);
    return p->at == p->end ? LT_OK : fail_at(p);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* *data_bytes: the number of bytes after the header. */
static lt_status read_header(lt_byte_source *source, file_header *h, int64_t *data_bytes)
{
    unsigned char start[LENGTH_BYTES];
    const char *path = source->path;
    const int64_t size = source->size, rest = size - LENGTH_BYTES;
    if (rest < 0)
        return DAMAGED(path, "%lld bytes, too short for a safetensors file", (long long)size);
    LT_TRY(lt_byte_source_read(source, start, LENGTH_BYTES));
    uint64_t length;
    memcpy(&length, start, sizeof length);
    if (length > HEADER_MAX)
        return DAMAGED(
            path,
            "not a safetensors file: its header would have %llu bytes, at most %d are allowed",
            (unsigned long long)length, HEADER_MAX);
    if ((int64_t)length > rest)
        return DAMAGED(path,
                       "a header of %llu bytes, the file has only %lld more: cut short or not a "
                       "safetensors file",
                       (unsigned long long)length, (long long)rest);

    lt_status status = LT_OK;
    char *text = lt_mem_alloc((size_t)length + 1);
    if (text == NULL) return LT_ERR_MEMORY;
    LT_CHECK(lt_byte_source_read(source, text, (int64_t)length));
    text[length] = '\0';
    parser p = {path, text, text, text + length};
    LT_CHECK(parse_header(&p, h));
    *data_bytes = rest - (int64_t)length;
done:
    lt_mem_free(text);
    return status;
}

static lt_status read_tensor(lt_byte_source *source, const tensor_entry *e, lt_tensor **out)
{
    lt_tensor *t;
    LT_TRY(lt_tensor_new(e->dtype, lt_host, e->ndim, e->sizes, &t));
    lt_status status = lt_byte_source_read(source, lt_data(t), e->end - e->begin);
    if (status != LT_OK) {
        lt_tensor_release(t);
        return status;
    }
    /* Kernels require 0 or 1. */
    if (e->dtype == LT_BOOL) {
        uint8_t *p = lt_tensor_data(t);
        for (int64_t i = 0; i < t->numel; i++) p[i] = p[i] != 0;
    }
    *out = t;
    return LT_OK;
}

/* start: offset of the first element. */
static lt_status read_tensors(lt_byte_source *source, bool mapped, const file_header *h,
                              int64_t start)
{
    lt_status status = LT_OK;
    lt_safetensors *out = h->out;
    lt_tensor *mapping = NULL;
    if (mapped)
        LT_CHECK(lt_tensor_from_file(source->path, false, source->size, LT_UINT8, &mapping));
    for (; out->n < h->n; out->n++) {
        const tensor_entry *e = &h->v[out->n];
        lt_named_tensor *named = &out->tensors[out->n];
        const int64_t at = start + e->begin, bytes = e->end - e->begin;
        if (mapped && lt_can_map(at, e->dtype)) {
            LT_CHECK(lt_mapped_part(mapping, at, e->dtype, e->ndim, e->sizes, &named->tensor));
        } else {
            if (mapped) LT_CHECK(lt_byte_source_section(source, at, bytes, bytes, false, false));
            LT_CHECK(read_tensor(source, e, &named->tensor));
        }
        named->name = e->name;
    }
done:
    if (mapping != NULL) lt_tensor_release(mapping);
    return status;
}

static lt_status read_source(lt_byte_source *source, bool mapped, lt_safetensors *out)
{
    lt_status status = LT_OK;
    lt_safetensors file = {0};
    file_header h = {.out = &file};
    int64_t data_bytes;
    LT_CHECK(read_header(source, &h, &data_bytes));
    LT_CHECK(check_entries(source->path, h.v, h.n, data_bytes));
    file.tensors = lt_mem_zarray(h.n, sizeof *file.tensors);
    if (file.tensors == NULL) {
        status = LT_ERR_MEMORY;
        goto done;
    }
    LT_CHECK(read_tensors(source, mapped, &h, source->size - data_bytes));
    *out = file;
    file = (lt_safetensors){0};
done:
    lt_safetensors_free(&file);
    lt_mem_free(h.v);
    return status;
}

lt_status lt_safetensors_read_source(lt_byte_source *source, lt_safetensors *out)
{
    return read_source(source, false, out);
}

lt_status lt_safetensors_read(const char *path, bool mapped, lt_safetensors *out)
{
    lt_byte_source source;
    LT_TRY(lt_byte_source_open(&source, path));
    const lt_status status = read_source(&source, mapped, out);
    lt_byte_source_close(&source);
    return status;
}

void lt_safetensors_free(lt_safetensors *file)
{
    for (int64_t i = 0; i < file->n; i++) lt_tensor_release(file->tensors[i].tensor);
    lt_mem_free(file->tensors);
    lt_mem_free(file->texts);
    cJSON_Delete(file->json);
    *file = (lt_safetensors){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Consumes item; NULL: a failed allocation, following cJSON. */
static lt_status put_item(cJSON *parent, const char *name, cJSON *item)
{
    if (cJSON_AddItemToObject(parent, name, item)) return LT_OK;
    cJSON_Delete(item);
    return lt_error(LT_ERR_MEMORY, "out of memory");
}

/* Adds raw text, which uses a third of the memory of cJSON items. It needs no escapes. */
static lt_status add_header_entry(cJSON *root, const lt_named_tensor *named, int64_t begin,
                                  int64_t end)
{
    const lt_tensor *t = named->tensor;
    char text[LT_MAX_DIMS * 21 + 120];
    size_t n;
    if (dtype_names[t->dtype] == NULL)
        return lt_error(LT_ERR_RUNTIME, "tensor '%s': the format has no elements of %s",
                        named->name, lt_dtype_name((lt_dtype)t->dtype));
    n = (size_t)sprintf(text, "{\"dtype\":\"%s\",\"shape\":[", dtype_names[t->dtype]);
    for (int d = 0; d < t->ndim; d++)
        n += (size_t)sprintf(text + n, "%s%lld", d > 0 ? "," : "", (long long)t->sizes[d]);
    sprintf(text + n, "],\"data_offsets\":[%lld,%lld]}", (long long)begin, (long long)end);
    return put_item(root, named->name, cJSON_CreateRaw(text));
}

static lt_status describe_texts(cJSON *root, const lt_named_text *texts, int64_t n)
{
    cJSON *object;
    if (n == 0) return LT_OK;
    LT_TRY(put_item(root, METADATA, object = cJSON_CreateObject()));
    for (int64_t i = 0; i < n; i++)
        LT_TRY(put_item(object, texts[i].name, cJSON_CreateString(texts[i].text)));
    return LT_OK;
}

/* Sorts by element size, descending, so that all elements are aligned in the file. order receives
 * the indices of the tensors. */
static void order_by_width(const lt_named_tensor *tensors, int64_t n, int64_t *order)
{
    int64_t count = 0;
    for (size_t width = 16; width > 0; width /= 2) {
        for (int64_t i = 0; i < n; i++)
            if (lt_dtype_size((lt_dtype)tensors[i].tensor->dtype) == width) order[count++] = i;
    }
}

/* *data_bytes: of all elements. */
static lt_status describe_tensors(cJSON *root, const lt_named_tensor *tensors, int64_t n,
                                  const int64_t *order, int64_t *data_bytes)
{
    int64_t begin = 0, end, bytes;
    for (int64_t i = 0; i < n; i++, begin = end) {
        const lt_tensor *t = tensors[order[i]].tensor;
        bool overflow =
            __builtin_mul_overflow(t->numel, (int64_t)lt_dtype_size((lt_dtype)t->dtype), &bytes);
        if (overflow || __builtin_add_overflow(begin, bytes, &end))
            return lt_error(LT_ERR_RUNTIME, "the tensors are too large for a file");
        LT_TRY(add_header_entry(root, &tensors[order[i]], begin, end));
    }
    *data_bytes = begin;
    return LT_OK;
}

static lt_status write_header(const lt_byte_sink *sink, const cJSON *root, int64_t data_bytes)
{
    static const char blanks[] = "        ";
    char *text = cJSON_PrintUnformatted(root);
    if (text == NULL) return lt_error(LT_ERR_MEMORY, "out of memory");
    lt_status status = LT_OK;
    size_t printed = strlen(text), padding = (ALIGNMENT - printed % ALIGNMENT) % ALIGNMENT;
    uint64_t length = printed + padding;
    if (length > HEADER_MAX) {
        status = DAMAGED(
            sink->shown,
            "the header of names and texts has %llu bytes, but the format allows at most %d",
            (unsigned long long)length, HEADER_MAX);
        goto done;
    }
    if (sink->begin != NULL)
        LT_CHECK(sink->begin(sink->user, LENGTH_BYTES + (int64_t)length + data_bytes));
    LT_CHECK(sink->write(sink->user, &length, sizeof length));
    LT_CHECK(sink->write(sink->user, text, printed));
    LT_CHECK(sink->write(sink->user, blanks, padding));
done:
    cJSON_free(text);
    return status;
}

static lt_status write_tensor(const lt_byte_sink *sink, lt_tensor *t)
{
    lt_tensor *dense;
    LT_TRY(lt_saved_form(t, &dense));
    lt_status status = LT_OK;
    if (t->numel > 0)
        status = sink->write(sink->user, lt_data(dense),
                             (size_t)t->numel * lt_dtype_size((lt_dtype)t->dtype));
    lt_tensor_release(dense);
    return status;
}

lt_status lt_safetensors_write_sink(const lt_byte_sink *sink, const lt_named_tensor *tensors,
                                    int64_t n, const lt_named_text *texts, int64_t n_texts)
{
    LT_TRY(lt_json_open());
    lt_status status = LT_OK;
    int64_t data_bytes;
    cJSON *root = cJSON_CreateObject();
    int64_t *order = lt_mem_array(n, sizeof *order);
    if (root == NULL || order == NULL) {
        status = lt_error(LT_ERR_MEMORY, "out of memory");
        goto done;
    }
    order_by_width(tensors, n, order);
    LT_CHECK(describe_texts(root, texts, n_texts));
    LT_CHECK(describe_tensors(root, tensors, n, order, &data_bytes));
    LT_CHECK(write_header(sink, root, data_bytes));
    for (int64_t i = 0; i < n; i++) LT_CHECK(write_tensor(sink, tensors[order[i]].tensor));
done:
    lt_mem_free(order);
    cJSON_Delete(root);
    return status;
}

/* The file of a path; opened when its header is complete. */
typedef struct path_sink {
    const char *path;
    lt_atomic_file file;
    bool is_open;
} path_sink;

static lt_status begin_path(void *user, int64_t bytes)
{
    path_sink *p = user;
    (void)bytes;
    LT_TRY(lt_atomic_file_open(&p->file, p->path));
    p->is_open = true;
    return LT_OK;
}

static lt_status write_path(void *user, const void *data, size_t n)
{
    return lt_atomic_file_write(&((path_sink *)user)->file, data, n);
}

lt_status lt_safetensors_write(const char *path, const lt_named_tensor *tensors, int64_t n,
                               const lt_named_text *texts, int64_t n_texts)
{
    path_sink p = {.path = path, .is_open = false};
    const lt_byte_sink sink = {&p, path, begin_path, write_path};
    const lt_status status = lt_safetensors_write_sink(&sink, tensors, n, texts, n_texts);
    if (status == LT_OK) return lt_atomic_file_commit(&p.file);
    if (p.is_open) lt_atomic_file_abort(&p.file);
    return status;
}
