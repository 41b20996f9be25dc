-- arguments_differ.lua - functions, methods and constructors whose declared arguments are not PyTorch's (arguments.lua), with the reason.
return {
  { reason = [[PyTorch also has unbiased in a row without the others; ours is a form of its own]], names = [[
    torch.std torch.std_mean torch.var torch.var_mean torch.Tensor.std torch.Tensor.var
  ]] },
  { reason = [[PyTorch also takes a packed sequence (data, batch_sizes); pass one to the module]], names = [[
    torch.gru torch.lstm torch.rnn_relu torch.rnn_tanh
  ]] },
  { reason = [[a step takes a closure alone]], names = [[
    torch.amp.GradScaler:step
  ]] },
  { reason = [[align_to_window: of center = false alone]], names = [[
    torch.stft torch.Tensor.stft
  ]] },
  { reason = [[amount is what PyTorch takes among its kwargs]], names = [[
    torch.nn.utils.prune.global_unstructured
  ]] },
  { reason = [[decimals is a form of its own]], names = [[
    torch.special.round
  ]] },
  { reason = [[destination: the dict is always a new one]], names = [[
    torch.nn.Module:state_dict torch.nn.Sequential:state_dict torch.nn.ModuleList:state_dict torch.nn.ModuleDict:state_dict
    torch.nn.ParameterList:state_dict torch.nn.ParameterDict:state_dict torch.optim.swa_utils.AveragedModel:state_dict
    torch.nn.MultiheadAttention:state_dict torch.nn.Transformer:state_dict
  ]] },
  { reason = [[dim has no default: PyTorch warns where it is left out]], names = [[
    torch.nn.functional.log_softmax torch.nn.functional.softmax torch.nn.functional.softmin
  ]] },
  { reason = [[element and test_element are numbers: the names of tensors stand for them]], names = [[
    torch.isin
  ]] },
  { reason = [[epoch is out of use]], names = [[
    torch.optim.lr_scheduler.ReduceLROnPlateau:step
  ]] },
  { reason = [[generator: the default one draws; rand, randn and randint take one]], names = [[
    torch.rand_like torch.randint_like torch.randn_like torch.rrelu
  ]] },
  { reason = [[keepdim behind dim, which may be left out]], names = [[
    torch.nuclear_norm
  ]] },
  { reason = [[memo: a set of modules that were visited, for the recursion of PyTorch alone]], names = [[
    torch.nn.Module:named_modules torch.nn.Sequential:named_modules torch.nn.ModuleList:named_modules torch.nn.ModuleDict:named_modules
    torch.nn.ParameterList:named_modules torch.nn.ParameterDict:named_modules torch.optim.swa_utils.AveragedModel:named_modules
    torch.nn.MultiheadAttention:named_modules torch.nn.Transformer:named_modules
  ]] },
  { reason = [[min_value and max_value are out of use]], names = [[
    torch.nn.Hardtanh
  ]] },
  { reason = [[named as PyTorch's documentation names them, where its schema has input2 and others]], names = [[
    torch.cholesky_inverse torch.cholesky_solve torch.lu_solve torch.orgqr torch.ormqr torch.triangular_solve torch.Tensor.cholesky_inverse
    torch.Tensor.cholesky_solve torch.Tensor.lu torch.Tensor.lu_solve torch.Tensor.orgqr torch.Tensor.ormqr torch.Tensor.triangular_solve
  ]] },
  { reason = [[of lists of devices, older than the names]], names = [[
    torch.nn.parallel.gather torch.nn.parallel.parallel_apply torch.nn.parallel.replicate torch.nn.parallel.scatter
  ]] },
  { reason = [[of what is on this machine alone: no repository is fetched]], names = [[
    torch.hub.help torch.hub.list
  ]] },
  { reason = [[other: the form of an operator of PyTorch's]], names = [[
    torch.Tensor.copy_
  ]] },
  { reason = [[out_dtype: only CUDA has it in PyTorch]], names = [[
    torch.addmm torch.baddbmm torch.bmm torch.mm torch.Tensor.addmm torch.Tensor.baddbmm torch.Tensor.bmm torch.Tensor.mm
  ]] },
  { reason = [[prepend: hooks are called in the order of registration]], names = [[
    torch.optim.Optimizer:register_load_state_dict_post_hook torch.optim.Optimizer:register_load_state_dict_pre_hook
    torch.optim.Optimizer:register_state_dict_post_hook torch.optim.Optimizer:register_state_dict_pre_hook
    torch.optim.LBFGS:register_load_state_dict_post_hook torch.optim.LBFGS:register_load_state_dict_pre_hook
    torch.optim.LBFGS:register_state_dict_post_hook torch.optim.LBFGS:register_state_dict_pre_hook
  ]] },
  { reason = [[read in C by hand (src/lua): no declaration to compare]], names = [[
    torch.detach_ torch.where torch.Tensor.where torch.cuda.is_bf16_supported
  ]] },
  { reason = [[scale and input_scale are of an operator within]], names = [[
    torch.nn.functional.elu_
  ]] },
  { reason = [[start and step alone in a row are PyTorch's forms too: one declaration has all three]], names = [[
    torch.arange
  ]] },
  { reason = [[tensors, devices and dtypes in any order: read in C]], names = [[
    torch.Tensor.to
  ]] },
  { reason = [[to alone in a row is a form of PyTorch's too: one declaration has all three]], names = [[
    torch.Tensor.random_
  ]] },
  { reason = [[tensors stand in a row or in one list, which the declaration of the op names]], names = [[
    torch.atleast_1d torch.atleast_2d torch.atleast_3d torch.block_diag torch.broadcast_tensors torch.cartesian_prod torch.chain_matmul torch.einsum
    torch.meshgrid
  ]] },
  { reason = [[the declaration of the op has other names, or a form that stands in a row alone]], names = [[
    torch.split torch.tensor_split torch.Tensor.tensor_split torch.tensordot torch.result_type torch.sparse.addmm torch.sparse.mm
  ]] },
  { reason = [[arguments of PyTorch's own implementation, or out of use, are not known]], names = [[
    torch.compile torch.save torch.autograd.gradcheck torch.autograd.gradgradcheck
    torch.utils.checkpoint.checkpoint torch.cuda.graph torch.random.fork_rng torch.onnx.export torch.export.export torch.export.load torch.export.save torch.hub.load torch.func.jacrev
    torch.nn.parallel.DistributedDataParallel torch.distributed.barrier torch.distributed.broadcast_object_list torch.distributed.init_process_group
    torch.distributed.monitored_barrier torch.distributed.new_group
  ]] },
  { reason = [[group_src, group_dst and group_peer: ranks have their numbers in the world]], names = [[
    torch.distributed.broadcast torch.distributed.gather torch.distributed.gather_object torch.distributed.irecv torch.distributed.isend
    torch.distributed.recv torch.distributed.reduce torch.distributed.scatter torch.distributed.scatter_object_list torch.distributed.send
    torch.distributed.P2POp
  ]] },
  { reason = [[output_size stands in a row: it is passed on to the layer that this one becomes]], names = [[
    torch.nn.LazyConvTranspose1d.forward torch.nn.LazyConvTranspose2d.forward torch.nn.LazyConvTranspose3d.forward
  ]] },
  { reason = [[the function is an argument: there are no decorators]], names = [[
    torch.distributions.register_kl
  ]] },
  { reason = [[obj is a tensor]], names = [[
    torch.cuda.device_of
  ]] },
  { reason = [[_instance is of PyTorch's own classes]], names = [[
    torch.distributions.Distribution:expand torch.distributions.Normal:expand torch.distributions.Categorical:expand
  ]] },
  { reason = [[takes any number of values in a row, or one table, whose names are those of the entries]], names = [[
    torch.nn.ModuleDict torch.nn.ModuleList torch.nn.ParameterDict torch.nn.ParameterList torch.nn.Sequential torch.nn.utils.prune.PruningContainer
    torch.utils.data.TensorDataset torch.nn.ModuleDict:update torch.nn.ParameterDict:update
  ]] },
  { reason = [[extend of a class derives from it, that of an object appends: read by hand]], names = [[
    torch.nn.Sequential:extend torch.nn.ModuleList:extend torch.nn.ParameterList:extend
  ]] },
  { reason = [[a class to derive from, or one that is made by functions of the library]], names = [[
    torch.nn.utils.parametrize.ParametrizationList torch.distributions.Distribution torch.distributions.ExponentialFamily
    torch.optim.lr_scheduler.LRScheduler torch.nn.LinearCrossEntropyOptions
  ]] },
  { reason = [[dim has no default: PyTorch warns where it is left out]], names = [[
    torch.nn.LogSoftmax torch.nn.Softmax torch.nn.Softmin
  ]] },
  { reason = [[the size alone stands in the place of indices]], names = [[
    torch.sparse_coo_tensor
  ]] },
}
