-- unused_strides_spec.lua - strides that are never used, of dimensions of size 1 and of empty tensors, may be any number: every op gives what it
-- gives for usual ones. Sums and products of them that overflow are found by the build with UBSan.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')

local STRIDES = { math.maxinteger, 2 ^ 62 | 0, math.maxinteger // 3 }

-- t with another first dimension of size 1, and others of size 1 with these strides.
local function one_more(t, stride)
  if not stride then return t:unsqueeze(1) end
  local sizes, strides = { 1, table.unpack(t.shape) }, { stride, table.unpack(t:stride()) }
  for d, size in ipairs(sizes) do
    if size == 1 then strides[d] = stride end
  end
  return t:as_strided(sizes, strides, t:storage_offset())
end

-- None of t's elements: the first dimension has size 0, and all have these strides.
local function none_of(t, stride)
  local sizes, strides = { 0, table.unpack(t.shape, 2) }, {}
  if not stride then return t.ndim > 0 and t:narrow(1, 1, 0) or t:reshape(1):narrow(1, 1, 0) end
  for d = 1, #sizes do strides[d] = stride end
  return t:as_strided(sizes, strides, t:storage_offset())
end

local function with_tensors(value, change)
  if torch.is_tensor(value) then return value.layout == torch.strided and change(value) or value end
  if type(value) ~= 'table' or getmetatable(value) then return value end
  local made = { n = value.n }
  for key, entry in pairs(value) do
    if key ~= 'n' then made[key] = with_tensors(entry, change) end
  end
  return made
end

local function same(a, b)
  if not torch.is_tensor(a) or not torch.is_tensor(b) then return type(a) == type(b) end
  if a.layout ~= torch.strided or not torch.is_same_size(a, b) or a.dtype ~= b.dtype then return a.layout == b.layout and torch.is_same_size(a, b) end
  if a:is_complex() then a, b = torch.view_as_real(a), torch.view_as_real(b) end
  return torch.allclose(a:to(torch.float64), b:to(torch.float64), { equal_nan = true })
end

-- What a case gives for tensors with a stride.
local function results_of(case, change, stride)
  local call, args = reference.call_of(case, case.via or (torch[case.op] and 'f' or 'm'))
  local changed = with_tensors(args, function(t) return change(t:detach(), stride) end)
  torch.manual_seed(1)
  local results = table.pack(reference.attempt(call, table.unpack(changed, 1, changed.n)))
  if results[1] and type(results[2]) == 'table' and not getmetatable(results[2]) then results = { n = #results[2] + 1, true, table.unpack(results[2]) } end
  return results
end

-- Their values are whatever the memory holds, or they are about strides.
local left_out = {}
for name in ([[empty empty_like empty_strided new_empty new_empty_strided empty_permuted stride as_strided as_strided_ as_strided_copy
  as_strided_scatter view view_as_complex resize_ is_contiguous]]):gmatch '%S+' do left_out[name] = true end

-- The ops that give something else for tensors with a stride than for usual ones.
local function differences(change, stride)
  local problems = {}
  for _, case in ipairs(reference.first_cases()) do
    if not left_out[case.op] then
      local want, got = results_of(case, change), results_of(case, change, stride)
      local fine = want[1] == got[1] and want.n == got.n
      for i = 2, fine and want[1] and want.n or 0 do fine = fine and same(want[i], got[i]) end
      if not fine then problems[#problems + 1] = ('%s: %s'):format(case.op, got[1] and 'another result' or tostring(got[2])) end
    end
  end
  collectgarbage()
  return problems
end

describe('strides that are not used', function()
  for i, stride in ipairs(STRIDES) do
    local again = i > 1 and ' #again' or ''
    it(('do not matter to any op, of dimensions of size 1: %d%s'):format(stride, again), function() assert.same({}, differences(one_more, stride)) end)
    it(('do not matter to any op, of empty tensors: %d%s'):format(stride, again), function() assert.same({}, differences(none_of, stride)) end)
  end

  it('do not matter to a tensor that is printed, saved in a view, or empty', function()
    for _, stride in ipairs(STRIDES) do
      local x = torch.ones(1, { device = reference.device }):as_strided({ 1, 1 }, { stride, stride })
      assert.equal(tostring(torch.ones(1, 1, { device = reference.device })), tostring(x))
      local empty = torch.ones(1, { device = reference.device }):as_strided({ 0, 3, 1 }, { stride, stride, stride })
      assert.equal('[0, 3, 1]', '[' .. table.concat(table.move(empty.shape, 1, 3, 1, {}), ', ') .. ']')
      assert.equal(0, (empty + 1):numel())
      for _, f in ipairs {
        function(t) return t:flip(1) end, function(t) return t:select(-1, 1) end, function(t) return t:unsqueeze(2) end,
        function(t) return t:transpose(1, 2) end, function(t) return t:contiguous() end, function(t) return t:clone() end,
        function(t) return t:narrow(-1, 1, 1) end, function(t) return t:expand(table.unpack(t.shape)) end, function(t) return t:flatten() end,
        function(t) return t:diagonal(0, 1, 2) end, function(t) return t:unfold(-1, 1, 1) end, function(t) return t:squeeze() end,
        function(t) return t:to(torch.float64) end, function(t) return t:copy_(t) end, function(t) return t[{ {}, {} }] end,
      } do
        assert.equal(0, f(empty):numel())
        assert.equal(1, f(x):numel())
      end
    end
  end)
end)
