/* host_memory.h - the program's own memory and source: what a kernel may touch besides device memory,
 * and where code stands. */
#ifndef LT_SIM_HOST_MEMORY_H
#define LT_SIM_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <string>
#include <vector>

namespace lt_sim {

/* A variable of each thread: a kernel's __shared__ one. */
struct SharedVariable {
    size_t offset, size; /* in the thread's block of such variables */
    std::string name;
    uint32_t launch; /* the last that touched it */
};

class Places {
  public:
    Places();
    /* Constants: memory of this library that nothing writes to. */
    bool constant(uintptr_t address) const;
    /* The variables of the calling thread begin here. */
    const char *thread_variables() const;
    size_t thread_bytes() const { return tls_bytes; }
    /* One of the simulator's own, which kernels' code reads for threadIdx and its like. */
    bool of_simulator_at(size_t offset) const;
    /* Null: there is none at this offset. */
    SharedVariable *variable(size_t offset)
    {
        return recent && offset - recent->offset < recent->size ? recent : found(offset);
    }
    /* "src/cuda/kernels/reduce.cu:210" */
    std::string source(uintptr_t code) const;

  private:
    struct Range {
        uintptr_t begin, end;
    };
    void read_symbols();
    SharedVariable *found(size_t offset);

    std::string file;
    uintptr_t base = 0;
    size_t tls_module = 0, tls_bytes = 0;
    std::vector<Range> constants, own;
    std::vector<SharedVariable> variables; /* by offset */
    SharedVariable *recent = nullptr;      /* the last that was found */
};

} // namespace lt_sim

#endif
