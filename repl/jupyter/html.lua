-- Tensors, tables and modules as HTML.
--
-- The table of a tensor is built from its printed form: nothing is copied from a GPU again, and the
-- same elements are omitted. Only tables without a metatable are expanded. May use repl.echo and
-- torch.lua53.identity.

local identity = require 'torch.lua53.identity'
local echo = require 'repl.echo'
local torch = require 'torch'

local html = {}

local WIDEST = 40 -- numbers in a row of a table
local ENTRIES = 100 -- of a table
local DEPTH = 4

local entities = {['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;'}

local function escape(text) return (text:gsub('[&<>"]', entities)) end

local function element(name, content) return ('<%s>%s</%s>'):format(name, content, name) end

local function cells(name, texts)
  local parts = {}
  for index, text in ipairs(texts) do parts[index] = element(name, text) end
  return element('tr', table.concat(parts))
end

-- ---- tensors -------------------------------------------------------------------------------

-- Parses the list at `position` of a tensor's printed form. Returns its items, which are texts or
-- lists, and the position after it.
local function read_list(text, position)
  local items = {}
  position = position + 1
  while true do
    local at, char = text:match('^[%s,]*()(.)', position)
    if not at then return nil end
    if char == ']' then return items, at + 1 end
    if char == '[' then
      items[#items + 1], position = read_list(text, at)
      if not position then return nil end
    else
      local item, after = text:match('^([^%s,%[%]]+)()', at)
      if not item then return nil end
      items[#items + 1], position = item, after
    end
  end
end

local function depth_of(item) return type(item) == 'table' and 1 + depth_of(item[1]) or 0 end

-- Adds the innermost matrices of the list as tables, each below its index.
local function add_matrices(parts, list, depth, where)
  if depth > 2 then
    local skipped = false
    for index, item in ipairs(list) do
      if type(item) ~= 'table' then
        parts[#parts + 1] = element('div', '⋯')
        skipped = true
      else -- the index of an element after omitted ones is unknown
        add_matrices(parts, item, depth - 1, ('%s%s, '):format(where, skipped and '…' or index))
      end
    end
    return true
  end
  if where ~= '' then parts[#parts + 1] = element('div', escape(('[%s:, :]'):format(where))) end
  local rows = {}
  for index, row in ipairs(depth == 2 and list or {list}) do
    rows[index] = cells('td', type(row) == 'table' and row or {'⋯'})
  end
  parts[#parts + 1] = element('table', table.concat(rows))
end

-- Whether a row is too long for a readable table.
local function too_wide(list)
  if type(list) ~= 'table' then return false end
  if type(list[1]) ~= 'table' then return #list > WIDEST end
  for _, item in ipairs(list) do
    if too_wide(item) then return true end
  end
  return false
end

local function of_tensor(value, text)
  local start = text:match '^tensor%(()%['
  local list = start and read_list(text, start)
  if not list or #list == 0 or too_wide(list) then return nil end
  local depth = depth_of(list)
  if depth ~= value:dim() then return nil end -- it has no elements
  local parts = {}
  add_matrices(parts, list, depth, '')
  local _, words = echo.kind(value)
  local made_by = text:match 'grad_fn=<[^>]*>'
  if made_by then words = words:gsub('requires grad$', made_by) end
  return element('div', table.concat(parts) .. element('small', escape(words)))
end

-- ---- modules -------------------------------------------------------------------------------

local function add_module(parts, name, module)
  local label = name and ('(%s): '):format(name) or ''
  local children = {}
  for child_name, child in module:_named_places() do children[#children + 1] = {child_name, child} end
  if #children == 0 then
    parts[#parts + 1] = element('div', escape(label .. tostring(module)))
    return
  end
  local extra = module:extra_repr()
  parts[#parts + 1] = ('<details open><summary>%s</summary><div style="padding-left: 2em">'):format(
    escape(label .. module:_get_name() .. (extra ~= '' and ('(%s)'):format(extra) or '')))
  for _, child in ipairs(children) do add_module(parts, child[1], child[2]) end
  parts[#parts + 1] = '</div></details>'
end

local function of_module(module)
  local numbers, parts = 0, {}
  for _, parameter in ipairs(module:parameters()) do numbers = numbers + parameter:numel() end
  parts[1] = '<div>'
  add_module(parts, nil, module)
  parts[#parts + 1] = element('small', ('%d parameters'):format(numbers)) .. '</div>'
  return table.concat(parts)
end

-- ---- tables --------------------------------------------------------------------------------

local function is_plain(value) return type(value) == 'table' and debug.getmetatable(value) == nil and next(value) ~= nil end

local function text_of(value)
  local text = echo.value(value, 60)
  return text:find('\n', 1, true) and element('pre', escape(text)) or escape(text)
end

-- Sorted keys: the list part, then strings, then others.
local function keys_of(value)
  local keys, others, length = {}, {}, rawlen(value)
  for index = 1, length do keys[index] = index end
  for key in next, value do
    if not (math.type(key) == 'integer' and key >= 1 and key <= length) then others[#others + 1] = key end
  end
  table.sort(others, function(a, b)
    if type(a) ~= type(b) then return type(a) == 'string' or type(b) ~= 'string' and type(a) < type(b) end
    if type(a) == 'number' or type(a) == 'string' then return a < b end
    return identity(a) < identity(b)
  end)
  return table.move(others, 1, #others, length + 1, keys)
end

-- The column names if the list contains records with the same few fields; otherwise nil.
local function columns_of(list)
  if not is_plain(list[1]) or rawlen(list[1]) > 0 then return nil end
  local names = keys_of(list[1])
  if #names > WIDEST then return nil end
  for _, record in ipairs(list) do
    if not is_plain(record) or #keys_of(record) ~= #names then return nil end
    for _, name in ipairs(names) do
      if type(name) ~= 'string' or rawget(record, name) == nil then return nil end
    end
  end
  for index in next, list do
    if math.type(index) ~= 'integer' or index > #list then return nil end
  end
  return names
end

local function more(count) return count > ENTRIES and element('div', ('⋯ %d more'):format(count - ENTRIES)) or '' end

local function of_records(list, names)
  local rows, heads = {}, {}
  for index, name in ipairs(names) do heads[index] = escape(name) end
  rows[1] = cells('th', heads)
  for index = 1, math.min(#list, ENTRIES) do
    local texts = {}
    for column, name in ipairs(names) do texts[column] = text_of(rawget(list[index], name)) end
    rows[#rows + 1] = cells('td', texts)
  end
  return element('table', table.concat(rows)) .. more(#list)
end

local of_table

local function of_entry(value, depth, inside)
  if not is_plain(value) or depth >= DEPTH or inside[value] then return text_of(value) end
  local count = #keys_of(value)
  return ('<details%s><summary>%d entr%s</summary>%s</details>'):format(
    count <= 8 and ' open' or '', count, count == 1 and 'y' or 'ies', of_table(value, depth + 1, inside))
end

function of_table(value, depth, inside)
  local names = columns_of(value)
  if names then return of_records(value, names) end
  inside[value] = true
  local rows, keys = {}, keys_of(value)
  for index = 1, math.min(#keys, ENTRIES) do
    local key = keys[index]
    local name = type(key) == 'string' and key or ('[%s]'):format(echo.value(key))
    rows[index] = element('tr', element('th', escape(name)) .. element('td', of_entry(rawget(value, key), depth, inside)))
  end
  inside[value] = nil
  return element('table', table.concat(rows)) .. more(#keys)
end

-- The value as HTML; text: its printed form. Nil if HTML adds nothing to the text.
function html.value(value, text)
  if is_plain(value) then
    if text:find '^<module ' then return nil end
    return of_table(value, 1, {})
  end
  if type(value) ~= 'userdata' then return nil end
  if torch.is_tensor(value) then return of_tensor(value, text) end
  if type(value.named_children) == 'function' and type(value.extra_repr) == 'function' then return of_module(value) end
end

return html
