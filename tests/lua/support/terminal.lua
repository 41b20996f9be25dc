-- Types at the prompt on a pseudo-terminal, for the specs of the program: tests/tools/pty.c does it.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'process.lua')

local M = {}

local function absolute(path)
  if path:find '^/' then return path end
  return process.run('pwd'):gsub('%s+$', '') .. '/' .. path
end
local pty = absolute((os.getenv 'LTENSOR_BUILD' or 'build') .. '/tests/pty')
local program = absolute(process.ltensor)

--- A folder for history and settings; M.remove_folder removes it.
function M.new_folder()
  local folder = os.tmpname()
  os.remove(folder)
  return folder
end

function M.remove_folder(folder) process.run('rm -rf ' .. process.quote(folder)) end

--- Starts the program on a terminal and follows the script (see pty.c); fails with what was seen.
-- environment: assignments for env; arguments: of the program; where: the folder it runs in; another: a
-- program other than ltensor
-- @return what pty printed
function M.follow(folder, script, environment, arguments, where, another)
  assert(folder, 'no folder for history and settings')
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write('expect In [1]: \n', script)
  file:close()
  local out, err, status = process.run(
    ('cd %s; env -u LTENSOR_INIT NO_COLOR=1 LANG=C.UTF-8 PAGER=cat TERM=xterm INPUTRC=/dev/null XDG_STATE_HOME=%s XDG_CONFIG_HOME=%s %s %s %s %s < %s')
    :format(process.quote(where or '.'), folder, folder, environment or '', pty, process.quote(another and absolute(another) or program), arguments or '', path))
  os.remove(path)
  assert(status == 0, err)
  return out
end

return M
