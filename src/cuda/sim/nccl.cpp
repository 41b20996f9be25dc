/* nccl.cpp - NCCL for simulated GPUs: implements nccl_api.h between processes of one machine, with
 * a file in shared memory per communicator.
 *
 * The file holds each rank's next call, then a buffer for each rank's input to a collective, and
 * one per pair of ranks for messages. A collective is a work item of its stream: it waits until all
 * ranks have written, checks that their calls match, reduces in rank order, and releases the
 * buffers when all have read. If ranks do not arrive within `patience` or their calls differ, the
 * communicator is broken: its async error reports it, and the stream continues. Arguments are
 * checked when a call is made. */
#include "libraries/nccl_api.h"
#include "stand_in.h"

#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "dtypes/half.h"

using namespace lt_sim;

namespace {

constexpr int most_ranks = 64;
constexpr auto patience = std::chrono::seconds(20);
constexpr off_t room = off_t(1) << 34; /* bytes per rank or message: the file is sparse */

enum CollectiveKind { all_reduce_, broadcast_, reduce_, all_gather_, reduce_scatter_ };

/* Parameters of a collective, compared between ranks. */
struct Call {
    int kind, type, op, root;
    uint64_t count;
};

struct Mailbox {
    std::atomic<uint64_t> sent, taken;
    uint64_t bytes;
};

struct Shared {
    std::atomic<int> joined;
    std::atomic<uint64_t> written[most_ranks], read[most_ranks];
    Call calls[most_ranks];
    Mailbox mail[most_ranks][most_ranks]; /* from, to */
};

constexpr off_t control = (sizeof(Shared) + 4095) / 4096 * 4096;

size_t size_of(ncclDataType_t type)
{
    switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclFloat64: return 8;
    }
    return 0;
}

/* Polls until is_so() is true; false on timeout. */
template <class F> bool wait_until(F is_so)
{
    const auto end = std::chrono::steady_clock::now() + patience;
    for (int i = 0; !is_so(); i++) {
        if (i > 100 && std::chrono::steady_clock::now() > end) return false;
        if (i > 1000)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        else
            std::this_thread::yield();
    }
    return true;
}

/* Reduces the rows of all ranks, stored one after another, to one. Half types are summed in float;
 * integers wrap around. */
template <class T, class Wide, class Narrow>
void reduce_rows(const T *rows, int ranks, size_t count, ncclRedOp_t op, T *out, Wide to_wide,
                 Narrow narrow)
{
    for (size_t i = 0; i < count; i++) {
        auto sum = to_wide(rows[i]);
        for (int r = 1; r < ranks; r++) {
            const auto x = to_wide(rows[size_t(r) * count + i]);
            switch (op) {
            case ncclProd: sum = sum * x; break;
            case ncclMax: sum = x > sum ? x : sum; break;
            case ncclMin: sum = x < sum ? x : sum; break;
            default: sum = sum + x; break;
            }
        }
        out[i] = narrow(op == ncclAvg ? sum / static_cast<decltype(sum)>(ranks) : sum);
    }
}

template <class T>
void reduce_plain(const void *rows, int ranks, size_t count, ncclRedOp_t op, void *out)
{
    reduce_rows(
        static_cast<const T *>(rows), ranks, count, op, static_cast<T *>(out),
        [](T x) { return x; }, [](auto x) { return static_cast<T>(x); });
}

void reduce_typed(const void *rows, int ranks, size_t count, ncclDataType_t type, ncclRedOp_t op,
                  void *out)
{
    switch (type) {
    case ncclInt8: return reduce_plain<int8_t>(rows, ranks, count, op, out);
    case ncclUint8: return reduce_plain<uint8_t>(rows, ranks, count, op, out);
    case ncclInt32: return reduce_plain<uint32_t>(rows, ranks, count, op, out);
    case ncclInt64: return reduce_plain<uint64_t>(rows, ranks, count, op, out);
    case ncclFloat32: return reduce_plain<float>(rows, ranks, count, op, out);
    case ncclFloat64: return reduce_plain<double>(rows, ranks, count, op, out);
    case ncclFloat16:
        return reduce_rows(static_cast<const lt_half *>(rows), ranks, count, op,
                           static_cast<lt_half *>(out), lt_half_to_float, lt_float_to_half);
    case ncclBfloat16:
        return reduce_rows(static_cast<const lt_bfloat16 *>(rows), ranks, count, op,
                           static_cast<lt_bfloat16 *>(out), lt_bfloat16_to_float,
                           lt_float_to_bfloat16);
    }
}

} // namespace

