/* header_test.c - every function of ltensor.h: with each of its allocations failing, and with NULL
 * for each of its pointers. The operations of ltensor_ops.h, by their names, are
 * catalog_test.c's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#undef LT_OPS_BY_NAME
#include "ltensor.h"

#include "failing.h"
#include "find_backend.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static const lt_device cpu = {LT_CPU, 0}, gpu = {LT_CUDA, 0};
static const int64_t sizes[] = {2, 3}, strides[] = {1, 2}, one_row[] = {3};
static float numbers[6] = {1, 2, 3, 4, 5, 6};
static char file_name[64];

/* What the calls below are given. None of them changes these. */
static lt_tensor *x, *leaf,
    *product; /* 2 x 3 numbers; 3 that require grad, and the sum of their squares */
static lt_context *context;
static lt_generator *generator;
static lt_archive *archive;
static lt_table *table;

static int setup(void **state)
{
    (void)state;
    const lt_value two = lt_value_double(2);
    lt_tensor *square = NULL;
    snprintf(file_name, sizeof file_name, "/tmp/ltensor-header-%ld", (long)getpid());
    assert_ok(lt_tensor_new(LT_FLOAT32, cpu, 2, sizes, &x));
    assert_ok(lt_tensor_copy_from(x, numbers, sizeof numbers));
    assert_ok(lt_tensor_new(LT_FLOAT32, cpu, 1, one_row, &leaf));
    assert_ok(lt_tensor_copy_from(leaf, numbers, 3 * sizeof *numbers));
    assert_ok(lt_tensor_set_requires_grad(leaf, true));
    assert_ok(lt_square(leaf, &square));
    assert_ok(lt_sum(square, LT_DTYPE_NONE, &product));
    lt_tensor_release(square);
    assert_ok(lt_context_new(NULL, &context));
    assert_ok(lt_generator_new(cpu, &generator));
    assert_ok(lt_save(file_name, (const char *[]){"x", "y"}, (lt_tensor *[]){x, x}, 2));
    assert_ok(lt_load(file_name, &archive));
    assert_ok(lt_table_new(&table));
    assert_ok(lt_table_set(table, "two", &two));
    assert_ok(lt_table_append(table, &two));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lt_tensor_release(x);
    lt_tensor_release(leaf);
    lt_tensor_release(product);
    lt_context_release(context);
    lt_generator_release(generator);
    lt_archive_release(archive);
    lt_table_release(table);
    unlink(file_name);
    return 0;
}

/* They are as they were made. */
static void assert_all_usable(void)
{
    float read[6];
    assert_ok(lt_tensor_copy_to(x, read, sizeof read));
    assert_memory_equal(read, numbers, sizeof read);
    assert_ok(lt_tensor_copy_to(leaf, read, 3 * sizeof *read));
    assert_memory_equal(read, numbers, 3 * sizeof *read);
    assert_null(lt_tensor_grad(leaf));
    assert_ok(lt_backward(product, NULL, true, false));
    assert_ok(lt_tensor_copy_to(lt_tensor_grad(leaf), read, 3 * sizeof *read));
    assert_true(read[0] == 2 && read[1] == 4 && read[2] == 6);
    assert_ok(lt_tensor_set_grad(leaf, NULL));
    assert_int_equal(lt_archive_count(archive), 2);
    assert_true(lt_table_length(table) == 1 && lt_table_names(table) == 1);
    assert_true(lt_grad_enabled() && lt_context_current() == lt_context_process());
    assert_int_equal(lt_get_default_dtype(), LT_FLOAT32);
}

/* What a call has made is given back; one that failed has made nothing. */
static lt_status give_back(lt_status status, lt_tensor **made)
{
    assert_int_equal(status == LT_OK, *made != NULL);
    lt_tensor_release(*made);
    return status;
}

#define NONE_OF(...)                                                                               \
    do {                                                                                           \
        const void *const none_[] = {__VA_ARGS__};                                                 \
        for (int i_ = 0; i_ < COUNT(none_); i_++) assert_null(none_[i_]);                          \
    } while (0)

#include "header_hosts.h"

/* ---- making tensors -------------------------------------------------------------------------- */

