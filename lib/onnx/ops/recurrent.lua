-- recurrent.lua - RNN, LSTM and GRU: with any activations, lengths, directions. ONNX orders LSTM's gates input, output,
-- forget, cell, and GRU's update, reset, hidden.

local torch = require 'torch'
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
local takes = { affine = 2, leakyrelu = 1, thresholdedrelu = 1, scaledtanh = 2, hardsigmoid = 2, elu = 1 } -- parameters

-- The activations of one direction, of `n` per direction.
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

-- The layer of any cell. step(x_t, states, direction) -> states, the first of which is the output; gates: how many weights
-- a hidden element has; n_states: 1 or 2 (h, c).
local function layer(node, cell, gates, x, W, R, B, lengths, initial)
  local a = node.attributes
  if not x or not W or not R then values.fail "one of its inputs 'X', 'W' and 'R' is missing" end
  local layout = a.layout == 1
  if layout then
    x = x:transpose(1, 2)
    for i, state in pairs(initial) do initial[i] = state:transpose(1, 2) end
  end
  local length, batch, hidden = x:size(1), x:size(2), R:size(3)
  local directions = a.direction == 'bidirectional' and 2 or 1
  local n_states = cell.n_states
  local counts = lengths and values.list(node, 5, lengths)
  local outputs, last = {}, {}
  for k = 1, n_states do last[k] = {} end
  local function clipped(t) return a.clip and torch.clamp(t, { min = -a.clip, max = a.clip }) or t end
  for d = 1, directions do
    local backward = a.direction == 'reverse' or d == 2
    local weight, recurrent = W:select(1, d), R:select(1, d)
    local bias_x, bias_h
    if B then
      local bias = B:select(1, d)
      bias_x, bias_h = bias:narrow(1, 1, gates * hidden), bias:narrow(1, gates * hidden + 1, gates * hidden)
    end
    local states = {}
    for k = 1, n_states do states[k] = initial[k] and initial[k]:select(1, d) or torch.zeros(batch, hidden, { dtype = x.dtype, device = x.device }) end
    local step = cell.prepare(node, d, { recurrent = recurrent, bias_h = bias_h, hidden = hidden, clipped = clipped })
    local given = torch.linear(x, weight, bias_x) -- of all steps at once
    local steps = {}
    for i = 1, length do
      local t = backward and length + 1 - i or i
      local new = { step(given:select(1, t), table.unpack(states)) }
      local output = new[1]
      if counts then -- sequences that have ended keep their state, and put out zeros
        local runs = {}
        for b = 1, batch do runs[b] = t <= counts[b] end
        local alive = torch.tensor(runs, { device = x.device }):unsqueeze(2)
        output = torch.where(alive, new[1], torch.zeros_like(new[1]))
        for k = 1, n_states do new[k] = torch.where(alive, new[k], states[k]) end
      end
      states, steps[t] = new, output
    end
    outputs[d] = torch.stack(steps, 1)
    for k = 1, n_states do last[k][d] = states[k] end
  end
  local y = torch.stack(outputs, 2) -- (length, direction, batch, hidden)
  local results = { layout and y:permute({ 3, 1, 2, 4 }) or y }
  for k = 1, n_states do results[k + 1] = torch.stack(last[k], layout and 2 or 1) end
  return table.unpack(results)
end

local rnn = { n_states = 1, prepare = function(node, d, w)
  local f = activations(node, d, { 'Tanh' })[1]
  return function(x, h) return f(w.clipped(x + torch.linear(h, w.recurrent, w.bias_h))) end
end }

function ops.RNN(node, x, W, R, B, lengths, h) return layer(node, rnn, 1, x, W, R, B, lengths, { h }) end

function ops.GRU(node, x, W, R, B, lengths, h0)
  local gru = { n_states = 1, prepare = function(_, d, w)
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
  return layer(node, gru, 3, x, W, R, B, lengths, { h0 })
end

function ops.LSTM(node, x, W, R, B, lengths, h0, c0, P)
  local lstm = { n_states = 2, prepare = function(_, d, w)
    local acts, n = activations(node, d, { 'Sigmoid', 'Tanh', 'Tanh' }), w.hidden
    local f, g, h_of = acts[1], acts[2], acts[3]
    local peep = P and P:select(1, d)
    local function look(i, c) return peep:narrow(1, (i - 1) * n + 1, n) * c end
    return function(x_t, h, c)
      local all = x_t + torch.linear(h, w.recurrent, w.bias_h)
      local i, o, forget, cell = all:narrow(2, 1, n), all:narrow(2, n + 1, n), all:narrow(2, 2 * n + 1, n), all:narrow(2, 3 * n + 1, n)
      if peep then i, forget = i + look(1, c), forget + look(3, c) end
      i = f(w.clipped(i))
      forget = node.attributes.input_forget == 1 and 1 - i or f(w.clipped(forget))
      local c_new = forget * c + i * g(w.clipped(cell))
      if peep then o = o + look(2, c_new) end
      return f(w.clipped(o)) * h_of(c_new), c_new
    end
  end }
  return layer(node, lstm, 4, x, W, R, B, lengths, { h0, c0 })
end

return { [''] = ops }
