-- The notebooks of docs/notebooks, typed at the prompt cell by cell, show what is stored for them.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local terminal = dofile(here .. '../support/terminal.lua')
local compare = require 'repl.notebook.compare'
local markdown = require 'repl.notebook.markdown'

local folder = here .. '../../../docs/notebooks/'
local state

local function read(path)
  local file = assert(io.open(path))
  local text = file:read 'a'
  file:close()
  return text
end

local function escaped(text)
  return (text:gsub('\\', '\\\\'):gsub('\n', '\\n'):gsub('\t', '\\t'))
end

-- Pastes each cell and hands it over; the lines that each has shown.
local function type_cells(cells, gpus)
  local script = {'send %config time off\\r', 'expect In [2]: '}
  for index, cell in ipairs(cells) do
    script[#script + 1] = ('send \\e[200~%s\\e[201~\\r'):format(escaped(cell.source))
    script[#script + 1] = 'expect \\e[?2004l\\r'
    script[#script + 1] = 'within 120000'
    script[#script + 1] = ('expect \\e[?2004hIn [%d]: '):format(index + 2)
    script[#script + 1] = 'print'
  end
  local environment = ('LTENSOR_SIM_GPUS=%s PTY_COLUMNS=80 PTY_ROWS=1000'):format(gpus > 0 and gpus or '')
  if gpus == 0 then environment = 'LTENSOR_DISABLE_CUDA=1 ' .. environment end
  local shown = {}
  for text in terminal.follow(state, table.concat(script, '\n') .. '\n', environment):gmatch '([^\0]*)\0' do
    local lines = {}
    for _, line in ipairs(markdown.lines(text)) do
      if not line:find '^%[copy%]' then lines[#lines + 1] = line end
    end
    shown[#shown + 1] = lines
  end
  return shown
end

-- The lines without what the prompt puts before a value.
local function without_label(lines)
  local found = {}
  for _, line in ipairs(lines) do
    local rest = line:match '^Out%[%d+%]:(.*)$'
    if rest ~= '' then found[#found + 1] = rest and rest:gsub('^ ', '') or line end
  end
  return found
end

-- Whether the cell has said that there are too few GPUs for the rest.
local function stops(cell, lines, gpus)
  if #lines == 0 or markdown.output(cell, 'text', gpus) then return false end
  for _, output in ipairs(cell.outputs) do
    if output.kind == 'text' and output.gpus and output.gpus > gpus and #output.lines == 0 then return true end
  end
  return false
end

describe('a notebook typed at the prompt #pty #cpu', function()
  before_each(function() state = terminal.new_folder() end)
  after_each(function() terminal.remove_folder(state) end)

  for _, name in ipairs {'use-gpu', 'exercises', 'data-parallel', 'cuda-semantics'} do
    for _, gpus in ipairs {0, 2} do
      it(('shows what is stored: %s with %d GPUs #again'):format(name, gpus), function()
        local cells = markdown.parse(read(folder .. name .. '.md')).cells
        local shown = type_cells(cells, gpus)
        assert.equal(#cells, #shown)
        for index, lines in ipairs(shown) do
          local cell, got = cells[index], without_label(lines)
          local expected = markdown.output(cell, 'text', gpus)
          local what = ('cell at line %d:\n%s'):format(cell.first, table.concat(got, '\n'))
          if expected and expected.error then
            assert(table.concat(got, '\n'):find(table.concat(expected.lines, '\n'), 1, true), what)
          elseif expected then
            assert(compare.lines(expected.lines, got),
              what .. '\ndiffers:\n' .. table.concat(compare.difference(expected.lines, got), '\n'))
          end
          if stops(cell, got, gpus) then break end
        end
      end)
    end
  end
end)
