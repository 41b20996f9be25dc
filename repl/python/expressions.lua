-- Python's expressions in Lua: a recursive-descent parser that writes Lua text.
--
-- A node is {text, level, ...}: `level` is the precedence of the text in Lua. Further fields: `int`
-- (an integer literal), `items` (of a tuple or list), `plain` (the body of a string literal without
-- quotes), `call` ({name, method, owner, arguments}), `zero` (counts from 0 where Lua's positions
-- count from 1), `comprehension`. A failing parse raises `self.failure`, caught in repl.python. May
-- use repl.lexer, repl.python.tokens, repl.python.strings, repl.python.calls, repl.python.indices.

local keywords = require('repl.lexer').keywords
local calls = require 'repl.python.calls'
local indices = require 'repl.python.indices'
local strings = require 'repl.python.strings'

local OR, AND, COMPARE, CONCAT, ADD, MULTIPLY, UNARY, POWER, ATOM, PREFIX = 1, 2, 3, 8, 9, 10, 11, 12, 13, 14

local Parser = {OR = OR, AND = AND, COMPARE = COMPARE, CONCAT = CONCAT, ADD = ADD, ATOM = ATOM, PREFIX = PREFIX}
Parser.__index = Parser

local python_keywords = {}
for word in ([[and as assert async await break class continue def del elif else except finally for
  from global if import in is lambda nonlocal not or pass raise return try while with yield]]):gmatch '%a+' do
  python_keywords[word] = true
end

-- Whether positions are written as in Lua.
function Parser:keeps_positions() return self.is_lua or self.positions_stay end

-- ---- tokens --------------------------------------------------------------------------------

function Parser:fail() error(self.failure, 0) end

