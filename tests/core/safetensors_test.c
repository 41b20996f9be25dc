/* safetensors_test.c - safetensors files under random damage and failing allocations: an error or a
 * value, no crash and, with sanitizers, no leak or read outside of an array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ltensor.h"
#include "ltensor_files.h"
#include "memory/system.h"
#include "files/safetensors.h"

enum { ROUNDS = 20000, BYTES_MAX = 4096 };
static const lt_device host = {LT_CPU, 0};
static char path[] = "/tmp/safetensors_test.XXXXXX";

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static lt_status write_example(void)
{
    static const int64_t sizes[2] = {2, 3};
    static const lt_named_text text = {"key", "a \"text\""};
    static const char *const names[4] = {"bytes", "matrix", "number", "none"};
    static const lt_dtype dtypes[4] = {LT_BOOL, LT_FLOAT32, LT_INT64, LT_FLOAT16};
    lt_named_tensor tensors[4] = {0};
    lt_status status = LT_OK;
    for (int i = 0; i < 4 && status == LT_OK; i++) {
        static const int64_t empty[1] = {0};
        int ndim = i == 2 ? 0 : i == 3 ? 1 : 2;
        tensors[i].name = names[i];
        status = lt_tensor_new(dtypes[i], host, ndim, i == 3 ? empty : sizes, &tensors[i].tensor);
        if (status == LT_OK && i < 3)
            memset(lt_tensor_data(tensors[i].tensor), 1,
                   (size_t)lt_tensor_numel(tensors[i].tensor) * lt_dtype_size(dtypes[i]));
    }
    if (status == LT_OK) status = lt_safetensors_write(path, tensors, 4, &text, 1);
    for (int i = 0; i < 4; i++) lt_tensor_release(tensors[i].tensor);
    return status;
}

static void comes_back(void **state)
{
    (void)state;
    lt_safetensors file;
    assert_int_equal(write_example(), LT_OK);
    assert_int_equal(lt_safetensors_read(path, false, &file), LT_OK);
    assert_int_equal(file.n, 4);
    assert_int_equal(file.n_texts, 1);
    assert_string_equal(file.texts[0].text, "a \"text\"");
    assert_string_equal(file.tensors[0].name, "number"); /* the widest elements first */
    assert_int_equal(*(int64_t *)lt_tensor_data(file.tensors[0].tensor), 0x0101010101010101);
    lt_safetensors_free(&file);
}

static size_t read_bytes(char *bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, BYTES_MAX, f);
    fclose(f);
    return n;
}

