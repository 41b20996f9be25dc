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

static lt_tensor *empty_of(int64_t bytes)
{
    const lt_dims sizes = {1, {bytes}};
    lt_tensor *t = NULL;
    CHECK(lt_empty(&sizes, LT_UINT8, &gpu, &t));
    return t;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    const char *op = argv[1];
    const lt_scalar one = lt_scalar_from_int(1);
    lt_tensor *a = rand_of(2, 3), *b = rand_of(2, 3), *m = rand_of(5, 5);
    const int64_t bytes = strcmp(op, "empty, 512 B") == 0   ? 512
                          : strcmp(op, "empty, 1 MiB") == 0 ? 1 << 20
                                                            : 1 << 24;
    for (long i = atol(argv[2]); i > 0; i--) {
        lt_tensor *out = NULL;
        if (strcmp(op, "add_") == 0)
            CHECK(lt_add_(a, b, one));
        else if (strcmp(op, "a + b") == 0)
            CHECK(lt_add(a, b, one, &out));
        else if (strcmp(op, "relu") == 0)
            CHECK(lt_relu(a, &out));
        else if (strcmp(op, "sum") == 0)
            CHECK(lt_sum(a, LT_DTYPE_NONE, &out));
        else if (strcmp(op, "mm") == 0)
            CHECK(lt_mm(m, m, &out));
        else
            out = empty_of(bytes);
        lt_tensor_release(out);
    }
    return 0;
}
