-- arguments_undeclared.lua - the public functions and constructors that declare no arguments (torch.support.arguments), with the reason.
return {
  { reason = [[sizes in a row, or one table of numbers: an old constructor without names]], names = [[
    torch.BFloat16Tensor torch.BoolTensor torch.ByteTensor torch.CharTensor torch.DoubleTensor torch.FloatTensor torch.HalfTensor
    torch.IntTensor torch.LongTensor torch.ShortTensor torch.Tensor
  ]] },
  { reason = [[takes any number of modules, parameters, data sets or tensors in a row, or one table of them, whose names are those of the entries]], names = [[
    torch.nn.ModuleDict torch.nn.ModuleList torch.nn.ParameterDict torch.nn.ParameterList torch.nn.Sequential
    torch.utils.data.StackDataset torch.utils.data.TensorDataset torch.vision.transforms.Compose
  ]] },
  { reason = [[passes everything on to a function of the program or to the forward of another layer, which reads it]], names = [[
    torch.autograd.Function:backward torch.autograd.Function:forward torch.autograd.Function:jvp torch.hub.load
    torch.distributed.optim.ZeroRedundancyOptimizer torch.nn.Identity
  ]] },
  { reason = [[a class to derive from, whose objects are made by classes of the program, or by functions of the library]], names = [[
    torch.autograd.Function torch.distributions.Distribution torch.distributions.ExponentialFamily torch.distributions.constraints.Constraint
    torch.distributions.constraint_registry.ConstraintRegistry torch.nn.Module torch.nn.UninitializedBuffer
    torch.nn.UninitializedParameter torch.optim.lr_scheduler.LRScheduler torch.utils.data.Dataset torch.utils.data.IterableDataset
    torch.utils.data.Sampler torch.utils.benchmark.Measurement torch.nn.utils.parametrize.ParametrizationList
    torch.nn.utils.prune.BasePruningMethod torch.nn.utils.prune.Identity torch.nn.utils.prune.PruningContainer
    torch.vision.transforms.Transform
  ]] },
  { reason = [[a helper of the library, called with values that were read before]], names = [[
    torch.distributions.utils.append torch.distributions.utils.broadcast_all torch.distributions.utils.broadcast_shapes
    torch.distributions.utils.clamp_probs torch.distributions.utils.dims_of torch.distributions.utils.like
    torch.distributions.utils.logits_to_probs torch.distributions.utils.mvlgamma torch.distributions.utils.numel
    torch.distributions.utils.probs_to_logits torch.distributions.utils.same_dims torch.distributions.utils.size_text
    torch.distributions.utils.slice torch.distributions.utils.sum_rightmost torch.distributions.utils.tensor_text
    torch.distributions.utils.tril_matrix_to_vec torch.distributions.utils.tuple_text torch.distributions.utils.vec_to_tril_matrix
    torch.nn.LinearCrossEntropyOptions.check torch.nn.LinearCrossEntropyOptions.rows
  ]] },
}
