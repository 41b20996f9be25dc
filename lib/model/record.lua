-- record.lua - records one call of a model as a list of core operations that C can repeat
-- (src/lua/model/plan.c).
--
-- The call runs in a coroutine with a debug hook, as in onnx/export/record.lua. That recorder writes
-- a file that computes the same for all inputs; this one writes a list for the same sizes, dtypes
-- and devices. The call is refused (M.call returns nil and a reason) if the list could differ in the
-- next call: a fraction is read from a tensor that depends on the inputs, random numbers are drawn, a
-- tensor that lives longer than the call is changed, or a C function that is not an operation
-- receives a tensor that depends on the inputs. An integer or a boolean that is read, such as the
-- condition of a branch, is a step of the list: the list applies to calls in which it is the same.
--
-- A value is { tensor =, slot =, version =, varies = }: `varies` if it depends on an input, or with
-- gradients on a parameter; `fixed` for parameters and buffers, which are constants of the list.
-- Operations of other values were executed once: their results are
-- constants of the list.

local torch = require 'torch'
local arguments = require 'torch.onnx.export.arguments'
local declarations = require 'torch.support.declarations'
local onnx_record = require 'torch.onnx.export.record'

local M = {}

local Value, transferred = onnx_record.Value, onnx_record.transferred

-- ---- functions ----------------------------------------------------------------------------------

local methods, metatable = torch._C.methods, debug.getmetatable(torch.empty(0))
local by_hand = { [methods.where] = 'where', [torch.where] = 'where' }

-- C functions that read the geometry of a tensor, or only pass it on.
local harmless = {}
for _, library in ipairs { _G, table, string, math, coroutine, utf8, debug } do
  for _, f in pairs(library) do
    if type(f) == 'function' then harmless[f] = true end
  end
end
for _, f in ipairs { tostring, print } do harmless[f] = nil end
for name in ([[size dim ndimension numel nelement is_floating_point is_complex element_size get_device data_ptr stride]]):gmatch '%S+' do
  if methods[name] then harmless[methods[name]] = true end
end
for name in ([[is_tensor version_of let_go op_name is_grad_enabled within_budget is_inference_mode_enabled type_of is_batched]]):gmatch '%S+' do
  for _, holder in ipairs { torch, torch._C } do
    if holder[name] then harmless[holder[name]] = true end
  end
end

-- Fields of tensors that do not depend on their elements.
local plain_fields = { shape = true, dtype = true, device = true, ndim = true, requires_grad = true, is_cuda = true, is_leaf = true, layout = true,
  itemsize = true, is_sparse = true }

-- Operations with results whose sizes depend on the elements.
local of_elements = { masked_select = true, unique = true, unique_consecutive = true, bincount = true, nonzero = true, repeat_interleave = true }

local names = setmetatable({}, { __mode = 'k' })
local function operation_of(f)
  local entry = names[f]
  if entry == nil then
    local name, in_nn = torch._C.op_name(f)
    entry = name and { op = name, in_nn = in_nn } or by_hand[f] and { op = by_hand[f] } or false
    names[f] = entry
  end
  return entry
end

-- ---- values -------------------------------------------------------------------------------------

local Recorder = {}
Recorder.__index = Recorder

function Recorder:refuse(format, ...) self.reason = self.reason or format:format(...) end

