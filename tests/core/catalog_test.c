/* catalog_test.c - every operation there is, found by enumeration and done by lt_call: each of its
 * allocations fails once, and so does each of its derivative's; NULL for any of its pointers is
 * refused. Arguments are searched for by their types, at random from a few that suit most
 * operations; those for which nothing was found are named below. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#undef LT_OPS_BY_NAME
#include "ltensor.h"

#include "failing.h"
#include "op/to_sparse_compressed.h"
#include "op/to_sparse_coo.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))
#define MOST_ARGS    16
#define MOST_RESULTS 8
#define ATTEMPTS     20000

/* The search finds no arguments for these: there is no GPU here, there are no compressed indices,
 * no quantized weights, no weights of recurrent layers, no affine matrices with sizes, no labels with lengths, no
 * grids, no positions of volumes and no pivots. */
static const char *const unsuited[] = {"cuda",
                                       "dequantize_blocks",
                                       "quantize_blocks",
                                       "linear_blocks",
                                       "sparse_compressed_tensor",
                                       "lstm",
                                       "gru",
                                       "rnn_tanh",
                                       "rnn_relu",
                                       "gru_cell",
                                       "lstm_cell",
                                       "rnn_tanh_cell",
                                       "rnn_relu_cell",
                                       "recurrent_layer",
                                       "nn.functional.affine_grid",
                                       "nn.functional.grid_sample",
                                       "nn.functional.max_unpool3d",
                                       "nn.functional.ctc_loss",
                                       "lu_solve",
                                       "linalg.lu_solve",
                                       "linalg.ldl_solve"};

/* ---- what operations are given --------------------------------------------------------------- */

static const struct {
    lt_dtype dtype;
    int ndim;
    int64_t sizes[5];
} shapes[] = {
    {LT_FLOAT32, 2, {2, 3}},
    {LT_FLOAT32, 2, {3, 3}},
    {LT_FLOAT32, 1, {3}},
    {LT_FLOAT32, 0, {0}},
    {LT_FLOAT32, 3, {2, 3, 4}},
    {LT_FLOAT32, 3, {2, 3, 3}},
    {LT_FLOAT32, 1, {2}},
    {LT_FLOAT32, 4, {1, 2, 4, 4}},
    {LT_FLOAT32, 4, {2, 2, 3, 3}},
    {LT_FLOAT32, 5, {1, 2, 4, 4, 4}},
    {LT_FLOAT64, 2, {2, 3}},
    {LT_FLOAT32, 1, {1}},
    {LT_INT64, 1, {2}},
    {LT_INT64, 2, {2, 3}},
    {LT_INT64, 0, {0}},
    {LT_INT64, 1, {3}},
    {LT_BOOL, 2, {2, 3}},
    {LT_INT32, 1, {3}},
    {LT_UINT8, 3, {3, 4, 4}},
    {LT_COMPLEX64, 2, {2, 3}},
};
#define FLOATS 12 /* of them; whole ones follow */
#define WHOLE  4  /* int64 */
#define MASK   16
#define MATRIX 1 /* symmetric and positive-definite */

static const char *const words[] = {"mean",      "sum",
                                    "none",      "reflect",
                                    "constant",  "bilinear",
                                    "nearest",   "trunc",
                                    "floor",     "linear",
                                    "ij",        "fro",
                                    "max",       "zeros",
                                    "tanh",      "amax",
                                    "prod",      "relu",
                                    "i,j",       "ij->ji",
                                    "add",       "contiguous_format",
                                    "sparse_csr"};
static const lt_dims whole_sizes[] = {{1, {2}},       {2, {2, 3}},      {2, {3, 2}}, {1, {1}},
                                      {1, {6}},       {2, {2, 2}},      {2, {1, 1}}, {3, {1, 1, 1}},
                                      {3, {2, 2, 2}}, {4, {1, 1, 1, 1}}};
static const lt_dims whole_dims[] = {{1, {0}},    {1, {1}},      {1, {-1}},      {2, {0, 1}},
                                     {2, {1, 0}}, {2, {-2, -1}}, {3, {0, 1, 2}}, {3, {2, 0, 1}}};

static const lt_device cpu = {LT_CPU, 0};
static lt_tensor *pool[COUNT(shapes)]; /* numbers between 0 and 1, or 0 and 1 */
/* The matrix in layouts of its own: those operations take it first that are for such tensors
 * alone. */
static const char *const of_layouts[] = {"sparse_coo", "sparse_csr", "sparse_csc"};
static lt_tensor *layouts[COUNT(of_layouts)];
static const char *const for_layouts[] = {"coalesce",      "is_coalesced", "indices",
                                          "values",        "crow_indices", "col_indices",
                                          "ccol_indices",  "row_indices",  "stored_indices",
                                          "stored_values", "nnz",          "sparse_solve"};
