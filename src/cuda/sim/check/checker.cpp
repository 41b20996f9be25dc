/* checker.cpp - see checker.h. */
#include "checker.h"

#include <algorithm>
#include <pthread.h>
#include <string.h>

namespace lt_sim {

namespace {

const char *word(AccessKind kind)
{
    return kind == read_access    ? "reads"
           : kind == write_access ? "writes"
           : kind == atomic_store ? "stores atomically"
                                  : "changes atomically";
}

Span span_of(const void *begin, size_t bytes)
{
    return {static_cast<const char *>(begin), static_cast<const char *>(begin) + bytes};
}

uint3 thread_at(unsigned number, dim3 size)
{
    return {number % size.x, number / size.x % size.y, number / size.x / size.y};
}

/* The stack that the system allocated for the calling OS thread. */
Span system_stack()
{
    static thread_local Span own = {nullptr, nullptr};
    pthread_attr_t attributes;
    void *bottom;
    size_t bytes;
    if (own.end || pthread_getattr_np(pthread_self(), &attributes)) return own;
    if (!pthread_attr_getstack(&attributes, &bottom, &bytes))
        own = {static_cast<char *>(bottom), static_cast<char *>(bottom) + bytes};
    pthread_attr_destroy(&attributes);
    return own;
}

/* The name of a variable without those of its function and namespaces. */
std::string plain_name(const SharedVariable &variable)
{
    const size_t at = variable.name.rfind("::");
    return at == variable.name.npos ? variable.name : variable.name.substr(at + 2);
}

/* Beyond this distance from shared memory, an address is not described relative to it. */
constexpr size_t near_bytes = 65536;

const char own_address = 0; /* an address inside this library */

} // namespace

/* Never destroyed: streams may still run when the process exits. */
Checker &the_checker()
{
    static auto *made = new Checker;
    return *made;
}

Monitor *monitor_of(const Kernel &kernel)
{
    if (monitor) return monitor;
    return user_kernel(kernel) != nullptr ? &the_checker() : nullptr;
}

/* ---- memory operations other than kernels ---------------------------------------------------- */

void Checker::allocated(const void *pointer, size_t bytes)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    Device *device = owner(pointer);
    if (!device) return;
    live[reinterpret_cast<uintptr_t>(pointer)] = bytes;
    devices[device->index].set((size_t)(static_cast<const char *>(pointer) - device->base), bytes,
                               unwritten);
}

void Checker::freed(const void *pointer, size_t bytes)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    Device *device = owner(pointer);
    if (!device) return;
    live.erase(reinterpret_cast<uintptr_t>(pointer));
    devices[device->index].set((size_t)(static_cast<const char *>(pointer) - device->base), bytes,
                               freed_memory);
}

void Checker::written(const void *pointer, size_t bytes)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    if (Device *device = owner(pointer))
        devices[device->index].set((size_t)(static_cast<const char *>(pointer) - device->base),
                                   bytes, written_memory);
}

void Checker::copied(const void *dst, const void *src, size_t bytes)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    Device *to = owner(dst), *from = owner(src);
    if (!to) return;
    devices[to->index].copy(
        (size_t)(static_cast<const char *>(dst) - to->base), from ? &devices[from->index] : nullptr,
        from ? (size_t)(static_cast<const char *>(src) - from->base) : 0, bytes);
}

/* Precondition: the caller has checked that the addresses are device memory. */
void Checker::read(const char *call, const void *pointer, size_t bytes)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    Device *device = owner(pointer);
    if (!device) return;
    Shadow &shadow = devices[device->index];
    const size_t first_byte = (size_t)(static_cast<const char *>(pointer) - device->base);
    for (size_t i = first_byte; i < first_byte + bytes; i++) {
        uint8_t &state = shadow.at(i).state[i % chunk_bytes];
        if (state == written_memory) continue;
        if (first("library", reinterpret_cast<uintptr_t>(call)))
            fault_in_kernel(state == unwritten ? "init" : "memory", "",
                            "%s reads memory that %s %s", call,
                            state == unwritten ? "nothing has written" : "was freed",
                            place(reinterpret_cast<uintptr_t>(device->base.load()) + i).c_str());
        if (state == unwritten) state = written_memory;
    }
}

