-- Magics that read and write files, folders and the environment. May use repl.script, repl.shell,
-- repl.system.

local system = require 'repl.system'

local magics = {}

local function shell_word(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function need_file(path)
  if not path or path == '' then error('which file?', 0) end
  return path
end

local function read_file(path)
  local file, message = io.open(path)
  if not file then error(message, 0) end
  local text = file:read 'a'
  file:close()
  return text
end

magics.run = {'%run file [arguments]', "runs a script in this session and keeps its top-level locals",
function(session, arguments)
  local words = {}
  for word in arguments:gmatch '%S+' do words[#words + 1] = word end
  local path = need_file(table.remove(words, 1))
  local previous = rawget(_G, 'arg')
  rawset(_G, 'arg', table.move(words, 1, #words, 1, {[0] = path}))
  local report = require('repl.script').run(session, path, words)
  rawset(_G, 'arg', previous)
  if report then return {number = session.count, seconds = 0, report = report} end
end}

magics.load = {'%load file', 'puts a script into the next cell for editing', function(session, path)
  local text = read_file(need_file(path)):gsub('^#[^\n]*', ''):gsub('%s+$', '')
  if session.edits_next then
    session.next_text = text
  else
    session.inputs[session.count] = text
    return session:run(text, session.count)
  end
end}

-- True if the file does not exist or the user confirms.
local function may_write(session, path)
  local file = io.open(path)
  if not file then return true end
  file:close()
  if not session.terminal then error(('%s exists; %%save -f overwrites it'):format(path), 0) end
  io.write(('%s exists. Overwrite it? [y/N] '):format(path))
  io.flush()
  return (io.read 'l' or ''):find '^%s*[yY]' ~= nil
end

magics.save = {'%save [-f] file [n-m]', 'writes cells (all, n or n to m) to a script; prompts before it overwrites one, unless -f',
function(session, arguments)
  local forced, rest = arguments:match '^(%-f)%s+(.*)$'
  local path, first, last = (rest or arguments):match '^(%S+)%s*(%d*)%-?(%d*)$'
  need_file(path)
  first = tonumber(first)
  last = tonumber(last) or first or session.count - 1
  local text, problem = require('repl.script').text(session, first or 1, last)
  if not forced and not may_write(session, path) then print 'not written' return end
  require('torch.files.outside').write_file(path, text)
  if problem then print('as one script these cells do not compile: ' .. problem) end
end}

magics.writefile = {'%%writefile [-a] file', 'writes the lines below to a file; -a: appends them', function(_, text)
  local first, body = text:match '^([^\n]*)\n?(.*)$'
  local append, path = first:match '^(%-a%s+)(%S.-)%s*$'
  path = need_file(path or first:match '^(.-)%s*$')
  local old = io.open(path)
  local before = old and old:read 'a'
  if old then old:close() end
  body = body:gsub('%s*$', '\n')
  require('torch.files.outside').write_file(path, append and (before or '') .. body or body)
  print((before and (append and 'appended to ' or 'overwrote ') or 'wrote ') .. path)
end, takes_code = true, raw = true, varies = true}

-- A magic that passes the lines below to a shell.
local function shell_magic(shell)
  return {'%%' .. shell .. ' commands', 'runs the rest of the cell in ' .. shell, function(session, code)
    local exit = session:shell(shell .. ' -c ' .. shell_word(code))
    if exit ~= 0 then print(('exit code %d'):format(exit)) end
  end, takes_code = true, raw = true}
end
magics.sh, magics.bash = shell_magic 'sh', shell_magic 'bash'

magics.pwd = {'%pwd', 'shows the current folder', function() print(assert(system.working_directory())) end, varies = true}

magics.cd = {'%cd [folder | -]', 'changes the current folder; -: back to the previous one', function(session, folder)
  local home, before = os.getenv 'HOME' or '/', system.working_directory()
  if folder == '' then folder = home end
  if folder == '-' then folder = session.previous_folder or error('no previous folder: %cd was not used in this session', 0) end
  local ok, message = system.change_directory((folder:gsub('^~', home)))
  if not ok then error(message, 0) end
  session.previous_folder = before
  print(system.working_directory())
end, varies = true}

magics.ls = {'%ls [arguments]', 'lists files', function(session, arguments) session:shell('ls ' .. arguments) end, varies = true}

magics.env = {'%env [name[=value]]', 'shows or sets environment variables', function(session, arguments)
  local name, value = arguments:match '^([%w_]+)=(.*)$'
  if name then
    assert(system.set_environment(name, value))
  elseif arguments == '' then
    session:shell 'env'
  else
    print(os.getenv(arguments) or arguments .. ' is not set')
  end
end, varies = true}

magics.edit = {'%edit [n]', 'opens cell n, or the previous one, in $EDITOR and runs the result', function(session, number)
  local chosen = math.tointeger(tonumber(number))
  if number ~= '' and not (chosen and chosen >= 1 and chosen < session.count) then
    error(('%%edit takes the number of an earlier cell, 1 to %d, not %s'):format(session.count - 1, number), 0)
  end
  local text = session.inputs[chosen or session.count - 1] or ''
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write(text, '\n')
  file:close()
  local code = require('repl.shell').run((os.getenv 'VISUAL' or os.getenv 'EDITOR' or 'vi') .. ' ' .. shell_word(path))
  local edited = read_file(path)
  os.remove(path)
  if code ~= 0 then return end
  session.inputs[session.count] = edited
  io.write(edited)
  return session:run(edited, session.count)
end}

return magics
