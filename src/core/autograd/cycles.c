/* cycles.c - frees reference cycles through gradients: x.grad = x * 1, or backward with
 * create_graph.
 *
 * Such a tensor owns its gradient, and the gradient's history ends at an accumulator that owns the
 * tensor, so the reference counts never reach zero. Collection is trial deletion (Christopher 1984;
 * Bacon and Rajan 2001). Candidates are the tensors with a gradient that has a history. From these,
 * the collector traverses all owned objects and counts, for each, the references that come from
 * traversed objects. An object with additional references is alive, with everything it owns. A
 * candidate that is not alive loses its gradient, which breaks the cycle. References from objects
 * that cannot be traversed count as additional ones, so no object in use is freed. */
#include "assertion.h"
#include "autograd/internal.h"
#include "error.h"
#include "memory/alloc.h"
#include "system/clock.h"

/* ---- candidates ------------------------------------------------------------------------------ */

/* The candidates of one context, registered and collected by its threads: tensors of other contexts
 * may be in use. Guarded by lt_autograd_lock(). */
typedef struct noted_tensors {
    lt_context_ending ending;
    const lt_context *context;
    lt_tensor **tensors; /* weak: a tensor is removed before it is freed */
    int64_t n, capacity;
    bool fresh;           /* one was added after the last collection */
    double checked, took; /* time of the last collection and its duration, seconds */
    struct noted_tensors *next;
} noted_tensors;

static noted_tensors *all_noted;

static noted_tensors *noted_here(void)
{
    noted_tensors *noted = all_noted;
    while (noted != NULL && noted->context != lt_tls.context) noted = noted->next;
    return noted;
}

/* Tensors that outlive their context are no longer candidates. */
static void end_noted(lt_context_ending *ending)
{
    noted_tensors *noted = (noted_tensors *)ending, **at = &all_noted;
    lt_autograd_lock();
    while (*at != noted) at = &(*at)->next;
    LT_ASSERT(noted->n >= 0 && noted->n <= noted->capacity, "%lld of %lld", (long long)noted->n,
              (long long)noted->capacity);
    *at = noted->next;
    for (int64_t i = 0; i < noted->n; i++) noted->tensors[i]->autograd->may_be_cyclic = false;
    lt_autograd_unlock();
    lt_mem_free(noted->tensors);
    lt_mem_free(noted);
}

/* NULL: out of memory. */
static noted_tensors *make_noted(lt_context *c)
{
    /* Charge the process context: this list ends with c and must not keep it alive. */
    const lt_context_outer outer = lt_context_visit(&lt_process_context);
    noted_tensors *noted = lt_mem_zalloc(sizeof *noted);
    lt_context_return(outer);
    if (noted == NULL) return NULL;
    noted->context = c;
    noted->ending.run = end_noted;
    noted->next = all_noted;
    all_noted = noted;
    lt_context_on_end(c, &noted->ending);
    return noted;
}

static bool has_room(noted_tensors *noted)
{
    if (noted->n < noted->capacity) return true;
    int64_t capacity = noted->capacity > 0 ? 2 * noted->capacity : 16;
    const lt_context_outer outer = lt_context_visit(&lt_process_context);
    lt_tensor **grown = lt_mem_rearray(noted->tensors, capacity, sizeof *grown);
    lt_context_return(outer);
    if (grown == NULL) return false;
    noted->tensors = grown, noted->capacity = capacity;
    return true;
}

void lt_cycles_add_candidate(lt_tensor *t)
{
    if (t->autograd->may_be_cyclic) return;
    lt_autograd_lock();
    noted_tensors *noted = noted_here();
    if (noted == NULL) noted = make_noted(lt_tls.context);
    if (noted != NULL && has_room(noted)) {
        LT_ASSERT(noted->n < noted->capacity, "%lld of %lld", (long long)noted->n,
                  (long long)noted->capacity);
        noted->tensors[noted->n++] = t;
        t->autograd->may_be_cyclic = noted->fresh = true;
    }
    lt_autograd_unlock();
}

