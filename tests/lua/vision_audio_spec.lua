-- vision_audio_spec.lua - torch.vision: boxes, nms, regions, against plain loops; torch.audio: WAV files and mel scales.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local vision, audio = torch.vision, torch.audio
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function on(list, dtype) return torch.tensor(list, { device = device, dtype = dtype or torch.float64 }) end

local function close(a, b, tolerance)
  a = torch.is_tensor(a) and a:cpu():double() or torch.tensor(a, { dtype = torch.float64 })
  b = torch.is_tensor(b) and b:cpu():double() or torch.tensor(b, { dtype = torch.float64 })
  assert.equal(a.shape, b.shape)
  assert((a - b):abs():max():item() <= (tolerance or 1e-9), tostring(a) .. '\n' .. tostring(b))
end

describe('boxes', function()
  local a, b = on { { 0, 0, 2, 2 }, { 1, 1, 3, 4 } }, on { { 1, 0, 3, 2 }, { 5, 5, 6, 6 } }

  it('overlap', function()
    close({ 4, 6 }, vision.box_area(a))
    close({ { 1 / 3, 0 }, { 2 / 8, 0 } }, vision.box_iou(a, b))
    close({ { 1 / 3, -31 / 36 }, { 1 / 4 - 0, (0 - (25 - 7) / 25) } }, vision.generalized_box_iou(a, b), 0.2)
    close({ { 1 / 3 } }, vision.generalized_box_iou(a:narrow(1, 1, 1), b:narrow(1, 1, 1)))
    close({ { 1 / 3 - 1 / 13 } }, vision.distance_box_iou(a:narrow(1, 1, 1), b:narrow(1, 1, 1)), 1e-6)
    close({ { 1 / 3 - 1 / 13 } }, vision.complete_box_iou(a:narrow(1, 1, 1), b:narrow(1, 1, 1)), 1e-6)
  end)

  it('change their form', function()
    close({ { 1, 1, 2, 3 } }, vision.box_convert(a:narrow(1, 2, 1), 'xyxy', 'xywh'))
    close({ { 2, 2.5, 2, 3 } }, vision.box_convert(a:narrow(1, 2, 1), 'xyxy', 'cxcywh'))
    close(a, vision.box_convert(vision.box_convert(a, 'xyxy', 'cxcywh'), 'cxcywh', 'xyxy'))
    close({ { 0, 0, 2, 2 }, { 1, 1, 2, 3 } }, vision.clip_boxes_to_image(a, { 3, 2 }))
    assert.same({ 2 }, vision.remove_small_boxes(on { { 0, 0, 1, 5 }, { 0, 0, 2, 2 } }, 2):tolist())
    close({ { 1, 0, 2, 1 } }, vision.masks_to_boxes(on { { { 0, 1, 0 }, { 0, 0, 1 } } }))
    fails_with('Unsupported Bounding Box Conversions', vision.box_convert, a, 'xyxy', 'abc')
  end)

  it('nms removes boxes that overlap one with a higher score', function()
    local boxes = on { { 0, 0, 10, 10 }, { 1, 1, 11, 11 }, { 20, 20, 30, 30 }, { 0, 0, 10, 9 } }
    local scores = on { 0.8, 0.9, 0.3, 0.7 }
    assert.same({ 2, 3 }, vision.nms(boxes, scores, 0.5):tolist())
    assert.same({ 2, 1, 4, 3 }, vision.nms(boxes, scores, 0.99):tolist())
    assert.same({ 2, 1, 3 }, vision.batched_nms(boxes, scores, on({ 1, 2, 1, 2 }, torch.int64), 0.5):tolist())
    assert.same({}, vision.nms(torch.zeros({ 0, 4 }, { device = device }), torch.zeros({ 0 }, { device = device }), 0.5):tolist())
    fails_with('boxes and scores should have same number of elements', vision.nms, boxes, on { 1 }, 0.5)
  end)
end)

