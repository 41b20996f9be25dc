/* fiber.cpp - kernels with barriers or warp operations: each thread of a block runs on a fiber
 * (switch.h).
 *
 * - A Team runs one block at a time, on the OS thread that took it from the pool. The block's
 *   threads start one after the other on one fiber; the next starts on another fiber only when a
 *   thread has to wait. So a kernel that reaches no barrier costs two switches per block.
 * - Teams keep their fibers and stacks. There are as many teams as blocks have run concurrently,
 *   independent of the number of streams (a stack takes two of the 65530 mappings that Linux allows
 *   a process).
 * - A started fiber never continues on another OS thread: the compiler may have cached the address
 *   of a thread-local variable.
 * - A barrier opens when every thread has reached it or exited, as on a GPU. A warp operation
 *   completes when every lane of its mask that has not exited waits in one with the same mask; the
 *   last lane to arrive computes all results. If no thread can continue, the kernel fails with
 *   cudaErrorLaunchTimeout. */
#include "sim.h"
#include "switch.h"

#include <algorithm>
#include <thread>

#include <stdio.h>

namespace lt_sim {

namespace {

constexpr unsigned max_threads = 1024;
constexpr int only_meet = -2; /* source of a lane that only synchronizes */
constexpr int joins = -3;     /* source of a lane that passes an address to join() */

struct Fiber : Place {
    char *memory = nullptr;
    unsigned number = 0;
    unsigned thread = 0;
    bool busy = false; /* runs a thread that has not exited */
    uint3 index = {0, 0, 0};
};

struct Lane {
    Fiber *fiber;
    uint64_t value, result;
    unsigned mask;
    int source;
    void (*joint)(void *const *lanes);
};

struct Warp {
    unsigned waiting, ended; /* lane bits; lanes beyond the block count as ended */
};

} // namespace

struct Team {
    const Kernel *kernel = nullptr;
    const ThreadBody *body = nullptr;
    Monitor *watcher = nullptr; /* of the kernel */
    unsigned threads = 0, started = 0, ended = 0;
    Fiber *current = nullptr;
    Place home;
    std::thread::id owner; /* the OS thread that runs its fibers */
    std::vector<Fiber *> fibers, idle;
    Fiber *ready[max_threads]; /* ring buffer */
    unsigned ready_first = 0, ready_count = 0;
    Fiber *at_barrier[max_threads];
    unsigned barrier_count = 0;
    Line barrier = {"", 0};                   /* source line of the current barrier */
    const unsigned short *shuffled = nullptr; /* start order of the threads; null: ascending */
    uint64_t draws = 0;                       /* random numbers drawn in this block */
    Warp warps[max_threads / 32];
    Lane lanes[max_threads];

    void run(const Kernel &kernel, const ThreadBody &body);
    void move_to(std::thread::id thread);
    void live();
    void suspend();
    [[noreturn]] void drop_thread();
    void sync_block(Line line);
    uint64_t exchange(unsigned mask, uint64_t value, int source,
                      void (*joint)(void *const *) = nullptr);

