/* optim.c - the steps of optimizers: each has lists of parameters, gradients and state, and updates
 * parameters and state in one pass over memory. The numbers of a step (such as bias corrections)
 * are computed here, in double, in the order in which the rule's formula uses them
 * (formulas/optim.inc). */
#include <math.h>

#include "ops/common.h"
#include "user_index.h"
#include "devices/device.h"
#include "memory/alloc.h"
#include "saturating.h"
#include "overlap.h"
#include "ops/pointwise.h"
#include "op/fused_adadelta_.h"
#include "op/fused_adagrad_.h"
#include "op/fused_adam_.h"
#include "op/fused_adamax_.h"
#include "op/fused_asgd_.h"
#include "op/fused_nadam_.h"
#include "op/fused_radam_.h"
#include "op/fused_rmsprop_.h"
#include "op/fused_rprop_.h"
#include "op/fused_sgd_.h"

/* The lists of one step, parameters first. */
typedef struct optim_step {
    const char *name;
    lt_optim_rule rule;
    int arrays;
    const lt_tensor_list *lists[LT_OPTIM_ARRAYS];
    double numbers[LT_OPTIM_NUMBERS];
} optim_step;

static const int arrays_of[] = {
#define ARRAYS(name, NAME, arrays) arrays,
    LT_OPTIM_RULES(ARRAYS)
#undef ARRAYS
};

/* ---- layout ---------------------------------------------------------------------------------- */

static bool same_numbers(int n, const int64_t *a, const int64_t *b)
{
    for (int d = 0; d < n; d++)
        if (a[d] != b[d]) return false;
    return true;
}

/* Whether all arrays have the same memory order, so that they can be processed as flat arrays. */
static bool walks_as_one(const optim_step *s, int64_t row)
{
    const lt_tensor *w = s->lists[0]->v[row];
    bool contiguous = true, alike = true;
    for (int k = 0; k < s->arrays; k++) {
        const lt_tensor *t = s->lists[k]->v[row];
        contiguous = contiguous && lt_is_contiguous(t);
        alike = alike && same_numbers(w->ndim, t->strides, w->strides);
    }
    return contiguous || (alike && lt_is_dense(w));
}

static lt_status check_row(const optim_step *s, int64_t row)
{
    const lt_tensor *w = s->lists[0]->v[row];
    char text[256], other[256];
    if (!lt_dtype_is_float((lt_dtype)w->dtype))
        return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", s->name,
                        lt_dtype_scalar_name((lt_dtype)w->dtype));
    for (int k = 1; k < s->arrays; k++) {
        const lt_tensor *t = s->lists[k]->v[row];
        if (k > 1) LT_TRY(lt_prepare_write(t));
        if (!lt_device_equal(t->device, w->device))
            return lt_error(LT_ERR_RUNTIME,
                            "Expected all tensors to be on the same device, but found at least two "
                            "devices, %s and %s!",
                            lt_format_device(text, sizeof text, w->device),
                            lt_format_device(other, sizeof other, t->device));
        if (t->dtype != w->dtype)
            return lt_error(
                LT_ERR_RUNTIME,
                "%s: parameter %lld has dtype %s, but its gradient or state has dtype %s", s->name,
                lt_user_index(row), lt_dtype_name((lt_dtype)w->dtype),
                lt_dtype_name((lt_dtype)t->dtype));
        if (t->ndim != w->ndim || !same_numbers(w->ndim, t->sizes, w->sizes))
            return lt_error(
                LT_ERR_RUNTIME,
                "%s: parameter %lld has shape %s, but its gradient or state has shape %s", s->name,
                lt_user_index(row), lt_format_sizes(text, sizeof text, w->ndim, w->sizes),
                lt_format_sizes(other, sizeof other, t->ndim, t->sizes));
    }
    return LT_OK;
}

static lt_status check_step(const optim_step *s)
{
    for (int k = 1; k < s->arrays; k++)
        if (s->lists[k]->n != s->lists[0]->n)
            return lt_error(LT_ERR_RUNTIME, "%s: %lld parameters, but %lld gradients or states",
                            s->name, (long long)s->lists[0]->n, (long long)s->lists[k]->n);
    for (int64_t row = 0; row < s->lists[0]->n; row++) LT_TRY(check_row(s, row));
    return LT_OK;
}

/* ---- running --------------------------------------------------------------------------------- */

/* One parameter with arrays of different memory order: through contiguous copies. */
static lt_status run_copied(const optim_step *s, int64_t row, lt_optim *o)
{
    lt_tensor *work[LT_OPTIM_ARRAYS] = {NULL};
    void *data[LT_OPTIM_ARRAYS];
    lt_status status = LT_OK;
    for (int k = 0; k < s->arrays; k++) {
        LT_CHECK(lt_make_contiguous(s->lists[k]->v[row], &work[k]));
        data[k] = lt_data(work[k]);
    }
    o->n = 1;
    o->numel = &work[0]->numel;
    o->data = data;
    LT_CHECK(lt_backends[o->device.type]->optimize(o));
    for (int k = 0; k < s->arrays; k++)
        if (k != 1 && work[k] != s->lists[k]->v[row])
            LT_CHECK(lt_copy_elements(s->lists[k]->v[row], work[k]));
done:
    for (int k = 0; k < s->arrays; k++) lt_tensor_release(work[k]);
    return status;
}