/* ---- the running launch ---------------------------------------------------------------------- */

void Checker::begin_launch(const Kernel &launched)
{
    kernel = &launched;
    users = user_kernel(launched);
    if (users) told.clear(); /* each launch reports its faults */
    if (!users && !own) own = std::make_unique<Places>(&own_address);
    places = users ? users->places : own.get();
    launch++;
    shared_bytes = kernel->dynamic_shared;
    running = &context;
    own_context = span_of(running, sizeof *running);
    variables_at = span_of(places->thread_variables(), places->thread_bytes());
    parameters = span_of(kernel, kernel->size);
    memories = 0;
    for (const auto &device : runtime().devices)
        memory[memories++] =
            span_of(device->base.load(), device->base ? runtime().settings.memory : 0);
    /* Excludes the frames above, from the end of this function's frame on: they belong to the code that
     * waits for the kernel, if that thread runs it. __builtin_frame_address is the frame's other end on
     * arm64. */
    stack = {system_stack().begin, static_cast<const char *>(__builtin_dwarf_cfa())};
    runner = own_thread();
}

void Checker::end_launch()
{
    runner = 0;
    kernel = nullptr;
    users = nullptr;
}

void Checker::begin_block(uint64_t number)
{
    block = (uint32_t)number;
    blocks++;
    const unsigned threads = kernel->block.x * kernel->block.y * kernel->block.z;
    std::fill(clock, clock + threads, 1);
    std::fill(floor, floor + threads, 0);
    for (unsigned warp = 0; warp * 32 < threads; warp++) warps[warp].met = false;
}

void Checker::met()
{
    const unsigned threads = kernel->block.x * kernel->block.y * kernel->block.z;
    for (unsigned i = 0; i < threads; i++) {
        floor[i] = clock[i];
        advance(i);
    }
}

/* Synchronizes the lanes: replaces their vector clocks by the maximum of them. */
void Checker::met(unsigned number, unsigned lanes)
{
    Warp &warp = warps[number];
    uint32_t all[32] = {};
    if (!warp.met) memset(&warp, 0, sizeof warp);
    warp.met = true;
    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        for (unsigned i = 0; i < 32; i++) all[i] = std::max(all[i], warp.seen[lane][i]);
        all[lane] = clock[number * 32 + lane];
        advance(number * 32 + lane);
    }
    for (unsigned rest = lanes; rest; rest &= rest - 1)
        memcpy(warp.seen[__builtin_ctz(rest)], all, sizeof all);
}

unsigned Checker::thread() const
{
    const uint3 t = running->thread;
    return t.x + kernel->block.x * (t.y + kernel->block.y * t.z);
}

void Checker::forget()
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    told.clear();
}

/* True on the first report of a check for a code address; suppresses repeated reports. */
bool Checker::first(const char *check, uintptr_t code) { return told.insert({check, code}).second; }

/* "at ADDRESS (byte 12 of 512 allocated at ... on device 0)" */
std::string Checker::place(uintptr_t address)
{
    char text[200];
    std::string result = users ? users->element_at(address) : "";
    if (users && result.empty()) result = shared_place(reinterpret_cast<const char *>(address));
    if (!result.empty()) return "at " + result;
    snprintf(text, sizeof text, "at 0x%zx", (size_t)address);
    result = text;
    auto after = live.upper_bound(address);
    if (owner(reinterpret_cast<const void *>(address)) && after != live.begin()) {
        --after;
        const size_t distance = address - after->first;
        const char *relation = distance < after->second ? "byte" : "beyond the end, byte";
        snprintf(text, sizeof text, " (%s %zu of the %zu allocated at 0x%zx)", relation, distance,
                 after->second, (size_t)after->first);
        result += text;
    }
    return result;
}

