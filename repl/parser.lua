-- The outline of a cell: its top-level local declarations and its last expression.
--
-- A recognizer for Lua 5.4 that builds no tree. load() validates the source, so this module needs
-- no messages: unrecognized source has no outline. A failing parse raises the private value
-- `failure`, caught in outline(). May use repl.lexer.

local lexer = require 'repl.lexer'

local parser = {}

local failure = {}
local END = {kind = 'end of text', text = ''}

local binary = {}
for text in ('+ - * / // ^ % & ~ | >> << .. < <= > >= == ~= and or'):gmatch '%S+' do binary[text] = true end
local unary = {['not'] = true, ['#'] = true, ['-'] = true, ['~'] = true}
local constant = {number = true, string = true, ['nil'] = true, ['true'] = true, ['false'] = true, ['...'] = true}

local State = {}
State.__index = State

function State:peek(ahead) return (self.tokens[self.at + (ahead or 0)] or END).kind end

function State:next()
  self.at = self.at + 1
  return self.tokens[self.at - 1]
end

function State:accept(kind)
  if self:peek() == kind then return self:next() end
end

function State:expect(kind)
  return self:accept(kind) or error(failure, 0)
end

-- Reads a name whose meaning depends on the position: a parameter or a variable of a loop or block.
function State:inner_name() self.inner[self:expect('name').text] = true end

function State:name_list()
  repeat self:inner_name() until not self:accept ','
end

function State:expression_list()
  repeat self:expression() until not self:accept ','
end

function State:table_constructor()
  self:expect '{'
  while self:peek() ~= '}' do
    if self:accept '[' then
      self:expression(); self:expect ']'; self:expect '='
    elseif self:peek() == 'name' and self:peek(1) == '=' then
      self.at = self.at + 2
    end
    self:expression()
    if not self:accept ',' and not self:accept ';' then break end
  end
  self:expect '}'
end

function State:function_body()
  self:expect '('
  if self:peek() ~= ')' then
    repeat
      if self:accept '...' then break end
      self:inner_name()
    until not self:accept ','
  end
  self:expect ')'
  self:block()
  self:expect 'end'
end

-- Reads a variable or call; returns 'call', 'variable' or 'value' (a parenthesized expression).
function State:suffixed()
  local kind
  if self:accept '(' then
    self:expression(); self:expect ')'
    kind = 'value'
  else
    self:expect 'name'
    kind = 'variable'
  end
  while true do
    local next_kind = self:peek()
    if next_kind == '.' then
      self:next(); self:expect 'name'
      kind = 'variable'
    elseif next_kind == '[' then
      self:next(); self:expression(); self:expect ']'
      kind = 'variable'
    elseif next_kind == ':' then
      self:next(); self:expect 'name'; self:arguments()
      kind = 'call'
    elseif next_kind == '(' or next_kind == '{' or next_kind == 'string' then
      self:arguments()
      kind = 'call'
    else
      return kind
    end
  end
end

function State:arguments()
  if self:accept 'string' then return end
  if self:peek() == '{' then return self:table_constructor() end
  self:expect '('
  if self:peek() ~= ')' then self:expression_list() end
  self:expect ')'
end

function State:expression()
  repeat
    while unary[self:peek()] do self:next() end
    local kind = self:peek()
    if constant[kind] then self:next()
    elseif kind == '{' then self:table_constructor()
    elseif kind == 'function' then self:next(); self:function_body()
    else self:suffixed() end
    local more = binary[self:peek()]
    if more then self:next() end
  until not more
end

-- Reads the condition of a statement.
function State:condition()
  local first = self.at
  self:expression()
  self.conditions[first] = self.at - 1
end

local closes = {['end'] = true, ['else'] = true, ['elseif'] = true, ['until'] = true, [END.kind] = true}

function State:block()
  while not closes[self:peek()] do
    if self:accept 'return' then
      if not closes[self:peek()] and self:peek() ~= ';' then self:expression_list() end
      self:accept ';'
      if not closes[self:peek()] then error(failure, 0) end
      return
    end
    self:statement()
  end
end

