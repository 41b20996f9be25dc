-- Memory that was taken away for a while (core's compile/deferred.h; fully_shard does so): every op that would read or write it refuses,
-- argument by argument of one row of PyTorch's results for each op. Only what looks at no element may go on.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')

local GONE = "of parameter 'weight', was freed: it was taken"
local LEAST = 2048 -- bytes: less is part of its tensor

-- Puts t's elements into a larger storage, whose memory is then taken away.
local function freed(t)
  local n = t:numel()
  local room = torch.empty(n + LEAST, { dtype = t.dtype, device = t.device })
  local place = room:narrow(1, 1, n):view(t.shape)
  place:copy_(t:detach())
  t.data = place
  torch._C.storage_drop(room, { { at = 0, name = 'weight' } }, 'it was taken')
end

-- Whether a result is made of what was taken away, or has no element.
local function is_gone(value)
  if not torch.is_tensor(value) then return false end
  local ok, message = pcall(value.sum, value:detach())
  return not ok and tostring(message):find(GONE, 1, true) ~= nil or ok and value:numel() == 0
end

-- They look at the form of an argument alone: of any, and of the second.
local FORM, FORM_OF_SECOND = {}, {}
for name in ([[is_same_size is_signed zeros_like ones_like empty_like full_like rand_like randn_like randint_like new_empty new_zeros new_ones
  new_full]]):gmatch '%S+' do FORM[name] = true end
for name in ([[expand_as reshape_as view_as type_as]]):gmatch '%S+' do FORM_OF_SECOND[name] = true end

local function problem_of(case, at, count, around)
  local via = case.via or (torch[case.op] and 'f' or 'm')
  local call, args, leaves = reference.call_of(case, via)
  local t = leaves.tensors[at]
  if t:numel() == 0 then return end
  freed(t)
  local results = table.pack(pcall(around, call, table.unpack(args, 1, args.n)))
  if not results[1] then
    if not tostring(results[2]):find(GONE, 1, true) then return ('%s: %s'):format(reference.describe(case), results[2]) end
    return
  end
  if FORM[case.op] or FORM_OF_SECOND[case.op] and at == 2 then return end
  if type(results[2]) == 'table' then results = table.pack(true, table.unpack(results[2])) end
  for i = 2, results.n or #results do
    if is_gone(results[i]) then return end
  end
  return ('%s reads argument %d of %d, which has no memory'):format(reference.describe(case), at, count)
end

describe('memory that was taken away', function()
  it('is refused by every op that looks at it', function()
    local problems, asked = {}, 0
    for _, case in ipairs(reference.first_cases()) do
      local _, _, leaves = reference.call_of(case, case.via or (torch[case.op] and 'f' or 'm'))
      for at = 1, #leaves.tensors do
        -- where no derivative is wanted many take another way
        for _, around in ipairs { torch.enable_grad, torch.no_grad } do
          problems[#problems + 1] = problem_of(case, at, #leaves.tensors, around)
          asked = asked + 1
        end
      end
    end
    assert.is_true(asked > 2000)
    assert.equal('', table.concat(problems, '\n'))
  end)

  it('freed memory is accessible again after it is restored, without further checks', function()
    local device = reference.device
    local t = torch.arange(1000, { dtype = torch.float32, device = device })
    local view, other = t[{ { 10, 20 } }], t:clone()
    torch._C.storage_drop(t, { { at = 0, name = 'weight' } }, 'it was taken')
    assert.error_matches(function() view:sum() end, 'sum%(%): the memory of the Float Tensor %[11%], of parameter')
    torch._C.storage_take(t, other, 7)
    assert.equal(7, view._version)
    assert.is_true(view:equal(torch.arange(9, 20, { dtype = torch.float32, device = device })))
    assert.error_matches(function() other:sum() end, GONE, 1, true)
  end)

  it('is named by the part that a view begins in', function()
    local t = torch.zeros(1000, { device = reference.device })
    local view = t:narrow(1, 601, 10)
    torch._C.storage_drop(t, { { at = 0, name = 'bias' }, { at = 600, name = 'weight' } }, 'it was taken')
    assert.error_matches(function() view:exp() end, GONE, 1, true)
    assert.error_matches(function() t:exp() end, "of parameter 'bias'", 1, true)
  end)
end)
