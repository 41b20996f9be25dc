/* shapes_loops.h - maps each shape of a generated list of kernels (kernels_<family>.h) to a loop of
 * instantiate.h; shapes_entries.h maps it to a table entry. */
#undef UNARY
#undef UNARY_NUMBER
#undef UNARY_RANGE
#undef UNARY_THREE
#undef BINARY
#undef BINARY_SCALED
#undef BINARY_RANGE
#undef BINARY_THREE
#undef TERNARY
#undef TERNARY_SCALED
#undef SELECT
#define UNARY          LOOP_UNARY
#define UNARY_NUMBER   LOOP_UNARY_NUMBER
#define UNARY_RANGE    LOOP_UNARY_RANGE
#define UNARY_THREE    LOOP_UNARY_THREE
#define BINARY         LOOP_BINARY
#define BINARY_SCALED  LOOP_BINARY_SCALED
#define BINARY_RANGE   LOOP_BINARY_RANGE
#define BINARY_THREE   LOOP_BINARY_THREE
#define TERNARY        LOOP_TERNARY
#define TERNARY_SCALED LOOP_TERNARY_SCALED
#define SELECT         LOOP_SELECT
