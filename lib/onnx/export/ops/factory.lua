-- factory.lua - exports tensors of one value and ranges with dynamic sizes. Static ones are
-- constants (export.lua).

local M = {}

local function filled(value_of)
  return function(g, a, call)
    local dtype = call.results[1].dtype
    return g:node('Expand', { g:name(value_of(a), dtype), g:integers(g:shape(call.results[1])) })
  end
end
local zeros, ones, full = filled(function() return 0 end), filled(function() return 1 end), filled(function(a) return a.fill_value end)
M.zeros, M.zeros_like, M.new_zeros, M.zero = zeros, zeros, zeros, zeros
M.ones, M.ones_like, M.new_ones = ones, ones, ones
M.full, M.full_like, M.new_full = full, full, full

function M.fill(g, a, call)
  local dtype = call.results[1].dtype
  return g:node('Expand', { g:cast(a.value, dtype), g:integers(g:shape(call.results[1])) })
end

function M.arange(g, a, call)
  local dtype, first, last = call.results[1].dtype, a.start, a['end']
  if last == nil then first, last = 0, a.start end
  return g:node('Range', { g:number(first, dtype), g:number(last, dtype), g:number(a.step, dtype) })
end

return M
