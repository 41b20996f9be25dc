-- The heads of Python's loops in Lua: ranges, enumerate, zip, the entries of dicts, rows of tensors,
-- batches of loaders, lists.
--
-- Adds loop_head to the parser of repl.python.expressions, for statements and comprehensions.

local Parser = require 'repl.python.expressions'

-- One name, or names in parentheses: the name for Lua's loop and the statement that unpacks it.
local function loop_target(self, spare)
  if not self:accept '(' then return self:variable() end
  local names = {}
  repeat names[#names + 1] = self:variable() until not self:accept ','
  self:expect ')'
  return spare, ('local %s = table.unpack(%s)'):format(table.concat(names, ', '), spare)
end

-- The values of a range: from, the last value, and the step or nil.
local function range_bounds(self, arguments)
  local from, to, step = arguments[1], arguments[2], arguments[3]
  if #arguments == 1 then from, to = self:node('0', self.ATOM, {int = 0}), from end
  if not to or step and not step.int then self:fail() end
  local by = step and step.int < 0 and '+' or '-'
  local last
  if to.int then
    last = tostring(by == '-' and to.int - 1 or to.int + 1)
  else
    local base = by == '-' and to.text:match '^(.*) %+ 1$' -- n + 1 - 1
    last = base or self:binary(by, to, self:node('1', self.ATOM), self.ADD).text
  end
  return ('%s, %s%s'):format(from.text, last, step and ', ' .. step.text or '')
end

-- Loops over the values of `call`: {names} returns the head and the statement in the loop, or nil.
local loops = {}

function loops.range(self, call, names)
  if #names ~= 1 then self:fail() end
  self.zero[names[1]] = true
  return ('for %s = %s do'):format(names[1], range_bounds(self, call.arguments))
end

function loops.enumerate(self, call, names)
  local values = call.arguments[1]
  if #names ~= 2 or not values then self:fail() end
  return ('for %s, %s in ipairs(%s) do'):format(names[1], names[2], values.text)
end

function loops.zip(self, call, names)
  if #names < 2 or #names ~= #call.arguments then self:fail() end
  local rest, items = {}, {}
  for index = 2, #names do
    rest[#rest + 1] = names[index]
    items[#items + 1] = ('%s[position]'):format(self:at_level(call.arguments[index], self.PREFIX))
  end
  return ('for position, %s in ipairs(%s) do'):format(names[1], call.arguments[1].text),
    ('local %s = %s'):format(table.concat(rest, ', '), table.concat(items, ', '))
end

local of_dict = {
  items = function(names, owner) return #names == 2 and ('for %s, %s in pairs(%s) do'):format(names[1], names[2], owner) end,
  keys = function(names, owner) return #names == 1 and ('for %s in pairs(%s) do'):format(names[1], owner) end,
  values = function(names, owner) return #names == 1 and ('for _, %s in pairs(%s) do'):format(names[1], owner) end,
}

-- Reads `targets in values` and returns the head of Lua's loop and a statement in it, or nil.
function Parser:loop_head()
  local names, prelude = {}, nil
  local bracket = self:accept '('
  repeat
    if self:peek 'in' or self:peek ')' then break end
    local unpacks
    names[#names + 1], unpacks = loop_target(self, 'entry')
    prelude = prelude or unpacks
  until not self:accept ','
  if bracket then self:expect ')' end
  self:expect 'in'
  local node = self:with({no_colon = self.is_header, no_conditional = true}, self.disjunction)
  if self.locals then
    for _, name in ipairs(names) do self.locals.known[name] = true end
  end
  local call = node.call
  local loop = call and not call.method and loops[call.name]
  if loop then
    local head, more = loop(self, call, names)
    return head, more and prelude and more .. '; ' .. prelude or more or prelude
  end
  local entries = call and call.method and of_dict[call.name]
  local head = entries and entries(names, call.owner.text)
  if head then return head, prelude end
  local title = call and call.name or node.name or node.variable or ''
  if #names == 1 and self:is_tensor(node) then
    head = ('for _, %s in %s:iter() do'):format(names[1], self:at_level(node, self.PREFIX))
  elseif #names > 1 or title:find 'iter' or title:find 'loader' then
    head = ('for %s in %s do'):format(table.concat(names, ', '), node.text)
  else
    head = ('for _, %s in ipairs(%s) do'):format(names[1], node.text)
  end
  return head, prelude
end

return Parser
