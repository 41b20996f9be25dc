/* recurrent.c - one step of a recurrent layer on the CPU: rows are partitioned over threads. The
 * loops are in vector/nn/recurrent.c. */
#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"

/* tuning: units of work; a gate of a unit takes an exponential and a division; with 8 a third of
 * the work of an LSTM of 32x128 stayed on one of 2 threads, 2026-11-26 */
#define GATE_WORK 16

typedef struct cell_job {
    const lt_cell_step *step;
    lt_cell_loop loop;
    int threads;
} cell_job;

static void run_cell_rows(const void *context, int64_t t)
{
    const cell_job *j = context;
    const int64_t rows = j->step->rows;
    j->loop(j->step, t * rows / j->threads, (t + 1) * rows / j->threads);
}

static lt_status run_cell(const lt_cell_step *step, bool backward)
{
    cell_job j = {
        step, lt_loops.cells[step->cell][backward][step->dtype == LT_FLOAT64],
        lt_cpu_threads_for(step->rows * step->hidden * lt_cell_gates(step->cell) * GATE_WORK)};
    if (j.threads > step->rows) j.threads = (int)step->rows;
    return lt_parallel_for(j.threads, j.threads, run_cell_rows, &j);
}

lt_status lt_cpu_cell(const lt_cell_step *step) { return run_cell(step, false); }
lt_status lt_cpu_cell_backward(const lt_cell_step *step) { return run_cell(step, true); }
