/* plan.c - plans: the fusion group of an earlier run, as the trace built it (compile/evaluate.h),
 * with the addresses left out. A run fills them in and calls the backend: no operation is resolved,
 * nothing is recorded. */
#include <string.h>

#include "compile/c_source.h"
#include "compile/deferred_value.h"
#include "compile/trace.h"
#include "context/context.h"
#include "devices/backend.h"
#include "error.h"
#include "expression.h"
#include "lock.h"
#include "memory/alloc.h"

enum { CONSTANT = -1, COMPUTED = -2 };

struct lt_formula_plan {
    _Atomic int32_t refs;
    lt_formula_key key;
    bool valid;                    /* false: inputs of this key have to be traced */
    _Atomic(lt_formula_loop) loop; /* NULL: the steps are interpreted */
    atomic_bool decided;           /* a loop was set, or NULL */
    int source[LT_FUSED_VALUES];   /* of each value: an input, CONSTANT, or COMPUTED */
    int output[LT_FORMULA_OUTPUTS];
    _Alignas(16) char constants[LT_FUSED_VALUES][16];
    lt_fusion fusion;
};

static void release_plan(lt_formula_plan *plan)
{
    if (plan != NULL && atomic_fetch_sub_explicit(&plan->refs, 1, memory_order_acq_rel) == 1)
        lt_mem_free(plan);
}

void lt_formula_free_plans(lt_formula *f)
{
    for (int i = 0; i < LT_FORMULA_PLANS; i++) release_plan(f->plans[i]);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool fits(const lt_tensor *t, const lt_tensor *like)
{
    return lt_is_contiguous(t) && t->numel > 1 && lt_same_sizes(t, like) &&
           lt_device_equal(t->device, like->device) &&
           !(t->flags & (LT_FLAG_POSITIONS | LT_FLAG_SPARSE));
}

bool lt_formula_key_of(const lt_formula *f, const lt_value *inputs, lt_formula_key *key,
                       lt_tensor **like)
{
    memset(key, 0, sizeof *key);
    *like = NULL;
    for (int i = 0; i < f->n_inputs; i++) {
        const lt_value *v = &inputs[i];
        key->input[i].kind = v->kind;
        if (v->kind == LT_KIND_TENSOR) {
            if (*like == NULL) *like = v->v.tensor;
            if (!fits(v->v.tensor, *like)) return false;
            key->input[i].dtype = v->v.tensor->dtype;
        } else if (v->kind == LT_KIND_DOUBLE) {
            memcpy(&key->input[i].bits, &v->v.d, sizeof(double));
        } else {
            key->input[i].bits = v->kind == LT_KIND_BOOL ? v->v.b : v->v.i;
        }
    }
    if (*like == NULL) return false;
    key->device = (*like)->device;
    key->default_dtype = lt_get_default_dtype();
    return true;
}

/* ---- keeping --------------------------------------------------------------------------------- */

typedef struct keeping {
    const lt_formula *f;
    const lt_value *inputs;
    lt_tensor *const *results;
    int groups;
    lt_formula_plan *plan;
} keeping;

/* The input with the elements of t, an alias of it; -1: none. */
static int input_read(const keeping *k, const lt_tensor *t)
{
    int found = -1;
    for (int i = 0; i < k->f->n_inputs; i++) {
        const lt_tensor *input = k->inputs[i].v.tensor;
        if (k->inputs[i].kind != LT_KIND_TENSOR || input->dtype != t->dtype ||
            !lt_same_elements(input, t))
            continue;
        if (found >= 0) return -1; /* two inputs share memory: others may not */
        found = i;
    }
    return found;
}

static bool keep_value(const keeping *k, lt_fused_value *v, const lt_tensor *read, int *source,
                       char *constant)
{
    *source = COMPUTED;
    if (read != NULL && v->number) { /* of the text or the key: tensors have more elements */
        if (read->device.type != LT_CPU) return false;
        *source = CONSTANT;
        memcpy(constant, v->data, lt_dtype_size(v->dtype));
    } else if (read != NULL) {
        *source = input_read(k, read);
        if (*source < 0 || lt_is_gathered(v)) return false;
    }
    v->data = NULL;
    return true;
}

/* Called with the group before it runs. */
static void keep_group(void *context, const lt_fusion *fusion, const lt_tensor *const *read)
{
    keeping *k = context;
    lt_formula_plan *plan = k->plan;
    if (k->groups++ > 0) plan->valid = false;
    if (!plan->valid) return;
    plan->fusion = *fusion;
    for (int v = 0; v < fusion->n_values && plan->valid; v++)
        plan->valid =
            keep_value(k, &plan->fusion.values[v], read[v], &plan->source[v], plan->constants[v]);
    for (int i = 0; i < k->f->n_outputs && plan->valid; i++) {
        const lt_deferred *p = lt_deferred_of(k->results[i]->storage);
        plan->valid = p != NULL && fusion->values[p->value].data != NULL;
        plan->output[i] = plan->valid ? p->value : -1;
        for (int j = 0; j < i; j++) plan->valid = plan->valid && plan->output[j] != plan->output[i];
    }
}

/* Whether each result is deferred and has the geometry of a plan's results. */
static bool all_deferred(const lt_formula *f, lt_tensor *const *results, const lt_tensor *like)
{
    for (int i = 0; i < f->n_outputs; i++)
        if (lt_deferred_of(results[i]->storage) == NULL || !lt_same_sizes(results[i], like) ||
            !lt_is_contiguous(results[i]))
            return false;
    return true;
}

lt_status lt_formula_keep_plan(lt_formula *f, const lt_formula_key *key, const lt_value *inputs,
                               lt_tensor *const *results)
{
    lt_formula_plan *plan = lt_mem_zalloc(sizeof *plan), *old;
    const lt_tensor *like = NULL;
    if (plan == NULL) return LT_ERR_MEMORY;
    for (int i = 0; i < f->n_inputs && like == NULL; i++)
        if (inputs[i].kind == LT_KIND_TENSOR) like = inputs[i].v.tensor;
    keeping k = {f, inputs, results, 0, plan};
    atomic_init(&plan->refs, 1);
    atomic_init(&plan->loop, NULL);
    atomic_init(&plan->decided, false);
    plan->key = *key;
    plan->valid = all_deferred(f, results, like);
    struct lt_trace *w = lt_tls.open_trace;
    w->observe = keep_group;
    w->observer = &k;
    const lt_status status = lt_trace_flush();
    w->observe = NULL;
    if (status != LT_OK) {
        lt_mem_free(plan);
        return status;
    }
    plan->valid = plan->valid && k.groups == 1;
    pthread_mutex_lock(&f->lock);
    old = f->plans[f->next_plan];
    f->plans[f->next_plan] = plan;
    f->next_plan = (f->next_plan + 1) % LT_FORMULA_PLANS;
    lt_unlock(&f->lock);
    release_plan(old);
    return LT_OK;
}

/* ---- running --------------------------------------------------------------------------------- */

/* New reference; NULL: none. */
static lt_formula_plan *plan_of(lt_formula *f, const lt_formula_key *key)
{
    lt_formula_plan *plan = NULL;
    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < LT_FORMULA_PLANS && plan == NULL; i++)
        if (f->plans[i] != NULL && memcmp(&f->plans[i]->key, key, sizeof *key) == 0) {
            plan = f->plans[i];
            atomic_fetch_add_explicit(&plan->refs, 1, memory_order_relaxed);
        }
    lt_unlock(&f->lock);
    return plan;
}

