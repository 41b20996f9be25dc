-- Conditions of a cell that are tensors, and so always true: the prompt prints a note with the line to write.

local session = require 'repl.session'
local torch = require 'torch'

-- The notes of the last of these cells, run in one session.
local function hint(...)
  local state, result = session.new { environment = setmetatable({ torch = torch }, { __index = _G }) }, nil
  for _, source in ipairs { ... } do result = state:run(source, state:begin_cell(source)) end
  assert.is_nil(result.report)
  return result.hint
end

local function environment(source)
  return hint('x, y = torch.ones(2), torch.zeros(2)', 'local upper = torch.ones(1)', source)
end

describe('a condition that is a tensor #cpu', function()
  it('is noted with its line and the way to a boolean', function()
    assert.equal('(cell 3):1: x:eq(y) is a tensor, and every tensor is true, also one of zeros; write x:eq(y):all():item() or x:eq(y):any():item()',
      environment 'if x:eq(y) then end')
    assert.equal('(cell 3):2: x:eq(y):all() is a tensor, and every tensor is true, also one of zeros; write x:eq(y):all():item()',
      environment '\nif x:eq(y):all() then end')
  end)

  for _, source in ipairs {
    'if x then end', 'if upper then end', 'if not x:gt(0) then end', 'if #x > 3 and (x:ne(y)) then end', 'while x:lt(0):any() do break end',
    'repeat until torch.isnan(x):logical_not()', 'if 1 == 2 then elseif torch.eq(x, y) then end', 'local m = x:gt(0); if m then end', 'assert(x:eq(y))',
    'assert(torch.gt(x, y), "text")', 'function f(a) if a:eq(0) then end end', 'x:sum(); if x:sum() then end', 't = {m = x}\nif t.m then end',
  } do
    it('is noted: ' .. source:gsub('\n', ' '), function() assert.matches('is a tensor, and every tensor is true', environment(source), 1, true) end)
  end

  for _, source in ipairs {
    'if x ~= nil then end', 'if x:eq(y):all():item() then end', 'if torch.equal(x, y) then end', 'if x:sum():item() > 3 then end', 'if not cache then cache = torch.ones(1) end',
    'function f(mask) if mask then return mask:sum() end end', 'for _, x in ipairs {1} do if x then end end', 'do local x = 1 if x then end end',
    's = {eq = function() return false end}; if s:eq(1) then end', 'if x:is_contiguous() then end', 'if x == y then end', 'assert(torch.equal(x, x))', 'y = x:eq(x)',
    'if torch.is_tensor(x) then end', 'if #x then end', 'if nothing then end',
  } do
    it('is not suspected: ' .. source, function() assert.is_nil(environment(source)) end)
  end

  it('is not noted after %config strict off', function()
    local state = session.new { environment = setmetatable({ torch = torch }, { __index = _G }) }
    local input = require 'repl.input'
    input.run(state, '%config strict off')
    assert.is_nil(input.run(state, 'x = torch.ones(1)\nif x then end').hint)
    input.run(state, '%config strict on')
    assert.matches('x is a tensor', input.run(state, 'if x then end').hint, 1, true)
  end)
end)

describe('an error of Lua about a tensor #cpu', function()
  for source, expected in pairs {
    ["('x'):rep(torch.ones(1))"] = 'x:item() is the number of a tensor with one element, tostring(x) the text of any',
    ["table.concat({torch.ones(1)}, ' ')"] = 'x:item() is the number',
    ['for _ = 1, torch.tensor(3) do end'] = 'x:item() is the number',
    ['for _ in torch.ones(2) do end'] = 'write for i, value in ipairs(x) do',
    ['for _ in torch.ones(4):split(2) do end'] = 'write for i, value in ipairs(x) do',
  } do
    it('is shown with a remedy: ' .. source .. (source:find '_ = 1' and ' #lua54' or ''), function()
      local state = session.new { environment = setmetatable({ torch = torch }, { __index = _G }) }
      local result = state:run(source, state:begin_cell(source))
      assert.matches(expected, table.concat(state:error_lines(result.report), '\n'), 1, true)
    end)
  end
end)
