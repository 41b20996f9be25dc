/* mapped_file.h - tensors over parts of a file that is mapped as a tensor of bytes
 * (lt_tensor_from_file). */
#ifndef LT_MAPPED_FILE_H
#define LT_MAPPED_FILE_H

#include "ltensor.h"

/* Whether elements that begin at that byte of a mapped file can be used where they are. Those of
 * bool are looked at one by one instead. */
bool lt_can_map(int64_t at, lt_dtype dtype);

/* New: elements where they lie, with a storage of their own; the mapping lives as long as that.
 * They must lie in it (LT_ERR_RUNTIME). */
lt_status lt_mapped_part(lt_tensor *mapping, int64_t at, lt_dtype dtype, int ndim,
                         const int64_t *sizes, lt_tensor **out);

#endif
