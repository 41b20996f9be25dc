-- operators.lua - PyTorch operators without an operation of ours of the same name: functions of
-- named arguments, in the files of ops/. Positions count from 0 in their arguments and results.
-- `none` lists operators that only assert conditions; `results`: how many results are computed, of
-- operators that have more.

local M = { none = {}, named = {}, results = {} }

for name in ([[_assert_tensor_metadata sym_constrain_range sym_constrain_range_for_size _check_is_size]]):gmatch '%S+' do M.none[name] = true end

for _, file in ipairs { 'numbers', 'parts', 'values', 'layers', 'backward' } do
  local part = require('torch.export.ops.' .. file)
  for name, fn in pairs(part.named) do M.named[name] = fn end
  for name, count in pairs(part.results or {}) do M.results[name] = count end
  M.numbers = M.numbers or part.numbers
end

-- Names of Python's operators.
for operator, name in pairs { __and__ = 'bitwise_and', __or__ = 'bitwise_or', __xor__ = 'bitwise_xor', __lshift__ = 'bitwise_left_shift', __rshift__ = 'bitwise_right_shift' } do
  local torch = require 'torch'
  M.named[operator] = function(a) return torch[name](a.self, a.other) end
  M.named[operator:gsub('^__', '__i')] = function(a) return a.self:copy_(torch[name](a.self, a.other)) end
end

local function asserted(condition, message)
  local torch = require 'torch'
  if torch.is_tensor(condition) then condition = condition:item() end
  if condition == false or condition == 0 then error(message or 'Runtime assertion failed', 0) end
end
function M.named._assert_scalar(a) asserted(a.self, a.assert_msg) end
M.named._assert_async = M.named._assert_scalar
function M.named._print(a) print(a.s or a[1]) end

return M
