-- recurrent.lua - one direction of one recurrent layer, differentiable: an op over the whole
-- sequence, with one op as its derivative. To differentiate the derivative (create_graph), and for
-- projected LSTMs, the steps are computed one by one with differentiable ops. Also stacks of
-- layers.

local torch = require 'torch'

local recurrent = {}

recurrent.groups = { tanh = 1, relu = 1, gru = 3, lstm = 4 }

-- ---- step by step -------------------------------------------------------------------------------

-- x, g: the gates of the input and of the state; returns the new h (and c).
local steps = {}
function steps.tanh(x, g) return torch.tanh(x + g) end
function steps.relu(x, g) return torch.relu(x + g) end

function steps.gru(x, g, h)
  local xr, xz, xn = table.unpack(x:chunk(3, 2))
  local gr, gz, gn = table.unpack(g:chunk(3, 2))
  local r, z = torch.sigmoid(xr + gr), torch.sigmoid(xz + gz)
  local n = torch.tanh(xn + r * gn)
  return (h - n) * z + n
end

function steps.lstm(x, g, _, c)
  local i, f, n, o = table.unpack((x + g):chunk(4, 2))
  c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(n)
  return torch.sigmoid(o) * torch.tanh(c), c
end

-- The first row and the number of sequences of every step. Without sequences: one step without
-- rows.
local function places(rows, batch, sizes)
  if batch == 0 then return { { 1, 0 } } end
  local list, row = {}, 1
  local n = sizes and #sizes or rows // batch
  for t = 1, n do
    local size = sizes and sizes[t]:item() or batch
    list[t] = { row, size }
    row = row + size
  end
  return list
end

-- The same results as torch._C._recurrent's first three; weight_hr projects the state of an LSTM.
function recurrent.by_steps(gates, hx, cx, weight_hh, bias_hh, cell, reverse, sizes, weight_hr)
  local batch = hx:size(1)
  local list = places(gates:size(1), batch, sizes)
  local h, c = hx, cx
  local outputs, n = {}, #list
  local last_h, last_c = {}, {}
  if reverse then h, c = hx:narrow(1, 1, list[n][2]), cx and cx:narrow(1, 1, list[n][2]) end
  for k = 1, n do
    local t = reverse and n + 1 - k or k
    local row, size = table.unpack(list[t])
    local now = h:size(1)
    if size < now then -- sequences end: this state is their last one
      table.insert(last_h, 1, h:narrow(1, size + 1, now - size))
      h = h:narrow(1, 1, size)
      if c then
        table.insert(last_c, 1, c:narrow(1, size + 1, now - size))
        c = c:narrow(1, 1, size)
      end
    elseif size > now then -- in reverse direction, sequences begin
      h = torch.cat({ h, hx:narrow(1, now + 1, size - now) }, 1)
      if c then c = torch.cat({ c, cx:narrow(1, now + 1, size - now) }, 1) end
    end
    h, c = steps[cell](gates:narrow(1, row, size), torch.linear(h, weight_hh, bias_hh), h, c)
    if weight_hr then h = torch.linear(h, weight_hr) end
    outputs[t] = h
  end
  table.insert(last_h, 1, h)
  if c then table.insert(last_c, 1, c) end
  return torch.cat(outputs, 1), torch.cat(last_h, 1), c and torch.cat(last_c, 1)
end

-- ---- at once ------------------------------------------------------------------------------------

local Layer