static lt_status tensor_new(void)
{
    lt_tensor *made = NULL;
    return give_back(lt_tensor_new(LT_FLOAT64, cpu, 2, sizes, &made), &made);
}
static void tensor_new_null(void)
{
    lt_tensor *made = NULL;
    assert_no_null(lt_tensor_new(LT_FLOAT32, cpu, 2, NULL, &made), "'sizes'");
    assert_no_null(lt_tensor_new(LT_FLOAT32, cpu, 2, sizes, NULL), "'out'");
    assert_null(made);
    assert_ok(lt_tensor_new(LT_FLOAT32, cpu, 0, NULL, &made)); /* no dimensions, no sizes */
    lt_tensor_release(made);
}

static void count_call(void *ctx) { ++*(int *)ctx; }

static lt_status tensor_wrap(void)
{
    int released = 0;
    lt_tensor *made = NULL;
    const lt_status status = give_back(
        lt_tensor_wrap(numbers, LT_FLOAT32, 2, sizes, count_call, &released, &made), &made);
    assert_int_equal(released, status == LT_OK);
    return status;
}
static void tensor_wrap_null(void)
{
    lt_tensor *made = NULL;
    assert_no_null(lt_tensor_wrap(NULL, LT_FLOAT32, 2, sizes, NULL, NULL, &made), "data");
    assert_no_null(lt_tensor_wrap(numbers, LT_FLOAT32, 2, NULL, NULL, NULL, &made), "'sizes'");
    assert_no_null(lt_tensor_wrap(numbers, LT_FLOAT32, 2, sizes, NULL, NULL, NULL), "'out'");
    assert_null(made);
    assert_ok(lt_tensor_wrap(NULL, LT_FLOAT32, 1, (const int64_t[]){0}, NULL, NULL,
                             &made)); /* no elements */
    lt_tensor_release(made);
}

static lt_status tensor_wrap_strided(void)
{
    int released = 0;
    lt_tensor *made = NULL;
    const lt_status status =
        give_back(lt_tensor_wrap_strided(numbers, LT_FLOAT32, cpu, 2, sizes, strides, count_call,
                                         &released, &made),
                  &made);
    assert_int_equal(released, status == LT_OK);
    return status;
}
static void tensor_wrap_strided_null(void)
{
    lt_tensor *made = NULL;
    assert_no_null(
        lt_tensor_wrap_strided(NULL, LT_FLOAT32, cpu, 2, sizes, strides, NULL, NULL, &made),
        "data");
    assert_no_null(
        lt_tensor_wrap_strided(numbers, LT_FLOAT32, cpu, 2, NULL, strides, NULL, NULL, &made),
        "'sizes'");
    assert_no_null(
        lt_tensor_wrap_strided(numbers, LT_FLOAT32, cpu, 2, sizes, strides, NULL, NULL, NULL),
        "'out'");
    assert_null(made);
    assert_ok(lt_tensor_wrap_strided(numbers, LT_FLOAT32, cpu, 2, sizes, NULL, NULL, NULL,
                                     &made)); /* row-major */
    lt_tensor_release(made);
}

static lt_status tensor_from_scalar(void)
{
    lt_tensor *made = NULL;
    return give_back(lt_tensor_from_scalar(lt_scalar_from_float(0.5), &made), &made);
}
static void tensor_from_scalar_null(void)
{
    assert_no_null(lt_tensor_from_scalar(lt_scalar_from_int(1), NULL), "'out'");
}

static lt_status tensor_retain(void)
{
    lt_tensor_release(lt_tensor_retain(x));
    return LT_OK;
}
static void tensor_retain_null(void)
{
    assert_null(lt_tensor_retain(NULL));
    lt_tensor_release(NULL);
}

static lt_status list_free(void)
{
    lt_tensor_list list = {0, NULL};
    const lt_status status = lt_unbind(x, 0, &list);
    assert_int_equal(list.n, status == LT_OK ? 2 : 0);
    lt_tensor_list_release(&list);
    assert_null(list.v);
    return status;
}
static void list_free_null(void)
{
    lt_tensor_list empty = {0, NULL};
    lt_tensor_list_release(NULL);
    lt_tensor_list_release(&empty);
}

/* ---- looking at tensors ---------------------------------------------------------------------- */

