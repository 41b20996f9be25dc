-- versions.lua - writes operators for the operator sets 13 to 17. ops/ writes the operators of set
-- 18. For an older set, a node is written in its older form, as a few nodes that older sets have,
-- or with inputs cast to dtypes that its older version accepts; otherwise the error names the
-- operator and the set that has it.

local torch = require 'torch'
local tensors = require 'torch.onnx.tensors'

local M = {}

M.OLDEST = 13

-- Versions of the file format: of the first release that has the operator set.
local function format_of(opset) return opset < 15 and 7 or 8 end
M.format_of = format_of

-- ---- dtypes of results --------------------------------------------------------------------------

local RESULTS = { Shape = torch.int64, Size = torch.int64, ArgMax = torch.int64, ArgMin = torch.int64 }
for op in ('Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor Not IsNaN IsInf'):gmatch '%S+' do RESULTS[op] = torch.bool end
local SAME_AS = { Where = 2, OneHot = 3 } -- the input whose dtype the result has, if not the first

--- The dtype of the k-th output of a node.
function M.result_dtype(graph, op, inputs, attributes, k)
  if op == 'Cast' then return tensors.dtypes[attributes.to] end
  if op == 'TopK' and k == 2 then return torch.int64 end
  return RESULTS[op] or graph.dtypes[inputs[SAME_AS[op] or 1]]
end

-- ---- operators that older sets lack -------------------------------------------------------------

-- The set that introduced an operator.
local INTRODUCED = { Trilu = 14, HardSwish = 14, GridSample = 16, LayerNormalization = 17, Mish = 18, BitwiseAnd = 18, BitwiseOr = 18, BitwiseXor = 18,
  BitwiseNot = 18 }

-- Operators as several nodes: f(graph, inputs, attributes) -> the name of the result.
local composed = {}

function composed.HardSwish(g, inputs)
  return g:node('Mul', { inputs[1], g:node('HardSigmoid', { inputs[1] }, { alpha = 1 / 6, beta = 0.5 }) })
end

-- x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2). From the bound on, the fraction is 1.
function composed.Mish(g, inputs)
  local dtype = g.dtypes[inputs[1]]
  local bound = (dtype == torch.float16 or dtype == torch.bfloat16) and 5 or 20
  local e = g:node('Exp', { g:node('Min', { inputs[1], g:scalar(bound, dtype) }) })
  local n = g:node('Mul', { e, g:node('Add', { e, g:scalar(2, dtype) }) })
  return g:node('Mul', { inputs[1], g:node('Div', { n, g:node('Add', { n, g:scalar(2, dtype) }) }) })
end

-- max(x, 0) + log(1 + e^-|x|): runtimes lack the operator for double.
local function double_softplus(g, x)
  local function number(n) return g:scalar(n, torch.float64) end
  local small = g:node('Log', { g:node('Add', { g:node('Exp', { g:node('Neg', { g:node('Abs', { x }) }) }), number(1) }) })
  return g:node('Add', { g:node('Max', { x, number(0) }), small })
end

