-- argument_checks.lua - checks arguments on entry to the library's Lua functions, so that a wrong
-- one is reported at the line of the user's code instead of a line inside the library.
--
-- The kind of an argument follows from the parameter's name in the function's definition: `tensor`
-- is always a Tensor. The table `declared` lists them, per function if a name has several meanings.
-- Functions on the path of every step (forward, update rules of optimizers) are not wrapped; the
-- functions that they call check.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local checked = {}

-- Kinds by parameter name, or by 'function.parameter'.
local declared = {
  tensor = 'Tensor', input = 'Tensor', module = 'Module', fn = 'function', hook = 'function', dict = 'table', options = 'named?',
  path = 'string', optimizer = 'Optimizer', closure = 'function?', device = 'device|named?', outputs = 'Tensor|table',
  prefix = 'string?', recurse = 'boolean?', remove_duplicate = 'boolean?', keep_vars = 'boolean?', strict = 'boolean?', assign = 'boolean?', set_to_none = 'boolean?',
  prepend = 'boolean?', with_kwargs = 'boolean?', always_call = 'boolean?', persistent = 'boolean?', state_dict = 'table', target = 'string', body = 'function?', group = 'any', layer = 'Module',
  ['register_buffer.tensor'] = 'any?', ['extend.layers'] = 'any', ['update.modules'] = 'table', ['to.device'] = 'any?', values = 'table',
  ['each_rate.f'] = 'function', ['each_base.f'] = 'function', rates = 'table', ['is_better.value'] = 'number', ['get_parameter.target'] = 'string', sample_shape = 'any?',
  new_scale = 'number|Tensor?', metric = 'number|Tensor', new_factor = 'number', new_interval = 'integer',
  ['scale.outputs'] = 'Tensor|table', ['to_empty.device'] = 'device',
  ['type.dst_type'] = 'dtype?', ['log_prob.value'] = 'number|boolean|Tensor', ['cdf.value'] = 'number|Tensor', ['icdf.value'] = 'number|Tensor',
  token = 'any', ['default_collate.list'] = 'table', ['random_split.dataset'] = 'table|userdata', ['random_split.lengths'] = 'table', tokens = 'table', ['read.path'] = 'string', ['expand.shape'] = 'any', requires_grad = 'boolean?', on = 'boolean?', modules = 'table', layers = 'table', position = 'integer', tensors = 'tensors', epoch = 'integer?', ['step.epoch'] = 'number?', sequences = 'tensors', ['no_sync.fn'] = 'function?', ['join.fn'] = 'function?', ['join.options'] = 'function|named?',
}

-- Methods on the path of every step, and methods that take a class or any value as self.
local left_alone = {}
for name in ([[init forward extend is_instance update update_batch state_of columns key new_state tensor_list start check
  setup make derive constrain declaration parametrize extended_shape expanded_base alike cached_list check_list
  same_list check_betas check_not_negative declare full_like rate rounded set_rate check_optimizer per_group is_unmade is_layer
  describe rows]]):gmatch '%S+' do left_alone[name] = true end

-- Declarations of variadic methods, which have no list of parameters.
local declared_methods = {
  sample = 'sample(self, any? sample_shape, any ...)', rsample = 'rsample(self, any? sample_shape, any ...)',
  expand = 'expand(self, any? batch_shape, any ...)', log_prob = 'log_prob(self, any? value)', cdf = 'cdf(self, any? value)',
  icdf = 'icdf(self, any? value)', entropy = 'entropy(self)', enumerate_support = 'enumerate_support(self, boolean expand=true)',
  log_abs_det_jacobian = 'log_abs_det_jacobian(self, any? x, any? y)', join_hook = 'join_hook(self, any ...)',
  forward = 'forward(self, any ...)', to = 'to(self, any ...)', cuda = 'cuda(self, any ...)', no_sync = 'no_sync(self, any ...)', join = 'join(self, any ...)',
}

--- True for the name of a public method. Other methods are called by the library's classes only.
function checked.is_public(name) return name:sub(1, 1) ~= '_' and not left_alone[name] end

-- Methods and tables of the library's classes that users do not use.
local internal = {}
for name in ([[update_batch state_of columns key new_state tensor_list setup derive constrain declaration declare parametrize extended_shape
  expanded_base alike cached_list check_list same_list check_betas check_not_negative full_like rate rounded set_rate check_optimizer per_group
  is_unmade is_layer getters lazies parameter_names has_capturable]]):gmatch '%S+' do internal[name] = true end

