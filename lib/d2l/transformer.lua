-- transformer.lua - d2l: the transformer (A. Vaswani et al. 2017), for sequences and for images (A.
-- Dosovitskiy et al. 2020).

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local kinds = require 'torch.support.argument_kinds'
local attention = require 'torch.d2l.attention'
local models = require 'torch.d2l.models'
local sequences = require 'torch.d2l.sequences'
local tools = require 'torch.d2l.tools'

local nn = torch.nn

local M = {}

--- PositionWiseFFN(ffn_num_hiddens, ffn_num_outputs): the same two layers at each position.
M.PositionWiseFFN = nn.Module:extend 'd2l.PositionWiseFFN'

function M.PositionWiseFFN:init(ffn_num_hiddens, ffn_num_outputs)
  self.dense1, self.relu, self.dense2 = nn.LazyLinear(ffn_num_hiddens), nn.ReLU(), nn.LazyLinear(ffn_num_outputs)
end

function M.PositionWiseFFN:forward(X) return self.dense2(self.relu(self.dense1(X))) end

--- AddNorm(norm_shape, dropout): layer norm of the input plus the output of the sublayer.
M.AddNorm = nn.Module:extend 'd2l.AddNorm'

function M.AddNorm:init(norm_shape, dropout) self.dropout, self.ln = nn.Dropout(dropout or 0), nn.LayerNorm(norm_shape) end

function M.AddNorm:forward(X, Y) return self.ln(self.dropout(Y) + X) end

local read_block = declare.reader [[
  d2l.TransformerEncoderBlock(integer num_hiddens, integer ffn_num_hiddens, integer num_heads,
    number dropout=0, boolean use_bias=false)]]

--- TransformerEncoderBlock(num_hiddens, ffn_num_hiddens, num_heads, dropout = 0, use_bias = false):
--- self-attention, then the two layers.
M.TransformerEncoderBlock = nn.Module:extend 'd2l.TransformerEncoderBlock'

function M.TransformerEncoderBlock:init(...)
  local o = read_block(...)
  self.attention = attention.MultiHeadAttention(o.num_hiddens, o.num_heads, o.dropout, o.use_bias)
  self.addnorm1 = M.AddNorm(o.num_hiddens, o.dropout)
  self.ffn = M.PositionWiseFFN(o.ffn_num_hiddens, o.num_hiddens)
  self.addnorm2 = M.AddNorm(o.num_hiddens, o.dropout)
end

function M.TransformerEncoderBlock:forward(X, valid_lens)
  local Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
  return self.addnorm2(Y, self.ffn(Y))
end

local read_encoder = declare.reader [[
  d2l.TransformerEncoder(integer vocab_size, integer num_hiddens, integer ffn_num_hiddens, integer num_heads,
    integer num_blks, number dropout=0, boolean use_bias=false)]]

--- TransformerEncoder(vocab_size, num_hiddens, ffn_num_hiddens, num_heads, num_blks, dropout = 0,
--- use_bias = false): maps token positions (batch, steps) to (batch, steps, num_hiddens).
M.TransformerEncoder = sequences.Encoder:extend 'd2l.TransformerEncoder'

function M.TransformerEncoder:init(...)
  local o = read_encoder(...)
  self.num_hiddens = o.num_hiddens
  self.embedding = nn.Embedding(o.vocab_size, o.num_hiddens)
  self.pos_encoding = attention.PositionalEncoding(o.num_hiddens, o.dropout)
  self.blks = nn.ModuleList {}
  kinds.check_count(self.__classname, 'num_blks', o.num_blks)
  for _ = 1, o.num_blks do
    self.blks:append(M.TransformerEncoderBlock(o.num_hiddens, o.ffn_num_hiddens, o.num_heads, o.dropout, o.use_bias))
  end
end

function M.TransformerEncoder:forward(X, valid_lens)
  X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
  self._weights = {}
  for i, block in ipairs(self.blks) do
    X = block(X, valid_lens)
    self._weights[i] = block.attention.attention.attention_weights
  end
  return X
end

--- The weights of the last call, by block: (batch * heads, queries, keys).
function M.TransformerEncoder:attention_weights() return self._weights end

