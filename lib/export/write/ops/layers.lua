-- layers.lua - writes layers that ATen has in another form: recurrent layers, embeddings, resizing,
-- pooling with positions.

local torch = require 'torch'
local record = require 'torch.onnx.export.record'

local M = {}

-- ---- recurrent layers ---------------------------------------------------------------------------

local cells = { lstm = 'lstm', gru = 'gru', tanh = 'rnn_tanh', relu = 'rnn_relu' }

-- The operation that multiplied the input of a recurrent layer by its weights.
local function product_of(g, gates)
  for _, other in ipairs(g.recordings[1].calls) do
    if other.op == 'linear' and other.results[1] == gates then return table.unpack(other.args, 1, 3) end
  end
  g:fail 'gates that are no product of the input and its weights; use nn.LSTM, nn.GRU or nn.RNN'
end

local function changed(g, target, arguments, shape)
  local result = g:made(arguments.self, nil, shape)
  g:call_operator(target, arguments, { result })
  return result
end

-- args: gates, hx, cx, weight_hh, bias_hh, cell, reverse, batch_sizes, unconverted. ATen's layer
-- multiplies by the weights of the input itself; a reversed layer is one over the reversed input.
function M.recurrent_layer(g, a, call)
  local gates, hx, cx, weight_hh, bias_hh, cell, reverse, sizes = table.unpack(a, 1, 8)
  if sizes then g:fail 'a packed sequence is not supported; pass padded sequences' end
  local rows, weight_ih, bias_ih = product_of(g, gates)
  local shape, state = g:shape(rows), g:shape(hx)
  local batch, hidden = state[1], state[2]
  local steps = shape[1] // batch
  local x = changed(g, 'reshape.default', { self = rows, shape = { steps, batch, shape[2] } }, { steps, batch, shape[2] })
  if reverse then x = changed(g, 'flip.default', { self = x, dims = { 0 } }, g:shape(x)) end
  local function layered(value) return changed(g, 'unsqueeze.default', { self = value, dim = 0 }, { 1, batch, hidden }) end
  local params = { weight_ih, weight_hh }
  if bias_ih then table.move({ bias_ih, bias_hh }, 1, 2, 3, params) end
  local start = layered(hx)
  local outputs = { g:made(hx, nil, { steps, batch, hidden }), g:made(hx, nil, { 1, batch, hidden }) }
  if cx then
    start, outputs[3] = { json = { as_tensors = { { name = g:name(start) }, { name = g:name(layered(cx)) } } } }, g:made(hx, nil, { 1, batch, hidden })
  end
  g:call_operator(cells[cell] .. '.input', { input = x, hx = start, params = params, has_biases = bias_ih ~= nil, num_layers = 1, dropout = 0.0, train = false,
    bidirectional = false, batch_first = false }, outputs)
  local y = outputs[1]
  if reverse then y = changed(g, 'flip.default', { self = y, dims = { 0 } }, g:shape(y)) end
  g:call_operator('reshape.default', { self = y, shape = { shape[1], hidden } }, { call.results[1] })
  for i = 2, #outputs do g:call_operator('squeeze.dim', { self = outputs[i], dim = 0 }, { call.results[i] }) end
end

-- ---- embeddings ---------------------------------------------------------------------------------

local function padding_of(index) return index and (index > 0 and index - 1 or index) or nil end

-- Writes the rows that are shorter than max_norm back, as ATen's function does.
local function renormalize(g, a, positions)
  if not a.max_norm then return end
  local weight = changed(g, 'detach.default', { self = a.weight }, g:shape(a.weight))
  g:call_operator('embedding_renorm_.default', { self = weight, indices = positions, max_norm = a.max_norm, norm_type = a.norm_type }, { g:made(a.weight) })
end

function M.embedding(g, a, call)
  local indices = { json = { as_tensor = { name = g:positions(a.indices or a.input) } } }
  renormalize(g, a, indices)
  g:call_operator('embedding.default', { weight = a.weight, indices = indices, padding_idx = padding_of(a.padding_idx), scale_grad_by_freq = a.scale_grad_by_freq or nil },
    { call.results[1] })
