-- transformer.lua - nn.TransformerEncoderLayer, TransformerDecoderLayer, TransformerEncoder,
-- TransformerDecoder and Transformer (A. Vaswani et al. 2017). Masks are positional or named
-- arguments, as in PyTorch.

--[=[ arguments
activation: Activation function of the feed-forward network: a name such as `'relu'` or `'gelu'`, or a function.
norm: Module that normalizes the output; none if absent.
src: Sequence for the encoder, of shape (S, N, E), or (N, S, E) with `batch_first`.
tgt: Sequence for the decoder, of shape (T, N, E), or (N, T, E) with `batch_first`.
memory: Output of the encoder.
mask: Mask of the attention within `src`.
TransformerEncoderLayer(): Self-attention and a feed-forward network, each with residual connection and normalization.
TransformerDecoderLayer(): Self-attention, attention to the encoder's output and a feed-forward network.
TransformerEncoder(): A stack of encoder layers.
TransformerDecoder(): A stack of decoder layers.
Transformer(): Encoder and decoder.
]=]

--[=[ examples
TransformerEncoderLayer
    nn.TransformerEncoderLayer(8, 2, {batch_first = true})(torch.zeros(2, 5, 8)).shape
    --> torch.Size([2, 5, 8])
TransformerDecoderLayer
    nn.TransformerDecoderLayer(8, 2, {batch_first = true})(torch.zeros(2, 5, 8), torch.zeros(2, 7, 8)).shape
    --> torch.Size([2, 5, 8])
TransformerEncoder
    layer = nn.TransformerEncoderLayer(8, 2, {batch_first = true})
    nn.TransformerEncoder(layer, 2)(torch.zeros(2, 5, 8)).shape
    --> torch.Size([2, 5, 8])
TransformerDecoder
    layer = nn.TransformerDecoderLayer(8, 2, {batch_first = true})
    nn.TransformerDecoder(layer, 2)(torch.zeros(2, 5, 8), torch.zeros(2, 7, 8)).shape
    --> torch.Size([2, 5, 8])
Transformer
    nn.Transformer{d_model = 8, nhead = 2, num_encoder_layers = 1, num_decoder_layers = 1}(torch.zeros(5, 2, 8), torch.zeros(3, 2, 8)).shape
    --> torch.Size([3, 2, 8])
]=]

local torch = require 'torch'
local kinds = require 'torch.support.argument_kinds'
local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local ModuleList = require 'torch.nn.containers.module_list'
local MultiheadAttention = require 'torch.nn.layers.attention'
local Dropout = require('torch.nn.layers.dropout').Dropout
local LayerNorm = require('torch.nn.layers.normalization').LayerNorm
local Linear = require('torch.nn.layers.linear').Linear
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local init = require 'torch.nn.init'

local M = {}

-- The activation between the two linear layers: 'relu', 'gelu', a function or a module.
local function activation_of(activation)
  if activation == 'relu' then return F.relu end
  if activation == 'gelu' then return F.gelu end
  if type(activation) == 'string' then fail('activation should be relu/gelu, not %s', activation) end
  return activation
end

-- ---- one layer ----------------------------------------------------------------------------------

-- The common parts of both kinds of layers: n attentions, two linear layers, a norm and a dropout
-- per part.
local function build(self, o, attentions)
  local factory = { device = o.device, dtype = o.dtype }
  local function with(options)
    options.device, options.dtype = factory.device, factory.dtype
    return options
  end
  for _, name in ipairs(attentions) do
    self[name] = MultiheadAttention(o.d_model, o.nhead,
      with { dropout = o.dropout, batch_first = o.batch_first, bias = o.bias })
  end
  self.linear1 = Linear(o.d_model, o.dim_feedforward, with { bias = o.bias })
  self.dropout = Dropout(o.dropout)
  self.linear2 = Linear(o.dim_feedforward, o.d_model, with { bias = o.bias })
  self.norm_first = o.norm_first
  local parts = #attentions + 1
  for i = 1, parts do self['norm' .. i] = LayerNorm(o.d_model, with { eps = o.layer_norm_eps, bias = o.bias }) end
  for i = 1, parts do self['dropout' .. i] = Dropout(o.dropout) end
  self.activation = activation_of(o.activation)
end

