-- rnn.lua - recurrent layers over sequences: nn.RNN, nn.GRU, nn.LSTM.
--
-- GRU(input_size, hidden_size, num_layers = 1, {bias = true, batch_first = false, dropout = 0,
-- bidirectional = false}). Input (steps, batch, input_size), with batch_first (batch, steps,
-- input_size), without a batch (steps, input_size), or a PackedSequence; the state is (layers *
-- directions, batch, hidden_size), for an LSTM a table of two. Returns the output of the last layer
-- and the last state. Weights start uniform in [-k, k], k = 1 / sqrt(hidden_size).

--[=[ arguments
mode: Kind of the cells: `'RNN_TANH'`, `'RNN_RELU'`, `'LSTM'` or `'GRU'`.
bias: Whether the cells have learned biases.
reset_parameters(): Draws all weights anew.
GRU(): A network of gated recurrent units, of several layers.
LSTM(): A network with long short-term memory, of several layers.
RNNBase(): The base class of the recurrent networks.
]=]

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
local declare = require 'torch.support.arguments'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local init = require 'torch.nn.init'
local python = require 'torch.nn.python'
local recurrent = require 'torch.nn.functional.recurrent'
local PackedSequence = require('torch.nn.utils.rnn').PackedSequence

local M = {}

local Base = Module:extend('RNNBase')
M.RNNBase = Base

-- ---- making -------------------------------------------------------------------------------------

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
  kinds.check_count(torch.type(self), 'num_layers', self.num_layers)
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
      self.layers[#self.layers + 1] = names
    end
  end
  self:reset_parameters()
end

function Base:reset_parameters()
  local bound = 1 / math.sqrt(self.hidden_size)
  for _, parameter in ipairs(self:parameters()) do init.uniform_(parameter, -bound, bound) end
end

-- Returns the module: weights need no rearrangement. For programs that call it.
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

-- ---- states -------------------------------------------------------------------------------------

local function list_text(shape) return '[' .. table.concat(shape, ', ') .. ']' end

local function check_state(what, state, wanted)
  if list_text(state.shape) ~= list_text(wanted) then
    fail('Expected %s size %s, got %s', what, python.repr(wanted), list_text(state.shape))
  end
end

-- The initial states, as { h, c } of shape (layers * directions, batch, size).
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

-- ---- running ------------------------------------------------------------------------------------

-- The weights of each direction of each layer, { w_ih, w_hh, b_ih, b_hh, w_hr }, converted to dtype
-- if it is not nil.
local function weights_of(self, dtype)
  local list = {}
  for i, names in ipairs(self.layers) do
    local weights = {}
    for k, key in ipairs { 'w_ih', 'w_hh', 'b_ih', 'b_hh', 'w_hr' } do
      local weight = self[names[key]]
      weights[k] = weight and dtype and weight:to(dtype) or weight
    end
    list[i] = weights
  end
  return list
end

-- Runs all layers between dropouts in a library. Returns nothing without a library.
local function run_network(self, rows, states, weights, dropout, batch)
  local directions = self.bidirectional and 2 or 1
  local at_once = dropout and directions or #weights
  local x, last_h, last_c = rows:reshape(rows:size(1) // batch, batch, rows:size(2)), {}, {}
  for first = 1, #weights, at_once do
    local flat, k = {}, #last_h + 1
    for i = first, first + at_once - 1 do table.move(weights[i], 1, self.bias and 4 or 2, #flat + 1, flat) end
    if dropout and first > 1 then x = torch.dropout(x, dropout, true) end
    local found = torch._C._recurrent_network(x, states[1]:narrow(1, first, at_once),
      states[2] and states[2]:narrow(1, first, at_once), flat, self.mode, at_once // directions, directions == 2)
    if #found == 0 then return nil end
    x, last_h[k], last_c[k] = found[1], found[2], found[3]
  end
  local function joined(list) return #list > 1 and torch.cat(list, 1) or list[1] end
  return x:reshape(rows:size(1), x:size(3)), joined(last_h), joined(last_c)
end

-- rows: [rows, input_size], step after step. Returns the output's rows and the last states.
local function run(self, rows, states, sizes)
  local lower = recurrent.autocast_dtype(rows, self.mode)
  local weights = weights_of(self, lower)
  if lower then
    rows, states = rows:to(lower), { states[1]:to(lower), states[2] and states[2]:to(lower) }
  end
  local dropout = self.dropout > 0 and self.training and self.num_layers > 1 and self.dropout or nil
  local output, hn, cn
  if not rows.is_cpu and torch.cuda._cudnn_enabled() and sizes == nil and self.proj_size == 0 and states[1]:size(2) > 0 then
    output, hn, cn = run_network(self, rows, states, weights, dropout, states[1]:size(2))
  end
  if output == nil then
    output, hn, cn = recurrent.layers(rows, states[1], states[2], weights, self.mode, self.bidirectional and 2 or 1, sizes, dropout)
  end
  return output, { hn, cn }
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

declare.surplus_hints['RNNBase.forward'] = 'the state of an LSTM is one table, {h, c}'
function Base:forward(input, hx)
  if PackedSequence:is_instance(input) then return forward_packed(self, input, hx) end
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
  local states = initial(self, hx, input, batch, unbatched)
  local rows, last = run(self, input:reshape(steps * batch, self.input_size), states)
  local output = rows:reshape(steps, batch, rows:size(2))
  if unbatched then
    output = output:squeeze(2)
    for i, state in ipairs(last) do last[i] = state:squeeze(2) end
  end
  if swap then output = output:transpose(1, 2) end
  return result(self, output, last)
end

-- ---- the classes --------------------------------------------------------------------------------

-- nn.RNNBase('LSTM' | 'GRU' | 'RNN_TANH' | 'RNN_RELU', ...)
local read_base = declare.reader [[
  RNNBase(string mode, integer input_size, integer hidden_size, integer num_layers=1, boolean bias=true,
    boolean batch_first=false, number dropout=0.0, boolean bidirectional=false, integer proj_size=0,
    device? device, dtype? dtype)]]
local MODES = { LSTM = 'lstm', GRU = 'gru', RNN_TANH = 'tanh', RNN_RELU = 'relu' }
function Base:init(...)
  local options = read_base(...)
  class.fields(self).mode = MODES[options.mode] or fail('Unrecognized RNN mode: %s', tostring(options.mode))
  self:setup(options)
end

-- A recurrent network with tanh or relu: nn.RNN(..., {nonlinearity = 'tanh' | 'relu'}).
M.RNN = Base:extend('RNN')
local read_rnn = declare.reader [[
  RNN(integer input_size, integer hidden_size, integer num_layers=1, string nonlinearity='tanh',
    boolean bias=true, boolean batch_first=false, number dropout=0.0, boolean bidirectional=false, *,
    device? device, dtype? dtype, integer proj_size=0)]]
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
  local read = declare.reader(name .. [[
    (integer input_size, integer hidden_size, integer num_layers=1, boolean bias=true,
      boolean batch_first=false, number dropout=0.0, boolean bidirectional=false, integer proj_size=0,
      device? device, dtype? dtype)]])
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
