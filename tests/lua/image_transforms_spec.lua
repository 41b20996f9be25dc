-- image_transforms_spec.lua - torch.vision.transforms: torchvision's numbers, printed forms and random draws for a seed.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local T = torch.vision.transforms
local F = T.functional

local function image_of(case)
  if case.kind == 'bytes' then return torch.randint(0, 256, case.shape, { dtype = torch.uint8 }) end
  return torch.rand(case.shape)
end

-- The largest difference to torchvision: GPUs resize bytes as floats, and rounding differs.
local function tolerance(case)
  if case.kind ~= 'bytes' or case.out.dtype:find 'float' then return 1e-5 end
  return device ~= 'cpu' and case.make:find 'Resize' and 2 or 0
end

describe('torchvision\'s transforms', function()
  for number, case in ipairs(reference.load 'image_transforms') do
    it(('#%d %s of %s'):format(number, case.make, case.kind), function()
      local make = assert(load('local T, torch = ... return ' .. case.make))
      torch.manual_seed(case.seed)
      local image = image_of(case):to(device)
      local before = image:clone()
      local transform = make(T, torch)
      local out = transform(image)
      assert.equal(case.printed, tostring(transform))
      assert.equal(case.out.dtype, tostring(out.dtype):match '[^.]+$')
      assert.same(case.out.shape, { table.unpack(out.shape) })
      assert.equal(out.device, image.device)
      local expected = torch.tensor(case.out.data, { dtype = torch.float64 }):reshape(case.out.shape)
      local difference = (out:cpu():double() - expected):abs():max():item()
      assert(difference <= tolerance(case) + 1e-12, difference)
      assert.equal(case.after, tonumber(('%.17g'):format(torch.rand(1):item()))) -- as many random numbers were drawn
      assert.is_true(torch.equal(before, image))
    end)
  end
end)

