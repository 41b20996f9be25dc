/* csr.c - the product of a CSR matrix with a dense one. Rows are partitioned so that threads get
 * equal numbers of values. */
#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"
#include "error.h"

typedef struct csr_job {
    const lt_csr_product *p;
    int64_t jobs;
} csr_job;

/* The first row of job i. The work of a row is its number of values plus 1. */
static int64_t first_row(const csr_job *j, int64_t i)
{
    const lt_csr_product *p = j->p;
    const int64_t work = (p->count + p->rows) / j->jobs * i;
    int64_t low = 0, high = p->rows;
    if (i == j->jobs) return p->rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (p->begins[middle] + middle < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void csr_rows(const void *context, int64_t i)
{
    const csr_job *j = context;
    const int64_t from = first_row(j, i), to = first_row(j, i + 1);
    (j->p->dtype == LT_FLOAT32 ? lt_loops.csr[0].f32 : lt_loops.csr[0].f64)(j->p, from, to);
}

lt_status lt_cpu_csr_product(const lt_csr_product *p, bool *done)
{
    if (p->dtype != LT_FLOAT32 && p->dtype != LT_FLOAT64)
        return lt_error(LT_ERR_TYPE, "a product of a matrix in CSR: no kernel for %s",
                        lt_dtype_name(p->dtype));
    const int64_t work = (p->count + p->rows) * p->columns;
    const int threads = lt_cpu_threads_for(work);
    const csr_job j = {p, threads > 1 ? 8 * (int64_t)threads : 1};
    *done = true;
    return lt_parallel_for(j.jobs, threads, csr_rows, &j);
}
