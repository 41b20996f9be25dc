-- schedule.lua - torch.profiler.schedule, ProfilerAction and tensorboard_trace_handler: the
-- steps of a training loop that a profile records, and the files of its recordings.

--[=[ arguments
wait: Number of steps at the start of a cycle without a recording.
warmup: Number of steps after them whose recording is dropped.
active: Number of recorded steps.
repeat: Number of cycles; 0 for cycles until the end.
skip_first: Number of steps before the first cycle.
skip_first_wait: Not 0 to leave out the waiting steps of the first cycle.
dir_name: Folder of the files, which is created.
worker_name: Name of the process in the names of files; the host's if absent.
use_gzip: Whether the files are compressed.
]=]

local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local outside = require 'torch.files.outside'

local M = {}

M.ProfilerAction = { NONE = 0, WARMUP = 1, RECORD = 2, RECORD_AND_SAVE = 3 }
local NONE, WARMUP, RECORD, RECORD_AND_SAVE = 0, 1, 2, 3

--- A function of the number of a step, from 0, for the argument schedule of profile: after
--- skip_first steps, cycles of wait steps without a recording, warmup steps whose recording is
--- dropped, and active recorded steps.
function M.schedule(wait, warmup, active, cycles, skip_first, skip_first_wait)
  if wait < 0 or warmup < 0 or active <= 0 or cycles < 0 or skip_first < 0 then
    fail('Invalid profiler schedule arguments. Got wait=%d (need >= 0), warmup=%d (need >= 0), active=%d (need > 0), repeat=%d (need >= 0), skip_first=%d (need >= 0).',
      wait, warmup, active, cycles, skip_first)
  end
  local steps = wait + warmup + active
  return function(step)
    if step < 0 then fail('Step must be non-negative. Got %d.', step) end
    if step < skip_first then return NONE end
    step = step - skip_first
    if skip_first_wait ~= 0 then step = step + wait end
    if cycles > 0 and step >= cycles * steps then return NONE end
    local place = step % steps
    if place < wait then return NONE end
    if place < wait + warmup then return WARMUP end
    return place < steps - 1 and RECORD or RECORD_AND_SAVE
  end
end

local written = 0

-- The name of the host, and the rank of a process that has one: two processes must not share a file.
local function default_name()
  local rank = os.getenv 'RANK'
  return (os.getenv 'HOSTNAME' or 'localhost') .. (rank and '_rank' .. rank or '')
end

--- A function for the argument on_trace_ready of profile: writes each recording to a file in a
--- folder that TensorBoard reads. The name of the worker is by default that of the host.
function M.tensorboard_trace_handler(dir_name, worker_name, use_gzip)
  return function(profile)
    outside.make_folder(dir_name)
    written = written + 1
    profile:export_chrome_trace(('%s/%s.%d%09d.pt.trace.json%s'):format(dir_name, worker_name or default_name(), os.time(), written, use_gzip and '.gz' or ''))
  end
end

declare.functions(M, [[
  schedule(*, integer wait, integer warmup, integer active, integer repeat=0, integer skip_first=0, integer skip_first_wait=0)
  tensorboard_trace_handler(string dir_name, string? worker_name, boolean use_gzip=false)
]])

return M
