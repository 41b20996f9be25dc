/* truncated.h - a floating number as an integer, as GPUs' instructions make it. Also a part of
 * generated kernels. */
#ifndef LT_SIM_TRUNCATED_H
#define LT_SIM_TRUNCATED_H

#include <limits>
#include <type_traits>

namespace lt_sim {

/* Of a floating number as GPUs do it: towards zero, to the nearest integer where there is none; NaN
 * is 0, and in 64 bits the least. */
template <class To, class From> inline To truncated(From value)
{
    using limits = std::numeric_limits<To>;
    if (value != value) return sizeof(To) == 8 && std::is_signed_v<To> ? limits::min() : To(0);
    /* 2 to the power of the number of digits: exact, unlike the largest integer. */
    const From above = From(2) * static_cast<From>(To(1) << (limits::digits - 1));
    if (value >= above) return limits::max();
    if (value <= static_cast<From>(limits::min())) return limits::min();
    return static_cast<To>(value);
}

} // namespace lt_sim

#endif
