/* source.cpp - see source.h.
 *
 * In a function, the name becomes a local pointer. Outside of functions it becomes a macro: a
 * variable would have one value for all blocks. */
#include "source.h"

#include <algorithm>
#include <ctype.h>
#include <vector>

namespace lt_sim {

namespace {

bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Returns the end of the comment or literal at i, or i if there is none. */
size_t skipped(const std::string &text, size_t i)
{
    if (text.compare(i, 2, "//") == 0) return std::min(text.find('\n', i), text.size());
    if (text.compare(i, 2, "/*") == 0) {
        const size_t end = text.find("*/", i + 2);
        return end == text.npos ? text.size() : end + 2;
    }
    if (text[i] != '"' && text[i] != '\'') return i;
    for (size_t k = i + 1; k < text.size(); k++) {
        if (text[k] == '\\')
            k++;
        else if (text[k] == text[i] || text[k] == '\n')
            return k + 1;
    }
    return text.size();
}

std::string trimmed(const std::string &text)
{
    const size_t from = text.find_first_not_of(" \t\r\n"), to = text.find_last_not_of(" \t\r\n");
    return from == text.npos ? "" : text.substr(from, to - from + 1);
}

/* Returns the end of the parentheses that open at the next character that is not blank; `from` if
 * there are none. */
size_t behind_parentheses(const std::string &text, size_t from)
{
    size_t i = text.find_first_not_of(" \t\r\n", from);
    if (i == text.npos || text[i] != '(') return from;
    for (int depth = 0; i < text.size(); i++) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0) return i + 1;
    }
    return from;
}

/* Removes a word, and its arguments in parentheses. */
void remove_word(std::string *text, const std::string &word)
{
    for (size_t at = 0; (at = text->find(word, at)) != text->npos; at++) {
        const size_t end = at + word.size();
        if ((at > 0 && in_word((*text)[at - 1])) || (end < text->size() && in_word((*text)[end])))
            continue;
        text->replace(at, behind_parentheses(*text, end) - at, " ");
    }
}

/* The element type and the name of a declaration of dynamic shared memory; false for others. */
bool declares_dynamic(std::string statement, std::string *type, std::string *name)
{
    if (statement.find("__shared__") == statement.npos ||
        statement.find_first_of("{\"") != statement.npos)
        return false;
    for (const char *word : {"extern", "__shared__", "__align__", "alignas", "__attribute__"})
        remove_word(&statement, word);
    const size_t bracket = statement.find('[');
    if (bracket == statement.npos) return false;
    const std::string before = trimmed(statement.substr(0, bracket));
    size_t from = before.size();
    while (from > 0 && in_word(before[from - 1])) from--;
    *name = before.substr(from);
    *type = trimmed(before.substr(0, from));
    return !name->empty() && !type->empty();
}

class Translation {
  public:
    Translation(const std::string &text, const std::string &file) : text(text), file(file) {}

    std::string run()
    {
        while (i < text.size()) step();
        return out;
    }

  private:
    void copy_to(size_t end)
    {
        line += std::count(text.begin() + (long)i, text.begin() + (long)end, '\n');
        out.append(text, i, end - i);
        i = end;
    }

    void step()
    {
        const size_t end = skipped(text, i);
        if (end > i) {
            last = text[i] == '/' ? last : text.substr(i, end - i);
            copy_to(end);
        } else if (in_word(text[i])) {
            word();
        } else {
            /* the braces of namespaces and of extern "C" do not begin a function */
            if (text[i] == '{')
                functions.push_back(last != "\"C\"" && last != "namespace" &&
                                    before != "namespace");
            if (text[i] == '}' && !functions.empty()) functions.pop_back();
            if (!isspace((unsigned char)text[i])) {
                before = last;
                last = text[i];
            }
            copy_to(i + 1);
        }
    }

    void word()
    {
        size_t end = i;
        while (end < text.size() && in_word(text[end])) end++;
        before = last;
        last = text.substr(i, end - i);
        std::string type, name;
        const size_t stop = last == "extern" ? text.find(';', i) : text.npos;
        if (stop == text.npos || !declares_dynamic(text.substr(i, stop - i), &type, &name)) {
            copy_to(end);
            return;
        }
        replace(stop + 1, type, name);
    }

    void replace(size_t end, const std::string &type, const std::string &name)
    {
        const std::string address =
            "reinterpret_cast<" + type + " *>(lt_sim::here().dynamic_shared)";
        const bool local = std::find(functions.begin(), functions.end(), true) != functions.end();
        line += std::count(text.begin() + (long)i, text.begin() + (long)end, '\n');
        i = end;
        if (local)
            out += type + " *const " + name + " = " + address + ";";
        else
            out += "\n#define " + name + " (" + address + ")";
        out += "\n#line " + std::to_string(line) + " \"" + file + "\"\n";
        last = ";";
    }

    const std::string &text, &file;
    std::string out, last, before; /* the tokens before the current position */
    std::vector<bool> functions;   /* for each open brace: whether it is inside of a function */
    size_t i = 0;
    long line = 1;
};

} // namespace

std::string host_source(const std::string &text, const std::string &file)
{
    return Translation(text, file).run();
}

} // namespace lt_sim
