-- pages.lua - writes the reference of the ops: a Markdown page per subject (subjects.lua), from the
-- declarations and the table that the REPL's help shows (torch.ops_docs), and an index.
--
-- Usage: lua5.4 scripts/gen/pages.lua OPS_DOCS OUT_DIR

package.path = (arg[0]:match('^(.*)/') or '.') .. '/?.lua;' .. package.path
local declarations = require 'declarations'
local keywords = require('docs').keywords
local described = require 'described'
local examples = require 'examples'
local subjects = require 'subjects'

local docs_path, out_dir = assert(arg[1], 'usage: pages.lua OPS_DOCS OUT_DIR'), assert(arg[2], 'OUT_DIR is missing')
local docs = assert(loadfile(docs_path))()
local model = declarations.load()
local scripted = declarations.load_scripted()
for _, op in ipairs(scripted.ops) do model.ops[#model.ops + 1] = op end

-- False for operations that only the library's own Lua calls (sparse_coo_tensor, below
-- torch.sparse_coo_tensor).
local function public(op) return op.name:sub(1, 1) ~= '_' and next(op.variants) ~= nil and not op.variants.library end

local function where_of(op)
  local parts = {}
  local module, short = op.name:match '^(%l+)_(.+)$'
  if module ~= 'linalg' and module ~= 'special' and module ~= 'fft' and op.group ~= 'masked' then module = nil end
  if op.variants['function'] then parts[1] = module and ('`torch.%s.%s`'):format(module, short) or ('`torch.%s`'):format(op.name) end
  if op.variants.method then parts[#parts + 1] = (keywords[op.name] and "`x['%s'](x, ...)`" or '`x:%s`'):format(op.name) end
  if op.variants.nn then parts[#parts + 1] = ('`torch.nn.functional.%s`'):format(op.name) end
  if op.variants.inplace then parts[#parts + 1] = ('`x:%s_`'):format(op.name) end
  if op.variants.out or op.variants.copied_out then parts[#parts + 1] = '`out=`' end
  return table.concat(parts, ', ')
end

local function derivative_of(op)
  if op.grad then
    local names = {}
    for _, a in ipairs(op.args) do
      if op.grad[a.name] then names[#names + 1] = '`' .. a.name .. '`' end
    end
    return 'Differentiable by ' .. table.concat(names, ', ') .. '.'
  end
  return op.composite and 'Composed of other ops; their derivatives apply.' or 'Not differentiable.'
end

-- Lines of a signature no wider than a page, broken after a comma.
local function folded(signature)
  local lines = {}
  for line in (signature .. '\n'):gmatch '([^\n]*)\n' do
    local current = ''
    for part in line:gmatch '[^,]*,? ?' do
      if #current + #part > 88 then
        lines[#lines + 1] = current:gsub(' $', '')
        current = '    '
      end
      current = current .. part
    end
    lines[#lines + 1] = current
  end
  return table.concat(lines, '\n')
end

-- A default as Lua writes it.
local function default_of(a)
  if not a.has_default then return 'required' end
  return a.default == 'nil' and 'nil' or '`' .. a.default .. '`'
end

-- The arguments of all overloads, each meaning once.
local function arguments_of(overloads)
  local rows, seen = {}, {}
  for _, op in ipairs(overloads) do
    for _, a in ipairs(described.arguments_of(op)) do
      local text = described.of_op(op, a)
      local key = a.name .. '\n' .. text
      if not seen[key] then
        seen[key] = true
        rows[#rows + 1] = ('| `%s` | `%s` | %s | %s |'):format(a.name, (a.type:gsub('|', '\\|')), default_of(a), (text:gsub('|', '\\|')))
      end
    end
  end
  return #rows > 0 and '| argument | type | default | meaning |\n|---|---|---|---|\n' .. table.concat(rows, '\n') .. '\n' or nil
end

local function entry_of(name, overloads)
  local first = overloads[1]
  local entry = docs[(first.variants.nn and 'nn.functional.' or '') .. name]
  local lines = { '## ' .. name, '', '```text', folded(entry.signature), '```', '' }
  for _, op in ipairs(overloads) do
    if op == first or op.doc ~= first.doc then lines[#lines + 1] = op.doc:gsub('%s*\n%s*', ' ') .. '\n' end
  end
  lines[#lines + 1] = arguments_of(overloads)
  lines[#lines + 1] = where_of(first) .. '. ' .. derivative_of(first) .. '\n'
  if #first.aliases > 0 then lines[#lines + 1] = 'Also called `' .. table.concat(first.aliases, '`, `') .. '`.\n' end
  if entry.example then lines[#lines + 1] = examples.markdown(entry.example) end
  return table.concat(lines, '\n')
end

local types = [[
| type | value in Lua |
|---|---|
| `Tensor`, `Tensor[]` | a tensor, a table of tensors |
| `Tensor\|Scalar` | a tensor or a number |
| `IndexTensor` | a tensor of positions from 1 |
| `Dim`, `Dims`, `Index` | a position from 1, negative from the end; several in a table |
| `Size` | numbers in a row, a table, or a `torch.Size` |
| `Scalar`, `int`, `float`, `bool`, `string` | a number, an integer, a number, a boolean, a string |
| `Dtype`, `Device`, `Generator` | `torch.float32`, `'cuda:0'` or a device, `torch.Generator()` |

A type that ends in `?` may be nil. Every argument may be named in a last table: `x:sum{dim = 1, keepdim = true}`; the
arguments after `*` must be named.
]]

local index = { '# Reference of the ops\n', types }
for _, subject in ipairs(subjects.list) do
  local names, by_name = {}, {}
  for _, op in ipairs(model.ops) do
    if op.chosen and public(op) and subjects.of(op) == subject then
      if not by_name[op.name] then
        by_name[op.name] = {}
        names[#names + 1] = op.name
      end
      table.insert(by_name[op.name], op)
    end
  end
  if #names > 0 then
    table.sort(names)
    local page = { '# ' .. subject.title .. '\n', subject.about .. '\n' }
    for _, name in ipairs(names) do page[#page + 1] = entry_of(name, by_name[name]) end
    declarations.write(('%s/%s.md'):format(out_dir, subject.id), table.concat(page, '\n'))
    local links = {}
    for i, name in ipairs(names) do links[i] = ('[%s](%s.md#%s)'):format(name, subject.id, name) end
    index[#index + 1] = ('## [%s](%s.md)\n\n%s\n\n%s\n'):format(subject.title, subject.id, subject.about, table.concat(links, ' · '))
  end
end
declarations.write(out_dir .. '/README.md', table.concat(index, '\n'))
