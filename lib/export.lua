-- export.lua - torch.export: programs that PyTorch's torch.export has saved.

local declare = require 'torch.support.arguments'

local M = {}

--- The program of a file that torch.export.save wrote (.pt2) as an nn.Module that can be run, looked at, changed and trained.
--
-- Its parameters and buffers have their names of PyTorch. It takes its inputs by position, or as one table by name: the tensors in the
-- order in which they stand in the arguments of the program, those in lists and dicts too; it gives the tensors of its results in the same way, as several
-- results. Positions in its inputs and results (of words, of classes) count from 0, as in the program.
-- @param f  the file; an operator that is not known, and a program with higher-order operators (cond, while_loop), are errors with its name
-- @param max_memory  how many bytes loading may take; else 64 times the size of the file, and at least 256 MB
local function load(f, max_memory) return require('torch.export.program').load(f, max_memory) end
M.load = declare.declare('torch.export.load(string f, *, integer? max_memory)', load)

return M
