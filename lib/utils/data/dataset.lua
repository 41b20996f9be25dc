-- dataset.lua - utils.data.Dataset: derive from it and define __getitem(index) (index from 1; returns one or
-- more values) and __len().

local class = require 'torch.class'

local Dataset = class.Object:extend('Dataset')

function Dataset:__getitem()
  error(("%s has no method '__getitem'"):format(self.__classname), 2)
end

return Dataset
