-- scripts/models: the programs run with files that the spec makes, of the forms and the sizes of the packages' own (which tests/models/run.sh
-- tries beside onnxruntime and PyTorch).

local torch = require 'torch'
local nn = torch.nn
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local folder
local function path(name) return folder .. '/' .. name end

local function run(name, arguments)
  return process.run(('%s --disable-cuda %sscripts/models/%s.lua %s'):format(process.quote(process.ltensor), here .. '../../', name, arguments))
end

-- What a program says, and the tensors that it saved.
local function result_of(name, arguments)
  local output, message, status = run(name, arguments .. ' --save ' .. path 'result.npz')
  assert.equal(0, status, message)
  return output, torch.load(path 'result.npz')
end

-- Weights { name = sizes }, small, in a form of file by its suffix.
local function weights(name, shapes)
  local state = {}
  for key, sizes in pairs(shapes) do
    local tensor = torch.randn(sizes) * 0.1
    state[key] = key:find 'running_var' and tensor:abs() + 0.5 or tensor
  end
  torch.save(state, path(name))
  return state
end

local function convolutions(list, kernels)
  local shapes = {}
  for i = 1, #kernels do
    shapes[('conv%d.weight'):format(i)] = { list[i + 1], list[i], table.unpack(kernels[i]) }
    shapes[('conv%d.bias'):format(i)] = { list[i + 1] }
  end
  return shapes
end

local function with(shapes, more)
  for key, sizes in pairs(more) do shapes[key] = sizes end
  return shapes
end

setup(function()
  folder = process.run 'mktemp -d':gsub('\n$', '')
  torch.manual_seed(3)
  torch.audio.save(path 'sound.wav', torch.randn(1, 12000) * 0.1, 16000)
  torch.audio.save(path 'fast.wav', torch.randn(1, 1000) * 0.1, 44100)
end)

teardown(function() os.execute('rm -rf ' .. process.quote(folder)) end)