struct ncclComm : LibraryHandle {
    Shared *shared = nullptr;
    int file = -1, rank = 0, ranks = 0;
    uint64_t called = 0; /* collectives so far; used by the calling thread */
    uint64_t sent[most_ranks] = {}, received[most_ranks] = {};
    std::atomic<int> broken{ncclSuccess};

    off_t of_rank(int r) const { return control + r * room; }
    off_t of_mail(int from, int to) const { return control + (ranks + from * ranks + to) * room; }
    bool put(off_t at, const void *data, size_t bytes)
    {
        return bytes == 0 || pwrite(file, data, bytes, at) == static_cast<ssize_t>(bytes);
    }
    bool take(off_t at, void *data, size_t bytes)
    {
        return bytes == 0 || pread(file, data, bytes, at) == static_cast<ssize_t>(bytes);
    }
};

namespace {

/* A message to be sent or received; inside a group it is queued when the group ends. */
struct Message {
    ncclComm_t comm;
    cudaStream_t stream;
    bool sends;
    void *data;
    size_t bytes;
    int peer;
    uint64_t number;
};

thread_local int groups = 0;
thread_local std::vector<Message> pending;

ncclResult_t result_of(cudaError_t error)
{
    return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

/* Whether `count` elements at p are device memory, aligned for their type. */
bool placed(ncclComm_t comm, const void *p, size_t count, ncclDataType_t type)
{
    const auto n = static_cast<int64_t>(count);
    switch (size_of(type)) {
    case 1: return on_device(comm->device, static_cast<const uint8_t *>(p), n);
    case 2: return on_device(comm->device, static_cast<const uint16_t *>(p), n);
    case 4: return on_device(comm->device, static_cast<const uint32_t *>(p), n);
    case 8: return on_device(comm->device, static_cast<const uint64_t *>(p), n);
    default: return false;
    }
}

/* Number of elements that this rank contributes to a collective, and that it receives. */
struct Sizes {
    size_t given, got;
};

Sizes sizes_of(const ncclComm &comm, const Call &call)
{
    const size_t n = call.count, ranks = static_cast<size_t>(comm.ranks);
    switch (call.kind) {
    case broadcast_: return {call.root == comm.rank ? n : 0, n};
    case reduce_: return {n, call.root == comm.rank ? n : 0};
    case all_gather_: return {n, n * ranks};
    case reduce_scatter_: return {n * ranks, n};
    default: return {n, n};
    }
}

bool same(const Call &a, const Call &b)
{
    return a.kind == b.kind && a.type == b.type && a.op == b.op && a.root == b.root &&
           a.count == b.count;
}

/* Executes one collective when its stream reaches it. */
ncclResult_t carry_out(ncclComm &comm, Call call, uint64_t number, const void *from, void *to)
{
    Shared &shared = *comm.shared;
    const auto type = static_cast<ncclDataType_t>(call.type);
    const auto op = static_cast<ncclRedOp_t>(call.op);
    const size_t each = size_of(type), n = call.count;
    const Sizes sizes = sizes_of(comm, call);
    const auto all_at = [&](std::atomic<uint64_t> *counters, uint64_t least) {
        return wait_until([&] {
            for (int r = 0; r < comm.ranks; r++)
                if (counters[r].load(std::memory_order_acquire) < least) return false;
            return true;
        });
    };
    if (!all_at(shared.read, number - 1)) return ncclRemoteError;
    if (!comm.put(comm.of_rank(comm.rank), from, sizes.given * each)) return ncclSystemError;
    shared.calls[comm.rank] = call;
    shared.written[comm.rank].store(number, std::memory_order_release);
    if (!all_at(shared.written, number)) return ncclRemoteError;
    for (int r = 0; r < comm.ranks; r++)
        if (!same(shared.calls[r], call)) return ncclInvalidUsage;
    bool well = true;
    if (call.kind == broadcast_) {
        well = comm.take(comm.of_rank(call.root), to, n * each);
    } else if (call.kind == all_gather_) {
        for (int r = 0; well && r < comm.ranks; r++)
            well = comm.take(comm.of_rank(r),
                             static_cast<char *>(to) + static_cast<size_t>(r) * n * each, n * each);
    } else if (sizes.got > 0) {
        const size_t skip =
            call.kind == reduce_scatter_ ? static_cast<size_t>(comm.rank) * n * each : 0;
        std::vector<char> rows(static_cast<size_t>(comm.ranks) * n * each);
        for (int r = 0; well && r < comm.ranks; r++)
            well = comm.take(comm.of_rank(r) + static_cast<off_t>(skip),
                             &rows[static_cast<size_t>(r) * n * each], n * each);
        if (well) reduce_typed(rows.data(), comm.ranks, n, type, op, to);
    }
    shared.read[comm.rank].store(number, std::memory_order_release);
    return well ? ncclSuccess : ncclSystemError;
}

ncclResult_t collective(ncclComm_t comm, Call call, const void *from, void *to, cudaStream_t stream)
{
    if (!usable(comm) || size_of(static_cast<ncclDataType_t>(call.type)) == 0)
        return ncclInvalidArgument;
    if (call.op < 0 || call.op > ncclAvg || call.root < 0 || call.root >= comm->ranks)
        return ncclInvalidArgument;
    const auto type = static_cast<ncclDataType_t>(call.type);
    const Sizes sizes = sizes_of(*comm, call);
    if (!placed(comm, from, sizes.given, type) || !placed(comm, to, sizes.got, type))
        return ncclInvalidArgument;
    LibraryHandle at = *comm;
    at.stream = stream;
    const uint64_t number = ++comm->called;
    const size_t each = size_of(type);
    return result_of(queue(
        &at, "NCCL",
        [comm, call, number, from, to, sizes, each](const Uses &uses) {
            uses.reads(static_cast<const char *>(from), static_cast<int64_t>(sizes.given * each));
            if (comm->broken == ncclSuccess)
                comm->broken = carry_out(*comm, call, number, from, to);
            uses.writes(static_cast<char *>(to), static_cast<int64_t>(sizes.got * each));
            return cudaSuccess;
        },
        true));
}

/* Executes the messages of one stream: all sends first, then all receives. */
ncclResult_t deliver(const std::vector<Message> &messages)
{
    for (const Message &m : messages) {
        if (!m.sends) continue;
        Mailbox &box = m.comm->shared->mail[m.comm->rank][m.peer];
        if (!wait_until([&] { return box.taken.load(std::memory_order_acquire) >= m.number - 1; }))
            return ncclRemoteError;
        if (!m.comm->put(m.comm->of_mail(m.comm->rank, m.peer), m.data, m.bytes))
            return ncclSystemError;
        box.bytes = m.bytes;
        box.sent.store(m.number, std::memory_order_release);
    }
    for (const Message &m : messages) {
        if (m.sends) continue;
        Mailbox &box = m.comm->shared->mail[m.peer][m.comm->rank];
        if (!wait_until([&] { return box.sent.load(std::memory_order_acquire) >= m.number; }))
            return ncclRemoteError;
        if (box.bytes != m.bytes) return ncclInvalidUsage;
        if (!m.comm->take(m.comm->of_mail(m.peer, m.comm->rank), m.data, m.bytes))
            return ncclSystemError;
        box.taken.store(m.number, std::memory_order_release);
    }
    return ncclSuccess;
}

ncclResult_t queue_messages(std::vector<Message> messages)
{
    if (messages.empty()) return ncclSuccess;
    ncclComm_t comm = messages[0].comm;
    LibraryHandle at = *comm;
    at.stream = messages[0].stream;
    return result_of(queue(
        &at, "NCCL",
        [comm, messages](const Uses &uses) {
            for (const Message &m : messages)
                if (m.sends)
                    uses.reads(static_cast<const char *>(m.data), static_cast<int64_t>(m.bytes));
            if (comm->broken == ncclSuccess) comm->broken = deliver(messages);
            for (const Message &m : messages)
                if (!m.sends)
                    uses.writes(static_cast<char *>(m.data), static_cast<int64_t>(m.bytes));
            return cudaSuccess;
        },
        true));
}

ncclResult_t message(ncclComm_t comm, bool sends, void *data, size_t count, ncclDataType_t type,
                     int peer, cudaStream_t stream)
{
    if (!usable(comm) || peer < 0 || peer >= comm->ranks || !placed(comm, data, count, type))
        return ncclInvalidArgument;
    const uint64_t number = sends ? ++comm->sent[peer] : ++comm->received[peer];
    pending.push_back({comm, stream, sends, data, count * size_of(type), peer, number});
    if (groups > 0) return ncclSuccess;
    return queue_messages(std::move(pending));
}

/* ---- the calls ------------------------------------------------------------------------------- */

ncclResult_t get_unique_id(ncclUniqueId *id)
{
    static std::atomic<int> made{0};
    if (id == nullptr) return ncclInvalidArgument;
    *id = {};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    snprintf(id->internal, sizeof id->internal, "/lt_sim_nccl_%d_%d_%llx",
             static_cast<int>(getpid()), made++, static_cast<unsigned long long>(now));
    return ncclSuccess;
}

ncclResult_t init_rank(ncclComm_t *out, int ranks, ncclUniqueId id, int rank)
{
    if (out == nullptr || ranks < 1 || ranks > most_ranks || rank < 0 || rank >= ranks ||
        id.internal[0] != '/')
        return ncclInvalidArgument;
    const int file = shm_open(id.internal, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, control + (ranks + ranks * ranks) * room) != 0)
        return ncclSystemError;
    void *memory = mmap(nullptr, control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) return ncclSystemError;
    ncclComm *comm = new ncclComm;
    comm->device = current_device();
    comm->shared = static_cast<Shared *>(memory);
    comm->file = file;
    comm->rank = rank;
    comm->ranks = ranks;
    comm->shared->joined++;
    const bool all = wait_until([&] { return comm->shared->joined.load() >= ranks; });
    (void)shm_unlink(id.internal); /* freed with the last process that has it open */
    *out = comm;
    return all ? ncclSuccess : ncclRemoteError;
}

ncclResult_t abort_comm(ncclComm_t comm)
{
    if (comm == nullptr || comm->alive != 0x1ea5ed) return ncclInvalidArgument;
    /* queued work items refer to the object, so it is not freed */
    comm->broken = ncclInternalError;
    comm->alive = 0;
    return ncclSuccess;
}

ncclResult_t async_error(ncclComm_t comm, ncclResult_t *error)
{
    if (comm == nullptr || error == nullptr) return ncclInvalidArgument;
    *error = static_cast<ncclResult_t>(comm->broken.load());
    return ncclSuccess;
}

ncclResult_t all_reduce(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return collective(comm, {all_reduce_, type, op, 0, count}, from, to, stream);
}

ncclResult_t broadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, cudaStream_t stream)
{
    return collective(comm, {broadcast_, type, 0, root, count}, from, to, stream);
}