-- roi_align by its definition: the mean of bilinear samples.
local function sample(image, c, y, x)
  local h, w = image:size(2), image:size(3)
  if y < -1 or y > h or x < -1 or x > w then return 0 end
  y, x = math.min(math.max(y, 0), h - 1), math.min(math.max(x, 0), w - 1)
  local y0, x0 = math.floor(y), math.floor(x)
  local y1, x1 = math.min(y0 + 1, h - 1), math.min(x0 + 1, w - 1)
  local fy, fx = y - y0, x - x0
  local function at(i, j) return image[{ c, i + 1, j + 1 }]:item() end
  return (1 - fy) * ((1 - fx) * at(y0, x0) + fx * at(y0, x1)) + fy * ((1 - fx) * at(y1, x0) + fx * at(y1, x1))
end

local function plain_roi_align(image, box, size, scale, ratio, aligned)
  local shift = aligned and 0.5 or 0
  local x, y = box[1] * scale - shift, box[2] * scale - shift
  local w, h = box[3] * scale - shift - x, box[4] * scale - shift - y
  if not aligned then w, h = math.max(w, 1), math.max(h, 1) end
  local gy, gx = ratio > 0 and ratio or math.ceil(h / size), ratio > 0 and ratio or math.ceil(w / size)
  local result = {}
  for c = 1, image:size(1) do
    result[c] = {}
    for i = 1, size do
      result[c][i] = {}
      for j = 1, size do
        local sum = 0
        for sy = 0, gy - 1 do
          for sx = 0, gx - 1 do
            sum = sum + sample(image, c, y + (i - 1 + (sy + 0.5) / gy) * h / size, x + (j - 1 + (sx + 0.5) / gx) * w / size)
          end
        end
        result[c][i][j] = sum / (gy * gx)
      end
    end
  end
  return result
end

describe('regions', function()
  torch.manual_seed(4)
  local images = torch.randn(2, 2, 7, 9, { dtype = torch.float64 })
  local boxes = { { 1, 0, 0, 5, 6 }, { 2, 2.3, 1.7, 12, 4 }, { 1, 3, 3, 3.2, 3.1 } }

  for _, setting in ipairs { { 1.0, -1, false }, { 0.5, 2, false }, { 0.7, -1, true }, { 1.0, 3, true } } do
    it(('are aligned as by plain loops: scale %g, %d samples, aligned %s'):format(setting[1], setting[2], tostring(setting[3])), function()
      local wanted = {}
      for i, box in ipairs(boxes) do
        wanted[i] = plain_roi_align(images[box[1]], { table.unpack(box, 2) }, 3, table.unpack(setting))
      end
      local got = vision.roi_align(images:to(device), on(boxes), 3, { spatial_scale = setting[1], sampling_ratio = setting[2], aligned = setting[3] })
      close(wanted, got, 1e-9)
    end)
  end

  it('let gradients through', function()
    local input = images:narrow(1, 1, 1):to(device):clone():requires_grad_()
    assert.is_true(torch.autograd.gradcheck(function(x)
      return vision.roi_align(x, on { { 1, 0.3, 0.4, 5.1, 6.2 } }, 2, { sampling_ratio = 2 })
    end, { input }))
  end)

  it('are pooled', function()
    local image = torch.arange(0, 16, { dtype = torch.float64, device = device }):reshape(1, 1, 4, 4)
    close({ { { { 5, 7 }, { 13, 15 } } } }, vision.roi_pool(image, on { { 1, 0, 0, 3, 3 } }, 2))
    close({ { { { 5, 6 }, { 9, 10 } } } }, vision.roi_pool(image, { on { { 1, 1, 2, 2 } } }, 2))
    close({ { { { 0 } } } }, vision.roi_pool(image, on { { 1, 8, 8, 9, 9 } }, 1))
    assert.equal(torch.Size { 0, 1, 2, 2 }, vision.roi_align(image, torch.zeros({ 0, 5 }, { device = device, dtype = torch.float64 }), 2).shape)
    fails_with('The boxes tensor shape is not correct as Tensor[K, 5]', vision.roi_align, image, on { { 1, 2, 3, 4 } }, 2)
  end)
end)

