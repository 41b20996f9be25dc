/* backend.c - the CPU's table of functions (backend.h): memory, and the kernels of this directory.
 * The CPU has no streams, events or statistics: their entries are NULL. */
#include <string.h>

#include "common/loops.h"
#include "cpu.h"
#include "error.h"
#include "memory/block.h"
#include "products/dnnl_plan.h"

/* In a library of selected ops (mk/minimal.mk): defines kernels that these do not use as NULL. */
#if defined(LT_CHOSEN_OPS)
#include "absent.h"
#endif

static lt_status cpu_alloc(int device, size_t nbytes, void **data, size_t *capacity, void **block)
{
    (void)device;
    void *p = lt_block_alloc(nbytes, capacity);
    if (p == NULL) return LT_ERR_MEMORY;
    *data = p;
    *block = NULL;
    return LT_OK;
}

static void cpu_free(int device, void *data, size_t capacity, void *block)
{
    (void)device;
    (void)block;
    lt_block_free(data, capacity);
}

static lt_status cpu_transfer(const lt_transfer *t, double *waited)
{
    if (t->dst_device.type != LT_CPU || t->src_device.type != LT_CPU)
        return lt_error(LT_ERR_DEVICE, "the CPU backend copies between host addresses only");
    memcpy(t->dst, t->src, t->nbytes);
    *waited = 0;
    return LT_OK;
}

static bool cpu_has(const char *feature)
{
    if (strcmp(feature, "onednn") == 0) return lt_dnnl_found();
    if (strcmp(feature, "int8") == 0) return lt_dnnl_multiplies_int8();
#if defined(__aarch64__)
    if (strcmp(feature, "neon") == 0) return true;
#endif
    const bool avx512 = strcmp(lt_loops.isa, "avx512") == 0;
    if (strcmp(feature, "avx2") == 0) return avx512 || strcmp(lt_loops.isa, "avx2") == 0;
    return avx512 && strcmp(feature, "avx512") == 0;
}

static const lt_backend cpu_backend = {
    .name = "cpu",
    .alloc = cpu_alloc,
    .free = cpu_free,
    .transfer = cpu_transfer,
    .copy = lt_cpu_copy,
    .fill = lt_cpu_fill,
    .band = lt_cpu_band,
    .check_values = lt_cpu_check_values,
    .pointwise = lt_cpu_pointwise,
    .fusion_unavailable = lt_cpu_fusion_unavailable,
    .fuses = lt_cpu_fuses,
    .run_fusion = lt_cpu_run_fusion,
    .reduce = lt_cpu_reduce,
    .reduces_fusion = lt_cpu_reduces_fusion,
    .reduce_fusion = lt_cpu_reduce_fusion,
    .extreme = lt_cpu_extreme,
    .scan = lt_cpu_scan,
    .scan_extreme = lt_cpu_scan_extreme,
    .sort = lt_cpu_sort,
    .kth = lt_cpu_kth,
    .search = lt_cpu_search,
    .csr_product = lt_cpu_csr_product,
    .decode_blocks = lt_cpu_decode_blocks,
    .block_product = lt_cpu_block_product,
    .softmax = lt_cpu_softmax,
    .softmax_backward = lt_cpu_softmax_backward,
    .row_norm = lt_cpu_row_norm,
    .row_norm_backward = lt_cpu_row_norm_backward,
    .batch_norm = lt_cpu_batch_norm,
    .batch_norm_backward = lt_cpu_batch_norm_backward,
    .attention = lt_cpu_attention,
    .attention_backward = lt_cpu_attention_backward,
    .gemm = lt_cpu_gemm,
    .factor = lt_cpu_factor,
    .fft = lt_cpu_fft,
    .convolution = lt_cpu_convolution,
    .int8_convolution = lt_cpu_int8_convolution,
    .columns = lt_cpu_columns,
    .max_pool = lt_cpu_max_pool,
    .max_pool_backward = lt_cpu_max_pool_backward,
    .avg_pool = lt_cpu_avg_pool,
    .avg_pool_backward = lt_cpu_avg_pool_backward,
    .pad = lt_cpu_pad,
    .resample = lt_cpu_resample,
    .resample_planes = lt_cpu_resample_planes,
    .sample = lt_cpu_sample,
    .sample_backward = lt_cpu_sample_backward,
    .index_get = lt_cpu_index_get,
    .index_put = lt_cpu_index_put,
    .gather = lt_cpu_gather,
    .scatter = lt_cpu_scatter,
    .nonzero_count = lt_cpu_nonzero_count,
    .nonzero = lt_cpu_nonzero,
    .range = lt_cpu_range,
    .random = lt_cpu_random,
    .draw = lt_cpu_draw,
    .cell = lt_cpu_cell,
    .cell_backward = lt_cpu_cell_backward,
    .optimize = lt_cpu_optimize,
    .has = cpu_has,
};

__attribute__((constructor)) static void register_backend(void)
{
    lt_backend_register(LT_CPU, &cpu_backend);
}
