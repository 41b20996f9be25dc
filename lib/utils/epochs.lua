-- epochs.lua - torch.utils.epochs({total = 10, ...}): counts the epochs of a training loop,
-- averages its metrics, and prints one line for each: losses and metrics, time, examples per
-- second, memory, copies between devices.
--
--   local epochs = torch.utils.epochs {total = 10, log = {torch.utils.log.CSVLogger 'run.csv'}}
--   for epoch in epochs do
--     for x, y in torch.utils.progress(loader, {leave = false}) do
--       …
--       epochs:update(#x, {loss = loss})
--     end
--     epochs:set {val_accuracy = accuracy(net)}
--   end
--
-- Tensors are summed on their device, and read once at the end of the epoch: a step neither waits
-- for a GPU nor copies. The row of an epoch, an ordered table, contains epoch, the averages (loss
-- first, then sorted), the values of set, seconds, examples_per_second, memory (bytes:
-- torch.cuda.max_memory_allocated on a GPU, the resident memory of the process on the CPU), copies
-- and copied_bytes (from the ledger, without the reading at its end). The speed of simulated GPUs
-- has no meaning: their rows have neither seconds nor examples_per_second.

--[=[ arguments
total: Number of epochs; without limit if absent.
first: Number of the first epoch.
device: Device of the displayed memory; the current GPU or the CPU if absent.
quiet: Whether nothing is printed.
log: Logger, or list of loggers, that receive the rows.
values: Further entries of the row, by name.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local checked = require 'torch.support.argument_checks'
local declare = require 'torch.support.arguments'
local experiment = require 'torch.utils.experiment'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local Live = require 'torch.utils.plot.live'
local outside = require 'torch.files.outside'
local ordered_dict = require 'torch.support.ordered_dict'
local size_text = require 'torch.cuda_memory'.size_text

local clock = torch._C.clock

-- The computed columns of a row.
local OWN = { epoch = true, seconds = true, examples_per_second = true, memory = true, copies = true, copied_bytes = true }

local Epochs = class.Object:extend 'Epochs'

-- Whether a value is something that rows can be written to.
local function takes_rows(value)
  if type(value) == 'function' then return true end
  return type(value) == 'userdata' and (Live:is_instance(value) or value.log ~= nil or value.add_scalar ~= nil)
end

--- Options: total (the last epoch; without it the loop continues until it is left), first (1;
-- greater in a resumed run), device (for the memory; default that of the first tensor on a GPU,
-- otherwise the CPU), quiet (no lines), log (receives each row, one or a list: a CSVLogger or
-- JSONLogger, a SummaryWriter, which uses the epoch as the step, plot.live(), which plots the
-- averages, or a function of the row).
local read_epochs = declare.reader('epochs(*, integer? total, integer first=1, device? device, boolean quiet=false, any log={})', 'Epochs')
function Epochs:init(...)
  local options = read_epochs(...)
  local sinks = takes_rows(options.log) and { options.log } or options.log
  if type(sinks) ~= 'table' then fail("epochs(): argument 'log' must be a list of loggers, not %s", kinds.described(sinks)) end
  for i, sink in ipairs(sinks) do
    if not takes_rows(sink) then
      fail("epochs(): argument 'log' must hold loggers, SummaryWriters, plot.live() or functions, not %s at position %d", kinds.described(sink), i)
    end
  end
  self.total, self.first, self.quiet, self.rows = options.total, options.first, options.quiet, {}
  self._device = options.device and torch.device(options.device) or nil
  self._sinks = table.move(sinks, 1, #sinks, 1, {})
end

-- ---- an epoch -----------------------------------------------------------------------------------

--- Ends the running epoch and begins the next: `for epoch in epochs do`. Returns nil after the last
--- one.
function Epochs:__call()
  self:finish()
  local epoch = self.epoch and self.epoch + 1 or self.first
  if self.total and epoch > self.total then
    for _, sink in ipairs(self._sinks) do
      if Live:is_instance(sink) then sink:finish() end
    end
    return nil
  end
  self.epoch, self.examples = epoch, 0
  self._sums, self._set, self._running = {}, {}, true
  self._ledger, self._start = torch.cuda.copies(), clock()
  return epoch
end

function Epochs:__getitem() fail 'epochs have no positions: write for epoch in epochs do' end

local function check_running(self, what)
  if not self._running then fail('%s(): no epoch runs: for epoch in epochs do ... end', what) end
end

local function check_name(what, name)
  if type(name) ~= 'string' then fail('%s(): a value must have a name, not %s', what, tostring(name)) end
  if OWN[name] then fail("%s(): '%s' is computed by torch.utils.epochs and cannot be set", what, name) end
end

-- A one-element tensor, reshaped to 0 dimensions and detached.
local function single(what, name, value)
  if value:numel() ~= 1 then fail("%s(): '%s' must have one element, not the shape %s", what, name, tostring(value.shape)) end
  return value:detach():reshape({})
end

--- Counts n examples, and averages their values: {loss = a mean over them}, numbers or tensors of
-- one element. Each value is averaged over the examples for which it was passed.
function Epochs:update(n, values)
  if not Epochs:is_instance(self) then checked.refuse_self('update', 'Epochs', self) end
  check_running(self, 'update')
  if math.type(n) ~= 'integer' or n < 0 then fail("update(): argument 'n' must be a number of examples, not %s", kinds.described(n)) end
  if values ~= nil and type(values) ~= 'table' then fail("update(): argument 'values' must be a table of values by name, not %s", kinds.described(values)) end
  self.examples = self.examples + n
  for name, value in next, values or {} do
    check_name('update', name)
    local sum = self._sums[name]
    if not sum then
      sum = { number = 0.0, n = 0 }
      self._sums[name] = sum
    end
    sum.n = sum.n + n
    if torch.is_tensor(value) then
      value = single('update', name, value)
      if value.is_cuda then self._device = self._device or value.device end
      sum.tensor = sum.tensor or torch.zeros({}, { dtype = torch.float64, device = value.device })
      sum.tensor:add_(value, { alpha = n })
    elseif type(value) == 'number' then
      sum.number = sum.number + n * value
    else
      fail("update(): '%s' must be a number or a tensor of one element, not %s", name, kinds.described(value))
    end
  end
end

--- Values of the whole epoch, such as validation metrics or the learning rate: numbers, strings,
-- booleans, tensors of one element (read at the end of the epoch, with the sums).
function Epochs:set(values)
  check_running(self, 'set')
  for name, value in next, values do
    check_name('set', name)
    if torch.is_tensor(value) then
      value = single('set', name, value):double()
    elseif type(value) ~= 'number' and type(value) ~= 'string' and type(value) ~= 'boolean' then
      fail("set(): '%s' must be a number, a string, true or false, or a tensor of one element, not %s", name, kinds.described(value))
    end
    self._set[name] = value
  end
end

-- ---- its row ------------------------------------------------------------------------------------

-- Reads named tensors as numbers, with one copy per device.
local function read(tensors)
  local by_device, numbers = {}, {}
  for name, tensor in pairs(tensors) do
    local device = tostring(tensor.device)
    local part = by_device[device] or { names = {}, tensors = {} }
    by_device[device] = part
    part.names[#part.names + 1], part.tensors[#part.tensors + 1] = name, tensor
  end
  for _, part in pairs(by_device) do
    for i, number in ipairs(torch.stack(part.tensors):cpu():tolist()) do numbers[part.names[i]] = number end
  end
  return numbers
end

-- The metrics by name: the averages, and the values of set.
local function measured(self)
  local tensors = {}
  for name, sum in pairs(self._sums) do tensors[name] = sum.tensor end
  for name, value in pairs(self._set) do
    if torch.is_tensor(value) then tensors[name] = value end
  end
  local numbers, averages, set = read(tensors), {}, {}
  for name, sum in pairs(self._sums) do averages[name] = (sum.number + (sum.tensor and numbers[name] or 0)) / sum.n end
  for name, value in pairs(self._set) do
    if torch.is_tensor(value) then set[name] = numbers[name] else set[name] = value end
  end
  return averages, set
end

-- Names in order: loss before the others.
local function in_order(values)
  local names = {}
  for name in pairs(values) do names[#names + 1] = name end
  table.sort(names, function(a, b)
    if (a == 'loss') ~= (b == 'loss') then return a == 'loss' end
    return a < b
  end)
  return names
end

-- The resident memory of the process in bytes; nil if unknown.
local function resident_bytes()
  local permitted, file = pcall(outside.open, '/proc/self/status', 'r')
  if not permitted or not file then return nil end
  local kilobytes = file:read('a'):match 'VmRSS:%s*(%d+) kB'
  file:close()
  return kilobytes and math.tointeger(kilobytes) * 1024
end

-- The increase of the ledger; if it was cleared meanwhile, its contents.
local function more(now, before)
  if now.count < before.count then return now.count, now.bytes end
  return now.count - before.count, now.bytes - before.bytes
end

--- Ends the running epoch: its row is printed, logged, stored in `rows` and returned. The loop does
-- this itself if its body does not.
function Epochs:finish()
  if not self._running then return self.rows[#self.rows] end
  local copies, copied_bytes = more(torch.cuda.copies(), self._ledger)
  local averages, set = measured(self)
  local device = self._device or torch.device 'cpu'
  local on_gpu = device.type == 'cuda'
  if on_gpu then torch.cuda.synchronize(device) end
  local seconds = clock() - self._start
  self._running = false

  local row = ordered_dict.new()
  local function put(name, value)
    row[name] = value
  end
  put('epoch', self.epoch)
  for _, values in ipairs { averages, set } do
    for _, name in ipairs(in_order(values)) do put(name, values[name]) end
  end
  if experiment.has_speed(device) then
    put('seconds', seconds)
    put('examples_per_second', self.examples / seconds)
  end
  if on_gpu then put('memory', torch.cuda.max_memory_allocated(device)) else put('memory', resident_bytes()) end
  put('copies', copies)
  put('copied_bytes', copied_bytes)
  self.rows[#self.rows + 1] = row
  self:_tell(row)
  return row
end

-- ---- output -------------------------------------------------------------------------------------

local function value_text(value)
  if value ~= value then return 'nan' end -- of either sign
  if math.type(value) == 'float' then return ('%.4g'):format(value) end
  return tostring(value)
end

local function rate_text(rate) return (rate < 100 and '%.1f' or '%.0f'):format(rate) .. ' examples/s' end

local function line(row, total)
  local parts = { ('epoch %d%s'):format(row.epoch, total and '/' .. total or '') }
  for name, value in pairs(row) do
    if not OWN[name] then parts[#parts + 1] = name .. ' ' .. value_text(value) end
  end
  parts[#parts + 1] = row.seconds and ('%.3f s'):format(row.seconds) or 'time not stated'
  parts[#parts + 1] = row.seconds and rate_text(row.examples_per_second) or nil
  parts[#parts + 1] = row.memory and size_text(row.memory) or nil
  parts[#parts + 1] = row.copies == 0 and '0 copies' or ('%d copies of %s'):format(row.copies, size_text(row.copied_bytes))
  return table.concat(parts, '  ')
end

-- The numbers that were measured, over the epochs that have them.
local function figure_of(rows, title)
  local labels, x, y, at = {}, {}, {}, {}
  for _, row in ipairs(rows) do
    for name, value in pairs(row) do
      if not OWN[name] and type(value) == 'number' then
        if not at[name] then
          at[name] = #labels + 1
          labels[at[name]], x[at[name]], y[at[name]] = name, {}, {}
        end
        local i = at[name]
        table.insert(x[i], row.epoch)
        table.insert(y[i], value)
      end
    end
  end
  return #labels > 0 and torch.utils.plot.lines(x, y, { labels = labels, title = title }) or nil
end

-- Reports a row to the sinks. On a terminal, the figure is redrawn in place, and output between
-- would break it: there the line is its title.
function Epochs:_tell(row)
  local text, told = line(row, self.total), self.quiet
  for _, sink in ipairs(self._sinks) do
    if Live:is_instance(sink) then
      local figure = figure_of(self.rows, text)
      if figure then
        sink:show(figure)
        told = told or sink:is_on_terminal()
      end
    elseif type(sink) == 'function' then
      sink(row)
    elseif sink.add_scalar then
      for name, value in pairs(row) do
        if name ~= 'epoch' and type(value) == 'number' then sink:add_scalar(name, value, row.epoch) end
      end
      sink:flush()
    else
      sink:log(row)
    end
  end
  if not told then print(text) end
end

return Epochs