  private:
    Fiber *new_fiber();
    void prepare(Fiber *fiber) { lt_sim::prepare(*fiber, fiber->memory, fiber->number); }
    void make_ready(Fiber *fiber);
    Fiber *pick();
    Place *enter(Fiber *fiber);
    void end_thread(unsigned thread);
    void open_barrier();
    bool complete(unsigned warp, unsigned mask);
    void join(const Lane *lane, unsigned part);
    void start_block();
    void abandon();
    void shuffle(Fiber **list, unsigned n);
    std::string waiting() const;
};

/* Null if no memory is left for a stack. */
Fiber *Team::new_fiber()
{
    char *memory = new_stack();
    if (!memory) return nullptr;
    auto *fiber = new Fiber;
    fiber->memory = memory;
    fiber->number = (unsigned)fibers.size();
    prepare(fiber);
    fibers.push_back(fiber);
    return fiber;
}

void Team::make_ready(Fiber *fiber) { ready[(ready_first + ready_count++) % max_threads] = fiber; }

/* Returns the next fiber to run: ready ones first, so that few fibers are in use. Null if no thread
 * can continue. */
Fiber *Team::pick()
{
    if (ready_count) {
        Fiber *fiber = ready[ready_first];
        ready_first = (ready_first + 1) % max_threads;
        ready_count--;
        return fiber;
    }
    if (started == threads) return nullptr;
    if (idle.empty()) return new_fiber();
    Fiber *fiber = idle.back();
    idle.pop_back();
    return fiber;
}

/* Makes a fiber the running one. Returns the place to switch to, which is the home for null. */
Place *Team::enter(Fiber *fiber)
{
    if (!fiber) return &home;
    current = fiber;
    context.thread = fiber->index;
    if (watcher) {
        const char *bottom = static_cast<const char *>(fiber->stack_bottom);
        watcher->stack = {bottom, bottom + fiber->stack_bytes};
    }
    return fiber;
}

void Team::suspend()
{
    Fiber *self = current;
    leave_fiber(self, enter(pick()));
}

/* Main loop of a fiber: runs threads that have not started, until another fiber is ready. */
void Team::live()
{
    Fiber *self = current;
    for (;;) {
        while (started < threads && !ready_count) {
            unsigned thread = shuffled ? shuffled[started] : started;
            started++;
            dim3 size = kernel->block;
            self->thread = thread;
            self->index = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
            self->busy = true;
            lanes[thread].fiber = self;
            context.thread = self->index;
            try {
                body->run_thread();
            } catch (const Trap &) {
                kernel->fail(cudaErrorLaunchFailure);
            }
            self->busy = false;
            end_thread(thread);
        }
        idle.push_back(self);
        leave_fiber(self, enter(ready_count ? pick() : nullptr));
    }
}

/* The stack of the current fiber is set up for another thread while it is in use: nothing returns
 * to it. */
void Team::drop_thread()
{
    Fiber *self = current;
    self->busy = false;
    end_thread(self->thread);
    prepare(self);
    idle.push_back(self);
    leave_for_ever(self, enter(pick()));
    __builtin_unreachable();
}

/* With LTENSOR_SIM_SEED, waiting threads continue in random order. */
void Team::shuffle(Fiber **list, unsigned n)
{
    if (!context.shuffle) return;
    for (unsigned i = n; i > 1; i--)
        std::swap(list[i - 1], list[mixed(context.shuffle, ~draws++) % i]);
}

void Team::open_barrier()
{
    if (runtime().settings.check && ended)
        fault_in_kernel("barrier", barrier.file,
                        "%u of the block's %u threads ended before the barrier at %s:%d, which the "
                        "others came to",
                        ended, threads, barrier.file, barrier.line);
    shuffle(at_barrier, barrier_count);
    for (unsigned i = 0; i < barrier_count; i++) make_ready(at_barrier[i]);
    barrier_count = 0;
    if (watcher) watcher->met();
}

void Team::end_thread(unsigned thread)
{
    unsigned warp = thread / 32;
    warps[warp].ended |= 1u << thread % 32;
    ended++;
    if (barrier_count && barrier_count == threads - ended) open_barrier();
    for (unsigned rest = warps[warp].waiting; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest), mask = lanes[warp * 32 + lane].mask;
        if (!complete(warp, mask)) continue;
        for (unsigned done = mask; done; done &= done - 1) {
            unsigned other = (unsigned)__builtin_ctz(done);
            if (!(warps[warp].waiting >> other & 1)) continue;
            make_ready(lanes[warp * 32 + other].fiber);
        }
        warps[warp].waiting &= ~mask;
        rest &= ~mask | (rest & -rest);
    }
}

