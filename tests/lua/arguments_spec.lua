-- arguments_spec.lua - every op is given what it cannot take, argument by argument: a word, a table, a function, nil,
-- a tensor of bools, a tensor with ten dimensions, one without elements, a tensor on another device. Wrong kinds are
-- errors that name the op; whatever else is given ends in a result or an error, never in a crash.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local expressions = dofile(here .. 'support/expressions.lua')
local model = dofile(here .. '../../scripts/gen/declarations.lua').load(here .. '../../src/ops')
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

-- Those that PyTorch has numbers for as well.
local of_numbers = { add = true, sub = true, mul = true, div = true, floor_divide = true }

describe('numbers without a tensor', function()
  it('are refused by ops of tensors or numbers, but for the few that PyTorch computes', function()
    local n = 0
    for _, op in ipairs(model.ops) do
      local numbers, others = 0, 0
      for _, a in ipairs(op.args) do
        if a.type == 'Tensor|Scalar' then numbers = numbers + 1 elseif not a.has_default and not a.keyword_only then others = others + 1 end
      end
      local f = torch[op.name] or torch.special[op.name:gsub('^special_', '')]
      if numbers == 2 and others == 0 and not op.overload and op.name:sub(1, 1) ~= '_' then
        n = n + 1
        local ok, message = pcall(f, 2, 3)
        assert.equal(of_numbers[op.name] or false, ok, op.name .. ': ' .. tostring(message))
        if not ok then assert.matches(op.name .. '%(%) received an invalid combination of arguments %- got %(number, number%)', message) end
        if op.name:match 'bitwise' or op.name == 'pow' then
          local two = torch.tensor({ 2 }, { device = device })
          assert.same(f(two, torch.tensor({ 3 }, { device = device })):tolist(), f(two, 3):tolist())
          assert.same(f(two, 3):tolist(), f(2, torch.tensor({ 3 }, { device = device })):tolist())
        end
      end
    end
    assert(n >= 25, n)
  end)
end)

local wrong_kinds = { 'no word', function() end, { {} }, io.stdout }

local function strange_tensors()
  local list = { torch.ones(2, 3, { device = device }):bool(), torch.ones(1, 1, 1, 1, 1, 1, 1, 1, 2, 1, { device = device }),
    torch.ones(0, 2, { device = device }), torch.tensor(math.huge, { device = device }),
    torch.full({ 2, 2 }, 0 / 0, { device = device }) }
  if device ~= 'cpu' then list[#list + 1] = torch.ones(2, 3) end
  return list
end

local function call(f, arguments, n)
  local ok, message = pcall(f, table.unpack(arguments, 1, n))
  if device ~= 'cpu' then pcall(torch.cuda.synchronize, device) end
  return ok, tostring(message)
end

-- Random calls may not be made with all arguments at hand; those that are taken as they are tell what is refused.
local function calls_of(op)
  local list = {}
  for _ = 1, 3 do
    local made = expressions.call_of(op, device)
    if made then list[#list + 1] = made end
  end
  return list
end

describe('wrong arguments', function()
  for _, group in ipairs(model.groups) do
    it('of the ops of ' .. group .. ' are errors that name the op', function()
      math.randomseed(7)
      for _, op in ipairs(expressions.ops_of(model, group)) do
        for _, made in ipairs(calls_of(op)) do
          local arguments = made.device
          for i, a in ipairs(op.args) do
            if a.type:match '^Tensor' and not a.keyword_only and arguments[i] ~= nil and i <= #arguments then
              local kept = arguments[i]
              for _, wrong in ipairs(wrong_kinds) do
                arguments[i] = wrong
                local ok, message = call(made.f, arguments, #op.args)
                local list = a.type == 'Tensor[]' and type(wrong) == 'table'
                assert(list or not ok, op.name .. ' took a ' .. type(wrong))
                local named = message:find(op.name, 1, true) or message:find('Invalid device string', 1, true)
                assert(list or named, ('%s says: %s'):format(op.name, message))
              end
              arguments[i] = nil
              call(made.f, arguments, #op.args)
              for _, strange in ipairs(strange_tensors()) do
                arguments[i] = strange
                call(made.f, arguments, #op.args)
              end
              arguments[i] = kept
            end
          end
        end
      end
    end)
  end
end)
