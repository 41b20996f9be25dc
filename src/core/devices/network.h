/* network.h - a stack of recurrent layers in one call, for backends with a library for it (cuDNN).
 *
 * The input is [steps, batch, input]. Each direction of a layer has a state [batch, hidden]; states
 * are ordered by layer, the backward direction second. A layer's input is the output of the
 * previous layer, both directions concatenated. Weights of each direction: w_ih [gates * hidden,
 * inputs], w_hh [gates * hidden, hidden] and, with biases, b_ih and b_hh [gates * hidden], gates in
 * the order of cell.h. All arrays are dense, of one dtype. */
#ifndef LT_NETWORK_H
#define LT_NETWORK_H

#include "cell.h"

typedef struct lt_network {
    lt_cell cell;
    lt_dtype dtype; /* any floating dtype */
    lt_device device;
    int64_t steps, batch, input, hidden, layers, directions;
    bool bias;
    bool keeps; /* backward will be called */
} lt_network;

/* Bytes of the library's own buffers, which persist between the calls; weights 0: not supported. */
typedef struct lt_network_sizes {
    int64_t weights; /* all weights in the library's layout */
    int64_t kept;    /* values saved for backward; 0 without `keeps` */
} lt_network_sizes;

typedef struct lt_network_arrays {
    const void *x, *h0, *c0;    /* c0, c_last and their gradients: LSTM only */
    void *y, *h_last, *c_last;  /* written by forward; backward reads y */
    const void *const *weights; /* forward */
    /* Written by forward, read by backward, which overwrites `kept`. */
    void *own_weights, *kept;
    lt_network_sizes sizes;                         /* of own_weights and kept */
    const void *grad_y, *grad_h_last, *grad_c_last; /* backward; the last two may be NULL: zeros */
    void *grad_x, *grad_h0, *grad_c0;
    void *const *grad_weights; /* NULL: not computed */
} lt_network_arrays;

static inline int64_t lt_network_parts(const lt_network *n) { return n->bias ? 4 : 2; }
static inline int64_t lt_network_weights(const lt_network *n)
{
    return n->layers * n->directions * lt_network_parts(n);
}

/* Rows and columns of weight `number`. */
static inline void lt_network_shape(const lt_network *n, int64_t number, int64_t *rows,
                                    int64_t *columns)
{
    const int64_t part = number % lt_network_parts(n),
                  layer = number / lt_network_parts(n) / n->directions;
    *rows = lt_cell_gates(n->cell) * n->hidden;
    *columns = part == 0   ? (layer == 0 ? n->input : n->directions * n->hidden)
               : part == 1 ? n->hidden
                           : 1;
}

#endif
