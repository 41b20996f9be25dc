-- audio.lua - torch.audio: sound as tensors [channels, frames] of numbers from -1 to 1: reads and
-- writes WAV files, and converts spectra to mel scales.

--[=[ arguments
path: File.
frame_offset: Number of frames to skip at the beginning.
num_frames: Number of frames to read; -1 for all.
normalize: Whether the samples become numbers from -1 to 1; otherwise the integers of the file are kept.
channels_first: Whether the shape is [channels, frames] instead of [frames, channels].
max_bytes: Number of bytes above which a file is an error.
src: Samples from -1 to 1, of shape [channels, frames].
sample_rate: Number of frames per second.
encoding: Encoding of the samples: `'PCM_S'`, `'PCM_U'` or `'PCM_F'`.
bits_per_sample: Number of bits of a sample: 8, 16, 24, 32 or 64.
freq: Frequency in Hz.
mel: Frequency in mels.
mel_scale: Formula of the scale: `'htk'` or `'slaney'`.
n_freqs: Number of frequencies of the spectrum, from 0 to half the sample rate.
f_min: Lowest frequency in Hz.
f_max: Highest frequency in Hz.
n_mels: Number of filters.
norm: `'slaney'` divides each filter by its width; nil does not.
mel_to_hz(): Frequency in Hz of a frequency in mels.
]=]

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local outside = require 'torch.files.outside'
local whole_file = require 'torch.files.whole_file'

local audio = {}

-- ---- WAV files ----------------------------------------------------------------------------------

local PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE

