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
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
