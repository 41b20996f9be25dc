-- messages.lua - the used messages and fields of ONNX files: { [number] = { name =, kind =, list =
-- } }.
--
-- A kind is 'int', 'float', 'double', 'string', another message, or 'span': an array that stays in
-- the file (wire.lua); elements written one by one have the kind `loose`. The numbers are defined
-- by onnx.proto.

local M = {}

--- The shared, immutable list for every empty list of a message. A schema's `lists` is the
-- metatable that supplies it.
M.EMPTY = {}

-- '*' before a name: a list.
local function message(name, fields)
  local schema = { name = name, lists = { __index = {} } }
  M[name] = schema
  return function()
    for number, field in pairs(fields) do
      local star, field_name = field[1]:match '^(%*?)(.*)$'
      local kind = M[field[2]] or field[2]
      schema[number] = { name = field_name, kind = kind, list = star ~= '', loose = field[3] }
      if star ~= '' then schema.lists.__index[field_name] = M.EMPTY end
    end
  end
end

local all = {
  message('Model', { { 'ir_version', 'int' }, { 'producer_name', 'string' }, [7] = { 'graph', 'Graph' }, [8] = { '*opset_import', 'OperatorSet' },
    [14] = { '*metadata_props', 'Entry' }, [25] = { '*functions', 'Function' } }),
  message('OperatorSet', { { 'domain', 'string' }, { 'version', 'int' } }),
  message('Entry', { { 'key', 'string' }, { 'value', 'string' } }),
  message('Graph', { { '*node', 'Node' }, { 'name', 'string' }, [5] = { '*initializer', 'Tensor' }, [11] = { '*input', 'ValueInfo' },
    [12] = { '*output', 'ValueInfo' }, [15] = { '*sparse_initializer', 'SparseTensor' } }),
  message('Node', { { '*input', 'string' }, { '*output', 'string' }, { 'name', 'string' }, { 'op_type', 'string' }, { '*attribute', 'Attribute' },
    [7] = { 'domain', 'string' }, [8] = { 'overload', 'string' } }),
  message('Attribute', { { 'name', 'string' }, { 'f', 'float' }, { 'i', 'int' }, { 's', 'string' }, { 't', 'Tensor' }, { 'g', 'Graph' },
    { '*floats', 'float' }, { '*ints', 'int' }, { '*strings', 'string' }, { '*tensors', 'Tensor' }, { '*graphs', 'Graph' },
    [14] = { 'tp', 'Type' }, [20] = { 'type', 'int' }, [21] = { 'ref_attr_name', 'string' }, [22] = { 'sparse_tensor', 'SparseTensor' } }),
  message('Function', { { 'name', 'string' }, [4] = { '*input', 'string' }, [5] = { '*output', 'string' }, [6] = { '*attribute', 'string' },
    [7] = { '*node', 'Node' }, [9] = { '*opset_import', 'OperatorSet' }, [10] = { 'domain', 'string' }, [11] = { '*attribute_proto', 'Attribute' },
    [13] = { 'overload', 'string' } }),
  message('Tensor', { { '*dims', 'int' }, { 'data_type', 'int' }, [4] = { '*float_data', 'span', 'float' }, [5] = { '*int32_data', 'span', 'int' },
    [6] = { '*string_data', 'string' }, [7] = { '*int64_data', 'span', 'int' }, [8] = { 'name', 'string' }, [9] = { 'raw_data', 'span' },
    [10] = { '*double_data', 'span', 'double' }, [11] = { '*uint64_data', 'span', 'int' }, [13] = { '*external_data', 'Entry' }, [14] = { 'data_location', 'int' } }),
  message('SparseTensor', { { 'values', 'Tensor' }, { 'indices', 'Tensor' }, { '*dims', 'int' } }),
  message('ValueInfo', { { 'name', 'string' }, { 'type', 'Type' } }),
  message('Type', { { 'tensor_type', 'TensorType' }, [4] = { 'sequence_type', 'ElementType' }, [5] = { 'map_type', 'MapType' },
    [8] = { 'sparse_tensor_type', 'TensorType' }, [9] = { 'optional_type', 'ElementType' } }),
  message('TensorType', { { 'elem_type', 'int' }, { 'shape', 'Shape' } }),
  message('ElementType', { { 'elem_type', 'Type' } }),
  message('MapType', { { 'key_type', 'int' }, { 'value_type', 'Type' } }),
  message('Shape', { { '*dim', 'Dimension' } }),
  message('Dimension', { { 'dim_value', 'int' }, { 'dim_param', 'string' } }),
  -- Values outside of models: the files of test data.
  message('Sequence', { { 'name', 'string' }, { 'elem_type', 'int' }, { '*tensor_values', 'Tensor' }, [5] = { '*sequence_values', 'Sequence' },
    [7] = { '*optional_values', 'Optional' } }),
  message('Optional', { { 'name', 'string' }, { 'elem_type', 'int' }, { 'tensor_value', 'Tensor' }, [5] = { 'sequence_value', 'Sequence' },
    [7] = { 'optional_value', 'Optional' } }),
}
for _, resolve in ipairs(all) do resolve() end

return M