-- Created on first use, because it loads torch.autograd.Function.
local function layer_class()
  if Layer then return Layer end
  Layer = torch.autograd.Function:extend('Recurrent')

  function Layer.forward(ctx, gates, hx, cx, weight_hh, bias_hh, cell, reverse, sizes)
    local output, hn, cn, kept, cells = torch._C._recurrent(gates, hx, cx, weight_hh, bias_hh, cell, reverse, sizes)
    ctx:save_for_backward(gates, hx, cx, weight_hh, bias_hh, output, kept, cells)
    ctx:set_materialize_grads(false)
    ctx.cell, ctx.reverse, ctx.sizes = cell, reverse, sizes
    if cx == nil then return output, hn end
    return output, hn, cn
  end

  -- With create_graph: the derivative of the same steps, recorded.
  local function recorded(ctx, inputs, gradients)
    local gates, hx, cx, weight_hh, bias_hh = table.unpack(inputs, 1, 5)
    local results = table.pack(recurrent.by_steps(gates, hx, cx, weight_hh, bias_hh, ctx.cell, ctx.reverse, ctx.sizes))
    local outputs, weights, wanted, place = {}, {}, {}, {}
    for i = 1, 3 do
      if gradients[i] ~= nil then
        outputs[#outputs + 1], weights[#weights + 1] = results[i], gradients[i]
      end
    end
    for i = 1, 5 do
      if inputs[i] ~= nil and ctx.needs_input_grad[i] then
        wanted[#wanted + 1] = inputs[i]
        place[#wanted] = i
      end
    end
    local found = table.pack(torch.autograd.grad(outputs, wanted, weights, { create_graph = true, allow_unused = true }))
    local full = {}
    for k, i in ipairs(place) do full[i] = found[k] end
    return table.unpack(full, 1, 8)
  end

  function Layer.backward(ctx, grad_output, grad_hn, grad_cn)
    local saved = ctx.saved_tensors
    if torch.is_grad_enabled() then return recorded(ctx, saved, { grad_output, grad_hn, grad_cn }) end
    local _, hx, cx, weight_hh, bias_hh, output, kept, cells = table.unpack(saved, 1, 8)
    local dx, dh, dc, dw, db = torch._C._recurrent_backward(grad_output, grad_hn, grad_cn, hx, cx, weight_hh, output, kept,
      cells, ctx.cell, ctx.reverse, ctx.sizes)
    if cx == nil then dc = nil end
    if bias_hh == nil then db = nil end
    return dx, dh, dc, dw, db, nil, nil, nil
  end
  return Layer
end

-- gates [rows, groups * hidden] of the input, step after step; hx, cx [batch, hidden]; sizes: rows
-- of each step, if they differ. Returns the output [rows, hidden] and the last h (and c).
function recurrent.layer(gates, hx, cx, weight_hh, bias_hh, cell, reverse, sizes)
  if hx:size(1) == 0 then return recurrent.by_steps(gates, hx, cx, weight_hh, bias_hh, cell, reverse) end
  if (gates.dtype ~= hx.dtype or gates.dtype ~= weight_hh.dtype) and torch.is_autocast_enabled(gates.device.type) then
    return recurrent.by_steps(gates, hx, cx, weight_hh, bias_hh, cell, reverse, sizes)
  end
  if not torch.is_grad_enabled() then
    local output, hn, cn = torch._C._recurrent(gates, hx, cx, weight_hh, bias_hh, cell, reverse, sizes)
    return output, hn, cn
  end
  return layer_class().apply(gates, hx, cx, weight_hh, bias_hh, cell, reverse, sizes)
end

-- ---- under autocast -----------------------------------------------------------------------------

-- The dtype to which autocast casts all tensors of cells with such an input, or nil. On a CPU,
-- tensors of a GRU and of a single cell are not cast: PyTorch composes these of other operations,
-- of which only products are cast.
function recurrent.autocast_dtype(input, cell, alone)
  local kind = input.device.type
  if not torch.is_autocast_enabled(kind) or input.dtype == torch.float64 then return nil end
  if kind == 'cpu' and (cell == 'gru' or alone) then return nil end
  return torch.get_autocast_dtype(kind)
end

-- ---- layers on layers ---------------------------------------------------------------------------

local function direction(rows, weights, h, c, cell, reverse, sizes)
  local w_ih, w_hh, b_ih, b_hh, w_hr = table.unpack(weights, 1, 5)
  local gates = torch.linear(rows, w_ih, b_ih)
  if w_hr then return recurrent.by_steps(gates, h, c, w_hh, b_hh, cell, reverse, sizes, w_hr) end
  return recurrent.layer(gates, h, c, w_hh, b_hh, cell, reverse, sizes)
end

-- Splits a flat list of weights into a list for each of `cells` directions of layers.
function recurrent.by_direction(flat, cells)
  local parts, list = #flat // cells, {}
  for i = 1, cells do list[i] = table.move(flat, (i - 1) * parts + 1, i * parts, 1, {}) end
  return list
end

-- rows [rows, input_size], step after step; hx, cx [layers * directions, batch, size]; weights: for
-- each direction of each layer { w_ih, w_hh, b_ih, b_hh, w_hr }, the last three optional; dropout:
-- the probability between layers, or nil. Returns the output's rows and the last states.
function recurrent.layers(rows, hx, cx, weights, cell, directions, sizes, dropout)
  local last_h, last_c, layers = {}, {}, #weights // directions
  for layer = 1, layers do
    local outputs = {}
    for d = 1, directions do
      local i = (layer - 1) * directions + d
      outputs[d], last_h[i], last_c[i] = direction(rows, weights[i], hx:select(1, i), cx and cx:select(1, i), cell, d == 2, sizes)
    end
    rows = directions == 2 and torch.cat(outputs, 2) or outputs[1]
    if dropout and layer < layers then rows = torch.dropout(rows, dropout, true) end
  end
  return rows, torch.stack(last_h), cx and torch.stack(last_c)
end

return recurrent
