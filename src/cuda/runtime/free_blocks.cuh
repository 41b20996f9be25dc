/* free_blocks.cuh - the free blocks of one stream, sorted into lists by size.
 *
 * Sizes are multiples of LT_CUDA_UNIT. Sizes of up to 127 units have a list each; above, each power
 * of two is divided into 64 lists, so that sizes in a list differ by less than 1/64. A bitmap tells
 * which lists are not empty. Adding and removing take constant time, and so does a search, except
 * that it walks the list of its own size class: that list may have blocks that are too small.
 *
 * Included by allocator.cuh. */
#ifndef LT_CUDA_FREE_BLOCKS_CUH
#define LT_CUDA_FREE_BLOCKS_CUH

#include <stddef.h>
#include <stdint.h>

/* fixed: bytes; the alignment of blocks, which cudaMalloc's results have as well */
#define LT_CUDA_UNIT ((size_t)512)

/* Block: a type with the members size, list, list_previous and list_next. */
template <class Block> class lt_free_blocks {
  public:
    void add(Block *b)
    {
        const unsigned list = b->list = list_of(b->size);
        b->list_previous = nullptr;
        b->list_next = first[list];
        if (b->list_next != nullptr) b->list_next->list_previous = b;
        first[list] = b;
        filled[list / 64] |= uint64_t{1} << list % 64;
        words |= uint64_t{1} << list / 64;
    }

    void remove(Block *b)
    {
        const unsigned list = b->list;
        if (b->list_next != nullptr) b->list_next->list_previous = b->list_previous;
        if (b->list_previous != nullptr) {
            b->list_previous->list_next = b->list_next;
            return;
        }
        first[list] = b->list_next;
        if (first[list] != nullptr) return;
        filled[list / 64] &= ~(uint64_t{1} << list % 64);
        if (filled[list / 64] == 0) words &= ~(uint64_t{1} << list / 64);
    }

    /* The smallest block of at least `size` bytes in the list of that size; else any block of the
     * next list that has one; null if there is none. */
    Block *find(size_t size) const
    {
        const unsigned list = list_of(size);
        Block *best = nullptr;
        for (Block *b = first[list]; b != nullptr; b = b->list_next) {
            if (b->size == size) return b;
            if (b->size > size && (best == nullptr || b->size < best->size)) best = b;
        }
        return best != nullptr ? best : first_after(list);
    }

    /* Calls visit(b) for every block; visit may remove it. */
    template <class Visit> void each(Visit visit)
    {
        for (unsigned list = 0; list < LISTS; list++)
            for (Block *b = first[list], *next; b != nullptr; b = next) {
                next = b->list_next;
                visit(b);
            }
    }

  private:
    /* fixed: 64 words of bits, as many as `words` has bits, suffice for every size */
    static constexpr unsigned EXACT = 128, PER_DOUBLING = 64, LISTS = 64 * 64;

    Block *first[LISTS] = {};
    uint64_t filled[LISTS / 64] = {}, words = 0;

    static unsigned list_of(size_t size)
    {
        const uint64_t units = size / LT_CUDA_UNIT;
        if (units < EXACT) return static_cast<unsigned>(units);
        const unsigned power = 63 - static_cast<unsigned>(__builtin_clzll(units));
        return EXACT + (power - 7) * PER_DOUBLING +
               static_cast<unsigned>(units >> (power - 6) & (PER_DOUBLING - 1));
    }

    Block *first_after(unsigned list) const
    {
        const unsigned word = list / 64;
        /* shifted twice: a shift by 64 is undefined */
        uint64_t bits = filled[word] >> list % 64 >> 1;
        if (bits != 0) return first[list + 1 + static_cast<unsigned>(__builtin_ctzll(bits))];
        bits = words >> word >> 1;
        if (bits == 0) return nullptr;
        const unsigned next = word + 1 + static_cast<unsigned>(__builtin_ctzll(bits));
        return first[next * 64 + static_cast<unsigned>(__builtin_ctzll(filled[next]))];
    }
};

#endif
