/* sanitizers.h - LT_ASAN and LT_TSAN: defined if the sanitizer is in use, with its interface. */
#ifndef LT_SIM_SANITIZERS_H
#define LT_SIM_SANITIZERS_H

#if defined(__SANITIZE_ADDRESS__)
#define LT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LT_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define LT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LT_TSAN 1
#endif
#endif

#ifdef LT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef LT_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#endif
