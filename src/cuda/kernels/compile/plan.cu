/* plan.cu - see plan.cuh. */
#include "plan.cuh"

#include <stdlib.h>
#include <string.h>

#include "iter.h"
#include "kernels/rows.cuh"
#include "kernels/element.cuh"
#include "kernels/offsets.cuh"
#include "kernels/split.cuh"
#include "kernels/pointwise/numbers.cuh"
#include "kernels/reduce/steps.cuh"
#include "pointwise_ops.h" /* generated from the declarations */

enum { MOST_BYTES = 3900 }; /* of arguments: the limit was 4096 before CUDA 12.1 */

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_result(const lt_fusion *c, int v)
{
    for (int s = 0; s < c->n_steps; s++)
        if (c->steps[s].out == v) return true;
    return false;
}

/* Elements per thread: 16 bytes of the narrowest value in memory, but at most 8 elements and 32
 * bytes of the widest. */
void lt_fused_plan::choose_run(const lt_fusion *c)
{
    int64_t least = 8, most = 1;
    for (int v = 0; v < c->n_values; v++) {
        const lt_fused_value *value = &c->values[v];
        const int64_t size = lt_element_size(value->dtype);
        if (value->data == nullptr || value->number) continue;
        if (size < least) least = size;
        if (size > most) most = size;
    }
    run = static_cast<int>(16 / least);
    while (run > 8 || run * most > 32) run /= 2;
    if (end.is_there()) run = end.run;
}

/* If the innermost size is a multiple of the run, all elements of a thread have the same outer
 * indices, so their stride is known when the source is generated. */
bool lt_fused_plan::add_walk(const lt_iter *it, lt_fused_offset *place)
{
    const int64_t size = lt_element_size(it->dtype[1]);
    lt_fused_walk walk = {};
    if (it->ndim > LT_FUSED_DIMS || !lt_is_piece(it)) return false;
    for (int d = 0; d < it->ndim; d++) {
        lt_divider divider;
        walk.stride[d] = static_cast<int32_t>(it->strides[1][d]);
        if (d == it->ndim - 1) break;
        divider.set(static_cast<uint32_t>(it->sizes[d]));
        walk.size[d] = divider.divisor;
        walk.magic[d] = divider.magic;
        walk.shift[d] = divider.shift;
    }
    const bool runs = it->ndim == 1 || it->sizes[0] % run == 0;
    place->where = !runs                       ? LT_FUSED_ANYWHERE
                   : it->strides[1][0] == 0    ? LT_FUSED_REPEATED
                   : it->strides[1][0] == size ? LT_FUSED_TOGETHER
                                               : LT_FUSED_APART;
    place->dims = static_cast<uint8_t>(it->ndim);
    place->walk = static_cast<int8_t>(walks.size());
    if (place->where == LT_FUSED_TOGETHER)
        for (int d = 1; d < it->ndim; d++)
            if (it->strides[1][d] % (size * run) != 0) aligned = false;
    walks.push_back(walk);
    return true;
}

