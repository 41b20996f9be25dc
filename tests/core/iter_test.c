/* iter_test.c - the iterator: what it makes of the geometries of its operands. Broadcasting, the
 * order of dimensions, merging, negative strides and strides of 0, no dimensions, no elements,
 * reductions; that every element is met once however it was sorted; the strides of results; and the
 * split of work over threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/common/threads.h"
#include "expect.h"
#include "iter.h"
#include "tensor.h"

#include "../reference/result_strides.h"

#define SIZES(...)                                                                                 \
    (const int64_t[]) { __VA_ARGS__ }
#define STRIDES(...)                                                                               \
    (const int64_t[]) { __VA_ARGS__ }

static float memory[4096];

/* A tensor of floats in `memory`; strides may be anything that stays in it. */
static lt_tensor *at(int64_t offset, int ndim, const int64_t *sizes, const int64_t *strides)
{
    lt_tensor *t = NULL;
    assert_ok(lt_tensor_wrap(memory, LT_FLOAT32, 1, SIZES(4096), NULL, NULL, &t));
    lt_tensor *view = NULL;
    assert_ok(lt_tensor_view(t, ndim, sizes, strides, offset, &view));
    lt_tensor_release(t);
    return view;
}

static lt_tensor *dense(int ndim, const int64_t *sizes)
{
    int64_t strides[LT_MAX_DIMS];
    lt_contiguous_strides(ndim, sizes, strides);
    return at(0, ndim, sizes, strides);
}

static lt_status elementwise(lt_iter *it, lt_tensor *out, lt_tensor *in)
{
    return lt_iter_elementwise(it, (lt_tensor *[]){out, in}, 2);
}

static void release(lt_tensor *a, lt_tensor *b)
{
    lt_tensor_release(a);
    lt_tensor_release(b);
}

/* The iterator's dimensions as text, innermost first: "3(4,8) 2(16,0)" are 3 steps of 4 and 8
 * bytes, outside 2 of 16 and 0. */
static const char *shape_of(const lt_iter *it)
{
    static char text[400];
    size_t n = 0;
    text[0] = '\0';
    for (int d = 0; d < it->ndim; d++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld(", d > 0 ? " " : "",
                              (long long)it->sizes[d]);
        for (int k = 0; k < it->operands; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, k > 0 ? ",%lld" : "%lld",
                                  (long long)it->strides[k][d]);
        n += (size_t)snprintf(text + n, sizeof text - n, ")");
    }
    return text;
}

/* ---- elementwise ----------------------------------------------------------------------------- */

static void what_is_contiguous_is_one_dimension(void **state)
{
    (void)state;
    lt_iter it;
    lt_tensor *out = dense(3, SIZES(2, 3, 4)), *in = dense(3, SIZES(2, 3, 4));
    assert_ok(elementwise(&it, out, in));
    assert_string_equal(shape_of(&it), "24(4,4)");
    assert_true(it.contiguous && it.numel == 24 && it.operands == 2);
    release(out, in);
}

/* Both transposed alike: it is walked in the order of memory. */
static void what_is_dense_in_the_same_order_is_one_dimension(void **state)
{
    (void)state;
    lt_iter it;
    lt_tensor *out = at(0, 3, SIZES(4, 3, 2), STRIDES(1, 4, 12)),
              *in = at(0, 3, SIZES(4, 3, 2), STRIDES(1, 4, 12));
    assert_ok(elementwise(&it, out, in));
    assert_string_equal(shape_of(&it), "24(4,4)");
    assert_true(it.contiguous);
    release(out, in);
}

static void the_result_decides_the_order(void **state)
{
    (void)state;
    lt_iter it;
    lt_tensor *rows = dense(2, SIZES(3, 5)), *columns = at(0, 2, SIZES(3, 5), STRIDES(1, 3));
    assert_ok(elementwise(&it, rows, columns));
    assert_string_equal(shape_of(&it), "5(4,12) 3(20,4)");
    assert_false(it.contiguous);
    assert_ok(elementwise(&it, columns, rows));
    assert_string_equal(shape_of(&it), "3(4,20) 5(12,4)");
    release(rows, columns);
}

static void gaps_keep_dimensions_apart(void **state)
{
    (void)state;
    lt_iter it;
    lt_tensor *out = dense(3, SIZES(2, 3, 4)), *in = at(0, 3, SIZES(2, 3, 4), STRIDES(30, 10, 1));
    assert_ok(elementwise(&it, out, in));
    assert_string_equal(shape_of(&it),
                        "4(4,4) 6(16,40)"); /* 2 x 10 rows: the outer two follow each other */
    release(out, in);
    out = dense(1, SIZES(6));
    in = at(0, 1, SIZES(6), STRIDES(2));
    assert_ok(elementwise(&it, out, in));
    assert_string_equal(shape_of(&it), "6(4,8)");
    assert_false(it.contiguous);
    release(out, in);
}

