/* cache.cu - see cache.cuh. File format: "ltensor kernel 1\n"; three 8-byte numbers: size of the
 * identity, size of the image, checksum of both; the identity; the image. Written to a temporary
 * file and renamed, so that readers see only complete files. */
#include "cache.cuh"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

static const char title[] = "ltensor kernel 1\n";
struct numbers {
    uint64_t identity, image, sum;
};
static constexpr size_t head = sizeof title - 1 + sizeof(numbers);

/* FNV-1a. */
static uint64_t hash(uint64_t from, const std::string &text)
{
    for (const unsigned char c : text) from = (from ^ c) * 0x100000001b3u;
    return from;
}
static constexpr uint64_t basis = 0xcbf29ce484222325u;

/* Path of the cache folder; empty if neither variable is set. make: creates it and its parents. */
static std::string folder(bool make)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    std::string path;
    if (cache != nullptr && cache[0] == '/')
        path = cache;
    else if (home != nullptr && home[0] == '/')
        path = std::string(home) + "/.cache";
    else
        return path;
    for (const char *part : {"", "/ltensor", "/kernels"}) {
        path += part;
        if (make) (void)mkdir(path.c_str(), 0700);
    }
    return path;
}

static std::string file_of(const std::string &identity)
{
    char name[48];
    snprintf(name, sizeof name, "/%016llx%016llx", (unsigned long long)hash(basis, identity),
             (unsigned long long)hash(~basis, identity));
    return name;
}

static bool trusted(int file, size_t *bytes)
{
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
        (info.st_mode & 022) != 0 || info.st_size < static_cast<off_t>(head) ||
        info.st_size > (64 << 20))
        return false;
    *bytes = static_cast<size_t>(info.st_size);
    return true;
}

static bool read_all(int file, char *to, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t n = read(file, to, bytes);
        if (n <= 0) return false;
        to += n;
        bytes -= static_cast<size_t>(n);
    }
    return true;
}

static bool write_all(int file, const char *from, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t n = write(file, from, bytes);
        if (n <= 0) return false;
        from += n;
        bytes -= static_cast<size_t>(n);
    }
    return true;
}

/* The image in a file's content; empty if the file is damaged or has another identity. */
static std::string image_in(const std::string &content, const std::string &identity)
{
    numbers n;
    memcpy(&n, content.data() + sizeof title - 1, sizeof n);
    if (content.compare(0, sizeof title - 1, title) != 0 || n.identity != identity.size() ||
        n.image != content.size() - head - identity.size() ||
        content.compare(head, identity.size(), identity) != 0)
        return "";
    std::string image = content.substr(head + identity.size());
    return hash(hash(basis, identity), image) == n.sum ? image : "";
}

std::string lt_fused_cached(const std::string &identity)
{
    const std::string in = folder(false);
    std::string content;
    size_t bytes = 0;
    if (in.empty()) return content;
    const int file = open((in + file_of(identity)).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return content;
    if (trusted(file, &bytes)) {
        content.resize(bytes);
        if (!read_all(file, &content[0], bytes)) content.clear();
    }
    close(file);
    return content.empty() ? content : image_in(content, identity);
}

/* Deletes the older half of the files when there are more than LT_FUSED_CACHED. */
static void bound(const std::string &in)
{
    std::vector<std::pair<int64_t, std::string>> files;
    DIR *entries = opendir(in.c_str());
    if (entries == nullptr) return;
    for (const dirent *entry; (entry = readdir(entries)) != nullptr;) {
        struct stat info;
        const std::string path = in + "/" + entry->d_name;
        if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode))
            files.emplace_back(info.st_mtime, path);
    }
    closedir(entries);
    if (files.size() <= LT_FUSED_CACHED) return;
    std::sort(files.begin(), files.end());
    for (size_t i = 0; i < files.size() / 2; i++) (void)unlink(files[i].second.c_str());
}

void lt_fused_keep(const std::string &identity, const std::string &image)
{
    const std::string in = folder(true);
    if (in.empty()) return;
    const numbers n = {identity.size(), image.size(), hash(hash(basis, identity), image)};
    std::string content(title);
    content.append(reinterpret_cast<const char *>(&n), sizeof n);
    content += identity;
    content += image;
    std::string made = in + "/new-XXXXXX";
    const int file = mkostemp(&made[0], O_CLOEXEC);
    if (file < 0) return;
    const bool whole = write_all(file, content.data(), content.size());
    if (close(file) != 0 || !whole || rename(made.c_str(), (in + file_of(identity)).c_str()) != 0)
        (void)unlink(made.c_str());
    else
        bound(in);
}
