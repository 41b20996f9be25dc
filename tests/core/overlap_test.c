/* overlap_test.c - whether elements of tensors share memory: the answers of overlap.c beside those
 * of a map of all their bytes, for random geometries over one storage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "expect.h"
#include "overlap.h"
#include "tensor.h"

#define ELEMENTS 200

static float memory[ELEMENTS];
static unsigned seed = 3;

static int below(int n)
{
    return (int)((seed = seed * 1103515245u + 12345u) / 65536 % (unsigned)n);
}

static lt_tensor *whole;

static int setup(void **state)
{
    (void)state;
    assert_ok(
        lt_tensor_wrap(memory, LT_FLOAT32, 1, (const int64_t[]){ELEMENTS}, NULL, NULL, &whole));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lt_tensor_release(whole);
    return 0;
}

static lt_tensor *view(int64_t offset, int ndim, const int64_t *sizes, const int64_t *strides)
{
    lt_tensor *t = NULL;
    assert_ok(lt_tensor_view(whole, ndim, sizes, strides, offset, &t));
    return t;
}

/* Up to three dimensions, steps of any length, 0 among them; all within the memory. */
static lt_tensor *some(void)
{
    int64_t sizes[3], strides[3], end = 1;
    const int ndim = below(4);
    for (int d = 0; d < ndim; d++) {
        sizes[d] = below(20) == 0 ? 0 : 1 + below(4);
        strides[d] = below(14);
        if (sizes[d] > 0) end += (sizes[d] - 1) * strides[d];
    }
    return view(below((int)(ELEMENTS - end) + 1), ndim, sizes, strides);
}

/* How often each element of the memory is met, and when last: the number of the step, from 1.
 * False: t meets one twice. */
static bool mark(const lt_tensor *t, int *step_at)
{
    int64_t at[3] = {0};
    bool apart = true;
    memset(step_at, 0, ELEMENTS * sizeof *step_at);
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t element = t->offset;
        for (int d = 0; d < t->ndim; d++) element += at[d] * t->strides[d];
        apart = apart && step_at[element] == 0;
        step_at[element] = (int)i + 1;
        for (int d = t->ndim - 1; d >= 0 && ++at[d] == t->sizes[d]; d--) at[d] = 0;
    }
    return apart;
}

static void one_tensor_as_a_map_has_it(void **state)
{
    (void)state;
    int steps[ELEMENTS], found = 0;
    for (int trial = 0; trial < 20000; trial++) {
        lt_tensor *t = some();
        bool overlaps = false;
        assert_ok(lt_overlaps_itself(t, &overlaps));
        const bool apart = mark(t, steps);
        if (overlaps == apart)
            fail_msg("trial %d: %d dimensions, strides %lld %lld %lld", trial, t->ndim,
                     (long long)t->strides[0], (long long)t->strides[1], (long long)t->strides[2]);
        found += overlaps;
        lt_tensor_release(t);
    }
    assert_true(found > 1000 && found < 19000);
}

/* The same elements at the same positions are no conflict for what reads and writes one by one. */
static void two_tensors_as_a_map_has_it(void **state)
{
    (void)state;
    int of_a[ELEMENTS], of_b[ELEMENTS], counts[3] = {0};
    for (int trial = 0; trial < 20000; trial++) {
        lt_tensor *a = some(), *b = below(8) == 0 ? lt_tensor_retain(a) : some();
        lt_overlap overlap;
        assert_ok(lt_overlap_of(a, b, &overlap));
        mark(a, of_a);
        mark(b, of_b);
        bool meet = false;
        for (int i = 0; i < ELEMENTS; i++) meet = meet || (of_a[i] != 0 && of_b[i] != 0);
        if (meet != (overlap != LT_OVERLAP_NONE))
            fail_msg("trial %d: %d, but the map says %d", trial, (int)overlap, meet);
        bool same = a->numel == b->numel;
        for (int i = 0; i < ELEMENTS && same; i++) same = of_a[i] == of_b[i];
        if (overlap == LT_OVERLAP_SAME) assert_true(same);
        if (a == b && meet) assert_int_equal(overlap, LT_OVERLAP_SAME);
        counts[overlap]++;
        lt_tensor_release(a);
        lt_tensor_release(b);
    }
    assert_true(counts[LT_OVERLAP_NONE] > 100 && counts[LT_OVERLAP_SAME] > 100 &&
                counts[LT_OVERLAP_PART] > 100);
}

/* Bytes count, not elements: a double that begins in the middle of another's. */
static void other_dtypes_share_bytes(void **state)
{
    (void)state;
    lt_tensor *floats = view(1, 1, (const int64_t[]){1}, (const int64_t[]){1}), *doubles = NULL,
              *elsewhere = NULL;
    lt_overlap overlap;
    assert_ok(lt_tensor_alias(whole, &doubles));
    doubles->dtype = LT_FLOAT64;
    doubles->numel = doubles->sizes[0] = 1; /* the bytes of the first two floats */
    assert_ok(lt_overlap_of(floats, doubles, &overlap));
    assert_int_equal(overlap, LT_OVERLAP_PART);
    doubles->offset = 1; /* of the next two */
    assert_ok(lt_overlap_of(floats, doubles, &overlap));
    assert_int_equal(overlap, LT_OVERLAP_NONE);
    assert_ok(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, 1, (const int64_t[]){ELEMENTS},
                            &elsewhere));
    assert_ok(lt_overlap_of(whole, elsewhere, &overlap));
    assert_int_equal(overlap, LT_OVERLAP_NONE);
    lt_tensor_release(floats);
    lt_tensor_release(doubles);
    lt_tensor_release(elsewhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tensor_as_a_map_has_it),
        cmocka_unit_test(two_tensors_as_a_map_has_it),
        cmocka_unit_test(other_dtypes_share_bytes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
