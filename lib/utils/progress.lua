-- progress.lua - torch.utils.progress(source, {label =, total =, every = 10, leave = true}):
-- iterates over source and shows the progress on stderr: for x in torch.utils.progress(loader) do
-- ... end.
--
-- Source is an integer n (1 to n), a list (its items), an object with iter() (a DataLoader), or an
-- iterator function. On a terminal it is one line that is redrawn; elsewhere a line every `every`
-- seconds and one at the end, so that a log stays short. Leaving the loop early ends the line too.
-- With leave = false nothing remains at the end: the line on a terminal is erased, and there is
-- none elsewhere.

--[=[ arguments
source: Integer n for 1 to n, list, object with a method `iter`, or iterator function.
label: Text in front.
total: Number of items; that of the source if absent.
every: Seconds between two lines where the output is no terminal.
leave: Whether the last line stays.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local width = require 'torch.utils.width'
local fail = require 'torch.support.fail'

local clock = torch._C.clock

local REDRAW = 0.1 -- seconds between two drawings
local STDERR = 2

-- The size of the terminal at a descriptor, or nil. A front end that supports redrawing replaces
-- this function.
local function terminal(descriptor) return torch._C.terminal(descriptor) end

local function time_text(seconds)
  seconds = math.floor(seconds + 0.5)
  if seconds >= 3600 then return ('%d:%02d:%02d'):format(seconds // 3600, seconds // 60 % 60, seconds % 60) end
  return ('%02d:%02d'):format(seconds // 60, seconds % 60)
end

local function rate_text(rate)
  if rate >= 1 or rate == 0 then return ('%.1f/s'):format(rate) end
  return ('%.1f s each'):format(1 / rate)
end

local eighths = { [0] = '', '▏', '▎', '▍', '▌', '▋', '▊', '▉' }

-- A bar of `columns` columns, filled by `part` of 1.
local function bar_text(part, columns)
  local filled = math.floor(math.min(part, 1) * columns * 8)
  local text = ('█'):rep(filled // 8) .. eighths[filled % 8]
  return '|' .. text .. (' '):rep(columns - (filled + 7) // 8) .. '|'
end

local function counts(self, now)
  local seconds = now - self.start
  local rate = seconds > 0 and self.done / seconds or 0
  local times = time_text(seconds)
  if self.total and self.done < self.total and rate > 0 then
    times = ('%s, %s left'):format(times, time_text((self.total - self.done) / rate))
  end
  local done = self.total and ('%d/%d'):format(self.done, self.total) or tostring(self.done)
  return ('%s [%s, %s]'):format(done, times, rate_text(rate))
end

local function percent(self) return ('%3.0f%%'):format(math.floor(100 * self.done / math.max(self.total, 1))) end

-- The line for a terminal with this number of columns.
local function line(self, now, columns)
  local label, right = self.label, counts(self, now)
  if label ~= '' then label = label .. ': ' end
  if not self.total then return label .. right end
  local left = label .. percent(self) .. ' '
  local room = columns - 1 - width.of(left) - #right - 3
  if room < 4 then return left .. right end
  return left .. bar_text(self.done / math.max(self.total, 1), math.min(room, 40)) .. ' ' .. right
end

local function draw(self, now)
  local columns = terminal(STDERR)
  if columns then
    local text = width.cut(line(self, now, columns), columns - 1)
    io.stderr:write('\r', text, '\27[K')
    self.width = width.of(text)
  else
    local label = self.label ~= '' and self.label .. ': ' or ''
    io.stderr:write(label, self.total and percent(self):match '%S+' .. ' ' or '', counts(self, now), '\n')
  end
  io.stderr:flush()
  self.drawn = now
end

local function advance(self)
  self.done = self.done + 1
  local now = clock()
  if now - self.drawn >= self.pause then draw(self, now) end
end

local function finish(self)
  if self.finished then return end
  self.finished = true
  if self.leave then
    draw(self, clock())
    if terminal(STDERR) then io.stderr:write '\n' end
  elseif self.width > 0 then -- with blanks, for front ends without escape sequences
    io.stderr:write('\r', (' '):rep(self.width), '\r')
    io.stderr:flush()
  end
end

-- An iterator over the source, and the number of its values, if known.
local function open(source)
  if math.type(source) == 'integer' then
    local i = 0
    return function()
      i = i + 1
      if i <= source then return i end
    end, math.max(source, 0)
  elseif type(source) == 'function' then
    return source
  end
  if type(source) ~= 'table' and type(source) ~= 'userdata' then
    fail(('progress(): expected a number, list, function or an object with iter(), got %s'):format(type(source)))
  end
  local iter = source.iter
  if type(iter) == 'function' then
    local known, length = pcall(function() return #source end)
    return iter(source), known and length or nil
  end
  local i = 0
  return function()
    i = i + 1
    return source[i]
  end, #source
end

local closing = { __close = finish }

local function progress(source, options)
  local next_values, total = open(source)
  local now = clock()
  local self = setmetatable({
    label = tostring(options.label), total = options.total or total, done = 0, start = now, drawn = now,
    pause = terminal(STDERR) and REDRAW or options.every, leave = options.leave,
    width = 0,
  }, closing)
  local started = false

  local function pass_on(...)
    if ... == nil then
      finish(self)
    end
    return ...
  end

  return function()
    if started then advance(self) end
    started = true
    return pass_on(next_values())
  end, nil, nil, self
end

return declare.with_options("progress(any source, *, any label='', integer? total, number every=10, boolean leave=true)", progress)
