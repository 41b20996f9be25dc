/* csv_records.h - splits a text of separated values into records of fields. The fields are views
 * into a buffer that slides over the file, which may be gzip-compressed.
 *
 * A quoted field may hold separators, line ends and doubled quotes. Empty lines and comment lines
 * are skipped. Records have no maximum length: the buffer grows up to max_bytes. Errors are
 * LT_ERR_IO with path and line. Includes core and zlib. */
#ifndef LT_CSV_RECORDS_H
#define LT_CSV_RECORDS_H

#include "ltensor.h"

typedef struct lt_csv_format {
    /* one or more characters, no quotes or line ends; NULL: runs of blanks and tabs */
    const char *separator;
    char comment;      /* starts a comment up to the line end; 0: no comments */
    int64_t skip;      /* number of lines to skip at the beginning */
    int64_t max_bytes; /* of the decompressed text */
} lt_csv_format;

/* The byte after the field is no part of a number. It may be overwritten until the next record is
 * read. */
typedef struct lt_csv_field {
    char *text;
    int64_t length;
    bool doubled; /* contains doubled quotes: lt_csv_undouble */
} lt_csv_field;

typedef struct lt_csv_reader lt_csv_reader;

/* path and format are borrowed until the reader is closed. */
lt_status lt_csv_open(const char *path, const lt_csv_format *format, lt_csv_reader **out);
void lt_csv_close(lt_csv_reader *r);

/* Reads the next record; *n is 0 at the end. The fields are valid until the next call. Can be
 * interrupted. */
lt_status lt_csv_next(lt_csv_reader *r, lt_csv_field **fields, int64_t *n);
/* The first line of the last record, from 1. */
int64_t lt_csv_line(const lt_csv_reader *r);

/* Replaces doubled quotes by single ones. */
void lt_csv_undouble(lt_csv_field *field);

#endif
