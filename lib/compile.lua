-- compile.lua - torch.compile: a function whose elementwise ops run together, in few passes over memory. What is recorded and when it is
-- computed is core's (src/core/compile/); here are the options, and what `explain` says.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'

local C = torch._C

-- Fewer elements lie in the caches between two ops as well.
local LEAST = 16384

-- On the host all of them are the same; with these what is done on a GPU is captured.
local MODES = { default = false, ['reduce-overhead'] = true, ['max-autotune'] = true, ['max-autotune-no-cudagraphs'] = false }

local reasons = { ['end'] = 'the function returned', write = 'memory that they read was about to be written',
  limit = 'too many were waiting' }

-- A line of the report.
local function told(note)
  local where = note.where ~= '' and note.where or '?'
  return ('%s: %d ops as %d in %d pass%s over %d elements, %d written: %s'):format(where, note.ops, note.steps, note.passes,
    note.passes == 1 and '' or 'es', note.elements, note.written, reasons[note.reason] or ('%s looked at them'):format(note.reason))
end

-- Gives the notes of a call to the user's function, or shows those that are new.
local function report(explain, shown)
  local notes, all, why_not = C.trace_notes()
  if explain ~= true then return explain(notes, all, why_not) end
  local function show(line)
    if shown[line] then return end
    shown[line] = true
    io.stderr:write('[compile] ', line, '\n')
  end
  for _, note in ipairs(notes) do show(told(note)) end
  if why_not then show('ops on the GPU run one by one: ' .. why_not) end
end

-- When a block closes, Lua keeps what the function that was called last in it left in its registers; here these are overwritten.
local function finish(...)
  C.trace_finish()
  return ...
end

local function compiled(f, options)
  local least, explain = (options.options or {}).min_numel or LEAST, options.explain
  if not explain then
    return function(...)
      local _ <close> = C.trace_open(least)
      return finish(f(...))
    end
  end
  local shown = {}
  local function call(...)
    local _ <close> = C.trace_open(least)
    return finish(f(...))
  end
  local function explained(...)
    report(explain, shown)
    return ...
  end
  return function(...) return explained(call(...)) end
end

-- The function with what it does on a GPU as a graph; explain = true says where it is not.
local function captured(run, model, explain)
  local told_of = {}
  return require 'torch.compile.gpu_graph'(run, model, function(why)
    if explain ~= true or told_of[why] then return end
    told_of[why] = true
    io.stderr:write('[compile] not captured: ', why, '\n')
  end)
end

local function check_ways(options)
  local mode, backend = options.mode, options.backend
  if mode ~= nil and options.options ~= nil then
    fail('compile(): either mode or options can be given, but both cannot at the same time')
  end
  if mode ~= nil and MODES[mode] == nil then
    fail("compile(): unrecognized mode '%s', should be one of: default, reduce-overhead, max-autotune, max-autotune-no-cudagraphs", mode)
  end
  if backend ~= nil and backend ~= 'inductor' and backend ~= 'eager' then
    fail("compile(): there is no backend '%s', should be one of: inductor (what ltensor does itself), eager (nothing is compiled)", backend)
  end
end

--- A function that does what `model`, a function or a module, does, with the same results: its elementwise ops are recorded and
-- run together where their values are looked at, at the latest when it returns.
-- Options: explain (true: each new way in which ops were put together is shown on stderr; a function: it is called with the notes after each call, their number,
-- and why ops on a GPU were not recorded), disable
-- (true: `model` itself is the result), options = {min_numel = 16384} (ops on fewer elements are done at once), backend ('inductor', which is this; 'eager':
-- `model` itself is the result), mode ('default'; 'reduce-overhead' and 'max-autotune': what is done on a GPU is captured as a CUDA graph and replayed, see
-- docs/guide/compile.md; 'max-autotune-no-cudagraphs'). `fullgraph` and `dynamic` change nothing: the function itself runs in each call, on any shapes.
-- Its backward pass is put together in the same way.
local read_inner = declare.reader 'compile(*, integer? min_numel)'
local function compile(model, options)
  local is_module = type(model) == 'userdata' and kinds.fits(model, 'Module')
  check_ways(options)
  local inner = read_inner(options.options)
  if inner.min_numel and inner.min_numel < 1 then fail('compile(): min_numel must be at least 1, got %d', inner.min_numel) end
  if options.disable or options.backend == 'eager' then return model end
  local run = compiled(model, options)
  if MODES[options.mode or 'default'] then run = captured(run, model, options.explain) end
  if not is_module then return run end
  return require 'torch.nn.optimized_module'(model, run)
end

return declare.with_options([[
  compile(function|Module model, *, boolean? fullgraph, boolean? dynamic, string? backend, string? mode, named? options,
    boolean|function? explain, boolean? disable)
]], compile)
