/* any_wins.h - a store that several threads may make at once: each word is stored atomically, as on
 * a GPU. */
#ifndef LT_SIM_ANY_WINS_H
#define LT_SIM_ANY_WINS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>

namespace lt_sim {

template <class T> void store_any(T *place, const T &value)
{
    constexpr size_t n = sizeof(T);
    using word =
        std::conditional_t<n % 8 == 0, uint64_t,
                           std::conditional_t<n % 4 == 0, uint32_t,
                                              std::conditional_t<n % 2 == 0, uint16_t, uint8_t>>>;
    word words[n / sizeof(word)];
    memcpy(words, &value, n);
    for (size_t i = 0; i < n / sizeof(word); i++)
        __atomic_store_n(reinterpret_cast<word *>(place) + i, words[i], __ATOMIC_RELAXED);
}

} // namespace lt_sim

#endif
