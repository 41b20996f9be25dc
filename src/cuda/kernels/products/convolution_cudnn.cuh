/* convolution_cudnn.cuh - shared by the cuDNN convolution files: shapes in cuDNN's terms, and the
 * algorithms of the legacy API (convolution_algorithms.cu). */
#ifndef LT_CUDA_CONVOLUTION_CUDNN_CUH
#define LT_CUDA_CONVOLUTION_CUDNN_CUH

#include <vector>

#include "cuda.h"
#include "libraries/dnn.cuh"

/* Key of the plan cache: everything that selects an algorithm (plans.cuh). */
struct lt_conv_shape {
    int64_t batch, groups, in_channels, out_channels;
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    int32_t part, dtype, device, tf32, deterministic, channels_last;

    /* Whether there are at most two spatial dimensions: the first is trivial. */
    bool flat() const
    {
        return in[0] == 1 && out[0] == 1 && kernel[0] == 1 && padding[0] == 0 && stride[0] == 1;
    }
};

/* Sizes and strides of a dense array, in the order batch, channels, spatial dimensions, for either
 * memory layout. */
struct lt_conv_extents {
    int n;
    int64_t sizes[5], strides[5];
    lt_conv_extents(const lt_conv_shape &s, int64_t first, int64_t second, const int64_t *spatial)
        : n(s.flat() ? 4 : 5)
    {
        int64_t step = 1;
        sizes[0] = first, sizes[1] = second;
        for (int d = 2; d < n; d++) sizes[d] = spatial[d + 3 - n];
        if (s.channels_last) strides[1] = step, step *= sizes[1];
        for (int d = n; d-- > 0;) {
            if (d == 1 && s.channels_last) continue;
            strides[d] = step, step *= sizes[d];
        }
    }
};

struct lt_conv_arrays {
    void *x, *w, *y;
};

class lt_conv_algorithms {
  public:
    lt_conv_algorithms() = default;
    lt_conv_algorithms(const lt_conv_algorithms &) = delete;
    lt_conv_algorithms &operator=(const lt_conv_algorithms &) = delete;
    ~lt_conv_algorithms();
    lt_status make(cudnnHandle_t handle, const lt_conv_shape &s);
    /* Runs the first algorithm that cuDNN accepts and that gets its workspace; *done is set to true
     * if there was one. */
    lt_status run(cudnnHandle_t handle, const lt_conv_shape &s, const lt_conv_arrays &a,
                  bool *done) const;

  private:
    struct algorithm {
        int number;
        size_t memory;
        cudnnMathType_t math;
    };

    lt_status describe(cudnnTensorDescriptor_t *tensor, const lt_conv_shape &s,
                       const lt_conv_extents &extents);
    lt_status describe_weights(const lt_conv_shape &s, const lt_conv_extents &extents);
    lt_status describe_windows(const lt_conv_shape &s);
    lt_status rank(cudnnHandle_t handle, const lt_conv_shape &s);
    template <class Performance>
    lt_status keep(cudnnStatus_t status, const Performance *results, int found,
                   const lt_conv_shape &s);
    cudnnStatus_t call(cudnnHandle_t handle, const lt_conv_shape &s, const algorithm &how,
                       void *work, const lt_conv_arrays &a) const;

    const lt_cudnn *functions = nullptr;
    cudnnTensorDescriptor_t x = nullptr, y = nullptr;
    cudnnFilterDescriptor_t w = nullptr;
    cudnnConvolutionDescriptor_t convolution = nullptr;
    std::vector<algorithm> choices; /* best first */
};

#endif
