/* cudnn_graph_api.h - the graph API of cuDNN 9 as far as convolutions and attention use it
 * (vendor.h), in addition to cudnn_api.h: descriptors of tensors and operations with named
 * attributes, heuristics that rank engines, notes of engines, execution plans. */
#ifndef LT_CUDA_CUDNN_GRAPH_API_H
#define LT_CUDA_CUDNN_GRAPH_API_H

#include "libraries/cudnn_api.h"

#define LT_CUDNN_DESCRIPTORS(X)                                                                    \
    X(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, 1)                                                     \
    X(CUDNN_BACKEND_ENGINE_DESCRIPTOR, 2)                                                          \
    X(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, 3)                                                       \
    X(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, 4)                                                      \
    X(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, 5)                                                  \
    X(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, 10)                                  \
    X(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, 11)                          \
    X(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, 12)                            \
    X(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, 15)                                                 \
    X(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, 16)                                                   \
    X(CUDNN_BACKEND_TENSOR_DESCRIPTOR, 17)                                                         \
    X(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, 41)                                             \
    X(CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR, 43)                                             \
    X(CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR, 44)
#define LT_CUDNN_ATTRIBUTES(X)                                                                     \
    X(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, 100)                                                       \
    X(CUDNN_ATTR_CONVOLUTION_CONV_MODE, 101)                                                       \
    X(CUDNN_ATTR_CONVOLUTION_DILATIONS, 102)                                                       \
    X(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 103)                                                  \
    X(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 104)                                                   \
    X(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 105)                                                    \
    X(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 106)                                                    \
    X(CUDNN_ATTR_ENGINEHEUR_MODE, 200)                                                             \
    X(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, 201)                                                  \
    X(CUDNN_ATTR_ENGINEHEUR_RESULTS, 202)                                                          \
    X(CUDNN_ATTR_ENGINECFG_ENGINE, 300)                                                            \
    X(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, 400)                                                       \
    X(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 401)                                                \
    X(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 402)                                               \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 700)                                         \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 701)                                          \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, 702)                                     \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, 703)                                             \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, 704)                                             \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, 705)                                             \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 706)                                        \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 707)                                         \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, 708)                                    \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, 709)                                            \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, 710)                                           \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, 711)                                           \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 712)                                      \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 713)                                       \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, 714)                                  \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, 715)                                         \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, 716)                                          \
    X(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, 717)                                         \
    X(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, 800)                                                       \
    X(CUDNN_ATTR_OPERATIONGRAPH_OPS, 801)                                                          \
    X(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 900)                                                       \
    X(CUDNN_ATTR_TENSOR_DATA_TYPE, 901)                                                            \
    X(CUDNN_ATTR_TENSOR_DIMENSIONS, 902)                                                           \
    X(CUDNN_ATTR_TENSOR_STRIDES, 903)                                                              \
    X(CUDNN_ATTR_TENSOR_UNIQUE_ID, 906)                                                            \
    X(CUDNN_ATTR_TENSOR_IS_VIRTUAL, 907)                                                           \
    X(CUDNN_ATTR_TENSOR_IS_BY_VALUE, 908)                                                          \
    X(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, 1000)                                                    \
    X(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, 1001)                                                 \
    X(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, 1003)                                                     \
    X(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, 1303)                                                      \
    X(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, 1305)                                                       \
    X(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, 2800)                                                   \
    X(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, 2801)                                                   \
    X(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, 2802)                                                   \
    X(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, 2803)                                                   \
    X(CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, 2804)                                               \
    X(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, 2805)                                               \
    X(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH, 2811)                                                \
    X(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_INPUT_UID, 2812)                                      \
    X(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_OUTPUT_UID, 2813)                                     \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC, 2851)                                                   \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC, 2852)                                                   \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC, 2853)                                                   \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC, 2854)                                                   \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC, 2855)                                               \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC, 2856)                                               \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC, 2859)                                                  \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC, 2860)                                                  \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC, 2861)                                                  \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC, 2862)                                                 \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH, 2867)                                                \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH_INPUT_UID, 2868)                                      \
    X(CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH_OUTPUT_UID, 2869)                                     \
    X(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC, 3000)                                         \
    X(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC, 3005)                                         \
    X(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC, 3006)                                         \
    X(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_COMPARISON_MODE, 3007)