/* "byte 12 of tile" for an address in or near the shared memory of a user's kernel, else empty. */
std::string Checker::shared_place(const char *pointer)
{
    char text[120];
    const char *const block = reinterpret_cast<const char *>(running->dynamic_shared);
    const size_t bytes = kernel->dynamic_shared;
    const auto offset = (size_t)(pointer - variables_at.begin);
    const SharedVariable *variable =
        offset < places->thread_bytes() + near_bytes ? places->before(offset) : nullptr;
    if (variable) {
        snprintf(text, sizeof text, "byte %zu of %s%s", offset - variable->offset,
                 plain_name(*variable).c_str(),
                 offset < variable->offset + variable->size ? "" : ", beyond its end");
        return text;
    }
    if (bytes == 0 || (size_t)(pointer - block) > bytes + near_bytes) return "";
    snprintf(text, sizeof text, "byte %zu of the %zu bytes of dynamic shared memory",
             (size_t)(pointer - block), bytes);
    return text;
}

/* As place(), followed by ", in FILE:LINE". */
std::string Checker::where(const Touch &touch)
{
    return place(touch.address) + ", in " + places->source(touch.code);
}

void Checker::converted(uintptr_t code)
{
    if (runner == own_thread() && first("number", code))
        fault_in_kernel("number", "",
                        "makes an integer of a floating number beyond its range, in %s",
                        places->source(code).c_str());
}

/* Stops the thread before the access; the kernel fails, as on a GPU. */
void Checker::stop_thread(cudaError_t error)
{
    kernel->error = error;
    runner = own_thread();
    if (users) drop_thread(); /* compilers assume that an access throws nothing */
    throw Trap();
}

void Checker::on_host(const Touch &touch)
{
    const void *pointer = reinterpret_cast<const void *>(touch.address);
    if (inside_work()) return;
    Device *device = owner(pointer);
    if (!device) return;
    std::lock_guard<std::recursive_mutex> lock(mutex);
    if (first("host", touch.code))
        fault_in_kernel("memory", "", "the host %s %zu bytes of device %d %s", word(touch.kind),
                        touch.bytes, device->index, where(touch).c_str());
}

void Checker::misaligned(const Touch &touch)
{
    runner = 0;
    if (first("misaligned", touch.code))
        fault_in_kernel("memory", "", "%s %zu bytes that are not aligned to %zu %s",
                        word(touch.kind), touch.bytes, touch.bytes, where(touch).c_str());
    stop_thread(cudaErrorMisalignedAddress);
}

void Checker::in_kernel(const Touch &touch)
{
    const auto *pointer = reinterpret_cast<const char *>(touch.address);
    for (int i = 0; i < memories; i++)
        if (inside(memory[i], pointer)) {
            on_device(touch, i, (size_t)(pointer - memory[i].begin));
            return;
        }
    if (inside(variables_at, pointer)) {
        in_variable((size_t)(pointer - variables_at.begin), touch);
        return;
    }
    const Span block =
        span_of(running->dynamic_shared, running->dynamic_shared ? kernel->dynamic_shared : 0);
    if (inside(block, pointer)) {
        on_shared(dynamic, (size_t)(pointer - block.begin), touch, true);
        return;
    }
    if (touch.kind == read_access && places->constant(touch.address)) return;
    if (users && in_library(touch)) return;
    if (static_cast<const void *>(pointer) == &fence || is_pinned(pointer)) return;
    if (users) outside(touch);
    if (first("host", touch.code))
        fault_in_kernel("memory", "",
                        "%s %zu bytes of the host, which is neither device memory nor pinned, %s",
                        word(touch.kind), touch.bytes, where(touch).c_str());
    stop_thread(cudaErrorIllegalAddress);
}

void Checker::on_device(const Touch &touch, int device, size_t offset)
{
    if (!(kernel->devices >> device & 1)) {
        if (first("peer", touch.code))
            fault_in_kernel("memory", "",
                            "%s %zu bytes of device %d, which its own may not reach, %s",
                            word(touch.kind), touch.bytes, device, where(touch).c_str());
        stop_thread(cudaErrorIllegalAddress);
    }
    Shadow &shadow = devices[device];
    if (users && !users->allows(memory[device].begin + offset, touch.bytes)) outside(touch);
    if (monitor && !shadow.written(offset, touch.bytes)) change_state(shadow, offset, touch);
    touch_cells(shadow, offset, touch, launch);
}

