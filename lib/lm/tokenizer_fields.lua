-- tokenizer_fields.lua - reads the fields of a tokenizer's description, a table from an untrusted
-- file. Errors name the file, the key, the actual and the expected value.

local raise = require 'torch.support.fail'
local shown = require 'torch.support.printable_format'

local Node = {}
Node.__index = Node

--- A node for a table. file, key: its position, for messages.
function Node.new(table, file, key) return setmetatable({ table = table, file = file, key = key }, Node) end

local function described(value)
  if value == nil then return 'missing' end
  if type(value) == 'table' then return #value > 0 and ('a list of %d values'):format(#value) or 'an object' end
  if type(value) == 'string' then return ("'%s'"):format(#value > 40 and value:sub(1, 40) .. '...' or value) end
  return tostring(value)
end

--- The full key of a field of this node.
function Node:path(name)
  if self.key == '' then return tostring(name) end
  return math.type(name) == 'integer' and ('%s[%d]'):format(self.key, name) or self.key .. '.' .. name
end

--- Raises an error for the field.
function Node:refuse(name, expected)
  raise('%s', shown('%s: %s is %s, expected %s', self.file, self:path(name), described(self.table[name]), expected))
end

local function typed(kind, article)
  return function(self, name, default)
    local value = self.table[name]
    if value == nil and default ~= nil then return default end
    if type(value) ~= kind then self:refuse(name, article) end
    return value
  end
end
--- The field of that type. Without a default it must exist.
Node.string, Node.boolean, Node.number = typed('string', 'a string'), typed('boolean', 'true or false'), typed('number', 'a number')

--- The string, or nil.
function Node:optional_string(name)
  if self.table[name] == nil then return nil end
  return self:string(name)
end

--- The integer from low to high. nil if it is absent.
function Node:integer(name, low, high)
  local value = self.table[name]
  if value == nil then return nil end
  if math.type(value) ~= 'integer' or value < low or value > high then
    self:refuse(name, ('an integer from %d to %d'):format(low, high))
  end
  return value
end

--- The node of the table in the field.
function Node:child(name)
  if type(self.table[name]) ~= 'table' then self:refuse(name, 'an object') end
  return Node.new(self.table[name], self.file, self:path(name))
end

--- The same; nil if it is absent.
function Node:optional(name)
  if self.table[name] == nil then return nil end
  return self:child(name)
end

--- The nodes of the tables in the list of the field; an empty list if it is absent.
function Node:children(name)
  local list = {}
  local parent = self:optional(name)
  for i = 1, parent and #parent.table or 0 do list[i] = parent:child(i) end
  return list
end

--- The entry of `kinds` for the field `type`, called with this node. subject: the kind of the
--- component, for the message.
function Node:dispatch(kinds, subject, ...)
  local kind = kinds[self:string 'type']
  if not kind then
    local names = {}
    for name in pairs(kinds) do names[#names + 1] = name end
    table.sort(names)
    self:refuse('type', ('a supported %s: %s'):format(subject, table.concat(names, ', ')))
  end
  return kind(self, ...)
end

return Node
