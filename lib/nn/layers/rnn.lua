-- rnn.lua - recurrent layers over sequences: nn.RNN, nn.GRU, nn.LSTM.
--
-- GRU(input_size, hidden_size, num_layers = 1, {bias = true, batch_first = false, dropout = 0, bidirectional = false}).
-- Input (steps, batch, input_size), with batch_first (batch, steps, input_size), without a batch (steps, input_size), or
-- a PackedSequence; the state is (layers * directions, batch, hidden_size), for an LSTM a table of two. Returns the
-- output of the last layer and the last state. Weights start uniform in [-k, k], k = 1 / sqrt(hidden_size).

--[=[ examples
RNN
    output = nn.RNN(4, 8, {batch_first = true})(torch.zeros(2, 5, 4))
    output.shape
    --> torch.Size([2, 5, 8])
GRU
    output = nn.GRU(4, 8, {batch_first = true})(torch.zeros(2, 5, 4))
    output.shape
    --> torch.Size([2, 5, 8])
LSTM
    output = nn.LSTM(4, 8, {batch_first = true})(torch.zeros(2, 5, 4))
    output.shape
    --> torch.Size([2, 5, 8])
RNNBase
    nn.RNNBase:is_instance(nn.LSTM(4, 8))
    --> true
]=]

local torch = require 'torch'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local arguments = require 'torch.nn.arguments'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local init = require 'torch.nn.init'
local python = require 'torch.nn.python'
local recurrent = require 'torch.nn.functional.recurrent'
local PackedSequence = require('torch.nn.utils.rnn').PackedSequence

local M = {}

local Base = Module:extend('RNNBase')
M.RNNBase = Base

-- ---- making -------------------------------------------------------------------------------------------------------

local function check(options)
  local p = options.dropout
  if type(p) ~= 'number' or p < 0 or p > 1 then
    fail 'dropout should be a number in range [0, 1] representing the probability of an element being zeroed'
  end
  if math.type(options.hidden_size) ~= 'integer' then
    fail('hidden_size should be of type int, got: %s', type(options.hidden_size))
  end
  if options.hidden_size <= 0 then fail 'hidden_size must be greater than zero' end
  if options.num_layers <= 0 then fail 'num_layers must be greater than zero' end
  if options.proj_size < 0 then fail 'proj_size should be a positive integer or zero to disable projections' end
  if options.proj_size >= options.hidden_size then fail 'proj_size has to be smaller than hidden_size' end
end

-- The names of the parameters of one direction of one layer.
local function names_of(layer, backward)
  local suffix = ('_l%d%s'):format(layer - 1, backward and '_reverse' or '')
  return { w_ih = 'weight_ih' .. suffix, w_hh = 'weight_hh' .. suffix, b_ih = 'bias_ih' .. suffix,
    b_hh = 'bias_hh' .. suffix, w_hr = 'weight_hr' .. suffix }
end