describe('WAV files', function()
  local path = os.tmpname()
  local wave = torch.stack { torch.linspace(-1, 0.9, 11), torch.linspace(0.5, -0.5, 11) }
  for _, form in ipairs { { 'PCM_U', 8, 1 / 128 }, { 'PCM_S', 16, 2 ^ -15 }, { 'PCM_S', 24, 2 ^ -22 }, { 'PCM_S', 32, 2 ^ -22 }, { 'PCM_F', 32, 0 }, { 'PCM_F', 64, 0 } } do
    it(('of %s with %d bits come back'):format(form[1], form[2]), function()
      audio.save(path, wave:to(device), 16000, { encoding = form[1], bits_per_sample = form[2] })
      local got, rate = audio.load(path)
      assert.equal(16000, rate)
      close(wave, got, form[3])
      assert.same({ sample_rate = 16000, num_channels = 2, num_frames = 11, bits_per_sample = form[2], encoding = form[1] }, audio.info(path))
    end)
  end

  it('are read in part, and as they are', function()
    audio.save(path, wave, 8000)
    local part = audio.load(path, { frame_offset = 2, num_frames = 3, channels_first = false })
    close(wave:narrow(2, 3, 3):t(), part, 2 ^ -15)
    local whole = audio.load(path, { normalize = false })
    assert.equal(torch.int16, whole.dtype)
    assert.equal(-32768, whole[{ 1, 1 }]:item())
  end)

  it('that are none, or are cut off, are refused', function()
    local function write(bytes)
      local file = io.open(path, 'wb')
      file:write(bytes)
      file:close()
    end
    write 'RIFX'
    fails_with('not a WAV file', audio.load, path)
    write(string.pack('<c4I4c4c4I4', 'RIFF', 100, 'WAVE', 'fmt ', 16))
    fails_with('goes beyond the end of the file', audio.load, path)
    write(string.pack('<c4I4c4c4s4', 'RIFF', 100, 'WAVE', 'data', ''):gsub('data....', ''))
    fails_with('without its format', audio.load, path)
    write(string.pack('<c4I4c4c4I4I2I2I4I4I2I2c4I4', 'RIFF', 100, 'WAVE', 'fmt ', 16, 7, 1, 8000, 8000, 1, 8, 'data', 0))
    fails_with('WAV data of format 7 with 8 bits are not read', audio.load, path)
    fails_with('WAV files of encoding PCM_S with 12 bits are not written', audio.save, path, wave, 8000, { bits_per_sample = 12 })
    fails_with('Expected 2D Tensor, got 1D.', audio.save, path, wave[1], 8000)
  end)
end)

describe('mel scales', function()
  it('go there and back', function()
    for _, scale in ipairs { 'htk', 'slaney' } do
      for _, f in ipairs { 0, 300, 999, 1000, 4000 } do
        assert.near(f, audio.mel_to_hz(audio.hz_to_mel(f, scale), scale), 1e-6)
      end
    end
    assert.near(999.9855, audio.hz_to_mel(1000), 1e-3)
    assert.near(15, audio.hz_to_mel(1000, 'slaney'), 1e-9)
    fails_with('mel_scale should be one of "htk" or "slaney".', audio.hz_to_mel, 1, 'x')
  end)

  it('are banks of triangles', function()
    local bank = audio.melscale_fbanks(201, 0, 8000, 10, 16000)
    assert.equal(torch.Size { 201, 10 }, bank.shape)
    assert(bank:max():item() <= 1 and bank:min():item() == 0)
    -- Between the first and the last top, the triangles add up to 1.
    local sums = bank:sum(2)
    close(torch.ones(101), sums:narrow(1, 21, 101), 1e-5)
    local equal = audio.melscale_fbanks(2001, 0, 8000, 10, 16000, { norm = 'slaney', mel_scale = 'slaney' })
    close(torch.ones(10), equal:sum(1) * (8000 / 2000), 2e-2)
  end)
end)
