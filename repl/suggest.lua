-- Suggestions for the messages of Lua's errors: the nearest name, or the Lua spelling of Python.
--
-- The candidates are the members of the object that the source line names, the locals and the
-- globals, all read without running code. A scope has get(name), which returns a local's value and
-- whether it exists, and names(). May use repl.errors, repl.edit.values and torch through
-- package.loaded. Python is read by repl.python.

local errors = require 'repl.errors'
local later = require 'repl.later'
local python, values = later 'repl.python', later 'repl.edit.values'

local suggest = {}

-- ---- scopes --------------------------------------------------------------------------------

-- The locals of a frame of a report (nil: none), then those of `outer` (nil: none).
function suggest.scope(frame, outer)
  local names = frame and frame.names or {}
  local scope = {}
  function scope:get(name) -- luacheck: ignore self
    for index = #names, 1, -1 do
      if names[index] == name then return frame.values[index], true end
    end
    if outer then return outer:get(name) end
    return nil, false
  end
  function scope:names() -- luacheck: ignore self
    return table.move(names, 1, #names, 1, outer and outer:names() or {})
  end
  return scope
end

-- ---- sentences -----------------------------------------------------------------------------

-- "; did you mean 'x'?" with the most similar name, or nil.
local function near(name, names)
  local nearest = errors.nearest(name, names)
  return nearest and nearest ~= name and ("did you mean '%s'?"):format(nearest) or nil
end

-- The owner in words: "torch.nn", or its text in the source with its class.
local function title(owner, text)
  for name, loaded in next, package.loaded do
    if rawequal(loaded, owner) and type(name) == 'string' and name ~= '_G' then return name end
  end
  local metatable = type(owner) == 'userdata' and debug.getmetatable(owner)
  local class = type(metatable) == 'table' and rawget(metatable, '__name')
  return type(class) == 'string' and ('%s (%s)'):format(text, class) or text
end

-- "torch.nn has no field 'Liner'; did you mean 'Linear'?", or nil if the owner is unknown.
local function field_sentence(state, name, line, kind)
  local owner, text = values.owner_of(state, line, name)
  if owner == nil then
    -- the object of an expression's result is unknown; most methods are also functions of torch
    local torch = kind == 'method' and package.loaded.torch or nil
    return torch and near(name, values.members(torch, ''))
  end
  local sentence = ("%s has no %s '%s'"):format(title(owner, text), kind, name)
  local hint = near(name, values.members(owner, ''))
  return hint and sentence .. '; ' .. hint or sentence
end

-- A sentence about a tensor where Lua needs a number, text, a method or the function of a loop; nil
-- for other messages.
local function tensor_sentence(message, line)
  local needs = message:find 'number expected, got Tensor' or message:find 'string expected, got Tensor'
    or message:find "invalid value %(userdata%) at index %d+ in table for 'concat'"
  if needs then return 'x:item() is the number of a tensor with one element, tostring(x) the text of any' end
  local called = message:match 'attempt to call a ([%w.]+) value %(for iterator'
  if _VERSION == 'Lua 5.3' and line and line:find '^%s*for%s.*%sin%s' then called = message:match 'attempt to call a ([%w.]+) value$' end
  if called == 'Tensor' or called == 'torch.Size' or called == 'table' then return 'write for i, value in ipairs(x) do' end
  local method = message:match "attempt to call a %S+ value %(method '([%a_]+)'%)"
  if method and values.is_tensor_field(method) then return ('%s is a field of tensors: write x.%s'):format(method, method) end
end

-- The counterparts of Python's modules, by the global name that scripts use.
local counterparts = {
  copy = 'net:deepcopy() copies a module, x:clone() a tensor, torch.save and torch.load a state dict',
  np = 'torch has most functions of NumPy under the same names; torch.load reads .npy files',
  pickle = 'torch.save and torch.load store values in files',
  plt = 'torch.utils.plot draws lines, bars and images',
  tqdm = 'torch.utils.progress(loader) shows the progress of a loop',
}

-- A sentence about a misspelled name in the message, or about Python's spelling; nil if there is
-- none. state: {scope, environment}; line: the source line, or nil; refused: the text that the
-- compiler has refused, as {text, number of the line}, or nil.
function suggest.sentence(state, message, line, refused)
  if refused then return python.hint(state, refused.text, refused.number) end
  local lua = line and python.may_cause(message) and python.runtime_hint(state, line, message)
  if lua then return lua end
  local sentence = tensor_sentence(message, line)
  if sentence then return sentence end
  local name = message:match "nil value %(global '([^']+)'%)"
  if counterparts[name] then return counterparts[name] end
  if name then
    local names = state.scope:names()
    for key in next, state.environment do
      if type(key) == 'string' then names[#names + 1] = key end
    end
    table.sort(names)
    return near(name, names)
  end
  local kind
  kind, name = message:match "nil value %((%a+) '([^']+)'%)"
  if kind ~= 'field' and kind ~= 'method' then return nil end
  return field_sentence(state, name, line or '', kind)
end

-- A sentence about the path of fields, of which a cell consists and which has the value nil; nil if
-- it is defined.
function suggest.undefined(state, path)
  local owner, field = path:match '^(.+)%.([%w_]+)$'
  if not owner then
    if select(2, state.scope:get(path)) then return nil end
    if python.constant(path) then return ('%s is not defined; in Lua: %s'):format(path, python.constant(path)) end
    local hint = suggest.sentence(state, ("nil value (global '%s')"):format(path))
    return hint and ('%s is not defined; %s'):format(path, hint) or path .. ' is not defined'
  end
  local value = values.of_path(state, owner)
  if value == nil then return nil end
  local members = values.members(value, '')
  for _, member in ipairs(members) do
    if member == field then return nil end -- as a parameter that is absent
  end
  local hint = near(field, members)
  if type(value) == 'userdata' and not hint then return nil end
  local sentence = ('%s has no field %s'):format(owner, field)
  return hint and sentence .. '; ' .. hint or sentence
end

return suggest
