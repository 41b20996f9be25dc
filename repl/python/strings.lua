-- Python's literals in Lua: numbers, strings, f-strings and formats.
--
-- Functions take the parser of repl.python.expressions as first argument. May use
-- repl.python.tokens.

local tokens = require 'repl.python.tokens'

local strings = {}

-- ---- numbers -------------------------------------------------------------------------------

function strings.number(parser, text)
  local imaginary = text:match '^(.*)[jJ]$'
  local digits = (imaginary or text):gsub('_', '')
  local base = digits:match '^0([oObB])'
  if base then digits = tostring(tonumber(digits:sub(3), base:lower() == 'o' and 8 or 2) or parser:fail()) end
  if imaginary then return parser:node(('torch.complex(0, %s)'):format(digits), parser.PREFIX, {tensor = false}) end
  if digits:find '%.$' then digits = digits .. '0' end
  if not tonumber(digits) then parser:fail() end
  return parser:node(digits, parser.ATOM, {int = math.tointeger(tonumber(digits:find '^%d+$' and digits))})
end

-- ---- strings -------------------------------------------------------------------------------

-- The body of a Python string as a quoted string of Lua; raw: without escapes.
local function quoted(parser, body, raw)
  if raw then body = body:gsub('\\', '\\\\') end
  if body:find '\\N' then parser:fail() end
  body = body:gsub('\\u(%x%x%x%x)', '\\u{%1}'):gsub('\\U(%x%x%x%x%x%x%x%x)', '\\u{%1}'):gsub('\r?\n', '\\n')
  local bare = body:gsub('\\.', '')
  local quote = bare:find("'", 1, true) and '"' or "'"
  if bare:find(quote, 1, true) then body = body:gsub('"', '\\"'):gsub('\\\\"', '\\"') end
  return quote .. body .. quote
end

-- ---- formats -------------------------------------------------------------------------------

-- The format of string.format for a format of Python such as `.2f` or `>8`; nil if Lua has none.
local function format_of(spec)
  if spec == '' then return '%s' end
  local sign, zero, width, precision, kind = spec:match '^([<>]?)(0?)(%d*)(%.?%d*)([dfgexsEGX]?)$'
  if not sign then return nil end
  if kind == '' then kind = precision ~= '' and 'g' or 's' end
  return '%' .. (sign == '<' and '-' or '') .. zero .. width .. precision .. kind
end

-- The position of the brace that closes the field that starts at `start`.
local function field_end(body, start)
  local depth, quote = 0, nil
  for position = start, #body do
    local char = body:sub(position, position)
    if quote then
      if char == quote then quote = nil end
    elseif char == '"' or char == "'" then
      quote = char
    elseif char:find '[%(%[{]' then
      depth = depth + 1
    elseif char:find '[%)%]}]' then
      if depth == 0 then return position end
      depth = depth - 1
    end
  end
end

-- The expression of a field as a node.
local function field_node(parser, text)
  local list = tokens.of(text)
  if not list then parser:fail() end
  local saved_tokens, saved_at = parser.tokens, parser.at
  parser.tokens, parser.at = list, 1
  local node = parser:with({no_colon = true, in_index = false}, parser.expression)
  if parser:token().kind ~= 'newline' and parser:token().kind ~= 'end' then parser:fail() end
  parser.tokens, parser.at = saved_tokens, saved_at
  return node
end

-- Splits the body of an f-string into a format of Lua and its arguments.
local function fields_of(parser, body)
  local format, nodes, position = {}, {}, 1
  while position <= #body do
    local char, following = body:sub(position, position), body:sub(position + 1, position + 1)
    if (char == '{' or char == '}') and following == char then
      format[#format + 1] = char
      position = position + 2
    elseif char == '{' then
      local stop = field_end(body, position + 1) or parser:fail()
      local text, spec = body:sub(position + 1, stop - 1), ''
      local colon = text:find ':[^:%]%)]*$'
      if colon then text, spec = text:sub(1, colon - 1), text:sub(colon + 1) end
      text = text:gsub('![rsa]$', '')
      if text:find '=%s*$' then
        format[#format + 1] = text:gsub('%%', '%%%%')
        text = text:gsub('=%s*$', '')
      end
      nodes[#nodes + 1] = field_node(parser, text)
      format[#format + 1] = format_of(spec) or parser:fail()
      position = stop + 1
    elseif char == '}' then
      parser:fail()
    else
      format[#format + 1] = char == '%' and '%%' or char
      position = position + 1
    end
  end
  return table.concat(format), nodes
end

local function format_call(parser, format, nodes, raw)
  if #nodes == 0 then return parser:node(quoted(parser, format:gsub('%%%%', '%%'), raw), parser.ATOM, {is_string = true}) end
  local texts = {}
  for index, node in ipairs(nodes) do texts[index] = node.text end
  return parser:node(('(%s):format(%s)'):format(quoted(parser, format, raw), table.concat(texts, ', ')), parser.PREFIX, {is_string = true})
end

-- `'...' % x`
function strings.formatted(parser, left, right)
  if not left.plain then parser:fail() end
  local nodes = right.items or {right}
  local texts = {}
  for index, node in ipairs(nodes) do texts[index] = node.text end
  return parser:node(('(%s):format(%s)'):format(left.text, table.concat(texts, ', ')), parser.PREFIX, {is_string = true})
end

-- `'{} {:.2f}'.format(a, b)`
function strings.format_method(parser, left, nodes)
  local index = 0
  local format = left.plain:gsub('%%', '%%%%'):gsub('{(%d*):?([^{}]*)}', function(number, spec)
    index = index + 1
    if number ~= '' and tonumber(number) ~= index - 1 then parser:fail() end
    return format_of(spec) or parser:fail()
  end)
  if index ~= #nodes or format:find '[{}]' then parser:fail() end
  return format_call(parser, format, nodes, true)
end

-- One string, or adjacent ones.
function strings.literals(parser)
  local node
  while parser:token().kind == 'string' do
    local token = parser:token()
    parser.at = parser.at + 1
    local raw = token.prefix:find 'r' ~= nil
    local one
    if token.prefix ~= '' or token.long then parser.is_python = true end
    if token.prefix:find 'f' then
      local format, nodes = fields_of(parser, token.body)
      one = format_call(parser, format, nodes, raw)
    else
      one = parser:node(quoted(parser, token.body, raw), parser.ATOM, {is_string = true, plain = not token.body:find '\\' and token.body or nil})
    end
    node = node and parser:binary('..', node, one, parser.CONCAT) or one
    node.is_string = true
  end
  return node
end

return strings
