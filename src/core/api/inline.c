/* inline.c - the inline helpers of the headers as symbols of the library, for bindings that cannot
 * include the header. */
#undef LT_INLINE
#define LT_INLINE LT_API
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "ltensor.h"
#include "ltensor_threads.h"
