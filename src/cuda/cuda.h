/* cuda.h - internal header of the CUDA backend: checks of runtime calls, launches, and the
 * functions that the backend's table (backend.h documents them) points to, grouped by the file that
 * defines them.
 *
 * - Core services are reached only through lt_cuda_core, which lt_backend_open receives.
 * - Every function of the table first makes its device current for the calling thread
 *   (lt_cuda_enter) and leaves it current. The device that the user selected is stored separately,
 *   in device.cu.
 * - Included by src/cuda only. */
#ifndef LT_CUDA_H
#define LT_CUDA_H

#include <atomic>

#include <cuda_runtime.h>

#include "devices/backend.h"
#include "iter.h"

#define LT_CUDA_MAX_DEVICES 64

extern const lt_core_services *lt_cuda_core;

/* ---- report.cu: failures --------------------------------------------------------------------- */
/* Clears the runtime's last error; sets the message for the failed call and returns its status. */
lt_status lt_cuda_failed(cudaError_t error, const char *call);
#define CUDA_TRY(call)                                                                             \
    do {                                                                                           \
        cudaError_t cuda_error_ = (call);                                                          \
        if (__builtin_expect(cuda_error_ != cudaSuccess, 0))                                       \
            return lt_cuda_failed(cuda_error_, #call);                                             \
    } while (0)
#define LT_TRY(call)                                                                               \
    do {                                                                                           \
        lt_status try_status_ = (call);                                                            \
        if (__builtin_expect(try_status_ != LT_OK, 0)) return try_status_;                         \
    } while (0)

/* `"exp" not implemented for 'Bool'` */
lt_status lt_cuda_unsupported(const char *op, lt_dtype dtype);

/* The record of faults that kernels of a device found (report.cuh), in host memory that the device
 * can write. Made on first use. */
struct lt_cuda_report;
lt_status lt_cuda_report_of(int device, lt_cuda_report **report);
/* After a wait: returns the error that a kernel of this device recorded, if any, and clears it. */
lt_status lt_cuda_reported(int device);

/* ---- device.cu ------------------------------------------------------------------------------- */
/* Makes the device current for this thread's runtime calls; lt_cuda_enter also returns the user's
 * stream on it. */
lt_status lt_cuda_make_current(int device);
lt_status lt_cuda_enter(int device, cudaStream_t *stream);
/* report.cu. After a launch: returns its error. With CUDA_LAUNCH_BLOCKING=1, also waits for the
 * kernel and returns the fault that it recorded. */
lt_status lt_cuda_launched(int device, cudaStream_t stream, const char *kernel);
lt_status lt_cuda_check_device(int device);
/* Called once, when the backend is opened. */
void lt_cuda_set_device_count(int count);
int lt_cuda_device_count(void);
int lt_cuda_current_device(void);
lt_status lt_cuda_set_device(int device);
lt_status lt_cuda_properties(int device, lt_device_properties *out);
lt_status lt_cuda_memory_info(int device, size_t *free, size_t *total);
bool lt_cuda_can_access_peer(int device, int peer);

/* ---- wait.cu: the device is current; LT_ERR_INTERRUPTED if the wait was interrupted ---------- */
/* Wait for a stream or an event; return the fault that a kernel recorded, if any. */
lt_status lt_cuda_wait(int device, cudaStream_t stream);
lt_status lt_cuda_wait_event(int device, cudaEvent_t event);
/* Waits for the stream, then copies device memory to the host. *seconds: the duration of both. */
lt_status lt_cuda_read(int device, cudaStream_t stream, void *dst, const void *src, size_t nbytes,
                       double *seconds);
lt_status lt_cuda_synchronize(int device);

/* ---- stream.cu ------------------------------------------------------------------------------- */
/* The i-th stream created on the device; 0 is the default stream. False if i exceeds their number.
 */
bool lt_cuda_stream_made(int device, int i, cudaStream_t *stream);
uint64_t lt_cuda_current_stream(int device);
void lt_cuda_set_stream(int device, uint64_t stream);
lt_status lt_cuda_stream_new(int device, int priority, uint64_t *stream);
void lt_cuda_stream_free(int device, uint64_t stream);
lt_status lt_cuda_stream_query(int device, uint64_t stream, bool *done);
lt_status lt_cuda_stream_synchronize(int device, uint64_t stream);
lt_status lt_cuda_stream_wait_event(int device, uint64_t stream, uint64_t event);
/* A device counter for one kernel on the stream: 0 when the kernel starts; the kernel resets it to
 * 0. It is the stream's own counter, or `spare` if a graph is being recorded (its replays may run
 * on any stream) or no memory is left for a counter. */
lt_status lt_cuda_counter(int device, cudaStream_t stream, unsigned *spare, unsigned **counter);

/* ---- event.cu -------------------------------------------------------------------------------- */
/* A free list per device of events without timing. An event may be returned to it while pending. */
lt_status lt_cuda_event_alloc(int device, cudaEvent_t *event);
void lt_cuda_event_free(int device, cudaEvent_t event);
cudaEvent_t lt_cuda_event_handle(uint64_t event);
lt_status lt_cuda_event_new(int device, bool timing, uint64_t *event);
void lt_cuda_event_free(uint64_t event);
lt_status lt_cuda_event_record(uint64_t event, int device, uint64_t stream);
lt_status lt_cuda_event_query(uint64_t event, bool *done);
lt_status lt_cuda_event_synchronize(uint64_t event);
lt_status lt_cuda_event_elapsed(uint64_t start, uint64_t stop, double *milliseconds);

/* ---- graph.cu -------------------------------------------------------------------------------- */
/* Whether this thread is recording a graph; the error for an operation that is not allowed
 * meanwhile; the pool from which this thread allocates on the device (0: the default pool). */
bool lt_cuda_recording(void);
lt_status lt_cuda_refuse_recording(void);
uint64_t lt_cuda_own_recording_pool(int device);
extern std::atomic<int> lt_cuda_recordings; /* number of threads that record */
inline uint64_t lt_cuda_recording_pool(int device)
{
    return lt_cuda_recordings.load(std::memory_order_relaxed) == 0
               ? 0
               : lt_cuda_own_recording_pool(device);
}
/* For random kernels in a recording. The first returns the device address of seed and offset, which
 * each replay sets; null if nothing is being recorded. The second reserves random blocks and
 * returns the number reserved before in this graph. */
lt_status lt_cuda_recording_random(int device, const lt_generator *generator,
                                   const uint64_t **live);
uint64_t lt_cuda_recording_adopt(int64_t blocks);
uint64_t lt_cuda_graph_pool_new(void);
lt_status lt_cuda_graph_new(uint64_t *graph);
void lt_cuda_graph_free(uint64_t graph);
lt_status lt_cuda_graph_begin(uint64_t graph, uint64_t pool);
lt_status lt_cuda_graph_end(uint64_t graph, bool keep);
lt_status lt_cuda_graph_replay(uint64_t graph);
void lt_cuda_graph_reset(uint64_t graph);
uint64_t lt_cuda_graph_pool(uint64_t graph);

/* ---- allocator.cu, pinned.cu ----------------------------------------------------------------- */
lt_status lt_cuda_alloc(int device, size_t nbytes, void **data, size_t *capacity, void **block);
void lt_cuda_free(int device, void *data, size_t capacity, void *block);
void lt_cuda_record_stream(void *block, uint64_t stream);
void lt_cuda_empty_cache(void);
/* Memory of a private pool stays reserved while the pool is held. During a recording, frees of
 * blocks that other streams use are deferred, since they record events. */
lt_status lt_cuda_pool_hold(int device, uint64_t pool);
void lt_cuda_pool_drop(int device, uint64_t pool);
void lt_cuda_defer_frees(int device, bool on);
lt_status lt_cuda_set_memory_fraction(int device, double fraction);
/* memory_report.cu */
void lt_cuda_memory_stats(int device, lt_memory_stats *out);
void lt_cuda_reset_peak_stats(int device);
lt_status lt_cuda_pinned_alloc(size_t nbytes, void **data, void **block);
void lt_cuda_pinned_free(void *data, void *block);
/* Marks the pinned block that contains p as used by the work queued on the stream so far: the block
 * is not reused before that work is done. Precondition: the device is current. */
lt_status lt_cuda_pinned_used(const void *p, int device, cudaStream_t stream);
/* Returns unused blocks to the system. */
void lt_cuda_pinned_trim(void);

/* Device memory for one kernel call, freed at the end of the scope: the stream orders later users
 * of the memory after the kernel. */
class lt_cuda_scratch {
  public:
    lt_cuda_scratch() = default;
    lt_cuda_scratch(const lt_cuda_scratch &) = delete;
    lt_cuda_scratch &operator=(const lt_cuda_scratch &) = delete;
    ~lt_cuda_scratch()
    {
        if (data != nullptr) lt_cuda_free(device, data, capacity, block);
    }
    lt_status take(int on_device, size_t nbytes)
    {
        device = on_device;
        return lt_cuda_alloc(device, nbytes, &data, &capacity, &block);
    }
    template <class T> T *as(size_t offset = 0) const
    {
        return reinterpret_cast<T *>(static_cast<char *>(data) + offset);
    }

  private:
    int device = 0;
    void *data = nullptr, *block = nullptr;
    size_t capacity = 0;
};

/* ---- kernels --------------------------------------------------------------------------------- */
/* copy.cu, transfer.cu, fill.cu */
lt_status lt_cuda_copy(const lt_iter *it);
lt_status lt_cuda_transfer(const lt_transfer *t, double *waited);
lt_status lt_cuda_fill(const lt_iter *it, lt_scalar value);
/* check_values.cu */
lt_status lt_cuda_check_values(const lt_value_check *c);
/* pointwise.cu */
lt_status lt_cuda_pointwise(int op, const lt_iter *it, lt_dtype compute, const lt_scalar *params);
/* compile/fused.cu, reduce.cu */
const char *lt_cuda_fusion_unavailable(void);
bool lt_cuda_fuses(int op, lt_dtype compute);
lt_status lt_cuda_run_fusion(const lt_fusion *c, bool *done);
bool lt_cuda_takes_rows(lt_dtype dtype, int64_t numel, int64_t length);
bool lt_cuda_reduces_fusion(int op, const lt_iter *it, int reduced_dims);
lt_status lt_cuda_reduce_fusion(const lt_fused_producer *producer, int op, const lt_iter *it,
                                int reduced_dims, double parameter);
/* reduce.cu, extreme.cu, scan.cu */
lt_status lt_cuda_reduce(int op, const lt_iter *it, int reduced_dims, double parameter);
lt_status lt_cuda_extreme(bool maximum, const lt_array *values, const lt_array *indices,
                          const lt_array *in, int dim);
lt_status lt_cuda_scan(lt_scan op, const lt_array *out, const lt_array *in, int dim);
lt_status lt_cuda_scan_extreme(bool maximum, const lt_array *values, const lt_array *indices,
                               const lt_array *in, int dim);
/* sort.cu */
lt_status lt_cuda_sort(bool descending, const lt_array *values, const lt_array *indices,
                       const lt_array *in, int dim);
/* softmax.cu */
lt_status lt_cuda_softmax(bool log, const lt_array *out, const lt_array *in, int dim);
lt_status lt_cuda_softmax_backward(bool log, const lt_array *grad_in, const lt_array *grad,
                                   const lt_array *result, int dim);
/* norm.cu, batch_norm.cu */
lt_status lt_cuda_row_norm(const lt_row_norm_args *n);
lt_status lt_cuda_row_norm_backward(const lt_row_norm_args *n);
lt_status lt_cuda_batch_norm(const lt_batch_norm_args *n);
lt_status lt_cuda_batch_norm_backward(const lt_batch_norm_args *n);
/* attention.cu */
lt_status lt_cuda_attention(const lt_attention *a);
lt_status lt_cuda_attention_backward(const lt_attention *a);
lt_status lt_cuda_attention_kept(const lt_attention *a, void *out);
/* matmul.cu, matmul_integer.cu */
lt_status lt_cuda_gemm(const lt_gemm *g);
lt_status lt_cuda_gemm_integer(const lt_gemm *g, cudaStream_t stream);
/* csr.cu */
lt_status lt_cuda_csr_product(const lt_csr_product *p, bool *done);
/* blocks.cu */
lt_status lt_cuda_decode_blocks(const lt_block_decode *d);
lt_status lt_cuda_block_product(const lt_block_product *p);
/* factor.cu, fft.cu */
lt_status lt_cuda_factor(lt_factor *f);
lt_status lt_cuda_fft(const lt_fft *f);
/* convolution.cu, pool.cu, resample.cu, sample.cu */
lt_status lt_cuda_convolution(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                              const void *bias);
lt_status lt_cuda_convolution_channels_last(lt_conv_part part, const lt_conv *c, void *x, void *w,
                                            void *y, const void *bias, bool *done);
lt_status lt_cuda_columns(bool back, const lt_conv *c, void *x, void *columns);
lt_status lt_cuda_max_pool(const lt_pooling *p, void *out, int64_t *indices, const void *in);
lt_status lt_cuda_max_pool_backward(const lt_pooling *p, void *grad_in, const void *grad,
                                    const int64_t *indices);
lt_status lt_cuda_avg_pool(const lt_pooling *p, void *out, const void *in);
lt_status lt_cuda_avg_pool_backward(const lt_pooling *p, void *grad_in, const void *grad);
lt_status lt_cuda_resample(const lt_resampling *r, void *out, const void *in);
lt_status lt_cuda_sample(const lt_sampling *s, void *y, const void *x, const void *grid);
lt_status lt_cuda_sample_backward(const lt_sampling *s, void *grad_x, void *grad_grid,
                                  const void *grad, const void *x, const void *grid);
/* index.cu, gather.cu, nonzero.cu */
lt_status lt_cuda_index_get(const lt_iter *it, const lt_index_args *args);
lt_status lt_cuda_index_put(const lt_iter *it, const lt_index_args *args, bool accumulate);
lt_status lt_cuda_gather(const lt_array *out, const lt_array *in, int dim, const lt_array *index);
lt_status lt_cuda_scatter(lt_scatter_mode mode, const lt_array *out, int dim, const lt_array *index,
                          const lt_array *src, lt_scalar value, bool fresh);
lt_status lt_cuda_nonzero_count(const lt_array *in, int64_t *count);
lt_status lt_cuda_nonzero(const lt_array *in, const lt_array *out);
/* recurrent.cu */
lt_status lt_cuda_cell(const lt_cell_step *step);
lt_status lt_cuda_cell_backward(const lt_cell_step *step);
/* network_cudnn.cu */
lt_status lt_cuda_network_sizes(const lt_network *network, lt_network_sizes *sizes);
lt_status lt_cuda_network(const lt_network *network, const lt_network_arrays *arrays);
lt_status lt_cuda_network_backward(const lt_network *network, const lt_network_arrays *arrays);
/* optim.cu */
lt_status lt_cuda_optimize(const lt_optim *o);
/* band.cu, range.cu, random.cu, draw.cu */
lt_status lt_cuda_band(const lt_band *b, void *y, const void *x);
lt_status lt_cuda_range(const lt_array *out, lt_scalar start, lt_scalar step, bool backwards);
lt_status lt_cuda_random(lt_distribution what, const lt_array *out, lt_scalar from, lt_scalar to,
                         lt_generator *generator);
lt_status lt_cuda_draw(lt_draw what, const lt_array *out, const lt_array *a, const lt_array *b,
                       lt_generator *generator);

#endif
