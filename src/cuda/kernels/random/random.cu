/* random.cu - distributions from counter-based random bits (philox.cuh), with PyTorch's transforms.
 *
 * One counter yields 128 bits: four elements of 32 bits or two of 64. So element i depends only on
 * the seed, the generator's offset and i, not on the grid. A call advances the generator by the
 * number of counters that it used. Floating dtypes other than double are computed in float. */
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "philox.cuh"

enum { BLOCK = 256 };

namespace {

/* ---- transforms: 128 bits to `count` elements of type `type` --------------------------------- */

struct uniform_float {
    using type = float;
    static constexpr int count = 4;
    lt_dtype dtype;
    float from, to, range;

    __device__ void operator()(lt_words r, float *x) const
    {
        for (int i = 0; i < 4; i++) {
            float v = lt_rounded_float(dtype, __fmaf_rn(lt_uniform(r.w[i]), range, from));
            x[i] = v >= to ? from : v; /* rounding may reach the excluded upper bound */
        }
    }
};

struct uniform_double {
    using type = double;
    static constexpr int count = 2;
    double from, to, range;

    __device__ void operator()(lt_words r, double *x) const
    {
        for (int i = 0; i < 2; i++) {
            double v =
                __dadd_rn(__dmul_rn(lt_uniform(lt_wide(r.w[2 * i], r.w[2 * i + 1])), range), from);
            x[i] = v >= to ? from : v;
        }
    }
};

struct normal_float {
    using type = float;
    static constexpr int count = 4;
    float mean, deviation;

    __device__ void operator()(lt_words r, float *x) const
    {
        lt_normal_pair(r.w[0], r.w[1], mean, deviation, &x[0], &x[1]);
        lt_normal_pair(r.w[2], r.w[3], mean, deviation, &x[2], &x[3]);
    }
};

struct normal_double {
    using type = double;
    static constexpr int count = 2;
    double mean, deviation;

    __device__ void operator()(lt_words r, double *x) const
    {
        lt_normal_pair(lt_wide(r.w[0], r.w[1]), lt_wide(r.w[2], r.w[3]), mean, deviation, &x[0],
                       &x[1]);
    }
};

/* Never 0. */
struct exponential_float {
    using type = float;
    static constexpr int count = 4;
    float rate;

    __device__ void operator()(lt_words r, float *x) const
    {
        for (int i = 0; i < 4; i++)
            x[i] = __fdiv_rn(0.5f * lt_minus_two_log(lt_positive(r.w[i])), rate);
    }
};

/* For u = 1 the result would be 0; -log(1 - 2^-53), about 2^-53, replaces it. */
struct exponential_double {
    using type = double;
    static constexpr int count = 2;
    double rate;

    __device__ void operator()(lt_words r, double *x) const
    {
        for (int i = 0; i < 2; i++) {
            double u = lt_positive(lt_wide(r.w[2 * i], r.w[2 * i + 1]));
            x[i] = (u >= 1.0 ? 0x1p-53 : 0.5 * lt_minus_two_log(u)) / rate;
        }
    }
};

struct integers_32 {
    using type = int64_t;
    static constexpr int count = 4;
    uint64_t base;
    uint32_t range;

    __device__ void operator()(lt_words r, int64_t *x) const
    {
        for (int i = 0; i < 4; i++) x[i] = (int64_t)(base + r.w[i] % range);
    }
};

struct integers_64 {
    using type = int64_t;
    static constexpr int count = 2;
    uint64_t base, range; /* range 0: 2^64 */

    __device__ void operator()(lt_words r, int64_t *x) const
    {
        for (int i = 0; i < 2; i++) {
            uint64_t bits = lt_wide(r.w[2 * i], r.w[2 * i + 1]);
            x[i] = (int64_t)(base + (range == 0 ? bits : bits % range));
        }
    }
};

struct bernoulli {
    using type = int64_t;
    static constexpr int count = 4;
    double probability;

