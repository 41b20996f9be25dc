/* cache.cuh - on-disk cache of compiled kernels in $XDG_CACHE_HOME/ltensor/kernels (default:
 * ~/.cache): one file per kernel, named by a hash of its identity (all inputs of the compilation).
 * Best effort: a folder that cannot be written and a damaged file are treated as a cache miss. */
#ifndef LT_FUSED_CACHE_CUH
#define LT_FUSED_CACHE_CUH

#include <string>

/* Returns the image stored under this identity, or an empty string. Reads only files that belong to
 * the user and that no other user can write. */
std::string lt_fused_cached(const std::string &identity);
/* Stores an image. If several processes write the same one, the last wins. Deletes the older half
 * of the files when there are more than LT_FUSED_CACHED. */
void lt_fused_keep(const std::string &identity, const std::string &image);

enum { LT_FUSED_CACHED = 4096 };

#endif
