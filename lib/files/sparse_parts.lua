-- sparse_parts.lua - sparse tensors in files: converts them to components and back. Indices in
-- files count from 0.

local torch = require 'torch'

local M = {}

--- The components of a sparse tensor, as a table of tensors and plain values:
--- {layout, size, coalesced, requires_grad, values, indices} or, by rows and columns, {...,
--- compressed, plain}.
function M.apart(tensor)
  local parts = { layout = tensor.layout, size = tensor.shape, requires_grad = tensor.requires_grad, values = tensor:detach():_values() }
  if tensor.layout == torch.sparse_coo then
    parts.indices, parts.coalesced = tensor:_indices() - 1, tensor:is_coalesced()
  elseif tensor.layout == torch.sparse_csr then
    parts.compressed, parts.plain = tensor:crow_indices() - 1, tensor:col_indices() - 1
  else
    parts.compressed, parts.plain = tensor:ccol_indices() - 1, tensor:row_indices() - 1
  end
  return parts
end

-- True if the indices of a coalesced tensor are sorted and unique.
local function is_in_order(indices, size)
  if indices:size(2) < 2 then return true end
  local keys = indices[1]
  for d = 2, indices:size(1) do keys = keys * size[d] + indices[d] end
  return keys:narrow(1, 2, keys:numel() - 1):gt(keys:narrow(1, 1, keys:numel() - 1)):all():item()
end

--- The tensor of untrusted components; nil and an error if they do not match.
function M.together(parts)
  local ok, result = pcall(function()
    local options = { requires_grad = parts.requires_grad == true and (parts.values.dtype.is_floating_point or parts.values.dtype.is_complex) }
    if parts.indices == nil then
      options.layout = parts.layout
      return torch.sparse_compressed_tensor(parts.compressed + 1, parts.plain + 1, parts.values, parts.size, options)
    end
    local indices = parts.indices + 1
    local made = torch.sparse_coo_tensor(indices, parts.values, parts.size, options)
    if parts.coalesced == true and is_in_order(indices, parts.size) then
      options.is_coalesced = true
      made = torch.sparse_coo_tensor(indices, parts.values, parts.size, options)
    end
    return made
  end)
  if ok then return result end
  return nil, 'a sparse tensor of components that do not fit: ' .. tostring(result):gsub('^[^:]*:%d+: ', '')
end

return M
