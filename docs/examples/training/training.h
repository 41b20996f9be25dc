/* training.h - helpers of lenet.c, resnet18.c, tagger.c and transformer.c: calls that end the program
 * after a failure, temporaries, parameters with PyTorch's initial values, and steps of optimizers.
 * C99; include it in one file of a program. */
#ifndef TRAINING_H
#define TRAINING_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ltensor.h"

#define MAX_TENSORS 512

/* ---- the command line: [file [cuda]] --------------------------------------------------------- */

static const char *path; /* of the file for the parameters; NULL: none */
static lt_device device; /* the CPU, unless "cuda" was passed */

static inline void read_options(int argc, char **argv)
{
    if (argc > 1) path = argv[1];
    if (argc > 2 && strcmp(argv[2], "cuda") == 0) device.type = LT_CUDA;
    lt_manual_seed(1);
}

/* ---- calls and their results ----------------------------------------------------------------- */

static inline void check(lt_status status, const char *call)
{
    if (status == LT_OK) return;
    fprintf(stderr, "%s: %s\n", call, lt_error_message());
    exit(1);
}
#define CHECK(call) check(call, #call)

/* The result of a call that stores it in `out`, which is released with the other results of the
 * step: x = NEW(lt_relu(x, &out)). */
#define NEW(call) (CHECK(call), keep())

static lt_tensor *out, *results[MAX_TENSORS];
static int n_results;

static inline lt_tensor *keep(void)
{
    if (n_results == MAX_TENSORS) {
        fprintf(stderr, "more than %d results in a step\n", MAX_TENSORS);
        exit(1);
    }
    return results[n_results++] = out;
}

static inline void release_results(void)
{
    while (n_results > 0) lt_tensor_release(results[--n_results]);
}

/* New: the tensor on the device. */
static inline lt_tensor *to_device(const lt_tensor *t)
{
    lt_tensor *moved = NULL;
    CHECK(lt_tensor_to(t, LT_DTYPE_NONE, &device, &moved));
    return moved;
}

/* ---- parameters and buffers ------------------------------------------------------------------ */

typedef struct tensors {
    int n;
    lt_tensor *values[MAX_TENSORS];
    char names[MAX_TENSORS][48];
} tensors;
static tensors parameters, buffers;

/* Stores the tensor, on the device, under the name "layer.kind", as in a state_dict of PyTorch. */
static inline lt_tensor *add_tensor(tensors *list, const char *layer, const char *kind,
                                    lt_tensor *value)
{
    snprintf(list->names[list->n], sizeof *list->names, "%s.%s", layer, kind);
    return list->values[list->n++] = to_device(value);
}

static inline lt_tensor *add_buffer(const char *layer, const char *kind, lt_tensor *value)
{
    return add_tensor(&buffers, layer, kind, value);
}
static inline lt_tensor *add_parameter(const char *layer, const char *kind, lt_tensor *value)
{
    lt_tensor *parameter = add_tensor(&parameters, layer, kind, value);
    CHECK(lt_tensor_set_requires_grad(parameter, true));
    return parameter;
}

/* Random numbers on the CPU, so that they are the same for each device. */
static inline lt_tensor *uniform(const lt_dims *sizes, double bound)
{
    lt_tensor *t = NEW(lt_empty(sizes, LT_FLOAT32, NULL, &out));
    CHECK(lt_uniform_(t, -bound, bound, NULL));
    return t;
}
static inline lt_tensor *filled(const lt_dims *sizes, double value)
{
    return NEW(lt_full(sizes, lt_scalar_from_float(value), LT_FLOAT32, &device, &out));
}

typedef struct layer {
    lt_tensor *weight, *bias;
} layer;

/* A linear layer, sizes {outputs, inputs}, or a convolution, sizes {outputs, inputs, height, width},
 * with the initial values of nn.Linear and nn.Conv2d: kaiming_uniform_(weight, a = sqrt(5)). */
