-- classes.lua - writes the reference of what lib/ has besides ops: classes of layers, optimizers, schedulers and distributions, and the
-- functions of modules. What is said of each is the comment above it, or at the head of its file, and its example (source.lua); the
-- arguments of a layer are those that it reads.
--
-- Usage: build/ltensor scripts/site/classes.lua OUT_DIR    prints the pages, in order, to stdout

local here = arg[0]:match '^(.*)/' or '.'
package.path = here .. '/?.lua;' .. here .. '/../gen/?.lua;' .. package.path
local examples = require 'examples'
local source = require 'source'
local write = require('declarations').write
local out = assert(arg[1], 'OUT_DIR is missing')

-- ---- arguments of layers, as their files tell torch.nn.arguments while they are loaded --------------------------------

local signatures = {}
local function words(text)
  local list = {}
  for word in (text or ''):gmatch '%S+' do list[#list + 1] = word end
  return list
end

local function shown(value)
  if type(value) == 'string' then return ("'%s'"):format(value) end
  if math.type(value) == 'float' then return ('%.14g'):format(value) end
  if type(value) ~= 'table' then return tostring(value) end
  local items = {}
  for i, item in ipairs(value) do items[i] = shown(item) end
  return '{' .. table.concat(items, ', ') .. '}'
end

local real = require 'torch.nn.arguments'
package.loaded['torch.nn.arguments'] = function(what, required, positional, defaults, more)
  local row, named, seen = words(required), {}, {}
  for _, name in ipairs(words(positional)) do
    local default = (defaults or {})[name]
    row[#row + 1] = default ~= nil and name .. ' = ' .. shown(default) or name .. '?'
    seen[name] = true
  end
  for name, default in pairs(defaults or {}) do
    if not seen[name] then named[#named + 1] = name .. ' = ' .. shown(default) end
  end
  table.sort(named)
  if #named > 0 then row[#row + 1] = '{' .. table.concat(named, ', ') .. '}' end
  signatures[what] = ('(%s)'):format(table.concat(row, ', '))
  return real(what, required, positional, defaults, more)
end
for _, file in pairs(torch.nn.__names) do require('torch.nn.' .. file) end

-- ---- pages ------------------------------------------------------------------------------------------------------------

-- What a comment says, as Markdown: nothing in it is markup, and its lines belong together.
local function prose(comment)
  local text = comment:gsub('[\\%*_<%[%]|#]', '\\%0')
  return (text:gsub('\n%s*\n', '\n\n'):gsub('\n +', '\n'))
end

local function add_example(page, file, name)
  local example = file.examples[name]
  if example then page[#page + 1] = examples.markdown(example) end
end

local function add_functions(page, file)
  for _, f in ipairs(file.functions) do
    page[#page + 1] = ('## %s\n\n```text\n%s(%s)\n```\n\n%s\n'):format(f.name, f.name, f.arguments, prose(f.comment))
    add_example(page, file, f.name)
  end
end

-- The arguments of a class: those that its file reads by torch.nn.arguments, or else its constructor's; nil where neither says them.
local function arguments_of(class)
  if signatures[class.__classname] then return signatures[class.__classname] end
  local init = class.init and require('torch.support.checked').original(class.init)
  local info = type(init) == 'function' and debug.getinfo(init, 'u')
  if not info or info.isvararg then return nil end
  local names = {}
  for i = 2, info.nparams do names[#names + 1] = debug.getlocal(init, i) end
  return ('(%s)'):format(table.concat(names, ', '))
end

local function page_of_classes(title, prefix, file, names, module)
  local page = { ('# %s\n'):format(title), file.head and prose(file.head) .. '\n' or nil }
  table.sort(names)
  for _, name in ipairs(names) do
    page[#page + 1] = ('## %s%s\n'):format(prefix, name)
    local arguments = arguments_of(module[name])
    if arguments then page[#page + 1] = ('```text\n%s%s%s\n```\n'):format(prefix, name, arguments) end
    local comment = source.comment_of_class(file, name)
    if comment then page[#page + 1] = prose(comment) .. '\n' end
    add_example(page, file, name)
  end
  return table.concat(page, '\n')
end

local function emit(title) io.write(title, '\n') end
local function emit_page(name, text)
  write(('%s/%s.md'):format(out, name), text)
  emit(('    classes/%s.md'):format(name))
end

-- The classes of a module by the files that have them: { {file, {names}}, ... } in order of the files.
local function by_file(names)
  local lists, order = {}, {}
  for name, file in pairs(names) do
    if not lists[file] then
      lists[file] = {}
      order[#order + 1] = file
    end
    table.insert(lists[file], name)
  end
  table.sort(order)
  return order, lists
end

local function is_class(value)
  local metatable = debug.getmetatable(value)
  return type(value) == 'table' and type(metatable) == 'table' and rawget(metatable, '__name') == 'class'
end

local function section(title, prefix, module, folder, names)
  emit('  - ' .. title .. ':')
  local order, lists = by_file(names)
  for _, path in ipairs(order) do
    local classes = {}
    for _, name in ipairs(lists[path]) do
      if is_class(module[name]) then classes[#classes + 1] = name end
    end
    if #classes > 0 then
      local short = path:match '[^.]+$'
      emit_page(prefix .. path:gsub('%.', '_'), page_of_classes(prefix .. (short:gsub('_', ' ')), prefix, source.read('lib/' .. folder .. path:gsub('%.', '/') .. '.lua'), classes, module))
    end
  end
end

emit '- Classes and modules:'
section('Layers', 'nn.', torch.nn, 'nn/', torch.nn.__names)
section('Optimizers', 'optim.', torch.optim, 'optim/', torch.optim.__names)
section('Schedulers', 'lr_scheduler.', torch.optim.lr_scheduler, 'optim/lr_scheduler/', torch.optim.lr_scheduler.__names)
section('Distributions', 'distributions.', torch.distributions, 'distributions/', torch.distributions.__names)

emit '  - Functions of modules:'
for _, entry in ipairs {
  { 'nn.init', 'nn/init' }, { 'nn.utils', 'nn/utils/norms', 'nn/utils/rnn', 'nn/utils/fusion', 'nn/utils/parametrize', 'nn/utils/parametrizations', 'nn/utils/prune' },
  { 'nn.functional, in Lua', 'nn/functional/resample', 'nn/functional/sampling', 'nn/functional/fractional', 'nn/functional/recurrent', 'nn/functional/linear_cross_entropy' },
  { 'linalg', 'linalg' }, { 'fft', 'fft' }, { 'autograd', 'autograd', 'autograd/functional' }, { 'cuda', 'cuda', 'cuda_memory' }, { 'amp', 'amp' },
  { 'compile', 'compile' }, { 'onnx', 'onnx' }, { 'sparse', 'sparse' }, { 'signal', 'signal' }, { 'random', 'random' }, { 'hub', 'hub' },
  { 'profiler', 'profiler' }, { 'testing', 'testing' }, { 'vision', 'vision' }, { 'audio', 'audio' },
  { 'utils.data', 'utils/data/dataset', 'utils/data/datasets', 'utils/data/dataloader', 'utils/data/collate', 'utils/data/csv' },
} do
  local page = { ('# %s\n'):format(entry[1]) }
  for i = 2, #entry do
    local file = source.read('lib/' .. entry[i] .. '.lua')
    if file.head then page[#page + 1] = prose(file.head) .. '\n' end
    add_functions(page, file)
  end
  emit_page(entry[1]:gsub('[^%w]+', '_'), table.concat(page, '\n'))
end