static lt_generator *generator;
static unsigned seed;

static int below(int n)
{
    return (int)((seed = seed * 1103515245u + 12345u) / 65536 % (unsigned)n);
}

static int setup(void **state)
{
    (void)state;
    /* each thread that calls would begin with threads of its own */
    assert_ok(lt_set_num_threads(1));
    for (int i = 0; i < COUNT(shapes); i++) {
        lt_tensor *wide = NULL;
        double numbers[128];
        assert_ok(lt_tensor_new(LT_FLOAT64, cpu, shapes[i].ndim, shapes[i].sizes, &wide));
        const int64_t n = lt_tensor_numel(wide);
        for (int64_t k = 0; k < n; k++)
            numbers[k] = i < FLOATS ? 0.1 + 0.8 * (double)(k * 7 % n) / (double)n : (double)(k % 2);
        for (int k = 0; i == MATRIX && k < 9; k++) numbers[k] = k % 4 == 0 ? 2 + k : 0.5;
        assert_ok(lt_tensor_copy_from(wide, numbers, (size_t)n * sizeof *numbers));
        assert_ok(lt_tensor_to(wide, shapes[i].dtype, NULL, &pool[i]));
        lt_tensor_release(wide);
    }
    assert_ok(lt_to_sparse_coo(pool[MATRIX], NULL, &layouts[0]));
    for (int i = 1; i < COUNT(of_layouts); i++)
        assert_ok(lt_to_sparse_compressed(pool[MATRIX], of_layouts[i], 0, &layouts[i]));
    assert_ok(lt_generator_new(cpu, &generator));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(shapes); i++) lt_tensor_release(pool[i]);
    for (int i = 0; i < COUNT(of_layouts); i++) lt_tensor_release(layouts[i]);
    lt_generator_release(generator);
    return 0;
}

/* An operation with its arguments, by name; tensors in them are from the pool. */
typedef struct trial {
    const lt_op_info *op;
    lt_named_value args[MOST_ARGS];
    lt_tensor *lists[MOST_ARGS][3];
    int n;
} trial;

static bool is(const char *type, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(type, name, n) == 0 && (type[n] == '\0' || type[n] == '?');
}

static lt_value some_list(lt_tensor **entries, bool indices)
{
    lt_tensor *t = indices ? pool[FLOATS + below(WHOLE)] : pool[below(FLOATS)];
    const int n = 1 + below(3);
    for (int i = 0; i < n; i++) entries[i] = t;
    return lt_value_tensors(n, entries);
}

/* The lists of an optimizer have entries of equal sizes. */
static lt_value equal_list(lt_tensor **entries)
{
    entries[0] = pool[0];
    return lt_value_tensors(1, entries);
}

/* A value for an argument. */
static lt_value some(const lt_arg_info *arg, lt_tensor **entries)
{
    const char *type = arg->type;
    if (strcmp(arg->name, "mask") == 0) return lt_value_tensor(pool[MASK]);
    if (is(type, "Tensor[]")) return some_list(entries, false);
    if (is(type, "IndexTensor[]")) return some_list(entries, true);
    if (is(type, "IndexTensor")) return lt_value_tensor(pool[FLOATS + below(WHOLE)]);
    if (strncmp(type, "Tensor", 6) == 0 || is(type, "Scalar[]"))
        return lt_value_tensor(pool[below(4) > 0 ? below(FLOATS) : below(COUNT(shapes))]);
    if (is(type, "Scalar") || is(type, "float"))
        return lt_value_double((const double[]){0.5, 1, 2, 0.25}[below(4)]);
    if (is(type, "int")) return lt_value_int(below(4));
    if (is(type, "Dim")) return lt_value_int(below(4) - 1);
    if (is(type, "Index")) return lt_value_int(below(2));
    if (is(type, "bool")) return lt_value_bool(below(2));
    if (is(type, "string")) return lt_value_string(words[below(COUNT(words))]);
    if (is(type, "Dtype")) return lt_value_dtype(below(2) ? LT_FLOAT32 : LT_FLOAT64);
    if (is(type, "Device")) return lt_value_device(cpu);
    if (is(type, "Generator")) return lt_value_generator(generator);
    const bool size = is(type, "Size");
    if (!size && !is(type, "Dims")) fail_msg("what is of type %s?", type);
    const lt_dims *dims =
        size ? &whole_sizes[below(COUNT(whole_sizes))] : &whole_dims[below(COUNT(whole_dims))];
    return lt_value_dims(dims->n, dims->v);
}

