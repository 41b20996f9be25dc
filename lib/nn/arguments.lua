-- arguments.lua - the arguments of a layer's constructor: by position, then by name in a last table.
--
-- signature('Conv2d', 'in_channels out_channels kernel_size', 'stride padding', {stride = 1, padding = 0, bias = true})
-- gives a function that turns the arguments of init into one table. First the names that must be given, then the
-- optional ones that may also be given by position; the defaults name all that may be given by name. `false` as a
-- default may stand for "none". The `more` names are known, too, and nil when absent.

local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'
local is_named = kinds.is_named

local function read_named(what, values, named, order, known)
  for name, value in pairs(named) do
    if not known[name] then kinds.refuse_name(what, name, kinds.all_names(order, known)) end
    if values[name] ~= nil then fail("%s() got multiple values for argument '%s'", what, name) end
    values[name] = value
  end
end

-- Whether a table holds values in a row and named ones, as in nn.MaxPool2d {2, padding = 1}.
local function is_mixed(value)
  if type(value) ~= 'table' or getmetatable(value) ~= nil or #value == 0 then return false end
  local name = next(value, #value)
  return type(name) == 'string' and name ~= 'n'
end

-- The values of such a table, then a table of the named ones.
local function parted(mixed)
  local values, named, n = {}, {}, #mixed
  for key, value in pairs(mixed) do
    if math.type(key) == 'integer' and key >= 1 and key <= n then values[key] = value else named[key] = value end
  end
  values[n + 1] = named
  return table.unpack(values, 1, n + 1)
end

return function(what, required, positional, defaults, more)
  required, positional, defaults = kinds.words(required), kinds.words(positional or ''), defaults or {}
  local order = table.move(positional, 1, #positional, #required + 1, table.move(required, 1, #required, 1, {}))
  local known = {}
  for _, name in ipairs(order) do known[name] = true end
  for name in pairs(defaults) do known[name] = true end
  for _, name in ipairs(kinds.words(more or '')) do known[name] = true end

  declare.constructors[what] = { order = order, required = #required, known = known }

  local function read(...)
    local n = select('#', ...)
    local values, named = {}, nil
    if n > 0 then
      local last = select(n, ...)
      if is_named(last) then named, n = last, n - 1 end
      if n == 1 and is_mixed(last) then return read(parted(last)) end
    end
    if n > #order then
      fail('%s() takes from %d to %d positional arguments but %d were given', what, #required, #order, n)
    end
    for i = 1, n do values[order[i]] = (select(i, ...)) end
    if named then read_named(what, values, named, order, known) end
    for _, name in ipairs(required) do
      if values[name] == nil then fail("%s() missing 1 required positional argument: '%s'", what, name) end
    end
    for name, value in pairs(defaults) do
      if values[name] == nil then values[name] = value end
    end
    kinds.check_named(what, values, defaults)
    return values
  end

  return read
end
