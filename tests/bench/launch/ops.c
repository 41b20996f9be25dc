/* ops.c - runs one op on a simulated GPU N times through the C functions, for count.lua: ops OP N */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ltensor.h"

static const lt_device gpu = {LT_CUDA, 0};

static void check(lt_status status, const char *call)
{
    if (status == LT_OK) return;
    fprintf(stderr, "%s: %s\n", call, lt_error_message());
    exit(1);
}
#define CHECK(call) check(call, #call)

static lt_tensor *rand_of(int64_t rows, int64_t columns)
{
    const lt_dims sizes = {2, {rows, columns}};
    lt_tensor *t = NULL;
    CHECK(lt_rand(&sizes, NULL, LT_FLOAT32, &gpu, &t));
    return t;
}

static lt_tensor *a, *b, *m;
static int64_t bytes;

static lt_tensor *run_add(void)
{
    lt_tensor *out = NULL;
    CHECK(lt_add(a, b, lt_scalar_from_int(1), &out));
    return out;
}
static lt_tensor *run_add_(void)
{
    CHECK(lt_add_(a, b, lt_scalar_from_int(1)));
    return NULL;
}
static lt_tensor *run_relu(void)
{
    lt_tensor *out = NULL;
    CHECK(lt_relu(a, &out));
    return out;
}
static lt_tensor *run_sum(void)
{
    lt_tensor *out = NULL;
    CHECK(lt_sum(a, LT_DTYPE_NONE, &out));
    return out;
}
static lt_tensor *run_mm(void)
{
    lt_tensor *out = NULL;
    CHECK(lt_mm(m, m, &out));
    return out;
}
static lt_tensor *run_empty(void)
{
    const lt_dims sizes = {1, {bytes}};
    lt_tensor *out = NULL;
    CHECK(lt_empty(&sizes, LT_UINT8, &gpu, &out));
    return out;
}

static const struct op {
    const char *name;
    lt_tensor *(*run)(void);
    int64_t bytes;
} ops[] = {{"a + b", run_add, 0},
           {"add_", run_add_, 0},
           {"relu", run_relu, 0},
           {"sum", run_sum, 0},
           {"mm", run_mm, 0},
           {"empty, 512 B", run_empty, 512},
           {"empty, 1 MiB", run_empty, 1 << 20},
           {"empty, 16 MiB", run_empty, 1 << 24}};

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    size_t i = 0;
    while (i < sizeof ops / sizeof *ops && strcmp(argv[1], ops[i].name) != 0) i++;
    if (i == sizeof ops / sizeof *ops) return 2;
    a = rand_of(2, 3), b = rand_of(2, 3), m = rand_of(5, 5);
    bytes = ops[i].bytes;
    for (long left = atol(argv[2]); left > 0; left--) lt_tensor_release(ops[i].run());
    lt_tensor_release(a);
    lt_tensor_release(b);
    lt_tensor_release(m);
    return 0;
}
