/* ltensor_model.h - models of files for a host in C: ONNX models, programs of PyTorch's torch.export
 * (.pt2), and safetensors files with a graph (lt_model_save).
 *
 *   lt_model *model = NULL;
 *   lt_tensor *output = NULL;
 *   if (lt_model_load("digits.onnx", &model) != LT_OK ||
 *       lt_model_run(model, &image, 1, &output, 1) != LT_OK)
 *       fprintf(stderr, "%s\n", lt_error_message());
 *   lt_tensor_release(output);
 *   lt_model_release(model);
 *
 * The first run for the shapes, dtypes and devices of the inputs executes the program with an
 * interpreter of the library and records its operations as a plan. Later runs execute the plan
 * without the interpreter and without a lock. With grad mode off they reuse the memory of the runs
 * before: pass the outputs too, and they allocate nothing. An integer or a boolean that the program
 * reads from a tensor, such as the condition of a branch, selects the plan. A model whose operations
 * depend on other elements of its inputs (a loop until convergence, random numbers) always runs in
 * the interpreter: lt_model_interpreted.
 *
 * Threads: several threads may run one model at once. Runs that record or are interpreted wait for
 * each other. Only one thread at a time may load a state, set the mode, save or change parameters,
 * and no thread may run the model at that time.
 *
 * Runs use the context of the calling thread: its limits, number of threads, random numbers and
 * grad mode. Link libltensor_lua. Errors are reported as in ltensor.h. */
#ifndef LTENSOR_MODEL_H
#define LTENSOR_MODEL_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lt_model lt_model;

/* New: the model of a file, in evaluation mode. The content selects the format. Elements in other
 * files are read from the model's folder. LT_ERR_IO, LT_ERR_PERMISSION: the file cannot be read;
 * LT_ERR_RUNTIME: it is damaged, or has an operator that the library does not have (the message
 * names the node). */
LT_API lt_status lt_model_load(const char *path, lt_model **out);
/* The same from the bytes of a file, which are copied. Elements in other files are an error. */
LT_API lt_status lt_model_load_memory(const void *bytes, size_t size, lt_model **out);
/* Do not call it while a thread runs the model. Retained tensors remain valid. */
LT_API void lt_model_release(lt_model *model);

/* An input or output, as the file declares it. Borrowed from the model. */
typedef struct lt_model_value {
    size_t size; /* sizeof this struct in the library */
    const char *name;
    lt_dtype dtype;      /* LT_DTYPE_NONE: not declared */
    int ndim;            /* -1: not declared */
    const int64_t *dims; /* ndim sizes; -1: any size */
} lt_model_value;
LT_API int lt_model_input_count(const lt_model *model);
LT_API int lt_model_output_count(const lt_model *model);
/* i from 0; NULL if out of range. */
LT_API const lt_model_value *lt_model_input(const lt_model *model, int i);
LT_API const lt_model_value *lt_model_output(const lt_model *model, int i);

/* Runs the model. inputs and outputs are in the order of the file; n_inputs and n_outputs are their
 * numbers. An input that the file marks as optional may be NULL.
 * - An outputs entry that is NULL receives a new tensor, which shares no memory with inputs and
 *   parameters. Another entry is a tensor with the shape,
 *   dtype and device of the output, which receives the elements; it must not require grad while
 *   grad mode is on.
 * - With grad mode on (the default of a thread; lt_set_grad_enabled), outputs require grad if an
 *   input or a parameter does: lt_backward adds to the gradients of the parameters. Switch it off
 *   for inference.
 * - LT_ERR_RUNTIME: an input has a dtype or shape that the model does not accept. */
LT_API lt_status lt_model_run(lt_model *model, lt_tensor *const *inputs, int n_inputs,
                              lt_tensor **outputs, int n_outputs);

/* The reason why the last recorded run has no plan, such as "'bernoulli' draws random numbers";
 * NULL: it has one, or the model did not run yet. Borrowed until the next run. */
LT_API const char *lt_model_interpreted(const lt_model *model);

/* Parameters and buffers by their names in the file: first parameters, which require grad, then
 * buffers. Borrowed from the model; NULL if out of range. In-place operations on them take effect
 * in the next run. */
LT_API int lt_model_tensor_count(const lt_model *model);
LT_API int lt_model_parameter_count(const lt_model *model);
LT_API const char *lt_model_tensor_name(const lt_model *model, int i);
LT_API lt_tensor *lt_model_tensor(const lt_model *model, int i);
LT_API lt_tensor *lt_model_find(const lt_model *model, const char *name);

/* Training mode (dropout, statistics of batch norms) or evaluation mode. */
LT_API lt_status lt_model_set_training(lt_model *model, bool on);

/* Writes the model with its parameters and buffers to a file that lt_model_load reads; the suffix
 * selects the format:
 * - .onnx: the file of a model that was loaded from an ONNX file, otherwise the operations that
 *   torch.onnx.export writes; the message names the ones that it cannot write.
 * - .pt2: the program of a model that was loaded from a .pt2 file, otherwise the operations that
 *   torch.export.export writes, for PyTorch 2.13.
 * - .safetensors: the tensors by their names, and the graph.
 * An ONNX file from which the model was loaded must still exist, unless it was in memory. */
LT_API lt_status lt_model_save(lt_model *model, const char *path);

/* Writes the parameters and buffers alone; the suffix selects the format, as for torch.save: .pt and
 * .pth for PyTorch's, otherwise safetensors. lt_model_load_state reads such a file into the model, and
 * a .safetensors file of lt_model_save. */
LT_API lt_status lt_model_save_state(lt_model *model, const char *path);
LT_API lt_status lt_model_load_state(lt_model *model, const char *path);

#ifdef __cplusplus
}
#endif

#endif
