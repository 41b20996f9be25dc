-- datasets.lua - data sets composed of others: IterableDataset, Subset, ConcatDataset,
-- StackDataset, ChainDataset, random_split.
--
-- A map-style data set has __getitem(position) and __len(); an IterableDataset has iter(), which
-- returns an iterator function.

--[=[ arguments
datasets: List of data sets.
dataset: Data set.
indices: Positions from 1 of the samples.
lengths: Number of samples of each part, or fractions that add up to 1.
iter(): An iterator over the samples.
ConcatDataset(): Several data sets, one after the other.
StackDataset(): Several data sets side by side: a sample has an entry of each.
ChainDataset(): Several iterable data sets, one after the other.
IterableDataset(): The base class of data sets without positions: a derived class defines iter().
Subset(): The samples of a data set at the given positions.
]=]

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local Dataset = require 'torch.utils.data.dataset'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local loops = require 'torch.utils.data.loops'
local samplers = require 'torch.utils.data.sampler'
local declare = require 'torch.support.arguments'

local M = {}

-- A method of a data set that is an object; tables and tensors, which are data sets too, have none.
local function method(dataset, name)
  return type(dataset) == 'userdata' and not torch.is_tensor(dataset) and dataset[name] or nil
end

--- All values of a data set at a position; indexing would return only the first.
function M.item(dataset, position)
  if method(dataset, '__getitem') then return dataset:__getitem(position) end
  return dataset[position]
end

-- ---- a stream of samples ------------------------------------------------------------------------

M.IterableDataset = Dataset:extend('IterableDataset')
function M.IterableDataset:iter() fail("%s has no method 'iter'", self.__classname) end
loops.install(M.IterableDataset)

M.ChainDataset = M.IterableDataset:extend('ChainDataset')
function M.ChainDataset:init(datasets) self.datasets = datasets end
declare.methods(M.ChainDataset, 'init(self, list datasets)')
function M.ChainDataset:__len()
  local n = 0
  for _, dataset in ipairs(self.datasets) do n = n + #dataset end
  return n
end
function M.ChainDataset:iter()
  local datasets, which, next_sample = self.datasets, 0, nil
  local function step(...)
    if select('#', ...) > 0 and (...) ~= nil then return ... end
    which = which + 1
    if which > #datasets then return nil end
    if not M.IterableDataset:is_instance(datasets[which]) then fail 'ChainDataset only supports IterableDataset' end
    next_sample = datasets[which]:iter()
    return step(next_sample())
  end
  return function()
    if not next_sample then return step() end
    return step(next_sample())
  end
end

-- ---- parts and sums -----------------------------------------------------------------------------

M.Subset = Dataset:extend('Subset')
function M.Subset:init(dataset, indices)
  if torch.is_tensor(indices) then indices = indices:tolist() end
  self.dataset, self.indices = dataset, indices
