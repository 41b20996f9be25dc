-- Fine-tunes a language model on a text: adapters beside its linear layers, whose weights stay
-- quantized (QLoRA), and AdamW with a state of 8 bits. The result is an adapter in the form of Hugging
-- Face's library PEFT.
--
--   ltensor scripts/lora.lua --model SmolLM2-135M-Instruct.Q4_1.gguf --text notes.txt --adapter notes \
--     --checkpoint notes.run --save-every 10

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local training = require 'torch.utils.training'
local outside = require 'torch.files.outside'
local whole_file = require 'torch.files.whole_file'
local F, optim = torch.nn.functional, torch.optim

local script = experiment.new {
  name = 'lora',
  summary = 'Fine-tunes a language model on a text.',
  options = training.options({
    { 'model', 'model.gguf', 'FILE', 'GGUF file' },
    { 'dtype', false, 'NAME', 'of the weights, such as bfloat16; without it as in the file' },
    { 'text', training.TEXT, 'FILE', 'text to learn' },
    { 'adapter', false, 'FOLDER', 'folder for the result' },
    { 'length', 128, 'N', 'tokens that are seen at a time', minimum = 1 },
    { 'rank', 8, 'N', 'of the adapters', minimum = 1 },
    { 'alpha', 16, 'N', 'factor of the adapters, times the rank', minimum = 1 },
    { 'dropout', 0.0, 'X', 'part of the numbers that are dropped' },
    { 'layers', 'q_proj,v_proj', 'NAMES', 'linear layers that get an adapter, or all-linear' },
  }, { ['batch-size'] = 4, epochs = 1, lr = 0.0002 }),
}

local function load(options, device)
  local dtype = options.dtype and torch[options.dtype] or nil
  if options.dtype and torch.type(dtype) ~= 'dtype' then script:fail(options.dtype .. ' is no dtype; use bfloat16, float16 or float32') end
  local ok, model = pcall(torch.lm.load, options.model, { dtype = dtype, device = device })
  if not ok then script:fail((tostring(model):gsub('^[^\n]-:%d+: ', ''))) end
  return model
end

local function tokens(options, tokenizer, device)
  local file, message = outside.open(options.text, 'rb')
  if not file then script:fail(message .. '; name a text file with --text FILE') end
  file:close()
  local data = torch.tensor(tokenizer:encode(whole_file.read(options.text)), { dtype = torch.int64, device = device })
  if data:size(1) <= options.length then
    script:fail(('%s has %d tokens, too few for windows of %d'):format(options.text, data:size(1), options.length))
  end
  return data
end

local function main(argv)
  local options = script:parse(argv)
  local device = script:device(options.device)
  torch.manual_seed(options.seed)
  local model = load(options, device)
  local count, window = training.windows(tokens(options, model.tokenizer, device), options.length)
  local layers = options.layers
  if layers ~= 'all-linear' then
    layers = {}
    for name in options.layers:gmatch '[^,]+' do layers[#layers + 1] = name end
  end
  local adapters = torch.lm.lora(model.net,
    { r = options.rank, lora_alpha = options.alpha, lora_dropout = options.dropout, target_modules = layers })
  model.net.gradient_checkpointing = true
  training.fit {
    script = script, options = options, device = device, net = adapters, n = count, clip = 1,
    parts = options['batch-size'], -- a window at a time, which bounds the memory
    optimizer = optim.AdamW8bit(adapters:parameters(), { lr = options.lr }),
    loss = function(picked)
      local x, y = window(picked)
      return F.cross_entropy(model.net(x:flatten()), y:flatten() + 1)
    end,
  }
  if options.adapter then adapters:save_pretrained(options.adapter) end
end

main(arg)
