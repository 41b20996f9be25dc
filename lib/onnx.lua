-- onnx.lua - torch.onnx: models of the ONNX format.

local declare = require 'torch.support.arguments'

local M = {}

--- The model of an ONNX file as an nn.Module that can be run, looked at, changed and trained.
--
-- Its floating-point initializers are Parameters, the others buffers, by their names in the file. It takes its inputs by
-- position or as one table by name, and gives its outputs as results; model:run{...} gives them by name. Sizes may differ
-- from call to call. Elements in other files are read from the model's folder.
-- @param path  the file
-- @param max_memory  how many bytes loading may take; else 64 times the size of the file and of those with its tensors, and at
--   least 256 MB. Constants that need much are computed when the model runs
local function load(path, max_memory) return require('torch.onnx.model').load(path, max_memory) end
M.load = declare.declare('torch.onnx.load(string path, *, integer? max_memory)', load)

--- Writes a call of a module as an ONNX model.
--
-- The module is called with args, in eval mode, and the operations of the library that it makes are written: what the program does in
-- Lua (conditions, loops) stays as it was in this call. Parameters and buffers become initializers by the names of state_dict. Positions
-- (of classes, rows, symbols) count from 1 in the model too, since it computes what the module does. An operation that ONNX has no
-- form for, numbers of a tensor that the program reads (item, tolist) and random numbers are errors, with the operation's
-- name and the module's.
--
-- With dynamic sizes the module is called again, with inputs of other sizes (fewer entries where a dimension has four or more).
-- A size that the program reads may then be an integer times one such size plus a number, or a product of several, or a fraction of these.
-- @param model  the nn.Module
-- @param args  its inputs: a tensor, or a list of tensors and of (nested) lists of them
-- @param f  the path of the file, which appears whole or not at all
-- @param options  input_names, output_names: lists of names, by default input_1, output_1, ...; of the inputs and results in order, those
--   in lists too. dynamic_axes (also dynamic_shapes): {[input] = {[dim] = name of the size}} or {[input] = {dims}}; dims count from 1;
--   sizes of one name are equal. opset_version: 18 (default) to 23
local function export(model, args, f, options) return require 'torch.onnx.export'(model, args, f, options) end
M.export = declare.with_options([[
  torch.onnx.export(Module model, any args, string f, *, table? input_names, table? output_names, integer? opset_version,
    table? dynamic_axes, table? dynamic_shapes)
]], export)

return M
