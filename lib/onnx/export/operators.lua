-- operators.lua - writes operations as ONNX nodes, with the functions of ops/, one subject per
-- file.
--
-- A file returns { name = write } with write(graph, args, call) -> the names of the results (or one
-- list of them, for an operation that returns a list). args are the arguments by name; numbers that
-- depend on sizes of inputs are symbols. call contains the results as values, for their dtypes and
-- shapes. Functions of torch.nn.functional only are named 'nn.<name>'. An in-place operation is
-- written as its out-of-place variant.

local arguments = require 'torch.onnx.export.arguments'

local M = {}

local files = { 'elementwise', 'activation', 'reduce', 'shape', 'index', 'loss', 'matmul', 'convolution', 'norm', 'recurrent', 'factory' }
local writers = {}
for _, name in ipairs(files) do
  for op, write in pairs(require('torch.onnx.export.ops.' .. name)) do writers[op] = write end
end

--- Operations written by hand in C, or without a public name: they receive their arguments
--- unconverted.
M.reads_raw = { index = true, index_assign = true, where_method = true, recurrent_layer = true }

--- The function that writes an operation, or nil.
function M.find(op, in_nn)
  local plain = op:match '^(.*[^_])_$'
  if in_nn then return writers['nn.' .. op] end
  return writers[op] or plain and writers[plain]
end

--- Whether an operation draws random numbers.
function M.draws(op) return arguments.takes(op, 'generator') end

return M
