-- symbols.lua - dynamic sizes. A module with dynamic dimensions is recorded several times with
-- inputs of different sizes. A number that differs between the recordings is a Symbol; its values
-- determine its formula: an integer or fraction of one size plus a number, or of a product of
-- several.
--
-- The first recording has the given sizes. Then there is one for each dynamic size with only that
-- size changed, and one with all sizes changed, which must confirm the formula.

local record = require 'torch.onnx.export.record'

local M = {}

local Symbol = {}
Symbol.__index = Symbol
function M.is_symbol(x) return getmetatable(x) == Symbol end

--- The number with the given values in the recordings: a plain number if they are equal.
function M.number(values)
  for k = 2, #values do
    if values[k] ~= values[1] then return setmetatable({ values = values }, Symbol) end
  end
  return values[1]
end

--- The value of a number in the k-th recording.
function M.at(x, k)
  if M.is_symbol(x) then return x.values[k] end
  return x
end

--- The sizes of a value of the recordings: a list of numbers and symbols.
function M.shape(recordings, value)
  local shape = {}
  for d = 1, #value.shape do
    local values = {}
    for k, recording in ipairs(recordings) do values[k] = recording.values[value.id].shape[d] end
    shape[d] = M.number(values)
  end
  return shape
end

-- Arithmetic of symbols and numbers, in every recording.
for name, f in pairs {
  __add = function(a, b) return a + b end, __sub = function(a, b) return a - b end, __mul = function(a, b) return a * b end,
  __div = function(a, b) return a / b end, __idiv = function(a, b) return a // b end, __unm = function(a) return -a end,
} do
  Symbol[name] = function(a, b)
    local values = {}
    for k = 1, #(M.is_symbol(a) and a or b).values do values[k] = f(M.at(a, k), M.at(b, k)) end
    return M.number(values)
  end
end

--- Merges the values at the same position of the recordings; calls `differ` to raise an error if
-- they differ in more than numbers.
function M.merge(list, differ)
  local first = list[1]
  if record.is_value(first) then
    for k = 2, #list do
      if not record.is_value(list[k]) or list[k].id ~= first.id then differ() end
    end
    return first
  elseif type(first) == 'table' then
    local merged = {}
    for key in pairs(first) do
      local entries = {}
      for k, entry in ipairs(list) do
        if type(entry) ~= 'table' or #entry ~= #first or entry[key] == nil then differ() end
        entries[k] = entry[key]
      end
      merged[key] = M.merge(entries, differ)
    end
    return merged
  elseif math.type(first) == 'integer' then
    for k = 2, #list do
      if math.type(list[k]) ~= 'integer' then differ() end
    end
    return M.number(list)
  end
  for k = 2, #list do
    if list[k] ~= first then differ() end
  end
  return first
end

--- Whether a symbol is in a merged value.
function M.any(x)
  if M.is_symbol(x) then return true end
  if type(x) ~= 'table' or record.is_value(x) then return false end
  for _, entry in pairs(x) do
    if M.any(entry) then return true end
  end
  return false
end

local function gcd(a, b) return b == 0 and math.abs(a) or gcd(b, a % b) end

--- The formula of a symbol: { dims = indices in `sizes`, factor =, addend =, divisor = } for
-- (factor * product of the sizes + addend) / divisor; nil if no such formula exists. sizes: { {
-- values = } ... }, the dynamic sizes in the recordings.
function M.solve(symbol, sizes)
  local values, dims = symbol.values, {}
  for s = 1, #sizes do
    if values[s + 1] ~= values[1] then dims[#dims + 1] = s end
  end
  if #dims == 0 then return nil end
  local form
  if #dims == 1 then
    local s = dims[1]
    local d = sizes[s].values
    local step, rise = d[s + 1] - d[1], values[s + 1] - values[1]
    form = { dims = dims, factor = rise, addend = values[1] * step - rise * d[1], divisor = step }
  else
    local product = 1
    for _, s in ipairs(dims) do product = product * sizes[s].values[1] end
    form = { dims = dims, factor = values[1], addend = 0, divisor = product }
  end
  local common = gcd(gcd(form.factor, form.addend), form.divisor)
  if form.divisor < 0 then common = -common end
  form.factor, form.addend, form.divisor = form.factor // common, form.addend // common, form.divisor // common
  for k = 1, #values do
    local product = form.factor
    for _, s in ipairs(form.dims) do product = product * sizes[s].values[k] end
    if product + form.addend ~= values[k] * form.divisor then return nil end
  end
  return form
end

return M
