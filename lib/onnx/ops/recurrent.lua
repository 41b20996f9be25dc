-- recurrent.lua - RNN, LSTM and GRU: with any activations, lengths, directions. ONNX orders LSTM's
-- gates input, output, forget, cell, and GRU's update, reset, hidden.

local torch = require 'torch'
local kept = require 'torch.onnx.kept'
local recurrent = require 'torch.nn.functional.recurrent'
local values = require 'torch.onnx.values'

local F = require 'torch.nn.functional'
local ops = {}

local functions = {
  relu = function() return torch.relu end,
  tanh = function() return torch.tanh end,
  sigmoid = function() return torch.sigmoid end,
  affine = function(alpha, beta) return function(x) return x * (alpha or 1) + (beta or 0) end end,
  leakyrelu = function(alpha) return function(x) return torch.leaky_relu(x, alpha or 0.01) end end,
  thresholdedrelu = function(alpha) return function(x) return torch.threshold(x, alpha or 1, 0) end end,
  scaledtanh = function(alpha, beta) return function(x) return (x * (beta or 1)):tanh() * (alpha or 1) end end,
  hardsigmoid = function(alpha, beta) return function(x) return torch.clamp(x * (alpha or 0.2) + (beta or 0.5), { min = 0, max = 1 }) end end,
  elu = function(alpha) return function(x) return torch.elu(x, alpha or 1) end end,
  softsign = function() return F.softsign end,
  softplus = function() return function(x) return torch.softplus(x) end end,
}
local takes = { affine = 2, leakyrelu = 1, thresholdedrelu = 1, scaledtanh = 2, hardsigmoid = 2, elu = 1 } -- number of parameters

