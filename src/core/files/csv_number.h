/* csv_number.h - numbers as texts write them: with a decimal point whatever the locale, blanks
 * around, "inf" and "infinity"; no hexadecimal ones. The nearest double, ties to even. Includes the
 * C library alone. */
#ifndef LT_CSV_NUMBER_H
#define LT_CSV_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct lt_csv_number {
    bool whole; /* an integer that int64_t holds, written without a point or exponent */
    int64_t integer;
    double real; /* of whole ones as well */
} lt_csv_number;

/* Reads all n bytes at text; a byte that is no part of a number follows them and may be overwritten
 * meanwhile. False: no number. */
bool lt_csv_number_parse(char *text, int64_t n, lt_csv_number *out);

#endif
