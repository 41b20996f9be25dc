-- attention.lua - nn.MultiheadAttention(embed_dim, num_heads, {dropout = 0, bias = true,
-- add_bias_kv = false, add_zero_attn = false, kdim =, vdim =, batch_first = false}) (A. Vaswani et
-- al. 2017).
--
-- attention(query, key, value, {key_padding_mask =, need_weights = true, attn_mask =,
-- average_attn_weights = true, is_causal = false}) returns the output and the weights (nil unless
-- needed). query (length, batch, embed_dim), or without a batch; batch first if so made. Masks:
-- true is left out, a float is added. key_padding_mask (batch, keys), attn_mask (length, keys) or
-- (batch * heads, length, keys).

--[=[ arguments
query: Query vectors, of shape (L, N, E), or (N, L, E) with `batch_first`.
key: Key vectors, of shape (S, N, E), or (N, S, E) with `batch_first`.
value: Value vectors, of the same order.
]=]

--[=[ examples
MultiheadAttention
    x = torch.zeros(2, 5, 8)
    output, weights = nn.MultiheadAttention(8, 2, {batch_first = true})(x, x, x)
    output.shape, weights.shape
    --> (torch.Size([2, 5, 8]), torch.Size([2, 5, 5]))
]=]

local torch = require 'torch'
local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local Linear = require('torch.nn.layers.linear').Linear
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local init = require 'torch.nn.init'
local kinds = require 'torch.support.argument_kinds'

local MultiheadAttention = Module:extend('MultiheadAttention')

-- Prints under PyTorch's name.
local OutputLinear = Linear:extend('NonDynamicallyQuantizableLinear')

local read = declare.reader [[
  MultiheadAttention(integer embed_dim, integer num_heads, number dropout=0.0, boolean bias=true,
    boolean add_bias_kv=false, boolean add_zero_attn=false, integer? kdim, integer? vdim,
    boolean batch_first=false, device? device, dtype? dtype)]]

function MultiheadAttention:init(...)
  local o = read(...)
  if o.embed_dim <= 0 or o.num_heads <= 0 then
    fail('embed_dim and num_heads must be greater than 0, got embed_dim=%d and num_heads=%d instead', o.embed_dim,
      o.num_heads)
  end
  if o.embed_dim % o.num_heads ~= 0 then fail 'embed_dim must be divisible by num_heads' end
  local factory = { device = o.device, dtype = o.dtype }
  local function parameter(...) return Parameter(torch.empty(..., factory)) end
  local e = o.embed_dim
  self.embed_dim, self.num_heads, self.head_dim = e, o.num_heads, e // o.num_heads
  self.kdim, self.vdim = o.kdim or e, o.vdim or e
  self.dropout, self.batch_first, self.add_zero_attn = o.dropout, o.batch_first, o.add_zero_attn
  if self.kdim == e and self.vdim == e then
    self.in_proj_weight = parameter { 3 * e, e }
  else
    self.q_proj_weight = parameter { e, e }
    self.k_proj_weight = parameter { e, self.kdim }
    self.v_proj_weight = parameter { e, self.vdim }
  end
  if o.bias then self.in_proj_bias = parameter { 3 * e } end
  self.out_proj = OutputLinear(e, e, { bias = o.bias, device = o.device, dtype = o.dtype })
  if o.add_bias_kv then
    self.bias_k = parameter { 1, 1, e }
    self.bias_v = parameter { 1, 1, e }
  end
  self:_reset_parameters()
end

function MultiheadAttention:_reset_parameters()
  if self.in_proj_weight ~= nil then
    init.xavier_uniform_(self.in_proj_weight)
  else
    init.xavier_uniform_(self.q_proj_weight)
    init.xavier_uniform_(self.k_proj_weight)
    init.xavier_uniform_(self.v_proj_weight)
  end
  if self.in_proj_bias ~= nil then
    init.constant_(self.in_proj_bias, 0.0)
    init.constant_(self.out_proj.bias, 0.0)
  end
  if self.bias_k ~= nil then
    init.xavier_normal_(self.bias_k)
    init.xavier_normal_(self.bias_v)
  end
end

-- ---- projections --------------------------------------------------------------------------------

