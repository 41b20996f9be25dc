-- scope.lua - scopes that change a setting until they end: guards for `local _ <close>`, and bodies
-- that run inside of a scope.
--
-- A scope ends when its guard is closed. A dropped guard, for example of a coroutine, ends the
-- scope when it is collected, with one warning for each line that opened one. The scopes of one
-- setting are a list and may end in any order: a scope that ends while inner ones are open passes
-- its restoring to the scope above it. The list does not refer to guards; otherwise none would be
-- collected.

local kinds = require 'torch.support.argument_kinds'
local log_warning = require('torch')._C.log_warning
local getinfo = debug and debug.getinfo
local library = getinfo and getinfo(1, 'S').source:gsub('autograd[./]scope.*$', '')

local M = {}

local newest = {} -- by setting: the record of the scope that was opened last
local opened = 0 -- number of scopes
local warned = {} -- the lines of scopes that were not closed

-- The source line that opened a scope.
local function place()
  for level = 3, 12 do
    local info = getinfo and getinfo(level, 'Sl')
    if not info then break end
    if info.currentline > 0 and info.source:sub(1, #library) ~= library then return ('%s:%d'):format(info.short_src, info.currentline) end
  end
  return 'an unknown line'
end

local function finish(record, failure)
  if record.ended then return end
  record.ended = true
  local restore, above = record.restore, newest[record.setting]
  if above == nil or above == record then
    newest[record.setting] = record.below
    restore(failure)
    return
  end
  while above.below ~= record do above = above.below end
  local own = above.restore
  above.below = record.below
  above.restore = function(later)
    own(later)
    restore(later)
  end
end

--- Ends the scope of a guard. Scopes of the same coroutine that were opened later and never closed
--- end first.
function M.close(guard, failure)
  local record = guard.record
  if record.ended then return end
  while newest[record.setting] ~= record and newest[record.setting].coroutine == record.coroutine do finish(newest[record.setting], failure) end
  finish(record, failure)
end

local metatable = {
  __name = 'guard',
  __close = M.close,
  __gc = function(guard)
    local record = guard.record
    if record.ended then return end
    finish(record, 'the scope was dropped')
    if warned[record.place] then return end
    warned[record.place] = true
    log_warning(('warning: the scope opened at %s was not closed and ended when it was collected: %s'):format(record.place,
      record.in_main and 'write local _ <close> = before the call' or 'let its coroutine end, or call coroutine.close'))
  end,
  __tostring = function(guard)
    local record = guard.record
    return ('<scope opened at %s%s>'):format(record.place, record.ended and ', ended' or '')
  end,
}

local lasting = {
  __name = 'guard',
  __close = function(guard, failure) guard.restore(failure) end,
  __tostring = function() return '<scope of a setting that lasts until it is changed>' end,
}

local function run(guard, body, ...)
  if body == nil then return guard end
  local _ <close> = guard
  kinds.check('a scope', 'body', body, 'function')
  return body(...)
end

--- A scope of a setting, identified by any value: change() changes it, and restore(failure) undoes
--- the change. Returns the guard, or the results of body(...), which runs inside. failure: the
--- error that ended the scope, or a text if the guard was dropped. The scope is added to the list
--- before the change: a dropped scope that is collected in between passes its restoring to this
--- one. change, restore and setting must not refer to the guard; otherwise it would never be
--- collected.
function M.open(setting, change, restore, body, ...)
  local thread, in_main = coroutine.running()
  local record = { setting = setting, restore = restore, coroutine = tostring(thread), in_main = in_main, place = place() }
  opened = opened + 1
  record.number = opened
  -- No call and no new object in between: the collector could end the scope below.
  record.below, newest[setting] = newest[setting], record
  local ok, message = pcall(change)
  if not ok then
    record.restore = function() end
    finish(record)
    error(message, 0)
  end
  return run(setmetatable({ record = record }, metatable), body, ...)
end

--- The same for a setting that remains changed if the guard is dropped.
function M.open_lasting(restore, body, ...) return run(setmetatable({ restore = restore }, lasting), body, ...) end

--- The number of scopes that were opened so far.
function M.count() return opened end

-- A record of a scope that is open and was opened since count() was `before`, and fits; or nil.
local function open_since(before, fits)
  for _, top in next, newest do
    local record = top
    while record do
      if record.number > before and not record.ended and fits(record) then return record end
      record = record.below
    end
  end
end

-- A recording of the profiler is meant to be stopped later, and a coroutine may continue.
local function is_forgotten(record) return record.setting ~= 'profile' and record.in_main end

--- Collects the scopes that were dropped since count() was `before`, which warn. Returns the line
--- that opened one which stays open; nil if there is none.
function M.collect_dropped(before)
  if opened == before or not open_since(before, function() return true end) then return nil end
  collectgarbage()
  local record = open_since(before, is_forgotten)
  return record and record.place
end

-- The record of a guard, or of an object that has one in its field `scope`.
local function record_of(value)
  if type(value) ~= 'table' then return nil end
  if debug.getmetatable(value) == metatable then return value.record end
  local inner = rawget(value, '_scope')
  return type(inner) == 'table' and debug.getmetatable(inner) == metatable and inner.record or nil
end

--- Ends the scope of a value, if it is a guard that was opened since count() was `before`. True if
--- it was.
function M.end_bare(value, before)
  local record = record_of(value)
  if not record or record.ended or record.number <= before then return false end
  debug.getmetatable(value).__close(value)
  return true
end

return M
