/* pointwise.h - runs an elementwise op: type promotion, broadcasting, the output, the kernel call.
 * Generated lt_<op>_impl functions call this and nothing else. */
#ifndef LT_POINTWISE_H
#define LT_POINTWISE_H

#include "pointwise_ops.h"
#include "tensor.h"

typedef enum lt_rule {
    LT_RULE_PROMOTE,  /* computed in and returned as the promoted dtype */
    LT_RULE_FLOAT,    /* integers become the default dtype */
    LT_RULE_COMPARE,  /* computed in the promoted dtype, returned as bool */
    LT_RULE_INTEGRAL, /* promoted; floating dtypes are refused */
    LT_RULE_SELECT    /* the first input is a bool condition and takes no part in promotion */
} lt_rule;

/* inputs: n of them, all on one device (0-dim CPU tensors excepted). *out as lt_output takes it. */
lt_status lt_pointwise_run(lt_pointwise op, lt_rule rule, lt_tensor *const *inputs, int n,
                           const lt_scalar *params, int n_params, lt_tensor **out);

/* "add" */
const char *lt_pointwise_name(lt_pointwise op);

/* New reference: t in dtype on its own device, t itself (retained) when it is so already. */
lt_status lt_cast(lt_tensor *t, lt_dtype dtype, lt_tensor **out);

#endif
