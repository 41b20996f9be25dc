-- messages_spec.lua - what the common mistakes are told: PyTorch's facts, with the same numbers, where positions and
-- dimensions are counted from 1, and at the line of the code that made the mistake.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local torch = require 'torch'

local mistakes = {
  ['of numbers where tensors are wanted'] = {
    { 'torch.maximum(ones(3), 2)', "maximum(): argument 'other' (position 2) must be Tensor, not number" },
    { 'torch.eq(1, 2)', "eq(): argument 'self' (position 1) must be Tensor, not number" },
    { 'torch.logical_and(ones(3), 1)', "logical_and(): argument 'other' (position 2) must be Tensor, not number" },
    { 'torch.fmod(7, ones(3))', "fmod(): argument 'self' (position 1) must be Tensor, not number" },
  },
  ['of shapes that do not fit'] = {
    { 'ones(2, 3)+ones(2, 4)', 'The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 2' },
    { 'ones(2, 3):add_(ones(3, 2, 3))', "output with shape [2, 3] doesn't match the broadcast shape [3, 2, 3]" },
    { 'ones(2, 3):matmul(ones(4, 5))', 'mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)' },
    { 'ones(2, 3):mm(ones(4, 5))', 'mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)' },
    { 'ones(2, 3):mm(ones(3))', 'mat2 must be a matrix' },
    { 'ones(2, 3):mv(ones(4))', 'size mismatch, got input (2), mat (2x3), vec (4)' },
    { 'ones(3):dot(ones(4))',
      'inconsistent tensor size, expected tensor [3] and src [4] to have the same number of elements, but got 3 and 4 elements respectively' },
    { 'ones(2, 3, 4):bmm(ones(2, 5, 4))', 'Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 5].' },
    { 'ones(2, 3, 4):bmm(ones(3, 4, 5))', 'Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [3, 4].' },
    { 'ones(2, 3):matmul(torch.ones(3, 2, {dtype=torch.int64}))', 'expected m1 and m2 to have the same dtype, but got: float != long int' },
    { 'torch.cat({ones(2, 3), ones(2, 4)}, 1)',
      'Sizes of tensors must match except in dimension 1. Expected size 3 but got size 4 for tensor number 2 in the list. (shapes [2, 3] and [2, 4])' },
    { 'torch.cat({ones(2, 3), ones(2)}, 1)', 'Tensors must have same number of dimensions: got 2 and 1' },
    { 'torch.cat({}, 1)', 'expected a non-empty list of Tensors' },
    { 'torch.cat({ones(2, 3)}, 4)', 'Dimension out of range (expected to be in range of [1, 2] or [-2, -1], but got 4)' },
    { 'torch.stack({ones(2, 3), ones(2, 4)}, 1)',
      'stack expects each tensor to be equal size, but got [2, 3] at entry 1 and [2, 4] at entry 2' },
    { 'torch.where(ones(2), ones(2), ones(2))', 'where expected condition to be a boolean tensor, but got a tensor with dtype Float' },
    { 'ones(2, 3):masked_select(torch.ones(4, {dtype=torch.bool}))',
      'The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 2' },
    { 'torch.linalg.solve(ones(2, 2), ones(3, 1))', 'torch.linalg.solve: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)' },
    { [[torch.einsum('ij, jk->ik', ones(2, 3), ones(4, 5))]],
      'einsum(): subscript j has size 4 for operand 2 which does not broadcast with previously seen size 3' },
    { [[torch.einsum('ijk->i', ones(2, 3))]],
      'einsum(): the number of subscripts in the equation (3) does not match the number of dimensions (2) for operand 1 and no ellipsis was given' },
    { 'torch.searchsorted(ones(3), ones(2), {sorter = torch.tensor(1)})',
      'torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor [3] and got sorter tensor []' },
    { 'ones(2, 3):copy_(ones(4))', 'The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 2' },
  },
  ['of layers'] = {
    { 'nn.Linear(3, 4)(ones(2, 5))', 'mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)' },
    { 'F.linear(ones(2, 5), ones(4, 3))', 'mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)' },
    { 'nn.Linear(3, 4)(torch.ones(2, 3, {dtype=torch.float64}))', 'mat1 and mat2 must have the same dtype, but got Double and Float' },
    { 'nn.Linear(3, 4)(torch.ones(2, 3, {dtype=torch.int64}))', 'mat1 and mat2 must have the same dtype, but got Long and Float' },
    { 'nn.Conv2d(3, 4, 3)(ones(1, 5, 8, 8))',
      'Given groups=1, weight of size [4, 3, 3, 3], expected input[1, 5, 8, 8] to have 3 channels, but got 5 channels instead' },
    { 'nn.Conv2d(3, 4, 3)(ones(8, 8))', 'Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [8, 8]' },
    { 'nn.Conv2d(3, 4, 9)(ones(1, 3, 8, 8))',
      "Calculated padded input size per channel: (8 x 8). Kernel size: (9 x 9). Kernel size can't be greater than actual input size" },
    { 'nn.Conv1d(3, 4, 3)(ones(1, 3, 8, 8))', 'Expected 2D (unbatched) or 3D (batched) input to conv1d, but got input of size: [1, 3, 8, 8]' },
    { 'nn.ConvTranspose2d(3, 4, 3)(ones(1, 5, 8, 8))',
      'Given transposed=1, weight of size [3, 4, 3, 3], expected input[1, 5, 8, 8] to have 3 channels, but got 5 channels instead' },
    { 'nn.MaxPool2d(9)(ones(1, 3, 8, 8))', 'Given input size: (3x8x8). Calculated output size: (3x0x0). Output size is too small' },
    { 'nn.BatchNorm2d(3)(ones(2, 4, 8, 8))', 'running_mean should contain 4 elements not 3' },
    { 'nn.BatchNorm2d(3)(ones(2, 3))', 'expected 4D input (got 2D input)' },
    { 'nn.BatchNorm1d(3)(ones(1, 3))', 'Expected more than 1 value per channel when training, got input size torch.Size([1, 3])' },
    { 'nn.LayerNorm(4)(ones(2, 3))', 'Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[2, 3]' },
    { 'nn.GroupNorm(3, 6)(ones(2, 4, 5))',
      'Expected number of channels in input to be divisible by num_groups, but got input of shape [2, 4, 5] and num_groups=3' },
    { 'nn.Embedding(5, 3)(torch.tensor{6})', 'index out of range in self: index 6 is out of bounds for dimension 1 with size 5' },
    { 'nn.Linear(2, 3):load_state_dict(nn.Linear(2, 4):state_dict())',
      'Error(s) in loading state_dict for Linear:\n	size mismatch for weight: copying a param with shape torch.Size([4, 2]) from checkpoint, the shape in current model is' },
    { 'nn.Linear(2, 3):load_state_dict{}', 'Error(s) in loading state_dict for Linear:\n	Missing key(s) in state_dict: "weight", "bias". ' },
    { 'torch.optim.SGD(nn.Linear(2, 3):parameters(), {lr=-1})', 'Invalid learning rate: -1' },
    { 'torch.optim.Adam(nn.Linear(2, 3):parameters(), {betas={1.5, 0.9}})', 'Invalid beta parameter at index 1: 1.5' },
  },
  ['of losses'] = {
    { 'nn.CrossEntropyLoss()(ones(2, 3), torch.tensor{1, 4})', 'Target 4 is out of bounds.' },
    { 'nn.CrossEntropyLoss()(ones(2, 3), torch.tensor{1, 2, 3})', 'Expected input batch_size (2) to match target batch_size (3).' },
    { 'nn.CrossEntropyLoss()(ones(2, 3), ones(2, 4))',
      'cross_entropy: probabilities as targets must have the shape of the input, got input [2, 3] and target [2, 4]' },
    { 'nn.CrossEntropyLoss()(ones(2, 3), ones(2))',
      'cross_entropy: probabilities as targets must have the shape of the input, got input [2, 3] and target [2]' },
    { 'nn.NLLLoss()(ones(2, 3), torch.ones(2, {dtype=torch.int64})*7)', 'Target 7 is out of bounds.' },
    { 'nn.MSELoss()(ones(2, 3), ones(4, 3))', 'The size of tensor a (2) must match the size of tensor b (4) at non-singleton dimension 1' },
    { 'nn.BCELoss()(ones(2, 3)*2, ones(2, 3))', 'all elements of input should be between 0 and 1' },
    { 'nn.BCELoss()(ones(2, 3), ones(3, 2))',
      'Using a target size (torch.Size([3, 2])) that is different to the input size (torch.Size([2, 3])) is deprecated. Please ensure they have the same size.' },
    { 'nn.BCEWithLogitsLoss()(ones(2, 3), ones(3, 2))', 'Target size (torch.Size([3, 2])) must be the same as input size (torch.Size([2, 3]))' },
    { [[nn.MSELoss{reduction='avg'}(ones(2), ones(2))]], 'avg is not a valid value for reduction' },
    { 'F.one_hot(torch.tensor{1, 4}, 3)', 'Class values must not be larger than num_classes.' },
  },
  ['of positions and dimensions'] = {
    { 'ones(2, 3)[3]', 'index 3 is out of bounds for dimension 1 with size 2' },
    { 'ones(2, 3)[{1, 4}]', 'index 4 is out of bounds for dimension 1 with size 3' },
    { 'ones(2, 3)[{1, 1, 1}]', 'too many indices for tensor of dimension 2' },
    { 'ones(2, 3)[torch.tensor{3}]', 'index 3 is out of bounds for dimension 1 with size 2' },
    { 'ones(2, 3)[torch.tensor{true, false, true}]',
      'The shape of the mask [3] at index 1 does not match the shape of the indexed tensor [2, 3] at index 1' },
    { 'ones(2, 3)[ones(2)]', 'tensors used as indices must be integer or bool tensors, not torch.float32' },
    { 'ones(2, 3):index_select(1, torch.tensor{3})', 'index out of range in self: index 3 is out of bounds for dimension 1 with size 2' },
    { 'ones(2, 3):gather(1, torch.tensor{{3}})', 'index 3 is out of bounds for dimension 1 with size 2' },
    { 'ones(2, 3):gather(1, torch.tensor{1})', 'Index tensor must have the same number of dimensions as input tensor' },
    { 'torch.zeros(2, 3):scatter_(1, torch.tensor{{3}}, 1.0)', 'index 3 is out of bounds for dimension 1 with size 2' },
    { 'ones(2, 3):select(1, 3)', 'select(): index 3 out of range for tensor of size [2, 3] at dimension 1' },
    { 'ones(2, 3):narrow(1, 2, 2)', 'start (2) + length (2) exceeds dimension size (2).' },
    { 'ones(2, 3):transpose(1, 3)', 'Dimension out of range (expected to be in range of [1, 2] or [-2, -1], but got 3)' },
    { 'ones(2, 3):sum(3)', 'Dimension out of range (expected to be in range of [1, 2] or [-2, -1], but got 3)' },
    { 'ones(2, 3):softmax(3)', 'Dimension out of range (expected to be in range of [1, 2] or [-2, -1], but got 3)' },
    { 'ones(2, 3):squeeze(3)', 'Dimension out of range (expected to be in range of [1, 2] or [-2, -1], but got 3)' },
    { 'ones(2, 3):unsqueeze(5)', 'Dimension out of range (expected to be in range of [1, 3] or [-3, -1], but got 5)' },
    { 'ones(0):max()',
      "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument." },
    { 'ones(0, 3):max(1)', 'max(): Expected reduction dim 1 to have non-zero size.' },
    { 'ones(2, 3):topk(4)', 'selected index k out of range' },
    { 'ones(3):kthvalue(4)', 'kthvalue(): selected number k out of range for dimension 1' },
    { 'ones(3):unfold(1, 4, 1)', 'maximum size for tensor at dimension 1 is 3 but size is 4' },
  },
  ['of new shapes'] = {
    { 'ones(2, 3):view(4, 2)', "shape '[4, 2]' is invalid for input of size 6" },
    { 'ones(2, 3):view(-1, -1)', 'only one dimension can be inferred' },
    { 'ones(2, 3):view(-1, 4)', "shape '[-1, 4]' is invalid for input of size 6" },
    { 'ones(2, 3):t():view(6)',
      "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use reshape(...) instead." },
    { 'ones(2, 3):reshape(7)', "shape '[7]' is invalid for input of size 6" },
    { 'ones(2, 3):expand(4, 3)',
      'The expanded size of the tensor (4) must match the existing size (2) at non-singleton dimension 1.  Target sizes: [4, 3].  Tensor sizes: [2, 3]' },
    { 'ones(2, 3):expand(3)',
      'expand(torch.FloatTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)' },
    { 'ones(2, 3):permute(1)',
      'permute: number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = 2 is not equal to len(dims) = 1' },
    { 'ones(2, 3):split(0)', 'split_size can only be 0 if dimension size is 0, but got dimension size of 2' },
    { 'ones(2, 3):split({1, 2})',
      "split_with_sizes expects split_sizes to sum exactly to 2 (input tensor's size at dimension 1), but got split_sizes=[1, 2], which sum to 3" },
    { 'ones(2, 3):chunk(0)', 'chunk expects `chunks` to be greater than 0, got: 0' },
    { 'torch.empty(-1)', 'Trying to create tensor with negative dimension -1: [-1]' },
    { 'torch.tensor{{1, 2}, {3}}', 'expected sequence of length 2 at dim 2 (got 1)' },
    { 'ones(3):expand(2, 3):add_(1)',
      'unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.' },
    { 'ones(4):unflatten(1, {3, 2})', "unflatten: Provided sizes [3, 2] don't multiply up to the size of dim 1 (4)" },
  },
  ['of gradients'] = {
    { 'ones(2, 3):backward()', 'element 1 of tensors does not require grad and does not have a grad_fn' },
    { 'torch.ones(2, 3, {requires_grad=true}):backward()', 'grad can be implicitly created only for scalar outputs' },
    { '(function() local x=torch.ones(2, {requires_grad=true}) local y=(x*x):sum() y:backward() y:backward() end)()',
      'Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are' },
    { 'torch.ones(2, {requires_grad=true}):add_(1)', 'a leaf Variable that requires grad is being used in an in-place operation.' },
    { '(function() local x=torch.ones(2, {requires_grad=true}) local v=x[1] v:add_(1) end)()',
      'a view of a leaf Variable that requires grad is being used in an in-place operation.' },
    { '(function() local x=torch.ones(2, {requires_grad=true}) local y=x:exp() y:add_(1) y:sum():backward() end)()',
      'one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [2]], which is output 1 of Exp, is at version 1;' },
    { 'torch.ones(2, {dtype=torch.int64, requires_grad=true})', 'only Tensors of floating point and complex dtype can require gradients' },
    { 'torch.autograd.grad(torch.ones(2, {requires_grad=true}):sum(), {torch.ones(2, {requires_grad=true})})',
      'The differentiated Tensor at index 1 appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.' },
    { 'torch.ones(2, 3, {requires_grad=true}):sum(1):backward(ones(2))',
      'Mismatch in shape: grad_output[1] has a shape of torch.Size([2]) and output[1] has a shape of torch.Size([3]).' },
  },
  ['of dtypes and values'] = {
    { 'ones(2, 3):item()', 'a Tensor with 6 elements cannot be converted to Scalar' },
    { 'torch.ones(2, {dtype=torch.int64}):mean()',
      'mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long' },
    { 'torch.ones(2, {dtype=torch.int64}):add_(1.5)', "result type Float can't be cast to the desired output type Long" },
    { 'torch.ones(2, {dtype=torch.int64}):div_(2)', "result type Float can't be cast to the desired output type Long" },
    { 'torch.ones(2, {dtype=torch.bool})-torch.ones(2, {dtype=torch.bool})',
      'Subtraction, the `-` operator, with two bool tensors is not supported. Use the `~` or `logical_xor()` operator instead.' },
    { '-torch.ones(2, {dtype=torch.bool})',
      'Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.' },
    { 'ones(2):masked_fill(ones(2), 1)', 'masked_fill_ only supports boolean masks, but got mask with dtype float32' },
    { 'torch.arange(1, 5, -1)', 'upper bound and lower bound inconsistent with step sign' },
    { 'torch.linalg.inv(ones(2, 3))', 'linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices' },
    { 'torch.linalg.inv(torch.zeros(2, 2))',
      'linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because the input matrix is singular.' },
    { 'torch.linalg.cholesky(-torch.eye(2))',
      'linalg.cholesky: The factorization could not be completed because the input is not positive-definite (the leading minor of order 1 is not positive-definite).' },
    { 'torch.multinomial(ones(3), 4)', 'cannot sample n_sample > prob_dist.size(-1) samples without replacement' },
    { 'torch.multinomial(torch.tensor{-1., 1.}, 1)', 'probability tensor contains either `inf`, `nan` or element < 0' },
    { 'torch.bernoulli(ones(2)*2)', 'bernoulli expects probabilities p to be in [0, 1], but got p=2' },
    { 'torch.randint(5, 5, {2})', "random_ expects 'from' to be less than 'to', but got from=5 >= to=5" },
    { 'ones(2, 3):fill_(ones(2))', 'fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions.' },
    { [[ones(2, 3)+'a']], "add(): argument 'other' (position 2) must be Tensor or number, not string" },
    { 'ones(2, 3)+{1}', "add(): argument 'other' (position 2) must be Tensor or number, not table" },
  },
}

