/* mapped_file.c - memory-mapped tensors: lt_tensor_from_file, and see mapped_file.h. PyTorch's
 * rules for sizes, and its messages. */
#include "mapped_file.h"

#include <errno.h>
#include <string.h>

#include "assertion.h"
#include "context/context.h"
#include "system/files.h"
#include "user_index.h"
#include "error.h"
#include "memory/alloc.h"
#include "tensor.h"

typedef struct mapping {
    void *data;
    size_t length;
} mapping;

static void unmap(void *ctx)
{
    mapping *m = ctx;
    LT_ASSERT((m->data == NULL) == (m->length == 0), "%zu bytes", m->length);
    if (m->data != NULL) lt_fd_unmap(m->data, m->length);
    lt_mem_free(m);
}

static lt_status map_error(const char *what, const char *path, const char *how)
{
    const int code = errno;
    return lt_error(LT_ERR_IO, "unable to %s file <%s>%s: %s (%d)", what, path, how, strerror(code),
                    code);
}

/* Opens a file of at least `length` bytes. A shared file is created (*made) or extended if
 * necessary. */
static lt_status map_open(const char *path, bool shared, int64_t length, int *fd, bool *made)
{
    lt_file_info info;
    *made = false;
    *fd = shared ? lt_fd_open_update(path) : lt_fd_open_read(path);
    if (*fd < 0 && shared && errno == ENOENT) {
        *fd = lt_fd_create_private(path);
        *made = *fd >= 0;
    }
    if (*fd < 0)
        return map_error("open", path, shared ? " in read-write mode" : " in read-only mode");
    if (!lt_fd_info(*fd, &info)) return map_error("stat the", path, "");
    if (info.kind != LT_REGULAR_FILE)
        return lt_error(LT_ERR_IO, "file <%s> is not a regular file: it cannot be mapped", path);
    if (length <= info.size) return LT_OK;
    if (!shared)
        return lt_error(LT_ERR_IO,
                        "file <%s> size <%lld> is smaller than the required mapping size <%lld>",
                        path, (long long)info.size, (long long)length);
    return lt_fd_resize(*fd, length) ? LT_OK : map_error("resize", path, " to the right size");
}

/* Rejects or repairs bytes other than 0 and 1, which are undefined behavior as bool. In a private
 * mapping they become 1, which copies their pages; in a shared mapping the write would change the
 * file. */
static lt_status check_bools(const char *path, bool shared, uint8_t *data, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (data[i] <= 1) continue;
        if (shared)
            return lt_error(LT_ERR_IO, "file <%s> holds no elements of dtype bool: byte %lld is %d",
                            path, lt_user_index(i), data[i]);
        data[i] = 1;
    }
    return LT_OK;
}

lt_status lt_tensor_from_file(const char *path, bool shared, int64_t numel, lt_dtype dtype,
                              lt_tensor **out)
{
    int64_t count;
    LT_REQUIRE(path);
    LT_REQUIRE(out);
    if (dtype < 0 || dtype >= LT_DTYPE_COUNT)
        return lt_error(LT_ERR_TYPE, "lt_tensor_from_file(): unknown dtype %d", (int)dtype);
    if (numel < 0)
        return lt_error(LT_ERR_RUNTIME,
                        "from_file: size must not be negative, got %lld for file <%s>",
                        (long long)numel, path);
    LT_TRY(lt_check_sizes(1, &numel, &count));
    LT_TRY(lt_authorize(shared ? LT_ACCESS_FILE_WRITE : LT_ACCESS_FILE_READ, path));
    const int64_t length = numel * (int64_t)lt_dtype_size(dtype);
    int fd = -1;
    bool made;
    lt_tensor *result = NULL;
    mapping *m = lt_mem_zalloc(sizeof *m);
    if (m == NULL) return LT_ERR_MEMORY;
    lt_status status;
    LT_CHECK(map_open(path, shared, length, &fd, &made));
    if (length > 0) {
        void *data = lt_fd_map(fd, (size_t)length, shared);
        if (data == NULL) {
            const int code = errno;
            status = lt_error(LT_ERR_IO, "unable to mmap %lld bytes from file <%s>: %s (%d)",
                              (long long)length, path, strerror(code), code);
            goto done;
        }
        *m = (mapping){data, (size_t)length};
        if (dtype == LT_BOOL) LT_CHECK(check_bools(path, shared, data, numel));
    }
    LT_CHECK(lt_tensor_wrap(m->data, dtype, 1, &numel, unmap, m, &result));
    m = NULL;
    *out = result;
done:
    if (status != LT_OK && fd >= 0 && made) (void)lt_path_remove(path);
    if (fd >= 0) lt_fd_close(fd);
    if (m != NULL) unmap(m);
    return status;
}

/* ---- parts ----------------------------------------------------------------------------------- */

bool lt_can_map(int64_t at, lt_dtype dtype)
{
    return dtype != LT_BOOL && at % (int64_t)lt_dtype_size(dtype) == 0;
}

static void release_mapping(void *mapping) { lt_tensor_release(mapping); }

lt_status lt_mapped_part(lt_tensor *mapping, int64_t at, lt_dtype dtype, int ndim,
                         const int64_t *sizes, lt_tensor **out)
{
    int64_t numel, bytes;
    LT_TRY(lt_check_sizes(ndim, sizes, &numel));
    const bool fits = !__builtin_mul_overflow(numel, (int64_t)lt_dtype_size(dtype), &bytes) &&
                      at >= 0 && at <= mapping->numel && bytes <= mapping->numel - at;
    if (!fits || !lt_can_map(at, dtype))
        return lt_error(
            LT_ERR_RUNTIME, "%lld elements of %s at byte %lld of a mapped file of %lld bytes",
            (long long)numel, lt_dtype_name(dtype), (long long)at, (long long)mapping->numel);
    LT_ASSERT(mapping->dtype == LT_UINT8 && lt_is_contiguous(mapping), "dtype %d", mapping->dtype);
    lt_status status = lt_tensor_wrap((char *)lt_data(mapping) + at, dtype, ndim, sizes,
                                      release_mapping, lt_tensor_retain(mapping), out);
    if (status != LT_OK) lt_tensor_release(mapping);
    return status;
}
