/* nonzero.cu - coordinates of non-zero elements, in row-major order. Each thread counts the
 * non-zero elements of a short run; a prefix sum of the counts (scan.cu) gives the output offset of
 * each run, and a second kernel writes the coordinates. */
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

enum { BLOCK = 256, RUN = 64 /* elements */ };

struct nonzero_args {
    const char *in;
    lt_dtype dtype;
    lt_offsets<1> offsets;
    int64_t *ends; /* per run: the count; after the scan, its end in the output */
    int64_t *out, out_strides[2];
    int ndim;
    int64_t sizes[LT_MAX_DIMS]; /* outermost first */
};

static __device__ __forceinline__ bool nonzero_at(const nonzero_args &a, int64_t index)
{
    int64_t offset;
    a.offsets.at(index, &offset);
    return lt_load<bool>(a.dtype, a.in + offset);
}

static __global__ void __launch_bounds__(BLOCK) count_runs(nonzero_args a)
{
    const int64_t run = lt_thread_number(), from = run * RUN;
    if (from >= a.offsets.numel) return;
    const int64_t to = from + RUN < a.offsets.numel ? from + RUN : a.offsets.numel;
    int64_t count = 0;
    for (int64_t i = from; i < to; i++) count += nonzero_at(a, i);
    a.ends[run] = count;
}

static __global__ void __launch_bounds__(BLOCK) write_runs(nonzero_args a)
{
    const int64_t run = lt_thread_number(), from = run * RUN;
    if (from >= a.offsets.numel) return;
    const int64_t to = from + RUN < a.offsets.numel ? from + RUN : a.offsets.numel;
    int64_t row = run > 0 ? a.ends[run - 1] : 0;
    for (int64_t i = from; i < to && row < a.ends[run]; i++) {
        if (!nonzero_at(a, i)) continue;
        int64_t *out = a.out + row++ * a.out_strides[0], rest = i;
        for (int d = a.ndim - 1; d >= 0; d--) {
            out[d * a.out_strides[1]] = rest % a.sizes[d];
            rest /= a.sizes[d];
        }
    }
}

static void search_init(nonzero_args *a, const lt_array *in)
{
    const int64_t size = lt_element_size(in->dtype);
    *a = {};
    a->in = static_cast<const char *>(in->data);
    a->dtype = in->dtype;
    a->ndim = in->ndim;
    for (int d = in->ndim - 1; d >= 0; d--) {
        const int64_t stride = in->strides[d] * size;
        a->offsets.add(in->sizes[d], &stride);
        a->sizes[d] = in->sizes[d];
    }
    a->offsets.finish();
}

static int64_t runs_of(const nonzero_args &a) { return (a.offsets.numel + RUN - 1) / RUN; }

/* Computes a->ends. The scratch buffer `ends` owns the memory. */
static lt_status count(nonzero_args *a, lt_cuda_scratch *ends, lt_device device,
                       cudaStream_t stream)
{
    const int64_t runs = runs_of(*a), stride = 1;
    LT_TRY(ends->take(device.index, static_cast<size_t>(runs) * sizeof(int64_t)));
    a->ends = ends->as<int64_t>();
    LT_LAUNCH(count_runs, lt_blocks(runs, BLOCK), BLOCK, stream, *a);
    LT_TRY(lt_cuda_launched(device.index, stream, "nonzero"));
    const lt_array counts = {a->ends, LT_INT64, 1, &runs, &stride, device, 0, NULL};
    return lt_cuda_scan(LT_SCAN_SUM, &counts, &counts, 0);
}

lt_status lt_cuda_nonzero_count(const lt_array *in, int64_t *result)
{
    nonzero_args a;
    lt_cuda_scratch ends;
    cudaStream_t stream;
    int64_t total = 0;
    double seconds;
    search_init(&a, in);
    *result = 0;
    if (a.offsets.numel == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(in->device.index, &stream));
    LT_TRY(count(&a, &ends, in->device, stream));
    LT_TRY(lt_cuda_read(in->device.index, stream, &total, a.ends + runs_of(a) - 1, sizeof total,
                        &seconds));
    *result = total;
    return LT_OK;
}

lt_status lt_cuda_nonzero(const lt_array *in, const lt_array *out)
{
    nonzero_args a;
    lt_cuda_scratch ends;
    cudaStream_t stream;
    search_init(&a, in);
    if (a.offsets.numel == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(in->device.index, &stream));
    LT_TRY(count(&a, &ends, in->device, stream));
    a.out = static_cast<int64_t *>(out->data);
    a.out_strides[0] = out->strides[0];
    a.out_strides[1] = out->strides[1];
    LT_LAUNCH(write_runs, lt_blocks(runs_of(a), BLOCK), BLOCK, stream, a);
    return lt_cuda_launched(in->device.index, stream, "nonzero");
}
