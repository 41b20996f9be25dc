-- The prompt in a web page: runs cells and prints their outputs.
--
-- The page calls these functions by repl/web/page.c. May use repl.input, repl.session, repl.notebook.

local input = require 'repl.input'
local session = require 'repl.session'

local web = {}

local state

-- Starts the session, with the predefined names of the program.
function web.open()
  local torch = require 'torch'
  torch._C.accept_tensors()
  for _, name in ipairs {'nn', 'try_gpu', 'try_all_gpus'} do _G[name] = torch[name] end
  state = session.new()
  return true
end

-- Runs a cell and prints its value or its error. Returns whether it succeeded.
function web.run(source)
  local result = input.run(state, source)
  local report = result.report
  if report then
    print(table.concat(state:error_lines(report), '\n'))
  elseif result.text then
    print(result.text)
  end
  if result.hint then print(result.hint) end
  return not report
end

-- Checks the notebook in `text`, and prints the differences and the counts.
function web.check(name, text)
  local path = os.tmpname()
  local file <close> = assert(io.open(path, 'w'))
  assert(file:write(text))
  assert(file:flush())
  local passed = require('repl.notebook').main(path, 'check')
  os.remove(path)
  if not passed then print(name .. ' has different outputs') end
  return passed
end

return web
