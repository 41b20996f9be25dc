-- Errors for the user: the message, the source line, and the user's frames.
--
-- capture() is the message handler of each protected call of the program: it reads the stack before
-- it is unwound and returns a report, a table {value, message, frames}. Frames of chunks embedded
-- in the program (names that begin with "[ltensor ") are left out, unless full tracebacks are
-- enabled. May use repl.echo, repl.debugger and torch.utils.width.

local width = require 'torch.utils.width'

local errors = {full = false}

local INTERNAL = '=[ltensor '
local MAX_FRAMES = 40

local function is_internal(info) return info.source:sub(1, #INTERNAL) == INTERNAL end

local function function_name(info)
  if info.what == 'main' then return 'in main chunk' end
  local name = require('repl.echo').library_name(info.func)
  if name then return ("in function '%s'"):format(name) end
  if info.namewhat ~= '' then return ("in %s '%s'"):format(info.namewhat, info.name) end
  if info.short_src:find '^%(cell %d+%)$' and info.linedefined == 1 and info.isvararg then
    return 'in the cell'
  end
  if info.what == 'C' then return 'in C code' end
  return ('in function <%s:%d>'):format(info.short_src, info.linedefined)
end

-- ---- collecting ----------------------------------------------------------------------------

-- Escapes control characters of untrusted names.
local function printable(text) return require('torch')._C.printable(text) end

local function text_of(value)
  if type(value) == 'string' then return value end
  if type(value) == 'number' then return tostring(value) end
  return require('repl.echo').value(value)
end

-- The number of stack levels, counted from the caller. Finding a level takes time proportional to
-- its depth, so a deep recursion is not counted step by step.
local function stack_depth()
  local low, high = 1, 2
  while debug.getinfo(high + 1, 'l') do low, high = high, high * 2 end
  while low < high do
    local middle = (low + high + 1) // 2
    if debug.getinfo(middle + 1, 'l') then low = middle else high = middle - 1 end
  end
  return low
end

-- The frames outside of the handler, innermost first, up to the program's session; of a deep stack
-- both ends, with {skipped = n} between. The caller of this function is called by a handler in C.
-- With with_locals, frames keep the values for %debug.
local function collect(with_locals)
  local frames, level, depth = {}, 4, stack_depth()
  while true do
    if depth > 2 * MAX_FRAMES and level == MAX_FRAMES // 2 then
      frames[#frames + 1] = {skipped = depth - MAX_FRAMES}
      level = depth - MAX_FRAMES // 2
    end
    local info = debug.getinfo(level, 'Slnfut')
    if not info then break end
    if info.source == INTERNAL .. 'repl.session]' and not errors.full then break end
    if errors.full or not is_internal(info) then
      local frame = {
        source = info.short_src, line = info.currentline, what = info.what, name = function_name(info),
        tail_call = info.istailcall,
      }
      if with_locals and info.what ~= 'C' then require('repl.debugger').remember(frame, level, info.func) end
      frames[#frames + 1] = frame
    end
    level = level + 1
  end
  return frames
end

-- The last failure in a coroutine: its message and frames, innermost first.
local failed_coroutine

-- Records the frames of a coroutine that ended with an error, before it is closed: called by the
-- prompt's resume and wrap.
function errors.coroutine_failed(co, value)
  if type(value) ~= 'string' then return end
  local frames = {}
  for level = 0, MAX_FRAMES - 1 do
    local info = debug.getinfo(co, level, 'Slnfut')
    if not info then break end
    if errors.full or not is_internal(info) then
      local frame = {
        source = info.short_src, line = info.currentline, what = info.what, name = function_name(info), tail_call = info.istailcall,
      }
      if info.what ~= 'C' then require('repl.debugger').remember(frame, level, info.func, co) end
      frames[#frames + 1] = frame
    end
  end
  failed_coroutine = {message = value, frames = frames}
end

-- Called when a new cell begins.
function errors.forget_coroutine() failed_coroutine = nil end

-- For an error from a coroutine, puts the frames of the coroutine first.
local function with_coroutine(message, frames)
  local failed = failed_coroutine
  failed_coroutine = nil
  if not failed or failed.message == '' or message:sub(-#failed.message) ~= failed.message then return frames end
  return table.move(frames, 1, #frames, #failed.frames + 1, failed.frames)
end

-- Moves an error that library code raised at its own position to the user's line.
local function at_user_line(message, frames)
  local rest, count = message:gsub('^%[ltensor [^%]]*%]:%d+: ', '', 1)
  if count == 0 or errors.full then return message end
  for _, frame in ipairs(frames) do
    if frame.line and frame.line > 0 then return ('%s:%d: %s'):format(frame.source, frame.line, rest) end
  end
  return rest
end

-- Message handler for xpcall: turns an error value into a report.
function errors.capture(value)
  local frames = with_coroutine(text_of(value), collect(true))
  return {value = value, message = at_user_line(text_of(value), frames), frames = frames}
end

-- A report for a failure before execution (a message of the compiler).
function errors.from_message(message)
  return {value = message, message = message, frames = {}}
end

-- ---- output -------------------------------------------------------------------------------------

local function line_of_file(path, number)
  local file = io.open(path)
  if not file then return nil end
  local count = 0
  for line in file:lines() do
    count = count + 1
    if count == number then file:close() return line end
  end
  file:close()
end

-- The column of the message's quoted name in the line, if it occurs exactly once.
local function column_of(message, line)
  local name = message:match "'([%a_][%w_]*)'"
  if not name then return nil end
  local pattern = '%f[%w_]' .. name .. '%f[^%w_]'
  local start, stop = line:find(pattern)
  if start and not line:find(pattern, stop + 1) then return start, stop end
end

-- The entry of `names` most similar to `name`, if it is similar enough.
function errors.nearest(name, names) return require('torch')._C.nearest_name(name, names) end

local function frame_text(frame)
  if frame.skipped then return ('... %d more calls'):format(frame.skipped) end
  local where = frame.line > 0 and ('%s:%d'):format(frame.source, frame.line) or frame.source
  return printable(('%s: %s'):format(where, frame.name))
end

local no_value = {}
for word in ('do then else repeat end and or not in return'):gmatch '%a+' do no_value[word] = true end

-- A hint for an error in a line that begins with a parenthesis, which Lua reads as a call of the
-- end of the previous line; nil for other errors. The message names either of the two lines.
local function joined(message, number, line_at)
  for first = number - 1, message:find 'attempt to call' and number or number - 1 do
    local before, after = line_at(first), line_at(first + 1)
    local word = before and before:match '([%a_][%w_]*)%s*$'
    if before and after and message:find 'attempt to' and after:find '^%s*%(' and (before:find '[%)%]}"\']%s*$' or word and not no_value[word]) then
      return ('line %d begins with a parenthesis, so Lua reads it as a call of the expression that ends line %d: put a ; between them'):format(first + 1, first)
    end
  end
end

-- Lines for the report, as the prompt shows them: the message, the source line with a caret, the
-- frames with the innermost last. Optional functions in `context`: line_of(source, number), the
-- text of a line of a cell; suggest(message, line), a suggestion; and paint(kind, text), the text
-- in colour, where kind is 'message', 'caret', 'hint' or 'frame'.
function errors.lines(report, context)
  context = context or {}
  local paint = context.paint or function(_, text) return text end
  local message = report.message
  local lines = {paint('message', printable(message))}
  local source, number = message:match '^(%b()):(%d+):'
  if not source then source, number = message:match '^([^:\n]+):(%d+):' end
  number = math.tointeger(number)
  local function line_at(n) return (context.line_of and context.line_of(source, n)) or line_of_file(source, n) end
  local line = source and line_at(number)
  if line then
    line = printable(line)
    lines[#lines + 1] = ('%6s | %s'):format(number, line)
    local start, stop = column_of(message, line)
    if start then
      local before = line:sub(1, start - 1)
      before = before:gsub('[^\t]+', function(text) return (' '):rep(width.of(text)) end)
      lines[#lines + 1] = '         ' .. before .. paint('caret', '^' .. ('~'):rep(stop - start))
    end
  end
  local hint = context.suggest and context.suggest(message, line) or line and joined(message, number, line_at)
  if hint then lines[#lines + 1] = paint('hint', hint) end
  local shown = {}
  for index = #report.frames, 1, -1 do
    local frame = report.frames[index]
    if errors.full or frame.what ~= 'C' then shown[#shown + 1] = paint('frame', '  ' .. frame_text(frame)) end
  end
  if #shown > 1 or report.interrupted then table.move(shown, 1, #shown, #lines + 1, lines) end
  return lines
end

-- A traceback for scripts, in the form of Lua's own interpreter.
function errors.script(value)
  local metatable = getmetatable(value)
  if value == nil then value = 'nil' end
  if type(metatable) == 'table' and metatable.__tostring and type(value) ~= 'string' then
    local ok, text = pcall(tostring, value)
    if ok then return printable(tostring(text)) end
  end
  local frames = collect()
  while #frames > 0 and frames[#frames].what == 'C' and frames[#frames].name == 'in C code' do
    frames[#frames] = nil
  end
  local lines = {printable(at_user_line(text_of(value), frames)), 'stack traceback:'}
  for _, frame in ipairs(frames) do
    lines[#lines + 1] = '\t' .. frame_text(frame)
    if frame.tail_call then lines[#lines + 1] = '\t(...tail calls...)' end
  end
  return table.concat(lines, '\n')
end

return errors
