/* check_values.h - what the elements of an argument have to be, on every device: the CPU finds out
 * at once, a GPU reports it when the host waits next. */
#ifndef LT_OPS_CHECK_VALUES_H
#define LT_OPS_CHECK_VALUES_H

#include "devices/backend.h"
#include "tensor.h"

/* rule: the fields from `low` on. An empty tensor passes. */
lt_status lt_check_values(lt_tensor *t, lt_value_check rule);

#endif