--- True for a member of a class that help and completion do not show: a function or table of the
--- library that only its own classes use. Methods of the user's classes are shown.
function checked.is_internal(name, member)
  if not internal[name] then return false end
  return type(member) ~= 'function' or debug.getinfo(member, 'S').source:sub(1, 10) == '=[ltensor '
end

local originals = setmetatable({}, { __mode = 'k' })

-- The unchecked function for each checked one.
checked.originals = originals

-- The unchecked forward for each checked forward with positional arguments of any kind. A call with
-- one value that is not a table bypasses the argument reader.
checked.plain_forwards = setmetatable({}, { __mode = 'k' })

--- The unchecked function of a checked one; other functions unchanged.
function checked.original(f) return originals[f] or f end

-- The declared kind of a parameter; nil: any value.
local function kind_of(what, parameter, declarations)
  local name = what:match '[%w_]+$'
  return declarations and declarations[name .. '.' .. parameter] or declared[name .. '.' .. parameter]
    or declarations and declarations[parameter] or declared[parameter]
end

local function takes_any_number(f) return debug.getinfo(f, 'u').isvararg end

local function read_by_locals(what, f, declarations, class, is_self)
  return require('torch.support.arguments').of_locals(what, f, function(parameter) return kind_of(what, parameter, declarations) end, class, is_self)
end

--- Wraps f to check its arguments; a variadic f is unchanged.
function checked.wrap(what, f, declarations) return takes_any_number(f) and f or read_by_locals(what, f, declarations) end

--- Wraps the functions of a library module in place. declarations: kinds in addition to `declared`.
function checked.functions(module, declarations)
  for name, f in pairs(module) do
    if type(f) == 'function' and name:sub(1, 1) ~= '_' and not originals[f] and debug.getinfo(f, 'S').what ~= 'C' then
      module[name] = checked.wrap(name, f, declarations)
    end
  end
  return module
end

--- Raises the error of a method call with a wrong self.
function checked.refuse_self(what, class, self)
  local name = class == 'Tensor' and 'x' or class == 'FunctionCtx' and 'ctx' or what == 'forward' and 'net' or class:gsub('^_*', ''):lower()
  fail("%s(): argument 'self' must be %s, not %s (a method is called with a colon: %s:%s())", what,
    kinds.with_article(class), kinds.described(self), name, what)
end

--- Wraps a method to check self and the arguments.
function checked.method(class, what, f, is_self, declarations)
  if not takes_any_number(f) then return read_by_locals(what, f, declarations, class, is_self) end
  local text = declared_methods[what]
  return text and require('torch.support.arguments').method(class, text, f, is_self) or f
end

--- For a forward that is not wrapped: raises an error unless input is a tensor.
function checked.input(self, input, name)
  if torch.is_tensor(input) then return end
  fail("%s.forward(): argument '%s' must be a Tensor, not %s", torch.type(self), name or 'input', kinds.described(input))
end

-- True for an object of a class of torch.support.class.
local function is_object(value)
  local metatable = type(value) == 'userdata' and getmetatable(value)
  return type(metatable) == 'table' and metatable.__class ~= nil
end

-- Wraps a forward that takes any values.
local function checked_forward(class, f)
  if takes_any_number(f) then return checked.method(class, 'forward', f, is_object) end
  local wrapped = require('torch.support.arguments').of_locals('forward', f, function() return nil end, class)
  checked.plain_forwards[wrapped] = f
  return wrapped
end

--- The value that a library class stores when f is assigned to its field `name`: a checked method
-- if it is a public method.
function checked.member(class, name, f)
  if type(f) ~= 'function' or type(name) ~= 'string' or name:sub(1, 1) == '_' then return f end
  if left_alone[name] and name ~= 'forward' or debug.getlocal(f, 1) ~= 'self' or originals[f] then return f end
  if debug.getinfo(f, 'S').source:sub(1, 10) ~= '=[ltensor ' then return f end
  if name == 'forward' then return checked_forward(class, f) end
  return checked.method(class, name, f, is_object)
end

--- Wraps the methods of a metatable in place.
function checked.methods(class, name, declarations)
  local function is_self(value) return debug.getmetatable(value) == class end
  for key, f in pairs(class) do
    if type(f) == 'function' and key:sub(1, 1) ~= '_' and debug.getlocal(f, 1) == 'self' then
      class[key] = checked.method({ __classname = name }, key, f, is_self, declarations)
    end
  end
  return class
end

return checked
