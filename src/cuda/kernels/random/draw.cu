/* draw.cu - distributions with parameters per element (formulas/draws.inc). One thread per element,
 * with its own sequence of Philox counters (philox.cuh), as long as its rejection loop needs.
 * Counterpart of cpu/random/draw.c. */
#include <float.h>

#include "cuda.h"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "philox.cuh"
#include "formulas/stirling.h"

enum { BLOCK = 256 };

namespace {

/* The random numbers of one element; a counter yields two doubles. */
struct element_draws {
    lt_philox philox;
    uint64_t index;
    uint32_t part = 0;
    bool has_second = false, has_normal = false;
    uint64_t second = 0;
    double normal = 0;

    __device__ double next_uniform()
    {
        if (has_second) {
            has_second = false;
            return lt_uniform(second);
        }
        const lt_words r = lt_philox_words(philox, index, part++);
        second = lt_wide(r.w[2], r.w[3]);
        has_second = true;
        return lt_uniform(lt_wide(r.w[0], r.w[1]));
    }

    __device__ double next_normal()
    {
        if (has_normal) {
            has_normal = false;
            return normal;
        }
        double first;
        const lt_words r = lt_philox_words(philox, index, part++);
        lt_normal_pair(lt_wide(r.w[0], r.w[1]), lt_wide(r.w[2], r.w[3]), 0.0, 1.0, &first, &normal);
        has_normal = true;
        return first;
    }
};

#define DRAW_FN    static __device__
#define DRAWS      element_draws
#define UNIFORM(d) (d)->next_uniform()
#define NORMAL(d)  (d)->next_normal()
#define FORMULAS   "formulas/draws.inc"
#include "formulas/floats.h"

template <class T>
__global__ void __launch_bounds__(BLOCK)
    draw_each(lt_draw what, T *out, int64_t n, const T *a, const T *b, lt_philox philox)
{
    const int64_t i = lt_thread_number();
    if (i >= n) return;
    element_draws draws = {philox, (uint64_t)i};
    switch (what) {
    case LT_DRAW_GAMMA: out[i] = lt_draw_gamma(a[i], &draws); break;
    case LT_DRAW_POISSON: out[i] = lt_draw_poisson(a[i], &draws); break;
    case LT_DRAW_BINOMIAL: out[i] = lt_draw_binomial(a[i], b[i], &draws); break;
    }
}

template <class T>
lt_status run(lt_draw what, const lt_array *out, const lt_array *a, const lt_array *b, int64_t n,
              lt_philox philox, cudaStream_t stream)
{
    LT_LAUNCH(draw_each<T>, lt_blocks(n, BLOCK), BLOCK, stream, what, static_cast<T *>(out->data),
              n, static_cast<const T *>(a->data),
              b != nullptr ? static_cast<const T *>(b->data) : nullptr, philox);
    return lt_cuda_launched(out->device.index, stream, "draw");
}

} // namespace

lt_status lt_cuda_draw(lt_draw what, const lt_array *out, const lt_array *a, const lt_array *b,
                       lt_generator *generator)
{
    const int device = out->device.index;
    cudaStream_t stream;
    lt_philox philox = {generator->seed, generator->philox_offset, nullptr};
    int64_t n = 1;
    for (int d = 0; d < out->ndim; d++) n *= out->sizes[d];
    if (n == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(device, &stream));
    LT_TRY(lt_cuda_recording_random(device, generator, &philox.live));
    if (philox.live != nullptr)
        philox = {0, lt_cuda_recording_adopt(n), philox.live};
    else
        generator->philox_offset += (uint64_t)n;
    return out->dtype == LT_FLOAT64 ? run<double>(what, out, a, b, n, philox, stream)
                                    : run<float>(what, out, a, b, n, philox, stream);
}
