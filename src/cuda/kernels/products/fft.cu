/* fft.cu - Fourier transforms on a GPU, by cuFFT. Plans are kept for the next call of the same kind, as many as PLANS; one runs at a
 * time, since a plan has one stream and one piece of memory to work in. */
#include <limits.h>
#include <list>
#include <mutex>

#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "libraries/cufft_api.h"

enum { PLANS = 32, BLOCK = 256 };

struct plan_key {
    int device, n, batch;
    cufftType type;
    bool operator==(const plan_key &o) const
    {
        return device == o.device && n == o.n && batch == o.batch && type == o.type;
    }
};
struct kept_plan {
    plan_key key;
    cufftHandle handle = 0;
};

static std::mutex &plans_lock = *new std::mutex;
static std::list<kept_plan> &plans = *new std::list<kept_plan>; /* those used last first */

static lt_status failed(cufftResult status, const char *call)
{
    const auto name = [status] {
        switch (status) {
            LT_CUFFT_STATUSES(LT_NAME_CASE)
        }
        return "CUFFT_STATUS_UNKNOWN";
    };
    const cudaError_t behind = cudaGetLastError();
    if (behind != cudaSuccess) return lt_cuda_failed(behind, call);
    return lt_cuda_core->error(LT_ERR_DEVICE, "cuFFT error: %s, when calling `%s`", name(), call);
}
#define TRY_FFT(call)                                                                              \
    do {                                                                                           \
        const cufftResult fft_status_ = (call);                                                    \
        if (fft_status_ != CUFFT_SUCCESS) return failed(fft_status_, #call);                       \
    } while (0)

/* The lock is held. */
static lt_status take_plan(const lt_cufft *cufft, const plan_key &key, cufftHandle *out)
{
    for (auto p = plans.begin(); p != plans.end(); ++p) {
        if (!(p->key == key)) continue;
        plans.splice(plans.begin(), plans, p);
        *out = p->handle;
        return LT_OK;
    }
    if (lt_cuda_recording())
        return lt_cuda_core->error(
            LT_ERR_RUNTIME,
            "a Fourier transform of a new length cannot be planned while a graph is "
            "recorded: run it once before");
    const bool to_complex = key.type == CUFFT_R2C || key.type == CUFFT_D2Z,
               to_real = key.type == CUFFT_C2R || key.type == CUFFT_Z2D;
    const int half = key.n / 2 + 1;
    int n = key.n, in = to_real ? half : n, out_size = to_complex ? half : n;
    cufftHandle handle = 0;
    TRY_FFT(
        cufft->plan_many(&handle, 1, &n, &in, 1, in, &out_size, 1, out_size, key.type, key.batch));
    if (plans.size() == PLANS) {
        cufft->destroy(plans.back().handle);
        plans.pop_back();
    }
    plans.push_front({key, handle});
    *out = handle;
    return LT_OK;
}

template <class T>
static __global__ void __launch_bounds__(BLOCK) scale_all(T *data, int64_t n, T factor)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (i < n) data[i] *= factor;
}

static lt_status run(const lt_cufft *cufft, cufftHandle plan, const lt_fft *f)
{
    const int direction = f->inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    void *in = const_cast<void *>(f->in);
    if (f->dtype == LT_FLOAT32) {
        const auto from = static_cast<cufftComplex *>(in), to = static_cast<cufftComplex *>(f->out);
        if (f->kind == LT_FFT_COMPLEX)
            TRY_FFT(cufft->c2c(plan, from, to, direction));
        else if (f->kind == LT_FFT_TO_COMPLEX)
            TRY_FFT(cufft->r2c(plan, static_cast<cufftReal *>(in), to));
        else
            TRY_FFT(cufft->c2r(plan, from, static_cast<cufftReal *>(f->out)));
        return LT_OK;
    }
    const auto from = static_cast<cufftDoubleComplex *>(in),
               to = static_cast<cufftDoubleComplex *>(f->out);
    if (f->kind == LT_FFT_COMPLEX)
        TRY_FFT(cufft->z2z(plan, from, to, direction));
    else if (f->kind == LT_FFT_TO_COMPLEX)
        TRY_FFT(cufft->d2z(plan, static_cast<cufftDoubleReal *>(in), to));
    else
        TRY_FFT(cufft->z2d(plan, from, static_cast<cufftDoubleReal *>(f->out)));
    return LT_OK;
}

lt_status lt_cuda_fft(const lt_fft *f)
{
    static const cufftType types[][3] = {{CUFFT_C2C, CUFFT_R2C, CUFFT_C2R},
                                         {CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D}};
    const lt_cufft *cufft;
    cudaStream_t stream;
    if (f->n > INT_MAX / 2 || f->lines > INT_MAX / 2)
        return lt_cuda_core->error(
            LT_ERR_RUNTIME,
            "a Fourier transform on a GPU is of at most 2^30 lines of 2^30 elements");
    LT_TRY(lt_cuda_enter(f->device.index, &stream));
    LT_TRY(lt_cufft_get(&cufft));
    const plan_key key = {f->device.index, static_cast<int>(f->n), static_cast<int>(f->lines),
                          types[f->dtype == LT_FLOAT64][f->kind]};
    {
        std::lock_guard<std::mutex> lock(plans_lock);
        cufftHandle plan = 0;
        LT_TRY(take_plan(cufft, key, &plan));
        TRY_FFT(cufft->set_stream(plan, stream));
        LT_TRY(run(cufft, plan, f));
    }
    const int64_t numbers =
        f->lines *
        (f->kind == LT_FFT_TO_REAL ? f->n : 2 * (f->kind == LT_FFT_COMPLEX ? f->n : f->n / 2 + 1));
    if (f->scale != 1 && f->dtype == LT_FLOAT32)
        LT_LAUNCH(scale_all<float>, lt_blocks(numbers, BLOCK), BLOCK, stream,
                  static_cast<float *>(f->out), numbers, static_cast<float>(f->scale));
    else if (f->scale != 1)
        LT_LAUNCH(scale_all<double>, lt_blocks(numbers, BLOCK), BLOCK, stream,
                  static_cast<double *>(f->out), numbers, f->scale);
    return lt_cuda_launched(f->device.index, stream, "fft");
}