-- The activations of one direction, which has as many as `defaults`.
local function activations(node, direction, defaults)
  local a, n, made, used_alpha, used_beta = node.attributes, #defaults, {}, 0, 0
  local names = a.activations or {}
  for i = 1, math.max(#names, direction * n) do
    local name = (names[i] or defaults[(i - 1) % n + 1]):lower()
    local make = functions[name] or values.fail("an activation '%s'", name)
    local alpha, beta
    if takes[name] then
      used_alpha = used_alpha + 1
      alpha = a.activation_alpha and a.activation_alpha[used_alpha]
    end
    if takes[name] == 2 then
      used_beta = used_beta + 1
      beta = a.activation_beta and a.activation_beta[used_beta]
    end
    if i > (direction - 1) * n and i <= direction * n then made[#made + 1] = make(alpha, beta) end
  end
  return made
end

-- Whether the activations are these in every direction.
local function is_usual(node, defaults)
  for i, name in ipairs(node.attributes.activations or {}) do
    if name:lower() ~= defaults[(i - 1) % #defaults + 1] then return false end
  end
  return true
end

-- Rows of weights or biases, with the gates in the order of our own layers.
local function ordered(t, order, hidden)
  local parts = {}
  for i, k in ipairs(order) do parts[i] = t:narrow(1, (k - 1) * hidden + 1, hidden) end
  return #parts == 1 and parts[1] or torch.cat(parts, 1)
end

-- The weights and biases of direction d in the form of our own layers: w_ih, w_hh, b_ih, b_hh.
local function own_weights(node, d, order, hidden, W, R, B)
  local function make()
    local bias, n = B and B:select(1, d), #order * hidden
    return { ordered(W:select(1, d), order, hidden), ordered(R:select(1, d), order, hidden),
      bias and ordered(bias:narrow(1, 1, n), order, hidden), bias and ordered(bias:narrow(1, n + 1, n), order, hidden) }
  end
  if kept.records(W, R, B) then
    node.own = nil
    return make()
  end
  node.own = node.own or {}
  local own = node.own[d] or {}
  node.own[d] = own
  if not kept.holds(own, W, R, B) then
    own.weights = make()
    for i, t in pairs(own.weights) do own.weights[i] = t:detach() end
  end
  return own.weights
end

-- One direction by our own layer, for a cell of the standard form: the output (length, batch,
-- hidden) and the last states.
local function by_own(node, d, cell, x, W, R, B, states, backward)
  local length, batch, hidden = x:size(1), x:size(2), R:size(3)
  local w = own_weights(node, d, cell.order, hidden, W, R, B)
  local gates = torch.linear(x:reshape(length * batch, -1), w[1], w[3])
  local output, hn, cn = recurrent.layer(gates, states[1], states[2], w[2], w[4], cell.own, backward)
  return output:view(length, batch, hidden), { hn, cn }
end

-- One direction step by step: step(x_t, states) -> states, with the output first. counts: the
-- length of each sequence, or nil if all are complete.
local function by_steps(node, d, cell, x, W, R, B, states, backward, counts)
  local length, batch, hidden, clip = x:size(1), x:size(2), R:size(3), node.attributes.clip
  local bias_x, bias_h
  if B then
    local bias, n = B:select(1, d), B:size(2) // 2
    bias_x, bias_h = bias:narrow(1, 1, n), bias:narrow(1, n + 1, n)
  end
  local function clipped(t) return clip and torch.clamp(t, { min = -clip, max = clip }) or t end
  local step = cell.prepare(node, d, { recurrent = R:select(1, d), bias_h = bias_h, hidden = hidden, clipped = clipped })
  local given = torch.linear(cell.rounded and cell.rounded(x) or x, W:select(1, d), bias_x) -- of all steps at once
  local steps = {}
  for i = 1, length do
    local t = backward and length + 1 - i or i
    local new = { step(given:select(1, t), table.unpack(states)) }
    local output = new[1]
    if counts then -- ended sequences keep their state and output zeros
      local runs = {}
      for b = 1, batch do runs[b] = t <= counts[b] end
      local alive = torch.tensor(runs, { device = x.device }):unsqueeze(2)
      output = torch.where(alive, new[1], torch.zeros_like(new[1]))
      for k = 1, cell.n_states do new[k] = torch.where(alive, new[k], states[k]) end
    end
    states, steps[t] = new, output
  end
  return torch.stack(steps, 1), states
end

local function stacked(list, dim) return #list == 1 and list[1]:unsqueeze(dim) or torch.stack(list, dim) end

-- A layer of any cell: { n_states = 1 or 2 (h, c), prepare = a function that returns the step
-- function of a direction; own, order: for cells that our own layers support, their name and the
-- order of their gates }.
local function layer(node, cell, x, W, R, B, lengths, initial)
  local a = node.attributes
  if not x or not W or not R then values.fail "one of its inputs 'X', 'W' and 'R' is missing" end
  local layout = a.layout == 1
  if layout then
    x = x:transpose(1, 2)
    for i, state in pairs(initial) do initial[i] = state:transpose(1, 2) end
  end
  local batch, hidden = x:size(2), R:size(3)
  local counts = lengths and values.list(node, 5, lengths)
  local is_own = cell.own and not counts and not a.clip and x:size(1) > 0 and (x.dtype == torch.float32 or x.dtype == torch.float64)
  local run = is_own and by_own or by_steps
  local outputs, last = {}, {}
  for k = 1, cell.n_states do last[k] = {} end
  for d = 1, a.direction == 'bidirectional' and 2 or 1 do
    local states, backward = {}, a.direction == 'reverse' or d == 2
    for k = 1, cell.n_states do
      states[k] = initial[k] and initial[k]:select(1, d) or torch.zeros(batch, hidden, { dtype = x.dtype, device = x.device })
    end
    outputs[d], states = run(node, d, cell, x, W, R, B, states, backward, counts)
    for k = 1, cell.n_states do last[k][d] = states[k] end
  end
  local y = stacked(outputs, 2) -- (length, direction, batch, hidden)
  local results = { layout and y:permute({ 3, 1, 2, 4 }) or y }
  for k = 1, cell.n_states do results[k + 1] = stacked(last[k], layout and 2 or 1) end
  return table.unpack(results)
end

local rnn = { n_states = 1, order = { 1 }, prepare = function(node, d, w)
  local f = activations(node, d, { 'Tanh' })[1]
  return function(x, h) return f(w.clipped(x + torch.linear(h, w.recurrent, w.bias_h))) end
end }

local tanh_rnn, relu_rnn = { own = 'tanh' }, { own = 'relu' }
for key, value in pairs(rnn) do tanh_rnn[key], relu_rnn[key] = value, value end

function ops.RNN(node, x, W, R, B, lengths, h)
  local cell = is_usual(node, { 'tanh' }) and tanh_rnn or is_usual(node, { 'relu' }) and relu_rnn or rnn
  return layer(node, cell, x, W, R, B, lengths, { h })
end

function ops.GRU(node, x, W, R, B, lengths, h0)
  local is_own = node.attributes.linear_before_reset == 1 and is_usual(node, { 'sigmoid', 'tanh' })
  local gru = { n_states = 1, own = is_own and 'gru', order = { 2, 1, 3 }, prepare = function(_, d, w)
    local acts, n = activations(node, d, { 'Sigmoid', 'Tanh' }), w.hidden
    local f, g = acts[1], acts[2]
    local function bias(from, count) return w.bias_h and w.bias_h:narrow(1, from, count) end
    local gates, hidden = w.recurrent:narrow(1, 1, 2 * n), w.recurrent:narrow(1, 2 * n + 1, n)
    return function(x, h)
      local zr = f(w.clipped(x:narrow(2, 1, 2 * n) + torch.linear(h, gates, bias(1, 2 * n))))
      local z, r = zr:narrow(2, 1, n), zr:narrow(2, n + 1, n)
      local inner
      if node.attributes.linear_before_reset == 1 then inner = r * torch.linear(h, hidden, bias(2 * n + 1, n))
      else inner = torch.linear(r * h, hidden, bias(2 * n + 1, n)) end
      local new = g(w.clipped(x:narrow(2, 2 * n + 1, n) + inner))
      return new + z * (h - new)
    end
  end }
  return layer(node, gru, x, W, R, B, lengths, { h0 })
end

-- rounded(x), rounded(h, true): applied before they are multiplied; nil: none.
local function long_short(node, rounded, x, W, R, B, lengths, h0, c0, P)
  local is_own = not P and not rounded and node.attributes.input_forget ~= 1 and is_usual(node, { 'sigmoid', 'tanh', 'tanh' })
  local lstm = { n_states = 2, own = is_own and 'lstm', rounded = rounded, order = { 1, 3, 4, 2 }, prepare = function(_, d, w)
    local acts, n = activations(node, d, { 'Sigmoid', 'Tanh', 'Tanh' }), w.hidden
    local f, g, h_of = acts[1], acts[2], acts[3]
    local peep = P and P:select(1, d)
    local function look(i, c) return peep:narrow(1, (i - 1) * n + 1, n) * c end
    return function(x_t, h, c)
      local all = x_t + torch.linear(rounded and rounded(h, true) or h, w.recurrent, w.bias_h)
      local i, o, forget, cell = all:narrow(2, 1, n), all:narrow(2, n + 1, n), all:narrow(2, 2 * n + 1, n), all:narrow(2, 3 * n + 1, n)
      if peep then i, forget = i + look(1, c), forget + look(3, c) end
      i = f(w.clipped(i))
      forget = node.attributes.input_forget == 1 and 1 - i or f(w.clipped(forget))
      local c_new = forget * c + i * g(w.clipped(cell))
      if peep then o = o + look(2, c_new) end
      return f(w.clipped(o)) * h_of(c_new), c_new
    end
  end }
  return layer(node, lstm, x, W, R, B, lengths, { h0, c0 })
end

function ops.LSTM(node, ...) return long_short(node, nil, ...) end

-- ---- of integers --------------------------------------------------------------------------------

-- The values of DynamicQuantizeLinear: 256 values between the minimum and the maximum, including 0.
-- A state is rounded by rows, so no sequence depends on the others of its batch (onnxruntime rounds
-- the rows of a thread together).
local function rounded_dynamically(x, by_rows)
  local least, most = x:min(), x:max()
  if by_rows then least, most = x:amin(-1, true), x:amax(-1, true) end
  local low, high = torch.clamp(least, { max = 0 }), torch.clamp(most, { min = 0 })
  local scale = (high - low) / 255
  local zero = (-low / scale):round():clamp(0, 255)
  return torch.where(scale:eq(0), x, (((x / scale):round() + zero):clamp(0, 255) - zero) * scale)
end

-- Converts 8-bit weights (direction, from, gates) to floats (direction, gates, from); scales and
-- zero points are per direction or per row of gates.
local function dequantized(weight, scale, zero)
  local function beside(t) return t:dim() == 2 and t:unsqueeze(2) or t:view(-1, 1, 1) end
  local wide = weight:to(torch.float32)
  if zero then wide = wide - beside(zero):to(torch.float32) end
  return (wide * beside(scale)):transpose(2, 3)
end

local microsoft = {}

function microsoft.DynamicQuantizeLSTM(node, x, W, R, B, lengths, h0, c0, P, W_scale, W_zero, R_scale, R_zero)
  if not W_scale or not R_scale then values.fail "one of its inputs 'W_scale' and 'R_scale' is missing" end
  return long_short(node, rounded_dynamically, x, dequantized(W, W_scale, W_zero), dequantized(R, R_scale, R_zero), B, lengths, h0, c0, P)
end

return { [''] = ops, ['com.microsoft'] = microsoft }