-- Half types are computed in float, as the operator does by default.
function composed.LayerNormalization(g, inputs, attributes)
  local dtype, axes = g.dtypes[inputs[1]], {}
  local wide = dtype == torch.float64 and dtype or torch.float32
  for axis = attributes.axis, -1 do axes[#axes + 1] = axis end
  local function mean(x) return g:node('ReduceMean', { x, g:list(axes) }, { keepdims = 1 }) end
  local x = wide == dtype and inputs[1] or g:cast_name(inputs[1], wide)
  local centered = g:node('Sub', { x, mean(x) })
  local variance = mean(g:node('Mul', { centered, centered }))
  local y = g:node('Div', { centered, g:node('Sqrt', { g:node('Add', { variance, g:scalar(attributes.epsilon, wide) }) }) })
  if wide ~= dtype then y = g:cast_name(y, dtype) end
  y = g:node('Mul', { y, inputs[2] })
  return inputs[3] and g:node('Add', { y, inputs[3] }) or y
end

-- By a comparison of the numbers of the columns and rows.
function composed.Trilu(g, inputs, attributes)
  local function integer(n) return g:scalar(n, torch.int64) end
  local shape = g:node('Shape', { inputs[1] })
  local function numbers(axis) -- of the rows or columns
    return g:node('Range', { integer(0), g:node('Gather', { shape, integer(axis) }, { axis = 0 }), integer(1) })
  end
  local rows, columns = g:node('Unsqueeze', { numbers(-2), g:list { 1 } }), numbers(-1)
  local kept = g:node(attributes.upper == 1 and 'GreaterOrEqual' or 'LessOrEqual', { columns, g:node('Add', { rows, inputs[2] }) })
  local dtype = g.dtypes[inputs[1]]
  return g:node('Where', { kept, inputs[1], g:scalar(dtype == torch.bool and false or 0, dtype) })
end

-- ---- older forms --------------------------------------------------------------------------------

local AXES_IN_ATTRIBUTE = { ReduceL1 = true, ReduceL2 = true, ReduceLogSumExp = true, ReduceMax = true, ReduceMean = true, ReduceMin = true, ReduceProd = true }

-- The set that introduced an attribute.
local ATTRIBUTES = { Reshape = { allowzero = 14 }, ScatterElements = { reduction = 16 } }

local SMALL_INTEGERS = { [torch.int8] = torch.int32, [torch.int16] = torch.int32, [torch.uint8] = torch.int32, [torch.uint16] = torch.int32 }
local HALVES = { [torch.float16] = torch.float32, [torch.bfloat16] = torch.float32 }
local BFLOAT16 = { [torch.bfloat16] = torch.float32 }

-- Dtypes that an operator accepts since a set, and those that they are cast to before: { set,
-- { [dtype] = dtype } }.
local ACCEPTED = { Add = { 14, SMALL_INTEGERS }, Sub = { 14, SMALL_INTEGERS }, Mul = { 14, SMALL_INTEGERS }, Div = { 14, SMALL_INTEGERS },
  CumSum = { 14, HALVES }, BatchNormalization = { 14, BFLOAT16 }, Pow = { 15, BFLOAT16 }, GreaterOrEqual = { 16, BFLOAT16 }, LessOrEqual = { 16, BFLOAT16 },
  LeakyRelu = { 16, BFLOAT16 }, PRelu = { 16, BFLOAT16 }, Where = { 16, BFLOAT16 } }

-- The operator on inputs that are cast; nil if its inputs need no cast.
local function on_casts(g, op, inputs, attributes)
  local entry = ACCEPTED[op]
  if not entry or g.opset >= entry[1] then return nil end
  local given, wanted, list = nil, nil, {}
  for i, name in ipairs(inputs) do
    local dtype = g.dtypes[name]
    if dtype and entry[2][dtype] then given, wanted = dtype, entry[2][dtype] end
    list[i] = dtype and entry[2][dtype] and g:cast_name(name, entry[2][dtype]) or name
  end
  if not wanted then return nil end
  local result = g:node(op, list, attributes)
  return g.dtypes[result] == wanted and g:cast_name(result, given) or result
end

local function refuse(g, what, needed)
  g:fail('%s needs opset_version %d or newer, got %d', what, needed, g.opset)
end

--- Writes a node of set 18 for the graph's set. Returns the name of the result if it was written as
-- other nodes; otherwise nil, and the inputs and attributes of the node.
function M.convert(g, op, inputs, attributes)
  if g.opset >= 18 then return nil, inputs, attributes end
  local introduced = INTRODUCED[op]
  if introduced and g.opset < introduced then
    if not composed[op] then refuse(g, 'the operator ' .. op, introduced) end
    return composed[op](g, inputs, attributes)
  end
  for name, since in pairs(ATTRIBUTES[op] or {}) do
    if attributes and attributes[name] and g.opset < since then refuse(g, ("the attribute '%s' of the operator %s"):format(name, op), since) end
  end
  local dtype = g.dtypes[inputs[1]]
  if op == 'Relu' and g.opset < 14 and not dtype.is_floating_point then return g:node('Max', { inputs[1], g:scalar(0, dtype) }) end
  if op == 'Softplus' and dtype == torch.float64 then return double_softplus(g, inputs[1]) end
  if AXES_IN_ATTRIBUTE[op] and inputs[2] then
    local copy = { axes = g.lists[inputs[2]] }
    for name, value in pairs(attributes or {}) do copy[name] = value end
    return nil, { inputs[1] }, copy
  end
  return on_casts(g, op, inputs, attributes), inputs, attributes
end

return M
