-- Dtypes of results #cpu: promote_types, can_cast, result_type, binary ops, their in-place forms and cat, for tensors, 0-dim tensors and
-- numbers of every dtype, beside PyTorch's (tests/reference/promotion.lua).

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local tables = dofile(here .. '../reference/promotion.lua')
local head = table.remove(tables, 1)

local dtypes, letters = {}, {}
for i, name in ipairs(head.dtypes) do
  dtypes[i] = torch[name]
  letters[name] = head.letters:sub(i, i)
end

local function one(dtype, size)
  local t = torch.ones(size, { dtype = torch.float32 })
  return dtype.is_complex and torch.complex(t, torch.zeros(size)):to(dtype) or t:to(dtype)
end

local makers = {}
for _, size in ipairs { { 2 }, {} } do
  for _, dtype in ipairs(dtypes) do makers[#makers + 1] = { text = ('%s%s'):format(tostring(dtype):gsub('^torch%.', ''), #size == 0 and ' of 0 dimensions' or ''), make = function() return one(dtype, size) end } end
end
for _, number in ipairs { true, 2, 1.5, torch.complex(1, 2) } do makers[#makers + 1] = { text = tostring(number), make = function() return number end } end

local OPERATORS = {
  add = function(a, b) return a + b end, sub = function(a, b) return a - b end, mul = function(a, b) return a * b end,
  div = function(a, b) return a / b end, floor_divide = function(a, b) return a // b end, remainder = function(a, b) return a % b end,
  pow = function(a, b) return a ^ b end, bitwise_and = function(a, b) return a & b end, bitwise_or = function(a, b) return a | b end,
  bitwise_xor = function(a, b) return a ~ b end,
}
local CALLS = setmetatable({
  div_floor = function(a, b) return torch.div(a, b, { rounding_mode = 'floor' }) end,
  div_trunc = function(a, b) return torch.div(a, b, { rounding_mode = 'trunc' }) end,
  where = function(a, b) return torch.where(torch.tensor { true, false }, a, b) end,
  cat = function(a, b) return torch.cat { a, b } end,
  lerp = function(a, b) return torch.lerp(a, b, 0.5) end,
  addcmul = function(a, b) return torch.addcmul(a, b, b) end,
}, { __index = function(_, name)
  if name:sub(-1) == '_' then return function(a, b) return a[name](a, b) end end
  return OPERATORS[name] or torch[name]
end })

local function letter_of(value) return letters[(tostring(value):gsub('^torch%.', ''))] end

-- The letter that tells what a call gave.
local function outcome(call, a, b)
  local ok, result = pcall(call, a, b)
  if not ok then return '!', result end
  return torch.is_tensor(result) and letter_of(result.dtype) or letter_of(result)
end

-- What differs from PyTorch's, with the reason: a function of the table's name, the operands' texts, both letters and the error.
local ALLOWED = {
  ['complex32 is stored and converted, not computed with'] = function(_, _, _, _, got, message) return got == '!' and message:find("'ComplexHalf'", 1, true) end,
  ['x:fill_(2), not x:copy_(2)'] = function(name, _, b) return name == 'copy_' and tonumber(b) ~= nil or name == 'copy_' and (b == 'true' or b == '(1+2j)') end,
  ["powers of bools and uint64 have no kernel, nor has PyTorch where both are tensors"] = function(name, a, b)
    return name:match '^pow_?$' and (a:match '^bool' or a:match '^uint64') and b == 'true'
  end,
  ["ldexp of complex numbers by unsigned integers does not depend on dimensions"] = function(name, a, b)
    return name:match '^ldexp' and a:match '^complex' and b:match '^uint'
  end,
}

local function is_allowed(...)
  for _, test in pairs(ALLOWED) do
    if test(...) then return true end
  end
  return false
end

local function compare(entry, firsts, seconds, call)
  local different = {}
  for i, row in ipairs(entry.rows) do
    for j = 1, #row do
      local want, a, b = row:sub(j, j), firsts[i], seconds[j]
      if want ~= '?' then
        local got, message = outcome(call, a.make(), b.make())
        if got ~= want and not is_allowed(entry.name, a.text, b.text, want, got, tostring(message)) then
          different[#different + 1] = ('%s(%s, %s): %s, PyTorch %s%s'):format(entry.name, a.text, b.text, got, want, message and ' ' .. tostring(message) or '')
        end
      end
    end
  end
  return different
end

describe('the dtype', function()
  local pairs_of_dtypes = {}
  for i, dtype in ipairs(dtypes) do pairs_of_dtypes[i] = { text = head.dtypes[i], make = function() return dtype end } end
  for _, entry in ipairs(tables) do
    it(('of %s is PyTorch\'s for every pair of operands'):format(entry.name), function()
      local operands, call = makers, CALLS[entry.name]
      if entry.name == 'can_cast' then call = function(a, b) return torch.can_cast(a, b) and torch.bool or torch.uint8 end end
      if entry.name == 'can_cast' or entry.name == 'promote_types' then operands = pairs_of_dtypes end
      local different = compare(entry, operands, operands, call)
      assert(#different == 0, ('%d differ:\n  %s'):format(#different, table.concat(different, '\n  ', 1, math.min(#different, tonumber(os.getenv 'SHOWN') or 12))))
    end)
  end
end)