function Base:setup(options)
  check(options)
  for _, name in ipairs { 'input_size', 'hidden_size', 'num_layers', 'bias', 'batch_first', 'dropout', 'bidirectional',
    'proj_size' } do
    self[name] = options[name]
  end
  local factory = { device = options.device, dtype = options.dtype }
  local function parameter(...) return Parameter(torch.empty(..., factory)) end
  local gates = recurrent.groups[self.mode] * self.hidden_size
  local real = self.proj_size > 0 and self.proj_size or self.hidden_size
  local directions = self.bidirectional and 2 or 1
  self.layers = {}
  for layer = 1, self.num_layers do
    for direction = 1, directions do
      local names = names_of(layer, direction == 2)
      local inputs = layer == 1 and self.input_size or real * directions
      self[names.w_ih] = parameter { gates, inputs }
      self[names.w_hh] = parameter { gates, real }
      if self.bias then
        self[names.b_ih] = parameter { gates }
        self[names.b_hh] = parameter { gates }
      end
      if self.proj_size > 0 then self[names.w_hr] = parameter { self.proj_size, self.hidden_size } end
      names.backward = direction == 2
      self.layers[#self.layers + 1] = names
    end
  end
  self:reset_parameters()
end

function Base:reset_parameters()
  local bound = 1 / math.sqrt(self.hidden_size)
  for _, parameter in ipairs(self:parameters()) do init.uniform_(parameter, -bound, bound) end
end

-- Weights need no arranging here; for programs that ask for it.
function Base:flatten_parameters() return self end

function Base:extra_repr()
  local text = ('%d, %d'):format(self.input_size, self.hidden_size)
  if self.proj_size ~= 0 then text = text .. ', proj_size=' .. self.proj_size end
  if self.num_layers ~= 1 then text = text .. ', num_layers=' .. self.num_layers end
  if not self.bias then text = text .. ', bias=False' end
  if self.batch_first then text = text .. ', batch_first=True' end
  if self.dropout ~= 0 then text = text .. ', dropout=' .. python.repr(self.dropout) end
  if self.bidirectional then text = text .. ', bidirectional=True' end
  return text
end

-- ---- states -------------------------------------------------------------------------------------------------------

local function list_text(shape) return '[' .. table.concat(shape, ', ') .. ']' end

local function check_state(what, state, wanted)
  if list_text(state.shape) ~= list_text(wanted) then
    fail('Expected %s size %s, got %s', what, python.repr(wanted), list_text(state.shape))
  end
end

-- The states to begin with, as { h, c } of shape (layers * directions, batch, size).
local function initial(self, given, input, batch, unbatched)
  local lstm = self.mode == 'lstm'
  local n = #self.layers
  local sizes = { self.proj_size > 0 and self.proj_size or self.hidden_size, self.hidden_size }
  if given == nil then
    local h = torch.zeros(n, batch, sizes[1], { dtype = input.dtype, device = input.device })
    if not lstm then return { h } end
    return { h, torch.zeros(n, batch, sizes[2], { dtype = input.dtype, device = input.device }) }
  end
  local states = lstm and given or { given }
  if lstm and (type(given) ~= 'table' or not torch.is_tensor(given[1]) or not torch.is_tensor(given[2])) then
    fail('LSTM: the state must be a table of two tensors, {h_0, c_0}, got %s', torch.type(given))
  end
  local result = {}
  for i = 1, lstm and 2 or 1 do
    local state = states[i]
    if not torch.is_tensor(state) then fail('hx must be a Tensor, got %s', torch.type(state)) end
    local ndim = unbatched and 2 or 3
    if state.ndim ~= ndim then
      local what = lstm and 'hx and cx' or 'hx'
      local got = lstm and ('(%d-D, %d-D) tensors'):format(states[1].ndim, states[2].ndim) or state.ndim .. '-D tensor'
      fail(unbatched and 'For unbatched 2-D input, %s should also be 2-D but got %s'
        or 'For batched 3-D input, %s should also be 3-D but got %s', what, got)
    end
    result[i] = unbatched and state:unsqueeze(2) or state
    check_state(lstm and ('hidden[%d]'):format(i - 1) or 'hidden', result[i], { n, batch, sizes[i] })
  end
  return result
end

-- ---- running --------------------------------------------------------------------------------------------------------

local function run_direction(self, names, rows, h, c, sizes)
  local gates = torch.linear(rows, self[names.w_ih], self[names.b_ih])
  local w_hh, b_hh = self[names.w_hh], self[names.b_hh]
  if self.proj_size > 0 then
    return recurrent.by_steps(gates, h, c, w_hh, b_hh, self.mode, names.backward, sizes, self[names.w_hr])
  end
  return recurrent.layer(gates, h, c, w_hh, b_hh, self.mode, names.backward, sizes)
end

-- rows: [rows, input_size], step after step. Returns the output's rows and the last states.
local function run(self, rows, states, sizes)
  local directions = self.bidirectional and 2 or 1
  local last_h, last_c = {}, {}
  for layer = 1, self.num_layers do
    local outputs = {}
    for direction = 1, directions do
      local i = (layer - 1) * directions + direction
      local output, hn, cn = run_direction(self, self.layers[i], rows, states[1]:select(1, i),
        states[2] and states[2]:select(1, i), sizes)
      outputs[direction], last_h[i], last_c[i] = output, hn, cn
    end
    rows = directions == 2 and torch.cat(outputs, 2) or outputs[1]
    if self.dropout > 0 and self.training and layer < self.num_layers then
      rows = torch.dropout(rows, self.dropout, true)
    end
  end
  return rows, { torch.stack(last_h), states[2] and torch.stack(last_c) }
end

local function result(self, output, states)
  if self.mode == 'lstm' then return output, states end
  return output, states[1]
end

local function check_width(self, input)
  local width = input:size(-1)
  if width ~= self.input_size then
    fail('input.size(-1) must be equal to input_size. Expected %d, got %d', self.input_size, width)
  end
end

local function forward_packed(self, packed, given)
  local order = packed.sorted_indices
  check_width(self, packed.data)
  local states = initial(self, given, packed.data, packed.batch_sizes[1]:item(), false)
  if given ~= nil and order ~= nil then
    for i, state in ipairs(states) do states[i] = state:index_select(2, order) end
  end
  local rows, last = run(self, packed.data, states, packed.batch_sizes)
  if packed.unsorted_indices ~= nil then
    for i, state in ipairs(last) do last[i] = state:index_select(2, packed.unsorted_indices) end
  end
  return result(self, PackedSequence(rows, packed.batch_sizes, order, packed.unsorted_indices), last)
end

function Base:forward(input, given)
  if PackedSequence:is_instance(input) then return forward_packed(self, input, given) end
  local name = self:_get_name()
  if not torch.is_tensor(input) then fail('%s: expected a Tensor or a PackedSequence, got %s', name, torch.type(input)) end
  if input.ndim ~= 2 and input.ndim ~= 3 then
    fail('%s: Expected input to be 2D or 3D, got %dD instead', name, input.ndim)
  end
  check_width(self, input)
  local unbatched, swap = input.ndim == 2, self.batch_first and input.ndim == 3
  if unbatched then input = input:unsqueeze(2) end
  if swap then input = input:transpose(1, 2) end
  local steps, batch = input:size(1), input:size(2)
  if steps == 0 then fail 'Expected sequence length to be larger than 0 in RNN' end
  local states = initial(self, given, input, batch, unbatched)
  local rows, last = run(self, input:reshape(steps * batch, self.input_size), states)
  local output = rows:reshape(steps, batch, rows:size(2))
  if unbatched then
    output = output:squeeze(2)
    for i, state in ipairs(last) do last[i] = state:squeeze(2) end
  end
  if swap then output = output:transpose(1, 2) end
  return result(self, output, last)
end

-- ---- the classes ----------------------------------------------------------------------------------------------------

local defaults = { num_layers = 1, bias = true, batch_first = false, dropout = 0.0, bidirectional = false, proj_size = 0 }

local function with(more)
  local all = {}
  for name, value in pairs(defaults) do all[name] = value end
  for name, value in pairs(more) do all[name] = value end
  return all
end

-- nn.RNN(..., {nonlinearity = 'tanh' | 'relu'})
M.RNN = Base:extend('RNN')
local read_rnn = arguments('RNN', 'input_size hidden_size',
  'num_layers nonlinearity bias batch_first dropout bidirectional', with { nonlinearity = 'tanh' })
function M.RNN:init(...)
  local options = read_rnn(...)
  if options.nonlinearity ~= 'tanh' and options.nonlinearity ~= 'relu' then
    fail("Unknown nonlinearity '%s'. Select from 'tanh' or 'relu'.", tostring(options.nonlinearity))
  end
  if options.proj_size > 0 then fail 'proj_size argument is only supported for LSTM, not RNN or GRU' end
  self.mode, self.nonlinearity = options.nonlinearity, options.nonlinearity
  self:setup(options)
end

for name, mode in pairs { GRU = 'gru', LSTM = 'lstm' } do
  local read = arguments(name, 'input_size hidden_size', 'num_layers bias batch_first dropout bidirectional proj_size',
    with {})
  local layer = Base:extend(name)
  function layer:init(...)
    local options = read(...)
    if options.proj_size > 0 and mode ~= 'lstm' then
      fail 'proj_size argument is only supported for LSTM, not RNN or GRU'
    end
    class.fields(self).mode = mode
    self:setup(options)
  end
  M[name] = layer
end

return M
