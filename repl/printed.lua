-- The printed output of a function as text, for front ends that show it elsewhere. May use
-- repl.system.

local system = require 'repl.system'

local printed = {}

-- Runs f() and returns its output on stdout; its error is raised.
function printed.by(f)
  system.start_capture()
  local ok, problem = pcall(f)
  local out, err = system.end_capture()
  io.stderr:write(err)
  if not ok then error(problem, 0) end
  return out
end

return printed
