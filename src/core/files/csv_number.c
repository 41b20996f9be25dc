/* csv_number.c - see csv_number.h. */
#include "csv_number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "system/plain_locale.h"

/* A decimal number as it is written: digits * 10^exponent. */
typedef struct decimal {
    bool negative, pointed, exact; /* exact: no digit was dropped */
    uint64_t digits;
    int exponent;
} decimal;

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool scan_exponent(const char **at, const char *end, int *exponent)
{
    const char *p = *at;
    const bool negative = p < end && *p == '-';
    int value = 0;
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *first = p;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (value < 100000) value = 10 * value + (*p - '0');
    *at = p;
    *exponent += negative ? -value : value;
    return p > first;
}

/* Parses all of p to end as a decimal number; false if it is none. */
static bool scan(const char *p, const char *end, decimal *out)
{
    /* digits; digits after the 19th; digits after the point */
    int count = 0, left_out = 0, behind = 0;
    *out = (decimal){.negative = *p == '-', .exact = true};
    if (*p == '-' || *p == '+') p++;
    for (; p < end; p++) {
        const unsigned digit = (unsigned)*p - '0';
        if (digit <= 9) {
            count++;
            behind += out->pointed;
            if (out->digits < 1000000000000000000u) {
                out->digits = 10 * out->digits + digit;
            } else {
                left_out++;
                out->exact = out->exact && digit == 0;
            }
        } else if (*p == '.' && !out->pointed) {
            out->pointed = true;
        } else {
            break;
        }
    }
    out->exponent = left_out - behind;
    if (count == 0) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        out->pointed = true;
        if (!scan_exponent(&p, end, &out->exponent)) return false;
    }
    return p == end;
}

/* Converts with the C library: always correctly rounded, but slow. */
static double by_library(char *text, char *end)
{
    const char kept = *end;
    *end = '\0';
    const double value = lt_plain_strtod(text, NULL);
    *end = kept;
    return value;
}

/* digits * 10^exponent if a single operation rounds it correctly; else false. */
static bool by_one_step(const decimal *d, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int e = d->exponent;
    if (!d->exact || e < -22 || e > 22) return false;
    if (d->digits <= (uint64_t)1 << 53) {
        *out = e < 0 ? (double)d->digits / powers[-e] : (double)d->digits * powers[e];
        return true;
    }
#if LDBL_MANT_DIG == 64
    /* Both factors are exact in 64 bits, so the result is within half a unit of the 64th bit.
     * Rounding to double is correct unless the lower 11 bits are about half. */
    const long double wide = e < 0 ? (long double)d->digits / (long double)powers[-e]
                                   : (long double)d->digits * (long double)powers[e];
    uint64_t mantissa;
    memcpy(&mantissa, &wide, sizeof mantissa);
    const unsigned low = (unsigned)(mantissa & 0x7ff);
    *out = (double)wide;
    return low < 0x3ff || low > 0x401;
#else
    return false;
#endif
}

static bool infinite(const char *p, int64_t n, double *out)
{
    const bool sign = *p == '-' || *p == '+';
    const char *word = p + sign;
    const int64_t left = n - sign;
    if ((left != 3 || strncasecmp(word, "inf", 3) != 0) &&
        (left != 8 || strncasecmp(word, "infinity", 8) != 0))
        return false;
    *out = *p == '-' ? -INFINITY : INFINITY;
    return true;
}

bool lt_csv_number_parse(char *text, int64_t n, lt_csv_number *out)
{
    char *p = text, *end = text + n;
    decimal d;
    while (p < end && is_blank(*p)) p++;
    while (end > p && is_blank(end[-1])) end--;
    if (p == end) return false;
    out->whole = false;
    if (!scan(p, end, &d)) return infinite(p, end - p, &out->real);
    if (!d.pointed && d.exponent == 0 && d.digits <= (uint64_t)INT64_MAX + d.negative) {
        out->whole = true;
        out->integer = (int64_t)(d.negative ? -d.digits : d.digits);
        out->real = (double)out->integer;
        return true;
    }
    if (d.digits == 0)
        out->real = 0;
    else if (!by_one_step(&d, &out->real)) {
        out->real = by_library(p, end);
        return true;
    }
    if (d.negative) out->real = -out->real;
    return true;
}
