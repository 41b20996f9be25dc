/* graph.cu - CUDA graphs: records the work that a thread queues on a stream; one call replays it.
 *
 * - One thread records a graph on one device. Meanwhile it allocates from a private pool: the
 *   addresses passed to kernels belong to the graph until it is reset.
 * - Calls that wait for the device are refused before they reach the runtime, so that they do not
 *   invalidate the recording. The capture mode is relaxed, which permits cudaMalloc.
 * - Libraries are opened and their handles created before the recording (libraries/handles.cuh).
 * - Recorded random kernels read seed and offset from device memory. Each replay sets both from the
 *   default generator and advances the generator. */
#include <atomic>
#include <new>

#include "cuda.h"
#include "kernels/launch.cuh"
#include "libraries/blas.cuh"
#include "libraries/dnn.cuh"
#include "libraries/sparse.cuh"

namespace {

struct cuda_graph {
    int device = 0;
    cudaStream_t stream = nullptr; /* while recording */
    cudaGraphExec_t program = nullptr;
    uint64_t pool = 0;        /* held while recording or instantiated */
    uint64_t blocks = 0;      /* Philox blocks used by one replay */
    uint64_t *live = nullptr; /* device memory: seed, offset */
    size_t live_size = 0;
    void *live_block = nullptr;
    /* recorded after earlier work on the memory of `live`, on the stream that allocated it */
    cudaEvent_t live_ready = nullptr;
    cudaStream_t live_seen = nullptr; /* the last stream ordered after live_ready */
};

thread_local cuda_graph *recording;
std::atomic<uint64_t> last_pool{0};

cuda_graph *of(uint64_t handle) { return reinterpret_cast<cuda_graph *>((uintptr_t)handle); }

__global__ void __launch_bounds__(32)
    set_random_place(uint64_t *live, uint64_t seed, uint64_t offset)
{
    if (threadIdx.x != 0 || blockIdx.x != 0) return;
    live[0] = seed;
    live[1] = offset;
}

lt_generator *generator_of(int device)
{
    return lt_cuda_core->default_generator(lt_device{LT_CUDA, (int8_t)device});
}

void give_live(cuda_graph *g)
{
    if (g->live == nullptr) return;
    lt_cuda_free(g->device, g->live, g->live_size, g->live_block);
    lt_cuda_event_free(g->device, g->live_ready);
    g->live = nullptr;
}

/* Allocates the memory of seed and offset, on the current stream. */
lt_status take_live(cuda_graph *g)
{
    void *data;
    if (g->live != nullptr) return LT_OK;
    LT_TRY(lt_cuda_event_alloc(g->device, &g->live_ready));
    lt_status status =
        lt_cuda_alloc(g->device, 2 * sizeof(uint64_t), &data, &g->live_size, &g->live_block);
    if (status != LT_OK) {
        lt_cuda_event_free(g->device, g->live_ready);
        return status;
    }
    g->live = static_cast<uint64_t *>(data);
    status = lt_cuda_enter(g->device, &g->live_seen);
    if (status == LT_OK) {
        cudaError_t error = cudaEventRecord(g->live_ready, g->live_seen);
        if (error != cudaSuccess) status = lt_cuda_failed(error, "cudaEventRecord");
    }
    if (status != LT_OK) give_live(g);
    return status;
}

/* Before a replay: writes the current seed and offset, ordered before the replay on this stream. */
lt_status set_live(cuda_graph *g, cudaStream_t stream)
{
    lt_generator *generator = generator_of(g->device);
    if (stream != g->live_seen) CUDA_TRY(cudaStreamWaitEvent(stream, g->live_ready, 0));
    g->live_seen = stream;
    lt_generator_lock(generator);
    const uint64_t seed = generator->seed, offset = generator->philox_offset;
    generator->philox_offset += g->blocks;
    lt_generator_unlock(generator);
    LT_LAUNCH(set_random_place, 1, 32, stream, g->live, seed, offset);
    LT_TRY(lt_cuda_launched(g->device, stream, "graph"));
    lt_cuda_record_stream(
        g->live_block, (uint64_t)(uintptr_t)stream); /* not reused before the replay has read it */
    return LT_OK;
}

/* Releases the library handles reserved for this thread's recording. */
void unreserve()
{
    lt_cuda_blas_unreserve();
    lt_cuda_dnn_unreserve();
    lt_cuda_sparse_unreserve();
}

void drop_pool(cuda_graph *g)
{
    if (g->pool != 0) lt_cuda_pool_drop(g->device, g->pool);
    g->pool = 0;
}

} // namespace

/* ---- queries by the other files -------------------------------------------------------------- */

std::atomic<int> lt_cuda_recordings{0};

bool lt_cuda_recording(void)
{
    return lt_cuda_recordings.load(std::memory_order_relaxed) != 0 && recording != nullptr;
}

lt_status lt_cuda_refuse_recording(void)
{
    if (recording == nullptr) return LT_OK;
    return lt_cuda_core->error(
        LT_ERR_RUNTIME,
        "CUDA error: operation not permitted when stream is capturing (it waits for "
        "the GPU, which runs nothing while a graph is captured)");
}

uint64_t lt_cuda_own_recording_pool(int device)
{
    return recording != nullptr && recording->device == device ? recording->pool : 0;
}

lt_status lt_cuda_recording_random(int device, const lt_generator *generator, const uint64_t **live)
{
    *live = nullptr;
    if (recording == nullptr || recording->device != device) return LT_OK;
    if (generator != generator_of(device))
        return lt_cuda_core->error(
            LT_ERR_RUNTIME, "while a CUDA graph is captured, random numbers come from the GPU's "
                            "default generator only: replays could not advance another");
    *live = recording->live;
    return LT_OK;
}

