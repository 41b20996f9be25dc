-- classes.lua - writes the reference of the names that are no ops: tensors, functions of modules,
-- classes of layers, optimizers, schedulers and distributions with their arguments and methods, and
-- a list of all public names from A to Z. Descriptions and sentences of arguments come from
-- inventory.lua, examples and the heads of files from source.lua.
--
-- Usage: build/ltensor scripts/site/classes.lua OUT_DIR    prints the pages, in order, to stdout

local here = arg[0]:match '^(.*)/' or '.'
package.path = here .. '/?.lua;' .. here .. '/../gen/?.lua;' .. package.path
local examples = require 'examples'
local inventory = require 'inventory'
local library = require 'library'
local source = require 'source'
local subjects = require 'subjects'
local write = require('declarations').write
local out = assert(arg[1], 'OUT_DIR is missing')

-- ---- the names ----------------------------------------------------------------------------------

local entries = inventory.collect(library)
local by_module, methods_of, class_of = {}, {}, {} -- lists of entries; the entry of a class
for _, e in ipairs(entries) do
  local map, key = by_module, e.module
  if e.kind == 'method' and e.class then map, key = methods_of, e.class end
  map[key] = map[key] or {}
  table.insert(map[key], e)
  if e.kind == 'class' then class_of[e.value] = e end
end
for _, list in pairs(by_module) do table.sort(list, function(a, b) return a.name < b.name end) end
for _, list in pairs(methods_of) do table.sort(list, function(a, b) return a.name < b.name end) end

-- ---- pages --------------------------------------------------------------------------------------

local places = {} -- entry -> its page and heading

-- The identifier that the site gives a heading.
local function slug(heading) return (heading:lower():gsub('[^%w_%s-]', ''):gsub('[%s-]+', '-')) end

local Page = {}
Page.__index = Page

local function new_page(name, title)
  local page = setmetatable({ name = name, parts = { ('# %s\n'):format(title) }, ids = {} }, Page)
  page.ids[slug(title)] = 0
  return page
end

