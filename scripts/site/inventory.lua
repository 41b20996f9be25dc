-- inventory.lua - the public names of the library with their descriptions and arguments: for the
-- reference (subjects.lua) and for the test that each of them is described
-- (tests/lua/described_spec.lua). Run by build/ltensor.
--
-- A name is an op (its declaration describes it), a function, class, method, field or value. A
-- function or method in Lua is described by the comment above it, a class by the comment above it
-- or at the head of its file; lib/meta describes the names that are written in C, and may describe
-- any other. The sentences of arguments are, the most specific first: `---@param` above the
-- function or in lib/meta, the text `arguments` of the file, the shared text
-- (scripts/gen/described.lua). A method without a description of its own has that of the class from
-- which its class derives.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local root = here .. '../../'
local described = dofile(root .. 'scripts/gen/described.lua')
local declarations = dofile(root .. 'scripts/gen/declarations.lua')
local docs = dofile(root .. 'scripts/gen/docs.lua')
local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local declared = require 'torch.support.arguments'

local M = {}

local function lines_of(text)
  local lines = {}
  for line in (text .. '\n'):gmatch '([^\n]*)\n' do lines[#lines + 1] = line end
  return lines
end

local function contents(path)
  local file = io.open(path)
  if not file then return nil end
  local text = file:read 'a'
  file:close()
  return text
end

-- ---- comments -----------------------------------------------------------------------------------

-- A comment without its dashes: its words, and { parameter = { type, text } } of its lines @param.
local function parsed(lines)
  local words, parameters, last = {}, {}, nil
  for _, line in ipairs(lines) do
    local text = line:match '^%s*%-%-+ ?(.*)$'
    local name, mark, gap, rest = text:match '^@param ([%w_%.]+)(%??)(%s+)(.*)$'
    if name and #gap > 1 then -- without a type
      last = { text = rest }
      parameters[name] = last
    elseif name then
      -- a type: a word, in which brackets may hold spaces
      local at, depth = 1, 0
      while at <= #rest and (depth > 0 or not rest:sub(at, at):find '%s') do
        local c = rest:sub(at, at)
        if c:find '[%(%{%[<]' then depth = depth + 1 elseif c:find '[%)%}%]>]' then depth = depth - 1 end
        at = at + 1
      end
      if rest:sub(1, at - 1):find '^fun%b()$' and rest:sub(at - 1):find '^%):' then at = rest:find('%s', at + 2) or #rest + 1 end
      last = { type = rest:sub(1, at - 1), optional = mark ~= '', text = rest:sub(at):match '^%s*(.-)%s*$' }
      parameters[name] = last
    elseif text:find '^@' then
      last = nil
    elseif last and text:find '^%s+%S' then
      last.text = last.text .. ' ' .. text:match '^%s+(.*)$'
    else
      last = nil
      words[#words + 1] = text
    end
  end
  local text = table.concat(words, '\n'):match '^%s*(.-)%s*$'
  return text ~= '' and text or nil, parameters
end

local function lines_above(lines, number)
  local first = number
  while first > 1 and lines[first - 1]:find '^%s*%-%-' and not lines[first - 1]:find '^%s*%-%- %-%-%-%-' do first = first - 1 end
  return table.move(lines, first, number - 1, 1, {})
end

local files = {} -- by path

-- A file of lib/: its lines, its descriptions of arguments, the comment at its head.
local function file_at(path)
  if files[path] == nil then
    local text = contents(root .. path)
    files[path] = false
    if text then
      local file = { path = path, lines = lines_of(text), arguments = described.of_file(root .. path) }
      local last = 1
      while file.lines[last]:find '^%-%-' and not file.lines[last]:find '^%-%-%[' do last = last + 1 end
      file.head = (parsed(table.move(file.lines, 1, last - 1, 1, {})) or ''):gsub('^[%w_]+%.lua %- ', '')
      files[path] = file
    end
  end
  return files[path] or nil
end

local embedded = {}

-- The file of a function in Lua and the number of its first line there. The program may have been
-- built from older comments: the line is found by its text.
local function place_of(f)
  local info = debug.getinfo(f, 'S')
  local module = info.source:match '^=%[ltensor (torch%.?.*)%]$'
  if not module then return nil end
  local file = file_at(module == 'torch' and 'lib/init.lua' or 'lib/' .. module:sub(7):gsub('%.', '/') .. '.lua')
  embedded[module] = embedded[module] or lines_of(torch._C.module_source(module) or '')
  local built, number = embedded[module], info.linedefined
  if not file or not built[number] then return nil end
  if file.lines[number] == built[number] then return file, number end
  local nth = 0
  for i = 1, number do nth = nth + (built[i] == built[number] and 1 or 0) end
  for i, line in ipairs(file.lines) do
    if line == built[number] then
      nth = nth - 1
      if nth == 0 then return file, i end
    end
  end
  return file, nil
end

-- The function behind a checked one, or behind one that stands in a file of its own.
local function original_of(f)
  for _ = 1, 4 do
    local original = checked.original(f)
    if original == f and debug.getinfo(f, 'S').source:find('torch.support.', 1, true) then
      for i = 1, 6 do
        local name, value = debug.getupvalue(f, i)
        if name == 'target' then original = value() elseif name == 'f' and type(value) == 'function' then original = value end
      end
    end
    if original == f then break end
    f = original
  end
  return f
end

-- ---- lib/meta -----------------------------------------------------------------------------------

-- The fields of a type {name?: type, ...}, as arguments by name. The text has a sentence for each:
-- 'name: Sentence. name: Sentence.'.
local function options_of(type_name, text)
  local list, depth, start = {}, 0, 2
  for at = 2, #type_name do
    local c = type_name:sub(at, at)
    if (c == ',' or at == #type_name) and depth == 0 then
      local name, mark, kind = type_name:sub(start, at - 1):match '^%s*([%w_]+)(%??): (.+)$'
      local annotation = text and (' ' .. text):match('%s' .. name .. ': (.*)$')
      for _, other in ipairs(list) do
        if other.text then other.text = other.text:gsub('%s' .. name .. ': .*$', '') end
      end
      list[#list + 1] = { name = name, type = kind, optional = mark ~= '', named = true, text = annotation }
      start = at + 1
    elseif c:find '[{%[(]' then depth = depth + 1
    elseif c:find '[}%])]' then depth = depth - 1 end
  end
  return list
end

-- Full name -> { doc, parameters = { {name, type, text}, ... } } of the annotations that are
-- written by hand.
local function read_meta()
  local found = {}
  local list = io.popen(("ls '%slib/meta'"):format(root))
  local class_of, aliases = {}, {} -- by the local that has its methods; types
  for name in list:lines() do
    local comment, class = {}, nil
    for _, line in ipairs(lines_of(assert(contents(root .. 'lib/meta/' .. name)))) do
      local variable, holder, member, list_of_names = line:match '^local (%w+) = {}', line:match '^function ([%w_]+)[.:]([%w_]+)(%b())'
      class = line:match '^%-%-%-@class ([%w_%.]+)' or class
      local alias, meaning = line:match '^%-%-%-@alias ([%w_%.]+) (.+)$'
      if alias then aliases[alias] = meaning end
      local field, rest = line:match '^%-%-%-@field ([%w_]+)%??%s+(.*)$'
      if line:find '^%-%-%-' and not field then
        comment[#comment + 1] = line
      elseif field then
        local text = rest:match '%s%s(.+)$' or rest:match '^%S+%s+([%u`].+)$'
        if text and class then found[class .. '.' .. field] = { doc = text, type = rest:match '^%S+', parameters = {} } end
        comment = {}
      else
        if variable and class then class_of[variable] = class end
        if holder then
          local doc, parameters = parsed(comment)
          local entry = { doc = doc, parameters = {}, annotation = parameters }
          for parameter in list_of_names:gmatch '[%w_%.]+' do
            local p = parameters[parameter]
            local fields = p and (aliases[p.type] or p.type):match '^{%w+%??: .*}$'
            if fields then
              table.move(options_of(fields, p.text), 1, 100, #entry.parameters + 1, entry.parameters)
            elseif parameter ~= 'self' then
              table.insert(entry.parameters, { name = parameter, type = p and p.type, optional = p and p.optional, text = p and p.text })
            end
          end
          found[(class_of[holder] or holder) .. '.' .. member] = entry
        end
        comment = {}
      end
    end
  end
  list:close()
  return found
end

-- ---- entries ------------------------------------------------------------------------------------

local function is_class(value)
  local metatable = debug.getmetatable(value)
  return type(value) == 'table' and type(metatable) == 'table' and rawget(metatable, '__name') == 'class'
end

local function is_object_table(value)
  return rawget(value, 'name') ~= nil or debug.getmetatable(value) and rawget(debug.getmetatable(value), '__tostring') ~= nil
end

-- Names of PyTorch's documented interface that begin with an underscore.
local public_by_name = { _compile_kernel = true }

-- The public names of a module, in order: its fields, and the names that it loads on first use.
local function names_of(module)
  local names, seen = {}, {}
  local function add(list)
    for name in pairs(list or {}) do
      if type(name) == 'string' and (name:sub(1, 1) ~= '_' or public_by_name[name]) and not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  add(module)
  add(rawget(module, '__names'))
  local metatable = debug.getmetatable(module)
  add(type(metatable) == 'table' and rawget(metatable, '__parts'))
  table.sort(names)
  return names
end

local function sentence(text) return text and text ~= '' and text or nil end

-- The arguments of a function: { {name, type, default, text, named}, ... }.
local function arguments_of(f, owners, comment, file, meta)
  local signature, list = declared.signature_of(f), {}
  local original = original_of(f)
  local function add(name, kind, default, optional, named)
    local annotation = comment[name] or meta and meta.annotation and (meta.annotation[name] or meta.annotation[name .. '_'])
    local text = sentence(annotation and annotation.text) or file and described.find(file.arguments, owners, name, kind)
      or described.find(described.shared, owners, name, kind)
    list[#list + 1] = { name = name, type = kind or annotation and annotation.type, default = default, optional = optional, text = text, named = named }
  end
  if signature then
    for i = signature.is_self and 2 or 1, #signature do
      local a = signature[i]
      add(a.name:gsub('_$', ''), a.kind, a.default, a.optional, i > signature.positional)
    end
    if signature.rest and signature.foreign then add('...', 'any', nil, true) end
    return list
  end
  local info = debug.getinfo(original, 'Su')
  if info.what == 'C' then
    for _, p in ipairs(meta and meta.parameters or {}) do
      list[#list + 1] = { name = p.name, type = p.type, optional = p.optional, named = p.named, text = sentence(p.text) or described.find(described.shared, owners, p.name, p.type) }
    end
    return list
  end
  for i = 1, info.nparams do
    local name = debug.getlocal(original, i)
    if not (i == 1 and name == 'self') then
      add(name)
      list[#list].undeclared = true
    end
  end
  if info.isvararg then add '...' end
  return list
end

-- A function or a method. owners: its names in the texts of arguments.
local function function_entry(module, name, f, owners, meta, kind)
  local original = original_of(f)
  local file, number = place_of(original)
  local words, parameters = nil, {}
  if file and number then words, parameters = parsed(lines_above(file.lines, number)) end
  local annotation = meta[module .. '.' .. name]
  -- the head of a file that gives one function describes it
  if not words and file and number and not (annotation and annotation.doc) and package.loaded['torch.' .. file.path:match '^lib/(.*)%.lua$':gsub('/', '.')] == f then
    words = file.head
  end
  local text = file and file.arguments
  for _, owner in ipairs(text and not words and owners or {}) do words = words or described.get(text, owner .. '()') end
  return { module = module, name = name, kind = kind or 'function', doc = annotation and annotation.doc or words, value = f, file = file and file.path,
    is_c = debug.getinfo(original, 'S').what == 'C', arguments = arguments_of(f, owners, parameters, file, annotation) }
end

-- ---- ops ----

local function public(op) return op.name:sub(1, 1) ~= '_' and next(op.variants) ~= nil and not op.variants.library end

M.texts_of_ops = {} -- by group

local function op_entries(add)
  local by_key = {}
  local model, scripted = declarations.load(root .. 'src/ops'), declarations.load_scripted(root .. 'lib/ops')
  for _, ops in ipairs { model.ops, scripted.ops } do
    for _, op in ipairs(ops) do
      M.texts_of_ops['the ops of ' .. op.group] = op.described
      if public(op) then
        local key = (op.variants.nn and 'nn.functional.' or '') .. op.name
        local entry = by_key[key]
        if not entry then
          entry = { module = 'ops', name = key, kind = 'op', doc = op.doc, arguments = {}, ops = {}, group = op.group, seen = {} }
          by_key[key] = entry
          add(entry)
          for _, alias in ipairs(op.aliases) do by_key[alias] = by_key[alias] or entry end
        end
        entry.ops[#entry.ops + 1] = op
        for _, a in ipairs(described.arguments_of(op)) do
          local text = described.of_op(op, a)
          local known = entry.seen[a.name .. '\n' .. tostring(text)]
          if not known then
            entry.seen[a.name .. '\n' .. tostring(text)] = true
            table.insert(entry.arguments, { name = a.name, type = a.type, default = a.default, text = text, named = a.keyword_only })
          end
        end
      end
    end
  end
  return by_key
end

-- ---- classes ----

-- The number of the line of a file that derives the class; nil if it does not.
local function line_of_class(file, class)
  for number, line in ipairs(file.lines) do
    if line:find '^[^-%s]' and line:find("[:%s]%l+%s*%(?%s*['\"]" .. class.__classname .. "['\"]") then return number end
  end
  return nil
end

-- The file of a class: that of its functions which derives it, else any of them; of a class without
-- functions, the file that derives it.
local function file_of_class(class)
  local paths = {}
  for _, value in next, class do
    local file = type(value) == 'function' and place_of(original_of(value))
    if file and line_of_class(file, class) then return file end
    if file then paths[#paths + 1] = file.path end
  end
  table.sort(paths)
  if paths[1] then return file_at(paths[1]) end
  local list = io.popen(('grep -rlE ":extend *\\(?\'%s\'" "%slib"'):format(class.__classname, root))
  local path = list:read 'l'
  list:close()
  return path and file_at(path:sub(#root + 1))
end

local function class_arguments(class, file, parameters, meta, owners)
  local library = M.library
  local arguments, list = library.arguments_of(class), {}
  local parent = class
  while parent and parent.__classname do
    owners[#owners + 1], parent = parent.__classname, parent.super
  end
  local at = class
  while at and at.__classname do
    owners[#owners + 1] = at.__classname
    at = at.super
  end
  for _, group in ipairs { arguments and arguments.row or {}, arguments and arguments.named or {} } do
    for _, a in ipairs(group) do
      local annotation = parameters[a.name] or meta and meta.annotation and meta.annotation[a.name]
      local text = sentence(annotation and annotation.text) or file and described.find(file.arguments, owners, a.name, a.kind) or described.find(described.shared, owners, a.name, a.kind)
      list[#list + 1] = { name = a.name, type = a.kind or annotation and annotation.type, default = a.default, optional = not a.required, undeclared = arguments.undeclared, text = text,
        named = group == arguments.named }
    end
  end
  return list
end

-- Methods that the library alone calls.
local internal = {}
for name in ([[update_sparse each_rate each_base set_rates present_rates closed_form initial_step scheduler_at is_better reduce renewed
  setup_from check_value matrix_shape distance padded log_normalizer log_cdf log_survival_function part_of result]]):gmatch '%S+' do
  internal[name] = true
end

local function method_names(class)
  local names = {}
  for name, value in next, class do
    if type(name) == 'string' and type(value) == 'function' and not internal[name] and (checked.is_public(name) or name == 'forward') and name ~= 'super' then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local class_names = {} -- class -> its full name

local function method_entry(full, class, name, meta)
  local entry = function_entry(full, name, class[name], { class.__classname .. ':' .. name, name }, meta, 'method')
  entry.class = full
  local parent = class.super
  while parent do
    local f = rawget(parent, name)
    if (not entry.doc or entry.inherits == nil) and type(f) == 'function' then
      local base = function_entry(class_names[parent] or parent.__classname, name, f, { parent.__classname .. ':' .. name, name }, meta, 'method')
      entry.doc = entry.doc or base.doc
      entry.overrides = class_names[parent]
      local texts = {}
      for _, a in ipairs(base.arguments) do texts[a.name] = a.text end
      for i, a in ipairs(entry.arguments) do
        if a.name == '' and base.arguments[i] then a.name = base.arguments[i].name end -- one that the method does not use
        a.text = a.text or texts[a.name]
      end
    end
    local annotation = class_names[parent] and meta[class_names[parent] .. '.' .. name]
    if annotation then entry.doc = entry.doc or annotation.doc end
    parent = parent.super
  end
  return entry
end

local function class_entries(module, name, class, meta, add)
  local full = class_names[class]
  local file = file_of_class(class)
  local words, parameters
  local number = file and line_of_class(file, class)
  if number then words, parameters = parsed(lines_above(file.lines, number)) end
  if file and not words then words = described.get(file.arguments, name .. '()') or described.get(file.arguments, class.__classname .. '()') end
  if file and not words then -- the head of the file, if it is that of one class
    local n = 0
    for other in pairs(class_names) do n = n + (line_of_class(file, other) and 1 or 0) end
    words = n <= 1 and file.head or nil
  end
  local annotation = meta[full] or meta[module .. '.' .. name]
  add { module = module, name = name, kind = 'class', doc = annotation and annotation.doc or words, value = class, file = file and file.path,
    arguments = class_arguments(class, file, parameters or {}, meta[full .. '.init'], { module:match '[^.]+$' .. '.' .. name, name }) }
  for _, method in ipairs(method_names(class)) do add(method_entry(full, class, method, meta)) end
end

-- ---- modules ----

local function walk(module, table_, context, depth)
  if context.visited[table_] then return end
  context.visited[table_] = true
  for _, name in ipairs(names_of(table_)) do
    local ok, value = pcall(function() return table_[name] end)
    local full = module .. '.' .. name
    if ok and value ~= nil then
      if is_class(value) then
        if not class_names[value] then
          class_names[value] = full
          context.classes[#context.classes + 1] = { module, name, value }
        end
      elseif type(value) == 'function' then
        context.functions[#context.functions + 1] = { module, name, value }
      elseif type(value) == 'table' and not is_object_table(value) and depth < 4 then
        context.modules[#context.modules + 1] = { module, name, value }
        walk(full, value, context, depth + 1)
      else
        context.values[#context.values + 1] = { module, name, value }
      end
    end
  end
end

-- The fields of tensors (src/lua/fields.c), and the methods of objects that are written in C.
local function add_c_objects(add, meta)
  local texts = {}
  for _, field in ipairs(docs.fields) do texts[field[1]] = field end
  for name in (contents(root .. 'src/lua/fields.c') or ''):gmatch '\n    {"(%a[%w_]*)", FIELD_' do
    local field = texts[name]
    add { module = 'torch.Tensor', name = name, kind = 'field', type = field and field[2], doc = field and field[3], arguments = {} }
  end
  for meta_name, class in pairs { Generator = 'torch.Generator', Stream = 'torch.cuda.Stream', Event = 'torch.cuda.Event', CUDAGraph = 'torch.cuda.CUDAGraph' } do
    for name, value in pairs(debug.getregistry()['ltensor.' .. meta_name]) do
      if type(value) == 'function' and name:sub(1, 1) ~= '_' then
        local entry = function_entry(class, name, value, { meta_name .. ':' .. name, name }, meta, 'method')
        entry.class = class
        add(entry)
      end
    end
  end
end

-- The op of a public name: by its name, or by its value.
local function op_of(by_key, by_value, module, name, value)
  local short = module:gsub('^torch%.?', '')
  local plain = short == '' or short == 'Tensor' or short == 'nn.functional'
  local key = short == 'nn.functional' and 'nn.functional.' .. name or plain and name or short .. '_' .. name
  local base = name:gsub('_$', '')
  if not plain and short ~= 'special' and short ~= 'linalg' and short ~= 'fft' then return by_key[key] or by_value[value] end
  return by_key[key] or by_value[value] or by_key['nn.functional.' .. base] or by_key[base]
end

--- All public names, as entries { module, name, kind, doc, arguments, value, file, op }. library:
--- scripts/site/library.lua.
function M.collect(library)
  M.library = library
  local list, meta = {}, read_meta()
  local function add(entry) list[#list + 1] = entry end
  local by_key, by_value = op_entries(add), {}
  for key, entry in pairs(by_key) do
    local f = rawget(torch, key)
    if f then by_value[f] = entry end
  end
  local context = { visited = {}, classes = {}, functions = {}, values = {}, modules = {} }
  context.visited[torch.distributions.utils] = true -- for the distributions alone
  walk('torch', torch, context, 0)
  for name, value in pairs(torch._C.methods) do
    if name:sub(1, 1) ~= '_' then context.functions[#context.functions + 1] = { 'torch.Tensor', name, value } end
  end
  for _, f in ipairs(context.functions) do
    local module, name, value = f[1], f[2], f[3]
    local short_module = module == 'torch.Tensor' and 'Tensor' or module
    local op = not meta[module .. '.' .. name] and op_of(by_key, by_value, short_module, name, value)
    if op then
      local in_place = name:sub(-1) == '_' and op.name:sub(-1) ~= '_'
      add { module = module, name = name, kind = module == 'torch.Tensor' and 'method' or 'function', doc = (in_place and 'In place: ' or '') .. op.doc, op = op, value = value, arguments = {} }
    else
      add(function_entry(module, name, value, { module:match '[^.]+$' .. '.' .. name, name }, meta, module == 'torch.Tensor' and 'method' or nil))
    end
  end
  for _, c in ipairs(context.classes) do class_entries(c[1], c[2], c[3], meta, add) end
  for _, v in ipairs(context.values) do
    local annotation = meta[v[1] .. '.' .. v[2]]
    add { module = v[1], name = v[2], kind = 'value', doc = annotation and annotation.doc, value = v[3], arguments = {} }
  end
  add_c_objects(add, meta)
  -- a function that another module has, too, under the same name has its description
  local by_function = {}
  for _, e in ipairs(list) do
    local f = type(e.value) == 'function' and original_of(e.value)
    if f and (e.doc and not e.op) then by_function[f] = by_function[f] or e end
  end
  for _, e in ipairs(list) do
    local first = not e.doc and type(e.value) == 'function' and by_function[original_of(e.value)]
    if first and first.name == e.name then
      e.doc, e.same_as = first.doc, first
      if #e.arguments == 0 then e.arguments = first.arguments end
    end
  end
  return list
end

--- After collect: the lines of the texts `arguments` that describe nothing.
function M.unused()
  local list = {}
  local function look(texts, where)
    for key in pairs(texts) do
      if not (described.used[texts] and described.used[texts][key]) then list[#list + 1] = where .. ': ' .. key end
    end
  end
  look(described.shared, 'scripts/gen/arguments.txt')
  for path, file in pairs(files) do
    if file then look(file.arguments, path) end
  end
  for group, texts in pairs(M.texts_of_ops) do look(texts, group) end
  table.sort(list)
  return list
end

return M