end
M['nn.embedding'] = M.embedding

local modes = { sum = 0, mean = 1, max = 2 }
M['nn.embedding_bag'] = function(g, a, call)
  local input, offsets = a.input, a.offsets
  local indices = { json = { as_tensor = { name = g:positions(input) } } }
  if offsets then offsets = { json = { as_tensor = { name = g:positions(offsets) } } }
  else -- rows of equal length
    local shape = g:shape(input)
    if type(shape[1]) ~= 'number' or type(shape[2]) ~= 'number' then g:fail 'bags of a dynamic number; pass offsets' end
    offsets = { json = { as_tensor = { name = g:constant(torch.arange(0, shape[1] * shape[2], shape[2])) } } }
    local flat = g:made(input, torch.int64, { shape[1] * shape[2] })
    g:call_operator('reshape.default', { self = { json = indices.json }, shape = { shape[1] * shape[2] } }, { flat })
    indices = flat
    if a.per_sample_weights then
      local weights = { self = a.per_sample_weights, shape = { shape[1] * shape[2] } }
      a.per_sample_weights = changed(g, 'reshape.default', weights, weights.shape)
    end
  end
  renormalize(g, a, indices)
  local y = call.results[1]
  local rest = g:made(input, torch.int64)
  g:call_operator('embedding_bag.padding_idx', { weight = a.weight, indices = indices, offsets = offsets, scale_grad_by_freq = a.scale_grad_by_freq or false,
    mode = modes[a.mode], sparse = false, per_sample_weights = a.per_sample_weights, include_last_offset = a.include_last_offset or false, padding_idx = padding_of(a.padding_idx) },
    { y, rest, g:made(rest), g:made(rest) })
end

-- ---- sizes of images ----------------------------------------------------------------------------

local resizings = { nearest = 'upsample_nearest%dd', ['nearest-exact'] = '_upsample_nearest_exact%dd', linear = 'upsample_linear%dd', bilinear = 'upsample_bilinear%dd',
  trilinear = 'upsample_trilinear%dd', bicubic = 'upsample_bicubic%dd' }

M['nn.interpolate'] = function(g, a, call)
  local n = #a.input.shape - 2
  local name = a.mode ~= 'area' and resizings[a.mode]
  if a.mode == 'area' then
    local target = ('adaptive_avg_pool%dd.default'):format(n)
    return g:call_operator(target, { self = a.input, output_size = table.move(g:shape(call.results[1]), 3, n + 2, 1, {}) }, { call.results[1] })
  end
  if not name then g:fail("the mode '%s'; ATen has nearest, nearest-exact, linear, bilinear, trilinear, bicubic and area", a.mode) end
  local arguments = { input = a.input }
  if a.size or a.recompute_scale_factor or record.is_value(a.scale_factor) then arguments.output_size = table.move(g:shape(call.results[1]), 3, n + 2, 1, {})
  else
    local scales = {}
    for i = 1, n do scales[i] = type(a.scale_factor) == 'table' and a.scale_factor[i] or a.scale_factor end
    arguments.scale_factors = scales
  end
  if not a.mode:find '^nearest' then arguments.align_corners = a.align_corners or false end
  name = name:format(n) .. (a.antialias and '_aa' or '')
  if a.antialias then name = '_' .. name end
  g:call_operator(name .. '.vec', arguments, { call.results[1] })
end
M['nn.upsample_nearest'] = function(g, a, call)
  a.mode = 'nearest'
  return M['nn.interpolate'](g, a, call)
end
M['nn.upsample_bilinear'] = function(g, a, call)
  a.mode, a.align_corners = 'bilinear', true
  return M['nn.interpolate'](g, a, call)
end

local samplings, borders = { bilinear = 0, nearest = 1, bicubic = 2 }, { zeros = 0, border = 1, reflection = 2 }
M['nn.grid_sample'] = function(g, a, call)
  g:call_operator('grid_sampler.default', { input = a.input, grid = a.grid, interpolation_mode = samplings[a.mode], padding_mode = borders[a.padding_mode],
    align_corners = a.align_corners or false }, { call.results[1] })
end

return M
