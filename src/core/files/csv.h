/* csv.h - tables of separated values (csv_records.h) as columns: tensors of numbers, texts of all
 * others.
 *
 * A column whose fields are all integers is int64; one of numbers, some of them missing or with a
 * fraction, float64; any other one holds texts. The file is read once, column by column as it goes;
 * where a column that began with numbers turns out to hold texts, it is read a second time for
 * those alone. Includes csv_records.h and core. */
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
    const lt_csv_text *missing; /* fields that stand for nothing */
    int64_t n_missing;
    lt_scalar fill; /* the number in their place */
} lt_csv_options;

typedef struct lt_csv_column {
    lt_csv_text name;
    lt_csv_kind kind;           /* never LT_CSV_ANY */
    lt_tensor *numbers;         /* int64 or float64, of one dimension; NULL in a column of texts */
    struct lt_csv_piece *texts; /* see lt_csv_each_text */
    /* ---- while the file is read: csv.c ---- */
    lt_csv_kind asked;
    bool again;                        /* texts are to be read from the beginning */
    struct lt_csv_piece *first, *last; /* numbers */
} lt_csv_column;

typedef struct lt_csv_table {
    lt_csv_column *columns;
    int64_t n, rows;
} lt_csv_table;

/* Errors with path and line: a record of another number of fields, a field that is not of the type
 * asked for, a type for a column that is not there, two columns of one name. After LT_OK,
 * lt_csv_free must follow. */
lt_status lt_csv_read(const char *path, const lt_csv_options *options, lt_csv_table *out);
void lt_csv_free(lt_csv_table *table);

/* Hands out the texts of a column one after the other: false when there are no more. What was
 * handed out is freed as it goes: a text stands until the next call. */
bool lt_csv_next_text(lt_csv_column *column, lt_csv_text *out);

#endif