static inline layer new_layer(const char *name, const lt_dims *sizes, bool with_bias)
{
    layer l = {NULL, NULL};
    double inputs = 1;
    for (int i = 1; i < sizes->n; i++) inputs *= (double)sizes->v[i];
    l.weight =
        add_parameter(name, "weight", uniform(sizes, sqrt(3) * (sqrt(2.0 / 6) / sqrt(inputs))));
    if (with_bias)
        l.bias = add_parameter(name, "bias", uniform(LT_DIMS(sizes->v[0]), 1 / sqrt(inputs)));
    return l;
}

/* The factors and summands of a normalization. */
static inline layer new_norm(const char *name, int64_t size)
{
    layer l;
    l.weight = add_parameter(name, "weight", filled(LT_DIMS(size), 1));
    l.bias = add_parameter(name, "bias", filled(LT_DIMS(size), 0));
    return l;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The state of the optimizer, which the first step creates. */
static lt_tensor *first_moments[MAX_TENSORS], *second_moments[MAX_TENSORS];
static int steps;

static inline lt_tensor_list list_of(lt_tensor **values)
{
    const lt_tensor_list list = {parameters.n, values};
    return list;
}

/* Prints the loss, computes its gradients, and stops recording for the optimizer. */
static inline lt_tensor_list backward(lt_tensor *loss)
{
    static lt_tensor *gradients[MAX_TENSORS];
    lt_scalar value;
    CHECK(lt_tensor_item(loss, &value));
    printf("step %d: loss %.9g\n", ++steps, value.v.d);
    CHECK(lt_backward(loss, NULL, false, false));
    for (int i = 0; i < parameters.n; i++) {
        gradients[i] = lt_tensor_grad(parameters.values[i]);
        if (steps > 1) continue;
        CHECK(lt_zeros_like(gradients[i], LT_DTYPE_NONE, NULL, &first_moments[i]));
        CHECK(lt_zeros_like(gradients[i], LT_DTYPE_NONE, NULL, &second_moments[i]));
    }
    lt_set_grad_enabled(false);
    return list_of(gradients);
}

static inline void end_step(void)
{
    lt_set_grad_enabled(true);
    for (int i = 0; i < parameters.n; i++) CHECK(lt_tensor_set_grad(parameters.values[i], NULL));
    release_results();
}

/* A step of SGD. */
static inline void descend(lt_tensor *loss, double lr, double momentum, double weight_decay)
{
    const lt_tensor_list values = list_of(parameters.values), gradients = backward(loss),
                         moments = list_of(first_moments);
    CHECK(lt_fused_sgd_(&values, &gradients, &moments, lr, weight_decay, momentum, 0, false, false,
                        steps == 1));
    end_step();
}

/* A step of Adam, or of AdamW: with a decoupled weight decay. */
static inline void descend_adam(lt_tensor *loss, double lr, double weight_decay, bool decoupled)
{
    const lt_tensor_list values = list_of(parameters.values), gradients = backward(loss),
                         first = list_of(first_moments), second = list_of(second_moments),
                         none = {0, NULL};
    CHECK(lt_fused_adam_(&values, &gradients, &first, &second, &none, steps, lr, 0.9, 0.999,
                         weight_decay, 1e-8, decoupled, false, false));
    end_step();
}

/* Writes parameters and buffers to a safetensors file, unless path is NULL, and releases them. */
static inline void finish(void)
{
    static const char *names[2 * MAX_TENSORS];
    static lt_tensor *values[2 * MAX_TENSORS];
    const int n = parameters.n + buffers.n;
    for (int i = 0; i < n; i++) {
        const tensors *from = i < parameters.n ? &parameters : &buffers;
        const int j = i < parameters.n ? i : i - parameters.n;
        names[i] = from->names[j], values[i] = from->values[j];
    }
    if (path != NULL) CHECK(lt_save(path, names, values, n));
    for (int i = 0; i < n; i++) lt_tensor_release(values[i]);
    for (int i = 0; i < parameters.n; i++) {
        lt_tensor_release(first_moments[i]);
        lt_tensor_release(second_moments[i]);
    }
    release_results();
}

#endif