    __device__ void operator()(lt_words r, int64_t *x) const
    {
        for (int i = 0; i < 4; i++) x[i] = (double)r.w[i] * 0x1p-32 < probability;
    }
};

/* ---- several counters per thread ------------------------------------------------------------- */

enum { COUNTERS = 4 };

/* Stores a thread's elements. Its counters are BLOCK apart, so that adjacent threads store adjacent
 * elements. */
template <class S, class C, int N>
__device__ __forceinline__ void store_drawn(char *data, int64_t first, int64_t n,
                                            const C (*values)[N], bool aligned)
{
    S *const out = reinterpret_cast<S *>(data) + first;
    const int64_t left = n - first;
    if (aligned && left >= (COUNTERS - 1) * BLOCK * N + N) {
        LT_UNROLLED
        for (int b = 0; b < COUNTERS; b++)
            lt_store_row_as<S, C, N>(out + b * BLOCK * N, values[b], N, true);
        return;
    }
    LT_UNROLLED
    for (int b = 0; b < COUNTERS; b++) {
        const int at = b * BLOCK * N;
        if (at >= left) return;
        lt_store_row_as<S, C, N>(out + at, values[b],
                                 left - at < N ? static_cast<int>(left - at) : N, aligned);
    }
}

template <class Draw>
__global__ void __launch_bounds__(BLOCK)
    draw(char *data, lt_dtype dtype, bool aligned, int64_t n, lt_philox philox, Draw f)
{
    using C = typename Draw::type;
    constexpr int N = Draw::count;
    const int64_t counter = static_cast<int64_t>(blockIdx.x) * (COUNTERS * BLOCK) + threadIdx.x,
                  first = counter * N;
    if (first >= n) return;
    const lt_philox now = lt_philox_now(philox);
    C values[COUNTERS][N];
    LT_UNROLLED
    for (int b = 0; b < COUNTERS; b++)
        f(lt_philox_words(now, static_cast<uint64_t>(counter + b * BLOCK)), values[b]);
#define STORE(S) store_drawn<S, C, N>(data, first, n, values, aligned)
    if constexpr (std::is_same_v<C, double>) {
        STORE(double);
    } else if constexpr (std::is_same_v<C, float>) {
        if (dtype == LT_FLOAT32)
            STORE(float);
        else if (dtype == LT_FLOAT16)
            STORE(__half);
        else
            STORE(__nv_bfloat16);
    } else {
        switch (dtype) {
        case LT_BOOL: STORE(bool); break;
        case LT_UINT8: STORE(uint8_t); break;
        case LT_INT8: STORE(int8_t); break;
        case LT_INT16: STORE(int16_t); break;
        case LT_INT32: STORE(int32_t); break;
        case LT_INT64: STORE(int64_t); break;
        case LT_FLOAT16: STORE(__half); break;
        case LT_BFLOAT16: STORE(__nv_bfloat16); break;
        case LT_FLOAT32: STORE(float); break;
        default: STORE(double); break;
        }
    }
#undef STORE
}

/* The output, its stream and the source of its random bits. */
struct random_job {
    char *data;
    lt_dtype dtype;
    int64_t n;
    int device;
    cudaStream_t stream;
    lt_generator *generator;
    const uint64_t *live; /* of the graph being captured; else null */

