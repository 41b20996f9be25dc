-- reducer.lua - reduces gradients for nn.parallel.DistributedDataParallel: parameters are assigned
-- to buckets in the order in which their gradients arrive; a full bucket is all-reduced while
-- backward continues, and the end of backward waits for all buckets. src/comm/reducer.c handles
-- each parameter and reports full buckets.
--
-- The first plan is the reversed order of the parameters; after the first backward it is the order
-- on rank 0. Buckets start in order on each rank. A gradient becomes the sum over the ranks, in
-- rank order, divided by their number, or the result of a communication hook. If the graph is
-- static, the first backward only records which parameters get a gradient, and how often.

local torch = require 'torch'
local autograd = require 'torch.autograd'
local class = require 'torch.support.class'
local dist = require 'torch.distributed'
local fail = require 'torch.support.fail'
local GradBucket = require 'torch.distributed.grad_bucket'

local FIRST_BYTES = 1 << 20

local told = {}

local Reducer = class.Object:extend('Reducer')

--- Partitions the parameters into buckets: lists of one dtype and device, of at most `bytes` (the
-- first: FIRST_BYTES) unless a single parameter is larger.
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

-- named: list of { name, parameter }; group: of the ranks; options: bytes (of a bucket), as_view
-- (gradients are views of the buckets), static (every backward is like the first)
function Reducer:init(named, group, options)
  self.group, self.bytes, self.as_view, self.rebuilt = group, options.bytes, options.as_view, false
  self.learning, self.never = options.static, {}
  self.names, self.number, self.parameters = {}, {}, {}
  for i = #named, 1, -1 do -- gradients of the last layers arrive first
    local name, p = named[i][1], named[i][2]
    local place = #self.parameters + 1
    self.parameters[place], self.names[place] = p, name
    self.number[p] = place
  end
  self.core = torch._C.reducer(self.parameters, self.as_view, function(event, number) told[event](self, number) end)
  self.core:count_only(self.learning)
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
  self.core:set_buckets(self.buckets)
  self:reset()
end

function Reducer:reset(expecting)
  self.core:reset(expecting)
  self.begun = 0
  for _, bucket in ipairs(self.buckets) do bucket.work, bucket.future = nil, nil end
end

-- Raises an error that names the parameters without a gradient.
function Reducer:refuse_unfinished()
  local missing = {}
  for i, place in ipairs(self.core:missing()) do missing[i] = self.names[place] end
  self:reset()
  fail('Expected to have finished reduction in the prior iteration before starting a new one. These parameters had no part in the loss on '
    .. 'rank %d: %s. Where that is meant, find_unused_parameters=true lets the others go on without them', dist.get_rank(),
    table.concat(missing, ', '))
end

--- Called before a forward, with true if its backward is reduced.
function Reducer:expect(expecting)
  if expecting and self.core:expects() and self.core:left() < #self.parameters then self:refuse_unfinished() end -- an error ended the backward
  self:reset(expecting)
  if expecting then self:ready(self.never) end
end

