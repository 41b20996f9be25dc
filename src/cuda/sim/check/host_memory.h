/* host_memory.h - the memory and source of a library with kernels, this one or a user's: the
 * constants and variables that a kernel may access besides device memory, and the source line of a
 * code address. */
#ifndef LT_SIM_HOST_MEMORY_H
#define LT_SIM_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <string>
#include <vector>

namespace lt_sim {

/* A thread-local variable: a kernel's __shared__ variable. */
struct SharedVariable {
    size_t offset, size; /* in the thread's TLS block */
    std::string name;
    uint32_t launch; /* the last launch that accessed it */
};

class Places {
  public:
    /* Of the library that contains the address. object: content of its file, which was deleted,
     * and source: name of the file that it was compiled from; empty: this library. */
    explicit Places(const void *inside, std::string object = "", std::string source = "");
    /* Whether the address is in read-only memory of this library. */
    bool constant(uintptr_t address) const;
    /* Whether the address is in other memory of this library; *offset: from its start. */
    bool global(uintptr_t address, size_t *offset) const;
    /* Start of the calling thread's TLS block. */
    const char *thread_variables() const;
    size_t thread_bytes() const { return tls_bytes; }
    /* Whether a variable of the simulator is at this offset (threadIdx reads one). */
    bool of_simulator_at(size_t offset) const;
    /* The variable at this offset; null if there is none. */
    SharedVariable *variable(size_t offset)
    {
        return recent && offset - recent->offset < recent->size ? recent : found(offset);
    }
    /* The last variable that begins at or before this offset; null if there is none. */
    SharedVariable *before(size_t offset);
    /* "src/cuda/kernels/reduce.cu:210" */
    std::string source(uintptr_t code) const;

  private:
    struct Range {
        uintptr_t begin, end;
    };
    void read_symbols(const std::string &object);
    SharedVariable *found(size_t offset);
    std::string shown_line(const std::string &line) const;

    std::string file, object, user_file;
    uintptr_t base = 0;
    size_t tls_module = 0, tls_bytes = 0;
    std::vector<Range> constants, variable_memory, own;
    std::vector<SharedVariable> variables; /* sorted by offset */
    SharedVariable *recent = nullptr;      /* cache: the last one found */
};

} // namespace lt_sim

#endif
