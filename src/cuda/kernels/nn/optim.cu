/* optim.cu - optimizer steps: one kernel for the elements of many parameters. Their addresses are
 * kernel arguments, so their number per launch is limited: 4 KB of arguments with any toolkit
 * (enough for small models), 32764 bytes from CUDA 12.1 on (enough for nearly all). A block has RUN
 * elements of one parameter. */
#include "cuda.h"
#include "formulas/optim.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"

enum { BLOCK = 256, ITEMS = 4, RUN = BLOCK * ITEMS, FEW = 48 };
#if CUDART_VERSION < 12010
enum { MANY = FEW };
#else
enum { MANY = 512 };
#endif

template <class C, int MOST> struct optim_parameters {
    char *data[MOST][LT_OPTIM_ARRAYS];
    int64_t numel[MOST];
    bool aligned[MOST];
    int32_t first[MOST + 1]; /* first block of each parameter; last entry: number of blocks */
    int32_t n;
    int32_t loads; /* arrays to load: uninitialized momentum is not, in the first step */
    lt_dtype dtype;
    C numbers[LT_OPTIM_NUMBERS];
};

/* ---- rules as types -------------------------------------------------------------------------- */

#define STATE_2
#define STATE_3 , x + 2
#define STATE_4 , x + 2, x + 3
#define STATE_5 , x + 2, x + 3, x + 4
#define RULE(name, NAME, count)                                                                    \
    struct name##_rule {                                                                           \
        static constexpr int arrays = count;                                                       \
        template <class C> static __device__ __forceinline__ void launch_optim(C *x, const C *p)   \
        {                                                                                          \
            lt_optim_##name(x, x[1] STATE_##count, p);                                             \
        }                                                                                          \
    };
LT_OPTIM_RULES(RULE)
#undef RULE

template <class Rule, class C, int MOST>
static __global__ void __launch_bounds__(BLOCK)
    optimize(const __grid_constant__ optim_parameters<C, MOST> a)
{
    const int32_t block = static_cast<int32_t>(blockIdx.x);
    int low = 0, high = a.n;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (a.first[middle] <= block)
            low = middle;
        else
            high = middle;
    }
    const int64_t from = static_cast<int64_t>(block - a.first[low]) * RUN + threadIdx.x * ITEMS,
                  left = a.numel[low] - from;
    if (left <= 0) return;
    const int n = left < ITEMS ? static_cast<int>(left) : ITEMS;
    const int64_t at = from * lt_element_size(a.dtype);
    C x[ITEMS][LT_OPTIM_ARRAYS];
    LT_UNROLLED
    for (int k = 0; k < Rule::arrays; k++) {
        C values[ITEMS] = {};
        if (k < a.loads)
            lt_load_float_row<C, ITEMS>(a.dtype, a.data[low][k] + at, values, n, a.aligned[low]);
        for (int i = 0; i < ITEMS; i++) x[i][k] = values[i];
    }
    for (int i = 0; i < ITEMS; i++) Rule::launch_optim(x[i], a.numbers);
    LT_UNROLLED
    for (int k = 0; k < Rule::arrays; k++) {
        if (k == 1) continue;
        C values[ITEMS];
        for (int i = 0; i < ITEMS; i++) values[i] = x[i][k];
        lt_store_float_row<C, ITEMS>(a.dtype, a.data[low][k] + at, values, n, a.aligned[low]);
    }
}

template <class C, int MOST>
static void launch_optim_rule(lt_optim_rule rule, const optim_parameters<C, MOST> &a,
                              cudaStream_t stream)
{
    const unsigned blocks = static_cast<unsigned>(a.first[a.n]);
    switch (rule) {
#define CASE(name, NAME, count)                                                                    \
    case LT_OPTIM_##NAME:                                                                          \
        LT_LAUNCH((optimize<name##_rule, C, MOST>), blocks, BLOCK, stream, a);                     \
        break;
        LT_OPTIM_RULES(CASE)
#undef CASE
    default: break;
    }
}

template <class C, int MOST> static lt_status launch_optim(const lt_optim *o, cudaStream_t stream)
{
    optim_parameters<C, MOST> a;
    static_assert(sizeof a <= (MOST == FEW ? 4096 : 32764), "the arguments of a launch");
    a.dtype = o->dtype;
    const bool first = o->rule == LT_OPTIM_SGD_MOMENTUM && o->numbers[6] != 0;
    a.loads = first ? 2 : o->arrays;
    for (int i = 0; i < LT_OPTIM_NUMBERS; i++) a.numbers[i] = static_cast<C>(o->numbers[i]);
    for (int64_t next = 0; next < o->n;) {
        int64_t blocks = 0;
        a.n = 0;
        for (; next < o->n && a.n < MOST; next++, a.n++) {
            const int64_t more = (o->numel[next] + RUN - 1) / RUN;
            if (a.n > 0 && blocks + more > INT32_MAX) break;
            a.aligned[a.n] = true;
            for (int k = 0; k < o->arrays; k++) {
                a.data[a.n][k] = static_cast<char *>(o->data[next * o->arrays + k]);
                if (!lt_is_aligned(a.data[a.n][k])) a.aligned[a.n] = false;
            }
            a.numel[a.n] = o->numel[next];
            a.first[a.n] = static_cast<int32_t>(blocks);
            blocks += more;
        }
        a.first[a.n] = static_cast<int32_t>(blocks);
        launch_optim_rule<C, MOST>(o->rule, a, stream);
        LT_TRY(lt_cuda_launched(o->device.index, stream, "optimize"));
    }
    return LT_OK;
}

lt_status lt_cuda_optimize(const lt_optim *o)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(o->device.index, &stream));
    if (o->dtype == LT_FLOAT64)
        return o->n <= FEW ? launch_optim<double, FEW>(o, stream)
                           : launch_optim<double, MANY>(o, stream);
    return o->n <= FEW ? launch_optim<float, FEW>(o, stream) : launch_optim<float, MANY>(o, stream);
}
