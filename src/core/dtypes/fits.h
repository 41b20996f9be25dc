/* fits.h - whether a number can be an element of a dtype, by PyTorch's rules. All checks of fills
 * and parameters for overflow are made here. */
#ifndef LT_FITS_H
#define LT_FITS_H

#include "ltensor.h"

/* - Integers: numbers in their range. Unsigned dtypes also accept the negated range, which wraps.
 * - Floating-point dtypes: nan, the infinities, and finite numbers up to their maximum.
 * - bool: every number. */
bool lt_fits(lt_scalar s, lt_dtype dtype);
/* "value cannot be converted to type uint8_t without overflow". */
lt_status lt_check_fits(lt_scalar s, lt_dtype dtype);
/* The number of a dtype that no other is larger (high) or smaller than: an infinity, if it has any. */
lt_scalar lt_extreme_of(lt_dtype dtype, bool high);
/* A fast test for common parameters: integers that every dtype can represent. */
static inline bool lt_fits_anywhere(lt_scalar s)
{
    return s.kind <= LT_SCALAR_INT && s.v.i >= 0 && s.v.i <= 127;
}
/* Applies lt_check_fits to a script's number in tensor form (a wrapped number); other tensors pass.
 */
lt_status lt_check_number_fits(const lt_tensor *t, lt_dtype dtype);

#endif
