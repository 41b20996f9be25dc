-- The prompt: reads cells, runs them, shows their values and errors.
--
-- On a terminal it has line editing, history, completion and Ctrl-C; otherwise (`-i` with a pipe)
-- it reads plain lines. May use the other modules of repl, and readline only on a terminal.

local indent = require 'repl.edit.indent'
local input = require 'repl.input'
local interrupt = require 'repl.interrupt'
local ranks = require 'repl.ranks'
local session = require 'repl.session'
local system = require 'repl.system'
local theme = require 'repl.edit.theme'
local width = require 'torch.utils.width'

local SLOW_SECONDS = 1

local prompt = {}

-- ---- the terminal --------------------------------------------------------------------------

local function has_colour(terminal)
  local no_colour = os.getenv 'NO_COLOR'
  return terminal and (not no_colour or no_colour == '') and os.getenv 'TERM' ~= 'dumb'
end

-- The text in the colour of its kind, if colours are on.
local function painted(state, kind, text)
  local colour = state.colour and theme.of(state.theme)[kind]
  return colour and colour .. text .. '\27[0m' or text
end

-- Limits the width of output to the terminal and to PyTorch's default.
local function fit(state)
  local columns = system.size()
  local torch = package.loaded.torch
  local set = type(torch) == 'table' and rawget(torch, 'set_printoptions')
  if set and state.linewidth ~= columns then
    local current = rawget(torch, 'get_printoptions')().linewidth
    if current == (state.linewidth and math.min(80, state.linewidth) or 80) then -- unchanged by the user
      set {linewidth = math.min(80, math.max(columns, 20))}
      state.linewidth = math.max(columns, 20)
    end
  end
  return math.min(79, math.max(columns, 20) - 1)
end

-- Writes text, through the user's pager if it is longer than the terminal.
local function write_long(state, text)
  local columns, rows = system.size()
  local needed = 0
  if state.terminal and state.pager ~= false then
    for line in text:gsub('\27%[[%d;]*m', ''):gmatch '[^\n]*' do
      needed = needed + 1 + (width.of(line) - 1) // columns
    end
  end
  if needed >= rows and os.getenv 'TERM' ~= 'dumb' then
    local command = os.getenv 'PAGER'
    if not command or command == '' then command = 'LESS=${LESS--FRX} less' end
    io.flush()
    if require('repl.shell').page(text, command) ~= 127 then return end -- 127: there is no such program
  end
  io.write(text)
end

-- Shown as long as the history is empty.
local FIRST_START = [[
  A cell is Lua: try torch.arange(6):reshape(2, 3); positions count from 1
  Tab completes a name, ?torch.sum explains it, Up brings back cells
  %run file.lua runs a script; !ltensor --doctor lists the libraries found]]

local function print_wrapped(text)
  for _, line in ipairs(require('repl.wrapped').lines(text, '  ')) do print(line) end
end

local function banner(state)
  local torch = package.loaded.torch
  local version = type(torch) == 'table' and rawget(torch, '__version__')
  print(('ltensor%s, %s   ?: help   %%quit: leave'):format(
    type(version) == 'string' and ' ' .. version or '', _VERSION))
  local simulated = session.cuda_function 'is_simulated'
  local count = session.cuda_function 'device_count'
  if simulated and simulated() then
    print_wrapped(('%d simulated GPU%s: the same kernels, run by the CPU; their speed is not the speed of a GPU'):format(
      count(), count() == 1 and '' or 's'))
  end
  if state.first_start then print_wrapped(FIRST_START) end
end

-- Readers of lines: read(prompt, text, cursor, continues) returns a line, edited from the initial
-- `text` (nil at the end of input, false after Ctrl-C); true if the user went back to the lines
-- that it continues; and the number of terminal rows that the line occupies.
local function is_unfinished(state, text) return input.is_unfinished(state, input.without_prompts(text)) end

local function plain_reader(text)
  io.write(text)
  io.flush()
  return io.read 'l'
end

