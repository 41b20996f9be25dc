-- embedding.lua - nn.Embedding(num_embeddings, embedding_dim): rows of a table, picked by positions (from 1).
-- weight (num_embeddings, embedding_dim) starts as N(0, 1).

local torch = require 'torch'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local init = require 'torch.nn.init'
local options_of = require 'torch.options'

local Embedding = Module:extend('Embedding')

function Embedding:init(num_embeddings, embedding_dim, options)
  options = options_of('Embedding', options, { device = false, dtype = false })
  self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
  self.weight = Parameter(torch.empty(num_embeddings, embedding_dim,
    { device = options.device or nil, dtype = options.dtype or nil }))
  init.normal_(self.weight)
end

function Embedding:forward(input) return torch.embedding(self.weight, input) end

function Embedding:extra_repr() return ('%d, %d'):format(self.num_embeddings, self.embedding_dim) end

return Embedding
