-- subjects.lua - the pages of the ops' reference: subjects as in PyTorch's documentation, each with
-- its groups of declarations.
--
-- A group is a file of src/ops or lib/ops; `ops` names the ops of other groups that belong to a
-- subject.

local subjects = {
  { id = 'creation', title = 'Creation', groups = 'factory',
    about = 'Make tensors of given values, sizes and dtypes, and fill them.' },
  { id = 'conversion', title = 'Conversion', groups = 'convert',
    about = 'Convert tensors to other dtypes, devices and memory formats, and copy them. A tensor that is already right is returned as it is.' },
  { id = 'indexing', title = 'Indexing', groups = 'index', ops = 'nonzero_static unravel_index',
    about = 'Read and write elements by position or mask. Positions count from 1. Subscripts, x[2] and x[{1, "2:3"}], are in the guide.' },
  { id = 'shapes', title = 'Views, shapes and joining', groups = 'shape slices alternative_forms',
    about = 'View a tensor in another shape, move, repeat, split and join tensors. Dimensions count from 1.' },
  { id = 'pointwise', title = 'Pointwise', groups = 'pointwise',
    about = 'Compute each element of the result from one element of each operand. Operands broadcast.' },
  { id = 'special', title = 'Special functions', groups = 'special rare',
    about = 'Compute special functions, element by element.' },
  { id = 'comparison', title = 'Comparison', groups = 'compare', ops = 'sort argsort msort topk kthvalue',
    about = 'Compare elements or whole tensors, and sort them.' },
  { id = 'reductions', title = 'Reductions', groups = 'reduce', ops = 'median nanmedian mode quantile nanquantile unique unique_consecutive segment_reduce',
    about = 'Compute fewer elements from many: sums, extremes, norms, statistics; also softmax and cumulative sums.' },
  { id = 'statistics', title = 'Statistics, differences and histograms', groups = 'statistics',
    ops = 'cummax cummin bincount histc histogram diff gradient trapezoid cumulative_trapezoid cov corrcoef dist renorm vander linalg_vander',
    about = 'Compute histograms, covariances, differences and integrals.' },
  { id = 'linear-algebra', title = 'Linear algebra', groups = 'matmul linalg factorizations',
    about = 'Multiply, factorize, invert and solve matrices. Names that begin with linalg_ are in torch.linalg.' },
  { id = 'spectral', title = 'Spectral', groups = 'fft', about = 'Transform signals and windows of them, and make the windows. Names that begin with fft_ are in torch.fft.' },
  { id = 'random', title = 'Random numbers', groups = 'random', about = 'Make tensors of random numbers. torch.manual_seed makes them repeatable.' },
  { id = 'complex', title = 'Complex numbers', groups = 'complex', about = 'Make complex numbers of their parts, and get the parts.' },
  { id = 'sparse', title = 'Sparse tensors', groups = 'sparse', about = 'Get the components of sparse tensors and convert them. torch.sparse has more.' },
  { id = 'masked', title = 'Masked tensors', groups = 'masked', about = 'Reduce and normalize the elements where a mask is true: torch.masked.' },
  { id = 'convolution', title = 'Convolution', groups = 'convolution', about = 'Convolve sequences, images and volumes. A size is a number or a table with one for each dimension.' },
  { id = 'pooling', title = 'Pooling', groups = 'pool', about = 'Compute the maximum or mean of windows. Positions of maxima count from 1.' },
  { id = 'activation', title = 'Activation functions', groups = 'activation', about = 'Apply activation functions. Further ones, such as relu, sigmoid, tanh and softmax, are on the pages of pointwise ops and reductions.' },
  { id = 'attention', title = 'Attention', groups = 'attention', about = 'Compute scaled dot product attention.' },
  { id = 'normalization', title = 'Normalization', groups = 'norm', about = 'Normalize activations.' },
  { id = 'recurrent', title = 'Recurrent layers', groups = 'recurrent', about = 'Compute layers of recurrent cells with weights of your own. Modules of torch.nn keep theirs.' },
  { id = 'dropout-embedding', title = 'Dropout and embedding', groups = 'nn', about = 'Zero random elements, and look up rows of tables.' },
  { id = 'loss', title = 'Losses and distances', groups = 'loss', about = 'Compute losses and distances. Classes count from 1.' },
  { id = 'vision', title = 'Vision', groups = 'vision', about = 'Rearrange pixels and channels.' },
  { id = 'optimizers', title = 'Steps of optimizers', groups = 'optim', about = 'Update parameters, for torch.optim.' },
}

local of_group, of_op = {}, {}
for _, subject in ipairs(subjects) do
  for group in subject.groups:gmatch '%S+' do of_group[group] = subject end
  for op in (subject.ops or ''):gmatch '%S+' do of_op[op] = subject end
end

-- The subject of an op; a group without one is an error.
local function of(op)
  return of_op[op.name] or of_group[op.group] or error(('scripts/gen/subjects.lua: the group %s has no subject'):format(op.group), 0)
end

return { list = subjects, of = of }