static lt_status look(void)
{
    assert_true(lt_tensor_dtype(x) == LT_FLOAT32 && lt_tensor_device(x).type == LT_CPU &&
                lt_tensor_layout(x) == LT_STRIDED && lt_tensor_ndim(x) == 2);
    assert_true(lt_tensor_sizes(x)[1] == 3 && lt_tensor_strides(x)[0] == 3 &&
                lt_tensor_numel(x) == 6);
    assert_true(lt_tensor_is_contiguous(x) && ((float *)lt_tensor_data(x))[5] == 6);
    assert_false(lt_tensor_requires_grad(x) || !lt_tensor_is_leaf(x) || lt_tensor_is_read_only(x));
    return lt_tensor_grad(x) == NULL ? LT_OK : LT_ERR_RUNTIME;
}
static void look_null(void)
{
    assert_true(lt_tensor_dtype(NULL) == LT_DTYPE_NONE && lt_tensor_ndim(NULL) == 0 &&
                lt_tensor_numel(NULL) == 0 && lt_tensor_layout(NULL) == LT_STRIDED);
    assert_int_equal(lt_tensor_device(NULL).type, LT_CPU);
    NONE_OF(lt_tensor_sizes(NULL), lt_tensor_strides(NULL), lt_tensor_data(NULL),
            lt_tensor_grad(NULL));
    assert_false(lt_tensor_is_contiguous(NULL) || lt_tensor_requires_grad(NULL) ||
                 lt_tensor_is_leaf(NULL) || lt_tensor_is_read_only(NULL));
}

static lt_status tensor_item(void)
{
    lt_scalar number;
    return lt_tensor_item(product, &number);
}
static void tensor_item_null(void)
{
    lt_scalar number;
    assert_no_null(lt_tensor_item(NULL, &number), "'t'");
    assert_no_null(lt_tensor_item(product, NULL), "'out'");
}

/* Onto a view that is not contiguous, and back. */
static lt_status tensor_copy(void)
{
    float held[6], read[6];
    lt_tensor *view = NULL;
    lt_status status =
        lt_tensor_wrap_strided(held, LT_FLOAT32, cpu, 2, sizes, strides, NULL, NULL, &view);
    if (status == LT_OK) status = lt_tensor_copy_from(view, numbers, sizeof numbers);
    if (status == LT_OK) status = lt_tensor_copy_to(view, read, sizeof read);
    if (status == LT_OK) assert_memory_equal(read, numbers, sizeof read);
    lt_tensor_release(view);
    return status;
}
static void tensor_copy_from_null(void)
{
    assert_no_null(lt_tensor_copy_from(NULL, numbers, sizeof numbers), "'t'");
    assert_no_null(lt_tensor_copy_from(x, NULL, sizeof numbers), "'data'");
}
static void tensor_copy_to_null(void)
{
    float read[6];
    assert_no_null(lt_tensor_copy_to(NULL, read, sizeof read), "'t'");
    assert_no_null(lt_tensor_copy_to(x, NULL, sizeof read), "'data'");
}

static lt_status tensor_to(void)
{
    lt_tensor *there = NULL, *back = NULL;
    lt_status status = lt_tensor_to(x, LT_FLOAT64, &gpu, &there);
    if (status == LT_OK) status = lt_tensor_to(there, LT_FLOAT32, &cpu, &back);
    lt_tensor_release(there);
    return give_back(status, &back);
}
static void tensor_to_null(void)
{
    lt_tensor *made = NULL;
    assert_no_null(lt_tensor_to(NULL, LT_FLOAT64, &cpu, &made), "'t'");
    assert_no_null(lt_tensor_to(x, LT_FLOAT64, &cpu, NULL), "'out'");
    assert_null(made);
    assert_ok(lt_tensor_to(x, LT_FLOAT64, NULL, &made)); /* where it is */
    lt_tensor_release(made);
}

/* ---- files ----------------------------------------------------------------------------------- */

static lt_status save(void)
{
    return lt_save(file_name, (const char *[]){"x", "y"}, (lt_tensor *[]){x, x}, 2);
}
static void save_null(void)
{
    const char *const names[] = {"x", NULL};
    lt_tensor *const tensors[] = {x, NULL};
    assert_no_null(lt_save(NULL, names, tensors, 1), "'path'");
    assert_no_null(lt_save(file_name, NULL, tensors, 1), "'names'");
    assert_no_null(lt_save(file_name, names, NULL, 1), "'tensors'");
    assert_no_null(lt_save(file_name, names, (lt_tensor *[]){x, x}, 2), "names[1]");
    assert_no_null(lt_save(file_name, (const char *[]){"x", "y"}, tensors, 2), "tensors[1]");
}

static lt_status load(void)
{
    lt_archive *made = NULL;
    const lt_status status = lt_load(file_name, &made);
    assert_int_equal(status == LT_OK, made != NULL);
    lt_archive_release(made);
    return status;
}
static void load_null(void)
{
    lt_archive *made = NULL;
    assert_no_null(lt_load(NULL, &made), "'path'");
    assert_no_null(lt_load(file_name, NULL), "'out'");
}

