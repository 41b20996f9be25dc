/* attention.cu - selects the implementation of attention: cuDNN (attention_cudnn.cu); else the
 * fused kernels, which keep scores in registers, if heads are at most 256 wide (64 for float64) and
 * the GPU has enough shared memory and, for bfloat16, tensor cores; else attention_buffered.cu. */
#include <atomic>
#include <math.h>

#include "attention.cuh"
#include "attention_cudnn.cuh"

/* Cached device attributes: shared memory per block (opt-in, bytes) and major compute capability;
 * 0: not queried yet. */
static std::atomic<int> shared_memory[LT_CUDA_MAX_DEVICES], capability[LT_CUDA_MAX_DEVICES];

static lt_status query_shared_memory(int device)
{
    int bytes = 0, major = 0;
    if (shared_memory[device].load(std::memory_order_acquire) != 0) return LT_OK;
    CUDA_TRY(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    capability[device].store(major, std::memory_order_relaxed);
    shared_memory[device].store(bytes, std::memory_order_release);
    return LT_OK;
}

/* Whether the fused kernels support the call, apart from shared memory: their indices within a head
 * are 32 bits. */
static bool kernel_fits(const lt_attention *a)
{
    const int64_t limit = LT_INDEX_LIMIT > 4096 ? LT_INDEX_LIMIT - 4096 : 0;
    return a->queries < limit && a->keys < limit &&
           (a->width > a->value_width ? a->width : a->value_width) <=
               lt_attention_widest(a->dtype) &&
           (a->dtype != LT_BFLOAT16 || capability[a->device.index] >= 8);
}

/* An empty struct if the tensor is absent. */
static lt_attention_rows attention_rows_of(const lt_array &t, lt_dtype dtype)
{
    if (t.data == nullptr) return {};
    lt_attention_rows r = {t.data, t.strides[0], t.strides[1], t.strides[2], lt_is_aligned(t.data)};
    for (int d = 0; d < 3; d++)
        if (t.sizes[d] > 1 && t.strides[d] * lt_element_size(dtype) % 16 != 0) r.aligned = false;
    return r;
}

static lt_attention_job job_of(const lt_attention *a)
{
    lt_attention_job j = {};
    j.query = attention_rows_of(a->query, a->dtype), j.key = attention_rows_of(a->key, a->dtype),
    j.value = attention_rows_of(a->value, a->dtype);
    j.out = attention_rows_of(a->out, a->dtype), j.grad = attention_rows_of(a->grad, a->dtype);
    j.mask = static_cast<const char *>(a->mask.data);
    j.mask_adds = a->mask.dtype != LT_BOOL;
    for (int d = 0; d < 4 && j.mask != nullptr; d++) j.mask_strides[d] = a->mask.strides[d];
    j.causal = a->causal;
    j.heads = static_cast<int>(a->heads), j.shared_by = static_cast<int>(a->shared_by);
    j.queries = static_cast<int>(a->queries), j.keys = static_cast<int>(a->keys);
    j.width = static_cast<int>(a->width), j.value_width = static_cast<int>(a->value_width);
    j.scale = a->scale;
    j.seed = a->seed;
    j.drop_below = static_cast<uint32_t>(fmin(a->dropout * 0x1p32, 0x1p32 - 1));
    j.kept = 1 / (1 - a->dropout);
    j.logsumexp = a->logsumexp;
    j.grad_query = a->grad_query, j.grad_key = a->grad_key, j.grad_value = a->grad_value;
    j.all = a->batch * a->heads;
    return j;
}

static int widest(const lt_attention *a)
{
    return static_cast<int>(a->width > a->value_width ? a->width : a->value_width);
}

lt_status lt_cuda_attention(const lt_attention *a)
{
    cudaStream_t stream;
    const int device = a->device.index;
    LT_TRY(lt_cuda_enter(device, &stream));
    bool done;
    LT_TRY(lt_attention_by_cudnn(a, false, stream, &done));
    if (done) return lt_cuda_launched(device, stream, "attention");
    /* Our kernels stand in for the flash, efficient and math backends; it is an error if all three
     * are disabled. */
    if (!lt_cuda_core->attention_allowed(LT_ATTENTION_FLASH) &&
        !lt_cuda_core->attention_allowed(LT_ATTENTION_EFFICIENT) &&
        !lt_cuda_core->attention_allowed(LT_ATTENTION_MATH))
        return lt_cuda_core->error(LT_ERR_RUNTIME, "No available kernel. Aborting execution.");
    LT_TRY(query_shared_memory(device));
    const lt_attention_job job = job_of(a);
    if (kernel_fits(a) && lt_attention_forward_shared(a->dtype, widest(a)) <=
                              static_cast<size_t>(shared_memory[device]))
        lt_attention_forward(a->dtype, job, stream);
    else
        LT_TRY(lt_attention_buffered(a, job, stream));
    return lt_cuda_launched(device, stream, "attention");
}

lt_status lt_cuda_attention_backward(const lt_attention *a)
{
    cudaStream_t stream;
    const int device = a->device.index;
    LT_TRY(lt_cuda_enter(device, &stream));
    bool done;
    LT_TRY(lt_attention_by_cudnn(a, true, stream, &done));
    if (done) return lt_cuda_launched(device, stream, "attention_backward");
    LT_TRY(query_shared_memory(device));
    lt_attention_job job = job_of(a);
    lt_cuda_scratch deltas;
    if (kernel_fits(a) && lt_attention_backward_shared(a->dtype, widest(a)) <=
                              static_cast<size_t>(shared_memory[device])) {
        LT_TRY(deltas.take(device, static_cast<size_t>(job.all * a->queries) *
                                       (a->dtype == LT_FLOAT64 ? 8 : 4)));
        job.deltas = deltas.as<void>();
        lt_attention_backward(a->dtype, job, stream);
    } else {
        LT_TRY(lt_attention_buffered_backward(a, job, stream));
    }
    return lt_cuda_launched(device, stream, "attention_backward");
}

lt_status lt_cuda_attention_kept(const lt_attention *a, void *out)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(a->device.index, &stream));
    lt_attention_kept(a->dtype, job_of(a), out, stream);
    return lt_cuda_launched(a->device.index, stream, "attention_kept");
}
