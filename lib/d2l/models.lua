-- models.lua - d2l: Module, the base class of the book's models, and Classifier, for
-- classification.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local tools = require 'torch.d2l.tools'
local board = require 'torch.d2l.board'

local nn = torch.nn

local M = {}

--- The base class of models: it has the loss (a method of the derived class), the steps of training
--- and validation, which a Trainer calls, and the board on which they draw: plot_train_per_epoch
--- points of the training in each epoch, plot_valid_per_epoch of the validation (fields of the
--- class or of the model).
M.Module = nn.Module:extend 'd2l.Module'
M.Module.save_hyperparameters = tools.save_hyperparameters
M.Module.plot_train_per_epoch, M.Module.plot_valid_per_epoch = 2, 1

--- The board of this model, created on first use.
function M.Module:progress_board()
  if not self.board then self.board = board.ProgressBoard { xlabel = 'epoch' } end
  return self.board
end

--- loss(y_hat, y): of a derived class.
function M.Module:loss(...) fail('%s has no method loss(y_hat, y)', torch.type(self)) end

--- The output of self.net, unless the derived class overrides it.
function M.Module:forward(...)
  if self.net == nil then fail('%s has neither a field net nor a method forward', torch.type(self)) end
  return self.net(...)
end

--- Draws value on the board, as `train_<key>` or `val_<key>` over the epochs.
function M.Module:plot(key, value, train)
  local trainer = self.trainer
  if not trainer then fail 'plot(): the model is not in a Trainer: trainer:fit(model, data)' end
  local x, n
  if train then
    x = trainer.train_batch_idx / trainer.num_train_batches
    n = trainer.num_train_batches / self.plot_train_per_epoch
  else
    x = trainer.epoch + 1
    n = trainer.num_val_batches / self.plot_valid_per_epoch
  end
  self:progress_board():draw(x, value, (train and 'train_' or 'val_') .. key, math.max(1, math.floor(n)))
end

-- The inputs of a batch, which is a list of the inputs and the target.
local function inputs_of(batch) return table.unpack(batch, 1, #batch - 1) end

--- The loss of a batch {X, …, y}.
function M.Module:training_step(batch)
  local l = self:loss(self(inputs_of(batch)), batch[#batch])
  self:plot('loss', l, true)
  return l
end

function M.Module:validation_step(batch) self:plot('loss', self:loss(self(inputs_of(batch)), batch[#batch]), false) end

--- The optimizer of a training: SGD with the rate self.lr.
function M.Module:configure_optimizers() return torch.optim.SGD(self:parameters(), { lr = self.lr }) end

--- Initializes lazy layers by one call with the inputs (a list), then calls init on every module.
function M.Module:apply_init(inputs, init)
  torch.no_grad(function() self(table.unpack(inputs)) end)
  if init then self.net:apply(init) end
end

-- ---- classifiers --------------------------------------------------------------------------------

--- A model with a score for each class: its loss is cross-entropy, and validation also plots the
--- accuracy.
M.Classifier = M.Module:extend 'd2l.Classifier'

function M.Classifier:validation_step(batch)
  local y_hat, y = self(inputs_of(batch)), batch[#batch]
  self:plot('loss', self:loss(y_hat, y), false)
  self:plot('acc', self:accuracy(y_hat, y), false)
end

--- The fraction of correct predictions; averaged = false: 1 or 0 for each prediction.
function M.Classifier:accuracy(y_hat, y, averaged)
  local hits = y_hat:reshape(-1, y_hat:size(-1)):argmax(2):eq(y:reshape(-1)):float()
  return averaged == false and hits or hits:mean()
end

function M.Classifier:loss(y_hat, y, averaged)
  return nn.functional.cross_entropy(y_hat:reshape(-1, y_hat:size(-1)), y:reshape(-1), { reduction = averaged == false and 'none' or 'mean' })
end

--- Prints the shape of the output of every layer of self.net for an input of that shape.
function M.Classifier:layer_summary(X_shape)
  local X = torch.randn(X_shape)
  for _, layer in ipairs(self.net) do
    X = layer(X)
    print(('%s output shape:\t%s'):format(torch.type(layer), X.shape))
  end
end

return M