/* Fills in the addresses of the inputs. c: not zeroed, since it is large. */
static void place_inputs(lt_formula_plan *plan, const lt_value *inputs, const lt_tensor *like,
                         lt_fusion *c)
{
    c->device = plan->fusion.device;
    c->numel = like->numel;
    c->loop = atomic_load_explicit(&plan->loop, memory_order_acquire);
    c->n_steps = plan->fusion.n_steps;
    c->n_values = plan->fusion.n_values;
    memcpy(c->steps, plan->fusion.steps, (size_t)c->n_steps * sizeof *c->steps);
    memcpy(c->values, plan->fusion.values, (size_t)c->n_values * sizeof *c->values);
    for (int v = 0; v < c->n_values; v++) {
        if (plan->source[v] >= 0)
            c->values[v].data = lt_data(inputs[plan->source[v]].v.tensor);
        else if (plan->source[v] == CONSTANT)
            c->values[v].data = plan->constants[v];
    }
}

static lt_status run(const lt_formula *f, lt_formula_plan *plan, const lt_value *inputs,
                     const lt_tensor *like, lt_tensor **results, bool *done)
{
    lt_fusion c;
    int made = 0;
    lt_status status = LT_OK;
    place_inputs(plan, inputs, like, &c);
    for (; made < f->n_outputs; made++) {
        lt_fused_value *v = &c.values[plan->output[made]];
        LT_CHECK(lt_tensor_shaped(like, v->dtype, &results[made]));
        v->data = lt_data(results[made]);
    }
    LT_CHECK(lt_backends[c.device.type]->run_fusion(&c, done));
    if (*done) return LT_OK;
done:
    for (int i = 0; i < made; i++) lt_tensor_release(results[i]);
    return status;
}

lt_status lt_formula_run_plan(lt_formula *f, const lt_formula_key *key, const lt_value *inputs,
                              lt_tensor *like, lt_tensor **results, bool *found, bool *done)
{
    lt_formula_plan *plan = plan_of(f, key);
    lt_status status = LT_OK;
    *found = plan != NULL;
    *done = false;
    for (int i = 0; i < f->n_inputs && status == LT_OK; i++)
        if (inputs[i].kind == LT_KIND_TENSOR) status = lt_materialize(f->name, inputs[i].v.tensor);
    if (status == LT_OK && plan != NULL && plan->valid)
        status = run(f, plan, inputs, like, results, done);
    release_plan(plan);
    return status;
}

/* ---- compiled loops -------------------------------------------------------------------------- */

bool lt_formula_lacks_loop(lt_formula *f, const lt_formula_key *key)
{
    lt_formula_plan *plan = plan_of(f, key);
    const bool lacks = plan == NULL || !atomic_load_explicit(&plan->decided, memory_order_relaxed);
    release_plan(plan);
    return lacks;
}

lt_status lt_formula_plan_source(lt_formula *f, const lt_formula_key *key, const lt_value *inputs,
                                 lt_tensor *like, char **source)
{
    lt_formula_plan *plan = plan_of(f, key);
    lt_status status = LT_OK;
    lt_fusion c;
    *source = NULL;
    if (plan != NULL && plan->valid && like->device.type == LT_CPU) {
        place_inputs(plan, inputs, like, &c);
        /* any address: these values are stored */
        for (int i = 0; i < f->n_outputs; i++) c.values[plan->output[i]].data = lt_data(like);
        status = lt_fusion_c_source(&c, source);
    }
    release_plan(plan);
    return status;
}

void lt_formula_plan_set_loop(lt_formula *f, const lt_formula_key *key, lt_formula_loop loop)
{
    lt_formula_plan *plan = plan_of(f, key);
    if (plan == NULL) return;
    atomic_store_explicit(&plan->loop, loop, memory_order_release);
    atomic_store_explicit(&plan->decided, true, memory_order_relaxed);
    release_plan(plan);
}
