-- reduce.lua - reductions, extremes with their positions, and orders, written in ONNX.

local torch = require 'torch'

local M = {}

-- The dims of a reduction as axes; nil: all.
local function axes_of(g, dims, rank)
  if dims == nil or type(dims) == 'table' and #dims == 0 then return nil end
  return g:axes(dims, rank)
end

-- A reduction by name, with the axes as an input.
local function reduce(g, op, x, axes, keepdim)
  return g:node(op, { x, axes and g:list(axes) }, { keepdims = keepdim and 1 or 0 })
end

local function reduction(op)
  return function(g, a, call)
    local x = g:cast(a.self, call.results[1].dtype)
    return reduce(g, op, x, axes_of(g, a.dim, #a.self.shape), a.keepdim)
  end
end
M.sum, M.mean, M.prod, M.amax, M.amin = reduction 'ReduceSum', reduction 'ReduceMean', reduction 'ReduceProd', reduction 'ReduceMax', reduction 'ReduceMin'
M.logsumexp = reduction 'ReduceLogSumExp'

local function of_bool(op)
  return function(g, a)
    local x = g:cast_name(g:cast(a.self, torch.bool), torch.int32)
    local some = reduce(g, op, x, axes_of(g, a.dim, #a.self.shape), a.keepdim)
    return g:cast_name(some, torch.bool)
  end
end
M.any, M.all = of_bool 'ReduceMax', of_bool 'ReduceMin'

-- ---- extremes -----------------------------------------------------------------------------------

local function arg(op)
  return function(g, a)
    local x, rank, dim = g:name(a.self), #a.self.shape, a.dim
    if dim == nil then
      local found = g:node(op, { g:reshape(x, { -1 }) }, { axis = 0, keepdims = 0 })
      if a.keepdim then g:fail 'keepdim without a dim' end
      return g:from_positions(found)
    end
    return g:from_positions(g:node(op, { x }, { axis = g:axis(dim, rank), keepdims = a.keepdim and 1 or 0 }))
  end
end
M.argmax, M.argmin = arg 'ArgMax', arg 'ArgMin'

-- max(x), max(x, dim) with positions, max(x, other)
local function extreme(of_two, reduced, found)
  return function(g, a, call)
    if a.other ~= nil then
      local dtype = call.results[1].dtype
      return g:node(of_two, { g:cast(a.self, dtype), g:cast(a.other, dtype) })
    elseif a.dim == nil then
      return reduce(g, reduced, g:name(a.self))
    end
    return reduce(g, reduced, g:name(a.self), g:axes(a.dim, #a.self.shape), a.keepdim), found(g, a)
  end
end
M.max, M.min = extreme('Max', 'ReduceMax', M.argmax), extreme('Min', 'ReduceMin', M.argmin)

-- ---- spread and norms ---------------------------------------------------------------------------

local function variance(g, a, call)
  local dtype, rank = call.results[1].dtype, #a.self.shape
  local axes = axes_of(g, a.dim, rank)
  local x = g:name(a.self)
  local mean = reduce(g, 'ReduceMean', x, axes, true)
  local difference = g:node('Sub', { x, mean })
  local total = reduce(g, 'ReduceSum', g:node('Mul', { difference, difference }), axes, a.keepdim)
  local correction = a.correction or (a.unbiased == false and 0 or 1)
  local shape, factors = g:shape(a.self), {}
  for i = 1, axes and #axes or rank do factors[i] = shape[axes and axes[i] + 1 or i] end
  local n = g:map(function(...)
    local product = 1
    for _, size in ipairs { ... } do product = product * size end
    return product - correction
  end, table.unpack(factors))
  return g:node('Div', { total, g:number(n, dtype) }), reduce(g, 'ReduceMean', x, axes, a.keepdim)
end
function M.var(g, a, call) return (variance(g, a, call)) end
function M.std(g, a, call) return g:node('Sqrt', { (variance(g, a, call)) }) end
M.var_mean = variance
function M.std_mean(g, a, call)
  local spread, mean = variance(g, a, call)
  return g:node('Sqrt', { spread }), mean
end

-- The p-norm of a name.
local function norm(g, x, p, axes, keepdim, dtype)
  if p == 'fro' then p = 2 end
  if type(p) ~= 'number' then g:fail("a norm of kind '%s'", tostring(p)) end
  if p == math.huge or p == -math.huge then return reduce(g, p > 0 and 'ReduceMax' or 'ReduceMin', g:node('Abs', { x }), axes, keepdim) end
  if p == 1 then return reduce(g, 'ReduceL1', x, axes, keepdim) end
  if p == 2 then return reduce(g, 'ReduceL2', x, axes, keepdim) end
  local powers = g:node('Pow', { g:node('Abs', { x }), g:scalar(p, dtype) })
  return g:node('Pow', { reduce(g, 'ReduceSum', powers, axes, keepdim), g:scalar(1 / p, dtype) })
end
function M.norm(g, a, call)
  local dtype = call.results[1].dtype
  return norm(g, g:cast(a.self, dtype), a.p, axes_of(g, a.dim, #a.self.shape), a.keepdim, dtype)
end
function M.linalg_vector_norm(g, a, call)
  local dtype = call.results[1].dtype
  return norm(g, g:cast(a.self, dtype), a.ord, axes_of(g, a.dim, #a.self.shape), a.keepdim, dtype)
end

function M.normalize(g, a, call)
  local dtype = call.results[1].dtype
  local x = g:name(a.input)
  local length = norm(g, x, a.p, g:axes(a.dim, #a.input.shape), true, dtype)
  return g:node('Div', { x, g:node('Max', { length, g:scalar(a.eps, dtype) }) })
end
M['nn.normalize'] = M.normalize

function M.cosine_similarity(g, a, call)
  local dtype, rank = call.results[1].dtype, #call.results[1].shape + 1
  local axes = g:axes(a.dim, rank)
  local x, y = g:name(a.x1), g:name(a.x2)
  local function length(t) return g:node('Max', { norm(g, t, 2, axes, true, dtype), g:scalar(a.eps, dtype) }) end
  local product = g:node('Mul', { g:node('Div', { x, length(x) }), g:node('Div', { y, length(y) }) })
  return reduce(g, 'ReduceSum', product, axes, false)
end

function M.pairwise_distance(g, a, call)
  local dtype = call.results[1].dtype
  local difference = g:node('Add', { g:node('Sub', { g:name(a.x1), g:name(a.x2) }), g:scalar(a.eps, dtype) })
  return norm(g, difference, a.p, { -1 }, a.keepdim, dtype)
end

-- ---- along a dimension --------------------------------------------------------------------------

function M.cumsum(g, a, call)
  return g:node('CumSum', { g:cast(a.self, call.results[1].dtype), g:scalar(g:axis(a.dim, #a.self.shape), torch.int64) })
end

function M.topk(g, a)
  local k = g:integers { a.k }
  local values, places = g:node('TopK', { g:name(a.self), k },
    { axis = g:axis(a.dim, #a.self.shape), largest = a.largest and 1 or 0, sorted = a.sorted and 1 or 0 }, 2)
  return values, g:from_positions(places)
end

function M.sort(g, a)
  local axis = g:axis(a.dim, #a.self.shape)
  local values, places = g:node('TopK', { g:name(a.self), g:integers { g:shape(a.self)[axis + 1] } }, { axis = axis, largest = a.descending and 1 or 0 }, 2)
  return values, g:from_positions(places)
end
function M.argsort(g, a) return (select(2, M.sort(g, a))) end

return M