--- TransformerDecoderBlock(num_hiddens, ffn_num_hiddens, num_heads, dropout, i): attention to
--- earlier steps, to the encoder's outputs, then the two layers. i: its number; state[3][i]
--- contains the earlier inputs.
M.TransformerDecoderBlock = nn.Module:extend 'd2l.TransformerDecoderBlock'

function M.TransformerDecoderBlock:init(num_hiddens, ffn_num_hiddens, num_heads, dropout, i)
  self.i = i
  self.attention1 = attention.MultiHeadAttention(num_hiddens, num_heads, dropout)
  self.addnorm1 = M.AddNorm(num_hiddens, dropout)
  self.attention2 = attention.MultiHeadAttention(num_hiddens, num_heads, dropout)
  self.addnorm2 = M.AddNorm(num_hiddens, dropout)
  self.ffn = M.PositionWiseFFN(ffn_num_hiddens, num_hiddens)
  self.addnorm3 = M.AddNorm(num_hiddens, dropout)
end

function M.TransformerDecoderBlock:forward(X, state)
  local enc_outputs, enc_valid_lens, seen = state[1], state[2], state[3][self.i]
  local key_values = seen and torch.cat({ seen, X }, 2) or X
  state[3][self.i] = key_values
  local dec_valid_lens
  if self.training then -- all steps at once: step t attends to the first t
    dec_valid_lens = torch.arange(1, X:size(2) + 1, { device = X.device }):expand(X:size(1), X:size(2))
  end
  local Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))
  local Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
  return self.addnorm3(Z, self.ffn(Z)), state
end

local read_decoder = declare.reader [[
  d2l.TransformerDecoder(integer vocab_size, integer num_hiddens, integer ffn_num_hiddens, integer num_heads,
    integer num_blks, number dropout=0)]]

--- TransformerDecoder(vocab_size, num_hiddens, ffn_num_hiddens, num_heads, num_blks, dropout = 0):
--- scores (batch, steps, vocab_size). Training passes all steps at once; in evaluation, the state
--- contains the earlier ones.
M.TransformerDecoder = attention.AttentionDecoder:extend 'd2l.TransformerDecoder'

function M.TransformerDecoder:init(...)
  local o = read_decoder(...)
  self.num_hiddens, self.num_blks = o.num_hiddens, o.num_blks
  self.embedding = nn.Embedding(o.vocab_size, o.num_hiddens)
  self.pos_encoding = attention.PositionalEncoding(o.num_hiddens, o.dropout)
  self.blks = nn.ModuleList {}
  kinds.check_count(self.__classname, 'num_blks', o.num_blks)
  for i = 1, o.num_blks do self.blks:append(M.TransformerDecoderBlock(o.num_hiddens, o.ffn_num_hiddens, o.num_heads, o.dropout, i)) end
  self.dense = nn.LazyLinear(o.vocab_size)
end

function M.TransformerDecoder:init_state(enc_all_outputs, enc_valid_lens) return { enc_all_outputs[1], enc_valid_lens, {}, 0 } end

function M.TransformerDecoder:forward(X, state)
  -- Evaluation passes one step: its position follows the earlier ones.
  local before = state[4]
  local places = self.pos_encoding.P:narrow(2, before + 1, X:size(2))
  local Y = self.pos_encoding.dropout(self.embedding(X) * math.sqrt(self.num_hiddens) + places)
  state[4] = before + X:size(2)
  self._weights = { {}, {} }
  for i, block in ipairs(self.blks) do
    Y, state = block(Y, state)
    self._weights[1][i] = block.attention1.attention.attention_weights
    self._weights[2][i] = block.attention2.attention.attention_weights
  end
  return self.dense(Y), state
end

--- The weights of the last call: {self-attention by block, attention to the source by block}.
function M.TransformerDecoder:attention_weights() return self._weights end

-- ---- images -------------------------------------------------------------------------------------

local function pair(size)
  if type(size) == 'table' then return size[1], size[2] end
  return size, size
end

