-- Runs programs for the specs that need a fresh process. Knows where ltensor is: LTENSOR_BIN, else
-- build/ltensor.

local M = {}

M.ltensor = os.getenv 'LTENSOR_BIN' or 'build/ltensor'

-- The start of a shell command that runs a program which a test has built: empty, or an emulator of its processor.
M.emulator = os.getenv 'LTENSOR_TEST_EMULATOR' or ''

function M.quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- Runs a shell command without input.
-- @return its stdout, its stderr, its exit status
function M.run(command)
  local errors = os.tmpname()
  local pipe = assert(io.popen(('{ %s\n} 2>%s </dev/null'):format(command, errors)))
  local output = pipe:read 'a'
  local _, _, status = pipe:close()
  local file = assert(io.open(errors))
  local message = file:read 'a'
  file:close()
  os.remove(errors)
  return output, message, status
end

--- Runs a chunk of Lua in a fresh ltensor. options: command-line options, '' if none; environment: variables in front, '' if none.
function M.lua(code, options, environment)
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write(code)
  file:close()
  local output, message, status = M.run(('%s %s %s %s'):format(environment or '', M.quote(M.ltensor), options or '', path))
  os.remove(path)
  return output, message, status
end

return M
