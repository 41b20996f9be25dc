/* network.c - all layers of recurrent cells in one call, forward and backward, if the device has a
 * library for it (devices/network.h). Otherwise the result is an empty list, and the caller runs
 * the layers one by one (recurrent.c). */
#include "devices/network.h"
#include "memory/alloc.h"
#include "ops/compose.h"
#include "ops/recurrent/recurrent.h"
#include "op/_recurrent_network_backward.h"

#include <string.h>

/* Results that are not yet returned; `n` of them are made. */
typedef struct results {
    int64_t n;
    lt_tensor **v;
} results;

static lt_status begin_results(results *r, int64_t most)
{
    r->n = 0;
    r->v = lt_mem_zarray(most, sizeof *r->v);
    return r->v != NULL ? LT_OK : LT_ERR_MEMORY;
}

static void drop_results(results *r)
{
    for (int64_t i = 0; i < r->n; i++) lt_tensor_release(r->v[i]);
    lt_mem_free(r->v);
}

/* Moves all results to out. */
static void store_results(results *r, lt_tensor_list *out)
{
    out->v = r->v;
    out->n = r->n;
}

static lt_status add_result(results *r, lt_dtype dtype, lt_device device, const lt_dims *sizes)
{
    LT_TRY(lt_tensor_new(dtype, device, sizes->n, sizes->v, &r->v[r->n]));
    r->n++;
    return LT_OK;
}

