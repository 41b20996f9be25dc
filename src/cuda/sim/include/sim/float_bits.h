/* float_bits.h - bit representation of floating-point numbers. Also included in generated kernels.
 */
#ifndef LT_SIM_FLOAT_BITS_H
#define LT_SIM_FLOAT_BITS_H

#include <string.h>

namespace lt_sim {

template <class To, class From> inline To bits(From value)
{
    static_assert(sizeof(To) == sizeof(From), "the same size");
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}

} // namespace lt_sim

static inline int __float_as_int(float v) { return lt_sim::bits<int>(v); }
static inline unsigned __float_as_uint(float v) { return lt_sim::bits<unsigned>(v); }
static inline float __int_as_float(int v) { return lt_sim::bits<float>(v); }
static inline float __uint_as_float(unsigned v) { return lt_sim::bits<float>(v); }
static inline long long __double_as_longlong(double v) { return lt_sim::bits<long long>(v); }
static inline double __longlong_as_double(long long v) { return lt_sim::bits<double>(v); }

namespace lt_sim {

/* Rounds to odd: rounding the result to a half type equals rounding the double directly. */
inline float rounded_to_odd(double value)
{
    const float nearest = (float)value;
    const unsigned u = __float_as_uint(nearest);
    const double found = (double)nearest;
    if (found == value || value != value || (u & 1)) return nearest;
    return __uint_as_float((found < 0 ? -found : found) > (value < 0 ? -value : value) ? u - 1
                                                                                       : u + 1);
}

} // namespace lt_sim

#endif
