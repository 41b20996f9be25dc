-- programs.lua - random programs over a few tensors: elementwise ops of mixed dtypes and shapes, views, writes in place and through views, reductions,
-- random numbers, casts, decisions and loops by values, gradients. The same program is run twice, as it stands and compiled, and all that is left
-- is compared: by compile_spec.lua and cuda_compile_spec.lua, and for hours by tests/fuzz/compiled.lua.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local steps = dofile(here .. 'program_steps.lua')

local M = {}

local random = math.random
local function pick(list) return list[random(#list)] end

local dtypes = { torch.float32, torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool }

--- A program of about `n` steps: a list of {text, run}.
function M.steps(n, gradients)
  local list = {}
  for i = 1, n do list[i] = steps.random(gradients) end
  return list
end

--- A function that, given a list of tensors, adds the steps' results to it. Steps that are refused are left out, with their messages in the second
-- result. again: compiles a function within the program, or does not.
function M.program(list, again)
  return function(tensors)
    local function at(i) return tensors[(i - 1) % #tensors + 1] end
    local messages = {}
    for i, step in ipairs(list) do
      local ok, result = pcall(step.run, at, again)
      if not ok then messages[#messages + 1] = i .. ': ' .. tostring(result) end
      if ok and result ~= nil then tensors[#tensors + 1] = result end
    end
    return tensors, messages
  end
end

--- Tensors to begin with: of a shape and of shapes that go with it.
function M.inputs()
  local rows, columns = random(1, 70), random(1, 90)
  if random() < 0.05 then rows, columns = random(200, 600), random(200, 600) end
  local shapes = { { rows, columns }, { rows, columns }, { 1, columns }, { rows, 1 }, { columns }, {} }
  local list = {}
  for i, shape in ipairs(shapes) do
    list[i] = (torch.randn(shape) * 2):to(i <= 2 and torch.float32 or pick(dtypes))
  end
  list[#list + 1] = torch.randn(columns, rows):t()
  return list
end

--- The same tensors in memory of their own there, with their strides.
function M.copies(list)
  local result = {}
  for i, t in ipairs(list) do
    local dense = torch.empty_strided(t.shape, t:stride(), { dtype = t.dtype, device = t.device })
    result[i] = dense:copy_(t)
  end
  return result
end

--- Whether the tensors are the same to the bit, and nan in the same places: of two nans with different signs an instruction gives the one that
-- stands first, and where that is the compiler chooses for each loop. A stride that no second element follows is nobody's: a gradient that takes the
-- memory of another has that one's.
function M.same(a, b)
  if a.dtype ~= b.dtype or a.shape ~= b.shape then return false end
  for d = 1, a.ndim do
    if a:size(d) > 1 and a:stride(d) ~= b:stride(d) then return false end
  end
  a, b = a:detach(), b:detach()
  local x, y = a:nan_to_num(0), b:nan_to_num(0)
  return torch.equal(a:isnan(), b:isnan()) and torch.equal(x, y) and torch.equal(x:signbit(), y:signbit()) or false
end

-- ---- both ways ------------------------------------------------------------------------------------------------------

-- The sum of all that came of the leaves, by weights.
local function loss_of(tensors)
  local loss
  for i, t in ipairs(tensors) do
    if t.requires_grad then
      local part = t:double():sum() * (i % 3 + 0.5)
      loss = loss and loss + part or part
    end
  end
  return loss
end

-- Everything that a program leaves: its tensors, the gradients of its leaves, its messages.
local function outcome(plan, list, inputs, compiled)
  local tensors, leaves, messages = M.copies(inputs), {}, nil
  for _, i in ipairs(plan.leaves) do
    leaves[#leaves + 1] = tensors[i]:requires_grad_()
    if i % 2 == 0 then tensors[i] = tensors[i] * 1 end -- which may be written
  end
  local function compile(f) return compiled and torch.compile(f, { options = { min_numel = plan.least } }) or f end
  local program = M.program(list, compile)
  local function finish(given)
    local loss = #leaves > 0 and loss_of(given)
    if not loss then return end
    local _, message = pcall(loss.backward, loss)
    messages[#messages + 1] = tostring(message)
  end
  torch.manual_seed(plan.seed)
  compile(function()
    tensors, messages = program(tensors)
    if plan.inside then finish(tensors) end
  end)()
  if not plan.inside then finish(tensors) end
  if torch.cuda.is_available() then
    local fine, message = pcall(torch.cuda.synchronize) -- reports values that kernels refuse
    if not fine then messages[#messages + 1] = tostring(message) end
  end
  local gradients = {}
  for i, leaf in ipairs(leaves) do gradients[i] = leaf.grad or false end
  return { tensors = tensors, gradients = gradients, messages = messages, drawn = torch.rand(1):item() }
end

-- A message, without how often memory was written: gradients are added up in place where that is there already.
local function told(message) return (tostring(message):gsub('version %d+', 'version')) end

-- What differs between two outcomes, or nil.
local function differs(a, b)
  for _, what in ipairs { 'tensors', 'gradients' } do
    if #a[what] ~= #b[what] then return ('%d %s instead of %d'):format(#b[what], what, #a[what]) end
    for i, t in ipairs(a[what]) do
      local u = b[what][i]
      if (t and true) ~= (u and true) or t and (t.requires_grad ~= u.requires_grad or not M.same(t:detach():cpu(), u:detach():cpu())) then
        return ('%s, number %d'):format(what, i)
      end
    end
  end
  for i = 1, math.max(#a.messages, #b.messages) do
    if told(a.messages[i]) ~= told(b.messages[i]) then return ('a message: %s instead of %s'):format(b.messages[i], a.messages[i]) end
  end
  return a.drawn ~= b.drawn and 'other random numbers were drawn' or nil
end

local function difference_of(plan, list, inputs) return differs(outcome(plan, list, inputs, false), outcome(plan, list, inputs, true)) end

-- Leaves out steps for as long as there is a difference.
local function smallest(plan, list, inputs)
  local i = 1
  while i <= #list do
    local step = table.remove(list, i)
    if not difference_of(plan, list, inputs) then
      table.insert(list, i, step)
      i = i + 1
    end
  end
  local texts = {}
  for k, step in ipairs(list) do texts[k] = step.text end
  return table.concat(texts, '\n  ')
end

--- Makes a random program, the same for the same seed and round, and runs it both ways: what differs, with the steps that it takes, or nil. options:
-- device; most, steps (40); gradients (nil: by chance).
function M.difference(seed, round, options)
  math.randomseed(seed, round)
  torch.manual_seed(seed + round)
  local gradients = random() < 0.5
  if options.gradients ~= nil then gradients = options.gradients end
  local inputs, list = M.inputs(), M.steps(random(3, options.most or 40), gradients)
  local plan = { seed = round, leaves = {}, least = pick { 1, 1, 1, 60, 1000 }, inside = random() < 0.5 }
  for i, t in ipairs(inputs) do
    if options.device then inputs[i] = t:to(options.device) end
    if gradients and t:is_floating_point() and random() < 0.7 then plan.leaves[#plan.leaves + 1] = i end
  end
  local text = difference_of(plan, list, inputs)
  if text then
    return ('SEED=%d, round %d: %s\n  %s'):format(seed, round, text, smallest(plan, list, inputs))
  end
end

return M
