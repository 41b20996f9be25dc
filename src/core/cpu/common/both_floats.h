/* both_floats.h - the loops of the file that LOOPS names, as seen from src/core, for float and for
 * double: they are written in T, the type, and S(name), which is name_f32 and name_f64. Included
 * once per file of loops. */
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
