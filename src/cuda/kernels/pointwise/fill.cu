/* fill.cu - sets every element of a tensor to one number. */
#include <string.h>

#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

enum { BLOCK = 256 };

/* Dense memory, by words of 8 bytes that hold the element repeated; the rest after the last word too. */
static __global__ void __launch_bounds__(BLOCK)
    fill_words(char *data, int64_t nbytes, uint64_t word)
{
    const int64_t first = lt_thread_number() * 16;
    if (first + 16 <= nbytes) {
        uint64_t *p = reinterpret_cast<uint64_t *>(data + first);
        p[0] = p[1] = word;
        return;
    }
    for (int64_t i = first; i < nbytes; i++) data[i] = static_cast<char>(word >> i % 8 * 8);
}

template <class T>
static __global__ void __launch_bounds__(BLOCK)
    fill_strided(char *data, lt_offsets<1> offsets, uint64_t word)
{
    const int64_t index = lt_thread_number();
    int64_t offset;
    if (index >= offsets.numel) return;
    offsets.at(index, &offset);
    *reinterpret_cast<T *>(data + offset) = static_cast<T>(word);
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

lt_status lt_cuda_fill(const lt_iter *it, lt_scalar value)
{
    cudaStream_t stream;
    const int64_t size = lt_element_size(it->dtype[0]);
    if (it->numel == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(it->device.index, &stream));
    const uint64_t word = repeated(it->dtype[0], value);
    char *data = it->data[0];
    const bool dense = it->ndim == 0 || (it->ndim == 1 && it->strides[0][0] == size);
    lt_offsets<1> offsets;
    offsets.of(it, 0, it->ndim);
    const unsigned blocks = lt_blocks(it->numel, BLOCK);
    if (dense && reinterpret_cast<uintptr_t>(data) % 8 == 0)
        LT_LAUNCH(fill_words, lt_blocks(it->numel * size, BLOCK * 16), BLOCK, stream, data,
                  it->numel * size, word);
    else if (size == 1)
        LT_LAUNCH(fill_strided<uint8_t>, blocks, BLOCK, stream, data, offsets, word);
    else if (size == 2)
        LT_LAUNCH(fill_strided<uint16_t>, blocks, BLOCK, stream, data, offsets, word);
    else if (size == 4)
        LT_LAUNCH(fill_strided<uint32_t>, blocks, BLOCK, stream, data, offsets, word);
    else
        LT_LAUNCH(fill_strided<uint64_t>, blocks, BLOCK, stream, data, offsets, word);
    return lt_cuda_launched(it->device.index, stream, "fill");
}
