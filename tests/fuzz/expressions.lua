-- expressions.lua - random calls of declared ops with sane arguments, written down with what they gave: torch_twin.py makes
-- them again with PyTorch. Without PyTorch tests/lua/random_expressions_spec.lua compares the CPU with simulated GPUs.
--
--   ltensor expressions.lua SEED COUNT >FILE        a call a line, as JSON

local torch = require 'torch'

local here = arg[0]:match '^(.*)/' or '.'
local expressions = dofile(here .. '/../lua/support/expressions.lua')
local model = dofile(here .. '/../../scripts/gen/declarations.lua').load(here .. '/../../src/ops')

local seed, count = math.tointeger(arg[1]), math.tointeger(arg[2])
math.randomseed(seed)

local function quoted(text)
  return '"' .. text:gsub('[%c"\\\x80-\xff]', function(c) return ('\\u%04x'):format(c:byte()) end) .. '"'
end

local function number(value)
  if value ~= value then return '"nan"' end
  if value == math.huge or value == -math.huge then return value > 0 and '"inf"' or '"-inf"' end
  return math.type(value) == 'integer' and tostring(value) or ('%.17g'):format(value)
end

local encode
local function list(items, n)
  local parts = {}
  for i = 1, n or #items do parts[i] = encode(items[i]) end
  return '[' .. table.concat(parts, ', ') .. ']'
end

function encode(value)
  if torch.is_tensor(value) then
    local data = (value.layout == torch.strided and value or value:to_dense()):detach():flatten():tolist()
    if type(data) ~= 'table' then data = { data } end
    local expanded = {}
    for d = 1, value.ndim do expanded[d] = value:stride(d) == 0 and value.shape[d] > 1 end
    return ('{"tensor": %s, "shape": %s, "expanded": %s, "dtype": %s}'):format(list(data),
      list(table.move(value.shape, 1, value.ndim, 1, {})), list(expanded), quoted(tostring(value.dtype)))
  end
  local kind = type(value)
  if kind == 'number' then return number(value) end
  if kind == 'boolean' then return tostring(value) end
  if kind == 'string' then return quoted(value) end
  if kind == 'table' then return list(value) end
  if kind == 'userdata' and torch.type(value) == 'dtype' then return ('{"dtype": %s}'):format(quoted(tostring(value))) end
  return 'null'
end

-- Arguments with their declared types, the named ones by name.
local function arguments_of(call)
  local parts, named = {}, {}
  for i, a in ipairs(call.op.args) do
    if i <= call.positional then
      parts[#parts + 1] = ('{"name": %s, "type": %s, "value": %s}'):format(quoted(a.name), quoted(a.type), encode(call.host[i]))
    end
    if call.named[a.name] ~= nil then
      named[#named + 1] = ('{"name": %s, "type": %s, "value": %s}'):format(quoted(a.name), quoted(a.type), encode(call.named[a.name]))
    end
  end
  return '[' .. table.concat(parts, ', ') .. '], "named": [' .. table.concat(named, ', ') .. ']'
end

local groups = {}
for _, group in ipairs(model.groups) do
  local ops = expressions.ops_of(model, group)
  if #ops > 0 and group ~= 'linalg' and group ~= 'optim' then groups[#groups + 1] = ops end
end

local made = 0
while made < count do
  local ops = groups[math.random(#groups)]
  local call = expressions.call_of(ops[math.random(#ops)], 'cpu')
  if call then
    made = made + 1
    local given_arguments = arguments_of(call) -- before the call, which may write into them
    local results = table.pack(pcall(call.f, table.unpack(call.host)))
    local outcome
    if results[1] then
      local given, kinds = {}, {}
      for i = 2, results.n do
        local returned = call.op.returns[i - 1] or call.op.returns[1]
        given[i - 1] = results[i]
        kinds[i - 1] = quoted(returned and returned.type or 'Tensor')
      end
      outcome = ('"results": %s, "kinds": [%s]'):format(list(given, results.n - 1), table.concat(kinds, ', '))
    else
      outcome = '"error": ' .. quoted(tostring(results[2]))
    end
    print(('{"op": %s, "nn": %s, "text": %s, "arguments": %s, %s}'):format(quoted(call.op.name), tostring(call.op.variants.nn ~= nil), quoted(call.text), given_arguments, outcome))
  end
end
