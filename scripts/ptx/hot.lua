-- hot.lua - the kernels that dominate the time of a training step, and the requirements on their
-- machine code. An entry is
--
--   { file, kernel, description, bytes per element, bytes read per element,
--     bytes written per element, more }
--
-- and becomes a table { file, name, what, element, loads, stores } plus the fields of `more`, with
-- their defaults:
--
--   narrow         no 16-byte accesses are required (false)
--   store_width    required width of the widest store in bytes (16)
--   passes         number of passes over the elements (1)
--   dims           dimensions of the layout that is estimated, for strided elements (1)
--   stored         bytes that a thread stores at once; selects the branch of a kernel that
--                  switches on the dtype (any)
--   threads        threads per block (256)
local list = {
  { 'arithmetic', 'lt_dense_kernel<add_op, float, float>', 'add, float32', 4, 8, 4 },
  { 'arithmetic', 'lt_dense_kernel<add_op, float, __nv_bfloat16>', 'add, bfloat16', 2, 4, 2 },
  { 'arithmetic', 'lt_dense_kernel<add_op, float, float>', 'add of rows that are broadcast, float32', 4, 8, 4, { dims = 3 } },
  { 'arithmetic', 'lt_strided_kernel<add_op, float>', 'add, float32, 3 strided dims', 4, 8, 4, { dims = 3, narrow = true } },
  { 'arithmetic', 'lt_strided_kernel<add_op, float>', 'add, bfloat16, 3 strided dims', 2, 4, 2, { dims = 3, narrow = true } },
  { 'activations', 'lt_dense_kernel<gelu_by_erf_op, float, __nv_bfloat16>', 'gelu, bfloat16', 2, 2, 2 },
  { 'functions', 'lt_dense_kernel<exp_op, float, float>', 'exp, float32', 4, 4, 4 },
  { 'complex', 'dense_kernel<float>', 'arithmetic, complex64', 8, 16, 8 },
  { 'complex', 'dense_kernel<double>', 'arithmetic, complex128', 16, 32, 16 },
  { 'fft', 'scale_all<float>', 'scale of a Fourier transform, complex64', 4, 4, 4 },
  { 'copy', 'convert_rows<float>', 'float32 to bfloat16', 4, 4, 2, { stored = 16 } },
  { 'copy', 'convert_rows<__nv_bfloat16>', 'bfloat16 to float32', 2, 2, 4, { stored = 32 } },
  { 'copy', 'move<lt_bytes16>', 'copy of rows, float32, 3 dims', 4, 4, 4, { dims = 3 } },
  { 'copy', 'move<unsigned int>', 'copy, float32, 3 strided dims', 4, 4, 4, { dims = 3, narrow = true } },
  { 'copy', 'transpose<unsigned int>', 'transpose, float32', 4, 4, 4, { narrow = true } },
  { 'fill', 'fill_words', 'fill, float32', 4, nil, 4 },
  { 'fill', 'fill_strided<lt_bytes16>', 'fill of rows, float32, 3 dims', 4, nil, 4, { dims = 3 } },
  { 'fill', 'fill_strided<unsigned int>', 'fill, float32, 3 strided dims', 4, nil, 4, { dims = 3, narrow = true } },
  { 'random', 'draw<uniform_float>', 'uniform_, float32', 4, nil, 4, { stored = 64 } },
  { 'random', 'draw<normal_float>', 'normal_, float32', 4, nil, 4, { stored = 64 } },
  { 'reduce', 'reduce_by_team<sum_step, float>', 'sum along rows, float32', 4, 4 },
  { 'reduce', 'reduce_moments<float>', 'variance along long rows, float32', 4, 4 },
  { 'reduce', 'reduce_by_thread<sum_step, float>', 'sum over rows, float32', 4, 4, nil, { narrow = true } },
  { 'scan', 'scan_chunks<double_sum>', 'cumsum along rows, float32', 4, 4, 4, { stored = 32 } },
  { 'scan', 'scan_chunks<double_sum>', 'cumsum along rows, bfloat16', 2, 2, 2, { stored = 16 } },
  { 'scan', 'scan_lines<double_sum>', 'cumsum along short rows, float32', 4, 4, 4, { stored = 32 } },
  { 'radix', 'move_digits<unsigned int>', 'sort: a digit of keys of 32 bits', 8, 8, 8, { narrow = true } },
  { 'radix', 'move_digits<unsigned long>', 'sort: a digit of keys of 64 bits', 16, 16, 16 },
  { 'softmax', 'forward_by_columns<float>', 'softmax over columns, float32, strided', 4, 4, 4, { passes = 3, threads = 512, narrow = true } },
  { 'softmax', 'backward_by_columns<float>', 'softmax backward over columns, float32, strided', 4, 8, 4,
    { passes = 2, threads = 512, narrow = true } },
  { 'softmax', 'forward_rows<float, float, true, 2>', 'softmax, float32', 4, 4, 4 },
  { 'softmax', 'forward_rows<float, float, true, 8>', 'softmax of many rows of up to 1024, float32', 4, 4, 4 },
  { 'softmax', 'forward_rows<float, float, false, 2>', 'softmax, float32, rows of any length', 4, 4, 4, { passes = 3 } },
  { 'softmax', 'forward_rows<__nv_bfloat16, float, true, 2>', 'softmax, bfloat16', 2, 2, 2 },
  { 'softmax', 'forward_rows<__nv_bfloat16, float, false, 2>', 'softmax, bfloat16, rows of any length', 2, 2, 2, { passes = 3 } },
  { 'softmax', 'backward_rows<float, float, true, 2>', 'softmax backward, float32', 4, 8, 4 },
  { 'softmax', 'backward_rows<float, float, true, 8>', 'softmax backward of many rows of up to 1024, float32', 4, 8, 4 },
  { 'softmax', 'backward_rows<float, float, false, 2>', 'softmax backward, float32, rows of any length', 4, 8, 4, { passes = 2 } },
  { 'softmax', 'backward_rows<__nv_bfloat16, float, true, 2>', 'softmax backward, bfloat16', 2, 4, 2 },
  { 'softmax', 'backward_rows<__nv_bfloat16, float, false, 2>', 'softmax backward, bfloat16, rows of any length', 2, 4, 2, { passes = 2 } },
  { 'norm', 'forward<float, float, true>', 'layer_norm, float32', 4, 4, 4 },
  { 'norm', 'forward<float, float, false>', 'layer_norm, float32, rows of any length', 4, 4, 4, { passes = 3 } },
  { 'norm', 'forward<__nv_bfloat16, float, true>', 'layer_norm, bfloat16', 2, 2, 2 },
  { 'norm', 'forward<__nv_bfloat16, float, false>', 'layer_norm, bfloat16, rows of any length', 2, 2, 2, { passes = 3 } },
  { 'norm', 'backward<float, float, true>', 'layer_norm backward, float32', 4, 8, 4 },
  { 'norm', 'backward<float, float, false>', 'layer_norm backward, float32, rows of any length', 4, 8, 4, { passes = 2 } },
  { 'norm', 'backward<__nv_bfloat16, float, true>', 'layer_norm backward, bfloat16', 2, 4, 2 },
  { 'norm', 'backward<__nv_bfloat16, float, false>', 'layer_norm backward, bfloat16, rows of any length', 2, 4, 2, { passes = 2 } },
  { 'batch_norm', 'measure<float, float>', 'batch_norm statistics, float32', 4, 4, nil, { threads = 512 } },
  { 'batch_norm', 'measure<__nv_bfloat16, float>', 'batch_norm statistics, bfloat16', 2, 2, nil, { threads = 512 } },
  { 'batch_norm', 'scale<float, float>', 'batch_norm, float32', 4, 4, 4 },
  { 'batch_norm', 'scale<__nv_bfloat16, float>', 'batch_norm, bfloat16', 2, 2, 2 },
  { 'batch_norm', 'scale_backward<float, float>', 'batch_norm backward, float32', 4, 8, 4 },
  { 'batch_norm', 'lt_sum_channels<float, float>', 'batch_norm sums, float32', 4, 8, nil, { threads = 512 } },
  { 'optim', 'optimize<adam_rule, float, 48>', 'Adam, float32', 4, 16, 12 },
  { 'optim', 'optimize<adam_rule, float, 512>', 'Adam of many tensors, float32', 4, 16, 12 },
  { 'optim', 'optimize<sgd_momentum_rule, float, 48>', 'SGD with momentum, float32', 4, 12, 8 },
  { 'index', 'get<3, unsigned int>', 'gather, float32', 4, 12, 4, { narrow = true } },
  { 'row_sums', 'add_tiles<float, float>', 'embedding backward, float32', 4, 4 },
  { 'index', 'get<3, lt_bytes16>', 'embedding, float32', 4, 4, 4 },
}

local hot = {}
for n, entry in ipairs(list) do
  local file, name, what, element, loads, stores = table.unpack(entry, 1, 6)
  hot[n] = { file = file, name = name, what = what, element = element, loads = loads, stores = stores }
  for key, value in pairs(entry[7] or {}) do hot[n][key] = value end
  hot[n].wide = not hot[n].narrow
end
return hot
