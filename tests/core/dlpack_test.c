/* dlpack_test.c - tensors lent by DLPack and taken: round trips of every dtype and layout, deleters
 * that run once, memory that may only be read, failing allocations, and managed tensors that no
 * honest library makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "devices/backend.h"
#include "interop/dlpack.h"
#include "expect.h"
#include "leaks.h"
#include "memory/system.h"
#include "tensor.h"
#include "op/_batch_norm.h"
#include "op/fused_sgd_.h"
#include "op/add.h"
#include "op/copy_.h"
#include "op/exp.h"
#include "op/fill_.h"
#include "op/narrow.h"
#include "op/transpose.h"

#define FAILS(call, message)                                                                       \
    do {                                                                                           \
        assert_int_not_equal((call), LT_OK);                                                       \
        if (strstr(lt_error_message(), (message)) == NULL) fail_msg("%s", lt_error_message());     \
    } while (0)

/* ---- a stranger's tensor --------------------------------------------------------------------- */

static int deleted;
static float numbers[6];
static int64_t sizes[2], strides[2];

static void count_versioned(DLManagedTensorVersioned *self)
{
    assert_ptr_equal(self->manager_ctx, numbers);
    deleted++;
}

static void count_plain(DLManagedTensor *self)
{
    assert_ptr_equal(self->manager_ctx, numbers);
    deleted++;
}

/* 2 x 3 numbers 0 .. 5, row-major. */
static DLTensor matrix(void)
{
    for (int i = 0; i < 6; i++) numbers[i] = (float)i;
    sizes[0] = 2, sizes[1] = 3, strides[0] = 3, strides[1] = 1;
    return (DLTensor){.data = numbers,
                      .device = {kDLCPU, 0},
                      .ndim = 2,
                      .dtype = {kDLFloat, 32, 1},
                      .shape = sizes,
                      .strides = strides};
}

static DLManagedTensorVersioned strangers(void)
{
    deleted = 0;
    return (DLManagedTensorVersioned){.version = {1, 0},
                                      .manager_ctx = numbers,
                                      .deleter = count_versioned,
                                      .dl_tensor = matrix()};
}

/* ---- taking ---------------------------------------------------------------------------------- */

static void memory_is_shared_and_given_back_once(void **state)
{
    (void)state;
    DLManagedTensorVersioned m = strangers();
    lt_tensor *t = NULL, *view = NULL;
    assert_ok(lt_tensor_from_dlpack(&m, true, &t));
    assert_ptr_equal(lt_tensor_data(t), numbers);
    assert_int_equal(lt_tensor_dtype(t), LT_FLOAT32);
    assert_int_equal(lt_tensor_numel(t), 6);
    assert_true(lt_tensor_is_contiguous(t));
    assert_false(lt_tensor_is_read_only(t));
    assert_ok(lt_fill_(t, lt_scalar_from_float(7)));
    assert_true(numbers[5] == 7);
    assert_ok(lt_narrow(t, 0, 1, 1, &view));
    lt_tensor_release(t);
    assert_int_equal(deleted, 0); /* the view still shows it */
    lt_tensor_release(view);
    assert_int_equal(deleted, 1);
}

static void tensors_of_before_1_0_and_without_deleter(void **state)
{
    (void)state;
    DLManagedTensor plain = {.dl_tensor = matrix(), .manager_ctx = numbers, .deleter = count_plain};
    lt_tensor *t = NULL;
    deleted = 0;
    assert_ok(lt_tensor_from_dlpack(&plain, false, &t));
    lt_tensor_release(t);
    assert_int_equal(deleted, 1);
    plain.deleter = NULL;
    assert_ok(lt_tensor_from_dlpack(&plain, false, &t));
    lt_tensor_release(t);
    DLManagedTensorVersioned m = strangers();
    m.deleter = NULL;
    assert_ok(lt_tensor_from_dlpack(&m, true, &t));
    lt_tensor_release(t);
    assert_int_equal(deleted, 0);
}

