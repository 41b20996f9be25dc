/* backend.cu - the table of the CUDA backend, and the symbols that its library exports. */
#include <stdio.h>

#include "cuda.h"
#include "devices/backend_abi.h"

const lt_core_services *lt_cuda_core;

extern "C" LT_API const lt_backend_abi lt_backend_abi_of_library = LT_BACKEND_ABI_HERE;

/* Not __CUDACC__: this file has no kernel and is not compiled by nvcc. */
#ifdef LT_SIM_CUDA_RUNTIME_H
static const bool simulated = true;
#else
static const bool simulated = false;
#endif

static void add_kernels(lt_backend &t)
{
    t.copy = lt_cuda_copy;
    t.fill = lt_cuda_fill;
    t.check_values = lt_cuda_check_values;
    t.pointwise = lt_cuda_pointwise;
    t.fusion_unavailable = lt_cuda_fusion_unavailable;
    t.fuses = lt_cuda_fuses;
    t.run_fusion = lt_cuda_run_fusion;
    t.reduces_fusion = lt_cuda_reduces_fusion;
    t.reduce_fusion = lt_cuda_reduce_fusion;
    t.takes_rows = lt_cuda_takes_rows;
    t.reduce = lt_cuda_reduce;
    t.extreme = lt_cuda_extreme;
    t.scan = lt_cuda_scan;
    t.scan_extreme = lt_cuda_scan_extreme;
    t.sort = lt_cuda_sort;
    t.softmax = lt_cuda_softmax;
    t.softmax_backward = lt_cuda_softmax_backward;
    t.row_norm = lt_cuda_row_norm;
    t.row_norm_backward = lt_cuda_row_norm_backward;
    t.batch_norm = lt_cuda_batch_norm;
    t.batch_norm_backward = lt_cuda_batch_norm_backward;
    t.attention = lt_cuda_attention;
    t.attention_backward = lt_cuda_attention_backward;
    t.attention_kept = lt_cuda_attention_kept;
    t.gemm = lt_cuda_gemm;
    t.csr_product = lt_cuda_csr_product;
    t.decode_blocks = lt_cuda_decode_blocks;
    t.block_product = lt_cuda_block_product;
    t.half_blocks = true;
    t.factor = lt_cuda_factor;
    t.fft = lt_cuda_fft;
    t.convolution = lt_cuda_convolution;
    t.convolution_channels_last = lt_cuda_convolution_channels_last;
    t.columns = lt_cuda_columns;
    t.max_pool = lt_cuda_max_pool;
    t.max_pool_backward = lt_cuda_max_pool_backward;
    t.avg_pool = lt_cuda_avg_pool;
    t.avg_pool_backward = lt_cuda_avg_pool_backward;
    t.resample = lt_cuda_resample;
    t.sample = lt_cuda_sample;
    t.sample_backward = lt_cuda_sample_backward;
    t.index_get = lt_cuda_index_get;
    t.index_put = lt_cuda_index_put;
    t.gather = lt_cuda_gather;
    t.scatter = lt_cuda_scatter;
    t.nonzero_count = lt_cuda_nonzero_count;
    t.nonzero = lt_cuda_nonzero;
    t.range = lt_cuda_range;
    t.band = lt_cuda_band;
    t.random = lt_cuda_random;
    t.draw = lt_cuda_draw;
    t.cell = lt_cuda_cell;
    t.cell_backward = lt_cuda_cell_backward;
    t.network_sizes = lt_cuda_network_sizes;
    t.network = lt_cuda_network;
    t.network_backward = lt_cuda_network_backward;
    t.optimize = lt_cuda_optimize;
}

static void add_runtime(lt_backend &t)
{
    t.device_count = lt_cuda_device_count;
    t.current_device = lt_cuda_current_device;
    t.set_device = lt_cuda_set_device;
    t.properties = lt_cuda_properties;
    t.synchronize = lt_cuda_synchronize;
    t.current_stream = lt_cuda_current_stream;
    t.set_stream = lt_cuda_set_stream;
    t.stream_new = lt_cuda_stream_new;
    t.stream_free = lt_cuda_stream_free;
    t.stream_query = lt_cuda_stream_query;
    t.stream_synchronize = lt_cuda_stream_synchronize;
    t.stream_wait_event = lt_cuda_stream_wait_event;
    t.event_new = lt_cuda_event_new;
    t.event_free = lt_cuda_event_free;
    t.event_record = lt_cuda_event_record;
    t.event_query = lt_cuda_event_query;
    t.event_synchronize = lt_cuda_event_synchronize;
    t.event_elapsed = lt_cuda_event_elapsed;
    t.record_stream = lt_cuda_record_stream;
    t.memory_stats = lt_cuda_memory_stats;
    t.reset_peak_stats = lt_cuda_reset_peak_stats;
    t.empty_cache = lt_cuda_empty_cache;
    t.memory_info = lt_cuda_memory_info;
    t.set_memory_fraction = lt_cuda_set_memory_fraction;
    t.graph_pool_new = lt_cuda_graph_pool_new;
    t.graph_new = lt_cuda_graph_new;
    t.graph_free = lt_cuda_graph_free;
    t.graph_begin = lt_cuda_graph_begin;
    t.graph_end = lt_cuda_graph_end;
    t.graph_replay = lt_cuda_graph_replay;
    t.graph_reset = lt_cuda_graph_reset;
    t.graph_pool = lt_cuda_graph_pool;
    t.graph_recording = lt_cuda_recording;
    t.pinned_alloc = lt_cuda_pinned_alloc;
    t.pinned_free = lt_cuda_pinned_free;
    t.can_access_peer = lt_cuda_can_access_peer;
}

static lt_backend make_table()
{
    lt_backend t = {};
    t.name = "cuda";
    t.alloc = lt_cuda_alloc;
    t.free = lt_cuda_free;
    t.transfer = lt_cuda_transfer;
    t.simulated = simulated;
    add_kernels(t);
    add_runtime(t);
    return t;
}

/* Returns null and a reason if no GPU is usable: no driver, an outdated driver, or no device. */
extern "C" LT_API const lt_backend *lt_backend_open(const lt_core_services *core, char *reason,
                                                    size_t n)
{
    static const lt_backend table = make_table();
    int count = 0;
    lt_cuda_core = core;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver) {
        (void)cudaGetLastError();
        int version = 0;
        if (cudaDriverGetVersion(&version) != cudaSuccess) (void)cudaGetLastError();
        if (version == 0)
            snprintf(reason, n, "no NVIDIA driver was found on this system");
        else
            snprintf(
                reason, n,
                "the NVIDIA driver is too old: it knows CUDA %d.%d, this program needs CUDA %d.%d",
                version / 1000, version % 1000 / 10, CUDART_VERSION / 1000,
                CUDART_VERSION % 1000 / 10);
        return nullptr;
    }
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
        (void)cudaGetLastError();
        snprintf(reason, n, "the driver sees no NVIDIA GPU (CUDA_VISIBLE_DEVICES may hide it)");
        return nullptr;
    }
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        snprintf(reason, n, "CUDA error: %s (%s)", cudaGetErrorString(error),
                 cudaGetErrorName(error));
        return nullptr;
    }
    lt_cuda_set_device_count(count);
    return &table;
}