function Parser:token(ahead) return self.tokens[self.at + (ahead or 0)] or self.tokens[#self.tokens] end

-- Whether the token is the operator or the word.
function Parser:peek(text, ahead)
  local token = self:token(ahead)
  return token.kind == text or token.kind == 'name' and token.text == text
end

function Parser:accept(text)
  if not self:peek(text) then return nil end
  self.at = self.at + 1
  return self.tokens[self.at - 1]
end

function Parser:expect(text) return self:accept(text) or self:fail() end

-- A name that is not a keyword of Python.
function Parser:name()
  local token = self:token()
  if token.kind ~= 'name' or python_keywords[token.text] then self:fail() end
  self.at = self.at + 1
  return token.text
end

-- The same as a variable of Lua.
function Parser:variable()
  local name = self:name()
  if keywords[name] then self:fail() end
  return name
end

-- ---- nodes ---------------------------------------------------------------------------------

function Parser:node(text, level, fields) -- luacheck: ignore self
  local node = fields or {}
  node.text, node.level = text, level
  return node
end

-- The text, in parentheses if its level is below the needed one.
function Parser:at_level(node, level) -- luacheck: ignore self
  return node.level < level and '(' .. node.text .. ')' or node.text
end

-- `left operator right`, left-associative.
function Parser:binary(operator, left, right, level)
  return self:node(('%s %s %s'):format(self:at_level(left, level), operator, self:at_level(right, level + 1)), level)
end

-- `owner:name(argument)`
function Parser:method(owner, name, argument)
  return self:node(('%s:%s(%s)'):format(self:at_level(owner, PREFIX), name, argument or ''), PREFIX)
end

-- ---- expressions ---------------------------------------------------------------------------

-- A condition: comparisons, `.any()` and `.all()` return tensors, which are always true in Lua, as
-- empty lists are.
function Parser:truth(node)
  local call = node.call
  local is_any = call and call.method and #call.arguments == 0 and (call.name == 'any' or call.name == 'all')
  if is_any or node.is_tensor_comparison then return self:method(node, 'item') end
  if self.lists[node.text] then return self:node(('#%s > 0'):format(node.text), COMPARE) end
  return node
end

-- `not node`
function Parser:negated(node)
  return node.opposite and self:node(node.opposite, COMPARE) or self:node('not ' .. self:at_level(node, UNARY), UNARY)
end

function Parser:lambda()
  local parameters = {}
  while not self:accept ':' do
    parameters[#parameters + 1] = self:accept '*' and self:variable() and '...' or self:variable()
    if self:accept '=' then self:fail() end
    if not self:peek ':' then self:expect ',' end
  end
  return self:node(('function(%s) return %s end'):format(table.concat(parameters, ', '), self:expression().text), ATOM)
end

function Parser:expression()
  if self:accept 'lambda' then
    self.is_python = true
    return self:lambda()
  end
  local node = self:disjunction()
  if not self:accept 'if' then return node end
  self.is_python = true
  local condition = self:truth(self:disjunction())
  self:expect 'else'
  local other = self:expression()
  if node.text == 'nil' or node.text == 'false' then -- `c and nil or x` is x
    return self:node(('%s and %s or %s'):format(self:at_level(self:negated(condition), AND), self:at_level(other, COMPARE), node.text), OR)
  end
  return self:node(('%s and %s or %s'):format(self:at_level(condition, AND), self:at_level(node, COMPARE), self:at_level(other, AND)), OR)
end

function Parser:disjunction()
  local node = self:conjunction()
  while self:accept 'or' do node = self:binary('or', self:truth(node), self:truth(self:conjunction()), OR) end
  return node
end

function Parser:conjunction()
  local node = self:negation()
  while self:accept 'and' do node = self:binary('and', self:truth(node), self:truth(self:negation()), AND) end
  return node
end

function Parser:negation()
  if not self:accept 'not' then return self:comparison() end
  return self:negated(self:truth(self:negation()))
end

local methods = {['<'] = 'lt', ['>'] = 'gt', ['<='] = 'le', ['>='] = 'ge', ['=='] = 'eq', ['!='] = 'ne'}
local mirrored = {lt = 'gt', gt = 'lt', le = 'ge', ge = 'le', eq = 'eq', ne = 'ne'}

-- The equality `left operator right`, whose negation needs no parentheses.
function Parser:equality(operator, left, right)
  local node = self:binary(operator, left, right, COMPARE)
  node.opposite = self:binary(operator == '==' and '~=' or '==', left, right, COMPARE).text
  return node
end

local function is_shape(node) return node.name == 'shape' or node.call ~= nil and node.call.name == 'size' end

-- One comparison. In an index, comparisons are of tensors.
function Parser:compare(operator, left, right)
  local method = methods[operator]
  local owner, other = left, right
  if method and right.level >= PREFIX and self:is_tensor(right) and not self:is_tensor(left) then
    owner, other, method = right, left, mirrored[method]
  end
  if method and owner.level >= PREFIX and (self:is_tensor(owner) or self.in_index) then
    local node = self:method(owner, method, other.text)
    node.is_tensor_comparison = true
    return node
  end
  if (operator == '==' or operator == 'is') and left.call and left.call.name == 'type' and #left.call.arguments == 1 and right.level >= PREFIX then
    return calls.is_instance(self, left.call.arguments[1], right) -- the name of a class
  end
  if right.items and is_shape(left) then right = self:node('torch.Size' .. right.text, PREFIX) end
  if right.items or left.items then self:fail() end
  if operator == '!=' or operator == 'is not' or operator == '~=' then return self:equality('~=', left, right) end
  if operator == 'is' or operator == '==' then return self:equality('==', left, right) end
  return self:binary(operator, left, right, COMPARE)
end

-- `x in (1, 2)` and `x in t`.
function Parser:contains(left, right, negated)
  if not right.items then
    if right.level < PREFIX or left.plain == nil and left.level < PREFIX then self:fail() end
    local entry = self:node(('%s[%s]'):format(right.text, left.text), PREFIX)
    return self:equality(negated and '==' or '~=', entry, self:node('nil', ATOM))
  end
  local node
  if left.items then self:fail() end
  for _, item in ipairs(right.items) do
    local one = self:binary(negated and '~=' or '==', left, item, COMPARE)
    node = node and self:binary(negated and 'and' or 'or', node, one, negated and AND or OR) or one
  end
  return node or self:fail()
end

-- The comparison operator at the position, accepted; nil if there is none.
function Parser:comparison_operator()
  local kind = self:token().kind
  if methods[kind] or kind == '~=' then
    self.at = self.at + 1
    if kind == '!=' then self.is_python = true end
    return kind
  end
  local operator
  if self:accept 'is' then operator = self:accept 'not' and 'is not' or 'is'
  elseif self:accept 'in' then operator = 'in'
  elseif self:peek 'not' and self:peek('in', 1) then
    self.at = self.at + 2
    operator = 'not in'
  end
  if operator then self.is_python = true end
  return operator
end

function Parser:comparison()
  local left, node = self:operation(1), nil
  while true do
    if self.no_in and self:peek 'in' then return node or left end
    local operator = self:comparison_operator()
    if not operator then return node or left end
    local right = self:operation(1)
    local one
    if operator == 'in' or operator == 'not in' then
      one = self:contains(left, right, operator == 'not in')
    else
      one = self:compare(operator, left, right)
    end
    node = node and self:binary('and', node, one, AND) or one
    left = right
  end
end

-- Binary operators from the loosest level: {Python's = Lua's}, and the level in Lua.
local operations = {
  {{['|'] = '|'}, 4}, {{['^'] = '~'}, 5}, {{['&'] = '&'}, 6}, {{['<<'] = '<<', ['>>'] = '>>'}, 7},
  {{['+'] = '+', ['-'] = '-'}, ADD}, {{['*'] = '*', ['/'] = '/', ['//'] = '//', ['%'] = '%', ['@'] = 'matmul'}, MULTIPLY},
}

local function one_operation(self, operator, left, right, level)
  if operator == 'matmul' then
    self.is_python = true
    return self:method(left, 'matmul', right.text)
  end
  local is_string = left.is_string or right.is_string
  if operator == '+' and is_string then
    local node = self:binary('..', left, right, CONCAT)
    node.is_string = true
    return node
  elseif operator == '%' and left.is_string then
    return strings.formatted(self, left, right)
  elseif operator == '*' and left.is_string then
    return self:node(('(%s):rep(%s)'):format(left.text, right.text), PREFIX)
  elseif is_string or left.items or right.items then
    self:fail()
  end
  local node = self:binary(operator, left, right, level)
  node.zero = (operator == '+' or operator == '-') and left.zero and right.int ~= nil
  node.tensor = self:is_tensor(left) or self:is_tensor(right)
  return node
end

function Parser:operation(index)
  local row = operations[index]
  if not row then return self:unary() end
  local node = self:operation(index + 1)
  while row[1][self:token().kind] do
    local operator = row[1][self:token().kind]
    self.at = self.at + 1
    node = one_operation(self, operator, node, self:operation(index + 1), row[2])
  end
  return node
end

function Parser:unary()
  local sign = self:accept '-' or self:accept '~' or self:accept '+'
  if not sign then return self:power() end
  local node = self:unary()
  if sign.kind == '+' then return node end
  local int = sign.kind == '-' and node.int and -node.int or nil
  return self:node(sign.kind .. self:at_level(node, UNARY), UNARY, {int = int, tensor = self:is_tensor(node)})
end

function Parser:power()
  local node = self:primary()
  if not self:accept '**' then return node end
  self.is_python = true
  local right = self:unary()
  return self:node(('%s ^ %s'):format(self:at_level(node, POWER + 1), self:at_level(right, UNARY)), POWER, {tensor = self:is_tensor(node)})
end

-- ---- primaries -----------------------------------------------------------------------------

-- `.name`, where a keyword of Lua needs brackets.
local function field(self, owner, name)
  if owner.plain then self:fail() end
  local text = self:at_level(owner, PREFIX)
  return self:node(keywords[name] and ("%s['%s']"):format(text, name) or text .. '.' .. name, PREFIX, {owner = owner, name = name})
end

function Parser:primary()
  local node = self:atom()
  while true do
    if node.items and (self:peek '.' or self:peek '(' or self:peek '[') then self:fail() end
    if self:accept '.' then
      local name = self:name()
      if self:peek '(' then
        node = calls.method(self, node, name)
      else
        node = field(self, node, name)
      end
    elseif self:peek '(' then
      node = calls.call(self, node)
    elseif self:peek '[' then
      node = indices.index(self, node)
    elseif self:peek ':' and not self.no_colon and self:token(1).kind == 'name' and self:token(1).gap == 0 and self:peek('(', 2) then
      self.at = self.at + 1 -- a method in Lua's spelling
      self.is_lua = true
      node = calls.method(self, node, self:name(), true)
    else
      return node
    end
  end
end

-- Runs f(self) with the options of the parser changed.
function Parser:with(changes, f, ...)
  local saved = {}
  for key, value in pairs(changes) do saved[key], self[key] = {self[key]}, value end
  local result = table.pack(f(self, ...))
  for key in pairs(changes) do self[key] = saved[key][1] end
  return table.unpack(result, 1, result.n)
end

-- The expressions up to the closing bracket, and whether there was a comma.
local function items_until(self, closing)
  local items, is_list = {}, false
  while not self:accept(closing) do
    items[#items + 1] = self:expression()
    if #items == 1 and self:peek 'for' then
      local node = self:comprehension(items[1])
      self:expect(closing)
      return {node}, false, true
    end
    if not self:accept ',' then
      self:expect(closing)
      return items, is_list
    end
    is_list = true
  end
  return items, is_list
end

-- A table with the items.
function Parser:list(items)
  local texts = {}
  for index, item in ipairs(items) do texts[index] = item.text end
  return self:node('{' .. table.concat(texts, ', ') .. '}', ATOM, {items = items})
end

local function parenthesized(self)
  local items, is_tuple, is_comprehension = items_until(self, ')')
  if is_tuple or #items == 0 then
    self.is_python = self.is_python or #items > 0
    return self:list(items)
  end
  if not is_comprehension then items[1].parenthesized = true end
  return items[1]
end

local function bracketed(self)
  local items, _, is_comprehension = items_until(self, ']')
  self.is_python = true
  return is_comprehension and items[1] or self:list(items)
end

-- `key = value` in a table.
function Parser:pair(key, value) -- luacheck: ignore self
  local plain = key.plain
  if plain and plain:find '^[%a_][%w_]*$' and not keywords[plain] then return plain .. ' = ' .. value.text end
  return ('[%s] = %s'):format(key.text, value.text)
end

local function braced(self)
  local parts, keys = {}, nil
  while not self:accept '}' do
    local key = self:with({no_colon = true}, self.expression)
    if keys == nil then keys = self:peek ':' end
    if keys then
      self:expect ':'
      local value = self:with({no_colon = false}, self.expression)
      self.is_python = true
      if #parts == 0 and self:peek 'for' then
        local node = self:comprehension(value, key)
        self:expect '}'
        return node
      end
      parts[#parts + 1] = self:pair(key, value)
    else
      parts[#parts + 1] = key.text
    end
    if not self:accept ',' then
      self:expect '}'
      break
    end
  end
  return self:node('{' .. table.concat(parts, ', ') .. '}', ATOM)
end

-- A list made by loops; key: of a dict.
function Parser:comprehension(value, key)
  local heads, ends = {}, 0
  while self:accept 'for' do
    local head, prelude = self:loop_head()
    heads[#heads + 1] = head .. (prelude and ' ' .. prelude or '')
    ends = ends + 1
    while self:accept 'if' do
      heads[#heads + 1] = ('if %s then'):format(self:truth(self:with({no_conditional = true}, self.disjunction)).text)
      ends = ends + 1
    end
  end
  local node = self:node('', ATOM)
  node.comprehension = function(name)
    local slot = key and key.text or ('#%s + 1'):format(name)
    return ('%s %s[%s] = %s%s'):format(table.concat(heads, ' '), name, slot, value.text, (' end'):rep(ends))
  end
  node.text = ('(function() local list = {} %s return list end)()'):format(node.comprehension 'list')
  node.level = PREFIX
  return node
end

local constants = {None = 'nil', True = 'true', False = 'false', ['nil'] = 'nil', ['true'] = 'true', ['false'] = 'false'}

function Parser:atom()
  local token = self:token()
  if token.kind == 'string' then return strings.literals(self) end
  if token.kind == 'number' then
    self.at = self.at + 1
    return strings.number(self, token.text)
  end
  if self:accept '(' then return self:with({no_colon = false, no_in = false, in_index = false}, parenthesized) end
  if self:accept '[' then return self:with({no_colon = false, no_in = false, in_index = false}, bracketed) end
  if self:accept '{' then return self:with({no_in = false, in_index = false}, braced) end
  local constant = token.kind == 'name' and constants[token.text]
  if constant then
    self.at = self.at + 1
    if token.text == constant then self.is_lua = true else self.is_python = true end
    return self:node(constant, ATOM)
  end
  local name = self:variable()
  return self:node(self.renamed[name] or name, PREFIX, {variable = name, zero = self.zero[name]})
end

return Parser
