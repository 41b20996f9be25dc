-- hub.lua - torch.hub for local folders: a folder with a file hubconf.lua, which returns a table of
-- functions that create models (and `dependencies`, a list of required modules). Nothing is
-- downloaded.

--[=[ arguments
repo_or_dir: Folder with a file `hubconf.lua`.
model: Name of the function.
]=]

local checked = require 'torch.support.argument_checks'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local outside = require 'torch.files.outside'

local hub = {}

-- The table of a folder's hubconf.lua. While it is loaded, and while it creates a model, require
-- finds modules in the folder.
local function entries_of(folder)
  local path = folder .. '/hubconf.lua'
  local file, message = outside.open(path, 'rb')
  if not file then fail('torch.hub: %s has no hubconf.lua (%s)', folder, message) end
  local text = file:read 'a'
  file:close()
  local chunk, problem = load(text, '@' .. path, 't')
  if not chunk then fail('torch.hub: %s', problem) end
  local entries = chunk()
  if type(entries) ~= 'table' then fail('torch.hub: %s must return a table of functions, not %s', path, kinds.described(entries)) end
  for _, name in ipairs(entries.dependencies or {}) do
    if not pcall(require, name) then fail('Missing dependencies: %s', name) end
  end
  return entries
end

local function within(folder, f, ...)
  local before = package.path
  package.path = folder .. '/?.lua;' .. folder .. '/?/init.lua;' .. before
  local results = table.pack(pcall(f, ...))
  package.path = before
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

local function entry(folder, model)
  local entries = entries_of(folder)
  local fn = entries[model]
  if type(fn) ~= 'function' then fail('Cannot find callable %s in hubconf', tostring(model)) end
  return fn
end

--- The names of the models of a folder, sorted.
function hub.list(repo_or_dir)
  local names = {}
  for name, value in pairs(within(repo_or_dir, entries_of, repo_or_dir)) do
    if type(value) == 'function' and type(name) == 'string' and name:sub(1, 1) ~= '_' then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

--- load(folder, model, ...): the result of the folder's function of that name.
function hub.load(repo_or_dir, model, ...)
  local arguments = table.pack(...)
  local last = arguments[arguments.n]
  if kinds.is_named(last) and last.source ~= nil then
    if last.source ~= 'local' then fail('Unknown source: "%s". Allowed values: "local".', tostring(last.source)) end
    local rest = {}
    for name, value in pairs(last) do
      if name ~= 'source' then rest[name] = value end
    end
    arguments[arguments.n] = next(rest) ~= nil and rest or nil
    if next(rest) == nil then arguments.n = arguments.n - 1 end
  end
  return within(repo_or_dir, function()
    return entry(repo_or_dir, model)(table.unpack(arguments, 1, arguments.n))
  end)
end

--- The comment above the function of that name in the folder's hubconf.lua.
function hub.help(repo_or_dir, model)
  local fn = within(repo_or_dir, entry, repo_or_dir, model)
  local info = debug.getinfo(fn, 'S')
  local lines, number, file = {}, 0, outside.open((info.source:gsub('^@', '')), 'rb')
  if not file then return '' end
  for line in file:lines() do
    number = number + 1
    lines[number] = line
  end
  file:close()
  local text, at = {}, info.linedefined - 1
  while at > 0 and lines[at]:match '^%s*%-%-' do
    table.insert(text, 1, (lines[at]:gsub('^%s*%-+%s?', '')))
    at = at - 1
  end
  return table.concat(text, '\n')
end

return checked.functions(hub, { repo_or_dir = 'string', model = 'string' })