static bool wants_layout(const lt_op_info *op, const lt_arg_info *arg)
{
    const bool first = strcmp(arg->name, "self") == 0;
    if (strcmp(op->name, "sparse_mask") == 0) return !first;
    for (int i = 0; i < COUNT(for_layouts); i++)
        if (strcmp(op->name, for_layouts[i]) == 0) return first;
    return false;
}

/* Arguments that are left out half of the time where they may be; none is a tensor that is to be
 * filled. */
static void choose(trial *t)
{
    t->n = 0;
    for (int i = 0; i < t->op->n_args; i++) {
        const lt_arg_info *arg = lt_op_arg(t->op, i);
        const bool may_be_absent = arg->default_text != NULL;
        if (strcmp(arg->name, "out") == 0 || (may_be_absent && below(3) > 0)) continue;
        const bool absent = arg->optional && below(2),
                   of_optimizer = strcmp(t->op->group, "optim") == 0;
        t->args[t->n].name = arg->name;
        t->args[t->n].value =
            absent                                      ? lt_value_none()
            : of_optimizer && is(arg->type, "Tensor[]") ? equal_list(t->lists[t->n])
            : wants_layout(t->op, arg) ? lt_value_tensor(layouts[below(COUNT(of_layouts))])
                                       : some(arg, t->lists[t->n]);
        t->n++;
    }
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* The call to come, with copies of all tensors: some operations write to what they are given. */
static struct {
    const trial *from;
    lt_named_value args[MOST_ARGS];
    lt_tensor *lists[MOST_ARGS][3];
    lt_tensor *leaf; /* the first tensor of floats, when it is to require grad */
    lt_tensor
        *grad; /* with the result of the operation in results[0]: what its backward begins with */
    lt_value results[MOST_RESULTS];
} now;

static void copy(lt_tensor **at, bool differentiate)
{
    lt_tensor *from = *at;
    assert_ok(lt_clone(from, at));
    if (!differentiate || now.leaf != NULL || lt_tensor_dtype(from) < LT_FLOAT16) return;
    now.leaf = *at;
    assert_ok(lt_tensor_set_requires_grad(now.leaf, true));
}

static void prepare(const trial *t, bool differentiate)
{
    now.from = t;
    now.leaf = now.grad = NULL;
    for (int i = 0; i < t->n; i++) {
        lt_value *value = &now.args[i].value;
        now.args[i] = t->args[i];
        if (value->kind == LT_KIND_TENSOR) copy(&value->v.tensor, differentiate);
        if (value->kind != LT_KIND_TENSORS) continue;
        for (int64_t k = 0; k < value->v.tensors.n; k++) {
            now.lists[i][k] = t->lists[i][k];
            copy(&now.lists[i][k], differentiate);
        }
        value->v.tensors.v = now.lists[i];
    }
    for (int i = 0; i < MOST_RESULTS; i++) now.results[i] = lt_value_none();
}

static lt_status do_now(void)
{
    int n = MOST_RESULTS;
    return lt_call(now.from->op->name, NULL, 0, now.args, now.from->n, now.results, &n);
}

static lt_status backward_now(void)
{
    return lt_backward(now.results[0].v.tensor, now.grad, false, false);
}

static void give_back_results(void)
{
    for (int i = 0; i < MOST_RESULTS; i++) lt_value_release(&now.results[i]);
}

static void give_all_back(void)
{
    give_back_results();
    lt_tensor_release(now.grad);
    for (int i = 0; i < now.from->n; i++) {
        const lt_value *value = &now.args[i].value;
        if (value->kind == LT_KIND_TENSOR) lt_tensor_release(value->v.tensor);
        for (int64_t k = 0; value->kind == LT_KIND_TENSORS && k < value->v.tensors.n; k++)
            lt_tensor_release(now.lists[i][k]);
    }
}

/* Whether arguments are found; which does not depend on what other operations there are. */
static bool find(trial *t, unsigned from)
{
    seed = from;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        choose(t);
        prepare(t, false);
        const lt_status status = do_now();
        give_all_back();
        if (status == LT_OK) return true;
    }
    return false;
}

/* ---- allocations that fail ------------------------------------------------------------------- */

static const trial *trying;

static lt_status forward(void)
{
    fail_no_more();
    prepare(trying, false);
    fail_from_here();
    const lt_status status = do_now();
    fail_no_more();
    for (int i = 0; i < MOST_RESULTS && status != LT_OK; i++)
        assert_int_equal(now.results[i].kind, LT_KIND_NONE);
    give_all_back();
    return status;
}

