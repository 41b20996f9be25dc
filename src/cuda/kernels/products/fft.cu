/* fft.cu - Fourier transforms by cuFFT. Each thread caches its plans by shape. A plan's work area
 * is allocated by our allocator per call, so that calls on several streams, and graphs, have
 * separate memory. */
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "libraries/cufft_api.h"
#include "libraries/plans.cuh"

enum { BLOCK = 256 };

static lt_status cufft_error(cufftResult status, const char *call)
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
        if (fft_status_ != CUFFT_SUCCESS) return cufft_error(fft_status_, #call);                  \
    } while (0)

struct fft_shape {
    int64_t n, lines;
    int32_t device, type; /* cufftType */
};

class plan {
  public:
    plan() = default;
    plan(const plan &) = delete;
    plan &operator=(const plan &) = delete;
    ~plan()
    {
        if (made && !recorded) (void)cufft->destroy(handle);
    }
    lt_status make(const fft_shape &s)
    {
        const auto type = static_cast<cufftType>(s.type);
        const bool to_complex = type == CUFFT_R2C || type == CUFFT_D2Z,
                   to_real = type == CUFFT_C2R || type == CUFFT_Z2D;
        const long long half = s.n / 2 + 1;
        long long n = s.n, in = to_real ? half : n, out = to_complex ? half : n;
        LT_TRY(lt_cufft_get(&cufft));
        if (lt_cuda_recording())
            return lt_cuda_core->error(
                LT_ERR_RUNTIME,
                "a Fourier transform of a new length cannot be planned while a graph is "
                "recorded: run it once before");
        TRY_FFT(cufft->create(&handle));
        made = true;
        TRY_FFT(cufft->set_auto_allocation(handle, 0));
        TRY_FFT(cufft->make_plan(handle, 1, &n, &in, 1, in, &out, 1, out, type, s.lines, &bytes));
        return LT_OK;
    }

    const lt_cufft *cufft = nullptr;
    cufftHandle handle = 0;
    size_t bytes = 0;      /* of its work area */
    bool recorded = false; /* a captured graph may outlive it: never destroyed */

  private:
    bool made = false;
};

template <class T>
static __global__ void __launch_bounds__(BLOCK) scale_all(T *data, int64_t n, T factor)
{
    constexpr int N = 16 / sizeof(T);
    const int64_t first = lt_thread_number() * N;
    if (first + N <= n) {
        auto *const place = reinterpret_cast<lt_vector<T, N> *>(data + first);
        lt_vector<T, N> v = *place;
        LT_UNROLLED
        for (int i = 0; i < N; i++) v.v[i] *= factor;
        *place = v;
    } else {
        for (int64_t i = first; i < n; i++) data[i] *= factor;
    }
}

template <class T> static void scale(const lt_fft *f, cudaStream_t stream)
{
    const int64_t of_line = f->kind == LT_FFT_TO_REAL   ? f->n
                            : f->kind == LT_FFT_COMPLEX ? 2 * f->n
                                                        : 2 * (f->n / 2 + 1);
    const int64_t numbers = f->lines * of_line;
    LT_LAUNCH(scale_all<T>, lt_blocks(numbers, BLOCK * (16 / sizeof(T))), BLOCK, stream,
              static_cast<T *>(f->out), numbers, static_cast<T>(f->scale));
}

/* in: f's input, or an aligned copy of it. */
static lt_status run_cufft(const lt_cufft *cufft, cufftHandle plan, const lt_fft *f, void *in)
{
    const int direction = f->inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
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
    static thread_local lt_cuda_plans<fft_shape, plan> known;
    const int device = f->device.index;
    const fft_shape s = {f->n, f->lines, device, types[f->dtype == LT_FLOAT64][f->kind]};
    const size_t complex = 2 * lt_element_size(f->dtype);
    void *in = const_cast<void *>(f->in);
    plan *p = nullptr;
    cudaStream_t stream;
    lt_cuda_scratch area, aligned;
    LT_TRY(lt_cuda_enter(device, &stream));
    LT_TRY(known.find(
        s, [&](plan *fresh) { return fresh->make(s); }, &p));
    if (reinterpret_cast<uintptr_t>(in) % complex != 0) { /* cuFFT reads real numbers in pairs */
        const size_t bytes = static_cast<size_t>(f->lines * f->n) * (complex / 2);
        LT_TRY(aligned.take(device, bytes));
        CUDA_TRY(cudaMemcpyAsync(aligned.as<void>(), in, bytes, cudaMemcpyDeviceToDevice, stream));
        in = aligned.as<void>();
    }
    if (p->bytes > 0) LT_TRY(area.take(device, p->bytes));
    p->recorded |= lt_cuda_recording();
    TRY_FFT(p->cufft->set_stream(p->handle, stream));
    TRY_FFT(p->cufft->set_work_area(p->handle, area.as<void>()));
    LT_TRY(run_cufft(p->cufft, p->handle, f, in));
    if (f->scale != 1) f->dtype == LT_FLOAT32 ? scale<float>(f, stream) : scale<double>(f, stream);
    return lt_cuda_launched(device, stream, "fft");
}
