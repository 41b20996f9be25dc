-- traffic.lua - dist.traffic(): the transfers of this rank's operations, by operation and line of
-- the user's code, and the time spent waiting for them, like torch.cuda.copies(). While
-- torch.profiler records, each operation is an event.

--[=[ arguments
cause: Cause of the messages; all if absent.
]=]

local torch = require 'torch'
local here = require 'torch.distributed.state'
local declare = require 'torch.support.arguments'

local C = torch._C

local M = {}

-- By rank's world: { list of entries, [cause .. origin] = entry }.
local ledgers = setmetatable({}, { __mode = 'k' })

local recorded = {}

--- For the profiler: returns the operations recorded since the last call, { name, bytes, inner }
--- each.
function M.take_recorded()
  local list = recorded
  recorded = {}
  return list
end

local function ledger()
  local world = here.current and here.current.world
  if not world then return { list = {} } end
  local found = ledgers[world]
  if not found then
    found = { list = {} }
    ledgers[world] = found
  end
  return found
end

local function bytes_of(t) return t and t:numel() * t:element_size() or 0 end

--- Records the start of an operation; returns its entry, in which `seconds` counts the time spent
--- waiting.
function M.note(cause, given, inner)
  local bytes = math.max(bytes_of(given.input), bytes_of(given.output))
  local origin, book = C.comm_origin(), ledger()
  local key = cause .. ' ' .. origin
  local entry = book[key]
  if not entry then
    entry = { cause = cause, origin = origin, count = 0, bytes = 0, seconds = 0 }
    book[key], book.list[#book.list + 1] = entry, entry
  end
  entry.count, entry.bytes = entry.count + 1, entry.bytes + bytes
  if C.profile_on() then recorded[#recorded + 1] = { name = cause, bytes = bytes, inner = inner } end
  return entry
end

local Traffic = { __name = 'torch.distributed.traffic' }

function Traffic:__tostring()
  local size_text = require('torch.cuda_memory').size_text
  local lines = { ('%-24s %8s %12s %12s  %s'):format('operation', 'count', 'bytes', 'waited', 'origin') }
  for _, e in ipairs(self) do
    lines[#lines + 1] = ('%-24s %8d %12s %9.3f ms  %s'):format(e.cause, e.count, size_text(e.bytes), e.seconds * 1e3, e.origin)
  end
  lines[#lines + 1] = ('%-24s %8d %12s %9.3f ms'):format('total', self.count, size_text(self.bytes), self.seconds * 1e3)
  return table.concat(lines, '\n')
end

--- The ledger of this rank's operations since the group was initialized or reset_traffic was
-- called, of all causes or of one ('all_reduce', ...): a list of entries {cause, origin, count,
-- bytes, seconds} with the totals in count, bytes, seconds. bytes: the larger of an operation's
-- input and output on this rank; seconds: the time in wait().
function M.traffic(cause)
  local list = setmetatable({ count = 0, bytes = 0, seconds = 0 }, Traffic)
  for _, entry in ipairs(ledger().list) do
    if cause == nil or entry.cause == cause then
      local copy = {}
      for key, value in pairs(entry) do copy[key] = value end
      list[#list + 1] = copy
      for _, key in ipairs { 'count', 'bytes', 'seconds' } do list[key] = list[key] + entry[key] end
    end
  end
  return list
end

--- Clears the ledger of dist.traffic().
function M.reset_traffic()
  if here.current then ledgers[here.current.world] = nil end
end

declare.functions(M, 'traffic(string? cause) reset_traffic()')

return M
