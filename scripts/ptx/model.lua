-- model.lua - estimates the fraction of a GPU's memory bandwidth that a kernel reaches, from its
-- machine code.
--
-- This is an estimate; nothing runs on a GPU. It computes three limits for one pass of a warp over
-- its elements, in cycles of a multiprocessor (SM), and combines them by a power mean with exponent
-- 4, so that similar limits add up:
--
--   memory    the bytes of the elements, at the bandwidth that a copy reaches
--   pipes     instructions per unit: issue (4 warps per cycle), integer and compare, load and store
--             (a 16-byte vector takes four times as long as a word), special functions,
--             conversions, doubles
--   latency   the warps that fit on an SM, each waiting for memory once per pass and issuing an
--             instruction every fourth cycle (Little's law); a kernel without a loop also pays for
--             the start of its blocks
--
-- Not modeled: cache hits, bank conflicts, partial sectors, the host. Elements are assumed to be
-- contiguous.
local sass = require 'sass'

local model = {}

-- H100 SXM5: NVIDIA's data sheet and tuning guide; latency: W. Luo et al. 2024 (480 cycles idle),
-- about 800 under load. float, double: SM cycles per warp instruction; on H100, float is bounded by
-- issue alone. wide: unit and cycles of a conversion from or to 64 bits.
local h100 = {
  name = 'H100 SXM5', sms = 132, clock = 1.755e9, bandwidth = 3.35e12, copies = 0.93, warps = 64, registers = 65536,
  shared = 227 * 1024, blocks = 32, latency = 800, start = 300, float = 0, double = 0.5, wide = { 'special', 2 },
}
-- Code for sm_75 runs on Turing only. T4: NVIDIA's data sheet, and the tables of the CUDA
-- Programming Guide for compute capability 7.5; values missing there are H100 values.
local t4 = {
  name = 'T4', sms = 40, clock = 1.59e9, bandwidth = 320e9, copies = 0.93, warps = 32, registers = 65536, shared = 64 * 1024, blocks = 16,
  latency = 800, start = 300, float = 0.5, double = 16, wide = { 'double', 16 },
}
model.gpu = h100

-- Selects the GPU for an architecture. Architectures newer than H100 also use H100, for comparable
-- tables.
function model.choose(arch) model.gpu = arch == '75' and t4 or h100 end

-- SM cycles per warp instruction.
local integer, special, convert = 0.5, 2, 2
local pipes = {
  IMAD = { 'multiply', 0.5 }, IMUL = { 'multiply', 0.5 }, MUFU = { 'special', special }, DADD = { 'double' }, DMUL = { 'double' },
  DFMA = { 'double' }, DSETP = { 'double' }, I2F = { 'special', convert }, F2I = { 'special', convert },
  F2F = { 'special', convert }, I2I = { 'special', convert }, FRND = { 'special', convert }, POPC = { 'special', convert },
  FLO = { 'special', convert }, SHFL = { 'memory', 1 }, BAR = { 'memory', 1 }, FADD = { 'float' }, FMUL = { 'float' }, FFMA = { 'float' },
  MOV = { 'issue', 0 }, BRA = { 'issue', 0 }, EXIT = { 'issue', 0 }, NOP = { 'issue', 0 },
}
local access = { [1] = 1, [2] = 1, [4] = 1, [8] = 2, [16] = 4, [32] = 8 }
-- A call of the 64-bit integer division routine: about 80 instructions.
local call = 40

-- Cycles of the busiest unit for the instructions of a path, and its name.
function model.cycles(way)
  local used = { issue = 0, integer = 0, multiply = 0, special = 0, float = 0, double = 0, memory = 0 }
  for _, i in ipairs(way) do
    used.issue = used.issue + 0.25
    if i.space then
      used.memory = used.memory + (access[i.width] or 1)
    elseif i.base == 'CALL' then
      used.integer = used.integer + call
    elseif i.base:find('^U') or i.base == 'S2R' or i.base == 'LDC' or i.base == 'ULDC' then
      used.issue = used.issue + 0 -- separate units, once per warp
    else
      local pipe = pipes[i.base]
      if i.base:find '^[IF]2[IF]$' and i.op:find '64' then pipe = model.gpu.wide end
      if pipe then
        used[pipe[1]] = used[pipe[1]] + (pipe[2] or model.gpu[pipe[1]])
      else
        used.integer = used.integer + integer
      end
    end
  end
  local most, name = 0, 'issue'
  for unit, cycles in pairs(used) do
    if cycles > most or (cycles == most and unit < name) then most, name = cycles, unit end
  end
  return most, name
end

-- Occupancy: warps that fit on an SM at once.
function model.warps(registers, shared, threads)
  local gpu = model.gpu
  local each = math.ceil(threads / 32)
  local of_registers = math.ceil(math.max(registers, 1) / 8) * 8 * 32
  local fit = math.min(gpu.warps // each, gpu.blocks, (gpu.registers // of_registers) // each)
  if shared > 0 then fit = math.min(fit, gpu.shared // (shared + 1024)) end
  return math.max(fit, 0) * each
end

-- want: { element, loads, stores (bytes read and written per element), passes, threads }. Returns {
-- share, limit, instructions, divisions (per element), elements (per pass) }, or nil if the code
-- moves none.
function model.estimate(kernel, want, registers, shared)
  local gpu, passes = model.gpu, sass.passes(kernel, want)
  local pace = gpu.bandwidth / gpu.sms / gpu.clock -- bytes of memory per cycle and SM
  local warps = model.warps(registers, shared, want.threads or 256)
  local bytes = (want.loads or 0) + (want.stores or 0)
  local compute, waiting, instructions, divisions, elements, unit = 0, 0, 0, 0, 0, 'issue'
  local most = 0
  for _, pass in ipairs(passes) do
    local loaded, stored = 0, 0
    for _, i in ipairs(pass.way) do
      local counts = i.width and (i.width == want.element or i.width >= 16 or (i.width == 8 and want.element < 4))
      if counts and i.space == 'load' then loaded = loaded + i.width end
      if counts and i.space == 'store' then stored = stored + i.width end
    end
    -- The number of elements comes from the bytes stored, or from the bytes loaded if stores do not
    -- count.
    local n = 0
    if (want.stores or 0) > 0 and stored > 0 then
      n = stored / want.stores
    elseif (want.loads or 0) > 0 then
      n = loaded / want.loads
    end
    if n == 0 then return nil end
    local cycles, busiest = model.cycles(pass.way)
    compute = compute + cycles / (n * 32)
    if cycles / n > most then most, unit = cycles / n, busiest end
    local alone = 4 * #pass.way + (pass.loop and 0 or gpu.start) + (loaded > 0 and gpu.latency or 0)
    waiting = waiting + alone / (n * 32 * math.max(warps, 1))
    instructions = instructions + #pass.way / n
    divisions = divisions + sass.divisions(kernel, pass.way) / n
    elements = math.max(elements, n)
  end
  if #passes == 0 then return nil end
  local memory = bytes / pace / gpu.copies
  local time = (memory ^ 4 + compute ^ 4 + waiting ^ 4) ^ 0.25
  local limit = 'memory'
  if compute > memory and compute >= waiting then limit = unit end
  if waiting > memory and waiting > compute then limit = 'latency' end
  return { share = bytes / pace / time, limit = limit, instructions = instructions, divisions = divisions, elements = elements }
end

return model
