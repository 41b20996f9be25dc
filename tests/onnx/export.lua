-- export.lua - writes the models of exported.lua with inputs and the module's outputs, for export.py.
--
--   ltensor tests/onnx/export.lua FOLDER [PATTERN [OPSET]]

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local folder, pattern, opset = arg[1], arg[2] or '', math.tointeger(tonumber(arg[3]))

-- Tensors in nested tables, in order.
local function flatten(x, list)
  if torch.is_tensor(x) then list[#list + 1] = x
  elseif type(x) == 'table' then
    for _, entry in ipairs(x) do flatten(entry, list) end
  end
  return list
end

local failed = 0
for i, entry in ipairs(dofile(here .. 'exported.lua')) do
  local name, make = table.unpack(entry)
  if name:find(pattern, 1, true) then
    torch.manual_seed(i)
    local module, args, options = table.unpack(make(), 1, 3)
    local base = folder .. '/' .. name:gsub('%W', '_')
    options = options or {}
    options.opset_version = opset or options.opset_version
    local ok, message = pcall(torch.onnx.export, module, args, base .. '.onnx', options)
    if ok then
      local inputs, outputs = flatten(args, {}), flatten({ module:eval()(table.unpack(args)) }, {})
      for k, tensor in ipairs(inputs) do torch.save(tensor:detach(), ('%s.input_%d.npy'):format(base, k)) end
      for k, tensor in ipairs(outputs) do torch.save(tensor:detach():contiguous(), ('%s.output_%d.npy'):format(base, k)) end
    elseif not (opset and message:find 'needs opset_version %d+ or newer') then
      failed = failed + 1
      print(('%s: %s'):format(name, message))
    end
  end
end
os.exit(failed == 0 and 0 or 1)
