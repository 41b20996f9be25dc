/* plans.cuh - a per-thread cache, keyed by operand shape, of library descriptors and of the
 * algorithm that the library chose. It needs no lock. */
#ifndef LT_CUDA_PLANS_CUH
#define LT_CUDA_PLANS_CUH

#include <new>
#include <string.h>
#include <unordered_map>

#include "cuda.h"

/* Shape: everything that the choice depends on, compared as bytes, so without padding. Plan:
 * created by make(Plan *). */
template <class Shape, class Plan> class lt_cuda_plans {
  public:
    template <class Make> lt_status find(const Shape &shape, Make make, Plan **out)
    {
        try {
            if (known.size() >= most && known.find({shape}) == known.end()) known.clear();
            auto place = known.try_emplace({shape});
            *out = &place.first->second;
            if (!place.second) return LT_OK;
            lt_status status = make(*out);
            if (status != LT_OK) known.erase(place.first);
            return status;
        } catch (const std::bad_alloc &) {
            return lt_cuda_core->error(LT_ERR_MEMORY, "out of memory for what a library chose");
        }
    }

  private:
    static constexpr size_t most = 1024;
    static_assert(sizeof(Shape) % 8 == 0, "hashed by words");
    struct key {
        Shape shape;
        bool operator==(const key &other) const
        {
            return memcmp(&shape, &other.shape, sizeof shape) == 0;
        }
    };
    struct hash {
        size_t operator()(const key &k) const
        {
            uint64_t words[sizeof k.shape / 8], h = 0;
            memcpy(words, &k.shape, sizeof words);
            for (uint64_t w : words) h = (h ^ w) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
            return (size_t)h;
        }
    };
    std::unordered_map<key, Plan, hash> known;
};

#endif