    lt_philox take(int64_t blocks)
    {
        if (live != nullptr) return {0, lt_cuda_recording_adopt(blocks), live};
        lt_philox p = {generator->seed, generator->philox_offset, nullptr};
        generator->philox_offset += (uint64_t)blocks;
        return p;
    }
};

template <class Draw> lt_status run(random_job &j, Draw f)
{
    const int64_t blocks = (j.n + Draw::count - 1) / Draw::count;
    LT_LAUNCH(draw<Draw>, lt_blocks(blocks, BLOCK * COUNTERS), BLOCK, j.stream, j.data, j.dtype,
              lt_is_aligned(j.data), j.n, j.take(blocks), f);
    return lt_cuda_launched(j.device, j.stream, "random");
}

lt_status run_integers(random_job &j, uint64_t base, uint64_t range)
{
    /* With 32 bits, the bias towards small numbers would be noticeable for larger ranges. */
    if (range >> 28 != 0 || range == 0) return run(j, integers_64{base, range});
    return run(j, integers_32{base, (uint32_t)range});
}

lt_status full_range(random_job &j)
{
    /* Integers: 0 to the maximum; floats: the non-negative integers that they represent exactly. */
    static const int8_t bits[LT_DTYPE_COUNT] = {1, 8, 7, 15, 31, 63, 11, 8, 24, 53};
    return run_integers(j, 0, ((uint64_t)1 << bits[j.dtype]) + (lt_is_floating(j.dtype) ? 1 : 0));
}

/* ---- permutations ---------------------------------------------------------------------------- */

constexpr int64_t sorted_limit = 4096;

/* The rank of key i among all random keys, by comparing all of them, is i's position. */
__global__ void __launch_bounds__(BLOCK) permute_by_rank(int64_t *out, int n, const uint64_t *keys)
{
    const int i = (int)lt_thread_number();
    if (i >= n) return;
    const uint64_t key = keys[i];
    int rank = 0;
    for (int k = 0; k < n; k++) rank += keys[k] < key || (keys[k] == key && k < i);
    out[rank] = i;
}

__global__ void __launch_bounds__(BLOCK) make_keys(uint64_t *keys, int n, lt_philox philox)
{
    const int i = (int)lt_thread_number();
    if (i >= n) return;
    const lt_words r = lt_philox_words(philox, (uint64_t)i);
    keys[i] = lt_wide(r.w[0], r.w[1]);
}

constexpr int rounds = 12;
struct round_keys {
    lt_words k[rounds / 4];
};

/* Mixes all bits of x by invertible multiplications and shifts. */
__device__ __forceinline__ uint32_t mixed(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* Random permutation by a keyed bijection of the numbers below 4^half_bits (Feistel network),
 * repeated until the result is below n (cycle walking). */
__global__ void __launch_bounds__(BLOCK)
    permute_by_cipher(int64_t *out, int64_t n, int half_bits, lt_philox philox)
{
    const int64_t i = lt_thread_number();
    if (i >= n) return;
    round_keys keys;
    for (int k = 0; k < rounds / 4; k++) keys.k[k] = lt_philox_words(philox, (uint64_t)k);
    const uint64_t mask = ((uint64_t)1 << half_bits) - 1;
    uint64_t x = (uint64_t)i;
    do {
        uint64_t left = x >> half_bits, right = x & mask;
        for (int k = 0; k < rounds; k++) {
            const uint64_t next = left ^ (mixed((uint32_t)right ^ keys.k[k / 4].w[k % 4]) & mask);
            left = right;
            right = next;
        }
        x = left << half_bits | right;
    } while (x >= (uint64_t)n);
    out[i] = (int64_t)x;
}

lt_status permutation(random_job &j)
{
    int64_t *const out = reinterpret_cast<int64_t *>(j.data);
    const unsigned blocks = lt_blocks(j.n, BLOCK);
    if (j.n <= sorted_limit) {
        lt_cuda_scratch scratch;
        LT_TRY(scratch.take(j.device, (size_t)j.n * sizeof(uint64_t)));
        uint64_t *const keys = scratch.as<uint64_t>();
        LT_LAUNCH(make_keys, blocks, BLOCK, j.stream, keys, (int)j.n, j.take(j.n));
        LT_LAUNCH(permute_by_rank, blocks, BLOCK, j.stream, out, (int)j.n, keys);
        return lt_cuda_launched(j.device, j.stream, "randperm");
    }
    int half_bits = 1;
    while ((int64_t)1 << 2 * half_bits < j.n) half_bits++;
    LT_LAUNCH(permute_by_cipher, blocks, BLOCK, j.stream, out, j.n, half_bits, j.take(rounds / 4));
    return lt_cuda_launched(j.device, j.stream, "randperm");
}

bool supports(lt_distribution what, lt_dtype dtype)
{
    switch (what) {
    case LT_RANDOM_UNIFORM:
    case LT_RANDOM_NORMAL:
    case LT_RANDOM_NORMAL_SINGLY:
    case LT_RANDOM_EXPONENTIAL: return lt_is_floating(dtype);
    case LT_RANDOM_PERMUTATION: return dtype == LT_INT64;
    default: return true;
    }
}

const char *name_of(lt_distribution what)
{
    switch (what) {
    case LT_RANDOM_UNIFORM: return "uniform";
    case LT_RANDOM_NORMAL:
    case LT_RANDOM_NORMAL_SINGLY: return "normal";
    case LT_RANDOM_BERNOULLI: return "bernoulli";
    case LT_RANDOM_EXPONENTIAL: return "exponential";
    case LT_RANDOM_PERMUTATION: return "randperm";
    default: return "random";
    }
}

} // namespace

lt_status lt_cuda_random(lt_distribution what, const lt_array *out, lt_scalar from, lt_scalar to,
                         lt_generator *generator)
{
    const double a = from.kind == LT_SCALAR_FLOAT ? from.v.d : (double)from.v.i,
                 b = to.kind == LT_SCALAR_FLOAT ? to.v.d : (double)to.v.i;
    if (!supports(what, out->dtype)) return lt_cuda_unsupported(name_of(what), out->dtype);
    random_job j = {static_cast<char *>(out->data),
                    out->dtype,
                    1,
                    out->device.index,
                    nullptr,
                    generator,
                    nullptr};
    for (int d = 0; d < out->ndim; d++) j.n *= out->sizes[d];
    if (j.n == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(j.device, &j.stream));
    LT_TRY(lt_cuda_recording_random(j.device, generator, &j.live));
    const bool wide = out->dtype == LT_FLOAT64;
    switch (what) {
    case LT_RANDOM_UNIFORM: {
        if (wide) return run(j, uniform_double{a, b, b - a});
        const float low = lt_rounded<float>(out->dtype, (float)a),
                    high = lt_rounded<float>(out->dtype, (float)b);
        return run(j, uniform_float{out->dtype, low, high, high - low});
    }
    case LT_RANDOM_NORMAL:
    case LT_RANDOM_NORMAL_SINGLY:
        return wide ? run(j, normal_double{a, b}) : run(j, normal_float{(float)a, (float)b});
    case LT_RANDOM_EXPONENTIAL:
        return wide ? run(j, exponential_double{a}) : run(j, exponential_float{(float)a});
    case LT_RANDOM_INTEGERS:
        return run_integers(j, (uint64_t)from.v.i, (uint64_t)to.v.i - (uint64_t)from.v.i);
    case LT_RANDOM_FULL_RANGE: return full_range(j);
    case LT_RANDOM_BERNOULLI: return run(j, bernoulli{a});
    case LT_RANDOM_PERMUTATION: return permutation(j);
    }
    return LT_OK;
}