-- x + part(norm(x)) or norm(x + part(x))
local function residual(self, x, i, part)
  local norm, dropout = self['norm' .. i], self['dropout' .. i]
  if self.norm_first then return x + dropout(part(norm(x))) end
  return norm(x + dropout(part(x)))
end

local function feed_forward(self)
  return function(x) return self.linear2(self.dropout(self.activation(self.linear1(x)))) end
end

local function self_attention(self, mask, padding, is_causal)
  return function(x)
    return (self.self_attn(x, x, x, { attn_mask = mask, key_padding_mask = padding, need_weights = false,
      is_causal = is_causal or false }))
  end
end

M.TransformerEncoderLayer = Module:extend('TransformerEncoderLayer')
local read_encoder_layer = declare.reader [[
  TransformerEncoderLayer(integer d_model, integer nhead, integer dim_feedforward=2048, number dropout=0.1,
    string|function activation='relu', number layer_norm_eps=1e-5, boolean batch_first=false,
    boolean norm_first=false, boolean bias=true, device? device, dtype? dtype)]]
function M.TransformerEncoderLayer:init(...) build(self, read_encoder_layer(...), { 'self_attn' }) end

function M.TransformerEncoderLayer:forward(src, src_mask, src_key_padding_mask, is_causal)
  local x = residual(self, src, 1, self_attention(self, src_mask, src_key_padding_mask, is_causal))
  return residual(self, x, 2, feed_forward(self))
end

M.TransformerDecoderLayer = Module:extend('TransformerDecoderLayer')
local read_decoder_layer = declare.reader [[
  TransformerDecoderLayer(integer d_model, integer nhead, integer dim_feedforward=2048, number dropout=0.1,
    string|function activation='relu', number layer_norm_eps=1e-5, boolean batch_first=false,
    boolean norm_first=false, boolean bias=true, device? device, dtype? dtype)]]
function M.TransformerDecoderLayer:init(...) build(self, read_decoder_layer(...), { 'self_attn', 'multihead_attn' }) end

