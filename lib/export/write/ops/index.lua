-- index.lua - writes x[...], x[...] = value, and the choice of elements by conditions and positions.

local torch = require 'torch'
local index_text = require 'torch.onnx.export.index_text'
local record = require 'torch.onnx.export.record'

local M = {}

-- ---- the parts of an index ----------------------------------------------------------------------

local function is_symbol(x) return type(x) == 'table' and getmetatable(x) ~= nil and not record.is_value(x) end

-- The entries of an index, one for each dimension.
local function entries_of(g, key)
  if type(key) == 'string' then
    return index_text(key, function(text) g:fail("the index '%s' is not supported; pass numbers or tables", text) end)
  end
  if type(key) ~= 'table' or record.is_value(key) or is_symbol(key) then return { key } end
  return key
end

-- Bounds from 1 with both ends included, as bounds from 0 without the last.
local function bounds(entry)
  local first, last = entry[1] or 1, entry[2]
  if is_symbol(first) or first > 0 then first = first - 1 end
  if last == -1 then last = nil elseif last ~= nil and not is_symbol(last) and last < 0 then last = last + 1 end
  return first, last, entry[3] or 1
end

local function removed(shape, d)
  local rest = table.move(shape, 1, #shape, 1, {})
  table.remove(rest, d)
  return rest
end

local function length_of(first, last, step, size)
  if is_symbol(first) or is_symbol(last) or is_symbol(size) then return (last or size) - first end
  local function clamped(at) return math.max(0, math.min(at < 0 and at + size or at, size)) end
  return math.max(0, (clamped(last or size) - clamped(first) + step - 1) // step)
end

-- Applies the entries that are views; returns the view, and the tensors of positions and masks by
-- dimension (false: no tensor).
local function view_of(g, x, key)
  local entries, consumed = entries_of(g, key), 0
  for _, entry in ipairs(entries) do
    if record.is_value(entry) and entry.dtype == torch.bool then consumed = consumed + #entry.shape
    elseif entry ~= 'None' and entry ~= '...' and entry ~= torch.newaxis then consumed = consumed + 1 end
  end
  local d, rank, tensors, has_tensors = 1, #g:shape(x), {}, false
  local function apply(target, arguments, shape)
    arguments.self = x
    local result = g:made(x, nil, shape)
    g:call_operator(target, arguments, { result })
    x = result
  end
  for _, entry in ipairs(entries) do
    local shape = g:shape(x)
    if entry == '...' then
      for _ = consumed + 1, rank do
        tensors[d], d = false, d + 1
      end
    elseif entry == 'None' or entry == torch.newaxis then
      table.insert(shape, d, 1)
      apply('unsqueeze.default', { dim = d - 1 }, shape)
      tensors[d], d = false, d + 1
    elseif record.is_value(entry) then
      tensors[d], has_tensors = entry, true
      d = d + (entry.dtype == torch.bool and #entry.shape or 1)
    elseif type(entry) == 'table' and not is_symbol(entry) then
      if next(entry) ~= nil then
        local first, last, step = bounds(entry)
        local size = length_of(first, last, step, shape[d])
        local is_whole = shape[d] == size and step == 1
        shape[d] = size
        if not is_whole then apply('slice.Tensor', { dim = d - 1, start = first, ['end'] = last, step = step }, shape) end
      end
      tensors[d], d = false, d + 1
    elseif math.type(entry) == 'integer' or is_symbol(entry) then
      local at = entry
      if is_symbol(at) or at > 0 then at = at - 1 end
      apply('select.int', { dim = d - 1, index = at }, removed(shape, d))
    else
      g:fail('an index of type %s is not supported', torch.type(entry))
    end
  end
  return x, has_tensors and tensors, d - 1
end

-- The tensors of an index as an argument: positions count from 0.
local function tensors_of(g, tensors, n)
  local list, has_holes = {}, false
  for d = 1, n do
    local entry = tensors[d]
    if entry then list[#list + 1] = entry.dtype == torch.bool and g:name(entry) or g:positions(entry, true)
    elseif entry == false then
      list[#list + 1], has_holes = false, true
    end
  end
  if has_holes then return { json = g:optional_tensors(list) } end
  local names = {}
  for i, name in ipairs(list) do names[i] = { name = name } end
  return { json = { as_tensors = names } }
end

local fields = { T = 'numpy_T.default', mT = 'mT.default', H = 'matrix_H.default', mH = 'mH.default' }

function M.index(g, a, call)
  local key = a[2]
  if fields[key] then return g:call_operator(fields[key], { self = a[1] }, { call.results[1] }) end
  if key == 'data' then return g:call_operator('detach.default', { self = a[1] }, { call.results[1] }) end
  local x, tensors, n = view_of(g, a[1], key)
  if tensors then return g:call_operator('index.Tensor', { self = x, indices = tensors_of(g, tensors, n) }, { call.results[1] }) end
  if x == a[1] then return g:call_operator('alias.default', { self = x }, { call.results[1] }) end
  call.results[1].name_in_graph = x.name_in_graph
end

function M.index_assign(g, a)
  local x, tensors, n = view_of(g, a[1], a[2])
  local value = a[3]
  if tensors then
    if not record.is_value(value) then value = g:constant_value(torch.tensor(value, { dtype = a[1].dtype })) end
    return g:call_operator('index_put_.default', { self = x, indices = tensors_of(g, tensors, n), values = value }, { g:made(x) })
  end
  if record.is_value(value) then return g:call_operator('copy_.default', { self = x, src = value }, { g:made(x) }) end
  g:call_operator('fill_.Scalar', { self = x, value = value }, { g:made(x) })
end

-- ---- conditions ---------------------------------------------------------------------------------

local function select_by(g, condition, x, y, call)
  local suffix = record.is_value(x) and (record.is_value(y) and 'self' or 'ScalarOther') or record.is_value(y) and 'ScalarSelf' or 'Scalar'
  g:call_operator('where.' .. suffix, { condition = condition, self = x, other = y }, { call.results[1] })
end

function M.where_method(g, a, call) select_by(g, a[2], a[1], a[3], call) end

-- Without values: the positions of true elements.
function M.where(g, a, call)
  if a.self == nil then return false end
  select_by(g, a.condition, a.self, a.other, call)
end

return M
