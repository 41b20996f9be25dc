/* csv_records.c - see csv_records.h. */
#include "csv_records.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "context/interrupt.h"
#include "error.h"
#include "memory/alloc.h"
#include "memory/budget.h"
#include "paths.h"
#include "system/files.h"

enum { FIRST_BYTES = 1 << 18 };

struct lt_csv_reader {
    const char *path;
    const lt_csv_format *format;
    int64_t separator_length;
    gzFile file;
    char *buffer; /* `room` + 1 bytes: a newline follows the last byte as a sentinel */
    int64_t room, at, end, total;
    bool ended;
    int64_t line, record_line; /* line of `at`; first line of the last record */
    lt_csv_field *fields;
    int64_t n, fields_room;
    bool stops[256]; /* characters that can end an unquoted field */
};

#define FAILED(r, format, ...)                                                                     \
    lt_error(LT_ERR_IO, "%s:%lld: " format, (r)->path, (long long)(r)->record_line, __VA_ARGS__)

/* ---- the buffer ------------------------------------------------------------------------------ */

static lt_status read_error(lt_csv_reader *r, int got)
{
    int code;
    const char *message = gzerror(r->file, &code);
    if (got >= 0 && (code == Z_OK || code == Z_STREAM_END)) return LT_OK;
    if (code == Z_ERRNO)
        message = strerror(errno);
    else if (strncmp(message, "<fd:", 4) == 0 && strstr(message, ">: "))
        message = strstr(message, ">: ") + 3; /* skip zlib's name for the file */
    if (code == Z_BUF_ERROR) message = "its gzip data end early";
    return lt_error(LT_ERR_IO, "%s: %s", r->path, message);
}

/* Moves the bytes from `at` on to the start of the buffer, doubles a full buffer, and reads more.
 */
static lt_status refill(lt_csv_reader *r)
{
    if (lt_interrupted()) return lt_stopped();
    memmove(r->buffer, r->buffer + r->at, (size_t)(r->end - r->at));
    r->end -= r->at;
    r->at = 0;
    if (r->end == r->room) {
        LT_TRY(lt_budget_spend(r->room));
        char *larger = lt_mem_rearray(r->buffer, 2 * r->room + 1, 1);
        if (larger == NULL) return LT_ERR_MEMORY;
        r->buffer = larger;
        r->room *= 2;
    }
    const int got = gzread(r->file, r->buffer + r->end,
                           (unsigned)(r->room - r->end < (1 << 30) ? r->room - r->end : 1 << 30));
    LT_TRY(read_error(r, got));
    r->end += got;
    r->total += got;
    r->ended = got == 0;
    r->buffer[r->end] = '\n';
    if (r->total > r->format->max_bytes)
        return lt_error(LT_ERR_IO,
                        "%s: more than %lld bytes; a larger file is read with {max_bytes = ...}",
                        r->path, (long long)r->format->max_bytes);
    return LT_OK;
}

/* Detects the encoding from the first bytes: rejects UTF-16, skips the mark of UTF-8. */
static lt_status check_encoding(lt_csv_reader *r)
{
    const unsigned char *b = (const unsigned char *)r->buffer;
    const bool marked =
        r->end >= 2 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff));
    const bool wide = r->end >= 2 && (b[0] == 0) != (b[1] == 0);
    if (marked || wide)
        return lt_error(LT_ERR_IO,
                        "%s: the text is UTF-16, which is not read; convert it to UTF-8 first "
                        "(iconv -f UTF-16 -t UTF-8)",
                        r->path);
    if (r->end >= 3 && memcmp(b, "\xef\xbb\xbf", 3) == 0) r->at = 3;
    return LT_OK;
}

