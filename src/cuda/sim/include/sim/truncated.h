/* truncated.h - conversion of floating-point numbers to integers as by GPU instructions. Also
 * included in generated kernels. */
#ifndef LT_SIM_TRUNCATED_H
#define LT_SIM_TRUNCATED_H

#include <limits>
#include <type_traits>

namespace lt_sim {

/* Rounds towards zero and saturates. NaN becomes 0, for signed 64-bit integers the minimum. */
template <class To, class From> inline To truncated(From value)
{
    using limits = std::numeric_limits<To>;
    if (value != value) return sizeof(To) == 8 && std::is_signed_v<To> ? limits::min() : To(0);
    /* 2 to the number of value bits: exact in From, unlike the maximum of To. */
    const From above = From(2) * static_cast<From>(To(1) << (limits::digits - 1));
    if (value >= above) return limits::max();
    if (value <= static_cast<From>(limits::min())) return limits::min();
    return static_cast<To>(value);
}

} // namespace lt_sim

#endif
