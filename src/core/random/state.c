/* state.c - states of generators as uint8 tensors in PyTorch's layout, so that one saved by PyTorch
 * continues here. */
#include <string.h>

#include "compile/deferred.h"
#include "devices/device.h"
#include "error.h"
#include "generator.h"
#include "ltensor_host.h"
#include "sparse.h"
#include "tensor.h"

/* The byte layout of a CPU generator's state in PyTorch. */
typedef struct cpu_state {
    uint64_t seed;
    int32_t left, seeded;
    uint64_t next, mt[LT_MT_N];
    double normal_x, next_double, normal_rho;
    int32_t has_next_double, padding;
    float next_float;
    uint8_t has_next_float, unused[3];
} cpu_state;

typedef struct cuda_state {
    uint64_t seed, offset;
} cuda_state;

/* The caller holds the generator's lock. */
static size_t pack_state(const lt_generator *g, void *bytes)
{
    if (g->device.type != LT_CPU) {
        cuda_state s = {g->seed, g->philox_offset};
        memcpy(bytes, &s, sizeof s);
        return sizeof s;
    }
    cpu_state s = {.seed = g->seed, .left = g->mt_left, .seeded = 1, .next = (uint64_t)g->mt_next};
    for (int i = 0; i < LT_MT_N; i++) s.mt[i] = g->mt[i];
    s.has_next_double = g->has_next_double;
    if (g->has_next_double) s.next_double = g->next_double;
    s.has_next_float = g->has_next_float;
    if (g->has_next_float) s.next_float = g->next_float;
    memcpy(bytes, &s, sizeof s);
    return sizeof s;
}

/* Rejects a state with which reads would leave the array of numbers. The caller holds the
 * generator's lock. */
static lt_status unpack_state(lt_generator *g, const void *bytes, size_t n)
{
    if (g->device.type != LT_CPU) {
        cuda_state s;
        if (n != sizeof s) return lt_error(LT_ERR_RUNTIME, "RNG state is wrong size");
        memcpy(&s, bytes, sizeof s);
        g->seed = s.seed;
        g->philox_offset = s.offset;
        return LT_OK;
    }
    cpu_state s;
    if (n != sizeof s)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected a CPUGeneratorImplState of size %zu but found the input RNG "
                        "state size to be %zu",
                        sizeof s, n);
    memcpy(&s, bytes, sizeof s);
    if (s.seeded != 1 || s.left < 1 || s.left > LT_MT_N || s.next > LT_MT_N ||
        s.next + (uint64_t)s.left > LT_MT_N + 1)
        return lt_error(LT_ERR_RUNTIME, "Invalid mt19937 state");
    g->seed = s.seed;
    g->mt_left = s.left;
    g->mt_next = (int)s.next;
    for (int i = 0; i < LT_MT_N; i++) g->mt[i] = (uint32_t)s.mt[i];
    g->has_next_double = s.has_next_double != 0;
    g->next_double = s.next_double;
    g->has_next_float = s.has_next_float != 0;
    g->next_float = s.next_float;
    return LT_OK;
}

lt_status lt_generator_get_state(lt_generator *generator, lt_tensor **out)
{
    char bytes[sizeof(cpu_state)];
    LT_REQUIRE(generator);
    LT_REQUIRE(out);
    lt_generator_lock(generator);
    const int64_t n = (int64_t)pack_state(generator, bytes);
    lt_generator_unlock(generator);
    LT_TRY(lt_tensor_new(LT_UINT8, lt_host, 1, &n, out));
    memcpy(lt_data(*out), bytes, (size_t)n);
    return LT_OK;
}

lt_status lt_generator_set_state(lt_generator *generator, const lt_tensor *state)
{
    char bytes[sizeof(cpu_state)];
    LT_REQUIRE(generator);
    LT_REQUIRE(state);
    if (state->dtype != LT_UINT8 || lt_is_sparse(state) || state->device.type != LT_CPU ||
        state->ndim != 1)
        return lt_error(LT_ERR_TYPE, "RNG state must be a torch.ByteTensor");
    LT_TRY(lt_materialize("set_rng_state", state));
    const char *p = state->numel > 0 ? lt_data(state) : NULL;
    for (int64_t i = 0; i < state->numel && i < (int64_t)sizeof bytes; i++)
        bytes[i] = p[i * state->strides[0]];
    lt_generator_lock(generator);
    const lt_status status = unpack_state(generator, bytes, (size_t)state->numel);
    lt_generator_unlock(generator);
    return status;
}
