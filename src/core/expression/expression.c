/* expression.c - formulas as objects, and their calls (include/ltensor_kernel.h). */
#include "expression.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "api/values.h"
#include "autograd/autograd.h"
#include "autograd/dual.h"
#include "compile/kernel_trace.h"
#include "compile/trace.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "ltensor_kernel.h"
#include "memory/alloc.h"

/* ---- objects --------------------------------------------------------------------------------- */

static void free_formula(lt_formula *f)
{
    lt_formula_free_plans(f);
    for (int i = 0; i < f->n_inputs; i++) lt_mem_free(f->inputs[i]);
    lt_mem_free(f->text);
    lt_mem_free(f->name);
    pthread_mutex_destroy(&f->lock);
    lt_mem_free(f);
}

lt_formula *lt_formula_retain(lt_formula *f)
{
    if (f != NULL) atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
    return f;
}

void lt_formula_release(lt_formula *f)
{
    if (f != NULL && atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) == 1)
        free_formula(f);
}

static bool is_identifier(const char *name)
{
    size_t n = 0;
    while (isalnum((unsigned char)name[n]) || name[n] == '_') n++;
    return n > 0 && n < 64 && name[n] == '\0' && !isdigit((unsigned char)name[0]);
}

/* The name of the node: "MishBackward0" of "mish". */
static lt_status name_node(lt_formula *f)
{
    char text[96];
    snprintf(text, sizeof text, "%.64sBackward0", f->name);
    text[0] = (char)toupper((unsigned char)text[0]);
    f->node_name = lt_node_name_kept(text);
    return f->node_name != NULL ? LT_OK : LT_ERR_MEMORY;
}

