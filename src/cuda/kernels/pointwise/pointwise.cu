/* pointwise.cu - elementwise ops on a GPU: selects the family that has the kernel. Replaces powers
 * by simple ops for certain scalar exponents, as the CPU does. */
#include "kernels/split.cuh"
#include "numbers.cuh"
#include "pointwise.cuh"

#include "pointwise_ops.h" /* generated from the declarations */

static const char *name_of(int op)
{
    switch (op) {
#define NAME(ENUM, name)                                                                           \
    case LT_PW_##ENUM: return #name;
        LT_POINTWISE_LIST(NAME)
#undef NAME
    default: return "an unknown op";
    }
}

bool lt_cuda_takes_exact_number(int op)
{
    switch (op) {
#define CASE(ENUM) case LT_PW_##ENUM:
        LT_EXACT_NUMBER_LIST(CASE)
#undef CASE
        return true;
    default: return false;
    }
}

int lt_cuda_shorter_power(double exponent)
{
    if (exponent == 2) return LT_PW_SQUARE;
    if (exponent == 0.5) return LT_PW_SQRT;
    if (exponent == -0.5) return LT_PW_RSQRT;
    if (exponent == -1) return LT_PW_RECIPROCAL;
    return LT_PW_POW;
}

static int shorter_op(const lt_pointwise_call &call)
{
    const lt_iter *it = call.it;
    if (call.op != LT_PW_POW || !it->host_scalar[2] || !lt_is_floating(call.compute))
        return call.op;
    return lt_cuda_shorter_power(lt_load<double>(it->dtype[2], it->data[2]));
}

lt_status lt_cuda_pointwise(int op, const lt_iter *it, lt_dtype compute, const lt_scalar *params)
{
    lt_pointwise_call call = {op, it, compute, params, nullptr, lt_cuda_takes_exact_number(op)};
    if (it->numel == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(it->device.index, &call.stream));
    call.op = shorter_op(call);
    const auto run = [&](const lt_iter *piece) {
        bool done = false;
        call.it = piece;
        if (lt_is_complex(compute))
            return lt_cuda_complex(call) ? LT_OK : lt_cuda_unsupported(name_of(op), compute);
#define TRY(name, NAME) done = done || lt_cuda_##name(call);
        LT_KERNEL_FAMILIES(TRY)
#undef TRY
        return done ? LT_OK : lt_cuda_unsupported(name_of(op), compute);
    };
    LT_TRY(lt_split_launches(it, run));
    return lt_cuda_launched(it->device.index, call.stream, name_of(op));
}
