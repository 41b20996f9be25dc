/* freelist.c - see freelist.h. One list per multiple of GRAIN, to which sizes are rounded up. A
 * thread's lists are freed when it ends. */
#include "freelist.h"

#include <stdbool.h>
#include <stdint.h>

#include "assertion.h"
#include "charged.h"
#include "system.h"
#include "system/threads.h"

#define GRAIN      64 /* bytes: a cache line */
#define LISTS      24 /* sizes below 1.5 KiB: a tensor with its storage and up to 1 KiB of data */
#define LIST_BYTES ((size_t)16 << 20) /* per list: the structs that a collection frees at once */

typedef struct free_struct {
    struct free_struct *next;
} free_struct;

typedef struct free_lists {
    free_struct *first[LISTS];
    uint32_t n[LISTS];
    bool registered; /* the lists are freed at the end of the thread */
} free_lists;
static _Thread_local free_lists lists;

static pthread_key_t lists_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void release_free_lists(void *unused)
{
    (void)unused;
    for (int i = 0; i < LISTS; i++) {
        while (lists.first[i] != NULL) {
            free_struct *s = lists.first[i];
            lists.first[i] = s->next;
            lt_system_free(s);
        }
        lists.n[i] = 0;
    }
    lists.registered = false;
}

static void make_key(void) { pthread_key_create(&lists_key, release_free_lists); }

/* MinGW-w64 creates the key of a thread's variables at the first access to one, and the destructors
 * of keys run in the order of their creation: this one must run before the variables are freed.
 * fixed: 101 is the first priority of programs. */
__attribute__((constructor(101))) static void make_key_first(void)
{
    pthread_once(&key_once, make_key);
}

void lt_freelist_trim(void) { release_free_lists(NULL); }

/* AddressSanitizer must detect every use of a freed struct. */
#if defined(__SANITIZE_ADDRESS__)
#define USE_LISTS false
#else
#define USE_LISTS true
#endif

void *lt_freelist_alloc(size_t n)
{
    if (lt_mem_is_fault()) return lt_out_of_memory(n);
    if (lt_charges_allocations()) return lt_charged_alloc_reserve(n);
    const size_t list = (n + GRAIN - 1) / GRAIN;
    free_struct *s = list < LISTS ? lists.first[list] : NULL;
    if (s != NULL) {
        LT_ASSERT(lists.n[list] > 0, "list %zu", list);
        lists.first[list] = s->next;
        lists.n[list]--;
        return s;
    }
    void *p = lt_system_alloc(list * GRAIN);
    return p != NULL ? p : lt_out_of_memory(n);
}

void lt_freelist_free(void *p, size_t n)
{
    if (lt_is_charged(p)) {
        lt_charged_free(p);
        return;
    }
    const size_t list = (n + GRAIN - 1) / GRAIN;
    free_lists *own = &lists;
    __asm__("" : "+r"(own)); /* as in lt_this_thread */
    if (!USE_LISTS || list >= LISTS || own->n[list] * (list * GRAIN) >= LIST_BYTES) {
        lt_system_free(p);
        return;
    }
    if (!own->registered) {
        pthread_once(&key_once, make_key);
        pthread_setspecific(lists_key, own);
        own->registered = true;
    }
    free_struct *s = p;
    LT_ASSERT(s != own->first[list], "the struct was freed before");
    s->next = own->first[list];
    own->first[list] = s;
    own->n[list]++;
}