static lt_status archive_look(void)
{
    assert_int_equal(lt_archive_count(archive), 2);
    assert_string_equal(lt_archive_name(archive, 1), "y");
    assert_ptr_equal(lt_archive_tensor(archive, 0), lt_archive_find(archive, "x"));
    return LT_OK;
}
static void archive_look_null(void)
{
    assert_int_equal(lt_archive_count(NULL), 0);
    NONE_OF(lt_archive_name(NULL, 0), lt_archive_tensor(NULL, 0), lt_archive_find(NULL, "x"),
            lt_archive_find(archive, NULL));
    NONE_OF(lt_archive_name(archive, 2), lt_archive_name(archive, -1),
            lt_archive_tensor(archive, INT64_MAX));
    lt_archive_release(NULL);
}

static lt_status tensor_from_file(void)
{
    lt_tensor *made = NULL;
    return give_back(lt_tensor_from_file(file_name, false, 8, LT_UINT8, &made), &made);
}
static void tensor_from_file_null(void)
{
    lt_tensor *made = NULL;
    assert_no_null(lt_tensor_from_file(NULL, false, 8, LT_UINT8, &made), "'path'");
    assert_no_null(lt_tensor_from_file(file_name, false, 8, LT_UINT8, NULL), "'out'");
    assert_null(made);
}

/* ---- devices, random numbers ----------------------------------------------------------------- */

static lt_status device_count(void)
{
    return lt_device_count(LT_CPU) == 1 && lt_device_count(LT_CUDA) == 1 ? LT_OK : LT_ERR_MEMORY;
}

static lt_status device_look(void)
{
    char name[64];
    size_t free_bytes, all;
    const lt_device both[] = {cpu, gpu};
    lt_status status = LT_OK;
    for (int i = 0; i < 2 && status == LT_OK; i++) {
        status = lt_device_name(both[i], name, sizeof name);
        if (status == LT_OK) status = lt_device_memory(both[i], &free_bytes, &all);
        if (status == LT_OK) status = lt_device_synchronize(both[i]);
    }
    return status;
}
static void device_name_null(void) { assert_no_null(lt_device_name(cpu, NULL, 10), "'buffer'"); }
static void device_memory_null(void)
{
    assert_ok(lt_device_memory(cpu, NULL, NULL));
    assert_ok(lt_device_memory(gpu, NULL, NULL));
}

static lt_status manual_seed(void)
{
    lt_manual_seed(7);
    return LT_OK;
}

static lt_status generator_new(void)
{
    lt_generator *made = NULL;
    lt_status status = lt_generator_new(gpu, &made);
    assert_int_equal(status == LT_OK, made != NULL);
    if (status == LT_OK) status = lt_generator_seed(made, 7);
    lt_generator_release(made);
    return status == LT_OK ? lt_generator_seed(generator, 7) : status;
}
static void generator_new_null(void) { assert_no_null(lt_generator_new(cpu, NULL), "'out'"); }
static void generator_seed_null(void) { assert_no_null(lt_generator_seed(NULL, 7), "'generator'"); }
static void generator_free_null(void) { lt_generator_release(NULL); }

/* ---- derivatives ----------------------------------------------------------------------------- */

/* A tensor like leaf, of which nothing else knows. */
static lt_status own_leaf(lt_tensor **out)
{
    lt_tensor *own = NULL;
    lt_status status = lt_tensor_new(LT_FLOAT32, cpu, 1, one_row, &own);
    if (status == LT_OK) status = lt_tensor_copy_from(own, numbers, 3 * sizeof *numbers);
    if (status == LT_OK) status = lt_tensor_set_requires_grad(own, true);
    if (status == LT_OK)
        *out = own;
    else
        lt_tensor_release(own);
    return status;
}

static lt_status set_requires_grad(void)
{
    lt_tensor *own = NULL;
    return give_back(own_leaf(&own), &own);
}
static void set_requires_grad_null(void)
{
    assert_no_null(lt_tensor_set_requires_grad(NULL, true), "'t'");
}