-- Reads `local …` and returns its declaration: names, attributes, and its end.
function State:local_statement()
  self:expect 'local'
  local declared = {names = {}, attributes = {}}
  if self:accept 'function' then
    declared.names[1] = self:expect('name').text
    self:function_body()
  else
    repeat
      local name = self:expect('name').text
      declared.names[#declared.names + 1] = name
      if self:accept '<' then
        declared.attributes[name] = self:expect('name').text
        self:expect '>'
      end
    until not self:accept ','
    if self:accept '=' then self:expression_list() end
  end
  declared.stop = self.tokens[self.at - 1].stop
  return declared
end

local statements = {}

statements[';'] = function(self) self:next() end
statements['break'] = statements[';']
statements['local'] = function(self)
  for _, name in ipairs(self:local_statement().names) do self.inner[name] = true end
end

statements['goto'] = function(self) self:next(); self:expect 'name' end
statements['::'] = function(self) self:next(); self:expect 'name'; self:expect '::' end

statements['do'] = function(self) self:next(); self:block(); self:expect 'end' end

statements['while'] = function(self)
  self:next(); self:condition(); self:expect 'do'; self:block(); self:expect 'end'
end

statements['repeat'] = function(self)
  self:next(); self:block(); self:expect 'until'; self:condition()
end

statements['if'] = function(self)
  repeat
    self:next(); self:condition(); self:expect 'then'; self:block()
  until self:peek() ~= 'elseif'
  if self:accept 'else' then self:block() end
  self:expect 'end'
end

statements['for'] = function(self)
  self:next(); self:name_list()
  if not self:accept 'in' then self:expect '=' end
  self:expression_list(); self:expect 'do'; self:block(); self:expect 'end'
end

statements['function'] = function(self)
  self:next(); self:expect 'name'
  while self:accept '.' do self:expect 'name' end
  if self:accept ':' then self:expect 'name' end
  self:function_body()
end

function State:statement()
  local known = statements[self:peek()]
  if known then return known(self) end
  local kind = self:suffixed()
  if kind == 'call' then return end
  while self:accept ',' do
    if kind ~= 'variable' then error(failure, 0) end
    kind = self:suffixed()
  end
  if kind ~= 'variable' then error(failure, 0) end
  self:expect '='
  self:expression_list()
end

-- True if everything from here to the end of the text is one list of expressions, then the index of
-- its last token and whether a `;` follows. Does not change the position.
function State:tail()
  local start = self.at
  local ok = pcall(self.expression_list, self)
  local last, silent = self.at - 1, false
  while ok and self:accept ';' do silent = true end
  ok = ok and self:peek() == END.kind
  self.at = start
  return ok, last, silent
end

-- The outline of `source`: {tokens, locals, tail, start, conditions, inner}. `locals` lists the declaration of each
-- top-level local statement; `tail` is {start, stop, silent} of the last expression, or nil;
-- `start` is the byte offset of the last parsed statement, also in invalid text (then `broken` is
-- true). `conditions` maps the index of the first token of each condition to that of its last; `inner`
-- is the set of the names of parameters and of variables of loops and blocks.
function parser.outline(source)
  local self = setmetatable({tokens = lexer.tokens(source), at = 1, conditions = {}, inner = {}}, State)
  local outline = {tokens = self.tokens, locals = {}, start = 1, conditions = self.conditions, inner = self.inner}
  local function top_level()
    while self:peek() ~= END.kind do
      outline.start = self.tokens[self.at].start
      local kind = self:peek()
      if kind == 'local' then
        outline.locals[#outline.locals + 1] = self:local_statement()
      elseif kind == 'return' then
        self:block()
        if self:peek() ~= END.kind then error(failure, 0) end
      else
        if not statements[kind] or kind == 'function' then
          local found, last, silent = self:tail()
          if found then
            outline.tail = {start = outline.start, stop = self.tokens[last].stop, silent = silent}
            return
          end
        end
        self:statement()
      end
    end
  end
  local ok, message = pcall(top_level)
  if not ok then
    if message ~= failure then error(message, 0) end
    outline.broken = true
  end
  return outline
end

return parser
