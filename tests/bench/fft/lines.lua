-- lines.lua - the half of make bench-fft that is ltensor: for each line of the input, "kind type length lines repetitions", the seconds that
-- one transform took. beside.py asks.

local torch = require 'torch'
local clock = torch._C.clock

torch.set_num_threads(tonumber(arg[1]))

local function input(kind, dtype, n, lines)
  local x = torch.randn(lines, n, { dtype = dtype })
  if kind == 'fft' then return torch.complex(x, x:flip(2)) end
  return kind == 'irfft' and torch.fft.rfft(x) or x
end

local last, x
for request in io.lines() do
  local kind, name, n, lines, repetitions = request:match '(%S+) (%S+) (%d+) (%d+) (%d+)'
  n, lines, repetitions = math.tointeger(n), math.tointeger(lines), math.tointeger(repetitions)
  local key = table.concat({ kind, name, n, lines }, ' ')
  if key ~= last then
    x = nil
    collectgarbage()
    last, x = key, input(kind, torch[name], n, lines)
  end
  local transform = torch.fft[kind]
  transform(x, n)
  local start = clock()
  for _ = 1, repetitions do transform(x, n) end
  print(('%.9f'):format((clock() - start) / repetitions))
  io.flush()
end
