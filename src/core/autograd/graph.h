/* graph.h - the state of one backward run: a record for each node it reaches (in a hash table keyed
 * by the node's address), the gradients accumulated at its inputs, and the priority queue of ready
 * nodes.
 *
 * Included by graph.c, engine.c and leaves.c only. The state belongs to one call of
 * lt_run_backward, so hooks may start nested runs. Records of small graphs are stored in the
 * struct. Records do not move after all roots are discovered. */
#ifndef LT_AUTOGRAD_GRAPH_H
#define LT_AUTOGRAD_GRAPH_H

#include "autograd/internal.h"

enum { LT_GRAPH_SMALL = 32 };

typedef struct lt_visit {
    lt_node *node;
    lt_tensor *grad;   /* gradient at the only input */
    lt_tensor **grads; /* nodes with several inputs: gradient at each, NULL: none yet */
    int32_t waits;     /* number of edges to this node from nodes that have not run */
    int32_t parent;    /* discovery: the predecessor, -1: a root */
    int32_t cursor;    /* discovery: the next edge */
    int32_t capture;   /* first capture of an input of the node; -1: none */
    bool held;         /* the record owns a reference to the node */
    bool discovered;
    bool needed; /* a path from this node leads to a capture */
} lt_visit;

typedef struct lt_graph {
    lt_visit *visits;
    int32_t *table; /* open addressing: record index + 1, 0: free; 2 * capacity slots */
    int32_t *ready; /* binary heap of record indices */
    int32_t n, capacity, n_ready;
    bool only_captures;     /* run only nodes on paths to captures */
    int64_t number;         /* of the run, unique in the process */
    struct lt_graph *outer; /* of the enclosing run on this thread; NULL: none */
    lt_visit few_visits[LT_GRAPH_SMALL];
    int32_t few_table[2 * LT_GRAPH_SMALL];
    int32_t few_ready[LT_GRAPH_SMALL];
} lt_graph;

/* lt_graph_open makes the graph lt_tls.backward until it is closed. */
void lt_graph_open(lt_graph *g, bool only_captures);
void lt_graph_close(lt_graph *g);

/* Index of the node's record; -1: it has none. */
int32_t lt_graph_find(const lt_graph *g, const lt_node *node);
/* Index of the node's record, created if missing. */
lt_status lt_graph_visit(lt_graph *g, lt_node *node, int32_t *out);
/* Gives a reference to the node to its record, which releases it when the graph is closed. */
void lt_graph_hold_steal(lt_graph *g, int32_t at);

/* Visits all nodes reachable from root, counts the edges to each (waits), and marks needed ones. */
lt_status lt_graph_discover(lt_graph *g, int32_t root);

/* Whether the run needs the gradients at the node's inputs. */
static inline bool lt_graph_wants(const lt_graph *g, int32_t at)
{
    return !g->only_captures || g->visits[at].needed || g->visits[at].capture >= 0;
}

/* Array of node->inputs gradients. */
static inline lt_tensor **lt_visit_grads(lt_visit *v)
{
    return v->node->inputs == 1 ? &v->grad : v->grads;
}

/* The queue returns accumulators first, which releases their gradients early; then nodes in reverse
 * order of creation. */
void lt_graph_push(lt_graph *g, int32_t at);
int32_t lt_graph_pop(lt_graph *g); /* -1 when it is empty */

#endif
