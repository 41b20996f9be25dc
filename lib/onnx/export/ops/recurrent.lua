-- recurrent.lua - exports one direction of one recurrent layer: LSTM, GRU or RNN.
--
-- ltensor multiplies the input by its weights before the recurrent operation; ONNX's operators do
-- both. Therefore the operation that computed the gates is looked up in the recording.

local torch = require 'torch'

local M = {}

-- By cell: the operator, and the order of our gates (from 1) in ONNX.
local cells = { lstm = { 'LSTM', { 1, 4, 2, 3 } }, gru = { 'GRU', { 2, 1, 3 } }, tanh = { 'RNN', { 1 } }, relu = { 'RNN', { 1 } } }

-- The rows of a weight or bias in ONNX's order, with a leading dimension for the direction.
local function reordered(g, value, order)
  local parts, n = {}, value.shape[1] // #order
  for i, gate in ipairs(order) do parts[i] = value.tensor:detach():narrow(1, (gate - 1) * n + 1, n) end
  return torch.cat(parts, 1):unsqueeze(1)
end

local function weight_of(g, value, order)
  if not value.learned or value.varies or value.kind == 'result' then g:fail 'weights that are computed' end
  if #order > 1 then return g:constant(reordered(g, value, order), g:fresh(value.name .. '_onnx')) end
  return g:node('Unsqueeze', { g:name(value), g:list { 0 } })
end

-- args: gates, hx, cx, weight_hh, bias_hh, cell, reverse, batch_sizes, unconverted.
function M.recurrent_layer(g, a, call)
  local gates, hx, cx, weight_hh, bias_hh, cell, reverse = table.unpack(a, 1, 7)
  if a[8] then g:fail 'a packed sequence' end
  local made
  for _, other in ipairs(g.recordings[1].calls) do
    if other.op == 'linear' and other.results[1] == gates then made = other end
  end
  if not made then g:fail 'gates that are no product of the input and its weights' end
  local rows, weight_ih, bias_ih = table.unpack(made.args, 1, 3)
  local name, order = table.unpack(cells[cell])
  local shape, state = g:shape(rows), g:shape(hx)
  local batch, hidden = state[1], g:plain(state[2], 'the size of the state')
  local steps = g:map(function(n, b) return n // b end, shape[1], batch)
  local x = g:reshape(g:name(rows), { steps, batch, shape[2] })
  local bias = false
  if bias_ih or bias_hh then
    bias = g:node('Concat', { weight_of(g, bias_ih, order), weight_of(g, bias_hh, order) }, { axis = 1 })
  end
  local function initial(value) return g:node('Unsqueeze', { g:name(value), g:list { 0 } }) end
  local inputs = { x, weight_of(g, weight_ih, order), weight_of(g, weight_hh, order), bias, false, initial(hx), cx and initial(cx) }
  local attributes = { hidden_size = hidden, direction = reverse and 'reverse' or 'forward' }
  if cell == 'gru' then attributes.linear_before_reset = 1 end
  if name == 'RNN' then attributes.activations = { cell == 'tanh' and 'Tanh' or 'Relu' } end
  local y, h, c = g:node(name, inputs, attributes, cx and 3 or 2)
  local function last(state_name) return g:node('Squeeze', { state_name, g:list { 0 } }) end
  -- [steps, 1, batch, hidden] as rows.
  local output = g:reshape(y, g:shape(call.results[1]))
  if cx then return output, last(h), last(c) end
  return output, last(h)
end

return M
