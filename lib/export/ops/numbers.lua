-- numbers.lua - operators whose results are numbers: arithmetic of sizes, queries of tensors.

local torch = require 'torch'
local common = require 'torch.export.ops.common'

local dim_of = common.dim_of
local named = {}

-- ---- Python's operators -------------------------------------------------------------------------

-- Fractions are rounded half to even, as by Python.
local function rounded(x)
  local whole = math.floor(x)
  local rest = x - whole
  if rest < 0.5 or rest == 0.5 and whole % 2 == 0 then return math.tointeger(whole) or whole end
  return math.tointeger(whole + 1) or whole + 1
end

local function whole(x) return math.tointeger(x) or x end

local function power(a, b)
  local result = a ^ b
  if math.type(a) == 'integer' and math.type(b) == 'integer' and b >= 0 then return whole(result) end
  return result
end

--- Of `_operator`, `math` and torch.sym_*.
local numbers = {
  add = function(a, b) return a + b end, sub = function(a, b) return a - b end, mul = function(a, b) return a * b end, floordiv = function(a, b) return a // b end,
  mod = function(a, b) return a % b end, neg = function(a) return -a end, pos = function(a) return a end, truediv = function(a, b) return a / b end, pow = power,
  abs = math.abs,
  eq = function(a, b) return a == b end, ne = function(a, b) return a ~= b end, lt = function(a, b) return a < b end, le = function(a, b) return a <= b end,
  gt = function(a, b) return a > b end, ge = function(a, b) return a >= b end,
  and_ = function(a, b) if type(a) == 'boolean' then return a and b end return a & b end,
  or_ = function(a, b) if type(a) == 'boolean' then return a or b end return a | b end,
  xor = function(a, b) if type(a) == 'boolean' then return a ~= b end return a ~ b end,
  not_ = function(a) return not a end, lshift = function(a, b) return a << b end, rshift = function(a, b) return a >> b end,
  trunc = function(a) return whole(a < 0 and math.ceil(a) or math.floor(a)) end, ceil = function(a) return whole(math.ceil(a)) end,
  floor = function(a) return whole(math.floor(a)) end, round = rounded, sqrt = math.sqrt, exp = math.exp, log = math.log, log2 = function(a) return math.log(a, 2) end,
  sin = math.sin, cos = math.cos, tan = math.tan, asin = math.asin, acos = math.acos, atan = math.atan,
  max = function(a, b) return a >= b and a or b end, min = function(a, b) return a <= b and a or b end,
  float = function(a) return a + 0.0 end, int = function(a) return whole(a < 0 and math.ceil(a) or math.floor(a)) end,
  ite = function(condition, a, b) if condition then return a end return b end,
}
numbers['and'], numbers['or'], numbers['not'] = numbers.and_, numbers.or_, numbers.not_

-- ---- queries ------------------------------------------------------------------------------------

function named.sym_size(a) return a.dim and a.self:size(dim_of(a.self, a.dim)) or a.self.shape end
function named.sym_stride(a) return a.dim and a.self:stride(dim_of(a.self, a.dim)) or { a.self:stride() } end
function named.sym_numel(a) return a.self:numel() end
function named.sym_storage_offset(a) return a.self:storage_offset() end
function named.sym_is_contiguous(a) return a.self:is_contiguous() end
function named.dim(a) return a.self:dim() end
function named.is_complex(a) return a.self.dtype.is_complex end
function named.is_floating_point(a) return a.self.dtype.is_floating_point end
function named.item(a) return a.self:item() end
named.size, named.stride, named.numel, named.storage_offset = named.sym_size, named.sym_stride, named.sym_numel, named.sym_storage_offset
named.is_contiguous, named._local_scalar_dense = named.sym_is_contiguous, named.item
function named._is_all_true(a) return a.self:all() end
function named._is_any_true(a) return a.self:any() end
function named._shape_as_tensor(a) return torch.tensor(table.move(a.self.shape, 1, a.self:dim(), 1, {}), { dtype = torch.int64 }) end

return { named = named, numbers = numbers }
