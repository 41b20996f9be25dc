/* check_values.h - checks the elements of an argument, on every device: the CPU reports an error at
 * once, a GPU when the host next waits for it. */
#ifndef LT_OPS_CHECK_VALUES_H
#define LT_OPS_CHECK_VALUES_H

#include "devices/backend.h"
#include "tensor.h"

/* rule: the fields from `low` on. An empty tensor passes. */
lt_status lt_check_values(lt_tensor *t, lt_value_check rule);

#endif
