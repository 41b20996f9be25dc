-- pictures.lua - d2l: synthetic pictures for detection and segmentation, and readers of the book's
-- data files.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local data = torch.utils.data

local M = {}

local read = declare.reader 'd2l.BananasDataset(boolean is_train=true, integer? num_images, sizes size=64)'

--- BananasDataset {is_train = true, num_images = 1000 | 100, size = 64}: synthetic replacements of
--- the book's pictures of one banana each: noise (3, size, size), values 0 to 1, with a yellow
--- crescent. The label is (1, 5): class 1 and the box, as fractions of the picture.
M.BananasDataset = data.Dataset:extend 'd2l.BananasDataset'

function M.BananasDataset:init(...)
  local options = read(...)
  local n, size = options.num_images or options.is_train and 1000 or 100, options.size
  local generator = torch.Generator():manual_seed(options.is_train and 1 or 2)
  self.features = torch.rand(n, 3, size, size, { generator = generator }) * 0.6
  self.labels = torch.zeros(n, 1, 5)
  local place = torch.arange(0, size, { dtype = torch.float32 })
  local y, x = torch.meshgrid(place, place, { indexing = 'ij' })
  for i, chance in ipairs(torch.rand(n, 3, { generator = generator }):tolist()) do
    local radius = size * (0.12 + 0.1 * chance[1])
    local cx, cy = radius + chance[2] * (size - 1 - 2 * radius), radius + chance[3] * (size - 1 - 2 * radius)
    local disc = ((x - cx) ^ 2 + (y - cy) ^ 2):lt(radius ^ 2)
    local bite = ((x - cx) ^ 2 + (y - cy + 0.8 * radius) ^ 2):lt((0.7 * radius) ^ 2)
    local crescent = disc:logical_and(bite:logical_not())
    local at = crescent:nonzero() - 1
    local low, high = at:amin(1):tolist(), at:amax(1):tolist()
    for channel, shade in ipairs { 1, 0.9, 0.1 } do self.features[{ i, channel }]:masked_fill_(crescent, shade) end
    self.labels[{ i, 1 }] = torch.tensor { 1, low[2] / size, low[1] / size, (high[2] + 1) / size, (high[1] + 1) / size }
  end
end

function M.BananasDataset:__len() return #self.features end
function M.BananasDataset:__getitem(i) return self.features[i], self.labels[i] end

--- Loaders of such pictures for training and validation; num_train, num_val: their numbers.
function M.load_data_bananas(batch_size, options)
  options = options or {}
  local train = M.BananasDataset { is_train = true, num_images = options.num_train or 1000, size = options.size or 64 }
  local val = M.BananasDataset { is_train = false, num_images = options.num_val or 100, size = options.size or 64 }
  return data.DataLoader(train, { batch_size = batch_size, shuffle = true }), data.DataLoader(val, { batch_size = batch_size })
end

-- ---- classes of pixels --------------------------------------------------------------------------

--- Colours of the 21 classes of Pascal VOC 2012 (M. Everingham et al.), as in its development kit:
--- the bits of class k, from 0, are distributed over the three channels, highest first.
M.VOC_COLORMAP = {}
for k = 0, 20 do
  local colour = { 0, 0, 0 }
  for bit = 0, 7 do
    for channel = 0, 2 do
      if k >> (3 * bit + channel) & 1 == 1 then colour[channel + 1] = colour[channel + 1] | 1 << (7 - bit) end
    end
  end
  M.VOC_COLORMAP[k + 1] = colour
end

--- Their names: position 1 is the background.
M.VOC_CLASSES = { 'background', 'aeroplane', 'bicycle', 'bird', 'boat', 'bottle', 'bus', 'car', 'cat', 'chair', 'cow', 'diningtable', 'dog', 'horse',
  'motorbike', 'person', 'potted plant', 'sheep', 'sofa', 'train', 'tv/monitor' }

--- A table from colours (red * 65536 + green * 256 + blue, plus one) to classes; unknown colours
--- are the background.
function M.voc_colormap2label()
  local label = torch.ones(1 << 24, { dtype = torch.uint8 })
  for class, c in ipairs(M.VOC_COLORMAP) do label[(c[1] << 16 | c[2] << 8 | c[3]) + 1] = class end
  return label
end

--- The classes of a picture of labels (3, height, width), bytes.
function M.voc_label_indices(colormap, colormap2label)
  local c = colormap:long()
  local key = c[1] * 65536 + c[2] * 256 + c[3] + 1
  return colormap2label:index_select(1, key:flatten()):reshape(key.shape):long()
end

--- Crops a picture and its labels at the same random position.
function M.voc_rand_crop(feature, label, height, width)
  local h, w = feature:size(2), feature:size(3)
  if h < height or w < width then fail('voc_rand_crop(): the picture of %d x %d is smaller than %d x %d', h, w, height, width) end
  local top, left = torch.randint(1, h - height + 2, { 1 }):item(), torch.randint(1, w - width + 2, { 1 }):item()
  local function crop(x) return x:narrow(-2, top, height):narrow(-1, left, width) end
  return crop(feature), crop(label)
end

--- Pictures and labels of Pascal VOC 2012 (download it from
--- http://host.robots.ox.ac.uk/pascal/VOC/voc2012): lists of bytes (3, height, width). voc_dir is
--- its folder VOCdevkit/VOC2012; limit: the maximum number.
function M.read_voc_images(voc_dir, is_train, limit)
  local find = require('torch.d2l.data').find_file
  local list = find(('%s/ImageSets/Segmentation/%s.txt'):format(voc_dir, is_train == false and 'val' or 'train'), '',
    'Pascal VOC 2012 is http://host.robots.ox.ac.uk/pascal/VOC/voc2012')
  local features, labels = {}, {}
  for _, name in ipairs(data.text.read_lines(list)) do
    if limit and #features == limit then break end
    features[#features + 1] = data.read_image(('%s/JPEGImages/%s.jpg'):format(voc_dir, name), 'rgb')
    labels[#labels + 1] = data.read_image(('%s/SegmentationClass/%s.png'):format(voc_dir, name), 'rgb')
  end
  return features, labels
end

--- VOCSegDataset(is_train, {height, width}, voc_dir): crops of that size with the classes of their
-- pixels; smaller pictures are dropped.
M.VOCSegDataset = data.Dataset:extend 'd2l.VOCSegDataset'

function M.VOCSegDataset:init(is_train, crop_size, voc_dir)
  self.crop_size, self.features, self.labels = crop_size, {}, {}
  local features, labels = M.read_voc_images(voc_dir, is_train)
  for i, feature in ipairs(features) do
    if feature:size(2) >= crop_size[1] and feature:size(3) >= crop_size[2] then
      table.insert(self.features, M.normalize_image(feature))
      table.insert(self.labels, labels[i])
    end
  end
  self.colormap2label = M.voc_colormap2label()
end

function M.VOCSegDataset:__len() return #self.features end

function M.VOCSegDataset:__getitem(i)
  local feature, label = M.voc_rand_crop(self.features[i], self.labels[i], self.crop_size[1], self.crop_size[2])
  return feature, M.voc_label_indices(label, self.colormap2label)
end

--- Normalizes bytes (3, height, width) by the mean and deviation of ImageNet's channels.
function M.normalize_image(image)
  local mean, std = torch.tensor { 0.485, 0.456, 0.406 }:reshape(3, 1, 1), torch.tensor { 0.229, 0.224, 0.225 }:reshape(3, 1, 1)
  return (image:float() / 255 - mean) / std
end

return M
