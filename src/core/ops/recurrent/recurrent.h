/* recurrent.h - shared by the files of recurrent layers: a direction of a layer by one kernel per
 * step (recurrent.c), by differentiable operations (by_steps.c), and with a derivative
 * (direction.c). */
#ifndef LT_OPS_RECURRENT_H
#define LT_OPS_RECURRENT_H

#include "devices/cell.h"
#include "tensor.h"

/* The cell with this name: tanh, relu, gru, lstm. */
lt_status lt_cell_named(const char *name, lt_cell *cell);

/* The weights of one direction of a layer; the optional ones are NULL. */
typedef struct lt_cell_weights {
    lt_tensor *w_ih, *w_hh, *b_ih, *b_hh, *w_hr;
} lt_cell_weights;

/* The operands of _recurrent: one direction of a layer. */
typedef struct lt_recurrent_args {
    lt_tensor *gates, *hx, *cx, *weight_hh, *bias_hh; /* cx: NULL unless the cell is an LSTM's */
    const char *cell;
    bool reverse;
    lt_tensor *batch_sizes; /* NULL: the same number of rows in each step */
} lt_recurrent_args;

/* The results of _recurrent, new references. kept and cells are the values for
 * _recurrent_backward. */
typedef struct lt_recurrent_results {
    lt_tensor *output, *hn, *cn, *kept, *cells;
} lt_recurrent_results;

/* By kernels; records nothing for autograd. On failure all results are NULL. */
lt_status lt_recurrent_forward(const lt_recurrent_args *a, lt_recurrent_results *results);

/* The rows of a sequence, step after step. */
typedef struct lt_sequence {
    lt_cell cell;
    bool reverse;
    int64_t steps, batch;
    const int64_t *sizes; /* rows of each step, which never grow; NULL: batch */
} lt_sequence;

/* The sequence of the operands, after checking their sizes: *sizes is a new array for
 * lt_mem_free. */
lt_status lt_recurrent_sequence(const lt_recurrent_args *a, lt_sequence *sequence, int64_t **sizes);

/* The next state by differentiable operations: x are the gates of the input. Replaces the references
 * *h and, of an LSTM, *c. */
lt_status lt_step_cell(lt_cell cell, lt_tensor *x, const lt_cell_weights *w, lt_tensor **h,
                       lt_tensor **c);

/* All steps by differentiable operations. gates: of the input, a row per step and sequence.
 * *outputs: the states of all steps. Replaces *h and *c by the last state of each sequence. */
lt_status lt_run_steps(const lt_sequence *l, lt_tensor *gates, const lt_cell_weights *w,
                       lt_tensor **h, lt_tensor **c, lt_tensor **outputs);

#endif
