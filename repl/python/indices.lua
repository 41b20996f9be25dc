-- Python's indices in Lua: positions count from 1, and slices include both ends.
--
-- Functions take the parser of repl.python.expressions as first argument. Depends on nothing.

local indices = {}

-- ---- positions -----------------------------------------------------------------------------

-- The text of a position: integers and variables that count from 0 are increased, unless the line
-- has Lua's spelling elsewhere.
function indices.position(parser, node)
  if parser:keeps_positions() then return node.text end
  if node.int then
    if node.int < 0 then return node.text end
    parser.has_zero = parser.has_zero or node.int == 0
    parser.shifted = true
    return tostring(node.int + 1)
  end
  if node.zero then
    parser.shifted = true
    local before, number = node.text:match '^(.*) %- (%d+)$'
    if before and tonumber(number) == 1 then return before end
    if before then return ('%s - %d'):format(before, tonumber(number) - 1) end
    before, number = node.text:match '^(.*) %+ (%d+)$'
    return before and ('%s + %d'):format(before, tonumber(number) + 1) or node.text .. ' + 1'
  end
  if node.items then
    local texts = {}
    for index, item in ipairs(node.items) do texts[index] = indices.position(parser, item) end
    return '{' .. table.concat(texts, ', ') .. '}'
  end
  return node.text
end

-- ---- slices --------------------------------------------------------------------------------

-- The last position of a slice that ends before `node`.
local function last_position(parser, node)
  if parser:keeps_positions() then return node.text end
  if not node.int then return node.text end
  if node.int == 0 then parser:fail() end
  parser.shifted = true
  return tostring(node.int > 0 and node.int or node.int - 1)
end

local function is_literal(node) return node == nil or node.int ~= nil end

-- One part of an index: {kind, ...} with the kinds slice, all, ellipsis, axis and node.
local function part_of(parser)
  if parser:accept '...' then
    parser.is_python = true
    return {kind = 'ellipsis'}
  end
  if parser:peek 'None' and (parser:peek(',', 1) or parser:peek(']', 1)) then
    parser:accept 'None'
    return {kind = 'axis'}
  end
  local part = {kind = 'slice'}
  if not parser:peek ':' then
    part.start = parser:expression()
    if not parser:peek ':' then return {kind = 'node', node = part.start} end
  end
  parser:expect ':'
  local function bound() return not parser:peek ':' and not parser:peek ',' and not parser:peek ']' and parser:expression() or nil end
  part.stop = bound()
  if parser:accept ':' then part.step = bound() end
  return part
end

-- The part in the form of a string, or nil.
local function in_string(parser, part)
  if part.kind == 'ellipsis' then return '...' end
  if part.kind == 'axis' then return 'None' end
  if part.kind == 'node' then return part.node.int and indices.position(parser, part.node) or nil end
  if not (is_literal(part.start) and is_literal(part.stop) and is_literal(part.step)) then return nil end
  return (part.start and indices.position(parser, part.start) or '') .. ':' .. (part.stop and last_position(parser, part.stop) or '') ..
    (part.step and ':' .. part.step.text or '')
end

local function selection(parser, node)
  if node.items then return ('torch.tensor%s'):format(indices.position(parser, node)) end
  return indices.position(parser, node)
end

-- The part in the form of an entry of a table.
local function in_table(parser, part)
  if part.kind == 'ellipsis' then return "'...'" end
  if part.kind == 'axis' then return 'torch.newaxis' end
  if part.kind == 'node' then return selection(parser, part.node) end
  if not part.start and not part.stop and not part.step then return '{}' end
  local start = part.start and indices.position(parser, part.start) or '1'
  if part.start and not part.start.int and not part.start.zero and not parser:keeps_positions() then
    start = parser:binary('+', part.start, parser:node('1', parser.ATOM), parser.ADD).text
  end
  local stop = part.stop and last_position(parser, part.stop) or '-1'
  return ('{%s, %s%s}'):format(start, stop, part.step and ', ' .. part.step.text or '')
end

local function parts_of(parser)
  local parts = {}
  repeat
    if parser:peek ']' then break end
    parts[#parts + 1] = part_of(parser)
  until not parser:accept ','
  parser:expect ']'
  return parts
end

local function is_integer(part) return part.kind == 'node' and (part.node.int or part.node.zero) end

-- `owner[...]`
function indices.index(parser, owner)
  local prefix = parser:at_level(owner, parser.PREFIX)
  parser:expect '['
  local parts = parser:with({no_colon = true, no_in = false, in_index = true}, parts_of)
  if #parts == 0 then parser:fail() end
  local history = owner.variable == 'In' or owner.variable == 'Out'
  if #parts == 1 and parts[1].kind == 'node' then
    local node = parts[1].node
    local key = history and node.text or selection(parser, node)
    return parser:node(('%s[%s]'):format(prefix, key), parser.PREFIX, {key = node})
  end
  parser.is_python = true
  local texts, integers = {}, true
  for index, part in ipairs(parts) do
    texts[index] = in_string(parser, part)
    integers = integers and is_integer(part)
  end
  if #texts == #parts and not integers then
    return parser:node(("%s['%s']"):format(prefix, table.concat(texts, ', ')), parser.PREFIX, {tensor = parser:is_tensor(owner)})
  end
  for index, part in ipairs(parts) do texts[index] = in_table(parser, part) end
  local inside = table.concat(texts, ', ')
  local space = inside:find '^{' and ' ' or '' -- {{ would be hard to read
  return parser:node(('%s[{%s%s%s}]'):format(prefix, space, inside, space), parser.PREFIX, {tensor = parser:is_tensor(owner)})
end

return indices
