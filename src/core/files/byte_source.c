/* byte_source.c - see byte_source.h. */
#include "byte_source.h"

#include <errno.h>
#include <string.h>

#include "assertion.h"
#include "context/context.h"
#include "context/interrupt.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "ltensor_files.h"
#include "memory/alloc.h"
#include "paths.h"
#include "system/files.h"
#include "tensor.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are stored in little-endian order");

enum {
    DEFLATE_MAX_RATIO = 1032, /* zlib's documentation: the maximum compression ratio of deflate */
    BUFFER = 1 << 16,
    /* bytes between polls of the interrupt flag; small enough that the checksum reads them from the
     * cache */
    CHUNK = 1 << 22
};

#define DAMAGED(s, format, ...) lt_error(LT_ERR_IO, "%s: " format, (s)->path, __VA_ARGS__)

uint32_t lt_crc32(uint32_t crc, const void *data, int64_t n)
{
    uLong sum = crc;
    for (const unsigned char *p = data; n > 0;) {
        uInt step = n < CHUNK ? (uInt)n : CHUNK;
        sum = crc32(sum, p, step);
        p += step;
        n -= step;
    }
    return (uint32_t)sum;
}

lt_status lt_byte_source_open(lt_byte_source *s, const char *path)
{
    int fd;
    *s = (lt_byte_source){.path = path, .fd = -1};
    LT_TRY(lt_open_to_read(path, &fd, &s->size));
    s->fd = fd;
    s->end = s->left = s->size;
    return LT_OK;
}

void lt_byte_source_open_memory(lt_byte_source *s, const void *bytes, int64_t n)
{
    *s = (lt_byte_source){.path = "the bytes in memory", .fd = -1, .memory = bytes, .size = n};
    s->end = s->left = n;
}

void lt_byte_source_open_reader(lt_byte_source *s, const lt_reader *reader)
{
    *s = (lt_byte_source){
        .path = "the reader's file", .fd = -1, .reader = reader, .size = reader->bytes};
    s->end = s->left = s->size;
}

static void end_inflating(lt_byte_source *s)
{
    if (s->inflating) inflateEnd(&s->z);
    s->inflating = false;
}

void lt_byte_source_close(lt_byte_source *s)
{
    end_inflating(s);
    lt_mem_free(s->buffer);
    s->buffer = NULL;
    if (s->fd >= 0) lt_fd_close(s->fd);
    s->fd = -1, s->memory = NULL, s->reader = NULL;
}

lt_status lt_byte_source_section(lt_byte_source *s, int64_t offset, int64_t packed, int64_t length,
                                 bool deflated, bool summed)
{
    end_inflating(s);
    if (offset < 0 || packed < 0 || offset > s->size || packed > s->size - offset)
        return DAMAGED(s, "%lld bytes at offset %lld exceed the %lld bytes of the file",
                       (long long)packed, (long long)offset, (long long)s->size);
    bool fits = deflated ? length >= 0 && length / DEFLATE_MAX_RATIO <= packed : length == packed;
    if (!fits)
        return DAMAGED(s, "%lld bytes cannot unpack to %lld", (long long)packed, (long long)length);
    if (deflated) {
        if (s->buffer == NULL) s->buffer = lt_mem_alloc(BUFFER);
        if (s->buffer == NULL) return LT_ERR_MEMORY;
        s->z = (z_stream){0};
        if (inflateInit2(&s->z, -MAX_WBITS) != Z_OK)
            return lt_error(LT_ERR_MEMORY, "out of memory");
        s->inflating = true;
    }
    s->at = offset;
    s->end = s->packed_end = offset + packed;
    s->left = length;
    s->crc = 0;
    s->deflated = deflated;
    s->summed = summed;
    return LT_OK;
}

static lt_status read_by_host(lt_byte_source *s, void *to, int64_t n, int64_t *got)
{
    *got = s->reader->read(s->reader->user, s->at, to, n);
    if (*got <= 0 || *got > n)
        return DAMAGED(s, "read() of %lld bytes at offset %lld returned %lld", (long long)n,
                       (long long)s->at, (long long)*got);
    s->at += *got;
    return LT_OK;
}

/* Reads 1 to n bytes from the file, unchanged. */
static lt_status read_raw(lt_byte_source *s, void *to, int64_t n, int64_t *got)
{
    LT_ASSERT((s->fd >= 0 || s->memory != NULL || s->reader != NULL) && n > 0 &&
                  s->at + n <= s->size,
              "%lld bytes at %lld of %lld", (long long)n, (long long)s->at, (long long)s->size);
    if (lt_interrupted()) return lt_stopped();
    if (s->reader != NULL) return read_by_host(s, to, n, got);
    if (s->memory != NULL) {
        memcpy(to, s->memory + s->at, (size_t)n);
        s->at += n;
        *got = n;
        return LT_OK;
    }
    const int64_t count = lt_fd_read_at(s->fd, to, (size_t)n, s->at);
    if (count < 0) return DAMAGED(s, "%s", strerror(errno));
    if (count == 0) return DAMAGED(s, "%s", "the file became shorter while it was read");
    s->at += count;
    *got = count;
    return LT_OK;
}

