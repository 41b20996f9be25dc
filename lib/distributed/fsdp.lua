-- fsdp.lua - torch.distributed.fsdp: fully_shard(module) shards parameters, gradients and optimizer
-- state over the ranks (S. Rajbhandari et al. 2020: ZeRO, stages 2 and 3).
--
-- A unit is a module passed to fully_shard, with its parameters except inner units'. Parameters of
-- one kind are concatenated in a flat tensor, of which each rank owns an equal part. Outside of
-- forward and backward, the module's fields hold the 1-D pieces (possibly empty) of its parameters
-- in this rank's part, which optimizers step. Before forward the ranks gather the flat tensor, and
-- the fields hold the full parameters. After forward their memory is freed, although the graph
-- still refers to them; it is restored before backward of the module (core's exchange.h). Once all
-- gradients of a unit are complete, they are reduced and scattered: .grad of the pieces is the mean
-- over the ranks. Meanwhile the next unit is prefetched, in backward the previous one.
--
-- A reference to a full parameter, or a view of it, that outlives the use of its module has no
-- memory (core's compile/deferred.h): to read or write it is an error that names the parameter.

--[=[ arguments
module: Module to divide among the ranks.
reshard_after_forward: Whether the whole parameters are freed after forward and gathered again in backward.
parameters: Parameters: a tensor, a list of them or a module.
max_norm: Maximum of the norm over all gradients.
]=]

local torch = require 'torch'
local Module = require 'torch.nn.module'
local autograd = require 'torch.autograd'
local class = require 'torch.support.class'
local dist = require 'torch.distributed'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local sharding = require 'torch.distributed.sharding'

local fields_of = class.fields
local storage_take, storage_drop = torch._C.storage_take, torch._C.storage_drop

local M = {}

local LEAST = 2048 -- bytes: smaller storage is allocated with its tensor and cannot be freed alone

local FREED = 'fully_shard frees parameters after the forward of their module; each rank keeps its shard only. Use them within the '
  .. 'forward of their module, clone() them there, or call unshard() on the module first'

-- Units by module.
local units = setmetatable({}, { __mode = 'k' })

-- ---- flat parameters ----------------------------------------------------------------------------

-- The concatenated parameters of one dtype, device and requires_grad.
-- - entries: per parameter its slots (fields of modules), offset `at` and size `n` in the flat
--   tensor, piece, full
-- - part: this rank's part; whole: the gathered flat tensor
local Flat = {}
Flat.__index = Flat

local function new_flat(group, entries)
  local first = entries[1].parameter
  local rank, size, elements = group:me(), group:size(), 0
  for _, entry in ipairs(entries) do elements = elements + entry.parameter:numel() end
  local each = (elements + size - 1) // size
  local self = setmetatable({ group = group, entries = entries, each = each, total = each * size, trains = first.requires_grad,
    dtype = first.dtype, device = first.device, syncs = true, frees = true, room = math.max(each * size, LEAST // first:element_size()) }, Flat)
  local whole, at = torch.zeros(self.total, { dtype = self.dtype, device = self.device }), 0
  for _, entry in ipairs(entries) do
    local n = entry.parameter:numel()
    whole:narrow(1, at + 1, n):copy_(entry.parameter:detach():reshape(-1))
    entry.at, entry.n, entry.shape = at, n, entry.parameter.shape
    at = at + n
  end
  dist.broadcast(whole, { src = group:global(0), group = group })
  self.part = whole:narrow(1, rank * each + 1, each):clone()
  for _, entry in ipairs(entries) do
    local from, to = math.max(rank * each, entry.at), math.min((rank + 1) * each, entry.at + entry.n)
    entry.from, entry.count = math.max(0, math.min(from - rank * each, each)), math.max(0, to - from)
    entry.piece = torch.nn.Parameter(self.part:narrow(1, entry.from + 1, entry.count), { requires_grad = self.trains })
    sharding.set(entry.piece, entry.shape, entry.count > 0 and from - entry.at + 1 or 1, group)
    entry.parameter = nil
  end
  self:show 'piece'
  return self
end

-- Stores the field `what` of the entries ('piece' or 'full') in the slots of the modules.
function Flat:show(what)
  for _, entry in ipairs(self.entries) do
    for _, slot in ipairs(entry.slots) do slot.fields[slot.name] = entry[what] end
  end
end

-- On the first gather: creates the full parameters as views of `whole`. Later gathers reuse them.
function Flat:make_parameters(whole)
  self.whole, self.since = whole, torch._C.version_of(whole) - self.version -- whole's version stays at this distance from the part's
  for _, entry in ipairs(self.entries) do
    entry.full = torch.nn.Parameter(whole:narrow(1, entry.at + 1, entry.n):view(entry.shape), { requires_grad = self.trains })
    if self.trains then entry.full:register_post_accumulate_grad_hook(function() self:arrived(entry) end) end
  end
end

-- Starts an asynchronous gather of the current parts.
function Flat:begin()
  if self.version ~= torch._C.version_of(self.part) then
    self:forget()
    if self.there then self:free() end
  end
  if self.there or self.coming then return end
  local whole = torch.empty(self.room, { dtype = self.dtype, device = self.device })
  local work = dist.all_gather_into_tensor(whole:narrow(1, 1, self.total), self.part, { group = self.group, async_op = true })
  self.coming, self.version = { work = work, whole = whole }, torch._C.version_of(self.part)
end

-- Completes the gather and stores the full parameters in the modules.
function Flat:gather()
  self:begin()
  if not self.there then
    local coming = self.coming
    coming.work:wait()
    self.coming, self.there = nil, true
    if self.whole then
      storage_take(self.whole, coming.whole, self.since + self.version)
    else
      torch.no_grad(self.make_parameters, self, coming.whole)
    end
  end
  self:show 'full'
end

function Flat:free()
  self:show 'piece'
  if not self.there then return end
  self.there = false
  storage_drop(self.whole, self.entries, FREED)
end

-- Drops a prefetch that was not used.
function Flat:forget()
  if self.coming then self.coming.work:wait() end
  self.coming = nil
end

-- End of backward.
function Flat:leave()
  self:show 'piece'
  if self.frees then self:free() end
end

-- Prepares for a backward that may follow.
function Flat:expect() self.expecting, self.left = self.trains, #self.entries end

-- Adds the gradient of a parameter to the flat gradient; after the last one, reduces it.
function Flat:arrived(entry)
  if not self.expecting then return end
  if not self.grads then self.grads = torch.zeros(self.total, { dtype = self.dtype, device = self.device }) end
  local sum, grad = self.grads:narrow(1, entry.at + 1, entry.n), entry.full.grad:detach():reshape(-1)
  if self.adds_up then sum:add_(grad) else sum:copy_(grad) end
  entry.full.grad = nil
  self.left = self.left - 1
  if self.left > 0 then return end
  self:reduce()
  if self.frees then self:free() end -- all uses in backward are done
end

-- Starts the reduce-scatter; missing gradients are zero. Without sync, the gradients stay and the
-- next backward adds to them.
function Flat:reduce()
  self.expecting = false
  self.adds_up = not self.syncs and self.grads ~= nil
  if not self.syncs then return end
  local grads = self.grads or torch.zeros(self.total, { dtype = self.dtype, device = self.device })
  self.grads, self.mine = nil, torch.empty(self.each, { dtype = self.dtype, device = self.device })
  self.work = dist.reduce_scatter_tensor(self.mine, grads, { op = dist.ReduceOp.AVG, group = self.group, async_op = true })
end

-- Waits for the reduce-scatter and adds the result to .grad of the pieces.
function Flat:finish()
  if self.expecting then self:reduce() end
  if not self.work then return end
  self.work:wait()
  for _, entry in ipairs(self.entries) do
    local grad = self.mine:narrow(1, entry.from + 1, entry.count)
    if entry.piece.grad then entry.piece.grad:add_(grad) else entry.piece.grad = grad end
  end
  self.work, self.mine = nil, nil
end

-- ---- units --------------------------------------------------------------------------------------

-- State shared by the units of a group.
-- - used: the units of the current forward, once each, in the order of their first use
-- - order: the same of the previous forward
local chains = setmetatable({}, { __mode = 'k' })

local Unit = {}
Unit.__index = Unit

function Unit:each(f)
  for _, flat in ipairs(self.flats) do f(flat) end
end

function Unit:gather() self:each(Flat.gather) end

function Unit:prefetch(order, step)
  local other = self.place and order[self.place] == self and order[self.place + step]
  if other then other:each(Flat.begin) end
end

-- End of the running backward: waits for gradients and frees memory.
local function finish(chain)
  chain.at_end = false
  for _, unit in ipairs(chain.used) do
    unit:each(Flat.finish)
    unit:each(Flat.forget)
    unit:each(Flat.leave)
    unit.in_backward, unit.is_used = false, false
  end
  chain.order, chain.used = chain.used, {}
end

-- Prepares for a backward that may follow.
function Unit:expect()
  local chain = self.chain
  if not self.is_used then
    self.is_used, self.place = true, #chain.used + 1
    chain.used[self.place] = self
  end
  self:each(Flat.expect)
end

function Unit:before_forward()
  local chain = self.chain
  if not self.in_backward and torch.is_grad_enabled() then self:expect() end
  self:gather()
  self:prefetch(chain.order, 1)
end

function Unit:before_backward()
  local chain = self.chain
  if self.in_backward then return end
  self.in_backward = true
  if not self.is_used then self:expect() end -- a second backward of the same graph
  if not chain.at_end then
    chain.at_end = true
    autograd.__at_end(function() finish(chain) end)
  end
  self:gather()
  self:prefetch(chain.used, -1)
end

-- Calls f with the gradients of the tensors in outputs.
local function hook_tensors(value, f)
  if torch.is_tensor(value) then
    if value.requires_grad then value:register_hook(f) end
  elseif type(value) == 'table' then
    for _, entry in pairs(value) do hook_tensors(entry, f) end
  end
end

function Unit:after_forward(outputs)
  self:each(function(flat) flat:show 'piece' end)
  if torch.is_grad_enabled() then
    hook_tensors(outputs, function() self:before_backward() end)
    if not self.reshard or self.in_backward then return end
  end
  self:each(Flat.free)
end

-- ---- methods of a unit's module -----------------------------------------------------------------

local methods = {}

local function unit_of(name, module)
  return units[module] or fail('%s(): expected a module after fully_shard(module), got %s', name, torch.type(module))
end

-- Calls f with the unit of a module and, unless recurse = false, with the units of its submodules.
local function each_unit(name, module, recurse, f)
  unit_of(name, module)
  for _, part in ipairs(recurse and module:modules() or { module }) do
    if units[part] then f(units[part]) end
  end
end

-- Defines a method that sets a flag of units: module:name(on, {recurse = true}).
local function switch(name, set)
  methods[name] = declare.declare(name .. '(any self, boolean on, boolean recurse=true)', function(module, on, recurse)
    each_unit(name, module, recurse, function(unit) set(unit, on) end)
  end)
end

-- Whether backward reduces the gradients over the ranks. If not, each rank accumulates full
-- gradients until a backward with it (gradient accumulation).
switch('set_requires_gradient_sync', function(unit, on) unit:each(function(flat) flat.syncs = on end) end)

-- The option of fully_shard.
switch('set_reshard_after_forward', function(unit, on) unit.reshard = on end)

-- Whether the full parameters are freed after backward, so that the next forward gathers them; if
-- not, it gathers only after the parts changed.
switch('set_reshard_after_backward', function(unit, on) unit:each(function(flat) flat.frees = on end) end)

-- Gathers the unit's own parameters into the module's fields, until reshard() or the end of the
-- module's next use. All ranks must call it.
function methods.unshard(module) unit_of('unshard', module):gather() end

-- Stores the pieces in the fields and frees the full parameters; changes to the latter are lost.
function methods.reshard(module)
  local unit = unit_of('reshard', module)
  unit:each(Flat.forget)
  unit:each(Flat.free)
end

-- ---- fully_shard --------------------------------------------------------------------------------

-- The parameters of a module that belong to no unit yet: a list of { parameter =, slots = }, in
-- order.
local function own_parameters(module)
  local list, by_parameter = {}, {}
  for _, part in ipairs(module:modules()) do
    local fields = fields_of(part)
    for _, name in ipairs(fields._parameters) do
      local p = fields[name]
      if p ~= nil and Module.is_unmade(p) then fail 'fully_shard: lazy parameters are not supported: run a forward first' end
      if p ~= nil and not sharding.place(p) then
        local entry = by_parameter[p]
        if not entry then
          entry = { parameter = p, slots = {} }
          by_parameter[p] = entry
          list[#list + 1] = entry
        end
        entry.slots[#entry.slots + 1] = { fields = fields, name = name }
      end
    end
  end
  return list
end

-- Groups the entries by dtype, device and requires_grad: one list for each flat tensor.
local function sorted(entries)
  local lists, by_kind = {}, {}
  for _, entry in ipairs(entries) do
    local p = entry.parameter
    local kind = ('%s %s %s'):format(p.dtype, p.device, p.requires_grad)
    if not by_kind[kind] then
      by_kind[kind] = {}
      lists[#lists + 1] = by_kind[kind]
    end
    table.insert(by_kind[kind], entry)
  end
  return lists
end

-- Sets the names of parameters of units in error messages: paths from the module.
local function name_parameters(module)
  local names = {}
  for name, part in module:named_modules() do names[fields_of(part)] = name end
  for _, part in ipairs(module:modules()) do
    for _, flat in ipairs(units[part] and units[part].flats or {}) do
      for _, entry in ipairs(flat.entries) do
        local slot = entry.slots[1]
        entry.name = (names[slot.fields] ~= '' and names[slot.fields] .. '.' or '') .. slot.name
      end
    end
  end
end

--- fully_shard(module, {process_group =, reshard_after_forward = true}): shards the parameters of
-- the module over the ranks of the group (default: all), starting from the values of the group's
-- first rank.
--
-- Call it on the larger parts of a model before the model itself, and create optimizers afterwards.
-- reshard_after_forward: frees the parameters after forward and gathers them again in backward; if
-- false, they stay until the end of backward, which saves a gather (ZeRO stage 2: only gradients
-- and optimizer state are sharded). The module gets the methods unshard() and reshard(), and
-- set_requires_gradient_sync(on), set_reshard_after_forward(on) and set_reshard_after_backward(on),
-- which include inner units unless {recurse
-- = false} follows.
function M.fully_shard(module, options)
  local group = options.process_group or dist._group(nil)
  if units[module] then fail 'fully_shard should only be called once on a module' end
  local chain = chains[group]
  if not chain then
    chain = { order = {}, used = {} }
    chains[group] = chain
  end
  local unit = setmetatable({ chain = chain, flats = {}, reshard = options.reshard_after_forward }, Unit)
  for i, list in ipairs(sorted(own_parameters(module))) do unit.flats[i] = torch.no_grad(new_flat, group, list) end
  units[module] = unit
  name_parameters(module)
  for name, method in pairs(methods) do fields_of(module)[name] = method end
  module:register_forward_pre_hook(function() unit:before_forward() end)
  module:register_forward_hook(function(_, _, ...) unit:after_forward { ... } end)
  return module
end

--- Scales the pieces' gradients so that the norm over all parameters of all ranks is at most
-- max_norm; returns the previous norm.
function M.clip_grad_norm_(parameters, max_norm)
  local whole, parts, group = 0, 0, nil
  parameters = require('torch.nn.parameters_of')(parameters)
  for _, p in ipairs(parameters) do
    if p.grad then
      local square = p.grad:detach():to(torch.float32):pow(2):sum()
      local place = sharding.place(p)
      if place then parts, group = parts + square, place.group else whole = whole + square end
    end
  end
  if group then
    parts = torch.is_tensor(parts) and parts:clone() or torch.tensor(0.0)
    dist.all_reduce(parts, { group = group })
  end
  local norm = (whole + parts) ^ 0.5
  local factor = (max_norm / (norm + 1e-6)):clamp { max = 1 }
  for _, p in ipairs(parameters) do
    if p.grad then p.grad:mul_(factor:to(p.grad.dtype)) end
  end
  return norm
end

declare.functions(M, 'fully_shard(Module module, *, value? process_group, boolean reshard_after_forward=true)', 'options')
declare.functions(M, 'clip_grad_norm_(any parameters, number max_norm)')

return M
