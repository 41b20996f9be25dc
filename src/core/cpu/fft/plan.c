/* plan.c - see plan.h. The process caches the most recently used plans, limited by number and
 * bytes. */
#include "plan.h"

#include <math.h>
#include <string.h>

#include "context/context.h"
#include "context/fork.h"
#include "cpu/common/sizes.h"
#include "error.h"
#include "lock.h"
#include "slice.h"
#include "memory/alloc.h"
#include "system/threads.h"

enum { CACHED = 32 }; /* fixed: maximum of cached plans */
/* fixed: maximum of bytes of cached plans */
#define CACHE_BYTES ((int64_t)64 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static lt_fft_plan *cache[CACHED];
static uint64_t clock_of_uses;

LT_HOLD_ACROSS_FORK(lock)

/* exp(-2 pi i k / n), k < n, within one or two ULP. */
static void root(int64_t k, int64_t n, double *re, double *im)
{
    /* Reduced to an eighth of the circle, where sine and cosine are accurate. */
    const int64_t eighth = (8 * k) / n;
    int64_t num = k;
    switch ((eighth + 1) / 2 % 4) {
    case 0: num = eighth == 7 ? k - n : k; break;
    case 1: num = 4 * k - n; break;
    case 2: num = 2 * k - n; break;
    default: num = 4 * k - 3 * n; break;
    }
    const int quarter = (int)((eighth + 1) / 2 % 4);
    const double share = quarter == 0   ? (double)num / (double)n
                         : quarter == 2 ? (double)num / 2 / (double)n
                                        : (double)num / 4 / (double)n;
    const double angle = 6.283185307179586476925 * share, c = cos(angle), s = sin(angle);
    *re = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
    *im = quarter == 0 ? -s : quarter == 1 ? -c : quarter == 2 ? s : c;
}

static void put_complex(void *to, int64_t at, bool is_double, double re, double im)
{
    if (is_double)
        ((double *)to)[2 * at] = re, ((double *)to)[2 * at + 1] = im;
    else
        ((float *)to)[2 * at] = (float)re, ((float *)to)[2 * at + 1] = (float)im;
}

/* lt_mem_array in the context of the process, which owns the plans. */
static void *kept_array(int64_t n, size_t size)
{
    const lt_context_outer outer = lt_context_visit(&lt_process_context);
    void *array = lt_mem_array(n, size);
    lt_context_return(outer);
    return array;
}

static void *pairs_new(lt_fft_plan *p, int64_t n)
{
    const int64_t bytes = n * (p->is_double ? 16 : 8);
    p->bytes += bytes;
    return kept_array(n > 0 ? n : 1, p->is_double ? 16 : 8);
}

/* Stores the radices of n, powers of two first; false if a prime factor exceeds LT_FFT_LARGEST. */
static bool factorize(int64_t n, lt_fft_radices *r)
{
    r->n = n;
    r->passes = 0;
    while (n % 8 == 0 && n != 16) r->radix[r->passes++] = 8, n /= 8;
    while (n % 4 == 0) r->radix[r->passes++] = 4, n /= 4;
    if (n % 2 == 0) r->radix[r->passes++] = 2, n /= 2;
    for (int p = 3; p <= LT_FFT_LARGEST && n > 1; p += 2)
        while (n % p == 0) r->radix[r->passes++] = p, n /= p;
    return n == 1;
}

static lt_status tabulate(lt_fft_plan *p, lt_fft_radices *r)
{
    int64_t m = r->n;
    for (int i = 0; i < r->passes; i++) {
        const int radix = r->radix[i];
        const int64_t length = m;
        m /= radix;
        r->twiddles[i] = pairs_new(p, m * (radix - 1));
        r->roots[i] = pairs_new(p, radix);
        if (r->twiddles[i] == NULL || r->roots[i] == NULL) return LT_ERR_MEMORY;
        double re, im;
        for (int64_t k = 0; k < m; k++)
            for (int j = 1; j < radix; j++) {
                root(k * j, length, &re, &im);
                put_complex(r->twiddles[i], k * (radix - 1) + j - 1, p->is_double, re, im);
            }
        for (int j = 0; j < radix; j++) {
            root(j, radix, &re, &im);
            put_complex(r->roots[i], j, p->is_double, re, im);
        }
    }
    return LT_OK;
}

