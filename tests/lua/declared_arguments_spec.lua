-- declared_arguments_spec.lua - every function, method and constructor that is here and in PyTorch takes PyTorch's arguments: their names
-- in PyTorch's order (tests/reference/arguments.lua), but for those that tests/reference/arguments_differ.lua names with the reason. Every
-- function declares its arguments, but for those in tests/reference/arguments_undeclared.lua.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local declared = dofile(here .. 'support/declared.lua')
local rows = dofile(here .. '../reference/arguments.lua')

-- The reason of each name in a file.
local function reasons(file)
  local known = {}
  for _, group in ipairs(dofile(here .. '../reference/' .. file)) do
    for name in group.names:gmatch '%S+' do known[name] = group.reason end
  end
  return known
end

local function field(holder, name)
  local ok, value = pcall(function() return holder[name] end)
  return ok and value or nil
end

-- The value of a name of PyTorch's, and whether it is a method.
local function resolve(name)
  local path, method = name:gsub('^torch%.', ''):match '^([^:]*):?(.*)$'
  if path:match '^Tensor%.' then return torch._C.methods[path:sub(8)], true end
  local at = torch
  for part in path:gmatch '[^.]+' do
    at = field(at, part)
    if at == nil then return nil end
  end
  if method ~= '' then return field(at, method), true end
  return at, path:match '%.forward$' ~= nil
end

local function difference_of(row, value, is_method)
  local ours = declared.of(value, is_method)
  if not ours then return 'it declares no arguments' end
  for i = 2, #row do
    local why = declared.difference(ours, declared.parse(row[i]))
    if why then return ("%s, of PyTorch's (%s)"):format(why, row[i]) end
  end
  return nil
end

describe('the declared arguments', function()
  it("of every function, method and constructor are PyTorch's, or a reason stands beside the name", function()
    local known, used, wrong, compared = reasons 'arguments_differ.lua', {}, {}, 0
    for _, row in ipairs(rows) do
      local name = row[1]
      local value, is_method = resolve(name)
      if value ~= nil then
        local why = difference_of(row, value, is_method)
        if not why then compared = compared + 1 end
        if why and not known[name] then wrong[#wrong + 1] = name .. ': ' .. why end
        if why then used[name] = true end
      end
    end
    for name in pairs(known) do
      if not used[name] then wrong[#wrong + 1] = name .. ' is like PyTorch, or is not here: take it out of arguments_differ.lua' end
    end
    table.sort(wrong)
    assert(#wrong == 0, table.concat(wrong, '\n'))
    assert(compared > 1700, compared)
  end)

  it('exist for every public function, method and constructor, or a reason stands beside the name', function()
    local known, wrong, all = reasons 'arguments_undeclared.lua', {}, dofile(here .. 'support/public_functions.lua')()
    for _, entry in ipairs(all) do
      local is_declared = declared.of(entry.value, entry.is_method) ~= nil
      if not is_declared and not known[entry.name] then wrong[#wrong + 1] = entry.name .. ' declares no arguments' end
      if is_declared and known[entry.name] then wrong[#wrong + 1] = entry.name .. ' declares its arguments: take it out of arguments_undeclared.lua' end
      known[entry.name] = nil
    end
    for name in pairs(known) do wrong[#wrong + 1] = name .. ' is not here: take it out of arguments_undeclared.lua' end
    assert(#wrong == 0, table.concat(wrong, '\n'))
    assert(#all > 1400, #all)
  end)

  it('that are in another order, unknown or no longer optional are found', function()
    local ours = { { 'input', 'dim', known = { input = true, dim = true, other = true }, optional = { dim = true, other = true } } }
    local function why(text) return declared.difference(ours, declared.parse(text)) end
    assert.is_nil(why 'input dim?')
    assert.is_nil(why 'input dim? * other?')
    assert.equal("'other' is not number 2 in a row", why 'input other? dim?')
    assert.equal("'keepdim' is not known", why 'input dim? keepdim?')
    assert.equal("'input' must be given", why '* dim?')
    assert.equal("'input' may not be left out", why 'input?')
  end)
end)
