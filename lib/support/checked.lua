-- checked.lua - functions of the library that look at their arguments before they begin: a wrong one is named at the
-- line of the user's code, where otherwise Lua would speak of the insides of the library.
--
-- What an argument must be follows from its name in the function's own list of parameters: `tensor` is a Tensor wherever
-- it stands. The table `declared` says it once, and by function where a name means several things. Functions that run at
-- every step (forward, an optimizer's rules) are left as they are: what they call checks.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'
local check, fits = kinds.check, kinds.fits

local checked = {}

-- Kinds by the name of the parameter, or by function and parameter.
local declared = {
  tensor = 'Tensor', input = 'Tensor', module = 'Module', fn = 'function', hook = 'function', dict = 'table', options = 'named?',
  path = 'string', optimizer = 'Optimizer', closure = 'function?', device = 'device|named?', outputs = 'Tensor|table',
  prefix = 'string|named?', recurse = 'boolean|named?', target = 'string', body = 'function?', group = 'any', layer = 'Module',
  ['register_buffer.tensor'] = 'any?', ['extend.layers'] = 'any', ['update.modules'] = 'table', ['to.device'] = 'any?', values = 'table',
  ['zero_grad.options'] = 'boolean|named?', ['state_dict.options'] = 'table?', ['each_rate.f'] = 'function', ['each_base.f'] = 'function', rates = 'table', ['is_better.value'] = 'number', ['get_parameter.target'] = 'string', sample_shape = 'any?',
  new_scale = 'number|Tensor?', metric = 'number|Tensor', ['set_growth_factor.value'] = 'number', ['set_backoff_factor.value'] = 'number',
  ['set_growth_interval.value'] = 'integer', ['scale.outputs'] = 'Tensor|table', ['to_empty.options'] = 'any', ['load_state_dict.options'] = 'any?',
  ['type.dtype'] = 'dtype?', ['log_prob.value'] = 'number|boolean|Tensor', ['cdf.value'] = 'number|Tensor', ['icdf.value'] = 'number|Tensor',
  token = 'any', ['default_collate.list'] = 'table', ['random_split.dataset'] = 'table|userdata', ['random_split.lengths'] = 'table', tokens = 'table', ['read.path'] = 'string', ['pop.name'] = 'string', ['expand.shape'] = 'any', requires_grad = 'boolean?', on = 'boolean?', ['append.layer'] = 'Module', modules = 'table', layers = 'table', position = 'integer', tensors = 'tensors', epoch = 'integer?', sequences = 'tensors', ['no_sync.fn'] = 'function?', ['join.fn'] = 'function?', ['join.options'] = 'function|named?',
}

-- Methods on the path of every step, and those that take a class or anything for self.
local left_alone = {}
for name in ([[init forward extend is_instance update update_batch state_of columns key new_state tensor_list start check
  named_children setup make derive]]):gmatch '%S+' do left_alone[name] = true end

--- Whether a method of that name is one for users: the others are called by our own classes alone.
function checked.is_public(name) return name:sub(1, 1) ~= '_' and not left_alone[name] end

local originals = setmetatable({}, { __mode = 'k' })

-- The functions that checked ones stand for.
checked.originals = originals

-- Of forward methods that take what stands in the row as it is: the functions that checked ones stand for. A call with one value
-- that is no table goes around the reader of arguments.
checked.plain_forwards = setmetatable({}, { __mode = 'k' })

--- The function that a checked one stands for; others are themselves.
function checked.original(f) return originals[f] or f end

-- { {position, name, kind}, ... } of the parameters that are declared, from the first on.
local function checks_of(what, f, first, declarations)
  local list, name = {}, what:match '[%w_]+$'
  for i = first, debug.getinfo(f, 'u').nparams do
    local parameter = debug.getlocal(f, i)
    local kind = declarations and declarations[name .. '.' .. parameter] or declared[name .. '.' .. parameter]
      or declarations and declarations[parameter] or declared[parameter]
    if kind then list[#list + 1] = { i, parameter, kind } end
  end
  return list
end

local function look(what, checks, ...)
  for i = 1, #checks do
    local at, name, kind = checks[i][1], checks[i][2], checks[i][3]
    local value = select(at, ...)
    if not fits(value, kind) then check(what, name, value, kind) end
  end
end

--- f, with its arguments looked at first.
function checked.wrap(what, f, declarations)
  local checks = checks_of(what, f, 1, declarations)
  if #checks == 0 then return f end
  local function wrapped(...)
    look(what, checks, ...)
    return f(...)
  end
  originals[wrapped] = f
  return wrapped
end

--- The functions of a module of ours, in place. declarations: kinds beside those that are declared for all.
function checked.functions(module, declarations)
  for name, f in pairs(module) do
    if type(f) == 'function' and name:sub(1, 1) ~= '_' and debug.getinfo(f, 'S').what ~= 'C' then
      module[name] = checked.wrap(name, f, declarations)
    end
  end
  return module
end

--- Raises that a method was called with something else for self.
function checked.refuse_self(what, class, self)
  local name = class == 'Tensor' and 'x' or what == 'forward' and 'net' or class:gsub('^_*', ''):lower()
  fail("%s(): argument 'self' must be %s, not %s (a method is called with a colon: %s:%s())", what,
    kinds.with_article(class), kinds.described(self), name, what)
end

--- A method of a class, which is named, with its self and its arguments looked at first.
function checked.method(class, what, f, is_self, declarations)
  local checks = checks_of(what, f, 2, declarations)
  local function wrapped(self, ...)
    if not is_self(self) then checked.refuse_self(what, class, self) end
    if #checks > 0 then look(what, checks, self, ...) end
    return f(self, ...)
  end
  originals[wrapped] = f
  return wrapped
end

--- Of a forward that looks at its input itself: that it is a tensor.
function checked.input(self, input, name)
  if torch.is_tensor(input) then return end
  fail("%s.forward(): argument '%s' must be a Tensor, not %s", torch.type(self), name or 'input', kinds.described(input))
end

local function is_object(value) return type(value) == 'userdata' and not torch.is_tensor(value) end

-- A forward whose arguments are read by their names in the function; one that takes any number looks only whether it was called
-- with a colon.
local function checked_forward(class, f)
  if not debug.getinfo(f, 'u').isvararg then
    local wrapped = require('torch.support.arguments').method_of_locals(class, 'forward', f)
    checked.plain_forwards[wrapped] = f
    return wrapped
  end
  local function wrapped(self, ...)
    if not is_object(self) then checked.refuse_self('forward', class.__classname, self) end
    return f(self, ...)
  end
  originals[wrapped] = f
  return wrapped
end

--- What a class of ours shall hold for a function that is assigned to it: a checked method, where it is one that users call.
function checked.member(class, name, f)
  if type(f) ~= 'function' or type(name) ~= 'string' or name:sub(1, 1) == '_' then return f end
  if left_alone[name] and name ~= 'forward' or debug.getlocal(f, 1) ~= 'self' or originals[f] then return f end
  if debug.getinfo(f, 'S').source:sub(1, 10) ~= '=[ltensor ' then return f end
  if name == 'forward' then return checked_forward(class, f) end
  return checked.method(class.__classname, name, f, is_object)
end

--- The methods of a table that is the metatable of its objects, in place.
function checked.methods(class, name, declarations)
  local function is_self(value) return debug.getmetatable(value) == class end
  for key, f in pairs(class) do
    if type(f) == 'function' and key:sub(1, 1) ~= '_' and debug.getlocal(f, 1) == 'self' then
      class[key] = checked.method(name, key, f, is_self, declarations)
    end
  end
  return class
end

return checked