/* The divisor of n, at most its square root, that makes the cheapest matrix of columns and rows in
 * blocks of `lanes`; 1 if n is prime. */
static int64_t divide(int64_t n, int64_t lanes)
{
    int64_t best = 1, least = INT64_MAX;
    for (int64_t d = 2; d * d <= n; d++) {
        if (n % d != 0) continue;
        const int64_t e = n / d,
                      blocks = ((e + lanes - 1) / lanes) * d + ((d + lanes - 1) / lanes) * e;
        const int64_t cost = blocks * lanes + 4 * (d + e);
        if (cost <= least) best = d, least = cost;
    }
    return best;
}

/* The factors exp(-2 pi i j k / n) for `count` rows j, `step` apart, and all columns k, in blocks.
 */
static void *factors_new(lt_fft_plan *p, int64_t columns, int64_t count, int64_t step)
{
    const int64_t lanes = lt_fft_lanes(p), blocks = (columns + lanes - 1) / lanes;
    void *factors = pairs_new(p, blocks * count * lanes);
    if (factors == NULL) return NULL;
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t j = 0; j < count; j++)
            for (int64_t l = 0; l < lanes; l++) {
                const int64_t k = b * lanes + l, at = (b * count + j) * 2 * lanes + l;
                double re = 0, im = 0;
                if (k < columns) root(j * step * k, p->n, &re, &im);
                if (p->is_double)
                    ((double *)factors)[at] = re, ((double *)factors)[at + lanes] = im;
                else
                    ((float *)factors)[at] = (float)re, ((float *)factors)[at + lanes] = (float)im;
            }
    return factors;
}

static lt_status plan_matrix(lt_fft_plan *p, int64_t rows)
{
    const int64_t columns = p->n / rows;
    factorize(rows, &p->columns);
    factorize(columns, &p->rows);
    LT_TRY(tabulate(p, &p->columns));
    LT_TRY(tabulate(p, &p->rows));
    p->fine = factors_new(p, columns, lt_fft_fine_rows(rows), 1);
    p->coarse = factors_new(p, columns, lt_fft_coarse_rows(rows), LT_FFT_FINE);
    return p->fine == NULL || p->coarse == NULL ? LT_ERR_MEMORY : LT_OK;
}

/* The smallest 2^a 3^b 5^c that is at least n, with b <= 3 and c <= 2. */
static int64_t smooth_from(int64_t n)
{
    int64_t best = INT64_MAX;
    for (int64_t five = 1; five <= 25; five *= 5)
        for (int64_t three = 1; three <= 27; three *= 3) {
            int64_t m = five * three;
            while (m < n) m *= 2;
            if (m < best) best = m;
        }
    return best;
}

static lt_status plan_convolution(lt_fft_plan *p)
{
    const int64_t n = p->n, m = smooth_from(2 * n - 1);
    LT_TRY(lt_fft_plan_acquire(m, p->is_double, false, &p->inner));
    p->chirp = pairs_new(p, n);
    p->filter = pairs_new(p, m);
    void *line = pairs_new(p, m);
    lt_status status =
        p->chirp == NULL || p->filter == NULL || line == NULL ? LT_ERR_MEMORY : LT_OK;
    if (status == LT_OK) {
        memset(line, 0, (size_t)m * (p->is_double ? 16 : 8));
        int64_t square = 0; /* k^2 mod 2 n */
        for (int64_t k = 0; k < n; k++) {
            double re, im;
            root(square, 2 * n, &re, &im);
            put_complex(p->chirp, k, p->is_double, re, im);
            put_complex(line, k, p->is_double, re, -im);
            if (k > 0) put_complex(line, m - k, p->is_double, re, -im);
            square = (square + 2 * k + 1) % (2 * n);
        }
        status = lt_fft_line(p->inner, line, p->filter, false, 1 / (double)m);
    }
    lt_mem_free(line);
    return status;
}

static void radices_free(lt_fft_radices *r)
{
    for (int i = 0; i < r->passes; i++) {
        lt_mem_free(r->twiddles[i]);
        lt_mem_free(r->roots[i]);
    }
}

static void plan_free(lt_fft_plan *p)
{
    if (p == NULL) return;
    radices_free(&p->whole);
    radices_free(&p->columns);
    radices_free(&p->rows);
    if (p->inner != NULL) lt_fft_plan_release(p->inner);
    lt_mem_free(p->fine);
    lt_mem_free(p->coarse);
    lt_mem_free(p->roots);
    lt_mem_free(p->chirp);
    lt_mem_free(p->filter);
    lt_mem_free(p);
}

