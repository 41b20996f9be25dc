/* checker.h - a build in which each load and store of a kernel is checked, like compute-sanitizer's
 * memcheck, racecheck and initcheck on a GPU. Races are detected with vector clocks.
 *
 * Kernels are compiled with -fsanitize=thread, which calls a function before each memory access;
 * accesses.h defines these functions instead of ThreadSanitizer. In a build without checks, only
 * users' kernels are compiled so, and the state of global memory is not tracked. Work items run one at a time, and
 * the blocks of a grid on one thread, so only one thread uses this data while a kernel runs. */
#ifndef LT_SIM_CHECKER_H
#define LT_SIM_CHECKER_H

#include "../user/host.h"
#include "../user/kernel.h"
#include "host_memory.h"
#include "shadow.h"

#include <set>

namespace lt_sim {

/* Identifies the calling OS thread with one instruction. */
inline uintptr_t own_thread() { return reinterpret_cast<uintptr_t>(__builtin_thread_pointer()); }

inline bool is_atomic(AccessKind kind) { return kind == atomic_access || kind == atomic_store; }
inline bool reads(AccessKind kind) { return kind == read_access || kind == atomic_access; }

class Checker final : public Monitor {
  public:
    void begin_launch(const Kernel &kernel) override;
    void end_launch() override;
    void begin_block(uint64_t number) override;
    void met() override;
    void met(unsigned warp, unsigned lanes) override;
    void allocated(const void *pointer, size_t bytes) override;
    void freed(const void *pointer, size_t bytes) override;
    void written(const void *pointer, size_t bytes) override;
    void copied(const void *dst, const void *src, size_t bytes) override;
    void read(const char *call, const void *pointer, size_t bytes) override;
    void forget() override;

    /* Checks an access by the code with return address `code`. Most accesses are to the kernel's
     * local variables, which cost only a few comparisons. */
    void access(uintptr_t address, size_t bytes, AccessKind kind, bool aligned, uintptr_t code)
    {
        const auto *pointer = reinterpret_cast<const char *>(address);
        if (runner != own_thread())
            on_host({address, code, bytes, kind});
        else if (aligned && address % bytes != 0)
            misaligned({address, code, bytes, kind});
        else if (!inside(stack, pointer) && !inside(own_context, pointer) &&
                 !inside(parameters, pointer)) {
            runner = 0; /* functions that a report shares with checked code are not checked */
            in_kernel({address, code, bytes, kind});
            runner = own_thread();
        }
    }

    /* Reports the conversion of a floating-point number out of the integer type's range. */
    void converted(uintptr_t code);

  private:
    struct Touch {
        uintptr_t address, code;
        size_t bytes;
        AccessKind kind;
    };
    struct Warp {
        bool met;
        uint32_t seen[32][32]; /* vector clocks: [a][b] is lane b's clock as seen by a */
    };

    static bool inside(const Span &span, const char *pointer)
    {
        return (size_t)(pointer - span.begin) < (size_t)(span.end - span.begin);
    }
    [[noreturn]] void stop_thread(cudaError_t error);
    void on_host(const Touch &touch);
    [[noreturn]] void misaligned(const Touch &touch);
    void in_kernel(const Touch &touch);
    void on_device(const Touch &touch, int device, size_t offset);
    void change_state(Shadow &shadow, size_t offset, const Touch &touch);
    void on_shared(Shadow &shadow, size_t offset, const Touch &touch, bool dynamic);
    void in_variable(size_t offset, const Touch &touch);
    bool in_library(const Touch &touch);
    [[noreturn]] void outside(const Touch &touch);
    void touch_cells(Shadow &shadow, size_t offset, const Touch &touch, uint32_t period);
    void touch_cell(Cell &cell, const Touch &touch, const Access &now, uint32_t period);
    void touch_again(Cell &cell, const Touch &touch, const Access &now, bool enter);
    bool conflicts(const Access &before, const Access &now) const;
    bool ordered(const Access &before, unsigned self) const;
    void race(const Access &before, const char *did, const Touch &touch);
    std::string place(uintptr_t address);
    std::string shared_place(const char *pointer);
    std::string where(const Touch &touch);
    bool first(const char *check, uintptr_t code);
    unsigned thread() const;
    /* The clock saturates after two million synchronizations in a block; races after that are
     * missed. */
    void advance(unsigned thread) { clock[thread] += clock[thread] < latest_clock; }

    std::unique_ptr<Places> own; /* of this library; made by the first of its checked kernels */
    Shadow devices[max_devices], variables, dynamic, globals;
    std::map<uintptr_t, size_t> live; /* allocated device memory: address -> bytes */
    std::set<std::pair<std::string, uintptr_t>> told;

    /* State of the running launch. */
    uintptr_t runner = 0; /* its OS thread */
    const Kernel *kernel = nullptr;
    const UserKernel *users = nullptr; /* null: one of ltensor's kernels */
    Places *places = nullptr;          /* of the kernel's library */
    const Context *running = nullptr;  /* context of its OS thread; so are the next two */
    Span variables_at = {nullptr, nullptr}, own_context = {nullptr, nullptr};
    Span parameters = {nullptr, nullptr};
    Span memory[max_devices];
    int memories = 0;
    uint32_t launch = 0, block = 0;
    uint32_t blocks = 0; /* in all launches so far: period of shared memory */
    size_t shared_bytes = 0;
    uint32_t clock[1024], floor[1024];
    Warp warps[32];
};

/* Made at the first call. */
Checker &the_checker();

} // namespace lt_sim

#endif
