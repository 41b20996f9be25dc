-- The menu of completions: the candidates in groups of their kinds. Uses repl.wrapped.

local wrapped = require 'repl.wrapped'

local menu = {}

local order = {}
for index, kind in ipairs {'argument', 'local', 'field', 'method', 'function', 'class', 'module', 'dtype', 'value', 'global',
  'keyword', 'magic', 'device', 'folder', 'file', 'program'} do
  order[kind] = index
end

-- The lines of the menu for the words; kinds: by word; paint(label): the label of a group in its
-- colour.
function menu.lines(words, kinds, columns, paint)
  local groups, names, longest = {}, {}, 0
  for _, word in ipairs(words) do
    local kind = kinds[word] or ''
    if not groups[kind] then
      groups[kind] = {}
      names[#names + 1] = kind
      longest = math.max(longest, #kind)
    end
    table.insert(groups[kind], (word:gsub('%s+$', '')))
  end
  table.sort(names, function(a, b) return (order[a] or math.huge) < (order[b] or math.huge) end)
  local lines = {}
  for _, kind in ipairs(names) do
    local label = kind == '' and '' or kind .. (' '):rep(longest + 2 - #kind)
    for index, line in ipairs(wrapped.grid(label, groups[kind], columns)) do
      lines[#lines + 1] = index == 1 and paint(label) .. line:sub(#label + 1) or line
    end
  end
  return lines
end

return menu
