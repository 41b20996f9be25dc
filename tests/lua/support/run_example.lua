-- run_example.lua - types an example, in the cells of scripts/gen/examples.lua, into a session of its own and says what
-- is wrong with what it shows; nil when nothing is.

local input = require 'repl.input'
local plain = require 'repl.notebook.plain'
local session = require 'repl.session'
local system = require 'repl.system'

return function(cells)
  local state = session.new { environment = setmetatable({}, { __index = _G }) }
  for _, cell in ipairs(cells) do
    system.start_capture()
    local ran, result = pcall(input.run, state, cell.source)
    local written = plain.text((system.end_capture()))
    if not ran then return tostring(result) end
    if result.report then return result.report.message end
    local shown = (written .. (result.text or '')):gsub('%s+$', ''):gsub('[ \t]+\n', '\n')
    if cell.output == nil and shown ~= '' then return 'nothing of what it shows is written:\n' .. shown end
    if cell.output and shown ~= cell.output then return 'it shows\n' .. shown .. '\ninstead of\n' .. cell.output end
  end
  return nil
end
