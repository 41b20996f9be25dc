-- places.lua - the places of values in a generated program: { buffer =, offset =, shape =, strides =,
-- dtype = }, elements of a buffer with strides.

local torch = require 'torch'

local M = {}

--- By the name of a dtype: the type in C, the suffix of functions and arrays, and the size.
M.types = { float32 = { c = 'float', suffix = '', bytes = 4 }, float64 = { c = 'double', suffix = '_double', bytes = 8 }, int64 = { c = 'int64_t', suffix = '_int64', bytes = 8 },
  int32 = { c = 'int32_t', suffix = '_int32', bytes = 4 }, bool = { c = 'unsigned char', suffix = '_bool', bytes = 1 }, uint8 = { c = 'unsigned char', suffix = '_uint8', bytes = 1 } }

function M.type_of(dtype) return M.types[tostring(dtype):match '[%w]+$'] end

function M.numel(shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return n
end

--- The strides of a contiguous tensor.
function M.dense_strides(shape)
  local strides, n = {}, 1
  for d = #shape, 1, -1 do strides[d], n = n, n * shape[d] end
  return strides
end

--- A contiguous place at the start of a buffer, or at an offset.
function M.new(buffer, shape, dtype, offset)
  return { buffer = buffer, offset = offset or 0, shape = shape, strides = M.dense_strides(shape), dtype = dtype }
end

function M.is_dense(place)
  local strides = M.dense_strides(place.shape)
  for d, size in ipairs(place.shape) do
    if size == 0 then return true end
    if size > 1 and strides[d] ~= place.strides[d] then return false end
  end
  return true
end

--- The same elements with another shape; the place must be dense.
function M.reshaped(place, shape) return M.new(place.buffer, shape, place.dtype, place.offset) end

--- The strides of a place that is broadcast to a shape.
function M.broadcast(place, shape)
  local strides, extra = {}, #shape - #place.shape
  for d = 1, #shape do
    local size = d > extra and place.shape[d - extra] or 1
    strides[d] = size == 1 and 0 or place.strides[d - extra]
  end
  return strides
end

--- The place with its dimensions in another order.
function M.permuted(place, order)
  local result = { buffer = place.buffer, offset = place.offset, dtype = place.dtype, shape = {}, strides = {} }
  for i, d in ipairs(order) do result.shape[i], result.strides[i] = place.shape[d], place.strides[d] end
  return result
end

-- ---- loops --------------------------------------------------------------------------------------

-- The dimensions of a loop over a shape with strides of several operands: without those of size 1,
-- neighbours as one where all operands allow it.
local function merged(shape, operands)
  local sizes, strides = {}, {}
  for k = 1, #operands do strides[k] = {} end
  for d, size in ipairs(shape) do
    if size ~= 1 then
      local n = #sizes
      local joins = n > 0
      for k, list in ipairs(operands) do joins = joins and strides[k][n] == list[d] * size end
      if not joins then n = n + 1 end
      sizes[n] = joins and sizes[n] * size or size
      for k, list in ipairs(operands) do strides[k][n] = list[d] end
    end
  end
  return sizes, strides
end

local MAX_OUTER = 7 -- dimensions: fixed by struct element_loop

--- A struct element_loop in C for a loop over a shape; nil if it has too many dimensions.
function M.elements(shape, operands)
  local sizes, strides = merged(shape, operands)
  local n, rows = #sizes, 1
  if n - 1 > MAX_OUTER then return nil end
  for d = 1, n - 1 do rows = rows * sizes[d] end
  local steps, outer = {}, {}
  for k = 1, 3 do
    local list = strides[k] or {}
    steps[k] = ('%d'):format(list[n] or 0)
    outer[k] = '{' .. (n > 1 and strides[k] and table.concat(list, ', ', 1, n - 1) or '0') .. '}'
  end
  return ('&(struct element_loop){%d, %d, %d, {%s}, {%s}, {%s}}'):format(math.max(n - 1, 0), rows, sizes[n] or 1, table.concat(steps, ', '),
    n > 1 and table.concat(sizes, ', ', 1, n - 1) or '0', table.concat(outer, ', '))
end

-- ---- views --------------------------------------------------------------------------------------

--- A tensor of the place's shape, strides and dtype with undefined elements, and its storage.
function M.stand_in(place)
  local last = place.offset
  for d, size in ipairs(place.shape) do last = last + math.max(size - 1, 0) * place.strides[d] end
  local storage = torch.empty(last + 1, { dtype = place.dtype })
  return storage:as_strided(place.shape, place.strides, place.offset), storage
end

--- The place of a view of a stand-in's storage; nil if the tensor is no view of it.
function M.of_view(buffer, storage, view)
  if view:numel() == 0 then return M.new(buffer, table.move(view.shape, 1, view.ndim, 1, {}), view.dtype) end
  local bytes = view:data_ptr() - storage:data_ptr()
  if bytes < 0 or bytes >= storage:numel() * storage:element_size() or view.dtype ~= storage.dtype then return nil end
  return { buffer = buffer, offset = bytes // storage:element_size(), shape = table.move(view.shape, 1, view.ndim, 1, {}),
    strides = table.move(view:stride(), 1, view.ndim, 1, {}), dtype = view.dtype }
end

return M
