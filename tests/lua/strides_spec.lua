-- Where the elements of results lie. Elementwise ops, copies and *_like keep the order of their operands' dimensions:
-- tests/reference/strides.lua has PyTorch's strides for operands of random geometry.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local F = torch.nn.functional
local device = reference.device

-- Rows whose op is not a function of its name.
local OPS = {
  half = function(x) return x:half() end,
  double = function(x) return x:double() end,
  dropout = function(x) return F.dropout(x, 0.5) end,
  flip = function(x) return torch.flip(x, 1) end,
  contiguous = function(x) return x:contiguous() end,
  clamp = function(x) return torch.clamp(x, -1, 1) end,
  softmax = function(x) return torch.softmax(x, 1) end,
  cumsum = function(x) return torch.cumsum(x, 1) end,
  ['add 1'] = function(x) return x + 1 end,
  ['pow 2'] = function(x) return x ^ 2 end,
  mixed = function(a, b) return a + b:double() end,
  where = function(c, a, b) return torch.where(c:gt(0), a, b) end,
}
local RANDOM = { rand_like = true, dropout = true }

-- Strides, `any` where they have no meaning: one element, or none.
local function strides_text(sizes, strides)
  local parts, none = {}, false
  for d = 1, #sizes do none = none or sizes[d] == 0 end
  for d = 1, #sizes do parts[d] = (none or sizes[d] == 1) and 'any' or tostring(strides[d]) end
  return table.concat(parts, ', ')
end

local function text(list)
  local parts = {}
  for i = 1, #list do parts[i] = tostring(list[i]) end
  return '[' .. table.concat(parts, ', ') .. ']'
end

-- A tensor that lies so, in memory whose holes are nan.
local function placed(geometry)
  local sizes, strides = geometry[1], geometry[2]
  local length, empty = 1, false
  for d = 1, #sizes do
    length = length + (sizes[d] - 1) * strides[d]
    empty = empty or sizes[d] == 0
  end
  local memory = torch.full({ empty and 0 or length }, 0 / 0, { device = device })
  if not empty then -- not through the view: some of its elements may lie in one place
    local places = torch.arange(1, length + 1, { device = device }):as_strided(sizes, strides):reshape(-1)
    memory[places] = torch.rand(#places, { device = device }) + 0.5
  end
  return memory:as_strided(sizes, strides)
end

describe('strides of results', function()
  for number, row in ipairs(reference.load 'strides') do
    local name, operands, result = row[1], row[2], row[3]
    it(('are PyTorch\'s #%d %s'):format(number, name), function()
      local op, args, dense = OPS[name] or torch[name] or F[name], {}, {}
      for i, geometry in ipairs(operands) do
        args[i] = placed(geometry)
        dense[i] = args[i]:contiguous()
      end
      local out = op(table.unpack(args))
      assert.are.equal(text(result[1]), text(out.shape))
      assert.are.equal(strides_text(result[1], result[2]), strides_text(result[1], out:stride()))
      if not RANDOM[name] then
        assert.is_true(torch.allclose(out:double(), op(table.unpack(dense)):double(), { rtol = 1e-5, atol = 1e-6 }))
      end
    end)
  end
end)
