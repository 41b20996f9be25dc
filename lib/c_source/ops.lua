-- ops.lua - writes the calls of a recording as statements: a function of ops/ for each operation.
-- It receives the builder, the arguments by name and the call, and returns the places of results.

local arguments = require 'torch.onnx.export.arguments'
local record = require 'torch.onnx.export.record'

local M = {}

local writers = {}
for _, file in ipairs { 'elementwise', 'moves', 'products', 'reduce', 'layers' } do
  for name, write in pairs(require('torch.c_source.ops.' .. file).ops) do writers[name] = writers[name] or write end
end

-- Operations without a declaration of their arguments.
local raw = { recurrent_layer = true, index = true }

-- An in-place operation gives a new value, as the operation without the underscore does.
local function writer_of(op) return writers[op] or writers[op:match '^(.*[^_])_$'] end

-- The values that the outputs depend on.
local function used_values(recording)
  local used = {}
  local function mark(x)
    if record.is_value(x) then
      used[x] = true
    elseif type(x) == 'table' and getmetatable(x) == nil then
      for _, entry in pairs(x) do mark(entry) end
    end
  end
  mark(recording.outputs)
  for i = #recording.calls, 1, -1 do
    local call, wanted = recording.calls[i], false
    for _, value in pairs(call.results) do wanted = wanted or used[value] end
    if wanted then mark(call.args) end
  end
  return used
end

local function write(b, call)
  b.recorded = call
  local writer = writer_of(call.op)
  if not writer then b:fail("the operation '%s' has no C source", call.op) end
  local args = raw[call.op] and call.args or arguments.bind(call) or b:fail 'the form of its arguments is not supported'
  local list = table.pack(writer(b, args, call))
  for i, value in pairs(call.results) do
    if b.used[value] then
      if not list[i] then b:fail('its result %d', i) end
      b.of_value[value] = list[i]
    end
  end
end

--- Adds the statements of a recording to a builder.
function M.write(b, recording)
  b.used = used_values(recording)
  for _, call in ipairs(recording.calls) do
    local wanted = false
    for _, value in pairs(call.results) do wanted = wanted or b.used[value] and value.varies end
    if wanted then write(b, call) end
  end
  b.recorded = nil
end

return M
