-- rank_spec.lua - tensors of 14, 15 and 16 dimensions, the most there are, for every op: on its own, for one argument, and under
-- vmap, where a sample has one dimension more. Results have at most 16 dimensions or are refused in words. A list of sizes that
-- is filled past its end is found by the build with AddressSanitizer.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')

local MOST = 16

local function raised(t, rank)
  t = t:detach()
  if t.ndim >= rank then return t end
  local sizes = { table.unpack(t.shape) }
  for _ = 1, rank - t.ndim do table.insert(sizes, 1, 1) end
  return t:reshape(sizes)
end

-- A copy of the arguments whose tensors are what change(tensor, number) gives.
local function with_tensors(args, change)
  local count = 0
  local function copy(value)
    if torch.is_tensor(value) then
      count = count + 1
      return change(value, count)
    end
    if type(value) ~= 'table' or getmetatable(value) then return value end
    local made = { n = value.n }
    for key, entry in pairs(value) do
      if key ~= 'n' then made[key] = copy(entry) end
    end
    return made
  end
  return copy(args), count
end

local function ranks_of(results)
  for i = 1, results.n do
    local value = results[i]
    for _, t in ipairs(torch.is_tensor(value) and { value } or type(value) == 'table' and value or {}) do
      if torch.is_tensor(t) then assert(t.ndim <= MOST, 'a result has ' .. t.ndim .. ' dimensions') end
    end
  end
end

local problems

local function try(text, call, ...)
  local results = table.pack(reference.attempt(call, ...))
  local fine, message = results[1], tostring(results[2])
  if fine then
    fine, message = pcall(ranks_of, results)
  else
    fine = message:find '%S' ~= nil and not message:find 'attempt to'
  end
  if not fine then problems[#problems + 1] = text .. ': ' .. message end
end

-- Calls with every tensor raised, and with one of them.
local function raise(case)
  local call, args = reference.call_of(case, case.via or (torch[case.op] and 'f' or 'm'))
  local _, count = with_tensors(args, function(t) return t end)
  for rank = 14, MOST do
    for only = 0, count > 1 and count or 0 do
      local changed = with_tensors(args, function(t, number) return (only == 0 or only == number) and raised(t, rank) or t:detach() end)
      try(('%s, rank %d, tensor %d'):format(case.op, rank, only), call, table.unpack(changed, 1, changed.n))
    end
  end
end

-- Calls under vmap with one tensor that has a batch; the others are of the rank `rest`.
local function raise_batched(case)
  local call, args = reference.call_of(case, case.via or (torch[case.op] and 'f' or 'm'))
  local _, count = with_tensors(args, function(t) return t end)
  for only = 1, math.min(count, 4) do
    for rank = 14, MOST do
      for _, rest in ipairs { 0, MOST } do
        local batch
        with_tensors(args, function(t, number)
          if number == only then batch = raised(t, rank - 1):unsqueeze(1):expand(2, table.unpack(raised(t, rank - 1).shape)):clone() end
          return t
        end)
        local function sample(x)
          local changed = with_tensors(args, function(t, number) return number == only and x or raised(t, rest) end)
          return call(table.unpack(changed, 1, changed.n))
        end
        if batch.ndim <= MOST then
          try(('%s under vmap, rank %d, tensor %d, others %d'):format(case.op, rank, only, rest), torch.func.vmap(sample), batch)
        end
      end
    end
  end
end

describe('tensors of as many dimensions as there may be', function()
  before_each(function() problems = {} end)
  after_each(function() collectgarbage() end)

  it('are results of every op, or are refused', function()
    for _, case in ipairs(reference.first_cases()) do raise(case) end
    assert.same({}, problems)
  end)

  it('are samples of every op under vmap, or are refused', function()
    for _, case in ipairs(reference.first_cases()) do raise_batched(case) end
    assert.same({}, problems)
  end)

  it('have the gradient of a complex view written in place', function()
    local sizes = {}
    for i = 1, MOST do sizes[i] = 1 end
    local x = torch.ones(sizes, { dtype = torch.complex64, device = reference.device }):requires_grad_()
    try('an in-place write to the real part', function()
      local y = x * 1
      y.real:mul_(2)
      y:abs():sum():backward()
    end)
    assert.same({}, problems)
  end)
end)
