-- close_scopes.lua - Lua 5.4's `<close>` and `<const>` for Lua 5.3: returns translate(source, name), which returns source
-- with each scope of a `<close>` variable written as a function. The build translates the library with it, and the program
-- translates cells and scripts (lua53.lua).
--
--   local x <close> = e; REST   ->   local x = e; return lt_scope(x, function() REST end)
--
-- lt_scope (lib/lua53/scope.lua) calls the function, then x's __close. Where the block is not the last one of its function,
-- the function returns a code for a jump out of the block: 1 and values for return, 2 for break, a label for goto.
-- Lines keep their numbers.

local lexer = require 'repl.lexer'

local PRELUDE = "local lt_scope = require 'torch.lua53.scope' "

-- ---- blocks ----------------------------------------------------------------------------------------------------------

-- Marks of jumps in the translated text of a function, until the scope or function that they leave is translated.
local RETURN, RETURN_NOTHING, BREAK, GOTO = '\1', '\2', '\3', '\4'

local function as_plain(text)
  return (text:gsub('[\1\2]', ''):gsub(BREAK, 'break'):gsub('\4([%w_]+)\4', 'goto %1'))
end

local CLOSERS = { ['end'] = true, ['else'] = true, ['elseif'] = true, ['until'] = true }
local ENDS_OPERAND = { name = true, number = true, string = true, [')'] = true, [']'] = true, ['}'] = true, ['...'] = true, ['end'] = true, ['nil'] = true,
  ['true'] = true, ['false'] = true }
local CONTINUES_OPERAND = { ['('] = true, ['['] = true, ['{'] = true, ['and'] = true, ['or'] = true }
local STARTS_STATEMENT = { ['::'] = true, [';'] = true }
local STARTS_OPERAND = { name = true, number = true, string = true, ['...'] = true, ['function'] = true, ['nil'] = true,
  ['true'] = true, ['false'] = true }

local Translator = {}
Translator.__index = Translator

function Translator:fail(message)
  local token = self.tokens[self.next] or self.tokens[#self.tokens]
  local _, line = self.source:sub(1, token and token.start or 1):gsub('\n', '')
  error(('%s:%d: %s'):format(self.name, line + 1, message), 0)
end

-- The text of the blanks and comments before the next token, and the token's.
function Translator:take()
  local token = self.tokens[self.next] or self:fail "unexpected end of the file"
  if token.kind == 'unfinished' or token.kind == 'unknown' then self:fail(token.kind .. ' token') end
  local text = self.source:sub(self.done + 1, token.stop)
  self.next, self.done = self.next + 1, token.stop
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
    local kind = self.tokens[self.next].kind
    if depth == 0 then
      if operand and STARTS_OPERAND[kind] and kind ~= 'string' then break end -- f 'text' is a call
      if operand and lexer.keywords[kind] and not CONTINUES_OPERAND[kind] then break end
      if STARTS_STATEMENT[kind] then break end
    end
    if kind == '(' or kind == '[' or kind == '{' then depth = depth + 1 end
    if kind == ')' or kind == ']' or kind == '}' then depth = depth - 1 end
    if kind == '...' then info.varargs = true end
    local taken = self:take()
    if kind == 'function' then taken, kind = taken .. self:function_body(), 'end' end
    out[#out + 1] = taken
    operand = ENDS_OPERAND[kind] or false
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

-- A nested block, without the token that ends it.
function Translator:nested(is_loop, info)
  local body = self:block { info = info }
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
  while self.tokens[self.next] and not CLOSERS[self.tokens[self.next].kind] do
    local text, token = self:take()
    local word = token.kind
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
  local first = source:match '^#[^\n]*' or ''
  local translator = setmetatable({ source = source, name = name or 'source', tokens = lexer.tokens((' '):rep(#first) .. source:sub(#first + 1)),
    next = 1, done = #first }, Translator)
  local body = as_plain(translator:block { is_function = true, info = {} })
  if translator.tokens[translator.next] then translator:fail("unexpected '" .. translator:text() .. "'") end
  local comments = source:sub(#first + 1, translator.tokens[1].start - 1) -- the help reads the first comment of a file
  return first .. comments .. PRELUDE .. body:sub(#comments + 1) .. source:sub(translator.done + 1)
end
