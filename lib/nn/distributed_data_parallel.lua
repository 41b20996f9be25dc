-- distributed_data_parallel.lua - nn.parallel.DistributedDataParallel(module, {process_group =,
-- bucket_cap_mb =, ...}): averages the gradients of a module over the batches of all ranks. Each
-- rank has the module and its own batch; after backward, .grad is the mean over the ranks, with the
-- same bits on all of them.

local torch = require 'torch'
local Module = require 'torch.nn.module'
local Reducer = require 'torch.distributed.reducer'
local dist = require 'torch.distributed'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local join = require 'torch.distributed.algorithms.join'
local kinds = require 'torch.support.argument_kinds'
local scope = require 'torch.autograd.scope'

local DistributedDataParallel = Module:extend('DistributedDataParallel')

-- Properties that must be equal on all ranks: one row of numbers for each parameter.
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

-- Broadcasts tensors from a rank of the group.
local function broadcast_all(tensors, group, rank)
  local works = {}
  for i, t in ipairs(tensors) do
    works[i] = dist.broadcast(t, { src = dist.get_global_rank(group, rank), group = group, async_op = true })
  end
  for _, work in ipairs(works) do work:wait() end
end

--- module: the same on each rank; its parameters and buffers are broadcast from the group's first
-- rank, unless init_sync is false. It computes on its own device: device_ids, output_device and dim
-- have no effect.
-- process_group: by default all ranks. bucket_cap_mb: the size of gradient buckets in MiB.
-- broadcast_buffers: buffers are broadcast from the first rank before each forward in training.
-- find_unused_parameters: searches the graph of the loss for unused parameters.
-- gradient_as_bucket_view: gradients are views of the buckets, which saves their memory once and a
-- copy. static_graph: each backward reaches the same parameters as the first one, equally often;
-- then some may be unused, or used again by a checkpoint.
function DistributedDataParallel:init(options)
  local module = options.module
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
  if options.init_sync then
    broadcast_all(module:parameters(), group, 0)
    broadcast_all(module:buffers(), group, 0)
  end
  self.process_group, self.require_backward_grad_sync = group, true
  self.broadcast_buffers, self.find_unused_parameters = options.broadcast_buffers, options.find_unused_parameters and not options.static_graph
  self.reducer = Reducer(named, group, { bytes = math.max(1, math.floor(options.bucket_cap_mb * (1 << 20))),
    as_view = options.gradient_as_bucket_view, static = options.static_graph })
end
declare.named(DistributedDataParallel, [[
  init(self, Module module, value? device_ids, value? output_device, integer dim=1, boolean broadcast_buffers=true, boolean init_sync=true,
    value? process_group, number bucket_cap_mb=25, boolean find_unused_parameters=false, boolean? check_reduction,
    boolean gradient_as_bucket_view=false, boolean static_graph=false)
]])

--- Replaces the mean over the ranks by hook(state, bucket), called for every bucket of gradients as
-- soon as it is full: it returns a Future of the tensor that the bucket becomes
-- (torch.distributed.algorithms.ddp_comm_hooks has some). Call it once, before the first backward.
function DistributedDataParallel:register_comm_hook(state, hook)
  kinds.check('register_comm_hook', 'hook', hook, 'function')
  if self.reducer.hook then fail 'register_comm_hook can only be called once.' end
  self.reducer.hook_state, self.reducer.hook = state, hook
end

-- ---- forward ------------------------------------------------------------------------------------

-- The tensors in the results of forward.
local function tensors_in(value, list)
  if torch.is_tensor(value) then
    list[#list + 1] = value
  elseif type(value) == 'table' then
    for _, entry in pairs(value) do tensors_in(entry, list) end
  end
  return list
end

-- The positions of the parameters that no output depends on.
local function unused(reducer, outputs)
  local reached, places = {}, {}
  for _, leaf in ipairs(torch._C.graph_leaves(tensors_in(outputs, {}))) do reached[leaf:data_ptr()] = true end
  for place, p in ipairs(reducer.parameters) do
    if not reached[p:data_ptr()] then places[#places + 1] = place end
  end
  return places
end

-- The highest rank in the group with a true value; mine: this rank's value.
local function common_rank(group, mine)
  local rank = torch.tensor({ mine and group:me() or -1 }, { dtype = torch.int64 })
  dist.all_reduce(rank, { op = dist.ReduceOp.MAX, group = group })
  return rank:item()
end

-- True if the remaining ranks reduce gradients in this step. A joined rank cannot derive this, so
-- it is communicated. mine: 0 or 1; a joined rank passes 0.
local function will_sync(group, mine)
  local flag = torch.tensor({ mine }, { dtype = torch.int64 })
  dist.all_reduce(flag, { group = group })
  return flag:item() > 0
end

local function broadcasts(self) return self.broadcast_buffers and #self.module:buffers() > 0 end

local function broadcast_buffers(self, rank) broadcast_all(self.module:buffers(), self.process_group, rank) end

function DistributedDataParallel:forward(...)
  local sync = torch.is_grad_enabled() and self.require_backward_grad_sync
  join.notify(self)
  if self._join then
    will_sync(self.process_group, sync and 1 or 0)
    self.reducer.divisor = not self._join.divide_by_all and self._join.active or nil
  else
    self.reducer.divisor = nil
  end
  if not sync then
    self.reducer:expect(false)
    return self.module(...)
  end
  if self.training and broadcasts(self) then broadcast_buffers(self, self._join and common_rank(self.process_group, true) or 0) end
  self.reducer:expect(true)
  if not self.find_unused_parameters then return self.module(...) end
  local outputs = table.pack(self.module(...))
  self.reducer:mark_unused(unused(self.reducer, outputs))
  return table.unpack(outputs, 1, outputs.n)
end

-- ---- scopes -------------------------------------------------------------------------------------

--- Until the scope is closed, or while fn(...) runs, backward accumulates this rank's gradients
-- only; the next backward outside reduces the accumulated ones.
function DistributedDataParallel:no_sync(fn, ...)
  local before = self.require_backward_grad_sync
  local function change() self.require_backward_grad_sync = false end
  return scope.open(self, change, function() self.require_backward_grad_sync = before end, fn, ...)
end

--- Until the scope is closed, or while fn(...) runs, ranks may have different numbers of batches. A
-- rank without further batches participates until all have finished, and then has the parameters of
-- the last ranks. Each forward must be of a training batch. options: as for Join.
function DistributedDataParallel:join(options, fn, ...)
  if type(options) == 'function' then return join.Join({ self }, nil, options, fn, ...) end
  return join.Join({ self }, options, fn, ...)
end

--- The actions of a joined rank (called by Join).
function DistributedDataParallel:join_hook(...)
  local group = self.process_group
  return {
    main_hook = function()
      if not will_sync(group, 0) then return end
      if self.training and broadcasts(self) then broadcast_buffers(self, common_rank(group, false)) end
      self.reducer.divisor = not self._join.divide_by_all and self._join.active or nil
      self.reducer:shadow(self.find_unused_parameters)
    end,
    post_hook = function(is_last)
      local rank = common_rank(group, is_last)
      broadcast_all(self.module:parameters(), group, rank)
      broadcast_all(self.module:buffers(), group, rank)
    end,
  }
end

return DistributedDataParallel
