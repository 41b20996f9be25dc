-- fails_with.lua - calls f, wants an error that has the text in it, and returns the message.

return function(text, f, ...)
  local ok, message = pcall(f, ...)
  if ok then error('no error: expected ' .. text, 2) end
  if not tostring(message):find(text, 1, true) then error(('expected %s, got: %s'):format(text, message), 2) end
  return message
end