function M.TransformerDecoderLayer:forward(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_padding, tgt_is_causal, memory_causal)
  local x = residual(self, tgt, 1, self_attention(self, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
  x = residual(self, x, 2, function(y)
    return (self.multihead_attn(y, memory, memory, { attn_mask = memory_mask, key_padding_mask = memory_padding,
      need_weights = false, is_causal = memory_causal or false }))
  end)
  return residual(self, x, 3, feed_forward(self))
end

-- ---- stacks -------------------------------------------------------------------------------------

-- Copies of a layer, with equal initial values.
local function copies(layer, n)
  kinds.check_count('a stack of layers', 'num_layers', n)
  local list = {}
  for i = 1, n do list[i] = layer:deepcopy() end
  return ModuleList(list)
end

M.TransformerEncoder = Module:extend('TransformerEncoder')
local read_encoder = declare.reader [[
  TransformerEncoder(Module encoder_layer, integer num_layers, Module? norm,
    boolean enable_nested_tensor=true, boolean mask_check=true)]]
function M.TransformerEncoder:init(...)
  local o = read_encoder(...)
  self.layers, self.num_layers = copies(o.encoder_layer, o.num_layers), o.num_layers
  self.norm = o.norm
end

function M.TransformerEncoder:forward(src, mask, padding, is_causal)
  local x = src
  for _, layer in self.layers:iter() do
    x = layer(x, { src_mask = mask, src_key_padding_mask = padding, is_causal = is_causal })
  end
  return self.norm and self.norm(x) or x
end

M.TransformerDecoder = Module:extend('TransformerDecoder')
local read_decoder = declare.reader 'TransformerDecoder(Module decoder_layer, integer num_layers, Module? norm)'
function M.TransformerDecoder:init(...)
  local o = read_decoder(...)
  self.layers, self.num_layers = copies(o.decoder_layer, o.num_layers), o.num_layers
  self.norm = o.norm
end

function M.TransformerDecoder:forward(options)
  local x, memory = options.tgt, options.memory
  options.tgt, options.memory = nil, nil
  for _, layer in self.layers:iter() do x = layer(x, memory, options) end
  return self.norm and self.norm(x) or x
end

-- ---- both ---------------------------------------------------------------------------------------

M.Transformer = Module:extend('Transformer')
local read_transformer = declare.reader [[
  Transformer(integer d_model=512, integer nhead=8, integer num_encoder_layers=6,
    integer num_decoder_layers=6, integer dim_feedforward=2048, number dropout=0.1,
    string|function activation='relu', Module? custom_encoder, Module? custom_decoder,
    number layer_norm_eps=1e-5, boolean batch_first=false, boolean norm_first=false, boolean bias=true,
    device? device, dtype? dtype)]]

function M.Transformer:init(...)
  local o = read_transformer(...)
  local function layer_options()
    return { dim_feedforward = o.dim_feedforward, dropout = o.dropout, activation = o.activation,
      layer_norm_eps = o.layer_norm_eps, batch_first = o.batch_first, norm_first = o.norm_first, bias = o.bias,
      device = o.device, dtype = o.dtype }
  end
  local function norm()
    return LayerNorm(o.d_model, { eps = o.layer_norm_eps, bias = o.bias, device = o.device, dtype = o.dtype })
  end
  self.encoder = o.custom_encoder or M.TransformerEncoder(
    M.TransformerEncoderLayer(o.d_model, o.nhead, layer_options()), o.num_encoder_layers, norm())
  self.decoder = o.custom_decoder or M.TransformerDecoder(
    M.TransformerDecoderLayer(o.d_model, o.nhead, layer_options()), o.num_decoder_layers, norm())
  self.d_model, self.nhead, self.batch_first = o.d_model, o.nhead, o.batch_first
  for _, parameter in ipairs(self:parameters()) do
    if parameter.ndim > 1 then init.xavier_uniform_(parameter) end
  end
end

function M.Transformer:forward(o)
  local src, tgt = o.src, o.tgt
  if src.ndim == 3 and src:size(self.batch_first and 1 or 2) ~= tgt:size(self.batch_first and 1 or 2) then
    fail 'the batch number of src and tgt must be equal'
  end
  if src:size(-1) ~= self.d_model or tgt:size(-1) ~= self.d_model then
    fail 'the feature number of src and tgt must be equal to d_model'
  end
  local memory = self.encoder(src, { mask = o.src_mask, src_key_padding_mask = o.src_key_padding_mask,
    is_causal = o.src_is_causal })
  return self.decoder(tgt, memory, { tgt_mask = o.tgt_mask, memory_mask = o.memory_mask,
    tgt_key_padding_mask = o.tgt_key_padding_mask, memory_key_padding_mask = o.memory_key_padding_mask,
    tgt_is_causal = o.tgt_is_causal, memory_is_causal = o.memory_is_causal })
end

-- -inf above the diagonal, for masked positions.
function M.Transformer.generate_square_subsequent_mask(size, device, dtype)
  return torch.full({ size, size }, -math.huge, { device = device, dtype = dtype }):triu(1)
end
declare.functions(M.Transformer, 'generate_square_subsequent_mask(integer sz, device? device, dtype? dtype)')

declare.methods(M.TransformerEncoderLayer, 'forward(self, Tensor src, Tensor? src_mask, Tensor? src_key_padding_mask, boolean? is_causal=false)')
declare.methods(M.TransformerEncoder, 'forward(self, Tensor src, Tensor? mask, Tensor? src_key_padding_mask, boolean? is_causal)')
declare.methods(M.TransformerDecoderLayer, [[
  forward(self, Tensor tgt, Tensor memory, Tensor? tgt_mask, Tensor? memory_mask, Tensor? tgt_key_padding_mask, Tensor? memory_key_padding_mask, boolean? tgt_is_causal=false, boolean? memory_is_causal=false)
]])
declare.named(M.TransformerDecoder, [[
  forward(self, Tensor tgt, Tensor memory, Tensor? tgt_mask, Tensor? memory_mask, Tensor? tgt_key_padding_mask, Tensor? memory_key_padding_mask, boolean? tgt_is_causal, boolean? memory_is_causal=false)
]])
declare.named(M.Transformer, [[
  forward(self, Tensor src, Tensor tgt, Tensor? src_mask, Tensor? tgt_mask, Tensor? memory_mask, Tensor? src_key_padding_mask, Tensor? tgt_key_padding_mask, Tensor? memory_key_padding_mask, boolean? src_is_causal, boolean? tgt_is_causal, boolean? memory_is_causal=false)
]])

return M
