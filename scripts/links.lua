-- links.lua - link-level dependencies between source files: references to symbols that another file
-- defines, read with nm from the objects of a build. Includes do not show these: a source can call
-- a function that a header of its own layer declares and a higher layer defines.
--
-- A unit is a source without its extension ('src/core/tensor'). All objects of a unit (one per
-- instruction set, for example) count together. Generated sources are not units: they connect every
-- op with every other one.

local links = {}

-- nm's types of global symbols that an object defines: code, data, bss, read-only data, common,
-- weak.
local DEFINES = '[TDBRCVW]'

-- { [unit] = { [used unit] = the alphabetically first symbol } } for the objects below build/obj;
-- is_unit(name): whether the source still exists.
function links.read(build, is_unit)
  local defined_in, undefined, uses = {}, {}, {}
  local nm = os.getenv 'NM' or 'nm'
  local command = ("cd '%s/obj' 2>/dev/null && find src repl -name '*.o' -print0 | sort -z | xargs -0 -r %s -A -g -P"):format(build, nm)
  local pipe = assert(io.popen(command))
  for line in pipe:lines() do
    local object, symbol, kind = line:match '^(%S+)%.o: (%S+) (%a)'
    local unit = object and object:gsub('%.%w+$', '')
    if unit and is_unit(unit) then
      uses[unit] = uses[unit] or {}
      if kind:find(DEFINES) then defined_in[symbol] = defined_in[symbol] or unit end
      if kind == 'U' then undefined[#undefined + 1] = { unit, symbol } end
    end
  end
  assert(pipe:close() or next(uses) == nil, 'nm failed')
  for _, reference in ipairs(undefined) do
    local unit, symbol = reference[1], reference[2]
    local target = defined_in[symbol]
    if target and target ~= unit then
      local first = uses[unit][target]
      uses[unit][target] = first and first < symbol and first or symbol
    end
  end
  return uses
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- Cycles among the units with names that begin with prefix, as lists of units, largest first:
-- strongly connected components (Tarjan 1972).
function links.cycles(uses, prefix)
  local index, low, stack, on_stack, count, cycles = {}, {}, {}, {}, 0, {}
  local function visit(unit)
    count = count + 1
    index[unit], low[unit] = count, count
    stack[#stack + 1], on_stack[unit] = unit, true
    for target in pairs(uses[unit]) do
      if target:sub(1, #prefix) == prefix then
        if not index[target] then
          visit(target)
          low[unit] = math.min(low[unit], low[target])
        elseif on_stack[target] then
          low[unit] = math.min(low[unit], index[target])
        end
      end
    end
    if low[unit] ~= index[unit] then return end
    local component = {}
    repeat
      local member = table.remove(stack)
      on_stack[member] = nil
      component[#component + 1] = member
    until member == unit
    table.sort(component)
    if #component > 1 then cycles[#cycles + 1] = component end
  end
  for _, unit in ipairs(sorted_keys(uses)) do
    if unit:sub(1, #prefix) == prefix and not index[unit] then visit(unit) end
  end
  table.sort(cycles, function(a, b)
    if #a ~= #b then return #a > #b end
    return a[1] < b[1]
  end)
  return cycles
end

-- The references inside a cycle, one line per pair of units: 'a -> b (symbol)'.
function links.describe(uses, cycle)
  local inside, lines = {}, {}
  for _, unit in ipairs(cycle) do inside[unit] = true end
  for _, unit in ipairs(cycle) do
    for _, target in ipairs(sorted_keys(uses[unit])) do
      if inside[target] then lines[#lines + 1] = ('  %s -> %s (%s)'):format(unit, target, uses[unit][target]) end
    end
  end
  return table.concat(lines, '\n')
end

return links