end
function M.Subset:__len() return #self.indices end
function M.Subset:__getitem(position)
  local index = self.indices[position < 0 and #self.indices + 1 + position or position]
  if not index then fail('position %s is not in a Subset of %d samples', tostring(position), #self.indices) end
  return M.item(self.dataset, index)
end
function M.Subset:__getitems(positions)
  local indices = {}
  for i, position in ipairs(positions) do indices[i] = self.indices[position] end
  return self.dataset:__getitems(indices)
end
-- Whether __getitems can be called.
function M.Subset:__gets_batches() return M.gets_batches(self.dataset) end

M.ConcatDataset = Dataset:extend('ConcatDataset')
function M.ConcatDataset:init(datasets)
  if #datasets == 0 then fail 'datasets should not be an empty iterable' end
  self.datasets, self.cumulative_sizes = datasets, {}
  local sum = 0
  for i, dataset in ipairs(datasets) do
    if M.IterableDataset:is_instance(dataset) then fail 'ConcatDataset does not support IterableDataset' end
    sum = sum + #dataset
    self.cumulative_sizes[i] = sum
  end
end
function M.ConcatDataset:__len() return self.cumulative_sizes[#self.cumulative_sizes] end
function M.ConcatDataset:__getitem(position)
  local sizes = self.cumulative_sizes
  if position < 0 then position = #self + 1 + position end
  if position < 1 or position > #self then fail('position %d is not in a ConcatDataset of %d samples', position, #self) end
  local low, high = 1, #sizes -- the first with a cumulative size that reaches the position
  while low < high do
    local middle = (low + high) // 2
    if sizes[middle] < position then low = middle + 1 else high = middle end
  end
  return M.item(self.datasets[low], position - (sizes[low - 1] or 0))
end

M.StackDataset = Dataset:extend('StackDataset')
--- Data sets of equal length in parallel: a sample of StackDataset(a, b) is one sample of each, of
-- StackDataset{x = a, y = b} a table of these.
function M.StackDataset:init(first, ...)
  local named = type(first) == 'table' and ... == nil and getmetatable(first) == nil and not kinds.is_list(first)
  self.datasets = named and first or { first, ... }
  if next(self.datasets) == nil then fail 'At least one dataset should be passed' end
  for name, dataset in pairs(self.datasets) do
    if named and type(name) ~= 'string' then fail 'StackDataset(): pass data sets as separate arguments, or by name in one table' end
    kinds.check('StackDataset', tostring(name), dataset, 'data')
    self.length = self.length or #dataset
    if #dataset ~= self.length then fail 'Size mismatch between datasets' end
  end
  self.named = named
end
function M.StackDataset:__len() return self.length end
-- The sample of one of the datasets at a position; several values as a table.
local function stacked(dataset, position)
  local values = table.pack(M.item(dataset, position))
  return values.n > 1 and { table.unpack(values, 1, values.n) } or values[1]
end
function M.StackDataset:__getitem(position)
  if position < 0 then position = #self + 1 + position end
  if position < 1 or position > #self then fail('position %d is not in a StackDataset of %d samples', position, #self) end
  local sample = {}
  for name, dataset in pairs(self.datasets) do sample[name] = stacked(dataset, position) end
  if self.named then return sample end
  return table.unpack(sample, 1, #self.datasets)
end

--- Whether the data set can return a whole batch at once.
function M.gets_batches(dataset)
  if not method(dataset, '__getitems') then return false end
  return not method(dataset, '__gets_batches') or dataset:__gets_batches()
end

local function is_fraction(lengths)
  local sum = 0
  for _, length in ipairs(lengths) do sum = sum + length end
  return math.abs(sum - 1) < 1e-9 and sum <= 1 + 1e-9 and #lengths > 0, sum
end

--- Random disjoint subsets of a data set: random_split(dataset, {800, 200}) or fractions {0.8,
--- 0.2}.
function M.random_split(dataset, lengths, generator)
  local fractions, sum = is_fraction(lengths)
  local n = #dataset
  if fractions and not (#lengths == 1 and math.type(lengths[1]) == 'integer' and n == 1) then
    local counts, rest = {}, n
    for i, fraction in ipairs(lengths) do
      if fraction < 0 or fraction > 1 then fail('Fraction at position %d is not between 0 and 1', i) end
      counts[i] = math.floor(n * fraction)
      rest = rest - counts[i]
    end
    for i = 0, rest - 1 do counts[i % #counts + 1] = counts[i % #counts + 1] + 1 end
    lengths, sum = counts, n
  end
  if sum ~= n then fail 'Sum of input lengths does not equal the length of the input dataset!' end
  local order = torch.randperm(n, samplers._drawing(generator)):tolist()
  local parts, first = {}, 1
  for i, length in ipairs(lengths) do
    parts[i] = M.Subset(dataset, table.move(order, first, first + length - 1, 1, {}))
    first = first + length
  end
  return table.unpack(parts)
end

declare.methods(M.Subset, 'init(self, data dataset, data indices)')
declare.methods(M.ConcatDataset, 'init(self, list datasets)')
declare.functions(M, 'random_split(data dataset, times lengths, Generator? generator)')

return checked.functions(M)
