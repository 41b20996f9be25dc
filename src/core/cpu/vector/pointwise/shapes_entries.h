/* shapes_entries.h - maps each shape of a generated list of kernels to an entry of its family's
 * table; FIRST: the number of the family's first kernel. */
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
#define ENTRY(name, NAME, s, T, D) [LT_PW_##NAME - FIRST][LT_##D] = name##_##s,
#define UNARY                      ENTRY
#define UNARY_NUMBER               ENTRY
#define UNARY_RANGE                ENTRY
#define UNARY_THREE                ENTRY
#define BINARY                     ENTRY
#define BINARY_SCALED              ENTRY
#define BINARY_RANGE               ENTRY
#define BINARY_THREE               ENTRY
#define TERNARY                    ENTRY
#define TERNARY_SCALED             ENTRY
#define SELECT                     ENTRY
