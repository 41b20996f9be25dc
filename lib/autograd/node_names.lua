-- node_names.lua - PyTorch's names of nodes (x.grad_fn) for composite operations: printed tensors,
-- errors and profiles name the called operation. Names of operations in C are in their declarations
-- (grad_fn).

local C = require 'torch'._C

local node_names = {}

local function named(name, before, first, ...)
  if type(first) == 'table' then
    C.name_nodes(name, before, table.unpack(first))
  else
    C.name_nodes(name, before, first, ...)
  end
  return first, ...
end

--- Calls f(...), and names the nodes that it creates for its results.
function node_names.call(name, f, ...) return named(name, C.last_node(), f(...)) end

return node_names
