/* reference.c - functions in long double that numpy lacks, for measure.py: 64 bits of mantissa, so
 * that what is rounded to a float or a double is all but always the number next to the true one.
 * Built by measure.py. */
#include <math.h>
#include <stdint.h>

typedef long double L;

static const L pi = 3.14159265358979323846264338327950288L;

/* Euler and Maclaurin's formula from 25 on, with the first Bernoulli numbers. */
static L zeta_above(int s, L x)
{
    static const L bernoulli[] = {1.0L / 6,  -1.0L / 30,     1.0L / 42, -1.0L / 30,
                                  5.0L / 66, -691.0L / 2730, 7.0L / 6,  -3617.0L / 510};
    L sum = 0;
    for (; x < 25; x += 1) sum += powl(x, -s);
    sum += powl(x, 1 - s) / (s - 1) + powl(x, -s) / 2;
    L factor = s, power = powl(x, -s - 1), count = 2; /* s (s + 1) ... (s + 2k - 2) / (2k)! */
    for (int k = 0; k < 8; k++) {
        sum += bernoulli[k] * factor * power / count;
        factor *= (L)(s + 2 * k + 1) * (s + 2 * k + 2);
        count *= (L)(2 * k + 3) * (2 * k + 4);
        power /= x * x;
    }
    return sum;
}

static L sin_pi(L x) { return sinl(pi * (x - 2 * rintl(x / 2))); }

static L digamma(L x)
{
    static const L series[] = {1.0L / 12,  -1.0L / 120,     1.0L / 252, -1.0L / 240,
                               1.0L / 132, -691.0L / 32760, 1.0L / 12,  -3617.0L / 8160};
    if (x == 0) return copysignl(INFINITY, -x);
    if (x < 0) {
        L part = x - rintl(x);
        return part == 0 ? NAN : digamma(1 - x) - pi / tanl(pi * part);
    }
    L sum = 0;
    for (; x < 25; x += 1) sum -= 1 / x;
    sum += logl(x) - 1 / (2 * x);
    L power = 1 / (x * x);
    for (int k = 0; k < 8; k++, power /= x * x) sum -= series[k] * power;
    return isinf(x) ? x : sum;
}

/* The derivative of the reflection formula. */
static L trigamma(L x)
{
    if (x != x) return x;
    if (x > 0) return isinf(x) ? 0 : zeta_above(2, x);
    L s = sin_pi(x);
    return x == rintl(x) ? INFINITY : pi * pi / (s * s) - zeta_above(2, 1 - x);
}

/* Newton's method on erfc of the distance from 1, from below. */
static L erfinv(L x)
{
    L a = fabsl(x);
    if (!(a < 1)) return a == 1 ? copysignl(INFINITY, x) : NAN;
    if (a < 1e-30L) return x * sqrtl(pi) / 2;
    L w = -logl((1 - a) * (1 + a)), k = 2 / (pi * 0.147L) - w / 2;
    L y = sqrtl(sqrtl(k * k + w / 0.147L) - k);
    for (int i = 0; i < 6; i++) {
        L error = a < 0.5L ? erfl(y) - a : (1 - a) - erfcl(y);
        L step = error * sqrtl(pi) / 2 * expl(y * y);
        y -= step / (1 + y * step);
    }
    return copysignl(y, x);
}

static L lgamma_of(L x) { return isinf(x) ? INFINITY : lgammal(x); }

#define ARRAY(name, f)                                                                             \
    void reference_##name(const L *in, L *out, int64_t n)                                          \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) out[i] = f(in[i]);                                         \
    }
ARRAY(erf, erfl)
ARRAY(erfc, erfcl)
ARRAY(erfinv, erfinv)
ARRAY(lgamma, lgamma_of)
ARRAY(digamma, digamma)
ARRAY(trigamma, trigamma)
