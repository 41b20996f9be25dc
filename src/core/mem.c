/* mem.c - see mem.h. Structs of a few sizes are kept in lists per thread. Blocks up to SMALL bytes
 * go to malloc, which is fast for them. Larger ones are kept when freed, in bins of sixteen sizes
 * per power of two, and handed out again, also for what is a little smaller: the pages stay mapped.
 * (malloc, which has the blocks up to MIDDLE bytes, gives its last pages back to the system
 * whenever a collection frees many blocks at once.) What is kept is bounded by LT_BLOCK_KEEP: a
 * block that does not fit any more drives the others out, so that a program that moves on to other
 * sizes is not left with the old ones. Blocks that are kept for some seconds without use go back to
 * the system. */
#include "mem.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "context/watch.h"
#include "error.h"

#define FIRST_BIN 10 /* the logarithm of SMALL */
#define SMALL     ((size_t)1 << FIRST_BIN)
#define MIDDLE    ((size_t)64 * 1024)
#define CLASSES   16 /* sizes of blocks per power of two */
#define BINS      (40 * CLASSES)
/* a kept block may be larger than asked for by so many classes: a quarter */
#define LARGER    (CLASSES / 4)
#define HUGE_PAGE ((size_t)2 << 20)

#define IDLE_BYTES   ((size_t)16 << 20) /* of kept blocks that are worth the thread of watch.c, */
#define IDLE_SECONDS 5.0                /* which frees them when they were not used for so long */

/* Blocks of pages begin by turns at so many places of their first page, so many bytes apart: of a
 * loop over several arrays, all of which are at the same place of their pages at a time, the
 * processor takes one access for another, whose addresses differ in higher bits only. Those of huge
 * pages begin with the page: there chains of two operands of 16 MB took a tenth longer
 * otherwise. */
#define PAGE   ((size_t)4096)
#define PLACES 3
#define APART  1408

typedef struct free_block {
    struct free_block *next;
} free_block;

static struct {
    pthread_mutex_t lock;
    free_block *bins[BINS];
    size_t kept; /* bytes */
    /* how often a block was kept or reused, and that number when trim_when_idle last ran */
    uint64_t uses, seen;
    bool timed; /* trim_when_idle will run */
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic int64_t fail_countdown; /* 0: never */

__attribute__((constructor)) static void read_fault_setting(void)
{
    const char *text = getenv("LTENSOR_MEM_FAULT");
    if (text != NULL) fail_countdown = atoll(text);
}

void lt_mem_fail_after(int64_t n) { fail_countdown = n; }

static bool injected_failure(void)
{
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0) return false;
    return atomic_fetch_sub(&fail_countdown, 1) == 1;
}

bool lt_mem_reclaim(void)
{
    static _Thread_local bool running;
    if (running || lt_here.guest.class == NULL) return false;
    running = true;
    lt_here.guest.class->reclaim(lt_here.guest.ctx);
    running = false;
    return true;
}

static void *out_of_memory(size_t n)
{
    lt_error_set(LT_ERR_MEMORY, "out of memory: you tried to allocate %zu bytes.", n);
    return NULL;
}

/* ---- the source: the C library, or the host's functions -------------------------------------- */

static lt_allocator host; /* size 0: there is none. Written once, before anything is asked for */
static _Atomic bool asked;

lt_status lt_set_allocator(const lt_allocator *allocator)
{
    LT_REQUIRE(allocator);
    if (allocator->size < sizeof host)
        return lt_error(LT_ERR_TYPE,
                        "lt_set_allocator(): size is %zu, must be sizeof(lt_allocator)",
                        allocator->size);
    LT_REQUIRE(allocator->resize);
    LT_REQUIRE(allocator->take_block);
    LT_REQUIRE(allocator->give_block);
    if (atomic_load(&asked))
        return lt_error(LT_ERR_RUNTIME,
                        "lt_set_allocator() must come before everything else: memory is in use");
    host = *allocator;
    host.size = sizeof host;
    return LT_OK;
}

static inline bool hosts_own(void) { return __builtin_expect(host.size != 0, 0); }

