/* program.c - a program of every version: compiled with the headers that a version had, run with the library of today. Touches
 * what has a layout: structs by value and by pointer, enums, values of operations by name. C99. */
#include <stdio.h>
#include <string.h>

#include "ltensor.h"

static int failed;

static void expect(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "program: %s: %s\n", what, lt_error_message());
    failed = 1;
}

int main(void)
{
    float numbers[6] = {1, 2, 3, 4, 5, 6}, copy[6];
    const int64_t sizes[] = {2, 3};
    lt_tensor *x = NULL, *y = NULL, *z = NULL;
    lt_scalar number;
    lt_dims dims = {1, {0}};
    lt_device host = {LT_CPU, 0};
    lt_value arguments[2], result = lt_value_none();
    lt_named_value named;
    int results = 1, i, found = 0;

    expect(lt_version_number() >= LT_VERSION_NUMBER, "the library is older than its header");
    expect(lt_tensor_wrap(numbers, LT_FLOAT32, 2, sizes, NULL, NULL, &x) == LT_OK, "wrap");
    expect(lt_tensor_dtype(x) == LT_FLOAT32 && lt_tensor_ndim(x) == 2 && lt_tensor_sizes(x)[1] == 3,
           "what it is");
    expect(lt_tensor_device(x).type == LT_CPU, "device");
    expect(lt_sum_dim(x, &dims, false, LT_DTYPE_NONE, &y) == LT_OK && lt_tensor_numel(y) == 3,
           "sum over a dimension");
    lt_tensor_release(y);

    arguments[0] = lt_value_tensor(x), arguments[1] = lt_value_int(1);
    named.name = "keepdim", named.value = lt_value_bool(true);
    expect(lt_call("sum", arguments, 2, &named, 1, &result, &results) == LT_OK && results == 1,
           "call by name");
    expect(lt_tensor_item(result.v.tensor, &number) != LT_OK, "an item of two numbers");
    lt_value_free(&result);
    for (i = 0; i < lt_op_count(); i++)
        if (strcmp(lt_op_at(i)->name, "matmul") == 0)
            found =
                lt_op_at(i)->n_args >= 2 && strcmp(lt_op_arg(lt_op_at(i), 1)->name, "other") == 0;
    expect(found, "matmul among the operations");

    expect(lt_tensor_new(LT_FLOAT32, host, 2, sizes, &y) == LT_OK, "new");
    expect(lt_tensor_copy_from(y, numbers, sizeof numbers) == LT_OK, "copy in");
    expect(lt_tensor_set_requires_grad(y, true) == LT_OK && lt_mul(y, x, &z) == LT_OK, "product");
    expect(lt_backward(z, x, false, false) == LT_OK && lt_tensor_grad(y) != NULL, "backward");
    expect(lt_tensor_copy_to(lt_tensor_grad(y), copy, sizeof copy) == LT_OK && copy[5] == 36,
           "gradient");
    lt_tensor_release(x);
    lt_tensor_release(y);
    lt_tensor_release(z);
    return failed;
}
