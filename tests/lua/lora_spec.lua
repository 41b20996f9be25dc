-- lora_spec.lua - torch.lm.lora: adapters beside float and quantized layers, their gradients, merging, files in PEFT's layout, errors; and
-- scripts/lora.lua, killed and resumed. Needs PCRE2 for the script, as the tokenizer does.

local torch = require 'torch'
local gguf = require 'torch.lm.gguf'
local llama = require 'torch.lm.llama'
local fails_with = require 'support.fails_with'
local nn = torch.nn
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local files = dofile(here .. 'support/gguf.lua')
local process = dofile(here .. 'support/process.lua')
local tiny = dofile(here .. 'support/tiny_llama.lua')

local ids = torch.tensor { 3, 17, 0, 39, 17, 8, 21 }

local folder = os.tmpname()
os.remove(folder)
assert(os.execute('mkdir ' .. folder))
teardown(function() os.execute('rm -r ' .. folder) end)

local function write(path, text)
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
  return path
end

-- q8_0: d and 32 signed bytes
local function q8(_, value)
  if value:dim() == 1 then return 0, nil, value end
  local rows = value:view(-1, 32)
  local d = (rows:abs():amax(2, true) / 127):half()
  local q = (rows / d:float()):round():clamp(-127, 127)
  return 8, files.bytes(torch.cat({ d:view(torch.uint8), q:to(torch.int8):view(torch.uint8) }, 2)), (q * d:float()):view(value.shape)
end

local path = write(folder .. '/tiny.gguf', (tiny.text(nil, 'llama', q8)))
local function quantized() return llama.from_gguf(gguf(path)) end
local function floats() return llama.from_gguf(gguf(path), torch.float32) end

local function close(expected, got) assert.is_true(torch.allclose(expected:detach(), got:detach(), { rtol = 1e-4, atol = 1e-5 })) end

-- Adapters with random matrices.
local function adapted(net, options)
  torch.manual_seed(6)
  local adapters = torch.lm.lora(net, options)
  for _, matrix in ipairs(adapters:parameters()) do matrix.data:normal_(0, 0.3) end
  return adapters
end