void Team::sync_block(Line line)
{
    if (!barrier_count) barrier = line;
    if (barrier.line != line.line || (barrier.file != line.file && strcmp(barrier.file, line.file)))
        fault_in_kernel(
            "barrier", line.file,
            "comes to the barrier at %s:%d while thread %u of the block waits at the one at %s:%d",
            line.file, line.line, at_barrier[0]->thread, barrier.file, barrier.line);
    if (barrier_count + 1 == threads - ended) {
        open_barrier();
        return;
    }
    at_barrier[barrier_count++] = current;
    suspend();
}

/* Runs an operation of a whole warp (tensor cores). Fault: a lane is missing, or the lanes call
 * different operations. */
void Team::join(const Lane *lane, unsigned part)
{
    void *values[32];
    for (unsigned i = 0; i < 32; i++) {
        if (!(part >> i & 1))
            fault_in_kernel("warp", "", "lane %u takes no part in an operation of the whole warp",
                            i);
        else if (lane[i].joint != lane[0].joint)
            fault_in_kernel("warp", "",
                            "lanes 0 and %u are in different operations of the whole warp", i);
        else {
            values[i] = reinterpret_cast<void *>(lane[i].value);
            continue;
        }
        kernel->fail(cudaErrorLaunchFailure);
        return;
    }
    lane[0].joint(values);
}

/* Computes the results and returns true if all lanes of the mask that have not exited wait with
 * that mask. */
bool Team::complete(unsigned warp, unsigned mask)
{
    Lane *lane = lanes + warp * 32;
    unsigned part = mask & ~warps[warp].ended, ballot = 0;
    if ((warps[warp].waiting & part) != part) return false;
    for (unsigned rest = part; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        if (lane[i].mask != mask) return false;
        ballot |= (unsigned)(lane[i].value & 1) << i;
    }
    if (lane[__builtin_ctz(part)].source == joins) {
        join(lane, part);
        return true;
    }
    for (unsigned rest = part; rest; rest &= rest - 1) {
        Lane &taker = lane[__builtin_ctz(rest)];
        if (taker.source < 0)
            taker.result = ballot;
        else
            taker.result = part >> taker.source & 1 ? lane[taker.source].value : ~(uint64_t)0;
    }
    if (watcher && lane[__builtin_ctz(part)].source == only_meet) watcher->met(warp, part);
    return true;
}

uint64_t Team::exchange(unsigned mask, uint64_t value, int source, void (*joint)(void *const *))
{
    unsigned thread = current->thread, warp = thread / 32, own = 1u << thread % 32;
    Lane &lane = lanes[thread];
    if (!(mask & own))
        fault_in_kernel("warp", "",
                        "lane %u calls a warp operation with the mask 0x%08x, which leaves it out",
                        thread % 32, mask);
    if (source >= 0 && runtime().settings.check && !(mask & ~warps[warp].ended & 1u << source))
        fault_in_kernel("warp", "",
                        "lane %u takes the value of lane %d, which takes no part (mask 0x%08x)",
                        thread % 32, source, mask);
    lane.value = value;
    lane.mask = mask;
    lane.source = source;
    lane.joint = joint;
    warps[warp].waiting |= own;
    if (!complete(warp, mask)) {
        suspend();
        return lane.result;
    }
    unsigned others = mask & ~own & ~warps[warp].ended;
    warps[warp].waiting &= ~(mask | own);
    for (; others; others &= others - 1)
        make_ready(lanes[warp * 32 + (unsigned)__builtin_ctz(others)].fiber);
    return lane.result;
}

void Team::start_block()
{
    started = ended = ready_count = barrier_count = 0;
    draws = 0;
    shuffled = shuffled_threads(threads);
    for (unsigned first = 0; first < threads; first += 32)
        warps[first / 32] = {0, threads - first >= 32 ? 0 : ~0u << (threads - first)};
}

