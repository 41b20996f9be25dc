-- Errors for the user: the message, the source line, and the user's frames.
--
-- capture() is the message handler of each protected call of the program: it reads the stack before
-- it is unwound and returns a report, a table {value, message, frames}. Frames of chunks embedded
-- in the program (names that begin with "[ltensor ") are left out, unless full tracebacks are
-- enabled. May use repl.echo, repl.debug.report and torch.utils.width.

local width = require 'torch.utils.width'

local errors = {full = false, minimal = false}

local INTERNAL = '=[ltensor '
local MAX_FRAMES = 40
local CARET_INDENT = 9 -- columns before a source line

-- True for a chunk of the program or of the library.
function errors.is_internal(info) return info.source:sub(1, #INTERNAL) == INTERNAL end

-- The function of a frame in words; info: the fields Snf of debug.getinfo.
function errors.function_name(info)
  if info.what == 'main' then return 'in main chunk' end
  local name = require('repl.echo').library_name(info.func, info.name)
  if name then return ("in function '%s'"):format(name) end
  if info.namewhat ~= '' then return ("in %s '%s'"):format(info.namewhat, info.name) end
  if info.short_src:find '^%(cell %d+%)$' and info.linedefined == 1 and info.isvararg then
    return 'in the cell'
  end
  if info.what == 'C' then return 'in C code' end
  return ('in function <%s:%d>'):format(info.short_src, info.linedefined)
end

-- The mode of later errors: 'minimal' (the message), 'user' (the user's frames) or 'full'.
function errors.mode() return errors.full and 'full' or errors.minimal and 'minimal' or 'user' end

function errors.set_mode(mode) errors.full, errors.minimal = mode == 'full', mode == 'minimal' end

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
-- both ends, with {skipped = n} between. The caller of this function is called by a handler in C,
-- through `between` other functions. Frames keep their values for %debug and suggestions.
local function collect(between)
  local frames, level, depth = {}, 4 + (between or 0), stack_depth()
  while true do
    if depth > 2 * MAX_FRAMES and level == MAX_FRAMES // 2 then
      frames[#frames + 1] = {skipped = depth - MAX_FRAMES}
      level = depth - MAX_FRAMES // 2
    end
    local info = debug.getinfo(level, 'Slnfut')
    if not info then break end
    if info.source == INTERNAL .. 'repl.session]' and not errors.full then break end
    if errors.full or not errors.is_internal(info) then
      local frame = {
        source = info.short_src, line = info.currentline, what = info.what, name = errors.function_name(info),
        tail_call = info.istailcall,
      }
      if info.what ~= 'C' then require('repl.debug.report').remember(frame, level, info.func) end
      frames[#frames + 1] = frame
    end
    level = level + 1
  end
  return frames
end

-- The last failure in a coroutine or in a callback of the library: its error value and frames,
-- innermost first; is_whole: they include the frames of the callback's caller.
local failed_coroutine

-- For an error from a coroutine, puts the frames of the coroutine first; for one from a callback,
-- returns the frames of the callback. The error may have got positions in front.
local function with_coroutine(value, frames)
  local failed = failed_coroutine
  failed_coroutine = nil
  if not failed then return frames end
  local same = rawequal(value, failed.value)
  if not same and type(value) == 'string' and type(failed.value) == 'string' and failed.value ~= '' then
    same = value:sub(-#failed.value) == failed.value
  end
  if not same then return frames end
  return failed.is_whole and failed.frames or table.move(frames, 1, #frames, #failed.frames + 1, failed.frames)
end

-- Records the frames of a coroutine that ended with an error, before it is closed: called by the
-- program's resume and wrap.
function errors.coroutine_failed(co, value)
  if value == nil then return end
  local frames = {}
  for level = 0, MAX_FRAMES - 1 do
    local info = debug.getinfo(co, level, 'Slnfut')
    if not info then break end
    if errors.full or not errors.is_internal(info) then
      local frame = {
        source = info.short_src, line = info.currentline, what = info.what, name = errors.function_name(info), tail_call = info.istailcall,
      }
      if info.what ~= 'C' then require('repl.debug.report').remember(frame, level, info.func, co) end
      frames[#frames + 1] = frame
    end
  end
  failed_coroutine = {value = value, frames = with_coroutine(value, frames)}
end

-- Records the frames when a callback that C code protects, such as a hook of backward(), fails:
-- called by a function in C, in the callback's message handler.
function errors.callback_failed(value)
  if value == nil then return end
  failed_coroutine = {value = value, frames = with_coroutine(value, collect(1)), is_whole = true}
end

-- Called when a new cell begins.
function errors.forget_coroutine() failed_coroutine = nil end

-- Moves an error that library code raised at its own position to the user's line.
local function at_user_line(message, frames)
  local rest, count = message:gsub('^%[ltensor [^%]]*%]:%d+: ', '', 1)
  if count == 0 or errors.full then return message end
  for _, frame in ipairs(frames) do
    if frame.line and frame.line > 0 then return ('%s:%d: %s'):format(frame.source, frame.line, rest) end
  end
  return rest
end

-- The position at the start of a message: the source, the line, and the rest.
local function position_of(message)
  local source, line, rest = message:match '^(%b()):(%d+): (.*)$'
  if not source then source, line, rest = message:match '^(%[string ".-"%]):(%d+): (.*)$' end
  if not source then source, line, rest = message:match '^([^:\n]+):(%d+): (.*)$' end
  return source, math.tointeger(line), rest
end

-- Removes the positions of calls that passed an error on, which the frames contain: coroutine.wrap
-- and error(message) prepend theirs to the position of the cause.
local function at_cause(message, frames)
  local known = {}
  for _, frame in ipairs(frames) do
    if frame.line and frame.line > 0 then
      known[frame.source] = true
      known[('%s:%d'):format(frame.source, frame.line)] = true
    end
  end
  while true do
    local source, line, rest = position_of(message)
    if not source or not known[('%s:%d'):format(source, line)] then return message end
    local cause = position_of(rest)
    if not cause or not (known[cause] or cause:find '%.lua$') then return message end
    message = rest
  end
end

-- A report for an error value with the frames of collect().
local function report_of(value, message, frames)
  frames = with_coroutine(value, frames)
  return {value = value, message = at_cause(at_user_line(message, frames), frames), frames = frames}
end

-- Message handler for xpcall: turns an error value into a report.
function errors.capture(value)
  if errors.on_raise then errors.on_raise(value) end -- the debugger's
  local frames = collect()
  return report_of(value, text_of(value), frames)
end

-- A report for a failure before execution (a message of the compiler).
function errors.from_message(message)
  return {value = message, message = message, frames = {}}
end

-- ---- output -------------------------------------------------------------------------------------

-- The text of a chunk of a file, of stdin or of -e; nil if it is unknown.
local function text_of_chunk(source)
  local kept = debug.getregistry()['ltensor.sources'] -- main.c stores texts that no file has
  if type(kept) == 'table' and kept[source] then return kept[source] end
  local file = io.open(source)
  local text = file and file:read 'a'
  if file then file:close() end
  return text
end

local function line_of(text, number)
  local count = 0
  for line in (text .. '\n'):gmatch '([^\n]*)\n' do
    count = count + 1
    if count == number then return line end
  end
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

-- The part of a line around columns start to stop (byte offsets) that is at most `columns` wide, with
-- dots at its cut ends, and the offsets in it. Cut are only lines of single-width characters.
local function around(line, start, stop, columns)
  if #line <= columns or #line ~= width.of(line) or line:find '\t' then return line, start, stop end
  local first = math.max(1, math.min(start - columns // 3, #line - columns + 1))
  local last = math.min(#line, first + columns - 1)
  local part = line:sub(first, last)
  if first > 1 then part = '...' .. part:sub(4) end
  if last < #line then part = part:sub(1, -4) .. '...' end
  return part, start - first + 1, math.min(stop, last) - first + 1
end

-- The first frame at the position; nil if there is none.
local function frame_at(frames, source, number)
  for _, frame in ipairs(frames) do
    if frame.source == source and frame.line == number then return frame end
  end
end

-- The first frame that is not of a C function.
local function innermost(frames)
  for _, frame in ipairs(frames) do
    if frame.what ~= 'C' then return frame end
  end
end

-- The message, the source line with a caret and a hint; and whether the innermost frame has the
-- position of the message. context, paint: as for errors.lines.
local function head_lines(report, context, paint)
  local message = report.message
  local lines = {paint('message', printable(message))}
  local in_module = message:match '^error loading module .-:\n\t(.*)$'
  local source, number = position_of(in_module or message)
  local text = source and (context.text_of and context.text_of(source) or text_of_chunk(source))
  local function line_at(n) return text and line_of(text, n) end
  local line = line_at(number)
  if line then
    line = printable(line)
    local start, stop = column_of(message, line)
    local shown = line
    if start and context.columns then shown, start, stop = around(line, start, stop, context.columns - CARET_INDENT) end
    lines[#lines + 1] = ('%6s | %s'):format(number, shown)
    if start then
      local before = shown:sub(1, start - 1)
      before = before:gsub('[^\t]+', function(part) return (' '):rep(width.of(part)) end)
      lines[#lines + 1] = (' '):rep(CARET_INDENT) .. before .. paint('caret', '^' .. ('~'):rep(stop - start))
    end
  end
  local frame = source and frame_at(report.frames, source, number)
  local refused = line and (#report.frames == 0 or in_module) and {text = text, number = number} or nil
  local hint = context.suggest and context.suggest(message, line, frame, refused) or line and joined(message, number, line_at)
  for part in (hint or ''):gmatch '[^\n]+' do lines[#lines + 1] = paint('hint', printable(part)) end
  return lines, frame == nil or frame == innermost(report.frames)
end

-- Lines for the report, as the prompt shows them: the message, the source line with a caret, the
-- frames with the innermost last. Optional functions in `context`: text_of(source), the text of a
-- cell; suggest(message, line, frame, refused), a suggestion, where `refused` is the {text, number}
-- that the compiler has refused, or nil; and paint(kind, text), the text in colour, where kind is
-- 'message', 'caret', 'hint' or 'frame'. columns: the width of the terminal, to which a source line
-- with a caret is cut.
function errors.lines(report, context)
  context = context or {}
  local paint = context.paint or function(_, text) return text end
  if errors.minimal then return {paint('message', printable(report.message))} end
  local lines, is_innermost = head_lines(report, context, paint)
  local shown = {}
  for index = #report.frames, 1, -1 do
    local frame = report.frames[index]
    if errors.full or frame.what ~= 'C' then shown[#shown + 1] = paint('frame', '  ' .. frame_text(frame)) end
  end
  if #shown > 1 or report.interrupted or not is_innermost then table.move(shown, 1, #shown, #lines + 1, lines) end
  return lines
end

-- The suggestions for scripts, which have no session.
local function suggest_in_script(message, line, frame, refused)
  local suggest = require 'repl.suggest'
  return suggest.sentence({scope = suggest.scope(frame), environment = _G}, message, line, refused)
end

local function plain(_, text) return text end

-- Message handler for scripts: the message, the source line and a suggestion as at the prompt, then
-- the frames in the form of Lua's own interpreter.
function errors.script(value)
  local metatable = getmetatable(value)
  if value == nil then value = 'nil' end
  if type(metatable) == 'table' and metatable.__tostring and type(value) ~= 'string' then
    local ok, text = pcall(tostring, value)
    if ok then return printable(tostring(text)) end
  end
  local frames = collect()
  local report = report_of(value, text_of(value), frames)
  local lines = head_lines(report, {suggest = suggest_in_script}, plain)
  local head = #lines
  for _, frame in ipairs(report.frames) do
    if errors.full or frame.what ~= 'C' then lines[#lines + 1] = '\t' .. frame_text(frame) end
    if frame.tail_call then lines[#lines + 1] = '\t(...tail calls...)' end
  end
  if #lines > head then table.insert(lines, head + 1, 'stack traceback:') end
  return table.concat(lines, '\n')
end

-- The compiler's message for a script, with the source line.
function errors.refused(message) return table.concat(head_lines(errors.from_message(message), {suggest = suggest_in_script}, plain), '\n') end

return errors
