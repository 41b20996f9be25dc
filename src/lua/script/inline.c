/* inline.c - the inline helpers of ltensor_script.h as symbols of the library, for bindings that
 * cannot include the header. */
#include "ltensor.h"

#undef LT_INLINE
#define LT_INLINE LT_API
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "ltensor_script.h"
