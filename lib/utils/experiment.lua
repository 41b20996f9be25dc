-- experiment.lua - helpers of the experiment scripts: command line options with help, a table of
-- results, and the rule that simulated GPUs report no speed.
--
-- A script fails with exit status 1 and one line on stderr that begins with its name.

local torch = require 'torch'

local M = {}
local Experiment = {}
Experiment.__index = Experiment

--- An experiment. spec: name; summary, the help's first line; options, a list of {name, default,
-- placeholder, text[, minimum = m]}. The default's type is the option's: an integer, a number, a
-- string; `false` is an optional string.
function M.new(spec)
  return setmetatable({ name = spec.name, summary = spec.summary, options = spec.options }, Experiment)
end

function Experiment:fail(message)
  io.stderr:write(self.name, ': ', tostring(message), '\n')
  os.exit(1, true)
end

-- ---- options ----

function Experiment:usage()
  local rows, width = {}, 6
  for i, option in ipairs(self.options) do
    rows[i] = { ('--%s %s'):format(option[1], option[3]), option[4] }
    if option[2] ~= false then rows[i][2] = ('%s  (%s)'):format(option[4], option[2]) end
    width = math.max(width, #rows[i][1])
  end
  rows[#rows + 1] = { '--help', 'this text' }
  local lines = { ('usage: ltensor %s.lua [options]'):format(self.name), self.summary }
  for _, row in ipairs(rows) do
    lines[#lines + 1] = ('  %s%s  %s'):format(row[1], (' '):rep(width - #row[1]), row[2])
  end
  return table.concat(lines, '\n') .. '\n'
end

-- The value of an option's text; nil if it does not have the type of the default.
local function value_of(text, default)
  if type(default) ~= 'number' then return text end
  local value = tonumber(text)
  if math.type(default) ~= 'integer' or not value then return value end
  return math.tointeger(value)
end

local KINDS = { integer = 'an integer', float = 'a number' }

--- Parses argv (`--name value`, `--name=value`). Returns the options by name, with defaults.
function Experiment:parse(argv)
  local known, values = {}, {}
  for _, option in ipairs(self.options) do known[option[1]], values[option[1]] = option, option[2] end
  local i = 1
  while i <= #argv do
    local name, equals, text = argv[i]:match '^%-%-([%w-]+)(=?)(.*)$'
    if name == 'help' then
      io.write(self:usage())
      os.exit(0, true)
    end
    local option = known[name]
    if not option then self:fail('unknown option ' .. argv[i] .. '\n' .. self:usage()) end
    if equals == '' then
      i = i + 1
      text = argv[i]
    end
    local value = text and value_of(text, option[2])
    if value == nil then
      self:fail(('--%s requires %s'):format(name, KINDS[math.type(option[2])] or 'a value'))
    end
    if option.minimum and value < option.minimum then
      self:fail(('--%s must be at least %s'):format(name, option.minimum))
    end
    values[name] = value
    i = i + 1
  end
  return values
end

--- The device with this name, with its index; exits if it does not exist. Default: the first GPU,
-- otherwise the CPU.
function Experiment:device(text)
  if not text then return torch.try_gpu() end
  local ok, tensor = pcall(torch.empty, 0, { device = text })
  if not ok then self:fail((tostring(tensor):gsub('^[^\n]-:%d+: ', ''))) end
  return tensor.device
end

-- ---- measuring ----

--- Whether times on this device mean anything.
function M.has_speed(device)
  return device.type == 'cpu' or not torch.cuda.is_simulated()
end

M.NO_SPEED = [[
No speed is stated for simulated GPUs: they run the kernels on the host's processor, one block after the
other, so their times do not predict times of a GPU. Results and copies are the same as on a real GPU.]]

--- The median duration of `runs` calls of f in seconds, with synchronization of the devices before
-- and after each, after a warm-up.
function M.median(f, runs)
  return torch.utils.benchmark.Timer({ fn = f }):timeit(runs).median
end

local UNITS = { { 1, 's' }, { 1e-3, 'ms' }, { 1e-6, 'us' }, { 0, 'ns', 1e-9 } }

--- A time for people: "1.23 ms".
function M.seconds(value)
  for _, unit in ipairs(UNITS) do
    if value >= unit[1] then return ('%.3g %s'):format(value / (unit[3] or unit[1]), unit[2]) end
  end
end

--- The time, or a placeholder if the device's speed has no meaning.
function M.time_on(device, value)
  return M.has_speed(device) and M.seconds(value) or 'not stated'
end

--- "GPU name" or the processor's threads, for the line above a table.
function M.describe(device)
  if device.type == 'cpu' then return ('%s (%d threads)'):format(device, torch.get_num_threads()) end
  return ('%s (%s)'):format(device, torch.cuda.get_device_name(device))
end

-- ---- tables ----

--- Prints rows under their headings: the first column to the left, the others to the right.
function M.print_table(headings, rows)
  local widths, lines = {}, { headings, table.unpack(rows) }
  for _, row in ipairs(lines) do
    for c, cell in ipairs(row) do widths[c] = math.max(widths[c] or 0, #tostring(cell)) end
  end
  for _, row in ipairs(lines) do
    local cells = {}
    for c, cell in ipairs(row) do
      cells[c] = ('%' .. (c == 1 and '-' or '') .. widths[c] .. 's'):format(tostring(cell))
    end
    print(table.concat(cells, '   '))
  end
end

return M
