/* wait.cu - interruptible waits for a device.
 *
 * The runtime's own waits cannot be interrupted, so a wait polls: at first without a pause, since
 * most waits are short, then with pauses of 1/30 of the time waited so far, at most 200 us. An
 * interrupted wait leaves the work running, so that work must not use memory of the caller: copies
 * to the host are queued only after the wait (lt_cuda_read). */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "system/clock.h"
#include "cuda.h"

static void sleep_after(double waited)
{
    constexpr double busy = 200e-6, longest = 200e-6;
    if (waited < busy) {
        sched_yield();
        return;
    }
    const double pause = waited / 30 < longest ? waited / 30 : longest;
    const struct timespec t = {0, (long)(pause * 1e9)};
    nanosleep(&t, nullptr);
}

/* query: returns cudaErrorNotReady until the work is done. */
template <class Query> static lt_status until_done(Query query, const char *call)
{
    LT_TRY(lt_cuda_refuse_recording());
    const double start = lt_clock();
    for (;;) {
        cudaError_t error = query();
        if (error == cudaSuccess) return LT_OK;
        if (error != cudaErrorNotReady) return lt_cuda_failed(error, call);
        (void)cudaGetLastError();
        if (lt_cuda_core->interrupted()) return lt_cuda_core->stopped();
        sleep_after(lt_clock() - start);
    }
}

static lt_status stream_done(cudaStream_t stream)
{
    return until_done([=] { return cudaStreamQuery(stream); }, "cudaStreamQuery");
}

lt_status lt_cuda_wait(int device, cudaStream_t stream)
{
    LT_TRY(stream_done(stream));
    return lt_cuda_reported(device);
}

lt_status lt_cuda_wait_event(int device, cudaEvent_t event)
{
    LT_TRY(until_done([=] { return cudaEventQuery(event); }, "cudaEventQuery"));
    return lt_cuda_reported(device);
}

lt_status lt_cuda_read(int device, cudaStream_t stream, void *dst, const void *src, size_t nbytes,
                       double *seconds)
{
    const double start = lt_clock();
    LT_TRY(lt_cuda_wait(device, stream));
    CUDA_TRY(cudaMemcpyAsync(dst, src, nbytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    *seconds = lt_clock() - start;
    return LT_OK;
}

lt_status lt_cuda_synchronize(int device)
{
    cudaStream_t stream;
    if (device < 0) device = lt_cuda_current_device();
    LT_TRY(lt_cuda_check_device(device));
    LT_TRY(lt_cuda_refuse_recording());
    LT_TRY(lt_cuda_enter(device, &stream));
    for (int i = 0; lt_cuda_stream_made(device, i, &stream); i++) LT_TRY(stream_done(stream));
    CUDA_TRY(cudaDeviceSynchronize());
    return lt_cuda_reported(device);
}