function Page:add(text)
  if text then self.parts[#self.parts + 1] = text end
end

-- entry: the one that the heading belongs to.
function Page:heading(level, text, entry)
  local id = slug(text)
  if self.ids[id] then
    self.ids[id] = self.ids[id] + 1
    id = id .. '_' .. self.ids[id]
  else
    self.ids[id] = 0
  end
  if entry then places[entry] = self.name .. '.md#' .. id end
  self:add(('%s %s\n'):format(('#'):rep(level), text))
end

-- Text without markup, except spans of code.
local function escaped(text)
  local result, at = {}, 1
  while true do
    local first, last = text:find('`[^`]+`', at)
    result[#result + 1] = text:sub(at, first and first - 1):gsub('[\\%*_<%[%]|#]', '\\%0')
    if not first then break end
    result[#result + 1] = text:sub(first, last)
    at = last + 1
  end
  return table.concat(result)
end

-- A comment as Markdown: the lines of a paragraph belong together.
local function prose(comment) return (escaped(comment):gsub('\n%s*\n', '\n\n'):gsub('\n +', '\n')) end

-- The comment at the head of a file, as a sentence.
local function head_of(file)
  return (prose(file.head):gsub('^%l%l+%f[%s,;]', function(word) return word:sub(1, 1):upper() .. word:sub(2) end)) .. '\n'
end

local function add_example(page, file, name)
  local example = file and file.examples[name]
  if example then page:add(examples.markdown(example)) end
end

local function shown(value)
  if type(value) == 'string' then return ("'%s'"):format(value) end
  if math.type(value) == 'float' then return ('%.14g'):format(value) end
  if type(value) ~= 'table' then return tostring(value) end
  local items = {}
  for i, item in ipairs(value) do items[i] = shown(item) end
  return '{' .. table.concat(items, ', ') .. '}'
end

-- How a function is called: a, b = 1, {c = 2}
local function call_of(arguments)
  local row, named = {}, {}
  for _, a in ipairs(arguments) do
    local text = a.name
    if a.default ~= nil then text = text .. ' = ' .. shown(a.default) elseif a.optional and a.name ~= '...' then text = text .. '?' end
    table.insert(a.named and named or row, text)
  end
  if #named > 0 then row[#row + 1] = '{' .. table.concat(named, ', ') .. '}' end
  return table.concat(row, ', ')
end

local function bars(text) return (text:gsub('\\?|', '\\|')) end

local function table_of(arguments)
  if #arguments == 0 then return nil end
  local rows = { '| argument | type | default | meaning |\n|---|---|---|---|\n' }
  for _, a in ipairs(arguments) do
    local default = a.default ~= nil and '`' .. bars(shown(a.default)) .. '`' or a.optional and 'nil' or a.undeclared and '' or 'required'
    rows[#rows + 1] = ('| `%s`%s | %s | %s | %s |\n'):format(a.name, a.named and ', by name' or '', a.type and '`' .. bars(a.type) .. '`' or '', default, bars(escaped(a.text or '')))
  end
  return table.concat(rows)
end

-- level: of the heading. prefix: before the name. called: the name in the call.
local function add_function(page, level, e, prefix, called, file)
  page:heading(level, prefix .. e.name, e)
  page:add(('```text\n%s%s(%s)\n```\n'):format(called, e.name, call_of(e.arguments)))
  page:add(prose(e.doc or '') .. '\n')
  page:add(table_of(e.arguments))
  add_example(page, file, e.name)
end

local function add_methods(page, level, class, called)
  for _, m in ipairs(methods_of[class] or {}) do
    if not m.overrides then add_function(page, level, m, called .. ':', called .. ':') end
  end
end

local function add_class(page, e, prefix, file)
  page:heading(2, prefix .. e.name, e)
  page:add(('```text\n%s%s(%s)\n```\n'):format(prefix, e.name, call_of(e.arguments)))
  page:add(prose(e.doc or '') .. '\n')
  page:add(table_of(e.arguments))
  add_example(page, file, e.name)
  add_methods(page, 3, e.module .. '.' .. e.name, e.name)
end

-- Where the reference of an op is, from a page of this folder.
local function place_of_op(op)
  local declared = op.ops[1]
  return ('../ops/%s.md#%s'):format(subjects.of(declared).id, slug(declared.name))
end

-- The names of a module: classes, functions, values, and links to ops.
local function add_module(page, module, called, files)
  local ops, values = {}, {}
  local function file_with(name)
    for _, file in ipairs(files) do
      if file.examples[name] then return file end
    end
  end
  for _, e in ipairs(by_module[module] or {}) do
    if e.op then
      ops[#ops + 1] = ('[%s](%s)'):format(escaped(e.name), place_of_op(e.op))
    elseif e.kind == 'class' then
      if not places[e] then add_class(page, e, '', file_with(e.name)) end
    elseif e.kind == 'value' or e.kind == 'field' then
      values[#values + 1] = ('| `%s` | %s |\n'):format(e.name, bars(escaped(e.doc or '')))
      places[e] = ('%s.md#%s'):format(page.name, slug(module .. ' values'))
    else
      add_function(page, 2, e, '', called, file_with(e.name))
    end
  end
  if #values > 0 then
    page:heading(2, module .. ' values')
    page:add('| name | meaning |\n|---|---|\n' .. table.concat(values))
  end
  if #ops > 0 then
    page:heading(2, module .. ' ops')
    page:add('These names are ops: ' .. table.concat(ops, ' · ') .. '.\n')
  end
end

local function emit(title) io.write(title, '\n') end
local function emit_page(page)
  write(('%s/%s.md'):format(out, page.name), table.concat(page.parts, '\n'))
  emit(('    classes/%s.md'):format(page.name))
end

local function section(title, prefix, module, folder, names)
  emit('  - ' .. title .. ':')
  local order, lists = library.by_file(names)
  for _, path in ipairs(order) do
    local classes = {}
    for _, name in ipairs(lists[path]) do
      local e = library.is_class(module[name]) and class_of[module[name]]
      if e and e.name == name then classes[#classes + 1] = e end
    end
    if #classes > 0 then
      local page = new_page(prefix .. path:gsub('%.', '_'), prefix .. (path:match '[^.]+$':gsub('_', ' ')))
      local file = source.read('lib/' .. folder .. path:gsub('%.', '/') .. '.lua')
      if file.head and not (#classes == 1 and classes[1].doc == file.head) then page:add(head_of(file)) end
      for _, e in ipairs(classes) do add_class(page, e, prefix, file) end
      emit_page(page)
    end
  end
end

emit '- Classes and modules:'
section('Layers', 'nn.', torch.nn, 'nn/', torch.nn.__names)
section('Optimizers', 'optim.', torch.optim, 'optim/', torch.optim.__names)
section('Schedulers', 'lr_scheduler.', torch.optim.lr_scheduler, 'optim/lr_scheduler/', torch.optim.lr_scheduler.__names)
section('Distributions', 'distributions.', torch.distributions, 'distributions/', torch.distributions.__names)

-- ---- modules ------------------------------------------------------------------------------------

emit '  - Modules:'

local of_tensor = new_page('tensor', 'torch.Tensor')
of_tensor:add 'The fields of a tensor, and its methods that are no ops; the ops are listed at the end.\n'
add_module(of_tensor, 'torch.Tensor', 'x:', {})
emit_page(of_tensor)

local of_torch = new_page('torch', 'torch')
of_torch:add 'Functions of torch that are no ops: tensors from numbers and files, settings, random numbers, gradients.\n'
add_module(of_torch, 'torch', 'torch.', {})
add_methods(of_torch, 3, 'torch.Generator', 'Generator')
emit_page(of_torch)

-- Titles, and the files with the heads that introduce a page.
local pages = {
  { 'nn.init', 'nn/init' }, { 'nn.utils', 'nn/utils/norms', 'nn/utils/rnn', 'nn/utils/fusion', 'nn/utils/parametrize', 'nn/utils/parametrizations', 'nn/utils/prune' },
  { 'nn.functional', 'nn/functional/triplet', 'nn/functional/recurrent', 'nn/functional/linear_cross_entropy' },
  { 'linalg', 'linalg' }, { 'fft', 'fft' }, { 'autograd', 'autograd', 'autograd/functional' }, { 'cuda', 'cuda', 'cuda_memory' }, { 'amp', 'amp' },
  { 'compile', 'compile' }, { 'kernel', 'compile/kernel' }, { 'onnx', 'onnx' }, { 'sparse', 'sparse' }, { 'signal', 'signal' }, { 'random', 'random' }, { 'hub', 'hub' }, { 'serialization', 'files/safe_globals' },
  { 'profiler', 'profiler' }, { 'testing', 'testing' }, { 'vision', 'vision' }, { 'vision.transforms', 'vision/transforms', 'vision/transforms/functional' }, { 'audio', 'audio' },
  { 'func', 'func/reverse', 'func/forward', 'func/vmap', 'func/modules', public = torch.func },
  { 'distributed', 'distributed', 'distributed/groups', 'distributed/begin', 'distributed/collectives', 'distributed/lists', 'distributed/messages',
    'distributed/objects', 'distributed/work', 'distributed/future', 'distributed/nccl', public = torch.distributed },
  { 'distributed.checkpoint', 'distributed/checkpoint', public = torch.distributed.checkpoint },
  { 'distributed.fsdp', 'distributed/fsdp', public = torch.distributed.fsdp },
  { 'distributed.optim', 'distributed/optim' }, { 'distributed.algorithms', 'distributed/algorithms/join', 'distributed/algorithms/default_hooks' },
  { 'utils.data', 'utils/data/dataset', 'utils/data/datasets', 'utils/data/tensor_dataset', 'utils/data/dataloader', 'utils/data/sampler', 'utils/data/distributed',
    'utils/data/collate', 'utils/data/csv', 'utils/data/columns', 'utils/data/idx', 'utils/data/image', 'utils/data/text' },
  { 'utils.checkpoint', 'utils/checkpoint' }, { 'utils.plot', 'utils/plot', 'utils/plot/live' }, { 'utils.display', 'utils/display' },
  { 'utils.progress', 'utils/progress' }, { 'utils.tensorboard', 'utils/tensorboard' }, { 'utils.benchmark', 'utils/benchmark' },
  { 'utils.log', 'utils/log' }, { 'utils.epochs', 'utils/epochs' },
  { 'utils.dlpack', 'utils/dlpack' },
  { 'backends' }, { 'nn' }, { 'nn.parallel', 'nn/parallel' }, { 'nn.modules.module', 'nn/module/hooks' }, { 'nn.attention', 'nn/attention' },
  { 'optim.swa_utils', 'optim/swa_utils' }, { 'export', 'export' }, { 'special' }, { 'masked' }, { 'optim' }, { 'optim.lr_scheduler' }, { 'distributions' },
  { 'distributions.constraints', 'distributions/constraints' }, { 'utils.arrow', 'utils/arrow' }, { 'utils' },
}

-- The page of a module: the one of the longest title that its name begins with.
local modules_of = {}
for module in pairs(by_module) do
  local short, best = module:gsub('^torch%.', ''), nil
  for _, entry in ipairs(pages) do
    local title = entry[1]:match '^[%w_.]+'
    if (short == title or short:sub(1, #title + 1) == title .. '.') and (not best or #title > #best[1]:match '^[%w_.]+') then best = entry end
  end
  if best then
    modules_of[best] = modules_of[best] or {}
    table.insert(modules_of[best], module)
  end
end

for _, entry in ipairs(pages) do
  local page, files = new_page(entry[1]:gsub('[^%w]+', '_'), entry[1]), {}
  for i = 2, #entry do
    files[#files + 1] = source.read('lib/' .. entry[i] .. '.lua')
    if files[#files].head then page:add(head_of(files[#files])) end
  end
  local modules = modules_of[entry] or {}
  table.sort(modules)
  for _, module in ipairs(modules) do
    if #modules > 1 then page:heading(2, module) end
    add_module(page, module, module:match '[^.]+$' .. '.', files)
    if module == 'torch.cuda' then
      for _, class in ipairs { 'Stream', 'Event', 'CUDAGraph' } do add_methods(page, 3, 'torch.cuda.' .. class, class) end
    end
  end
  -- functions and methods of objects that have no public name of their own
  local known = {}
  for _, module in ipairs(modules) do
    for _, e in ipairs(by_module[module]) do known[e.name] = true end
  end
  for _, file in ipairs(files) do
    for _, f in ipairs(file.functions) do
      local class = f.name:match '^([%w_]+):'
      local public = not entry.public or entry.public[f.name] ~= nil
      if public and not known[f.name] and not (class and known[class]) then
        page:heading(2, f.name)
        page:add(('```text\n%s(%s)\n```\n\n%s\n'):format(f.name, f.arguments, prose(f.comment)))
        add_example(page, file, f.name)
      end
    end
  end
  if next(page.ids, next(page.ids)) then emit_page(page) end -- more headings than the title
end

-- ---- A to Z -------------------------------------------------------------------------------------

local by_letter = {}
for _, e in ipairs(entries) do
  local place = e.op and place_of_op(e.op) or places[e] or e.same_as and places[e.same_as]
  if place and e.kind ~= 'op' then
    local full = e.module .. '.' .. e.name
    if e.module == 'torch.Tensor' then full = e.kind == 'field' and 'x.' .. e.name or 'x:' .. e.name end
    if e.class then full = e.class .. ':' .. e.name end
    local letter = e.name:sub(1, 1):upper()
    by_letter[letter] = by_letter[letter] or {}
    table.insert(by_letter[letter], { key = e.name:lower() .. '\n' .. full, text = ('[%s](%s)'):format(escaped(full), place) })
  end
end
local letters = {}
for letter in pairs(by_letter) do letters[#letters + 1] = letter end
table.sort(letters)
local names = new_page('names', 'A to Z')
names:add 'All public names, by their last part. Methods that a class inherits are listed with the class that has them first.\n'
for _, letter in ipairs(letters) do
  table.sort(by_letter[letter], function(a, b) return a.key < b.key end)
  local links = {}
  for i, item in ipairs(by_letter[letter]) do links[i] = item.text end
  names:heading(2, letter)
  names:add(table.concat(links, ' · ') .. '\n')
end
write(out .. '/names.md', table.concat(names.parts, '\n'))
