-- Magics that explain and list: names, magics, errors. May use repl.help, repl.wrapped, repl.errors,
-- repl.edit.values and repl.edit.menu.

local errors = require 'repl.errors'
local wrapped = require 'repl.wrapped'

local magics = {}

local function print_all(lines)
  for _, line in ipairs(lines) do print(line) end
end

magics.lsmagic = {'%lsmagic', 'lists the magics', function()
  local magic = require 'repl.magic'
  local names = {}
  for index, name in ipairs(magic.names()) do names[index] = (magic.is_raw(name) and '%%' or '%') .. name end
  print_all(wrapped.words('magics:', names))
  print_all(wrapped.lines('%name? explains one; magics that take code also take the lines below theirs', ''))
end}

local function explain(with_source)
  return function(session, name)
    if not name:find '%S' then error('which name?', 0) end
    local of_magic = name:match '^%%+([%a_]+)$'
    if of_magic then return require('repl.magic').explain(session, of_magic) end
    require('repl.help').show(session, name, with_source)
  end
end

magics.pinfo = {'%pinfo name', 'the same as ?name', explain(false), takes_name = true}
magics.pinfo2 = {'%pinfo2 name', 'the same as ??name', explain(true), takes_name = true}
magics.psource = {'%psource name', 'the same as ??name', explain(true), takes_name = true}

-- A Lua pattern for a name in which * stands for any characters.
local function pattern_of(text) return '^' .. text:gsub('[%p]', '%%%0'):gsub('%%%*', '.*') .. '$' end

-- Adds the paths below `owner` (nil: the names of the session) that match the components from
-- `index` on.
local function search(session, owner, components, index, add)
  local values = require 'repl.edit.values'
  local component = components[index]
  local holder = owner and values.of_path(session, owner)
  if not owner then holder = session.environment end
  local found, kinds = values.members(holder, component:match '^[%w_]*')
  for _, name in ipairs(owner and {} or session.scope:names()) do
    found[#found + 1], kinds[name] = name, 'local'
  end
  for _, name in ipairs(found) do
    if name:find(pattern_of(component)) then
      local path = owner and owner .. '.' .. name or name
      if index == #components then
        add(path, not owner and kinds[name] == 'value' and 'global' or kinds[name])
      elseif values.of_path(session, path) ~= nil then
        search(session, path, components, index + 1, add)
      end
    end
  end
end

magics.psearch = {'%psearch pattern', 'lists the names that match, as torch.*sum*? does; * stands for any characters', function(session, pattern)
  if not pattern:find '^[%w_.:*]+$' then error('which names? for example %psearch torch.*sum*', 0) end
  local components, found, kinds = {}, {}, {}
  for component in pattern:gmatch '[^.:]+' do components[#components + 1] = component end
  search(session, nil, components, 1, function(path, kind)
    if not kinds[path] then found[#found + 1], kinds[path] = path, kind end
  end)
  if #found == 0 then error(('no name matches %s'):format(pattern), 0) end
  table.sort(found)
  print_all(require('repl.edit.menu').lines(found, kinds, wrapped.columns(), function(label) return label end))
end, takes_name = true}

magics.tb = {'%tb', 'shows the last error and its calls again', function(session)
  if not session.failed then error('no cell has failed', 0) end
  print_all(session:error_lines(session.failed))
end}

-- Modes of errors by their names, also IPython's.
local MODES = {minimal = 'minimal', user = 'user', full = 'full', plain = 'user', context = 'user', verbose = 'full'}

magics.xmode = {'%xmode [minimal|user|full]', "shows errors without calls, with the calls of your functions, or with all; also IPython's names Plain, Context, Verbose",
function(_, name)
  if name == '' then print(errors.mode()) return end
  local mode = MODES[name:lower()]
  if not mode then error(("no mode '%s': minimal, user and full"):format(name), 0) end
  errors.set_mode(mode)
  print('errors are shown in the mode ' .. mode)
end, choices = function() return {'minimal', 'user', 'full'} end}

return magics