/* Calls the backend once for each run of parameters of one dtype and device. */
static lt_status run_step(const optim_step *s)
{
    const int64_t n = s->lists[0]->n;
    LT_TRY(check_step(s));
    if (n == 0) return LT_OK;
    lt_status status = LT_OK;
    int64_t *numel = NULL;
    lt_optim o = {.rule = s->rule, .arrays = s->arrays};
    void **data = lt_mem_array(lt_mul_sat(n, s->arrays), sizeof *data);
    if (data == NULL) return LT_ERR_MEMORY;
    numel = lt_mem_array(n, sizeof *numel);
    if (numel == NULL) status = LT_ERR_MEMORY;
    for (int i = 0; i < LT_OPTIM_NUMBERS; i++) o.numbers[i] = s->numbers[i];
    for (int64_t row = 0; row < n && status == LT_OK;) {
        const lt_tensor *first = s->lists[0]->v[row];
        o.dtype = (lt_dtype)first->dtype;
        o.device = first->device;
        o.n = 0;
        for (; row < n; row++) {
            const lt_tensor *w = s->lists[0]->v[row];
            if (w->dtype != first->dtype || !lt_device_equal(w->device, first->device) ||
                !walks_as_one(s, row))
                break;
            if (w->numel == 0) continue;
            for (int k = 0; k < s->arrays; k++)
                data[o.n * s->arrays + k] = lt_data(s->lists[k]->v[row]);
            numel[o.n++] = w->numel;
        }
        o.numel = numel;
        o.data = data;
        if (o.n > 0) LT_CHECK(lt_backends[o.device.type]->optimize(&o));
        if (row < n && !walks_as_one(s, row)) {
            o.dtype = (lt_dtype)s->lists[0]->v[row]->dtype;
            o.device = s->lists[0]->v[row]->device;
            if (s->lists[0]->v[row]->numel > 0) LT_CHECK(run_copied(s, row, &o));
            row++;
        }
    }
done:
    lt_mem_free(data);
    lt_mem_free(numel);
    return status;
}

/* lists: parameters, gradients, state ...; as many as the rule has. */
static lt_status do_optim_step(const char *name, lt_optim_rule rule,
                               const lt_tensor_list *const *lists, const double *numbers, int count)
{
    optim_step s = {.name = name, .rule = rule, .arrays = arrays_of[rule]};
    for (int k = 0; k < s.arrays; k++) s.lists[k] = lists[k];
    for (int i = 0; i < count; i++) s.numbers[i] = numbers[i];
    return run_step(&s);
}

#define LISTS(...) ((const lt_tensor_list *const[]){__VA_ARGS__})
#define NUMBERS(...)                                                                               \
    ((const double[]){__VA_ARGS__}), (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static double sign_of(bool maximize) { return maximize ? -1 : 1; }

/* ---- the optimizers -------------------------------------------------------------------------- */

lt_status lt_fused_sgd__impl(const lt_tensor_list *self, const lt_tensor_list *grads,
                             const lt_tensor_list *momentum_buffers, double lr, double weight_decay,
                             double momentum, double dampening, bool nesterov, bool maximize,
                             bool is_first_step)
{
    return do_optim_step("SGD", momentum != 0 ? LT_OPTIM_SGD_MOMENTUM : LT_OPTIM_SGD,
                         LISTS(self, grads, momentum_buffers),
                         NUMBERS(sign_of(maximize), weight_decay, lr, momentum, 1 - dampening,
                                 nesterov, is_first_step));
}

lt_status lt_fused_adam__impl(const lt_tensor_list *self, const lt_tensor_list *grads,
                              const lt_tensor_list *exp_avgs, const lt_tensor_list *exp_avg_sqs,
                              const lt_tensor_list *max_exp_avg_sqs, double step, double lr,
                              double beta1, double beta2, double weight_decay, double eps,
                              bool decoupled, bool amsgrad, bool maximize)
{
    double correction1 = 1 - pow(beta1, step), correction2 = 1 - pow(beta2, step);
    return do_optim_step("Adam", amsgrad ? LT_OPTIM_ADAM_AMSGRAD : LT_OPTIM_ADAM,
                         LISTS(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs),
                         NUMBERS(sign_of(maximize), decoupled ? 0 : weight_decay,
                                 decoupled ? 1 - lr * weight_decay : 1, 1 - beta1, beta2, 1 - beta2,
                                 sqrt(correction2), eps, lr / correction1));
}

lt_status lt_fused_nadam__impl(const lt_tensor_list *self, const lt_tensor_list *grads,
                               const lt_tensor_list *exp_avgs, const lt_tensor_list *exp_avg_sqs,
                               double step, double mu, double mu_next, double mu_product, double lr,
                               double beta1, double beta2, double weight_decay, double eps,
                               bool decoupled, bool maximize)
{
    return do_optim_step("NAdam", LT_OPTIM_NADAM, LISTS(self, grads, exp_avgs, exp_avg_sqs),
                         NUMBERS(sign_of(maximize), decoupled ? 0 : weight_decay,
                                 decoupled ? 1 - lr * weight_decay : 1, 1 - beta1, beta2, 1 - beta2,
                                 1 - pow(beta2, step), eps, lr * (1 - mu) / (1 - mu_product),
                                 lr * mu_next / (1 - mu_product * mu_next)));
}

lt_status lt_fused_radam__impl(const lt_tensor_list *self, const lt_tensor_list *grads,
                               const lt_tensor_list *exp_avgs, const lt_tensor_list *exp_avg_sqs,
                               double step, double lr, double beta1, double beta2,
                               double weight_decay, double eps, bool decoupled, bool maximize)
{
    double power = pow(beta2, step), most = 2 / (1 - beta2) - 1,
           length = most - 2 * step * power / (1 - power);
    double rectified = 0;
    if (length > 5)
        rectified = sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)) *
                    sqrt(1 - power);
    return do_optim_step("RAdam", LT_OPTIM_RADAM, LISTS(self, grads, exp_avgs, exp_avg_sqs),
                         NUMBERS(sign_of(maximize), decoupled ? 0 : weight_decay,
                                 decoupled ? 1 - lr * weight_decay : 1, 1 - beta1, beta2, 1 - beta2,
                                 1 - pow(beta1, step), eps, lr, rectified));
}

