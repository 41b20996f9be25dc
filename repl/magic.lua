-- The magics: `%name arguments` at the start of a cell.
--
-- Each is an entry of `magics`: {usage, what it does, function(session, arguments)}. They run
-- protected, as cells do; one may return a result of session.run. May use the other modules of repl;
-- torch only through package.loaded.

local cell = require 'repl.cell'
local echo = require 'repl.echo'
local errors = require 'repl.errors'
local system = require 'repl.system'

local magic = {}
local magics = {}

-- ---- helpers -------------------------------------------------------------------------------

local function synchronize()
  local torch = package.loaded.torch
  local cuda = type(torch) == 'table' and rawget(torch, 'cuda')
  if type(cuda) ~= 'table' or not cuda.is_available or not cuda.is_available() then return end
  for index = 0, cuda.device_count() - 1 do cuda.synchronize(index) end
end

-- A function that runs the code, which sees the living locals.
local function compile(session, code, name)
  local compiled, message = cell.compile(code, '=' .. name, session.scope)
  if not compiled then error(message, 0) end
  return compiled.run, compiled.has_value
end

local function seconds_text(seconds)
  if seconds < 1e-6 then return ('%.0f ns'):format(seconds * 1e9) end
  if seconds < 1e-3 then return ('%.3g us'):format(seconds * 1e6) end
  if seconds < 1 then return ('%.3g ms'):format(seconds * 1e3) end
  return ('%.3g s'):format(seconds)
end

local function bytes_text(bytes)
  for _, unit in ipairs {'B', 'KB', 'MB', 'GB'} do
    if bytes < 1024 or unit == 'GB' then return (unit == 'B' and '%d %s' or '%.1f %s'):format(bytes, unit) end
    bytes = bytes / 1024
  end
end

