/* random.c - see random.h: generators, their seeds, and the CPU's mt19937 (Matsumoto and Nishimura
 * 1998, 32 bits). A context's default generators are created on first use, so that a program
 * without random numbers does not pay for them. */
#include "random.h"

#include <math.h>
#include <string.h>

#include "assertion.h"
#include "context/context.h"
#include "error.h"
#include "lock.h"
#include "system/threads.h"

#define MT_M 397

/* ---- generators ------------------------------------------------------------------------------ */

void lt_generator_init(lt_generator *g, lt_device device)
{
    memset(g, 0, sizeof *g);
    lt_fork_mutex_init(&g->fork, &g->lock, true);
    g->device = device;
    lt_generator_seed(g, LT_DEFAULT_SEED);
}

void lt_generator_end(lt_generator *g) { lt_fork_mutex_destroy(&g->fork); }

static void seed_locked(lt_generator *g, uint64_t seed)
{
    LT_ASSERT((unsigned)g->device.type < LT_DEVICE_TYPES, "device type %d", g->device.type);
    g->seed = seed;
    g->has_next_float = g->has_next_double = false;
    g->philox_offset = 0;
    if (g->device.type != LT_CPU) return;
    g->mt[0] = (uint32_t)seed;
    for (uint32_t j = 1; j < LT_MT_N; j++)
        g->mt[j] = 1812433253u * (g->mt[j - 1] ^ (g->mt[j - 1] >> 30)) + j;
    g->mt_left = 1;
    g->mt_next = 0;
}

lt_status lt_generator_seed(lt_generator *generator, uint64_t seed)
{
    LT_REQUIRE(generator);
    lt_generator_lock(generator);
    seed_locked(generator, seed);
    lt_generator_unlock(generator);
    return LT_OK;
}

uint64_t lt_generator_initial_seed(lt_generator *g)
{
    lt_generator_lock(g);
    const uint64_t seed = g->seed;
    lt_generator_unlock(g);
    return seed;
}

static uint32_t twist(uint32_t u, uint32_t v)
{
    uint32_t mixed = (u & 0x80000000u) | (v & 0x7fffffffu);
    return (mixed >> 1) ^ ((v & 1u) != 0 ? 0x9908b0dfu : 0u);
}

static void next_state(lt_generator *g)
{
    uint32_t *p = g->mt;
    for (int j = 0; j < LT_MT_N - MT_M; j++) p[j] = p[j + MT_M] ^ twist(p[j], p[j + 1]);
    for (int j = LT_MT_N - MT_M; j < LT_MT_N - 1; j++)
        p[j] = p[j + MT_M - LT_MT_N] ^ twist(p[j], p[j + 1]);
    p[LT_MT_N - 1] = p[MT_M - 1] ^ twist(p[LT_MT_N - 1], p[0]);
    g->mt_left = LT_MT_N;
    g->mt_next = 0;
}

static inline uint32_t temper(uint32_t y)
{
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

uint32_t lt_generator_next32(lt_generator *g)
{
    if (--g->mt_left == 0) next_state(g);
    LT_ASSERT(g->mt_next >= 0 && g->mt_next < LT_MT_N, "number %d", g->mt_next);
    return temper(g->mt[g->mt_next++]);
}

void lt_generator_fill32(lt_generator *g, uint32_t *out, int64_t n)
{
    while (n > 0) {
        /* all numbers are used; mt_left is the number of unused ones plus 1, as after next32 */
        if (g->mt_left == 1) {
            next_state(g);
            g->mt_left++;
        }
        LT_ASSERT(g->mt_left > 1 && g->mt_next + g->mt_left - 1 <= LT_MT_N, "next %d, left %d",
                  g->mt_next, g->mt_left);
        const int64_t left = g->mt_left - 1, now = n < left ? n : left;
        const uint32_t *state = g->mt + g->mt_next;
#pragma omp simd
        for (int64_t i = 0; i < now; i++) out[i] = temper(state[i]);
        g->mt_next += (int)now;
        g->mt_left -= (int)now;
        out += now;
        n -= now;
    }
}

uint64_t lt_generator_next64(lt_generator *g)
{
    uint64_t high = lt_generator_next32(g);
    return high << 32 | lt_generator_next32(g);
}

double lt_generator_normal(lt_generator *g)
{
    if (g->has_next_double) {
        g->has_next_double = false;
        return g->next_double;
    }
    double u1 = lt_generator_uniform(g), u2 = lt_generator_uniform(g);
    double radius = sqrt(-2.0 * log1p(-u2)), theta = 6.283185307179586476925286766559 * u1;
    g->next_double = radius * sin(theta);
    g->has_next_double = true;
    return radius * cos(theta);
}

lt_generator *lt_default_generator(lt_device device)
{
    lt_context *c = lt_tls.context;
    const int i = device.type == LT_CPU ? 0 : 1 + device.index % LT_MAX_DEVICES;
    LT_ASSERT(device.index < LT_MAX_DEVICES, "device %d", device.index);
    lt_generator *g = &c->generators[i];
    pthread_mutex_lock(&c->lock); /* lock order: context before generator */
    if (c->ready[i] == LT_GENERATOR_ABSENT) lt_generator_init(g, device);
    if (c->ready[i] != LT_GENERATOR_SEEDED) lt_generator_seed(g, c->seed);
    c->ready[i] = LT_GENERATOR_SEEDED;
    lt_unlock(&c->lock);
    return g;
}

void lt_manual_seed(uint64_t seed)
{
    lt_context *c = lt_tls.context;
    pthread_mutex_lock(&c->lock);
    c->seed = seed;
    for (int i = 0; i < 1 + LT_MAX_DEVICES; i++) /* seeded anew when next requested */
        if (c->ready[i] == LT_GENERATOR_SEEDED) c->ready[i] = LT_GENERATOR_STALE;
    lt_unlock(&c->lock);
}

uint64_t lt_initial_seed(void)
{
    lt_context *c = lt_tls.context;
    pthread_mutex_lock(&c->lock);
    uint64_t seed = c->seed;
    lt_unlock(&c->lock);
    return seed;
}
