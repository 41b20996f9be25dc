/* network.h - layers of recurrent cells one on another, as core gives them to a backend whose
 * device has a library that does all of them at once.
 *
 * The input is [steps, batch, input]; each direction of a layer has a state [batch, hidden], the
 * layers' one after the other (of a layer the one that goes backwards comes second), and a layer's
 * input is the output of the one below, both directions side by side. Weights of each direction are
 * w_ih [gates * hidden, inputs], w_hh [gates * hidden, hidden] and, with biases, b_ih and b_hh
 * [gates * hidden], gates in the order of cell.h. All arrays are dense, of one dtype. */
#ifndef LT_NETWORK_H
#define LT_NETWORK_H

#include "cell.h"

typedef struct lt_network {
    lt_cell cell;
    lt_dtype dtype; /* any floating one */
    lt_device device;
    int64_t steps, batch, input, hidden, layers, directions;
    bool bias;
    bool keeps; /* the derivative is wanted later */
} lt_network;

/* Bytes of what is the library's own, from one call to the next; weights 0: it does not do this. */
typedef struct lt_network_sizes {
    int64_t weights; /* of all weights as it has them */
    int64_t kept;    /* of what the derivative needs of the forward pass; 0 without `keeps` */
} lt_network_sizes;

typedef struct lt_network_arrays {
    const void *x, *h0, *c0;    /* c0: LSTM only, as c_last and its gradients */
    void *y, *h_last, *c_last;  /* written by forward; backward reads y */
    const void *const *weights; /* forward */
    /* written by forward, read by backward, which spoils what is kept */
    void *own_weights, *kept;
    lt_network_sizes sizes;                         /* of those two */
    const void *grad_y, *grad_h_last, *grad_c_last; /* backward; the last two may be NULL: zeros */
    void *grad_x, *grad_h0, *grad_c0;
    void *const *grad_weights; /* NULL: not wanted */
} lt_network_arrays;

static inline int64_t lt_network_parts(const lt_network *n) { return n->bias ? 4 : 2; }
static inline int64_t lt_network_weights(const lt_network *n)
{
    return n->layers * n->directions * lt_network_parts(n);
}

/* Rows and columns of the weight of this number. */
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
