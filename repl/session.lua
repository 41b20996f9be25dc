-- A session: runs cells in order, with In, Out, `_` and persistent top-level locals.
--
-- All front ends (the prompt, notebooks, tests) run cells through this module. User code and the
-- display of values run inside of a protected call; the session never raises. It keeps the last 20
-- results, large tensors for three cells, and none if memory is exhausted. May use repl.cell,
-- repl.echo, repl.errors, repl.lexer, repl.suggest and the program's repl.interrupt and
-- repl.shell; torch only through package.loaded.

local cell = require 'repl.cell'
local later = require 'repl.later'
local echo, errors, suggest = later 'repl.echo', later 'repl.errors', later 'repl.suggest'
local conditions = later 'repl.conditions'
local interrupt = require 'repl.interrupt'
local lexer = require 'repl.lexer'
local shell = require 'repl.shell'
local system = require 'repl.system'

local KEPT_RESULTS = 20
local LARGE_BYTES = 64 << 20
local CELLS_OF_LARGE = 3

local Session = {}
Session.__index = Session

local session = {}

-- The field `name` of torch.cuda, if torch is loaded and has it.
local function cuda_function(name)
  local torch = package.loaded.torch
  local cuda = type(torch) == 'table' and rawget(torch, 'cuda')
  local found = type(cuda) == 'table' and rawget(cuda, name)
  return type(found) == 'function' and found or nil
end
session.cuda_function = cuda_function

-- Bytes of a tensor; 0 for anything else.
local function bytes_of(value)
  if type(value) ~= 'userdata' then return 0 end
  local ok, bytes = pcall(function() return value:numel() * value:element_size() end)
  return ok and math.type(bytes) == 'integer' and bytes or 0
end

local function largest(values)
  local bytes = 0
  for index = 1, values.n do bytes = math.max(bytes, bytes_of(values[index])) end
  return bytes
end

-- A new session. options.environment: where In, Out, help and `_` are set (default _G).
function session.new(options)
  local self = setmetatable({
    environment = options and options.environment or _G,
    scope = cell.scope(),
    inputs = {},
    shown = {},
    results = {},
    dropped = {},
    last = {},
    count = 0,
    given_names = {},
  }, Session)
  self:publish()
  session.current = self
  local torch = package.loaded.torch
  local set_reclaimer = type(torch) == 'table' and rawget(torch, '_C').set_reclaimer
  if set_reclaimer then set_reclaimer(function() self:drop_results() end) end
  for name in next, self.environment do self.given_names[name] = true end
  return self
end

-- Sets In, Out and, if the name is unused, help. Out reads the session's results and holds none
-- itself.
function Session:publish()
  local out = setmetatable({}, {
    __index = function(_, number)
      local kept = self.results[number]
      if kept then return kept.value end
      if self.dropped[number] then error(('Out[%d] dropped'):format(number), 2) end
    end,
    __pairs = function()
      local plain = {}
      for number, kept in pairs(self.results) do plain[number] = kept.value end
      return next, plain
    end,
    __tostring = function() return ('Out: %d results kept'):format(self:kept_results()) end,
  })
  rawset(self.environment, 'In', self.inputs)
  rawset(self.environment, 'Out', out)
  if rawget(self.environment, 'help') == nil then
    rawset(self.environment, 'help', function(topic) require('repl.help').of(self, topic) end)
  end
end

function Session:kept_results()
  local count = 0
  for _ in pairs(self.results) do count = count + 1 end
  return count
end

-- Releases all results.
function Session:drop_results()
  for number in pairs(self.results) do self.dropped[number] = true end
  self.results = {}
  for _, name in ipairs {'_', '__', '___'} do
    if rawequal(rawget(self.environment, name), self.last[name]) then rawset(self.environment, name, nil) end
    self.last[name] = nil
  end
end

-- Removes locals and the cells' inputs and results; globals stay.
function Session:reset()
  self:drop_results()
  self.scope, self.shown, self.failed = cell.scope(), {}, nil
end

local function tidy_results(self)
  for number, kept in pairs(self.results) do
    local age = self.count - number
    if age >= KEPT_RESULTS or (kept.bytes > LARGE_BYTES and age >= CELLS_OF_LARGE) then
      self.results[number] = nil
      self.dropped[number] = true
    end
  end
end

-- Shifts `_`, `__` and `___`, unless the user has redefined them.
local function shift_last(self, value, bytes)
  local names = {'___', '__', '_'}
  local previous = {['___'] = self.last['__'], ['__'] = self.last['_'], ['_'] = value}
  for _, name in ipairs(names) do
    local new = previous[name]
    if rawequal(rawget(self.environment, name), self.last[name]) then rawset(self.environment, name, new) end
    self.last[name] = new
  end
  self.results[self.count] = {value = value, bytes = bytes}
end

-- Whether the text is a complete cell: 'complete', 'incomplete' or 'invalid'.
function Session:status(source)
  local compiled, _, more = cell.compile(source, '=cell', self.scope)
  if compiled then return 'complete' end
  return more and 'incomplete' or 'invalid'
end

-- Converts the results of interrupt.call: true and the results, or false and a report.
local function outcome_of(ok, interrupted, ...)
  if ok then return true, ... end
  local report = ...
  -- Out-of-memory errors, and errors in the handler itself, have no report.
  if type(report) ~= 'table' then report = errors.from_message(tostring(report)) end
  report.interrupted = interrupted
  return false, report
end

-- Runs f(...) protected and interruptible: true and its results, or false and a report.
local function protected(f, ...) return outcome_of(interrupt.call(f, errors.capture, ...)) end

-- Runs a function of the program that may call user code; errors become reports.
function Session:protect(f, ...) return protected(f, ...) end

