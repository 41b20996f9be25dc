/* both_floats.h - includes the file LOOPS (a path from src/core) for float and for double. Its
 * loops are written with T, the type, and S(name), which is name_f32 or name_f64. */
#define T       float
#define S(name) name##_f32
#include LOOPS
#undef T
#undef S

#define T       double
#define S(name) name##_f64
#include LOOPS
#undef T
#undef S

#undef LOOPS