local function editing_reader(state)
  local readline = require 'repl.edit.readline'
  local kinds
  readline.set_completer(function(before, word)
    local text = table.concat(state.lines, '\n')
    local words
    words, kinds = require('repl.edit.complete').words(state, #state.lines > 0 and text .. '\n' .. before or before, word)
    return words
  end, function(words, columns)
    local lines = require('repl.edit.menu').lines(words, kinds, columns, function(label) return painted(state, 'label', label) end)
    return table.concat(lines, '\n')
  end)
  readline.set_judge(function(text, point)
    return is_unfinished(state, text) and #(indent.for_next(text:sub(1, point)) or '') or nil
  end)
  readline.set_highlighter(function(text, point)
    local before = #state.lines > 0 and table.concat(state.lines, '\n') .. '\n' or ''
    local hidden = indent.excess(text, state.indent)
    return require('repl.edit.highlight').classes(before .. text, #before, point, hidden)
  end, state.colour)
  return readline.read
end

-- The reader of the debugger's commands.
local function command_reader(state, read)
  return function(text)
    if state.recorder.inside_line() then print() end
    state.lines, state.indent = {}, nil
    return (read(text))
  end
end

-- ---- history -------------------------------------------------------------------------------

local function open_history(state)
  local history = require 'repl.edit.history'
  local readline = require 'repl.edit.readline'
  local path = history.path()
  local last
  for _, cell in ipairs(history.load(path)) do
    readline.add_history(cell)
    last = cell
  end
  state.first_start = not last
  return function(cell)
    if cell == last then return end
    last = cell
    readline.add_history(cell)
    if not path then return end
    local ok, message = history.append(path, cell)
    if not ok and not state.history_failed then
      state.history_failed = true
      io.stderr:write('history is not kept: ', message, '\n')
    end
  end
end

-- ---- reading a cell ------------------------------------------------------------------------

-- Erases `rows` terminal rows, up to the cursor's.
local function erase(rows)
  io.write('\r', rows > 1 and ('\27[%dA'):format(rows - 1) or '', '\27[J')
  io.flush()
end

-- Reads lines until they form a cell. Returns its text, nil at the end of input, or false if it was
-- cancelled.
local function read_cell(state, read)
  local first = ('In [%d]: '):format(state.count + 1)
  local continuation = (' '):rep(#first - 5) .. '...: '
  local lines, rows = {}, 0
  local initial, cursor = state.next_text, nil
  state.lines, state.next_text = lines, nil
  while true do
    local continues = state.terminal and #lines > 0
    state.indent = continues and indent.for_next(table.concat(lines, '\n')) or nil
    local line, reopened, taken = read(#lines == 0 and first or continuation, initial or state.indent, cursor, continues)
    initial, cursor = nil, nil
    rows = rows + (taken or 0)
    if line == false then return false end
    if line == nil then
      if state.terminal then print() end
      return #lines > 0 and table.concat(lines, '\n') or nil
    end
    if reopened then
      cursor = #table.concat(lines, '\n')
      lines[#lines + 1] = line
      initial = table.concat(lines, '\n')
      erase(rows)
      lines, rows = {}, 0
      state.lines = lines
    else
      lines[#lines + 1] = line:sub(indent.excess(line, state.indent) + 1)
      local text = input.without_prompts(table.concat(lines, '\n'))
      if not text:find '%S' then return '' end
      if not is_unfinished(state, text) then return text end
    end
  end
end

-- ---- output -------------------------------------------------------------------------------------

local function show_report(state, report)
  local lines = state:error_lines(report, function(kind, text) return painted(state, kind, text) end, state.terminal and system.size() or nil)
  io.stderr:write(table.concat(lines, '\n'), '\n')
end

local function show(state, result)
  -- readline and aligned output assume that the cursor is at the start of a line
  if state.terminal and state.recorder.inside_line() then print() end
  if result.text then
    local gap = result.text:find('\n', 1, true) and '\n' or ' '
    write_long(state, painted(state, 'out', ('Out[%d]:'):format(result.number)) .. gap .. result.text .. '\n')
  end
  io.flush()
  if result.hint then print(painted(state, 'hint', result.hint)) end
  if result.report then show_report(state, result.report) end
  if result.seconds >= SLOW_SECONDS and state.terminal and state.time ~= false then
    print(painted(state, 'time', ('%.2f s'):format(result.seconds)))
  end
end

-- ---- the loop ------------------------------------------------------------------------------

-- Creates exit() and quit(). In a host, they only end the prompt, by an error that is not shown.
local function leave_function(state, hosted)
  if not hosted then
    return function(code) os.exit(code == nil and true or code, true) end
  end
  return function()
    state.leaving = true
    error('the prompt ends', 0)
  end
end

local function run_init(state)
  local folder = os.getenv 'XDG_CONFIG_HOME'
  if not folder or folder == '' then folder = (os.getenv 'HOME' or '') .. '/.config' end
  local path = folder .. '/ltensor/init.lua'
  local file = io.open(path)
  if not file then return end
  file:close()
  local chunk, message = loadfile(path)
  if not chunk then io.stderr:write(message, '\n') return end
  local ok, report = state:protect(chunk)
  if not ok then show_report(state, report) end
end

-- Runs the prompt until the end of input. ignore_environment: read no init file; hosted: the
-- interpreter belongs to another program, so its state is restored at the end; script: a file to
-- run first.
function prompt.main(ignore_environment, hosted, script)
  if not hosted and ranks.begin() then return end
  local state = session.new()
  local old_exit, old_quit = rawget(_G, 'exit'), rawget(_G, 'quit')
  state.leave = leave_function(state, hosted)
  rawset(_G, 'exit', state.leave)
  rawset(_G, 'quit', state.leave)
  state.given_names.exit, state.given_names.quit = true, true
  state.terminal = system.isatty(0) and system.isatty(1)
  state.edits_next = state.terminal
  state.colour = has_colour(state.terminal)
  local read, remember = plain_reader, function() end
  state.recorder = require 'repl.recorder'
  state.recorder.start()
  if state.terminal then
    interrupt.install()
    interrupt.watch(function(...) require('repl.errors').coroutine_failed(...) end) -- loaded when one fails
    require('repl.stoppable').install()
    state.width = function() return fit(state) end
    read = editing_reader(state)
    state.read_command = command_reader(state, read)
    remember = open_history(state)
  end
  if script then
    local report = require('repl.script').run(state, script, rawget(_G, 'arg'))
    io.flush()
    if report then show_report(state, report) end
  end
  if not ignore_environment and not os.getenv 'LTENSOR_INIT' then run_init(state) end
  if state.terminal then banner(state) end
  while not state.leaving do
    local text = read_cell(state, read)
    if text == nil then break end
    if text and text ~= '' then
      remember(text)
      local result = input.run(state, text)
      if not state.leaving then show(state, result) end
    end
  end
  ranks.finish()
  state.recorder.stop()
  rawset(_G, 'exit', old_exit)
  rawset(_G, 'quit', old_quit)
  if state.terminal then
    require('repl.stoppable').restore()
    interrupt.restore()
    require('repl.edit.readline').restore()
  end
end

return prompt
