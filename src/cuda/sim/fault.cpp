/* fault.cpp - faults: errors that fail on hardware but would pass in a simulation. They are printed
 * to stderr, counted, and stored for tests.
 *
 * A fault is reported once per source location, even if many threads cause it. With
 * LTENSOR_SIM_CHECK=1, a process with faults exits with status 86, so that no test passes despite
 * them. */
#include "sim.h"
#include "user/kernel.h"

#include <set>
#include <stdarg.h>
#include <stdio.h>
#include <string>

namespace lt_sim {

namespace {

constexpr size_t most_kept = 100;

struct Faults {
    std::mutex mutex;
    std::set<std::string> places;
    std::vector<std::string> texts;
    long count = 0;
};

Faults &faults()
{
    static Faults *instance = new Faults;
    return *instance;
}

std::string format(const char *text, va_list list)
{
    char buffer[1024];
    vsnprintf(buffer, sizeof buffer, text, list);
    return buffer;
}

std::string triple(uint3 v)
{
    char buffer[64];
    snprintf(buffer, sizeof buffer, "(%u, %u, %u)", v.x, v.y, v.z);
    return buffer;
}

void tell(const char *check, const std::string &place, const std::string &text)
{
    Faults &f = faults();
    std::lock_guard<std::mutex> lock(f.mutex);
    if (!f.places.insert(check + place).second) return;
    f.count++;
    if (f.texts.size() >= most_kept) return;
    f.texts.push_back(std::string(check) + ": " + text);
    fprintf(stderr, "simulated GPU: %s\n", f.texts.back().c_str());
}

} // namespace

std::string thread_text(uint3 block, uint3 thread)
{
    return "block " + triple(block) + ", thread " + triple(thread);
}

void fault_of_launch(const char *check, const Kernel &kernel, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    std::string what = format(text, list);
    va_end(list);
    if (const UserKernel *users = user_kernel(kernel)) {
        users->report(check, "", std::string("kernel ") + kernel.site.name + ": " + what);
        return;
    }
    tell(check, kernel.site.name + what,
         std::string("kernel ") + kernel.site.name + ": " + what + "; launched in " +
             kernel.site.launcher);
}

void fault_in_kernel(const char *check, const char *place, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    std::string what = format(text, list);
    va_end(list);
    const Kernel *kernel = context.kernel;
    if (!*place) place = what.c_str();
    if (!kernel) {
        tell(check, place, what);
        return;
    }
    if (const UserKernel *users = user_kernel(*kernel)) {
        users->report(check, place,
                      std::string("kernel ") + kernel->site.name + ", " +
                          thread_text(context.block, context.thread) + ": " + what);
        return;
    }
    tell(check, std::string(kernel->site.name) + place,
         std::string("kernel ") + kernel->site.name + ", " +
             thread_text(context.block, context.thread) + ": " + what + "; launched in " +
             kernel->site.launcher + " with " + triple(kernel->grid) + " blocks of " +
             triple(kernel->block) + " threads");
}

} // namespace lt_sim

using namespace lt_sim;

long lt_sim_faults(void)
{
    std::lock_guard<std::mutex> lock(faults().mutex);
    return faults().count;
}

const char *lt_sim_fault(long i)
{
    Faults &f = faults();
    std::lock_guard<std::mutex> lock(f.mutex);
    return i >= 0 && i < (long)f.texts.size() ? f.texts[(size_t)i].c_str() : "";
}

void lt_sim_forget_faults(void)
{
    Faults &f = faults();
    std::lock_guard<std::mutex> lock(f.mutex);
    f.texts.clear();
    f.places.clear();
    f.count = 0;
    if (monitor) monitor->forget();
}