#define LT_CUDNN_ATTRIBUTE_TYPES(X)                                                                \
    X(CUDNN_TYPE_HANDLE, 0)                                                                        \
    X(CUDNN_TYPE_DATA_TYPE, 1)                                                                     \
    X(CUDNN_TYPE_BOOLEAN, 2)                                                                       \
    X(CUDNN_TYPE_INT64, 3)                                                                         \
    X(CUDNN_TYPE_FLOAT, 4)                                                                         \
    X(CUDNN_TYPE_DOUBLE, 5)                                                                        \
    X(CUDNN_TYPE_VOID_PTR, 6)                                                                      \
    X(CUDNN_TYPE_CONVOLUTION_MODE, 7)                                                              \
    X(CUDNN_TYPE_HEUR_MODE, 8)                                                                     \
    X(CUDNN_TYPE_NUMERICAL_NOTE, 11)                                                               \
    X(CUDNN_TYPE_POINTWISE_MODE, 14)                                                               \
    X(CUDNN_TYPE_BACKEND_DESCRIPTOR, 15)                                                           \
    X(CUDNN_TYPE_BEHAVIOR_NOTE, 19)
#define LT_CUDNN_HEURISTICS(X)      X(CUDNN_HEUR_MODE_A, 3)
#define LT_CUDNN_POINTWISE_MODES(X) X(CUDNN_POINTWISE_CMP_GE, 303)
/* Numerical properties of an engine; TENSOR_CORE rounds floats to TF32. */
#define LT_CUDNN_NUMERICAL_NOTES(X)                                                                \
    X(CUDNN_NUMERICAL_NOTE_TENSOR_CORE, 0)                                                         \
    X(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, 1)                                                 \
    X(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, 4)
#define LT_CUDNN_BEHAVIOR_NOTES(X) X(CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION, 0)

#ifndef LT_VENDOR_HEADERS
typedef void *cudnnBackendDescriptor_t;
typedef enum { LT_CUDNN_DESCRIPTORS(LT_ENUM) } cudnnBackendDescriptorType_t;
typedef enum { LT_CUDNN_ATTRIBUTES(LT_ENUM) } cudnnBackendAttributeName_t;
typedef enum { LT_CUDNN_ATTRIBUTE_TYPES(LT_ENUM) } cudnnBackendAttributeType_t;
typedef enum { LT_CUDNN_HEURISTICS(LT_ENUM) } cudnnBackendHeurMode_t;
typedef enum { LT_CUDNN_POINTWISE_MODES(LT_ENUM) } cudnnPointwiseMode_t;
typedef enum { LT_CUDNN_NUMERICAL_NOTES(LT_ENUM) } cudnnBackendNumericalNote_t;
typedef enum { LT_CUDNN_BEHAVIOR_NOTES(LT_ENUM) } cudnnBackendBehaviorNote_t;
#endif

#define LT_CUDNN_GRAPH_FUNCTIONS(X)                                                                \
    X(create, cudnnBackendCreateDescriptor,                                                        \
      (cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t * descriptor))                  \
    X(destroy, cudnnBackendDestroyDescriptor, (cudnnBackendDescriptor_t descriptor))               \
    X(finalize, cudnnBackendFinalize, (cudnnBackendDescriptor_t descriptor))                       \
    X(set, cudnnBackendSetAttribute,                                                               \
      (cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,                      \
       cudnnBackendAttributeType_t type, int64_t count, const void *elements))                     \
    X(get, cudnnBackendGetAttribute,                                                               \
      (cudnnBackendDescriptor_t const descriptor, cudnnBackendAttributeName_t name,                \
       cudnnBackendAttributeType_t type, int64_t asked, int64_t *count, void *elements))           \
    X(execute, cudnnBackendExecute,                                                                \
      (cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack))

struct lt_cudnn_graph {
#define X(field, symbol, arguments) cudnnStatus_t(*field) arguments;
    LT_CUDNN_GRAPH_FUNCTIONS(X)
#undef X
};

/* Returns the table; loads the library at the first call. */
lt_status lt_cudnn_graph_get(const lt_cudnn_graph **table);

#endif