function Recorder:value(tensor, varies)
  local known = self.of_tensor[tensor]
  local value = setmetatable({ tensor = tensor, varies = varies, version = torch._C.version_of(tensor) }, Value)
  if known then value.slot, value.lasting, value.fixed = known.slot, known.lasting, known.fixed
  else
    self.slots = self.slots + 1
    value.slot = self.slots
  end
  self.of_tensor[tensor] = value
  self.values[#self.values + 1] = value
  return value
end

-- A tensor from outside of the call that no operation of it made.
function Recorder:outside(tensor, varies)
  local value = self:value(tensor, varies)
  value.lasting = true
  return value
end

function Recorder:known(tensor) return self.of_tensor[tensor] or self:outside(tensor, false) end

-- The arguments with values instead of tensors.
function Recorder:arguments(x, depth)
  if torch.is_tensor(x) then return self:known(x) end
  if type(x) ~= 'table' or getmetatable(x) ~= nil or depth > 4 then return x end
  local copy = {}
  for key, entry in pairs(x) do copy[key] = self:arguments(entry, depth + 1) end
  return copy
end

-- Whether a varying tensor is among the arguments or in a list among them.
function Recorder:receives(args)
  for i = 1, args.n do
    local x = args[i]
    local list = type(x) == 'table' and getmetatable(x) == nil and x or { x }
    for _, entry in pairs(list) do
      local value = torch.is_tensor(entry) and self.of_tensor[entry]
      if value and value.varies then return true end
    end
  end
  return false
end

-- ---- the hook -----------------------------------------------------------------------------------

function Recorder:begins(f, args)
  if f == methods.item then
    local value = torch.is_tensor(args[1]) and self.of_tensor[args[1]]
    if value and value.varies and not value.tensor:is_floating_point() and not value.tensor:is_complex() then return { guard = value } end
  end
  if f == metatable.__index and type(args[2]) == 'string' then
    if not plain_fields[args[2]] and methods[args[2]] == nil and self:receives(args) then self:refuse("the field '%s' is read", args[2]) end
    return nil
  end
  local entry = operation_of(f)
  if not entry then
    if not harmless[f] and self:receives(args) then
      local info = debug.getinfo(4, 'Sl') or {}
      self:refuse('%s:%d calls a function that is not an operation', info.short_src or '?', info.currentline or 0)
    end
    return nil
  end
  return { op = entry.op, in_nn = entry.in_nn, args = self:arguments(args, 0) }
end

function Recorder:ends(call, results)
  if call.guard then
    self.calls[#self.calls + 1] = { guard = call.guard, expected = results[1] }
    return
  end
  call.args.n = call.args.n or 0
  local several = type(results[1]) == 'table' and getmetatable(results[1]) == nil
  call.is_list = several
  if several then results = table.move(results[1], 1, #results[1], 1, { n = #results[1] }) end
  call.varies = onnx_record.any(call.args, 'varies')
  call.results = {}
  for i = 1, results.n do
    if torch.is_tensor(results[i]) then call.results[i] = self:value(results[i], call.varies)
    elseif call.varies then return self:refuse("'%s' reads numbers that depend on the inputs", call.op) end
  end
  if call.varies then self.calls[#self.calls + 1] = call end
end

local function hook_of(self)
  local pending, pending_f
  return function(event)
    local info = debug.getinfo(2, 'fS')
    if info.what ~= 'C' or self.reason then return end
    local f = info.func
    if event == 'return' then
      if f ~= pending_f then return end
      pending_f = nil
      return self:ends(pending, transferred(event))
    end
    local args = transferred(event)
    local call = self:begins(f, args)
    if call then
      if call.args then call.args.n = args.n end
      pending, pending_f = call, f
    end
  end
end

-- ---- lowering -----------------------------------------------------------------------------------

local function dim(i) return i > 0 and i - 1 or i end
local function dims(x)
  local list = {}
  for i, value in ipairs(type(x) == 'table' and x or { x }) do list[i] = dim(value) end
  return list
end
local function sizes(x) return type(x) == 'table' and table.move(x, 1, #x, 1, {}) or { x } end

-- The argument of C for a value of the declared kind: { kind, value }.
local function lowered(self, kind, value)
  if kind == 'IndexTensor' then return { 'tensor', self:from_zero(value) } end
  if onnx_record.is_value(value) then return { 'tensor', value } end
  if kind == 'Tensor[]' then return { 'tensors', value } end
  if kind == 'IndexTensor[]' then return nil end
  if kind == 'Dims' then return { 'dims', dims(value) } end
  if kind == 'Size' then return { 'dims', sizes(value) } end
  if kind == 'Dim' or kind == 'Index' then return { 'int', dim(value) } end
  if kind == 'Dtype' then return { 'dtype', torch.type(value) == 'dtype' and value or torch[value] } end
  if kind == 'Device' then return { 'device', torch.device(value) } end
  if type(value) == 'boolean' then return { 'bool', value } end
  if math.type(value) == 'integer' then return { 'int', value } end
  if type(value) == 'number' then return { 'double', value } end
  if type(value) == 'string' then return { 'string', value } end
  return nil
end

-- Positions count from 1 in the recording and from 0 in C.
function Recorder:from_zero(value)
  local shifted = self:new_slot(value.tensor, value.varies)
  if not value.varies then
    shifted.tensor = value.tensor:to(torch.int64) - 1
    return shifted
  end
  local source = value
  if value.tensor.dtype ~= torch.int64 then
    source = self:new_slot(value.tensor, true)
    self:add('to', { self = { 'tensor', value }, dtype = { 'dtype', torch.int64 } }, { source })
  end
  self:add('sub', { self = { 'tensor', source }, other = { 'int', 1 } }, { shifted })
  return shifted
end

function Recorder:new_slot(tensor, is_varying)
  self.slots = self.slots + 1
  return setmetatable({ tensor = tensor, varies = is_varying, slot = self.slots, version = torch._C.version_of(tensor) }, Value)
end

function Recorder:add(op, args, results) self.steps[#self.steps + 1] = { op = op, args = args, results = results } end

local function parameter_of(bound_names, name)
  for _, parameter in ipairs(bound_names) do
    if parameter.name == name then return parameter end
  end
end

-- A call of an operation for modules, which has no declaration in Lua: its arguments by their number.
function Recorder:lower_library(call)
  local args = {}
  for i = 1, call.args.n do
    local value = call.args[i]
    if value == nil then args[i] = { 'none' }
    else args[i] = lowered(self, type(value) == 'table' and not onnx_record.is_value(value) and 'Tensor[]' or nil, value) end
    if not args[i] then return self:refuse("argument %d of '%s'", i, call.op) end
  end
  self:add(call.op, args, call.results)
end

function Recorder:lower(call)
  if call.guard then
    self.steps[#self.steps + 1] = call
    return
  end
  if #declarations.overloads(call.op, call.in_nn) == 0 then return self:lower_library(call) end
  local bound, overload = arguments.bind(call)
  if not bound then return self:refuse("a form of '%s' that only Lua has", call.op) end
  if overload.names.generator and bound.generator == nil and not (call.op:find 'dropout' and bound.train == false) then
    return self:refuse("'%s' draws random numbers", call.op)
  end
  if call.op:find 'dropout' and bound.train ~= false and bound.training ~= false then return self:refuse("'%s' draws random numbers", call.op) end
  if of_elements[call.op] then return self:refuse("the sizes of the result of '%s' depend on the inputs", call.op) end
  local args = {}
  for name, value in pairs(bound) do
    local parameter = name ~= 'op' and parameter_of(overload, name)
    if parameter then
      args[name] = lowered(self, parameter.kind, value)
      if not args[name] then return self:refuse("argument '%s' of '%s'", name, call.op) end
    end
  end
  for _, parameter in ipairs(overload) do
    if parameter.optional and parameter.default == nil and not args[parameter.name] then args[parameter.name] = { 'none' } end
  end
  local results = table.move(call.results, 1, #call.results, 1, {})
  local shifts = {}
  for i, kind in ipairs(overload.results) do
    if kind == 'IndexTensor' and results[i] then
      shifts[#shifts + 1] = { from = self:new_slot(results[i].tensor, true), to = results[i] }
      results[i] = shifts[#shifts].from
    end
  end
  self.steps[#self.steps + 1] = { op = overload.name, args = args, results = results, is_list = call.is_list }
  for _, shift in ipairs(shifts) do self:add('add', { self = { 'tensor', shift.from }, other = { 'int', 1 } }, { shift.to }) end
end

-- ---- recording ----------------------------------------------------------------------------------

-- A value that lasts was changed: the list would change it again.
function Recorder:check_versions()
  for _, value in ipairs(self.values) do
    if (value.lasting or not value.varies) and value.version ~= torch._C.version_of(value.tensor) then
      return self:refuse 'a parameter, a buffer, an input or a constant is changed'
    end
  end
end

function Recorder:finish(results, n)
  self:check_versions()
  for _, call in ipairs(self.calls) do
    if self.reason then return end
    self:lower(call)
  end
  self.outputs = {}
  for i = 1, n do
    local value = self.of_tensor[results[i]]
    if not value or not value.varies or value.fixed then return self:refuse('output %d does not depend on the inputs', i) end
    self.outputs[i] = value.slot
  end
end

--- Calls model(inputs...). Returns its results (a packed list), and the recording { steps =, inputs =
-- slots, outputs = slots, slots = number, depends = list of parameters and buffers }, or nil and the
-- reason.
function M.call(model, inputs, training)
  local self = setmetatable({ of_tensor = {}, values = {}, calls = {}, steps = {}, inputs = {}, depends = {}, slots = 0 }, Recorder)
  for _, list in ipairs { model:parameters(), model:buffers() } do
    for _, tensor in ipairs(list) do
      local value = self:outside(tensor, training and tensor.requires_grad)
      value.fixed = true
      if not value.varies then self.depends[#self.depends + 1] = tensor end
    end
  end
  for i = 1, inputs.n do
    if inputs[i] == nil then self:refuse 'an optional input is absent'
    else
      if self.of_tensor[inputs[i]] then self:refuse 'two inputs are the same tensor' end
      self.inputs[i] = self:outside(inputs[i], true).slot
    end
  end
  local results
  local thread = coroutine.create(function()
    debug.sethook(hook_of(self), 'cr')
    results = table.pack(model(table.unpack(inputs, 1, inputs.n)))
    debug.sethook()
  end)
  local ok, message = coroutine.resume(thread)
  if not ok then error(message, 0) end
  if not results then error('the model yields', 0) end
  if not self.reason then self:finish(results, results.n) end
  if self.reason then return results, nil, self.reason end
  return results, { steps = self.steps, inputs = self.inputs, outputs = self.outputs, slots = self.slots, depends = self.depends }
end

return M
