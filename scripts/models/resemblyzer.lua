-- Resemblyzer (after L. Wan et al. 2018): a speaker embedding of 256 numbers. Overlapping segments
-- of 1.6 s of a mel spectrogram are encoded by a three-layer LSTM; voices are compared by cosine
-- similarity.
--
--   ltensor scripts/models/resemblyzer.lua --weights pretrained.pt --audio one.wav --other two.wav

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local nn, F = torch.nn, torch.nn.functional

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local recording = dofile(here .. 'recording.lua')

local script = experiment.new {
  name = 'resemblyzer',
  summary = 'Tells whether two recordings are of the same voice.',
  options = {
    { 'weights', false, 'FILE', 'pretrained.pt of the package Resemblyzer' },
    { 'audio', false, 'FILE', 'a WAV file of 16000 samples a second' },
    { 'other', false, 'FILE', 'another' },
    { 'save', false, 'FILE', 'keeps the spectrograms and the voices (.npz)' },
  },
}

local WINDOW, HOP, MELS = 400, 160, 40
local FRAMES, STEP = 160, 77 -- of a segment, and between the starts of two

local Voice = nn.Module:extend 'Voice'

function Voice:init()
  self.lstm = nn.LSTM(MELS, 256, { num_layers = 3, batch_first = true })
  self.linear = nn.Linear(256, 256)
end

-- mels [n, frames, MELS]. Returns unit vectors [n, 256].
function Voice:forward(mels)
  local _, state = self.lstm(mels)
  return F.normalize(F.relu(self.linear(state[1][-1])), { dim = 2 })
end

-- The mel spectrogram [frames, MELS]; a quieter recording is first amplified to the loudness of the
-- training data.
local function spectrogram(samples)
  local level = samples:square():mean():sqrt():item()
  samples = samples * math.max(10 ^ (-30 / 20) / level, 1)
  local spectrum = torch.stft(samples, WINDOW, { hop_length = HOP, window = torch.hann_window(WINDOW), pad_mode = 'constant', return_complex = true })
  local bank = torch.audio.melscale_fbanks(WINDOW // 2 + 1, 0, recording.RATE / 2, MELS, recording.RATE, { norm = 'slaney', mel_scale = 'slaney' })
  return spectrum:abs():square():t():matmul(bank)
end

-- Segments of a spectrogram, [n, FRAMES, MELS]. A last segment with less than three quarters of the
-- frames is dropped, unless it is the only one.
local function parts_of(mels)
  local list, start = {}, 0
  repeat
    local there = math.min(mels:size(1) - start, FRAMES)
    list[#list + 1] = F.pad(mels:narrow(1, start + 1, there), { 0, 0, 0, FRAMES - there })
    start = start + STEP
  until mels:size(1) - start < FRAMES * 3 // 4
  return torch.stack(list)
end

local options = script:parse(arg)
if not options.weights then script:fail '--weights wants pretrained.pt of the package Resemblyzer' end
local net, saved = Voice(), {}
net:load_state_dict(torch.load(options.weights, { map_location = 'cpu' }).model_state, { strict = false })
net:eval()

-- The embedding of a recording, the normalized mean over its segments, and the similarity of its
-- two halves.
local function voice_of(path, name)
  local samples = recording.read(script, path)
  if samples:abs():amax():item() == 0 then script:fail(path .. ' is silent') end
  local function of(piece) return F.normalize(net(parts_of(spectrogram(piece))):mean(1), { dim = 1 }) end
  local half = samples:size(1) // 2
  local parts, halves
  local voice
  torch.no_grad(function()
    parts = parts_of(spectrogram(samples))
    voice, halves = of(samples), { of(samples:narrow(1, 1, half)), of(samples:narrow(1, half + 1, half)) }
  end)
  saved[name .. '_parts'], saved[name .. '_voice'] = parts, voice
  return voice, halves[1]:dot(halves[2]):item()
end

local one, within = voice_of(options.audio, 'audio')
print(('%s: its halves are %.3f alike'):format(options.audio, within))
if options.other then
  local two, within_other = voice_of(options.other, 'other')
  print(('%s: its halves are %.3f alike'):format(options.other, within_other))
  print(('the two are %.3f alike'):format(one:dot(two):item()))
end
if options.save then torch.save(saved, options.save) end
