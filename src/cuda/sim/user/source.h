/* source.h - translates a user's CUDA source into C++ for the host's compiler. */
#ifndef LT_SIM_USER_SOURCE_H
#define LT_SIM_USER_SOURCE_H

#include <string>

namespace lt_sim {

/* Replaces the declarations of dynamic shared memory, `extern __shared__ T name[];`, which C++ does
 * not have. Line numbers are unchanged. */
std::string host_source(const std::string &text, const std::string &file);

} // namespace lt_sim

#endif
