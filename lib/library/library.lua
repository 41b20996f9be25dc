-- library.lua - torch.library: operations that a program defines. Core registers them
-- (src/core/own/) and records their derivatives; lib/library/definition.lua holds the functions of
-- an operation, lib/library/ops.lua is torch.ops.

--[=[ arguments
qualname: Name of the operation, with its namespace: `'myops::axpy'`.
schema: Arguments and results: `'(Tensor x, Tensor y, *, Scalar a=1) -> Tensor'`, in the language of src/ops/README.md.
tags: Accepted for compatibility; it has no effect.
lib: Accepted for compatibility; it has no effect.
name: Name of the operation, with its namespace: `'myops::axpy'`.
fn: The implementation; it receives the arguments in the order of the schema and returns the results.
func: The function; it receives the arguments in the order of the schema and returns the results.
mutates_args: Names of the arguments that the implementation writes to, `{}` for none.
device_types: `'cpu'`, `'cuda'`, or a table of both; nil: all devices.
types: `'default'`, `'cpu'`, `'cuda'`, or a table of them.
op: Name of the operation, or the operation itself.
backward: Function `backward(ctx, grads...)` that returns a gradient, or nil, for each argument that is not keyword-only.
setup_context: Function `setup_context(ctx, inputs, output)`, called after the implementation; with keyword-only arguments `setup_context(ctx, inputs, keyword_only_inputs, output)`.
ns: The namespace of the operations.
kind: `'DEF'`, `'FRAGMENT'` or `'IMPL'`; all are the same.
args: Table of the arguments of a call.
kwargs: Table of the named arguments of the call.
test_utils: Names of the tests to run; nil: all.
raise_exception: Whether a failed test is an error; otherwise its message is in the result.
atol: Absolute tolerance.
rtol: Relative tolerance.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local definition = require 'torch.library.definition'
local fail = require 'torch.support.fail'
require 'torch.library.ops' -- completion shows the defined operations

local library = {}

-- ---- definitions --------------------------------------------------------------------------------

--- Declares an operation without an implementation; add it by impl or register_kernel.
function library.define(qualname, schema) definition.define('define', qualname, schema) end

--- Sets the implementation for types of devices.
function library.impl(qualname, types, func)
  definition.set_kernel('impl', qualname, types, func)
end

--- Sets the implementation for types of devices; nil: all.
function library.register_kernel(op, device_types, func)
  definition.set_kernel('register_kernel', op, device_types == nil and 'default' or device_types, func)
end

--- Sets the function that creates results of the right sizes, dtypes and devices without computing
--- them.
function library.register_fake(op, func) definition.set_fake('register_fake', op, func) end

--- Sets the derivative of an operation.
function library.register_autograd(op, backward, setup_context)
  definition.set_backward('register_autograd', op, backward, setup_context)
end

--- Sets the function that computes a whole batch in torch.func.vmap: func(info, in_dims, ...)
--- receives info.batch_size, the batch dimension of each argument (from 1, false for none) and the
--- arguments in the order of the schema; it returns the results, or a table of them, and their
--- out_dims. Without it, the operation runs sample by sample.
function library.register_vmap(op, func) definition.set_vmap('register_vmap', op, func) end

-- ---- custom_op ----------------------------------------------------------------------------------

local CustomOpDef = { __name = 'CustomOpDef' }
CustomOpDef.__index = CustomOpDef

function CustomOpDef:__call(...) return self._opoverload(...) end
function CustomOpDef:__tostring() return ('<CustomOpDef(%s)>'):format(self._qualname) end

--- Sets the implementation for types of devices.
function CustomOpDef:register_kernel(device_types, fn)
  definition.set_kernel('register_kernel', self, device_types == nil and 'default' or device_types, fn)
end

--- Sets the function that creates results without computing them.
function CustomOpDef:register_fake(fn) definition.set_fake('register_fake', self, fn) end

--- Sets the derivative.
function CustomOpDef:register_autograd(backward, setup_context)
  definition.set_backward('register_autograd', self, backward, setup_context)
end

--- Sets the function that computes a whole batch in vmap.
function CustomOpDef:register_vmap(func) definition.set_vmap('register_vmap', self, func) end

-- The schema with (a!) at the arguments that are written.
local function with_writes(name, schema, mutates)
  if mutates == 'unknown' then fail("custom_op(): mutates_args = 'unknown' is not supported; name the arguments that %s writes to", name) end
  for i, argument in ipairs(mutates) do
    local found
    if type(argument) ~= 'string' then fail('custom_op(): mutates_args must be a table of names, but entry %d is of type %s', i, torch.type(argument)) end
    schema, found = schema:gsub('Tensor(%??)(%s+' .. argument:gsub('%p', '%%%0') .. ')%f[^%w_]', ('Tensor(%s!)%%1%%2'):format(string.char(96 + math.min(i, 26))), 1)
    if found == 0 and not schema:find('%!%)%??%s+' .. argument .. '%f[^%w_]') then
      fail("custom_op(): mutates_args has '%s', which is no Tensor of the schema %s", argument, schema)
    end
  end
  return schema
end

--- Defines an operation with its implementation, and returns it: an object that is called like
--- torch.ops.<namespace>.<name>, with methods register_kernel, register_fake,
--- register_vmap and register_autograd.
function library.custom_op(options)
  local name, fn, schema = options.name, options.fn, options.schema
  if not schema then
    fail("custom_op(): the argument 'schema' is missing: Lua has no types of arguments; pass schema = '(Tensor x) -> Tensor'")
  end
  definition.define('custom_op', name, with_writes(name, schema, options.mutates_args))
  definition.set_kernel('custom_op', name, options.device_types == nil and 'default' or options.device_types, fn)
  local space, short = name:match '^(.-)::(.*)$'
  return setmetatable({ _qualname = name, _opoverload = torch.ops[space][short] }, CustomOpDef)
end

-- ---- Library ------------------------------------------------------------------------------------

local Library = { __name = 'Library' }
Library.__index = Library

--- Declares an operation of the namespace: 'name(arguments) -> results'.
function Library:define(schema)
  local name, rest = schema:match '^%s*([%w_]+)%s*(%(.*)$'
  if not name then fail("Library.define(): expected 'name(arguments) -> results', got '%s'", schema) end
  local qualname = self.ns .. '::' .. name
  definition.define('Library.define', qualname, rest)
  table.insert(self.defined, qualname)
  return qualname
end

local KEYS = { CPU = 'cpu', CUDA = 'cuda', CompositeExplicitAutograd = 'default', CompositeImplicitAutograd = 'default', [''] = 'default', default = 'default' }

--- Sets an implementation of an operation of the namespace.
function Library:impl(name, fn, dispatch_key)
  local key = KEYS[dispatch_key]
  if not key then
    fail("Library.impl(): the dispatch key '%s' is not supported: CPU, CUDA and CompositeExplicitAutograd are; for derivatives call torch.library.register_autograd",
      tostring(dispatch_key))
  end
  definition.set_kernel('Library.impl', name:find('::', 1, true) and name or self.ns .. '::' .. name, key, fn)
end

--- Removes the operations that this library defined.
function Library:_destroy()
  for _, name in ipairs(self.defined) do definition.remove(name) end
  self.defined = {}
end

declare.methods(Library, "define(self, string schema, *, any? tags) impl(self, string name, function fn, string dispatch_key='')",
  function(value) return getmetatable(value) == Library end)

--- The operations of a namespace: a library with define and impl.
function library.Library(ns, kind)
  if kind ~= 'DEF' and kind ~= 'FRAGMENT' and kind ~= 'IMPL' then
    fail("Library(): kind must be 'DEF', 'FRAGMENT' or 'IMPL', got '%s'", kind)
  end
  if not ns:find '^[%a_][%w_]*$' then fail("Library(): the namespace '%s' is not a name", ns) end
  return setmetatable({ ns = ns, kind = kind, defined = {} }, Library)
end

--- Tests an operation on the arguments of a call: whether it changes arguments that it does not
--- declare, whether the fake function agrees with the results, whether it has a derivative, and
--- whether torch.compile changes the results. Returns a table of test names with 'SUCCESS' or the
--- message.
function library.opcheck(options) return require 'torch.library.opcheck'(options) end

declare.functions(library, [[
  define(string qualname, string schema, *, any? lib, any? tags)
  impl(string qualname, string|list types, function func, *, any? lib)
  register_kernel(any op, string|list? device_types, function func, *, any? lib)
  register_fake(any op, function func, *, any? lib)
  register_vmap(any op, function func, *, any? lib)
  register_autograd(any op, function backward, *, function? setup_context, any? lib)
  Library(string ns, string kind='FRAGMENT')
]])
declare.methods(CustomOpDef, [[
  register_kernel(self, string|list? device_types, function fn) register_fake(self, function fn)
  register_vmap(self, function func)
  register_autograd(self, function backward, *, function? setup_context)
]], function(value) return getmetatable(value) == CustomOpDef end)
library.custom_op = declare.declare('custom_op(string name, function fn, *, any mutates_args, string|list? device_types, string? schema, any? tags)',
  library.custom_op, 'names')
library.opcheck = declare.declare('opcheck(any op, table args, table? kwargs, *, any? test_utils, boolean raise_exception=true, number? atol, number? rtol)',
  library.opcheck, 'names')

return library
