-- collate.lua - utils.data.default_collate: makes a batch of samples.
--
-- Tensors are stacked along a new first dimension, integers become int64, floats float64, booleans
-- bool tensors; strings stay a list; lists are collated position by position and other tables field
-- by field.

--[=[ arguments
batch: List of samples.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local collate

local function same_keys(list, first)
  for i, item in ipairs(list) do
    if type(item) ~= 'table' then fail('default_collate: sample %d is a %s, the first a table', i, torch.type(item)) end
    if #item ~= #first then fail 'each element in list of batch should be of equal size' end
  end
end

local function collate_tables(list)
  local first, batch = list[1], {}
  same_keys(list, first)
  for key in pairs(first) do
    local column = {}
    for i, item in ipairs(list) do
      if item[key] == nil then fail("default_collate: sample %d has no '%s'", i, tostring(key)) end
      column[i] = item[key]
    end
    batch[key] = collate(column)
  end
  return batch
end

local function is_number(value) return type(value) == 'number' end

function collate(list)
  local first = list[1]
  if torch.is_tensor(first) then return torch.stack(list) end
  if is_number(first) then
    local dtype = torch.int64
    for i, value in ipairs(list) do
      if not is_number(value) then fail('default_collate: sample %d is a %s, the first a number', i, torch.type(value)) end
      if math.type(value) == 'float' then dtype = torch.float64 end
    end
    return torch.tensor(list, { dtype = dtype })
  end
  if type(first) == 'boolean' then return torch.tensor(list) end
  if type(first) == 'string' then return list end
  if type(first) == 'table' then return collate_tables(list) end
  fail('default_collate: batch must contain tensors, numbers, strings or tables; found %s', torch.type(first))
end

--- One value for a list of values of a kind.
return declare.declare('default_collate(table batch)', collate)
