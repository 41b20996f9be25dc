-- The cells of this and earlier sessions, for history_request.
--
-- Earlier cells come from the prompt's history file (repl.edit.history), to which this session
-- appends: they are session 1, this one is session 2. Lines count from 1. May use repl.edit.history
-- and repl.notebook.json.

local file = require 'repl.edit.history'
local json = require 'repl.notebook.json'

local EARLIER, THIS = 1, 2

local History = {}
History.__index = History

local history = {}

function history.open()
  local path = file.path()
  local earlier = file.load(path)
  return setmetatable({path = path, earlier = earlier, last = earlier[#earlier]}, History)
end

-- Appends a cell to the file, unless it equals the previous one.
function History:remember(cell)
  if self.path and cell ~= self.last then file.append(self.path, cell) end
  self.last = cell
end

-- All cells, oldest first: {session, line, text, shown}.
local function entries(self, state)
  local list = {}
  for line, text in ipairs(self.earlier) do list[line] = {EARLIER, line, text} end
  for line, text in ipairs(state.inputs) do list[#list + 1] = {THIS, line, text, state.shown[line] and state.shown[line].value} end
  return list
end

-- Converts a glob with * and ? to a Lua pattern.
local function as_pattern(glob)
  return '^' .. glob:gsub('[%^%$%(%)%%%.%[%]%+%-]', '%%%0'):gsub('%*', '.*'):gsub('%?', '.') .. '$'
end

local function last(list, n)
  n = math.tointeger(n)
  if not n or n < 0 or n >= #list then return list end
  return table.move(list, #list - n + 1, #list, 1, {})
end

local choose = {}

function choose.tail(list, content) return last(list, content.n or 10) end

function choose.range(list, content)
  local session = math.tointeger(content.session) or 0
  if session <= 0 then session = THIS + session end -- 0 is this one, -1 the one before
  local first, stop = math.tointeger(content.start) or 1, math.tointeger(content.stop) or math.maxinteger
  local found = {}
  for _, entry in ipairs(list) do
    if entry[1] == session and entry[2] >= first and entry[2] < stop then found[#found + 1] = entry end
  end
  return found
end

function choose.search(list, content)
  local pattern = as_pattern(type(content.pattern) == 'string' and content.pattern or '*')
  local found, seen = {}, {}
  for index = #list, 1, -1 do
    local entry = list[index]
    if entry[3]:find(pattern) and not (content.unique == true and seen[entry[3]]) then
      seen[entry[3]] = true
      table.insert(found, 1, entry)
    end
  end
  return last(found, content.n)
end

-- The requested cells, as a list for the reply.
function History:entries(state, content)
  local ways = choose[content.hist_access_type] or choose.tail
  local listed = {}
  for index, entry in ipairs(ways(entries(self, state), content)) do
    local text = entry[3]
    listed[index] = {entry[1], entry[2], content.output == true and {text, entry[4] or json.null} or text}
  end
  return listed
end

return history
