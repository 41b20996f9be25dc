-- parser.lua - builds the tree of a template of Jinja. A node is a table: kind, line, and parts.
-- Statements and expressions that ltensor does not support are errors that name them.

local fail = require 'torch.lm.template.fail'
local lexer = require 'torch.lm.template.lexer'

local MAX_DEPTH = 100 -- of nested expressions and statements

local Parser = {}
Parser.__index = Parser

-- ---- tokens -------------------------------------------------------------------------------------

local function described(token) return token and ("'%s'"):format(tostring(token.value)) or 'the end of the tag' end

function Parser:peek(value, kind)
  local token = self.tokens[self.at]
  return token and token.value == value and token.kind == (kind or 'operator') and token or nil
end

function Parser:accept(value, kind)
  local token = self:peek(value, kind)
  if token then self.at = self.at + 1 end
  return token
end

function Parser:expect(value, kind)
  return self:accept(value, kind) or fail(self.line, "got %s, expected '%s'", described(self.tokens[self.at]), value)
end

function Parser:name()
  local token = self.tokens[self.at]
  if not token or token.kind ~= 'name' then fail(self.line, 'got %s, expected a name', described(token)) end
  self.at = self.at + 1
  return token.value
end

function Parser:node(kind, fields)
  fields.kind, fields.line = kind, self.line
  return fields
end

function Parser:enter()
  self.depth = self.depth + 1
  if self.depth > MAX_DEPTH then fail(self.line, 'more than %d nested expressions or statements', MAX_DEPTH) end
end

-- ---- expressions --------------------------------------------------------------------------------

local constants = { ['true'] = true, ['True'] = true, ['false'] = false, ['False'] = false }
local none = { none = true, None = true }

