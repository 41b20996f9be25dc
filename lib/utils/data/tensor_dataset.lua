-- tensor_dataset.lua - utils.data.TensorDataset(tensor, ...): sample i is x[i] of every tensor; all
-- have the same first size.

local torch = require 'torch'
local Dataset = require 'torch.utils.data.dataset'
local fail = require 'torch.support.fail'
local no_holes = require 'torch.support.no_holes'

local TensorDataset = Dataset:extend('TensorDataset')

function TensorDataset:init(...)
  self.tensors = { ... }
  no_holes('TensorDataset()', self.tensors, select('#', ...))
  if #self.tensors == 0 then fail('TensorDataset(): at least one tensor is expected') end
  for i, tensor in ipairs(self.tensors) do
    if not torch.is_tensor(tensor) then
      fail(('TensorDataset(): argument %d must be a Tensor, not %s'):format(i, torch.type(tensor)))
    end
    if #tensor ~= #self.tensors[1] then
      fail(('Size mismatch between tensors: tensor 1 has %d samples, tensor %d has %d'):format(
        #self.tensors[1], i, #tensor))
    end
  end
end

function TensorDataset:__len() return #self.tensors[1] end

function TensorDataset:__getitem(index)
  local values = {}
  for i, tensor in ipairs(self.tensors) do values[i] = tensor[index] end
  return table.unpack(values)
end

--- The samples at a slice ('1:8', {1, 8}) or at positions (a tensor, a mask), as a TensorDataset.
function TensorDataset:__getslice(key)
  local parts = {}
  for i, tensor in ipairs(self.tensors) do
    parts[i] = tensor[type(key) == 'table' and #key == 2 and type(key[1]) == 'number' and { key } or key]
  end
  return TensorDataset(table.unpack(parts))
end

-- Loads a whole batch with one operation per tensor; the DataLoader prefers it to single samples.
function TensorDataset:__getitems(indices)
  local positions = torch.tensor(indices)
  local values = {}
  for i, tensor in ipairs(self.tensors) do values[i] = tensor:index_select(1, positions:to(tensor.device)) end
  return table.unpack(values)
end

return TensorDataset
