-- hook_list.lua - an ordered list of registered functions.
--
-- Invariant: an array of entries in use never changes. add and remove replace it, so a loop over
-- `ipairs(list.entries)` calls the hooks that existed when it began, even if they add or remove
-- others.

local checked = require 'torch.support.argument_checks'

local Handle = { __name = 'RemovableHandle' }
Handle.__index = Handle
Handle.__close = function(handle) handle:remove() end

--- Removes the hook from its list; further calls have no effect.
function Handle:remove() self.list:remove(self.entry) end

checked.methods(Handle, 'RemovableHandle')

local HookList = {}
HookList.__index = HookList

--- Adds the entry {fn =, ...} at the end, or with prepend at the beginning. Returns a handle with
-- remove(), which can be a to-be-closed variable.
function HookList:add(entry, prepend)
  local entries = table.move(self.entries, 1, #self.entries, prepend and 2 or 1, {})
  entries[prepend and 1 or #entries + 1] = entry
  self:set(entries)
  return setmetatable({ list = self, entry = entry }, Handle)
end

function HookList:remove(entry)
  local rest = {}
  for _, present in ipairs(self.entries) do
    if present ~= entry then rest[#rest + 1] = present end
  end
  self:set(rest)
end

function HookList:set(entries)
  self.entries = entries
  if self.changed then self.changed() end
end

--- A new list; changed, unless nil, is called after every change.
return function(changed) return setmetatable({ entries = {}, changed = changed }, HookList) end
