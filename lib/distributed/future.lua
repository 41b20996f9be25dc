-- future.lua - Future: the result of an operation in progress, and functions of it. value() and the
-- argument of next() are the list of tensors of an operation's get_future().

local class = require 'torch.support.class'
local kinds = require 'torch.support.argument_kinds'

local Future = class.Object:extend('Future')

-- wait: returns the value after the operation has ended; ended: returns whether it has
function Future:init(wait, ended)
  self._wait, self._ended = wait, ended
end

--- Waits, and returns the value.
function Future:wait()
  if self._wait then
    self._value = self._wait()
    self._wait, self._ended = nil, nil
  end
  return self._value
end

Future.value = Future.wait

--- Whether the value is available without waiting.
function Future:done() return self._wait == nil or self._ended() end

--- A Future of the result of fn(this one); fn is called by the thread that waits. PyTorch's `then`,
-- which is a Lua keyword.
function Future:next(fn)
  kinds.check('next', 'fn', fn, 'function')
  return Future(function()
    self:wait()
    return fn(self)
  end, function() return self:done() end)
end

return Future
