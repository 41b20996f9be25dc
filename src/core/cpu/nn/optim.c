/* optim.c - steps of optimizers on the CPU: all elements of all parameters as one loop, partitioned
 * into pieces for the threads. The loops are in vector/nn/optim.c; half types pass through buffers
 * of float. */
#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "memory/alloc.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

typedef struct optim_job {
    const lt_optim *o;
    lt_optim_loop loop;
    int64_t size;         /* bytes of an element */
    const int64_t *first; /* the first piece of every parameter, then the number of pieces */
} optim_job;

static void run_block(const optim_job *j, char *const *at, int64_t n)
{
    const lt_optim *o = j->o;
    _Alignas(64) float buffers[LT_OPTIM_ARRAYS][LT_BLOCK];
    void *arrays[LT_OPTIM_ARRAYS] = {NULL};
    const int64_t half = j->size, full = sizeof(float);
    for (int k = 0; k < o->arrays; k++) {
        arrays[k] = buffers[k];
        lt_loops.cast[LT_FLOAT32][o->dtype]((char *[]){arrays[k], at[k]}, (int64_t[]){full, half},
                                            n, NULL);
    }
    j->loop(arrays, n, o->numbers);
    for (int k = 0; k < o->arrays; k++)
        if (k != 1)
            lt_loops.cast[o->dtype][LT_FLOAT32]((char *[]){at[k], arrays[k]},
                                                (int64_t[]){half, full}, n, NULL);
}

/* Elements [from, to) of parameter i. */
static void run_optim_part(const optim_job *j, int64_t i, int64_t from, int64_t to)
{
    const lt_optim *o = j->o;
    void *arrays[LT_OPTIM_ARRAYS] = {NULL};
    for (int k = 0; k < o->arrays; k++)
        arrays[k] = (char *)o->data[i * o->arrays + k] + from * j->size;
    if (o->dtype == LT_FLOAT32 || o->dtype == LT_FLOAT64) {
        j->loop(arrays, to - from, o->numbers);
        return;
    }
    for (int64_t n = to - from; n > 0; n -= LT_BLOCK) {
        run_block(j, (char *const *)arrays, n < LT_BLOCK ? n : LT_BLOCK);
        for (int k = 0; k < o->arrays; k++) arrays[k] = (char *)arrays[k] + LT_BLOCK * j->size;
    }
}

static void run_optim_piece(const void *context, int64_t piece)
{
    const optim_job *j = context;
    int64_t low = 0, high = j->o->n;
    while (high - low > 1) { /* the parameter that the piece belongs to */
        int64_t middle = (low + high) / 2;
        if (j->first[middle] <= piece)
            low = middle;
        else
            high = middle;
    }
    int64_t from = (piece - j->first[low]) * LT_CPU_PIECE, n = j->o->numel[low];
    run_optim_part(j, low, from, from + LT_CPU_PIECE < n ? from + LT_CPU_PIECE : n);
}

lt_status lt_cpu_optimize(const lt_optim *o)
{
    optim_job j = {o, lt_loops.optim[o->rule][o->dtype == LT_FLOAT64],
                   (int64_t)lt_dtype_size(o->dtype), NULL};
    int64_t work = 0, pieces = 0;
    for (int64_t i = 0; i < o->n; i++) work += o->numel[i] * o->arrays;
    int threads = lt_cpu_threads_for(work);
    if (threads == 1 && work <= LT_INTERRUPT_STEP) {
        for (int64_t i = 0; i < o->n; i++) run_optim_part(&j, i, 0, o->numel[i]);
        return LT_OK;
    }
    int64_t *first = lt_mem_array(o->n, sizeof *first);
    if (first == NULL) return LT_ERR_MEMORY;
    for (int64_t i = 0; i < o->n; i++) {
        first[i] = pieces;
        pieces += (o->numel[i] + LT_CPU_PIECE - 1) / LT_CPU_PIECE;
    }
    j.first = first;
    lt_status status = lt_parallel_for(pieces, threads, run_optim_piece, &j);
    lt_mem_free(first);
    return status;
}
