/* ltensor_binding.h - for bindings of other languages: names of statuses, and operations that are
 * looked up once. ltensor.h includes it.
 *
 * share/ltensor/ltensor.json describes all operations, functions, enums and structs of the headers,
 * for programs that generate bindings. The inline helpers of ltensor.h (lt_scalar_from_int,
 * lt_value_tensor, lt_context_defaults and others) are also symbols of the library. */
#ifndef LTENSOR_BINDING_H
#define LTENSOR_BINDING_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "LT_ERR_MEMORY"; NULL for a value that is no lt_status. Static. */
LT_API const char *lt_status_name(lt_status status);

/* An operation with its overloads. */
typedef struct lt_op lt_op;

/* The operation of a name or alias of lt_call, for the process: valid in every thread and context.
 * NULL with an error message: there is none of this name. A call by the handle of a registered
 * operation (ltensor_register.h) searches for it in the thread's context. */
LT_API const lt_op *lt_op_find(const char *name);

/* As lt_call, without the search for the name. LT_ERR_TYPE: op is NULL. */
LT_API lt_status lt_op_call(const lt_op *op, const lt_value *args, int nargs,
                            const lt_named_value *named, int nnamed, lt_value *results,
                            int *nresults);

/* The overloads of an operation in the order in which they are tried: i from 0 to lt_op_overloads -
 * 1. 0 and NULL for NULL; NULL if out of range. Static. */
LT_API int lt_op_overloads(const lt_op *op);
LT_API const lt_op_info *lt_op_overload(const lt_op *op, int i);

#ifdef __cplusplus
}
#endif

#endif
