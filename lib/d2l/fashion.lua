-- fashion.lua - d2l: Fashion-MNIST (H. Xiao, K. Rasul, R. Vollgraf 2017), from Debian's package
-- dataset-fashion-mnist.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local training = require 'torch.utils.training'
local board = require 'torch.d2l.board'
local data = require 'torch.d2l.data'
local tools = require 'torch.d2l.tools'

local nn = torch.nn

local M = {}

local LABELS = { 't-shirt', 'trouser', 'pullover', 'dress', 'coat', 'sandal', 'shirt', 'sneaker', 'bag', 'ankle boot' }

-- Reports errors of the file reader.
local messages = { fail = function(_, message) fail('FashionMNIST(): %s', (message:gsub('%-%-data DIR', "{folder = 'DIR'}"))) end }

-- Images and their classes; images are resized on access, because all of them would take gigabytes.
local TensorDataset = torch.utils.data.TensorDataset
local Resized = TensorDataset:extend 'd2l.Resized'

function Resized:init(images, labels, size)
  TensorDataset.init(self, images, labels)
  self.size = size
end

local function resized(images, size)
  if size[1] == images:size(3) and size[2] == images:size(4) then return images end
  return nn.functional.interpolate(images, { size = size, mode = 'bilinear', antialias = true })
end

function Resized:__getitem(index)
  local image, label = TensorDataset.__getitem(self, index)
  return resized(image:unsqueeze(1), self.size):squeeze(1), label
end

function Resized:__getitems(indices)
  local images, labels = TensorDataset.__getitems(self, indices)
  return resized(images, self.size), labels
end

local function split(folder, name, limit, resize)
  local part = training.fashion_mnist(messages, folder, name, torch.device 'cpu', limit)
  return Resized(part.images:unsqueeze(2), part.labels, resize)
end

local read = declare.reader(([[
  d2l.FashionMNIST(integer batch_size=64, table resize={28, 28}, *, integer num_train=0, integer num_val=0,
    string folder=%q)]]):format(training.FASHION_MNIST))

--- FashionMNIST {batch_size = 64, resize = {28, 28}, num_train = 0, num_val = 0, folder =}: images
--- (n, 1, height, width) with values from 0 to 1 and their classes, 1 to 10. num_train, num_val:
--- the number of images, 0 for all (60000 and 10000). folder: of the four files; by default
--- Debian's package.
M.FashionMNIST = data.DataModule:extend 'd2l.FashionMNIST'

function M.FashionMNIST:init(...)
  tools.keep(self, read(...))
  if type(self.resize) ~= 'table' then self.resize = { self.resize, self.resize } end
  self.train = split(self.folder, 'train', self.num_train, self.resize)
  self.val = split(self.folder, 't10k', self.num_val, self.resize)
end

function M.FashionMNIST:get_dataloader(train)
  return torch.utils.data.DataLoader(train and self.train or self.val,
    { batch_size = self.batch_size, shuffle = train, num_workers = self.num_workers })
end

--- The names of classes: of a list or tensor of them.
function M.FashionMNIST:text_labels(indices)
  local names = {}
  for i, index in ipairs(torch.is_tensor(indices) and indices:reshape(-1):tolist() or indices) do
    names[i] = LABELS[index] or fail('text_labels(): classes are 1 to 10, not %s', tostring(index))
  end
  return names
end

--- The first images of a batch {X, y} with their names, as a figure.
function M.FashionMNIST:visualize(batch, nrows, ncols, labels)
  nrows, ncols = nrows or 1, ncols or 8
  return board.show_images(batch[1]:squeeze(2), nrows, ncols, labels or self:text_labels(batch[2]))
end

--- The loaders of training and test images, for the book's later chapters:
-- load_data_fashion_mnist(batch_size, resize).
function M.load_data_fashion_mnist(batch_size, resize, options)
  local all = M.FashionMNIST { batch_size = batch_size, resize = resize or { 28, 28 }, num_train = options and options.num_train or 0,
    num_val = options and options.num_val or 0 }
  return all:get_dataloader(true), all:get_dataloader(false)
end

return M
