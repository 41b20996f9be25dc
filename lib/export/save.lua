-- save.lua - torch.export.save: the archive of a program (program.lua) as PyTorch 2.13 writes it.
--
-- The program is the text that was loaded or exported; its parameters, buffers and constants have
-- their current elements.

local torch = require 'torch'
local archives = require 'torch.export.archive'
local json = require 'torch.files.json_text'
local zip = require 'torch.files.zip'

local ALIGNMENT = 64 -- fixed: bytes, of the elements in PyTorch's archives
local STRIDED = 7 -- fixed: PyTorch's number of the layout

local codes = {}
for code, dtype in pairs(archives.dtypes) do codes[dtype] = code end

local M = {}

local function device_of(device) return { type = device.type, index = device.type == 'cpu' and json.null or device.index or 0 } end

--- The description of a tensor; its elements are stored contiguously.
local function meta_of(tensor)
  local sizes, strides, step = json.list {}, json.list {}, 1
  for d = tensor.ndim, 1, -1 do
    sizes[d], strides[d] = { as_int = tensor:size(d) }, { as_int = step }
    step = step * tensor:size(d)
  end
  return { dtype = codes[tensor.dtype], sizes = sizes, strides = strides, requires_grad = tensor.requires_grad, device = device_of(tensor.device),
    storage_offset = { as_int = 0 }, layout = STRIDED }
end

-- Adds the tensors of a folder and their description. Names of one tensor share an entry.
local function add_tensors(writer, root, folder, prefix, list, drops)
  local config, entries, count = {}, {}, 0
  for _, one in ipairs(list) do
    local tensor = one.fields[one.key]
    if not entries[tensor] then
      entries[tensor] = ('%s_%d'):format(prefix, count)
      count = count + 1
      if not drops then writer:add(root .. folder .. entries[tensor], { torch._C.saved_form(tensor:detach():cpu():contiguous()) }, ALIGNMENT) end
    end
    config[one.name] = { path_name = entries[tensor], is_param = one.kind == 'parameter', use_pickle = false, tensor_meta = meta_of(tensor) }
  end
  return json.encode { config = config }
end

--- Writes a program to a writer of zip.lua. name: of the folder in the archive; drops: without the
-- elements of tensors.
function M.write(program, writer, name, drops)
  local root = name .. '/'
  local weights, constants = {}, {}
  for _, one in ipairs(program._graph.constants) do table.insert(one.is_saved and weights or constants, one) end
  local function add(entry, text) writer:add(root .. entry, { text }, ALIGNMENT) end
  add('data/weights/model_weights_config.json', add_tensors(writer, root, 'data/weights/', 'weight', weights, drops))
  add('data/constants/model_constants_config.json', add_tensors(writer, root, 'data/constants/', 'tensor', constants, drops))
  add('models/model.json', program._text)
  add('data/sample_inputs/model.pt', drops and '' or program._samples or '')
  add('archive_format', 'pt2')
  add('archive_version', '0')
  add('byteorder', 'little')
  add('.data/version', '6\n')
  writer:finish()
end

--- Writes a program to a file, which appears whole or not at all.
function M.save(program, path)
  local writer <close> = zip.create(path)
  M.write(program, writer, path:match '([^/]*)$':gsub('%.pt2$', ''):gsub('[^%w_-]', '_'), false)
end

return M
