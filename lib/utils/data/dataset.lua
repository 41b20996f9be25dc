-- dataset.lua - utils.data.Dataset: derive from it and define __getitem(index) (index from 1;
-- returns one or more values) and __len(). for x, y in dataset do, and for i, sample in
-- ipairs(dataset) do, iterate over the samples; there, a sample of several values is a list.

local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local loops = require 'torch.utils.data.loops'

local Dataset = class.Object:extend('Dataset')

function Dataset:__getitem()
  fail(("%s has no method '__getitem'"):format(self.__classname))
end

function Dataset:__getslice()
  fail(('a %s has no slices: write torch.utils.data.Subset(dataset, positions)'):format(self.__classname))
end

loops.install_by_position(Dataset)

return Dataset
