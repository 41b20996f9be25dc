-- gpu_graph.lua - mode = 'reduce-overhead' of torch.compile: captures the GPU work of a call as a
-- CUDA graph, which later calls replay with one launch instead of one per kernel.
--
-- A replay runs none of the function's Lua. So a graph is keyed by all visible inputs of the call:
-- shapes, strides and dtypes of the tensors among the arguments, all other arguments, the modes of
-- autograd and autocast, the function's upvalues, the addresses of parameters and buffers, and the
-- training flags of modules. Invisible inputs (fields of tables, globals) must not change. For each
-- key, the first call runs normally and the second one is captured. Arguments are copied into the
-- graph's memory, results out of it.

local torch = require 'torch'
local for_loops = require 'torch.support.for_loops'
local identity = require 'torch.lua53.identity'
local kinds = require 'torch.support.argument_kinds'

local MOST = 32 -- graphs per function

local function is_tensor(value) return type(value) == 'userdata' and kinds.fits(value, 'Tensor') end
local function is_module(value) return type(value) == 'userdata' and kinds.fits(value, 'Module') end

-- ---- the key of a call --------------------------------------------------------------------------

-- Raises the reason why there is no graph; caught by `look`.
local function refuse(why) error(setmetatable({ why = why }, { __name = 'refusal' }), 0) end

local function add_tensor(seen, tensor, what)
  if not tensor.is_cuda then refuse(what .. ' is not on a GPU') end
  if tensor.layout ~= torch.strided then refuse(what .. ' is sparse') end
  if seen.device and seen.device ~= tensor.device then refuse 'tensors are on several GPUs' end
  seen.device = tensor.device
  local parts = seen.parts
  parts[#parts + 1] = ('%s %s %s %s'):format(tensor.dtype, tensor.shape, table.concat(tensor:stride(), ','),
    tensor.requires_grad)
end

local add_value

