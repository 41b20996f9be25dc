-- fail.lua - raises an error at the line of the user's code that called into the library, above any
-- number of library functions, as core's errors do.

return function(message, ...)
  if select('#', ...) > 0 then message = message:format(...) end
  require('torch')._C.raise(message)
end
