-- operators.lua - PyTorch operators without an operation of ours of the same name: functions of
-- named arguments, with positions from 0. `none` lists operators that only assert conditions.

local torch = require 'torch'

local M = { none = {}, named = {} }
local named = M.named

for name in ([[_assert_tensor_metadata _assert_scalar _assert_async sym_constrain_range sym_constrain_range_for_size]]):gmatch '%S+' do M.none[name] = true end

-- ---- whole numbers ------------------------------------------------------------------------------

--- Of `_operator` and of the sizes of tensors.
M.numbers = {
  add = function(a, b) return a + b end, sub = function(a, b) return a - b end, mul = function(a, b) return a * b end, floordiv = function(a, b) return a // b end,
  mod = function(a, b) return a % b end, neg = function(a) return -a end, truediv = function(a, b) return a / b end, pow = function(a, b) return a ^ b end,
  eq = function(a, b) return a == b end, ne = function(a, b) return a ~= b end, lt = function(a, b) return a < b end, le = function(a, b) return a <= b end,
  gt = function(a, b) return a > b end, ge = function(a, b) return a >= b end,
}

-- Names of Python's operators.
for operator, name in pairs { __and__ = 'bitwise_and', __or__ = 'bitwise_or', __xor__ = 'bitwise_xor', __lshift__ = 'bitwise_left_shift', __rshift__ = 'bitwise_right_shift' } do
  named[operator] = function(a) return torch[name](a.self, a.other) end
end

local function dim_of(x, dim) return dim < 0 and dim + x:dim() + 1 or dim + 1 end

function named.sym_size(a) return a.self:size(dim_of(a.self, a.dim)) end
function named.sym_numel(a) return a.self:numel() end
function named.item(a) return a.self:item() end

-- ---- parts --------------------------------------------------------------------------------------

function named.slice(a)
  local x, dim = a.self, dim_of(a.self, a.dim or 0)
  local size, step = x:size(dim), a.step or 1
  local function bound(i) return math.max(0, math.min(i < 0 and i + size or i, size)) end
  local first, last = bound(a.start or 0), bound(a['end'] or size)
  local y = x:narrow(dim, first + 1, math.max(last - first, 0))
  if step == 1 then return y end
  local index = {}
  for d = 1, dim do index[d] = d == dim and { 1, -1, step } or {} end
  return y[index]
end

-- x[i, :, j]: tensors of positions, absent ones for whole dimensions.
local function index_of(a)
  local index, last = {}, 0
  for i = 1, a.self:dim() do
    local at = a.indices[i]
    if at then
      index[i], last = at.dtype == torch.bool and at or torch.where(at:lt(0), at, at + 1), i
    else
      index[i] = {}
    end
  end
  return table.move(index, 1, last, 1, {})
end
function named.index(a) return a.self[index_of(a)] end
function named.index_put(a)
  local y = a.self:clone()
  if a.accumulate then
    local at = index_of(a)
    y[at] = y[at] + a.values
  else
    y[index_of(a)] = a.values
  end
  return y
end

-- ---- copies and types ---------------------------------------------------------------------------

local function copied(a) return a.self:clone() end
named.lift_fresh_copy, named.clone = copied, copied
function named.copy(a) return a.src:to(a.self.dtype):expand(a.self.shape):clone() end
function named.einsum(a) return torch.einsum(a.equation, table.unpack(a.tensors)) end
function named.contiguous(a) return a.self:contiguous() end
function named.alias(a) return a.self:view(a.self.shape) end
function named.detach(a) return a.self:detach() end
named.detach_ = named.detach
function named.to(a) return a.dtype and a.self:to(a.dtype) or a.self:view(a.self.shape) end
function named._to_copy(a) return a.dtype and a.self:to(a.dtype) or a.self:clone() end
function named.arange(a)
  return torch.arange(a.start or 0, a['end'], a.step or 1, { dtype = a.dtype })
end
function named.scalar_tensor(a) return torch.tensor(a.s, { dtype = a.dtype }) end
function named.dropout(a) return torch.dropout(a.input, a.p, a.train) end
function named.feature_dropout(a) return torch.nn.functional.dropout2d(a.input, a.p, a.train) end

