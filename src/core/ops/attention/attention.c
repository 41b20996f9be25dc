/* attention.c - scaled dot product attention: its checks, the calls of the kernels, and formulas
 * for the cases that these do not support: dropout on the CPU, masks with a gradient, inputs of
 * other dimensions, second derivatives. */
#include <math.h>

#include "autograd/dual.h"
#include "dims.h"
#include "ops/compose.h"
#include "ops/pointwise.h"
#include "ops/steps.h"
#include "op/_attention.h"
#include "op/_attention_backward.h"
#include "op/_attention_tangent.h"
#include "op/amax.h"
#include "op/dropout.h"
#include "op/random_.h"
#include "op/scaled_dot_product_attention.h"
#include "op/softmax.h"

/* ---- formulas -------------------------------------------------------------------------------- */

/* Repeats each head of key or value for the query heads that share it. */
static lt_tensor *do_shared_heads(lt_scope *s, lt_tensor *t, int64_t heads)
{
    if (s->status != LT_OK || t->sizes[t->ndim - 3] == heads) return t;
    lt_dims sizes = lt_dims_of(t), wide = sizes;
    const int at = t->ndim - 3;
    s->status = lt_dims_insert(&wide, at + 1, heads / sizes.v[at]);
    sizes.v[at] = heads;
    return do_reshape(s, do_expand(s, do_unsqueeze(s, t, at + 1), &wide), &sizes);
}

/* true on and below the diagonal */
static lt_tensor *do_lower(lt_scope *s, int64_t rows, int64_t columns, lt_device device)
{
    lt_tensor *row = do_unsqueeze(s, do_range(s, rows, device), 1),
              *column = do_range(s, columns, device);
    return do_le(s, column, row);
}

static lt_tensor *do_softmax(lt_scope *s, lt_tensor *a)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_softmax(a, -1, LT_DTYPE_NONE, &out);
    return lt_scope_hold(s, status, out);
}

/* The probabilities; zeros for rows in which every key is masked. Half types in float. */
static lt_tensor *do_probabilities(lt_scope *s, lt_tensor *query, lt_tensor *key, lt_tensor *mask,
                                   bool causal, double scale)
{
    lt_tensor *scores = times(
        s, do_matmul(s, do_widen(s, query), do_transpose(s, do_widen(s, key), -2, -1)), scale);
    if (s->status != LT_OK) return NULL;
    lt_tensor *low = do_number(s, -INFINITY), *takes = NULL;
    if (causal)
        takes = do_lower(s, scores->sizes[scores->ndim - 2], scores->sizes[scores->ndim - 1],
                         scores->device);
    if (mask != NULL && mask->dtype == LT_BOOL)
        takes = takes != NULL ? do_logical_and(s, takes, mask) : mask;
    if (mask != NULL && mask->dtype != LT_BOOL) scores = do_add(s, scores, mask);
    if (takes != NULL) scores = do_where(s, takes, scores, low);
    lt_tensor *p = do_softmax(s, scores);
    if (takes == NULL && mask == NULL) return p;
    /* The softmax of a row of -inf is nan. */
    lt_tensor *none = NULL, *most = NULL;
    if (s->status != LT_OK || scores->sizes[scores->ndim - 1] == 0) return p;
    lt_status status = lt_amax(scores, &(lt_dims){1, {-1}}, true, &most);
    most = lt_scope_hold(s, status, most);
    none = do_eq(s, most, low);
    return do_where(s, none, do_number(s, 0), p);
}

/* The arguments of the kernels besides query, key and value. */
typedef struct rule {
    lt_tensor *mask, *seed;
    bool causal;
    double scale, dropout;
} rule;

static lt_status by_formula(lt_tensor *query, lt_tensor *key, lt_tensor *value, const rule *r,
                            lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *p = do_probabilities(&s, query, key, r->mask, r->causal, r->scale), *kept = NULL;
    if (r->dropout > 0 && s.status == LT_OK) {
        lt_status status = lt_dropout(p, r->dropout, true, &kept);
        p = lt_scope_hold(&s, status, kept);
    }
    return lt_scope_return(&s, do_narrow_to(&s, do_matmul(&s, p, do_widen(&s, value)), query), out);
}

/* ---- the kernels' calls ---------------------------------------------------------------------- */

