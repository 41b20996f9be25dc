/* tiles.cuh - products of tiles in shared memory, accumulated in a warp's registers: by tensor
 * cores for half types, by multiply-adds for float and double. Launch kernels that use this with
 * LT_LAUNCH_BARRIER.
 *
 * A tile has ROWS rows of D elements; the pitch is 16 bytes more than a row, so that lanes that
 * read consecutive rows cause no bank conflicts. A warp computes 16 * MT rows; of each 16, a lane
 * has rows g = lane / 4 and g + 8 of the tile. If the tile was loaded in pairs (lt_paired), these
 * are rows 2 g and 2 g + 1 of the source.
 *
 * lt_tile<S>::scores: acc[m][n] is a lane's part of the product of 16 rows of the warp and 8 rows
 * of another tile, columns 2 (lane % 4) and the next: [0], [1] in row g, [2], [3] in row g + 8.
 * weigh: the product of such scores and another tile; row and column map the elements of its result
 * to their positions. */
#ifndef LT_CUDA_TILES_CUH
#define LT_CUDA_TILES_CUH

#include "block.cuh"
#include "element.cuh"
#include "tensor_core.cuh"

/* Elements per 16-byte access. */
template <class S> constexpr int lt_per_access = 16 / static_cast<int>(sizeof(S));
template <class S, int D> constexpr int lt_pitch = D + lt_per_access<S>;

static __device__ __forceinline__ int lt_lane() { return static_cast<int>(threadIdx.x) % LT_WARP; }

/* The source row that is stored in row r of a tile loaded in pairs. */
static __device__ __forceinline__ int lt_paired(int r)
{
    return (r & ~15) | (r & 7) << 1 | (r >> 3 & 1);
}

/* Rows of a tensor: elements of a row are contiguous, rows are `stride` elements apart. */
template <class S> struct lt_rows {
    const S *data;
    int64_t stride;
    int width;
    bool aligned; /* every row is aligned to 16 bytes */
};

/* Loads rows first .. end - 1 into a tile and fills its remaining rows with zeros. Only columns
 * below the width, rounded up to a multiple of 32, are written. */
template <bool PAIRED, int ROWS, int D, int THREADS, class S>
static __device__ __forceinline__ void lt_load_tile(S *tile, lt_rows<S> from, int first, int end)
{
    constexpr int V = lt_per_access<S>, ACROSS = D / V;
    static_assert(ROWS * ACROSS % THREADS == 0, "every thread loads as much");
    const int used = (from.width + 31) / 32 * 32;
    for (int i = static_cast<int>(threadIdx.x); i < ROWS * ACROSS; i += THREADS) {
        const int r = i / ACROSS, column = i % ACROSS * V,
                  row = first + (PAIRED ? lt_paired(r) : r);
        if (column >= used) continue;
        lt_vector<S, V> v = {};
        if (row < end && column < from.width) {
            const S *p = from.data + row * from.stride + column;
            if (from.aligned && column + V <= from.width)
                v = *reinterpret_cast<const lt_vector<S, V> *>(p);
            else
                LT_UNROLLED
            for (int e = 0; e < V; e++)
                if (column + e < from.width) v.v[e] = p[e];
        }
        *reinterpret_cast<lt_vector<S, V> *>(tile + r * lt_pitch<S, D> + column) = v;
    }
}

/* ---- half types ------------------------------------------------------------------------------ */

template <class S> struct lt_tile {
    using C = float;

    /* For element i of a lane's result tile n: which of the lane's two rows, and the column. */
    static __device__ __forceinline__ constexpr int row(int, int i) { return i / 2; }
    static __device__ __forceinline__ int column(int n, int i)
    {
        return n * 8 + 2 * (lt_lane() % 4) + i % 2;
    }

    /* acc += A B^T: 16 * MT rows at a, `rows` (at most NT * 8) rows at b, the first k columns. */
    template <int D, int MT, int NT>
    static __device__ __forceinline__ void scores(C (&acc)[MT][NT][4], const S *a, const S *b,
                                                  int rows, int k)
    {
        constexpr int P = lt_pitch<S, D>;
        const int l = lt_lane();
        const S *from_a = a + l % 16 * P + l / 16 * 8,
                *from_b = b + (l % 8 + l / 16 * 8) * P + l / 8 % 2 * 8;
        LT_NOT_UNROLLED
        for (int at = 0; at < k; at += 16) {
            uint32_t left[MT][4];
            LT_UNROLLED
            for (int m = 0; m < MT; m++) lt_load_matrices<false>(left[m], from_a + m * 16 * P + at);
            LT_UNROLLED
            for (int n = 0; n < NT; n += 2) {
                if (n % 4 == 0 && n * 8 >= rows) break;
                uint32_t right[4];
                lt_load_matrices<false>(right, from_b + n * 8 * P + at);
                LT_UNROLLED
                for (int m = 0; m < MT; m++) {
                    lt_multiply(acc[m][n], left[m], {right[0], right[1]}, S());
                    lt_multiply(acc[m][n + 1], left[m], {right[2], right[3]}, S());
                }
            }
        }
    }

    /* out += P B: P are scores; `rows` rows at b, of which the first k columns are used. */
    template <int D, int MT, int NT>
    static __device__ __forceinline__ void weigh(C (&out)[MT][D / 8][4], const C (&p)[MT][NT][4],
                                                 const S *b, int rows, int k)
    {
        constexpr int P = lt_pitch<S, D>;
        const int l = lt_lane();
        const S *from = b + l % 16 * P + l / 16 * 8;
        LT_UNROLLED
        for (int n = 0; n < NT; n += 2) {
            if (n % 4 == 0 && n * 8 >= rows) break;
            uint32_t left[MT][4];
            LT_UNROLLED
            for (int m = 0; m < MT; m++) {
                left[m][0] = lt_pair<S>(p[m][n][0], p[m][n][1]);
                left[m][1] = lt_pair<S>(p[m][n][2], p[m][n][3]);
                left[m][2] = lt_pair<S>(p[m][n + 1][0], p[m][n + 1][1]);
                left[m][3] = lt_pair<S>(p[m][n + 1][2], p[m][n + 1][3]);
            }
            LT_UNROLLED
            for (int d = 0; d < D / 8; d += 2) {
                if (d % 4 == 0 && d * 8 >= k) break;
                uint32_t right[4];
                lt_load_matrices<true>(right, from + n * 8 * P + d * 8);
                LT_UNROLLED
                for (int m = 0; m < MT; m++) {
                    lt_multiply(out[m][d], left[m], {right[0], right[1]}, S());
                    lt_multiply(out[m][d + 1], left[m], {right[2], right[3]}, S());
                }
            }
        }
    }
};