static lt_status skip_lines(lt_csv_reader *r)
{
    for (int64_t left = r->format->skip; left > 0;) {
        const char *stop = memchr(r->buffer + r->at, '\n', (size_t)(r->end - r->at));
        if (stop != NULL) {
            r->at = stop + 1 - r->buffer;
            r->line++;
            left--;
        } else if (r->ended) {
            r->at = r->end;
            return LT_OK;
        } else {
            r->at = r->end;
            LT_TRY(refill(r));
        }
    }
    return LT_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static lt_status csv_open(lt_csv_reader *r)
{
    int fd;
    int64_t size;
    LT_TRY(lt_open_to_read(r->path, &fd, &size));
    r->file = gzdopen(fd, "rb");
    if (r->file == NULL) {
        lt_fd_close(fd);
        return lt_error(LT_ERR_MEMORY, "%s: out of memory", r->path);
    }
    gzbuffer(r->file, 1 << 17);
    return LT_OK;
}

lt_status lt_csv_open(const char *path, const lt_csv_format *format, lt_csv_reader **out)
{
    lt_status status;
    lt_csv_reader *r = lt_mem_zalloc(sizeof *r);
    if (r == NULL) return LT_ERR_MEMORY;
    r->path = path;
    r->format = format;
    r->room = FIRST_BYTES;
    r->line = r->record_line = 1;
    r->separator_length = format->separator != NULL ? (int64_t)strlen(format->separator) : 0;
    r->stops['\n'] = r->stops['\r'] = true;
    if (format->comment != 0) r->stops[(unsigned char)format->comment] = true;
    if (format->separator == NULL)
        r->stops[' '] = r->stops['\t'] = true;
    else
        r->stops[(unsigned char)format->separator[0]] = true;
    LT_CHECK(csv_open(r));
    r->buffer = lt_mem_array(r->room + 1, 1);
    if (r->buffer == NULL) {
        status = LT_ERR_MEMORY;
        goto done;
    }
    LT_CHECK(refill(r));
    LT_CHECK(check_encoding(r));
    LT_CHECK(skip_lines(r));
    *out = r;
    return LT_OK;
done:
    lt_csv_close(r);
    return status;
}

void lt_csv_close(lt_csv_reader *r)
{
    if (r == NULL) return;
    if (r->file != NULL) gzclose_r(r->file);
    lt_mem_free(r->buffer);
    lt_mem_free(r->fields);
    lt_mem_free(r);
}

/* ---- records --------------------------------------------------------------------------------- */

static lt_status add_field(lt_csv_reader *r, const char *from, const char *to, bool doubled)
{
    if (r->n == r->fields_room) {
        const int64_t room = r->fields_room > 0 ? 2 * r->fields_room : 64;
        lt_csv_field *larger = lt_mem_rearray(r->fields, room, sizeof *larger);
        if (larger == NULL) return LT_ERR_MEMORY;
        r->fields = larger;
        r->fields_room = room;
    }
    r->fields[r->n++] = (lt_csv_field){(char *)from, to - from, doubled};
    return LT_OK;
}

/* The closing quote of a field that begins at `from`; NULL: it is not in the buffer yet. */
static const char *closing_quote(const lt_csv_reader *r, const char *from, bool *doubled)
{
    const char *end = r->buffer + r->end;
    for (const char *p = from; p < end; p += 2) {
        p = memchr(p, '"', (size_t)(end - p));
        if (p == NULL || (p + 1 == end && !r->ended)) return NULL;
        if (p[1] != '"' || p + 1 == end) return p;
        *doubled = true;
    }
    return NULL;
}

/* The length of the separator at p, 0 if there is none; -1: more bytes are needed to decide. */
static int64_t separator_at(const lt_csv_reader *r, const char *p)
{
    const char *end = r->buffer + r->end;
    if (r->separator_length == 0) {
        int64_t n = 0;
        while (p + n < end && (p[n] == ' ' || p[n] == '\t')) n++;
        return p + n == end && !r->ended ? -1 : n;
    }
    if (r->separator_length == 1) return *p == r->format->separator[0] && p < end;
    const int64_t there = end - p < r->separator_length ? end - p : r->separator_length;
    if (memcmp(p, r->format->separator, (size_t)there) != 0) return 0;
    if (there < r->separator_length) return r->ended ? 0 : -1;
    return there;
}

/* The result of scanning a record. */
typedef enum scan_end {
    SCAN_WHOLE,
    SCAN_SHORT /* it goes on beyond the buffer */,
    SCAN_FAILED
} scan_end;

/* Scans a field and advances *at past it. */
static scan_end scan_field(lt_csv_reader *r, const char **at, int64_t *lines, lt_status *status)
{
    const char *p = *at, *end = r->buffer + r->end;
    if (p < end && *p == '"') {
        bool doubled = false;
        const char *close = closing_quote(r, p + 1, &doubled);
        if (close == NULL) {
            if (!r->ended) return SCAN_SHORT;
            *status = FAILED(r, "%s", "a quoted field does not end");
            return SCAN_FAILED;
        }
        for (const char *q = p + 1; (q = memchr(q, '\n', (size_t)(close - q))) != NULL; q++)
            ++*lines;
        *status = add_field(r, p + 1, close, doubled);
        *at = close + 1;
        return *status == LT_OK ? SCAN_WHOLE : SCAN_FAILED;
    }
    for (;; p++) {
        while (!r->stops[(unsigned char)*p]) p++;
        if (p == end && !r->ended) return SCAN_SHORT;
        if (p >= end || r->separator_length < 2 || *p != r->format->separator[0]) break;
        const int64_t n = separator_at(r, p);
        if (n < 0) return SCAN_SHORT;
        if (n > 0 || *p == '\n' || *p == '\r') break;
    }
    *status = add_field(r, *at, p, false);
    *at = p;
    return *status == LT_OK ? SCAN_WHOLE : SCAN_FAILED;
}

/* Whether a record ends at p: at a line end, the end of the text, or a comment. */
static bool ends_record(const lt_csv_reader *r, const char *p)
{
    return p == r->buffer + r->end || *p == '\n' || *p == '\r' ||
           (r->format->comment != 0 && *p == r->format->comment);
}

/* Scans the rest of a line after the last field: a comment and the line end. Advances *at past it.
 */
static scan_end scan_line_end(const lt_csv_reader *r, const char *p, const char **at,
                              int64_t *lines)
{
    const char *end = r->buffer + r->end;
    if (r->format->comment != 0 && p < end && *p == r->format->comment)
        while (*p != '\n' && *p != '\r') p++;
    if (p == end) {
        *at = p;
        return r->ended ? SCAN_WHOLE : SCAN_SHORT;
    }
    if (*p == '\r' && p + 1 == end && !r->ended) return SCAN_SHORT;
    *at = *p == '\r' && p + 1 < end && p[1] == '\n' ? p + 2 : p + 1;
    ++*lines;
    return SCAN_WHOLE;
}

/* Scans the record at `at`, if the buffer holds all of it. */
static scan_end scan_record(lt_csv_reader *r, lt_status *status)
{
    const char *p = r->buffer + r->at;
    int64_t lines = 0;
    r->n = 0;
    if (r->separator_length == 0) { /* leading blanks are no separator */
        const int64_t n = separator_at(r, p);
        if (n < 0) return SCAN_SHORT;
        p += n;
    }
    for (;;) {
        scan_end result = scan_field(r, &p, &lines, status);
        if (result != SCAN_WHOLE) return result;
        const int64_t n = separator_at(r, p);
        if (n < 0) return SCAN_SHORT;
        p += n;
        if (n > 0 && !(r->separator_length == 0 && ends_record(r, p))) continue;
        if (!ends_record(r, p)) {
            *status = lt_error(LT_ERR_IO, "%s:%lld: text after a quoted field", r->path,
                               (long long)(r->line + lines));
            return SCAN_FAILED;
        }
        result = scan_line_end(r, p, &p, &lines);
        if (result != SCAN_WHOLE) return result;
        r->at = p - r->buffer;
        r->line += lines;
        return SCAN_WHOLE;
    }
}

lt_status lt_csv_next(lt_csv_reader *r, lt_csv_field **fields, int64_t *n)
{
    lt_status status = LT_OK;
    for (*n = 0; *n == 0;) {
        if (r->at == r->end && r->ended) return LT_OK;
        r->record_line = r->line;
        const scan_end result = r->at == r->end ? SCAN_SHORT : scan_record(r, &status);
        if (result == SCAN_FAILED) return status;
        if (result == SCAN_SHORT) {
            LT_TRY(refill(r));
            continue;
        }
        const bool empty = r->n == 1 && r->fields[0].length == 0 && r->fields[0].text[0] != '"';
        *fields = r->fields;
        *n = empty ? 0 : r->n;
    }
    return LT_OK;
}

int64_t lt_csv_line(const lt_csv_reader *r) { return r->record_line; }

void lt_csv_undouble(lt_csv_field *field)
{
    int64_t n = 0;
    for (int64_t i = 0; i < field->length; i++) {
        field->text[n++] = field->text[i];
        if (field->text[i] == '"') i++;
    }
    field->length = n;
    field->doubled = false;
}
