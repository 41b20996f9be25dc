/* dtype.h - element types: sizes, names, categories, conversion of single values. */
#ifndef LT_DTYPE_H
#define LT_DTYPE_H

#include "ltensor.h"

static inline bool lt_dtype_is_float(lt_dtype d) { return d >= LT_FLOAT16; }
static inline bool lt_dtype_is_int(lt_dtype d) { return d >= LT_UINT8 && d <= LT_INT64; }
static inline bool lt_dtype_is_integral(lt_dtype d) { return d <= LT_INT64; } /* bool included */

/* "Float", "Long", "Bool": the names PyTorch's messages use. */
const char *lt_dtype_scalar_name(lt_dtype dtype);
/* LT_DTYPE_NONE when there is none of that name ("float32", "float", "long", "half", ...). */
lt_dtype lt_dtype_from_name(const char *name);

/* The smallest type both convert to (same category rules not applied: plain lattice). */
lt_dtype lt_promote(lt_dtype a, lt_dtype b);
/* Whether results of dtype `from` may be stored in a tensor of dtype `to`: not floats in integers, nor numbers in bools. */
bool lt_can_cast(lt_dtype from, lt_dtype to);

/* Element <-> number. p is host memory. Storing converts as C does (float to integer truncates). */
lt_scalar lt_load_scalar(const void *p, lt_dtype dtype);
void lt_store_scalar(void *p, lt_dtype dtype, lt_scalar s);
lt_dtype lt_scalar_dtype(lt_scalar s); /* int64, default float, bool */

static inline double lt_scalar_double(lt_scalar s)
{
    return s.kind == LT_SCALAR_FLOAT ? s.v.d : (double)s.v.i;
}
int64_t lt_scalar_int(lt_scalar s); /* truncates, saturating */

#endif
