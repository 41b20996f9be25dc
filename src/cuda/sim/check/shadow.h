/* shadow.h - what is known of each byte of simulated memory: whether it may be touched, whether it
 * was written, and who of the running launch touched it last.
 *
 * Memory is described in chunks of 64 KiB, made when they are first touched. A word of 4 bytes has
 * a cell; where a launch touches parts of a word, its bytes have cells of their own. A cell of an
 * earlier launch is stale and means nothing, so that nothing is cleared between launches. Two cells
 * share a line of the cache: most of what a check costs is the way to them. Used by one thread at a
 * time. */
#ifndef LT_SIM_SHADOW_H
#define LT_SIM_SHADOW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <vector>

namespace lt_sim {

constexpr size_t chunk_bytes = 64 * 1024;

/* `clock` counts from 1 how often the thread met others before; 0: there was no access. */
struct Access {
    uint32_t block;
    uint32_t clock : 21, thread : 10, atomic : 1;
};
constexpr uint32_t latest_clock = (1u << 21) - 1;

/* What was done in a period: a launch, or of shared memory a block. `other`: a reader that is
 * another thread than `read`, of another block if there was one. `split`: the period in which a
 * part of the word was last touched. */
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
    /* That of the chunk which has the byte at this offset. */
    Chunk &at(size_t offset)
    {
        const size_t i = offset / chunk_bytes;
        return i < chunks.size() && chunks[i] ? *chunks[i] : made(i);
    }
    /* Whether that is known of all of these bytes, of one access; false where they are in two
     * chunks. */
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
              size_t bytes); /* null: from memory that is written */

  private:
    template <class T> static bool all_written(const uint8_t *state)
    {
        T is;
        memcpy(&is, state, sizeof is);
        return is == (T)(written_memory * 0x0101010101010101u);
    }
    Chunk &made(size_t i);
    const uint8_t *
    states(size_t offset) const; /* from this byte on; null: its chunk was never touched */
    std::vector<Chunk *> chunks;
};

} // namespace lt_sim

#endif
