/* gunzip.c - reads a gzipped file into a tensor, through zlib.
 *
 * The tensor is allocated with the size stored in the file's last four bytes. This size is not
 * trusted: it is bounded by deflate's maximum ratio, and the tensor grows if the file holds more. A
 * file that is not gzipped is read as it is. Includes zlib and core. */
#include "gunzip.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "saturating.h"
#include "context/interrupt.h"
#include "error.h"
#include "files/paths.h"
#include "memory/budget.h"

enum {
    DEFLATE_MAX_RATIO = 1032, /* documentation of zlib: the maximum compression ratio of deflate */
    SMALLEST_GZIP = 18,       /* header and trailer */
    READ_AT_ONCE = 1 << 22    /* bytes between checks of the interrupt flag */
};

static uint32_t little_endian(const unsigned char *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The expected size of the contents of a file of file_size bytes. */
static int64_t expected_size(int fd, int64_t file_size)
{
    unsigned char magic[2], trailer[4];
    if (file_size < SMALLEST_GZIP || pread(fd, magic, 2, 0) != 2 || magic[0] != 0x1f ||
        magic[1] != 0x8b || pread(fd, trailer, 4, file_size - 4) != 4)
        return file_size;
    int64_t size = little_endian(trailer);
    int64_t most = lt_mul_sat(file_size, DEFLATE_MAX_RATIO);
    return size < most ? size : most;
}

static lt_status bytes_new(int64_t n, lt_tensor **out)
{
    return lt_tensor_new(LT_UINT8, (lt_device){LT_CPU, 0}, 1, &n, out);
}

/* Replaces *bytes by a tensor of n bytes with the same beginning. */
static lt_status resize(lt_tensor **bytes, int64_t n)
{
    lt_tensor *resized;
    LT_TRY(bytes_new(n, &resized));
    int64_t old = lt_tensor_numel(*bytes);
    size_t keep = (size_t)(old < n ? old : n);
    if (keep) memcpy(lt_tensor_data(resized), lt_tensor_data(*bytes), keep);
    lt_tensor_release(*bytes);
    *bytes = resized;
    return LT_OK;
}

/* Reads to the end of the file into *bytes, which grows as needed; *length is the number of bytes
 * read. */
static lt_status read_all(gzFile file, const char *path, lt_tensor **bytes, int64_t *length)
{
    *length = 0;
    for (;;) {
        if (lt_interrupted()) return lt_stopped();
        int64_t room = lt_tensor_numel(*bytes) - *length;
        char more;
        void *to = room ? (char *)lt_tensor_data(*bytes) + *length : &more;
        unsigned wanted = room > READ_AT_ONCE ? READ_AT_ONCE : room ? (unsigned)room : 1;
        int got = gzread(file, to, wanted);
        int code;
        const char *message = gzerror(file, &code);
        /* An unexpected end is reported by the code only, after the last bytes. */
        if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
            if (code == Z_ERRNO)
                message = strerror(errno);
            else if (strncmp(message, "<fd:", 4) == 0 && strstr(message, ">: "))
                message = strstr(message, ">: ") + 3; /* zlib's name for an already open file */
            if (code == Z_BUF_ERROR) message = "the compressed data end early";
            return lt_error(LT_ERR_IO, "%s: %s", path, message);
        }
        if (got == 0) return LT_OK;
        if (room == 0) {
            LT_TRY(resize(bytes, lt_add_sat(lt_mul_sat(*length, 2), 4096)));
            *(char *)((char *)lt_tensor_data(*bytes) + *length) = more;
        }
        *length += got;
    }
}

static lt_status gunzip(int fd, int64_t size, const char *path, lt_tensor **out)
{
    lt_status status = LT_OK;
    lt_tensor *bytes = NULL;
    int64_t length;
    gzFile file = gzdopen(fd, "rb");
    if (!file) {
        close(fd);
        return lt_error(LT_ERR_MEMORY, "%s: out of memory", path);
    }
    LT_CHECK(bytes_new(expected_size(fd, size), &bytes));
    gzbuffer(file, 1 << 17);
    LT_CHECK(read_all(file, path, &bytes, &length));
    if (length != lt_tensor_numel(bytes)) LT_CHECK(resize(&bytes, length));
    *out = bytes;
    bytes = NULL;
done:
    if (bytes) lt_tensor_release(bytes);
    gzclose_r(file);
    return status;
}

lt_status lt_gunzip(const char *path, int64_t max_memory, lt_tensor **out)
{
    int64_t size;
    int fd;
    lt_budget budget;
    LT_TRY(lt_open_to_read(path, &fd, &size));
    lt_budget_open(&budget, lt_budget_for(size, max_memory));
    lt_status status = gunzip(fd, size, path, out);
    lt_budget_close(&budget);
    return status;
}
