/* cell.h - one step of a recurrent layer: the elementwise part of the cells, for backends.
 *
 * The gates of a row are `gates` groups of `hidden` numbers: x from the input, g from the previous
 * state (both after multiplication by the weights; the bias is added to g here). An RNN has 1
 * group, a GRU 3 (reset, update, new), an LSTM 4 (input, forget, cell, output), in PyTorch's order.
 * The forward pass saves values for backward in `kept`, groups of the same size: none for an RNN;
 * r, z, n and the g of n for a GRU; the four gates for an LSTM. Formulas: formulas/cell.inc. */
#ifndef LT_CELL_H
#define LT_CELL_H

#include "ltensor.h"

typedef enum lt_cell { LT_CELL_TANH, LT_CELL_RELU, LT_CELL_GRU, LT_CELL_LSTM, LT_CELLS } lt_cell;

/* All arrays are dense, of `rows` rows and one dtype (float or double). */
typedef struct lt_cell_step {
    lt_cell cell;
    lt_dtype dtype;
    lt_device device;
    int64_t rows, hidden;
    const void *x, *g;           /* forward: [rows, gates, hidden] */
    const void *bias;            /* forward: [gates, hidden] */
    const void *h_prev, *c_prev; /* [rows, hidden]; c: LSTM only */
    void *h, *c;                 /* [rows, hidden]: written by forward, read by backward */
    void *kept;                  /* [rows, kept, hidden]: written by forward, read by backward */
    const void *grad_h, *grad_c; /* backward: [rows, hidden] */
    /* backward: [rows, gates, hidden]; grad_g is written for a GRU only, else it is grad_x */
    void *grad_x, *grad_g;
    /* backward: [rows, hidden], added to: h for a GRU, c for an LSTM */
    void *grad_h_prev, *grad_c_prev;
} lt_cell_step;

static inline int lt_cell_gates(lt_cell cell)
{
    return cell == LT_CELL_LSTM ? 4 : cell == LT_CELL_GRU ? 3 : 1;
}
static inline int lt_cell_kept(lt_cell cell) { return cell >= LT_CELL_GRU ? 4 : 0; }

#endif
