-- Decodes tokens by a language model with random weights, of the sizes of SmolLM2-135M or tiny ones (decode.lua
-- [tiny]): prints name TAB unit TAB value, as tests/bench/bench_cuda.lua does.

local torch = require 'torch'
local cache = require 'torch.lm.cache'
local llama = require 'torch.lm.llama'

local tiny = arg[1] == 'tiny'
local TOKENS = tiny and 4 or 128

torch.set_default_device 'cuda'
torch.manual_seed(0)

local config = {
  vocab_size = tiny and 64 or 49152, dim = tiny and 32 or 576, layers = tiny and 2 or 30, heads = tiny and 4 or 9,
  kv_heads = tiny and 2 or 3, head_dim = tiny and 8 or 64, hidden = tiny and 64 or 1536, context = 512,
  norm = 'rms', norm_eps = 1e-5, ropes = {}, rope_of = {}, windows = {}, activation = 'silu', gated = true, tied = true,
}
local net = llama.Decoder(config):to(torch.bfloat16)
net:eval()

local function seconds_of(text, n)
  local kept = cache.new(config.layers)
  torch.cuda.synchronize()
  local start = torch.time()
  local token = net(text, kept, true):argmax(-1)
  local read = token:item()
  local begun = torch.time()
  for _ = 1, n do
    token = net(token - 1, kept, true):argmax(-1)
    read = read + token:item()
  end
  return begun - start, (torch.time() - begun) / n
end

torch.no_grad(function()
  local text = torch.randint(0, config.vocab_size, { tiny and 8 or 256 })
  seconds_of(text, 2)
  local prompt, token = seconds_of(text, TOKENS)
  print(('decode: prompt of %d tokens\tms\t%.6g'):format(text:numel(), prompt * 1e3))
  print(('decode: a token, bfloat16\tms\t%.6g'):format(token * 1e3))
end)
