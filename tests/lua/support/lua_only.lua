-- lua_only.lua - public functions that exist in Lua only, by reason: operation_names_spec.lua. The others are
-- operations of lt_call and functions of ltensor_ops.h.

local reasons = {
  ['its values are Lua tables'] = 'tensor as_tensor asarray',
  ['a class of Lua; C has lt_tensor, lt_dims, lt_device and lt_generator'] = [[
    Tensor BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor
    ShortTensor Size Generator device]],
  ['it calls a function of Lua'] = 'compile vmap lobpcg nn.functional.triplet_margin_with_distance_loss',
  ['it takes the tensor itself out of its graph; lt_detach in C'] = 'detach_',
  ['a scope of Lua; C has lt_set_grad_enabled'] = 'no_grad enable_grad inference_mode autocast',
  ['a setting; C has functions of the context, the generator and the process (ltensor.h)'] = [[
    are_deterministic_algorithms_enabled is_deterministic_algorithms_warn_only_enabled use_deterministic_algorithms
    clear_autocast_cache get_autocast_dtype is_autocast_cache_enabled is_autocast_enabled get_default_device
    set_default_device get_default_dtype set_default_dtype get_float32_matmul_precision set_float32_matmul_precision
    get_num_threads set_num_threads get_printoptions set_printoptions get_rng_state set_rng_state initial_seed
    manual_seed seed is_grad_enabled set_grad_enabled is_inference_mode_enabled memory_trim]],
  ['a property; C has lt_tensor_dtype, lt_tensor_numel and functions of lt_dtype (ltensor.h)'] = [[
    is_complex is_floating_point is_inference is_same_size is_signed is_tensor get_device numel type typename
    promote_types result_type can_cast broadcast_shapes finfo iinfo]],
  ['files and memory of other libraries; C has functions of ltensor.h'] = [[
    load save from_file from_numpy frombuffer from_arrow to_arrow from_dlpack to_dlpack]],
  ['a helper of programs, not of PyTorch'] = 'try_gpu try_all_gpus time',
  ['sparse_coo_tensor and sparse_compressed_tensor in C'] = 'sparse_csr_tensor sparse_csc_tensor',

  -- ---- operations that are written in Lua -----------------------------------------------------------------------------
  ['the number of its results depends on an argument; linalg.lu_factor_ex in C'] = 'lu',
  ['the number of its results depends on an argument'] = 'unravel_index',
  ['its fill value is no position; nonzero in C'] = 'nonzero_static',
  ['its results are a tensor and a list of tensors; histogram in C'] = 'histogramdd',
  ['its options are an object of Lua, and it recomputes parts by a function of Lua; C has lt_linear and lt_cross_entropy'] =
    'nn.functional.linear_cross_entropy',
  ['the forward of nn.MultiheadAttention, a composition of modules; C has lt_linear and lt_scaled_dot_product_attention'] =
    'nn.functional.multi_head_attention_forward',
}

local list = {}
for reason, names in pairs(reasons) do
  for name in names:gmatch '%S+' do list[name] = reason end
end
return list
