-- profiler.lua - torch.profiler: which ops ran, how often, for how long, on which device, with how
-- much memory.
--
--   local prof = torch.profiler.profile(function() ... end)
--   local prof <close> = torch.profiler.profile()     -- the same for the rest of the block
--   print(prof:key_averages():table{sort_by = 'self_cpu_time_total', row_limit = 10})
--   prof:export_chrome_trace 'trace.json'             -- for chrome://tracing or ui.perfetto.dev
--
-- torch.profiler.record_function('name', f, ...) adds a row for f. Recording begins with profile()
-- and belongs to the thread; otherwise nothing is measured, at no cost. With a schedule
-- (profiler/schedule.lua), step() selects the steps that are recorded.

--[=[ arguments
schedule: Function of the number of a step, from 0, that returns a `ProfilerAction`; `torch.profiler.schedule` creates one. Without it, every step is recorded.
on_trace_ready: Function of the profile that is called when a recording ends; `torch.profiler.tensorboard_trace_handler` creates one.
activities: Devices to observe: a list of `torch.profiler.ProfilerActivity`; the CPU, and the GPUs if there are any, if absent.
record_shapes: Accepted for compatibility; it has no effect.
profile_memory: Accepted for compatibility; it has no effect.
with_stack: Accepted for compatibility; it has no effect.
with_flops: Accepted for compatibility; it has no effect.
with_modules: Accepted for compatibility; it has no effect.
name: Name of the row.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local outside = require 'torch.files.outside'
local plain_number = require 'torch.files.plain_number'
local scope = require 'torch.autograd.scope'
local quoted = require 'torch.files.json_string'
local C = torch._C

local M = require 'torch.profiler.schedule'
M.__names = { profile = true, record_function = true, ProfilerActivity = true, ProfilerAction = true, schedule = true, tensorboard_trace_handler = true }

M.ProfilerActivity = { CPU = 'cpu', CUDA = 'cuda' }

-- ---- spans of the user's ------------------------------------------------------------------------

local recordings = 0 -- number of started recordings: the event of a span belongs to one

--- A span with a name: until the guard is closed, or while body(...) runs.
function M.record_function(name, body, ...)
  local recording, event = recordings, C.profile_begin(name)
  local function finish()
    if recording == recordings then C.profile_end(event) end
  end
  return scope.open(finish, function() end, finish, body, ...)
end
declare.functions(M, 'record_function(string name)', 'scope')

-- ---- tables -------------------------------------------------------------------------------------

local Averages = {}
Averages.__index = Averages
Averages.__name = 'EventList'

local function time_text(seconds)
  if seconds >= 1 then return ('%.3fs'):format(seconds) end
  if seconds >= 1e-3 then return ('%.3fms'):format(seconds * 1e3) end
  return ('%.3fus'):format(seconds * 1e6)
end

local function size_text(bytes)
  local size = math.abs(bytes)
  if size >= 1 << 30 then return ('%.2f GB'):format(bytes / (1 << 30)) end
  if size >= 1 << 20 then return ('%.2f MB'):format(bytes / (1 << 20)) end
  if size >= 1 << 10 then return ('%.2f KB'):format(bytes / (1 << 10)) end
  return ('%d B'):format(bytes)
end

local function percent_text(part, whole) return ('%.2f%%'):format(whole > 0 and 100 * part / whole or 0) end

-- Fields of a row by PyTorch's names for sort_by.
local SORT = {
  cpu_time_total = 'cpu_time_total', self_cpu_time_total = 'self_cpu_time_total', cpu_time = 'cpu_time', count = 'count',
  cuda_time_total = 'device_time_total', device_time_total = 'device_time_total', cuda_time = 'device_time_total',
  self_cuda_time_total = 'self_device_time_total', self_device_time_total = 'self_device_time_total',
  cpu_memory_usage = 'memory', device_memory_usage = 'memory', cuda_memory_usage = 'memory', memory = 'memory',
  copies = 'copies', copied = 'copied',
}

local function sorted(rows, sort_by)
  local list = table.move(rows, 1, #rows, 1, {})
  local field = SORT[sort_by]
  if sort_by and not field then
    local known = {}
    for name in pairs(SORT) do known[#known + 1] = name end
    table.sort(known)
    fail("table(): sort_by '%s' is none of %s", tostring(sort_by), table.concat(known, ', '))
  end
  if field then
    table.sort(list, function(a, b)
      if a[field] ~= b[field] then return a[field] > b[field] end
      return a.key < b.key
    end)
  end
  return list
end

-- The words of a heading in lines of at most `width` characters where they can be broken.
local function heading_lines(heading, width)
  local lines = {}
  for word in heading:gmatch '%S+' do
    local last = lines[#lines]
    if last and #last + 1 + #word <= width then lines[#lines] = last .. ' ' .. word else lines[#lines + 1] = word end
  end
  return lines
end

-- The lines of a table with these columns; widths: of the columns; heads: the lines of their
-- headings.
local function layout_part(columns, widths, heads, rows)
  local height = 0
  for _, c in ipairs(columns) do height = math.max(height, #heads[c]) end
  local function line(cell_of)
    local cells = {}
    for i, c in ipairs(columns) do cells[i] = ('%' .. (c == 1 and '-' or '') .. widths[c] .. 's'):format(cell_of(c)) end
    return (table.concat(cells, '  '):gsub('%s+$', ''))
  end
  local rule = line(function(c) return ('-'):rep(widths[c]) end)
  local lines = { rule }
  for i = 1, height do lines[#lines + 1] = line(function(c) return heads[c][i - height + #heads[c]] or '' end) end
  lines[#lines + 1] = rule
  for _, row in ipairs(rows) do lines[#lines + 1] = line(function(c) return row[c] end) end
  lines[#lines + 1] = rule
  return lines
end

-- The rows as lines; if they are wider than `limit`, headings are broken between words, then the
-- columns are distributed over several tables, each with the names.
local function layout(headings, rows, limit)
  local widths, heads, total = {}, {}, -2
  for c, heading in ipairs(headings) do
    widths[c] = #heading
    for _, row in ipairs(rows) do widths[c] = math.max(widths[c], #row[c]) end
    heads[c] = { heading }
    total = total + widths[c] + 2
  end
  if total > limit then
    for c, heading in ipairs(headings) do
      widths[c] = 0
      for _, row in ipairs(rows) do widths[c] = math.max(widths[c], #row[c]) end
      for word in heading:gmatch '%S+' do widths[c] = math.max(widths[c], #word) end
      heads[c] = heading_lines(heading, widths[c])
    end
  end
  local lines, columns, used = {}, { 1 }, widths[1]
  local function finish()
    for _, line in ipairs(layout_part(columns, widths, heads, rows)) do lines[#lines + 1] = line end
    columns, used = { 1 }, widths[1]
  end
  for c = 2, #headings do
    if #columns > 1 and used + 2 + widths[c] > limit then finish() end
    columns[#columns + 1], used = c, used + 2 + widths[c]
  end
  finish()
  return lines
end

--- The rows as text. options: sort_by (a name of PyTorch's), row_limit (100), max_width (the maximum
--- number of characters of a line: wider rows become several tables).
local read_table = declare.reader 'table(string? sort_by, integer row_limit=100, integer? max_width)'
function Averages:table(...)
  local options = read_table(...)
  local gpu, headings = self.gpu, { 'Name', 'Self CPU %', 'Self CPU', 'CPU total %', 'CPU total', 'CPU time avg' }
  if gpu then table.move({ 'Self CUDA', 'CUDA total' }, 1, 2, #headings + 1, headings) end
  table.move({ 'Mem', 'Copies', 'Copied', '# of Calls' }, 1, 4, #headings + 1, headings)
  local device_text = self.simulated and function() return 'not stated' end or time_text
  local rows = {}
  for i, row in ipairs(sorted(self, options.sort_by)) do
    if i > options.row_limit then break end
    local cells = { row.key, percent_text(row.self_cpu_time_total, self.self_cpu_time_total), time_text(row.self_cpu_time_total),
      percent_text(row.cpu_time_total, self.self_cpu_time_total), time_text(row.cpu_time_total), time_text(row.cpu_time) }
    if gpu then
      cells[#cells + 1], cells[#cells + 2] = device_text(row.self_device_time_total), device_text(row.device_time_total)
    end
    table.move({ size_text(row.memory), tostring(row.copies), size_text(row.copied), tostring(row.count) }, 1, 4, #cells + 1, cells)
    rows[i] = cells
  end
  local lines = layout(headings, rows, options.max_width or math.huge)
  lines[#lines + 1] = 'Self CPU time total: ' .. time_text(self.self_cpu_time_total)
  if gpu then lines[#lines + 1] = 'Self CUDA time total: ' .. device_text(self.self_device_time_total) end
  return table.concat(lines, '\n')
end

function Averages:__tostring() return self:table { max_width = torch.get_printoptions().linewidth } end

-- ---- a recording --------------------------------------------------------------------------------

local Profile = {}
Profile.__index = Profile
Profile.__name = 'profile'

local function simulated() return torch.cuda.is_available() and torch.cuda.is_simulated() end

function Profile:__close() self:stop() end

-- The operations of torch.distributed since the last call; none if it is not loaded.
local function recorded_operations()
  local distributed = rawget(torch, 'distributed')
  return distributed and distributed._take_recorded() or {}
end

-- Adds the operations of torch.distributed during the recording as events. Their times are
-- transfers, which overlap with computation.
local function communications(profile)
  local now = C.clock()
  for _, one in ipairs(recorded_operations()) do
    local begun, ended = one.inner:times()
    table.insert(profile._list, { name = 'dist.' .. one.name, kind = 'communication', parent = 0, start = begun - profile._began,
      time = (ended > 0 and ended or now) - begun, self = 0, memory = 0, copies = 1, copied = one.bytes, device = -1, device_start = 0,
      device_time = 0, device_self = 0 })
  end
end

local function records(action) return action >= M.ProfilerAction.RECORD end

local function start_recording(profile)
  recordings = recordings + 1
  local recorded, gpu = {}, profile._gpu
  profile._scope = scope.open('profile', function() C.profile_start(gpu) end, function() recorded.list = C.profile_stop() end)
  profile._recorded, profile._began = recorded, C.clock()
  recorded_operations() -- drops operations outside of recordings, or of one that was not stopped
end

-- Ends the recording. While on_trace_ready runs, methods read it without ending the profile.
local function end_recording(profile)
  scope.close(profile._scope)
  profile._list, profile._scope = profile._recorded.list, nil
  communications(profile)
  if not profile.on_trace_ready then return end
  profile._is_ready = true
  profile.on_trace_ready(profile)
  profile._is_ready = false
end

local function begin_step(profile)
  if profile.schedule and profile._scope then profile._span = C.profile_begin('ProfilerStep#' .. profile.step_num) end
end

-- Ends the span of a step, unless a later recording runs.
local function end_step(profile)
  if profile._span and profile._scope then C.profile_end(profile._span) end
  profile._span = nil
end

--- Ends a step, and begins or ends a recording by the schedule.
function Profile:step()
  if self._stopped then fail 'step(): the profile has ended' end
  end_step(self)
  self.step_num = self.step_num + 1
  if self.schedule then
    local before = self._action
    self._action = self.schedule(self.step_num)
    if math.type(self._action) ~= 'integer' or self._action < 0 or self._action > M.ProfilerAction.RECORD_AND_SAVE then
      fail("schedule() must return a torch.profiler.ProfilerAction, not %s", tostring(self._action))
    end
    if self._scope and (before == M.ProfilerAction.RECORD_AND_SAVE or not records(self._action)) then end_recording(self) end
    if not self._scope and records(self._action) then start_recording(self) end
  end
  begin_step(self)
end

local function begin(profile)
  profile._action = profile.schedule and profile.schedule(0) or M.ProfilerAction.RECORD
  if records(profile._action) then start_recording(profile) end
  begin_step(profile)
end

--- Begins anew, at step 0: what was recorded before is dropped. profile() begins by itself.
function Profile:start()
  if self._scope then scope.close(self._scope) end
  self._scope, self._span, self._list, self._stopped, self.step_num = nil, nil, nil, nil, 0
  begin(self)
  return self
end

--- Ends the recording and the profile. Methods that read the recording do this, too.
function Profile:stop()
  if self._stopped or self._is_ready then return self end
  self._stopped = true
  end_step(self)
  if self._scope then end_recording(self) end
  self._list = self._list or {}
  return self
end

--- The events in the order of their starts: name, kind ('op', 'backward', 'user'), parent (a
-- position, 0: none), start, time, self (seconds), memory, copies, copied (bytes), device (-1:
-- none), device_start, device_time, device_self. Then events of torch.distributed with the kind
-- 'communication'.
function Profile:events() return self:stop()._list end

--- One row for each name: key, count, cpu_time_total, self_cpu_time_total, cpu_time (of one call),
-- device_time_total, self_device_time_total (seconds), memory, copied (bytes), copies; in the order
-- of the first calls.
function Profile:key_averages()
  local rows, by_key = { self_cpu_time_total = 0, self_device_time_total = 0, gpu = self._gpu, simulated = simulated() }, {}
  for _, e in ipairs(self:events()) do
    local key = e.kind .. ' ' .. e.name
    local row = by_key[key]
    if not row then
      row = { key = e.name, kind = e.kind, count = 0, cpu_time_total = 0, self_cpu_time_total = 0, device_time_total = 0,
        self_device_time_total = 0, memory = 0, copies = 0, copied = 0 }
      by_key[key] = row
      rows[#rows + 1] = row
    end
    row.count = row.count + 1
    row.cpu_time_total, row.self_cpu_time_total = row.cpu_time_total + e.time, row.self_cpu_time_total + e.self
    row.device_time_total = row.device_time_total + e.device_time
    row.self_device_time_total = row.self_device_time_total + e.device_self
    row.memory, row.copies, row.copied = row.memory + e.memory, row.copies + e.copies, row.copied + e.copied
    row.cpu_time = row.cpu_time_total / row.count
    rows.self_cpu_time_total = rows.self_cpu_time_total + e.self
    rows.self_device_time_total = rows.self_device_time_total + e.device_self
  end
  return setmetatable(rows, Averages)
end

local function trace_line(e, place, start, time)
  return ('{"ph":"X","cat":%s,"name":%s,"pid":%s,"tid":%s,"ts":%s,"dur":%s,"args":{"memory":%d,"copied":%d}}'):format(
    quoted(e.kind), quoted(e.name), quoted(place), quoted(place), plain_number('%.3f', start * 1e6), plain_number('%.3f', time * 1e6), e.memory, e.copied)
end

-- A gzip file of the text.
local function gzipped(text)
  return '\x1F\x8B\x08\0\0\0\0\0\0\xFF' .. C.deflate(text, false) .. ('<I4I4'):pack(C.crc32(text), #text & 0xFFFFFFFF)
end

--- Writes the events as a Chrome trace: a row for the host, one for each GPU, and one for transfers
-- between ranks. A path that ends in .gz gives a compressed file.
function Profile:export_chrome_trace(path)
  local lines = {}
  for _, e in ipairs(self:events()) do
    lines[#lines + 1] = trace_line(e, e.kind == 'communication' and 'ranks' or 'cpu', e.start, e.time)
    if e.device >= 0 and e.device_time > 0 then
      lines[#lines + 1] = trace_line(e, 'cuda:' .. e.device, e.device_start, e.device_time)
    end
  end
  local text = '{"schemaVersion":1,"displayTimeUnit":"ms","traceEvents":[\n' .. table.concat(lines, ',\n') .. '\n]}\n'
  outside.write_file(path, path:find '%.gz$' and gzipped(text) or text)
end

function Profile:__tostring() return self:key_averages():table() end

local function wants_gpu(activities)
  local available = torch.cuda.is_available()
  if not activities then return available end
  for _, activity in ipairs(activities) do
    if activity == 'cuda' and available then return true end
    if activity == 'cuda' then C.log_warning 'warning: CUDA is not available, disabling CUDA profiling' end
  end
  return false
end

--- Records until the result is closed or stopped; with body, while body(...) runs, and returns the
-- recording and body's results. With a schedule, step() ends each step of a loop, and the schedule
-- selects the steps that are recorded. activities: a list of torch.profiler.ProfilerActivity
-- (default: CPU, and the GPU if there is one).
function M.profile(activities, schedule, on_trace_ready, _, _, _, _, _, body, ...)
  local profile = setmetatable({ _gpu = wants_gpu(activities), schedule = schedule, on_trace_ready = on_trace_ready, step_num = 0 }, Profile)
  begin(profile)
  if body == nil then return profile end
  local _ <close> = profile
  return profile, body(...)
end
declare.functions(M, [[
  profile(*, table? activities, function? schedule, function? on_trace_ready, boolean record_shapes=false, boolean profile_memory=false, boolean with_stack=false, boolean with_flops=false, boolean with_modules=false)
]], 'scope')

return M
