-- Prints the table of make bench-distributed: a row for each measurement in the files of a folder, whose lines are name TAB unit TAB value.

local folder = arg[1]
local columns = { 'ltensor', 'native', 'gloo', 'mpi4py' }
local order, units, values = {}, {}, {}

local function median(list)
  table.sort(list)
  local n = #list
  return n % 2 == 1 and list[(n + 1) // 2] or (list[n // 2] + list[n // 2 + 1]) / 2
end

for _, column in ipairs(columns) do
  local file = io.open(folder .. '/' .. column)
  for line in file and file:lines() or function() end do
    local name, unit, value = line:match '^([^\t]*)\t([^\t]*)\t(.*)$'
    if not units[name] then order[#order + 1], units[name], values[name] = name, unit, {} end
    values[name][column] = values[name][column] or {}
    table.insert(values[name][column], tonumber(value))
  end
  if file then file:close() end
end

local function shown(value, unit)
  if not value then return '' end
  return unit == '1' and ('%.2f'):format(value) or ('%.3g %s'):format(value, unit)
end

-- By how much ours is better: where less is better, the other's by ours.
local function better(ours, other, unit)
  if not (ours and other) then return '' end
  local factor = (unit == 'us' or unit == 'ms') and other / ours or ours / other
  return ('%.2f'):format(factor)
end

print '| | ltensor | its MPI_Iallreduce | gloo | mpi4py | better than gloo | than mpi4py |'
print '|---|---:|---:|---:|---:|---:|---:|'
for _, name in ipairs(order) do
  local unit, row = units[name], {}
  for column, list in pairs(values[name]) do row[column] = median(list) end
  print(('| %s | %s | %s | %s | %s | %s | %s |'):format(name, shown(row.ltensor, unit), shown(row.native, unit), shown(row.gloo, unit),
    shown(row.mpi4py, unit), better(row.ltensor, row.gloo, unit), better(row.ltensor, row.mpi4py, unit)))
end
