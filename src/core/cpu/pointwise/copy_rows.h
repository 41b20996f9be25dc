/* copy_rows.h - copies of many short rows. */
#ifndef LT_CPU_COPY_ROWS_H
#define LT_CPU_COPY_ROWS_H

#include <stdbool.h>

#include "iter.h"

/* Whether dimension 0 is a short row that is dense in the output, and in the input dense or one
 * element. */
bool lt_cpu_copies_rows(const lt_iter *it);
lt_status lt_cpu_copy_rows(const lt_iter *it);

#endif
