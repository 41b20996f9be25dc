-- data.lua - d2l: DataModule, the base class of the book's data sets, and the location of their
-- files.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local outside = require 'torch.files.outside'
local tools = require 'torch.d2l.tools'

local data = torch.utils.data

local M = {}

-- The folder of data files: $D2L_DATA, otherwise `data` in the working directory.
local function root() return os.getenv 'D2L_DATA' or 'data' end

--- The path of a data file. given: the caller's path, or nil; name: in the data folder ($D2L_DATA,
--- otherwise ./data); origin: its source. A missing file is an error that names the source: nothing
--- is downloaded.
function M.find_file(given, name, origin)
  local path = given or root() .. '/' .. name
  local file = outside.open(path, 'rb')
  if not file then
    fail('%s does not exist, and ltensor downloads nothing: %s. Save it under this path or pass {path = …}', path, origin)
  end
  file:close()
  return path
end

--- A loader of minibatches of tensors, shuffled in training.
function M.load_array(data_arrays, batch_size, is_train)
  return data.DataLoader(data.TensorDataset(table.unpack(data_arrays)), { batch_size = batch_size, shuffle = is_train ~= false })
end

--- The base class of datasets: a derived class defines get_dataloader(train), which returns the
--- minibatches.
M.DataModule = tools.HyperParameters:extend 'd2l.DataModule'
M.DataModule.num_workers = 0

function M.DataModule:get_dataloader(...) fail('%s has no method get_dataloader(train)', torch.type(self)) end
function M.DataModule:train_dataloader() return self:get_dataloader(true) end
function M.DataModule:val_dataloader() return self:get_dataloader(false) end

--- A loader of the rows `indices` of tensors: {first, last}, both included; nil: all.
function M.DataModule:get_tensorloader(tensors, train, indices)
  local parts = {}
  for i, tensor in ipairs(tensors) do
    parts[i] = indices and tensor:narrow(1, indices[1], indices[2] - indices[1] + 1) or tensor
  end
  return data.DataLoader(data.TensorDataset(table.unpack(parts)), { batch_size = self.batch_size, shuffle = train, num_workers = self.num_workers })
end

return M