/* A tensor with contiguous rows; on the CPU in a dtype in which it computes. */
static lt_tensor *do_kernel_input(lt_scope *s, lt_tensor *t)
{
    if (s->status == LT_OK && t->device.type == LT_CPU) t = do_widen(s, t);
    if (s->status != LT_OK) return NULL;
    bool rows = (t->strides[3] == 1 || t->sizes[3] == 1) &&
                (t->strides[2] >= t->sizes[3] || t->sizes[2] == 1);
    return rows ? t : do_contiguous(s, t);
}

static lt_attention geometry(const lt_tensor *query, const lt_tensor *value, const rule *r)
{
    return (lt_attention){.device = query->device,
                          .batch = query->sizes[0],
                          .heads = query->sizes[1],
                          .shared_by = value->sizes[1] > 0 ? query->sizes[1] / value->sizes[1] : 1,
                          .queries = query->sizes[2],
                          .keys = value->sizes[2],
                          .width = query->sizes[3],
                          .value_width = value->sizes[3],
                          .causal = r->causal,
                          .scale = r->scale,
                          .dropout = r->dropout,
                          .seed = r->seed != NULL ? (const int64_t *)lt_data(r->seed) : NULL};
}

static lt_tensor *do_fresh(lt_scope *s, lt_dtype dtype, lt_device device, const lt_dims *sizes)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_tensor_new(dtype, device, sizes->n, sizes->v, &out);
    return lt_scope_hold(s, status, out);
}

/* The given result, which is contiguous, or a new one in the memory order of query: if the heads of a model were split from one dimension,
 * merging them again needs no copy. */
static lt_tensor *do_result(lt_scope *s, const lt_attention *a, const lt_tensor *query,
                            lt_tensor *given)
{
    if (given != NULL && (lt_dtype)given->dtype == a->dtype) return given;
    lt_tensor *result = do_fresh(s, a->dtype, a->device,
                                 &(lt_dims){4, {a->batch, a->heads, a->queries, a->value_width}});
    const int64_t row = a->heads * a->value_width;
    if (result != NULL && a->heads > 1 && a->queries > 1 && query->strides[1] < query->strides[2])
        lt_set_strides(result, (int64_t[]){a->queries * row, a->value_width, row, 1});
    return result;
}

static void set_mask(lt_scope *s, lt_attention *a, lt_tensor *mask)
{
    if (mask == NULL || s->status != LT_OK) return;
    lt_tensor *typed = mask->dtype == LT_BOOL ? mask : do_cast(s, mask, a->dtype);
    lt_tensor *wide = do_expand(s, typed, &(lt_dims){4, {a->batch, a->heads, a->queries, a->keys}});
    if (wide != NULL) a->mask = lt_array_of(wide);
}

static lt_dtype statistics_type(const lt_tensor *t)
{
    return t->dtype == LT_FLOAT64 ? LT_FLOAT64 : LT_FLOAT32;
}

lt_status lt__attention_impl(lt_tensor *query, lt_tensor *key, lt_tensor *value,
                             lt_tensor *attn_mask, lt_tensor *seed, double dropout_p,
                             bool is_causal, double scale, lt_tensor **out_result,
                             lt_tensor **out_logsumexp)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_attention));
    lt_attention a = geometry(query, value, &(rule){attn_mask, seed, is_causal, scale, dropout_p});
    lt_tensor *q = do_kernel_input(&s, query), *k = do_kernel_input(&s, key),
              *v = do_kernel_input(&s, value);
    a.dtype = q != NULL ? (lt_dtype)q->dtype : LT_FLOAT32;
    lt_tensor *result = do_result(&s, &a, query, *out_result);
    lt_tensor *sums = do_fresh(&s, statistics_type(query), a.device,
                               &(lt_dims){3, {a.batch, a.heads, a.queries}});
    set_mask(&s, &a, attn_mask);
    if (s.status == LT_OK && sums->numel > 0) {
        a.query = lt_array_of(q), a.key = lt_array_of(k), a.value = lt_array_of(v),
        a.out = lt_array_of(result);
        a.logsumexp = lt_data(sums);
        s.status = lt_backend_of(query)->attention(&a);
    }
    result = do_narrow_to(&s, result, query);
    lt_scope_put(&s, result, out_result);
    lt_scope_put(&s, sums, out_logsumexp);
    return lt_scope_close(&s);
}