local function add_table(seen, value, depth)
  if not for_loops.is_plain(value) or depth > 8 then refuse 'an argument is an object' end
  local keys = {}
  for key in pairs(value) do
    if type(key) ~= 'string' and math.type(key) ~= 'integer' then refuse 'a table has keys other than names and positions' end
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return math.type(a) == 'integer' end
    return a < b
  end)
  local parts = seen.parts
  parts[#parts + 1] = '{'
  for _, key in ipairs(keys) do
    parts[#parts + 1] = ('%q'):format(key)
    add_value(seen, value[key], depth + 1)
  end
  parts[#parts + 1] = '}'
end

-- An argument, or a part of one.
function add_value(seen, value, depth)
  local kind = type(value)
  if is_tensor(value) then
    if value.requires_grad and torch.is_grad_enabled() then refuse 'an argument requires a gradient' end
    add_tensor(seen, value, 'an argument')
    seen.tensors[#seen.tensors + 1] = value
  elseif kind == 'table' then
    add_table(seen, value, depth)
  elseif kind == 'nil' or kind == 'boolean' or kind == 'number' or kind == 'string' then
    seen.parts[#seen.parts + 1] = ('%q'):format(value)
  else
    refuse(('an argument is a %s'):format(torch.type(value)))
  end
end

local function add_fixed(seen, tensor, what)
  add_tensor(seen, tensor, what)
  seen.parts[#seen.parts + 1] = tensor:data_ptr()
end

local function add_module(seen, module, gradients)
  for _, m in ipairs(module:modules()) do seen.parts[#seen.parts + 1] = tostring(m.training) end
  for _, p in ipairs(module:parameters()) do
    if gradients and p.requires_grad then refuse 'parameters require gradients' end
    add_fixed(seen, p, 'a parameter')
  end
  for _, b in ipairs(module:buffers()) do add_fixed(seen, b, 'a buffer') end
end

local function add_upvalues(seen, f)
  local i = 1
  local name, value = debug.getupvalue(f, i)
  while name do
    if is_tensor(value) then
      add_fixed(seen, value, ('upvalue %s'):format(name))
    elseif is_module(value) then
      add_module(seen, value, false)
    elseif type(value) == 'table' or type(value) == 'userdata' or type(value) == 'function' or type(value) == 'thread' then
      seen.parts[#seen.parts + 1] = identity(value)
    else
      seen.parts[#seen.parts + 1] = ('%q'):format(value)
    end
    i = i + 1
    name, value = debug.getupvalue(f, i)
  end
end

-- Returns { parts of the key, tensors among the arguments, device } of a call, and its key; or nil
-- and the reason why there is no graph.
local function look(model, arguments)
  local seen = { parts = {}, tensors = {} }
  local parts = seen.parts
  for _, mode in ipairs { torch.is_grad_enabled(), torch.is_autocast_enabled 'cuda' } do
    parts[#parts + 1] = tostring(mode)
  end
  parts[#parts + 1] = tostring(torch.get_autocast_dtype 'cuda')
  parts[#parts + 1] = tostring(torch.get_default_dtype())
  local ok, refusal = pcall(function()
    if is_module(model) then
      add_module(seen, model, torch.is_grad_enabled())
    else
      add_upvalues(seen, model)
    end
    for i = 1, arguments.n do add_value(seen, arguments[i], 1) end
    if seen.device == nil then refuse 'no tensor is on a GPU' end
    if torch.cuda.is_current_stream_capturing() then refuse 'it is part of another capture' end
  end)
  if ok then return seen, table.concat(parts, ' ') end
  if type(refusal) == 'table' and refusal.why then return nil, refusal.why end
  error(refusal, 0)
end

-- ---- results ------------------------------------------------------------------------------------

-- Address of a tensor's storage.
local function memory(tensor) return tensor:data_ptr() - tensor:storage_offset() * tensor.itemsize end

-- The reason why results cannot be replayed; nil if they can.
local function unfit(value, arguments)
  if is_tensor(value) then
    if not value.is_cuda then return 'a result is not on a GPU' end
    if value.requires_grad then return 'a result requires a gradient' end
    for _, t in ipairs(arguments) do
      if value ~= t and memory(value) == memory(t) then return 'a result is a view of an argument' end
    end
  elseif for_loops.is_plain(value) then
    for _, inner in pairs(value) do
      local why = unfit(inner, arguments)
      if why then return why end
    end
  elseif value ~= nil and type(value) ~= 'boolean' then
    return ('a result is a %s, which a replay would not compute'):format(torch.type(value))
  end
end

-- Copies a value with each tensor replaced by f(tensor).
local function mapped(value, f)
  if is_tensor(value) then return f(value) end
  if not for_loops.is_plain(value) then return value end
  local copy = {}
  for key, inner in pairs(value) do copy[key] = mapped(inner, f) end
  return copy
end

local function mapped_all(values, f)
  local copy = { n = values.n }
  for i = 1, values.n do copy[i] = mapped(values[i], f) end
  return copy
end

-- ---- a graph ------------------------------------------------------------------------------------

-- Captures f on copies of the arguments. Raises the errors of f.
local function capture(f, arguments, seen)
  local of, inputs = {}, {}
  local static = mapped_all(arguments, function(tensor)
    if of[tensor] == nil then
      of[tensor] = torch.empty_strided(tensor.shape, tensor:stride(), { dtype = tensor.dtype, device = tensor.device })
    end
    inputs[#inputs + 1] = of[tensor]
    return of[tensor]
  end)
  for i, tensor in ipairs(seen.tensors) do inputs[i] = of[tensor] end
  local entry = { graph = torch.cuda.CUDAGraph(), inputs = inputs }
  torch.cuda.graph(entry.graph, function() entry.results = table.pack(f(table.unpack(static, 1, static.n))) end)
  return entry
end

local function replay(entry, seen)
  local given, copies = {}, {}
  for i, tensor in ipairs(seen.tensors) do
    entry.inputs[i]:copy_(tensor)
    given[entry.inputs[i]] = tensor
  end
  entry.graph:replay()
  local results = mapped_all(entry.results, function(tensor)
    if given[tensor] then return given[tensor] end
    copies[tensor] = copies[tensor] or tensor:clone()
    return copies[tensor]
  end)
  return table.unpack(results, 1, results.n)
end

--- Returns a function with the results of f. model: the module or function with the state that f
--- depends on;
-- tell(why): called with the reason when calls with a key get no graph.
return function(f, model, tell)
  local entries, count = {}, 0 -- by key: false: not captured; true: ran once; a table: a graph

  local function run_once(seen, key, arguments)
    local versions = {}
    for i, tensor in ipairs(seen.tensors) do versions[i] = torch._C.version_of(tensor) end
    local results = table.pack(f(table.unpack(arguments, 1, arguments.n)))
    local why = unfit({ table.unpack(results, 1, results.n) }, seen.tensors)
    for i, tensor in ipairs(seen.tensors) do
      if torch._C.version_of(tensor) ~= versions[i] then why = 'it writes to an argument' end
    end
    entries[key] = why == nil
    if why then tell(why) end
    return table.unpack(results, 1, results.n)
  end

  return function(...)
    local arguments = table.pack(...)
    local seen, key = look(model, arguments)
    local entry
    if seen then
      entry = entries[key]
    else
      tell(key)
    end
    if entry == nil and seen and count < MOST then
      count = count + 1
      return run_once(seen, key, arguments)
    end
    if not entry then return f(...) end
    local _ <close> = torch.cuda.device(seen.device.index)
    if entry == true then
      local ok, made = pcall(capture, f, arguments, seen)
      entries[key] = ok and made
      if not ok then
        tell(tostring(made))
        return f(...)
      end
      entry = made
    end
    return replay(entry, seen)
  end
end
