-- operation_names.lua - prints the names of ltensor's operations, one a line, for aten_overloads.py.

local names = {}
for _, entry in pairs(torch._docs()) do
  for line in (entry.signature or ''):gmatch '[^\n]+' do
    local name = line:match '^([%w_]+)%('
    if name then names[name] = true end
  end
end
local list = {}
for name in pairs(names) do list[#list + 1] = name end
table.sort(list)
print(table.concat(list, '\n'))
