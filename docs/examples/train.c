/* train.c - a small network is trained in C: two layers learn to tell the points inside a ring from
 * those outside. Saves what it learned, for infer.cpp.
 *
 *   cc train.c $(pkg-config --cflags --libs ltensor) -lm -o train && ./train network.safetensors
 */
#include <stdio.h>
#include <stdlib.h>

#include "ltensor.h"

#define POINTS 512
#define HIDDEN 32
#define STEPS  300

/* Every call may fail; this program then has nothing left to do. */
static void check(lt_status status, const char *what)
{
    if (status == LT_OK) return;
    fprintf(stderr, "%s: %s\n", what, lt_error_message());
    exit(1);
}
#define CHECK(call) check(call, #call)

typedef struct network {
    lt_tensor *weight1, *bias1, *weight2, *bias2;
} network;

static lt_tensor *parameter(int64_t rows, int64_t columns, double scale)
{
    lt_dims sizes = {2, {0}};
    lt_tensor *t = NULL;
    sizes.v[0] = rows, sizes.v[1] = columns;
    if (rows == 0) sizes.n = 1, sizes.v[0] = columns;
    CHECK(lt_empty(&sizes, LT_FLOAT32, NULL, &t));
    CHECK(lt_uniform_(t, -scale, scale, NULL));
    CHECK(lt_tensor_set_requires_grad(t, true));
    return t;
}

/* Scores of points [n, 2]: new, [n, 1]. */
static lt_tensor *forward(const network *net, lt_tensor *points)
{
    lt_tensor *sums = NULL, *hidden = NULL, *scores = NULL;
    CHECK(lt_linear(points, net->weight1, net->bias1, &sums));
    CHECK(lt_tanh(sums, &hidden));
    CHECK(lt_linear(hidden, net->weight2, net->bias2, &scores));
    lt_tensor_release(sums);
    lt_tensor_release(hidden);
    return scores;
}

/* A step down the slope; the gradient is done with. */
static void descend(lt_tensor *parameter, double rate)
{
    const bool recording = lt_set_grad_enabled(false);
    CHECK(lt_sub_(parameter, lt_tensor_grad(parameter), lt_scalar_from_float(rate)));
    CHECK(lt_tensor_set_grad(parameter, NULL));
    lt_set_grad_enabled(recording);
}

/* Which share of the points is on the right side. */
static double accuracy(lt_tensor *scores, const float *labels)
{
    float values[POINTS];
    int right = 0, i;
    CHECK(lt_tensor_copy_to(scores, values, sizeof values));
    for (i = 0; i < POINTS; i++) right += (values[i] > 0) == (labels[i] > 0.5f);
    return (double)right / POINTS;
}

int main(int argc, char **argv)
{
    static float labels[POINTS], points[POINTS][2];
    const int64_t point_sizes[] = {POINTS, 2}, label_sizes[] = {POINTS, 1};
    lt_tensor *x = NULL, *y = NULL;
    lt_scalar loss_value = lt_scalar_from_float(0);
    double right = 0;
    int step, i;

    lt_manual_seed(1);
    {
        const lt_dims sizes = {2, {POINTS, 2}};
        CHECK(lt_rand(&sizes, NULL, LT_FLOAT32, NULL, &x));
        CHECK(lt_tensor_copy_to(x, points, sizeof points));
        lt_tensor_release(x);
    }
    for (i = 0; i < POINTS; i++) {
        float a, b;
        points[i][0] = a = 4 * points[i][0] - 2, points[i][1] = b = 4 * points[i][1] - 2;
        labels[i] = a * a + b * b < 2 ? 1.0f : 0.0f;
    }
    /* The program's own arrays, not copied. */
    CHECK(lt_tensor_wrap(points, LT_FLOAT32, 2, point_sizes, NULL, NULL, &x));
    CHECK(lt_tensor_wrap(labels, LT_FLOAT32, 2, label_sizes, NULL, NULL, &y));

    network net;
    net.weight1 = parameter(HIDDEN, 2, 1), net.bias1 = parameter(0, HIDDEN, 1);
    net.weight2 = parameter(1, HIDDEN, 0.2), net.bias2 = parameter(0, 1, 0.2);
    lt_tensor *parameters[4];
    parameters[0] = net.weight1, parameters[1] = net.bias1, parameters[2] = net.weight2,
    parameters[3] = net.bias2;

    for (step = 1; step <= STEPS; step++) {
        lt_tensor *scores = forward(&net, x), *loss = NULL;
        CHECK(lt_binary_cross_entropy_with_logits(scores, y, NULL, NULL, "mean", &loss));
        CHECK(lt_backward(loss, NULL, false, false));
        for (i = 0; i < 4; i++) descend(parameters[i], 1.0);
        if (step == 1 || step % 100 == 0) {
            CHECK(lt_tensor_item(loss, &loss_value));
            printf("step %d: loss %.3f\n", step, loss_value.v.d);
        }
        if (step == STEPS) right = accuracy(scores, labels);
        lt_tensor_release(loss);
        lt_tensor_release(scores);
    }
    printf("%.0f %% of the points are on the right side\n", 100 * right);

    if (argc > 1) {
        const char *const names[] = {"weight1", "bias1", "weight2", "bias2"};
        CHECK(lt_save(argv[1], names, parameters, 4));
        printf("saved %s\n", argv[1]);
    }
    for (i = 0; i < 4; i++) lt_tensor_release(parameters[i]);
    lt_tensor_release(x);
    lt_tensor_release(y);
    return right > 0.9 ? 0 : 1;
}