--- PatchEmbedding(img_size = 96, patch_size = 16, num_hiddens = 512): an image as a sequence of
--- square patches, (batch, num_patches, num_hiddens).
M.PatchEmbedding = nn.Module:extend 'd2l.PatchEmbedding'

function M.PatchEmbedding:init(img_size, patch_size, num_hiddens)
  local height, width = pair(img_size or 96)
  local rows, columns = pair(patch_size or 16)
  self.num_patches = (height // rows) * (width // columns)
  self.conv = nn.LazyConv2d(num_hiddens or 512, { rows, columns }, { stride = { rows, columns } })
end

function M.PatchEmbedding:forward(X) return self.conv(X):flatten(3):transpose(2, 3) end

--- ViTMLP(mlp_num_hiddens, mlp_num_outputs, dropout = 0.5): the two layers, with GELU.
M.ViTMLP = nn.Module:extend 'd2l.ViTMLP'

function M.ViTMLP:init(mlp_num_hiddens, mlp_num_outputs, dropout)
  dropout = dropout or 0.5
  self.net = nn.Sequential(nn.LazyLinear(mlp_num_hiddens), nn.GELU(), nn.Dropout(dropout), nn.LazyLinear(mlp_num_outputs), nn.Dropout(dropout))
end

function M.ViTMLP:forward(x) return self.net(x) end

--- ViTBlock(num_hiddens, norm_shape, mlp_num_hiddens, num_heads, dropout, use_bias = false): an
-- encoder block that normalizes first.
M.ViTBlock = nn.Module:extend 'd2l.ViTBlock'

function M.ViTBlock:init(num_hiddens, norm_shape, mlp_num_hiddens, num_heads, dropout, use_bias)
  self.ln1, self.ln2 = nn.LayerNorm(norm_shape), nn.LayerNorm(norm_shape)
  self.attention = attention.MultiHeadAttention(num_hiddens, num_heads, dropout, use_bias or false)
  self.mlp = M.ViTMLP(mlp_num_hiddens, num_hiddens, dropout)
end

function M.ViTBlock:forward(X, valid_lens)
  local Y = self.ln1(X)
  X = X + self.attention(Y, Y, Y, valid_lens)
  return X + self.mlp(self.ln2(X))
end

local read_vit = declare.reader [[
  d2l.ViT(any img_size, any patch_size, integer num_hiddens, integer mlp_num_hiddens, integer num_heads,
    integer num_blks, number emb_dropout=0, number blk_dropout=0, number|Tensor lr=0.1,
    boolean use_bias=false, integer num_classes=10)]]

--- ViT(img_size, patch_size, num_hiddens, mlp_num_hiddens, num_heads, num_blks, emb_dropout = 0,
--- blk_dropout = 0, lr = 0.1, use_bias = false, num_classes = 10): classifies by an additional
--- token in front of the patches.
M.ViT = models.Classifier:extend 'd2l.ViT'

function M.ViT:init(...)
  tools.keep(self, read_vit(...))
  self.patch_embedding = M.PatchEmbedding(self.img_size, self.patch_size, self.num_hiddens)
  self.cls_token = nn.Parameter(torch.zeros(1, 1, self.num_hiddens))
  self.pos_embedding = nn.Parameter(torch.randn(1, self.patch_embedding.num_patches + 1, self.num_hiddens))
  self.dropout = nn.Dropout(self.emb_dropout)
  self.blks = nn.Sequential()
  kinds.check_count(self.__classname, 'num_blks', self.num_blks)
  for _ = 1, self.num_blks do
    self.blks:append(M.ViTBlock(self.num_hiddens, self.num_hiddens, self.mlp_num_hiddens, self.num_heads, self.blk_dropout, self.use_bias))
  end
  self.head = nn.Sequential(nn.LayerNorm(self.num_hiddens), nn.Linear(self.num_hiddens, self.num_classes))
end

function M.ViT:forward(X)
  X = self.patch_embedding(X)
  X = torch.cat({ self.cls_token:expand(X:size(1), -1, -1), X }, 2)
  X = self.blks(self.dropout(X + self.pos_embedding))
  return self.head(X:select(2, 1))
end

return M
