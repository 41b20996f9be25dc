/* op_name.c - see op_name.h. */
#include "op_name.h"

_Thread_local const char *lt_op_name;
