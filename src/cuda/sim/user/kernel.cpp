/* kernel.cpp - see kernel.h. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

namespace lt_sim {

namespace {

/* Beyond this distance from an argument, an address is not described relative to it. */
constexpr size_t near_bytes = 64 << 20;
constexpr int max_reports = 3;

/* Distance in bytes from an address to memory; 0 inside. */
size_t distance(const Span &memory, const char *pointer)
{
    if (pointer < memory.begin) return (size_t)(memory.begin - pointer);
    return pointer < memory.end ? 0 : (size_t)(pointer - memory.end) + 1;
}

} // namespace

void UserKernel::add_argument(const void *value, size_t bytes)
{
    values.emplace_back(new char[bytes + 16]);
    memcpy(values.back().get(), value, bytes);
    addresses.push_back(values.back().get());
}

void UserKernel::report(const char *check, const std::string &place, const std::string &text) const
{
    if (reported.size() >= max_reports || !reported.insert(check + place + text).second) return;
    std::string &reports = outcome->reports;
    if (!reports.empty()) reports += '\n';
    reports += std::string(check) + ": " + text;
}

void UserKernel::begin()
{
    error = cudaSuccess;
    reported.clear();
    outcome->reports.clear();
}

cudaError_t UserKernel::end()
{
    const auto found = (cudaError_t)error.load();
    outcome->error = found;
    if (waited) return cudaSuccess;
    if (!outcome->reports.empty()) fprintf(stderr, "simulated GPU: %s\n", outcome->reports.c_str());
    return found;
}

bool UserKernel::allows(const char *pointer, size_t bytes) const
{
    for (const Region &region : regions)
        if (region.memory.begin <= pointer && pointer + bytes <= region.memory.end) return true;
    return false;
}

std::string UserKernel::element_at(uintptr_t address) const
{
    const auto *pointer = reinterpret_cast<const char *>(address);
    const Region *nearest = nullptr;
    char text[160];
    for (const Region &region : regions)
        if (nearest == nullptr ||
            distance(region.memory, pointer) < distance(nearest->memory, pointer))
            nearest = &region;
    if (nearest == nullptr || distance(nearest->memory, pointer) > near_bytes) return "";
    const auto size = (long long)nearest->element;
    const long long offset = pointer - nearest->start;
    const long long index = offset >= 0 ? offset / size : -((size - 1 - offset) / size);
    const auto count = (nearest->memory.end - nearest->start) / size;
    snprintf(text, sizeof text, "%s[%lld]", nearest->name.c_str(), index);
    std::string result = text;
    if (pointer < nearest->memory.begin)
        result += ", before its first element";
    else if (pointer >= nearest->memory.end) {
        snprintf(text, sizeof text, ", beyond its %lld elements", (long long)count);
        result += text;
    }
    return result;
}

} // namespace lt_sim
