-- recurrent.lua - one direction of one recurrent layer: an op over the whole sequence. For projected
-- LSTMs, the steps are computed one by one with differentiable ops. Also stacks of layers.

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

-- The same results as torch._C.recurrent_layer; weight_hr projects the state of an LSTM.
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

-- gates [rows, groups * hidden] of the input, step after step; hx, cx [batch, hidden]; sizes: rows
-- of each step, if they differ. Returns the output [rows, hidden] and the last h (and c).
function recurrent.layer(gates, hx, cx, weight_hh, bias_hh, cell, reverse, sizes)
  if hx:size(1) == 0 then return recurrent.by_steps(gates, hx, cx, weight_hh, bias_hh, cell, reverse) end
  if (gates.dtype ~= hx.dtype or gates.dtype ~= weight_hh.dtype) and torch.is_autocast_enabled(gates.device.type) then
    return recurrent.by_steps(gates, hx, cx, weight_hh, bias_hh, cell, reverse, sizes)
  end
  local output, hn, cn = torch._C.recurrent_layer(gates, hx, cx, weight_hh, bias_hh, cell, reverse, sizes)
  return output, hn, cx and cn
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
