/* report.cuh - error reports of kernels: a kernel that finds a bad element records the first fault
 * of its device and skips the element, so that the device stays usable. The host reads the record
 * after its next wait (report.cu). */
#ifndef LT_CUDA_REPORT_CUH
#define LT_CUDA_REPORT_CUH

#include <cuda_runtime.h>
#include <stdint.h>

/* One per device, in page-locked host memory. state: 0 free, 1 being written, 2 complete. */
struct lt_cuda_report {
    unsigned int state;
    const char *text; /* set: bad value, with shown and number; null: bad index */
    bool shown;
    double number;
    int dim;
    int64_t value, size;
    const char *op;
};

/* Reports that value is out of range for dimension dim (0-based) of the given size. op: a string in
 * host memory. */
static __device__ inline void lt_report_index(lt_cuda_report *report, const char *op, int64_t value,
                                              int64_t size, int dim)
{
    if (atomicCAS(&report->state, 0u, 1u) != 0u) return;
    report->value = value;
    report->size = size;
    report->dim = dim;
    report->op = op;
    report->text = nullptr;
    __threadfence_system();
    atomicExch(&report->state, 2u);
}

/* Reports an invalid value. text: the message, a string in host memory; number is appended if
 * shown. */
static __device__ inline void lt_report_value(lt_cuda_report *report, const char *text, bool shown,
                                              double number)
{
    if (atomicCAS(&report->state, 0u, 1u) != 0u) return;
    report->text = text;
    report->shown = shown;
    report->number = number;
    __threadfence_system();
    atomicExch(&report->state, 2u);
}

#endif
