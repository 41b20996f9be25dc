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

/* Whether kernels, which have neither a rule for vmap nor a tangent, must not be used. Entries may
 * be NULL. */
bool lt_is_transformed(lt_tensor *const *tensors, int64_t n);

/* An input of a second run, in backward. With create_graph it is a view, so that an input that was
 * passed twice has two gradients; otherwise a leaf. NULL stays NULL. */
lt_status lt_rerun_input(lt_tensor *original, bool needed, lt_tensor **out);

/* The gradients of a second run: those of `outputs` (n_outputs of them, NULL: none) by the inputs
 * that are needed, new references in results. grads: of each output; NULL: none arrived. */
lt_status lt_rerun_gradients(lt_tensor *const *outputs, lt_tensor *const *grads, int n_outputs,
                             lt_tensor *const *inputs, const bool *needs, int64_t n_inputs,
                             lt_tensor **results);

/* The operands of _recurrent_network. */
typedef struct lt_network_args {
    lt_tensor *input, *hx, *cx; /* cx: NULL unless the cell is an LSTM's */
    const lt_tensor_list *weights;
    const char *cell;
    int64_t layers;
    bool bidirectional;
} lt_network_args;

/* All layers by a library, without a node: output, hn and, of an LSTM, cn, then with keep two
 * tensors of bytes for the derivative. An empty list if there is no library (network.c). */
lt_status lt_recurrent_network_forward(const lt_network_args *a, bool keep, lt_tensor_list *out);

/* The same layer by layer, by differentiable operations: output, hn and, of an LSTM, cn, new
 * references. */
lt_status lt_recurrent_network_layers(const lt_network_args *a, lt_tensor **results);

#endif
