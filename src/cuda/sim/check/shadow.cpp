/* shadow.cpp - see shadow.h. */
#include "shadow.h"

#include <algorithm>
#include <new>
#include <string.h>
#include <sys/mman.h>

namespace lt_sim {

namespace {

/* Zero-filled memory, committed on first access. Never freed: a device has few chunks. */
void *zeros(size_t bytes)
{
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return memory;
}

} // namespace

Chunk &Shadow::made(size_t i)
{
    if (i >= chunks.size()) chunks.resize(i + 1);
    if (!chunks[i]) chunks[i] = static_cast<Chunk *>(zeros(sizeof(Chunk)));
    return *chunks[i];
}

Cell &Shadow::byte(Chunk &chunk, size_t offset)
{
    if (!chunk.bytes) chunk.bytes = static_cast<Cell *>(zeros(chunk_bytes * sizeof(Cell)));
    return chunk.bytes[offset % chunk_bytes];
}

void Shadow::set(size_t offset, size_t bytes, State state)
{
    while (bytes > 0) {
        const size_t first = offset % chunk_bytes, n = std::min(bytes, chunk_bytes - first);
        memset(at(offset).state + first, state, n);
        offset += n;
        bytes -= n;
    }
}

const uint8_t *Shadow::states(size_t offset) const
{
    const size_t i = offset / chunk_bytes;
    return i < chunks.size() && chunks[i] ? chunks[i]->state + offset % chunk_bytes : nullptr;
}

/* Copies in pieces that do not cross a chunk boundary of source or destination. */
void Shadow::copy(size_t to, const Shadow *source, size_t from, size_t bytes)
{
    while (bytes > 0) {
        const size_t n =
            std::min({bytes, chunk_bytes - to % chunk_bytes, chunk_bytes - from % chunk_bytes});
        uint8_t *state = at(to).state + to % chunk_bytes;
        const uint8_t *states = source ? source->states(from) : nullptr;
        for (size_t i = 0; i < n; i++)
            state[i] = !states || states[i] == written_memory ? written_memory : unwritten;
        to += n;
        from += n;
        bytes -= n;
    }
}

} // namespace lt_sim
