-- dataset.lua - utils.data.Dataset: derive from it and define __getitem(index) (index from 1;
-- returns one or more values) and __len().

local class = require 'torch.support.class'
local fail = require 'torch.support.fail'

local Dataset = class.Object:extend('Dataset')

function Dataset:__getitem()
  fail(("%s has no method '__getitem'"):format(self.__classname))
end

return Dataset