bool lt_fused_plan::add_value(const lt_fusion *c, int v)
{
    const lt_fused_value *value = &c->values[v];
    lt_fused_offset place = {};
    place.dtype = static_cast<uint8_t>(value->dtype);
    place.data = place.walk = -1;
    if (value->dtype > LT_FLOAT64) return false;
    if (is_result(c, v)) {
        place.where = LT_FUSED_STEP;
        place.written = value->data != nullptr;
    } else if (value->host) {
        place.where = LT_FUSED_UNREAD;
    } else if (value->number) {
        place.where = LT_FUSED_ONE;
    } else if (value->walk == nullptr) {
        place.where = LT_FUSED_DENSE;
    } else if (!add_walk(value->walk, &place)) {
        return false;
    }
    if (place.where != LT_FUSED_UNREAD && value->data != nullptr) {
        const bool dense = place.written || place.where == LT_FUSED_DENSE;
        const int64_t size = lt_element_size(value->dtype);
        place.data = static_cast<int8_t>(data.size());
        data.push_back(value->data);
        step.push_back(dense ? size : 0);
        const uintptr_t whole = static_cast<uintptr_t>(size * run < 16 ? size * run : 16);
        if ((dense || place.where == LT_FUSED_TOGETHER) &&
            reinterpret_cast<uintptr_t>(value->data) % whole != 0)
            aligned = false;
    }
    places.push_back(place);
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

template <class C> static C rounded(lt_dtype compute, C value, bool exact)
{
    return exact ? value : lt_rounded(compute, value);
}

/* Converts a host number as the eager op does: rounded to the compute dtype, except conditions and
 * operands that the op uses exactly. */
void lt_fused_plan::add_number(const lt_fused_value *value, const lt_fused_action &action,
                               int input)
{
    const lt_dtype compute = static_cast<lt_dtype>(action.compute);
    const bool condition = input == 0 && lt_fused_formula_of(action.op, compute)->selects;
    const bool exact = condition || (input == 1 && lt_is_floating(compute) &&
                                     lt_cuda_takes_exact_number(action.op));
    lt_fused_number number = {};
    if (compute == LT_FLOAT64)
        number.d = rounded(compute, lt_load<double>(value->dtype, value->data), exact);
    else if (lt_is_floating(compute))
        number.f = rounded(compute, lt_load<float>(value->dtype, value->data), exact);
    else if (compute == LT_BOOL)
        number.b = rounded(compute, lt_load<uint8_t>(value->dtype, value->data), exact);
    else
        number.i = rounded(compute, lt_load<int64_t>(value->dtype, value->data), exact);
    numbers.push_back(number);
}

void lt_fused_plan::add_params(const lt_fused_step *s, lt_fused_action *action)
{
    action->param = s->n_params > 0 ? static_cast<int16_t>(numbers.size()) : int16_t{-1};
    for (int i = 0; i < s->n_params; i++) {
        lt_fused_number number = {};
        if (s->compute == LT_FLOAT64)
            number.d = lt_number<double>(s->params[i]);
        else if (lt_is_floating(s->compute))
            number.f = lt_number<float>(s->params[i]);
        else if (s->compute == LT_BOOL)
            number.b = lt_rounded(s->compute, lt_number<uint8_t>(s->params[i]));
        else
            number.i = lt_rounded(s->compute, lt_number<int64_t>(s->params[i]));
        numbers.push_back(number);
    }
}

bool lt_fused_plan::add_step(const lt_fusion *c, const lt_fused_step *s)
{
    lt_fused_action action = {};
    action.op = static_cast<int16_t>(s->op);
    action.compute = static_cast<uint8_t>(s->compute);
    action.n = static_cast<uint8_t>(s->n);
    action.n_params = static_cast<uint8_t>(s->n_params);
    action.out = static_cast<int8_t>(s->out);
    const lt_fused_value *second = s->n == 2 ? &c->values[s->in[1]] : nullptr;
    if (s->op == LT_PW_POW && lt_is_floating(s->compute) && second->host) {
        const double exponent = lt_load<double>(second->dtype, second->data);
        action.op = static_cast<int16_t>(lt_cuda_shorter_power(exponent));
        if (action.op != LT_PW_POW || exponent == 3) action.n = 1;
    }
    if (s->op == LT_FUSED_COPY) {
        if (c->values[s->in[0]].host) return false; /* not generated by any fusion */
    } else if (lt_fused_formula_of(action.op, s->compute) == nullptr) {
        return false;
    }
    for (int i = 0; i < action.n; i++) {
        const lt_fused_value *value = &c->values[s->in[i]];
        action.in[i] = static_cast<int8_t>(s->in[i]);
        action.number[i] = -1;
        if (!value->host) continue;
        action.number[i] = static_cast<int16_t>(numbers.size());
        add_number(value, action, i);
    }
    add_params(s, &action);
    actions.push_back(action);
    return true;
}

/* ---- consumers of the value ------------------------------------------------------------------ */

static const char *computed_in(bool wide) { return wide ? "double" : "float"; }

lt_fused_end lt_fused_end_lines(int value, const char *step, bool wide, bool light, const char *out)
{
    return {value,
            wide,
            LT_REDUCE_ROW,
            LT_FUSED_BLOCK,
            light && !wide,
            false,
            std::string("lt_reduce_lines<") + step + ", " + computed_in(wide) + ", " + out + ">"};
}

lt_fused_end lt_fused_end_held_lines(int value, const lt_fused_two_steps &steps, bool wide,
                                     const char *out)
{
    return {value,
            wide,
            LT_REDUCE_ROW,
            LT_FUSED_BLOCK,
            false,
            false,
            std::string("lt_reduce_held_lines<") + steps.first + ", " + steps.second + ", " +
                std::to_string(steps.runs) + ", " + computed_in(wide) + ", " + out + ">"};
}

lt_fused_end lt_fused_end_rows(int value, const char *function, lt_dtype dtype,
                               const lt_row_team &team, const char *more)
{
    const bool wide = dtype == LT_FLOAT64;
    const int threads = static_cast<int>(team.block.x);
    return {value,
            wide,
            static_cast<int>(16 / lt_element_size(dtype)),
            threads > LT_FUSED_BLOCK ? threads : int{LT_FUSED_BLOCK},
            false,
            true,
            std::string(function) + "<" + lt_fused_element(dtype) + ", " + computed_in(wide) +
                (team.held ? ", true, " : ", false, ") + std::to_string(team.vectors) +
                (more != nullptr ? std::string(", ") + more : "") + ">"};
}

/* ---- the plan -------------------------------------------------------------------------------- */

bool lt_fused_plan::make(const lt_fusion *c, const lt_fused_end &what_becomes)
{
    static_assert(LT_FUSED_VALUES < 128, "numbers of values are bytes");
    numel = static_cast<uint64_t>(c->numel);
    aligned = true;
    end = what_becomes;
    choose_run(c);
    for (int v = 0; v < c->n_values; v++)
        if (!add_value(c, v)) return false;
    for (int s = 0; s < c->n_steps; s++)
        if (!add_step(c, &c->steps[s])) return false;
    /* Indices are 32 bits where there are strided values or a consumer. */
    if ((!walks.empty() || end.is_there()) && c->numel >= lt_split_limit()) return false;
    return end.bytes() + 16 + sizeof(char *) * data.size() +
               sizeof(lt_fused_number) * numbers.size() + sizeof(lt_fused_walk) * walks.size() <
           MOST_BYTES;
}

template <class T> static void append_to_key(std::string *key, const T &value)
{
    key->append(reinterpret_cast<const char *>(&value), sizeof value);
}

std::string lt_fused_plan::key() const
{
    std::string key;
    append_to_key(&key, run);
    append_to_key(&key, places.size());
    for (const lt_fused_offset &p : places) append_to_key(&key, p);
    for (const lt_fused_action &a : actions) append_to_key(&key, a);
    if (!end.is_there()) return key;
    append_to_key(&key, end.value);
    append_to_key(&key, end.threads);
    return key + end.taker;
}
