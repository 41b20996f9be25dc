-- data.lua - torch.utils.data: data sets, samplers and the DataLoader.

local where = {
  Dataset = 'dataset', TensorDataset = 'tensor_dataset', DataLoader = 'dataloader', idx = 'idx', csv = 'csv',
  text = 'text', read_image = 'image', decode_image = 'image', write_image = 'image', encode_image = 'image',
  DistributedSampler = 'distributed', default_collate = 'collate', get_worker_info = 'workers',
}
for _, name in ipairs { 'IterableDataset', 'Subset', 'ConcatDataset', 'StackDataset', 'ChainDataset', 'random_split' } do where[name] = 'datasets' end
for _, name in ipairs { '', 'Sequential', 'Random', 'SubsetRandom', 'WeightedRandom', 'Batch' } do
  where[name .. 'Sampler'] = 'sampler'
end
local several = { sampler = true, datasets = true, workers = true, image = true } -- modules with more than one name

local data = { __names = where }

return setmetatable(data, {
  __index = function(_, name)
    if not where[name] then return nil end
    local value = require('torch.utils.data.' .. where[name])
    if several[where[name]] then value = value[name] end
    rawset(data, name, value)
    return value
  end,
})