static void dimensions_of_size_one_go(void **state)
{
    (void)state;
    lt_iter it;
    lt_tensor *out = dense(4, SIZES(1, 3, 1, 4)),
              *in = at(0, 4, SIZES(1, 3, 1, 4), STRIDES(77, 4, 5, 1));
    assert_ok(elementwise(&it, out, in));
    assert_string_equal(shape_of(&it), "12(4,4)");
    assert_true(it.contiguous);
    release(out, in);
}

static void inputs_are_broadcast(void **state)
{
    (void)state;
    lt_iter it;
    lt_tensor *out = dense(3, SIZES(2, 3, 4)), *row = dense(1, SIZES(4)),
              *column = dense(2, SIZES(3, 1)), *one = dense(0, NULL);
    assert_ok(elementwise(&it, out, row));
    assert_string_equal(shape_of(&it), "4(4,4) 6(16,0)");
    assert_ok(elementwise(&it, out, column));
    assert_string_equal(shape_of(&it), "4(4,0) 3(16,4) 2(48,0)");
    assert_ok(elementwise(&it, out, one));
    assert_string_equal(shape_of(&it), "24(4,0)");
    assert_true(it.contiguous); /* a number repeated */
    assert_fails(elementwise(&it, row, out), LT_ERR_RUNTIME,
                 "output with shape [4] doesn't match the broadcast shape [2, 3, 4]");
    lt_tensor *other = dense(2, SIZES(5, 4));
    assert_fails(elementwise(&it, out, other), LT_ERR_RUNTIME,
                 "The size of tensor a (3) must match the size of tensor b (5) at non-singleton "
                 "dimension 1");
    release(out, row);
    release(column, one);
    lt_tensor_release(other);
}

static void no_dimensions_and_no_elements(void **state)
{
    (void)state;
    lt_iter it;
    lt_tensor *one = dense(0, NULL), *ones = at(9, 3, SIZES(1, 1, 1), STRIDES(5, 6, 7));
    assert_ok(elementwise(&it, one, one));
    assert_true(it.ndim == 0 && it.numel == 1 && it.contiguous);
    assert_ok(elementwise(&it, ones, one));
    assert_true(it.ndim == 0 && it.numel == 1 && it.data[0] == (char *)&memory[9]);
    release(one, ones);
    lt_tensor *none = dense(3, SIZES(2, 0, 3)),
              *turned = at(0, 3, SIZES(2, 0, 3), STRIDES(1, 2, 2));
    assert_ok(elementwise(&it, none, none));
    assert_int_equal(it.numel, 0);
    assert_ok(elementwise(&it, none, turned));
    assert_int_equal(it.numel, 0);
    int64_t steps = 1;
    for (int d = 0; d < it.ndim; d++) steps *= it.sizes[d];
    assert_int_equal(steps, 0);
    release(none, turned);
}

/* An input may repeat its elements (0) or run backwards: the result's order stands, and what still
 * follows in both merges. */
static void strides_of_zero_and_below(void **state)
{
    (void)state;
    lt_iter it;
    lt_tensor *out = dense(2, SIZES(3, 4)), *repeated = at(0, 2, SIZES(3, 4), STRIDES(0, 1)),
              *all = at(0, 2, SIZES(3, 4), STRIDES(0, 0));
    assert_ok(elementwise(&it, out, repeated));
    assert_string_equal(shape_of(&it), "4(4,4) 3(16,0)");
    assert_ok(elementwise(&it, out, all));
    assert_string_equal(shape_of(&it), "12(4,0)");
    assert_true(it.contiguous);
    assert_ok(elementwise(&it, all, out)); /* a result that is one element */
    assert_false(it.contiguous);
    release(repeated, all);
    const int64_t backwards[] = {-4, -1}, rows[] = {-4, 1}, forwards[] = {4, 1};
    lt_tensor *in = dense(2, SIZES(3, 4)), *pair[] = {out, in};
    lt_iter_strided(&it, pair, 2, 2, SIZES(3, 4), (const int64_t *const[]){forwards, backwards});
    assert_string_equal(shape_of(&it), "12(4,-4)"); /* backwards throughout */
    lt_iter_strided(&it, pair, 2, 2, SIZES(3, 4), (const int64_t *const[]){forwards, rows});
    assert_string_equal(shape_of(&it), "4(4,4) 3(16,-16)");
    lt_iter_strided(&it, pair, 2, 2, SIZES(3, 4), (const int64_t *const[]){backwards, backwards});
    assert_string_equal(shape_of(&it), "12(-4,-4)");
    assert_false(it.contiguous);
    release(out, in);
}

