-- transforms.lua - torch.vision.transforms: torchvision's transforms of images, version 2, each
-- loaded from its file on first use.
--
-- Images are tensors (..., channels, height, width), uint8 from 0 to 255 or floats from 0 to 1; a
-- transform changes all images of a batch in the same way. Offsets of rows and columns are values:
-- 0 is the upper or left edge. Random transforms draw from the generator of the CPU, as torchvision
-- does: with the same seed the results are the same.

local where = { functional = 'functional', Transform = 'transform' }
for file, names in pairs {
  geometry = 'Resize CenterCrop RandomCrop RandomResizedCrop Pad RandomHorizontalFlip RandomVerticalFlip',
  color = 'Grayscale RandomGrayscale ColorJitter',
  conversion = 'ToDtype ToImage ToTensor Normalize RandomErasing',
  containers = 'Compose RandomApply Lambda',
} do
  for name in names:gmatch '%S+' do where[name] = file end
end

local transforms = { __names = where }

return setmetatable(transforms, {
  __index = function(_, name)
    if not where[name] then return nil end
    local value = require('torch.vision.transforms.' .. where[name])
    if name:lower() ~= where[name] then value = value[name] end
    rawset(transforms, name, value)
    return value
  end,
})
