-- compile.lua - torch.compile: fuses the elementwise ops of a function. src/core/compile/ records
-- and evaluates them; this file has the options and the reports of `explain`.

--[=[ arguments
model: Function or module to compile.
fullgraph: Accepted for compatibility; it has no effect.
dynamic: Accepted for compatibility; it has no effect.
backend: `'inductor'`, or `'eager'` to return the model itself.
mode: `'default'`; `'reduce-overhead'` and `'max-autotune'` replay GPU work as a CUDA graph; `'max-autotune-no-cudagraphs'`.
options: `{min_numel = n}`: ops on fewer elements run at once.
explain: True to print each new fused expression to stderr, or a function that receives the notes after each call.
disable: Whether the model itself is returned.
compile(): Returns a function that has the same results as the model, but runs its elementwise ops together, in few passes over memory.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local C = torch._C

-- Fewer elements stay in the caches between two ops even without fusion.
local LEAST = 16384

-- Mode: whether GPU work is captured as a CUDA graph. On the CPU all modes are the same.
local MODES = { default = false, ['reduce-overhead'] = true, ['max-autotune'] = true, ['max-autotune-no-cudagraphs'] = false }

local reasons = { ['end'] = 'the function returned', write = 'memory that they read was about to be written',
  limit = 'too many were waiting' }

-- Formats one note as a line of the report.
local function told(note)
  local where = note.where ~= '' and note.where or '?'
  return ('%s: %d ops as %d in %d pass%s over %d elements, %d written: %s'):format(where, note.ops, note.steps, note.passes,
    note.passes == 1 and '' or 'es', note.elements, note.written, reasons[note.reason] or ('%s read them'):format(note.reason))
end

-- Passes the notes of a call to the user's function, or prints new ones to stderr.
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

-- Evaluates the recorded ops after f has returned. The call also overwrites the dead registers of
-- f's frame, which would keep its temporaries alive.
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

-- Wraps `run` to capture its GPU work as a CUDA graph. With explain = true, prints the reasons for
-- calls that are not captured.
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
    fail("compile(): unknown backend '%s', should be one of: inductor (ltensor compiles), eager (no compilation)", backend)
  end
end

--- Returns a function with the results of `model` (a function or a module) that records its
-- elementwise ops and runs them fused, when their values are needed, at the latest on return.
-- Operations of its backward pass are fused, too.
--
-- - explain: true prints each new fusion to stderr; a function is called after each call with the
--   notes, their number, and the reason if GPU ops were not recorded
-- - disable: true returns `model` itself
-- - options: {min_numel = 16384}: ops on fewer elements run at once
-- - backend: 'inductor' (this one), or 'eager', which returns `model` itself
-- - mode: 'default', 'max-autotune-no-cudagraphs'; with 'reduce-overhead' and 'max-autotune', GPU
--   work is captured as a CUDA graph and replayed (docs/guide/compile.md)
-- - fullgraph, dynamic: no effect, because the function itself runs in each call, on any shapes
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