local function thirds(t, e)
  if t == nil then return nil, nil, nil end
  return t:narrow(1, 1, e), t:narrow(1, e + 1, e), t:narrow(1, 2 * e + 1, e)
end

-- Projects query, key and value: with one product if they are the same tensor.
local function project(self, query, key, value)
  local e = self.embed_dim
  if self.in_proj_weight ~= nil and query == key and key == value then
    local all = torch.linear(query, self.in_proj_weight, self.in_proj_bias)
    return all:narrow(3, 1, e), all:narrow(3, e + 1, e), all:narrow(3, 2 * e + 1, e)
  end
  local wq, wk, wv = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
  if self.in_proj_weight ~= nil then wq, wk, wv = thirds(self.in_proj_weight, e) end
  local bq, bk, bv = thirds(self.in_proj_bias, e)
  return torch.linear(query, wq, bq), torch.linear(key, wk, bk), torch.linear(value, wv, bv)
end

-- ---- masks --------------------------------------------------------------------------------------

-- The additive mask of the scores: true in a bool mask is -inf.
local function additive(mask, like, name)
  if mask.dtype == torch.bool then
    return torch.zeros(mask.shape, { dtype = like.dtype, device = like.device }):masked_fill(mask, -math.huge)
  end
  if not mask:is_floating_point() then fail('only bool and floating types of %s are supported', name) end
  return mask
end

local function causal(length, keys, like)
  return torch.full({ length, keys }, -math.huge, { dtype = like.dtype, device = like.device }):triu(1)
end

-- Combines both masks for broadcasting over (batch, heads, length, keys); nil without masks.
local function joined(self, options, batch, length, keys, like)
  local mask, padding = options.attn_mask, options.key_padding_mask
  if options.is_causal and not mask then mask = causal(length, keys, like) end
  if mask then
    mask = additive(mask, like, 'attn_mask')
    local n = batch * self.num_heads
    if mask.ndim == 3 then
      if mask.shape ~= torch.Size { n, length, keys } then
        fail('The shape of the 3D attn_mask is %s, but should be (%d, %d, %d).', tostring(mask.shape), n, length, keys)
      end
      mask = mask:reshape(batch, self.num_heads, length, keys)
    elseif mask.shape ~= torch.Size { length, keys } then
      fail('The shape of the 2D attn_mask is %s, but should be (%d, %d).', tostring(mask.shape), length, keys)
    end
  end
  if padding then
    if padding.shape ~= torch.Size { batch, keys } then
      fail('expecting key_padding_mask shape of (%d, %d), but got %s', batch, keys, tostring(padding.shape))
    end
    padding = additive(padding, like, 'key_padding_mask'):reshape(batch, 1, 1, keys)
    mask = mask and mask + padding or padding
  end
  return mask or nil
end

-- Extends the masks for keys appended at the end, which all queries attend to.
local function widen(options, by)
  local mask, padding = options.attn_mask, options.key_padding_mask
  if mask then options.attn_mask = F.pad(mask:to(mask.dtype), { 0, by }) end
  if padding then options.key_padding_mask = F.pad(padding, { 0, by }) end
end

-- ---- attention ----------------------------------------------------------------------------------

-- (length, batch, embed) to (batch, heads, length, head)
local function heads(t, batch, n, head)
  return t:reshape(t:size(1), batch, n, head):permute(2, 3, 1, 4)
end

-- The output (batch, heads, length, head), and the weights if needed.
local function attend(self, q, k, v, mask, need_weights)
  if not need_weights then
    return F.scaled_dot_product_attention(q, k, v, mask or nil, self.training and self.dropout or 0.0)
  end
  local scores = torch.matmul(q * (1 / math.sqrt(self.head_dim)), k:transpose(3, 4))
  if mask then scores = scores + mask end
  local weights = torch.softmax(scores, 4)
  if self.dropout > 0 and self.training then weights = torch.dropout(weights, self.dropout, true) end
  return torch.matmul(weights, v), weights
end

local function check(self, query, key, value)
  if query.ndim ~= 2 and query.ndim ~= 3 then
    fail('query should be unbatched 2D or batched 3D tensor but received %d-D query tensor', query.ndim)
  end
  if key.ndim ~= query.ndim or value.ndim ~= query.ndim then
    fail("For batched (%d-D) `query`, expected `key` and `value` to be %d-D but found %d-D and %d-D tensors respectively",
      query.ndim, query.ndim, key.ndim, value.ndim)
  end
  if query:size(-1) ~= self.embed_dim then
    fail('was expecting embedding dimension of %d, but got %d', self.embed_dim, query:size(-1))
  end
