/* type_traits.h - for NVRTC: the parts of <type_traits> that conversion.cuh uses. */
#ifndef LT_NVRTC_TYPE_TRAITS_H
#define LT_NVRTC_TYPE_TRAITS_H

namespace std {

template <class A, class B> constexpr bool is_same_v = false;
template <class A> constexpr bool is_same_v<A, A> = true;

template <class T> constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;

/* Covers the types of elements and results only. */
template <class T>
constexpr bool is_integral_v =
    is_same_v<T, bool> || is_same_v<T, signed char> || is_same_v<T, unsigned char> ||
    is_same_v<T, short> || is_same_v<T, int> || is_same_v<T, long>;

} // namespace std

#endif