/* The gradients by the kernel, in the order query, key, value. */
static lt_status backward_by_kernel(lt_tensor *grad, lt_tensor *const *inputs, const rule *r,
                                    lt_tensor *result, lt_tensor *logsumexp, const bool *needs,
                                    lt_tensor **outs)
{
    lt_scope s;
    lt_scope_open(&s, false);
    lt_attention a = geometry(inputs[0], inputs[2], r);
    lt_tensor *dense[5];
    for (int i = 0; i < 3; i++) dense[i] = do_kernel_input(&s, inputs[i]);
    dense[3] = do_kernel_input(&s, do_cast(&s, grad, (lt_dtype)inputs[0]->dtype));
    dense[4] = do_kernel_input(&s, result);
    a.dtype = s.status == LT_OK ? (lt_dtype)dense[0]->dtype : LT_FLOAT32;
    lt_tensor *grads[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; i++) {
        const lt_dims sizes = lt_dims_of(inputs[i]);
        if (needs[i]) grads[i] = do_fresh(&s, a.dtype, a.device, &sizes);
        if (needs[i] && s.status == LT_OK && result->numel == 0)
            s.status = lt_fill_value(grads[i], lt_scalar_from_int(0));
    }
    set_mask(&s, &a, r->mask);
    if (s.status == LT_OK && result->numel > 0) {
        a.query = lt_array_of(dense[0]), a.key = lt_array_of(dense[1]),
        a.value = lt_array_of(dense[2]);
        a.grad = lt_array_of(dense[3]), a.out = lt_array_of(dense[4]);
        a.logsumexp = lt_data(logsumexp);
        a.grad_query = grads[0] != NULL ? lt_data(grads[0]) : NULL;
        a.grad_key = grads[1] != NULL ? lt_data(grads[1]) : NULL;
        a.grad_value = grads[2] != NULL ? lt_data(grads[2]) : NULL;
        s.status = lt_backend_of(grad)->attention_backward(&a);
    }
    for (int i = 0; i < 3; i++)
        if (needs[i]) grads[i] = do_narrow_to(&s, grads[i], inputs[i]);
    for (int i = 0; i < 3 && s.status == LT_OK; i++)
        outs[i] = needs[i] ? lt_tensor_retain(grads[i]) : NULL;
    return lt_scope_close(&s);
}

/* The factors that dropout applied to the probabilities; NULL: no dropout. */
static lt_tensor *do_kept(lt_scope *s, const lt_tensor *query, const lt_tensor *key, const rule *r)
{
    if (r->seed == NULL || s->status != LT_OK) return NULL;
    lt_attention a = geometry(query, key, r);
    a.dtype = (lt_dtype)query->dtype;
    lt_tensor *kept = do_fresh(s, statistics_type(query), a.device,
                               &(lt_dims){4, {a.batch, a.heads, a.queries, a.keys}});
    if (kept != NULL && kept->numel > 0)
        s->status = lt_backend_of(query)->attention_kept(&a, lt_data(kept));
    return s->status == LT_OK ? kept : NULL;
}

/* The sum over the query heads that share a head of key or value. */
static lt_tensor *do_sum_shared(lt_scope *s, lt_tensor *t, const lt_tensor *like)
{
    if (s->status != LT_OK || t->sizes[1] == like->sizes[1]) return t;
    const lt_dims wide = {
        5, {t->sizes[0], like->sizes[1], t->sizes[1] / like->sizes[1], t->sizes[2], t->sizes[3]}};
    return do_sum_dim(s, do_reshape(s, t, &wide), 2, false);
}

/* With p the probabilities, multiplied by `kept` in dropout, and d = grad value^T, likewise: the
 * gradients are (p kept)^T grad for value; (d - sum of d p) p * scale, times key and times query,
 * for query and key. */
