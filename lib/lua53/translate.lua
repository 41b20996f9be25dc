-- translate.lua - Lua 5.4's `<close>` and `<const>` for Lua 5.3: returns translate(source, name), which returns source with
-- each scope of a `<close>` variable written as a function. The build translates the library with it, and the program
-- translates cells and scripts.
--
--   local x <close> = e; REST   ->   local x = e; return lt_scope(x, function() REST end)
--
-- lt_scope (scope.lua) calls the function, then x's __close. Where the block is not the last one of its
-- function, the function returns a code for what leaves the block: 1 and values for return, 2 for break, a label for goto.
-- Lines keep their numbers.

local PRELUDE = "local lt_scope = require 'torch.lua53.scope' "

-- ---- tokens ----------------------------------------------------------------------------------------------------------

local KEYWORDS = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true until
  while]]):gmatch '%S+' do
  KEYWORDS[word] = true
end

-- The position behind a long bracket that opens at `at`; nil if none does.
local function long_bracket_end(source, at)
  local level = source:match('^%[(=*)%[', at)
  if not level then return nil end
  local _, last = source:find(']' .. level .. ']', at, true)
  return (last or #source) + 1
end

local function string_end(source, at)
  local quote, i = source:sub(at, at), at + 1
  while i <= #source do
    local c = source:sub(i, i)
    if c == quote then return i + 1 end
    i = i + (c == '\\' and 2 or 1)
  end
  return i
end

-- A list of { kind, text, from, to }; kind is keyword, name, value or symbol. Blanks and comments lie between tokens.
local function tokens_of(source)
  local tokens, at = {}, source:match '^#[^\n]*()' or 1
  local function add(kind, next)
    tokens[#tokens + 1] = { kind = kind, text = source:sub(at, next - 1), from = at, to = next - 1 }
    at = next
  end
  while true do
    at = source:match('^%s*()', at)
    if at > #source then break end
    local word = source:match('^[%a_][%w_]*', at)
    if source:find('^%-%-', at) then
      at = long_bracket_end(source, at + 2) or source:match('^[^\n]*()', at)
    elseif word then
      add(KEYWORDS[word] and 'keyword' or 'name', at + #word)
    elseif source:find('^%.?%d', at) then
      local hexadecimal = source:match('^0[xX][%x.]*()', at)
      local next = hexadecimal or source:match('^[%d.]*()', at)
      add('value', source:match(hexadecimal and '^[pP][+-]?%d+()' or '^[eE][+-]?%d+()', next) or next)
    elseif source:find('^["\']', at) then
      add('value', string_end(source, at))
    elseif long_bracket_end(source, at) then
      add('value', long_bracket_end(source, at))
    else
      local symbol = source:match('^%.%.%.', at) or source:match('^[=~<>]=', at) or source:match('^//', at) or
        source:match('^::', at) or source:match('^<<', at) or source:match('^>>', at) or source:match('^%.%.', at) or
        source:sub(at, at)
      add('symbol', at + #symbol)
    end
  end
  return tokens
end

-- ---- blocks ----------------------------------------------------------------------------------------------------------

-- Marks in the translated text of a function, until it is known what they become.
local RETURN, RETURN_NOTHING, BREAK, GOTO = '\1', '\2', '\3', '\4'

local function as_plain(text)
  return (text:gsub('[\1\2]', ''):gsub(BREAK, 'break'):gsub('\4([%w_]+)\4', 'goto %1'))
end

local CLOSERS = { ['end'] = true, ['else'] = true, ['elseif'] = true, ['until'] = true }
local ENDS_OPERAND = { [')'] = true, [']'] = true, ['}'] = true, ['...'] = true, ['end'] = true, ['nil'] = true,
  ['true'] = true, ['false'] = true }
local CONTINUES_OPERAND = { ['('] = true, ['['] = true, ['{'] = true, ['and'] = true, ['or'] = true }
local STARTS_STATEMENT = { ['::'] = true, [';'] = true }

local Translator = {}
Translator.__index = Translator

function Translator:fail(message)
  local token = self.tokens[self.next] or self.tokens[#self.tokens]
  local _, line = self.source:sub(1, token and token.from or 1):gsub('\n', '')
  error(('%s:%d: %s'):format(self.name, line + 1, message), 0)
end

-- The text of the blanks and comments before the next token, and the token's.
function Translator:take()
  local token = self.tokens[self.next] or self:fail "unexpected end of the file"
  local text = self.source:sub(self.done + 1, token.to)
  self.next, self.done = self.next + 1, token.to
  return text, token
end

function Translator:text() return self.tokens[self.next] and self.tokens[self.next].text end

-- `function` has been taken: its parameters, body and end.
function Translator:function_body()
  local head = ''
  while self:text() ~= '(' do head = head .. self:take() end
  repeat
    local text, token = self:take()
    head = head .. text
  until token.text == ')'
  local body = self:block { is_function = true, info = {} }
  return head .. as_plain(body) .. self:take()
end

-- An expression list, which ends before the next statement.
function Translator:expressions(info)
  local out, depth, operand = {}, 0, false
  while self.tokens[self.next] do
    local token = self.tokens[self.next]
    local text, kind = token.text, token.kind
    if depth == 0 then
      local starts_operand = kind == 'name' or kind == 'value' or text == '...' or text == 'function' or text == 'nil' or
        text == 'true' or text == 'false'
      local calls = kind == 'value' and not text:find '^%.?%d' -- f 'string'
      if operand and starts_operand and not calls then break end
      if operand and kind == 'keyword' and not CONTINUES_OPERAND[text] then break end
      if STARTS_STATEMENT[text] then break end
    end
    if text == '(' or text == '[' or text == '{' then depth = depth + 1 end
    if text == ')' or text == ']' or text == '}' then depth = depth - 1 end
    if text == '...' then info.varargs = true end
    local taken = self:take()
    if text == 'function' then taken, text = taken .. self:function_body(), 'end' end
    out[#out + 1] = taken
    operand = kind == 'name' or kind == 'value' or ENDS_OPERAND[text] or false
  end
  return table.concat(out)
end

-- `local` has been taken, and no function follows: the text of the statement, and the name that is closed.
function Translator:declaration(info)
  local out, closed = {}, nil
  repeat
    local text, name = self:take()
    out[#out + 1] = text
    if self:text() == '<' then
      self:take()
      local _, attribute = self:take()
      self:take()
      if attribute.text == 'close' then
        if closed then self:fail 'two <close> variables in one statement' end
        closed = name.text
      end
    end
    local comma = self:text() == ','
    if comma then out[#out + 1] = self:take() end
  until not comma
  if self:text() == '=' then
    out[#out + 1] = self:take()
    out[#out + 1] = self:expressions(info)
  end
  return table.concat(out), closed
end

-- The rest of a block behind the declaration of `name`, as a call of lt_scope.
local function closing(name, rest, info, is_last)
  local call = ('lt_scope(%s, function(%s)%s end%s)'):format(name, info.varargs and '...' or '', is_last and as_plain(rest) or '%s',
    info.varargs and ', ...' or '')
  if is_last then return ' return ' .. call end
  local labels, exits = {}, {}
  for label in rest:gmatch '::%s*([%a_][%w_]*)%s*::' do labels[label] = true end
  if rest:find '[\1\2]' then exits[1] = 'if r[1] == 1 then return' .. RETURN .. ' table.unpack(r, 2, r.n) end' end
  if rest:find(BREAK) then exits[#exits + 1] = 'if r[1] == 2 then ' .. BREAK .. ' end' end
  rest = rest:gsub(RETURN, ' 1,'):gsub(RETURN_NOTHING, ' 1'):gsub(BREAK, 'do return 2 end')
  rest = rest:gsub('\4([%w_]+)\4', function(label)
    if labels[label] then return end
    exits[label] = exits[label] or true
    return ("do return '%s' end"):format(label)
  end)
  local list = {}
  for key, value in pairs(exits) do
    list[#list + 1] = value == true and ("if r[1] == '%s' then %s%s%s end"):format(key, GOTO, key, GOTO) or value
  end
  table.sort(list)
  call = call:gsub('%%s', function() return rest end)
  if #list == 0 then return ' ' .. call end
  return (' do local r = table.pack(%s) %s end'):format(call, table.concat(list, ' '))
end

-- A nested block and the token that ends it.
function Translator:nested(is_loop, info, is_last)
  local body = self:block { info = info, is_last = is_last }
  if is_loop then body = body:gsub(BREAK, 'break') end
  return body
end

-- if ... then ... elseif ... else ... end, with `if` taken.
function Translator:conditional(info)
  local out = {}
  while true do
    repeat
      local text, token = self:take()
      out[#out + 1] = text
      if token.text == '...' then info.varargs = true end
      if token.text == 'function' then out[#out + 1] = self:function_body() end
    until token.text == 'then' or token.text == 'else'
    out[#out + 1] = self:nested(false, info)
    if self:text() == 'end' then
      out[#out + 1] = self:take()
      return table.concat(out)
    end
    if self:text() == 'elseif' then out[#out + 1] = self:take() end
  end
end

-- The statements of a block, up to the token that ends it, which is not taken.
function Translator:block(block)
  local out, info = {}, block.info
  local function put(text) out[#out + 1] = text end
  while self.tokens[self.next] and not (self.tokens[self.next].kind == 'keyword' and CLOSERS[self:text()]) do
    local text, token = self:take()
    local word = token.kind == 'keyword' and token.text
    if word == 'local' and self:text() ~= 'function' then
      put(text)
      local declaration, closed = self:declaration(info)
      put(declaration)
      if closed then
        local inner = { varargs = false }
        local rest = self:block { is_function = block.is_function, info = inner }
        info.varargs = info.varargs or inner.varargs
        put(closing(closed, rest, inner, block.is_function))
        break
      end
    elseif word == 'function' then
      put(text .. self:function_body())
    elseif word == 'do' or word == 'repeat' then
      local is_loop = word == 'repeat' or block.loop_begins
      block.loop_begins = false
      put(text .. self:nested(is_loop, info))
      put((self:take()))
    elseif word == 'for' or word == 'while' then
      block.loop_begins = true
      put(text)
    elseif word == 'if' then
      put(text .. self:conditional(info))
    elseif word == 'return' then
      local following = self:text()
      local empty = following == nil or following == ';' or CLOSERS[following]
      put(text .. (empty and RETURN_NOTHING or RETURN))
    elseif word == 'break' then
      put(text:sub(1, -6) .. BREAK)
    elseif word == 'goto' then
      local _, label = self:take()
      put(text:sub(1, -5) .. GOTO .. label.text .. GOTO)
    else
      if token.text == '...' then info.varargs = true end
      put(text)
    end
  end
  return table.concat(out)
end

return function(source, name)
  if not source:find('<%s*close%s*>') and not source:find('<%s*const%s*>') then return source end
  local translator = setmetatable({ source = source, name = name or 'source', tokens = tokens_of(source), next = 1, done = 0 }, Translator)
  local first = source:match '^#[^\n]*' or ''
  translator.done = #first
  local body = as_plain(translator:block { is_function = true, info = {} })
  if translator.tokens[translator.next] then translator:fail("unexpected '" .. translator:text() .. "'") end
  return first .. (first == '' and PRELUDE or '\n' .. PRELUDE) .. (first == '' and body or body:sub(2)) .. source:sub(translator.done + 1)
end
