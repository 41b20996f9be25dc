-- programs.lua - random programs over a few tensors: elementwise ops of mixed dtypes and shapes, views, writes in place, reductions, random
-- numbers, casts, decisions by values. The same program is run twice, as it stands and compiled; compile_spec.lua compares all that is left.

local torch = require 'torch'
local F = torch.nn.functional

local M = {}

local random = math.random
local function pick(list) return list[random(#list)] end

local unary = { 'neg', 'abs', 'exp', 'tanh', 'sigmoid', 'relu', 'sin', 'sqrt', 'square', 'sign', 'floor', 'erf', 'log1p', 'reciprocal' }
local binary = { 'add', 'sub', 'mul', 'div', 'maximum', 'minimum', 'pow', 'lt', 'eq', 'ge', 'atan2' }
local in_place = { 'add_', 'mul_', 'sub_', 'tanh_', 'neg_', 'clamp_' }
local dtypes = { torch.float32, torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool }
local numbers = { 2, 3, -1, 0.5, 0, 1.25 }
local of_two = { add_ = true, mul_ = true, sub_ = true }

-- A step takes `at`, which gives the tensor of a number, and returns a new tensor or nil.

local function step_unary()
  local a, name = random(99), pick(unary)
  return function(at) return at(a)[name](at(a)) end
end

local function step_binary()
  local a, b, name = random(99), random(99), pick(binary)
  return function(at) return at(a)[name](at(a), at(b)) end
end

local function step_number()
  local a, name, number = random(99), pick { 'add', 'sub', 'mul', 'div', 'pow' }, pick(numbers)
  local reversed = random() < 0.3
  return function(at)
    if reversed then return number - at(a) end
    return at(a)[name](at(a), number)
  end
end

local function step_where()
  local a, b, c = random(99), random(99), random(99)
  return function(at) return torch.where(at(a):gt(0), at(b), at(c)) end
end

local function step_clamp()
  local a, low = random(99), random() - 0.5
  return function(at) return at(a):clamp { min = low, max = low + 0.75 } end
end

local function step_cast()
  local a, dtype = random(99), pick(dtypes)
  return function(at) return at(a):to(dtype) end
end

local views = {
  function(t) return t:transpose(-1, 1) end,
  function(t) return t:narrow(1, 1, 1) end,
  function(t) return t:reshape(-1) end,
  function(t) return t:unsqueeze(1) end,
  function(t) return t:detach() end,
  function(t) return t:flip(1) end,
  function(t) return t[{ { 1, -1, 2 } }] end,
  function(t) return t:contiguous() end,
  function(t) return t:clone() end,
}
local function step_view()
  local a, view = random(99), pick(views)
  return function(at) return view(at(a)) end
end

local function step_reduce()
  local a, name, whole = random(99), pick { 'sum', 'mean', 'amax', 'cumsum', 'softmax' }, random() < 0.4
  return function(at)
    local t = at(a):float()
    if name == 'cumsum' or name == 'softmax' then return t[name](t, 1) end
    if whole and name ~= 'amax' then return t[name](t) end
    return t[name](t, 1, { keepdim = true })
  end
end

-- What takes a tensor line by line.
local function step_lines()
  local a, name, scaled = random(99), pick { 'softmax', 'log_softmax', 'layer_norm', 'rms_norm', 'group_norm' }, random() < 0.5
  return function(at)
    local t = at(a)
    if name == 'softmax' or name == 'log_softmax' then return t[name](t, -1) end
    local width = t.shape[t.ndim]
    if name == 'group_norm' then return F.group_norm(t, t.shape[2] % 2 == 0 and 2 or 1) end
    return F[name](t, width, { weight = scaled and torch.linspace(0.5, 2, width):to(t.dtype) or nil })
  end
end

local function step_in_place()
  local a, b, name = random(99), random(99), pick(in_place)
  return function(at)
    local t = at(a)
    if of_two[name] then t[name](t, at(b))
    elseif name == 'clamp_' then t:clamp_ { min = -0.5 }
    else t[name](t) end
    return nil
  end
end

local function step_assign()
  local a, b = random(99), random(99)
  return function(at)
    at(a)[1] = at(b):float():mean():item()
    return nil
  end
end

local function step_random()
  local a = random(99)
  return function(at) return torch.rand(at(a).shape, { device = at(a).device }) + at(a) end
end

-- The program looks at a value and goes on by it.
local function step_decide()
  local a, b = random(99), random(99)
  return function(at)
    if at(a):float():sum():item() > 0 then return at(b) * 2 end
    return at(b) - 1
  end
end

local kinds = { step_unary, step_unary, step_unary, step_binary, step_binary, step_binary, step_number, step_number, step_where, step_clamp,
  step_cast, step_view, step_view, step_reduce, step_lines, step_lines, step_in_place, step_assign, step_random, step_decide }

--- A program of about `n` steps: a function that, given a list of tensors, adds its results to it. Steps that are refused are left out,
-- with their message in the list.
function M.make(n)
  local list = {}
  for i = 1, n do list[i] = pick(kinds)() end
  return function(tensors)
    local function at(i) return tensors[(i - 1) % #tensors + 1] end
    local messages = {}
    for i, step in ipairs(list) do
      local ok, result = pcall(step, at)
      if not ok then messages[#messages + 1] = i .. ': ' .. tostring(result) end
      if ok and result ~= nil then tensors[#tensors + 1] = result end
    end
    return tensors, messages
  end
end

--- Tensors to begin with: of a shape and of shapes that go with it.
function M.inputs()
  local rows, columns = random(1, 70), random(1, 90)
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
-- stands first, and where that is the compiler chooses for each loop.
function M.same(a, b)
  if a.dtype ~= b.dtype or a.shape ~= b.shape then return false end
  for d = 1, a.ndim do
    if a:stride(d) ~= b:stride(d) then return false end
  end
  local x, y = a:nan_to_num(0), b:nan_to_num(0)
  return torch.equal(a:isnan(), b:isnan()) and torch.equal(x, y) and torch.equal(x:signbit(), y:signbit()) or false
end

return M
