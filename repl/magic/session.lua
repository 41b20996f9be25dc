-- Magics about the session: its history, export, settings, end. May use repl.errors, repl.reload,
-- repl.notebook.export and repl.edit.

local errors = require 'repl.errors'

local magics = {}

magics.history = {'%history [-g [text]]', "shows the cells of this session; -g: searches the cells of all sessions for the text",
function(session, arguments)
  local function show(label, cell) print(label .. (cell:gsub('\n', '\n' .. (' '):rep(#label)))) end
  local text = arguments:match '^%-g%s*(.*)$'
  if text then
    local history = require 'repl.edit.history'
    for _, cell in ipairs(history.load(history.path())) do
      if cell:find(text, 1, true) and not cell:find '^%s*%%history' then show('   -: ', cell) end
    end
    if session.terminal then return end -- they are in the history file
  elseif arguments ~= '' then
    error('%history [-g [text]]', 0)
  end
  for number = 1, session.count - 1 do
    local cell = session.inputs[number]
    if not text or cell:find(text, 1, true) then show(('%4d: '):format(number), cell) end
  end
end, varies = true}

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
end}

-- Settings: {choices, get(session), set(session, choice)}.
local settings = {
  traceback = {'full|user', function() return errors.full and 'full' or 'user' end,
    function(_, choice) errors.full = choice == 'full' end},
  editing = {'emacs|vi', function(session) return session.editing or 'as in inputrc' end,
    function(session, choice)
      if not session.terminal then error('no line is edited', 0) end
      session.editing = choice
      require('repl.edit.readline').set_option('editing-mode', choice)
    end},
}
for _, name in ipairs {'time', 'pager'} do -- on until they are turned off
  settings[name] = {'on|off', function(session) return session[name] == false and 'off' or 'on' end,
    function(session, choice) session[name] = choice == 'on' end}
end

magics.config = {'%config [name value]', 'shows or changes settings: traceback full|user, time on|off, pager on|off, editing emacs|vi',
function(session, arguments)
  local name, value = arguments:match '^(%S+)%s*(%S*)$'
  if not name then
    for _, each in ipairs {'editing', 'pager', 'time', 'traceback'} do
      print(('%-10s %s (%s)'):format(each, settings[each][2](session), settings[each][1]))
    end
    return
  end
  local setting = settings[name]
  if not setting then
    local near = errors.nearest(name, {'editing', 'pager', 'time', 'traceback'})
    error(('no setting %s%s'):format(name, near and ("; did you mean '%s'?"):format(near) or ''), 0)
  end
  if value == '' then print(setting[2](session)) return end
  if not ('|' .. setting[1] .. '|'):find('|' .. value .. '|', 1, true) then
    error(('%s is %s'):format(name, (setting[1]:gsub('|', ' or '))), 0)
  end
  setting[3](session, value)
end}

magics.quit = {'%quit', 'ends the session', function(session) (session.leave or os.exit)(true, true) end}

return magics