/* ---- float and double ------------------------------------------------------------------------ */

template <class T> struct lt_plain_tile {
    using C = T;
    /* columns read by four lanes at once */
    static constexpr int V = lt_per_access<T>, COLUMNS = 4 * V;

    /* A lane's columns: V contiguous ones (16 bytes) of every COLUMNS. */
    static __device__ __forceinline__ constexpr int row(int n, int i)
    {
        return V == 4 ? n % 2 : i / 2;
    }
    static __device__ __forceinline__ int column(int n, int i)
    {
        return V == 4 ? n / 2 * 16 + lt_lane() % 4 * 4 + i : n * 8 + lt_lane() % 4 * 2 + i % 2;
    }

    template <int D, int MT, int NT>
    static __device__ __forceinline__ void scores(C (&acc)[MT][NT][4], const T *a, const T *b,
                                                  int rows, int k)
    {
        static_assert(MT == 1, "registers for one");
        constexpr int P = lt_pitch<T, D>;
        const int l = lt_lane();
        const T *from_a = a + l / 4 * P, *from_b = b + l % 4 * 2 * P;
        LT_NOT_UNROLLED
        for (int at = 0; at < k; at += V) {
            const auto low = vector(from_a + at), high = vector(from_a + 8 * P + at);
            LT_UNROLLED
            for (int n = 0; n < NT; n++) {
                if (n % 4 == 0 && n * 8 >= rows) break;
                const auto first = vector(from_b + n * 8 * P + at),
                           second = vector(from_b + (n * 8 + 1) * P + at);
                LT_UNROLLED
                for (int e = 0; e < V; e++) {
                    acc[0][n][0] += low.v[e] * first.v[e];
                    acc[0][n][1] += low.v[e] * second.v[e];
                    acc[0][n][2] += high.v[e] * first.v[e];
                    acc[0][n][3] += high.v[e] * second.v[e];
                }
            }
        }
    }

    /* The four lanes of a row exchange its probabilities by shuffles. */
    template <int D, int MT, int NT>
    static __device__ __forceinline__ void weigh(C (&out)[MT][D / 8][4], const C (&p)[MT][NT][4],
                                                 const T *b, int rows, int k)
    {
        constexpr int P = lt_pitch<T, D>,
                      EACH = V == 4 ? 2 : 1; /* tiles of the result per COLUMNS */
        const int l = lt_lane();
        const T *from = b + l % 4 * V;
        LT_UNROLLED
        for (int n = 0; n < NT; n++) {
            if (n % 4 == 0 && n * 8 >= rows) break;
            LT_NOT_UNROLLED
            for (int lane = 0; lane < 4; lane++) {
                LT_UNROLLED
                for (int e = 0; e < 2; e++) {
                    const T low = __shfl_sync(0xffffffffu, p[0][n][e], (l & ~3) | lane),
                            high = __shfl_sync(0xffffffffu, p[0][n][2 + e], (l & ~3) | lane);
                    const T *line = from + (n * 8 + lane * 2 + e) * P;
                    LT_UNROLLED
                    for (int d = 0; d < D / 8; d += EACH) {
                        if (d % 4 == 0 && d * 8 >= k) break;
                        const auto right = vector(line + d * 8);
                        LT_UNROLLED
                        for (int i = 0; i < V; i++) {
                            out[0][d][i] += low * right.v[i];
                            out[0][d + EACH - 1][V == 4 ? i : i + V] += high * right.v[i];
                        }
                    }
                }
            }
        }
    }

  private:
    static __device__ __forceinline__ lt_vector<T, V> vector(const T *p)
    {
        return *reinterpret_cast<const lt_vector<T, V> *>(p);
    }
};
template <> struct lt_tile<float> : lt_plain_tile<float> {};
template <> struct lt_tile<double> : lt_plain_tile<double> {};

#endif
