/* csv_number.h - parses decimal numbers: a decimal point in every locale, blanks around, "inf" and
 * "infinity", no hexadecimal. Rounds to the nearest double, ties to even. Includes only the C
 * library. */
#ifndef LT_CSV_NUMBER_H
#define LT_CSV_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct lt_csv_number {
    bool whole; /* an int64 written without a point or exponent */
    int64_t integer;
    double real; /* also set if whole */
} lt_csv_number;

/* Parses all n bytes at text. text[n] must not be part of a number; it is overwritten temporarily.
 * False: not a number. */
bool lt_csv_number_parse(char *text, int64_t n, lt_csv_number *out);

#endif
