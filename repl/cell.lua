-- Cells as functions: compiles the text of a cell so that its last expression is its value and its
-- top-level locals remain for later cells.
--
-- A cell becomes the body of a function inside of a function that declares the live locals that the
-- cell names. Their upvalues are then joined to the variables (debug.upvaluejoin), so earlier
-- closures and later cells share them. After each top-level `local` of the cell, a call is inserted
-- that passes a closure over the new variables to the scope, so that a later error loses none of
-- them. Inserted code adds no lines, so line numbers are correct; the user reads the compiler's
-- messages for the plain cell. May use repl.parser and repl.later.

local parser = require 'repl.later' 'repl.parser'

local cell = {}

-- ---- the live locals ----------------------------------------------------------------------------

-- A scope maps a name to its variable {closure, index, attribute}: upvalue `index` of `closure`.
local Scope = {}
Scope.__index = Scope

function cell.scope() return setmetatable({variables = {}}, Scope) end

function Scope:get(name)
  local variable = self.variables[name]
  if not variable then return nil, false end
  local _, value = debug.getupvalue(variable.closure, variable.index)
  return value, true
end

-- Makes `name` a live local with its own variable (for names that were never upvalues).
function Scope:declare(name, value, attribute)
  self.variables[name] = {closure = function() return value end, index = 1, attribute = attribute}
end

function Scope:forget(name) self.variables[name] = nil end

-- Adds all variables of another scope.
function Scope:adopt(other)
  for name, variable in pairs(other.variables) do self.variables[name] = variable end
end

-- Sorted names of the live locals.
function Scope:names()
  local names = {}
  for name in pairs(self.variables) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- Adds the variables that `closure` returns, which `declared` describes. A compile-time constant is
-- not an upvalue; it is stored by value.
function Scope:keep(closure, declared)
  local index_of = {}
  for index = 1, 255 do
    local name = debug.getupvalue(closure, index)
    if not name then break end
    index_of[name] = index
  end
  local values
  for position, name in ipairs(declared.names) do
    local attribute = declared.attributes[name]
    if index_of[name] then
      self.variables[name] = {closure = closure, index = index_of[name], attribute = attribute}
    else
      values = values or table.pack(closure())
      self:declare(name, values[position], attribute)
    end
  end
end

-- ---- compiling -----------------------------------------------------------------------------

-- With `return 1,` in front, the last expression is not a tail call: the cell stays on the stack,
-- so that errors and notes on copies can name its line.
local RETURN = 'return 1, '

local function with_tail(source, tail)
  if not tail then return source end
  return source:sub(1, tail.start - 1) .. RETURN .. source:sub(tail.start, tail.stop)
end

-- True if the compiler's messages mean that the text is incomplete. Besides the plain chunk, the
-- cell may be (`{1,`) or end in (`x = 1; {1,`) an unfinished expression.
local function wants_more(source, outline, plain_message)
  local function unfinished(message)
    -- A newline ends a quoted string, unless a backslash precedes it.
    if not message or (message:find 'unfinished string' and not source:find '\\z?%s*$') then return false end
    return message:find '<eof>$' ~= nil
  end
  if unfinished(plain_message) then return true end
  local head = source:sub(1, outline.start - 1)
  if not load(head, '=head') then return false end
  local _, message = load(head .. RETURN .. source:sub(outline.start), '=tail')
  return unfinished(message)
end

-- A name for the function that keeps locals: one that does not occur in the cell.
local function unused_name(used)
  local name = '_keep_locals'
  while used[name] do name = name .. '_' end
  return name
end

-- The text of the cell with a call inserted after each of its top-level local statements.
local function with_keeping(source, outline, keep)
  local parts, position = {}, 1
  for index, declared in ipairs(outline.locals) do
    parts[#parts + 1] = source:sub(position, declared.stop)
    parts[#parts + 1] = (';%s(function() return %s end,%d)'):format(
      keep, table.concat(declared.names, ','), index)
    position = declared.stop + 1
  end
  parts[#parts + 1] = with_tail(source, outline.tail):sub(position)
  return table.concat(parts)
end

-- Joins the upvalues of `body` to the variables of the scope and to the function that keeps locals.
local function join(body, scope, keep_name, keep)
  for index = 1, 255 do
    local name = debug.getupvalue(body, index)
    if not name then break end
    local variable = scope.variables[name]
    if name == keep_name then
      debug.upvaluejoin(body, index, function() return keep end, 1)
    elseif variable then
      debug.upvaluejoin(body, index, variable.closure, variable.index)
    end
  end
end

-- Compiles a cell. On success: a table {run, has_value, silent, outline}. run(...) runs the cell and, with
-- has_value, returns 1 and the values of the last expression; silent means that a `;` follows it.
-- On failure: nil, the message, and true if more text could complete the cell.
function cell.compile(source, name, scope)
  local equals = source:match '^%s*()=[^=]'
  if equals then source = source:sub(1, equals - 1) .. ' ' .. source:sub(equals + 1) end
  local outline = parser.outline(source)
  local tail = outline.tail
  local checked, message = load(with_tail(source, tail), name, 't')
  if not checked then
    local _, plain = load(source, name, 't')
    message = plain or message
    return nil, message, wants_more(source, outline, message)
  end

  local used = {_ENV = true}
  for _, token in ipairs(outline.tokens) do
    if token.kind == 'name' then used[token.text] = true end
  end
  local keep_name = unused_name(used)
  local names = {keep_name}
  for _, living in ipairs(scope:names()) do
    local attribute = scope.variables[living].attribute
    if used[living] then names[#names + 1] = living .. (attribute and ' <const>' or '') end
  end
  -- `...` keeps the compiler from folding a <const> into a constant.
  local text = ('local %s = ... return function(...) %s\nend'):format(
    table.concat(names, ','), with_keeping(source, outline, keep_name))
  local wrapper
  wrapper, message = load(text, name, 't')
  if not wrapper then return nil, message, false end

  local body = wrapper()
  join(body, scope, keep_name, function(closure, index) scope:keep(closure, outline.locals[index]) end)
  return {run = body, has_value = tail ~= nil, silent = tail ~= nil and tail.silent, outline = outline}
end

return cell