static lt_status add_bytes(results *r, lt_device device, int64_t bytes)
{
    return add_result(r, LT_UINT8, device, &(lt_dims){1, {bytes}});
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* New reference: t, contiguous, after checking its sizes and the network's dtype and device; NULL
 * stays NULL. */
static lt_status check_weight(const lt_network *n, lt_tensor *t, const char *name,
                              const lt_dims *sizes, lt_tensor **out)
{
    char wanted[256], got[256];
    if (t == NULL) return LT_OK;
    if (t->device.type != n->device.type || t->device.index != n->device.index)
        return lt_error(
            LT_ERR_RUNTIME,
            "Expected all tensors to be on the same device: %s is on another one than the input",
            name);
    if ((lt_dtype)t->dtype != n->dtype)
        return lt_error(LT_ERR_RUNTIME, "expected %s to have dtype %s, but got %s", name,
                        lt_dtype_scalar_name(n->dtype), lt_dtype_scalar_name((lt_dtype)t->dtype));
    if (t->ndim != sizes->n || memcmp(t->sizes, sizes->v, (size_t)sizes->n * sizeof *sizes->v) != 0)
        return lt_error(LT_ERR_RUNTIME, "_recurrent_network: expected %s of size %s, but got %s",
                        name, lt_format_sizes(wanted, sizeof wanted, sizes->n, sizes->v),
                        lt_format_sizes(got, sizeof got, t->ndim, t->sizes));
    return lt_make_contiguous(t, out);
}

static lt_dims size_of_output(const lt_network *n)
{
    return (lt_dims){3, {n->steps, n->batch, n->directions * n->hidden}};
}
static lt_dims size_of_state(const lt_network *n)
{
    return (lt_dims){3, {n->layers * n->directions, n->batch, n->hidden}};
}
static lt_dims size_of_weight(const lt_network *n, int64_t number)
{
    int64_t rows, columns;
    lt_network_shape(n, number, &rows, &columns);
    return (lt_dims){number % lt_network_parts(n) < 2 ? 2 : 1, {rows, columns}};
}

static lt_status describe_network(lt_network *n, const lt_tensor *input, const lt_tensor *hx,
                                  const lt_tensor *cx, const char *cell, int64_t layers,
                                  bool bidirectional)
{
    LT_TRY(lt_cell_named(cell, &n->cell));
    if (input->ndim != 3 || hx->ndim != 3)
        return lt_error(
            LT_ERR_RUNTIME,
            "_recurrent_network: input and hx must have 3 dimensions, but have %d and %d",
            input->ndim, hx->ndim);
    if (layers < 1 || layers > hx->sizes[0] || layers * (bidirectional ? 2 : 1) != hx->sizes[0])
        return lt_error(LT_ERR_RUNTIME,
                        "_recurrent_network: hx has %lld states, which do not fit %lld layers",
                        (long long)hx->sizes[0], (long long)layers);
    if (!lt_dtype_is_float((lt_dtype)input->dtype))
        return lt_error(LT_ERR_RUNTIME, "\"recurrent\" not implemented for '%s'",
                        lt_dtype_scalar_name((lt_dtype)input->dtype));
    if ((n->cell == LT_CELL_LSTM) != (cx != NULL))
        return lt_error(LT_ERR_RUNTIME, "_recurrent_network: an LSTM, and no other cell, needs cx");
    n->dtype = (lt_dtype)input->dtype;
    n->device = input->device;
    n->steps = input->sizes[0];
    n->batch = input->sizes[1];
    n->input = input->sizes[2];
    n->hidden = hx->sizes[2];
    n->layers = layers;
    n->directions = bidirectional ? 2 : 1;
    return LT_OK;
}

/* ---- forward --------------------------------------------------------------------------------- */

static lt_status take_weights(const lt_network *n, const lt_tensor_list *weights, results *dense,
                              const void **data)
{
    for (int64_t i = 0; i < weights->n; i++) {
        const lt_dims sizes = size_of_weight(n, i);
        LT_TRY(check_weight(n, weights->v[i], "a weight", &sizes, &dense->v[i]));
        dense->n++;
        data[i] = lt_data(dense->v[i]);
    }
    return LT_OK;
}

lt_status lt_recurrent_network_forward(const lt_network_args *args, bool keep, lt_tensor_list *out)
{
    lt_network n = {.keeps = keep};
    lt_network_arrays a = {0};
    results dense = {0}, made = {0};
    lt_tensor *input = args->input, *hx = args->hx, *cx = args->cx;
    const lt_tensor_list *weights = args->weights;
    lt_tensor *x = NULL, *h0 = NULL, *c0 = NULL;
    const void **data = NULL;
    lt_status status;
    const lt_backend *backend = lt_backend_of(input);
    out->n = 0;
    LT_CHECK(describe_network(&n, input, hx, cx, args->cell, args->layers, args->bidirectional));
    n.bias = weights->n == 4 * hx->sizes[0];
    if (weights->n != lt_network_weights(&n)) {
        status = lt_error(LT_ERR_RUNTIME,
                          "_recurrent_network: expected two or four weights for each of %lld "
                          "states, but got %lld",
                          (long long)hx->sizes[0], (long long)weights->n);
        goto done;
    }
    if (backend->network_sizes == NULL || input->numel == 0 || hx->numel == 0) goto done;
    LT_CHECK(backend->network_sizes(&n, &a.sizes));
    if (a.sizes.weights == 0) goto done;
    const lt_dims of_input = lt_dims_of(input), of_state = size_of_state(&n),
                  of_output = size_of_output(&n);
    LT_CHECK(check_weight(&n, input, "input", &of_input, &x));
    LT_CHECK(check_weight(&n, hx, "hx", &of_state, &h0));
    LT_CHECK(check_weight(&n, cx, "cx", &of_state, &c0));
    LT_CHECK(begin_results(&dense, weights->n));
    if ((data = lt_mem_zarray(weights->n, sizeof *data)) == NULL) {
        status = LT_ERR_MEMORY;
        goto done;
    }
    LT_CHECK(take_weights(&n, weights, &dense, data));
    LT_CHECK(begin_results(&made, 5));
    LT_CHECK(add_result(&made, n.dtype, n.device, &of_output));
    LT_CHECK(add_result(&made, n.dtype, n.device, &of_state));
    if (cx != NULL) LT_CHECK(add_result(&made, n.dtype, n.device, &of_state));
    const int64_t own = made.n;
    LT_CHECK(add_bytes(&made, n.device, a.sizes.weights));
    if (keep) LT_CHECK(add_bytes(&made, n.device, a.sizes.kept));
    a.x = lt_data(x), a.h0 = lt_data(h0), a.c0 = c0 != NULL ? lt_data(c0) : NULL;
    a.y = lt_data(made.v[0]), a.h_last = lt_data(made.v[1]),
    a.c_last = cx != NULL ? lt_data(made.v[2]) : NULL;
    a.weights = data;
    a.own_weights = lt_data(made.v[own]);
    a.kept = keep ? lt_data(made.v[own + 1]) : NULL;
    LT_CHECK(backend->network(&n, &a));
    if (!keep) lt_tensor_release(made.v[--made.n]);
    store_results(&made, out);
    made = (results){0};
done:
    for (lt_tensor **t = (lt_tensor *[]){x, h0, c0}, **end = t + 3; t < end; t++)
        lt_tensor_release(*t);
    drop_results(&dense);
    drop_results(&made);
    lt_mem_free(data);
    return status;
}

/* ---- backward -------------------------------------------------------------------------------- */

static lt_status add_weight_gradients(const lt_network *n, results *made, void **data)
{
    for (int64_t i = 0; i < lt_network_weights(n); i++) {
        const lt_dims sizes = size_of_weight(n, i);
        LT_TRY(add_result(made, n->dtype, n->device, &sizes));
        data[i] = lt_data(made->v[made->n - 1]);
    }
    return LT_OK;
}

/* The gradient of the output, or zeros if there is none. */
static lt_status gradient_of_output(const lt_network *n, lt_tensor *grad_output, lt_tensor **out)
{
    const lt_dims sizes = size_of_output(n);
    if (grad_output != NULL) return check_weight(n, grad_output, "grad_output", &sizes, out);
    LT_TRY(lt_tensor_new(n->dtype, n->device, sizes.n, sizes.v, out));
    return lt_fill_value(*out, lt_scalar_from_int(0));
}

lt_status lt__recurrent_network_backward_impl(
    lt_tensor *grad_output, lt_tensor *grad_hn, lt_tensor *grad_cn, lt_tensor *input, lt_tensor *hx,
    lt_tensor *cx, lt_tensor *output, lt_tensor *own_weights, lt_tensor *kept, const char *cell,
    int64_t num_layers, bool bidirectional, bool bias, bool needs_weights, lt_tensor_list *out)
{
    lt_network n = {.keeps = true};
    lt_network_arrays a = {0};
    results made = {0};
    lt_tensor *x = NULL, *h0 = NULL, *c0 = NULL, *y = NULL, *gy = NULL, *gh = NULL, *gc = NULL,
              *spoiled = NULL;
    void **data = NULL;
    lt_status status;
    const lt_backend *backend = lt_backend_of(input);
    out->n = 0;
    LT_CHECK(describe_network(&n, input, hx, cx, cell, num_layers, bidirectional));
    n.bias = bias;
    if (backend->network_backward == NULL || own_weights->dtype != LT_UINT8 ||
        kept->dtype != LT_UINT8) {
        status = lt_error(
            LT_ERR_RUNTIME,
            "_recurrent_network_backward: these are not the results of _recurrent_network");
        goto done;
    }
    const lt_dims of_input = lt_dims_of(input), of_state = size_of_state(&n),
                  of_output = size_of_output(&n);
    LT_CHECK(check_weight(&n, input, "input", &of_input, &x));
    LT_CHECK(check_weight(&n, hx, "hx", &of_state, &h0));
    LT_CHECK(check_weight(&n, cx, "cx", &of_state, &c0));
    LT_CHECK(check_weight(&n, output, "output", &of_output, &y));
    LT_CHECK(gradient_of_output(&n, grad_output, &gy));
    LT_CHECK(check_weight(&n, grad_hn, "grad_hn", &of_state, &gh));
    LT_CHECK(check_weight(&n, grad_cn, "grad_cn", &of_state, &gc));
    /* copied, since the graph may be traversed again */
    LT_CHECK(lt_tensor_new(LT_UINT8, kept->device, 1, kept->sizes, &spoiled));
    LT_CHECK(lt_copy_elements(spoiled, kept));
    LT_CHECK(begin_results(&made, 3 + lt_network_weights(&n)));
    if ((data = lt_mem_zarray(lt_network_weights(&n), sizeof *data)) == NULL) {
        status = LT_ERR_MEMORY;
        goto done;
    }
    LT_CHECK(add_result(&made, n.dtype, n.device, &of_input));
    LT_CHECK(add_result(&made, n.dtype, n.device, &of_state));
    if (cx != NULL) LT_CHECK(add_result(&made, n.dtype, n.device, &of_state));
    a.grad_x = lt_data(made.v[0]), a.grad_h0 = lt_data(made.v[1]),
    a.grad_c0 = cx != NULL ? lt_data(made.v[2]) : NULL;
    if (needs_weights) LT_CHECK(add_weight_gradients(&n, &made, data));
    a.grad_weights = needs_weights ? data : NULL;
    a.x = lt_data(x), a.h0 = lt_data(h0), a.c0 = c0 != NULL ? lt_data(c0) : NULL, a.y = lt_data(y);
    a.own_weights = lt_data(own_weights), a.kept = lt_data(spoiled);
    a.sizes = (lt_network_sizes){own_weights->numel, spoiled->numel};
    a.grad_y = lt_data(gy), a.grad_h_last = gh != NULL ? lt_data(gh) : NULL,
    a.grad_c_last = gc != NULL ? lt_data(gc) : NULL;
    LT_CHECK(backend->network_backward(&n, &a));
    store_results(&made, out);
    made = (results){0};
done:
    for (lt_tensor **t = (lt_tensor *[]){x, h0, c0, y, gy, gh, gc, spoiled}, **end = t + 8; t < end;
         t++)
        lt_tensor_release(*t);
    drop_results(&made);
    lt_mem_free(data);
    return status;
}
