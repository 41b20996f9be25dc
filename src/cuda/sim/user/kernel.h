/* kernel.h - a launch of a kernel from a user's source text, and the reports of its checks.
 *
 * The checker observes only these kernels in a build without checks: their objects are compiled
 * with -fsanitize=thread (user/). A defect belongs to the launch: the launching call reports it. */
#ifndef LT_SIM_USER_KERNEL_H
#define LT_SIM_USER_KERNEL_H

#include "../check/host_memory.h"
#include "../sim.h"

#include <set>

namespace lt_sim {

/* The memory that a pointer argument may access. */
struct Region {
    Span memory;
    const char *start; /* the pointer */
    size_t element;    /* bytes of one */
    std::string name;  /* of the parameter */
};

/* The result of a launch, shared with the caller. */
struct Outcome {
    cudaError_t error = cudaSuccess;
    std::string reports; /* a line each */
};

class UserKernel final : public Kernel, private ThreadBody {
  public:
    /* places: of the kernel's object. waited: the launching call waits for the outcome, and the
     * device has no error then; else the reports go to stderr. */
    UserKernel(void (*body)(void *const *), size_t parameters, Places *places, bool waited)
        : Kernel(sizeof(UserKernel), parameters), places(places), body(body), waited(waited)
    {}
    void run_block() const override { run_team(*this, *this); }
    void run_thread() const override { body(const_cast<void *const *>(addresses.data())); }

    void add_argument(const void *value, size_t bytes);
    void report(const char *check, const std::string &place, const std::string &text) const;
    void begin();      /* before a run */
    cudaError_t end(); /* after it: returns the error that the device keeps */
    /* "y[1000], beyond its 1000 elements"; empty if the address is far from every argument. */
    std::string element_at(uintptr_t address) const;
    /* Whether an argument's memory contains these bytes. */
    bool allows(const char *pointer, size_t bytes) const;

    Places *const places;
    std::vector<Region> regions;
    const std::shared_ptr<Outcome> outcome = std::make_shared<Outcome>();

  private:
    void (*const body)(void *const *);
    const bool waited;
    std::vector<std::unique_ptr<char[]>> values;
    std::vector<void *> addresses;
    mutable std::set<std::string> reported;
};

/* Null for ltensor's own kernels. */
inline const UserKernel *user_kernel(const Kernel &kernel)
{
    return dynamic_cast<const UserKernel *>(&kernel);
}

} // namespace lt_sim

#endif
