/* csv_records.h - the records of a text of separated values, one after the other: fields as they
 * lie in a buffer that slides over the file, which may be compressed by gzip.
 *
 * A field in quotes may hold separators, line ends and doubled quotes. Empty lines and lines of a
 * comment alone are left out. A record is as long as it is: the buffer grows to hold it, up to
 * max_bytes. Errors are LT_ERR_IO with path and line. Includes core and zlib. */
#ifndef LT_CSV_RECORDS_H
#define LT_CSV_RECORDS_H

#include "ltensor.h"

typedef struct lt_csv_format {
    /* one or several characters, no quotes or line ends; NULL: runs of blanks and tabs */
    const char *separator;
    char comment;      /* begins what is left out up to the end of its line; 0: none */
    int64_t skip;      /* lines at the beginning that are left out */
    int64_t max_bytes; /* of the text, unpacked */
} lt_csv_format;

/* A byte that ends numbers follows it in the buffer, and may be overwritten until the next record
 * is asked for. */
typedef struct lt_csv_field {
    char *text;
    int64_t length;
    bool doubled; /* quotes in it are doubled: lt_csv_undouble */
} lt_csv_field;

typedef struct lt_csv_reader lt_csv_reader;

/* path and format are borrowed until the reader is closed. */
lt_status lt_csv_open(const char *path, const lt_csv_format *format, lt_csv_reader **out);
void lt_csv_close(lt_csv_reader *r);

/* The next record; *n 0: there is none. The fields stand until the next call. Can be
 * interrupted. */
lt_status lt_csv_next(lt_csv_reader *r, lt_csv_field **fields, int64_t *n);
/* The line on which the last record begins, from 1. */
int64_t lt_csv_line(const lt_csv_reader *r);

/* Halves the doubled quotes. */
void lt_csv_undouble(lt_csv_field *field);

#endif
