-- distributed_data_parallel.lua - nn.parallel.DistributedDataParallel(module, {process_group =, bucket_cap_mb =, broadcast_buffers =,
-- find_unused_parameters =}): a module whose gradients are those of all ranks' batches. Every rank has the module and its own batch;
-- after backward .grad is the mean over the ranks, on all of them the same bits.

local torch = require 'torch'
local Module = require 'torch.nn.module'
local Reducer = require 'torch.distributed.reducer'
local dist = require 'torch.distributed'
local fail = require 'torch.support.fail'
local options_of = require 'torch.support.options'

local DistributedDataParallel = Module:extend('DistributedDataParallel')

-- What has to be the same on all ranks: one row of numbers for each parameter.
local function described(named)
  local rows = {}
  for i, entry in ipairs(named) do
    local shape, row = entry[2].shape, { entry[2]:dim(), entry[2]:element_size(), entry[2]:is_floating_point() and 1 or 0 }
    for d = 1, 8 do row[3 + d] = d <= #shape and shape[d] or 0 end
    rows[i] = row
  end
  return #rows > 0 and torch.tensor(rows, { dtype = torch.int64 }) or torch.zeros(0, 11, { dtype = torch.int64 })
end

local function check_shapes(named, group)
  local size = dist.get_world_size(group)
  local counts = torch.zeros(size, { dtype = torch.int64 })
  dist.all_gather_into_tensor(counts, torch.tensor({ #named }, { dtype = torch.int64 }), group)
  for i, count in ipairs(counts:tolist()) do
    if count ~= #named then
      fail('DistributedDataParallel expects the same model across all ranks, but Rank %d has %d params, while rank %d has %d params.',
        dist.get_rank(), #named, dist.get_global_rank(group, i - 1), count)
    end
  end
  local mine = described(named)
  local all = torch.zeros(size, #named, 11, { dtype = torch.int64 })
  dist.all_gather_into_tensor(all, mine, group)
  for r = 1, size do
    for i = 1, #named do
      if not all[r][i]:equal(mine[i]) then
        fail("DistributedDataParallel: parameter '%s' has the shape %s on rank %d, and another shape or dtype on rank %d", named[i][1],
          named[i][2].shape, dist.get_rank(), dist.get_global_rank(group, r - 1))
      end
    end
  end
end

-- Those of the first rank become everyone's.
local function broadcast_all(tensors, group)
  local works = {}
  for i, t in ipairs(tensors) do
    works[i] = dist.broadcast(t, { src = dist.get_global_rank(group, 0), group = group, async_op = true })
  end
  for _, work in ipairs(works) do work:wait() end
end

--- module: the same on every rank; its parameters and buffers become those of the group's first. process_group: that of all if not
-- given. bucket_cap_mb: gradients are brought together in buckets of so many MiB. broadcast_buffers: before each forward in training the
-- buffers become those of the first rank. find_unused_parameters: parameters that a loss does not come from are looked for in its graph.
function DistributedDataParallel:init(module, options)
  options = options_of('DistributedDataParallel', options,
    { process_group = false, bucket_cap_mb = 25, broadcast_buffers = true, find_unused_parameters = false })
  self.module = module
  local group = options.process_group or dist._group(nil)
  local named = {}
  for name, p in module:named_parameters() do
    if p.requires_grad then named[#named + 1] = { name, p } end
  end
  if #named == 0 then
    fail "DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient."
  end
  check_shapes(named, group)
  broadcast_all(module:parameters(), group)
  broadcast_all(module:buffers(), group)
  self.process_group, self.require_backward_grad_sync = group, true
  self.broadcast_buffers, self.find_unused_parameters = options.broadcast_buffers, options.find_unused_parameters
  self.reducer = Reducer(named, group, math.max(1, math.floor(options.bucket_cap_mb * (1 << 20))))
end

-- The tensors in what forward has returned.
local function tensors_in(value, list)
  if torch.is_tensor(value) then
    list[#list + 1] = value
  elseif type(value) == 'table' then
    for _, entry in pairs(value) do tensors_in(entry, list) end
  end
  return list
end

-- The places of the parameters that no output comes from.
local function unused(reducer, outputs)
  local reached, places = {}, {}
  for _, leaf in ipairs(torch._C.graph_leaves(tensors_in(outputs, {}))) do reached[leaf:data_ptr()] = true end
  for place, p in ipairs(reducer.parameters) do
    if not reached[p:data_ptr()] then places[#places + 1] = place end
  end
  return places
end

function DistributedDataParallel:forward(...)
  local sync = torch.is_grad_enabled() and self.require_backward_grad_sync
  if sync and self.training and self.broadcast_buffers then broadcast_all(self.module:buffers(), self.process_group) end
  if not sync then
    self.reducer.expecting = false
    return self.module(...)
  end
  self.reducer:expect()
  if not self.find_unused_parameters then return self.module(...) end
  local outputs = table.pack(self.module(...))
  self.reducer:mark_unused(unused(self.reducer, outputs))
  return table.unpack(outputs, 1, outputs.n)
end

local Scope = { __name = 'no_sync', __close = function(self) self.ddp.require_backward_grad_sync = self.before end }

--- Until the scope is closed, or while fn(...) runs, backward adds up this rank's gradients alone; the next backward outside brings
-- together all that was added up.
function DistributedDataParallel:no_sync(fn, ...)
  local scope = setmetatable({ ddp = self, before = self.require_backward_grad_sync }, Scope)
  self.require_backward_grad_sync = false
  if fn == nil then return scope end
  local _ <close> = scope
  return fn(...)
end

return DistributedDataParallel