static lt_status check_names(const char *what, const char *const *names, int n, int most)
{
    if (n < 0 || n > most)
        return lt_error(LT_ERR_TYPE, "lt_kernel_elementwise(): %d %ss, at most %d are possible", n,
                        what, most);
    if (n > 0 && names == NULL) return lt_null_argument("lt_kernel_elementwise", what);
    for (int i = 0; i < n; i++) {
        if (names[i] == NULL) return lt_null_argument("lt_kernel_elementwise", what);
        if (!is_identifier(names[i]))
            return lt_error(LT_ERR_TYPE,
                            "elementwise(): %s '%.60s' must be a name: letters, digits and _", what,
                            names[i]);
        for (int j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                return lt_error(LT_ERR_TYPE, "elementwise(): two %ss have the name '%s'", what,
                                names[i]);
    }
    return LT_OK;
}

static lt_status check_options(const lt_kernel_options *o)
{
    if (o->size != sizeof *o)
        return lt_error(LT_ERR_TYPE,
                        "lt_kernel_elementwise(): the options have %zu bytes, not %zu; "
                        "initialize them by lt_kernel_options_new()",
                        o->size, sizeof *o);
    if (o->dtype < LT_DTYPE_NONE || o->dtype >= LT_DTYPE_COUNT)
        return lt_error(LT_ERR_TYPE, "lt_kernel_elementwise(): unknown dtype %d", (int)o->dtype);
    if (o->name != NULL && !is_identifier(o->name))
        return lt_error(LT_ERR_TYPE,
                        "elementwise(): name '%.60s' must consist of letters, digits and _",
                        o->name);
    LT_TRY(check_names("input", o->inputs, o->n_inputs, LT_FORMULA_INPUTS));
    return check_names("output", o->outputs, o->n_outputs, LT_FORMULA_OUTPUTS);
}

static lt_status fill(lt_formula *f, const char *text, const lt_kernel_options *o)
{
    LT_TRY(lt_save_string(&f->text, text));
    LT_TRY(lt_save_string(&f->name, o->name != NULL ? o->name : "elementwise"));
    LT_TRY(name_node(f));
    f->named = o->n_inputs > 0;
    f->dtype = o->dtype;
    for (int i = 0; i < o->n_inputs; i++) {
        LT_TRY(lt_save_string(&f->inputs[i], o->inputs[i]));
        f->n_inputs++;
    }
    LT_TRY(lt_formula_parse(f, o->outputs, o->n_outputs));
    if (f->n_inputs == 0)
        return lt_error(LT_ERR_TYPE, "%s(): the formula '%.60s' has no input", f->name, text);
    return LT_OK;
}

lt_status lt_kernel_elementwise(const char *text, const lt_kernel_options *options,
                                lt_formula **out)
{
    const lt_kernel_options none = lt_kernel_options_new();
    LT_REQUIRE(text);
    LT_REQUIRE(out);
    if (options == NULL) options = &none;
    LT_TRY(check_options(options));
    lt_formula *f = lt_mem_zalloc(sizeof *f);
    if (f == NULL) return LT_ERR_MEMORY;
    atomic_init(&f->refs, 1);
    pthread_mutex_init(&f->lock, NULL);
    const lt_status status = fill(f, text, options);
    if (status != LT_OK) {
        free_formula(f);
        return status;
    }
    *out = f;
    return LT_OK;
}

int lt_formula_inputs(const lt_formula *f) { return f != NULL ? f->n_inputs : 0; }
int lt_formula_outputs(const lt_formula *f) { return f != NULL ? f->n_outputs : 0; }

const char *lt_formula_input(const lt_formula *f, int i)
{
    return f != NULL && i >= 0 && i < f->n_inputs ? f->inputs[i] : NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* On the CPU, fewer elements stay in the caches between two operations without fusion. */
enum { FUSED_NUMEL = 16384 };

static lt_status check_call(const lt_formula *f, const lt_value *args, int nargs)
{
    if (nargs != f->n_inputs)
        return lt_error(LT_ERR_TYPE, "%s(): %d argument%s, but the formula has %d input%s (%s%s)",
                        f->name, nargs, nargs == 1 ? "" : "s", f->n_inputs,
                        f->n_inputs == 1 ? "" : "s", f->inputs[0], f->n_inputs > 1 ? ", ..." : "");
    if (args == NULL) return lt_null_argument("lt_formula_call", "args");
    for (int i = 0; i < nargs; i++) {
        LT_TRY(lt_host_value_check(f->name, "argument", i, lt_value_at(args, i), args->size));
        const lt_value *v = lt_value_at(args, i);
        const bool number =
            v->kind == LT_KIND_BOOL || v->kind == LT_KIND_INT || v->kind == LT_KIND_DOUBLE;
        if (!number && (v->kind != LT_KIND_TENSOR || v->v.tensor == NULL))
            return lt_error(LT_ERR_TYPE, "%s(): argument '%s' must be a Tensor or a number",
                            f->name, f->inputs[i]);
    }
    return LT_OK;
}

/* Whether the operations have to see the inputs one by one: under vmap, in forward mode, in a trace
 * of torch.compile, which fuses them with others, and for sparse tensors. */
static bool runs_apart(const lt_formula *f, const lt_value *inputs)
{
    if (lt_tls.open_trace != NULL) return true;
    for (int i = 0; i < f->n_inputs; i++) {
        const lt_tensor *t = inputs[i].v.tensor;
        if (inputs[i].kind != LT_KIND_TENSOR) continue;
        if (lt_is_batched(t) || lt_is_sparse(t) || (lt_tls.duals != 0 && lt_is_dual(t)))
            return true;
    }
    return false;
}

static bool requires_grad(const lt_formula *f, const lt_value *inputs)
{
    bool any = false;
    for (int i = 0; i < f->n_inputs && lt_grad_mode_on(); i++)
        any = any || (inputs[i].kind == LT_KIND_TENSOR && lt_requires_grad(inputs[i].v.tensor));
    return any;
}

int64_t lt_formula_min_numel(const lt_formula *f, const lt_value *inputs)
{
    for (int i = 0; i < f->n_inputs; i++)
        if (inputs[i].kind == LT_KIND_TENSOR && inputs[i].v.tensor->device.type != LT_CPU) return 1;
    return FUSED_NUMEL;
}

static void release_all(lt_tensor **results, int n)
{
    for (int i = 0; i < n; i++) lt_tensor_release(results[i]);
}

/* The operations in a trace. key: the group is kept as its plan; NULL: it is not. */
static lt_status trace(lt_formula *f, const lt_value *inputs, const lt_formula_key *key,
                       lt_tensor **results)
{
    LT_TRY(lt_trace_open_kernel(key != NULL ? 1 : lt_formula_min_numel(f, inputs)));
    lt_status status = lt_formula_compose(f, inputs, results);
    if (status == LT_OK && key != NULL) {
        status = lt_formula_keep_plan(f, key, inputs, results);
        if (status != LT_OK) release_all(results, f->n_outputs);
    }
    const lt_status closed = lt_trace_close();
    if (status == LT_OK && closed != LT_OK) {
        release_all(results, f->n_outputs);
        status = closed;
    }
    return status;
}

static lt_status compute(lt_formula *f, const lt_value *inputs, lt_tensor **results)
{
    lt_formula_key key;
    lt_tensor *like;
    bool found, done;
    if (!lt_formula_key_of(f, inputs, &key, &like)) return trace(f, inputs, NULL, results);
    LT_TRY(lt_formula_run_plan(f, &key, inputs, like, results, &found, &done));
    return done ? LT_OK : trace(f, inputs, found ? NULL : &key, results);
}

lt_status lt_formula_call(lt_formula *f, const lt_value *args, int nargs, lt_tensor **results)
{
    lt_value inputs[LT_FORMULA_INPUTS];
    lt_tensor *made[LT_FORMULA_OUTPUTS];
    LT_REQUIRE(f);
    LT_REQUIRE(results);
    LT_TRY(check_call(f, args, nargs));
    for (int i = 0; i < nargs; i++) inputs[i] = *lt_value_at(args, i);
    if (runs_apart(f, inputs)) {
        LT_TRY(lt_formula_compose(f, inputs, made));
    } else {
        const bool records = requires_grad(f, inputs), grad_mode = lt_grad_mode_on();
        lt_set_grad_enabled(false);
        lt_status status = compute(f, inputs, made);
        lt_set_grad_enabled(grad_mode);
        if (status == LT_OK && records) {
            status = lt_formula_record(f, inputs, made);
            if (status != LT_OK) release_all(made, f->n_outputs);
        }
        LT_TRY(status);
    }
    memcpy(results, made, (size_t)f->n_outputs * sizeof *made);
    return LT_OK;
}

/* ---- compiled loops -------------------------------------------------------------------------- */

bool lt_formula_wants_loop(lt_formula *f, const lt_value *inputs)
{
    lt_formula_key key;
    lt_tensor *like;
    return !runs_apart(f, inputs) && lt_formula_key_of(f, inputs, &key, &like) &&
           like->device.type == LT_CPU && lt_formula_lacks_loop(f, &key);
}

/* Whether inputs of this kind have a plan, which is made by a call if there is none. */
static lt_status find_plan(lt_formula *f, const lt_value *inputs, lt_formula_key *key,
                           lt_tensor **like, bool *found)
{
    lt_tensor *results[LT_FORMULA_OUTPUTS];
    *found = !runs_apart(f, inputs) && lt_formula_key_of(f, inputs, key, like);
    if (!*found) return LT_OK;
    const bool grad_mode = lt_set_grad_enabled(false);
    const lt_status status = compute(f, inputs, results);
    lt_set_grad_enabled(grad_mode);
    if (status == LT_OK) release_all(results, f->n_outputs);
    return status;
}

lt_status lt_formula_c_source(lt_formula *f, const lt_value *args, int nargs, char **source)
{
    lt_value inputs[LT_FORMULA_INPUTS];
    lt_formula_key key;
    lt_tensor *like;
    bool found;
    LT_REQUIRE(f);
    LT_REQUIRE(source);
    LT_TRY(check_call(f, args, nargs));
    for (int i = 0; i < nargs; i++) inputs[i] = *lt_value_at(args, i);
    *source = NULL;
    LT_TRY(find_plan(f, inputs, &key, &like, &found));
    return found ? lt_formula_plan_source(f, &key, inputs, like, source) : LT_OK;
}

lt_status lt_formula_set_loop(lt_formula *f, const lt_value *args, int nargs, lt_formula_loop loop)
{
    lt_value inputs[LT_FORMULA_INPUTS];
    lt_formula_key key;
    lt_tensor *like;
    bool found;
    LT_REQUIRE(f);
    LT_TRY(check_call(f, args, nargs));
    for (int i = 0; i < nargs; i++) inputs[i] = *lt_value_at(args, i);
    LT_TRY(find_plan(f, inputs, &key, &like, &found));
    if (found) lt_formula_plan_set_loop(f, &key, loop);
    return LT_OK;
}