-- Finds parameters without a gradient on this rank that have one on another rank.
function Reducer:find_used(places)
  local used = torch.ones(#self.parameters, { dtype = torch.uint8 })
  for _, place in ipairs(places) do used[place] = 0 end
  dist.all_reduce(used, { op = dist.ReduceOp.MAX, group = self.group })
  return used:tolist()
end

--- Marks parameters that will get no gradient, by their positions.
function Reducer:mark_unused(places)
  self.used = self:find_used(places)
  self:ready(places)
end

-- All that the gradients of these parameters get on this rank is in them.
function Reducer:ready(places)
  for _, place in ipairs(places) do self.core:ready(place) end
  self:begin(self.core:full())
end

-- Reports of the parameters' hooks.
function told.first(self)
  autograd.__at_end(function() self:finish() end)
end

function told.full(self, n) self:begin(n) end

function told.twice(self, place)
  fail("Expected to mark a variable ready only once: parameter '%s' has got a gradient once more after it was reduced, from a "
    .. 'backward inside of backward. static_graph=true first counts how often it gets one', self.names[place])
end

-- Starts the reduction of the first n buckets.
function Reducer:begin(n)
  while self.begun < n do self:begin_next() end
end

function Reducer:begin_next()
  self.begun = self.begun + 1
  local full = self.buckets[self.begun]
  if self.hook then
    full.future = self.hook(self.hook_state, GradBucket(self, self.begun))
  else
    local op = self.divisor and dist.ReduceOp.SUM or dist.ReduceOp.AVG
    full.work = dist.all_reduce(full.flat, { op = op, group = self.group, async_op = true })
  end
end

-- Its result is in it.
function Reducer:wait(bucket)
  if bucket.work then
    bucket.work:wait()
    if self.divisor then bucket.flat:div_(self.divisor) end
    return
  end
  if type(bucket.future) ~= 'userdata' then fail('a communication hook must return a Future, got %s', torch.type(bucket.future)) end
  local result = bucket.future:wait()
  if type(result) == 'table' then result = result[1] end
  if not torch.is_tensor(result) or result:numel() ~= bucket.flat:numel() then
    fail('the Future of a communication hook must return a tensor with the %d elements of the bucket', bucket.flat:numel())
  end
  if result:data_ptr() ~= bucket.flat:data_ptr() then bucket.flat:copy_(result:detach():reshape(-1)) end
end

-- Ends the first backward of a static graph; its counts are kept for all later ones. Returns the
-- order of the gradients.
function Reducer:learn()
  local order, all = self.core:order(), {}
  self.never = self.core:unseen()
  self.always_used = self:find_used(self.never)
  table.move(self.never, 1, #self.never, #order + 1, order)
  for place = 1, #self.parameters do all[place] = place end
  self:ready(all)
  self.learning = false
  self.core:count_only(false)
  self.core:keep_counts()
  return order
end

-- Copies the reduced buckets into the parameters' gradients. used: for each parameter 1 if any rank
-- has a gradient, otherwise 0; nil: all.
function Reducer:take(used)
  for b, bucket in ipairs(self.buckets) do
    self:wait(bucket)
    self.core:take(b, used)
  end
end

-- Ends backward: stores the reduced gradients in the parameters.
function Reducer:finish()
  local order = self.learning and self:learn()
  if self.core:left() > 0 then self:refuse_unfinished() end
  self:take(self.used or self.always_used)
  order = order or self.core:order()
  self.used = nil
  self:reset()
  self:rebuild(order)
end

-- Rebuilds the buckets once, in the order of the gradients on rank 0.
function Reducer:rebuild(order)
  if self.rebuilt then return end
  self.rebuilt = true
  local places = torch.tensor(order, { dtype = torch.int64 })
  dist.broadcast(places, { src = dist.get_global_rank(self.group, 0), group = self.group })
  local parameters, grads = {}, {}
  for i, place in ipairs(places:tolist()) do
    parameters[i] = self.parameters[place]
    grads[i] = parameters[i].grad
  end
  self:build(parameters)
  if not self.as_view then return end
  for i, p in ipairs(parameters) do
    local at = self.where[self.number[p]]
    if grads[i] then
      local view = self.buckets[at.bucket].views[at.index]
      p.grad = view:copy_(grads[i])
    end
  end
end

--- Participates in the reductions of the others with zeros (join.lua), and receives their
--- gradients.
-- find_unused: the others search for unused parameters.
function Reducer:shadow(find_unused)
  self:reset()
  local all = {}
  for place = 1, #self.parameters do all[place] = place end
  local used = self.always_used
  if find_unused or self.learning then used = self:find_used(all) end
  if self.learning then
    self.learning, self.never, self.always_used = false, all, used
    self.core:count_only(false)
    self.core:keep_counts()
  end
  for _, bucket in ipairs(self.buckets) do bucket.flat:zero_() end
  self:begin(#self.buckets)
  self:take(used)
  self:rebuild(all)
  self:reset()
end

return Reducer
