/* block_rows.cu - the product of one to eight rows of floats with quantized weights, which reads the
 * weights once.
 *
 * - A block of threads computes ROWS rows of the weight. Its warps partition the columns, in chunks.
 * - The packed bytes of a chunk go to shared memory in accesses of 16 bytes, whatever the alignment
 *   of the rows; those of the next chunk are requested before this one is multiplied.
 * - A lane decodes its units (blocks.cuh) in registers and multiplies them with the elements of the
 *   input, which it has read once for all ROWS rows.
 * - Sums are of float, in a fixed order: over a lane's elements, the lanes, the warps. */
#include "block_rows.cuh"

#include "blocks.cuh"
#include "kernels/block.cuh"
#include "kernels/offsets.cuh"

/* tuning: rows of the weight and warps per block, columns per chunk; 95 to 202 registers per thread
 * without spills, and no warp without work from 2,048 columns on; by machine code, not by time (nvcc
 * 13.0 for an H100, 2026-11-29) */
enum { ROWS = 4, WARPS = 4, CHUNK = 512 };

namespace {

/* The packed chunks of the rows of a block, for one warp. A chunk begins at any even address; its
 * first piece of 16 bytes contains the address. */
template <class Unit> struct staging {
    static constexpr int BYTES = CHUNK / Unit::ELEMENTS * Unit::BYTES,
                         PIECES = (BYTES + 14 + 15) / 16;
    uint4 piece[ROWS][PIECES];
};

/* One of a lane's pieces of each chunk. Positions are bytes from `base`, the address of the row's
 * first byte rounded down to 16. */
struct lane_piece {
    const uint8_t *base;
    int row, index; /* in staging; row ROWS: none */
    int begin;      /* position of the row's first byte */
    int end;        /* of the row's last whole piece in the weight */