describe('scripts/models #cpu', function()
  it('silero_vad gives a probability for each 32 ms, of weights and of an ONNX model', function()
    local shapes = with(convolutions({ 129, 128, 64, 64, 128 }, { { 3 }, { 3 }, { 3 }, { 3 } }), { ['stft_conv.weight'] = { 258, 1, 256 },
      ['lstm_cell.weight_ih'] = { 512, 128 }, ['lstm_cell.weight_hh'] = { 512, 128 }, ['lstm_cell.bias_ih'] = { 512 }, ['lstm_cell.bias_hh'] = { 512 },
      ['final_conv.weight'] = { 1, 128, 1 }, ['final_conv.bias'] = { 1 } })
    weights('vad.safetensors', shapes)
    local output, saved = result_of('silero_vad', ('--model %s --audio %s --threshold 0'):format(path 'vad.safetensors', path 'sound.wav'))
    assert.same({ 24 }, saved.probabilities.shape)
    assert.equal('speech from 0.00 s to 0.75 s\n', output)

    -- A model that calls it speech where the window or what went before is loud, and has the package's names.
    local Loud = nn.Module:extend 'Loud'
    function Loud:init() self.weight = nn.Parameter(torch.tensor(0.5)) end
    function Loud:forward(input, state)
      local next_state = state * self.weight + input:abs():mean { dim = 2, keepdim = true }:unsqueeze(1)
      return next_state:mean { dim = { 1, 3 } }:unsqueeze(2) * 2, next_state
    end
    torch.onnx.export(Loud(), { torch.randn(1, 576), torch.zeros(2, 1, 128) }, path 'loud.onnx', { input_names = { 'input', 'state' }, output_names = { 'output', 'stateN' } })
    local samples = torch.zeros(1, 32000)
    samples:narrow(2, 8193, 8192):fill_(0.5)
    torch.audio.save(path 'burst.wav', samples, 16000)
    output, saved = result_of('silero_vad', ('--model %s --audio %s'):format(path 'loud.onnx', path 'burst.wav'))
    assert.same({ 63 }, saved.probabilities.shape)
    assert.equal('speech from 0.51 s to 1.09 s\n', output)
  end)

  it('crepe gives values of 360 pitches every 10 ms', function()
    local list, shapes = { 1, 128, 16, 16, 16, 32, 64 }, nil
    shapes = with(convolutions(list, { { 512, 1 }, { 64, 1 }, { 64, 1 }, { 64, 1 }, { 64, 1 }, { 64, 1 } }), { ['classifier.weight'] = { 360, 256 }, ['classifier.bias'] = { 360 } })
    for i = 1, 6 do
      for _, name in ipairs { 'weight', 'bias', 'running_mean', 'running_var' } do shapes[('conv%d_BN.%s'):format(i, name)] = { list[i + 1] } end
      shapes[('conv%d_BN.num_batches_tracked'):format(i)] = {}
    end
    weights('crepe.pt', shapes)
    local output, saved = result_of('crepe', ('--weights %s --audio %s --certainty 0'):format(path 'crepe.pt', path 'sound.wav'))
    assert.same({ 76, 360 }, saved.values.shape)
    assert.truthy(output:find '^0%.0 s  [%d.]+ Hz\n0%.1 s  ')
  end)

  it('resemblyzer distinguishes recordings', function()
    local shapes = { ['linear.weight'] = { 256, 256 }, ['linear.bias'] = { 256 } }
    for i = 0, 2 do
      with(shapes, { ['lstm.weight_ih_l' .. i] = { 1024, i == 0 and 40 or 256 }, ['lstm.weight_hh_l' .. i] = { 1024, 256 }, ['lstm.bias_ih_l' .. i] = { 1024 },
        ['lstm.bias_hh_l' .. i] = { 1024 } })
    end
    torch.save({ model_state = weights('voice.pt', shapes), step = 3 }, path 'voice.pt')
    local output, saved = result_of('resemblyzer', ('--weights %s --audio %s --other %s'):format(path 'voice.pt', path 'sound.wav', path 'sound.wav'))
    assert.truthy(output:find('the two are 1.000 alike', 1, true), output)
    assert.same({ 1, 160, 40 }, saved.audio_parts.shape)
    assert.near(1, saved.audio_voice:norm():item(), 1e-5)
    torch.audio.save(path 'silent.wav', torch.zeros(1, 12000), 16000)
    local _, message, status = run('resemblyzer', ('--weights %s --audio %s'):format(path 'voice.pt', path 'silent.wav'))
    assert.equal(1, status)
    assert.truthy(message:find('silent.wav is silent', 1, true), message)
  end)

  it('mtcnn finds a face in a picture', function()
    local function network(name, channels, kernels, more)
      local shapes = convolutions(channels, kernels)
      for i = 1, #kernels do shapes[('prelu%d.weight'):format(i)] = { channels[i + 1] } end
      local state = weights(name, with(shapes, more))
      -- What says yes to everything, and leaves boxes where they are.
      for key, tensor in pairs(state) do
        if key:find '_[123]%.' then tensor:zero_() end
        if key:find '_1%.bias' then tensor[2] = 3 end
      end
      torch.save(state, path(name))
    end
    network('pnet.pt', { 3, 10, 16, 32 }, { { 3, 3 }, { 3, 3 }, { 3, 3 } },
      { ['conv4_1.weight'] = { 2, 32, 1, 1 }, ['conv4_1.bias'] = { 2 }, ['conv4_2.weight'] = { 4, 32, 1, 1 }, ['conv4_2.bias'] = { 4 } })
    network('rnet.pt', { 3, 28, 48, 64 }, { { 3, 3 }, { 3, 3 }, { 2, 2 } }, { ['dense4.weight'] = { 128, 576 }, ['dense4.bias'] = { 128 }, ['prelu4.weight'] = { 128 },
      ['dense5_1.weight'] = { 2, 128 }, ['dense5_1.bias'] = { 2 }, ['dense5_2.weight'] = { 4, 128 }, ['dense5_2.bias'] = { 4 } })
    network('onet.pt', { 3, 32, 64, 64, 128 }, { { 3, 3 }, { 3, 3 }, { 3, 3 }, { 2, 2 } }, { ['dense5.weight'] = { 256, 1152 }, ['dense5.bias'] = { 256 },
      ['prelu5.weight'] = { 256 }, ['dense6_1.weight'] = { 2, 256 }, ['dense6_1.bias'] = { 2 }, ['dense6_2.weight'] = { 4, 256 }, ['dense6_2.bias'] = { 4 },
      ['dense6_3.weight'] = { 10, 256 }, ['dense6_3.bias'] = { 10 } })
    local file <close> = io.open(path 'picture.png', 'wb')
    file:write(require('torch.utils.plot.picture').png { width = 40, height = 30, data = ('\40\120\200\90'):rep(900) })
    file:close()
    local output, saved = result_of('mtcnn', ('--weights %s --image %s'):format(folder, path 'picture.png'))
    local n = saved.boxes:size(1)
    assert.truthy(n > 0 and output:find '^a face from %(%d+, %d+%) to %(%d+, %d+%), by 0.953\n', output)
    assert.same({ { n, 4 }, { n }, { n, 5, 2 } }, { saved.boxes.shape, saved.scores.shape, saved.points.shape })
    -- Boxes are squares; the points lie where a box begins.
    local sides = saved.boxes:narrow(2, 3, 2) - saved.boxes:narrow(2, 1, 2)
    assert.is_true(torch.allclose(sides:select(2, 1), sides:select(2, 2)))
    assert.is_true(torch.allclose(saved.points:select(2, 3), saved.boxes:narrow(2, 1, 2) - 1))
  end)

  it('fail in one line where a file is missing or of another kind', function()
    for arguments, words in pairs { [''] = '--audio requires a WAV file', ['--audio ' .. path 'fast.wav'] = 'fast.wav has 44100 samples a second, the model expects 16000',
      ['--audio ' .. path 'none.wav'] = 'No such file', ['--audio ' .. path 'sound.wav'] = '--model requires a file' } do
      local _, message, status = run('silero_vad', arguments)
      assert.equal(1, status)
      assert.truthy(message:find(words, 1, true), message)
      assert.is_nil(message:find('stack traceback', 1, true), message)
    end
  end)
end)
