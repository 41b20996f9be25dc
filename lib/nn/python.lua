-- python.lua - values as Python prints them, for the printed form of layers: True, None, 1e-05, (3,
-- 3), 'same'.

local for_loops = require 'torch.support.for_loops'

local python = {}

-- The shortest decimal that converts back to x; with an exponent below 1e-4 and from 1e16 on.
local function float(x)
  if x ~= x then return 'nan' end
  if x == math.huge then return 'inf' end
  if x == -math.huge then return '-inf' end
  local digits
  for precision = 1, 17 do
    digits = ('%.' .. precision - 1 .. 'e'):format(x)
    if tonumber(digits) == x then break end
  end
  local exponent = tonumber(digits:match 'e(.*)')
  if exponent < -4 or exponent >= 16 then return (digits:gsub('e([+-])0*(%d%d)$', 'e%1%2')) end
  local mantissa = #digits:match '^-?%d%.?(%d*)'
  return ('%.' .. math.max(mantissa - exponent, 1) .. 'f'):format(x)
end

-- The text of a value; a table is a tuple.
function python.repr(value)
  if value == nil then return 'None' end
  if value == true then return 'True' end
  if value == false then return 'False' end
  if type(value) == 'string' then return "'" .. value .. "'" end
  if math.type(value) == 'float' then return float(value) end
  if not for_loops.is_plain(value) then return tostring(value) end
  local parts = {}
  for i, item in ipairs(value) do parts[i] = python.repr(item) end
  return '(' .. table.concat(parts, ', ') .. (#parts == 1 and ',)' or ')')
end

-- format with every %s filled by repr.
function python.format(text, ...)
  local values = table.pack(...)
  local i = 0
  return (text:gsub('%%(.)', function(kind)
    if kind == '%' then return '%' end
    i = i + 1
    return kind == 'r' and tostring(values[i]) or python.repr(values[i])
  end))
end

return python
