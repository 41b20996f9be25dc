/* gunzip.h - reading a gzipped (or plain) file whole. */
#ifndef LT_LUA_GUNZIP_H
#define LT_LUA_GUNZIP_H

#include "ltensor.h"

/* The decompressed bytes of a file as a new one-dimensional uint8 tensor in *out. LT_ERR_IO with a
 * message that starts with the path when the file is missing, damaged or ends early. LT_ERR_MEMORY:
 * it unpacks to more than max_memory bytes (0: than lt_budget_for allows). */
lt_status lt_gunzip(const char *path, int64_t max_memory, lt_tensor **out);

#endif