static lt_status set_grad(void)
{
    lt_tensor *own = NULL, *grad = NULL;
    lt_status status = own_leaf(&own);
    if (status == LT_OK) status = lt_tensor_new(LT_FLOAT32, cpu, 1, one_row, &grad);
    if (status == LT_OK) status = lt_tensor_set_grad(own, grad);
    assert_int_equal(status == LT_OK, lt_tensor_grad(own) != NULL);
    lt_tensor_release(grad);
    lt_tensor_release(own);
    return status;
}
static void set_grad_null(void)
{
    assert_no_null(lt_tensor_set_grad(NULL, x), "'t'");
    assert_ok(lt_tensor_set_grad(leaf, NULL)); /* clears it */
}

static lt_status backward(void)
{
    lt_tensor *own = NULL, *square = NULL, *one = NULL;
    lt_status status = own_leaf(&own);
    if (status == LT_OK) status = lt_square(own, &square);
    if (status == LT_OK) status = lt_ones_like(square, LT_DTYPE_NONE, NULL, &one);
    if (status == LT_OK) status = lt_backward(square, one, true, true);
    if (status == LT_OK) status = lt_tensor_set_grad(own, NULL);
    if (status == LT_OK) status = lt_backward(square, one, false, false);
    if (own != NULL) assert_ok(lt_tensor_set_grad(own, NULL)); /* it may hold its own graph */
    lt_tensor_release(own);
    lt_tensor_release(square);
    lt_tensor_release(one);
    return status;
}
static void backward_null(void) { assert_no_null(lt_backward(NULL, x, false, false), "'t'"); }

static lt_status grad_of(void)
{
    lt_tensor *grad = NULL;
    return give_back(lt_grad(&product, 1, &leaf, 1, NULL, true, true, false, &grad), &grad);
}
static void grad_null(void)
{
    lt_tensor *grad = NULL, *none[] = {NULL};
    assert_no_null(lt_grad(NULL, 1, &leaf, 1, NULL, true, false, false, &grad), "'outputs'");
    assert_no_null(lt_grad(&product, 1, NULL, 1, NULL, true, false, false, &grad), "'inputs'");
    assert_no_null(lt_grad(&product, 1, &leaf, 1, NULL, true, false, false, NULL), "'grads'");
    assert_no_null(lt_grad(none, 1, &leaf, 1, NULL, true, false, false, &grad), "outputs[0]");
    assert_no_null(lt_grad(&product, 1, none, 1, NULL, true, false, false, &grad), "inputs[0]");
    assert_null(grad);
    assert_ok(lt_grad(&product, 1, &leaf, 1, none, true, false, false,
                      &grad)); /* as backward's NULL: 1 */
    lt_tensor_release(grad);
}

static lt_status grad_enabled(void)
{
    const bool before = lt_set_grad_enabled(false);
    assert_false(lt_grad_enabled());
    lt_set_grad_enabled(before);
    return LT_OK;
}

static lt_status pass(void *ctx, lt_tensor *grad, lt_tensor **replacement)
{
    (void)ctx;
    *replacement = lt_tensor_retain(grad);
    return LT_OK;
}

static lt_status add_hook(void)
{
    int released = 0;
    int64_t id = 0;
    lt_tensor *own = NULL, *square = NULL, *sum = NULL;
    lt_status status = own_leaf(&own);
    bool hooked = false;
    if (status == LT_OK)
        hooked = (status = lt_tensor_add_hook(own, pass, count_call, &released, &id)) == LT_OK;
    if (status == LT_OK) status = lt_square(own, &square);
    if (status == LT_OK) status = lt_sum(square, LT_DTYPE_NONE, &sum);
    if (status == LT_OK) status = lt_backward(sum, NULL, false, false);
    assert_int_equal(released, 0);
    if (hooked) assert_ok(lt_tensor_remove_hook(own, id));
    assert_int_equal(released, hooked);
    lt_tensor_release(own);
    lt_tensor_release(square);
    lt_tensor_release(sum);
    return status;
}
static void add_hook_null(void)
{
    assert_no_null(lt_tensor_add_hook(NULL, pass, NULL, NULL, NULL), "'t'");
    assert_no_null(lt_tensor_add_hook(leaf, NULL, NULL, NULL, NULL), "'hook'");
}
static void remove_hook_null(void) { assert_no_null(lt_tensor_remove_hook(NULL, 1), "'t'"); }

/* ---- DLPack ---------------------------------------------------------------------------------- */