static lt_status backward_by_formula(lt_tensor *grad, lt_tensor *const *inputs, const rule *r,
                                     const bool *needs, lt_tensor **outs)
{
    lt_scope s;
    lt_scope_open(&s, true);
    const int64_t heads = inputs[0]->sizes[1];
    lt_tensor *key = do_shared_heads(&s, inputs[1], heads),
              *value = do_shared_heads(&s, inputs[2], heads);
    lt_tensor *wide = do_widen(&s, grad),
              *p = do_probabilities(&s, inputs[0], key, r->mask, r->causal, r->scale);
    lt_tensor *kept = do_kept(&s, inputs[0], inputs[1], r);
    lt_tensor *d = do_matmul(&s, wide, do_transpose(&s, do_widen(&s, value), -2, -1));
    if (kept != NULL) d = do_mul(&s, d, kept);
    lt_tensor *slopes = do_mul(&s, do_sub(&s, d, do_sum_dim(&s, do_mul(&s, d, p), -1, true)), p);
    slopes = times(&s, slopes, r->scale);
    if (kept != NULL) p = do_mul(&s, p, kept);
    lt_tensor *grads[3] = {NULL, NULL, NULL};
    if (needs[0]) grads[0] = do_matmul(&s, slopes, do_widen(&s, key));
    if (needs[1])
        grads[1] = do_sum_shared(
            &s, do_matmul(&s, do_transpose(&s, slopes, -2, -1), do_widen(&s, inputs[0])),
            inputs[1]);
    if (needs[2])
        grads[2] = do_sum_shared(&s, do_matmul(&s, do_transpose(&s, p, -2, -1), wide), inputs[2]);
    for (int i = 0; i < 3; i++)
        if (needs[i]) grads[i] = do_narrow_to(&s, grads[i], inputs[i]);
    for (int i = 0; i < 3 && s.status == LT_OK; i++)
        outs[i] = needs[i] ? lt_tensor_retain(grads[i]) : NULL;
    return lt_scope_close(&s);
}

lt_status lt__attention_backward_impl(lt_tensor *grad_output, lt_tensor *query, lt_tensor *key,
                                      lt_tensor *value, lt_tensor *attn_mask, lt_tensor *seed,
                                      lt_tensor *result, lt_tensor *logsumexp, double dropout_p,
                                      bool is_causal, double scale, bool needs_query,
                                      bool needs_key, bool needs_value, lt_tensor **out_grad_query,
                                      lt_tensor **out_grad_key, lt_tensor **out_grad_value)
{
    lt_tensor *const inputs[] = {query, key, value};
    const bool needs[] = {needs_query, needs_key, needs_value};
    const rule r = {attn_mask, seed, is_causal, scale, dropout_p};
    lt_tensor *outs[3] = {NULL, NULL, NULL};
    const bool by_ops = lt_needs_formula(grad_output) || lt_needs_formula(query) ||
                        lt_needs_formula(key) || lt_needs_formula(value) ||
                        lt_needs_formula(attn_mask);
    LT_TRY(by_ops ? backward_by_formula(grad_output, inputs, &r, needs, outs)
                  : backward_by_kernel(grad_output, inputs, &r, result, logsumexp, needs, outs));
    *out_grad_query = outs[0];
    *out_grad_key = outs[1];
    *out_grad_value = outs[2];
    return LT_OK;
}

/* With p as above and c the tangent of the scores: p kept value_t + (c - sum of c p) p kept
 * value. */
lt_status lt__attention_tangent_impl(lt_tensor *query, lt_tensor *key, lt_tensor *value,
                                     lt_tensor *attn_mask, lt_tensor *seed, double dropout_p,
                                     bool is_causal, double scale, lt_tensor *query_t,
                                     lt_tensor *key_t, lt_tensor *value_t, lt_tensor **out)
{
    const rule r = {attn_mask, seed, is_causal, scale, dropout_p};
    const int64_t heads = query->sizes[1];
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_attention_tangent));
    lt_tensor *k = do_shared_heads(&s, key, heads), *v = do_shared_heads(&s, value, heads);
    lt_tensor *k_t = do_shared_heads(&s, key_t, heads), *v_t = do_shared_heads(&s, value_t, heads);
    lt_tensor *p = do_probabilities(&s, query, k, attn_mask, is_causal, scale),
              *kept = do_kept(&s, query, key, &r);
    lt_tensor *by_query =
        do_matmul(&s, do_widen(&s, query_t), do_transpose(&s, do_widen(&s, k), -2, -1));
    lt_tensor *by_key =
        do_matmul(&s, do_widen(&s, query), do_transpose(&s, do_widen(&s, k_t), -2, -1));
    lt_tensor *c = times(&s, do_add(&s, by_query, by_key), scale);
    lt_tensor *p_t = do_mul(&s, do_sub(&s, c, do_sum_dim(&s, do_mul(&s, c, p), -1, true)), p);
    if (kept != NULL) p = do_mul(&s, p, kept), p_t = do_mul(&s, p_t, kept);
    lt_tensor *tangent =
        do_add(&s, do_matmul(&s, p, do_widen(&s, v_t)), do_matmul(&s, p_t, do_widen(&s, v)));
    return lt_scope_return(&s, do_narrow_to(&s, tangent, query), out);
}