-- The chunks of a RIFF file by name: { fmt = text, data = text }.
local function chunks_of(path, max_bytes)
  local bytes = whole_file.read(path, max_bytes)
  if #bytes < 12 or bytes:sub(1, 4) ~= 'RIFF' or bytes:sub(9, 12) ~= 'WAVE' then fail('%s: not a WAV file', path) end
  local chunks, at = {}, 13
  while at + 8 <= #bytes + 1 do
    local name, size = string.unpack('<c4I4', bytes, at)
    -- An interrupted recorder leaves a size beyond the end of the file; accepted for the data chunk
    -- only.
    if at + 7 + size > #bytes and name ~= 'data' then fail('%s: chunk %q goes beyond the end of the file', path, name) end
    chunks[name] = chunks[name] or bytes:sub(at + 8, math.min(at + 7 + size, #bytes))
    at = at + 8 + size + size % 2
  end
  return chunks
end

local function format_of(path, chunks)
  local text = chunks['fmt ']
  if not text or #text < 16 then fail('%s: a WAV file without its format', path) end
  if not chunks.data then fail('%s: a WAV file without data', path) end
  local code, channels, rate, _, block, bits = string.unpack('<I2I2I4I4I2I2', text)
  if code == EXTENSIBLE then
    if #text < 26 then fail('%s: the format of a WAV file is cut off', path) end
    code = string.unpack('<I2', text, 25)
  end
  local known = code == PCM and (bits == 8 or bits == 16 or bits == 24 or bits == 32) or code == FLOAT and (bits == 32 or bits == 64)
  if not known then fail('%s: WAV data of format %d with %d bits are not read (PCM of 8 to 32 bits, floats)', path, code, bits) end
  if channels == 0 or block ~= channels * bits // 8 then
    fail('%s: %d channels of %d bits do not make frames of %d bytes', path, channels, bits, block)
  end
  return { sample_rate = rate, num_channels = channels, bits_per_sample = bits, num_frames = #chunks.data // block,
    encoding = code == FLOAT and 'PCM_F' or bits == 8 and 'PCM_U' or 'PCM_S' }
end

-- The interleaved samples, as numbers from -1 to 1, or with normalize = false as stored in the
-- file.
local function samples_of(data, format, normalize)
  local bits, n = format.bits_per_sample, format.num_frames * format.num_channels
  if n == 0 then return torch.zeros { 0 } end
  data = data:sub(1, n * bits // 8)
  if format.encoding == 'PCM_F' then return torch.frombuffer(data, { dtype = bits == 64 and torch.float64 or torch.float32 }) end
  if bits == 8 then
    local x = torch.frombuffer(data, { dtype = torch.uint8 })
    return normalize and (x:float() - 128) / 128 or x
  elseif bits == 16 then
    local x = torch.frombuffer(data, { dtype = torch.int16 })
    return normalize and x:float() / 2 ^ 15 or x
  elseif bits == 32 then
    local x = torch.frombuffer(data, { dtype = torch.int32 })
    return normalize and (x:double() / 2 ^ 31):float() or x
  end
  local parts = torch.frombuffer(data, { dtype = torch.uint8 }):reshape(n, 3):int()
  local x = parts:select(2, 1) + parts:select(2, 2) * 2 ^ 8 // 1 + parts:select(2, 3) * 2 ^ 16 // 1
  x = torch.where(x:ge(2 ^ 23), x - 2 ^ 24, x):int()
  return normalize and x:float() / 2 ^ 23 or x
end

--- The format of a WAV file: sample_rate, num_frames, num_channels, bits_per_sample, encoding
-- ('PCM_S', 'PCM_U', 'PCM_F').
function audio.info(path) return format_of(path, chunks_of(path)) end

--- load(path, {frame_offset = 0, num_frames = -1, normalize = true, channels_first = true,
--- max_bytes =}): the samples [channels, frames] and the sample rate. normalize = false keeps the
--- integers of the file.
function audio.load(path, options)
  local chunks = chunks_of(path, options.max_bytes)
  local format = format_of(path, chunks)
  local samples = samples_of(chunks.data, format, options.normalize)
  local frames = samples:reshape(format.num_frames, format.num_channels)
  local first, n = options.frame_offset, options.num_frames
  if first < 0 or first > format.num_frames then
    fail('%s: frame_offset %d is none of %d frames', path, first, format.num_frames)
  end
  if n < 0 or first + n > format.num_frames then n = format.num_frames - first end
  frames = frames:narrow(1, first + 1, n)
  if not options.channels_first then return frames, format.sample_rate end
  return frames:t():contiguous(), format.sample_rate
end

local writers = {
  PCM_U8 = function(x) return ((x * 128):round() + 128):clamp({ min = 0, max = 255 }):to(torch.uint8) end,
  PCM_S16 = function(x) return (x * 2 ^ 15):round():clamp({ min = -2 ^ 15, max = 2 ^ 15 - 1 }):to(torch.int16) end,
  PCM_S24 = function(x)
    local v = (x * 2 ^ 23):round():clamp({ min = -2 ^ 23, max = 2 ^ 23 - 1 }):long()
    v = torch.where(v:lt(0), v + (1 << 24), v)
    return torch.stack({ v % 256, v // 256 % 256, v // 65536 }, -1):to(torch.uint8)
  end,
  PCM_S32 = function(x) return (x:double() * 2 ^ 31):round():clamp({ min = -2 ^ 31, max = 2 ^ 31 - 1 }):to(torch.int32) end,
  PCM_F32 = function(x) return x:to(torch.float32) end,
  PCM_F64 = function(x) return x:to(torch.float64) end,
}

-- The bytes of a WAV file.
local function encoded(x, rate, encoding, bits)
  local writer = writers[encoding .. bits]
  if not writer then fail('WAV files of encoding %s with %s bits are not written', tostring(encoding), tostring(bits)) end
  local channels = x:size(2)
  local data = torch._C.tensor_bytes(writer(x:detach():cpu()):contiguous())
  local block = channels * bits // 8
  local fmt = string.pack('<I2I2I4I4I2I2', encoding == 'PCM_F' and FLOAT or PCM, channels, rate, rate * block, block, bits)
  local body = 'WAVE' .. string.pack('<c4s4', 'fmt ', fmt) .. string.pack('<c4s4', 'data', data) .. ((#data % 2 == 1) and '\0' or '')
  return string.pack('<c4s4', 'RIFF', body)
end

--- The bytes of a WAV file of 16 bits, of samples [channels, frames] or [frames].
function audio.wav_bytes(src, sample_rate)
  return encoded((src.ndim == 1 and src:unsqueeze(1) or src):t(), sample_rate, 'PCM_S', 16)
end

--- save(path, src, sample_rate, {channels_first = true, encoding = 'PCM_S', bits_per_sample = 16}):
--- writes samples from -1 to 1, [channels, frames]; others are clipped. encoding: 'PCM_S' (16, 24,
--- 32 bits), 'PCM_U' (8), 'PCM_F' (32, 64).
function audio.save(path, src, sample_rate, options)
  options = options or {}
  if src.ndim ~= 2 then fail('Expected 2D Tensor, got %dD.', src.ndim) end
  local encoding = options.encoding or 'PCM_S'
  local bits = options.bits_per_sample or (encoding == 'PCM_S' and 16 or encoding == 'PCM_U' and 8 or 32)
  local bytes = encoded(options.channels_first and src:t() or src, sample_rate, encoding, bits)
  outside.write_file(path, bytes)
end

-- ---- mel scales ---------------------------------------------------------------------------------

local function check_scale(scale)
  if scale ~= 'htk' and scale ~= 'slaney' then fail 'mel_scale should be one of "htk" or "slaney".' end
end

-- Slaney's scale is linear up to 1000 Hz, in steps of 200 / 3, and logarithmic above.
local STEP, KNEE, LOG_STEP = 200 / 3, 1000.0, math.log(6.4) / 27

--- Mels of a frequency in Hz, and back; mel_scale: 'htk' (the default) or 'slaney'.
function audio.hz_to_mel(freq, mel_scale)
  mel_scale = mel_scale or 'htk'
  check_scale(mel_scale)
  if mel_scale == 'htk' then return 2595 * math.log(1 + freq / 700, 10) end
  if freq < KNEE then return freq / STEP end
  return KNEE / STEP + math.log(freq / KNEE) / LOG_STEP
end
function audio.mel_to_hz(mel, mel_scale)
  mel_scale = mel_scale or 'htk'
  check_scale(mel_scale)
  if mel_scale == 'htk' then return 700 * (10 ^ (mel / 2595) - 1) end
  if mel < KNEE / STEP then return mel * STEP end
  return KNEE * math.exp(LOG_STEP * (mel - KNEE / STEP))
end

--- melscale_fbanks(n_freqs, f_min, f_max, n_mels, sample_rate, {norm =, mel_scale = 'htk'}): a
--- matrix [n_freqs, n_mels] of triangles, evenly spaced in mels, by which a spectrum [..., n_freqs]
--- is multiplied. norm 'slaney': of equal areas.
function audio.melscale_fbanks(n_freqs, f_min, f_max, n_mels, sample_rate, options)
  local norm, scale = options.norm, options.mel_scale
  if norm ~= nil and norm ~= 'slaney' then fail 'norm must be one of None or "slaney"' end
  check_scale(scale)
  local low, high = audio.hz_to_mel(f_min, scale), audio.hz_to_mel(f_max, scale)
  local f = torch.zeros(n_mels + 2, { dtype = torch.float64 }) -- before the loop: allocation fails for a huge n_mels
  local corners = {}
  for i = 0, n_mels + 1 do corners[i + 1] = audio.mel_to_hz(low + (high - low) * i / (n_mels + 1), scale) end
  f:copy_(torch.tensor(corners, { dtype = torch.float64 }))
  local width = f:narrow(1, 2, n_mels + 1) - f:narrow(1, 1, n_mels + 1)
  local slopes = f:unsqueeze(1) - torch.linspace(0, sample_rate // 2, n_freqs, { dtype = torch.float64 }):unsqueeze(2)
  local down = -slopes:narrow(2, 1, n_mels) / width:narrow(1, 1, n_mels)
  local up = slopes:narrow(2, 3, n_mels) / width:narrow(1, 2, n_mels)
  local bank = torch.minimum(down, up):clamp { min = 0 }
  if norm then bank = bank * (2 / (f:narrow(1, 3, n_mels) - f:narrow(1, 1, n_mels))) end
  return bank:to(torch.get_default_dtype())
end

declare.functions(audio, [[
  load(string path, *, integer frame_offset=0, integer num_frames=-1, boolean normalize=true, boolean channels_first=true, integer? max_bytes)
  save(string path, Tensor src, integer sample_rate, *, boolean channels_first=true, string? encoding, integer? bits_per_sample)
  melscale_fbanks(integer n_freqs, number f_min, number f_max, integer n_mels, integer sample_rate, *, string? norm, string mel_scale='htk')
]], 'options')

return checked.functions(audio, {
  src = 'Tensor', sample_rate = 'integer', freq = 'number', mel = 'number', n_freqs = 'integer', f_min = 'number', f_max = 'number',
  n_mels = 'integer', options = 'named?', mel_scale = 'string?',
})
