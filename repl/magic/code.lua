-- Magics that take code: the rest of their line and the lines of the cell below it.
--
-- Their functions receive (session, code, padding): the code, and the newlines that keep its line
-- numbers. May use repl.cell, repl.system, repl.wrapped and torch through package.loaded.

local cell = require 'repl.cell'
local system = require 'repl.system'

local magics = {}

local function synchronize()
  local torch = package.loaded.torch
  local cuda = type(torch) == 'table' and rawget(torch, 'cuda')
  if type(cuda) ~= 'table' or not cuda.is_available or not cuda.is_available() then return end
  for index = 0, cuda.device_count() - 1 do cuda.synchronize(index) end
end

local function seconds_text(seconds)
  if seconds < 1e-6 then return ('%.0f ns'):format(seconds * 1e9) end
  if seconds < 1e-3 then return ('%.3g us'):format(seconds * 1e6) end
  if seconds < 1 then return ('%.3g ms'):format(seconds * 1e3) end
  return ('%.3g s'):format(seconds)
end

local function need_code(code)
  if not code:find '%S' then error('which code?', 0) end
end

magics.time = {'%time code', 'runs the whole cell once and shows its time',
function(session, code, padding)
  need_code(code)
  local start, cpu = system.clock(), os.clock()
  local result = session:run(padding .. code, session.count)
  synchronize()
  print(('wall %s, CPU %s'):format(seconds_text(system.clock() - start), seconds_text(os.clock() - cpu)))
  return result
end, takes_code = true, varies = true}

-- Seconds for n runs, including work on devices.
local function measure(run, n)
  synchronize()
  local start = system.clock()
  for _ = 1, n do run() end
  synchronize()
  return system.clock() - start
end

magics.timeit = {'%timeit [-n N] [-r R] code', 'runs the code R times N times and shows the median time of a run',
function(session, code, padding)
  local n, repeats = nil, 7
  while true do
    local option, value, rest = code:match '^%-([nr])[ \t]*(%d+)[ \t]*(.*)$'
    if not option then break end
    if option == 'n' then n = math.max(1, tonumber(value)) else repeats = math.max(1, tonumber(value)) end
    code = rest
  end
  need_code(code)
  local compiled, message = cell.compile(padding .. code, '=' .. session:chunk_name(), session.scope)
  if not compiled then error(message, 0) end
  if not n then
    n = 1
    while measure(compiled.run, n) < 0.2 and n < 1e8 do n = n * 10 end
    n = n > 1 and n // 2 or 1
  end
  local times = {}
  for index = 1, repeats do times[index] = measure(compiled.run, n) / n end
  table.sort(times)
  print(('%s a run, from %s to %s (median of %d times %d runs)'):format(
    seconds_text(times[(#times + 1) // 2]), seconds_text(times[1]), seconds_text(times[#times]), repeats, n))
end, takes_code = true, varies = true}

magics.ranks = {'%%ranks code', 'runs the cell on all processes of `ltensor --nproc N` and shows the output of each',
function(session, code, padding)
  need_code(code)
  return require('repl.ranks').run(session, padding .. code)
end, takes_code = true}

magics.prun = {'%prun [-s column] [-n rows] code',
  "runs the code under torch.profiler and shows its operations, the slowest first; column: count, cpu_time_total, memory ...",
function(session, code, padding)
  local sort_by, rows = 'self_cpu_time_total', 20
  while true do
    local option, value, rest = code:match '^%-([sn])[ \t]*([%w_]+)[ \t]*(.*)$'
    if not option then break end
    if option == 's' then sort_by = value else rows = tonumber(value) or rows end
    code = rest
  end
  need_code(code)
  local torch = package.loaded.torch
  local profiler = type(torch) == 'table' and torch.profiler
  if not profiler then error('torch.profiler is not loaded', 0) end
  local recording = profiler.profile()
  local result = session:run(padding .. code, session.count)
  recording:stop()
  print(recording:key_averages():table {sort_by = sort_by, row_limit = rows, max_width = require('repl.wrapped').columns()})
  return result
end, takes_code = true, varies = true}

return magics