local function shell_word(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- ---- time ----------------------------------------------------------------------------------

magics.time = {'%time code', 'runs the code once and shows how long it took', function(session, code)
  local start, cpu = system.clock(), os.clock()
  local result = session:run(code, session.count)
  synchronize()
  print(('wall %s, CPU %s'):format(seconds_text(system.clock() - start), seconds_text(os.clock() - cpu)))
  return result
end}

-- Seconds that n runs take, the devices' work included.
local function measure(run, n)
  synchronize()
  local start = system.clock()
  for _ = 1, n do run() end
  synchronize()
  return system.clock() - start
end

magics.timeit = {'%timeit [-n N] [-r R] code', 'runs the code N times, R times over, and shows the median of a run',
function(session, arguments)
  local n, repeats = nil, 7
  while true do
    local option, value, rest = arguments:match '^%-([nr])%s*(%d+)%s+(.*)$'
    if not option then break end
    if option == 'n' then n = math.max(1, tonumber(value)) else repeats = math.max(1, tonumber(value)) end
    arguments = rest
  end
  local run = compile(session, arguments, '(timeit)')
  if not n then
    n = 1
    while measure(run, n) < 0.2 and n < 1e8 do n = n * 10 end
    n = n > 1 and n // 2 or 1
  end
  local times = {}
  for index = 1, repeats do times[index] = measure(run, n) / n end
  table.sort(times)
  print(('%s a run, from %s to %s (median of %d times %d runs)'):format(
    seconds_text(times[(#times + 1) // 2]), seconds_text(times[1]), seconds_text(times[#times]), repeats, n))
end}

-- ---- names and values ----------------------------------------------------------------------

-- What was in the environment before the first cell is not the user's.
local function own_globals(session)
  local names = {}
  for key in next, session.environment do
    if type(key) == 'string' and not session.given_names[key] and not key:find '^_+$' then names[#names + 1] = key end
  end
  table.sort(names)
  return names
end

magics.who = {'%who', 'lists the locals and globals that cells have made', function(session)
  local function list(kind, names, get)
    for _, name in ipairs(names) do
      local text = echo.value(get(name)):gsub('%s*\n%s*', ' ')
      if #text > 60 then text = text:sub(1, 57) .. '...' end
      print(('%-6s %s = %s'):format(kind, name, text))
    end
  end
  list('local', session.scope:names(), function(name) return (session.scope:get(name)) end)
  list('global', own_globals(session), function(name) return rawget(session.environment, name) end)
end}

magics.reset = {'%reset [out]', 'forgets locals, globals of cells and results; `out`: the results only',
function(session, what)
  if what == 'out' then
    session:drop_results()
  else
    for _, name in ipairs(own_globals(session)) do rawset(session.environment, name, nil) end
    session:reset()
  end
  collectgarbage()
  collectgarbage()
end}

-- ---- files ---------------------------------------------------------------------------------

magics.run = {'%run file [arguments]', 'runs a script in this session', function(session, arguments)
  local words = {}
  for word in arguments:gmatch '%S+' do words[#words + 1] = word end
  local path = table.remove(words, 1)
  if not path then error('which file?', 0) end
  local chunk, message = loadfile(path, 't', session.environment)
  if not chunk then error(message, 0) end
  local previous = rawget(_G, 'arg')
  rawset(_G, 'arg', table.move(words, 1, #words, 1, {[0] = path}))
  local outcome = table.pack(xpcall(chunk, errors.capture, table.unpack(words)))
  rawset(_G, 'arg', previous)
  if not outcome[1] then return {number = session.count, seconds = 0, report = outcome[2]} end
end}

local function read_file(path)
  local file, message = io.open(path)
  if not file then error(message, 0) end
  local text = file:read 'a'
  file:close()
  return text
end

magics.load = {'%load file', 'puts a script into the next cell, to be edited and run', function(session, path)
  if path == '' then error('which file?', 0) end
  local text = read_file(path):gsub('^#[^\n]*', ''):gsub('%s+$', '')
  if session.terminal then
    session.next_text = text
  else
    session.inputs[session.count] = text
    return session:run(text, session.count)
  end
end}

magics.save = {'%save file [n-m]', 'writes cells (all, n or n to m) into a script', function(session, arguments)
  local path, first, last = arguments:match '^(%S+)%s*(%d*)%-?(%d*)$'
  if not path then error('which file?', 0) end
  first = tonumber(first)
  last = tonumber(last) or first or session.count - 1
  local file = assert(io.open(path, 'w'))
  for number = first or 1, last do file:write(session.inputs[number] or '', '\n') end
  assert(file:close())
end}

magics.pwd = {'%pwd', 'shows the current folder', function() print(assert(system.working_directory())) end}

magics.cd = {'%cd [folder]', 'changes the current folder', function(_, folder)
  local home = os.getenv 'HOME' or '/'
  if folder == '' then folder = home end
  assert(system.change_directory((folder:gsub('^~', home))))
  print(system.working_directory())
end}

magics.ls = {'%ls [arguments]', 'lists files', function(_, arguments) system.shell('ls ' .. arguments) end}

magics.env = {'%env [name[=value]]', 'shows or sets environment variables', function(_, arguments)
  local name, value = arguments:match '^([%w_]+)=(.*)$'
  if name then
    assert(system.set_environment(name, value))
  elseif arguments == '' then
    system.shell 'env'
  else
    print(os.getenv(arguments) or arguments .. ' is not set')
  end
end}

magics.edit = {'%edit [n]', 'opens cell n, or the one before, in $EDITOR and runs the result', function(session, number)
  local text = session.inputs[tonumber(number) or session.count - 1] or ''
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write(text, '\n')
  file:close()
  local code = system.shell((os.getenv 'VISUAL' or os.getenv 'EDITOR' or 'vi') .. ' ' .. shell_word(path))
  local edited = read_file(path)
  os.remove(path)
  if code ~= 0 then return end
  session.inputs[session.count] = edited
  io.write(edited)
  return session:run(edited, session.count)
end}

-- ---- the session ---------------------------------------------------------------------------

magics.history = {'%history', 'shows the cells of this session', function(session)
  for number = 1, session.count - 1 do
    print(('%4d: %s'):format(number, (session.inputs[number]:gsub('\n', '\n      '))))
  end
end}

magics.export = {'%export file.md|file.ipynb', 'writes the session into a notebook, with what its cells have shown',
function(session, path)
  if path == '' then error('which file?', 0) end
  require('repl.notebook.export').write(session, path)
end}

magics.debug = {'%debug [n [code]]', 'shows the calls of the last error with their locals; runs code in call n',
function(session, arguments)
  if not session.failed then error('no cell has failed', 0) end
  local debugger = require 'repl.debugger'
  local number, code = arguments:match '^(%d+)%s*(.*)$'
  if not number then
    debugger.show(session.failed)
  elseif code == '' then
    debugger.show(session.failed, tonumber(number))
  else
    local values = table.pack(debugger.evaluate(session.failed, tonumber(number), code, function(name)
      local value, found = session.scope:get(name)
      if found then return value end
      return session.environment[name]
    end))
    local text = echo.values(values)
    if text then print(text) end
  end
end}

-- Settings: {choices, get(session), set(session, choice)}.
local settings = {
  traceback = {'full|user', function() return errors.full and 'full' or 'user' end,
    function(_, choice) errors.full = choice == 'full' end},
  editing = {'emacs|vi', function(session) return session.editing or 'as inputrc says' end,
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

magics.quit = {'%quit', 'leaves', function(session) (session.leave or os.exit)(true, true) end}

-- ---- devices -------------------------------------------------------------------------------

local function cuda_table()
  local torch = package.loaded.torch
  local cuda = type(torch) == 'table' and rawget(torch, 'cuda')
  return type(cuda) == 'table' and cuda or {device_count = function() return 0 end}
end

magics.gpus = {'%gpus', 'lists the GPUs', function()
  local cuda = cuda_table()
  local count = cuda.device_count()
  if count == 0 then print 'no GPU' end
  for index = 0, count - 1 do
    local free, total = cuda.mem_get_info(index)
    print(('cuda:%d  %s  %s of %s free'):format(index, cuda.get_device_name(index), bytes_text(free), bytes_text(total)))
  end
end}

magics.memory = {'%memory', 'shows the memory in use, on the host and on the GPUs', function()
  local file = io.open '/proc/self/status'
  if file then
    print('process  ' .. (file:read('a'):match 'VmRSS:%s*([^\n]*)' or 'unknown'))
    file:close()
  end
  print(('Lua      %s'):format(bytes_text(collectgarbage 'count' * 1024)))
  local cuda = cuda_table()
  for index = 0, cuda.device_count() - 1 do
    print(('cuda:%d   %s in tensors, %s reserved'):format(
      index, bytes_text(cuda.memory_allocated(index)), bytes_text(cuda.memory_reserved(index))))
  end
end}

-- The part of the ledger that the cell called `origin` has caused.
local function copies_of(ledger, origin)
  local part = {count = 0, bytes = 0, seconds = 0}
  for _, entry in ipairs(ledger) do
    if entry.origin:sub(1, #origin) == origin then
      part[#part + 1] = entry
      for _, name in ipairs {'count', 'bytes', 'seconds'} do part[name] = part[name] + entry[name] end
    end
  end
  return setmetatable(part, getmetatable(ledger))
end

magics.copies = {'%copies [n|cause]', 'shows the ledger of copies between devices: all, those of cell n, or those of a cause',
function(_, what)
  local cuda = cuda_table()
  if not cuda.copies then print 'no copies' return end
  local number = math.tointeger(tonumber(what))
  local ledger = cuda.copies(what ~= '' and not number and what or nil)
  if number then ledger = copies_of(ledger, ('(cell %d)'):format(number)) end
  print(echo.value(ledger))
end}

-- ---- running them --------------------------------------------------------------------------

-- Sorted names of all magics.
function magic.names()
  local names = {}
  for name in pairs(magics) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function find(name)
  local entry = magics[name]
  if entry then return entry end
  local near = errors.nearest(name, magic.names())
  error(('no magic %%%s%s'):format(name, near and ("; did you mean '%%%s'?"):format(near) or ''), 0)
end

-- Carries out `%name arguments`.
function magic.run(session, name, arguments) return find(name)[3](session, arguments) end

-- `%name?`
function magic.explain(_, name)
  local entry = find(name)
  print(entry[1] .. '\n' .. entry[2])
end

return magic
