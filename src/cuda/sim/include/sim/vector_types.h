/* vector_types.h - CUDA's vector types, with CUDA's alignment, and dim3. Includes nothing. */
#ifndef LT_SIM_VECTOR_TYPES_H
#define LT_SIM_VECTOR_TYPES_H

#define VECTORS(scalar, name, align2, align4)                                                      \
    struct name##1 { scalar x; };                                                                  \
    struct alignas(align2) name##2 { scalar x, y; };                                               \
    struct name##3 { scalar x, y, z; };                                                            \
    struct alignas(align4) name##4 { scalar x, y, z, w; };                                         \
    static inline name##1 make_##name##1(scalar x) { return {x}; }                                 \
    static inline name##2 make_##name##2(scalar x, scalar y) { return {x, y}; }                    \
    static inline name##3 make_##name##3(scalar x, scalar y, scalar z) { return {x, y, z}; }       \
    static inline name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w)                   \
    {                                                                                              \
        return {x, y, z, w};                                                                       \
    }

VECTORS(signed char, char, 2, 4)
VECTORS(unsigned char, uchar, 2, 4)
VECTORS(short, short, 4, 8)
VECTORS(unsigned short, ushort, 4, 8)
VECTORS(int, int, 8, 16)
VECTORS(unsigned int, uint, 8, 16)
VECTORS(long long, longlong, 16, 16)
VECTORS(unsigned long long, ulonglong, 16, 16)
VECTORS(float, float, 8, 16)
VECTORS(double, double, 16, 16)
#undef VECTORS

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

#endif