-- The chunk name of the current cell.
function Session:chunk_name() return ('(cell %d)'):format(self.count) end

-- Assigns a number to the next cell and stores its text; with self.unrecorded, the number is used
-- only in its errors.
function Session:begin_cell(source)
  local number = self.count + 1
  if not self.unrecorded then self.count = number end
  self.inputs[number] = source
  if self.recorder then self.recorder.begin() end
  errors.forget_coroutine()
  return number
end

-- Runs a command in the user's shell and returns its exit code. Its output is recorded if recording
-- is on.
function Session:shell(command) return shell.run(command, self.recorder ~= nil) end

local function origin(label)
  local set = cuda_function '_set_copy_origin'
  if set then set(label) end
end

local function is_output_handle(values, source)
  return values.n == 1 and rawequal(values[1], io.output()) and source:find 'write'
end

-- The text for the values, or nil; if showing them failed, a report as second result.
local function show(values, width)
  local ok, text = protected(echo.values, values, width)
  if ok then return text end
  return nil, text
end

-- Stores the output of a cell for %export and %debug.
local function keep_shown(self, result)
  local report = result.report
  self.shown[result.number] = {
    printed = self.recorder and self.recorder.text() or '',
    value = result.text,
    message = report and report.message:gsub('^%(cell %d+%):%d+: ', '') or nil,
    traceback = report and self:error_lines(report) or nil,
  }
  if report then self.failed = {message = report.message, frames = report.frames} end -- not the value
end

-- Ends the cell that begin_cell started and stores its output.
function Session:end_cell(result)
  if self.unrecorded then
    self.inputs[result.number] = nil
  else
    keep_shown(self, result)
  end
end

-- The module of scopes, if it is loaded.
local function scopes() return package.loaded['torch.autograd.scope'] end

-- A cell that ends in a call which opens a scope: ends the scope, which no block of the cell would
-- end, and returns the lines to write instead; nil for any other value.
local function bare_scope(values, source, opened)
  if values.n ~= 1 or not source:find '%)%s*$' or not scopes() or not scopes().end_bare(values[1], opened) then return nil end
  local call = source:match '([^\n;]-)%s*$':gsub('^%s*=?%s*', '')
  local text = ('this scope ended with the call, because no block contains it; write at the start of a block or cell:\n    local _ <close> = %s'):format(call)
  return call:find 'no_grad' and text .. '\nor, for all later cells, torch.set_grad_enabled(false)' or text
end

-- A sentence about a scope that the cell opened and that stays open; nil if there is none.
local function open_scope(opened)
  local place = scopes() and scopes().collect_dropped(opened)
  return place and ('the scope opened at %s stays open after the cell; it ends with the cell if you write local _ <close> = before the call'):format(place)
end

-- Runs the text as cell `number` (from begin_cell). Returns {number, seconds} and, after success,
-- values (packed), text (to show, or nil) and hint (or nil); after an error, report.
function Session:run(source, number)
  local name = ('(cell %d)'):format(number)
  local result = {number = number, seconds = 0}
  local compiled, message = cell.compile(source, '=' .. name, self.scope)
  if not compiled then
    result.report = errors.from_message(message)
    return result
  end
  origin(name)
  local width = self.width and self.width()
  local start = system.clock()
  local opened = scopes() and scopes().count() or 0
  local outcome = table.pack(protected(compiled.run))
  result.seconds = system.clock() - start
  if not outcome[1] then
    result.report = outcome[2]
  else
    local first = compiled.has_value and 3 or 2
    local values = table.pack(table.unpack(outcome, first, outcome.n))
    result.values = values
    result.hint = bare_scope(values, source, opened)
    if values.n > 0 and not result.hint and not compiled.silent and not is_output_handle(values, source) then
      result.text, result.report = show(values, width)
      if values.n == 1 and values[1] == nil then result.hint = self:undefined(source) end
      if result.text and not self.unrecorded then
        shift_last(self, values.n == 1 and values[1] or values, largest(values))
      end
    end
  end
  origin(nil)
  tidy_results(self)
  result.hint = result.hint or open_scope(opened)
  if self.strict ~= false then
    local notes = conditions.notes(self, source, compiled.outline, name)
    result.hint = result.hint and notes and notes .. '\n' .. result.hint or notes or result.hint
  end
  return result
end

-- The text of the cell with the chunk name `source`, for errors.
function Session:text_of(source)
  local number = tonumber(source:match '^%(cell (%d+)%)$')
  return number and self.inputs[number] or nil
end

-- A suggestion for the message, or nil; frame: that of the report in which the error occurred;
-- refused: the text that the compiler has refused, as {text, number of the line}.
function Session:suggest(message, line, frame, refused)
  local state = {scope = suggest.scope(frame, self.scope), environment = self.environment}
  return suggest.sentence(state, message, line, refused)
end

-- The message for a cell with the value nil: undefined, if the cell is only a name or a path of
-- fields.
function Session:undefined(source)
  local path = source:match '^%s*=?%s*([%a_][%w_.]*)%s*$'
  if not path or lexer.keywords[path] or path:find '%.%.' then return nil end
  return suggest.undefined(self, path)
end

-- The report of a failed cell as lines of text; paint(kind, text), if given, puts colours in; columns:
-- the width of the terminal, if there is one.
function Session:error_lines(report, paint, columns)
  if report.interrupted then
    return errors.lines({message = 'interrupted', frames = report.frames, interrupted = true}, {paint = paint})
  end
  return errors.lines(report, {
    text_of = function(source) return self:text_of(source) end,
    suggest = function(...) return self:suggest(...) end,
    paint = paint,
    columns = columns,
  })
end

return session