/* Reports an access outside of the memory of a user's kernel and stops the thread. */
void Checker::outside(const Touch &touch)
{
    if (first("outside", touch.code))
        fault_in_kernel("memory", "", "%s %zu bytes outside of its arguments and shared memory, %s",
                        word(touch.kind), touch.bytes, where(touch).c_str());
    stop_thread(cudaErrorIllegalAddress);
}

/* A variable of the kernel's library outside of functions: __device__. */
bool Checker::in_library(const Touch &touch)
{
    size_t offset;
    if (!places->global(touch.address, &offset)) return false;
    touch_cells(globals, offset, touch, launch);
    return true;
}

/* Slow path: some of the bytes are not known to be written. */
void Checker::change_state(Shadow &shadow, size_t offset, const Touch &touch)
{
    const auto state_at = [&](size_t i) -> uint8_t & {
        return shadow.at(offset + i).state[(offset + i) % chunk_bytes];
    };
    /* An atomic on a word may emulate one on a part of it. Only the bytes in the best state are
     * taken as accessed; the others are written back unchanged. */
    uint8_t meant = 0;
    for (size_t i = 0; i < touch.bytes && touch.kind == atomic_access; i++)
        meant = std::max(meant, state_at(i));
    for (size_t i = 0; i < touch.bytes; i++) {
        uint8_t &state = state_at(i);
        if (state < meant) continue;
        if (state < unwritten) {
            if (first("allocated", touch.code))
                fault_in_kernel("memory", "", "%s %zu bytes that %s %s", word(touch.kind),
                                touch.bytes,
                                state == freed_memory ? "were freed" : "are not allocated",
                                where(touch).c_str());
            stop_thread(cudaErrorIllegalAddress);
        }
        if (state == unwritten && reads(touch.kind)) {
            if (first("unwritten", touch.code))
                fault_in_kernel("init", "", "%s %zu bytes that nothing has written %s",
                                word(touch.kind), touch.bytes, where(touch).c_str());
            state = written_memory;
        }
        if (touch.kind != read_access) state = written_memory;
    }
}

/* ---- races ----------------------------------------------------------------------------------- */

/* Happens-before: whether an access of this block precedes the current access of thread `self`. */
inline bool Checker::ordered(const Access &before, unsigned self) const
{
    if (before.thread == self || before.clock <= floor[before.thread]) return true;
    const Warp &warp = warps[self / 32];
    return before.thread / 32 == self / 32 && warp.met &&
           before.clock <= warp.seen[self % 32][before.thread % 32];
}

inline bool Checker::conflicts(const Access &before, const Access &now) const
{
    if (!before.clock || (before.atomic && now.atomic)) return false;
    return before.block != block || !ordered(before, now.thread);
}

void Checker::race(const Access &before, const char *did, const Touch &touch)
{
    if (!first("race", touch.code)) return;
    const uint3 size = {kernel->grid.x, kernel->grid.y, kernel->grid.z};
    const uint3 other = {before.block % size.x, before.block / size.x % size.y,
                         before.block / size.x / size.y};
    fault_in_kernel("race", "",
                    "%s %zu bytes of %s memory that %s %s, with nothing that orders the two, %s",
                    word(touch.kind), touch.bytes,
                    owner(reinterpret_cast<const void *>(touch.address)) ? "global" : "shared",
                    thread_text(other, thread_at(before.thread, kernel->block)).c_str(), did,
                    where(touch).c_str());
}

/* Records the access `now` in a cell and checks for races with the accesses recorded there. */
inline void Checker::touch_cell(Cell &cell, const Touch &touch, const Access &now, uint32_t period)
{
    if (cell.period == period) {
        touch_again(cell, touch, now, true);
        return;
    }
    const bool read = touch.kind == read_access;
    cell = {period, cell.split, read ? Access() : now, read ? now : Access(), Access()};
}

