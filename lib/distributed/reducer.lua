-- reducer.lua - how nn.parallel.DistributedDataParallel brings gradients together: parameters go into buckets in the order in which
-- their gradients come, a bucket is all-reduced as soon as it is full, while backward goes on, and the end of backward waits for all.
--
-- The first plan is the parameters' order reversed; after the first backward it is the order that rank 0 has seen. Buckets are begun in
-- their order on every rank, whatever comes first. A gradient becomes the sum over the ranks, in their order, by their number; or what a
-- communication hook makes of a bucket. Where the graph is static the first backward only looks: which parameters get a gradient, and how
-- often.

local torch = require 'torch'
local autograd = require 'torch.autograd'
local class = require 'torch.support.class'
local dist = require 'torch.distributed'
local fail = require 'torch.support.fail'
local GradBucket = require 'torch.distributed.grad_bucket'

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

-- named: list of { name, parameter }; group: that of the ranks; options: bytes (of a bucket), as_view (gradients are views of the
-- buckets), static (every backward is like the first)
function Reducer:init(named, group, options)
  self.group, self.bytes, self.as_view, self.rebuilt = group, options.bytes, options.as_view, false
  self.learning, self.often = options.static, nil
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
  self.expecting, self.at_end, self.begun, self.left, self.order, self.seen, self.here = false, false, 0, #self.parameters, {}, {}, {}
  for _, bucket in ipairs(self.buckets) do bucket.left, bucket.work, bucket.future = #bucket.places, nil, nil end
end

-- Names those that have had no gradient.
function Reducer:refuse_unfinished()
  local missing = {}
  for place, name in ipairs(self.names) do
    if not self.here[place] then missing[#missing + 1] = name end
  end
  self:reset()
  fail('Expected to have finished reduction in the prior iteration before starting a new one. These parameters had no part in the loss on '
    .. 'rank %d: %s. Where that is meant, find_unused_parameters=true lets the others go on without them', dist.get_rank(),
    table.concat(missing, ', '))
end

--- Before a forward whose backward is to be reduced.
function Reducer:expect()
  if self.expecting and self.left < #self.parameters then self:refuse_unfinished() end -- an error has ended the backward
  self:reset()
  self.expecting = #self.parameters > 0
  if not self.often then return end
  for place = 1, #self.parameters do
    if not self.often[place] then self:ready(place) end
  end
end

-- Which parameters any rank has a gradient for, of those that this one has none for.
function Reducer:find_used(places)
  local used = torch.ones(#self.parameters, { dtype = torch.uint8 })
  for _, place in ipairs(places) do used[place] = 0 end
  dist.all_reduce(used, { op = dist.ReduceOp.MAX, group = self.group })
  return used:tolist()
end

--- Parameters that will get no gradient, by their place.
function Reducer:mark_unused(places)
  self.used = self:find_used(places)
  for _, place in ipairs(places) do self:ready(place) end
end

-- The gradient of a parameter is there.
function Reducer:arrived(place)
  if not self.at_end then
    self.at_end = true
    autograd.__at_end(function() self:finish() end)
  end
  local seen, often = (self.seen[place] or 0) + 1, self.often and self.often[place] or 1
  self.seen[place] = seen
  if self.learning then
    if seen == 1 then self.order[#self.order + 1] = place end
  elseif seen > often or self.here[place] and not self.often then
    fail("Expected to mark a variable ready only once: parameter '%s' has got a gradient once more after it was reduced, from a "
      .. 'backward inside of backward. static_graph=true first counts how often it gets one', self.names[place])
  elseif seen == often then
    self:ready(place)
  end
end

-- All that a parameter's gradient gets on this rank is in it.
function Reducer:ready(place)
  if self.here[place] then return end
  local at, p = self.where[place], self.parameters[place]
  local bucket = self.buckets[at.bucket]
  local view, grad = bucket.views[at.index], p.grad
  if not grad then
    view:zero_()
  elseif grad:data_ptr() ~= view:data_ptr() then
    view:copy_(grad:detach())
  end
  if grad and self.as_view then p.grad = view end
  self.here[place], self.left = true, self.left - 1
  if not self.learning then self.order[#self.order + 1] = place end
  bucket.left = bucket.left - 1
  while self.begun < #self.buckets and self.buckets[self.begun + 1].left == 0 do self:begin() end
end

-- The next bucket goes out.
function Reducer:begin()
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
    fail('the Future of a communication hook must give a tensor of %d elements, as the bucket has', bucket.flat:numel())
  end
  if result:data_ptr() ~= bucket.flat:data_ptr() then bucket.flat:copy_(result:detach():reshape(-1)) end
end

-- The first backward of a static graph is over: what it did is what all do.
function Reducer:learn()
  local places = {}
  for place = 1, #self.parameters do
    if not self.seen[place] then places[#places + 1] = place end
  end
  self.always_used = self:find_used(places)
  for place = 1, #self.parameters do self:ready(place) end
  self.learning, self.often = false, self.seen
  for _, place in ipairs(places) do self.order[#self.order + 1] = place end
end

-- Backward is over: the gradients of all ranks become those of the parameters.
function Reducer:finish()
  if self.learning then self:learn() end
  if self.left > 0 then self:refuse_unfinished() end
  local used = self.used or self.always_used
  for _, bucket in ipairs(self.buckets) do
    self:wait(bucket)
    for i, place in ipairs(bucket.places) do
      local p, view = self.parameters[place], bucket.views[i]
      local grad = p.grad
      if used and used[place] == 0 then
        view = nil -- on no rank
      elseif self.as_view then
        p.grad = view
      elseif grad then
        grad:detach():copy_(view)
      else
        p.grad = view:clone()
      end
    end
  end
  local order = self.order
  self.used = nil
  self:reset()
  self:rebuild(order)
end

-- Buckets in the order in which rank 0 has seen the gradients, once.
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

--- Takes part in what the others reduce, with zeros (join.lua). find_unused: they look for unused parameters.
function Reducer:shadow(find_unused)
  self:reset()
  local all = {}
  for place = 1, #self.parameters do all[place] = place end
  if find_unused or self.learning then self:find_used(all) end
  if self.learning then self.learning, self.often = false, {} end
  for _, bucket in ipairs(self.buckets) do bucket.flat:zero_() end
  while self.begun < #self.buckets do self:begin() end
  for _, bucket in ipairs(self.buckets) do self:wait(bucket) end
  self:rebuild(all)
  self:reset()
end

return Reducer