ncclResult_t reduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                    int root, ncclComm_t comm, cudaStream_t stream)
{
    return collective(comm, {reduce_, type, op, root, count}, from, to, stream);
}

ncclResult_t all_gather(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclComm_t comm, cudaStream_t stream)
{
    return collective(comm, {all_gather_, type, 0, 0, count}, from, to, stream);
}

ncclResult_t reduce_scatter(const void *from, void *to, size_t count, ncclDataType_t type,
                            ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return collective(comm, {reduce_scatter_, type, op, 0, count}, from, to, stream);
}

ncclResult_t send(const void *data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                  cudaStream_t stream)
{
    return message(comm, true, const_cast<void *>(data), count, type, peer, stream);
}

ncclResult_t receive(void *data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                     cudaStream_t stream)
{
    return message(comm, false, data, count, type, peer, stream);
}

ncclResult_t group_start()
{
    groups++;
    return ncclSuccess;
}

ncclResult_t group_end()
{
    if (groups == 0) return ncclInvalidUsage;
    return --groups > 0 ? ncclSuccess : queue_messages(std::move(pending));
}

} // namespace

lt_status lt_nccl_get(const lt_nccl **table)
{
    static const lt_nccl functions = {
        get_unique_id, init_rank,      abort_comm, async_error, all_reduce,  broadcast, reduce,
        all_gather,    reduce_scatter, send,       receive,     group_start, group_end};
    *table = &functions;
    return LT_OK;
}
