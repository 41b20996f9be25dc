/* fits.h - whether a number can be an element of a dtype, by PyTorch's rules: the one place that
 * refuses fills and parameters that would overflow. */
#ifndef LT_FITS_H
#define LT_FITS_H

#include "ltensor.h"

/* Integers take numbers of their range, unsigned ones also the negatives of these, which wrap;
 * floating-point dtypes take nan and the infinities, and finite numbers up to their largest; bool
 * takes all. */
bool lt_fits(lt_scalar s, lt_dtype dtype);
/* "value cannot be converted to type uint8_t without overflow". */
lt_status lt_check_fits(lt_scalar s, lt_dtype dtype);
/* A number that every dtype holds: most parameters. */
static inline bool lt_fits_anywhere(lt_scalar s)
{
    return s.kind <= LT_SCALAR_INT && s.v.i >= 0 && s.v.i <= 127;
}
/* The same for a number of the script among tensors (a wrapped number); other tensors pass. */
lt_status lt_check_number_fits(const lt_tensor *t, lt_dtype dtype);

#endif
