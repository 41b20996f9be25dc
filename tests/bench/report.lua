-- Prints the table of make bench. Each argument is a file of measurements, a line each:
-- name TAB unit TAB value; the first file is ltensor's and gives the order, the second PyTorch's. Of the rounds the median counts: where a process finds its
-- arrays in memory is worth twofold at times, and the least of some would be the luckiest place.

local function median(values)
  table.sort(values)
  local n = #values
  return n % 2 == 1 and values[(n + 1) // 2] or (values[n // 2] + values[n // 2 + 1]) / 2
end

local function read(path)
  local rows, order = {}, {}
  for line in io.lines(path) do
    local name, unit, value = line:match '^(.-)\t(.-)\t(.-)$'
    if not rows[name] then
      rows[name] = {unit = unit, values = {}}
      order[#order + 1] = name
    end
    table.insert(rows[name].values, tonumber(value))
  end
  for _, row in pairs(rows) do row.median = median(row.values) end
  return rows, order
end

-- Ops, large and small: how many times as fast as PyTorch, the geometric mean of the rows.
local AT_LEAST = {large = 1.3, small = 4}

local GOALS = {
  ['start and exit'] = 'at most 15 ms',
  ['a + b, 2x3'] = 'at most 300 ns and 0.25',
}

local function figure(row)
  if not row then return '' end
  return (row.median < 100 and '%.3g %s' or '%.0f %s'):format(row.median, row.unit)
end

local ours, order = read(arg[1])
local theirs = arg[2] and read(arg[2]) or nil

print(theirs and '\n| | ltensor | PyTorch | ratio | goal |\n|---|---:|---:|---:|---|'
  or '\n| | ltensor | goal |\n|---|---:|---|')
for _, name in ipairs(order) do
  local mine, other = ours[name], theirs and theirs[name]
  if theirs then
    local ratio = other and ('%.2f'):format(mine.median / other.median) or ''
    print(('| %s | %s | %s | %s | %s |'):format(
      name, figure(mine), other and figure(other) or 'missing', ratio, GOALS[name] or 'at most 1'))
  else
    print(('| %s | %s | %s |'):format(name, figure(mine), GOALS[name] or ''))
  end
end

if theirs then
  print ''
  for _, size in ipairs {'large', 'small'} do
    local sum, n, slower = 0, 0, {}
    for _, name in ipairs(order) do
      local mine, other = ours[name], theirs[name]
      if name:find('^' .. size .. ': ') and other then
        sum, n = sum + math.log(other.median / mine.median), n + 1
        if mine.median > other.median then
          slower[#slower + 1] = ('%s (%.2f)'):format(name:gsub('^%a+: ', ''), mine.median / other.median)
        end
      end
    end
    if n > 0 then
      print(('%s: %d rows, %.2f times as fast as PyTorch by the geometric mean (goal: %.1f); slower in %d%s%s.\n'):format(
        size, n, math.exp(sum / n), AT_LEAST[size], #slower, #slower > 0 and ': ' or '', table.concat(slower, '; ')))
    end
  end
  local absent = {}
  for name in pairs(theirs) do
    if not ours[name] then absent[#absent + 1] = name end
  end
  table.sort(absent)
  if #absent > 0 then print('Only PyTorch has: ' .. table.concat(absent, '; ') .. '.') end
end
