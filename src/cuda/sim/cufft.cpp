/* cufft.cpp - cuFFT for simulated GPUs: implements cufft_api.h by mixed-radix Cooley-Tukey
 * transforms in double precision (stand_in.h). Results are not scaled. As in cuFFT, a
 * complex-to-real transform destroys its input; here it becomes NaN. */
#include "libraries/cufft_api.h"
#include "stand_in.h"

#include <cmath>
#include <complex>
#include <limits>
#include <mutex>
#include <string.h>
#include <vector>

using namespace lt_sim;

namespace {

using number = std::complex<double>;

constexpr long long most_length = 1 << 27; /* from NVIDIA's documentation */

struct Plan : LibraryHandle {
    int n = 0; /* 0: make_plan was not called yet */
    int64_t batch = 0;
    cufftType type = CUFFT_C2C;
    bool automatic = true; /* the plan allocates its own work area */
    void *area = nullptr;
    size_t bytes = 0;
};

std::mutex plans_lock;
std::vector<Plan *> plans; /* index: handle - 1 */

Plan *find(cufftHandle handle)
{
    std::lock_guard<std::mutex> lock(plans_lock);
    return handle > 0 && (size_t)handle <= plans.size() ? plans[(size_t)handle - 1] : nullptr;
}

int least_factor(int n)
{
    for (int p = 2; p * p <= n; p++)
        if (n % p == 0) return p;
    return n;
}

/* out[k] = sum over j of in[j * step] * w^(j k), w the n-th root of unity. roots: all powers of the
 * primitive root of order `whole`, a multiple of n. */
void transform(int n, const number *in, int step, number *out, const std::vector<number> &roots)
{
    const int whole = (int)roots.size();
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    const int p = least_factor(n), m = n / p;
    std::vector<number> parts((size_t)n);
    for (int r = 0; r < p; r++) transform(m, in + r * step, step * p, parts.data() + r * m, roots);
    for (int k = 0; k < n; k++) {
        number sum = 0;
        for (int r = 0; r < p; r++)
            sum +=
                parts[(size_t)(r * m + k % m)] * roots[(size_t)((int64_t)r * k % n * (whole / n))];
        out[k] = sum;
    }
}

template <class T> void lines(const Plan &plan, const T *in, T *out, bool inverse)
{
    const int n = plan.n, half = n / 2 + 1;
    const bool to_complex = plan.type == CUFFT_R2C || plan.type == CUFFT_D2Z,
               to_real = plan.type == CUFFT_C2R || plan.type == CUFFT_Z2D;
    const double turn = (inverse || to_real ? 2 : -2) * 3.14159265358979323846 / n;
    std::vector<number> roots((size_t)n), from((size_t)n), to((size_t)n);
    for (int k = 0; k < n; k++) roots[(size_t)k] = {std::cos(turn * k), std::sin(turn * k)};
    for (int64_t line = 0; line < plan.batch; line++) {
        for (int k = 0; k < n; k++) {
            if (to_complex) {
                from[(size_t)k] = (double)in[line * n + k];
            } else if (to_real) {
                const bool mirrored = k >= half;
                const T *z = in + 2 * (line * half + (mirrored ? n - k : k));
                const bool whole = k == 0 || 2 * k == n;
                from[(size_t)k] = {(double)z[0], whole      ? 0
                                                 : mirrored ? -(double)z[1]
                                                            : (double)z[1]};
            } else {
                from[(size_t)k] = {(double)in[2 * (line * n + k)],
                                   (double)in[2 * (line * n + k) + 1]};
            }
        }
        transform(n, from.data(), 1, to.data(), roots);
        for (int k = 0; k < (to_complex ? half : n); k++) {
            if (to_real) {
                out[line * n + k] = (T)to[(size_t)k].real();
                continue;
            }
            T *z = out + 2 * (line * (to_complex ? half : n) + k);
            z[0] = (T)to[(size_t)k].real();
            z[1] = (T)to[(size_t)k].imag();
        }
    }
    if (to_real)
        std::fill(const_cast<T *>(in), const_cast<T *>(in) + 2 * (int64_t)half * plan.batch,
                  std::numeric_limits<T>::quiet_NaN());
}

cufftResult create(cufftHandle *handle)
{
    if (begin_on_device(cudaErrorMemoryAllocation) != cudaSuccess) return CUFFT_ALLOC_FAILED;
    if (handle == nullptr) return CUFFT_INVALID_VALUE;
    Plan *plan = new (std::nothrow) Plan;
    if (plan == nullptr) return CUFFT_ALLOC_FAILED;
    plan->device = current_device();
    std::lock_guard<std::mutex> lock(plans_lock);
    plans.push_back(plan);
    *handle = (int)plans.size();
    return CUFFT_SUCCESS;
}

/* Only allowed before make_plan. */
cufftResult set_auto_allocation(cufftHandle handle, int automatic)
{
    Plan *plan = find(handle);
    if (!usable(plan)) return CUFFT_INVALID_PLAN;
    if (plan->n != 0) return CUFFT_INVALID_VALUE;
    plan->automatic = automatic != 0;
    return CUFFT_SUCCESS;
}

cufftResult make_plan(cufftHandle handle, int rank, long long *n, long long *inembed,
                      long long istride, long long idist, long long *onembed, long long ostride,
                      long long odist, cufftType type, long long batch, size_t *bytes)
{
    if (begin_on_device(cudaErrorMemoryAllocation) != cudaSuccess) return CUFFT_ALLOC_FAILED;
    Plan *plan = find(handle);
    if (!usable(plan) || plan->n != 0) return CUFFT_INVALID_PLAN;
    if (rank != 1 || n == nullptr || *n < 1 || *n > most_length || batch < 1)
        return CUFFT_INVALID_SIZE;
    const long long half = *n / 2 + 1;
    const long long in = type == CUFFT_C2R || type == CUFFT_Z2D ? half : *n,
                    out = type == CUFFT_R2C || type == CUFFT_D2Z ? half : *n;
    if (inembed == nullptr || onembed == nullptr || istride != 1 || ostride != 1 || idist != in ||
        odist != out || bytes == nullptr)
        return CUFFT_INVALID_VALUE;
    if (capturing(current_device())) return CUFFT_SETUP_FAILED;
    plan->n = (int)*n;
    plan->batch = batch;
    plan->type = type;
    /* As in cuFFT: short powers of two need no work area. */
    const bool simple = (*n & (*n - 1)) == 0 && *n <= 4096;
    plan->bytes = *bytes = simple ? 0 : (size_t)(16 * *n);
    return CUFFT_SUCCESS;
}

cufftResult set_work_area(cufftHandle handle, void *area)
{
    Plan *plan = find(handle);
    if (!usable(plan)) return CUFFT_INVALID_PLAN;
    plan->area = area;
    return CUFFT_SUCCESS;
}

/* Synchronizes the device, as freeing its memory does. */
cufftResult destroy(cufftHandle handle)
{
    Plan *plan = find(handle);
    if (plan == nullptr) return CUFFT_INVALID_PLAN;
    if (capturing(plan->device)) return CUFFT_INTERNAL_ERROR;
    sync_device(*device_at(plan->device));
    std::lock_guard<std::mutex> lock(plans_lock);
    plans[(size_t)handle - 1] = nullptr;
    delete plan;
    return CUFFT_SUCCESS;
}

cufftResult set_stream(cufftHandle handle, cudaStream_t stream)
{
    Plan *plan = find(handle);
    if (!usable(plan)) return CUFFT_INVALID_PLAN;
    CUstream_st *found = find_stream(stream);
    if (found == nullptr || found->device->index != plan->device) return CUFFT_INVALID_VALUE;
    plan->stream = stream;
    return CUFFT_SUCCESS;
}

template <class T>
cufftResult execute(cufftHandle handle, cufftType type, T *in, T *out, bool inverse)
{
    if (begin_on_device(cudaErrorUnknown) != cudaSuccess) return CUFFT_INTERNAL_ERROR;
    Plan *plan = find(handle);
    if (!usable(plan) || plan->type != type) return CUFFT_INVALID_PLAN;
    const bool to_complex = type == CUFFT_R2C || type == CUFFT_D2Z,
               to_real = type == CUFFT_C2R || type == CUFFT_Z2D;
    const int64_t n = plan->n, half = n / 2 + 1,
                  numbers_in = plan->batch * (to_complex ? n : 2 * (to_real ? half : n)),
                  numbers_out = plan->batch * (to_real ? n : 2 * (to_complex ? half : n));
    if (!on_device(plan->device, in, numbers_in) || !on_device(plan->device, out, numbers_out))
        return CUFFT_INVALID_VALUE;
    for (const T *p : {in, out}) /* alignment of complex numbers, also for real data */
        if ((uintptr_t)p % (2 * sizeof(T)) != 0) return CUFFT_INVALID_VALUE;
    if (!plan->automatic && plan->bytes > 0 &&
        !on_device(plan->device, static_cast<number *>(plan->area),
                   (int64_t)(plan->bytes / sizeof(number))))
        return CUFFT_EXEC_FAILED;
    const Plan now = *plan;
    const cudaError_t error = queue(plan, "cuFFT", [=](const Uses &uses) {
        /* a replayed graph outlived the plan */
        if (find(handle) == nullptr) return cudaErrorIllegalAddress;
        uses.reads(in, numbers_in).writes(out, numbers_out);
        if (to_real) uses.writes(in, numbers_in);
        if (!now.automatic && now.bytes > 0) {
            uses.writes(static_cast<char *>(now.area), (int64_t)now.bytes);
            memset(now.area, 0xff, now.bytes);
        }
        lines<T>(now, in, out, inverse);
        return cudaSuccess;
    });
    return error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

template <class T, class A> T *as(A *p) { return reinterpret_cast<T *>(p); }

cufftResult c2c(cufftHandle plan, cufftComplex *in, cufftComplex *out, int direction)
{
    return execute(plan, CUFFT_C2C, as<float>(in), as<float>(out), direction == CUFFT_INVERSE);
}
cufftResult r2c(cufftHandle plan, cufftReal *in, cufftComplex *out)
{
    return execute(plan, CUFFT_R2C, in, as<float>(out), false);
}
cufftResult c2r(cufftHandle plan, cufftComplex *in, cufftReal *out)
{
    return execute(plan, CUFFT_C2R, as<float>(in), out, true);
}
cufftResult z2z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out, int direction)
{
    return execute(plan, CUFFT_Z2Z, as<double>(in), as<double>(out), direction == CUFFT_INVERSE);
}
cufftResult d2z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out)
{
    return execute(plan, CUFFT_D2Z, in, as<double>(out), false);
}
cufftResult z2d(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out)
{
    return execute(plan, CUFFT_Z2D, as<double>(in), out, true);
}

} // namespace

lt_status lt_cufft_get(const lt_cufft **table)
{
    static const lt_cufft functions = {create,    set_auto_allocation,
                                       make_plan, set_work_area,
                                       destroy,   set_stream,
                                       c2c,       r2c,
                                       c2r,       z2z,
                                       d2z,       z2d};
    *table = &functions;
    return LT_OK;
}