/* Sizes and strides at the end of int64 do not wrap around: nothing merges that does not follow. */
static void huge_strides_do_not_wrap(void **state)
{
    (void)state;
    lt_iter it;
    lt_tensor *t = dense(1, SIZES(4)), *pair[] = {t};
    const int64_t huge[] = {INT64_MAX, INT64_MAX / 4};
    lt_iter_strided(&it, pair, 1, 2, SIZES(2, 2), (const int64_t *const[]){huge});
    for (int d = 0; d < it.ndim; d++) assert_true(it.strides[0][d] > 0);
    lt_tensor_release(t);
}

/* ---- every element once ---------------------------------------------------------------------- */

/* Walks the iterator; what it meets in each operand, as offsets in floats from the operand's first
 * element. */
static int64_t walk(const lt_iter *it, int64_t *met)
{
    int64_t index[LT_MAX_DIMS] = {0}, n = 0;
    if (it->numel == 0) return 0;
    for (;;) {
        for (int k = 0; k < it->operands; k++) {
            int64_t offset = 0;
            for (int d = 0; d < it->ndim; d++) offset += index[d] * it->strides[k][d];
            met[n * it->operands + k] = offset / 4;
        }
        n++;
        int d = 0;
        while (d < it->ndim && ++index[d] == it->sizes[d]) index[d++] = 0;
        if (d == it->ndim) return n;
    }
}

/* Random geometries: operands in any order of dimensions, with gaps, repeated. Each pair that
 * belongs together is met once. */
static void every_element_is_met_once(void **state)
{
    (void)state;
    unsigned seed = 7;
    static int64_t met[2 * 4096];
    static bool seen[4096];
#define RANDOM(n) ((int)((seed = seed * 1103515245u + 12345u) / 65536 % (unsigned)(n)))
    for (int trial = 0; trial < 3000; trial++) {
        int ndim = RANDOM(5);
        int64_t sizes[4], strides[2][4], element[4], numel = 1;
        for (int d = 0; d < ndim; d++) numel *= sizes[d] = 1 + RANDOM(4);
        for (int k = 0; k < 2; k++) {
            int order[4], step = 1 + RANDOM(2);
            for (int d = 0; d < ndim; d++) order[d] = d;
            for (int d = ndim - 1; d > 0; d--) {
                int other = RANDOM(d + 1), kept = order[d];
                order[d] = order[other];
                order[other] = kept;
            }
            for (int d = 0; d < ndim; d++) {
                strides[k][order[d]] = k == 1 && RANDOM(4) == 0 ? 0 : step;
                step *= (int)sizes[order[d]] + (RANDOM(4) == 0);
            }
        }
        lt_tensor *out = at(0, ndim, sizes, strides[0]), *in = at(0, ndim, sizes, strides[1]);
        lt_iter it;
        assert_ok(elementwise(&it, out, in));
        assert_int_equal(it.numel, numel);
        assert_int_equal(walk(&it, met), numel);
        /* The index of an element follows from where it lies in the result; the input's place
         * follows from the index. */
        memset(seen, 0, sizeof seen);
        for (int64_t i = 0; i < numel; i++) {
            int64_t expected = 0, rest = met[2 * i];
            bool taken[4] = {false};
            for (int turn = 0; turn < ndim; turn++) {
                int widest = -1;
                for (int d = 0; d < ndim; d++)
                    if (!taken[d] &&
                        (widest < 0 || strides[0][d] > strides[0][widest] ||
                         (strides[0][d] == strides[0][widest] && sizes[d] > sizes[widest])))
                        widest = d;
                taken[widest] = true;
                element[widest] = sizes[widest] > 1 ? rest / strides[0][widest] : 0;
                rest -= element[widest] * strides[0][widest];
                expected += element[widest] * strides[1][widest];
            }
            assert_int_equal(rest, 0);
            assert_false(seen[met[2 * i]]);
            seen[met[2 * i]] = true;
            if (met[2 * i + 1] != expected) fail_msg("trial %d: %s", trial, shape_of(&it));
        }
        release(out, in);
    }
#undef RANDOM
}