/* ---- the function ---------------------------------------------------------------------------- */

static lt_status check_attention(const lt_tensor *q, const lt_tensor *k, const lt_tensor *v,
                                 const lt_tensor *mask, double p, bool causal)
{
    if (q->ndim < 2 || k->ndim < 2 || v->ndim < 2)
        return lt_error(
            LT_ERR_RUNTIME,
            "scaled_dot_product_attention: Expected query, key, and value to all be  at least 2 "
            "dimensional, but got query.dim: %d key.dim: %d and value.dim: %d instead.",
            q->ndim, k->ndim, v->ndim);
    if (q->dtype != k->dtype || q->dtype != v->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected query, key, and value to have the same dtype, but got "
                        "query.dtype: %s key.dtype: %s and value.dtype: %s instead.",
                        lt_dtype_scalar_name((lt_dtype)q->dtype),
                        lt_dtype_scalar_name((lt_dtype)k->dtype),
                        lt_dtype_scalar_name((lt_dtype)v->dtype));
    if (!lt_dtype_is_float((lt_dtype)q->dtype))
        return lt_error(LT_ERR_RUNTIME, "scaled_dot_product_attention: not implemented for '%s'",
                        lt_dtype_scalar_name((lt_dtype)q->dtype));
    if (!(p >= 0 && p < 1))
        return lt_error(
            LT_ERR_RUNTIME,
            "scaled_dot_product_attention: dropout_p must be at least 0 and less than 1, got %g",
            p);
    if (mask != NULL && causal)
        return lt_error(LT_ERR_RUNTIME, "scaled_dot_product_attention: Explicit attn_mask should "
                                        "not be set when is_causal=True");
    if (mask != NULL && mask->dtype != LT_BOOL && mask->dtype != q->dtype &&
        mask->dtype != LT_FLOAT32)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected attn_mask dtype to be bool or float or to match query dtype, but "
                        "got attn_mask.dtype: %s and  query.dtype: %s instead.",
                        lt_dtype_scalar_name((lt_dtype)mask->dtype),
                        lt_dtype_scalar_name((lt_dtype)q->dtype));
    return LT_OK;
}

static lt_status check_groups(const lt_tensor *q, const lt_tensor *k, const lt_tensor *v)
{
    if (q->ndim < 3 || k->ndim < 3 || v->ndim < 3)
        return lt_error(LT_ERR_RUNTIME,
                        "scaled_dot_product_attention: enable_gqa needs a dimension of heads");
    const int64_t heads = q->sizes[q->ndim - 3], own_k = k->sizes[k->ndim - 3],
                  own_v = v->sizes[v->ndim - 3];
    if (own_k > 0 && own_v > 0 && heads % own_k == 0 && heads % own_v == 0) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "scaled_dot_product_attention: number of heads in key and value must divide "
                    "the number of heads in query, got query %lld, key %lld and value %lld",
                    (long long)heads, (long long)own_k, (long long)own_v);
}

/* Whether the kernels support these: equal sizes except lengths, the width of value and, if
 * `shared`, heads. */
static bool fits_kernel(const lt_tensor *q, const lt_tensor *k, const lt_tensor *v,
                        const lt_tensor *mask, bool shared)
{
    bool fits = q->ndim <= 4 && q->ndim == k->ndim && q->ndim == v->ndim;
    for (int d = 0; d < q->ndim - 2 && fits; d++)
        fits = k->sizes[d] == v->sizes[d] &&
               (q->sizes[d] == k->sizes[d] || (shared && d == q->ndim - 3));
    if (!fits || q->sizes[q->ndim - 1] != k->sizes[q->ndim - 1] ||
        k->sizes[q->ndim - 2] != v->sizes[q->ndim - 2])
        return false;
    if (mask == NULL) return k->sizes[q->ndim - 2] > 0;
    return !lt_requires_grad(mask) && !lt_is_differentiated(mask) && mask->ndim <= q->ndim &&
           k->sizes[q->ndim - 2] > 0;
}

