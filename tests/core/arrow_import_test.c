/* arrow_import_test.c - lt_tensor_from_arrow: every format, bits, nulls, offsets, children of tables,
 * memory that is released once, failing allocations, and invalid arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"
#include "dtypes/half.h"
#include "leaks.h"
#include "memory/block.h"
#include "memory/system.h"
#include "tensor.h"
#include "op/add.h"
#include "op/fill_.h"
#include "op/narrow.h"
#include "op/select.h"

/* ---- a column of another library ------------------------------------------------------------- */

static int arrays_released, schemas_released;
static struct ArrowSchema schema;
static struct ArrowArray array;
static const void *buffers[2];

static void release_array(struct ArrowArray *self)
{
    assert_ptr_equal(self->buffers, buffers);
    self->release = NULL;
    arrays_released++;
}

static void release_schema(struct ArrowSchema *self)
{
    self->release = NULL;
    schemas_released++;
}

/* Of n elements, none of them null. */
static void column(const char *format, const void *data, int64_t n)
{
    arrays_released = schemas_released = 0;
    buffers[0] = NULL, buffers[1] = data;
    schema = (struct ArrowSchema){.format = format, .release = release_schema};
    array = (struct ArrowArray){
        .length = n, .n_buffers = 2, .buffers = buffers, .release = release_array};
}

static float numbers[] = {0, 1, 2, 3, 4, 5};

/* ---- importing ------------------------------------------------------------------------------- */

static void numbers_are_shared_and_given_back_once(void **state)
{
    (void)state;
    lt_tensor *t = NULL, *part = NULL;
    column("f", numbers, 6);
    assert_ok(lt_tensor_from_arrow(&schema, &array, &t));
    assert_null(array.release);      /* moved */
    assert_non_null(schema.release); /* the caller's */
    assert_ptr_equal(lt_tensor_data(t), numbers);
    assert_int_equal(lt_tensor_dtype(t), LT_FLOAT32);
    assert_int_equal(lt_tensor_ndim(t), 1);
    assert_int_equal(lt_tensor_numel(t), 6);
    assert_ok(lt_narrow(t, 0, 1, 2, &part));
    lt_tensor_release(t);
    assert_int_equal(arrays_released, 0); /* the view still shows it */
    lt_tensor_release(part);
    assert_int_equal(arrays_released, 1);
    assert_int_equal(schemas_released, 0);
}

static void what_is_shared_is_only_read(void **state)
{
    (void)state;
    lt_tensor *t = NULL, *sum = NULL;
    column("f", numbers, 6);
    assert_ok(lt_tensor_from_arrow(&schema, &array, &t));
    assert_true(lt_tensor_is_read_only(t));
    assert_fails(lt_fill_(t, lt_scalar_from_float(7)), LT_ERR_RUNTIME, "has read-only memory");
    assert_ok(lt_add(t, t, lt_scalar_from_int(1), &sum));
    assert_true(((float *)lt_tensor_data(sum))[5] == 10 && numbers[5] == 5);
    lt_tensor_release(sum);
    lt_tensor_release(t);
}

static void offsets_are_kept(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    column("f", numbers, 3);
    array.offset = 2;
    assert_ok(lt_tensor_from_arrow(&schema, &array, &t));
    assert_ptr_equal(lt_tensor_data(t), numbers + 2);
    assert_int_equal(lt_tensor_numel(t), 3);
    lt_tensor_release(t);
    assert_int_equal(arrays_released, 1);
}

static void what_is_not_aligned_is_copied(void **state)
{
    (void)state;
    _Alignas(8) char bytes[1 + 3 * sizeof(double)];
    const double three[] = {1.5, -2, 1e300};
    lt_tensor *t = NULL;
    memcpy(bytes + 1, three, sizeof three);
    column("g", bytes + 1, 3);
    assert_ok(lt_tensor_from_arrow(&schema, &array, &t));
    assert_int_equal(arrays_released, 1);
    assert_null(array.release);
    assert_memory_equal(lt_tensor_data(t), three, sizeof three);
    assert_false(lt_tensor_is_read_only(t));
    lt_tensor_release(t);
    assert_int_equal(arrays_released, 1);
}

