/* csv.h - reads comma-separated values (csv_records.h) into columns: tensors of numbers, and text.
 *
 * A column of integers becomes int64; a column of numbers, some missing or with a fraction,
 * float64; every other column holds text. The file is read once. If a column that began with
 * numbers turns out to hold text, the file is read a second time for such columns only. Includes
 * csv_records.h and core. */
#ifndef LT_CSV_H
#define LT_CSV_H

#include "csv_records.h"

typedef enum lt_csv_kind { LT_CSV_ANY, LT_CSV_INTEGER, LT_CSV_FLOAT, LT_CSV_TEXT } lt_csv_kind;

typedef struct lt_csv_type {
    const char *name; /* of a column */
    lt_csv_kind kind;
} lt_csv_type;

typedef struct lt_csv_text {
    const char *bytes;
    int64_t length;
} lt_csv_text;

typedef struct lt_csv_options {
    lt_csv_format format;
    bool headed;              /* the first record names the columns */
    const lt_csv_text *names; /* else these do; NULL: column_1, column_2, ... */
    int64_t n_names;
    const lt_csv_type *types;
    int64_t n_types;
    const lt_csv_text *missing; /* strings that mean a missing value */
    int64_t n_missing;
    lt_scalar fill; /* replaces missing numbers */
} lt_csv_options;

typedef struct lt_csv_column {
    lt_csv_text name;
    lt_csv_kind kind;           /* never LT_CSV_ANY */
    lt_tensor *numbers;         /* int64 or float64, one-dimensional; NULL in a column of text */
    struct lt_csv_piece *texts; /* see lt_csv_next_text */
    /* ---- while the file is read: csv.c ---- */
    lt_csv_kind asked;
    bool again;                        /* reread the column as text */
    struct lt_csv_piece *first, *last; /* values so far */
} lt_csv_column;

typedef struct lt_csv_table {
    lt_csv_column *columns;
    int64_t n, rows;
} lt_csv_table;

/* Errors name path and line: a record with another number of fields, a field that is not of the
 * requested type, a type for an unknown column, duplicate column names. After LT_OK, call
 * lt_csv_free. */
lt_status lt_csv_read(const char *path, const lt_csv_options *options, lt_csv_table *out);
void lt_csv_free(lt_csv_table *table);

/* Returns the next text of a column; false at the end. The text is valid until the next call, which
 * may free it. */
bool lt_csv_next_text(lt_csv_column *column, lt_csv_text *out);

#endif
