-- losses.lua - PyTorch's positional order of the losses of torch.nn.functional, in which the
-- deprecated size_average and reduce have positions: mse_loss(x, y, nil, nil, 'sum').
--
-- A call without values for them may also leave their positions out: mse_loss(x, y, 'sum').

local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local M = {}

local ORDERS = [[
  binary_cross_entropy input target weight size_average reduce reduction
  binary_cross_entropy_with_logits input target weight size_average reduce reduction pos_weight
  cosine_embedding_loss input1 input2 target margin size_average reduce reduction
  cross_entropy input target weight size_average ignore_index reduce reduction label_smoothing
  hinge_embedding_loss input target margin size_average reduce reduction
  kl_div input target size_average reduce reduction log_target
  l1_loss input target size_average reduce reduction weight
  margin_ranking_loss input1 input2 target margin size_average reduce reduction
  mse_loss input target size_average reduce reduction weight
  multi_margin_loss input target p margin weight size_average reduce reduction
  multilabel_margin_loss input target size_average reduce reduction
  multilabel_soft_margin_loss input target weight size_average reduce reduction
  nll_loss input target weight size_average ignore_index reduce reduction
  poisson_nll_loss input target log_input full size_average eps reduce reduction
  smooth_l1_loss input target size_average reduce reduction beta
  soft_margin_loss input target size_average reduce reduction
  triplet_margin_loss anchor positive negative margin p eps swap size_average reduce reduction
]]

--- The reduction that size_average, reduce and reduction select; if only one of the deprecated two
--- is present, the other is true.
function M.reduction_of(options)
  local average, reduce = options.size_average, options.reduce
  if average == nil and reduce == nil then return options.reduction end
  if reduce == false then return 'none' end
  return average == false and 'sum' or 'mean'
end

-- Calls op with the values before size_average, and names for the others.
local function by_name(op, name, order, at, given, n, named)
  local options = {}
  for key, value in pairs(named or {}) do options[key] = value end
  if n > #order then fail('%s() takes at most %d positional arguments but %d were given: %s%s', name, #order, n, table.concat(order, ', '), kinds.surplus_hint(given[n])) end
  for i = at, n do
    if given[i] ~= nil and options[order[i]] ~= nil then fail("%s() got multiple values for argument '%s'", name, order[i]) end
    if given[i] ~= nil then options[order[i]] = given[i] end
  end
  for _, key in ipairs { 'size_average', 'reduce' } do kinds.check(name, key, options[key], 'boolean?') end
  options.reduction = M.reduction_of(options)
  options.size_average, options.reduce = nil, nil
  local before = math.min(n, at - 1)
  given[before + 1] = options
  return op(table.unpack(given, 1, before + 1))
end

local function in_order(op, name, order)
  local position = {}
  for i, key in ipairs(order) do position[key] = i end
  local at = position.size_average
  local short = position.reduction - 2 -- of reduction without the deprecated two
  local function loss(...)
    local n = select('#', ...)
    if n < at and (n == 0 or not kinds.is_named((select(-1, ...)))) then return op(...) end
    local given = table.pack(...)
    local named = kinds.is_named(given[n]) and given[n] or nil
    if named then n = n - 1 end
    while n > 0 and given[n] == nil do n = n - 1 end
    local deprecated = named and (named.size_average ~= nil or named.reduce ~= nil)
    local value = given[at]
    local has_positions = n >= at and (value == nil or type(value) == 'boolean') and type(given[short]) ~= 'string'
    if not deprecated and not has_positions then return op(...) end
    return by_name(op, name, order, at, given, n, named)
  end
  declare.wrapping(loss, op)
  return loss
end

--- Replaces the losses of a table of functions.
function M.install(functional)
  for line in ORDERS:gmatch '[^\n]+' do
    local order = {}
    for word in line:gmatch '%S+' do order[#order + 1] = word end
    local name = table.remove(order, 1)
    if name then functional[name] = in_order(functional[name], name, order) end
  end
end

return M