end

local function forward(self, options)
  local query, key, value = options.query, options.key, options.value
  check(self, query, key, value)
  local alone, swap, same = query.ndim == 2, self.batch_first and query.ndim == 3, query == key and key == value
  local function arrange(t)
    if alone then return t:unsqueeze(2) end
    return swap and t:transpose(1, 2) or t
  end
  query = arrange(query)
  if same then key, value = query, query else key, value = arrange(key), arrange(value) end
  if alone and options.key_padding_mask then options.key_padding_mask = options.key_padding_mask:unsqueeze(1) end
  local length, batch = query:size(1), query:size(2)
  local q, k, v = project(self, query, key, value)
  if self.bias_k ~= nil then
    k = torch.cat({ k, self.bias_k:expand(1, batch, self.embed_dim) }, 1)
    v = torch.cat({ v, self.bias_v:expand(1, batch, self.embed_dim) }, 1)
    widen(options, 1)
  end
  if self.add_zero_attn then
    local zeros = torch.zeros(1, batch, self.embed_dim, { dtype = k.dtype, device = k.device })
    k, v = torch.cat({ k, zeros }, 1), torch.cat({ v, zeros }, 1)
    widen(options, 1)
  end
  local n, head = self.num_heads, self.head_dim
  k, v = self.static_k or heads(k, batch, n, head), self.static_v or heads(v, batch, n, head)
  local mask = joined(self, options, batch, length, k:size(3), q)
  local output, weights = attend(self, heads(q, batch, n, head), k, v, mask, options.need_weights)
  output = self.out_proj(output:permute(3, 1, 2, 4):reshape(length, batch, self.embed_dim))
  if alone then output = output:squeeze(2) elseif swap then output = output:transpose(1, 2) end
  if not options.need_weights then return output, nil end
  if options.average_attn_weights then weights = weights:mean { dim = 2 } end
  return output, alone and weights:squeeze(1) or weights
end

MultiheadAttention.forward = forward
declare.named(MultiheadAttention, [[
  forward(self, Tensor query, Tensor key, Tensor value, Tensor? key_padding_mask, boolean need_weights=true, Tensor? attn_mask, boolean average_attn_weights=true, boolean is_causal=false)
]])

-- ---- as a function ------------------------------------------------------------------------------

-- nn.functional.multi_head_attention_forward.
function MultiheadAttention._functional(o)
  local embed_dim = o.embed_dim_to_check or o.query:size(-1)
  if embed_dim % o.num_heads ~= 0 then fail('embed_dim %d not divisible by num_heads %d', embed_dim, o.num_heads) end
  local head, batch = embed_dim // o.num_heads, o.query.ndim == 3 and o.query:size(2) or 1
  -- Keys and values that are projected already: [batch * heads, keys, head].
  local function fixed(t) return t ~= nil and t:reshape(batch, o.num_heads, t:size(2), head) or nil end
  local layer = {
    embed_dim = embed_dim, num_heads = o.num_heads, head_dim = head, dropout = o.dropout_p, training = o.training,
    in_proj_bias = o.in_proj_bias, bias_k = o.bias_k, bias_v = o.bias_v, add_zero_attn = o.add_zero_attn, batch_first = false,
    static_k = fixed(o.static_k), static_v = fixed(o.static_v),
    out_proj = function(x) return torch.linear(x, o.out_proj_weight, o.out_proj_bias) end,
  }
  if o.use_separate_proj_weight then
    layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight = o.q_proj_weight, o.k_proj_weight, o.v_proj_weight
  else
    kinds.check('multi_head_attention_forward', 'in_proj_weight', o.in_proj_weight, 'Tensor')
    layer.in_proj_weight = o.in_proj_weight
  end
  return forward(layer, {
    query = o.query, key = o.key, value = o.value, key_padding_mask = o.key_padding_mask, need_weights = o.need_weights, attn_mask = o.attn_mask,
    average_attn_weights = o.average_attn_weights, is_causal = o.is_causal,
  })
end

return MultiheadAttention