static inline void note_asked(void)
{
    if (!atomic_load_explicit(&asked, memory_order_relaxed))
        atomic_store_explicit(&asked, true, memory_order_relaxed);
}

static void *take(size_t n)
{
    note_asked();
    return hosts_own() ? host.resize(host.user, NULL, n > 0 ? n : 1) : malloc(n);
}

static void *take_zeros(size_t n)
{
    note_asked();
    if (!hosts_own()) return calloc(1, n);
    void *p = host.resize(host.user, NULL, n);
    return p != NULL ? memset(p, 0, n) : NULL;
}

static void *resize(void *old, size_t n)
{
    note_asked();
    return hosts_own() ? host.resize(host.user, old, n > 0 ? n : 1) : realloc(old, n);
}

static void give(void *p)
{
    if (!hosts_own())
        free(p);
    else if (p != NULL)
        host.resize(host.user, p, 0);
}

static void *take_aligned(size_t n)
{
    note_asked();
    return hosts_own() ? host.take_block(host.user, n) : aligned_alloc(64, n);
}

static void give_aligned(void *p, size_t n)
{
    if (hosts_own())
        host.give_block(host.user, p, n);
    else
        free(p);
}

/* ---- what a context uses --------------------------------------------------------------------- */

static inline void note_peak(lt_use *use, int64_t live)
{
    int64_t peak = atomic_load_explicit(&use->peak, memory_order_relaxed);
    while (live > peak &&
           !atomic_compare_exchange_weak_explicit(&use->peak, &peak, live, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

/* Counts bytes more, or fewer; false, and none, beyond the limit. */
static inline bool count(lt_use *use, int64_t bytes)
{
    const int64_t before = atomic_fetch_add_explicit(&use->live, bytes, memory_order_relaxed);
    if (bytes <= 0) return true;
    if (before <= atomic_load_explicit(&use->limit, memory_order_relaxed) - bytes) {
        note_peak(use, before + bytes);
        return true;
    }
    atomic_fetch_sub_explicit(&use->live, bytes, memory_order_relaxed);
    return false;
}

/* of a device's memory, one of which weighs LT_MEM_GARBAGE or more, but less than twice as much */
#define SHARES 32

/* 1 + how often the bytes of a use are halved; 0: not known */
static _Atomic unsigned char weights[LT_USES];

static inline int64_t weight_of(int use, int64_t bytes)
{
    const int weight = atomic_load_explicit(&weights[use], memory_order_relaxed);
    return weight > 1 ? bytes >> (weight - 1) : bytes;
}

void lt_mem_know_device(int use, int64_t total)
{
    unsigned char halved = 0;
    while (halved < 16 && (total >> (halved + 1)) / SHARES >= LT_MEM_GARBAGE) halved++;
    atomic_store_explicit(&weights[use], halved + 1, memory_order_relaxed);
}

bool lt_mem_knows_device(int use)
{
    return atomic_load_explicit(&weights[use], memory_order_relaxed) != 0;
}

/* The budget that bytes more would exceed; NULL: they are counted in all that are open. What is
 * given back was perhaps taken before a budget was opened, and makes no room in it. */
static lt_budget *count_in_budgets(int64_t bytes)
{
    for (lt_budget *b = lt_here.budget; b != NULL; b = b->outer)
        if (bytes > 0 && bytes > b->limit - b->live) return b;
    for (lt_budget *b = lt_here.budget; b != NULL; b = b->outer)
        b->live = b->live + bytes > 0 ? b->live + bytes : 0;
    return NULL;
}

static inline bool count_in_budget(int use, int64_t bytes)
{
    if (__builtin_expect(lt_here.budget == NULL, 1) || use != LT_USE_HOST) return true;
    return count_in_budgets(bytes) == NULL;
}

int64_t lt_budget_for(int64_t file_bytes, int64_t asked)
{
    const int64_t least = (int64_t)256 << 20, usual = lt_times(file_bytes, LT_BUDGET_TIMES);
    return asked > 0 ? asked : usual > least ? usual : least;
}

void lt_budget_open(lt_budget *budget, int64_t limit)
{
    *budget = (lt_budget){.limit = limit, .outer = lt_here.budget};
    lt_here.budget = budget;
}

void lt_budget_close(lt_budget *budget) { lt_here.budget = budget->outer; }

static lt_status refuse_budget(const lt_budget *budget, int64_t bytes)
{
    return lt_error(LT_ERR_MEMORY,
                    "what the file holds needs %lld bytes of memory more, beside %lld of the %lld "
                    "that loading it may take; the loader's "
                    "option max_memory raises that",
                    (long long)bytes, (long long)budget->live, (long long)budget->limit);
}

lt_status lt_budget_spend(int64_t bytes)
{
    lt_budget *full = count_in_budgets(bytes);
    return full == NULL ? LT_OK : refuse_budget(full, bytes);
}

bool lt_mem_charge(int use, int64_t bytes)
{
    lt_context *c = lt_here.context;
    if (!count_in_budget(use, bytes)) return false;
    if (!count(&c->use[use], bytes)) {
        count_in_budget(use, -bytes);
        return false;
    }
    if (bytes > 0)
        atomic_fetch_add_explicit(&c->allocated, (uint64_t)weight_of(use, bytes),
                                  memory_order_relaxed);
    return true;
}

void lt_mem_charge_back(lt_context *c, int use, int64_t bytes)
{
    count_in_budget(use, -bytes);
    atomic_fetch_sub_explicit(&c->use[use].live, bytes, memory_order_relaxed);
    lt_context_drop(c);
}

lt_status lt_mem_refuse(int use, int64_t bytes)
{
    const lt_use *u = &lt_here.context->use[use];
    for (const lt_budget *b = lt_here.budget; b != NULL && use == LT_USE_HOST; b = b->outer)
        if (bytes > b->limit - b->live) return refuse_budget(b, bytes);
    char place[32] = "host memory";
    if (use != LT_USE_HOST)
        snprintf(place, sizeof place, "memory of GPU %d", use - LT_USE_DEVICE(0));
    return lt_error(LT_ERR_MEMORY,
                    "out of memory: you tried to allocate %lld bytes; the limit is %lld bytes of "
                    "%s, of which %lld are in use",
                    (long long)bytes, (long long)atomic_load(&u->limit), place,
                    (long long)atomic_load(&u->live));
}

bool lt_mem_afford(size_t n)
{
    const int64_t bytes = n < INT64_MAX / 2 ? (int64_t)n : INT64_MAX / 2;
    if (lt_mem_charge(LT_USE_HOST, bytes) ||
        (lt_mem_reclaim() && lt_mem_charge(LT_USE_HOST, bytes)))
        return true;
    lt_mem_refuse(LT_USE_HOST, bytes);
    return false;
}

void *lt_mem_resize_counted(lt_context *c, void *old, size_t old_bytes, size_t bytes)
{
    lt_use *use = &c->use[LT_USE_HOST];
    const int64_t more = (int64_t)bytes - (int64_t)old_bytes;
    if (!count(use, more)) return NULL;
    if (bytes == 0) {
        give(old);
        return NULL;
    }
    void *p = injected_failure() ? NULL : resize(old, bytes);
    if (p == NULL && more <= 0) p = old; /* Lua relies on it */
    if (p == NULL) count(use, -more);
    return p;
}

int64_t lt_mem_live(void)
{
    int64_t live = 0;
    for (int i = 0; i < LT_USES; i++)
        live += atomic_load_explicit(&lt_here.context->use[i].live, memory_order_relaxed);
    return live;
}

int64_t lt_mem_weight(void)
{
    int64_t weight = 0;
    for (int i = 0; i < LT_USES; i++)
        weight +=
            weight_of(i, atomic_load_explicit(&lt_here.context->use[i].live, memory_order_relaxed));
    return weight;
}

int64_t lt_mem_take_peak(void)
{
    lt_use *use = &lt_here.context->use[LT_USE_HOST];
    return atomic_exchange_explicit(
        &use->peak, atomic_load_explicit(&use->live, memory_order_relaxed), memory_order_relaxed);
}

/* ---- structs that count against a limit ------------------------------------------------------ */

/* Structs and arrays that are allocated in a context with a limit of host memory count against it,
 * so that a script cannot fill the memory with views, nodes, hooks or lists. This stands before
 * each of them. The pointer that the caller gets is 8 more than a multiple of 16, which malloc
 * never returns: so freeing knows which kind it is. A host's allocator may return any. */
typedef struct owner {
    lt_context *context; /* held */
    size_t bytes;        /* that were counted */
} owner;
#define OWNED_AT 24

static inline bool is_limited(void)
{
    const uint32_t flags = atomic_load_explicit(&lt_here.context->flags, memory_order_relaxed);
    return __builtin_expect((flags & LT_CONTEXT_LIMITED) != 0, 0) && !hosts_own();
}

static inline bool is_owned(const void *p) { return ((uintptr_t)p & 8) != 0 && !hosts_own(); }
static inline owner *owner_of(void *p) { return (owner *)((char *)p - OWNED_AT); }

/* Counts bytes of a struct. Small ones are counted even above the limit, since locks may be held
 * here and no garbage can be collected: the next tensor, block or object of Lua is refused then. */
static bool count_struct(lt_context *c, int64_t bytes)
{
    if (count(&c->use[LT_USE_HOST], bytes)) return true;
    if (bytes > (int64_t)MIDDLE) return false;
    atomic_fetch_add_explicit(&c->use[LT_USE_HOST].live, bytes, memory_order_relaxed);
    return true;
}

static void *own(char *memory, size_t bytes)
{
    *(owner *)memory = (owner){lt_here.context, bytes};
    lt_context_hold(lt_here.context);
    return memory + OWNED_AT;
}

/* Room for n bytes behind their owner; SIZE_MAX, which nothing gives, when there cannot be so
 * many. */
static size_t owned_bytes(size_t n) { return n < SIZE_MAX / 2 ? n + OWNED_AT : SIZE_MAX / 2; }

static void *take_owned(size_t n)
{
    const size_t bytes = owned_bytes(n);
    if (!count_struct(lt_here.context, (int64_t)bytes)) {
        lt_mem_refuse(LT_USE_HOST, (int64_t)bytes);
        return NULL;
    }
    atomic_fetch_add_explicit(&lt_here.context->allocated, bytes, memory_order_relaxed);
    char *memory = take(bytes);
    if (memory != NULL) return own(memory, bytes);
    lt_mem_charge(LT_USE_HOST, -(int64_t)bytes);
    return out_of_memory(n);
}

static void *resize_owned(void *old, size_t n)
{
    owner *o = owner_of(old);
    const size_t bytes = owned_bytes(n);
    const int64_t more = (int64_t)bytes - (int64_t)o->bytes;
    if (!count_struct(o->context, more)) {
        lt_mem_refuse(LT_USE_HOST, more);
        return NULL;
    }
    char *memory = resize(o, bytes);
    if (memory == NULL) {
        atomic_fetch_sub_explicit(&o->context->use[LT_USE_HOST].live, more, memory_order_relaxed);
        return out_of_memory(n);
    }
    ((owner *)memory)->bytes = bytes;
    return memory + OWNED_AT;
}

static void give_owned(void *p)
{
    const owner o = *owner_of(p);
    give(owner_of(p));
    lt_mem_charge_back(o.context, LT_USE_HOST, (int64_t)o.bytes);
}

/* ---- structs and arrays ---------------------------------------------------------------------- */

void *lt_mem_alloc(size_t n)
{
    if (injected_failure()) return out_of_memory(n);
    if (is_limited()) return take_owned(n);
    void *p = take(n);
    return p != NULL ? p : out_of_memory(n);
}

void *lt_mem_zalloc(size_t n)
{
    void *p = lt_mem_alloc(n);
    if (p != NULL) memset(p, 0, n);
    return p;
}

void *lt_mem_realloc(void *old, size_t n)
{
    if (injected_failure()) return out_of_memory(n);
    if (is_owned(old)) return resize_owned(old, n);
    if (old == NULL && is_limited()) return take_owned(n);
    void *p = resize(old, n);
    return p != NULL ? p : out_of_memory(n);
}

void lt_mem_free(void *p)
{
    if (is_owned(p))
        give_owned(p);
    else
        give(p);
}

/* Bytes of n entries, at least one; SIZE_MAX, which nothing gives, when there cannot be so many. */
static size_t array_bytes(int64_t n, size_t size)
{
    const int64_t bytes = lt_times(n != 0 ? n : 1, (int64_t)size);
    return bytes == LT_TOO_MUCH ? SIZE_MAX : (size_t)bytes;
}

static void *too_many(int64_t n, size_t size)
{
    lt_error_set(LT_ERR_MEMORY, "out of memory: you tried to allocate %lld entries of %zu bytes.",
                 (long long)n, size);
    return NULL;
}

void *lt_mem_array(int64_t n, size_t size)
{
    const size_t bytes = array_bytes(n, size);
    return bytes != SIZE_MAX ? lt_mem_alloc(bytes) : too_many(n, size);
}

/* The system hands out large arrays full of zeros: their pages are not touched before they are
 * used. */
void *lt_mem_zarray(int64_t n, size_t size)
{
    const size_t bytes = array_bytes(n, size);
    if (bytes == SIZE_MAX) return too_many(n, size);
    if (injected_failure()) return out_of_memory(bytes);
    if (is_limited()) {
        void *owned = take_owned(bytes);
        return owned != NULL ? memset(owned, 0, bytes) : NULL;
    }
    void *p = take_zeros(bytes);
    return p != NULL ? p : out_of_memory(bytes);
}

void *lt_mem_rearray(void *old, int64_t n, size_t size)
{
    const size_t bytes = array_bytes(n, size);
    return bytes != SIZE_MAX ? lt_mem_realloc(old, bytes) : too_many(n, size);
}

/* ---- structs kept per thread ----------------------------------------------------------------- */

#define GRAIN      64
#define LISTS      24
#define LIST_BYTES ((size_t)16 << 20) /* kept in one list at most */

typedef struct kept_struct {
    struct kept_struct *next;
} kept_struct;

static _Thread_local struct {
    kept_struct *first[LISTS];
    uint32_t n[LISTS];
    bool registered; /* the thread's end will free them */
} kept;

static pthread_key_t kept_key;
static pthread_once_t kept_once = PTHREAD_ONCE_INIT;

static void free_kept(void *unused)
{
    (void)unused;
    for (int i = 0; i < LISTS; i++) {
        while (kept.first[i] != NULL) {
            kept_struct *s = kept.first[i];
            kept.first[i] = s->next;
            give(s);
        }
        kept.n[i] = 0;
    }
    kept.registered = false;
}

static void make_kept_key(void) { pthread_key_create(&kept_key, free_kept); }

/* A checker of memory must see every use of what was given back. */
#if defined(__SANITIZE_ADDRESS__)
#define KEEP_STRUCTS false
#else
#define KEEP_STRUCTS true
#endif

void *lt_mem_take(size_t n)
{
    if (injected_failure()) return out_of_memory(n);
    if (is_limited()) { /* what a tensor is made of: garbage is collected before it is refused */
        const size_t bytes = owned_bytes(n);
        if (!lt_mem_afford(bytes)) return NULL;
        char *memory = take(bytes);
        if (memory != NULL) return own(memory, bytes);
        lt_mem_charge(LT_USE_HOST, -(int64_t)bytes);
        return out_of_memory(n);
    }
    size_t list = (n + GRAIN - 1) / GRAIN;
    kept_struct *s = list < LISTS ? kept.first[list] : NULL;
    if (s != NULL) {
        kept.first[list] = s->next;
        kept.n[list]--;
        return s;
    }
    void *p = take(list * GRAIN);
    return p != NULL ? p : out_of_memory(n);
}

void lt_mem_give(void *p, size_t n)
{
    if (is_owned(p)) {
        give_owned(p);
        return;
    }
    size_t list = (n + GRAIN - 1) / GRAIN;
    if (!KEEP_STRUCTS || list >= LISTS || kept.n[list] >= LIST_BYTES / (list * GRAIN)) {
        give(p);
        return;
    }
    if (!kept.registered) {
        pthread_once(&kept_once, make_kept_key);
        pthread_setspecific(kept_key, &kept);
        kept.registered = true;
    }
    kept_struct *s = p;
    s->next = kept.first[list];
    kept.first[list] = s;
    kept.n[list]++;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Rounds n > SMALL up to the next size of a block; *bin names it. */
static size_t size_class(size_t n, int *bin)
{
    int log = 63 - __builtin_clzll(n - 1); /* 2^log < n <= 2^(log+1) */
    size_t step = ((size_t)1 << log) / CLASSES;
    size_t rounded = (n + step - 1) & ~(step - 1);
    *bin = (log - FIRST_BIN) * CLASSES + (int)((rounded - ((size_t)1 << log)) / step);
    return rounded;
}

/* The size of the blocks in a bin. */
static size_t size_of_bin(int bin)
{
    const size_t base = (size_t)1 << (bin / CLASSES + FIRST_BIN);
    return base + (size_t)(bin % CLASSES) * (base / CLASSES);
}

/* Bytes of a block's pages. */
static size_t mapped(size_t n) { return n < 2 * HUGE_PAGE ? n + PAGE : n; }

static void *new_block(size_t n)
{
    static _Atomic unsigned made;
    if (n <= MIDDLE) return aligned_alloc(64, n);
    char *p = mmap(NULL, mapped(n), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (n < 2 * HUGE_PAGE) return p + made++ % PLACES * APART;
    madvise(p, n, MADV_HUGEPAGE);
    return p;
}

static void end_block(void *p, size_t n)
{
    if (n <= MIDDLE)
        free(p);
    else
        munmap((void *)((uintptr_t)p & ~(uintptr_t)(PAGE - 1)), mapped(n));
}

static void keep(int bin, void *p, size_t n)
{
    free_block *block = p;
    block->next = cache.bins[bin];
    cache.bins[bin] = block;
    cache.kept += n;
}

/* A kept block of a bin, or of one of the next; *n, of which so many were counted, becomes its
 * size, and is counted. */
static void *take_kept(int bin, size_t *n)
{
    const int end = bin + LARGER < BINS ? bin + LARGER : BINS - 1;
    pthread_mutex_lock(&cache.lock);
    while (bin < end && cache.bins[bin] == NULL) bin++;
    free_block *block = cache.bins[bin];
    const size_t size = size_of_bin(bin);
    if (block != NULL && (size == *n || lt_mem_charge(LT_USE_HOST, (int64_t)(size - *n)))) {
        cache.bins[bin] = block->next;
        cache.kept -= size;
        cache.uses++;
        *n = size;
    } else {
        block = NULL;
    }
    pthread_mutex_unlock(&cache.lock);
    return block;
}

/* The lock is held. */
static void release_kept(void)
{
    for (int bin = 0; bin < BINS; bin++) {
        const size_t capacity = size_of_bin(bin);
        while (cache.bins[bin] != NULL) {
            free_block *block = cache.bins[bin];
            cache.bins[bin] = block->next;
            end_block(block, capacity);
        }
    }
    cache.kept = 0;
}

/* Once per IDLE_SECONDS while blocks are kept: frees those that nothing used in between. Returns
 * the seconds until the next time. */
static double trim_when_idle(void)
{
    double again = IDLE_SECONDS;
    pthread_mutex_lock(&cache.lock);
    if (cache.uses == cache.seen) release_kept();
    if (cache.kept < IDLE_BYTES) {
        cache.timed = false;
        again = INFINITY;
    }
    cache.seen = cache.uses;
    pthread_mutex_unlock(&cache.lock);
    return again;
}

/* A new block of a context with a limit takes the place of kept ones, rather than passing the limit
 * together with them. */
static void make_room(void)
{
    const lt_use *use = &lt_here.context->use[LT_USE_HOST];
    const int64_t limit = atomic_load_explicit(&use->limit, memory_order_relaxed);
    if (limit == INT64_MAX) return;
    pthread_mutex_lock(&cache.lock);
    if ((int64_t)cache.kept > limit - atomic_load_explicit(&use->live, memory_order_relaxed))
        release_kept();
    pthread_mutex_unlock(&cache.lock);
}

/* The system gives no memory for what was counted. */
static void *give_up(size_t n, size_t rounded)
{
    lt_mem_charge(LT_USE_HOST, -(int64_t)rounded);
    return out_of_memory(n);
}

void *lt_block_alloc(size_t n, size_t *capacity)
{
    if (injected_failure()) return out_of_memory(n);
    if (n <= SMALL || hosts_own()) {
        if (n > (size_t)1 << 47) return out_of_memory(n);
        size_t rounded = (n + 63) & ~(size_t)63;
        if (rounded == 0) rounded = 64;
        if (!lt_mem_afford(rounded)) return NULL;
        void *p = take_aligned(rounded);
        if (p == NULL && lt_mem_reclaim()) p = take_aligned(rounded);
        if (p == NULL) return give_up(n, rounded);
        *capacity = rounded;
        return p;
    }
    if (n > (size_t)1 << 47) return out_of_memory(n);
    note_asked();
    int bin;
    size_t rounded = size_class(n, &bin);
    if (!lt_mem_afford(rounded)) return NULL;
    void *p = take_kept(bin, &rounded);
    if (p == NULL) {
        make_room();
        p = new_block(rounded);
    }
    if (p == NULL) {
        lt_mem_reclaim();
        p = take_kept(bin, &rounded);
    }
    if (p == NULL) {
        lt_block_trim();
        p = new_block(rounded);
    }
    if (p == NULL) return give_up(n, rounded);
    *capacity = rounded;
    return p;
}

void *lt_block_array(int64_t n, size_t size, size_t *capacity)
{
    const size_t bytes = array_bytes(n, size);
    return bytes != SIZE_MAX ? lt_block_alloc(bytes, capacity) : too_many(n, size);
}

void lt_block_free(void *p, size_t capacity)
{
    if (p == NULL) return;
    lt_mem_charge(LT_USE_HOST, -(int64_t)capacity);
    if (capacity <= SMALL || hosts_own()) {
        give_aligned(p, capacity);
        return;
    }
    int bin;
    size_class(capacity, &bin);
    if (capacity > LT_BLOCK_KEEP) {
        end_block(p, capacity);
        return;
    }
    pthread_mutex_lock(&cache.lock);
    if (cache.kept + capacity > LT_BLOCK_KEEP) release_kept();
    keep(bin, p, capacity);
    cache.uses++;
    const bool begins = !cache.timed && cache.kept >= IDLE_BYTES;
    if (begins) cache.timed = true;
    pthread_mutex_unlock(&cache.lock);
    if (begins) lt_watch_call(trim_when_idle, IDLE_SECONDS);
}

static void before_fork(void) { pthread_mutex_lock(&cache.lock); }
static void after_fork(void) { pthread_mutex_unlock(&cache.lock); }
static void in_child(void)
{
    cache.timed = false; /* the thread of watch.c is the parent's */
    pthread_mutex_unlock(&cache.lock);
}

/* A forked process has one thread: what others do with the bins must be done before. */
__attribute__((constructor(201))) static void keep_fork_apart(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

void lt_block_trim(void)
{
    pthread_mutex_lock(&cache.lock);
    release_kept();
    pthread_mutex_unlock(&cache.lock);
}

int64_t lt_memory_trim(void)
{
    pthread_mutex_lock(&cache.lock);
    const int64_t bytes = (int64_t)cache.kept;
    release_kept();
    pthread_mutex_unlock(&cache.lock);
    free_kept(NULL);
#ifdef __GLIBC__
    if (!hosts_own()) malloc_trim(0);
#endif
    return bytes;
}

size_t lt_block_kept(void)
{
    pthread_mutex_lock(&cache.lock);
    const size_t kept_bytes = cache.kept;
    pthread_mutex_unlock(&cache.lock);
    return kept_bytes;
}
