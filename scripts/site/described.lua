-- described.lua - counts, by module, the public names without a description and the arguments
-- without a sentence.
--
-- Usage: build/ltensor scripts/site/described.lua [--list]    --list: prints each of them

local here = arg[0]:match '^(.*)/' or '.'
package.path = here .. '/?.lua;' .. package.path
local entries = require('inventory').collect(require 'library')

local counts, order = {}, {}
local total = { names = 0, bare = 0, arguments = 0, undescribed = 0 }
local function add(module, field, n)
  if not counts[module] then
    counts[module] = { names = 0, bare = 0, arguments = 0, undescribed = 0 }
    order[#order + 1] = module
  end
  counts[module][field], total[field] = counts[module][field] + n, total[field] + n
end

local listing = arg[1] == '--list'
for _, e in ipairs(entries) do
  local module = e.kind == 'method' and e.class and e.class:match '^(.*)%.[%w_]+$' .. ' (methods)' or e.module
  add(module, 'names', 1)
  if not e.doc then
    add(module, 'bare', 1)
    if listing then print(('%s.%s (%s): no description in %s'):format(module, e.name, e.kind, e.file or e.is_c and 'C' or 'lib/meta')) end
  end
  for _, a in ipairs(e.arguments) do
    add(module, 'arguments', 1)
    if not a.text then
      add(module, 'undescribed', 1)
      if listing then print(('%s.%s: %s%s: no sentence%s'):format(module, e.name, a.name, a.type and ' (' .. a.type .. ')' or '', e.file and ' in ' .. e.file or '')) end
    end
  end
end
table.sort(order)
print(('%-52s %6s %6s %10s %12s'):format('module', 'names', 'bare', 'arguments', 'undescribed'))
for _, module in ipairs(order) do
  local c = counts[module]
  print(('%-52s %6d %6d %10d %12d'):format(module, c.names, c.bare, c.arguments, c.undescribed))
end
print(('%-52s %6d %6d %10d %12d'):format('all', total.names, total.bare, total.arguments, total.undescribed))
for _, line in ipairs(require('inventory').unused()) do print(line .. ' describes nothing') end
os.exit(total.bare + total.undescribed == 0)
