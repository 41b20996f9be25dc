/* graph.c - see graph.h: the hash table of records, depth-first discovery without recursion, the
 * priority queue. */
#include "graph.h"

#include <string.h>

#include "assertion.h"
#include "error.h"
#include "memory/alloc.h"

/* ---- records --------------------------------------------------------------------------------- */

static _Atomic int64_t last_number;

void lt_graph_open(lt_graph *g, bool only_captures)
{
    g->visits = g->few_visits;
    g->table = g->few_table;
    g->ready = g->few_ready;
    g->n = g->n_ready = 0;
    g->capacity = LT_GRAPH_SMALL;
    g->only_captures = only_captures;
    g->number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    g->outer = lt_tls.backward;
    lt_tls.backward = g;
    memset(g->few_table, 0, sizeof g->few_table);
}

static void free_arrays(lt_graph *g)
{
    if (g->visits == g->few_visits) return;
    lt_mem_free(g->visits);
    lt_mem_free(g->table);
    lt_mem_free(g->ready);
}

void lt_graph_close(lt_graph *g)
{
    LT_ASSERT(lt_tls.backward == g, "run %lld ends inside of another", (long long)g->number);
    lt_tls.backward = g->outer;
    for (int32_t i = 0; i < g->n; i++) {
        lt_visit *v = &g->visits[i];
        lt_tensor_release(v->grad);
        for (int slot = 0; v->grads != NULL && slot < v->node->inputs; slot++)
            lt_tensor_release(v->grads[slot]);
        lt_mem_free(v->grads);
    }
    for (int32_t i = 0; i < g->n; i++)
        if (g->visits[i].held) lt_node_release(g->visits[i].node);
    free_arrays(g);
}

/* The node's slot in the hash table, or the free slot where it belongs. Node addresses are
 * multiples of 16. */
static uint32_t node_slot(const lt_graph *g, const lt_node *node)
{
    uint32_t mask = 2 * (uint32_t)g->capacity - 1;
    uint32_t place =
        (uint32_t)(((uint64_t)(uintptr_t)node >> 4) * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (g->table[place] != 0 && g->visits[g->table[place] - 1].node != node)
        place = (place + 1) & mask;
    return place;
}

int32_t lt_graph_find(const lt_graph *g, const lt_node *node)
{
    return g->table[node_slot(g, node)] - 1;
}

static lt_status grow_graph(lt_graph *g)
{
    if (g->capacity > INT32_MAX / 4) return lt_error(LT_ERR_MEMORY, "the graph has too many nodes");
    size_t capacity = 2 * (size_t)g->capacity;
    lt_visit *visits = lt_mem_array((int64_t)capacity, sizeof *visits);
    int32_t *table = lt_mem_zarray(2 * (int64_t)capacity, sizeof *table);
    int32_t *ready = lt_mem_array((int64_t)capacity, sizeof *ready);
    if (visits == NULL || table == NULL || ready == NULL) {
        lt_mem_free(visits);
        lt_mem_free(table);
        lt_mem_free(ready);
        return LT_ERR_MEMORY;
    }
    memcpy(visits, g->visits, (size_t)g->n * sizeof *visits);
    free_arrays(g);
    g->visits = visits;
    g->table = table;
    g->ready = ready;
    g->capacity = (int32_t)capacity;
    for (int32_t i = 0; i < g->n; i++) table[node_slot(g, visits[i].node)] = i + 1;
    return LT_OK;
}

lt_status lt_graph_visit(lt_graph *g, lt_node *node, int32_t *out)
{
    uint32_t place = node_slot(g, node);
    LT_ASSERT(node->refs > 0, "%s: refs %d", node->class->name, node->refs);
    if (g->table[place] == 0) {
        if (g->n == g->capacity) {
            LT_TRY(grow_graph(g));
            place = node_slot(g, node);
        }
        g->visits[g->n] = (lt_visit){.node = node, .parent = -1, .capture = -1};
        g->table[place] = ++g->n;
    }
    LT_ASSERT(g->n <= g->capacity, "records %d of %d", g->n, g->capacity);
    *out = g->table[place] - 1;
    return LT_OK;
}

void lt_graph_hold_steal(lt_graph *g, int32_t at)
{
    LT_ASSERT(at >= 0 && at < g->n, "record %d of %d", at, g->n);
    lt_visit *v = &g->visits[at];
    if (v->held) lt_node_release(v->node);
    v->held = true;
}

/* ---- discovery ------------------------------------------------------------------------------- */

/* Depth-first search with the records' parents and cursors as the stack. A node is left after all
 * its successors, so `needed` of the successors is final. */
lt_status lt_graph_discover(lt_graph *g, int32_t root)
{
    int32_t at = root;
    LT_ASSERT(root >= 0 && root < g->n, "record %d of %d", root, g->n);
    if (g->visits[root].discovered) return LT_OK;
    g->visits[root].discovered = true;
    while (at >= 0) {
        lt_visit *v = &g->visits[at];
        if (v->cursor == v->node->outputs) {
            if (v->parent >= 0 && lt_graph_wants(g, at)) g->visits[v->parent].needed = true;
            at = v->parent;
            continue;
        }
        LT_ASSERT(v->cursor < v->node->outputs, "%s: edge %d of %d", v->node->class->name,
                  v->cursor, v->node->outputs);
        lt_node *next = v->node->edges[v->cursor++].node;
        int32_t child;
        if (next == NULL) continue;
        LT_TRY(lt_graph_visit(g, next, &child));
        g->visits[child].waits++;
        if (!g->visits[child].discovered) {
            g->visits[child].discovered = true;
            g->visits[child].parent = at;
            at = child;
        } else if (lt_graph_wants(g, child)) {
            g->visits[at].needed = true;
        }
    }
    return LT_OK;
}

/* ---- the queue ------------------------------------------------------------------------------- */

static uint64_t priority(const lt_graph *g, int32_t at)
{
    const lt_node *node = g->visits[at].node;
    return lt_is_accumulator(node) ? UINT64_MAX : node->sequence;
}

void lt_graph_push(lt_graph *g, int32_t at)
{
    LT_ASSERT(at >= 0 && at < g->n, "record %d of %d", at, g->n);
    LT_ASSERT(g->n_ready < g->n, "%d nodes are ready, of %d", g->n_ready, g->n);
    LT_ASSERT(g->visits[at].waits == 0, "waits for %d edges", g->visits[at].waits);
    int32_t i = g->n_ready++;
    uint64_t own = priority(g, at);
    while (i > 0 && priority(g, g->ready[(i - 1) / 2]) < own) {
        g->ready[i] = g->ready[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    g->ready[i] = at;
}

int32_t lt_graph_pop(lt_graph *g)
{
    if (g->n_ready == 0) return -1;
    int32_t first = g->ready[0], last = g->ready[--g->n_ready], i = 0;
    uint64_t own = priority(g, last);
    for (;;) {
        int32_t child = 2 * i + 1;
        if (child >= g->n_ready) break;
        if (child + 1 < g->n_ready &&
            priority(g, g->ready[child + 1]) > priority(g, g->ready[child]))
            child++;
        if (priority(g, g->ready[child]) <= own) break;
        g->ready[i] = g->ready[child];
        i = child;
    }
    LT_ASSERT(priority(g, first) >= own, "%s", g->visits[first].node->class->name);
    g->ready[i] = last;
    return first;
}
