-- optim.lua - torch.distributed.optim: ZeroRedundancyOptimizer, an optimizer with sharded state (S.
-- Rajbhandari et al. 2020: ZeRO, stage 1).
--
-- Parameters of one dtype and device are concatenated in a tensor (they become views of it). Each
-- rank steps an equal part of it, regardless of parameter boundaries; then the ranks gather all
-- parts. An ordinary optimizer steps the pieces of parameters in this rank's part, so its state is
-- 1 / ranks of the whole. This is correct for elementwise update rules.

--[=[ arguments
class: Class of the optimizer, such as `torch.optim.Adam`.
options: Options of this class, and `process_group`.
to: Rank that receives the whole state, from 0.
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local dist = require 'torch.distributed'
local fail = require 'torch.support.fail'
local join = require 'torch.distributed.algorithms.join'
local kinds = require 'torch.support.argument_kinds'
local sharding = require 'torch.distributed.sharding'

local M = {}

local ZeRO = Optimizer:extend('ZeroRedundancyOptimizer')
M.ZeroRedundancyOptimizer = ZeRO

-- Optimizers that need whole matrices, or all parameters.
local WHOLE = { LBFGS = true, Muon = true, Adafactor = true }

-- ---- laying out ---------------------------------------------------------------------------------

-- Partitions the parameters into lists of one dtype and device, in order.
local function kinds_of(groups)
  local lists, by_kind = {}, {}
  for _, group in ipairs(groups) do
    for _, p in ipairs(group.params) do
      local kind = ('%s %s'):format(p.dtype, p.device)
      if not by_kind[kind] then
        by_kind[kind] = {}
        lists[#lists + 1] = by_kind[kind]
      end
      table.insert(by_kind[kind], p)
    end
  end
  return lists
end

-- Makes the parameters views of one tensor, and creates this rank's part and its pieces.
local function lay_out(self, list)
  local group, elements = self.process_group, 0
  for _, p in ipairs(list) do elements = elements + p:numel() end
  local rank, size = group:me(), group:size()
  local each = (elements + size - 1) // size
  local flat = torch.zeros(each * size, { dtype = list[1].dtype, device = list[1].device })
  local first, last, at = rank * each, math.min((rank + 1) * each, elements), 0
  for _, p in ipairs(list) do
    local n = p:numel()
    flat:narrow(1, at + 1, n):copy_(p:detach():reshape(-1))
    p.data = flat:narrow(1, at + 1, n):view(p.shape)
    local from, to = math.max(first, at), math.min(last, at + n)
    if from < to then
      local piece = torch.nn.Parameter(flat:narrow(1, from + 1, to - from))
      sharding.set(piece, p.shape, from - at + 1)
      self.pieces[p] = { piece = piece, first = from - at + 1, n = to - from }
    end
    at = at + n
  end
  self.flats[#self.flats + 1] = { all = flat, mine = flat:narrow(1, first + 1, each) }
end

--- ZeroRedundancyOptimizer(params, torch.optim.Adam, {lr =, ..., process_group =}): computes the
-- steps of that class with these options. Parameters and gradients must be equal on every rank of
-- the group (as with DistributedDataParallel).
function ZeRO:init(params, class, options)
  kinds.check('ZeroRedundancyOptimizer', 'optimizer_class', class, 'any')
  if WHOLE[class.__classname] then fail('ZeroRedundancyOptimizer: %s is not supported, because it does not update each element separately', class.__classname) end
  local own = {}
  for name, value in pairs(options or {}) do own[name] = value end
  self.process_group = own.process_group or dist._group(nil)
  own.process_group, own.parameters_as_bucket_view = nil, nil
  -- reads the options, and groups as any optimizer does
  local plain = class(params, own)
  Optimizer.init(self, plain.param_groups, plain.defaults)
  self.pieces, self.flats = {}, {}
  for _, list in ipairs(kinds_of(self.param_groups)) do torch.no_grad(lay_out, self, list) end
  local groups = {}
  for g, group in ipairs(self.param_groups) do
    groups[g] = { params = {} }
    for name, value in pairs(group) do
      if name ~= 'params' then groups[g][name] = value end
    end
    for _, p in ipairs(group.params) do
      if self.pieces[p] then table.insert(groups[g].params, self.pieces[p].piece) end
    end
  end
  self.optim = class(groups, own)
end

--- For saving: the piece of a parameter that this rank steps, and its location; nil without one.
function ZeRO:part_of(p)
  local one = self.pieces[p]
  if one then return one.piece, sharding.place(one.piece) end
end

-- ---- steps --------------------------------------------------------------------------------------

function ZeRO:_update_all()
  join.notify(self)
  self:_step_parts()
end

-- Steps this rank's part with the available gradients, and gathers all parts.
function ZeRO:_step_parts()
  for g, group in ipairs(self.param_groups) do
    local inner = self.optim.param_groups[g]
    for name, value in pairs(group) do
      if name ~= 'params' then inner[name] = value end
    end
    for _, p in ipairs(group.params) do
      local one = self.pieces[p]
      if one then one.piece.grad = p.grad and p.grad:detach():reshape(-1):narrow(1, one.first, one.n) or nil end
    end
  end
  self.optim:step()
  self.optim:zero_grad()
  local works = {}
  for i, flat in ipairs(self.flats) do
    works[i] = dist.all_gather_into_tensor(flat.all, flat.mine, { group = self.process_group, async_op = true })
  end
  for _, work in ipairs(works) do work:wait() end
end

--- The action of a rank that has joined (called by Join): its part is stepped with the gradients of
-- the others, which DistributedDataParallel, listed before, has reduced, and with the current
-- options of its groups. So each batch is followed by a step.
function ZeRO:join_hook(...)
  return { main_hook = function() self:_step_parts() end, post_hook = function() end }
end

-- ---- state --------------------------------------------------------------------------------------

-- Calls f with each parameter and its number, from 0 as in PyTorch's files.
local function each_parameter(self, f)
  local number = 0
  for _, group in ipairs(self.param_groups) do
    for _, p in ipairs(group.params) do
      f(number, p)
      number = number + 1
    end
  end
end

--- Gathers the state of all ranks on rank `to` (default 0); state_dict returns it there.
function ZeRO:consolidate_state_dict(to)
  local root = to or self.process_group:global(0)
  local inner, mine, numbers = self.optim:state_dict(), {}, {}
  local number = 0
  each_parameter(self, function(n, p)
    if self.pieces[p] then numbers[self.pieces[p].piece] = n end
  end)
  for _, group in ipairs(self.optim.param_groups) do
    for _, piece in ipairs(group.params) do
      mine[numbers[piece]] = { first = sharding.place(piece).first, state = inner.state[number] }
      number = number + 1
    end
  end
  local all = {}
  dist.gather_object(mine, all, root, self.process_group)
  if dist.get_rank() ~= root then return end
  local whole = {}
  each_parameter(self, function(n, p)
    for _, one in ipairs(all) do
      local part = one[n]
      for name, value in pairs(part and part.state or {}) do
        whole[n] = whole[n] or {}
        if not (torch.is_tensor(value) and value:dim() > 0) then
          whole[n][name] = value
        else
          whole[n][name] = whole[n][name] or torch.zeros(p.shape, { dtype = value.dtype, device = value.device })
          whole[n][name]:view(-1):narrow(1, part.first, value:numel()):copy_(value)
        end
      end
    end
  end)
  self.consolidated = whole
end

--- The state_dict of an optimizer without ranks, from the data of consolidate_state_dict.
function ZeRO:state_dict()
  if not self.consolidated then
    fail('Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict(to=%d)` on all ranks beforehand if you '
      .. 'meant to save the global state.', dist.get_rank())
  end
  local dict = Optimizer.state_dict(self)
  dict.state = self.consolidated
  return dict
end

--- Loads the state of a complete optimizer; each rank keeps its part.
function ZeRO:load_state_dict(state_dict)
  local dict = state_dict
  Optimizer.load_state_dict(self, dict) -- validates it, and loads the options of the groups
  self.state, self.consolidated = {}, nil
  self.optim.state = {}
  each_parameter(self, function(n, p)
    local one, saved = self.pieces[p], dict.state[n]
    if not one or not saved then return end
    local state = {}
    for name, value in pairs(saved) do
      local part = torch.is_tensor(value) and value:dim() > 0 and value:numel() == p:numel()
      state[name] = part and value:detach():reshape(-1):narrow(1, one.first, one.n):to { device = p.device, dtype = value.dtype }:clone()
        or torch.is_tensor(value) and value:item() or value
    end
    self.optim.state[one.piece] = state
  end)
end

return M