static lt_status dlpack(void)
{
    lt_status status = LT_OK;
    for (int versioned = 0; versioned < 2 && status == LT_OK; versioned++) {
        void *managed = NULL;
        lt_tensor *back = NULL;
        status = lt_tensor_to_dlpack(x, versioned, &managed);
        assert_int_equal(status == LT_OK, managed != NULL);
        if (status != LT_OK) break;
        status = lt_tensor_from_dlpack(managed, versioned, &back);
        if (status != LT_OK) {
            lt_mem_fail_after(0);
            assert_ok(lt_tensor_from_dlpack(managed, versioned, &back)); /* it is ours still */
            lt_tensor_release(back);
            back = NULL;
        }
        status = give_back(status, &back);
    }
    return status;
}
static void to_dlpack_null(void)
{
    void *managed = NULL;
    assert_no_null(lt_tensor_to_dlpack(NULL, true, &managed), "'t'");
    assert_no_null(lt_tensor_to_dlpack(x, true, NULL), "'out'");
    assert_null(managed);
}
static void from_dlpack_null(void)
{
    void *managed = NULL;
    lt_tensor *back = NULL;
    assert_no_null(lt_tensor_from_dlpack(NULL, true, &back), "'managed'");
    assert_ok(lt_tensor_to_dlpack(x, true, &managed));
    assert_no_null(lt_tensor_from_dlpack(managed, true, NULL), "'out'");
    assert_ok(lt_tensor_from_dlpack(managed, true, &back));
    lt_tensor_release(back);
}

/* As a column and back; what a call was given and did not take is released here. */
static lt_status arrow(void)
{
    struct ArrowSchema schema = {.release = NULL};
    struct ArrowArray array = {.release = NULL};
    lt_tensor *column = NULL, *back = NULL;
    lt_status status = lt_tensor_new(LT_BOOL, cpu, 1, one_row, &column);
    if (status == LT_OK) status = lt_tensor_copy_from(column, "\1\0\1", 3);
    if (status == LT_OK) status = lt_tensor_to_arrow(column, &schema, &array);
    if (status == LT_OK) status = lt_tensor_from_arrow(&schema, &array, &back);
    if (status != LT_OK && array.release != NULL) array.release(&array);
    if (schema.release != NULL) schema.release(&schema);
    assert_null(array.release);
    lt_tensor_release(column);
    return give_back(status, &back);
}
static void to_arrow_null(void)
{
    struct ArrowSchema schema = {.release = NULL};
    struct ArrowArray array = {.release = NULL};
    assert_no_null(lt_tensor_to_arrow(NULL, &schema, &array), "'t'");
    assert_no_null(lt_tensor_to_arrow(x, NULL, &array), "'schema'");
    assert_no_null(lt_tensor_to_arrow(x, &schema, NULL), "'array'");
    assert_true(schema.release == NULL && array.release == NULL);
}
static void from_arrow_null(void)
{
    struct ArrowSchema schema = {.release = NULL};
    struct ArrowArray array = {.release = NULL};
    lt_tensor *back = NULL;
    assert_no_null(lt_tensor_from_arrow(NULL, &array, &back), "'schema'");
    assert_no_null(lt_tensor_from_arrow(&schema, NULL, &back), "'array'");
    assert_no_null(lt_tensor_from_arrow(&schema, &array, NULL), "'out'");
    assert_null(back);
}

static lt_status ready_for(void)
{
    lt_tensor *there = NULL;
    lt_status status = lt_tensor_to(x, LT_DTYPE_NONE, &gpu, &there);
    if (status == LT_OK) status = lt_tensor_ready_for(there, 0);
    lt_tensor_release(there);
    return status == LT_OK ? lt_tensor_ready_for(x, 0) : status;
}
static void ready_for_null(void) { assert_no_null(lt_tensor_ready_for(NULL, 0), "'t'"); }

/* ---- all of them ----------------------------------------------------------------------------- */

