/* archive.c - lt_save and lt_load of ltensor.h, over files/safetensors. */
#include <string.h>

#include "error.h"
#include "files/safetensors.h"
#include "memory/alloc.h"

struct lt_archive {
    lt_safetensors file;
};

lt_status lt_save(const char *path, const char *const *names, lt_tensor *const *tensors, int64_t n)
{
    LT_REQUIRE(path);
    if (n < 0) return lt_error(LT_ERR_RUNTIME, "lt_save(): n is %lld", (long long)n);
    if (n > 0) {
        LT_REQUIRE(names);
        LT_REQUIRE(tensors);
    }
    lt_named_tensor *named = lt_mem_array(n, sizeof *named);
    if (named == NULL) return LT_ERR_MEMORY;
    lt_status status = LT_OK;
    for (int64_t i = 0; i < n && status == LT_OK; i++) {
        named[i] = (lt_named_tensor){names[i], tensors[i]};
        if (names[i] == NULL || tensors[i] == NULL)
            status = lt_error(LT_ERR_TYPE, "lt_save(): %s[%lld] must not be NULL",
                              names[i] == NULL ? "names" : "tensors", (long long)i);
    }
    if (status == LT_OK) status = lt_safetensors_write(path, named, n, NULL, 0);
    lt_mem_free(named);
    return status;
}

lt_status lt_load(const char *path, lt_archive **out)
{
    LT_REQUIRE(path);
    LT_REQUIRE(out);
    lt_archive *archive = lt_mem_zalloc(sizeof *archive);
    if (archive == NULL) return LT_ERR_MEMORY;
    lt_status status = lt_safetensors_read(path, false, &archive->file);
    if (status == LT_OK)
        *out = archive;
    else
        lt_mem_free(archive);
    return status;
}

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
