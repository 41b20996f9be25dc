-- Calls everything that the library offers in Lua with what it cannot take, and judges the words of the errors: every
-- function of every part of torch, every constructor, and every method of an object of every class.
--
-- An error is well told when it begins with the caller's line and is no message of Lua's own about the insides of the
-- library. run(body, share) returns a list of those that are not, { call =, message = }, and the number of errors looked at;
-- of the calls that it could make it makes that share, drawn at random (math.randomseed is the caller's).

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local nn = torch.nn

local M = {}

-- The caller of whatever is probed: a chunk whose name the messages must begin with.
local call = load('local f = ... return function(...) local results = table.pack(f(...)) return results end', '=(probe)')

local PLACE = '^%(probe%):%d+: '

-- What a message may not hold: Lua's own words for what went wrong inside, and names of ours.
local RAW = {
  'attempt to', '%[ltensor', "bad argument #", 'stack overflow', 'table index is nil', "'for' ", 'number has no integer',
  'fields_of', "'%?'", '%(local ', '%(upvalue ', '%(field ', 'invalid value %(at index', 'object expected', 'userdata expected',
  'string expected', 'number expected', 'table expected', 'function expected', 'Tensor expected', 'got no value',
}

function M.fault(message)
  if type(message) ~= 'string' then return 'no text' end
  if not message:find(PLACE) then return 'no line of the caller' end
  local text = message:gsub(PLACE, '', 1)
  for _, pattern in ipairs(RAW) do
    if text:find(pattern) then return 'Lua speaks: ' .. pattern end
  end
end

local function hostile()
  local list = {
    5, -1.5, 'no word', {}, { 'a', 'b' }, { no_name = 1 }, true, torch.ones(2, 3), torch.tensor { 1, 2 }, torch.ones(1, 1, 1, 1, 2, 1):bool(),
    nn.Linear(2, 3), function() end, torch.float32, torch.device 'cpu',
  }
  return list
end

local function shown(value)
  if torch.is_tensor(value) then return ('tensor[%s]'):format(table.concat(value.shape, ',')) end
  if type(value) == 'table' then
    local key = next(value)
    return key == nil and '{}' or ('{%s=%s}'):format(key, value[key])
  end
  if type(value) == 'userdata' then return torch.type(value) end
  if type(value) == 'string' then return ("'%s'"):format(value) end
  return type(value) == 'function' and 'function' or tostring(value)
end

local faults, looked, seen, part_of_all

-- Scopes that a call opened end at once: a guard that is dropped ends its scope when it is collected, in the midst of another call.
local function close_guards(results)
  for i = 1, results.n do
    local metatable = debug.getmetatable(results[i])
    if type(metatable) == 'table' and metatable.__name == 'guard' then metatable.__close(results[i]) end
  end
end

local function try(name, f, ...)
  if math.random() > part_of_all then return end
  local arguments = table.pack(...)
  local ok, message = pcall(call(f), ...)
  if ok then return close_guards(message) end
  looked = looked + 1
  local fault = M.fault(message)
  if not fault then return end
  local list = {}
  for i = 1, arguments.n do list[i] = shown(arguments[i]) end
  local text = ('%s(%s)'):format(name, table.concat(list, ', '))
  local key = name .. (type(message) == 'string' and message:gsub('^.-:%d+: ', ''):gsub('%d+', 'n') or '')
  if seen[key] then return end
  seen[key] = true
  faults[#faults + 1] = { call = text, message = tostring(message), fault = fault }
end

-- f with nothing, with one wrong value, and with a right one before the wrong one.
local function probe(name, f, self, dot)
  if self ~= nil then
    if dot then
      try(name .. ' with a dot', f)
      for _, value in ipairs { 5, 'no word', {}, true, torch.ones(2, 3), print } do try(name .. ' with a dot', f, value) end
    end
    try(name, f, self)
    for _, value in ipairs(hostile()) do try(name, f, self, value) end
    for _, value in ipairs(hostile()) do try(name, f, self, value, value) end
    for _, value in ipairs(hostile()) do try(name, f, self, nil, value) end
    return
  end
  try(name, f)
  try(name, f, nil)
  for _, value in ipairs(hostile()) do try(name, f, value) end
  for _, value in ipairs(hostile()) do try(name, f, value, value) end
  for _, value in ipairs(hostile()) do try(name, f, torch.ones(2, 3), value) end
  for _, value in ipairs(hostile()) do try(name, f, 2, value) end
  for _, value in ipairs(hostile()) do try(name, f, 2, 3, value) end
  for _, value in ipairs(hostile()) do try(name, f, nn.Linear(2, 3), value) end
  for _, value in ipairs(hostile()) do try(name, f, nn.Linear(2, 3):parameters(), value) end
  for _, value in ipairs(hostile()) do try(name, f, nn.Linear(2, 3):parameters(), { lr = value }) end
end

-- Writes files, works on other processes, or changes what the tests after it see.
local SKIPPED = {
  save = true, export_chrome_trace = true,
  fork_worker = true, set_num_threads = true, set_default_dtype = true, set_default_device = true, set_printoptions = true,
  manual_seed = true, seed = true, _set_loading = true, set_default_tensor_type = true, set_flush_denormal = true,
}

-- Classes whose objects one can make.
local function is_class(value)
  return type(value) == 'table' and rawget(value, '__classname') ~= nil and (getmetatable(value) or {}).__call ~= nil
end

local function sorted_names(...)
  local names, known = {}, {}
  for _, t in ipairs { ... } do
    for name in next, t do
      if type(name) == 'string' and not known[name] then names[#names + 1], known[name] = name, true end
    end
  end
  table.sort(names)
  return names
end

-- The public functions and classes of a part of torch.
function M.part(prefix, part, where)
  for _, name in ipairs(sorted_names(part, rawget(part, '__names') or {}, where or {})) do
    local value = part[name]
    if name:sub(1, 1) ~= '_' and not SKIPPED[name] and (type(value) == 'function' or is_class(value)) then
      probe(prefix .. '.' .. name, value)
    end
  end
end

-- Calls the methods of the object that its class and the parents of the class define.
function M.methods(object, prefix)
  local metatable = getmetatable(object)
  local class, done = metatable.__class or metatable.__index, {}
  while type(class) == 'table' do
    for _, name in ipairs(sorted_names(class)) do
      local method = rawget(class, name)
      local public = name == 'forward' or checked.is_public(name)
      if public and not done[name] and not SKIPPED[name] and type(method) == 'function' and debug.getlocal(checked.original(method), 1) == 'self' then
        done[name] = true
        probe(prefix .. ':' .. name, method, object, name ~= 'forward')
      end
    end
    class = rawget(class, 'super')
  end
end

-- Calls the object itself.
function M.calls(object, prefix)
  probe(prefix, object)
end

function M.run(body, share)
  faults, looked, seen, part_of_all = {}, 0, {}, share or 1
  body(M)
  return faults, looked
end

return M
