/* graph.h - what a backward run knows of the nodes it passes: a record per node, found by the
 * node's address, the gradients that arrived, and the queue of nodes that are ready.
 *
 * Included by graph.c, engine.c and leaves.c only. All of it belongs to one call of
 * lt_run_backward, so that hooks may start runs of their own. The records of small graphs lie in
 * the struct itself. Records do not move once all roots are discovered. */
#ifndef LT_AUTOGRAD_GRAPH_H
#define LT_AUTOGRAD_GRAPH_H

#include "autograd/internal.h"

enum { LT_GRAPH_SMALL = 32 };

typedef struct lt_visit {
    lt_node *node;
    lt_tensor *grad;   /* what arrived at the only input; */
    lt_tensor **grads; /* of nodes with several inputs: at each, NULL until something did */
    int32_t waits;     /* edges to this node from nodes that have not run */
    int32_t parent;    /* discovery: where it came from, -1 at a root; */
    int32_t cursor;    /* the next edge to look at */
    int32_t capture;   /* first capture of an input of the node; -1 when none */
    bool held;         /* the record owns a reference to the node */
    bool discovered;
    bool needed; /* the node has to run: a path leads on to what is asked for */
} lt_visit;

typedef struct lt_graph {
    lt_visit *visits;
    int32_t *table; /* open addressing: record + 1, 0 for a free place; 2 * capacity places */
    int32_t *ready; /* heap of records */
    int32_t n, capacity, n_ready;
    bool only_captures;     /* only paths that lead to a capture are of interest */
    int64_t number;         /* of the run; no other has it */
    struct lt_graph *outer; /* that of the run in which this one was started; NULL: there is none */
    lt_visit few_visits[LT_GRAPH_SMALL];
    int32_t few_table[2 * LT_GRAPH_SMALL];
    int32_t few_ready[LT_GRAPH_SMALL];
} lt_graph;

/* Opened, a graph is lt_tls.backward until it is closed. */
void lt_graph_open(lt_graph *g, bool only_captures);
void lt_graph_close(lt_graph *g);

/* The record of a node that has one. */
int32_t lt_graph_find(const lt_graph *g, const lt_node *node);
/* The same, made when missing. */
lt_status lt_graph_visit(lt_graph *g, lt_node *node, int32_t *out);
/* Takes over a reference to the record's node. */
void lt_graph_hold_steal(lt_graph *g, int32_t at);

/* Visits all nodes that are reached from one, counts what they wait for and marks those that are
 * needed. */
lt_status lt_graph_discover(lt_graph *g, int32_t root);

/* Whether gradients at the node's inputs are of interest. */
static inline bool lt_graph_wants(const lt_graph *g, int32_t at)
{
    return !g->only_captures || g->visits[at].needed || g->visits[at].capture >= 0;
}

/* Node's inputs of them. */
static inline lt_tensor **lt_visit_grads(lt_visit *v)
{
    return v->node->inputs == 1 ? &v->grad : v->grads;
}

/* The queue: accumulators first, which frees their gradients; then nodes in reverse order of
 * creation. */
void lt_graph_push(lt_graph *g, int32_t at);
int32_t lt_graph_pop(lt_graph *g); /* -1 when it is empty */

#endif
