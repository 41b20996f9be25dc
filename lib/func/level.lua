-- level.lua - one level of differentiation, which may be nested in others.
--
-- A level passes new tensors to the function instead of its inputs: an input that is itself
-- differentiated (it requires grad) becomes a view with that history, any other a leaf. The
-- derivative is taken with respect to these. Other tensors are constants for this level, and
-- variables for the levels and graphs around it.
--
-- Inside of vmap, the level's tensors are whole batches with hidden batch dimensions: each input is
-- expanded to a batch, and backward computes with batches (src/core/ops/batch/batch.h).
--
-- Inside of forward mode, an input keeps its tangents, the graph saves them with the tensors, and
-- backward returns dual gradients.
--
-- A result keeps its history only if it leads beyond the level's own leaves: grad(f)(x) of plain
-- tensors is a plain tensor, and its graph is freed; if f uses a parameter of a model, the result
-- is differentiable with respect to it.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local trees = require 'torch.func.trees'

local C = torch._C
local is_tensor = torch.is_tensor

local Level = {}
Level.__index = Level

function Level.new()
  return setmetatable({ leaves = {}, outer = torch.is_grad_enabled(), depth = C.batch_depth() }, Level)
end

-- The batch behind a batched tensor, and the tensor for the function. A leaf is returned as it is.
local function whole(self, tensor)
  if self.depth == 0 then return tensor end
  return C.batch_show_below(tensor, self.depth)
end

local function seen(self, tensor)
  if self.depth == 0 then return tensor end
  return C.batch_hide_below(tensor, self.depth)
end

--- A leaf of this level with the memory of the tensor.
function Level:leaf(tensor)
  local leaf = C.dual_detach(whole(self, tensor), true):requires_grad_()
  local at = leaf:data_ptr()
  local list = self.leaves[at] or {}
  list[#list + 1] = leaf
  self.leaves[at] = list
  return seen(self, leaf)
end

--- The tensor that replaces an input.
function Level:input(value)
  if not is_tensor(value) then
    fail('Thing passed to transform API must be Tensor, got %s', torch.type(value))
  end
  if not (self.outer and value.requires_grad) then return self:leaf(value) end
  local batch = whole(self, value)
  return seen(self, batch:view_as(batch))
end

function Level:owns(tensor)
  for _, leaf in ipairs(self.leaves[tensor:data_ptr()] or {}) do
    if leaf == tensor then return true end
  end
  return false
end

-- The tensors and their tangents at all levels of forward mode, which have separate histories.
local function with_tangents(tensors)
  if C.dual_depth() == 0 then return tensors end
  local list = {}
  for _, tensor in ipairs(tensors) do
    list[#list + 1] = tensor
    for level = 0, C.dual_depth() - 1 do
      local _, tangent = C.unpack_dual(tensor, level)
      if tangent then table.move(with_tangents { tangent }, 1, 64, #list + 1, list) end
    end
  end
  return list
end

local function any_requires_grad(tensors)
  for _, tensor in ipairs(tensors) do
    if tensor.requires_grad then return true end
  end
  return false
end

--- Whether the history of these tensors leads beyond the level.
function Level:leads_beyond(tensors)
  if not self.outer then return false end
  for _, leaf in ipairs(C.graph_leaves(tensors)) do
    if not self:owns(leaf) then return true end
  end
  return false
end

--- Calls f with gradients on.
function Level:call(f, ...) return torch.enable_grad(f, ...) end

--- The gradients of outputs by inputs, a list with zeros for inputs without a path. weights: of the
--- outputs, or nil for a single number. keep: retain the graph. differentiable: the gradients have
--- a history in any case.
function Level:gradients(outputs, inputs, weights, keep, differentiable)
  local roots, seeds, wanted, results = {}, {}, {}, {}
  for i, output in ipairs(outputs) do
    if output.requires_grad then
      local n = #roots + 1
      roots[n] = whole(self, output)
      seeds[n] = weights and whole(self, weights[i]) or torch.ones_like(roots[n])
    end
  end
  if #roots > 0 then
    local create = differentiable or self:leads_beyond(with_tangents(roots))
    create = create or self.outer and any_requires_grad(with_tangents(seeds))
    for i, input in ipairs(inputs) do wanted[i] = whole(self, input) end
    results = table.pack(torch.autograd.grad(roots, wanted, seeds,
      { create_graph = create, retain_graph = keep or create, allow_unused = true }))
  end
  for i, input in ipairs(inputs) do results[i] = results[i] and seen(self, results[i]) or torch.zeros_like(input) end
  return results
end

local function settled(self, tensor)
  local all = with_tangents { tensor }
  if not any_requires_grad(all) or self:leads_beyond(all) then return tensor end
  return C.dual_detach(tensor, false)
end

--- Converts a value, or tables of values, for use outside the level.
function Level:leave(value)
  if value == nil then return nil end
  return trees.map(function(leaf) return is_tensor(leaf) and settled(self, leaf) or leaf end, value)
end

return Level
