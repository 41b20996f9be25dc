-- trainer.lua - d2l: the loop that trains a model on data.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local tools = require 'torch.d2l.tools'

local read = declare.reader 'd2l.Trainer(integer max_epochs, integer num_gpus=0, number gradient_clip_val=0)'

--- Trainer {max_epochs =, num_gpus = 0, gradient_clip_val = 0}: fit(model, data) trains for
--- max_epochs epochs, with a pass over the validation data after each. num_gpus = 1: on the first
--- GPU, if there is one.
--- gradient_clip_val: the maximum norm of the gradient, 0 for no limit.
local Trainer = tools.HyperParameters:extend 'd2l.Trainer'

function Trainer:init(...)
  tools.keep(self, read(...))
  self.gpus = {}
  for i = 0, math.min(self.num_gpus, tools.num_gpus()) - 1 do self.gpus[#self.gpus + 1] = tools.gpu(i) end
end

-- The number of batches of a loader, which must support repeated iteration: a DataLoader, or an
-- object with iter() and #.
local function length_of(loader, what)
  local ok, n = pcall(function() return #loader end)
  if type(loader) == 'function' or not ok or type(loader.iter) ~= 'function' then
    fail('fit(): %s must return a loader with a length that can be iterated again (a DataLoader), not %s', what, torch.type(loader))
  end
  return n
end

function Trainer:prepare_data(data)
  self.train_dataloader, self.val_dataloader = data:train_dataloader(), data:val_dataloader()
  self.num_train_batches = length_of(self.train_dataloader, 'train_dataloader()')
  self.num_val_batches = self.val_dataloader and length_of(self.val_dataloader, 'val_dataloader()') or 0
end

function Trainer:prepare_model(model)
  model.trainer = self
  if #self.gpus > 0 then model:to(self.gpus[1]) end
  self.model = model
end

--- The batch on the device of the model.
function Trainer:prepare_batch(batch)
  if #self.gpus == 0 then return batch end
  local moved = {}
  for i, tensor in ipairs(batch) do moved[i] = tensor:to(self.gpus[1]) end
  return moved
end

function Trainer:fit(model, data)
  if type(model) ~= 'userdata' or type(data) ~= 'userdata' then fail 'fit(): a model and data are expected: trainer:fit(model, data)' end
  self:prepare_data(data)
  self:prepare_model(model)
  self.optim = model:configure_optimizers()
  self.epoch, self.train_batch_idx, self.val_batch_idx = 0, 0, 0
  for epoch = 0, self.max_epochs - 1 do
    self.epoch = epoch
    self:fit_epoch()
  end
  local board = class.fields(model).board
  if board then board:finish() end
end

-- A function that returns the batches of a loader as lists, and a function that closes the loader.
local function batches(loader)
  local next_batch, _, _, closing = loader:iter()
  return function()
    local batch = { next_batch() }
    if batch[1] ~= nil then return batch end
  end, nil, nil, closing
end

function Trainer:fit_epoch()
  local model, optimizer = self.model, self.optim
  model:train()
  for batch in batches(self.train_dataloader) do
    local loss = model:training_step(self:prepare_batch(batch))
    optimizer:zero_grad()
    loss:backward()
    if self.gradient_clip_val > 0 then self:clip_gradients(self.gradient_clip_val, model) end
    optimizer:step()
    self.train_batch_idx = self.train_batch_idx + 1
  end
  if not self.val_dataloader then return end
  model:eval()
  local _ <close> = torch.no_grad()
  for batch in batches(self.val_dataloader) do
    model:validation_step(self:prepare_batch(batch))
    self.val_batch_idx = self.val_batch_idx + 1
  end
end

--- Shrinks the gradient so that its norm is at most grad_clip_val.
function Trainer:clip_gradients(grad_clip_val, model) torch.nn.utils.clip_grad_norm_(model:parameters(), grad_clip_val) end

return { Trainer = Trainer }
