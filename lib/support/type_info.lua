-- type_info.lua - torch.finfo and torch.iinfo: the limits of floating and of integer dtypes.
--
-- torch.finfo(torch.float16).max is 65504.0; without an argument: of the default dtype. An object
-- has bits, dtype, min and max, one of finfo also eps, tiny, smallest_normal and resolution;
-- another name is an error.

--[=[ arguments
type: Dtype; finfo without one describes the default dtype.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local type_info = {}

-- By dtype: bits of the significand that are stored, the greatest exponent, decimal digits that
-- survive.
local formats = { float16 = { 10, 15, 3 }, bfloat16 = { 7, 127, 2 }, float32 = { 23, 127, 6 }, float64 = { 52, 1023, 15 } }

-- One-byte floats, as in PyTorch: maximum, smallest normal number, eps, and the minimum if it is
-- not minus the maximum.
local one_byte = { float8_e5m2 = { 57344.0, 2.0 ^ -14, 0.25 }, float8_e4m3fn = { 448.0, 2.0 ^ -6, 0.125 },
  float8_e5m2fnuz = { 57344.0, 2.0 ^ -15, 0.125 }, float8_e4m3fnuz = { 240.0, 2.0 ^ -7, 0.125 }, float8_e8m0fnu = { 2.0 ^ 127, 2.0 ^ -127, 1.0, 2.0 ^ -127 } }

local function name_of(dtype) return (tostring(dtype):gsub('^torch%.', '')) end

local function read(what, dtype)
  kinds.check(what, 'type', dtype, 'dtype')
  return torch.empty(0, { dtype = dtype }).dtype
end

-- shown: the fields to print, in this order.
local function object(what, fields, shown)
  return setmetatable({}, {
    __name = 'torch.' .. what,
    __fields = fields,
    __index = function(_, name)
      local value = fields[name]
      if value == nil then fail("'%s' object has no attribute '%s'", what, tostring(name)) end
      return value
    end,
    __newindex = function(_, name) fail("attribute '%s' of '%s' objects is not writable", tostring(name), what) end,
    __tostring = function()
      local parts = {}
      for i, name in ipairs(shown) do
        local value = fields[name]
        parts[i] = name .. '=' .. (math.type(value) and ('%.6g'):format(value) or name_of(value))
      end
      return ('%s(%s)'):format(what, table.concat(parts, ', '))
    end,
    __eq = function(a, b) return torch.type(b) == 'torch.' .. what and a.dtype == b.dtype end,
  })
end

local function finfo_of(dtype, fields)
  fields.bits, fields.dtype, fields.smallest_normal = dtype.itemsize * 8, dtype, fields.tiny
  return object('finfo', fields, { 'resolution', 'min', 'max', 'eps', 'smallest_normal', 'tiny', 'dtype' })
end

--- The limits of a floating dtype.
function type_info.finfo(dtype)
  dtype = read('finfo', dtype or torch.get_default_dtype())
  local format, limits = formats[name_of(dtype)], one_byte[name_of(dtype)]
  if limits then
    local max, tiny, eps, min = table.unpack(limits)
    return finfo_of(dtype, { eps = eps, max = max, min = min or -max, tiny = tiny, resolution = 1.0 })
  end
  if not format then fail("torch.finfo() requires a floating point input type. Use torch.iinfo to handle '%s'", tostring(dtype)) end
  local stored, exponent, digits = table.unpack(format)
  local max, tiny = (2 - 2.0 ^ -stored) * 2.0 ^ exponent, 2.0 ^ (1 - exponent)
  return finfo_of(dtype, { eps = 2.0 ^ -stored, max = max, min = -max, tiny = tiny, resolution = 10.0 ^ -digits })
end

--- The limits of an integer dtype.
function type_info.iinfo(dtype)
  dtype = read('iinfo', dtype)
  if dtype == torch.bool then fail 'torch.bool is not supported by torch.iinfo' end
  if dtype.is_floating_point then
    fail("torch.iinfo() requires an integer input type. Use torch.finfo to handle '%s'", tostring(dtype))
  end
  local bits = dtype.itemsize * 8
  local max = dtype.is_signed and math.maxinteger >> (64 - bits) or bits < 64 and (1 << bits) - 1 or 2.0 ^ 64 -- the nearest number
  return object('iinfo', { bits = bits, dtype = dtype, min = dtype.is_signed and -max - 1 or 0, max = max }, { 'min', 'max', 'dtype' })
end

declare.functions(type_info, 'finfo(any? type) iinfo(any type)')

return type_info