lt_status lt_fused_adagrad__impl(const lt_tensor_list *self, const lt_tensor_list *grads,
                                 const lt_tensor_list *sums, double step, double lr,
                                 double lr_decay, double weight_decay, double eps, bool maximize)
{
    return do_optim_step(
        "Adagrad", LT_OPTIM_ADAGRAD, LISTS(self, grads, sums),
        NUMBERS(sign_of(maximize), weight_decay, lr / (1 + (step - 1) * lr_decay), eps));
}

lt_status lt_fused_adadelta__impl(const lt_tensor_list *self, const lt_tensor_list *grads,
                                  const lt_tensor_list *square_avgs,
                                  const lt_tensor_list *acc_deltas, double lr, double rho,
                                  double eps, double weight_decay, bool maximize)
{
    return do_optim_step("Adadelta", LT_OPTIM_ADADELTA, LISTS(self, grads, square_avgs, acc_deltas),
                         NUMBERS(sign_of(maximize), weight_decay, lr, rho, 1 - rho, eps));
}

lt_status lt_fused_adamax__impl(const lt_tensor_list *self, const lt_tensor_list *grads,
                                const lt_tensor_list *exp_avgs, const lt_tensor_list *exp_infs,
                                double step, double lr, double beta1, double beta2,
                                double weight_decay, double eps, bool maximize)
{
    return do_optim_step("Adamax", LT_OPTIM_ADAMAX, LISTS(self, grads, exp_avgs, exp_infs),
                         NUMBERS(sign_of(maximize), weight_decay, lr / (1 - pow(beta1, step)),
                                 1 - beta1, beta2, eps));
}

lt_status lt_fused_rmsprop__impl(const lt_tensor_list *self, const lt_tensor_list *grads,
                                 const lt_tensor_list *square_avgs, const lt_tensor_list *grad_avgs,
                                 const lt_tensor_list *momentum_buffers, double lr, double alpha,
                                 double eps, double weight_decay, double momentum, bool centered,
                                 bool maximize)
{
    const lt_tensor_list *plain[] = {self, grads, square_avgs, momentum_buffers};
    const lt_tensor_list *with_mean[] = {self, grads, square_avgs, grad_avgs, momentum_buffers};
    lt_optim_rule rule =
        centered ? momentum > 0 ? LT_OPTIM_RMSPROP_CENTERED_MOMENTUM : LT_OPTIM_RMSPROP_CENTERED
        : momentum > 0 ? LT_OPTIM_RMSPROP_MOMENTUM
                       : LT_OPTIM_RMSPROP;
    return do_optim_step(
        "RMSprop", rule, centered ? with_mean : plain,
        NUMBERS(sign_of(maximize), weight_decay, lr, alpha, 1 - alpha, eps, momentum));
}

lt_status lt_fused_asgd__impl(const lt_tensor_list *self, const lt_tensor_list *grads,
                              const lt_tensor_list *averages, double eta, double lambd, double mu,
                              double weight_decay, bool maximize)
{
    return do_optim_step("ASGD", LT_OPTIM_ASGD, LISTS(self, grads, averages),
                         NUMBERS(sign_of(maximize), weight_decay, eta, 1 - lambd * eta, mu));
}

lt_status lt_fused_rprop__impl(const lt_tensor_list *self, const lt_tensor_list *grads,
                               const lt_tensor_list *prevs, const lt_tensor_list *step_sizes,
                               double etaminus, double etaplus, double step_size_min,
                               double step_size_max, bool maximize)
{
    return do_optim_step(
        "Rprop", LT_OPTIM_RPROP, LISTS(self, grads, prevs, step_sizes),
        NUMBERS(sign_of(maximize), 0, etaminus, etaplus, step_size_min, step_size_max));
}
