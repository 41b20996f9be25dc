-- silero-vad: detects speech in a recording. The network processes 32 ms per step, with the state
-- of an LSTM cell, and returns the probability of speech. It is the package's ONNX model, or the
-- network below with the weights of the package's safetensors file.
--
--   ltensor scripts/models/silero_vad.lua --model silero_vad.onnx --audio recording.wav

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local nn, F = torch.nn, torch.nn.functional

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local recording = dofile(here .. 'recording.lua')

local script = experiment.new {
  name = 'silero_vad',
  summary = 'Finds speech in a recording.',
  options = {
    { 'model', false, 'FILE', 'silero_vad.onnx or silero_vad_16k.safetensors' },
    { 'audio', false, 'FILE', 'a WAV file of 16000 samples a second' },
    { 'threshold', 0.5, 'P', 'the probability from which on it is speech' },
    { 'save', false, 'FILE', 'keeps the probabilities (.npz)' },
  },
}

local WINDOW, CONTEXT = 512, 64 -- samples of a step, and of the previous step that are repeated
local FREQUENCIES = 129

-- ---- the network --------------------------------------------------------------------------------

local Detector = nn.Module:extend 'Detector'

function Detector:init()
  self.stft_conv = nn.Conv1d(1, 2 * FREQUENCIES, 256, { stride = 128, bias = false })
  self.conv1 = nn.Conv1d(FREQUENCIES, 128, 3, { padding = 1 })
  self.conv2 = nn.Conv1d(128, 64, 3, { stride = 2, padding = 1 })
  self.conv3 = nn.Conv1d(64, 64, 3, { stride = 2, padding = 1 })
  self.conv4 = nn.Conv1d(64, 128, 3, { padding = 1 })
  self.lstm_cell = nn.LSTMCell(128, 128)
  self.final_conv = nn.Conv1d(128, 1, 1)
end

-- x [n, CONTEXT + WINDOW], state [2, n, 128]. Returns probabilities [n, 1] and the next state.
function Detector:forward(x, state)
  local spectrum = self.stft_conv(F.pad(x:unsqueeze(2), { 0, 64 }, { mode = 'reflect' }))
  local real, imaginary = spectrum:narrow(2, 1, FREQUENCIES), spectrum:narrow(2, FREQUENCIES + 1, FREQUENCIES)
  local y = torch.sqrt(real * real + imaginary * imaginary)
  for _, conv in ipairs { self.conv1, self.conv2, self.conv3, self.conv4 } do y = F.relu(conv(y)) end
  local h, c = self.lstm_cell(y:squeeze(-1), { state[1], state[2] })
  local p = torch.sigmoid(self.final_conv(F.relu(h):unsqueeze(-1)))
  return p:squeeze(2):mean { dim = 2, keepdim = true }, torch.stack { h, c }
end

-- Returns a function (samples of a step, state) -> probability, next state.
local function load(path)
  if path:find '%.onnx$' then
    local model = torch.onnx.load(path)
    local rate = torch.tensor(recording.RATE, { dtype = torch.int64 })
    -- Models for a single rate have no input sr. Inputs are passed by name, because their order
    -- differs between files.
    local takes_rate = false
    for _, input in ipairs(model.inputs) do takes_rate = takes_rate or input.name == 'sr' end
    return function(x, state) return model { input = x, state = state, sr = takes_rate and rate or nil } end
  end
  local net = Detector()
  net:load_state_dict(torch.load(path))
  net:eval()
  return net
end

local function probabilities(step, samples)
  local rest = -samples:size(1) % WINDOW
  local padded = F.pad(samples, { CONTEXT, rest })
  local state, list = torch.zeros(2, 1, 128), {}
  for start = 0, samples:size(1) + rest - WINDOW, WINDOW do
    local p
    p, state = step(padded:narrow(1, start + 1, CONTEXT + WINDOW):unsqueeze(1), state)
    list[#list + 1] = p:item()
  end
  return list
end

-- ---- segments -----------------------------------------------------------------------------------

local SHORTEST, PAUSE = 8, 3 -- steps: 250 ms of speech, 100 ms of silence

-- { first, last } steps of speech: a segment begins at the threshold and ends when the probability
-- stays more than 0.15 below it for a pause.
local function spans_of(list, threshold)
  local spans, first, last = {}, nil, nil
  local function close()
    if first and last - first + 1 >= SHORTEST then spans[#spans + 1] = { first, last } end
    first, last = nil, nil
  end
  for i, p in ipairs(list) do
    if p >= threshold then first, last = first or i, i
    elseif first and p >= threshold - 0.15 then last = i
    elseif first and i - last > PAUSE then close() end
  end
  close()
  return spans
end

local options = script:parse(arg)
local samples = recording.read(script, options.audio)
if not options.model then script:fail '--model requires a file of the package silero-vad' end
local list
torch.no_grad(function() list = probabilities(load(options.model), samples) end)
local spans = spans_of(list, options.threshold)
for _, span in ipairs(spans) do
  print(('speech from %.2f s to %.2f s'):format((span[1] - 1) * WINDOW / recording.RATE, math.min(span[2] * WINDOW, samples:size(1)) / recording.RATE))
end
if #spans == 0 then print 'no speech' end
if options.save then torch.save({ probabilities = torch.tensor(list) }, options.save) end
