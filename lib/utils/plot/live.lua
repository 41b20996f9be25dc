-- live.lua - torch.utils.plot.live({file =, pause = 0.1}): figures that replace each other during a
-- computation.
--
--   local live = torch.utils.plot.live()
--   for step = 1, 1000 do … live:show(torch.utils.plot.lines(losses)) end
--   live:finish()
--
-- In a notebook the figure stays one output that changes; on a terminal its lines are redrawn in
-- place; if stdout is a file or a pipe, nothing is drawn. With `file` (.svg or .png) every figure
-- that is drawn, and the last one, is also written there. Within `pause` seconds after a figure,
-- the next ones are deferred, to limit the time for drawing; finish() draws the last one.

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'

local clock = torch._C.clock
local STDOUT = 1

local Live = class.Object:extend 'Live'

local read_live = declare.reader 'live(*, string? file, number pause=0.1)'
function Live:init(...)
  local options = read_live(...)
  self.file, self.pause = options.file, options.pause
  self._drawn, self._lines = -math.huge, 0
end

-- Moves the cursor up to the start of the previous figure, and erases everything below.
function Live:_draw_on_terminal(figure)
  local text = tostring(figure)
  local _, ends = text:gsub('\n', '')
  if self._lines > 0 then io.stdout:write(('\27[%dA\r\27[J'):format(self._lines)) end
  io.stdout:write(text, '\n')
  io.stdout:flush()
  self._lines = ends + 1
end

function Live:_draw(figure)
  local display = torch.utils.display
  if display.in_place() then
    if self._shown then self._shown:update(figure) else self._shown = display(figure) end
  elseif self:is_on_terminal() then
    self:_draw_on_terminal(figure)
  end
  if self.file then figure:save(self.file) end
  self._drawn, self._waiting = clock(), nil
end

--- Whether anybody would see a figure.
function Live:is_seen() return self.file ~= nil or torch.utils.display.in_place() or self:is_on_terminal() end

--- True if figures are redrawn in place on a terminal; output between two of them would break the
--- drawing.
function Live:is_on_terminal() return not torch.utils.display.in_place() and torch._C.terminal(STDOUT) ~= nil end

--- True if a figure would be drawn now, so that a caller can skip creating others.
function Live:is_due() return clock() - self._drawn >= self.pause end

--- Replaces the figure.
function Live:show(figure)
  if self:is_due() then self:_draw(figure) else self._waiting = figure end
end

--- Draws the pending figure. The next output appears below it.
function Live:finish()
  if self._waiting then self:_draw(self._waiting) end
  self._shown, self._lines = nil, 0
end

return Live
