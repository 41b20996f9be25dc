/* compiler.h - the host's C++ compiler, and the temporary files that it reads and writes. */
#ifndef LT_SIM_COMPILER_H
#define LT_SIM_COMPILER_H

#include <string>
#include <vector>

namespace lt_sim {

/* Returns the path of CXX, c++, g++ or clang++, or empty if none is found. If CXX is set, only that
 * compiler is considered. */
std::string find_compiler();
/* Runs a program. output: the file that receives what it prints; empty: nothing does. False if it
 * cannot be started or fails. */
bool run_program(const std::vector<std::string> &command, const std::string &output);

std::string temporary_folder(); /* TMPDIR, or /tmp */
bool write_file(const std::string &path, const std::string &text);
std::string read_file(const std::string &path); /* empty if it cannot be read */
/* Writes a new temporary file and returns its path; empty on failure. */
std::string write_temporary(const std::string &content);
/* Loads a shared object by its content; null on failure (dlerror). Each call loads it anew. */
void *load_object(const std::string &content);

/* A folder that is deleted with its files at the end of the scope. */
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    /* Path of a file in it. */
    std::string file(const std::string &name);

    std::string path; /* empty: it could not be created */

  private:
    std::vector<std::string> files;
};

} // namespace lt_sim

#endif
