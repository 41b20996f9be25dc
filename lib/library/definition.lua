-- definition.lua - the functions of an operation that is written in Lua. Core calls `run`, `fake`,
-- `setup` and `backward` of the table that own_define receives (src/lua/own/implementation.c).
--
-- Tensors of a call have numbers: the tensors of the arguments and of the results in order, entries
-- of lists one by one. A context stores saved arguments and results as numbers, and core saves the
-- tensors: so a graph that refers to the context does not refer to itself.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local C = torch._C
local is_tensor = torch.is_tensor

local M = {}

local defined = {} -- the table of each operation by its name

-- ---- the context of a derivative ----------------------------------------------------------------

local SAVED, INPUTS, OUTPUTS, FORM, LENGTHS = {}, {}, {}, {}, {}

local Context = { __name = 'FunctionCtx' }
local methods = {}

--- Keeps tensors for backward: arguments, results, or others; called once, in setup_context.
function methods:save_for_backward(...)
  local saved = table.pack(...)
  for i = 1, saved.n do
    if saved[i] ~= nil and not is_tensor(saved[i]) then
      fail('save_for_backward can only save variables, but argument %d is of type %s', i, torch.type(saved[i]))
    end
  end
  rawset(self, SAVED, saved)
end

-- The saved tensors: in setup_context themselves, in backward those that core has saved.
local function unpack_saved(context)
  local saved, list = rawget(context, SAVED) or { n = 0 }, {}
  local inputs, outputs = rawget(context, INPUTS), rawget(context, OUTPUTS)
  for i = 1, saved.n do
    local entry = saved[i]
    if math.type(entry) == 'integer' then entry = entry > 0 and inputs[entry] or outputs[-entry] end
    list[i] = entry
  end
  return list
end

Context.__fields, Context.__methods = { saved_tensors = true, needs_input_grad = true }, methods
function Context.__index(self, key)
  if key == 'saved_tensors' then return unpack_saved(self) end
  return methods[key]
end

local function index_of(list, tensor)
  for i = 1, #list do
    if list[i] == tensor then return i end
  end
end

