-- description.lua - generates ltensor.json, the description of the C interface for generators of bindings: operations
-- from src/ops; functions, enums, structs, types of functions and constants from the public headers.
-- docs/guide/embedding.md describes the format.
--
-- Usage: lua5.4 scripts/gen/description.lua VERSION OUT HEADER...

package.path = (arg[0]:match('^(.*)/') or '.') .. '/?.lua;' .. package.path
local c_header = require 'c_header'
local declarations = require 'declarations'
local described = require 'described'
local functions = require 'functions'
local names_of = require 'names'
local scalar_forms = require 'scalar_forms'
local quoted = dofile 'lib/files/json_string.lua'

-- ---- JSON ---------------------------------------------------------------------------------------

local null = {}

-- The order of the members of an object; others follow in alphabetical order.
local first_members = { 'name', 'function', 'type', 'c_type' }

local function members_of(object)
  local rank, list = {}, {}
  for i, name in ipairs(first_members) do rank[name] = i end
  for name in pairs(object) do list[#list + 1] = name end
  table.sort(list, function(a, b)
    local x, y = rank[a] or 9, rank[b] or 9
    if x ~= y then return x < y end
    return a < b
  end)
  return list
end

local function json(value)
  if value == null then return 'null' end
  if type(value) == 'string' then return quoted(value) end
  if type(value) ~= 'table' then return tostring(value) end
  local parts = {}
  if value[1] ~= nil or next(value) == nil then
    for i, entry in ipairs(value) do parts[i] = json(entry) end
    return '[' .. table.concat(parts, ',') .. ']'
  end
  for i, name in ipairs(members_of(value)) do parts[i] = quoted(name) .. ':' .. json(value[name]) end
  return '{' .. table.concat(parts, ',') .. '}'
end

-- A list with an entry per line, so that a difference between two versions can be read.
local function lines_of(list)
  local parts = {}
  for i, entry in ipairs(list) do parts[i] = '    ' .. json(entry) end
  return '[\n' .. table.concat(parts, ',\n') .. '\n  ]'
end

-- ---- operations ---------------------------------------------------------------------------------

-- The default of an argument for C: indices count from 0. Lists of numbers have the text of the
-- declaration as a number or a list.
local function default_of(a)
  local text = a.default
  if text == 'nil' then return null end
  if text == 'true' or text == 'false' then return text == 'true' end
  if text:match "^'.*'$" then return text:sub(2, -2) end
  local base, number = functions.base_of(a), math.tointeger(tonumber(text)) or tonumber(text)
  if not number then return text end
  if (base == 'Dim' or base == 'Dims' or base == 'Index') and number > 0 then number = number - 1 end
  return (base == 'Size' or base == 'Dims') and { number } or number
end

local function parameters_of(op)
  local list = {}
  for i, a in ipairs(op.args) do
    local c_type = declarations.c_type(a):gsub(' $', '')
    list[i] = { name = a.name, type = functions.base_of(a), c_type = declarations.is_const(op, i, op.inplace_only) and 'const ' .. c_type or c_type,
      optional = a.optional or nil, keyword_only = a.keyword_only or nil, doc = described.of_op(op, a),
      written = declarations.is_written(op, i, op.inplace_only) or nil }
    if a.has_default then list[i].default = default_of(a) end
  end
  return list
end

local function results_of(op)
  local list = {}
  for i, result in ipairs(op.returns) do
    list[i] = { name = declarations.output_name(result), type = result.type, c_type = declarations.c_result(result) }
  end
  return list
end

-- The C functions of an operation by one of its names.
local function forms_of(op, c)
  return { ['function'] = 'lt_' .. c, in_place = op.variants.inplace and 'lt_' .. c .. '_' or nil,
    out = declarations.has_out(op) and 'lt_' .. c .. '_out' or nil }
end

local function operation_of(op)
  local entry = forms_of(op, op.cname)
  entry.name = names_of.of_call(op.name, op.variants.nn)
  entry.overload, entry.group, entry.doc, entry.signature = op.overload, op.group, op.doc, op.signature
  entry.parameters, entry.results, entry.writes_self = parameters_of(op), results_of(op), op.inplace_only or nil
  entry.with_number = scalar_forms.names(op)
  for i, other in ipairs(op.synonyms) do
    local form = forms_of(op, declarations.synonym(op, other.c))
    form.name = other.known
    entry.also = entry.also or {}
    entry.also[i] = form
  end
  return entry
end

local function operations()
  local list = {}
  for _, op in ipairs(declarations.load().ops) do
    if op.chosen and op.name:sub(1, 1) ~= '_' then list[#list + 1] = operation_of(op) end
  end
  return list
end

-- ---- the file -----------------------------------------------------------------------------------

local library_of = { ['ltensor_lua.h'] = 'ltensor_lua', ['ltensor_script.h'] = 'ltensor_lua', ['ltensor_model.h'] = 'ltensor_lua', ['ltensor_lm.h'] = 'ltensor_lua',
  ['ltensor_prompt.h'] = 'ltensor_repl' }

local version, out = arg[1], assert(arg[2], 'usage: description.lua VERSION OUT HEADER...')
local found = { constants = {}, enums = {}, structs = {}, types = {}, functions = {}, numbers = {} }
for i = 3, #arg do c_header.read(arg[i], found) end
for _, f in ipairs(found.functions) do f.library = library_of[f.header] or 'ltensor' end
local parts = { '{\n  "version": ' .. quoted(version), '  "operations": ' .. lines_of(operations()) }
for _, name in ipairs { 'functions', 'enums', 'structs', 'types', 'constants' } do
  parts[#parts + 1] = ('  "%s": %s'):format(name, lines_of(found[name]))
end
declarations.write(out, table.concat(parts, ',\n') .. '\n}\n')
