-- data.lua - torch.utils.data: data sets, samplers and the DataLoader.

local where = {
  Dataset = 'dataset', TensorDataset = 'tensor_dataset', DataLoader = 'dataloader', Sampler = 'sampler',
  SequentialSampler = 'sampler', RandomSampler = 'sampler', BatchSampler = 'sampler', idx = 'idx',
}

local data = { __names = where }

return setmetatable(data, {
  __index = function(_, name)
    if not where[name] then return nil end
    local value = require('torch.utils.data.' .. where[name])
    if where[name] == 'sampler' then value = value[name] end
    rawset(data, name, value)
    return value
  end,
})
