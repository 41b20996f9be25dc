-- onnx.lua - torch.onnx: models of the ONNX format.

--[=[ arguments
input_names: Names of the inputs; input_1, input_2, ... if absent.
output_names: Names of the outputs.
opset_version: Version of the operators, 13 to 23; 18 if absent.
dynamic_axes: Dimensions of variable size, by the names of inputs and outputs.
dynamic_shapes: The same in the form of the arguments.
]=]

local declare = require 'torch.support.arguments'

local M = {}

--- The model of an ONNX file as an nn.Module that you can run, inspect, change and train.
--
-- Its floating-point initializers are Parameters, the others buffers, under their names in the
-- file. Pass its inputs by position or as one table by name. The call returns the outputs;
-- model:run{...} returns them by name. Sizes may differ between calls. Elements in other files are
-- read from the model's folder.
-- @param path  the file, or its bytes: a string with a zero byte is the content of a file
-- @param max_memory  maximum memory of loading in bytes; the default is 64 times the size of the
--   file and of the files with its tensors, and at least 256 MB. Large constants are computed when
--   the model runs
local function load(path, max_memory) return require('torch.onnx.model').load(path, max_memory) end
M.load = declare.declare('torch.onnx.load(string path, *, integer? max_memory)', load)

--- Writes a call of a module as an ONNX model.
--
-- The module is called with args, in eval mode, and the operations of the library that it executes
-- are written; Lua control flow (conditions, loops) is fixed as in this call. Parameters and
-- buffers become initializers under the names of state_dict. Positions (of classes, rows, symbols)
-- count from 1 in the model, too, because it computes the same function. Errors with the name of
-- the operation and the module: operations that ONNX does not have, numbers that the program reads
-- from a tensor (item, tolist), and random numbers.
--
-- With dynamic sizes, the module is called again with inputs of other sizes (smaller ones if a
-- dimension has four or more). A size that the program reads may be an integer times one dynamic
-- size plus a number, a product of several, or a fraction of these.
-- @param model  the nn.Module
-- @param args  its inputs: a tensor, or a list of tensors and of (nested) lists of them
-- @param f  the path of the file; the write is atomic
-- @param options  input_names, output_names: lists of names, by default input_1, output_1, ...; for
--   the inputs and results in order, including tensors in lists. dynamic_axes (also
--   dynamic_shapes): {[input] = {[dim] = name of the size}} or {[input] = {dims}}; dims count from
--   1; sizes with the same name are equal.
--   opset_version: 13 to 23, by default 18; with an older one, an operator that the set lacks is
--   written as others, or is an error that names the needed version
local function export(model, args, f, options) return require 'torch.onnx.export'(model, args, f, options) end
M.export = declare.with_options([[
  torch.onnx.export(Module model, any args, string f, *, table? input_names, table? output_names, integer? opset_version,
    table? dynamic_axes, table? dynamic_shapes)
]], export)

return M
