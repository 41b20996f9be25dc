-- arrow.lua - torch.to_arrow and torch.from_arrow: exchange columns of tables with other libraries
-- in the same process by the Arrow C data interface
-- (https://arrow.apache.org/docs/format/CDataInterface.html). A capsule is a userdata
-- "arrow_array"; capsule.used is true after its contents were taken. C programs put columns of
-- pandas, Polars or DuckDB into capsules, and take ours out of them (ltensor_lua.h:
-- lt_lua_push_arrow, lt_lua_take_arrow).

--[=[ arguments
tensor: Tensor of one dimension on the CPU.
object: Capsule, object with a method `__arrow_c_array__`, or tensor.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local capsule_of = require 'torch.support.capsule'

local C = torch._C

local M = {}

--- A capsule over a tensor of one dimension on the CPU. Its memory is shared, so changes of the
-- tensor are visible in the column; strided tensors and bools are copied. A tensor that requires
-- grad is an error: use x:detach().
function M.to_arrow(tensor)
  return C.to_arrow(tensor)
end

--- A tensor of a column: of a capsule, of an object with a method `__arrow_c_array__` that returns
-- one, or of a tensor. A capsule can be used once. The tensor shares the column's memory if
-- possible and is then read-only, since Arrow's memory is immutable: clone() it to write. Bools,
-- and floats with nulls (they become nan), are copied; integers with nulls are an error.
function M.from_arrow(object) return C.from_arrow(capsule_of(object, 'arrow_array', '__arrow_c_array__')) end

declare.functions(M, 'to_arrow(Tensor tensor) from_arrow(any object)')

return M
