-- embedding.lua - rows of a table, selected by positions (from 1): nn.Embedding, and
-- nn.EmbeddingBag, which reduces the rows of each bag by sum, mean or maximum. weight
-- (num_embeddings, embedding_dim) starts as N(0, 1), the row padding_idx as zeros; that row gets no
-- gradient.

--[=[ arguments
input: Positions from 1 of rows of the table.
mode: Reduction of a bag: `'sum'`, `'mean'` or `'max'`.
offsets: Position from 1 at which each bag begins in the input, which is one-dimensional.
sparse: Whether the gradient of the table is a sparse tensor.
_weight: Table to use instead of a new one.
_freeze: Whether the table is not trained.
from_pretrained(): A layer with the given table.
reset_parameters(): Draws the table anew.
Embedding(): A learned table; its rows are looked up by position.
EmbeddingBag(): The sum, mean or maximum of several rows of a learned table.
]=]

--[=[ examples
Embedding
    nn.Embedding(10, 3)(torch.tensor{1, 10}).shape
    --> torch.Size([2, 3])
EmbeddingBag
    nn.EmbeddingBag(10, 3, {mode = 'sum'})(torch.tensor{ {1, 2}, {9, 10} }).shape
    --> torch.Size([2, 3])
]=]

local torch = require 'torch'
local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local init = require 'torch.nn.init'
local python = require 'torch.nn.python'

local M = {}

local settings = { 'max_norm', 'norm_type', 'scale_grad_by_freq', 'sparse' }

-- A position in the table: from 1, negative from the end.
local function check_padding(index, n)
  if index == nil then return nil end
  if index == 0 then fail 'padding_idx 0: positions count from 1' end
  if index > n or index < -n then fail 'Padding_idx must be within num_embeddings' end
  return index < 0 and n + 1 + index or index
end

local function setup(self, options)
  self.num_embeddings, self.embedding_dim = options.num_embeddings, options.embedding_dim
  self.padding_idx = check_padding(options.padding_idx, options.num_embeddings)
  for _, name in ipairs(settings) do self[name] = options[name] end
  if options._weight ~= nil then
    if options._weight.shape ~= torch.Size { options.num_embeddings, options.embedding_dim } then
      fail 'Shape of weight does not match num_embeddings and embedding_dim'
    end
    self.weight = Parameter(options._weight, { requires_grad = not options._freeze })
    return
  end
  self.weight = Parameter(torch.empty(options.num_embeddings, options.embedding_dim,
    { device = options.device, dtype = options.dtype }))
  self:reset_parameters()
end

local function reset_parameters(self)
  init.normal_(self.weight)
  if self.padding_idx then torch.no_grad(function() self.weight:select(1, self.padding_idx):zero_() end) end
end

-- from_pretrained(embeddings, {freeze = true, ...}): a layer over an existing table. arguments:
-- further arguments of the constructor.
local function from_pretrained(class, arguments)
  return declare.by_name(('from_pretrained(Tensor embeddings, boolean freeze=true, %s)'):format(arguments), function(given)
    local weight = given.embeddings
    if weight.ndim ~= 2 then fail 'Embeddings parameter is expected to be 2-dimensional' end
    given._weight, given._freeze, given.embeddings, given.freeze = weight, given.freeze, nil, nil
    return class(weight:size(1), weight:size(2), given)
  end)
end

-- ---- one row per position -----------------------------------------------------------------------

M.Embedding = Module:extend('Embedding')
local read_embedding = declare.reader [[
  Embedding(integer num_embeddings, integer embedding_dim, integer? padding_idx, number? max_norm,
    number norm_type=2.0, boolean scale_grad_by_freq=false, boolean sparse=false, Tensor? _weight,
    boolean _freeze=false, device? device, dtype? dtype)]]

function M.Embedding:init(...)
  local options = read_embedding(...)
  options.max_norm, options._weight = options.max_norm or nil, options._weight or nil
  setup(self, options)
end

M.Embedding.reset_parameters = reset_parameters
M.Embedding.from_pretrained = from_pretrained(M.Embedding, [[
  integer? padding_idx, number? max_norm, number norm_type=2.0, boolean scale_grad_by_freq=false, boolean sparse=false]])

function M.Embedding:forward(input)
  if not self.padding_idx and not self.max_norm and not self.scale_grad_by_freq and not self.sparse then
    return torch.embedding(self.weight, input)
  end
  return F.embedding(input, self.weight, { padding_idx = self.padding_idx, max_norm = self.max_norm,
    norm_type = self.norm_type, scale_grad_by_freq = self.scale_grad_by_freq, sparse = self.sparse })
end

-- The settings that differ from their defaults, in PyTorch's order.
local function extra_repr(self)
  local text = ('%d, %d'):format(self.num_embeddings, self.embedding_dim)
  if self.padding_idx then text = text .. ', padding_idx=' .. self.padding_idx end
  if self.max_norm then text = text .. ', max_norm=' .. python.repr(self.max_norm) end
  if self.norm_type ~= 2 then text = text .. ', norm_type=' .. python.repr(self.norm_type) end
  if self.scale_grad_by_freq then text = text .. ', scale_grad_by_freq=True' end
  return text
end
function M.Embedding:extra_repr() return extra_repr(self) .. (self.sparse and ', sparse=True' or '') end

-- ---- bags ---------------------------------------------------------------------------------------

M.EmbeddingBag = Module:extend('EmbeddingBag')
local read_bag = declare.reader [[
  EmbeddingBag(integer num_embeddings, integer embedding_dim, number? max_norm, number norm_type=2.0,
    boolean scale_grad_by_freq=false, string mode='mean', boolean sparse=false, Tensor? _weight,
    boolean include_last_offset=false, integer? padding_idx, device? device, dtype? dtype, *,
    boolean _freeze=false)]]

function M.EmbeddingBag:init(...)
  local options = read_bag(...)
  options.padding_idx, options._weight = options.padding_idx or nil, options._weight or nil
  if options.mode ~= 'sum' and options.mode ~= 'mean' and options.mode ~= 'max' then
    fail "mode has to be one of sum, mean or max"
  end
  self.mode, self.include_last_offset = options.mode, options.include_last_offset
  setup(self, options)
end

M.EmbeddingBag.reset_parameters = reset_parameters
M.EmbeddingBag.from_pretrained = from_pretrained(M.EmbeddingBag, [[
  number? max_norm, number norm_type=2.0, boolean scale_grad_by_freq=false, string mode='mean', boolean sparse=false,
  boolean include_last_offset=false, integer? padding_idx]])

-- input (bags, n), or a vector that offsets cut into bags.
function M.EmbeddingBag:forward(input, offsets, per_sample_weights)
  return (F.embedding_bag(input, self.weight, { offsets = offsets, max_norm = self.max_norm, norm_type = self.norm_type,
    scale_grad_by_freq = self.scale_grad_by_freq, mode = self.mode, per_sample_weights = per_sample_weights,
    include_last_offset = self.include_last_offset, padding_idx = self.padding_idx, sparse = self.sparse }))
end

function M.EmbeddingBag:extra_repr() return extra_repr(self) .. (", mode='%s'"):format(self.mode) end

return M
