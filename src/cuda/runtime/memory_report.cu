/* memory_report.cu - statistics of the caching allocator, and its out-of-memory message. */
#include <algorithm>
#include <stdio.h>

#include "allocator.cuh"
#include "assertion.h"

/* ---- statistics ------------------------------------------------------------------------------ */

void lt_cuda_memory_stats(int device, lt_memory_stats *out)
{
    lt_cuda_cache &c = lt_cuda_caches[device];
    std::lock_guard<lt_owned_mutex> lock(c.mutex);
    *out = {};
    for (int kind = 0; kind < LT_MEMORY_KINDS; kind++) {
        const lt_cuda_tally &t = c.tallies[kind];
        lt_memory_count *const counts = out->counts[kind];
        for (int pool = 0; pool < LT_POOLS; pool++) {
            counts[pool] = t.count(pool);
            LT_ASSERT(counts[pool].current >= 0 && counts[pool].current <= counts[pool].peak,
                      "%lld of %lld", (long long)counts[pool].current,
                      (long long)counts[pool].peak);
        }
    }
    out->retries = c.retries;
    out->out_of_memory = c.out_of_memory;
    out->device_allocs = c.device_allocs;
    out->device_frees = c.device_frees;
}

void lt_cuda_reset_peak_stats(int device)
{
    lt_cuda_cache &c = lt_cuda_caches[device];
    std::lock_guard<lt_owned_mutex> lock(c.mutex);
    for (lt_cuda_tally &t : c.tallies) t.reset_peak();
}

/* ---- out of memory --------------------------------------------------------------------------- */

namespace {

constexpr int largest_shown = 3;

struct bytes_text {
    char text[32];
    /* "2.00 GiB" */
    explicit bytes_text(size_t bytes)
    {
        static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
        double value = (double)bytes;
        int i = 0;
        for (; value >= 1024 && i < 6; i++) value /= 1024;
        snprintf(text, sizeof text, i == 0 ? "%.0f %s" : "%.2f %s", value, units[i]);
    }
};

/* " Largest tensors: 1.00 GiB (train.lua:31), 512.00 MiB." */
void format_largest(const lt_cuda_cache &c, char *buffer, size_t n)
{
    const lt_cuda_block *largest[largest_shown] = {};
    for (const lt_cuda_block *first : c.segments)
        for (const lt_cuda_block *b = first; b != nullptr; b = b->next) {
            const lt_cuda_block *candidate = b->used ? b : nullptr;
            for (const lt_cuda_block *&place : largest)
                if (candidate != nullptr &&
                    (place == nullptr || candidate->requested > place->requested))
                    std::swap(candidate, place);
        }
    size_t length = 0;
    buffer[0] = '\0';
    for (const lt_cuda_block *b : largest) {
        if (b == nullptr || length >= n) break;
        const bool known = b->origin[0] != '\0';
        length += (size_t)snprintf(
            buffer + length, n - length, "%s%s%s%s%s", length == 0 ? " Largest tensors: " : ", ",
            bytes_text(b->requested).text, known ? " (" : "", b->origin, known ? ")" : "");
    }
    if (length > 0 && length < n) snprintf(buffer + length, n - length, ".");
}

} // namespace

lt_status lt_cuda_out_of_memory(lt_cuda_cache &c, int device, size_t nbytes)
{
    char limit[64] = "", largest[480];
    size_t free = 0, total = 0;
    const int64_t allocated = c.tallies[LT_MEMORY_ALLOCATED_BYTES].current_of_all();
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) (void)cudaGetLastError();
    if (c.limit != SIZE_MAX)
        snprintf(limit, sizeof limit, " %s allowed;", bytes_text(c.limit).text);
    format_largest(c, largest, sizeof largest);
    return lt_cuda_core->error(LT_ERR_MEMORY,
                               "CUDA out of memory. Tried to allocate %s. GPU %d has a total "
                               "capacity of %s of which %s is free.%s "
                               "Of the allocated memory %s is allocated by ltensor, and %s is "
                               "reserved by ltensor but unallocated.%s",
                               bytes_text(nbytes).text, device, bytes_text(total).text,
                               bytes_text(free).text, limit, bytes_text((size_t)allocated).text,
                               bytes_text((size_t)(c.reserved() - allocated)).text, largest);
}