/* A real line of even length. */
static lt_status plan_halves(lt_fft_plan *p)
{
    LT_TRY(lt_fft_plan_acquire(p->n / 2, p->is_double, false, &p->inner));
    const int64_t count = p->n / 4 + 1;
    p->roots = pairs_new(p, count);
    if (p->roots == NULL) return LT_ERR_MEMORY;
    for (int64_t k = 0; k < count; k++) {
        double re, im;
        root(k, p->n, &re, &im);
        put_complex(p->roots, k, p->is_double, re, im);
    }
    return LT_OK;
}

static lt_status plan_complex(lt_fft_plan *p)
{
    lt_fft_radices r = {0};
    if (!factorize(p->n, &r)) return plan_convolution(p);
    if (p->n <= LT_FFT_WHOLE) {
        p->whole = r;
        LT_TRY(tabulate(p, &p->whole));
    }
    const int64_t rows = p->n > 2 * LT_SHORT_SLICE ? divide(p->n, lt_fft_lanes(p)) : 1;
    return rows > 1 ? plan_matrix(p, rows) : LT_OK;
}

static lt_status plan_new(int64_t n, bool is_double, bool real, lt_fft_plan **out)
{
    lt_fft_plan *p = kept_array(1, sizeof *p);
    if (p == NULL) return LT_ERR_MEMORY;
    memset(p, 0, sizeof *p);
    p->n = n;
    p->is_double = is_double;
    p->real = real;
    p->bytes = (int64_t)sizeof *p;
    lt_status status = real ? plan_halves(p) : plan_complex(p);
    if (status != LT_OK)
        plan_free(p);
    else
        *out = p;
    return status;
}

static lt_fft_plan *find_cached_plan(int64_t n, bool is_double, bool real)
{
    for (int i = 0; i < CACHED; i++)
        if (cache[i] != NULL && cache[i]->n == n && cache[i]->is_double == is_double &&
            cache[i]->real == real)
            return cache[i];
    return NULL;
}

/* Adds a plan to the cache and evicts at most one. Returns an evicted plan that is not in use,
 * which the caller frees after it released the lock, since plan_free acquires it for `inner`. */
static lt_fft_plan *keep_plan(lt_fft_plan *p)
{
    int free_place = -1, oldest = 0;
    int64_t bytes = p->bytes;
    for (int i = 0; i < CACHED; i++) {
        if (cache[i] == NULL) {
            free_place = i;
            continue;
        }
        bytes += cache[i]->bytes;
        if (cache[oldest] == NULL || cache[i]->used < cache[oldest]->used) oldest = i;
    }
    lt_fft_plan *out = NULL;
    if (cache[oldest] != NULL && (free_place < 0 || bytes > CACHE_BYTES)) {
        out = cache[oldest];
        out->cached = false;
        cache[oldest] = NULL;
        free_place = oldest;
    }
    cache[free_place] = p;
    p->cached = true;
    return out != NULL && out->users == 0 ? out : NULL;
}

lt_status lt_fft_plan_acquire(int64_t n, bool is_double, bool real, lt_fft_plan **out)
{
    pthread_mutex_lock(&lock);
    lt_fft_plan *p = find_cached_plan(n, is_double, real);
    if (p != NULL) p->users++, p->used = ++clock_of_uses;
    lt_unlock(&lock);
    if (p != NULL) {
        *out = p;
        return LT_OK;
    }
    LT_TRY(plan_new(n, is_double, real, &p));
    pthread_mutex_lock(&lock);
    lt_fft_plan *other = find_cached_plan(n, is_double, real), *dropped = NULL;
    if (other != NULL) { /* another thread created it meanwhile */
        dropped = p;
        p = other;
    } else {
        dropped = keep_plan(p);
    }
    p->users++;
    p->used = ++clock_of_uses;
    lt_unlock(&lock);
    plan_free(dropped);
    *out = p;
    return LT_OK;
}

void lt_fft_plan_release(lt_fft_plan *p)
{
    pthread_mutex_lock(&lock);
    const bool last = --p->users == 0 && !p->cached;
    lt_unlock(&lock);
    if (last) plan_free(p);
}
