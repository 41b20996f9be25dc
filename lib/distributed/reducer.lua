-- reducer.lua - how nn.parallel.DistributedDataParallel brings gradients together: parameters go into buckets in the order in which
-- their gradients come, a bucket is all-reduced as soon as it is full, while backward goes on, and the last gradient waits for all.
--
-- The first plan is the parameters' order reversed; after the first backward it is the order that rank 0 has seen. Buckets are begun in
-- their order on every rank, whatever comes first. A gradient becomes the sum over the ranks, in their order, by their number.

local torch = require 'torch'
local class = require 'torch.support.class'
local dist = require 'torch.distributed'
local fail = require 'torch.support.fail'

local FIRST_BYTES = 1 << 20

local Reducer = class.Object:extend('Reducer')

--- Buckets of parameters: lists, none over `bytes` (the first: FIRST_BYTES) unless one parameter is, each of one dtype and device.
function Reducer.plan(parameters, bytes)
  local buckets, current, used = {}, nil, 0
  for _, p in ipairs(parameters) do
    local size = p:numel() * p:element_size()
    local limit = #buckets <= 1 and math.min(FIRST_BYTES, bytes) or bytes
    local other = current and (p.dtype ~= current[1].dtype or p.device ~= current[1].device)
    if not current or other or used + size > limit then
      current, used = {}, 0
      buckets[#buckets + 1] = current
    end
    current[#current + 1] = p
    used = used + size
  end
  return buckets
end

-- named: list of { name, parameter }; group: that of the ranks; bytes: of a bucket
function Reducer:init(named, group, bytes)
  self.group, self.bytes, self.rebuilt = group, bytes, false
  self.names, self.number, self.parameters = {}, {}, {}
  for i = #named, 1, -1 do -- the last layers' come first
    local name, p = named[i][1], named[i][2]
    local place = #self.parameters + 1
    self.parameters[place], self.names[place] = p, name
    self.number[p] = place
    p:register_post_accumulate_grad_hook(function()
      if self.expecting then self:arrived(place) end
    end)
  end
  self:build(self.parameters)
end

function Reducer:build(order)
  self.buckets, self.where = {}, {}
  for b, list in ipairs(Reducer.plan(order, self.bytes)) do
    local elements = 0
    for _, p in ipairs(list) do elements = elements + p:numel() end
    local bucket = { flat = torch.zeros(elements, { dtype = list[1].dtype, device = list[1].device }), places = {}, views = {} }
    local at = 1
    for i, p in ipairs(list) do
      local place = self.number[p]
      bucket.places[i] = place
      bucket.views[i] = bucket.flat:narrow(1, at, p:numel()):view(p.shape)
      self.where[place] = { bucket = b, index = i }
      at = at + p:numel()
    end
    self.buckets[b] = bucket
  end
  self:reset()
end

function Reducer:reset()
  self.expecting, self.begun, self.left, self.order, self.here = false, 0, #self.parameters, {}, {}
  for _, bucket in ipairs(self.buckets) do bucket.left, bucket.work = #bucket.places, nil end
end

--- Before a forward whose backward is to be reduced. unused(): see DistributedDataParallel.
function Reducer:expect()
  if self.expecting and self.left < #self.parameters then
    local missing = {}
    for place, name in ipairs(self.names) do
      if not self.here[place] then missing[#missing + 1] = name end
    end
    self:reset()
    fail('Expected to have finished reduction in the prior iteration before starting a new one. These parameters had no part in the loss on '
      .. 'rank %d: %s. Where that is meant, find_unused_parameters=true lets the others go on without them', dist.get_rank(),
      table.concat(missing, ', '))
  end
  self:reset()
  self.expecting = #self.parameters > 0
end

--- Parameters that will get no gradient, by their place.
function Reducer:mark_unused(places)
  local used = torch.ones(#self.parameters, { dtype = torch.uint8 })
  for _, place in ipairs(places) do used[place] = 0 end
  self.used = used
  dist.all_reduce(used, { op = dist.ReduceOp.MAX, group = self.group })
  for _, place in ipairs(places) do self:arrived(place, true) end
end

-- The gradient of a parameter is there (unused: there will be none).
function Reducer:arrived(place, unused)
  if self.here[place] then return end
  local at = self.where[place]
  local bucket = self.buckets[at.bucket]
  local view, grad = bucket.views[at.index], self.parameters[place].grad
  if unused or not grad then view:zero_() else view:copy_(grad:detach()) end
  self.here[place], self.order[#self.order + 1] = true, place
  bucket.left, self.left = bucket.left - 1, self.left - 1
  while self.begun < #self.buckets and self.buckets[self.begun + 1].left == 0 do
    self.begun = self.begun + 1
    local full = self.buckets[self.begun]
    full.work = dist.all_reduce(full.flat, { op = dist.ReduceOp.AVG, group = self.group, async_op = true })
  end
  if self.left == 0 then self:finish() end
end

-- All gradients are there: those of all ranks become them.
function Reducer:finish()
  self.expecting = false
  for _, bucket in ipairs(self.buckets) do
    bucket.work:wait()
    for i, place in ipairs(bucket.places) do
      local p = self.parameters[place]
      if not self.used or self.used[place]:item() > 0 then
        if p.grad then p.grad:detach():copy_(bucket.views[i]) else p.grad = bucket.views[i]:clone() end
      end
    end
  end
  local order = self.order
  self.used = nil
  self:reset()
  if not self.rebuilt then self:rebuild(order) end
end

-- Buckets in the order in which rank 0 has seen the gradients.
function Reducer:rebuild(order)
  self.rebuilt = true
  local places = torch.tensor(order, { dtype = torch.int64 })
  dist.broadcast(places, { src = dist.get_global_rank(self.group, 0), group = self.group })
  local parameters = {}
  for i, place in ipairs(places:tolist()) do parameters[i] = self.parameters[place] end
  self:build(parameters)
end

return Reducer
