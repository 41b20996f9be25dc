-- hot.lua - the kernels that decide how fast a training step is, by the file that has them, and what is required of them.
--
--   element        bytes of an element, as it lies in memory
--   loads, stores  bytes that an element reads and writes
--   passes         how often the elements are gone over (1)
--   dims           dimensions of the layout that is looked at, where elements are strided (1)
--   stored         bytes that a thread stores at once, where the dtype is looked at when the kernel runs
--   threads        of a block (256)
--   wide           it has accesses of 16 bytes and may not lose them; store_width: where what is stored is narrower
return {
  { file = 'arithmetic', name = 'lt_dense_kernel<add_op, float, float>', what = 'add, float32', element = 4, loads = 8, stores = 4, wide = true },
  { file = 'arithmetic', name = 'lt_dense_kernel<add_op, float, __nv_bfloat16>', what = 'add, bfloat16', element = 2, loads = 4, stores = 2, wide = true },
  { file = 'arithmetic', name = 'lt_strided_kernel<add_op, float>', what = 'add, float32, 3 strided dims', element = 4, dims = 3, loads = 8, stores = 4 },
  { file = 'copy', name = 'convert<float>', what = 'float32 to bfloat16', element = 4, loads = 4, stores = 2 },
  { file = 'copy', name = 'move<unsigned int>', what = 'copy, float32, 3 strided dims', element = 4, dims = 3, loads = 4, stores = 4 },
  { file = 'copy', name = 'transpose<unsigned int>', what = 'transpose, float32', element = 4, loads = 4, stores = 4 },
  { file = 'fill', name = 'fill_words', what = 'fill, float32', element = 8, stores = 4 },
  { file = 'fill', name = 'fill_strided<unsigned int>', what = 'fill, float32, 3 strided dims', element = 4, dims = 3, stores = 4 },
  { file = 'batch_norm', name = 'measure<float>', what = 'batch_norm statistics', element = 4, loads = 4, threads = 512 },
  { file = 'batch_norm', name = 'scale<float>', what = 'batch_norm', element = 4, loads = 4, stores = 4 },
  { file = 'batch_norm', name = 'scale_backward<float>', what = 'batch_norm backward', element = 4, loads = 8, stores = 4 },
  { file = 'batch_norm', name = 'lt_sum_channels<float>', what = 'batch_norm sums', element = 4, loads = 8, threads = 512 },
}
