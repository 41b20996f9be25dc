-- utils.lua - torch.nn.utils: gradient clipping and parameters as one vector.

local torch = require 'torch'

local utils = { rnn = require 'torch.nn.utils.rnn' }

local function list_of(parameters) return torch.is_tensor(parameters) and { parameters } or parameters end

-- Scales the gradients in place so that their joint norm (norm_type, default 2) is at most max_norm; returns
-- the norm before, a 0-dim tensor that stays on the device.
function utils.clip_grad_norm_(parameters, max_norm, norm_type)
  local norms, grads = {}, {}
  return torch.no_grad(function()
    for _, parameter in ipairs(list_of(parameters)) do
      local grad = parameter.grad
      if grad ~= nil then
        grads[#grads + 1] = grad
        norms[#norms + 1] = grad:norm(norm_type or 2.0):to(grads[1].device)
      end
    end
    if #grads == 0 then return torch.tensor(0.0) end
    local total = torch.stack(norms):norm(norm_type or 2.0)
    local scale = torch.clamp(max_norm / (total + 1e-6), { max = 1.0 })
    for _, grad in ipairs(grads) do grad:mul_(scale:to(grad.device)) end
    return total
  end)
end

-- Clamps every gradient to [-clip_value, clip_value] in place.
function utils.clip_grad_value_(parameters, clip_value)
  torch.no_grad(function()
    for _, parameter in ipairs(list_of(parameters)) do
      if parameter.grad ~= nil then parameter.grad:clamp_(-clip_value, clip_value) end
    end
  end)
end

function utils.parameters_to_vector(parameters)
  local parts = {}
  for i, parameter in ipairs(parameters) do parts[i] = parameter:reshape(-1) end
  return torch.cat(parts)
end

function utils.vector_to_parameters(vector, parameters)
  local start = 1
  for _, parameter in ipairs(parameters) do
    local n = parameter:numel()
    parameter.data = vector:narrow(1, start, n):view_as(parameter).data
    start = start + n
  end
end

return utils
