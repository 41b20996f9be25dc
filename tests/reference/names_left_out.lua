-- Names of PyTorch that are not here, by reason: `module.name`, where the name may be a pattern of Lua's (a whole name) and a module
-- of '*' means any.
return {
  { reason = 'TorchScript, and what compiles, traces or describes programs of Python',
    names = [[torch.AggregationType torch.AVG torch.SUM torch.AliasDb torch.%a+Type torch.Argument torch.ArgumentSpec torch.Block torch.CallStack torch.Capsule torch.Code
      torch.CompilationUnit torch.CompleteArgumentSpec torch.ConcreteModuleTypeBuilder torch.DeepCopyMemoTable torch.DeserializationStorageContext
      torch.SerializationStorageContext torch.ErrorReport torch.ExecutionPlan torch.FatalError torch.FileCheck torch.FunctionSchema torch.Future torch.Gradient torch.Graph
      torch.GraphExecutorState torch.IODescriptor torch.JITException torch.LiteScriptModule torch.LockingLogger torch.NoopLogger torch.Node torch.OperatorInfo
      torch.PyTorchFileReader torch.PyTorchFileWriter torch.Script%a+ torch.StaticModule torch.ThroughputBenchmark torch.BenchmarkConfig
      torch.BenchmarkExecutionStats torch.TracingState torch.Type torch.Use torch.Value torch.BufferDict torch.ModuleDict torch.ParameterDict torch.fork torch.wait
      torch.import_ir_module torch.import_ir_module_from_buffer torch.merge_type_from_type_comment torch.parse_ir torch.parse_schema
      torch.parse_type_comment torch.unify_type_list torch.cond torch.testing.FileCheck torch.init_num_threads torch.Tag torch.is_storage]] },
  { reason = "symbolic sizes, and hooks of Python's objects into PyTorch's dispatcher",
    names = [[torch.sym_%g+ torch.Sym%a+ torch.DispatchKey torch.DispatchKeySet torch.ExcludeDispatchKeyGuard
      torch.DisableTorchFunction torch.DisableTorchFunctionSubclass torch.nn.functional.handle_torch_function torch.nn.functional.has_torch_function%g*
      torch.nn.functional.BroadcastingList%d torch.nn.functional.boolean_dispatch torch.nn.functional.assert_int_or_pair torch.nn.functional.DType
      torch.nn.functional.TYPE_CHECKING torch.nn.functional.Tensor torch.nn.functional.%g+_notes torch.nn.functional.GRID_SAMPLE%g*
      torch.nn.functional.ScalingType torch.nn.functional.SwizzleType torch.nn.factory_kwargs torch.linalg.common_notes torch.fft.Tensor
      torch.Tensor.as_subclass torch.Tensor.module_load torch.Tensor.map_ torch.Tensor.map2_ torch.Tensor.apply_
      torch.utils.data.argument_validation torch.utils.data.functional_datapipe torch.utils.data.%a*guaranteed_datapipes_determinism
      torch.utils.data.non_deterministic torch.utils.data.runtime_validation torch.utils.data.runtime_validation_disabled torch.utils.data.%a*DataPipe
      torch.utils.data.DataChunk torch.func.debug_unwrap torch.func.functionalize torch.func.rearrange torch.optim.swap_in_optimizer_params_and_state
      torch.distributions.constraints.dependent_property torch.nn.utils.parametrize.type_before_parametrizations torch.nn.utils.parametrize.transfer_parametrizations_and_params]] },
  { reason = 'names that PyTorch itself calls old, or keeps for old programs alone',
    names = [[torch.Tensor.eig torch.Tensor.symeig torch.Tensor.lstsq torch.Tensor.solve torch.Tensor.volatile torch.Tensor.reinforce torch.Tensor.name
      torch.Tensor.resize torch.Tensor.resize_as torch.Tensor.new torch.autograd.Variable torch.autograd.variable torch.autograd.NestedIOFunction
      torch.nn.Container torch.nn.NLLLoss2d torch.nn.init.%a+ torch.nn.init.kaiming_%a+ torch.nn.init.xavier_%a+ torch.nn.utils.clip_grad_norm torch.cuda.amp.%g+
      torch.testing.assert_allclose torch.has_%a+ torch.norm_except_dim torch.%u%a+Storage torch.cuda.%w+Storage torch.Tensor.storage
      torch.Tensor.storage_type torch.Tensor.untyped_storage torch.cuda.%w+Tensor torch.cuda.has_half torch.cuda.has_magma torch.cuda.DeferredCudaCallError
      torch.set_default_tensor_type torch.Tensor.set_ torch.Tensor.is_distributed torch.is_distributed
      torch.Tensor.const_data_ptr torch.cuda.init torch.cuda.is_initialized torch.cuda.list_gpu_processes torch.cuda.memory_snapshot torch.autograd.set_multithreading_enabled
      torch.utils.dlpack.DLDeviceType torch.Tensor.ipu torch.Tensor.xpu torch.Tensor.mtia torch.layout torch.memory_format torch.set_warn_always
      torch.is_warn_always_enabled torch.utils.checkpoint.check_backward_validity torch.utils.checkpoint.detach_variable
      torch.utils.checkpoint.DefaultDeviceType torch.get_device_module torch.dtype torch.Tensor.grad_dtype]] },
  { reason = 'quantized engines, and dtypes of fewer bits than eight or of packed bits',
    names = [[*.q_%g+ *.qscheme *.int_repr *.dequantize torch.quantize%g+ torch.qu?int%g+ torch.fbgemm_%g+ torch.fake_quantize_%g+
      torch.fused_%g+ torch.choose_qparams_optimized torch.empty_quantized torch.bits%g+ torch.bit torch.u?int[1-7] torch.float4%g+
      torch.Tensor.is_quantized torch.nn.functional.scaled_mm torch.nn.functional.scaled_grouped_mm torch.nn.functional.grouped_mm
      torch.Tensor.is_nested torch.Tensor.to_padded_tensor]] },
  { reason = 'hooks of one vendor or one library behind the functions that are here',
    names = [[torch.cudnn_%g+ torch.miopen_%g+ torch.mkldnn_%g+ torch.Tensor.is_%a+ torch.Tensor.to_mkldnn torch.is_vulkan_available torch.set_flush_denormal
      torch.batch_norm_backward_elemt torch.batch_norm_backward_reduce torch.batch_norm_elemt torch.batch_norm_gather_stats%g* torch.batch_norm_stats
      torch.batch_norm_update_stats torch.get_num_interop_threads torch.set_num_interop_threads torch.[gs]et_autocast_%g+ torch.is_autocast_%a+_enabled
      torch.autocast_%a+crement_nesting torch.cuda.cudart torch.cuda.cudaStatus torch.cuda.CudaError torch.cuda.check_error torch.cuda.current_blas_handle
      torch.cuda.current_solver_handle torch.cuda.GreenContext torch.cuda.CUDAPluggableAllocator torch.cuda.change_current_allocator
      torch.cuda.get_allocator_backend torch.cuda.caching_allocator_%g+ torch.cuda.MemPool torch.cuda.use_mem_pool torch.cuda.ExternalStream
      torch.cuda.get_stream_from_external torch.cuda.ipc_collect torch.cuda.is_tf32_supported torch.cuda.get_arch_list torch.cuda.get_gencode_flags
      torch.cuda.clock_rate torch.cuda.power_draw torch.cuda.temperature torch.cuda.utilization torch.cuda.memory_usage torch.cuda.device_memory_used
      torch.cuda.StreamContext torch.cuda.default_generators torch.cuda.%g*host_memory_stats%g* torch.cuda.reset_accumulated_memory_stats
      torch.cuda.memory_stats_as_nested_dict torch.cuda.get_per_process_memory_fraction torch.cuda.make_graphed_callables torch.conv_tbc torch.nn.functional.conv_tbc
      torch.Tensor.dim_order torch.Tensor.share_memory_ torch.Tensor.is_set_to
      torch.thread_safe_generator torch.random.thread_safe_generator torch.autograd.enforce_grad_layout_policy
      torch.nn.utils.convert_conv%dd_weight_memory_format torch.AcceleratorError torch.sparse.SparseSemiStructured%g+
      torch.sparse.to_sparse_semi_structured]] },
  { reason = 'sparse tensors in blocks: docs/design/sparse.md', names = [[torch.sparse_bs[cr]_tensor torch.Tensor.to_sparse_bs[cr] ]] },
  { reason = 'older names of products with sparse matrices, which mm and addmm are here', names = [[torch.[dhs]s?mm torch.h?spmm torch.saddmm *.sspaddmm *.smm torch.sparse.solve]] },
  { reason = 'copies of the components of sparse tensors, which are never written here, and what would write them',
    names = [[*.%a+_indices_copy *.indices_copy *.values_copy *.resize_as_sparse_ torch.Tensor.sparse_resize_%g*]] },
  { reason = 'indices are always looked at; gradcheck takes the values', names = [[torch.sparse.check_sparse_tensor_invariants torch.sparse.as_sparse_gradcheck]] },
  { reason = 'the machinery below torch.nn.functional and torch.nn, where the function is',
    names = [[torch.alpha_dropout_? torch.dropout_ torch.feature_%g+ torch.batch_norm torch.instance_norm torch.native_%g+ torch.nn.functional.native_channel_shuffle
      torch.cosine_embedding_loss torch.ctc_loss torch.embedding_bag torch.embedding_renorm_ torch.hinge_embedding_loss torch.kl_div
      torch.margin_ranking_loss torch.poisson_nll_loss torch.triplet_margin_loss torch.grid_sampler%g* torch.affine_grid_generator
      torch.conj_physical_ torch.rrelu_ torch.nn.functional.rrelu_ torch.nn.RNNCellBase torch.utils.checkpoint.CheckpointFunction
      torch.utils.checkpoint.CheckpointPolicy torch.utils.checkpoint.SAC_IGNORED_OPS torch.utils.checkpoint.GraphExecGroup torch.utils.checkpoint.noop_context_fn
      torch.utils.checkpoint.[gs]et_device_states torch.linalg.LinAlgError torch.OutOfMemoryError torch.utils.checkpoint.CheckpointError torch.slice_copy torch.view_as_%a+_copy torch.Tensor.index
      torch.GradScaler torch.Event torch.Stream torch.is_anomaly_enabled torch.is_anomaly_check_nan_enabled
      torch.set_anomaly_enabled torch.[gs]et_deterministic_debug_mode torch.autograd.graph.Node torch.autograd.forward_ad.UnpackedDualTensor torch.nn.utils.parametrize.cached
      torch.nn.Buffer torch.utils.data.default_convert torch.Tensor.grad torch.Tensor.grad_fn torch.slice_inverse torch.Tensor.slice_inverse]] },
  { reason = "parts of functions that are here, which PyTorch's own tests call by their internal names",
    names = [[torch.ops.aten._batch_norm_with_update torch.ops.aten._chunk_cat torch.ops.aten._efficient_attention_forward torch.ops.aten._flash_attention_forward
      torch.ops.aten._native_batch_norm_legit torch.ops.aten._safe_softmax.default torch.ops.aten._segment_reduce torch.ops.aten._softmax_backward_data
      torch.ops.aten._unsafe_masked_index torch.ops.aten._unsafe_masked_index_put_accumulate torch.ops.aten._upsample_bilinear2d_aa
      torch.ops.aten.max_pool2d_with_indices_backward torch.ops.aten.native_dropout_backward torch.ops.aten.slice]] },
  { reason = "products of float8 and int4, and kernels in C++ that the program's source holds",
    names = [[torch.ops.aten._scaled_mm torch.ops.aten._scaled_mm_v2 torch.ops.aten.jiterator_%g+]] },
  { reason = 'checkpoint runs its function again as a whole: it keeps no results of single ops, compares none and stops nowhere before the end',
    names = [[torch.utils.checkpoint.SelectiveCheckpointContext torch.utils.checkpoint.create_selective_checkpoint_contexts torch.utils.checkpoint.set_checkpoint_%g+]] },
  { reason = 'what the compiler of PyTorch computes again instead of keeping it; torch.compile here keeps what the graph does: docs/design/compile.md',
    names = [[torch.autograd.graph.region_activation_memory_budget]] },
  { reason = "settings for the streams of leaves in PyTorch's backward: here what arrives is ordered on the stream of the node that takes it, with no warning and no way around it",
    names = [[torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch torch.autograd.graph.set_override_stale_capture_stream]] },
  { reason = 'a prototype of PyTorch, of a few operators: the functions of torch.masked take the mask beside the tensor', names = [[torch.masked.%g*[mM]asked_?[tT]ensor]] },
}
