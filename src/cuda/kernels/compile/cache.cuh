/* cache.cuh - compiled kernels on disk, in $XDG_CACHE_HOME/ltensor/kernels (~/.cache without it):
 * one file each, named by a hash of what it was made from. A folder that cannot be written is no
 * error, nor is a file that is damaged: there is nothing then. */
#ifndef LT_FUSED_CACHE_CUH
#define LT_FUSED_CACHE_CUH

#include <string>

/* The image that was kept under this identity; empty: none. Only files that belong to the user, and
 * that nobody else may write, are taken. */
std::string lt_fused_cached(const std::string &identity);
/* From several processes at once the last one stays. Of more than LT_FUSED_CACHED files the oldest
 * half goes. */
void lt_fused_keep(const std::string &identity, const std::string &image);

enum { LT_FUSED_CACHED = 4096 };

#endif