    /* Position of the piece; whether it contains bytes of the chunk that starts at byte `from` of
     * the row and has `bytes` bytes, and is whole. */
    __device__ __forceinline__ int position(int from) const
    {
        return ((begin + from) & ~15) + 16 * index;
    }
    __device__ __forceinline__ bool used(int from, int bytes) const
    {
        const int at = position(from);
        return row < ROWS && at < begin + from + bytes && at < end;
    }
};

/* A warp's view of the rows of a block. */
template <class Unit> struct row_bytes {
    using Staging = staging<Unit>;
    static constexpr int EACH = (ROWS * Staging::PIECES + 31) / 32; /* pieces per lane */
    const lt_block_product &p;
    int64_t first;
    int lane, length; /* bytes of a row */
    lane_piece pieces[EACH];
    int begins[ROWS]; /* of the rows' first bytes */

    __device__ __forceinline__ row_bytes(const lt_block_product &p_, int64_t first_, int lane_)
        : p(p_), first(first_), lane(lane_),
          length(static_cast<int>(p_.columns / Unit::ELEMENTS) * Unit::BYTES)
    {
        LT_UNROLLED
        for (int r = 0; r < ROWS; r++) begins[r] = behind(address(r));
        LT_UNROLLED
        for (int i = 0; i < EACH; i++) {
            const int number = lane + 32 * i, row = number / Staging::PIECES;
            const uint8_t *address = this->address(row);
            const int begin = behind(address);
            const int64_t end = ((p.rows - index(row)) * length + begin) & ~int64_t{15};
            pieces[i] = {address - begin, row, number % Staging::PIECES, begin,
                         static_cast<int>(end < INT32_MAX ? end : INT32_MAX)};
        }
    }
    /* Rows after the last one read the last one. */
    __device__ __forceinline__ int64_t index(int row) const
    {
        return first + row < p.rows ? first + row : p.rows - 1;
    }
    __device__ __forceinline__ const uint8_t *address(int row) const
    {
        return p.weight + index(row) * length;
    }
    /* Bytes from the 16-byte boundary before it. */
    static __device__ __forceinline__ int behind(const uint8_t *address)
    {
        return static_cast<int>(reinterpret_cast<uintptr_t>(address) & 15);
    }
    __device__ __forceinline__ int bytes_of(int chunk) const
    {
        const int rest = length - chunk * Staging::BYTES;
        return rest < Staging::BYTES ? rest : Staging::BYTES;
    }
    __device__ __forceinline__ void fetch(int chunk, uint4 *held) const
    {
        const int from = chunk * Staging::BYTES, bytes = bytes_of(chunk);
        LT_UNROLLED
        for (int i = 0; i < EACH; i++)
            if (pieces[i].used(from, bytes))
                held[i] =
                    *reinterpret_cast<const uint4 *>(pieces[i].base + pieces[i].position(from));
    }
    __device__ __forceinline__ void store(int chunk, const uint4 *held, Staging *to) const
    {
        const int from = chunk * Staging::BYTES, bytes = bytes_of(chunk);
        LT_UNROLLED
        for (int i = 0; i < EACH; i++)
            if (pieces[i].used(from, bytes)) to->piece[pieces[i].row][pieces[i].index] = held[i];
        if (first + ROWS >= p.rows && from + bytes == length) store_end(from, to);
    }
    /* The last bytes of the weight, if they are no whole piece. */
    __device__ __forceinline__ void store_end(int from, Staging *to) const
    {
        const int tail = static_cast<int>(p.rows * length & 15);
        if (2 * lane >= tail) return;
        const uint8_t *end = p.weight + p.rows * length - tail;
        const uint16_t bytes = *reinterpret_cast<const uint16_t *>(end + 2 * lane);
        const int begin = behind(address(ROWS - 1)),
                  piece = (begin + length) / 16 - (begin + from) / 16;
        LT_NOT_UNROLLED
        for (int row = static_cast<int>(p.rows - 1 - first); row < ROWS; row++)
            reinterpret_cast<uint16_t *>(&to->piece[row][piece])[lane] = bytes;
    }
};

/* Adds the products of a run with each row of x to sums. For one row, the scale is a factor of the
 * sum: fewer instructions. */
template <bool LEAST, int M>
__device__ __forceinline__ void multiply_run(const lt_block_run &run, const float (*x)[4],
                                             float *sums)
{
    float y[4];
    if constexpr (M == 1) {
        lt_run_levels(run, y);
        float sum = y[0] * x[0][0];
        LT_UNROLLED
        for (int i = 1; i < 4; i++) sum += y[i] * x[0][i];
        sums[0] += run.scale * sum;
        if (LEAST) sums[0] -= run.least * (x[0][0] + x[0][1] + x[0][2] + x[0][3]);
    } else {
        lt_decode_run(run, y);
        LT_UNROLLED
        for (int m = 0; m < M; m++) {
            LT_UNROLLED
            for (int i = 0; i < 4; i++) sums[m] += y[i] * x[m][i];
        }
    }
}

/* Adds the products of the lane's elements of a chunk to sums. */
template <class Unit, int M>
__device__ __forceinline__ void multiply_chunk(const row_bytes<Unit> &rows, int chunk,
                                               const staging<Unit> *from, float (*sums)[M])
{
    const lt_block_product &p = rows.p;
    const int64_t size = p.dtype == LT_FLOAT32 ? 4 : 2,
                  column = static_cast<int64_t>(chunk) * CHUNK;
    const int bytes = rows.bytes_of(chunk);
    LT_UNROLLED
    for (int u = 0; u < CHUNK / 4 / Unit::RUNS / 32; u++) {
        const int number = rows.lane + 32 * u, block = number / Unit::UNITS,
                  t = number % Unit::UNITS;
        if (block * Unit::BYTES >= bytes) continue;
        Unit unit[ROWS];
        LT_UNROLLED
        for (int r = 0; r < ROWS; r++) {
            const int shift = (rows.begins[r] + chunk * staging<Unit>::BYTES) & 15;
            unit[r].load(
                reinterpret_cast<const uint8_t *>(from->piece[r]) + shift + block * Unit::BYTES, t);
        }
        LT_UNROLLED
        for (int run = 0; run < Unit::RUNS; run++) {
            const char *at = static_cast<const char *>(p.in) +
                             (column + block * Unit::ELEMENTS + Unit::at(t, run)) * size;
            float x[M][4];
            LT_UNROLLED
            for (int m = 0; m < M; m++)
                lt_load_float_row<float, 4>(p.dtype, at + (m < p.m ? m : 0) * (p.columns * size),
                                            x[m], 4, true);
            LT_UNROLLED
            for (int r = 0; r < ROWS; r++)
                multiply_run<Unit::LEAST, M>(unit[r].run(run), x, sums[r]);
        }
    }
}

template <class Unit, int M>
__global__ void __launch_bounds__(32 * WARPS) multiply_rows(lt_block_product p)
{
    __shared__ staging<Unit> staged[WARPS];
    __shared__ float partial[WARPS][ROWS][M];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const row_bytes<Unit> rows(p, static_cast<int64_t>(blockIdx.x) * ROWS, lane);
    const int chunks = static_cast<int>((p.columns + CHUNK - 1) / CHUNK);
    float sums[ROWS][M] = {};
    uint4 held[row_bytes<Unit>::EACH] = {};
    if (warp < chunks) rows.fetch(warp, held);
    for (int c = warp; c < chunks; c += WARPS) {
        __syncwarp();
        rows.store(c, held, &staged[warp]);
        __syncwarp();
        if (c + WARPS < chunks) rows.fetch(c + WARPS, held);
        multiply_chunk<Unit, M>(rows, c, &staged[warp], sums);
    }
    LT_UNROLLED
    for (int r = 0; r < ROWS; r++) {
        LT_UNROLLED
        for (int m = 0; m < M; m++) {
            const float sum = lt_warp_join(sums[r][m], [](float a, float b) { return a + b; });
            if (lane == 0) partial[warp][r][m] = sum;
        }
    }
    __syncthreads();
    const int r = static_cast<int>(threadIdx.x) / M, m = static_cast<int>(threadIdx.x) % M;
    const int64_t row = rows.first + r, to = m * p.rows + row;
    if (r >= ROWS || row >= p.rows || m >= p.m) return;
    float sum = 0;
    for (int w = 0; w < WARPS; w++) sum += partial[w][r][m];
    lt_store_float_row<float, 1>(
        p.dtype, static_cast<char *>(p.out) + to * (p.dtype == LT_FLOAT32 ? 4 : 2), &sum, 1, false);
}

template <class Unit> void launch(const lt_block_product *p, cudaStream_t stream)
{
    const unsigned blocks = lt_blocks(p->rows, ROWS);
    if (p->m == 1)
        LT_LAUNCH_BARRIER((multiply_rows<Unit, 1>), blocks, 32 * WARPS, 0, stream, *p);
    else if (p->m <= 4)
        LT_LAUNCH_BARRIER((multiply_rows<Unit, 4>), blocks, 32 * WARPS, 0, stream, *p);
    else
        LT_LAUNCH_BARRIER((multiply_rows<Unit, LT_CUDA_BLOCK_ROWS>), blocks, 32 * WARPS, 0, stream,
                          *p);
}

} // namespace

void lt_cuda_multiply_block_rows(const lt_block_product *p, cudaStream_t stream)
{
#define LAUNCH(NAME, name, elements, bytes)                                                        \
    case LT_BLOCK_##NAME: launch<lt_block_unit<LT_BLOCK_##NAME>>(p, stream); break;
    switch (p->format) {
        LT_EACH_BLOCK_FORMAT(LAUNCH)
    case LT_BLOCK_FORMATS: break;
    }
#undef LAUNCH
}