describe('a transform', function()
  it('changes the first tensor of its arguments and of lists, and returns the others', function()
    local image, label = torch.rand(3, 4, 4, { device = device }), torch.tensor { 7 }
    local crop = T.CenterCrop(2)
    local a, b, c = crop(image, label, 'name')
    assert.same({ 3, 2, 2 }, { table.unpack(a.shape) })
    assert.is_true(rawequal(b, label))
    assert.equal('name', c)
    local sample = crop { image, label }
    assert.same({ 3, 2, 2 }, { table.unpack(sample[1].shape) })
    assert.is_true(rawequal(sample[2], label))
    a, b = T.Compose { crop, T.RandomHorizontalFlip(1.0), function(x, y) return x + 1, y end } (image, label)
    assert.is_true(torch.equal(a, image:narrow(2, 2, 2):narrow(3, 2, 2):flip(-1) + 1))
    assert.is_true(rawequal(b, label))
    a, b = T.RandomApply({ crop }, 0.0)(image, label)
    assert.is_true(rawequal(a, image) and rawequal(b, label))
  end)

  it('changes all images of a batch alike', function()
    local image = torch.rand(3, 6, 8, { device = device })
    local batch = image:unsqueeze(1):expand(4, 3, 6, 8)
    for _, transform in ipairs { T.RandomResizedCrop(4), T.ColorJitter(0.3, 0.3, 0.3, 0.3), T.RandomErasing(1.0), T.RandomCrop(3) } do
      local out = transform(batch)
      for i = 2, 4 do assert.is_true(torch.equal(out[1], out[i])) end
    end
  end)

  it('flips with its probability', function()
    torch.manual_seed(0)
    local image, n = torch.arange(4):reshape(1, 2, 2), 0
    local flip = T.RandomHorizontalFlip(0.25)
    for _ = 1, 400 do n = n + (flip(image)[{ 1, 1, 1 }]:item() == 1 and 1 or 0) end
    assert(n > 70 and n < 130, n)
  end)

  it('of your own defines transform and make_params', function()
    local Shift = T.Transform:extend 'Shift'
    function Shift:make_params(image) return { by = image:size(-1) } end
    function Shift:transform(image, params) return image + params.by end
    assert.same({ { { 3, 4, 5 } } }, Shift()(torch.arange(3):reshape(1, 1, 3)):tolist())
    assert.same({ { { 0, 2 } } }, T.Lambda(function(x) return x * 2 end)(torch.arange(2):reshape(1, 1, 2)):tolist())
  end)

  it('crops an image and its labels alike', function()
    torch.manual_seed(3)
    local image = torch.arange(48):reshape(1, 6, 8)
    local top, left, height, width = T.RandomCrop.get_params(image, { 3, 4 })
    local a, b = F.crop(image, top, left, height, width), F.crop(image * 2, top, left, height, width)
    assert.is_true(torch.equal(a * 2, b))
    assert.equal(top * 8 + left, a[{ 1, 1, 1 }]:item())
    assert.same({ 0, 0, 6, 8 }, { T.RandomCrop.get_params(image, { 6, 8 }) })
    fails_with('Required crop size (7, 8) is larger than input image size (6, 8)', T.RandomCrop.get_params, image, { 7, 8 })
    local _, _, h, w = T.RandomResizedCrop.get_params(image, { 0.5, 0.5 }, { 1.0, 1.0 })
    assert.same({ 5, 5 }, { h, w })
  end)

  it('removes pixels by a negative padding', function()
    local image = torch.arange(4):reshape(1, 1, 4)
    assert.same({ { { 1, 2, 3, 3, 2 } } }, F.pad(image, { -1, 0, 2, 0 }, { padding_mode = 'symmetric' }):tolist())
    assert.same({ { { 1, 2 } } }, F.pad(image, { -1, 0 }):tolist())
    fails_with('symmetric padding of -9 exceeds the size 4', F.pad, image, { -9, 0 }, { padding_mode = 'symmetric' })
  end)

  it('crops outside of an image with zeros', function()
    local image = torch.ones(1, 2, 2)
    assert.same({ { { 0, 0, 0 }, { 0, 1, 1 }, { 0, 1, 1 } } }, F.crop(image, -1, -1, 3, 3):tolist())
    assert.same({ { { 0, 0 } } }, F.crop(image, 5, 5, 1, 2):tolist())
  end)

  it('converts images of bytes to floats from 0 to 1', function()
    local bytes = torch.tensor({ { { 0, 51, 255 } } }, { dtype = torch.uint8 })
    assert.is_true(T.ToTensor()(bytes):allclose(torch.tensor { { { 0, 0.2, 1 } } }))
    assert.same({ 1, 4, 5 }, { table.unpack(T.ToImage()(torch.zeros(4, 5)).shape) })
    assert.is_true(torch.equal(bytes, F.to_dtype(T.ToTensor()(bytes), torch.uint8, true)))
    assert.equal(torch.float32, F.to_dtype(bytes).dtype)
  end)

  it('Normalize accepts tensors', function()
    local image = torch.rand(3, 2, 2)
    local mean, std = { 0.1, 0.2, 0.3 }, { 0.5, 0.25, 1 }
    assert.is_true(torch.equal(T.Normalize(mean, std)(image), T.Normalize(torch.tensor(mean, { dtype = torch.float64 }), torch.tensor(std))(image)))
    local copy = image:clone()
    T.Normalize(mean, std, true)(copy)
    assert.is_true(torch.equal(T.Normalize(mean, std)(image), copy))
  end)

  it('keeps gradients', function()
    local image = torch.rand(3, 6, 6, { requires_grad = true })
    T.Compose { T.Resize(4), T.Normalize({ 0.5 }, { 0.5 }) } (image):sum():backward()
    assert(image.grad:abs():sum():item() > 0)
  end)

  it('explains what it cannot do', function()
    local image, bytes = torch.rand(3, 6, 8), torch.zeros(3, 6, 8, { dtype = torch.uint8 })
    fails_with('expected an image of shape (..., C, H, W), got torch.Size([6, 8]); call unsqueeze(1) for one channel', T.Resize(3), image[1])
    fails_with('Resize(): expected an image as a tensor', T.Resize(3), 'cat.png')
    fails_with('normalize(): expected an image of floats, got torch.uint8; call ToDtype(torch.float32, {scale = true}) first', T.Normalize({ 0.5 }, { 0.5 }), bytes)
    fails_with('normalize(): mean has 2 values for 3 channels', T.Normalize({ 0.5, 0.5 }, { 0.5 }), image)
    fails_with('std contains 0', T.Normalize({ 0.5 }, { 0 }), image)
    fails_with('Required crop size (9, 9) is larger than input image size (6, 8).', T.RandomCrop(9), image)
    fails_with('expected an image of 1 or 3 channels, got shape torch.Size([2, 6, 8])', T.ColorJitter(0.5), torch.rand(2, 6, 8))
    fails_with('brightness is a single number, it must be non negative', T.ColorJitter, -1)
    fails_with('hue values must be increasing and from -0.5 to 0.5', T.ColorJitter, { hue = 0.6 })
    fails_with('p must be a probability from 0 to 1, got 2', T.RandomHorizontalFlip, 2)
    fails_with('interpolation must be', T.Resize(3, { interpolation = 'cubic' }), image)
    fails_with("padding_mode must be 'constant', 'edge', 'reflect' or 'symmetric', got 'wrap'", T.Pad, 1, { padding_mode = 'wrap' })
    fails_with('Compose(): transform 2 must be a transform or a function, not a number', T.Compose, { T.Pad(1), 3 })
    fails_with('Compose(): pass at least one transform', T.Compose, {})
    fails_with("RandomErasing(): value must be a number, a list of numbers or 'random', got 'noise'", T.RandomErasing, { value = 'noise' })
    fails_with('unexpected keyword argument', T.Resize, 3, { antialiasing = true })
    fails_with('RandomResizedCrop(): ratio must be greater than 0, got {-1, 2}', T.RandomResizedCrop, 4, { ratio = { -1, 2 } })
    fails_with('RandomErasing(): scale must be {smallest, largest}, got {0.3, 0.1}', T.RandomErasing, { scale = { 0.3, 0.1 } })
    fails_with('cannot be performed safely', T.ToDtype(torch.int64, true), image)
  end)
end)
