-- recurrent_network.lua - all layers of a recurrent network in one call, if the device has a
-- library for it (cuDNN): differentiable, with a derivative in one call. To differentiate that
-- (create_graph), the derivative is computed layer by layer (recurrent.lua).

local torch = require 'torch'
local recurrent = require 'torch.nn.functional.recurrent'

local M = {}

-- ---- the derivative -----------------------------------------------------------------------------

-- With create_graph: the derivative of the layers, recorded. inputs: input, hx, cx, weights...
local function recorded(ctx, inputs, n, gradients)
  local input, hx, cx = table.unpack(inputs, 1, 3)
  local steps, batch = input:size(1), input:size(2)
  local weights = recurrent.by_direction(table.move(inputs, 4, n, 1, {}), hx:size(1))
  local rows, hn, cn = recurrent.layers(input:reshape(steps * batch, input:size(3)), hx, cx, weights, ctx.cell, ctx.directions)
  local results = { rows:reshape(steps, batch, rows:size(2)), hn, cn }
  local outputs, seeds, wanted, place = {}, {}, {}, {}
  for i = 1, 3 do
    if gradients[i] ~= nil then
      outputs[#outputs + 1], seeds[#seeds + 1] = results[i], gradients[i]
    end
  end
  for i = 1, n do
    if inputs[i] ~= nil and ctx.needs_input_grad[i + 2] then
      wanted[#wanted + 1] = inputs[i]
      place[#wanted] = i
    end
  end
  local found = table.pack(torch.autograd.grad(outputs, wanted, seeds, { create_graph = true, allow_unused = true }))
  local full = {}
  for k, i in ipairs(place) do full[i + 2] = found[k] end
  return table.unpack(full, 1, n + 2)
end

local Network

-- Created on first use, because it loads torch.autograd.Function.
local function network_class()
  if Network then return Network end
  Network = torch.autograd.Function:extend('RecurrentNetwork')

  -- found: the results of torch._C._recurrent_network; how: its arguments.
  function Network.forward(ctx, found, how, ...)
    local lstm = how.cell == 'lstm'
    local output, hn, cn = found[1], found[2], lstm and found[3] or nil
    ctx:save_for_backward(output, found[#found - 1], found[#found], ...)
    ctx:set_materialize_grads(false)
    ctx.cell, ctx.layers, ctx.directions, ctx.inputs = how.cell, how.layers, how.directions, select('#', ...)
    if lstm then return output, hn, cn end
    return output, hn
  end

  function Network.backward(ctx, grad_output, grad_hn, grad_cn)
    local saved, n = ctx.saved_tensors, ctx.inputs
    local inputs = table.move(saved, 4, n + 3, 1, {})
    if torch.is_grad_enabled() then return recorded(ctx, inputs, n, { grad_output, grad_hn, grad_cn }) end
    local input, hx, cx = table.unpack(inputs, 1, 3)
    local needs_weights = false
    for i = 4, n do needs_weights = needs_weights or ctx.needs_input_grad[i + 2] end
    local found = torch._C._recurrent_network_backward(grad_output, grad_hn, grad_cn, input, hx, cx, saved[1], saved[2], saved[3],
      ctx.cell, ctx.layers, ctx.directions == 2, (n - 3) // hx:size(1) == 4, needs_weights)
    local dcx = cx and 1 or 0
    return nil, nil, found[1], found[2], cx and found[3], table.unpack(found, 3 + dcx, n - 1 + dcx)
  end
  return Network
end

-- ---- the network --------------------------------------------------------------------------------

--- input [steps, batch, size]; hx, cx [layers * directions, batch, hidden]; weights: for each
-- direction of each layer w_ih, w_hh and, all or none, b_ih and b_hh. Returns the output [steps,
-- batch, directions * hidden] and the last states; nothing if no library supports it.
function M.run(input, hx, cx, weights, cell, directions)
  local layers, keep = hx:size(1) // directions, false
  if torch.is_grad_enabled() then
    keep = input.requires_grad or hx.requires_grad or cx ~= nil and cx.requires_grad
    for _, weight in ipairs(weights) do keep = keep or weight.requires_grad end
  end
  local found = torch.no_grad(torch._C._recurrent_network, input, hx, cx, weights, cell, layers, directions == 2, keep)
  if #found == 0 then return nil end
  if not keep then return found[1], found[2], found[3] end
  local how = { cell = cell, layers = layers, directions = directions }
  return network_class().apply(found, how, input, hx, cx, table.unpack(weights))
end

return M