/* ---- reductions ------------------------------------------------------------------------------ */

static void reduced_dimensions_come_first(void **state)
{
    (void)state;
    lt_iter it;
    int reduced = -1;
    lt_tensor *in = dense(3, SIZES(2, 3, 4)), *rows = dense(2, SIZES(2, 4)),
              *kept = dense(3, SIZES(2, 1, 4)), *all = dense(0, NULL);
    assert_ok(lt_iter_reduce(&it, rows, in, 1u << 1, &reduced));
    assert_int_equal(reduced, 1);
    assert_string_equal(shape_of(&it), "3(0,16) 4(4,4) 2(16,48)");
    assert_int_equal(it.numel, 24);
    assert_ok(lt_iter_reduce(&it, kept, in, 1u << 1, &reduced));
    assert_string_equal(shape_of(&it), "3(0,16) 4(4,4) 2(16,48)");
    assert_ok(lt_iter_reduce(&it, all, in, 7, &reduced));
    assert_int_equal(reduced, 1);
    assert_string_equal(shape_of(&it), "24(0,4)");
    lt_tensor *kept_last = dense(3, SIZES(2, 3, 1));
    assert_ok(lt_iter_reduce(&it, kept_last, in, 1u << 2, &reduced));
    assert_string_equal(shape_of(&it), "4(0,4) 6(4,16)");
    lt_tensor_release(kept_last);
    lt_tensor *first = dense(2, SIZES(3, 4)), *last = dense(1, SIZES(2));
    assert_ok(lt_iter_reduce(&it, first, in, 1, &reduced));
    assert_string_equal(shape_of(&it), "2(0,48) 12(4,4)");
    assert_ok(lt_iter_reduce(&it, last, in, 6, &reduced));
    assert_int_equal(reduced, 1);
    assert_string_equal(shape_of(&it), "12(0,4) 2(4,48)");
    release(in, rows);
    release(kept, all);
    release(first, last);
}

static void reductions_of_little(void **state)
{
    (void)state;
    lt_iter it;
    int reduced = -1;
    lt_tensor *one = dense(0, NULL), *other = dense(0, NULL);
    assert_ok(lt_iter_reduce(&it, one, other, 0, &reduced));
    assert_true(reduced == 0 && it.ndim == 0 && it.numel == 1);
    lt_tensor *none = dense(2, SIZES(0, 3)), *three = dense(1, SIZES(3)),
              *single = dense(2, SIZES(1, 3));
    assert_ok(lt_iter_reduce(&it, three, none, 1, &reduced));
    assert_int_equal(it.numel, 0);
    assert_int_equal(reduced, 1); /* nothing to add up for each of three */
    /* strides that no element is reached by are 0 */
    assert_string_equal(shape_of(&it), "0(0,0) 3(4,0)");
    assert_ok(lt_iter_reduce(&it, three, single, 1, &reduced));
    assert_int_equal(reduced, 0); /* a dimension of size 1 goes */
    assert_string_equal(shape_of(&it), "3(4,4)");
    release(one, other);
    release(none, three);
    lt_tensor_release(single);
}

/* ---- shapes and strides of results ----------------------------------------------------------- */

static void shapes_are_broadcast(void **state)
{
    (void)state;
    int ndim = -1;
    int64_t sizes[LT_MAX_DIMS];
    lt_tensor *a = dense(3, SIZES(2, 1, 4)), *b = dense(2, SIZES(3, 1)), *none = dense(1, SIZES(0)),
              *one = dense(0, NULL);
    assert_ok(lt_broadcast_shape((lt_tensor *[]){a, b, one}, 3, &ndim, sizes));
    assert_true(ndim == 3 && sizes[0] == 2 && sizes[1] == 3 && sizes[2] == 4);
    assert_ok(lt_broadcast_shape((lt_tensor *[]){b, none}, 2, &ndim, sizes));
    assert_true(ndim == 2 && sizes[0] == 3 && sizes[1] == 0); /* 1 becomes 0 */
    assert_ok(lt_broadcast_shape((lt_tensor *[]){one}, 1, &ndim, sizes));
    assert_int_equal(ndim, 0);
    assert_fails(lt_broadcast_shape((lt_tensor *[]){a, none}, 2, &ndim, sizes), LT_ERR_RUNTIME,
                 "The size of tensor a (4) must match the size of tensor b (0) at non-singleton "
                 "dimension 2");
    release(a, b);
    release(none, one);
}

