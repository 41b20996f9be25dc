/* dnnl_api.h - the part of oneDNN's C interface that is used, for versions 2 and 3. It is declared
 * here, since oneDNN's headers have one version only; the numbers are equal in 2.6, 3.2 and 3.13.
 * Names are oneDNN's. Included by dnnl.h only. */
#ifndef LT_DNNL_API_H
#define LT_DNNL_API_H

#include <stddef.h>
#include <stdint.h>

enum {
    dnnl_success = 0,
    dnnl_cpu = 1,
    dnnl_forward_training = 64,
    dnnl_convolution_direct = 1,
    dnnl_stream_default_flags = 1,
    dnnl_scratchpad_mode_user = 1,
    DNNL_MAX_NDIMS = 12
};

typedef enum {
    dnnl_bf16 = 2,
    dnnl_f32 = 3,
    dnnl_s32 = 4,
    dnnl_s8 = 5,
    dnnl_u8 = 6
} dnnl_data_type_t;

typedef enum { dnnl_format_tag_any = 1, dnnl_a = 2 } dnnl_format_tag_t;

typedef enum {
    dnnl_query_src_md = 129,
    dnnl_query_diff_src_md = 130,
    dnnl_query_weights_md = 131,
    dnnl_query_diff_weights_md = 132,
    dnnl_query_dst_md = 133,
    dnnl_query_diff_dst_md = 134,
    dnnl_query_scratchpad_md = 136
} dnnl_query_t;

enum {
    DNNL_ARG_FROM = 1,
    DNNL_ARG_TO = 17,
    DNNL_ARG_SRC = 1,
    DNNL_ARG_DST = 17,
    DNNL_ARG_WEIGHTS = 33,
    DNNL_ARG_BIAS = 41,
    DNNL_ARG_SCRATCHPAD = 80,
    DNNL_ARG_DIFF_SRC = 129,
    DNNL_ARG_DIFF_DST = 145,
    DNNL_ARG_DIFF_WEIGHTS = 161
};

typedef int dnnl_status_t;
typedef int64_t dnnl_dims_t[DNNL_MAX_NDIMS];
typedef struct dnnl_engine *dnnl_engine_t;
typedef struct dnnl_stream *dnnl_stream_t;
typedef struct dnnl_memory *dnnl_memory_t;
typedef struct dnnl_primitive *dnnl_primitive_t;
typedef struct dnnl_primitive_desc *dnnl_primitive_desc_t;
typedef struct dnnl_primitive_attr *dnnl_primitive_attr_t;

typedef struct {
    int arg;
    dnnl_memory_t memory;
} dnnl_exec_arg_t;

typedef struct {
    int major, minor, patch;
} dnnl_version_t; /* followed by others */

/* A memory descriptor: version 2 fills a struct of the caller, version 3 creates an object. */
typedef union {
    void *object;
    uint64_t of_version_2[87];
} layout;

/* The descriptor of a convolution in version 2. */
typedef struct {
    uint64_t content[747];
} dnnl_convolution_desc_t;

/* The type that functions of both versions take: the address of the struct or the object. */
typedef const void *known_layout;

/* clang-format off */
#define DNNL_FUNCTIONS(X)                                                                          \
    X(version, const dnnl_version_t *, (void))                                                     \
    X(engine_create, dnnl_status_t, (dnnl_engine_t *, int kind, size_t index))                     \
    X(stream_create, dnnl_status_t, (dnnl_stream_t *, dnnl_engine_t, unsigned flags))              \
    X(stream_destroy, dnnl_status_t, (dnnl_stream_t))                                              \
    X(memory_desc_equal, int, (known_layout, known_layout))                                        \
    X(memory_desc_get_size, size_t, (known_layout))                                                \
    X(primitive_attr_create, dnnl_status_t, (dnnl_primitive_attr_t *))                             \
    X(primitive_attr_destroy, dnnl_status_t, (dnnl_primitive_attr_t))                              \
    X(primitive_attr_set_scratchpad_mode, dnnl_status_t, (dnnl_primitive_attr_t, int mode))        \
    X(primitive_desc_destroy, dnnl_status_t, (dnnl_primitive_desc_t))                              \
    X(primitive_desc_query_md, known_layout, (dnnl_primitive_desc_t, dnnl_query_t, int index))     \
    X(primitive_create, dnnl_status_t, (dnnl_primitive_t *, dnnl_primitive_desc_t))                \
    X(primitive_destroy, dnnl_status_t, (dnnl_primitive_t))                                        \
    X(primitive_execute, dnnl_status_t,                                                            \
      (dnnl_primitive_t, dnnl_stream_t, int n, const dnnl_exec_arg_t *))                           \
    X(reorder_primitive_desc_create, dnnl_status_t,                                                \
      (dnnl_primitive_desc_t *, known_layout from, dnnl_engine_t, known_layout to, dnnl_engine_t,  \
       dnnl_primitive_attr_t))                                                                     \
    X(memory_create, dnnl_status_t, (dnnl_memory_t *, known_layout, dnnl_engine_t, void *data))    \
    X(memory_destroy, dnnl_status_t, (dnnl_memory_t))

