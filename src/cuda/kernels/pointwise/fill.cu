/* fill.cu - sets every element of a tensor to one value. */
#include <string.h>

#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "kernels/split.cuh"
#include "runtime/marks.cuh"

enum { BLOCK = 256, ITEMS = 4 };

/* Fills dense memory, 16 bytes per thread, including a shorter tail. word: the element repeated. */
static __global__ void __launch_bounds__(BLOCK)
    fill_words(char *data, int64_t nbytes, uint64_t word)
{
    const int64_t first = lt_thread_number() * 16;
    if (first + 16 <= nbytes) {
        *reinterpret_cast<lt_bytes16 *>(data + first) = lt_bytes16{{word, word}};
        return;
    }
    for (int64_t i = first; i < nbytes; i++) data[i] = static_cast<char>(word >> i % 8 * 8);
}

struct fill_operands {
    char *data;
    uint64_t word;
    lt_offsets_32<1> places;
};

/* T: unsigned type of the element's size, or lt_bytes16 for 16 bytes of elements. */
template <class T> static __global__ void __launch_bounds__(BLOCK) fill_strided(fill_operands a)
{
    const uint32_t first = blockIdx.x * (ITEMS * BLOCK) + threadIdx.x;
    uint32_t index[ITEMS];
    int32_t offset[ITEMS][1];
    T value;
    if constexpr (std::is_integral_v<T>)
        value = static_cast<T>(a.word);
    else
        value = {{a.word, a.word}};
    for (int i = 0; i < ITEMS; i++) index[i] = first + i * BLOCK;
    a.places.at<ITEMS>(index, offset);
    for (int i = 0; i < ITEMS; i++)
        if (index[i] < a.places.numel) /* offsets may coincide (stride 0) */
            LT_STORE_ANY(reinterpret_cast<T *>(a.data + offset[i][0]), value);
}

/* The element, repeated to fill 8 bytes. */
static uint64_t repeated(lt_dtype dtype, lt_scalar value)
{
    const size_t size = static_cast<size_t>(lt_element_size(dtype));
    char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i += size) {
        if (value.kind == LT_SCALAR_FLOAT)
            lt_store<double>(dtype, bytes + i, value.v.d);
        else
            lt_store<int64_t>(dtype, bytes + i, value.v.i);
    }
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

template <class T>
static void launch_fill(const lt_iter *it, int64_t together, uint64_t word, cudaStream_t stream)
{
    const int64_t bytes[] = {16};
    fill_operands a = {it->data[0], word, {}};
    a.places.of(it, together, bytes);
    LT_LAUNCH(fill_strided<T>, lt_blocks(a.places.numel, BLOCK * ITEMS), BLOCK, stream, a);
}

/* Whether the memory consists of contiguous rows along dimension 0, aligned to 16 bytes and
 * multiples of 16 bytes long. */
static bool has_rows(const lt_iter *it, int64_t size)
{
    int64_t bits =
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(it->data[0])) | it->sizes[0] * size;
    if (it->ndim == 0 || it->strides[0][0] != size) return false;
    for (int d = 1; d < it->ndim; d++) bits |= it->strides[0][d];
    return bits % 16 == 0;
}

/* Complex numbers: fills real parts, then imaginary parts. */
static lt_status fill_parts(const lt_iter *it, lt_scalar value)
{
    lt_iter part = *it;
    part.dtype[0] = lt_part_of(it->dtype[0]);
    LT_TRY(lt_cuda_fill(&part,
                        value.kind == LT_SCALAR_COMPLEX ? lt_scalar_from_float(value.v.d) : value));
    part.data[0] += lt_element_size(part.dtype[0]);
    return lt_cuda_fill(&part, lt_scalar_from_float(value.imaginary));
}

lt_status lt_cuda_fill(const lt_iter *it, lt_scalar value)
{
    cudaStream_t stream;
    const int64_t size = lt_element_size(it->dtype[0]);
    if (it->numel == 0) return LT_OK;
    if (lt_is_complex(it->dtype[0])) return fill_parts(it, value);
    LT_TRY(lt_cuda_enter(it->device.index, &stream));
    const uint64_t word = repeated(it->dtype[0], value);
    char *data = it->data[0];
    const bool dense = it->ndim == 0 || (it->ndim == 1 && it->strides[0][0] == size);
    if (dense && lt_is_aligned(data)) {
        LT_LAUNCH(fill_words, lt_blocks(it->numel * size, BLOCK * 16), BLOCK, stream, data,
                  it->numel * size, word);
        return lt_cuda_launched(it->device.index, stream, "fill");
    }
    LT_TRY(lt_split_launches(it, [&](const lt_iter *piece) {
        if (has_rows(piece, size))
            launch_fill<lt_bytes16>(piece, 16 / size, word, stream);
        else if (size == 1)
            launch_fill<uint8_t>(piece, 1, word, stream);
        else if (size == 2)
            launch_fill<uint16_t>(piece, 1, word, stream);
        else if (size == 4)
            launch_fill<uint32_t>(piece, 1, word, stream);
        else
            launch_fill<uint64_t>(piece, 1, word, stream);
        return LT_OK;
    }));
    return lt_cuda_launched(it->device.index, stream, "fill");
}