static void write_bytes(const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* Replaces, drops or repeats a few bytes; JSON's own characters more often than others. */
static size_t damage(char *bytes, size_t n)
{
    static const char often[] = "{}[],:\"\\0123456789-e. ";
    for (int edits = 1 + rand() % 4; edits > 0 && n > 1; edits--) {
        size_t at = (size_t)rand() % n;
        switch (rand() % 4) {
        case 0: bytes[at] = (char)rand(); break;
        case 1: bytes[at] = often[(size_t)rand() % (sizeof often - 1)]; break;
        case 2: memmove(bytes + at, bytes + at + 1, n - at - 1), n--; break;
        default:
            if (n < BYTES_MAX) memmove(bytes + at + 1, bytes + at, n - at), n++;
        }
    }
    return n;
}

typedef struct host_file {
    const char *bytes;
    char *to;
    int64_t size, at, broken; /* broken: the read or write from this offset on fails */
} host_file;

/* At most seven bytes at a time. */
static int64_t read_slowly(void *user, int64_t at, void *to, int64_t n)
{
    const host_file *f = user;
    assert_true(at >= 0 && n > 0 && at + n <= f->size);
    if (at >= f->broken) return -1;
    const int64_t part = n < 7 ? n : 7;
    memcpy(to, f->bytes + at, (size_t)part);
    return part;
}

static bool write_part(void *user, const void *data, size_t n)
{
    host_file *f = user;
    if (f->at >= f->broken) return false;
    memcpy(f->to + f->at, data, n);
    f->at += (int64_t)n;
    return true;
}

/* lt_load of a file, of its content and by callbacks are equal, and so are the ways to write it. */
static void memory_and_callbacks_equal_the_file(void **state)
{
    (void)state;
    static char bytes[BYTES_MAX], written[BYTES_MAX];
    assert_int_equal(write_example(), LT_OK);
    lt_archive *archive = NULL;
    assert_int_equal(lt_load(path, &archive), LT_OK);
    const char *names[4];
    lt_tensor *tensors[4], *content = NULL;
    for (int i = 0; i < 4; i++)
        names[i] = lt_archive_name(archive, i), tensors[i] = lt_archive_tensor(archive, i);
    assert_int_equal(lt_save(path, names, tensors, 4), LT_OK);
    const int64_t n = (int64_t)read_bytes(bytes);
    assert_int_equal(lt_save_memory(names, tensors, 4, &content), LT_OK);
    assert_int_equal(lt_tensor_numel(content), n);
    assert_memory_equal(lt_tensor_data(content), bytes, n);
    host_file f = {bytes, written, n, 0, n};
    lt_writer writer = {sizeof writer, &f, write_part};
    lt_reader reader = {sizeof reader, &f, n, read_slowly};
    assert_int_equal(lt_save_to(&writer, names, tensors, 4), LT_OK);
    assert_int_equal(f.at, n);
    assert_memory_equal(written, bytes, n);
    for (int way = 0; way < 2; way++) {
        lt_archive *same = NULL;
        assert_int_equal(way == 0 ? lt_load_memory(bytes, (size_t)n, &same)
                                  : lt_load_from(&reader, &same),
                         LT_OK);
        assert_int_equal(lt_archive_count(same), 4);
        for (int i = 0; i < 4; i++) {
            lt_tensor *t = lt_archive_find(same, names[i]);
            assert_int_equal(lt_tensor_numel(t), lt_tensor_numel(tensors[i]));
            if (lt_tensor_numel(t) > 0)
                assert_memory_equal(lt_tensor_data(t), lt_tensor_data(tensors[i]),
                                    (size_t)lt_tensor_numel(t) * lt_dtype_size(lt_tensor_dtype(t)));
        }
        lt_archive_release(same);
    }
    lt_tensor_release(content);
    lt_archive_release(archive);
}

static void failures_of_callbacks_and_damaged_content_are_errors(void **state)
{
    (void)state;
    static char bytes[BYTES_MAX];
    assert_int_equal(write_example(), LT_OK);
    host_file f = {bytes, bytes, (int64_t)read_bytes(bytes), 0, 20};
    lt_reader reader = {sizeof reader, &f, f.size, read_slowly};
    lt_archive *archive = NULL;
    assert_int_equal(lt_load_from(&reader, &archive), LT_ERR_IO);
    assert_non_null(strstr(lt_error_message(), "returned -1"));
    reader.bytes = -1;
    assert_int_equal(lt_load_from(&reader, &archive), LT_ERR_RUNTIME);
    reader.size = 8;
    assert_int_equal(lt_load_from(&reader, &archive), LT_ERR_TYPE);
    assert_int_equal(lt_load_memory(bytes, (size_t)f.size - 1, &archive), LT_ERR_IO);
    assert_non_null(strstr(lt_error_message(), "the bytes in memory"));
    assert_int_equal(lt_load_memory(bytes, 0, &archive), LT_ERR_IO);
    assert_null(archive);
    f.at = 30;
    const lt_writer writer = {sizeof writer, &f, write_part}, small = {8, &f, write_part};
    assert_int_equal(lt_save_to(&writer, NULL, NULL, 0), LT_ERR_IO);
    assert_int_equal(lt_save_to(&small, NULL, NULL, 0), LT_ERR_TYPE);
    assert_int_equal(lt_save_to(&writer, NULL, NULL, -1), LT_ERR_RUNTIME);
}

static void survives_damage(void **state)
{
    (void)state;
    char good[BYTES_MAX], bad[BYTES_MAX];
    unsigned seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    srand(seed);
    assert_int_equal(write_example(), LT_OK);
    size_t n = read_bytes(good);
    for (int round = 0; round < ROUNDS; round++) {
        lt_safetensors file = {0};
        memcpy(bad, good, n);
        size_t changed = damage(bad, n);
        if (rand() % 2 &&
            changed > 8) { /* the header's length fits, so that more than it is looked at */
            uint64_t length =
                (uint64_t)(changed > 70 ? changed - 64 + (size_t)(rand() % 32) : changed - 8);
            if (changed != n) memcpy(bad, &length, sizeof length);
        }
        write_bytes(bad, changed);
        lt_status status = lt_safetensors_read(path, false, &file);
        assert_true(status == LT_OK || status == LT_ERR_IO);
        if (status != LT_OK) assert_non_null(strstr(lt_error_message(), path));
        lt_safetensors_free(&file);
    }
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    int failures = 0;
    assert_int_equal(write_example(), LT_OK);
    for (int nth = 1; nth < 60; nth++) {
        lt_safetensors file = {0};
        lt_mem_fail_after(nth);
        lt_status status = lt_safetensors_read(path, false, &file);
        lt_mem_fail_after(0);
        assert_true(status == LT_OK || status == LT_ERR_MEMORY);
        failures += status != LT_OK;
        lt_safetensors_free(&file);

        lt_mem_fail_after(nth);
        status = write_example();
        lt_mem_fail_after(0);
        assert_true(status == LT_OK || status == LT_ERR_MEMORY);
        assert_int_equal(lt_safetensors_read(path, false, &file),
                         LT_OK); /* the old file or the new one */
        lt_safetensors_free(&file);
    }
    assert_true(failures > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(memory_and_callbacks_equal_the_file),
        cmocka_unit_test(failures_of_callbacks_and_damaged_content_are_errors),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