static bool has_out(const lt_op_info *op)
{
    for (int i = 0; i < op->n_args; i++)
        if (strcmp(lt_op_arg(op, i)->name, "out") == 0) return true;
    return false;
}

/* Once more, into the tensors that it has made before. */
static lt_status into_out(void)
{
    fail_no_more();
    prepare(trying, false);
    assert_ok(do_now());
    lt_tensor *outs[MOST_RESULTS];
    const bool list = now.results[0].kind == LT_KIND_TENSORS;
    const int n_outs = list ? (int)now.results[0].v.tensors.n : trying->op->n_results;
    assert_true(n_outs <= MOST_RESULTS);
    for (int r = 0; r < n_outs; r++)
        outs[r] = lt_tensor_retain(list ? now.results[0].v.tensors.v[r] : now.results[r].v.tensor);
    give_back_results();
    now.args[trying->n] = (lt_named_value){
        "out", list || n_outs > 1 ? lt_value_tensors(n_outs, outs) : lt_value_tensor(outs[0])};
    int n = MOST_RESULTS;
    fail_from_here();
    const lt_status status =
        lt_call(trying->op->name, NULL, 0, now.args, trying->n + 1, now.results, &n);
    fail_no_more();
    if (status == LT_OK)
        for (int r = 0; r < n_outs; r++)
            assert_ptr_equal(list ? now.results[0].v.tensors.v[r] : now.results[r].v.tensor,
                             outs[r]);
    else
        assert_int_equal(now.results[0].kind, LT_KIND_NONE);
    give_all_back();
    for (int r = 0; r < n_outs; r++) lt_tensor_release(outs[r]);
    return status;
}

/* The operation is recorded, and its backward done. */
static lt_status there_and_back(void)
{
    fail_no_more();
    prepare(trying, true);
    fail_from_here();
    lt_status status = do_now();
    lt_tensor *y =
        status == LT_OK && now.results[0].kind == LT_KIND_TENSOR ? now.results[0].v.tensor : NULL;
    if (y != NULL && lt_tensor_requires_grad(y)) {
        status = lt_ones_like(y, LT_DTYPE_NONE, NULL, &now.grad);
        if (status == LT_OK) status = backward_now();
    }
    fail_no_more();
    give_all_back();
    return status;
}

/* Not every operation can be differentiated for every argument: not where a derivative is not
 * declared, or dtypes are mixed. */
static bool is_differentiable(void)
{
    failing = 0;
    return there_and_back() == LT_OK;
}

static bool is_unsuited(const char *name)
{
    for (int i = 0; i < COUNT(unsuited); i++)
        if (strcmp(unsuited[i], name) == 0) return true;
    return false;
}

static void test_every_failing_allocation_is_reported(void **state)
{
    (void)state;
    int done = 0, failures = 0;
    for (int i = 0; i < 2 * lt_op_count(); i++) { /* twice, with other arguments */
        trial t = {.op = lt_op_at(i / 2)};
        if (!find(&t, 1 + (unsigned)i % 2)) {
            if (!is_unsuited(t.op->name))
                complain("no arguments are found for %s\n", t.op->signature);
            continue;
        }
        trying = &t;
        failures += fail_without_a_leak((sweep){fail_each, t.op->signature, forward});
        if (!t.op->in_place && is_differentiable())
            failures += fail_without_a_leak((sweep){fail_each, t.op->signature, there_and_back});
        if (has_out(t.op))
            failures += fail_without_a_leak((sweep){fail_each, t.op->signature, into_out});
        done++;
    }
    assert_int_equal(complaints, 0);
    assert_true(done > 1000 && failures > 10000);
}

/* ---- NULL ------------------------------------------------------------------------------------ */

static bool without(lt_value *value)
{
    if (value->kind == LT_KIND_TENSOR) value->v.tensor = NULL;
    if (value->kind == LT_KIND_STRING) value->v.s = NULL;
    if (value->kind == LT_KIND_GENERATOR) value->v.generator = NULL;
    if (value->kind == LT_KIND_TENSORS) value->v.tensors.v = NULL;
    if (value->kind == LT_KIND_DIMS) value->v.dims.v = NULL;
    return value->kind == LT_KIND_TENSOR || value->kind == LT_KIND_STRING ||
           value->kind == LT_KIND_GENERATOR || value->kind == LT_KIND_TENSORS ||
           value->kind == LT_KIND_DIMS;
}

