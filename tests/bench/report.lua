-- Prints the table of make bench. Each argument is a file of measurements, a line each:
-- name TAB unit TAB value; the first file is ltensor's and gives the order, the second PyTorch's.

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
      name, figure(mine), figure(other), ratio, GOALS[name] or 'at most 1'))
  else
    print(('| %s | %s | %s |'):format(name, figure(mine), GOALS[name] or ''))
  end
end
