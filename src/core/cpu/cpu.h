/* cpu.h - the entries of the CPU's backend table (documented in devices/backend.h), by source
 * file. Included by src/core/cpu only. */
#ifndef LT_CPU_H
#define LT_CPU_H

#include "devices/backend.h"
#include "iter.h"

/* pointwise/pointwise.c */
lt_status lt_cpu_pointwise(int op, const lt_iter *it, lt_dtype compute, const lt_scalar *params);
const char *lt_cpu_fusion_unavailable(void);
bool lt_cpu_fuses(int op, lt_dtype compute);
/* compile/fused.c */
lt_status lt_cpu_run_fusion(const lt_fusion *c, bool *done);
/* pointwise/copy.c */
lt_status lt_cpu_copy(const lt_iter *it);
lt_status lt_cpu_fill(const lt_iter *it, lt_scalar value);
/* pointwise/check_values.c */
lt_status lt_cpu_check_values(const lt_value_check *c);
/* reduce/reduce.c */
lt_status lt_cpu_reduce(int op, const lt_iter *it, int reduced_dims, double parameter);
lt_status lt_cpu_reduce_fusion(const lt_fused_producer *producer, int op, const lt_iter *it,
                               int reduced_dims, double parameter);
/* compile/fused_reduce.c */
bool lt_cpu_reduces_fusion(int op, const lt_iter *it, int reduced_dims);
/* reduce/extreme.c */
lt_status lt_cpu_extreme(bool maximum, const lt_array *values, const lt_array *indices,
                         const lt_array *in, int dim);
/* reduce/scan.c */
lt_status lt_cpu_scan(lt_scan op, const lt_array *out, const lt_array *in, int dim);
/* reduce/scan_extreme.c */
lt_status lt_cpu_scan_extreme(bool maximum, const lt_array *values, const lt_array *indices,
                              const lt_array *in, int dim);
/* order/sort.c */
lt_status lt_cpu_sort(bool descending, const lt_array *values, const lt_array *indices,
                      const lt_array *in, int dim);
lt_status lt_cpu_kth(int64_t k, const lt_array *values, const lt_array *indices, const lt_array *in,
                     int dim);
/* products/csr.c */
lt_status lt_cpu_csr_product(const lt_csr_product *p, bool *done);

/* quantized/blocks.c */
lt_status lt_cpu_decode_blocks(const lt_block_decode *d);
lt_status lt_cpu_block_product(const lt_block_product *p);
/* order/search.c */
lt_status lt_cpu_search(const lt_search *s);
/* nn/softmax.c */
lt_status lt_cpu_softmax(bool log, const lt_array *out, const lt_array *in, int dim);
lt_status lt_cpu_softmax_backward(bool log, const lt_array *grad_in, const lt_array *grad,
                                  const lt_array *result, int dim);
/* nn/norm.c */
lt_status lt_cpu_row_norm(const lt_row_norm_args *n);
lt_status lt_cpu_row_norm_backward(const lt_row_norm_args *n);
lt_status lt_cpu_batch_norm(const lt_batch_norm_args *n);
lt_status lt_cpu_batch_norm_backward(const lt_batch_norm_args *n);
/* nn/attention.c */
lt_status lt_cpu_attention(const lt_attention *a);
lt_status lt_cpu_attention_backward(const lt_attention *a);
/* products/matmul.c */
lt_status lt_cpu_gemm(const lt_gemm *g);
/* products/factor.c */
lt_status lt_cpu_factor(lt_factor *f);
/* products/convolution.c */
lt_status lt_cpu_convolution(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                             const void *bias);
lt_status lt_cpu_int8_convolution(const lt_conv *c, const void *x, const void *w, void *y,
                                  bool *done);
/* products/columns.c */
lt_status lt_cpu_columns(bool back, const lt_conv *c, void *x, void *columns);
/* nn/pool.c */
lt_status lt_cpu_max_pool(const lt_pooling *p, void *out, int64_t *indices, const void *in);
lt_status lt_cpu_max_pool_backward(const lt_pooling *p, void *grad_in, const void *grad,
                                   const int64_t *indices);
lt_status lt_cpu_avg_pool(const lt_pooling *p, void *out, const void *in);
lt_status lt_cpu_avg_pool_backward(const lt_pooling *p, void *grad_in, const void *grad);
/* pointwise/band.c */
lt_status lt_cpu_band(const lt_band *b, void *y, const void *x);
/* nn/pad.c */
lt_status lt_cpu_pad(const lt_padding *p, void *y, const void *x);
/* nn/resample.c */
lt_status lt_cpu_resample(const lt_resampling *r, void *out, const void *in);
/* nn/resample_planes.c */
lt_status lt_cpu_resample_planes(const lt_resampling *rows, const lt_resampling *columns, void *out,
                                 const void *in);
/* nn/sample.c */
lt_status lt_cpu_sample(const lt_sampling *s, void *y, const void *x, const void *grid);
lt_status lt_cpu_sample_backward(const lt_sampling *s, void *grad_x, void *grad_grid,
                                 const void *grad, const void *x, const void *grid);
/* index/index.c */
lt_status lt_cpu_index_get(const lt_iter *it, const lt_index_args *args);
lt_status lt_cpu_index_put(const lt_iter *it, const lt_index_args *args, bool accumulate);
/* index/gather.c */
lt_status lt_cpu_gather(const lt_array *out, const lt_array *in, int dim, const lt_array *index);
lt_status lt_cpu_scatter(lt_scatter_mode mode, const lt_array *out, int dim, const lt_array *index,
                         const lt_array *src, lt_scalar value, bool fresh);
/* index/nonzero.c */
lt_status lt_cpu_nonzero_count(const lt_array *in, int64_t *count);
lt_status lt_cpu_nonzero(const lt_array *in, const lt_array *out);
/* pointwise/range.c */
lt_status lt_cpu_range(const lt_array *out, lt_scalar start, lt_scalar step, bool backwards);
/* fft/fft.c */
lt_status lt_cpu_fft(const lt_fft *f);
/* nn/optim.c */
lt_status lt_cpu_optimize(const lt_optim *o);
/* nn/recurrent.c */
lt_status lt_cpu_cell(const lt_cell_step *step);
lt_status lt_cpu_cell_backward(const lt_cell_step *step);
/* random/random.c */
lt_status lt_cpu_random(lt_distribution what, const lt_array *out, lt_scalar a, lt_scalar b,
                        lt_generator *generator);
/* random/draw.c */
lt_status lt_cpu_draw(lt_draw what, const lt_array *out, const lt_array *a, const lt_array *b,
                      lt_generator *generator);

#endif
