-- work.lua - Work: an operation in progress. Its result is available after wait returned, or
-- is_completed returned true.

local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local here = require 'torch.distributed.state'
local Future = require 'torch.distributed.future'
local clock = require('torch')._C.clock

local Work = class.Object:extend('Work')

-- inner: core's work; world: its world; finish: called at its end, or nil
function Work:init(inner, world, finish)
  self._inner, self._world, self._finish = inner, world, finish
end

local function finish(work)
  local due = work._finish
  work._finish = nil
  if due then due() end
end

--- Waits for the end, for at most `timeout` seconds; raises errors.
function Work:wait(timeout)
  kinds.check('wait', 'timeout', timeout, 'number?')
  local inner, entry = self._inner, self._entry
  local start = entry and clock()
  while here.pause and not inner:ended() do here.pause() end
  local well, reason = inner:wait(timeout or 0)
  if entry then entry.seconds = entry.seconds + (clock() - start) end
  if not well then fail('%s', reason) end
  finish(self)
  return true
end

--- Whether it has ended, well or not.
function Work:is_completed()
  self._world:step()
  if here.pause then here.pause() end
  local ended, well = self._inner:ended()
  if ended and well then finish(self) end
  return ended
end

--- Whether it has ended well.
function Work:is_success()
  local ended, well = self._inner:ended()
  return ended and well
end

--- Its tensors, in a list, as a Future.
function Work:get_future()
  return Future(function()
    self:wait()
    return self._tensors
  end, function() return self:is_completed() end)
end

--- Of a received message: the sender; nil until it has arrived.
function Work:source_rank()
  local from = self._inner:from()
  return from >= 0 and self._group:global(from) or nil
end

return Work