static void strides_offsets_and_empty_tensors(void **state)
{
    (void)state;
    DLManagedTensorVersioned m = strangers();
    lt_tensor *t = NULL;
    m.dl_tensor.strides = NULL; /* row-major */
    assert_ok(lt_tensor_from_dlpack(&m, true, &t));
    assert_int_equal(lt_tensor_strides(t)[0], 3);
    lt_tensor_release(t);

    m = strangers(); /* the transposed, without its first row */
    m.dl_tensor.byte_offset = sizeof(float);
    sizes[0] = 2, sizes[1] = 2, strides[0] = 1, strides[1] = 3;
    assert_ok(lt_tensor_from_dlpack(&m, true, &t));
    assert_ptr_equal(lt_tensor_data(t), numbers + 1);
    assert_false(lt_tensor_is_contiguous(t));
    assert_int_equal(t->storage->nbytes, 5 * sizeof(float));
    lt_tensor_release(t);

    m = strangers();
    m.dl_tensor.data = NULL;
    sizes[1] = 0, strides[0] = INT64_MAX;
    assert_ok(lt_tensor_from_dlpack(&m, true, &t));
    assert_int_equal(lt_tensor_numel(t), 0);
    lt_tensor_release(t);
    assert_int_equal(deleted, 1);

    m = strangers();
    m.dl_tensor.ndim = 0;
    m.dl_tensor.shape = m.dl_tensor.strides = NULL;
    assert_ok(lt_tensor_from_dlpack(&m, true, &t));
    assert_int_equal(lt_tensor_numel(t), 1);
    lt_tensor_release(t);
}

/* ---- reading only ---------------------------------------------------------------------------- */

static const char *const READ_ONLY = "has read-only memory";

