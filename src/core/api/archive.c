/* archive.c - lt_save and lt_load of ltensor.h, and ltensor_files.h, over files/safetensors. */
#include <string.h>

#include "devices/device.h"
#include "error.h"
#include "files/safetensors.h"
#include "ltensor_files.h"
#include "memory/alloc.h"

struct lt_archive {
    lt_safetensors file;
};

/* ---- saving ---------------------------------------------------------------------------------- */

/* The arguments of the caller; *out is a new array. */
static lt_status named_tensors(const char *function, const char *const *names,
                               lt_tensor *const *tensors, int64_t n, lt_named_tensor **out)
{
    if (n < 0) return lt_error(LT_ERR_RUNTIME, "%s(): n is %lld", function, (long long)n);
    if (n > 0 && names == NULL) return lt_null_argument(function, "names");
    if (n > 0 && tensors == NULL) return lt_null_argument(function, "tensors");
    for (int64_t i = 0; i < n; i++)
        if (names[i] == NULL || tensors[i] == NULL)
            return lt_error(LT_ERR_TYPE, "%s(): %s[%lld] must not be NULL", function,
                            names[i] == NULL ? "names" : "tensors", (long long)i);
    lt_named_tensor *named = lt_mem_array(n, sizeof *named);
    if (named == NULL) return LT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++) named[i] = (lt_named_tensor){names[i], tensors[i]};
    *out = named;
    return LT_OK;
}

lt_status lt_save(const char *path, const char *const *names, lt_tensor *const *tensors, int64_t n)
{
    lt_named_tensor *named;
    LT_REQUIRE(path);
    LT_TRY(named_tensors("lt_save", names, tensors, n, &named));
    const lt_status status = lt_safetensors_write(path, named, n, NULL, 0);
    lt_mem_free(named);
    return status;
}

/* The content of a file in memory while it is written. */
typedef struct memory_sink {
    lt_tensor *bytes;
    size_t at;
} memory_sink;

static lt_status begin_memory(void *user, int64_t bytes)
{
    return lt_tensor_new(LT_UINT8, lt_host, 1, &bytes, &((memory_sink *)user)->bytes);
}

static lt_status write_memory(void *user, const void *data, size_t n)
{
    memory_sink *m = user;
    if (n > 0) memcpy((char *)lt_tensor_data(m->bytes) + m->at, data, n);
    m->at += n;
    return LT_OK;
}

lt_status lt_save_memory(const char *const *names, lt_tensor *const *tensors, int64_t n,
                         lt_tensor **out)
{
    lt_named_tensor *named;
    memory_sink m = {NULL, 0};
    const lt_byte_sink sink = {&m, "the bytes in memory", begin_memory, write_memory};
    LT_REQUIRE(out);
    LT_TRY(named_tensors("lt_save_memory", names, tensors, n, &named));
    const lt_status status = lt_safetensors_write_sink(&sink, named, n, NULL, 0);
    lt_mem_free(named);
    if (status == LT_OK)
        *out = m.bytes;
    else
        lt_tensor_release(m.bytes);
    return status;
}

static lt_status write_by_host(void *user, const void *data, size_t n)
{
    const lt_writer *writer = user;
    if (n == 0 || writer->write(writer->user, data, n)) return LT_OK;
    return lt_error(LT_ERR_IO, "lt_save_to(): write() of %zu bytes failed", n);
}

lt_status lt_save_to(const lt_writer *writer, const char *const *names, lt_tensor *const *tensors,
                     int64_t n)
{
    lt_named_tensor *named;
    LT_REQUIRE(writer);
    if (writer->size < sizeof *writer)
        return lt_error(LT_ERR_TYPE, "lt_save_to(): size is %zu, must be sizeof(lt_writer)",
                        writer->size);
    if (writer->write == NULL) return lt_null_argument("lt_save_to", "write");
    const lt_byte_sink sink = {(void *)writer, "the writer's file", NULL, write_by_host};
    LT_TRY(named_tensors("lt_save_to", names, tensors, n, &named));
    const lt_status status = lt_safetensors_write_sink(&sink, named, n, NULL, 0);
    lt_mem_free(named);
    return status;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Closes the source. */
static lt_status load_source(lt_byte_source *source, lt_archive **out)
{
    lt_archive *archive = lt_mem_zalloc(sizeof *archive);
    lt_status status = LT_ERR_MEMORY;
    if (archive != NULL) status = lt_safetensors_read_source(source, &archive->file);
    lt_byte_source_close(source);
    if (status == LT_OK)
        *out = archive;
    else
        lt_mem_free(archive);
    return status;
}

lt_status lt_load(const char *path, lt_archive **out)
{
    lt_byte_source source;
    LT_REQUIRE(path);
    LT_REQUIRE(out);
    LT_TRY(lt_byte_source_open(&source, path));
    return load_source(&source, out);
}

lt_status lt_load_memory(const void *bytes, size_t size, lt_archive **out)
{
    lt_byte_source source;
    LT_REQUIRE(bytes);
    LT_REQUIRE(out);
    if (size > INT64_MAX)
        return lt_error(LT_ERR_RUNTIME, "lt_load_memory(): size is %zu, more than memory has",
                        size);
    lt_byte_source_open_memory(&source, bytes, (int64_t)size);
    return load_source(&source, out);
}

lt_status lt_load_from(const lt_reader *reader, lt_archive **out)
{
    lt_byte_source source;
    LT_REQUIRE(reader);
    LT_REQUIRE(out);
    if (reader->size < sizeof *reader)
        return lt_error(LT_ERR_TYPE, "lt_load_from(): size is %zu, must be sizeof(lt_reader)",
                        reader->size);
    if (reader->read == NULL) return lt_null_argument("lt_load_from", "read");
    if (reader->bytes < 0)
        return lt_error(LT_ERR_RUNTIME, "lt_load_from(): bytes is %lld, expected at least 0",
                        (long long)reader->bytes);
    lt_byte_source_open_reader(&source, reader);
    return load_source(&source, out);
}

/* ---- archives -------------------------------------------------------------------------------- */

int64_t lt_archive_count(const lt_archive *archive)
{
    return archive != NULL ? archive->file.n : 0;
}

static const lt_named_tensor *entry(const lt_archive *archive, int64_t i)
{
    return i >= 0 && i < lt_archive_count(archive) ? &archive->file.tensors[i] : NULL;
}

const char *lt_archive_name(const lt_archive *archive, int64_t i)
{
    const lt_named_tensor *found = entry(archive, i);
    return found != NULL ? found->name : NULL;
}

lt_tensor *lt_archive_tensor(const lt_archive *archive, int64_t i)
{
    const lt_named_tensor *found = entry(archive, i);
    return found != NULL ? found->tensor : NULL;
}

lt_tensor *lt_archive_find(const lt_archive *archive, const char *name)
{
    for (int64_t i = 0; name != NULL && i < lt_archive_count(archive); i++)
        if (strcmp(archive->file.tensors[i].name, name) == 0)
            return archive->file.tensors[i].tensor;
    return NULL;
}

void lt_archive_release(lt_archive *archive)
{
    if (archive == NULL) return;
    lt_safetensors_free(&archive->file);
    lt_mem_free(archive);
}
