/* host_memory.cpp - see host_memory.h. Reads the program headers of the loaded library, the symbols of
 * thread-local variables in its file, and source lines by addr2line. */
#include "host_memory.h"
#include "../compiler.h"

#include <algorithm>
#include <cxxabi.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace lt_sim {

namespace {

extern "C" void *__tls_get_addr(size_t index[2]);

std::string own_path()
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    return n > 0 ? std::string(path, (size_t)n) : "";
}

/* Thread-local variables of namespace lt_sim belong to the simulator, not to a kernel. */
bool of_simulator(const char *symbol) { return strstr(symbol, "N6lt_sim") != nullptr; }

std::string demangled(const char *symbol)
{
    int status = 0;
    char *text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    std::string name = text ? text : symbol;
    free(text);
    return name;
}

/* Copies n elements at this offset; false if the content ends before. */
template <class T> bool copy_part(const std::string &content, size_t offset, T *to, size_t n)
{
    if (offset > content.size() || n > (content.size() - offset) / sizeof(T)) return false;
    memcpy(to, content.data() + offset, n * sizeof(T));
    return true;
}

template <class F> auto each_module(F f)
{
    return dl_iterate_phdr([](dl_phdr_info *info, size_t,
                              void *data) { return (int)(*static_cast<F *>(data))(*info); },
                           &f);
}

} // namespace

Places::Places(const void *inside, std::string content, std::string source)
    : object(std::move(content)), user_file(std::move(source))
{
    each_module([this, inside](const dl_phdr_info &info) {
        const auto address = reinterpret_cast<uintptr_t>(inside);
        std::vector<Range> found, written;
        bool own = false;
        size_t thread_bytes = 0;
        for (int i = 0; i < info.dlpi_phnum; i++) {
            const ElfW(Phdr) &part = info.dlpi_phdr[i];
            const Range range = {info.dlpi_addr + part.p_vaddr,
                                 info.dlpi_addr + part.p_vaddr + part.p_memsz};
            if (part.p_type == PT_LOAD && range.begin <= address && address < range.end) own = true;
            if (part.p_type == PT_GNU_RELRO || (part.p_type == PT_LOAD && !(part.p_flags & PF_W)))
                found.push_back(range);
            else if (part.p_type == PT_LOAD)
                written.push_back(range);
            if (part.p_type == PT_TLS) thread_bytes = part.p_memsz;
        }
        if (!own) return false;
        file = info.dlpi_name && *info.dlpi_name ? info.dlpi_name : own_path();
        base = info.dlpi_addr;
        constants = found;
        variable_memory = written;
        tls_module = info.dlpi_tls_modid;
        tls_bytes = thread_bytes;
        return true;
    });
    read_symbols(object.empty() ? read_file(file) : object);
}

bool Places::constant(uintptr_t address) const
{
    for (const Range &range : constants)
        if (range.begin <= address && address < range.end) return true;
    return false;
}

bool Places::global(uintptr_t address, size_t *offset) const
{
    *offset = address - base;
    for (const Range &range : variable_memory)
        if (range.begin <= address && address < range.end) return true;
    return false;
}

const char *Places::thread_variables() const
{
    size_t index[2] = {tls_module, 0};
    return static_cast<const char *>(__tls_get_addr(index));
}

/* Reads the thread-local symbols of an ELF file of the host's architecture. */
void Places::read_symbols(const std::string &content)
{
    ElfW(Ehdr) head;
    std::vector<ElfW(Shdr)> sections;
    if (copy_part(content, 0, &head, 1) && !memcmp(head.e_ident, ELFMAG, SELFMAG)) {
        sections.resize(head.e_shnum);
        if (!copy_part(content, head.e_shoff, sections.data(), sections.size())) sections.clear();
    }
    for (const auto &section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        const auto &strings = sections[section.sh_link];
        std::vector<ElfW(Sym)> symbols(section.sh_size / sizeof(ElfW(Sym)));
        std::vector<char> text(strings.sh_size + 1);
        if (!copy_part(content, section.sh_offset, symbols.data(), symbols.size()) ||
            !copy_part(content, strings.sh_offset, text.data(), strings.sh_size))
            continue;
        for (const auto &symbol : symbols)
            if ((symbol.st_info & 15) != STT_TLS || symbol.st_size == 0)
                continue;
            else if (of_simulator(&text[symbol.st_name]))
                own.push_back({symbol.st_value, symbol.st_value + symbol.st_size});
            else
                variables.push_back({symbol.st_value, symbol.st_size, &text[symbol.st_name], 0});
    }
    std::sort(variables.begin(), variables.end(),
              [](const SharedVariable &a, const SharedVariable &b) { return a.offset < b.offset; });
}

bool Places::of_simulator_at(size_t offset) const
{
    for (const Range &range : own)
        if (range.begin <= offset && offset < range.end) return true;
    return false;
}

SharedVariable *Places::before(size_t offset)
{
    auto after = std::upper_bound(variables.begin(), variables.end(), offset,
                                  [](size_t o, const SharedVariable &v) { return o < v.offset; });
    if (after == variables.begin()) return nullptr;
    --after;
    if (after->name.compare(0, 2, "_Z") == 0) after->name = demangled(after->name.c_str());
    return &*after;
}

SharedVariable *Places::found(size_t offset)
{
    SharedVariable *variable = before(offset);
    if (!variable || offset >= variable->offset + variable->size) return nullptr;
    return recent = variable;
}

/* The lines that addr2line prints for a code address of the file. */
static std::vector<std::string> lines_of(const std::string &file, uintptr_t code)
{
    char command[4300], line[1024];
    std::vector<std::string> lines;
    snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%zx 2>/dev/null", file.c_str(),
             (size_t)code);
    FILE *out = popen(command, "r");
    if (!out) return lines;
    while (fgets(line, sizeof line, out)) {
        line[strcspn(line, " \n")] = '\0';
        lines.push_back(line);
    }
    pclose(out);
    return lines;
}

/* A line without the folder of a known file; empty for a line of the simulator's headers or the
 * system's. */
std::string Places::shown_line(const std::string &line) const
{
    const size_t name = line.rfind('/') + 1, ours = line.find("src/cuda/");
    if (line.find("/include/c++/") != line.npos || line.find("/sim/include/") != line.npos)
        return "";
    if (object.empty()) return ours == line.npos ? line : line.substr(ours);
    if (!line.compare(name, user_file.size() + 1, user_file + ":")) return line.substr(name);
    /* the simulator's headers were in a temporary folder */
    const bool hidden = line.find(temporary_folder() + "/ltensor-") == 0 || line[0] == '?';
    return hidden || line.find("/usr/") == 0 ? "" : line;
}

std::string Places::source(uintptr_t code) const
{
    std::string text, copy;
    if (!object.empty()) copy = write_temporary(object);
    for (const std::string &line : lines_of(copy.empty() ? file : copy, code - base - 1)) {
        const std::string shown = shown_line(line);
        if (shown.empty()) continue;
        if (!text.empty()) text += ", from ";
        text += shown;
    }
    if (!copy.empty()) (void)unlink(copy.c_str());
    return text.empty() ? "?" : text;
}

} // namespace lt_sim