-- ---- decompositions of larger operators (run_decompositions) ------------------------------------

function named._native_batch_norm_legit_no_training(a)
  return torch.nn.functional.batch_norm(a.input, a.running_mean, a.running_var, a.weight, a.bias, false, a.momentum, a.eps)
end
function named._native_batch_norm_legit(a)
  return torch.nn.functional.batch_norm(a.input, a.running_mean, a.running_var, a.weight, a.bias, a.training, a.momentum, a.eps)
end
function named.native_layer_norm(a) return torch.layer_norm(a.input, a.normalized_shape, a.weight, a.bias, a.eps) end
function named.native_group_norm(a) return torch.group_norm(a.input, a.group, a.weight, a.bias, a.eps) end
function named._softmax(a) return torch.softmax(a.self, dim_of(a.self, a.dim)) end
function named._log_softmax(a) return torch.log_softmax(a.self, dim_of(a.self, a.dim)) end
function named.native_dropout(a) return torch.dropout(a.input, a.p, a.train) end
function named.max_pool2d_with_indices(a)
  local F = torch.nn.functional
  local stride = a.stride and #a.stride > 0 and a.stride or a.kernel_size
  return F.max_pool2d(a.self, a.kernel_size, stride, a.padding or 0, a.dilation or 1, a.ceil_mode or false)
end
function named._adaptive_avg_pool2d(a) return torch.nn.functional.adaptive_avg_pool2d(a.self, a.output_size) end
function named.convolution(a)
  local F, n = torch.nn.functional, a.input:dim() - 2
  if a.transposed then
    return F['conv_transpose' .. n .. 'd'](a.input, a.weight, a.bias, a.stride, a.padding, a.output_padding, a.groups, a.dilation)
  end
  return F['conv' .. n .. 'd'](a.input, a.weight, a.bias, a.stride, a.padding, a.dilation, a.groups)
end
-- Some results of PyTorch's kernels have another memory layout than ours, so a view there may be
-- impossible here.
function named.view(a) return a.dtype and a.self:view(a.dtype) or a.self:reshape(a.size) end
named._unsafe_view = named.view

-- ---- sizes of images ----------------------------------------------------------------------------

local function resized(mode)
  return function(a)
    return torch.nn.functional.interpolate(a.input or a.self, { size = a.output_size, scale_factor = not a.output_size and a.scale_factors or nil, mode = mode,
      align_corners = a.align_corners })
  end
end
named.upsample_nearest1d, named.upsample_nearest2d, named.upsample_nearest3d = resized 'nearest', resized 'nearest', resized 'nearest'
named.upsample_linear1d, named.upsample_bilinear2d, named.upsample_bicubic2d = resized 'linear', resized 'bilinear', resized 'bicubic'

-- ---- recurrent layers ---------------------------------------------------------------------------

-- params: w_ih, w_hh (, b_ih, b_hh) of each direction of each layer. Returns the output and the
-- last states.
local function recurrent_of(cell)
  return function(a)
    local recurrent = require 'torch.nn.functional.recurrent'
    local x, hx, cx = a.input, a.hx, nil
    if cell == 'lstm' then hx, cx = a.hx[1], a.hx[2] end
    if a.batch_first then x = x:transpose(1, 2) end
    local length, batch, directions = x:size(1), x:size(2), a.bidirectional and 2 or 1
    local weights = recurrent.by_direction(a.params, a.num_layers * directions)
    local dropout = a.train and a.dropout > 0 and a.dropout or nil
    local rows, hn, cn = recurrent.layers(x:reshape(length * batch, x:size(3)), hx, cx, weights, cell, directions, nil, dropout)
    local y = rows:view(length, batch, rows:size(2))
    return a.batch_first and y:transpose(1, 2) or y, hn, cn
  end
end
named.lstm, named.gru = recurrent_of 'lstm', recurrent_of 'gru'
named.rnn_tanh, named.rnn_relu = recurrent_of 'tanh', recurrent_of 'relu'

return M
