-- Runs the module cases of tests/reference (generator/module_run.py): builds the layer after the seed, compares how it
-- prints, its state, its results, its gradients and its buffers with what PyTorch gave.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'reference.lua')
local torch = require 'torch'

local M = { load = reference.load, device = reference.device }

local function host_tensor(spec) return reference.tensor(spec, 'cpu') end

local function input(spec, leaves)
  if type(spec) ~= 'table' then return spec end
  if spec.none then return nil end
  if spec.list then
    local list = {}
    for i, item in ipairs(spec.list) do list[i] = input(item, leaves) end
    return list
  end
  local t = reference.tensor(spec)
  if spec.grad then leaves[#leaves + 1] = t end
  return t
end

local function flatten(values, n, list)
  for i = 1, n do
    if torch.is_tensor(values[i]) then
      list[#list + 1] = values[i]
    elseif type(values[i]) == 'table' then
      flatten(values[i], #values[i], list)
    end
  end
  return list
end

local function shape_text(shape) return '[' .. table.concat(shape, ', ') .. ']' end

local function compare_state(module, wanted)
  local state = module:state_dict()
  local names, expected = {}, {}
  for i, entry in ipairs(wanted) do expected[i] = entry[1] .. shape_text(entry[2]) end
  for name, t in pairs(state) do names[#names + 1] = name .. shape_text(t.shape) end
  if table.concat(names, ' ') ~= table.concat(expected, ' ') then
    error(('state %s, expected %s'):format(table.concat(names, ' '), table.concat(expected, ' ')), 0)
  end
  for _, entry in ipairs(wanted) do
    local t = state[entry[1]]
    local sum = t:double():sum():item()
    if entry.sum and math.abs(sum - entry.sum) > 1e-5 * (1 + t:numel()) then
      error(('the initial values of %s add up to %s, expected %s'):format(entry[1], sum, entry.sum), 0)
    end
  end
end

local function upstream(out)
  local values = {}
  for i = 0, out:numel() - 1 do values[i + 1] = (i * 7) % 5 - 1.5 end
  return torch.tensor(values, { dtype = torch.float64 }):reshape(out.shape):to(out.device, out.dtype)
end

local function differentiate(case, module, outs, leaves, loose)
  local used, gradients = {}, {}
  for k, out in ipairs(outs) do
    local wanted = not case.use
    for _, i in ipairs(case.use or {}) do wanted = wanted or i == k end
    if wanted and out.requires_grad then
      used[#used + 1], gradients[#gradients + 1] = out, upstream(out)
    end
  end
  torch.autograd.backward(used, gradients)
  local parameters = {}
  for name, parameter in module:named_parameters() do parameters[name] = parameter end
  for _, entry in ipairs(case.grads) do
    reference.compare(parameters[entry[1]].grad, entry[2], 'gradient of ' .. entry[1], false, loose)
  end
  for i, want in ipairs(case.input_grads) do
    reference.compare(leaves[i].grad, want, 'gradient of input ' .. i, false, loose)
  end
end

local function run(case)
  torch.manual_seed(case.seed)
  local module = case.make(torch.nn, torch, host_tensor)
  local loose = case.loose or 2
  if case.text and tostring(module) ~= case.text then
    error(('prints as\n%s\nexpected\n%s'):format(tostring(module), case.text), 0)
  end
  compare_state(module, case.state)
  module:to(M.device)
  if case.to then module:to(torch[case.to]) end
  local leaves, inputs = {}, { n = #case.inputs }
  for i, spec in ipairs(case.inputs) do inputs[i] = input(spec, leaves) end
  if case.named then
    local named = {}
    for name, spec in pairs(case.named) do named[name] = input(spec, leaves) end
    inputs.n = inputs.n + 1
    inputs[inputs.n] = named
  end
  if case.warm then
    module(table.unpack(inputs, 1, inputs.n))
    module:eval()
  end
  if case.evaluate then module:eval() end
  local results = table.pack(module(table.unpack(inputs, 1, inputs.n)))
  local outs = flatten(results, results.n, {})
  if #outs ~= #case.out then error(('%d results, expected %d'):format(#outs, #case.out), 0) end
  for i, want in ipairs(case.out) do reference.compare(outs[i], want, 'result ' .. i, false, loose) end
  if case.grads then differentiate(case, module, outs, leaves, loose) end
  local buffers = {}
  for name, buffer in module:named_buffers() do buffers[name] = buffer end
  for _, entry in ipairs(case.after or {}) do
    reference.compare(buffers[entry[1]], entry[2], 'buffer ' .. entry[1], false, loose)
  end
end

-- A line that says which case this is.
function M.name(case, number)
  return ('#%d %s'):format(number, case.text and case.text:match '[^\n]*' or torch.type(case.make(torch.nn, torch, host_tensor)))
end

function M.run(case)
  local ok, message = pcall(run, case)
  if not ok then error(tostring(message), 0) end
end

return M
