-- Watches: find the line after which a tensor has nan.
--
-- A tensor is examined again only if it is another one or has been written. May use
-- repl.debug.frames and torch through package.loaded.

local frames = require 'repl.debug.frames'

local watch = {}

local seen = setmetatable({}, {__mode = 'k'}) -- tensor -> its version when it was examined

local function is_tensor(value)
  local torch = package.loaded.torch
  return type(value) == 'userdata' and torch.is_tensor(value)
end

-- True if the tensor has nan and had none when it was examined last.
local function has_new_nan(tensor)
  local ok, found = pcall(function()
    local version = tensor._version
    if seen[tensor] == version or not (tensor:is_floating_point() or tensor:is_complex()) then return false end
    seen[tensor] = version
    return tensor:detach():isnan():any():item()
  end)
  return ok and found
end

local function message_of(name, frame) return ('%s has nan before line %d'):format(name, frame.line) end

-- A message if one of the watches finds a tensor with nan in the frame.
function watch.found(watches, frame, fallback)
  for _, each in ipairs(watches) do
    if each.expression then
      local chunk = frames.compile(frame, each.expression, fallback)
      local ok, value = pcall(chunk or error)
      if ok and is_tensor(value) and has_new_nan(value) then return message_of(each.expression, frame) end
    else
      for _, kind in ipairs {'upvalue', 'local'} do
        for _, variable in ipairs(frames.variables(frame, kind)) do
          if is_tensor(variable.value) and has_new_nan(variable.value) then return message_of(variable.name, frame) end
        end
      end
    end
  end
end

return watch
