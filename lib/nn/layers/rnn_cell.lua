-- rnn_cell.lua - one step of a recurrent layer: nn.RNNCell, nn.GRUCell, nn.LSTMCell(input_size,
-- hidden_size, {bias = true}). Input (batch, input_size) or (input_size); the state likewise with
-- hidden_size, by default zeros. The state of an LSTMCell is a table {h, c}; it returns both.

--[=[ arguments
GRUCell(): One step of a gated recurrent unit.
LSTMCell(): One step of a long short-term memory.
]=]

--[=[ examples
RNNCell
    h = nn.RNNCell(4, 8)(torch.zeros(2, 4))
    h.shape
    --> torch.Size([2, 8])
GRUCell
    h = nn.GRUCell(4, 8)(torch.zeros(2, 4))
    h.shape
    --> torch.Size([2, 8])
LSTMCell
    h = nn.LSTMCell(4, 8)(torch.zeros(2, 4))
    h.shape
    --> torch.Size([2, 8])
]=]

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local init = require 'torch.nn.init'
local recurrent = require 'torch.nn.functional.recurrent'

local M = {}

local Base = Module:extend('RNNCellBase')

function Base:setup(options)
  self.input_size, self.hidden_size = options.input_size, options.hidden_size
  local gates = recurrent.groups[self.mode] * self.hidden_size
  local factory = { device = options.device, dtype = options.dtype }
  self.weight_ih = Parameter(torch.empty(gates, self.input_size, factory))
  self.weight_hh = Parameter(torch.empty(gates, self.hidden_size, factory))
  self.bias = options.bias
  if options.bias then
    self.bias_ih = Parameter(torch.empty(gates, factory))
    self.bias_hh = Parameter(torch.empty(gates, factory))
  else
    self:register_parameter('bias_ih', nil)
    self:register_parameter('bias_hh', nil)
  end
  self:reset_parameters()
end

function Base:reset_parameters()
  local bound = self.hidden_size > 0 and 1 / math.sqrt(self.hidden_size) or 0
  for _, parameter in ipairs(self:parameters()) do init.uniform_(parameter, -bound, bound) end
end

function Base:extra_repr()
  local text = ('%d, %d'):format(self.input_size, self.hidden_size)
  if self.bias_ih == nil then text = text .. ', bias=False' end
  if self.nonlinearity and self.nonlinearity ~= 'tanh' then text = text .. ', nonlinearity=' .. self.nonlinearity end
  return text
end

-- The state as a matrix; zeros by default.
local function state_of(self, state, input, what)
  if state == nil then
    return torch.zeros(input:size(1), self.hidden_size, { dtype = input.dtype, device = input.device })
  end
  if state.ndim ~= 1 and state.ndim ~= 2 then
    fail('%s: Expected %s to be 1D or 2D, got %dD instead', self:_get_name(), what, state.ndim)
  end
  if state.ndim == 1 then state = state:unsqueeze(1) end
  if state:size(1) ~= input:size(1) then
    fail("Input batch size %d doesn't match %s batch size %d", input:size(1), what, state:size(1))
  end
  if state:size(2) ~= self.hidden_size then
    fail('%s has inconsistent hidden_size: got %d, expected %d', what, state:size(2), self.hidden_size)
  end
  return state
end

function Base:step(input, h, c)
  checked.input(self, input)
  if input.ndim ~= 1 and input.ndim ~= 2 then
    fail('%s: Expected input to be 1D or 2D, got %dD instead', self:_get_name(), input.ndim)
  end
  local alone = input.ndim == 1
  if alone then input = input:unsqueeze(1) end
  if input:size(2) ~= self.input_size then
    fail('input has inconsistent input_size: got %d expected %d', input:size(2), self.input_size)
  end
  h = state_of(self, h, input, 'hidden')
  if self.mode == 'lstm' then c = state_of(self, c, input, 'cell') end
  local weight, bias = self.weight_hh, self.bias_hh
  local lower = recurrent.autocast_dtype(input, self.mode, true)
  if lower then
    h, c, weight, bias = h:to(lower), c and c:to(lower), weight:to(lower), bias and bias:to(lower)
  end
  local gates = torch.linear(input, self.weight_ih, self.bias_ih)
  local _, hn, cn = recurrent.layer(gates, h, c, weight, bias, self.mode, false)
  if alone then return hn:squeeze(1), cn and cn:squeeze(1) end
  return hn, cn
end

function Base:forward(input, hx) return (self:step(input, hx)) end

-- A step of nn.RNN: nn.RNNCell(..., {nonlinearity = 'tanh' | 'relu'}).
M.RNNCell = Base:extend('RNNCell')
local read_rnn = declare.reader [[
  RNNCell(integer input_size, integer hidden_size, boolean bias=true, string nonlinearity='tanh',
    device? device, dtype? dtype)]]
function M.RNNCell:init(...)
  local options = read_rnn(...)
  if options.nonlinearity ~= 'tanh' and options.nonlinearity ~= 'relu' then
    fail('Unknown nonlinearity: %s', tostring(options.nonlinearity))
  end
  self.nonlinearity, self.mode = options.nonlinearity, options.nonlinearity
  self:setup(options)
end

for name, mode in pairs { GRUCell = 'gru', LSTMCell = 'lstm' } do
  local read = declare.reader(name .. [[
    (integer input_size, integer hidden_size, boolean bias=true, device? device, dtype? dtype)]])
  local class = Base:extend(name)
  function class:init(...)
    self.mode = mode
    self:setup(read(...))
  end
  M[name] = class
end

declare.surplus_hints['LSTMCell.forward'] = 'the state is one table, {h, c}'
function M.LSTMCell:forward(input, hx)
  if hx ~= nil and type(hx) ~= 'table' then
    fail('LSTMCell: the state must be a table of two tensors, {h, c}, got %s', torch.type(hx))
  end
  return self:step(input, hx and hx[1], hx and hx[2])
end

return M