-- Replaces the saved arguments and results by their numbers, which are returned in a list: results
-- are negative. A context that holds them in its fields would keep them alive itself.
local function number_saved(context, inputs, outputs)
  local saved, numbers = rawget(context, SAVED) or { n = 0 }, {}
  for i = 1, saved.n do
    local tensor = saved[i]
    local input = tensor ~= nil and index_of(inputs, tensor)
    local output = tensor ~= nil and not input and index_of(outputs, tensor)
    if input or output then
      saved[i] = input or -output
      numbers[#numbers + 1] = saved[i]
    end
  end
  return numbers
end

-- ---- calls of core ------------------------------------------------------------------------------

-- The shape of the arguments: the number of tensors of each that is or has tensors.
local function form_of(op, inputs)
  local form = {}
  for i, argument in ipairs(op.arguments) do
    if argument.kind:find '^Tensor%[%]' then
      form[i] = inputs[i] and #inputs[i] or 0
    elseif argument.kind:find 'Tensor' then
      form[i] = false
    end
  end
  return form
end

-- The tensors of the results, or their gradients, as the results are declared: a table for a Tensor[]. lengths: the
-- number of tensors of each, false for a Tensor. Returns a list and its length.
local function grouped(lengths, flat)
  local list, n, at = {}, 0, 0
  for _, length in ipairs(lengths) do
    n = n + 1
    if length then
      list[n] = table.move(flat, at + 1, at + length, 1, {})
    else
      list[n] = flat[at + 1]
    end
    at = at + (length or 1)
  end
  return list, n
end

local function setup(op, inputs, tensors, outputs, lengths)
  local context = setmetatable({ [FORM] = form_of(op, inputs), [LENGTHS] = lengths }, Context)
  if op.setup_context then
    local results = grouped(lengths, outputs)
    if #op.results == 1 then results = results[1] end
    if op.has_named then
      local positional, named = {}, {}
      for i, argument in ipairs(op.arguments) do
        if argument.named_only then named[argument.name] = inputs[i] else positional[i] = inputs[i] end
      end
      op.setup_context(context, positional, named, results)
    else
      op.setup_context(context, inputs, results)
    end
  end
  return context, number_saved(context, tensors, outputs)
end

-- One entry per tensor in the arguments, from one result of backward per argument.
local function flat_gradients(op, form, results)
  local list, n = {}, 0
  for i, argument in ipairs(op.arguments) do
    local count, result = form[i], results[i]
    local length = count or 1
    if count == nil then
      if result ~= nil then
        fail('%s: backward returned a gradient different from nil at position %d, but the argument %s is not a Tensor', op.name, i, argument.name)
      end
      length = 0
    elseif count and result ~= nil and (type(result) ~= 'table' or #result > count) then
      fail('%s: backward must return a table of %d gradients for the argument %s, got %s', op.name, count, argument.name, torch.type(result))
    elseif not count and result ~= nil and not is_tensor(result) then
      fail('%s: backward must return a Tensor or nil as gradient %d, got %s', op.name, i, torch.type(result))
    end
    for k = 1, length do
      local gradient = result
      if count and result then gradient = result[k] end
      list[n + k] = gradient or false
    end
    n = n + length
  end
  return list
end

local function needs_of(op, form, flat)
  local needs, at = {}, 0
  for i in ipairs(op.arguments) do
    needs[i] = false
    if form[i] == false then
      at = at + 1
      needs[i] = flat[at]
    elseif form[i] then
      needs[i] = table.move(flat, at + 1, at + form[i], 1, {})
      at = at + form[i]
    end
  end
  return needs
end

local function backward(op, context, flat_needs, inputs, outputs, gradients)
  local form = rawget(context, FORM)
  rawset(context, INPUTS, inputs)
  rawset(context, OUTPUTS, outputs)
  rawset(context, 'needs_input_grad', needs_of(op, form, flat_needs))
  for i = 1, #gradients do
    if gradients[i] == false then gradients[i] = nil end
  end
  local of_results, n = grouped(rawget(context, LENGTHS), gradients)
  local results = table.pack(op.derivative(context, table.unpack(of_results, 1, n)))
  rawset(context, INPUTS, nil)
  rawset(context, OUTPUTS, nil)
  while results.n > op.n_positional and results[results.n] == nil do results.n = results.n - 1 end
  if results.n ~= op.n_positional then
    fail('%s: backward returned an incorrect number of gradients (expected %d, got %d)', op.name, op.n_positional, results.n)
  end
  return flat_gradients(op, form, results)
end

-- The implementation for the device of the tensors: a GPU if one of them is on a GPU.
local function kernel_of(op, ...)
  local device
  for i = 1, select('#', ...) do
    local value = select(i, ...)
    if type(value) == 'table' then value = value[1] end
    if is_tensor(value) then
      device = value.device.type
      if device ~= 'cpu' then break end
    end
  end
  local kernel = op.kernels[device or 'cpu'] or op.kernels.default
  if not kernel and not device then kernel = op.kernels.cuda end
  if kernel then return kernel end
  if next(op.kernels) == nil then
    fail('%s: no implementation was registered; call torch.library.impl or torch.library.register_kernel', op.name)
  end
  fail("%s: no implementation was registered for the device type '%s'; call torch.library.register_kernel", op.name, device or 'cpu')
end

-- ---- definitions --------------------------------------------------------------------------------

--- Registers an operation with its schema, '(arguments) -> results'.
function M.define(what, qualname, schema)
  if not qualname:find '^[%a_][%w_]*::[%a_][%w_]*$' then
    fail("%s(): expected a name with a namespace, such as 'myops::axpy', got '%s'", what, qualname)
  end
  local op = { name = qualname, kernels = {} }
  function op.run(...) return kernel_of(op, ...)(...) end
  function op.fake(...) return op.fake_function(...) end
  function op.setup(...) return setup(op, ...) end
  function op.backward(...) return backward(op, ...) end
  C.own_define(qualname .. schema, op)
  op.arguments = C.own_arguments(qualname)
  op.results, op.n_positional, op.has_named = op.arguments.results, 0, false
  for _, argument in ipairs(op.arguments) do
    if argument.named_only then op.has_named = true else op.n_positional = op.n_positional + 1 end
  end
  defined[qualname] = op
end

--- Removes an operation that this program defined.
function M.remove(qualname)
  defined[qualname] = nil
  return C.own_remove(qualname)
end

--- The name of an operation: a name, the result of custom_op, or a function of torch.ops.
function M.name_of(what, op)
  if type(op) == 'string' then return op end
  if type(op) == 'table' and rawget(op, '_qualname') then return op._qualname end
  local name = type(op) == 'function' and require('torch.library.ops').__name_of(op)
  if not name then fail('%s(): expected the name of an operation, such as \'myops::axpy\', or an operation, got %s', what, torch.type(op)) end
  return name
end

local function find(what, given)
  local name = M.name_of(what, given)
  local op = defined[name]
  if not op then fail("%s(): no operation '%s' was defined by torch.library.define or custom_op", what, name) end
  return op
end

local TYPES = { default = 'default', cpu = 'cpu', cuda = 'cuda', CPU = 'cpu', CUDA = 'cuda', CompositeExplicitAutograd = 'default' }

--- Sets the implementation for device types.
function M.set_kernel(what, given, types, f)
  local op = find(what, given)
  for _, name in ipairs(type(types) == 'table' and types or { types }) do
    local key = TYPES[name]
    if not key then fail("%s(): unknown device type '%s'; it is 'cpu', 'cuda' or 'default'", what, tostring(name)) end
    op.kernels[key] = f
  end
end

--- Sets the function for results without values.
function M.set_fake(what, given, f)
  local op = find(what, given)
  op.fake_function = f
  C.own_set(op.name, 'fake')
end

--- Sets the derivative.
function M.set_backward(what, given, f, setup_context)
  local op = find(what, given)
  for _, argument in ipairs(op.arguments) do
    if argument.named_only and argument.kind:find 'Tensor' then
      fail('register_autograd(): %s has the keyword-only Tensor %s, for which backward could not return a gradient; make it positional', op.name, argument.name)
    end
  end
  C.own_set(op.name, 'backward')
  op.derivative, op.setup_context = f, setup_context
end

--- Sets the function that computes a whole batch of vmap.
function M.set_vmap(what, given, f) find(what, given).vmap = f end

--- The table of an operation in Lua; nil: it is written in C.
function M.of(name) return defined[name] end

--- The implementation of an operation in Lua for these arguments; nil: it is written in C.
function M.kernel(name, ...)
  local op = defined[name]
  return op and kernel_of(op, ...)
end

--- Whether an operation in Lua has the function: 'fake' or 'backward'; nil: it is written in C.
function M.has(name, what)
  local op = defined[name]
  if not op then return nil end
  if what == 'fake' then return op.fake_function ~= nil end
  return op.derivative ~= nil
end

return M