describe('torch.lm.lora #cpu', function()
  it('begins with the outputs of the net, and trains only the matrices', function()
    local net = floats()
    local expected = net(ids)
    local adapters = torch.lm.lora(net)
    assert.is_true(torch.equal(expected, net(ids)))
    assert.equal(8, #adapters:parameters())
    local trained = 0
    for _, parameter in ipairs(net:parameters()) do trained = trained + (parameter.requires_grad and 1 or 0) end
    assert.equal(8, trained)
    local layer = net.layers[1].attention.q_proj
    assert.same({ 8, 32 }, { table.unpack(layer.lora_A.weight.shape) })
    -- PEFT's initial values: uniform in [-1, 1] / sqrt(inputs)
    local bound = 1 / math.sqrt(32)
    local most = layer.lora_A.weight:abs():max():item()
    assert.is_true(most <= bound and most > 0.9 * bound)
    assert.equal(0, layer.lora_B.weight:abs():max():item())
    assert.equal(1, layer.scaling)
  end)

  it('adds the product of the matrices, times a factor, to a weight', function()
    local net = nn.Sequential(nn.Linear(6, 5), nn.Linear(5, 4))
    local layer, x = net[2], torch.randn(3, 5)
    local adapters = adapted(net, { target_modules = { '1' }, r = 2, lora_alpha = 6 })
    local a, b = table.unpack(adapters:parameters())
    close(layer(x) + 3 * (x:matmul(a:t()):matmul(b:t())), net[2](x))
    assert.is_true(torch.equal(net(torch.ones(2, 6)), adapters(torch.ones(2, 6))))
    assert.equal(6 / math.sqrt(2), torch.lm.lora(nn.Sequential(nn.Linear(2, 2)), { target_modules = { '0' }, r = 2, lora_alpha = 6, use_rslora = true }).net[1].scaling)
  end)

  it('has the gradients of float weights beside quantized ones', function()
    local grads = {}
    for i, net in ipairs { quantized(), floats() } do
      local adapters = adapted(net, { r = 4, target_modules = 'all-linear' })
      assert.equal(2 * 2 * 7, #adapters:parameters())
      torch.nn.functional.cross_entropy(net(ids), ids + 1):backward()
      grads[i] = {}
      for k, matrix in ipairs(adapters:parameters()) do grads[i][k] = matrix.grad end
    end
    for k, grad in ipairs(grads[2]) do
      close(grad, grads[1][k])
      assert.is_true(grad:abs():max():item() > 0)
    end
  end)

  it('has the same gradients with activation checkpoints', function()
    local grads = {}
    for i = 1, 2 do
      local net = quantized()
      net.gradient_checkpointing = i == 2
      local adapters = adapted(net, { lora_dropout = 0.3 })
      torch.manual_seed(8)
      torch.nn.functional.cross_entropy(net(ids), ids + 1):backward()
      grads[i] = adapters:parameters()
    end
    for k, matrix in ipairs(grads[1]) do assert.is_true(torch.equal(matrix.grad, grads[2][k].grad)) end
  end)

  it('drops inputs of the matrices in training only', function()
    local net = quantized()
    local adapters = adapted(net, { lora_dropout = 0.5 })
    assert.is_false(torch.equal(net(ids), net(ids)))
    adapters:eval()
    assert.is_true(torch.equal(net(ids), net(ids)))
    adapters:train()
    assert.is_true(net.layers[1].attention.v_proj.lora_dropout.training)
  end)

  it('merges into plain layers, and comes apart again', function()
    for _, make in ipairs { quantized, floats } do
      local net = make()
      local before, names = net(ids), {}
      local original = net.layers[1].attention.q_proj
      local adapters = adapted(net, { r = 3, lora_alpha = 9, target_modules = { 'q_proj', 'output', 'layers.1.mlp.up_proj' } })
      local expected = net(ids)
      assert.is_false(torch.allclose(before, expected))
      adapters:merge()
      for name in net:named_modules() do names[#names + 1] = name:match 'lora.*' end
      assert.same({}, names)
      assert.is_true(nn.Linear:is_instance(net.layers[1].attention.q_proj))
      close(expected, net(ids))
      adapters:unmerge()
      assert.is_true(torch.equal(expected, net(ids)))
      assert.equal(net, adapters:unload())
      assert.is_true(torch.equal(before, net(ids)))
      assert.equal(original, net.layers[1].attention.q_proj)
    end
  end)

  it('refuses', function()
    fails_with("Target modules {'k', 'query'} not found in the base model", torch.lm.lora, floats(), { target_modules = { 'k', 'query' } })
    fails_with("'layers.0.mlp' is a DecoderMLP, expected a linear layer", torch.lm.lora, floats(), { target_modules = { 'mlp' } })
    fails_with("target_modules is 'q_proj', expected a list of names or 'all-linear'", torch.lm.lora, floats(), { target_modules = 'q_proj' })
    fails_with('r is 0, expected a positive integer', torch.lm.lora, floats(), { r = 0 })
    fails_with("target_modules[1]", torch.lm.lora, floats(), { target_modules = { 5 } })
    local net = floats()
    local adapters = torch.lm.lora(net)
    fails_with('the net has adapters already; call unload() of these first', torch.lm.lora, net)
    local state = adapters:state_dict()
    local name = 'layers.0.attention.q_proj.lora_A.weight'
    fails_with("the state has 'x', which", adapters.load_state_dict, adapters, { x = torch.ones(1) })
    local matrix = state[name]
    state[name] = nil
    fails_with("the state has no matrix '" .. name, adapters.load_state_dict, adapters, state)
    state[name] = matrix:t()
    fails_with('has the shape torch.Size([32, 8]), expected torch.Size([8, 32])', adapters.load_state_dict, adapters, state)
  end)
end)

describe('the files of an adapter #cpu', function()
  it('have the names, the order of rows and the configuration of PEFT', function()
    local net = quantized()
    local adapters = adapted(net, { r = 2, lora_alpha = 5, target_modules = { 'q_proj', 'k_proj', 'down_proj' } })
    adapters:save_pretrained(folder .. '/a')
    local state = torch.load(folder .. '/a/adapter_model.safetensors')
    local count = 0
    for _ in pairs(state) do count = count + 1 end
    assert.equal(12, count)
    local layer = net.layers[2]
    local name = 'base_model.model.model.layers.1.%s.weight'
    assert.is_true(torch.equal(layer.mlp.down_proj.lora_B.weight, state[name:format 'mlp.down_proj.lora_B']))
    assert.is_true(torch.equal(layer.attention.q_proj.lora_A.weight, state[name:format 'self_attn.q_proj.lora_A']))
    -- heads of 8 rows: pairs of adjacent rows here, halves in Hugging Face's model
    for projection, heads in pairs { q_proj = 4, k_proj = 2 } do
      local ours, theirs = layer.attention[projection].lora_B.weight, state[name:format('self_attn.' .. projection .. '.lora_B')]
      for head = 0, heads - 1 do
        for i = 0, 7 do assert.is_true(torch.equal(ours[8 * head + i + 1], theirs[8 * head + (i % 2) * 4 + i // 2 + 1])) end
      end
    end
    local file = assert(io.open(folder .. '/a/adapter_config.json'))
    local config = torch._C.read_json(file:read 'a', function() return {} end, nil)
    file:close()
    assert.same({ 'q_proj', 'k_proj', 'down_proj' }, config.target_modules)
    assert.same({ 2, 5, 'LORA', 'CAUSAL_LM', 'none' }, { config.r, config.lora_alpha, config.peft_type, config.task_type, config.bias })
    local loaded = torch.lm.lora.from_pretrained(quantized(), folder .. '/a')
    assert.is_true(torch.equal(net(ids), loaded(ids)))
    fails_with('the net has adapters already', torch.lm.lora.from_pretrained, net, folder .. '/a')
  end)

  it('name single layers by their paths, and those of other nets as they are', function()
    local adapters = adapted(floats(), { target_modules = { 'layers.0.attention.q_proj' } })
    adapters:save_pretrained(folder .. '/b')
    local file = assert(io.open(folder .. '/b/adapter_config.json'))
    assert.is_truthy(file:read 'a':find('"target_modules": ["model.layers.0.self_attn.q_proj"]', 1, true))
    file:close()
    adapted(nn.Sequential(nn.Linear(3, 2)), { target_modules = { '0' }, r = 1 }):save_pretrained(folder .. '/c')
    local fused = floats()
    fused.config.family = 'phi3'
    adapters = torch.lm.lora(fused)
    fails_with("'layers.0.attention.q_proj' is a part of another layer in Hugging Face's model", adapters.save_pretrained, adapters, folder .. '/e')
    local state = torch.load(folder .. '/c/adapter_model.safetensors')
    assert.same({ 1, 3 }, { table.unpack(state['base_model.model.0.lora_A.weight'].shape) })
  end)

  -- of peft 0.21.2, without the keys that do not matter
  local config = [[{"alora_invocation_tokens": null, "alpha_pattern": {}, "base_model_name_or_path": "tiny", "bias": "none", "eva_config": null,
    "fan_in_fan_out": false, "init_lora_weights": true, "layer_replication": null, "layers_to_transform": null, "lora_alpha": 16, "lora_bias": false,
    "lora_dropout": 0.25, "megatron_config": null, "megatron_core": "megatron.core", "modules_to_save": null, "peft_type": "LORA", "peft_version": "0.21.2",
    "qalora_group_size": 16, "r": 4, "rank_pattern": {}, "target_modules": ["v_proj"], "target_parameters": null, "task_type": "CAUSAL_LM",
    "trainable_token_indices": null, "use_dora": false, "use_qalora": false, "use_rslora": false}]]

  it('may come from PEFT', function()
    local net, state = quantized(), {}
    for i = 0, 1 do
      local name = ('base_model.model.model.layers.%d.self_attn.v_proj.lora_'):format(i)
      state[name .. 'A.weight'], state[name .. 'B.weight'] = torch.randn(4, 32), torch.randn(16, 4)
    end
    os.execute('mkdir ' .. folder .. '/d')
    write(folder .. '/d/adapter_config.json', config)
    torch.save(state, folder .. '/d/adapter_model.safetensors')
    local adapters = torch.lm.lora.from_pretrained(net, folder .. '/d')
    assert.equal('Lora(2 layers, r=4, lora_alpha=16, lora_dropout=0.25)', tostring(adapters))
    local layer, x = net.layers[2].attention.v_proj:eval(), torch.randn(3, 32)
    local name = 'base_model.model.model.layers.1.self_attn.v_proj.lora_'
    close(layer.base_layer(x) + 4 * x:matmul(state[name .. 'A.weight']:t()):matmul(state[name .. 'B.weight']:t()), layer(x))
  end)

  it('of other kinds, or that do not fit, are refused', function()
    local function load(from, to)
      local text, changes = config:gsub(from, to)
      assert.equal(1, changes)
      write(folder .. '/d/adapter_config.json', text)
      return torch.lm.lora.from_pretrained(quantized(), folder .. '/d')
    end
    fails_with('adapter_config.json has use_dora = true, expected false', load, '"use_dora": false', '"use_dora": true')
    fails_with('has peft_type = IA3, expected LORA', load, '"LORA"', '"IA3"')
    fails_with('expected an empty object', load, '"alpha_pattern": {}', '"alpha_pattern": {"v_proj": 3}')
    fails_with('has r = 0.5, expected a positive integer', load, '"r": 4', '"r": 0.5')
    fails_with('has no JSON object', load, '^{', '')
    fails_with('has the shape torch.Size([4, 32]), expected torch.Size([5, 32])', load, '"r": 4', '"r": 5')
    fails_with('No such file', torch.lm.lora.from_pretrained, quantized(), folder .. '/none')
    write(folder .. '/d/adapter_config.json', config)
    torch.save({ ['base_model.model.model.layers.7.self_attn.v_proj.lora_A.weight'] = torch.ones(4, 32) }, folder .. '/d/adapter_model.safetensors')
    fails_with("has the tensor 'base_model.model.model.layers.7.self_attn.v_proj.lora_A.weight', for which the net has no layer",
      torch.lm.lora.from_pretrained, quantized(), folder .. '/d')
  end)
end)

-- A model with a tokenizer of letters.
local tokens, merges = { of = 8, '<end>' }, { of = 8, 'a b' }
for letter in ('abcdefghijklmnopqrstuvwxyz'):gmatch '.' do tokens[#tokens + 1] = letter end
for i = #tokens + 1, 40 do tokens[i] = i == 28 and 'ab' or ('<%d>'):format(i) end
local kinds = { of = 5, 3 }
for i = 2, #tokens do kinds[i] = 1 end
torch.manual_seed(9)
local model = write(folder .. '/model.gguf', (tiny.text({
  { 'tokenizer.ggml.model', 8, 'gpt2' }, { 'tokenizer.ggml.pre', 8, 'gpt-2' }, { 'tokenizer.ggml.tokens', 9, tokens },
  { 'tokenizer.ggml.merges', 9, merges }, { 'tokenizer.ggml.token_type', 9, kinds }, { 'tokenizer.ggml.eos_token_id', 4, 0 },
}, 'llama', q8)))

describe('a loaded model #cpu', function()
  it('generates with adapters at once, after each change of them', function()
    local loaded = torch.lm.load(model)
    local prompt, options = 'thesheep', { max_tokens = 12 }
    local before = loaded:complete(prompt, options)
    local adapters = adapted(loaded.net)
    local optimizer = torch.optim.SGD(adapters:parameters(), { lr = 20 })
    local texts = { before }
    for step = 1, 2 do
      texts[step + 1] = loaded:complete(prompt, options)
      assert.not_equal(texts[step], texts[step + 1])
      local fresh = torch.lm.load(model)
      torch.lm.lora(fresh.net):load_state_dict(adapters:state_dict())
      assert.equal(fresh:complete(prompt, options), texts[step + 1])
      torch.nn.functional.cross_entropy(loaded.net(ids), ids + 1):backward()
      optimizer:step()
    end
    adapters:unload()
    assert.equal(before, loaded:complete(prompt, options))
  end)
end)

describe('a run of scripts/lora.lua #cpu #again', function()
  local text = write(folder .. '/text', ('thesheepthatsleepsthereneedssweets'):rep(60))
  local command = ('%s --disable-cuda %sscripts/lora.lua --model %s --text %s --length 16 --batch-size 2 --lr 0.01 '):format(
    process.quote(process.ltensor), here .. '../../', model, text)

  local function read(name)
    local file = assert(io.open(folder .. '/' .. name, 'rb'))
    local content = file:read 'a'
    file:close()
    return content
  end

  for name, dtype in pairs { quantized = '', float = '--dtype float32' } do
    it('with ' .. name .. ' weights has the losses of the CPU on a simulated GPU', function()
      local losses = {}
      for device, options in pairs { cpu = '--disable-cuda', cuda = '--sim-gpus 1 --no-copies' } do
        local _, message, status = process.run(('%s %s --device %s --steps 4 --losses %s/%s'):format(
          (command:gsub('%-%-disable%-cuda', options)), dtype, device, folder, device))
        assert.equal(0, status, message)
        losses[device] = {}
        for loss in read(device):gmatch '%S+' do table.insert(losses[device], tonumber(loss)) end
      end
      assert.equal(4, #losses.cpu)
      for step, loss in ipairs(losses.cpu) do assert.near(loss, losses.cuda[step], 1e-3) end
    end)
  end

  it('that is killed and resumed has the numbers of one that is not', function()
    local seed = os.time()
    math.randomseed(seed)
    local arguments = ('%s --epochs 2 --dropout 0.1 --save-every 1 --checkpoint %s/run '):format(command, folder)
    local function run(name, given)
      local _, message, status = process.run(('%s --losses %s/%s --adapter %s/adapter-%s'):format(given, folder, name, folder, name))
      assert.equal(0, status, message)
    end
    local start = torch._C.clock()
    run('quiet', command .. ' --epochs 2 --dropout 0.1 ')
    local seconds = torch._C.clock() - start
    local kills = 0
    for _ = 1, 10 do
      local _, _, status = process.run(('timeout -s KILL %.3f %s >/dev/null 2>&1'):format((0.1 + 0.7 * math.random()) * seconds, arguments))
      kills = kills + (status == 0 and 0 or 1)
    end
    assert(kills > 0)
    run('killed', arguments)
    assert.equal(read 'quiet', read 'killed', 'seed ' .. seed)
    assert.equal(read 'adapter-quiet/adapter_model.safetensors', read 'adapter-killed/adapter_model.safetensors')
    local losses = {}
    for loss in read 'quiet':gmatch '%S+' do losses[#losses + 1] = tonumber(loss) end
    assert.is_true(losses[#losses] < 0.8 * losses[1])
  end)
end)