/* ---- deprecated names ------------------------------------------------------------------------ */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Each old name does the same as the new one. */
static lt_status deprecated_names(void)
{
    lt_tensor_list list = {0, NULL};
    lt_generator *made = NULL;
    lt_archive *loaded = NULL;
    assert_true(lt_default_dtype() == lt_get_default_dtype());
    assert_true(lt_int(-3).kind == LT_SCALAR_INT && lt_int(-3).v.i == -3);
    assert_true(lt_float(0.5).kind == LT_SCALAR_FLOAT && lt_float(0.5).v.d == 0.5);
    assert_true(lt_boolean(true).kind == LT_SCALAR_BOOL && lt_boolean(true).v.i == 1);
    assert_true(lt_complex_number(1, 2).kind == LT_SCALAR_COMPLEX &&
                lt_complex_number(1, 2).v.d == 1 && lt_complex_number(1, 2).imaginary == 2);
    lt_status status = lt_unbind(x, 0, &list);
    lt_tensor_list_free(&list);
    assert_null(list.v);
    if (status == LT_OK) status = lt_generator_new(cpu, &made);
    if (made != NULL) lt_generator_free(made);
    if (status == LT_OK) status = lt_load(file_name, &loaded);
    if (loaded != NULL) lt_archive_free(loaded);
    lt_value number = lt_value_double(2);
    lt_value_free(&number);
    assert_int_equal(number.kind, LT_KIND_NONE);
    return status;
}
static void deprecated_names_null(void)
{
    lt_tensor_list_free(NULL);
    lt_archive_free(NULL);
    lt_generator_free(NULL);
    lt_value_free(NULL);
}
#pragma GCC diagnostic pop

/* In the order of the header. The first make the backends and libraries be loaded. */
static const row rows[] = {
    {"lt_has", has, has_null},
    {"lt_device_count", device_count, NULL},
    {"lt_error_message", error_message, NULL},
    {"lt_version_number", version_number, NULL},
    {"lt_version", version, NULL},
    {"lt_build_options", build_options, NULL},
    {"lt_dtype_size", dtype_size, NULL},
    {"lt_dtype_name", dtype_name, NULL},
    {"lt_context_new", context_new, context_new_null},
    {"lt_context_retain", context_retain, context_retain_null},
    {"lt_context_release", context_retain, context_release_null},
    {"lt_context_enter", context_enter, context_enter_null},
    {"lt_context_current", context_enter, NULL},
    {"lt_context_process", context_enter, NULL},
    {"lt_context_set_memory_limit", context_set_memory_limit, context_set_memory_limit_null},
    {"lt_context_memory", context_memory, context_memory_null},
    {"lt_context_set_deadline", context_set_deadline, context_set_deadline_null},
    {"lt_context_interrupt", context_interrupt, context_interrupt_null},
    {"lt_context_interrupt_clear", context_interrupt, context_interrupt_null},
    {"lt_get_default_dtype", default_dtype, NULL},
    {"lt_set_default_dtype", default_dtype, NULL},
    {"lt_get_num_threads", num_threads, NULL},
    {"lt_set_num_threads", num_threads, NULL},
    {"lt_set_thread_pool", thread_pool, thread_pool_null},
    {"lt_memory_trim", memory_trim, NULL},
    {"lt_set_allocator", set_allocator, set_allocator_null},
    {"lt_tensor_new", tensor_new, tensor_new_null},
    {"lt_tensor_wrap", tensor_wrap, tensor_wrap_null},
    {"lt_tensor_from_scalar", tensor_from_scalar, tensor_from_scalar_null},
    {"lt_tensor_wrap_strided", tensor_wrap_strided, tensor_wrap_strided_null},
    {"lt_tensor_retain", tensor_retain, tensor_retain_null},
    {"lt_tensor_release", tensor_retain, tensor_retain_null},
    {"lt_tensor_list_release", list_free, list_free_null},
    {"lt_tensor_dtype", look, look_null},
    {"lt_tensor_layout", look, look_null},
    {"lt_tensor_device", look, look_null},
    {"lt_tensor_ndim", look, look_null},
    {"lt_tensor_sizes", look, look_null},
    {"lt_tensor_strides", look, look_null},
    {"lt_tensor_numel", look, look_null},
    {"lt_tensor_is_contiguous", look, look_null},
    {"lt_tensor_data", look, look_null},
    {"lt_tensor_item", tensor_item, tensor_item_null},
    {"lt_tensor_copy_from", tensor_copy, tensor_copy_from_null},
    {"lt_tensor_copy_to", tensor_copy, tensor_copy_to_null},
    {"lt_tensor_to", tensor_to, tensor_to_null},
    {"lt_save", save, save_null},
    {"lt_load", load, load_null},
    {"lt_archive_count", archive_look, archive_look_null},
    {"lt_archive_name", archive_look, archive_look_null},
    {"lt_archive_tensor", archive_look, archive_look_null},
    {"lt_archive_find", archive_look, archive_look_null},
    {"lt_archive_release", load, archive_look_null},
    {"lt_device_name", device_look, device_name_null},
    {"lt_device_memory", device_look, device_memory_null},
    {"lt_device_synchronize", device_look, NULL},
    {"lt_manual_seed", manual_seed, NULL},
    {"lt_generator_new", generator_new, generator_new_null},
    {"lt_generator_seed", generator_new, generator_seed_null},
    {"lt_generator_release", generator_new, generator_free_null},
    {"lt_tensor_requires_grad", look, look_null},
    {"lt_tensor_set_requires_grad", set_requires_grad, set_requires_grad_null},
    {"lt_tensor_is_leaf", look, look_null},
    {"lt_tensor_grad", look, look_null},
    {"lt_tensor_set_grad", set_grad, set_grad_null},
    {"lt_backward", backward, backward_null},
    {"lt_grad", grad_of, grad_null},
    {"lt_grad_enabled", grad_enabled, NULL},
    {"lt_set_grad_enabled", grad_enabled, NULL},
    {"lt_tensor_add_hook", add_hook, add_hook_null},
    {"lt_tensor_remove_hook", add_hook, remove_hook_null},
    {"lt_call", call, call_null},
    {"lt_value_release", call, value_free_null},
    {"lt_table_new", use_table, table_new_null},
    {"lt_table_retain", use_table, table_retain_null},
    {"lt_table_release", use_table, table_retain_null},
    {"lt_table_set", use_table, table_set_null},
    {"lt_table_append", use_table, table_append_null},
    {"lt_table_get", use_table, table_look_null},
    {"lt_table_at", use_table, table_look_null},
    {"lt_table_length", use_table, table_look_null},
    {"lt_table_names", use_table, table_look_null},
    {"lt_table_name", use_table, table_look_null},
    {"lt_op_count", op_look, NULL},
    {"lt_op_at", op_look, op_look_null},
    {"lt_op_arg", op_look, op_look_null},
    {"lt_op_result", op_look, op_look_null},
    {"lt_tensor_to_dlpack", dlpack, to_dlpack_null},
    {"lt_tensor_from_dlpack", dlpack, from_dlpack_null},
    {"lt_tensor_is_read_only", look, look_null},
    {"lt_tensor_to_arrow", arrow, to_arrow_null},
    {"lt_tensor_from_arrow", arrow, from_arrow_null},
    {"lt_tensor_ready_for", ready_for, ready_for_null},
    {"lt_tensor_from_file", tensor_from_file, tensor_from_file_null},
    {"lt_interrupt", interrupt, NULL},
    {"lt_interrupt_clear", interrupt, NULL},
    {"lt_default_dtype", deprecated_names, NULL},
    {"lt_tensor_list_free", deprecated_names, deprecated_names_null},
    {"lt_archive_free", deprecated_names, deprecated_names_null},
    {"lt_generator_free", deprecated_names, deprecated_names_null},
    {"lt_value_free", deprecated_names, deprecated_names_null},
};

