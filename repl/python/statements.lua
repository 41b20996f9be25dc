-- Python's statements in Lua: blocks by indentation become blocks with `end`.
--
-- Adds to the parser of repl.python.expressions. Each statement returns a list of lines; a block
-- that is missing, because only its first line was typed, becomes a comment. Assigned names are
-- globals at the top level and locals in functions. May use repl.lexer, repl.python.expressions,
-- repl.python.imports and repl.python.loops.

local keywords = require('repl.lexer').keywords
local imports = require 'repl.python.imports'
local Parser = require 'repl.python.expressions'
require 'repl.python.loops' -- adds loop_head to the parser

local statements = {}

local function append(lines, more, indent)
  for _, line in ipairs(more) do lines[#lines + 1] = (indent or '') .. line end
  return lines
end

-- ---- lines and blocks ----------------------------------------------------------------------

local function comment_line(text) return '--' .. (text:find '^%s' and '' or ' ') .. text end

-- Whether the text after # is that of a comment: `#name` is a length in Lua.
local function is_comment(text) return text ~= nil and not text:find '^[%w_]' end

-- Ends a simple statement; its comment is added to the last line.
function Parser:end_line(lines)
  if self:accept ';' then return lines end
  local token = self:token()
  if token.kind == 'end' then return lines end
  self:expect 'newline'
  self.is_python = self.is_python or is_comment(token.comment)
  if token.comment and #lines > 0 then lines[#lines] = lines[#lines] .. '  ' .. comment_line(token.comment) end
  return lines
end

local MISSING = '-- ...'

-- The indented statements after `:`, or the statements on the same line.
function Parser:block()
  self:expect ':'
  local lines = {}
  if self:peek 'end' then return {MISSING} end
  if self:token().kind ~= 'newline' then
    repeat append(lines, self:simple_statement()) until self.tokens[self.at - 1].kind ~= ';' or self:token().kind == 'newline'
    return lines
  end
  local comment = self:token().comment
  self:expect 'newline'
  if comment then lines[1] = comment_line(comment) end
  while self:token().kind == 'comment' do
    lines[#lines + 1] = comment_line(self:token().text)
    self.at = self.at + 1
  end
  if not self:accept 'indent' then
    lines[#lines + 1] = MISSING
    return lines
  end
  self.depth = self.depth + 1
  while not self:accept 'dedent' do append(lines, self:statement()) end
  self.depth = self.depth - 1
  return lines
end

-- ---- variables -----------------------------------------------------------------------------

-- The keyword before a first assignment to the names: local in functions, nothing otherwise.
function Parser:declare(names)
  local scope = self.locals
  if not scope then return '' end
  local all_new = true
  for _, name in ipairs(names) do all_new = all_new and not scope.known[name] end
  if all_new and self.depth == scope.depth then
    for _, name in ipairs(names) do scope.known[name] = true end
    return 'local '
  end
  for _, name in ipairs(names) do
    if not scope.known[name] then
      scope.known[name] = true
      scope.early[#scope.early + 1] = name
    end
  end
  return ''
end

-- The lines of a function's body, with locals that are assigned in inner blocks declared first.
local function function_body(self, parameters)
  local saved = self.locals
  local scope = {known = {}, early = {}, depth = self.depth + 1}
  for _, name in ipairs(parameters) do scope.known[name] = true end
  self.locals = scope
  local lines = self:block()
  self.locals = saved
  if #scope.early > 0 then table.insert(lines, 1, 'local ' .. table.concat(scope.early, ', ')) end
  return lines
end

-- ---- functions -----------------------------------------------------------------------------

local function annotation(self)
  if self:accept ':' then self:with({no_colon = true}, self.expression) end
end

-- Reads the parameters in parentheses: their names in Lua, and the lines that set defaults.
local function parameters_of(self)
  local names, lines = {}, {}
  self:expect '('
  while not self:accept ')' do
    if self:accept '**' then
      names[#names + 1] = self:variable()
      lines[#lines + 1] = ('%s = %s or {}'):format(names[#names], names[#names])
    elseif self:accept '*' then
      if self:token().kind == 'name' then
        local name = self:variable()
        if not self:peek ')' then self:fail() end
        names[#names + 1] = '...'
        lines[#lines + 1] = ('local %s = {...}'):format(name)
      end
    elseif not self:accept '/' then -- ends the positional parameters
      local name = self:variable()
      names[#names + 1] = name
      annotation(self)
      if self:accept '=' then
        local default = self:expression().text
        if default == 'false' then
          lines[#lines + 1] = ('%s = %s or false'):format(name, name)
        elseif default == 'true' then
          lines[#lines + 1] = ('if %s == nil then %s = true end'):format(name, name)
        elseif default ~= 'nil' then
          lines[#lines + 1] = ('%s = %s or %s'):format(name, name, default)
        end
      end
    end
    if not self:accept ',' then
      self:expect ')'
      break
    end
  end
  return names, lines
end

local metamethods = {__init__ = 'init', __call__ = '__call', __len__ = '__len', __getitem__ = '__getitem', __repr__ = '__tostring',
  __str__ = '__tostring', __eq__ = '__eq', __add__ = '__add', __sub__ = '__sub', __mul__ = '__mul'}

-- `def name(...):`; decorators: nodes. In a class, or with d2l.add_to_class, the function is a method.
local function definition(self, decorators)
  local name = self:name()
  local owner, static, wrappers = self.class, false, {}
  for _, node in ipairs(decorators) do
    local call = node.call
    if node.text == 'staticmethod' then static = true
    elseif call and call.name == 'add_to_class' and call.arguments[1] then owner = call.arguments[1].text
    else wrappers[#wrappers + 1] = node.text end
  end
  if owner then name = metamethods[name] or name end
  if keywords[name] then self:fail() end
  local class, methods, fields = self.class, self.methods, self.fields
  if owner and not class then self.class, self.methods, self.fields = owner, {}, {} end
  local names, lines = parameters_of(self)
  if self:accept '->' then self:with({no_colon = true}, self.expression) end
  local separator = '.'
  if owner and not static and names[1] == 'self' then
    separator = ':'
    table.remove(names, 1)
  end
  if not owner then self.functions[name] = names end
  local title = owner and owner .. separator .. name or name
  local keyword = not owner and self.locals and 'local function ' or 'function '
  if not owner and self.locals then self.locals.known[name] = true end
  local known = table.move(names, 1, #names, 1, {})
  known[#known + 1] = 'self'
  append(lines, function_body(self, known))
  self.class, self.methods, self.fields = class, methods, fields
  local result = append({('%s%s(%s)'):format(keyword, title, table.concat(names, ', '))}, lines, '  ')
  result[#result + 1] = 'end'
  for index = #wrappers, 1, -1 do
    local target = title:gsub(':', '.')
    result[#result + 1] = ('%s = %s(%s)'):format(target, wrappers[index], target)
  end
  return result
end

-- ---- classes -------------------------------------------------------------------------------

-- Notes which names are methods and which are fields of the objects of the class whose block
-- follows.
local function scan_class(self)
  local depth = 0
  for at = self.at, #self.tokens do
    local token, next_token = self.tokens[at], self.tokens[at + 1]
    if token.kind == 'indent' then depth = depth + 1 end
    if token.kind == 'dedent' then depth = depth - 1 end
    if token.kind == 'dedent' and depth == 0 then return end
    if token.text == 'def' and depth == 1 and next_token.text then self.methods[next_token.text] = true end
    if token.text == 'self' and next_token.kind == '.' and self.tokens[at + 3] and self.tokens[at + 3].kind == '=' then
      self.fields[self.tokens[at + 2].text or ''] = true
    end
  end
end

local function class_statement(self)
  local name = self:variable()
  local base
  if self:accept '(' then
    while not self:accept ')' do
      local node = self:expression()
      if self:accept '=' then self:expression() elseif not base and node.text ~= 'object' then base = node end
      if not self:accept ',' then
        self:expect ')'
        break
      end
    end
  end
  local saved = {self.class, self.methods, self.fields, self.locals, self.base_is_module}
  self.class, self.methods, self.fields, self.locals = name, {}, {}, nil
  self.base_is_module = base ~= nil and base.text == 'nn.Module'
  scan_class(self)
  local body = self:block()
  self.class, self.methods, self.fields, self.locals, self.base_is_module = table.unpack(saved, 1, 5)
  local lines
  if base then
    lines = {("%s = %s:extend('%s')"):format(name, self:at_level(base, self.PREFIX), name)}
  else
    lines = {('%s = setmetatable({}, {__call = function(class, ...)'):format(name), '  local self = setmetatable({}, class)',
      '  class.init(self, ...)', '  return self', 'end})', ('%s.__index = %s'):format(name, name)}
  end
  if body[1] == MISSING then return lines end
  return append(lines, body)
end

-- ---- loops and conditions ------------------------------------------------------------------

local function for_statement(self)
  local head, prelude = self:with({is_header = true}, self.loop_head)
  local lines = append({head}, prelude and {prelude} or {}, '  ')
  lines[1] = head
  local has_continue = self.has_continue
  self.has_continue = false
  append(lines, self:block(), '  ')
  if self.has_continue then lines[#lines + 1] = '  ::continue::' end
  self.has_continue = has_continue
  lines[#lines + 1] = 'end'
  return lines
end

local function condition(self) return self:truth(self:with({no_colon = true}, self.expression)).text end

local function while_statement(self)
  local lines = {('while %s do'):format(condition(self))}
  local has_continue = self.has_continue
  self.has_continue = false
  append(lines, self:block(), '  ')
  if self.has_continue then lines[#lines + 1] = '  ::continue::' end
  self.has_continue = has_continue
  lines[#lines + 1] = 'end'
  return lines
end

local function if_statement(self)
  local test = condition(self)
  if test == "__name__ == '__main__'" then return self:block() end
  local lines = {('if %s then'):format(test)}
  append(lines, self:block(), '  ')
  while self:accept 'elif' do
    lines[#lines + 1] = ('elseif %s then'):format(condition(self))
    append(lines, self:block(), '  ')
  end
  if self:accept 'else' then
    lines[#lines + 1] = 'else'
    append(lines, self:block(), '  ')
  end
  lines[#lines + 1] = 'end'
  return lines
end

local function with_statement(self)
  local names, texts = {}, {}
  repeat
    texts[#texts + 1] = self:with({no_colon = true}, self.expression).text
    names[#names + 1] = self:accept 'as' and self:variable() or '_'
  until not self:accept ','
  local lines = {'do'}
  for index, text in ipairs(texts) do lines[#lines + 1] = ('  local %s <close> = %s'):format(names[index], text) end
  append(lines, self:block(), '  ')
  lines[#lines + 1] = 'end'
  return lines
end

local function try_statement(self)
  local lines = append({'local ok, message = pcall(function()'}, self:block(), '  ')
  lines[#lines + 1] = 'end)'
  local name
  while self:accept 'except' do
    if name then self:fail() end
    name = 'message'
    if not self:peek ':' then
      self:with({no_colon = true}, self.expression)
      if self:accept 'as' then name = self:variable() end
    end
    lines[#lines + 1] = 'if not ok then'
    if name ~= 'message' then lines[1] = lines[1]:gsub('message', name, 1) end
    append(lines, self:block(), '  ')
    lines[#lines + 1] = 'end'
  end
  if self:accept 'finally' then append(lines, self:block()) end
  return lines
end

local function decorated(self)
  local nodes = {}
  repeat
    nodes[#nodes + 1] = self:expression()
    self:accept 'newline'
  until not self:accept '@'
  if self:peek 'end' then -- only the decorator was typed
    local call = nodes[1].call
    if not call or call.name ~= 'add_to_class' or not call.arguments[1] then self:fail() end
    return {('function %s:name(...)'):format(call.arguments[1].text), '  ' .. MISSING, 'end'}
  end
  self:expect 'def'
  return definition(self, nodes)
end

-- ---- simple statements ---------------------------------------------------------------------

-- Expressions separated by commas.
local function expressions(self)
  local nodes = {self:expression()}
  while self:accept ',' do
    local kind = self:token().kind
    if kind == 'newline' or kind == 'end' or kind == '=' then break end
    nodes[#nodes + 1] = self:expression()
  end
  return nodes
end

local function joined(nodes)
  local texts = {}
  for index, node in ipairs(nodes) do
    texts[index] = node.text
  end
  return table.concat(texts, ', ')
end

-- The names among assigned expressions; fails if one cannot be assigned.
local function assigned_names(self, nodes)
  local names = {}
  for _, node in ipairs(nodes) do
    if node.level ~= self.PREFIX or node.call or node.comprehension or node.parenthesized then self:fail() end
    if node.variable then names[#names + 1] = node.variable end
  end
  return names
end

local function targets_of(nodes) -- `(a, b) = c`
  local items = #nodes == 1 and nodes[1].items
  return items and #items > 1 and items or nodes
end

local function assignment(self, nodes)
  local targets = {targets_of(nodes)}
  local values = nodes
  while self:accept '=' do
    values = expressions(self)
    if self:peek '=' then targets[#targets + 1] = targets_of(values) end
  end
  local lines = {}
  for index = #targets, 1, -1 do
    local names = assigned_names(self, targets[index])
    local keyword = #names == #targets[index] and self:declare(names) or ''
    local text = joined(targets[index])
    local value = #values == 1 and #targets[index] > 1 and values[1].items and joined(values[1].items) or joined(values)
    if #values > 1 and #targets[index] == 1 then value = '{' .. value .. '}' end
    local comprehension = #values == 1 and values[1].comprehension
    if #targets[index] == 1 and #values == 1 and #names == 1 then self.tensors[names[1]] = self:is_tensor(values[1]) or nil end
    self.lists[text] = comprehension ~= nil and comprehension ~= false or #values == 1 and values[1].items ~= nil
    if comprehension and #targets[index] == 1 and not values[1].text:find('%f[%w_]' .. text:gsub('%p', '%%%0') .. '%f[^%w_]') then
      lines[#lines + 1] = ('%s%s = {}'):format(keyword, text)
      lines[#lines + 1] = comprehension(text)
    elseif #values == 1 and #targets[index] > 1 and #values < #targets[index] and not values[1].call and not values[1].items then
      lines[#lines + 1] = ('%s%s = table.unpack(%s)'):format(keyword, text, value)
    else
      lines[#lines + 1] = ('%s%s = %s'):format(keyword, text, value)
    end
    values = targets[index]
  end
  return lines
end

local augmented = {['+='] = {'+', 'add_'}, ['-='] = {'-', 'sub_'}, ['*='] = {'*', 'mul_'}, ['/='] = {'/', 'div_'}, ['**='] = {'^', 'pow_'},
  ['//='] = {'//'}, ['%='] = {'%'}, ['&='] = {'&'}, ['|='] = {'|'}, ['^='] = {'~'}, ['<<='] = {'<<'}, ['>>='] = {'>>'}, ['@='] = {'@'}}

local levels = {['+'] = 9, ['-'] = 9, ['*'] = 10, ['/'] = 10, ['//'] = 10, ['%'] = 10, ['^'] = 12, ['&'] = 6, ['|'] = 4, ['~'] = 5, ['<<'] = 7, ['>>'] = 7}

local function augmented_assignment(self, target)
  local operator = augmented[self:token().kind]
  self.is_python = true
  self.at = self.at + 1
  local value = self:expression()
  assigned_names(self, {target})
  if self:is_tensor(target) and operator[2] then return {('%s:%s(%s)'):format(target.text, operator[2], value.text)} end
  if operator[1] == '@' then return {('%s = %s'):format(target.text, self:method(target, 'matmul', value.text).text)} end
  if operator[1] == '+' and value.is_string then return {('%s = %s .. %s'):format(target.text, target.text, value.text)} end
  if value.items then self:fail() end
  return {('%s = %s'):format(target.text, self:binary(operator[1], target, value, levels[operator[1]]).text)}
end

local simple = {}

simple['pass'] = function() return {} end
simple['break'] = function() return {'break'} end

simple['continue'] = function(self)
  self.has_continue = true
  return {'goto continue'}
end

simple['return'] = function(self)
  local kind = self:token().kind
  if kind == 'newline' or kind == 'end' or kind == ';' then return {'return'} end
  local nodes = expressions(self)
  if #nodes == 1 and nodes[1].comprehension then return {'local list = {}', nodes[1].comprehension 'list', 'return list'} end
  if #nodes == 1 and nodes[1].items and not nodes[1].text:find '^{.*}$' then self:fail() end
  return {'return ' .. joined(nodes)}
end

simple['raise'] = function(self)
  if self:peek 'newline' or self:peek 'end' then return {'error(message, 0)'} end
  local node = self:expression()
  if self:accept 'from' then self:expression() end
  local argument = node.call and node.call.arguments[1]
  return {('error(%s)'):format(argument and argument.text or ("'%s'"):format(node.variable or node.call and node.call.name or self:fail()))}
end

simple['assert'] = function(self)
  local nodes = expressions(self)
  if nodes[1].items then self:fail() end
  nodes[1] = self:truth(nodes[1])
  return {('assert(%s)'):format(joined(nodes))}
end

simple['del'] = function(self)
  local nodes = expressions(self)
  assigned_names(self, nodes)
  return {('%s = nil%s'):format(joined(nodes), (', nil'):rep(#nodes - 1))}
end

simple['global'] = function(self)
  repeat
    local name = self:variable()
    if self.locals then self.locals.known[name] = true end
  until not self:accept ','
  return {}
end
simple['nonlocal'] = simple['global']
simple['import'], simple['from'] = imports.import, imports.from

-- `print x`, a statement of Python 2.
local function print_statement(self)
  local token = self:token(1)
  if not self:peek 'print' or token.gap == 0 or not (token.kind == 'name' or token.kind == 'string' or token.kind == 'number') or
    self:peek('is', 1) or self:peek('in', 1) or self:peek('if', 1) then return nil end
  self.at = self.at + 1
  self.is_python = true
  return {('print(%s)'):format(joined(expressions(self)))}
end

local function expression_statement(self)
  local nodes = expressions(self)
  local first = nodes[1]
  local kind = self:token().kind
  if augmented[kind] and #nodes == 1 then return augmented_assignment(self, first) end
  if #nodes == 1 and first.level == self.PREFIX and kind == ':' and self.at > 1 then -- `x: int = 5`
    annotation(self)
    kind = self:token().kind
    if kind ~= '=' then return {} end
  end
  if kind == '=' then return assignment(self, nodes) end
  local inside = self.locals ~= nil or self.depth > 0
  if first.is_string and #nodes == 1 and (inside or self.class) then -- a docstring
    local lines = {}
    for line in ((first.plain or '') .. '\n'):gmatch '%s*([^\n]*)\n' do
      if line ~= '' then lines[#lines + 1] = comment_line(line) end
    end
    return lines
  end
  if first.is_super_init and self.base_is_module then return {} end
  if inside and #nodes == 1 and first.call and not first.text:find '^#' then return {first.text} end
  return {(inside and 'local _ = ' or '') .. joined(nodes)}
end

function Parser:simple_statement()
  local token = self:token()
  local known = token.kind == 'name' and simple[token.text]
  local lines = print_statement(self)
  if not lines then
    if known then
      self.at = self.at + 1
      self.is_python = self.is_python or token.text ~= 'return' and token.text ~= 'break'
    end
    lines = known and known(self) or expression_statement(self)
  end
  return self:end_line(lines)
end

local compound = {
  ['def'] = function(self) return definition(self, {}) end,
  ['class'] = class_statement, ['for'] = for_statement, ['while'] = while_statement, ['if'] = if_statement,
  ['with'] = with_statement, ['try'] = try_statement,
}

-- Parts of a statement that were typed alone.
local parts = {
  ['elif'] = function(self) return append({('elseif %s then'):format(condition(self))}, self:block(), '  ') end,
  ['else'] = function(self) return append({'else'}, self:block(), '  ') end,
}

function Parser:statement()
  local token = self:token()
  if token.kind == 'comment' then
    self.at = self.at + 1
    self.is_python = self.is_python or is_comment(token.text)
    return {comment_line(token.text)}
  end
  if self:accept '@' then
    self.is_python = true
    return decorated(self)
  end
  local word = token.kind == 'name' and token.text
  local known = compound[word]
  if not known and parts[word] and self.at == 1 then
    known = parts[word]
    self.is_part = true
  end
  if not known then return self:simple_statement() end
  self.at = self.at + 1
  self.has_block, self.is_python = true, true
  return known(self)
end

-- All statements of the text, as lines of Lua.
function statements.all(self)
  local lines = {}
  while self:token().kind ~= 'end' do append(lines, self:statement()) end
  return lines
end

return statements
