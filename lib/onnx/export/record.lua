-- record.lua - records a call of a module as a list of the core operations that it executes.
--
-- The call runs in a coroutine with a debug hook, which observes each call of a C function and its
-- results. Functions that torch._C.op_name identifies, and a few others, are recorded. So Lua
-- control flow (loops, conditions, higher-order functions) is resolved, and the recording is
-- linear.
--
-- A recording is { calls =, values =, inputs =, outputs =, results = packed list of the module's }. A
-- value is a tensor at one time: { tensor =, shape =, dtype =, kind = 'input' | 'parameter' |
-- 'buffer' | 'constant' | 'result', name =, varies =, learned = true if it depends on an input, a
-- parameter or a buffer; version = }. An in-place operation creates a new value of the same tensor. A
-- call is { op =, in_nn =, args = packed list with values instead of tensors, results = values,
-- is_list =, where = the module's path, no_grad = true if it was executed without gradients }.
--
-- A form of a recording is { caller = the function that its messages name, in_place = true if the
-- recording keeps views and in-place operations: x[...] = value is a call, a tensor has one value at
-- all times, and the module runs with gradients, which calls of no_grad switch off; flatten =
-- function(x, list), which appends the tensors in a value }.

local torch = require 'torch'
local apply_own = require('torch.autograd.function').apply
local fail = require 'torch.support.fail'

local M = {}

local Value = {}
Value.__index = Value
M.Value = Value
function M.is_value(x) return getmetatable(x) == Value end

local Recorder = {}
Recorder.__index = Recorder

-- ---- values -------------------------------------------------------------------------------------

local function new_value(self, tensor, kind, more)
  local value = setmetatable({ tensor = tensor, shape = table.move(tensor.shape, 1, tensor.ndim, 1, {}), dtype = tensor.dtype, kind = kind,
    version = torch._C.version_of(tensor) }, Value)
  for key, entry in pairs(more or {}) do value[key] = entry end
  self.of_tensor[tensor] = value
  value.id = #self.values + 1
  self.values[value.id] = value
  return value
end

-- The current value of a tensor. A tensor from outside is a constant with its current elements.
local function value_of(self, tensor)
  local value = self.of_tensor[tensor]
  if value and (self.in_place or value.version == torch._C.version_of(tensor)) then return value end
  if value and (value.varies or value.learned) then
    fail('%s: %s: a tensor that it uses was changed through another one that shares its memory; a recording has no such values', self.caller, self.where())
  end
  if self.foreign[tensor] then
    fail("%s: %s: '%s' is no operation of the library, and its result depends on the inputs; a recording cannot have it", self.caller, self.where(), self.foreign[tensor])
  end
  value = new_value(self, tensor, 'constant')
  value.constant = tensor:detach():clone()
  return value
end

-- The same with tensors in tables replaced, too.
local function recorded(self, x, depth)
  if torch.is_tensor(x) then return value_of(self, x) end
  if type(x) ~= 'table' or getmetatable(x) ~= nil or depth > 4 then return x end
  local copy = {}
  for key, entry in pairs(x) do copy[key] = recorded(self, entry, depth + 1) end
  return copy
end

-- Whether a value in x has the flag.
local function any(x, flag)
  if M.is_value(x) then return x[flag] end
  if type(x) ~= 'table' or getmetatable(x) ~= nil then return false end
  for _, entry in pairs(x) do
    if any(entry, flag) then return true end
  end
  return false
end
M.any = any

-- ---- functions that are recorded ----------------------------------------------------------------

local metatable = debug.getmetatable(torch.empty(0))
local by_hand = { [metatable.__index] = 'index', [metatable.__newindex] = 'index_assign', [torch._C.methods.where] = 'where_method',
  [torch.where] = 'where', [torch.nonzero] = 'nonzero', [torch._C.methods.nonzero] = 'nonzero' }
-- Functions that convert tensors to Lua values: if the tensor depends on an input, the program
-- depends on its values.
local reads = {}
for _, name in ipairs { 'item', 'tolist', 'equal', 'is_nonzero', 'allclose' } do reads[torch._C.methods[name]] = name end

local known = setmetatable({}, { __mode = 'k' })

local function entry_of(f)
  local entry = known[f]
  if entry == nil then
    local name, in_nn = torch._C.op_name(f)
    entry = name and { op = name, in_nn = in_nn } or by_hand[f] and { op = by_hand[f] } or false
    if reads[f] then entry = { reads = reads[f] } end
    known[f] = entry
  end
  return entry
end

-- ---- the hook -----------------------------------------------------------------------------------

-- The stack of a C function in Lua 5.3, at a call its arguments. Above them is a value of the debug library.
local function stack_of(level)
  local list, n = {}, 0
  while true do
    local name, value = debug.getlocal(level + 1, n + 1)
    if not name then break end
    n = n + 1
    list[n] = value
  end
  list[n] = nil
  list.n = n - 1
  return list
end

-- The results are the values above the mark of lt_lua_mark_results, or the uppermost one.
local function results_in(stack)
  local first = stack.n
  while torch.is_tensor(stack[first]) do first = first - 1 end
  if stack[first] ~= 'several results' then first = stack.n - 1 end
  return table.move(stack, first + 1, stack.n, 1, { n = stack.n - first })
end

-- The arguments or results of the function for which a debug hook, which calls this one, runs. between:
-- the number of functions between the hook and this one (0).
local function transferred(event, between)
  local level = 3 + (between or 0)
  if _VERSION == 'Lua 5.3' then
    local stack = stack_of(level)
    return event == 'return' and results_in(stack) or stack
  end
  local info = debug.getinfo(level, 'r')
  local list = { n = info.ntransfer }
  for i = 1, list.n do
    local _, value = debug.getlocal(level, info.ftransfer + i - 1)
    list[i] = value
  end
  return list
end
M.transferred = transferred

local function has_tensor(list)
  for i = 1, list.n or #list do
    if torch.is_tensor(list[i]) or type(list[i]) == 'table' and torch.is_tensor(list[i][1]) then return true end
  end
  return false
end

local function add_call(self, call, results)
  if not has_tensor(results) then return end -- a size, a dtype, ...
  call.is_list = type(results[1]) == 'table'
  if call.is_list then results = results[1] end
  local flags = { varies = any(call.args, 'varies'), learned = any(call.args, 'learned') }
  call.results = {}
  for i = 1, results.n or #results do
    if torch.is_tensor(results[i]) then call.results[i] = new_value(self, results[i], 'result', flags) end
  end
  table.insert(self.calls, call)
end

-- ---- other functions ----------------------------------------------------------------------------

-- Whether a value of the recording that depends on an input is among the arguments.
local function receives_input(self, args)
  for i = 1, args.n do
    local value = torch.is_tensor(args[i]) and self.of_tensor[args[i]]
    if value and value.varies then return true end
  end
  return false
end

-- A call of a C function that is no operation: its new tensors may depend on inputs.
local function begin_foreign(self, f)
  local args = transferred('call', 1)
  if receives_input(self, args) then self.suspects[f] = debug.getinfo(3, 'n').name or '?' end
end

local function end_foreign(self, f)
  local results = transferred('return', 1)
  for i = 1, results.n do
    if torch.is_tensor(results[i]) and not self.of_tensor[results[i]] then self.foreign[results[i]] = self.suspects[f] end
  end
end

-- x[...] = value, which has no results.
local function add_assignment(self, args)
  table.insert(self.calls, { op = 'index_assign', args = args, results = {}, where = self.where(), no_grad = not torch.is_grad_enabled() })
end

local function hook_of(self)
  local pending, pending_f
  return function(event)
    local info = debug.getinfo(2, 'fS')
    local f = info.func
    if f == apply_own and self.in_place and event ~= 'return' then
      local _, class = debug.getlocal(2, 1)
      fail("%s: %s: '%s' is an autograd.Function; a program cannot have its derivative in Lua: write it with differentiable operations", self.caller, self.where(),
        class.__classname)
    end
    if info.what ~= 'C' then return end
    if event == 'return' then
      if self.suspects[f] then end_foreign(self, f) end
      if f ~= pending_f then return end
      pending_f = nil
      return add_call(self, pending, transferred(event))
    end
    local entry = entry_of(f)
    if not entry then
      if self.in_place then begin_foreign(self, f) end
      return
    end
    local args = transferred(event)
    if entry.op == 'index' and type(args[2]) == 'string' and args[2]:find '^_*%a[%w_]*$' and args[2] ~= 'None' and not self.fields[args[2]] then return end
    for i = 1, args.n do args[i] = recorded(self, args[i], 1) end
    if entry.op == 'index_assign' then
      if self.in_place then return add_assignment(self, args) end
      if any(args, 'varies') or any(args, 'learned') then
        fail('%s: %s: x[...] = value has no equivalent; use torch.where or torch.cat', self.caller, self.where())
      end
      return
    end
    if entry.reads then
      if any(args, 'varies') then
        fail("%s: %s: '%s' reads numbers that depend on the inputs, and computations in Lua with them cannot be recorded", self.caller, self.where(), entry.reads)
      end
      return
    end
    pending, pending_f = { op = entry.op, in_nn = entry.in_nn, args = args, where = self.where(), no_grad = not torch.is_grad_enabled() }, f
  end
end

-- ---- modules ------------------------------------------------------------------------------------

-- Hooks that note which module is running.
local function follow(module, stack)
  local handles = {}
  for path, child in module:named_modules() do
    local shown = ('%s (%s)'):format(path == '' and 'the module' or path, torch.type(child))
    handles[#handles + 1] = child:register_forward_pre_hook(function() stack[#stack + 1] = shown end, { prepend = true })
    handles[#handles + 1] = child:register_forward_hook(function() stack[#stack] = nil end)
  end
  return setmetatable(handles, { __close = function()
    for _, handle in ipairs(handles) do handle:remove() end
  end })
end

-- Tensors in nested tables, in order.
local function flatten(x, list)
  if torch.is_tensor(x) then
    list[#list + 1] = x
  elseif type(x) == 'table' then
    for _, entry in ipairs(x) do flatten(entry, list) end
  end
  return list
end
M.flatten = flatten

--- Records module(args...); `tensors` are the tensors in args, `names` their names. Recurrent
-- networks run layer by layer, because the operations of layers are known: cuDNN would compute a
-- whole network in one call.
local function without_cudnn()
  local cudnn = torch.backends.cudnn
  local before = cudnn.enabled
  cudnn.enabled = false
  return setmetatable({}, { __close = function() cudnn.enabled = before end })
end

-- Own operations in Lua are recorded as the operations of their implementation.
local function with_own_ops()
  local ops = torch.ops
  ops.__recording = ops.__recording + 1
  return setmetatable({}, { __close = function() ops.__recording = ops.__recording - 1 end })
end

function M.record(module, args, names, form)
  local stack = {}
  local self = setmetatable({ of_tensor = {}, foreign = {}, suspects = {}, values = {}, calls = {}, inputs = {}, outputs = {}, caller = form.caller, in_place = form.in_place,
    fields = { T = true, mT = true, data = true, H = true, mH = true } }, Recorder)
  function self.where() return stack[#stack] or 'the module' end
  if debug.gethook() then fail('%s: a call cannot be recorded while the program is stopped by a hook (a time limit, a debugger)', self.caller) end
  for name, tensor in module:named_parameters() do new_value(self, tensor, 'parameter', { name = name, learned = true }) end
  for name, tensor in module:named_buffers() do new_value(self, tensor, 'buffer', { name = name, learned = true }) end
  local flat = form.flatten or flatten
  local given = {}
  for i = 1, args.n or #args do flat(args[i], given) end
  for i, tensor in ipairs(given) do
    if self.of_tensor[tensor] then fail("%s: input '%s' is the same tensor as '%s'", self.caller, names[i], self.of_tensor[tensor].name) end
    self.inputs[i] = new_value(self, tensor, 'input', { name = names[i], varies = true })
  end
  local results
  local thread = coroutine.create(function()
    debug.sethook(hook_of(self), 'cr')
    results = table.pack(module(table.unpack(args, 1, args.n or #args)))
    debug.sethook()
  end)
  do
    local _ <close> = follow(module, stack)
    local _ <close> = torch.set_grad_enabled(self.in_place == true)
    local _ <close> = without_cudnn()
    local _ <close> = with_own_ops()
    local ok, message = coroutine.resume(thread)
    if not ok then error(message, 0) end
    if coroutine.status(thread) ~= 'dead' then fail('%s: the module yields, which cannot be recorded', self.caller) end
  end
  self.results = results
  for i = 1, results.n do
    for _, tensor in ipairs(flat(results[i], {})) do table.insert(self.outputs, value_of(self, tensor)) end
  end
  if #self.outputs == 0 then fail('%s: the module returns no tensors', self.caller) end
  return self
end

return M