static void what_is_read_only_is_never_written(void **state)
{
    (void)state;
    DLManagedTensorVersioned m = strangers();
    lt_tensor *t = NULL, *view = NULL, *other = NULL, *out = NULL;
    m.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
    assert_ok(lt_tensor_from_dlpack(&m, true, &t));
    assert_true(lt_tensor_is_read_only(t));
    assert_ok(lt_transpose(t, 0, 1, &view));
    assert_ok(lt_add(t, t, lt_scalar_from_int(1), &other)); /* to be read */
    FAILS(lt_fill_(t, lt_scalar_from_float(7)), READ_ONLY);
    FAILS(lt_fill_(view, lt_scalar_from_float(7)), READ_ONLY);
    FAILS(lt_copy_(t, other, false), READ_ONLY);
    FAILS(lt_add_(t, other, lt_scalar_from_int(1)), READ_ONLY);
    FAILS(lt_exp_(t), READ_ONLY);
    FAILS(lt_exp_out(other, t), READ_ONLY);
    for (int i = 0; i < 6; i++) assert_true(numbers[i] == (float)i);
    /* It is lent on as what it is, and to those that cannot be told so, not. */
    void *lent = NULL;
    assert_ok(lt_tensor_to_dlpack(t, true, &lent));
    assert_int_equal(((DLManagedTensorVersioned *)lent)->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
    assert_ok(lt_tensor_from_dlpack(lent, true, &out));
    assert_true(lt_tensor_is_read_only(out));
    FAILS(lt_tensor_to_dlpack(t, false, &lent), "read-only");
    lt_tensor_release(out);
    lt_tensor_release(other);
    lt_tensor_release(view);
    lt_tensor_release(t);
    assert_int_equal(deleted, 1);
}

static void steps_of_optimizers_and_running_statistics_do_not_write_it(void **state)
{
    (void)state;
    DLManagedTensorVersioned m = strangers();
    lt_tensor *frozen = NULL, *w = NULL, *g = NULL, *x = NULL, *r[3] = {NULL, NULL, NULL};
    m.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
    assert_ok(lt_tensor_from_dlpack(&m, true, &frozen));
    assert_ok(lt_tensor_shaped(frozen, LT_FLOAT32, &w));
    assert_ok(lt_fill_(w, lt_scalar_from_float(1)));
    assert_ok(lt_tensor_shaped(frozen, LT_FLOAT32, &g));
    assert_ok(lt_fill_(g, lt_scalar_from_float(1)));
    const lt_tensor_list lw = {1, &w}, lg = {1, &g}, lf = {1, &frozen};
    FAILS(lt_fused_sgd_(&lf, &lg, &lw, 0.1, 0, 0.9, 0, false, false, false), READ_ONLY);
    FAILS(lt_fused_sgd_(&lw, &lg, &lf, 0.1, 0, 0.9, 0, false, false, false), READ_ONLY);
    assert_ok(lt_fused_sgd_(&lw, &lf, &lg, 0.1, 0, 0.9, 0, false, false,
                            false)); /* a gradient is only read */

    sizes[0] = 3; /* a vector of three */
    DLManagedTensorVersioned line = m;
    line.dl_tensor.ndim = 1;
    line.dl_tensor.strides = NULL;
    lt_tensor *mean = NULL;
    assert_ok(lt_tensor_from_dlpack(&line, true, &mean));
    assert_ok(lt_transpose(w, 0, 1, &x));
    lt_tensor_release(x);
    FAILS(lt__batch_norm(w, NULL, NULL, mean, mean, true, 0.1, 1e-5, &r[0], &r[1], &r[2]),
          READ_ONLY);
    assert_ok(lt__batch_norm(w, NULL, NULL, mean, mean, false, 0.1, 1e-5, &r[0], &r[1], &r[2]));
    for (int i = 0; i < 3; i++) lt_tensor_release(r[i]);
    for (int i = 0; i < 6; i++) assert_true(numbers[i] == (float)i);
    lt_tensor_release(mean);
    lt_tensor_release(g);
    lt_tensor_release(w);
    lt_tensor_release(frozen);
    assert_int_equal(deleted, 2);
}

/* ---- lending --------------------------------------------------------------------------------- */

static void every_dtype_and_layout_comes_back(void **state)
{
    (void)state;
    for (int d = 0; d < LT_DTYPE_COUNT; d++) {
        for (int layout = 0; layout < 4; layout++) {
            const int64_t shape[3] = {3, layout == 3 ? 0 : 4, 2};
            lt_tensor *base = NULL, *t = NULL, *back = NULL;
            assert_ok(lt_tensor_new((lt_dtype)d, lt_host, 3, shape, &base));
            if (layout == 0) t = lt_tensor_retain(base);
            if (layout == 1 || layout == 3) assert_ok(lt_transpose(base, 0, 2, &t));
            if (layout == 2) assert_ok(lt_narrow(base, 1, 1, 2, &t));
            for (int versioned = 0; versioned < 2; versioned++) {
                void *lent = NULL;
                assert_ok(lt_tensor_to_dlpack(t, versioned, &lent));
                const DLTensor *l = versioned ? &((DLManagedTensorVersioned *)lent)->dl_tensor
                                              : &((DLManagedTensor *)lent)->dl_tensor;
                assert_int_equal(l->dtype.bits, 8 * lt_dtype_size((lt_dtype)d));
                assert_int_equal(l->device.device_type, kDLCPU);
                assert_ptr_equal(l->data, layout == 3 ? NULL : lt_tensor_data(t));
                /* Copied, it is somebody else's: it comes back the long way. */
                DLManagedTensorVersioned copy = {.version = {1, 5}, .dl_tensor = *l};
                assert_ok(lt_tensor_from_dlpack(&copy, true, &back));
                assert_int_equal(back->dtype, d);
                assert_memory_equal(back->sizes, t->sizes, 3 * sizeof *t->sizes);
                if (layout != 3)
                    assert_memory_equal(back->strides, t->strides, 3 * sizeof *t->strides);
                if (layout != 3) assert_ptr_equal(lt_tensor_data(back), lt_tensor_data(t));
                if (layout != 3)
                    assert_int_equal(lt_tensor_is_contiguous(back), lt_tensor_is_contiguous(t));
                assert_ptr_not_equal(back->storage, t->storage);
                lt_tensor_release(back);
                assert_ok(
                    lt_tensor_from_dlpack(lent, versioned, &back)); /* its own is known again */
                assert_ptr_equal(back->storage, t->storage);
                lt_tensor_release(back);
            }
            lt_tensor_release(t);
            lt_tensor_release(base);
        }
    }
}

static void what_is_lent_lives_on(void **state)
{
    (void)state;
    const int64_t n = 1000;
    lt_tensor *t = NULL, *other = NULL;
    void *lent = NULL;
    assert_ok(lt_tensor_new(LT_FLOAT32, lt_host, 1, &n, &t));
    assert_ok(lt_tensor_new(LT_FLOAT32, lt_host, 1, &n, &other));
    assert_ok(lt_fill_(t, lt_scalar_from_float(3)));
    assert_ok(lt_tensor_to_dlpack(t, true, &lent));
    DLManagedTensorVersioned *m = lent;
    lt_tensor_set_data(t, other); /* x.data = other */
    lt_tensor_release(t);
    lt_tensor_release(other);
    assert_true(((float *)m->dl_tensor.data)[999] == 3);
    assert_int_equal(m->version.major, 1);
    m->deleter(m);
}

static void gradients_are_refused(void **state)
{
    (void)state;
    const int64_t n = 2;
    lt_tensor *t = NULL;
    void *lent = &lent;
    assert_ok(lt_tensor_new(LT_FLOAT32, lt_host, 1, &n, &t));
    t->flags |= LT_FLAG_REQUIRES_GRAD;
    FAILS(lt_tensor_to_dlpack(t, true, &lent),
          "Can't export tensors that require gradient, use tensor.detach()");
    assert_ptr_equal(lent, &lent);
    lt_tensor_release(t);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void hostile_tensors_are_errors(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    DLManagedTensorVersioned m;
    int64_t many[LT_MAX_DIMS + 1] = {0};
#define REFUSED(change, message)                                                                   \
    do {                                                                                           \
        m = strangers();                                                                           \
        change;                                                                                    \
        FAILS(lt_tensor_from_dlpack(&m, true, &t), message);                                       \
        assert_null(t);                                                                            \
        assert_int_equal(deleted, 0);                                                              \
    } while (0)
    FAILS(lt_tensor_from_dlpack(NULL, true, &t), "'managed' must not be NULL");
    FAILS(lt_tensor_from_dlpack(&m, true, NULL), "'out' must not be NULL");
    FAILS(lt_tensor_to_dlpack(NULL, true, (void **)&t), "'t' must not be NULL");
    FAILS(lt_tensor_ready_for(NULL, 0), "'t' must not be NULL");
    REFUSED(m.version.major = 2, "DLPack version 2.0 is not supported, only 1.x");
    REFUSED(m.version.major = 0, "DLPack version 0.0");
    REFUSED(m.dl_tensor.dtype.lanes = 4, "4 lanes");
    REFUSED(m.dl_tensor.dtype.lanes = 0, "0 lanes");
    REFUSED(m.dl_tensor.dtype.bits = 8, "dtype float8 is not supported");
    REFUSED((m.dl_tensor.dtype = (DLDataType){kDLComplex, 16, 1}),
            "dtype complex16 is not supported");
    REFUSED((m.dl_tensor.dtype = (DLDataType){kDLUInt, 128, 1}), "dtype uint128 is not supported");
    REFUSED((m.dl_tensor.dtype = (DLDataType){40, 8, 1}), "dtype with the code 40 of 8 bits");
    REFUSED(m.dl_tensor.device.device_type = kDLMetal, "device type 8 (Metal) is not supported");
    REFUSED(m.dl_tensor.device.device_type = kDLExtDev, "device type 12");
    REFUSED(m.dl_tensor.device.device_type = -7, "device type -7 (unknown)");
    REFUSED(m.dl_tensor.ndim = -1, "got -1");
    REFUSED((m.dl_tensor.ndim = LT_MAX_DIMS + 1, m.dl_tensor.shape = many),
            "at most 16 dimensions, got 17");
    REFUSED(m.dl_tensor.shape = NULL, "shape is NULL");
    REFUSED(m.dl_tensor.data = NULL, "data is NULL for 6 elements");
    REFUSED(m.dl_tensor.byte_offset = UINT64_MAX, "exceeds the address space");
    REFUSED(m.dl_tensor.byte_offset = 2, "not aligned to the 4 bytes of a float32");
    REFUSED(sizes[0] = -2, "negative dimension -2");
    REFUSED(sizes[0] = INT64_MAX, "Storage size calculation overflowed");
    REFUSED(strides[0] = -3, "negative strides are not supported");
    REFUSED(strides[0] = INT64_MAX, "Storage size calculation overflowed with sizes=[2, 3] and "
                                    "strides=[9223372036854775807, 1]");
    REFUSED((sizes[0] = 1, strides[0] = INT64_MAX), "Storage size calculation overflowed");
    REFUSED((strides[0] = INT64_MAX / 16, strides[1] = INT64_MAX / 32),
            "Storage size calculation overflowed");
#undef REFUSED
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    const int64_t n = 5;
    lt_tensor *t = NULL, *taken = NULL;
    void *lent = NULL;
    assert_ok(lt_tensor_new(LT_FLOAT32, lt_host, 1, &n, &t));
    for (int64_t nth = 1; lent == NULL; nth++) {
        lt_mem_fail_after(nth);
        const lt_status status = lt_tensor_to_dlpack(t, true, &lent);
        lt_mem_fail_after(0);
        if (status == LT_OK) break;
        assert_int_equal(status, LT_ERR_MEMORY);
        assert_null(lent);
        assert_true(nth < 10);
    }
    ((DLManagedTensorVersioned *)lent)->deleter(lent);
    lt_tensor_release(t);
    DLManagedTensorVersioned m = strangers();
    for (int64_t nth = 1; taken == NULL; nth++) {
        lt_mem_fail_after(nth);
        const lt_status status = lt_tensor_from_dlpack(&m, true, &taken);
        lt_mem_fail_after(0);
        if (status == LT_OK) break;
        assert_int_equal(status, LT_ERR_MEMORY);
        assert_null(taken);
        assert_int_equal(deleted, 0);
        assert_true(nth < 10);
    }
    lt_tensor_release(taken);
    assert_int_equal(deleted, 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, note_memory, check_memory)
    const struct CMUnitTest tests[] = {
        TEST(memory_is_shared_and_given_back_once),
        TEST(tensors_of_before_1_0_and_without_deleter),
        TEST(strides_offsets_and_empty_tensors),
        TEST(what_is_read_only_is_never_written),
        TEST(steps_of_optimizers_and_running_statistics_do_not_write_it),
        TEST(every_dtype_and_layout_comes_back),
        TEST(what_is_lent_lives_on),
        TEST(gradients_are_refused),
        TEST(hostile_tensors_are_errors),
        TEST(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
