-- The cells of earlier sessions: a file to which every cell is appended before it runs.
--
-- An entry is a line `#<seconds since 1970>` and the lines of the cell; a line of the cell that
-- begins with `#` or `\` has a `\` put before it. Appending is one locked write, so a crash loses
-- nothing and sessions do not mix. A project that has a folder `.ltensor` has a history of its own. A file that has grown far over the limit is cut when it is read.
-- May use repl.system.

local system = require 'repl.system'

local history = {}

local MAX_CELLS = 10000
local MAX_BYTES = 64 << 10 -- of a cell: a longer one is no text that anyone edits
local MAX_FILE = 32 << 20 -- of the file only so much is read, its end

-- The folder `.ltensor` of a project: in the current folder or one above it, below the user's own.
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

-- Where the history is kept: with the project if it has a folder for it, else with the user's state.
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
  while true do -- by plain find: a pattern would look at a long text without line ends once from every byte
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

-- Replaces the file by one with the newest cells only, in one step.
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
