/* convolution.h - cuDNN's convolutions for simulated GPUs, used by both of its APIs: the legacy
 * calls (cudnn.cpp) and graphs (convolution_graph.cpp). im2col and matrix products of OpenBLAS;
 * half types are converted to float and rounded once at the end. */
#ifndef LT_SIM_CUDNN_CONVOLUTION_H
#define LT_SIM_CUDNN_CONVOLUTION_H

#include "cudnn.h"

struct cudnnFilterStruct {
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
    int n = 0;
    int sizes[5];
};
struct cudnnConvolutionStruct {
    int n = 0;
    int padding[3], stride[3], dilation[3];
    int groups = 1;
    cudnnConvolutionMode_t mode;
    cudnnDataType_t compute;
    cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace lt_sim {

constexpr size_t workspace_bytes = 2048; /* of algorithms and engines that use one */

enum Part { FORWARD, DATA, FILTER };

/* Rounding of float inputs: to TF32 on tensor cores, to half in an engine that converts its inputs.
 */
enum class Rounding { none, tf32, half };

/* The convolution that the three descriptors define. */
struct Geometry {
    int n, images, groups, inputs, outputs; /* channels per group */
    int in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
    int stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};
    cudnnDataType_t type;
    Rounding rounding = Rounding::none;
    bool channels_last; /* of x, w and y */

    static int64_t volume(const int *v) { return (int64_t)v[0] * v[1] * v[2]; }
    int64_t depth() const { return inputs * volume(kernel); }
    int64_t count_x() const { return (int64_t)images * groups * inputs * volume(in); }
    int64_t count_y() const { return (int64_t)images * groups * outputs * volume(out); }
    int64_t count_w() const { return (int64_t)groups * outputs * depth(); }
};

/* Computes the geometry; an error if the descriptors do not match or cuDNN does not support their
 * layout. */
cudnnStatus_t relate(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                     cudnnConvolutionDescriptor_t c, cudnnTensorDescriptor_t y, Geometry *g);

/* Operands of a call, and a workspace that it may write. */
struct Operands {
    const void *x, *w, *y;
    char *workspace;
    int64_t workspace_bytes;
};

/* Checks the addresses and queues the work item on the handle's stream. */
cudnnStatus_t queue_convolution(cudnnHandle_t handle, Part part, const Geometry &g,
                                const Operands &o, double alpha, double beta);

} // namespace lt_sim

#endif
