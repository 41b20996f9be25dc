-- gguf_types.lua - the types of values and tensors in GGUF files, for gguf.lua and gguf_writer.lua.

local torch = require 'torch'

local M = {}

--- By the number of a type of metadata: its name, the format of string.pack, and its bytes. A text
--- has at least 8, an array 12.
M.values = {
  [0] = { 'uint8', '<B', 1 }, { 'int8', '<b', 1 }, { 'uint16', '<I2', 2 }, { 'int16', '<i2', 2 }, { 'uint32', '<I4', 4 }, { 'int32', '<i4', 4 },
  { 'float32', '<f', 4 }, { 'bool', nil, 1 }, { 'string', nil, 8 }, { 'array', nil, 12 }, { 'uint64', '<I8', 8 }, { 'int64', '<i8', 8 }, { 'float64', '<d', 8 },
}

--- By the number of a type of tensors: its dtype, or its scheme (torch.dequantize_blocks); elements
--- and bytes of a block.
M.tensors = {
  [0] = { torch.float32, 1, 4 }, [1] = { torch.float16, 1, 2 }, [2] = { 'q4_0', 32, 18 }, [3] = { 'q4_1', 32, 20 }, [6] = { 'q5_0', 32, 22 },
  [7] = { 'q5_1', 32, 24 }, [8] = { 'q8_0', 32, 34 }, [10] = { 'q2_k', 256, 84 }, [11] = { 'q3_k', 256, 110 }, [12] = { 'q4_k', 256, 144 },
  [13] = { 'q5_k', 256, 176 }, [14] = { 'q6_k', 256, 210 }, [20] = { 'iq4_nl', 32, 18 }, [24] = { torch.int8, 1, 1 }, [25] = { torch.int16, 1, 2 },
  [26] = { torch.int32, 1, 4 }, [27] = { torch.int64, 1, 8 }, [28] = { torch.float64, 1, 8 }, [30] = { torch.bfloat16, 1, 2 },
}

M.MAX_DIMS = 4
M.DEFAULT_ALIGNMENT = 32

--- The alignment of tensors that the metadata states; nil: it is not valid.
function M.alignment(metadata)
  local alignment = metadata['general.alignment'] or M.DEFAULT_ALIGNMENT
  if math.type(alignment) == 'integer' and alignment >= 8 and alignment % 8 == 0 then return alignment end
end

return M
