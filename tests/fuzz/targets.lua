-- targets.lua - what there is to call, found by looking: functions by the path that names them, classes, objects of
-- every class, and what their metatables hold.
--
-- targets.functions is a list of { text = 'torch.add', name = 'add' }; targets.objects one of { text = 'torch.ones(2)', methods = {...},
-- metamethods = {...} }, where text makes a fresh object. Classes are tried with a few lists of arguments; those that
-- make an object are kept as its text.

local M = { functions = {}, objects = {}, classes = {} }

local IDENTIFIER = '^[%a_][%w_]*$'

local function path(owner, key)
  if key:find(IDENTIFIER) and load('return x.' .. key) then return owner .. '.' .. key end
  return ('%s[%q]'):format(owner, key)
end

local function is_class(value)
  local metatable = debug.getmetatable(value)
  return type(value) == 'table' and type(metatable) == 'table' and metatable.__name == 'class'
end

local seen = {}

-- What would end the program, or the fuzzer's own view of it; and what takes the memory of a tensor of a GPU away, which nothing may read
-- then.
local LEFT_OUT = { ['torch._C.raise'] = true, ['torch._C.storage_drop'] = true, ['torch._C.storage_take'] = true }

local function walk(value, text, depth)
  if seen[value] or depth > 6 then return end
  seen[value] = true
  local keys, later = {}, rawget(value, '__names')
  for key in next, value do keys[key] = true end
  if type(later) == 'table' then
    for key in next, later do keys[key] = true end
  end
  local sorted = {}
  for key in pairs(keys) do
    if type(key) == 'string' and key ~= '__names' then sorted[#sorted + 1] = key end
  end
  table.sort(sorted)
  for _, key in ipairs(sorted) do
    local member, name = value[key], path(text, key)
    if is_class(member) then
      if not seen[member] then
        M.classes[#M.classes + 1] = { text = name, value = member }
        M.functions[#M.functions + 1] = { text = name, name = key }
        walk(member, name, depth + 1)
      end
    elseif type(member) == 'table' then
      walk(member, name, depth + 1)
      local metatable = debug.getmetatable(member)
      if type(metatable) == 'table' and metatable.__call then M.functions[#M.functions + 1] = { text = name, name = key } end
    elseif type(member) == 'function' and not LEFT_OUT[name] then
      M.functions[#M.functions + 1] = { text = name, name = key }
    end
  end
end

-- Texts of the members that are functions, and of the metatable's own.
local function members_of(value)
  local methods, metamethods, known = {}, {}, {}
  local metatable = debug.getmetatable(value)
  if type(metatable) ~= 'table' then return methods, metamethods end
  for key, member in next, metatable do
    if type(key) == 'string' and key:find '^__' and type(member) == 'function' and metatable == getmetatable(value) then metamethods[#metamethods + 1] = key end
  end
  local holder = metatable
  for _ = 1, 20 do
    local index = rawget(holder, '__index')
    if type(index) ~= 'table' then index = rawget(holder, '__methods') end
    if type(index) ~= 'table' then break end
    for key, member in next, index do
      if type(key) == 'string' and type(member) == 'function' and not known[key] and key:find(IDENTIFIER) then
        known[key] = true
        methods[#methods + 1] = key
      end
    end
    holder = debug.getmetatable(index)
    if type(holder) ~= 'table' then break end
  end
  table.sort(methods)
  table.sort(metamethods)
  return methods, metamethods
end

local kinds = {}

-- An object for each text that makes one; only a few of one kind.
local function add_object(text, note)
  note(text)
  local ok, value = pcall(assert(load('return ' .. text, '=object')))
  local metatable = ok and debug.getmetatable(value)
  if not ok or type(metatable) ~= 'table' or (type(value) ~= 'userdata' and type(value) ~= 'table') then return false end
  kinds[metatable] = (kinds[metatable] or 0) + 1
  if kinds[metatable] > 4 then return true end
  local methods, metamethods = members_of(value)
  M.objects[#M.objects + 1] = { text = text, methods = methods, metamethods = metamethods }
  return true
end

local P = "{torch.ones(2, {requires_grad = true})}"
local ARGUMENTS = { '', '4', '4, 4', '4, 4, 3', '4, 4, 3, 1', '4, 2, 3, 4', '0.5', 'torch.ones(3)', 'torch.ones(3), torch.ones(3)', 'torch.eye(3)', '5, torch.ones(3)', P, P .. ', {lr = 0.1}',
  'torch.optim.SGD(' .. P .. ', {lr = 0.1}), 2', 'torch.optim.SGD(' .. P .. ', {lr = 0.1}), {2, 4}', 'torch.optim.SGD(' .. P .. ', {lr = 0.1}), function(e) return e end', 'torch.optim.SGD(' .. P .. ', {lr = 0.1}), 0.1, 5', 'torch.optim.SGD(' .. P .. ', {lr = 0.1})',
  '{nn.Linear(2, 2)}', 'nn.Linear(2, 2)', '{a = nn.Linear(2, 2)}', '{torch.ones(2)}', 'torch.utils.data.TensorDataset(torch.ones(6, 2))', 'torch.utils.data.TensorDataset(torch.ones(6, 2)), {batch_size = 2}',
  '{torch.utils.data.TensorDataset(torch.ones(6, 2))}', 'torch.utils.data.TensorDataset(torch.ones(6, 2)), {1, 2}', 'torch.utils.data.SequentialSampler(torch.utils.data.TensorDataset(torch.ones(6, 2))), 2, true',
  '2, 4', '2, 2, 3', '{4}', '{4, 4}', '{1}, {1}', 'function() return 1 end', "'x'", '{}', '10, {2, 5}', '4, 6, {2}' }

local PLAIN = { 'torch.ones(2)', 'torch.randn(3, 4)', 'torch.ones(2, {requires_grad = true})', 'torch.arange(6)', "torch.device 'cpu'", 'torch.float32', 'torch.ones(2).shape', 'torch.Generator()',
  'torch.ones(2, {requires_grad = true}):sum().grad_fn', 'torch.no_grad()', 'torch.enable_grad()', 'torch.inference_mode()', "torch.autocast 'cpu'", 'torch.complex(1, 2)', 'torch.finfo(torch.float32)', 'torch.iinfo(torch.int8)',
  'torch.ones(2):untyped_storage()', 'torch.ones(2):storage()', 'torch.profiler.profile()', 'torch.ones(2):iter()', 'torch.to_dlpack(torch.ones(2))', 'torch.ones(2):__dlpack__{max_version = {1, 0}}', 'torch.to_arrow(torch.ones(2))' }

local GPU = { "torch.ones(3, 2, {device = 'cuda:0'})", "torch.ones(3, 2, {device = 'cuda:1', requires_grad = true})", 'torch.cuda.Stream()', 'torch.cuda.Event()', 'torch.cuda.Event{enable_timing = true}', 'torch.cuda.CUDAGraph()', "torch.device 'cuda:1'",
  "torch.cuda.get_device_properties(0)", 'torch.cuda.current_stream()', 'torch.cuda.device(1)', 'torch.cuda.stream(torch.cuda.Stream())', "torch.Generator{device = 'cuda'}", 'torch.ones(3):pin_memory()', 'nn.Linear(2, 2):cuda(1)', 'torch.nn.DataParallel(nn.Linear(2, 2):cuda())', 'torch.amp.GradScaler()',
  'torch.cuda.copies()' }

--- note(text) is called before each object that is made: one may not come to its end.
function M.find(gpus, note)
  for _, part in ipairs { 'amp', 'distributions', 'linalg', 'nn', 'optim', 'profiler', 'utils', 'autograd', 'cuda', 'backends', 'nn.functional' } do
    local ok, module = pcall(require, 'torch.' .. part)
    if ok and type(module) == 'table' then walk(module, 'torch.' .. part, 1) end
  end
  walk(torch, 'torch', 0)
  for _, text in ipairs(PLAIN) do add_object(text, note) end
  if gpus > 0 then
    for _, text in ipairs(GPU) do add_object(text, note) end
  end
  for _, class in ipairs(M.classes) do
    local made = 0
    for _, arguments in ipairs(ARGUMENTS) do
      if made < 2 and add_object(class.text .. '(' .. arguments .. ')', note) then made = made + 1 end
    end
    if made == 0 then M.without = (M.without or '') .. ' ' .. class.text end
  end
  return M
end

return M