/* Inflates until `room` bytes are written or the deflated data end. */
static lt_status inflate_into(lt_byte_source *s, void *to, int64_t room, int64_t *got)
{
    int64_t count;
    LT_ASSERT(s->inflating && s->buffer != NULL && room > 0, "%lld bytes", (long long)room);
    s->z.next_out = to;
    s->z.avail_out = (uInt)room;
    for (;;) {
        if (s->z.avail_in == 0 && s->at < s->end) {
            LT_TRY(
                read_raw(s, s->buffer, s->end - s->at < BUFFER ? s->end - s->at : BUFFER, &count));
            s->z.next_in = s->buffer;
            s->z.avail_in = (uInt)count;
        }
        int code = inflate(&s->z, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR) return lt_error(LT_ERR_MEMORY, "out of memory");
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return DAMAGED(s, "its compressed data are damaged (%s)",
                           s->z.msg != NULL ? s->z.msg : "inflate");
        *got = room - s->z.avail_out;
        if (code == Z_STREAM_END) {
            s->end = s->at - s->z.avail_in; /* the bytes that follow are not read */
            return LT_OK;
        }
        if (s->z.avail_out == 0) return LT_OK;
        if (s->z.avail_in == 0 && s->at == s->end)
            return DAMAGED(s, "%s", "its compressed data end early");
    }
}

lt_status lt_byte_source_read(lt_byte_source *s, void *to, int64_t n)
{
    if (n > s->left)
        return DAMAGED(s, "%lld bytes are needed where %lld are left: cut short", (long long)n,
                       (long long)s->left);
    for (char *p = to; n > 0;) {
        int64_t step = n < CHUNK ? n : CHUNK, got = 0;
        if (s->deflated)
            LT_TRY(inflate_into(s, p, step, &got));
        else
            LT_TRY(read_raw(s, p, step, &got));
        if (got == 0) return DAMAGED(s, "%s", "its compressed data end early");
        LT_ASSERT(got > 0 && got <= step, "%lld of %lld bytes", (long long)got, (long long)step);
        if (s->summed) s->crc = lt_crc32(s->crc, p, got);
        s->left -= got;
        p += got;
        n -= got;
    }
    return LT_OK;
}

lt_status lt_byte_source_finish(lt_byte_source *s, uint32_t *crc)
{
    if (s->left > 0) return DAMAGED(s, "%lld bytes more than are needed", (long long)s->left);
    if (s->deflated) {
        /* The end marker follows the last byte. If another byte is inflated instead, the data are
         * too long. */
        char more;
        int64_t got = 0;
        LT_TRY(inflate_into(s, &more, 1, &got));
        if (got > 0)
            return DAMAGED(s, "%s",
                           "its compressed data expand to more bytes than its directory states");
        if (s->end != s->packed_end) return DAMAGED(s, "%s", "bytes follow its compressed data");
    }
    *crc = s->crc;
    return LT_OK;
}

static void swap_bytes(void *data, int64_t n, size_t width)
{
    if (width == 2) {
        uint16_t *p = data;
        for (int64_t i = 0; i < n; i++) p[i] = __builtin_bswap16(p[i]);
    } else if (width == 4) {
        uint32_t *p = data;
        for (int64_t i = 0; i < n; i++) p[i] = __builtin_bswap32(p[i]);
    } else if (width == 8) {
        uint64_t *p = data;
        for (int64_t i = 0; i < n; i++) p[i] = __builtin_bswap64(p[i]);
    }
}

lt_status lt_byte_source_tensor(lt_byte_source *s, lt_dtype dtype, int64_t n, bool swap,
                                lt_tensor **out)
{
    size_t width = lt_dtype_size(dtype);
    lt_tensor *t;
    if (n < 0 || n > s->left / (int64_t)width)
        return DAMAGED(s,
                       "%lld elements of %d bytes are needed where %lld bytes are left: cut short",
                       (long long)n, (int)width, (long long)s->left);
    LT_TRY(lt_tensor_new(dtype, lt_host, 1, &n, &t));
    lt_status status = lt_byte_source_read(s, lt_data(t), n * (int64_t)width);
    if (status != LT_OK) {
        lt_tensor_release(t);
        return status;
    }
    const lt_dtype part = lt_real_of(dtype);
    const size_t part_width = lt_dtype_size(part);
    if (swap) swap_bytes(lt_data(t), part == dtype ? n : 2 * n, part_width);
    /* Kernels require 0 or 1. */
    if (dtype == LT_BOOL) {
        uint8_t *p = (uint8_t *)lt_data(t);
        for (int64_t i = 0; i < n; i++) p[i] = p[i] != 0;
    }
    *out = t;
    return LT_OK;
}
