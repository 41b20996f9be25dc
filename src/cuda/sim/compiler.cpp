/* compiler.cpp - see compiler.h. */
#include "compiler.h"

#include <algorithm>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace lt_sim {

std::string find_compiler()
{
    const char *const path = getenv("PATH"), *const chosen = getenv("CXX");
    std::vector<const char *> names = {"c++", "g++", "clang++"};
    if (chosen != nullptr && chosen[0] != '\0') names = {chosen};
    for (const char *name : names) {
        if (strchr(name, '/') != nullptr && access(name, X_OK) == 0) return name;
        const std::string all = path != nullptr ? path : "/usr/bin:/bin";
        for (size_t from = 0; from <= all.size();) {
            const size_t end = std::min(all.find(':', from), all.size());
            const std::string file = all.substr(from, end - from) + "/" + name;
            if (access(file.c_str(), X_OK) == 0) return file;
            from = end + 1;
        }
    }
    return "";
}

std::string temporary_folder()
{
    const char *const chosen = getenv("TMPDIR");
    return chosen != nullptr ? chosen : "/tmp";
}

bool write_file(const std::string &path, const std::string &text)
{
    FILE *file = fopen(path.c_str(), "we");
    if (file == nullptr) return false;
    const bool whole = fwrite(text.data(), 1, text.size(), file) == text.size();
    return fclose(file) == 0 && whole;
}

std::string read_file(const std::string &path)
{
    std::string text;
    char part[65536];
    FILE *file = fopen(path.c_str(), "re");
    if (file == nullptr) return text;
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
    fclose(file);
    return text;
}

bool run_program(const std::vector<std::string> &command, const std::string &output)
{
    std::vector<char *> words;
    for (const std::string &word : command) words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t redirected;
    const char *const to = output.empty() ? "/dev/null" : output.c_str();
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&redirected);
    for (int stream : {1, 2})
        posix_spawn_file_actions_addopen(&redirected, stream, to, O_WRONLY | O_CREAT | O_APPEND,
                                         0600);
    const int failed = posix_spawn(&child, words[0], &redirected, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&redirected);
    if (failed) return false;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string write_temporary(const std::string &content)
{
    std::string path = temporary_folder() + "/ltensor-XXXXXX";
    const int file = mkostemp(&path[0], O_CLOEXEC);
    if (file < 0) return "";
    const bool whole = write(file, content.data(), content.size()) == (ssize_t)content.size();
    close(file);
    if (whole) return path;
    (void)unlink(path.c_str());
    return "";
}

/* The loader identifies open objects by file, so each load needs a file of its own. */
void *load_object(const std::string &content)
{
    const std::string path = write_temporary(content);
    if (path.empty()) return nullptr;
    void *object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    (void)unlink(path.c_str());
    return object;
}

TemporaryFolder::TemporaryFolder() : path(temporary_folder() + "/ltensor-XXXXXX")
{
    if (mkdtemp(&path[0]) == nullptr) path.clear();
}

TemporaryFolder::~TemporaryFolder()
{
    for (const std::string &name : files) (void)unlink(name.c_str());
    if (!path.empty()) (void)rmdir(path.c_str());
}

std::string TemporaryFolder::file(const std::string &name)
{
    files.push_back(path + "/" + name);
    return files.back();
}

} // namespace lt_sim