static bool take_out(noted_tensors *noted, const lt_tensor *t)
{
    int64_t i = noted->n - 1;
    while (i >= 0 && noted->tensors[i] != t) i--;
    if (i >= 0) noted->tensors[i] = noted->tensors[--noted->n];
    return i >= 0;
}

void lt_cycles_forget(lt_tensor *t)
{
    lt_autograd_lock();
    noted_tensors *noted = all_noted;
    while (noted != NULL && !take_out(noted, t)) noted = noted->next;
    LT_ASSERT(noted != NULL, "the tensor is in no list");
    t->autograd->may_be_cyclic = false;
    lt_autograd_unlock();
}

/* ---- traversal ------------------------------------------------------------------------------- */

typedef struct visited_object {
    void *at; /* a tensor or a node */
    bool is_node, alive;
    int32_t inside; /* references from traversed objects */
} visited_object;

typedef struct cycle_walk {
    visited_object *objects;
    int64_t *table; /* hash table, open addressing: object index + 1, 0: free; 2 * capacity slots */
    int64_t n, capacity;
    bool counting;    /* counting references; else marking live objects */
    int64_t *pending; /* live objects that were not traversed yet */
    int64_t n_pending;
} cycle_walk;

static int64_t hash_slot(const cycle_walk *w, const void *at)
{
    uint64_t mask = 2 * (uint64_t)w->capacity - 1,
             i = ((uintptr_t)at >> 4) * 0x9E3779B97F4A7C15u >> 20 & mask;
    while (w->table[i] != 0 && w->objects[w->table[i] - 1].at != at) i = (i + 1) & mask;
    return (int64_t)i;
}

static lt_status grow_walk(cycle_walk *w)
{
    int64_t capacity = w->capacity > 0 ? 2 * w->capacity : 64;
    visited_object *objects = lt_mem_realloc(w->objects, (size_t)capacity * sizeof *objects);
    if (objects == NULL) return LT_ERR_MEMORY;
    w->objects = objects;
    int64_t *table = lt_mem_zalloc(2 * (size_t)capacity * sizeof *table);
    if (table == NULL) return LT_ERR_MEMORY;
    lt_mem_free(w->table);
    w->table = table;
    w->capacity = capacity;
    for (int64_t i = 0; i < w->n; i++) table[hash_slot(w, objects[i].at)] = i + 1;
    return LT_OK;
}

/* Handles one reference from a traversed object to `at`. */
static lt_status meet(cycle_walk *w, void *at, bool is_node)
{
    if (at == NULL) return LT_OK;
    if (w->n == w->capacity) LT_TRY(grow_walk(w));
    int64_t place = hash_slot(w, at);
    if (w->counting) {
        if (w->table[place] == 0) {
            w->objects[w->n] = (visited_object){.at = at, .is_node = is_node};
            w->table[place] = ++w->n;
        }
        w->objects[w->table[place] - 1].inside++;
        return LT_OK;
    }
    if (w->table[place] == 0) return LT_OK;
    visited_object *o = &w->objects[w->table[place] - 1];
    if (!o->alive) {
        o->alive = true;
        LT_ASSERT(w->n_pending < w->n, "%lld of %lld", (long long)w->n_pending, (long long)w->n);
        w->pending[w->n_pending++] = w->table[place] - 1;
    }
    return LT_OK;
}

static lt_status meet_saved(cycle_walk *w, const lt_saved *s)
{
    LT_TRY(meet(w, s->tensor, false));
    return meet(w, s->fn, true);
}

static lt_status walk_node(cycle_walk *w, lt_node *node)
{
    for (int i = 0; i < node->outputs; i++) LT_TRY(meet(w, node->edges[i].node, true));
    if (lt_is_accumulator(node)) return meet(w, ((lt_accumulator *)node)->leaf, false);
    for (const lt_owned *owned = node->class->owned; owned != NULL && owned->offset != 0; owned++) {
        char *field = (char *)node + owned->offset;
        if (owned->kind == LT_OWNED_NODE) LT_TRY(meet(w, *(lt_node **)field, true));
        if (owned->kind == LT_OWNED_SAVED) LT_TRY(meet_saved(w, (lt_saved *)field));
        const lt_saved_list *list = (lt_saved_list *)field;
        for (int64_t i = 0; owned->kind == LT_OWNED_SAVED_LIST && i < list->n; i++)
            LT_TRY(meet_saved(w, &list->v[i]));
    }
    return LT_OK;
}

