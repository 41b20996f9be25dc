-- cuda_memory.lua - the table of current and peak memory of a GPU, as text.

local torch = require 'torch'

local M = {}

local UNITS = { 'B', 'KiB', 'MiB', 'GiB', 'TiB' }

--- "24 B", "1.5 MiB".
function M.size_text(bytes)
  local unit, value = 1, bytes
  while value >= 1024 and unit < #UNITS do unit, value = unit + 1, value / 1024 end
  return (unit == 1 and '%d %s' or '%.1f %s'):format(value, UNITS[unit])
end

local ROWS = {
  { 'Allocated memory', 'allocated_bytes' }, { 'Active memory', 'active_bytes' },
  { 'Requested memory', 'requested_bytes' }, { 'GPU reserved memory', 'reserved_bytes' },
  { 'Non-releasable memory', 'inactive_split_bytes' }, { 'Allocations', 'allocation' }, { 'Active allocs', 'active' },
  { 'GPU reserved segments', 'segment' }, { 'Non-releasable allocs', 'inactive_split' },
}
local POOLS = { { 'all' }, { 'large_pool', 'from large pool' }, { 'small_pool', 'from small pool' } }
local WIDTH = 75

local function centred(text)
  local left = (WIDTH - #text) // 2
  return '|' .. (' '):rep(left) .. text .. (' '):rep(WIDTH - #text - left) .. '|'
end

local function rule(mark) return '|' .. mark:rep(WIDTH) .. '|' end

--- A table of the GPU's memory by pool: current, peak, total allocated and total freed.
-- @param device a GPU; default: the current one
-- @param abbreviated omits the pools
function M.memory_summary(device, abbreviated)
  local stats = torch.cuda.memory_stats(device)
  local function stat(...) return stats[table.concat({ ... }, '.')] or 0 end
  local index = device == nil and torch.cuda.device_count() > 0 and torch.cuda.current_device() or device or 0
  local lines = {
    rule '=', centred('CUDA memory summary, device ' .. tostring(index)), rule '-',
    centred(('CUDA OOMs: %d      cudaMalloc retries: %d'):format(stat 'num_ooms', stat 'num_alloc_retries')), rule '=',
    ('| %-21s | %10s | %10s | %10s | %10s |'):format('Metric', 'Cur Usage', 'Peak Usage', 'Tot Alloc', 'Tot Freed'),
  }
  for _, row in ipairs(ROWS) do
    lines[#lines + 1] = rule '-'
    for i = 1, abbreviated and 1 or #POOLS do
      local values = {}
      for k, field in ipairs { 'current', 'peak', 'allocated', 'freed' } do
        local value = stat(row[2], POOLS[i][1], field)
        values[k] = row[2]:find 'bytes$' and M.size_text(value) or ('%d'):format(value)
      end
      lines[#lines + 1] = ('| %-21s | %10s | %10s | %10s | %10s |'):format(i == 1 and row[1] or '      ' .. POOLS[i][2],
        table.unpack(values))
    end
  end
  lines[#lines + 1] = rule '='
  return table.concat(lines, '\n') .. '\n'
end

return M