static void test_null_is_an_error(void **state)
{
    (void)state;
    int refused = 0;
    for (int i = 0; i < lt_op_count(); i++) {
        trial t = {.op = lt_op_at(i)};
        if (!find(&t, 1)) continue;
        char name[100];
        snprintf(name, sizeof name, "%s()", t.op->name);
        for (int k = 0; k < t.n; k++) {
            const lt_value kept = t.args[k].value;
            if (!without(&t.args[k].value)) continue;
            lt_value results[MOST_RESULTS];
            int n = MOST_RESULTS;
            for (int r = 0; r < MOST_RESULTS; r++) results[r] = lt_value_none();
            assert_fails(lt_call(t.op->name, NULL, 0, t.args, t.n, results, &n), LT_ERR_TYPE, name);
            assert_int_equal(results[0].kind, LT_KIND_NONE);
            t.args[k].value = kept;
            refused++;
        }
    }
    assert_true(refused > 800);
}

typedef lt_status (*any_function)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                                  int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                                  int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, double,
                                  double, double, double, double, double, double, double);

/* The functions of ltensor_ops.h with zeros for all they take: they are called as if they took
 * many, which is what the usual machines do not mind. The header lies in the folder above the
 * test's. */
static void test_functions_refuse_null_everywhere(void **state)
{
    (void)state;
#if defined(__aarch64__)
    skip(); /* structures are passed as pointers there, and 0 is none */
#endif
    char path[4096 + sizeof "gen/ltensor_ops.h"];
    const ssize_t n = readlink("/proc/self/exe", path, 4096);
    assert_true(n > 0 && n < 4096);
    path[n] = '\0';
    for (int up = 0; up < 2; up++) *strrchr(path, '/') = '\0';
    strcat(path, "/gen/ltensor_ops.h");
    char *text = text_of_file(path);
    assert_non_null(text);
    int functions = 0;
    for (char *at = text; (at = strstr(at, "\nLT_API ")) != NULL;) {
        size_t length;
        const char *name = declared_name(at += strlen("\nLT_API "), &length);
        char *copy = strndup(name, length);
        any_function f = (any_function)dlsym(RTLD_DEFAULT, copy);
        if (f == NULL) fail_msg("there is no %s", copy);
        const lt_status status =
            f(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        if (status != LT_ERR_TYPE || strstr(lt_error_message(), "(): argument '") == NULL)
            complain("%s: %d, %s\n", copy, (int)status, status != LT_OK ? lt_error_message() : "");
        free(copy);
        functions++;
    }
    free(text);
    assert_int_equal(complaints, 0);
    assert_true(functions > 600);
}

/* Numbers that no enum has, sets of dimensions that are none. */
static void test_numbers_out_of_range_are_errors(void **state)
{
    (void)state;
    lt_tensor *x = pool[0], *out = NULL;
    const int dtypes[] = {LT_DTYPE_COUNT, -2, INT32_MAX, INT32_MIN},
              counts[] = {LT_MAX_DIMS + 1, -1, INT32_MAX, INT32_MIN};
    for (int i = 0; i < COUNT(dtypes); i++) {
        const lt_dtype dtype = (lt_dtype)dtypes[i];
        const lt_dims few = {1, {2}}, many = {counts[i], {0}};
        const lt_device device = {(int8_t)(2 + i), 0};
        assert_fails(lt_sum(x, dtype, &out), LT_ERR_TYPE, "sum(): argument 'dtype': unknown dtype");
        assert_fails(lt_softmax(x, 0, dtype, &out), LT_ERR_TYPE, "softmax(): argument 'dtype'");
        assert_fails(lt_zeros(&few, dtype, NULL, &out), LT_ERR_TYPE, "zeros(): argument 'dtype'");
        assert_fails(lt_zeros(&few, LT_FLOAT32, &device, &out), LT_ERR_TYPE,
                     "is not a type of device");
        assert_fails(lt_zeros(&many, LT_FLOAT32, NULL, &out), LT_ERR_TYPE,
                     "zeros(): argument 'size' has");
        assert_fails(lt_sum_dim(x, &many, false, LT_DTYPE_NONE, &out), LT_ERR_TYPE,
                     "sum(): argument 'dim' has");
        assert_fails(lt_expand(x, &many, &out), LT_ERR_TYPE, "entries, at most 16 are possible");
        assert_fails(lt_permute(x, &many, &out), LT_ERR_TYPE, "permute(): argument 'dims' has");
    }
    assert_null(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_failing_allocation_is_reported),
        cmocka_unit_test(test_null_is_an_error),
        cmocka_unit_test(test_functions_refuse_null_everywhere),
        cmocka_unit_test(test_numbers_out_of_range_are_errors),
    };
    if (count_memory() != LT_OK) return 1;
    return cmocka_run_group_tests(tests, setup, teardown);
}
