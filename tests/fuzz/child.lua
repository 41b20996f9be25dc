-- child.lua - runs lines of Lua that a fuzzer draws, or again those of a file. Runs under watch.c.
--
--   ltensor [--sim-gpus 2] child.lua FUZZER new LOG SEED COUNT     draws COUNT lines from SEED and runs them
--   ltensor [--sim-gpus 2] child.lua FUZZER again LOG FILE         runs the lines of FILE
--
-- FUZZER is calls, files or expressions: a module whose open(note) gives a function that draws a line, and whose `names` are what the
-- lines can use beside the globals.
-- A line is written to LOG before it runs and its outcome, "+" or "-" and the message, after it: who reads the log knows which line ended
-- the program. Lines share the variables v1 to v8 and nothing else that they do not reach through the library.

local folder = arg[0]:match '^(.*)/' or '.'
package.path = folder .. '/?.lua;' .. package.path

local interrupt = require 'repl.interrupt'
local pcall, load, tostring, type, collectgarbage, pairs = pcall, load, tostring, type, collectgarbage, pairs
local gsub, sub = string.gsub, string.sub
local is_tensor = torch.is_tensor

local fuzzer, mode, log_path = require(arg[1]), arg[2], arg[3]
local log = assert(io.open(log_path, 'a'))
log:setvbuf 'no'
interrupt.install()

local environment = setmetatable({ nn = require 'torch.nn' }, { __index = _G })
for name, value in pairs(fuzzer.names or {}) do environment[name] = value end

-- What a line gives is looked at as a user would: shown, read to its last element, differentiated.
local function look(value)
  if is_tensor(value) then
    local text = tostring(value)
    if value:numel() < 100000 then
      local total = value:to(torch.float64):sum()
      if value.requires_grad and value.dtype.is_floating_point then value:sum():backward() end
      tostring(total)
    end
    return text
  elseif type(value) == 'table' then
    for _, item in pairs(value) do
      if is_tensor(item) then look(item) end
    end
  elseif type(value) == 'userdata' then
    return tostring(value)
  end
end

local function run_line(line)
  local chunk, message = load(line, '=line', 't', environment)
  if not chunk then return false, message end
  local results = table.pack(chunk())
  for i = 1, results.n do look(results[i]) end
  return true
end

local function shown(message)
  local ok, text = pcall(tostring, message)
  text = ok and type(text) == 'string' and text or '?'
  return (gsub(sub(text, 1, 400), '[%c]+', ' '))
end

local function handler(message) return shown(message) end

local count = 0
local function run(line)
  count = count + 1
  log:write(line, '\n')
  local ok, interrupted, message = interrupt.call(run_line, handler, line)
  log:write(ok and '+' or '-', interrupted and 'interrupted' or ok and '' or message or '', '\n')
  -- Modes that would make every later line alike.
  torch.set_grad_enabled(true)
  if count % 40 == 0 then pcall(collectgarbage) end
end

if mode == 'again' then
  for line in io.lines(arg[4]) do run(line) end
else
  local seed = math.tointeger(arg[4])
  math.randomseed(seed, torch.cuda.device_count())
  torch.manual_seed(seed)
  local draw = fuzzer.open(function(text) log:write('#', text, '\n') end)
  for _ = 1, math.tointeger(arg[5]) do
    local line
    repeat line = draw():gsub('%c', ' ') until #line < 4000
    run(line)
  end
end
log:write 'end\n'