-- The arguments of a call, after its parenthesis: lists of expressions and of { name, expression }.
function Parser:arguments()
  local list, named = {}, {}
  while not self:accept ')' do
    if self:peek '*' or self:peek '**' then fail(self.line, 'a call with * or **, which ltensor does not support') end
    local token, following = self.tokens[self.at], self.tokens[self.at + 1]
    if token and token.kind == 'name' and following and following.kind == 'operator' and following.value == '=' then
      self.at = self.at + 2
      named[#named + 1] = { token.value, self:expression() }
    else
      list[#list + 1] = self:expression()
    end
    if not self:accept ',' and not self:peek ')' then self:expect ')' end
  end
  return list, named
end

-- Expressions separated by commas up to a closing operator.
function Parser:items(closer)
  local list = {}
  while not self:accept(closer) do
    list[#list + 1] = self:expression()
    if not self:accept ',' and not self:peek(closer) then self:expect(closer) end
  end
  return list
end

function Parser:group()
  if self:accept ')' then return self:node('list', { tuple = true, items = {} }) end
  local first = self:expression()
  if self:accept ')' then return first end
  self:expect ','
  local items = self:items ')'
  table.insert(items, 1, first)
  return self:node('list', { tuple = true, items = items })
end

function Parser:dict()
  local items = {}
  while not self:accept '}' do
    local key = self:expression()
    self:expect ':'
    items[#items + 1] = { key, self:expression() }
    if not self:accept ',' and not self:peek '}' then self:expect '}' end
  end
  return self:node('dict', { items = items })
end

function Parser:primary()
  local token = self.tokens[self.at] or fail(self.line, 'the tag ends, expected an expression')
  self.at, self.line = self.at + 1, token.line
  if token.kind == 'name' then
    if constants[token.value] ~= nil then return self:node('constant', { value = constants[token.value] }) end
    if none[token.value] then return self:node('none', {}) end
    return self:node('variable', { name = token.value })
  end
  if token.kind == 'number' then return self:node('constant', { value = token.value }) end
  if token.kind == 'string' then
    local parts = { token.value }
    while self.tokens[self.at] and self.tokens[self.at].kind == 'string' do
      parts[#parts + 1], self.at = self.tokens[self.at].value, self.at + 1
    end
    return self:node('constant', { value = table.concat(parts) })
  end
  if token.value == '(' then return self:group() end
  if token.value == '[' then return self:node('list', { items = self:items ']' }) end
  if token.value == '{' then return self:dict() end
  fail(self.line, 'got %s, expected an expression', described(token))
end

-- An index or a slice, after its bracket.
function Parser:subscript(node)
  local bounds, position = {}, 1
  while not self:accept ']' do
    if self:accept ':' then position = position + 1
    else
      bounds[position] = self:expression()
      if not self:peek ']' and not self:peek ':' then self:expect ']' end
    end
    if position > 3 then fail(self.line, 'a slice of more than three parts') end
  end
  if position == 1 then
    return self:node('item', { value = node, key = bounds[1] or fail(self.line, 'an index without an expression') })
  end
  return self:node('slice', { value = node, bounds = bounds })
end

function Parser:postfix(node)
  while true do
    if self:accept '.' then
      local token = self.tokens[self.at]
      if token and math.type(token.value) == 'integer' then
        self.at = self.at + 1
        node = self:node('item', { value = node, key = self:node('constant', { value = token.value }) })
      else
        node = self:node('attribute', { value = node, name = self:name() })
      end
    elseif self:accept '[' then node = self:subscript(node)
    elseif self:accept '(' then
      local list, named = self:arguments()
      node = self:node('call', { value = node, list = list, named = named })
    else
      return node
    end
  end
end

local after_test = { ['else'] = true, ['or'] = true, ['and'] = true, ['if'] = true, ['is'] = true, ['in'] = true, ['not'] = true }
local opens = { ['('] = true, ['['] = true, ['{'] = true }

function Parser:test(node)
  local negated = self:accept('not', 'name')
  local name, list = self:name(), {}
  if self:accept '(' then list = (self:arguments())
  else
    local token = self.tokens[self.at]
    if token and (token.kind == 'string' or token.kind == 'number' or token.kind == 'name' and not after_test[token.value] or token.kind == 'operator' and opens[token.value]) then
      list[1] = self:postfix(self:primary())
    end
  end
  local test = self:node('test', { value = node, name = name, list = list })
  return negated and self:node('not', { value = test }) or test
end

function Parser:filters(node)
  while true do
    if self:accept '|' then
      local name, list, named = self:name(), {}, {}
      if self:accept '(' then list, named = self:arguments() end
      node = self:node('filter', { value = node, name = name, list = list, named = named })
    elseif self:accept('is', 'name') then node = self:test(node)
    else
      return node
    end
  end
end

function Parser:unary(without_filters)
  self:enter()
  local node
  if self:accept '-' then node = self:node('negative', { value = self:unary(true) })
  elseif self:accept '+' then node = self:unary(true)
  else node = self:primary() end
  node = self:postfix(node)
  self.depth = self.depth - 1
  return without_filters and node or self:filters(node)
end

-- Binary operators by increasing precedence.
local levels = { { '+', '-' }, { '~' }, { '*', '/', '//', '%' }, { '**' } }

function Parser:binary(level)
  if level > #levels then return self:unary() end
  local node = self:binary(level + 1)
  while true do
    local operator
    for _, candidate in ipairs(levels[level]) do operator = operator or self:accept(candidate) and candidate end
    if not operator then return node end
    node = self:node('binary', { operator = operator, left = node, right = self:binary(level + 1) })
  end
end

local comparisons = { '==', '!=', '<=', '>=', '<', '>' }

function Parser:comparison()
  local node, chain = self:binary(1), {}
  while true do
    local operator
    for _, candidate in ipairs(comparisons) do operator = operator or self:accept(candidate) and candidate end
    if not operator and self:accept('in', 'name') then operator = 'in' end
    local following = self.tokens[self.at + 1]
    if not operator and self:peek('not', 'name') and following and following.value == 'in' and following.kind == 'name' then
      self.at = self.at + 2
      operator = 'not in'
    end
    if not operator then break end
    chain[#chain + 1] = { operator, self:binary(1) }
  end
  return #chain > 0 and self:node('compare', { value = node, chain = chain }) or node
end

function Parser:negation()
  if not self:accept('not', 'name') then return self:comparison() end
  self:enter()
  local node = self:node('not', { value = self:negation() })
  self.depth = self.depth - 1
  return node
end

function Parser:conjunction()
  local node = self:negation()
  while self:accept('and', 'name') do node = self:node('and', { left = node, right = self:negation() }) end
  return node
end

function Parser:disjunction()
  local node = self:conjunction()
  while self:accept('or', 'name') do node = self:node('or', { left = node, right = self:conjunction() }) end
  return node
end

function Parser:expression()
  self:enter()
  local node = self:disjunction()
  while self:accept('if', 'name') do
    local condition, other = self:disjunction(), nil
    if self:accept('else', 'name') then other = self:expression() end
    node = self:node('choice', { condition = condition, value = node, other = other })
  end
  self.depth = self.depth - 1
  return node
end

-- An expression, or several with commas: a tuple.
function Parser:tuple()
  local first = self:expression()
  if not self:peek ',' then return first end
  local items = { first }
  while self:accept ',' do
    if not self.tokens[self.at] then break end
    items[#items + 1] = self:expression()
  end
  return self:node('list', { tuple = true, items = items })
end

-- ---- statements ---------------------------------------------------------------------------------

-- Reads the parts up to a tag that begins with one of the words; the tag's other tokens come next.
function Parser:body(words)
  self:enter()
  local list, line = {}, self.line
  while true do
    self.part = self.part + 1
    local part = self.parts[self.part]
    if not part then
      if not words then break end
      fail(line, 'a block without its %s', words[#words])
    end
    if part.kind == 'text' then list[#list + 1] = { kind = 'text', value = part.value }
    else
      self.tokens, self.at, self.line = part.tokens, 1, part.line
      if part.kind == '{{' then
        list[#list + 1] = self:node('output', { value = self:tuple() })
        self:finish()
      else
        local word = self:name()
        for _, ending in ipairs(words or {}) do
          if word == ending then
            self.depth = self.depth - 1
            return list, word
          end
        end
        list[#list + 1] = self:statement(word)
      end
    end
  end
  self.depth = self.depth - 1
  return list
end

-- The tag has no more tokens.
function Parser:finish()
  if self.tokens[self.at] then fail(self.line, 'got %s, expected the end of the tag', described(self.tokens[self.at])) end
end

-- The targets of an assignment: list of names, or of { name, field }.
function Parser:targets()
  local list = {}
  local group = self:accept '('
  repeat
    local name = self:name()
    list[#list + 1] = self:accept '.' and { name, self:name() } or name
  until not self:accept ','
  if group then self:expect ')' end
  return list
end

local statements = {}

statements['if'] = function(self)
  local node = self:node('if', { cases = {} })
  local condition = self:expression()
  local word
  repeat
    self:finish()
    local body
    body, word = self:body { 'elif', 'else', 'endif' }
    node.cases[#node.cases + 1] = { condition, body }
    condition = word == 'elif' and self:expression()
  until word ~= 'elif'
  if word == 'else' then
    self:finish()
    node.other = (self:body { 'endif' })
  end
  return node
end

statements['for'] = function(self)
  local node = self:node('for', { targets = self:targets() })
  for _, target in ipairs(node.targets) do
    if type(target) == 'table' then fail(self.line, 'a loop over a field, expected a name') end
  end
  self:expect('in', 'name')
  node.list = self:disjunction()
  if self:accept('if', 'name') then node.condition = self:expression() end
  if self:peek('recursive', 'name') then fail(self.line, 'a recursive loop, which ltensor does not support') end
  self:finish()
  self.loops = self.loops + 1
  local word
  node.body, word = self:body { 'else', 'endfor' }
  self.loops = self.loops - 1
  if word == 'else' then
    self:finish()
    node.other = (self:body { 'endfor' })
  end
  return node
end

statements['set'] = function(self)
  local node = self:node('set', { targets = self:targets() })
  if self:accept '=' then
    node.value = self:tuple()
    return node
  end
  if self:peek '|' then fail(self.line, 'a set block with a filter, which ltensor does not support') end
  self:finish()
  node.body = (self:body { 'endset' })
  return node
end

statements['macro'] = function(self)
  local node = self:node('macro', { name = self:name(), parameters = {} })
  self:expect '('
  while not self:accept ')' do
    local name = self:name()
    node.parameters[#node.parameters + 1] = { name, self:accept '=' and self:expression() or nil }
    if not self:accept ',' and not self:peek ')' then self:expect ')' end
  end
  self:finish()
  local loops = self.loops
  self.loops = 0
  node.body = (self:body { 'endmacro' })
  self.loops = loops
  return node
end

-- Marks of the texts of the assistant, for training.
statements['generation'] = function(self)
  self:finish()
  return self:node('block', { body = (self:body { 'endgeneration' }) })
end

for _, word in ipairs { 'break', 'continue' } do
  statements[word] = function(self)
    if self.loops == 0 then fail(self.line, '%s outside of a loop', word) end
    return self:node(word, {})
  end
end

function Parser:statement(word)
  local read = statements[word] or fail(self.line, "the statement '%s', which ltensor does not support", word)
  local node = read(self)
  self:finish()
  return node
end

--- The list of nodes of a template.
return function(text)
  local parser = setmetatable({ parts = lexer.parts(text), part = 0, tokens = {}, at = 1, line = 1, depth = 0, loops = 0 }, Parser)
  return (parser:body())
end
