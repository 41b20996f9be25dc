-- The cells of earlier sessions: a file to which every cell is appended before it runs.
--
-- An entry is a line `#<seconds since 1970>` and the lines of the cell; a line of the cell that
-- begins with `#` or `\` is escaped by a `\`. Appending is one locked write, so a crash loses
-- nothing and sessions do not mix. A project with a folder `.ltensor` has its own history. A file
-- far above the limit is truncated when it is read. May use repl.system.

local system = require 'repl.system'

local history = {}

local MAX_CELLS = 10000
local MAX_BYTES = 64 << 10 -- of a cell: longer ones are not stored
local MAX_FILE = 32 << 20 -- only this much of the file is read, from its end

-- The folder `.ltensor` of a project: in the current folder or a parent, below the user's home.
local function project_folder()
  local folder, home = system.working_directory(), os.getenv 'HOME'
  while folder and folder ~= '' and folder ~= home do
    local file = io.open(folder .. '/.ltensor')
    if file then
      file:close()
      return folder .. '/.ltensor'
    end
    folder = folder:match '^(.*)/[^/]*$'
  end
end

-- The path of the history: in the project's folder if it exists, otherwise in the user's state
-- folder.
function history.path()
  local project = project_folder()
  if project then return project .. '/history' end
  local state = os.getenv 'XDG_STATE_HOME'
  if not state or state == '' then
    local home = os.getenv 'HOME'
    if not home or home == '' then return nil end
    state = home .. '/.local/state'
  end
  return state .. '/ltensor/history'
end

local function encode(cell, time)
  local lines = {('#%d'):format(time)}
  for line in (cell .. '\n'):gmatch '([^\n]*)\n' do lines[#lines + 1] = line:gsub('^[#\\]', '\\%0') end
  return table.concat(lines, '\n') .. '\n'
end

local function decode(text)
  local cells, lines = {}, nil
  local function finish()
    local cell = lines and table.concat(lines, '\n')
    if cell and #cell <= MAX_BYTES then cells[#cells + 1] = cell end
  end
  local position = 1
  while true do -- plain find: a pattern takes quadratic time for a long text without newlines
    local stop = text:find('\n', position, true)
    if not stop then break end
    local line = text:sub(position, stop - 1)
    if line:find '^#%d+$' then
      finish()
      lines = {}
    elseif lines then
      lines[#lines + 1] = line:gsub('^\\([#\\])', '%1')
    end
    position = stop + 1
  end
  finish()
  return cells
end

-- Replaces the file atomically by one with the newest cells only.
local function shorten(path, cells)
  local kept = {}
  for index = #cells - MAX_CELLS + 1, #cells do kept[#kept + 1] = encode(cells[index], os.time()) end
  local temporary = ('%s.%d'):format(path, os.time())
  if system.append(temporary, table.concat(kept)) then os.rename(temporary, path) end
end

-- The cells in the file, oldest first.
function history.load(path)
  local file = path and io.open(path)
  if not file then return {} end
  local size = file:seek 'end' or 0
  file:seek('set', math.max(0, size - MAX_FILE))
  local cells = decode(file:read 'a' or '')
  file:close()
  if #cells > MAX_CELLS + MAX_CELLS // 5 then shorten(path, cells) end
  return table.move(cells, math.max(1, #cells - MAX_CELLS + 1), #cells, 1, {})
end

-- Appends a cell; true, or nil and a message.
function history.append(path, cell)
  if #cell > MAX_BYTES then return true end
  system.make_directories(path:match '^(.*)/')
  return system.append(path, encode(cell, os.time()))
end

return history