std::string Team::waiting() const
{
    std::string text = std::to_string(ended) + " have ended";
    if (barrier_count)
        text += ", " + std::to_string(barrier_count) + " (thread " +
                std::to_string(at_barrier[0]->thread) + " first) wait at the barrier at " +
                barrier.file + ":" + std::to_string(barrier.line);
    for (unsigned warp = 0; warp * 32 < threads; warp++) {
        if (!warps[warp].waiting) continue;
        char part[120];
        unsigned lane = (unsigned)__builtin_ctz(warps[warp].waiting);
        snprintf(part, sizeof part,
                 ", lanes 0x%08x of warp %u in a warp operation, lane %u with the mask 0x%08x",
                 warps[warp].waiting, warp, lane, lanes[warp * 32 + lane].mask);
        text += part;
        break;
    }
    return text;
}

/* Drops threads that can never continue; their fibers are set up again. */
void Team::abandon()
{
    for (Fiber *fiber : fibers) {
        if (!fiber->busy) continue;
        fiber->busy = false;
        prepare(fiber);
        idle.push_back(fiber);
    }
}

/* Sets up all fibers for another OS thread. */
void Team::move_to(std::thread::id thread)
{
    for (Fiber *fiber : fibers) prepare(fiber);
    owner = thread;
}

void Team::run(const Kernel &with, const ThreadBody &thread_body)
{
    kernel = &with;
    watcher = monitor_of(with);
    body = &thread_body;
    threads = with.block.x * with.block.y * with.block.z;
    static thread_local const Place stack = own_stack();
    home = stack;
    start_block();
    Fiber *first = pick();
    if (!first) {
        kernel->error = cudaErrorLaunchOutOfResources;
        return;
    }
    leave_home(&home, enter(first));
    if (ended == threads) return;
    fault_in_kernel("barrier", "", "the block's threads wait for each other for ever: %s",
                    waiting().c_str());
    kernel->fail(cudaErrorLaunchTimeout);
    abandon();
}

namespace {

/* Idle teams. Never destroyed: streams may still run when the process exits. */
struct FiberPool {
    std::mutex mutex;
    std::vector<Team *> idle;

    /* Returns a team that the calling thread used before, else any idle one, else a new one. */
    Team *take()
    {
        const std::thread::id self = std::this_thread::get_id();
        Team *team = nullptr;
        {
            std::lock_guard<std::mutex> lock(mutex);
            auto found = std::find_if(idle.begin(), idle.end(),
                                      [&](const Team *t) { return t->owner == self; });
            if (found == idle.end() && !idle.empty()) found = idle.begin();
            if (found != idle.end()) {
                team = *found;
                idle.erase(found);
            }
        }
        if (!team) team = new Team;
        if (team->owner != self) team->move_to(self);
        return team;
    }

    void give(Team *team)
    {
        std::lock_guard<std::mutex> lock(mutex);
        idle.push_back(team);
    }
};

FiberPool &pool()
{
    static FiberPool *teams = new FiberPool;
    return *teams;
}

} // namespace

void run_fiber() { context.team->live(); }

void run_team(const Kernel &kernel, const ThreadBody &body)
{
    Team *team = context.team = pool().take();
    Monitor *const watcher = monitor_of(kernel);
    const Span stack = watcher ? watcher->stack : Span();
    team->run(kernel, body);
    if (watcher) watcher->stack = stack;
    context.team = nullptr;
    pool().give(team);
}

namespace {

Team &meeting_team()
{
    if (context.team) return *context.team;
    fputs("simulated GPU: a kernel launched with LT_LAUNCH came to a barrier or a warp operation; "
          "it needs LT_LAUNCH_BARRIER\n",
          stderr);
    throw Trap();
}

} // namespace

void drop_thread() { meeting_team().drop_thread(); }
void sync_block(Line line) { meeting_team().sync_block(line); }
void sync_warp(unsigned mask) { meeting_team().exchange(mask, 0, only_meet); }
uint64_t exchange(unsigned mask, uint64_t value, int source)
{
    return meeting_team().exchange(mask, value, source);
}

void join_warp(void *own, void (*all)(void *const *lanes))
{
    meeting_team().exchange(~0u, reinterpret_cast<uintptr_t>(own), joins, all);
}

int lane() { return (int)(meeting_team().current->thread % 32); }

} // namespace lt_sim
