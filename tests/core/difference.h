/* difference.h - the largest difference of two tensors of the same shape and dtype. */
#ifndef DIFFERENCE_H
#define DIFFERENCE_H

#include "ltensor_ops.h"

#include "expect.h"

static inline double difference(lt_tensor *a, lt_tensor *b)
{
    assert_int_equal(lt_tensor_numel(a), lt_tensor_numel(b));
    assert_int_equal(lt_tensor_dtype(a), lt_tensor_dtype(b));
    lt_tensor *d = NULL, *size = NULL, *most = NULL;
    assert_ok(lt_sub(a, b, lt_scalar_from_int(1), &d));
    assert_ok(lt_abs(d, &size));
    assert_ok(lt_max(size, &most));
    const double result = item(most);
    lt_tensor_release(d);
    lt_tensor_release(size);
    lt_tensor_release(most);
    return result;
}

#endif