/* ---- version 2 only ---- */
#define DNNL_FUNCTIONS_2(X)                                                                        \
    X(memory_desc_init_by_tag, dnnl_status_t,                                                      \
      (layout *, int ndims, const dnnl_dims_t, dnnl_data_type_t, dnnl_format_tag_t))               \
    X(memory_desc_init_by_strides, dnnl_status_t,                                                  \
      (layout *, int ndims, const dnnl_dims_t, dnnl_data_type_t, const dnnl_dims_t strides))       \
    X(primitive_desc_create, dnnl_status_t,                                                        \
      (dnnl_primitive_desc_t *, const void *description, dnnl_primitive_attr_t, dnnl_engine_t,     \
       dnnl_primitive_desc_t hint))                                                                \
    X(dilated_convolution_forward_desc_init, dnnl_status_t,                                        \
      (dnnl_convolution_desc_t *, int kind, int algorithm, known_layout x, known_layout w,         \
       known_layout bias, known_layout y, const int64_t *strides, const int64_t *dilates,          \
       const int64_t *low, const int64_t *high))                                                   \
    X(dilated_convolution_backward_data_desc_init, dnnl_status_t,                                  \
      (dnnl_convolution_desc_t *, int algorithm, known_layout x, known_layout w, known_layout y,   \
       const int64_t *strides, const int64_t *dilates, const int64_t *low, const int64_t *high))   \
    X(dilated_convolution_backward_weights_desc_init, dnnl_status_t,                               \
      (dnnl_convolution_desc_t *, int algorithm, known_layout x, known_layout w,                   \
       known_layout bias, known_layout y, const int64_t *strides, const int64_t *dilates,          \
       const int64_t *low, const int64_t *high))

/* ---- version 3 only ---- */
#define DNNL_FUNCTIONS_3(X)                                                                        \
    X(memory_desc_create_with_tag, dnnl_status_t,                                                  \
      (void **, int ndims, const dnnl_dims_t, dnnl_data_type_t, dnnl_format_tag_t))                \
    X(memory_desc_create_with_strides, dnnl_status_t,                                              \
      (void **, int ndims, const dnnl_dims_t, dnnl_data_type_t, const dnnl_dims_t strides))        \
    X(memory_desc_destroy, dnnl_status_t, (void *))                                                \
    X(convolution_forward_primitive_desc_create, dnnl_status_t,                                    \
      (dnnl_primitive_desc_t *, dnnl_engine_t, int kind, int algorithm, known_layout x,            \
       known_layout w, known_layout bias, known_layout y, const int64_t *strides,                  \
       const int64_t *dilates, const int64_t *low, const int64_t *high, dnnl_primitive_attr_t))    \
    X(convolution_backward_data_primitive_desc_create, dnnl_status_t,                              \
      (dnnl_primitive_desc_t *, dnnl_engine_t, int algorithm, known_layout x, known_layout w,      \
       known_layout y, const int64_t *strides, const int64_t *dilates, const int64_t *low,         \
       const int64_t *high, dnnl_primitive_desc_t hint, dnnl_primitive_attr_t))                    \
    X(convolution_backward_weights_primitive_desc_create, dnnl_status_t,                           \
      (dnnl_primitive_desc_t *, dnnl_engine_t, int algorithm, known_layout x, known_layout w,      \
       known_layout bias, known_layout y, const int64_t *strides, const int64_t *dilates,          \
       const int64_t *low, const int64_t *high, dnnl_primitive_desc_t hint,                        \
       dnnl_primitive_attr_t))
/* clang-format on */

#endif
