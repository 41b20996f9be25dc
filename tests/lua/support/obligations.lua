-- What every op owes beside its numbers, asked of each row of tests/reference: its inputs stay as they were, its result
-- has memory of its own unless the op is a view, a write counts one version, and nothing is held when all is let go.

local torch = require 'torch'

local M = {}

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local declared = dofile(here .. '../../../scripts/gen/declarations.lua').load(here .. '../../../src/ops')

-- Ops that are no views as declared, but give their input or a part of it where nothing has to be computed, as PyTorch's do.
local MAY_SHARE = {}
for name in ([[alpha_dropout adjoint conj real imag resolve_conj resolve_neg atleast_1d atleast_2d atleast_3d bfloat16 bool broadcast_tensors broadcast_to byte cartesian_prod cdouble cfloat
  char chunk contiguous cpu detach double dropout dropout1d dropout2d dropout3d einsum expand_as feature_alpha_dropout flatten
  float half index int long hsplit vsplit dsplit meshgrid moveaxis movedim narrow positive ravel reshape reshape_as short split split_with_sizes unsafe_chunk unsafe_split unsafe_split_with_sizes sum_to_size swapaxes swapdims tensor_split to type_as unbind
  unflatten unfold view_as]]):gmatch '%S+' do
  MAY_SHARE[name] = true
end

-- Arguments that an op writes to as documented: the rows that max_norm shortens.
local WRITES_TO = { embedding = 2, embedding_bag = 2 }

local function is_view(op)
  local overloads = declared.by_name[op]
  for _, overload in ipairs(overloads or {}) do
    if not overload.view then return false end
  end
  return overloads ~= nil
end

-- ---- memory ----------------------------------------------------------------------------------------------------------

-- The addresses from a tensor's first element to its last; nothing for a tensor without elements.
local function range(t)
  if t:numel() == 0 then return nil end
  local first = t:detach():data_ptr()
  local last = first
  for d = 1, t.ndim do last = last + (t:size(d) - 1) * t:stride(d) * t.itemsize end
  return first, last + t.itemsize
end

local function share(a, b)
  local a_first, a_end = range(a)
  local b_first, b_end = range(b)
  return a_first and b_first and a.device == b.device and a_first < b_end and b_first < a_end
end
M.share = share

-- Raises where a result lies in an input's memory and should not, or is a view's and does not.
function M.check_memory(op, results, inputs)
  for i, result in ipairs(results) do
    if torch.is_tensor(result) then
      for j, input in ipairs(inputs) do
        if not is_view(op) and not MAY_SHARE[op] and share(result, input) then
          error(('result %d shares memory with tensor %d of the arguments'):format(i, j), 0)
        end
      end
      if is_view(op) and result:numel() > 0 and not share(result, inputs[1]) then
        error(('result %d is declared a view, and has memory of its own'):format(i), 0)
      end
    end
  end
end

-- Raises unless each gradient has memory of its own.
function M.check_gradients(leaves, others)
  for i, leaf in ipairs(leaves) do
    for j, other in ipairs(leaves) do
      if leaf.grad and share(leaf.grad, other) then error(('gradient %d shares memory with leaf %d'):format(i, j), 0) end
      if j < i and leaf.grad and other.grad and not rawequal(leaf, other) and share(leaf.grad, other.grad) then
        error(('gradients %d and %d share memory'):format(j, i), 0)
      end
    end
    for _, other in ipairs(others) do
      if leaf.grad and share(leaf.grad, other) then error(('gradient %d shares memory with what backward was given'):format(i), 0) end
    end
  end
end

-- ---- values and versions -----------------------------------------------------------------------------------------------

-- Of complex elements the parts.
local function values(t)
  t = t:detach():cpu()
  return (t:is_complex() and torch.view_as_real(t) or t):reshape(-1):tolist()
end

local function same(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do
    local x, y = a[i], b[i]
    if x ~= y and (x == x or y == y) then return false end
  end
  return true
end

local function geometry(t)
  local parts = { tostring(t.dtype) }
  for d = 1, t.ndim do parts[#parts + 1] = ('%d by %d'):format(t:size(d), t:stride(d)) end
  return table.concat(parts, ', ')
end

-- What the tensors that an op is given are now, for unchanged().
function M.watch(op, tensors)
  local seen = {}
  for i, t in ipairs(tensors) do
    if WRITES_TO[op] ~= i then seen[#seen + 1] = { tensor = t, at = i, version = t._version, values = values(t), geometry = geometry(t) } end
  end
  return seen
end

-- Raises if an op changed a tensor, but `changed`, if given, which it should.
function M.unchanged(seen, changed)
  for _, was in ipairs(seen) do
    local t, i = was.tensor, was.at
    if not rawequal(t, changed) then
      if t._version ~= was.version then error(('tensor %d of the arguments was written to'):format(i), 0) end
      if geometry(t) ~= was.geometry then error(('tensor %d of the arguments lies otherwise'):format(i), 0) end
      if not same(values(t), was.values) then error(('tensor %d of the arguments has other values'):format(i), 0) end
    end
  end
end

-- Raises unless the write to a tensor that had a version counted one.
function M.written(t, version)
  local by = t._version - version
  if by ~= 1 then error(('the version went up by %d, expected 1'):format(by), 0) end
end

-- ---- what is held ------------------------------------------------------------------------------------------------------

-- Bytes of all tensors, after everything that can be collected is: a finalizer frees what the next collection finds. What
-- leads to itself through its gradient is looked for at collections that are a while apart, so what holds more than `most`
-- is collected again for a second.
function M.bytes_held(most)
  local start = os.clock()
  local held
  repeat
    for _ = 1, 4 do collectgarbage() end
    held = torch._C.memory_live()
  until not most or held <= most or os.clock() - start > 1
  return held
end

return M
