-- objects.lua - operations on values other than tensors: tables, strings, numbers, with tensors in
-- them (files/parcel.lua). They are sent as data; no code is executed.

--[=[ arguments
object_list: List of values, one for each rank.
obj: Value of this rank.
object_gather_list: List that receives the values on the rank `dst`; nil on the others.
scatter_object_output_list: List; its first entry becomes the value of this rank.
scatter_object_input_list: List of values, one for each rank, on the rank `src`; nil on the others.
dst: Rank that receives, from 0.
src: Rank that sends, from 0.
]=]

local torch = require 'torch'
local collectives = require 'torch.distributed.collectives'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local groups = require 'torch.distributed.groups'
local parcel = require 'torch.files.parcel'

local M = {}

local function bytes_of(...)
  local text = parcel.pack(...)
  return torch._C.tensor_of_bytes(text, torch.uint8, { #text })
end

local function value_of(bytes) return parcel.unpack(torch._C.tensor_bytes(bytes)) end

local function lengths_of(bytes, group)
  local all = torch.zeros(group:size(), { dtype = torch.int64 })
  collectives.all_gather_into_tensor(all, torch.tensor({ bytes:numel() }, { dtype = torch.int64 }), group)
  return all:tolist()
end

-- The values of all ranks as a list, if requested.
local function gathered(bytes, group, wanted)
  local lengths, longest = lengths_of(bytes, group), 0
  for _, n in ipairs(lengths) do longest = math.max(longest, n) end
  local mine, all = torch.zeros(longest, { dtype = torch.uint8 }), torch.zeros(group:size(), longest, { dtype = torch.uint8 })
  mine:narrow(1, 1, bytes:numel()):copy_(bytes)
  collectives.all_gather_into_tensor(all, mine, group)
  local values = {}
  for i, n in ipairs(wanted and lengths or {}) do values[i] = value_of(all[i]:narrow(1, 1, n)) end
  return values
end

--- object_list[i] becomes the object of the i-th rank.
function M.all_gather_object(a)
  local group = groups._group(a.group)
  if not group then return end
  local values = gathered(bytes_of(a.obj), group, true)
  for i = 1, group:size() do a.object_list[i] = values[i] end
end

--- On rank `dst` object_gather_list[i] becomes the object of the i-th rank.
function M.gather_object(a)
  local group = groups._group(a.group)
  if not group then return end
  local is_root = groups.get_group_rank(group, a.dst or group:global(0)) == group:me()
  if is_root and not a.object_gather_list then fail 'Argument object_gather_list must be specified on the destination rank.' end
  local values = gathered(bytes_of(a.obj), group, is_root)
  for i = 1, is_root and group:size() or 0 do a.object_gather_list[i] = values[i] end
end

--- Replaces the entries of object_list by the list of rank `src`; the lists have the same length on
--- all ranks.
function M.broadcast_object_list(a)
  local group = groups._group(a.group)
  if not group then return end
  local is_root = groups.get_group_rank(group, a.src) == group:me()
  local n = #a.object_list
  local bytes = is_root and bytes_of(table.unpack(a.object_list, 1, n))
  local about = torch.tensor({ is_root and bytes:numel() or 0, n }, { dtype = torch.int64 })
  collectives.broadcast(about, { src = a.src, group = group })
  if n ~= about[2]:item() then
    fail('broadcast_object_list(): the list has %d entries, that of rank %d has %d', n, a.src, about[2]:item())
  end
  bytes = bytes or torch.zeros(about[1]:item(), { dtype = torch.uint8 })
  collectives.broadcast(bytes, { src = a.src, group = group })
  if is_root then return end
  local values = table.pack(value_of(bytes))
  for i = 1, n do a.object_list[i] = values[i] end
end

--- The first entry of scatter_object_output_list becomes the i-th of rank `src`'s list, on the i-th
--- rank.
function M.scatter_object_list(a)
  local group = groups._group(a.group)
  if not group then return end
  local src = a.src or group:global(0)
  local list = { groups.get_group_rank(group, src) == group:me() and a.scatter_object_input_list or false }
  M.broadcast_object_list(list, src, group)
  if type(list[1]) ~= 'table' or #list[1] ~= group:size() then
    fail('scatter_object_list(): rank %d must have a list of %d objects, one for each rank', src, group:size())
  end
  a.scatter_object_output_list[1] = list[1][group:me() + 1]
end

declare.functions(M, [[
  all_gather_object(table object_list, any? obj, value? group)
  gather_object(any? obj, table? object_gather_list, integer? dst, value? group)
  broadcast_object_list(table object_list, integer src, value? group)
  scatter_object_list(table scatter_object_output_list, table? scatter_object_input_list, integer? src, value? group)
]], 'names')

return M