static void test_no_function_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(every_function_has_a_row(__FILE__, "ltensor.h", rows, COUNT(rows)),
                     COUNT(rows));
}

/* Before anything else: what the first calls load, and fail to load, is found by later ones. */
static void test_what_could_not_be_loaded_is_loaded_later(void **state)
{
    (void)state;
    fail_each("lt_has", has);
    assert_true(lt_has("simulator") && lt_has("lapack"));
    fail_each("lt_device_count", device_count);
    assert_int_equal(lt_device_count(LT_CUDA), 1);
}

static void test_every_failing_allocation_is_reported(void **state)
{
    (void)state;
    int failures = 0;
    for (int i = 0; i < COUNT(rows); i++) {
        failures += fail_without_a_leak((sweep){fail_each, rows[i].name, rows[i].call});
        assert_all_usable();
    }
    assert_int_equal(complaints, 0);
    assert_true(failures > 200);
}

static void test_null_is_an_error(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(rows); i++) {
        if (rows[i].null == NULL) continue;
        const int64_t live = lt_mem_live();
        rows[i].null();
        assert_int_equal(lt_mem_live(), live);
    }
    assert_all_usable();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_function_is_left_out),
        cmocka_unit_test(test_every_failing_allocation_is_reported),
        cmocka_unit_test(test_null_is_an_error),
    };
    const struct CMUnitTest first[] = {
        cmocka_unit_test(test_what_could_not_be_loaded_is_loaded_later)};
    find_backend();
    setenv("LTENSOR_SIM_GPUS", "1", 1);
    if (count_memory() != LT_OK) return 1;
    const int failed = cmocka_run_group_tests_name("loading", first, NULL, NULL);
    return failed + cmocka_run_group_tests_name("functions", tests, setup, teardown);
}
