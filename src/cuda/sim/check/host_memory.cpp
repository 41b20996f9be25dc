/* host_memory.cpp - see host_memory.h. Reads the program headers of the loaded library, the symbols of
 * thread-local variables in its file, and source lines by addr2line. */
#include "host_memory.h"

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

/* An address inside this library. */
const char here = 0;

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

template <class F> auto each_module(F f)
{
    return dl_iterate_phdr([](dl_phdr_info *info, size_t,
                              void *data) { return (int)(*static_cast<F *>(data))(*info); },
                           &f);
}

} // namespace

Places::Places()
{
    each_module([this](const dl_phdr_info &info) {
        const auto address = reinterpret_cast<uintptr_t>(&here);
        std::vector<Range> found;
        bool own = false;
        size_t thread_bytes = 0;
        for (int i = 0; i < info.dlpi_phnum; i++) {
            const ElfW(Phdr) &part = info.dlpi_phdr[i];
            const Range range = {info.dlpi_addr + part.p_vaddr,
                                 info.dlpi_addr + part.p_vaddr + part.p_memsz};
            if (part.p_type == PT_LOAD && range.begin <= address && address < range.end) own = true;
            if (part.p_type == PT_GNU_RELRO || (part.p_type == PT_LOAD && !(part.p_flags & PF_W)))
                found.push_back(range);
            if (part.p_type == PT_TLS) thread_bytes = part.p_memsz;
        }
        if (!own) return false;
        file = info.dlpi_name && *info.dlpi_name ? info.dlpi_name : own_path();
        base = info.dlpi_addr;
        constants = found;
        tls_module = info.dlpi_tls_modid;
        tls_bytes = thread_bytes;
        return true;
    });
    read_symbols();
}

bool Places::constant(uintptr_t address) const
{
    for (const Range &range : constants)
        if (range.begin <= address && address < range.end) return true;
    return false;
}

const char *Places::thread_variables() const
{
    size_t index[2] = {tls_module, 0};
    return static_cast<const char *>(__tls_get_addr(index));
}

/* Reads the thread-local symbols of an ELF file of the host's architecture. */
void Places::read_symbols()
{
    FILE *in = fopen(file.c_str(), "rb");
    if (!in) return;
    ElfW(Ehdr) head;
    std::vector<ElfW(Shdr)> sections;
    if (fread(&head, sizeof head, 1, in) == 1 && !memcmp(head.e_ident, ELFMAG, SELFMAG)) {
        sections.resize(head.e_shnum);
        if (fseek(in, (long)head.e_shoff, SEEK_SET) ||
            fread(sections.data(), sizeof sections[0], head.e_shnum, in) != head.e_shnum)
            sections.clear();
    }
    for (const auto &section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        const auto &strings = sections[section.sh_link];
        std::vector<ElfW(Sym)> symbols(section.sh_size / sizeof(ElfW(Sym)));
        std::vector<char> text(strings.sh_size + 1);
        if (fseek(in, (long)section.sh_offset, SEEK_SET) ||
            fread(symbols.data(), sizeof symbols[0], symbols.size(), in) != symbols.size() ||
            fseek(in, (long)strings.sh_offset, SEEK_SET) ||
            fread(text.data(), 1, strings.sh_size, in) != strings.sh_size)
            continue;
        for (const auto &symbol : symbols)
            if ((symbol.st_info & 15) != STT_TLS || symbol.st_size == 0)
                continue;
            else if (of_simulator(&text[symbol.st_name]))
                own.push_back({symbol.st_value, symbol.st_value + symbol.st_size});
            else
                variables.push_back({symbol.st_value, symbol.st_size, &text[symbol.st_name], 0});
    }
    fclose(in);
    std::sort(variables.begin(), variables.end(),
              [](const SharedVariable &a, const SharedVariable &b) { return a.offset < b.offset; });
}

bool Places::of_simulator_at(size_t offset) const
{
    for (const Range &range : own)
        if (range.begin <= offset && offset < range.end) return true;
    return false;
}

SharedVariable *Places::found(size_t offset)
{
    auto after = std::upper_bound(variables.begin(), variables.end(), offset,
                                  [](size_t o, const SharedVariable &v) { return o < v.offset; });
    if (after == variables.begin()) return nullptr;
    --after;
    if (offset >= after->offset + after->size) return nullptr;
    if (after->name.compare(0, 2, "_Z") == 0) after->name = demangled(after->name.c_str());
    return recent = &*after;
}

std::string Places::source(uintptr_t code) const
{
    char command[4300], line[1024];
    snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%zx 2>/dev/null", file.c_str(),
             (size_t)(code - base - 1));
    std::string text;
    FILE *out = popen(command, "r");
    if (!out) return "?";
    while (fgets(line, sizeof line, out)) {
        line[strcspn(line, " \n")] = '\0';
        if (strstr(line, "/sim/include/") || strstr(line, "/include/c++/")) continue;
        const char *shown = strstr(line, "src/cuda/");
        if (!text.empty()) text += ", from ";
        text += shown ? shown : line;
    }
    pclose(out);
    return text.empty() ? "?" : text;
}

} // namespace lt_sim