static void results_lie_as_their_inputs(void **state)
{
    (void)state;
    int64_t strides[LT_MAX_DIMS];
    const struct {
        int64_t first[3], second[3],
            expected[3]; /* strides of two inputs of 2 x 3 x 4, and of the result */
    } rows[] = {
        {{12, 4, 1}, {12, 4, 1}, {12, 4, 1}}, {{1, 2, 6}, {1, 2, 6}, {1, 2, 6}},
        {{1, 2, 6}, {12, 4, 1}, {1, 2, 6}},   /* the first weighs first */
        {{0, 0, 0}, {1, 2, 6}, {1, 2, 6}},    /* one that repeats says nothing */
        {{60, 20, 2}, {0, 0, 0}, {12, 4, 1}}, /* without the gaps */
        {{4, 8, 1}, {12, 4, 1}, {4, 8, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lt_tensor *a = at(0, 3, SIZES(2, 3, 4), rows[i].first),
                  *b = at(0, 3, SIZES(2, 3, 4), rows[i].second);
        assert_ok(lt_result_strides((lt_tensor *[]){a, b}, 2, 3, SIZES(2, 3, 4), strides));
        for (int d = 0; d < 3; d++)
            if (strides[d] != rows[i].expected[d])
                fail_msg("row %zu: stride %lld of dimension %d", i, (long long)strides[d], d);
        release(a, b);
    }
}

static void results_lie_as_in_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        lt_tensor *pair[2], *sum = NULL;
        int ndim = 0;
        int64_t sizes[LT_MAX_DIMS];
        for (int k = 0; k < 2; k++)
            pair[k] = at(0, sums[i].ndim[k], sums[i].sizes[k], sums[i].strides[k]);
        assert_ok(lt_broadcast_shape(pair, 2, &ndim, sizes));
        assert_int_equal(ndim, sums[i].result_ndim);
        assert_memory_equal(sizes, sums[i].result_sizes, (size_t)ndim * sizeof *sizes);
        assert_ok(lt_tensor_result(pair, 2, LT_FLOAT32, (lt_device){LT_CPU, 0}, ndim, sizes, &sum));
        for (int d = 0; d < ndim; d++)
            if (sizes[d] > 1 && sum->strides[d] != sums[i].result_strides[d])
                fail_msg("row %zu: stride %lld of dimension %d", i, (long long)sum->strides[d], d);
        release(pair[0], pair[1]);
        lt_tensor_release(sum);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static void small_work_stays_on_one_thread(void **state)
{
    (void)state;
    const int before = lt_get_num_threads();
    assert_ok(lt_set_num_threads(4));
    assert_int_equal(lt_cpu_threads_for(0), 1);
    assert_int_equal(lt_cpu_threads_for(2 * LT_CPU_GRAIN - 1), 1);
    assert_int_equal(lt_cpu_threads_for(2 * LT_CPU_GRAIN), 2);
    assert_int_equal(lt_cpu_threads_for(3 * LT_CPU_GRAIN), 3);
    assert_int_equal(lt_cpu_threads_for(INT64_MAX), 4);
    assert_ok(lt_set_num_threads(before));
}

static _Atomic int done[64];

static void count_job(const void *context, int64_t job)
{
    (void)context;
    done[job]++;
}

static void every_job_is_done_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 8; threads *= 2) {
        for (int jobs = 0; jobs <= 64; jobs += 16) {
            memset((void *)done, 0, sizeof done);
            assert_ok(lt_parallel_for(jobs, threads, count_job, NULL));
            for (int i = 0; i < 64; i++) assert_int_equal(done[i], i < jobs);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_contiguous_is_one_dimension),
        cmocka_unit_test(what_is_dense_in_the_same_order_is_one_dimension),
        cmocka_unit_test(the_result_decides_the_order),
        cmocka_unit_test(gaps_keep_dimensions_apart),
        cmocka_unit_test(dimensions_of_size_one_go),
        cmocka_unit_test(inputs_are_broadcast),
        cmocka_unit_test(no_dimensions_and_no_elements),
        cmocka_unit_test(strides_of_zero_and_below),
        cmocka_unit_test(huge_strides_do_not_wrap),
        cmocka_unit_test(every_element_is_met_once),
        cmocka_unit_test(reduced_dimensions_come_first),
        cmocka_unit_test(reductions_of_little),
        cmocka_unit_test(shapes_are_broadcast),
        cmocka_unit_test(results_lie_as_their_inputs),
        cmocka_unit_test(results_lie_as_in_pytorch),
        cmocka_unit_test(small_work_stays_on_one_thread),
        cmocka_unit_test(every_job_is_done_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
