-- annotations.lua - generates editor annotations (LuaCATS) for the classes of torch.nn,
-- torch.optim, torch.distributions and the book's d2l module, with the arguments of their
-- constructors and methods: classes.lua and d2l.lua, beside the annotations of the ops.
--
-- Usage: build/ltensor scripts/site/annotations.lua OUT_DIR
--
-- Each class has two annotations: torch.nn.Linear for its objects, torch.nn.Linear.class for the
-- class itself, which is called and derived from. The type of an argument is known only if it has a
-- default. The base classes are annotated by hand in lib/meta/modules.lua.

local here = arg[0]:match '^(.*)/' or '.'
package.path = here .. '/?.lua;' .. here .. '/../gen/?.lua;' .. package.path
local checked = require 'torch.support.argument_checks'
local inventory = require 'inventory'
local library = require 'library'
local source = require 'source'
local write = require('declarations').write
local out = assert(arg[1], 'OUT_DIR is missing')

local keywords = require('docs').keywords

-- Classes annotated in lib/meta/modules.lua.
local by_hand = { [torch.nn.Module] = true, [torch.optim.Optimizer] = true }

local function type_of(default)
  if type(default) == 'boolean' then return 'boolean|number|string|table' end -- false may mean none
  if type(default) == 'number' then return 'number|integer[]' end
  if type(default) == 'string' then return 'string' end
  return 'any'
end

-- Class -> its description in the reference.
local described = {}
local constructors = require('torch.support.arguments').constructors
local before = {}
for name, text in pairs(constructors) do before[name] = text end
for _, e in ipairs(inventory.collect(library)) do
  if e.kind == 'class' then described[e.value] = e.doc end
end

local function plain(name) return keywords[name] and name .. '_' or name end
local function key(name) return keywords[name] and ('["%s"]'):format(name) or name end

local function comment(text)
  return text and '---' .. text:gsub('\n', '\n---') .. '\n' or ''
end

-- The parameter lists of a constructor: positional, and all arguments by name in a table.
local function forms_of(arguments)
  if not arguments then return { '...: any' } end
  local row, options, by_name = {}, {}, {}
  for _, a in ipairs(arguments.row) do
    local option = not a.required and '?' or ''
    local kind = a.required and 'any' or type_of(a.default)
    row[#row + 1] = ('%s%s: %s'):format(plain(a.name), option, kind)
    by_name[#by_name + 1] = ('%s%s: %s'):format(key(a.name), option, kind)
    if not a.required then options[#options + 1] = by_name[#by_name] end
  end
  for _, a in ipairs(arguments.named) do
    local field = ('%s?: %s'):format(key(a.name), type_of(a.default))
    options[#options + 1], by_name[#by_name + 1] = field, field
  end
  local forms = {}
  if #arguments.named > 0 then row[#row + 1] = 'options?: {' .. table.concat(options, ', ') .. '}' end
  forms[1] = table.concat(row, ', ')
  if #by_name > 0 then forms[2] = 'options: {' .. table.concat(by_name, ', ') .. '}' end
  return forms
end

-- The public methods of a class: names without a leading _.
local function methods_of(class)
  local names, list = {}, {}
  for name, value in next, class do
    if type(name) == 'string' and type(value) == 'function' and not name:find '^_' and name ~= 'init' and name ~= 'extend' then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local info = debug.getinfo(checked.original(class[name]), 'u')
    local parameters = {}
    for i = 2, info.nparams do parameters[#parameters + 1] = (debug.getlocal(checked.original(class[name]), i)) end
    if info.isvararg then parameters[#parameters + 1] = '...' end
    list[#list + 1] = { name = name, parameters = parameters }
  end
  return list
end

-- The annotated name of the nearest base class in `bases`.
local bases = { [torch.nn.Module] = 'torch.nn.Module', [torch.optim.Optimizer] = 'torch.optim.Optimizer' }
local function parent_of(class)
  repeat class = class.super until not class or bases[class]
  return class and bases[class] or 'torch.Object'
end

local function is_module(class)
  while class and class ~= torch.nn.Module do class = class.super end
  return class ~= nil
end

-- Emits the classes and functions of a module. holder: its class.
local function emit(page, holder, module, folder, names)
  local order, lists = library.by_file(names)
  for _, path in ipairs(order) do
    local file = source.read(folder .. path:gsub('%.', '/') .. '.lua')
    local said = {}
    for _, f in ipairs(file.functions) do said[f.name] = f.comment end
    for _, name in ipairs(lists[path]) do
      local value, full = module[name], holder .. '.' .. name
      if library.is_class(value) and not by_hand[value] then
        page[#page + 1] = ('\n%s---@class %s: %s\n%slocal %s = {}\n'):format(comment(described[value] or source.comment_of_class(file, value.__classname) or file.head), full,
          parent_of(value), is_module(value) and '---@overload fun(...: any): torch.Tensor, any\n' or '', name)
        for _, method in ipairs(methods_of(value)) do
          page[#page + 1] = ('function %s:%s(%s) end\n'):format(name, method.name, table.concat(method.parameters, ', '))
        end
        page[#page + 1] = ('---@class %s.class: %s\n'):format(full, is_module(value) and 'torch.nn.Module.class' or 'torch.Class')
        for _, form in ipairs(forms_of(library.arguments_of(value))) do
          page[#page + 1] = ('---@overload fun(%s): %s\n'):format(form, full)
        end
        page[#page + 1] = ('---@type %s.class\n%s.%s = nil\n'):format(full, holder:match '[^.]+$', name)
      elseif type(value) == 'function' then
        local info = debug.getinfo(value, 'u')
        local parameters = {}
        for i = 1, info.nparams do parameters[i] = plain((debug.getlocal(value, i))) end
        if info.isvararg then parameters[#parameters + 1] = '...' end
        page[#page + 1] = ('\n%sfunction %s.%s(%s) end\n'):format(comment(said[name]), holder:match '[^.]+$', name, table.concat(parameters, ', '))
      end
    end
  end
end

local head = '---@meta\n-- Generated by scripts/site/annotations.lua. Do not edit.\n\n'

local page = { head }
for _, module in ipairs {
  { 'torch.nn', torch.nn, 'lib/nn/', torch.nn.__names }, { 'torch.optim', torch.optim, 'lib/optim/', torch.optim.__names },
  { 'torch.optim.lr_scheduler', torch.optim.lr_scheduler, 'lib/optim/lr_scheduler/', torch.optim.lr_scheduler.__names },
  { 'torch.distributions', torch.distributions, 'lib/distributions/', torch.distributions.__names },
} do
  page[#page + 1] = ('\n---@class %s\nlocal %s = {}\n'):format(module[1], module[1]:match '[^.]+$')
  emit(page, table.unpack(module))
end
write(out .. '/classes.lua', table.concat(page))

-- Constructors are known by the names of their classes; the inventory loaded classes that have the
-- name of one of the book's.
for name in pairs(constructors) do constructors[name] = before[name] end
local d2l = require 'd2l'
page = { head, '---@class d2l\nlocal d2l = {}\n' }
for name in pairs(d2l.__names) do
  local value = d2l[name]
  if library.is_class(value) then bases[value] = 'd2l.' .. name end
end
emit(page, 'd2l', d2l, 'lib/d2l/', d2l.__names)
page[#page + 1] = '\nreturn d2l\n'
write(out .. '/d2l.lua', table.concat(page))
