-- names.lua - prints for each module of PyTorch which of its public names are here, which are not and why, and which nobody has explained.
--
--   build/ltensor tests/names.lua [--all]     --all: the names that are left out, too

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local names = dofile(here .. 'lua/support/names.lua')

local total = { present = 0, left_out = 0, unexplained = 0 }
for _, found in ipairs((names.look())) do
  local left_out, reasons = 0, {}
  for reason, list in pairs(found.left_out) do
    left_out = left_out + #list
    reasons[#reasons + 1] = ('    %d: %s%s'):format(#list, reason, arg[1] == '--all' and ': ' .. table.concat(list, ' ') or '')
  end
  table.sort(reasons)
  print(('%-36s %4d present, %4d left out, %d unexplained'):format(found.module, #found.present, left_out, #found.unexplained))
  for _, line in ipairs(reasons) do print(line) end
  if #found.unexplained > 0 then print('    unexplained: ' .. table.concat(found.unexplained, ' ')) end
  total.present, total.left_out = total.present + #found.present, total.left_out + left_out
  total.unexplained = total.unexplained + #found.unexplained
end
print(('%d present, %d left out, %d unexplained'):format(total.present, total.left_out, total.unexplained))