uint64_t lt_cuda_recording_adopt(int64_t blocks)
{
    const uint64_t before = recording->blocks;
    recording->blocks += (uint64_t)blocks;
    return before;
}

/* ---- entries --------------------------------------------------------------------------------- */

uint64_t lt_cuda_graph_pool_new(void) { return ++last_pool; }

lt_status lt_cuda_graph_new(uint64_t *handle)
{
    cuda_graph *g = new (std::nothrow) cuda_graph;
    if (g == nullptr) return lt_cuda_core->error(LT_ERR_MEMORY, "out of memory for a CUDA graph");
    *handle = (uint64_t)(uintptr_t)g;
    return LT_OK;
}

/* Allocates all that the recording needs, before it starts. */
static lt_status prepare_recording(cuda_graph *g, uint64_t pool)
{
    LT_TRY(take_live(g));
    LT_TRY(lt_cuda_pool_hold(g->device, pool));
    g->pool = pool;
    return LT_OK;
}

lt_status lt_cuda_graph_begin(uint64_t handle, uint64_t pool)
{
    cuda_graph *g = of(handle);
    cudaStream_t stream;
    const int device = lt_cuda_current_device();
    if (recording != nullptr)
        return lt_cuda_core->error(
            LT_ERR_RUNTIME, "this thread already captures a CUDA graph: captures do not nest");
    if (g->program != nullptr || g->pool != 0)
        return lt_cuda_core->error(
            LT_ERR_RUNTIME, "This CUDAGraph instance already owns a captured graph. To capture a "
                            "new graph, create a new instance.");
    if (lt_cuda_current_stream(device) == 0)
        return lt_cuda_core->error(
            LT_ERR_RUNTIME, "CUDA graphs must be captured on a non-default stream. (However, "
                            "after capture, it's ok to replay them on the default stream.)");
    if (g->device != device) give_live(g);
    g->device = device;
    LT_TRY(prepare_recording(g, pool != 0 ? pool : lt_cuda_graph_pool_new()));
    lt_status status = lt_cuda_enter(device, &stream);
    if (status == LT_OK) status = lt_cuda_blas_reserve(device);
    if (status == LT_OK) status = lt_cuda_dnn_reserve(device);
    if (status == LT_OK) status = lt_cuda_sparse_reserve(device);
    if (status == LT_OK) {
        cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
        if (error != cudaSuccess) status = lt_cuda_failed(error, "cudaStreamBeginCapture");
    }
    if (status != LT_OK) {
        unreserve();
        drop_pool(g);
        return status;
    }
    g->stream = stream;
    g->blocks = 0;
    recording = g;
    lt_cuda_recordings++;
    lt_cuda_defer_frees(device, true);
    return LT_OK;
}

/* Ends the recording even on errors. The program is null if keep is false or instantiation failed.
 */
static lt_status finish_recording(cuda_graph *g, bool keep)
{
    cudaStream_t ignored;
    cudaGraph_t recorded = nullptr;
    lt_status status = lt_cuda_enter(g->device, &ignored);
    if (status != LT_OK) keep = false;
    cudaError_t error = cudaStreamEndCapture(g->stream, &recorded);
    const char *call = "cudaStreamEndCapture";
    if (error == cudaSuccess && keep) {
        call = "cudaGraphInstantiate";
        error = cudaGraphInstantiate(&g->program, recorded, 0);
        if (error != cudaSuccess) g->program = nullptr;
    }
    if (recorded != nullptr && cudaGraphDestroy(recorded) != cudaSuccess) (void)cudaGetLastError();
    if (error == cudaSuccess || status != LT_OK) return status;
    status = lt_cuda_failed(error, call);
    return keep ? status : LT_OK;
}

lt_status lt_cuda_graph_end(uint64_t handle, bool keep)
{
    cuda_graph *g = of(handle);
    if (recording != g || g == nullptr)
        return lt_cuda_core->error(
            LT_ERR_RUNTIME, "capture_end() without a capture_begin() of this graph on this thread");
    lt_status status = finish_recording(g, keep);
    recording = nullptr;
    lt_cuda_recordings--;
    unreserve();
    lt_cuda_defer_frees(g->device, false);
    g->stream = nullptr;
    if (g->program == nullptr) drop_pool(g);
    return status;
}

lt_status lt_cuda_graph_replay(uint64_t handle)
{
    cuda_graph *g = of(handle);
    cudaStream_t stream;
    if (g->program == nullptr)
        return lt_cuda_core->error(
            LT_ERR_RUNTIME, "Called CUDAGraph::replay without a preceding successful capture.");
    if (recording != nullptr)
        return lt_cuda_core->error(LT_ERR_RUNTIME,
                                   "a CUDA graph cannot be replayed while one is captured");
    LT_TRY(lt_cuda_enter(g->device, &stream));
    if (g->blocks != 0) LT_TRY(set_live(g, stream));
    CUDA_TRY(cudaGraphLaunch(g->program, stream));
    return lt_cuda_launched(g->device, stream, "graph");
}

void lt_cuda_graph_reset(uint64_t handle)
{
    cuda_graph *g = of(handle);
    if (recording == g) (void)lt_cuda_graph_end(handle, false);
    if (g->program != nullptr && cudaGraphExecDestroy(g->program) != cudaSuccess)
        (void)cudaGetLastError();
    g->program = nullptr;
    drop_pool(g);
}

void lt_cuda_graph_free(uint64_t handle)
{
    cuda_graph *g = of(handle);
    lt_cuda_graph_reset(handle);
    give_live(g);
    delete g;
}

uint64_t lt_cuda_graph_pool(uint64_t handle) { return of(handle)->pool; }
