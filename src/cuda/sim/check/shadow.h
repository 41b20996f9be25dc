/* shadow.h - shadow memory: for each byte of simulated memory whether it is allocated and written,
 * and the last accesses by the running launch.
 *
 * Chunks of 64 KiB are created on first access. A word of 4 bytes has a cell; if a launch accesses
 * parts of a word, its bytes have their own cells. Cells of an earlier launch are stale and
 * ignored, so that nothing is cleared between launches. Two cells fit in a cache line, because
 * cache misses dominate the cost of a check. Used by one thread at a time. */
#ifndef LT_SIM_SHADOW_H
#define LT_SIM_SHADOW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <vector>

namespace lt_sim {

constexpr size_t chunk_bytes = 64 * 1024;

/* clock: 1 + number of synchronizations of the thread before the access; 0: no access. */
struct Access {
    uint32_t block;
    uint32_t clock : 21, thread : 10, atomic : 1;
};
constexpr uint32_t latest_clock = (1u << 21) - 1;

/* The accesses of one period: of a launch, or for shared memory of a block. other: a second read,
 * by another thread than `read`, preferably in another block. split: the period in which a part of
 * the word was last accessed. */
struct Cell {
    uint32_t period, split;
    Access write, read, other;
};
static_assert(sizeof(Cell) == 32, "two to a line of the cache");

enum State : uint8_t { never_allocated, freed_memory, unwritten, written_memory };

struct Chunk {
    Cell words[chunk_bytes / 4];
    uint8_t state[chunk_bytes];
    Cell *bytes;
};

class Shadow {
  public:
    /* The chunk that contains the byte at this offset. */
    Chunk &at(size_t offset)
    {
        const size_t i = offset / chunk_bytes;
        return i < chunks.size() && chunks[i] ? *chunks[i] : made(i);
    }
    /* Fast path: true if all bytes of the access are in one chunk and written. */
    bool written(size_t offset, size_t bytes)
    {
        const size_t first = offset % chunk_bytes;
        if (first + bytes > chunk_bytes) return false;
        const uint8_t *state = at(offset).state + first;
        switch (bytes) {
        case 16: return all_written<uint64_t>(state) && all_written<uint64_t>(state + 8);
        case 8: return all_written<uint64_t>(state);
        case 4: return all_written<uint32_t>(state);
        case 2: return all_written<uint16_t>(state);
        default: return bytes == 1 && *state == written_memory;
        }
    }
    Cell &byte(Chunk &chunk, size_t offset);
    void set(size_t offset, size_t bytes, State state);
    void copy(size_t to, const Shadow *source, size_t from,
              size_t bytes); /* source null: host memory, counts as written */

  private:
    template <class T> static bool all_written(const uint8_t *state)
    {
        T is;
        memcpy(&is, state, sizeof is);
        return is == (T)(written_memory * 0x0101010101010101u);
    }
    Chunk &made(size_t i);
    const uint8_t *
    states(size_t offset) const; /* states from this byte on; null: the chunk does not exist */
    std::vector<Chunk *> chunks;
};

} // namespace lt_sim

#endif
