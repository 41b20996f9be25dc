/* band.cu - keeps a band of diagonals of matrices and zeroes the rest (triu, tril): one thread per
 * element. */
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "kernels/quotients.cuh"

enum { BLOCK = 256 };

/* T: unsigned type of the element's size. */
template <class T>
static __global__ void __launch_bounds__(BLOCK)
    keep_band(T *y, const T *x, int64_t n, lt_band b, lt_quotients by_columns, lt_quotients by_rows)
{
    const int64_t i = lt_thread_number();
    if (i >= n) return;
    const int64_t row = by_columns.of(i), column = i - row * b.columns,
                  diagonal = column - (row - by_rows.of(row) * b.rows);
    if (diagonal < b.low || diagonal > b.high)
        y[i] = T();
    else if (x != y)
        y[i] = x[i];
}

template <class T>
static void launch_band(const lt_band *b, void *y, const void *x, cudaStream_t stream)
{
    const int64_t n = b->matrices * b->rows * b->columns;
    LT_LAUNCH(keep_band<T>, lt_blocks(n, BLOCK), BLOCK, stream, static_cast<T *>(y),
              static_cast<const T *>(x), n, *b, lt_quotients(b->columns, n),
              lt_quotients(b->rows, n));
}

lt_status lt_cuda_band(const lt_band *b, void *y, const void *x)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(b->device.index, &stream));
    switch (b->size) {
    case 1: launch_band<uint8_t>(b, y, x, stream); break;
    case 2: launch_band<uint16_t>(b, y, x, stream); break;
    case 4: launch_band<uint32_t>(b, y, x, stream); break;
    case 8: launch_band<uint64_t>(b, y, x, stream); break;
    default: launch_band<lt_bytes16>(b, y, x, stream); break;
    }
    return lt_cuda_launched(b->device.index, stream, "band");
}
