-- Magics about the session: export, settings, end. May use repl.errors, repl.reload, repl.echo,
-- repl.notebook.export and repl.edit.

local errors = require 'repl.errors'
local theme = require 'repl.edit.theme'
local wrapped = require 'repl.wrapped'

local magics = {}

magics.export = {'%export file.md|file.ipynb', 'writes the session to a notebook, with the output of its cells',
function(session, path)
  if path == '' then error('which file?', 0) end
  require('repl.notebook.export').write(session, path)
end}

magics.autoreload = {'%autoreload [on|off]', 'reloads modules with changed files: now, or (on) before every cell',
function(session, choice)
  local modules = require 'repl.reload'
  if choice == 'on' or choice == 'off' then
    session.autoreload = choice == 'on' and modules.watch() or nil
  elseif choice == '' then
    session.reloaded = session.reloaded or modules.watch()
    for _, name in ipairs(modules.changed(session.reloaded)) do print('read again: ' .. name) end
  else
    error('%autoreload is on or off', 0)
  end
end, choices = function() return {'on', 'off'} end}

-- Applies a theme to the edited line and to later output.
local function set_theme(session, name)
  session.theme = name
  if session.terminal then require('repl.edit.readline').set_colours(theme.of(name)) end
end

-- Settings: {choices, get(session), set(session, choice)}.
local settings = {
  traceback = {'full|user|minimal', function() return errors.mode() end, function(_, choice) errors.set_mode(choice) end},
  colors = {theme.names(), function(session) return session.theme or theme.default end, set_theme},
  editing = {'emacs|vi', function(session) return session.editing or 'as in inputrc' end,
    function(session, choice)
      if not session.terminal then error('no line is edited', 0) end
      session.editing = choice
      require('repl.edit.readline').set_option('editing-mode', choice)
    end},
}
for _, name in ipairs {'time', 'pager', 'strict'} do -- on until they are turned off
  settings[name] = {'on|off', function(session) return session[name] == false and 'off' or 'on' end,
    function(session, choice) session[name] = choice == 'on' end}
end

local setting_names = {}
for name in pairs(settings) do setting_names[#setting_names + 1] = name end
table.sort(setting_names)

-- The list of words in a text like 'on|off'.
local function words_of(text)
  local words = {}
  for word in text:gmatch '[^|]+' do words[#words + 1] = word end
  return words
end

magics.config = {'%config [name value]', 'shows or changes settings: colors, editing, pager, strict (notes on conditions that are tensors), time, traceback',
function(session, arguments)
  local name, value = arguments:match '^(%S+)%s*(%S*)$'
  if not name then
    local rows = {}
    for index, each in ipairs(setting_names) do
      rows[index] = {each, ('%s (%s)'):format(settings[each][2](session), settings[each][1])}
    end
    for _, line in ipairs(wrapped.rows(rows, '')) do print(line) end
    return
  end
  local setting = settings[name]
  if not setting then
    local near = errors.nearest(name, setting_names)
    error(('no setting %s%s'):format(name, near and ("; did you mean '%s'?"):format(near) or ''), 0)
  end
  if value == '' then print(setting[2](session)) return end
  if not ('|' .. setting[1] .. '|'):find('|' .. value .. '|', 1, true) then
    error(('%s is %s'):format(name, (setting[1]:gsub('|', ' or '))), 0)
  end
  setting[3](session, value)
end, choices = function(arguments)
  local name = arguments:match '^%s*(%S+)%s'
  if not name then return setting_names end
  return settings[name] and words_of(settings[name][1]) or {}
end}

magics.colors = {'%colors [theme]', "shows or changes the theme: neutral, dark, light or none; IPython's NoColor, Linux, LightBG",
function(session, name)
  magics.config[3](session, 'colors ' .. (theme.aliases[name:lower()] or name))
end, choices = function() return words_of(theme.names()) end}

magics.precision = {'%precision [digits]', 'shows floats and elements of tensors with this number of digits after the point; alone: as at the start',
function(_, digits)
  local echo, torch = require 'repl.echo', package.loaded.torch
  local number = math.tointeger(tonumber(digits))
  if digits ~= '' and (not number or number < 0 or number > 20) then error('%precision takes a number of digits, 0 to 20', 0) end
  echo.set_precision(number)
  if type(torch) == 'table' then torch.set_printoptions {precision = number or 4} end
end}

magics.quit = {'%quit', 'ends the session', function(session) (session.leave or os.exit)(true, true) end}

return magics
