-- The prompt: reads cells, runs them, shows their values and errors.
--
-- On a terminal with line editing, history, completion and Ctrl-C; otherwise (`-i` with a pipe) it
-- reads plain lines. May use the other modules of repl, and readline only on a terminal.

local input = require 'repl.input'
local interrupt = require 'repl.interrupt'
local lexer = require 'repl.lexer'
local session = require 'repl.session'
local system = require 'repl.system'

local SLOW_SECONDS = 1

local prompt = {}

-- ---- the terminal --------------------------------------------------------------------------

local function has_colour(terminal)
  local no_colour = os.getenv 'NO_COLOR'
  return terminal and (not no_colour or no_colour == '') and os.getenv 'TERM' ~= 'dumb'
end

local function dimmed(state, text)
  return state.colour and '\27[2m' .. text .. '\27[0m' or text
end

local function banner()
  local torch = package.loaded.torch
  local version = type(torch) == 'table' and rawget(torch, '__version__')
  print(('ltensor%s, %s   ?: help   %%quit: leave'):format(
    type(version) == 'string' and ' ' .. version or '', _VERSION))
  local simulated = session.cuda_function 'is_simulated'
  local count = session.cuda_function 'device_count'
  if simulated and simulated() then
    print(('%d simulated GPU%s: the same kernels, run by the CPU; their speed says nothing'):format(
      count(), count() == 1 and '' or 's'))
  end
end

-- A reader of lines: read(prompt, indent) returns a line, nil at the end, false after Ctrl-C.
local function plain_reader(text)
  io.write(text)
  io.flush()
  return io.read 'l'
end

local function editing_reader(state)
  local readline = require 'repl.readline'
  readline.set_completer(function(before, word)
    local text = table.concat(state.lines, '\n')
    return require('repl.complete').words(state, #state.lines > 0 and text .. '\n' .. before or before, word)
  end)
  return readline.read
end

-- ---- history -------------------------------------------------------------------------------

local function open_history(state)
  local history = require 'repl.history'
  local readline = require 'repl.readline'
  local path = history.path()
  local last
  for _, cell in ipairs(history.load(path)) do
    readline.add_history(cell)
    last = cell
  end
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

-- Blanks for a continuation line; none where they would become part of a string.
local function indent_for(lines)
  local text = table.concat(lines, '\n')
  local tokens = lexer.tokens(text)
  if tokens[#tokens] and tokens[#tokens].kind == 'unfinished' then return nil end
  local depth = lexer.depth(text)
  return depth > 0 and ('  '):rep(depth) or nil
end

-- The line without the part of the inserted indentation that its first word takes back.
local function without_excess(line, indent)
  if not indent or line:sub(1, #indent) ~= indent then return line end
  local rest = line:sub(#indent + 1)
  local word = rest:match '^%a+' or rest:match '^[})%]]'
  local closes = word == 'end' or word == 'else' or word == 'elseif' or word == 'until' or
    (word and not word:find '%a')
  return closes and line:sub(3) or line
end

-- Reads lines until they are a cell: its text, nil at the end of input, false when it was dropped.
local function read_cell(state, read)
  local first = ('In [%d]: '):format(state.count + 1)
  local continuation = (' '):rep(#first - 5) .. '...: '
  local lines = {}
  state.lines = lines
  while true do
    local indent = state.terminal and #lines > 0 and indent_for(lines) or nil
    local line = read(#lines == 0 and first or continuation, indent)
    if line == false then return false end
    if line == nil then
      if state.terminal then print() end
      return #lines > 0 and table.concat(lines, '\n') or nil
    end
    lines[#lines + 1] = without_excess(line, indent)
    local text = input.without_prompts(table.concat(lines, '\n'))
    if not text:find '%S' then return '' end
    if input.is_command(text) or state:status(text) ~= 'incomplete' then return text end
  end
end

-- ---- showing -------------------------------------------------------------------------------

local function show(state, result)
  if result.text then
    local gap = result.text:find('\n', 1, true) and '\n' or ' '
    io.write(('Out[%d]:'):format(result.number), gap, result.text, '\n')
  end
  io.flush()
  if result.report then
    io.stderr:write(table.concat(state:error_lines(result.report), '\n'), '\n')
  end
  if result.seconds >= SLOW_SECONDS and state.terminal and state.show_time ~= false then
    print(dimmed(state, ('%.2f s'):format(result.seconds)))
  end
end

-- ---- the loop ------------------------------------------------------------------------------

local function leave(code) os.exit(code == nil and true or code, true) end

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
  if not ok then io.stderr:write(table.concat(state:error_lines(report), '\n'), '\n') end
end

-- Runs the prompt until the input ends. ignore_environment: read no init file.
function prompt.main(ignore_environment)
  rawset(_G, 'exit', leave)
  rawset(_G, 'quit', leave)
  local state = session.new()
  state.terminal = system.isatty(0) and system.isatty(1)
  state.colour = has_colour(state.terminal)
  local read, remember = plain_reader, function() end
  if state.terminal then
    interrupt.install()
    read = editing_reader(state)
    remember = open_history(state)
  end
  if not ignore_environment and not os.getenv 'LTENSOR_INIT' then run_init(state) end
  if state.terminal then banner() end
  while true do
    local text = read_cell(state, read)
    if text == nil then break end
    if text and text ~= '' then
      remember(text)
      show(state, input.run(state, text))
    end
  end
  if state.terminal then interrupt.restore() end
end

return prompt
