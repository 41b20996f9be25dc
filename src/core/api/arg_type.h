/* arg_type.h - the types of arguments for lt_call and the Lua binding. */
#ifndef LT_ARG_TYPE_H
#define LT_ARG_TYPE_H

#define LT_MAX_ARGS 16

/* The types are documented in src/ops/README.md. */
typedef enum lt_arg_type {
    LT_ARG_TENSOR,
    LT_ARG_TENSOR_OR_SCALAR,
    LT_ARG_INDEX_TENSOR,
    LT_ARG_POSITIONS, /* an index tensor with 1-based entries in scripts; not in lt_call */
    LT_ARG_TENSORS,
    LT_ARG_INDEX_TENSORS,
    LT_ARG_NUMBERS, /* a vector; a table of numbers in scripts */
    LT_ARG_SCALAR,
    LT_ARG_INT,
    LT_ARG_FLOAT,
    LT_ARG_BOOL,
    LT_ARG_STRING,
    LT_ARG_DIM,
    LT_ARG_DIMS,
    LT_ARG_INDEX,
    LT_ARG_SIZE,
    LT_ARG_DTYPE,
    LT_ARG_DEVICE,
    LT_ARG_GENERATOR
} lt_arg_type;

#endif
