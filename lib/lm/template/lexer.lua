-- lexer.lua - splits a template of Jinja into texts, and the tokens of tags, with the settings of
-- Hugging Face's transformers: lstrip_blocks, trim_blocks, no newline at the end.

local fail = require 'torch.lm.template.fail'

local M = {}

local closers = { ['{%'] = '%}', ['{{'] = '}}', ['{#'] = '#}' }

local operators = {}
for operator in ('** // == != <= >= + - * / % ~ < > = . , : | ( ) [ ] { }'):gmatch '%S+' do operators[operator] = true end

local escapes = { n = '\n', t = '\t', r = '\r', b = '\b', f = '\f', v = '\v', a = '\a', ['0'] = '\0', ['\\'] = '\\', ["'"] = "'", ['"'] = '"', ['\n'] = '' }

-- The value of a string literal without its quotes, as Python reads it.
local function unescaped(text, line)
  local parts, at = {}, 1
  while true do
    local backslash = text:find('\\', at, true)
    if not backslash then break end
    parts[#parts + 1] = text:sub(at, backslash - 1)
    local letter = text:sub(backslash + 1, backslash + 1)
    local digits = letter == 'x' and 2 or letter == 'u' and 4 or letter == 'U' and 8
    at = backslash + 2
    if digits then
      local hex = text:sub(at, at + digits - 1)
      if #hex ~= digits or hex:find '%X' or tonumber(hex, 16) > 0x10FFFF then fail(line, "a string with the escape '\\%s%s', expected %d hexadecimal digits", letter, hex, digits) end
      parts[#parts + 1] = utf8.char(tonumber(hex, 16))
      at = at + digits
    else
      parts[#parts + 1] = escapes[letter] or '\\' .. letter
    end
  end
  return table.concat(parts) .. text:sub(at)
end

-- Appends the tokens of a tag's text from a position to `list`, up to `closer`. Returns the position
-- after it. A token: kind ('name', 'string', 'number', 'operator'), value, line.
local function read_tag(text, at, closer, line, list)
  local depth = 0
  while true do
    local _, last, space = text:find('^(%s+)', at)
    if last then
      line = line + select(2, space:gsub('\n', ''))
      at = last + 1
    end
    if at > #text then fail(line, "a tag without its end, expected '%s'", closer) end
    if depth == 0 then
      local trimmed = text:find('^[-+]', at) and text:sub(at + 1, at + 2) == closer
      if trimmed then return at + 3, text:sub(at, at), line end
      if text:sub(at, at + 1) == closer then return at + 2, nil, line end
    end
    local token
    local name = text:match('^[%a_][%w_]*', at)
    local number = text:match('^%d[%d_]*%.%d+[eE][-+]?%d+', at) or text:match('^%d[%d_]*%.%d+', at) or text:match('^%d[%d_]*[eE][-+]?%d+', at) or text:match('^%d[%d_]*', at)
    local quote = text:match('^["\']', at)
    if name then token, at = { kind = 'name', value = name }, at + #name
    elseif number then
      local value = tonumber((number:gsub('_', '')))
      if not value then fail(line, "the number '%s', which is none", number) end
      token, at = { kind = 'number', value = value }, at + #number
    elseif quote then
      local stop = at + 1
      while text:sub(stop, stop) ~= quote do
        if stop > #text then fail(line, 'a string without its end') end
        stop = stop + (text:sub(stop, stop) == '\\' and 2 or 1)
      end
      local body = text:sub(at + 1, stop - 1)
      token = { kind = 'string', value = unescaped(body, line), line = line }
      line, at = line + select(2, body:gsub('\n', '')), stop + 1
    else
      local operator = operators[text:sub(at, at + 1)] and text:sub(at, at + 1) or text:sub(at, at)
      if not operators[operator] then fail(line, "the character '%s', which belongs to no expression", operator) end
      if operator:find '[([{]' then depth = depth + 1 elseif operator:find '[])}]' then depth = depth - 1 end
      token, at = { kind = 'operator', value = operator }, at + #operator
    end
    token.line = token.line or line
    list[#list + 1] = token
  end
end

-- A text before a tag, with the space that the tag removes left out. first: the text begins a line.
local function before_tag(text, sign, opener, first)
  if sign == '-' then return text:match '^.*%S' or '' end -- linear, unlike '%s+$'
  if sign == '+' or opener == '{{' then return text end
  local head, line = text:match '^(.*\n)([ \t\v\f]*)$'
  if line then return head end
  return first and text:match '^[ \t\v\f]*$' and '' or text
end

--- A list of parts: { kind = 'text', value }, or { kind = '{%' or '{{', tokens, line }.
function M.parts(text)
  text = text:gsub('\r\n?', '\n'):gsub('\n$', '')
  local parts, at, line, trim, line_start = {}, 1, 1, nil, true
  -- adds a text after a tag: '-' removes all space, 'newline' one newline
  local function add_text(value, sign, opener)
    local begins = line_start
    line = line + select(2, value:gsub('\n', ''))
    if trim == '-' then value = value:gsub('^%s+', '')
    elseif trim == 'newline' and value:sub(1, 1) == '\n' then value, begins = value:sub(2), true end
    value = before_tag(value, sign, opener, begins)
    if value ~= '' then parts[#parts + 1] = { kind = 'text', value = value } end
  end
  while true do
    local open = text:find('{[{%%#]', at)
    if not open then break end
    local opener = text:sub(open, open + 1)
    local sign = text:match('^[-+]', open + 2)
    add_text(text:sub(at, open - 1), sign, opener)
    local from = open + 2 + (sign and 1 or 0)
    local ending
    line_start = false
    if opener == '{#' then
      local stop = text:find('#}', from, true) or fail(line, "a comment without its end, expected '#}'")
      line = line + select(2, text:sub(open, stop):gsub('\n', ''))
      at = stop + 2
      ending = text:sub(stop - 1, stop - 1):match '[-+]'
    else
      local part = { kind = opener, tokens = {}, line = line }
      at, ending, line = read_tag(text, from, closers[opener], line, part.tokens)
      local word = part.tokens[1]
      if opener == '{%' and word and word.value == 'raw' and #part.tokens == 1 then
        local first, last, left, right = text:find('{%%([-+]?)%s*endraw%s*([-+]?)%%}', at)
        if not first then fail(line, 'a raw block without its endraw') end
        trim = ending or 'newline'
        add_text(text:sub(at, first - 1), left ~= '' and left or nil, '{%')
        at, ending = last + 1, right ~= '' and right or nil
      else
        parts[#parts + 1] = part
      end
    end
    trim = ending or (opener ~= '{{' and 'newline') or nil
    if trim == '+' then trim = nil end
  end
  add_text(text:sub(at), '+')
  return parts
end

return M
