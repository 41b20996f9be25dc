-- fail.lua - raises an error at the line of the user's code that called into the library, above any
-- number of library functions, as core's errors do.

return function(message, ...)
  if select('#', ...) > 0 then message = message:format(...) end
  message = require('torch')._C.printable(message) -- names in it may come from a file
  local level = 2
  while true do
    local frame = debug.getinfo(level, 'Sl')
    if not frame then error(message, 0) end
    if frame.currentline > 0 and not frame.source:find('^=%[ltensor ') then error(message, level) end
    level = level + 1
  end
end
