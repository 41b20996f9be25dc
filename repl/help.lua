-- `?name`: what a name is and how it is called.
--
-- Ops come from the declarations (torch._docs: signature, doc and more); Lua functions from the
-- comment above them. May use repl.complete and repl.echo.

local echo = require 'repl.echo'

local help = {}

local overview = [[
A cell is Lua; the value of its last expression is shown, and its top-level locals live on.
  x;            runs without showing the value        _, __, Out[n], In[n]   earlier values and cells
  ?name name?   help        ??name   source            Tab    completes names, fields and paths
  !command      runs a shell command, {expr} filled in  Ctrl-C stops a running cell
  %name         a magic: ]]

-- The documentation of the op that `name` (torch.sum, x:sum, sum) speaks of.
local function documented(name)
  local torch = package.loaded.torch
  local docs = type(torch) == 'table' and rawget(torch, '_docs')
  if type(docs) ~= 'function' then return nil end
  docs = docs()
  return docs[name] or docs[name:match '^torch%.(.+)$'] or docs[name:match '[.:]([%w_]+)$']
end

-- The value behind a dotted name, read without running user code where that is possible.
local function value_of(session, name)
  local first, rest = name:match '^([%w_]+)(.*)$'
  if not first then return nil end
  local value, found = session.scope:get(first)
  if not found then value = rawget(session.environment, first) end
  for key in rest:gmatch '[.:]([%w_]+)' do
    if value == nil then return nil end
    local ok, member = pcall(function() return value[key] end)
    value = ok and member or nil
  end
  return value
end

local function lines_of(session, info)
  if info.source:sub(1, 1) == '@' then
    local file = io.open(info.source:sub(2))
    if not file then return nil end
    local text = file:read 'a'
    file:close()
    return require('repl.markdown').lines(text)
  end
  local number = tonumber(info.source:match '^=%(cell (%d+)%)$')
  return number and require('repl.markdown').lines(session.inputs[number] or '')
end

local function show_function(session, name, value, with_source)
  local info = debug.getinfo(value, 'Su')
  print(('%s = %s'):format(name, echo.value(value)))
  local lines = info.what ~= 'C' and lines_of(session, info)
  if not lines then return end
  local first = info.linedefined
  while first > 1 and lines[first - 1]:find '^%s*%-%-' do first = first - 1 end
  local last = with_source and info.lastlinedefined or info.linedefined - 1
  for index = first, last do print(lines[index]) end
end

-- Shows help on a name; with_source shows a Lua function's text too. No name: an overview.
function help.show(session, name, with_source)
  if name == '' then
    print(overview .. table.concat(require('repl.magic').names(), ' '))
    return
  end
  local value = value_of(session, name)
  local entry = documented(name)
  -- What the user calls so hides the op of that name, unless it is the op itself.
  local is_op = type(value) == 'function' and debug.getinfo(value, 'S').what == 'C'
  if value ~= nil and not is_op and not name:find '[.:]' then entry = nil end
  if entry then
    if entry.signature then print(entry.signature) end
    if entry.doc then print(entry.doc) end
    if entry.example then print('\n  ' .. entry.example:gsub('\n', '\n  ')) end
  end
  if type(value) == 'function' and (not entry or with_source) then
    show_function(session, name, value, with_source)
  elseif value ~= nil and not entry then
    print(('%s: %s'):format(name, type(value)))
    local members = require('repl.complete').members(value, '')
    if #members > 0 and type(value) ~= 'string' then print('members: ' .. table.concat(members, ' ')) end
  elseif not entry then
    print(('nothing is called %s'):format(name))
  end
end

return help
