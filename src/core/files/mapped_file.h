/* mapped_file.h - tensors over parts of a file that is mapped as a tensor of bytes
 * (lt_tensor_from_file). */
#ifndef LT_MAPPED_FILE_H
#define LT_MAPPED_FILE_H

#include "ltensor.h"

/* Whether elements at byte `at` of a mapped file can be used in place: aligned and not bool, since
 * the bytes of bools must be checked. */
bool lt_can_map(int64_t at, lt_dtype dtype);

/* New reference: a tensor over part of the mapping, with its own storage, which keeps the mapping
 * alive. LT_ERR_RUNTIME if the elements are out of range or cannot be mapped. */
lt_status lt_mapped_part(lt_tensor *mapping, int64_t at, lt_dtype dtype, int ndim,
                         const int64_t *sizes, lt_tensor **out);

#endif