/* The same for a cell already used in this period; without `enter` it only checks. */
void Checker::touch_again(Cell &cell, const Touch &touch, const Access &now, bool enter)
{
    if (conflicts(cell.write, now))
        race(cell.write, cell.write.atomic ? "changes atomically" : "writes", touch);
    if (touch.kind == read_access) {
        if (!enter) return;
        const Access old = cell.read;
        const bool same = old.block == block && old.thread == now.thread;
        const bool kept = cell.other.clock && cell.other.block != block && old.block == block;
        if (!same && old.clock && !kept) cell.other = old;
        cell.read = now;
        return;
    }
    if (conflicts(cell.read, now)) race(cell.read, "reads", touch);
    if (conflicts(cell.other, now)) race(cell.other, "reads", touch);
    if (!enter) return;
    const Access old = cell.write;
    const bool plain =
        old.block == block && old.thread == now.thread && old.clock == now.clock && !old.atomic;
    cell.write = now;
    cell.write.atomic = now.atomic && !plain;
}

void Checker::touch_cells(Shadow &shadow, size_t offset, const Touch &touch, uint32_t period)
{
    const size_t end = offset + touch.bytes;
    const unsigned self = thread();
    const Access now = {block, clock[self], self, is_atomic(touch.kind)};
    while (offset < end) {
        Chunk &chunk = shadow.at(offset);
        Cell &cell = chunk.words[offset % chunk_bytes / 4];
        const size_t next = offset / 4 * 4 + 4;
        if (offset % 4 == 0 && next <= end) {
            touch_cell(cell, touch, now, period);
        } else {
            cell.split = period;
            if (cell.period == period) touch_again(cell, touch, now, false);
        }
        if (cell.split == period)
            for (size_t i = offset; i < next && i < end; i++)
                touch_cell(shadow.byte(chunk, i), touch, now, period);
        offset = next;
    }
}

/* ---- shared memory --------------------------------------------------------------------------- */

void Checker::in_variable(size_t offset, const Touch &touch)
{
    SharedVariable *variable = places->variable(offset);
    if (!variable && places->of_simulator_at(offset)) return;
    if (!variable || offset + touch.bytes > variable->offset + variable->size) {
        if (first("variable", touch.code))
            fault_in_kernel("memory", "", "%s %zu bytes beside its shared variables %s",
                            word(touch.kind), touch.bytes, where(touch).c_str());
        stop_thread(cudaErrorIllegalAddress);
    }
    if (variable->launch != launch) {
        variable->launch = launch;
        shared_bytes += variable->size;
        if (shared_bytes > shared_limit(*kernel) && first("shared", touch.code)) {
            fault_in_kernel("launch", "",
                            "uses %zu bytes of shared memory, %zu of them dynamic, the limit is "
                            "%zu; with %s %s",
                            shared_bytes, kernel->dynamic_shared, shared_limit(*kernel),
                            variable->name.c_str(), where(touch).c_str());
            kernel->error = cudaErrorLaunchOutOfResources;
        }
    }
    on_shared(variables, offset, touch, false);
}

void Checker::on_shared(Shadow &shadow, size_t offset, const Touch &touch, bool is_dynamic)
{
    bool known = true;
    for (size_t i = 0; i < touch.bytes && known && reads(touch.kind); i++) {
        Chunk &chunk = shadow.at(offset + i);
        const Cell &word = chunk.words[(offset + i) % chunk_bytes / 4];
        if (word.period == blocks && word.write.clock) {
            i += 3 - (offset + i) % 4; /* the whole word was written */
            continue;
        }
        const Cell *byte = word.split == blocks ? &shadow.byte(chunk, offset + i) : nullptr;
        known = byte && byte->period == blocks && byte->write.clock;
    }
    if (!known && first("unwritten", touch.code)) {
        SharedVariable *variable = is_dynamic ? nullptr : places->variable(offset);
        std::string at;
        if (!users)
            at = ": byte " + std::to_string(variable ? offset - variable->offset : offset) +
                 " of " + (variable ? variable->name : "the dynamic ones");
        fault_in_kernel("init", "",
                        "%s %zu bytes of shared memory that the block has not written%s, %s",
                        word(touch.kind), touch.bytes, at.c_str(), where(touch).c_str());
    }
    touch_cells(shadow, offset, touch, blocks);
}

} // namespace lt_sim
