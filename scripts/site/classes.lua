-- classes.lua - generates the reference pages of lib/ except ops: classes of layers, optimizers, schedulers and
-- distributions, and functions of modules. The description of each is the comment above it, or at the head of
-- its file, and its example (source.lua); the arguments come from library.lua.
--
-- Usage: build/ltensor scripts/site/classes.lua OUT_DIR    prints the pages, in order, to stdout

local here = arg[0]:match '^(.*)/' or '.'
package.path = here .. '/?.lua;' .. here .. '/../gen/?.lua;' .. package.path
local examples = require 'examples'
local library = require 'library'
local source = require 'source'
local write = require('declarations').write
local out = assert(arg[1], 'OUT_DIR is missing')

-- ---- pages ------------------------------------------------------------------------------------------------------------

-- A comment as Markdown: markup characters are escaped, and the lines of a paragraph are joined.
local function prose(comment)
  local text = comment:gsub('[\\%*_<%[%]|#]', '\\%0')
  return (text:gsub('\n%s*\n', '\n\n'):gsub('\n +', '\n'))
end

local function add_example(page, file, name)
  local example = file.examples[name]
  if example then page[#page + 1] = examples.markdown(example) end
end

-- Adds the commented functions of a file; with `public`, only the names in that module.
local function add_functions(page, file, public)
  for _, f in ipairs(file.functions) do
    if not public or public[f.name] ~= nil then
      page[#page + 1] = ('## %s\n\n```text\n%s(%s)\n```\n\n%s\n'):format(f.name, f.name, f.arguments, prose(f.comment))
      add_example(page, file, f.name)
    end
  end
end

local function shown(value)
  if type(value) == 'string' then return ("'%s'"):format(value) end
  if math.type(value) == 'float' then return ('%.14g'):format(value) end
  if type(value) ~= 'table' then return tostring(value) end
  local items = {}
  for i, item in ipairs(value) do items[i] = shown(item) end
  return '{' .. table.concat(items, ', ') .. '}'
end

-- The signature of a constructor, and a table of its arguments; nil if they are unknown.
local function arguments_of(class)
  local arguments = library.arguments_of(class)
  if not arguments then return nil end
  local row, named, rows = {}, {}, {}
  for i, a in ipairs(arguments.row) do
    row[i] = (a.required or arguments.undeclared) and a.name or a.default ~= nil and a.name .. ' = ' .. shown(a.default) or a.name .. '?'
    rows[#rows + 1] = ('| `%s` | by position or name | %s |'):format(a.name, a.required and 'required' or a.default ~= nil and '`' .. shown(a.default) .. '`' or 'none')
  end
  for i, a in ipairs(arguments.named) do
    named[i] = a.name .. ' = ' .. shown(a.default)
    rows[#rows + 1] = ('| `%s` | by name | `%s` |'):format(a.name, shown(a.default))
  end
  if #named > 0 then row[#row + 1] = '{' .. table.concat(named, ', ') .. '}' end
  local list = #rows > 0 and not arguments.undeclared and '| argument | given | default |\n|---|---|---|\n' .. table.concat(rows, '\n') .. '\n'
  return ('(%s)'):format(table.concat(row, ', ')), list
end

local function page_of_classes(title, prefix, file, names, module)
  local page = { ('# %s\n'):format(title), file.head and prose(file.head) .. '\n' or nil }
  for _, name in ipairs(names) do
    page[#page + 1] = ('## %s%s\n'):format(prefix, name)
    local arguments, list = arguments_of(module[name])
    if arguments then page[#page + 1] = ('```text\n%s%s%s\n```\n'):format(prefix, name, arguments) end
    if list then page[#page + 1] = list end
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

local function section(title, prefix, module, folder, names)
  emit('  - ' .. title .. ':')
  local order, lists = library.by_file(names)
  for _, path in ipairs(order) do
    local classes = {}
    for _, name in ipairs(lists[path]) do
      if library.is_class(module[name]) then classes[#classes + 1] = name end
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
  { 'compile', 'compile' }, { 'onnx', 'onnx' }, { 'sparse', 'sparse' }, { 'signal', 'signal' }, { 'random', 'random' }, { 'hub', 'hub' }, { 'serialization', 'files/safe_globals' },
  { 'profiler', 'profiler' }, { 'testing', 'testing' }, { 'vision', 'vision' }, { 'audio', 'audio' },
  { 'func', 'func/reverse', 'func/forward', 'func/vmap', 'func/modules', public = torch.func },
  { 'distributed', 'distributed', 'distributed/groups', 'distributed/begin', 'distributed/collectives', 'distributed/lists', 'distributed/messages',
    'distributed/objects', 'distributed/work', 'distributed/future', 'distributed/nccl', public = torch.distributed },
  { 'distributed.checkpoint', 'distributed/checkpoint', public = torch.distributed.checkpoint },
  { 'distributed.fsdp', 'distributed/fsdp', public = torch.distributed.fsdp },
  { 'distributed.optim', 'distributed/optim' }, { 'distributed.algorithms', 'distributed/algorithms/join', 'distributed/algorithms/default_hooks' },
  { 'utils.data', 'utils/data/dataset', 'utils/data/datasets', 'utils/data/tensor_dataset', 'utils/data/dataloader', 'utils/data/sampler', 'utils/data/distributed',
    'utils/data/collate', 'utils/data/csv', 'utils/data/idx', 'utils/data/image', 'utils/data/text' },
  { 'utils.checkpoint', 'utils/checkpoint' }, { 'utils.plot', 'utils/plot', 'utils/plot/live' }, { 'utils.display', 'utils/display' },
  { 'utils.progress', 'utils/progress' }, { 'utils.tensorboard', 'utils/tensorboard' }, { 'utils.benchmark', 'utils/benchmark' },
  { 'utils.log', 'utils/log' }, { 'utils.epochs', 'utils/epochs' },
  { 'utils.dlpack', 'utils/dlpack' },
} do
  local page = { ('# %s\n'):format(entry[1]) }
  for i = 2, #entry do
    local file = source.read('lib/' .. entry[i] .. '.lua')
    if file.head then page[#page + 1] = prose(file.head) .. '\n' end
    add_functions(page, file, entry.public)
  end
  emit_page(entry[1]:gsub('[^%w]+', '_'), table.concat(page, '\n'))
end
