/* tensor_core.cpp - the arithmetic of tensor cores. Products are exact; sums differ from IEEE 754:
 * each of eight products and the accumulator is truncated to the 24 bits of the largest one plus
 * one extra bit, and the sum is truncated to float (M. Fasi and others: Numerical behavior of
 * NVIDIA tensor cores, 2021). As on an A100, the 16 columns are summed as two groups of eight. */
#include "sim.h"

#include <sim/tensor_core.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <math.h>

namespace lt_sim {

namespace {

constexpr int none = -1023; /* exponent of 0 */

int exponent(double x) { return (int)(bits<uint64_t>(x) >> 52 & 0x7ff) - 1023; }
double power_of_2(int e) { return bits<double>((uint64_t)(e + 1023) << 52); }
/* Truncates towards zero; |x| < 2^52. */
double whole(double x) { return (double)(int64_t)x; }

float step_of_sum(float c, const double *products)
{
    double total = c;
    int most = exponent(c);
    for (int i = 0; i < 8; i++) {
        total += products[i];
        most = std::max(most, exponent(products[i]));
    }
    if (most == none || !(fabs(total) < INFINITY)) return (float)total;
    const double unit = power_of_2(most - 24), inverse = power_of_2(24 - most);
    double sum = whole(c * inverse);
    for (int i = 0; i < 8; i++) sum += whole(products[i] * inverse);
    sum *= unit;
    const float nearest = (float)sum;
    return fabs((double)nearest) > fabs(sum) ? nextafterf(nearest, 0) : nearest;
}

struct Halves {
    static double number(unsigned short bits) { return __half2float(__half(__half_raw{bits})); }
};
struct Bfloats {
    static double number(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
};

template <class Element> double element(uint32_t pair, int which)
{
    return Element::number((unsigned short)(which ? pair >> 16 : pair));
}

/* c += a * b for a warp. */
template <class Element> void multiply_all(void *const *lanes)
{
    double a[16][16], b[8][16];
    for (int l = 0; l < 32; l++) {
        const Fragments &f = *static_cast<const Fragments *>(lanes[l]);
        for (int i = 0; i < 8; i++)
            a[l / 4 + i / 2 % 2 * 8][2 * (l % 4) + i % 2 + i / 4 * 8] =
                element<Element>(f.a[i / 2], i % 2);
        for (int i = 0; i < 4; i++)
            b[l / 4][2 * (l % 4) + i % 2 + i / 2 * 8] = element<Element>(f.b[i / 2], i % 2);
    }
    for (int l = 0; l < 32; l++) {
        float *c = static_cast<const Fragments *>(lanes[l])->c;
        for (int i = 0; i < 4; i++) {
            const double *row = a[l / 4 + i / 2 * 8], *column = b[2 * (l % 4) + i % 2];
            double products[16];
            for (int k = 0; k < 16; k++) products[k] = row[k] * column[k];
            c[i] = step_of_sum(step_of_sum(c[i], products), products + 8);
        }
    }
}

} // namespace

void multiply_halves(void *const *lanes) { multiply_all<Halves>(lanes); }
void multiply_bfloats(void *const *lanes) { multiply_all<Bfloats>(lanes); }

void exchange_rows(void *const *lanes)
{
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 32; i++)
            static_cast<Rows *>(lanes[l])->all[i] = static_cast<const Rows *>(lanes[i])->own;
}

} // namespace lt_sim
