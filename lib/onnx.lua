-- onnx.lua - torch.onnx: models of the ONNX format.

local torch = require 'torch'
local kinds = require 'torch.support.kinds'

local M = {}

--- The model of an ONNX file as an nn.Module that can be run, looked at, changed and trained.
--
-- Its floating-point initializers are Parameters, the others buffers, by their names in the file. It takes its inputs by
-- position or as one table by name, and gives its outputs as results; model:run{...} gives them by name. Sizes may differ
-- from call to call. Elements in other files are read from the model's folder.
-- @param path  the file
function M.load(path)
  kinds.check('torch.onnx.load', 'path', path, 'string')
  return require('torch.onnx.model').load(path)
end

return M