static void bits_become_bools(void **state)
{
    (void)state;
    const uint8_t bits[] = {0xb2, 0x01, 0xff}; /* 0 1 0 0 1 1 0 1  1 0 ... */
    const bool expected[] = {false, true, true, false, true, true, false};
    lt_tensor *t = NULL;
    column("b", bits, 7);
    array.offset = 3;
    assert_ok(lt_tensor_from_arrow(&schema, &array, &t));
    assert_int_equal(lt_tensor_dtype(t), LT_BOOL);
    assert_int_equal(lt_tensor_numel(t), 7);
    assert_memory_equal(lt_tensor_data(t), expected, sizeof expected);
    assert_int_equal(arrays_released, 1);
    lt_tensor_release(t);
}

/* Elements 3 and 11 of 12 are null. */
static const uint8_t VALID[] = {0xf7, 0xf7};

/* Bytes whose last one is the last of a page, behind which nothing may be read. */
static uint8_t *before_a_gap(void *pages, size_t page, size_t bytes)
{
    return (uint8_t *)pages + page - bytes;
}

static void no_byte_behind_a_buffer_is_read(void **state)
{
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *pages[2];
    for (int i = 0; i < 2; i++) {
        pages[i] = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(pages[i], MAP_FAILED);
        memset(pages[i], 0xff, page);
        assert_int_equal(mprotect((char *)pages[i] + page, page, PROT_NONE), 0);
    }
    static const struct {
        const char *format;
        int bits;
    } formats_of[] = {{"b", 1}, {"C", 8}, {"e", 16}, {"f", 32}, {"g", 64}};
    for (int k = 0; k < 5; k++)
        for (int64_t offset = 0; offset < 18; offset++)
            for (int64_t n = 0; n < 40; n++)
                for (int64_t nulls = -1; nulls <= (k > 1 && n > 0 ? 1 : 0); nulls++) {
                    const size_t elements = (size_t)(offset + n), bitmap = (elements + 7) / 8;
                    column(formats_of[k].format,
                           before_a_gap(pages[1], page,
                                        (elements * (size_t)formats_of[k].bits + 7) / 8),
                           n);
                    uint8_t *valid = before_a_gap(pages[0], page, bitmap);
                    if (nulls == 1)
                        valid[(elements - 1) / 8] &= (uint8_t) ~(1u << (elements - 1) % 8);
                    buffers[0] = valid;
                    array.offset = offset, array.null_count = nulls;
                    lt_tensor *t = NULL;
                    assert_ok(lt_tensor_from_arrow(&schema, &array, &t));
                    assert_int_equal(lt_tensor_numel(t), n);
                    lt_tensor_release(t);
                    memset(pages[0], 0xff, page);
                }
    for (int i = 0; i < 2; i++) munmap(pages[i], 2 * page);
}

static void floats_that_are_null_become_nan(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    float singles[12];
    double doubles[12];
    lt_half halves[12];
    for (int i = 0; i < 12; i++)
        singles[i] = (float)i, doubles[i] = i, halves[i] = lt_float_to_half((float)i);
    const struct {
        const char *format;
        const void *data;
    } all[] = {{"f", singles}, {"g", doubles}, {"e", halves}};
    for (int f = 0; f < 3; f++)
        for (int64_t offset = 0; offset < 4; offset++) {
            column(all[f].format, all[f].data, 12 - offset);
            buffers[0] = VALID;
            array.null_count = offset % 2 == 0 ? 2 : -1; /* counted, or not */
            array.offset = offset;
            assert_ok(lt_tensor_from_arrow(&schema, &array, &t));
            assert_int_equal(arrays_released, 1);
            assert_false(lt_tensor_is_read_only(t));
            for (int64_t i = 0; i < 12 - offset; i++) {
                lt_tensor *element = NULL;
                lt_scalar value;
                assert_ok(lt_select(t, 0, i, &element));
                assert_ok(lt_tensor_item(element, &value));
                lt_tensor_release(element);
                if (i + offset == 3 || i + offset == 11)
                    assert_true(isnan(value.v.d));
                else
                    assert_true(value.v.d == (double)(i + offset));
            }
            lt_tensor_release(t);
        }
}