static lt_status walk_object(cycle_walk *w, const visited_object *o)
{
    if (o->is_node) return walk_node(w, o->at);
    const lt_tensor *t = o->at;
    LT_TRY(meet(w, t->view_base, false));
    if (t->autograd == NULL) return LT_OK;
    LT_TRY(meet(w, t->autograd->grad, false));
    return meet(w, t->autograd->grad_fn, true);
}

static int32_t references(const visited_object *o)
{
    return o->is_node ? atomic_load_explicit(&((lt_node *)o->at)->refs, memory_order_relaxed)
                      : atomic_load_explicit(&((lt_tensor *)o->at)->refs, memory_order_relaxed);
}

static lt_status find_cycles(cycle_walk *w, const noted_tensors *noted)
{
    w->counting = true;
    for (int64_t i = 0; i < noted->n; i++) {
        LT_TRY(meet(w, noted->tensors[i], false));
        /* the list owns no references */
        w->objects[w->table[hash_slot(w, noted->tensors[i])] - 1].inside--;
    }
    for (int64_t i = 0; i < w->n; i++) {
        const visited_object o = w->objects[i]; /* a copy: traversal may move the array */
        LT_TRY(walk_object(w, &o));
    }
    w->counting = false;
    w->pending = lt_mem_alloc((size_t)(w->n > 0 ? w->n : 1) * sizeof *w->pending);
    if (w->pending == NULL) return LT_ERR_MEMORY;
    for (int64_t i = 0; i < w->n; i++)
        if (references(&w->objects[i]) > w->objects[i].inside && !w->objects[i].alive) {
            w->objects[i].alive = true;
            w->pending[w->n_pending++] = i;
        }
    while (w->n_pending > 0) LT_TRY(walk_object(w, &w->objects[w->pending[--w->n_pending]]));
    return LT_OK;
}

/* ---- collecting ------------------------------------------------------------------------------ */

/* Gradients removed from dead candidates. They are released after unlocking: releasing one may free
 * candidates, which takes the lock. */
typedef struct gradients {
    lt_tensor **v; /* NULL: none */
    int64_t n;
} gradients;

static gradients open_circles(const cycle_walk *w, const noted_tensors *noted)
{
    gradients found = {lt_mem_alloc((size_t)(noted->n > 0 ? noted->n : 1) * sizeof *found.v), 0};
    for (int64_t i = 0; i < noted->n && found.v != NULL; i++) {
        lt_autograd *autograd = noted->tensors[i]->autograd;
        if (w->objects[w->table[hash_slot(w, noted->tensors[i])] - 1].alive ||
            autograd->grad == NULL)
            continue;
        found.v[found.n++] = autograd->grad;
        autograd->grad = NULL;
    }
    return found;
}

static void collect_cycles(bool only_if_due)
{
    cycle_walk w = {0};
    gradients found = {NULL, 0};
    lt_autograd_lock();
    noted_tensors *noted = noted_here();
    const double begin = noted != NULL ? lt_clock() : 0;
    if (noted != NULL && noted->n > 0 &&
        (!only_if_due || noted->fresh || begin - noted->checked > 50 * noted->took)) {
        noted->fresh = false;
        if (find_cycles(&w, noted) == LT_OK) found = open_circles(&w, noted);
        noted->checked = lt_clock();
        noted->took = noted->checked - begin;
    }
    lt_autograd_unlock();
    for (int64_t i = 0; i < found.n; i++) lt_tensor_release(found.v[i]);
    lt_mem_free(found.v);
    lt_mem_free(w.objects);
    lt_mem_free(w.table);
    lt_mem_free(w.pending);
}

void lt_cycles_collect(void) { collect_cycles(false); }
void lt_cycles_collect_if_due(void) { collect_cycles(true); }
