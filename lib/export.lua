-- export.lua - torch.export: programs that PyTorch's torch.export has saved, and programs for it.

--[=[ arguments
dynamic_shapes: The sizes that may vary, by the names of inputs.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

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

--- A call of a module as a program, which is the class of torch.export.load: run it, print its graph,
-- train it, save it for PyTorch.
--
-- The module is called with copies of its inputs in its current mode, and the operations of the
-- library that it executes are recorded; Lua control flow is fixed as in this call. Its parameters and
-- buffers are the ones of the module; the call does not change them. Views, in-place operations and
-- changes of buffers (batch norm in training) are kept. Positions count from 1 in the program, too,
-- because it computes the same function. Errors with the name of the operation and of the module:
-- operations that ATen does not have, and numbers that the program reads from a tensor (item, tolist).
-- @param mod  the nn.Module
-- @param args  its inputs: a tensor, or a list of tensors, numbers, strings, and nested lists and
--   tables of them; PyTorch's program takes lists as lists and tables with names as dicts
-- @param kwargs  named inputs: forward receives them as its last table, PyTorch's program by name
-- @param options  dynamic_shapes: {[input] = {[dim] = name of the size}} or {[input] = {dims}}; dims
--   count from 1; inputs are named as in forward, parts of nested ones as in d_k_0 (positions from 0);
--   sizes with the same name are equal
local function export(mod, args, kwargs, options) return require 'torch.export.write.program'(mod, args, kwargs, options) end
M.export = declare.with_options('torch.export.export(Module mod, any args, table? kwargs=nil, *, table? dynamic_shapes)', export)

--- Writes a program of torch.export.export or torch.export.load, with its current parameters and
-- buffers, as a .pt2 file that PyTorch 2.13 loads. The write is atomic.
-- @param ep  the program
-- @param f  the path of the file
local function save(ep, f)
  if torch.type(ep) ~= 'ExportedProgram' then fail('torch.export.save: ep must be a program of torch.export.export or torch.export.load, not %s', kinds.described(ep)) end
  return require('torch.export.save').save(ep, f)
end
M.save = declare.declare('torch.export.save(any ep, string f)', save)

return M