/* Whether settings allow the kernels: on the CPU there is one, on a GPU also cuDNN's. */
static bool allows_kernel(lt_device device)
{
    if (lt_attention_allowed(LT_ATTENTION_FLASH)) return true;
    return device.type != LT_CPU && (lt_attention_allowed(LT_ATTENTION_EFFICIENT) ||
                                     lt_attention_allowed(LT_ATTENTION_CUDNN));
}

/* Two random numbers, the seed of a kernel with dropout. */
static lt_tensor *do_seed(lt_scope *s, lt_device device)
{
    lt_tensor *seed = do_fresh(s, LT_INT64, device, &(lt_dims){1, {2}});
    if (seed != NULL) s->status = lt_random_(seed, NULL, NULL, NULL);
    return s->status == LT_OK ? seed : NULL;
}

/* Inserts dimensions of size 1 in front, up to four. */
static lt_tensor *do_four(lt_scope *s, lt_tensor *t)
{
    for (; s->status == LT_OK && t->ndim < 4;) t = do_unsqueeze(s, t, 0);
    return s->status == LT_OK ? t : NULL;
}

lt_status lt_scaled_dot_product_attention_impl(lt_tensor *query, lt_tensor *key, lt_tensor *value,
                                               lt_tensor *attn_mask, double dropout_p,
                                               bool is_causal, const double *scale, bool enable_gqa,
                                               lt_tensor **out)
{
    lt_scope s;
    lt_device device;
    lt_tensor *result = NULL, *sums = NULL;
    LT_TRY(check_attention(query, key, value, attn_mask, dropout_p, is_causal));
    LT_TRY(lt_check_same_device("scaled_dot_product_attention",
                                (lt_tensor *[]){query, key, value, attn_mask}, 4, false, &device));
    if (enable_gqa) LT_TRY(check_groups(query, key, value));
    const int64_t features = query->sizes[query->ndim - 1]; /* without features all scores are 0 */
    const double factor = scale != NULL ? *scale : features > 0 ? 1 / sqrt((double)features) : 1;
    const bool drops = dropout_p > 0;
    const bool by_kernel = allows_kernel(device) && !(drops && device.type == LT_CPU) &&
                           fits_kernel(query, key, value, attn_mask, enable_gqa);
    if (!by_kernel && !lt_attention_allowed(LT_ATTENTION_MATH))
        return lt_error(LT_ERR_RUNTIME,
                        "No viable backend for scaled_dot_product_attention was found. This is "
                        "likely due to turning off both the math kernel and the fused kernels.");
    lt_scope_open(&s, LT_COMPOSITE(scaled_dot_product_attention));
    if (!by_kernel) {
        if (enable_gqa) {
            const int64_t heads = query->sizes[query->ndim - 3];
            key = do_shared_heads(&s, key, heads);
            value = do_shared_heads(&s, value, heads);
        }
        if (s.status != LT_OK) return lt_scope_close(&s);
        lt_status status = by_formula(
            query, key, value,
            &(rule){.mask = attn_mask, .causal = is_causal, .scale = factor, .dropout = dropout_p},
            &result);
        return lt_scope_store(&s, lt_scope_hold(&s, status, result), out);
    }
    lt_dims sizes = lt_dims_of(query);
    sizes.v[sizes.n - 1] = value->sizes[value->ndim - 1];
    lt_tensor *q = do_four(&s, query), *k = do_four(&s, key), *v = do_four(&s, value);
    lt_tensor *seed = drops ? do_seed(&s, device) : NULL;
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_dims four = lt_dims_of(q);
    four.v[3] = sizes.v[sizes.n - 1];
    lt_tensor *target =
        lt_scope_target(&s, out, (lt_dtype)query->dtype, query->device, &sizes, &four);
    if (s.status != LT_OK) return lt_scope_close(&s);
    result = target;
    lt_status status = (target != NULL ? lt__attention_impl : lt__attention)(
        q, k, v, attn_mask, seed, dropout_p, is_causal, factor, &result, &sums);
    if (sums != NULL) lt_tensor_release(sums);
    if (target != NULL) {
        s.status = status;
        return lt_scope_close(&s);
    }
    result = lt_scope_hold(&s, status, result);
    return lt_scope_store(&s, query->ndim == 4 ? result : do_reshape(&s, result, &sizes), out);
}
