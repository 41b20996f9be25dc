-- export.lua - torch.export: programs that PyTorch's torch.export has saved.

local declare = require 'torch.support.arguments'

local M = {}

--- The program of a file of torch.export.save (.pt2) as an nn.Module that you can run, inspect,
-- change and train.
--
-- Its parameters and buffers have PyTorch's names. Pass its inputs by position, or as one table by
-- name: the tensors in the order of the program's arguments, including tensors in lists and dicts.
-- It returns the tensors of its results in the same way, as several results. Positions in inputs
-- and results (of words, of classes) count from 0, as in the program.
-- @param f  the file, or its bytes; an unknown operator is an error that names it
-- @param max_memory  maximum memory of loading in bytes; the default is 64 times the size of the
--   file, and at least 256 MB
local function load(f, max_memory) return require('torch.export.program').load(f, max_memory) end
M.load = declare.declare('torch.export.load(string f, *, integer? max_memory)', load)

return M