local function message_of(code)
  local names = { torch = torch, nn = torch.nn, F = torch.nn.functional, ones = torch.ones }
  local ok, message = pcall(assert(load('local result = ' .. code, '=(code)', 't', names)))
  assert(not ok, code .. ' raised nothing')
  return message
end

describe('the message #cpu', function()
  for what, rows in pairs(mistakes) do
    it(what .. ' has the facts', function()
      for _, row in ipairs(rows) do
        local code, expected = row[1], row[2]
        local message = message_of(code)
        local place, text = message:match '^%(code%):(%d): (.*)'
        assert(place, code .. ' says, without its place: ' .. message)
        assert(text:sub(1, #expected) == expected, ('%s says\n  %s\ninstead of\n  %s'):format(code, text, expected))
      end
    end)
  end

  it('of tensors on several devices names them', function()
    local out = process.lua([[
      local x, y = torch.ones(2, 3), torch.ones(2, 3, {device = 'cuda:1'})
      for _, f in ipairs {
        function() return x + y end, function() return torch.cat {x, y} end, function() return x:mm(y:t()) end,
        function() return nn.Linear(3, 4)(y) end, function() return y[torch.tensor({1}, {device = 'cuda:0'})] end,
        function() return y:item() end, function() return y:cuda(7) end, function() return y:numpy() end,
      } do print(select(2, pcall(f))) end
    ]], '--sim-gpus 2')
    local lines = {}
    for line in out:gmatch '[^\n]+' do lines[#lines + 1] = line end
    for i, part in ipairs {
      'at least two devices, cpu and cuda:1! (when checking the arguments of add)',
      'at least two devices, cpu and cuda:1! (when checking the arguments of cat)',
      'at least two devices, cpu and cuda:1! (when checking the arguments of mm)',
      'at least two devices, cpu and cuda:1! (when checking the arguments of addmm)',
      'indices should be either on cpu or on the same device as the indexed tensor (cuda:1)',
      'a Tensor with 6 elements cannot be converted to Scalar',
      'invalid device ordinal: cuda:7 was requested, but there are 2 GPUs',
      "can't convert cuda:1 device type tensor to numpy",
    } do assert(lines[i]:find(part, 1, true), lines[i]) end
  end)
end)
