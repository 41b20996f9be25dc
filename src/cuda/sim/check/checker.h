/* checker.h - a build of the kernels in which each load and store is looked at: as
 * compute-sanitizer's memcheck, racecheck and initcheck do on a GPU.
 *
 * Kernels are compiled with -fsanitize=thread, which calls a function before each access of memory;
 * entry.cpp has these functions in place of ThreadSanitizer's. Works run one at a time and a grid's
 * blocks on one thread, so that nothing here is shared between threads while a kernel runs. */
#ifndef LT_SIM_CHECKER_H
#define LT_SIM_CHECKER_H

#include "../sim.h"
#include "host_memory.h"
#include "shadow.h"

#include <set>

namespace lt_sim {

/* The calling OS thread, at the cost of one instruction. */
inline uintptr_t own_thread() { return reinterpret_cast<uintptr_t>(__builtin_thread_pointer()); }

enum AccessKind { read_access, write_access, atomic_access, atomic_store };

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

    /* By the code whose call returns to `code`. Most are of the kernel's own variables: these have
     * no more than a few comparisons to pass. */
    void access(uintptr_t address, size_t bytes, AccessKind kind, bool aligned, uintptr_t code)
    {
        const auto *pointer = reinterpret_cast<const char *>(address);
        if (runner != own_thread())
            on_host({address, code, bytes, kind});
        else if (aligned && address % bytes != 0)
            misaligned({address, code, bytes, kind});
        else if (!inside(stack, pointer) && !inside(own_context, pointer) &&
                 !inside(parameters, pointer))
            in_kernel({address, code, bytes, kind});
    }

    /* A floating number was made an integer that has no room for it. */
    void converted(uintptr_t code);

  private:
    struct Touch {
        uintptr_t address, code;
        size_t bytes;
        AccessKind kind;
    };
    struct Warp {
        bool met;
        uint32_t seen[32][32]; /* by a lane: up to which clock of another lane */
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
    void touch_cells(Shadow &shadow, size_t offset, const Touch &touch, uint32_t period);
    void touch_cell(Cell &cell, const Touch &touch, const Access &now, uint32_t period);
    void touch_again(Cell &cell, const Touch &touch, const Access &now, bool enter);
    bool conflicts(const Access &before, const Access &now) const;
    bool ordered(const Access &before, unsigned self) const;
    void race(const Access &before, const char *did, const Touch &touch);
    std::string place(uintptr_t address);
    std::string where(const Touch &touch);
    bool first(const char *check, uintptr_t code);
    unsigned thread() const;
    /* A block that meets two million times: from then on races of different times in it are not
     * seen. */
    void advance(unsigned thread) { clock[thread] += clock[thread] < latest_clock; }

    Places places;
    Shadow devices[max_devices], variables, dynamic;
    std::map<uintptr_t, size_t> live; /* device memory that is allocated */
    std::set<std::pair<std::string, uintptr_t>> told;

    /* Of the running launch. */
    uintptr_t runner = 0; /* the OS thread */
    const Kernel *kernel = nullptr;
    const Context *running = nullptr; /* its OS thread's, as are the next two */
    Span variables_at = {nullptr, nullptr}, own_context = {nullptr, nullptr};
    Span parameters = {nullptr, nullptr};
    Span memory[max_devices];
    int memories = 0;
    uint32_t launch = 0, block = 0;
    uint32_t blocks = 0; /* of all launches so far */
    size_t shared_bytes = 0;
    uint32_t clock[1024], floor[1024];
    Warp warps[32];
};

/* Null until the library is loaded. */
extern Checker *checker;

} // namespace lt_sim

#endif