static void integers_that_are_null_are_refused(void **state)
{
    (void)state;
    const int32_t ints[12] = {0};
    lt_tensor *t = NULL;
    for (int64_t stated = -1; stated <= 2; stated += 3) {
        column("i", ints, 12);
        buffers[0] = VALID;
        array.null_count = stated;
        assert_fails(lt_tensor_from_arrow(&schema, &array, &t), LT_ERR_RUNTIME,
                     "2 of 12 elements are null, and int32 has no value for that");
        assert_non_null(array.release); /* still the caller's */
        column("b", ints, 9);
        buffers[0] = VALID;
        array.null_count = stated == -1 ? -1 : 1;
        assert_fails(lt_tensor_from_arrow(&schema, &array, &t), LT_ERR_RUNTIME,
                     "1 of 9 elements are null, and bool has no value for that");
    }
    const uint8_t second_half[] = {0x00, 0xff};
    column("i", ints, 8);
    buffers[0] = second_half;
    array.offset = 4;
    array.null_count = -1;
    assert_fails(lt_tensor_from_arrow(&schema, &array, &t), LT_ERR_RUNTIME,
                 "4 of 8 elements are null");
    assert_null(t);
    assert_int_equal(arrays_released, 0);
}

/* Bits are there, but none of these elements is null. */
static void nulls_elsewhere_do_not_matter(void **state)
{
    (void)state;
    const int32_t ints[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    lt_tensor *t = NULL;
    const struct {
        int64_t offset, length, null_count;
        const uint8_t *valid;
    } all[] = {{4, 7, -1, VALID},
               {4, 7, 0, VALID},
               {0, 3, -1, VALID},
               {0, 12, 0, VALID},
               {0, 12, -1, NULL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        column("i", ints, all[i].length);
        buffers[0] = all[i].valid;
        array.offset = all[i].offset;
        array.null_count = all[i].null_count;
        assert_ok(lt_tensor_from_arrow(&schema, &array, &t));
        assert_ptr_equal(lt_tensor_data(t), ints + all[i].offset);
        lt_tensor_release(t);
        assert_int_equal(arrays_released, 1);
    }
}

static void empty_columns(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    static const char *const formats[] = {"b", "C", "c", "s", "i", "l", "e", "f", "g"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        column(formats[i], NULL, 0);
        array.null_count = -1;
        assert_ok(lt_tensor_from_arrow(&schema, &array, &t));
        assert_int_equal(lt_tensor_numel(t), 0);
        assert_int_equal(lt_tensor_ndim(t), 1);
        assert_int_equal(arrays_released, 1);
        lt_tensor_release(t);
    }
}

static void release_table(struct ArrowArray *self)
{
    for (int64_t i = 0; i < self->n_children; i++)
        if (self->children[i]->release != NULL) self->children[i]->release(self->children[i]);
    self->release = NULL;
}

static void columns_are_taken_out_of_a_table(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    column("f", numbers, 6);
    struct ArrowArray first = array, second = array, *arrays[] = {&first, &second};
    struct ArrowSchema *schemas[] = {&schema, &schema};
    const void *none[] = {NULL};
    struct ArrowSchema structs = {
        .format = "+s", .n_children = 2, .children = schemas, .release = release_schema};
    struct ArrowArray table = {.length = 6,
                               .n_buffers = 1,
                               .buffers = none,
                               .n_children = 2,
                               .children = arrays,
                               .release = release_table};
    assert_fails(lt_tensor_from_arrow(&structs, &table, &t), LT_ERR_RUNTIME,
                 "the format '+s' (structs) is not supported");
    assert_ok(lt_tensor_from_arrow(structs.children[1], table.children[1], &t));
    table.release(&table);
    assert_int_equal(arrays_released, 1); /* the first one; the second lives on */
    assert_true(((float *)lt_tensor_data(t))[5] == 5);
    lt_tensor_release(t);
    assert_int_equal(arrays_released, 2);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void null_arguments_are_errors(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    column("f", numbers, 6);
    assert_fails(lt_tensor_from_arrow(NULL, &array, &t), LT_ERR_TYPE,
                 "argument 'schema' must not be NULL");
    assert_fails(lt_tensor_from_arrow(&schema, NULL, &t), LT_ERR_TYPE,
                 "argument 'array' must not be NULL");
    assert_fails(lt_tensor_from_arrow(&schema, &array, NULL), LT_ERR_TYPE,
                 "argument 'out' must not be NULL");
    assert_non_null(array.release);
}

static void hostile_arrays_are_errors(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    struct ArrowSchema values = {.format = "u"};
    struct ArrowArray words = {.length = 1};
#define REFUSED(change, message)                                                                   \
    do {                                                                                           \
        column("f", numbers, 6);                                                                   \
        change;                                                                                    \
        const struct ArrowArray before = array;                                                    \
        assert_fails(lt_tensor_from_arrow(&schema, &array, &t), LT_ERR_RUNTIME, message);          \
        assert_null(t);                                                                            \
        assert_memory_equal(&before, &array, sizeof array);                                        \
        assert_int_equal(arrays_released, 0);                                                      \
    } while (0)
    REFUSED(schema.release = NULL, "the schema was released or moved before");
    REFUSED(array.release = NULL, "the array was released or moved before");
    REFUSED(schema.format = NULL, "format is NULL");
    REFUSED(schema.format = "", "the format '' (unknown) is not supported");
    REFUSED(schema.format = "ff", "the format 'ff' (unknown)");
    REFUSED(schema.format = "n", "(null)");
    REFUSED(schema.format = "vu", "(text views)");
    REFUSED(schema.format = "U", "(large text)");
    REFUSED(schema.format = "tsu:Europe/Berlin",
            "the format 'tsu:Europe/Berlin' (timestamps) is not supported");
    REFUSED(schema.format = "tdD", "(dates)");
    REFUSED(schema.format = "d:19,10,256", "the format 'd:19,10,256' (decimal numbers)");
    REFUSED(schema.format = "+vL", "(large list views)");
    REFUSED(schema.format = "+w:123", "(lists of one size)");
    REFUSED((schema.format = "i", schema.dictionary = &values),
            "dictionaries (indices of format 'i') are not supported");
    REFUSED(array.dictionary = &words, "the array has 2 and 0, and a dictionary");
    REFUSED(array.n_buffers = 3,
            "a column of numbers has 2 buffers and no children, the array has 3 and 0");
    REFUSED(array.n_buffers = 1, "has 1 and 0");
    REFUSED(array.buffers = NULL, "has 0 and 0");
    REFUSED(array.n_children = 1, "has 2 and 1");
    REFUSED(array.length = -1, "length -1 and offset 0 must not be negative");
    REFUSED(array.offset = -2, "length 6 and offset -2 must not be negative");
    REFUSED(array.null_count = -2, "null_count is -2 for 6 elements");
    REFUSED(array.null_count = 7, "null_count is 7 for 6 elements");
    REFUSED(array.null_count = 1, "null_count is 1, but the validity bitmap is NULL");
    REFUSED(buffers[1] = NULL, "data are NULL for 6 elements");
    REFUSED(array.offset = INT64_MAX, "Storage size calculation overflowed");
    REFUSED(array.offset = INT64_MAX - 6, "Storage size calculation overflowed");
    REFUSED(array.length = INT64_MAX / 2, "Storage size calculation overflowed");
#undef REFUSED
}

static void each_allocation_of_taking_may_fail(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) { /* shared, with nulls, bits */
        lt_tensor *t = NULL;
        column(kind == 2 ? "b" : "f", numbers, 6);
        if (kind == 1) buffers[0] = VALID, array.null_count = 1;
        for (int64_t nth = 1; t == NULL; nth++) {
            lt_block_trim();
            lt_mem_fail_after(nth);
            const lt_status status = lt_tensor_from_arrow(&schema, &array, &t);
            lt_mem_fail_after(0);
            if (status == LT_OK) {
                assert_true(nth > 1);
                break;
            }
            assert_int_equal(status, LT_ERR_MEMORY);
            assert_null(t);
            assert_non_null(array.release);
            assert_int_equal(arrays_released, 0);
            assert_true(nth < 10);
        }
        lt_tensor_release(t);
        assert_int_equal(arrays_released, 1);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, note_memory, check_memory)
    const struct CMUnitTest tests[] = {
        TEST(numbers_are_shared_and_given_back_once),
        TEST(what_is_shared_is_only_read),
        TEST(offsets_are_kept),
        TEST(what_is_not_aligned_is_copied),
        TEST(bits_become_bools),
        TEST(no_byte_behind_a_buffer_is_read),
        TEST(floats_that_are_null_become_nan),
        TEST(integers_that_are_null_are_refused),
        TEST(nulls_elsewhere_do_not_matter),
        TEST(empty_columns),
        TEST(columns_are_taken_out_of_a_table),
        TEST(null_arguments_are_errors),
        TEST(hostile_arrays_are_errors),
        TEST(each_allocation_of_taking_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
