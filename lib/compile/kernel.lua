-- kernel.lua - torch.kernel: operations from text. src/core/expression/ parses and runs formulas;
-- this file has the options and the arguments by name.

--[=[ arguments
text: Formula in Lua's syntax: `'x * exp(-x / (y + 1))'`.
inputs: Names of the inputs in the order of the arguments; by default all names of the text, in order of first appearance.
outputs: Assigned names that the function returns; by default the last expression.
dtype: Dtype to which the results are converted.
name: Name in error messages and in the graph.
defaults: Values of inputs that a call may omit: `{alpha = 1}`.
compile: Whether the C compiler of the host makes a loop of the formula for the CPU, at the first call with each combination of dtypes.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local host_compiler = require 'torch.support.host_compiler'

local C = torch._C
local gethook = debug.gethook

local M = {}

-- Runs the operations by Lua's functions, for a recorder of calls (torch.onnx.export).
local function decomposed(steps, outputs, dtype, arguments)
  local values = {}
  for i, step in ipairs(steps) do
    if step.input then values[i] = arguments[step.input]
    elseif step.number then values[i] = step.number
    else
      local f = torch
      for part in step.call:gmatch '[^.]+' do f = f[part] end
      local a = {}
      for k, at in ipairs(step) do a[k] = values[at] end
      values[i] = f(table.unpack(a, 1, #step))
    end
  end
  local results = {}
  for k, at in ipairs(outputs) do
    results[k] = values[at]
    if dtype then results[k] = results[k]:to(dtype) end
  end
  return table.unpack(results, 1, #outputs)
end

local function is_named(x) return type(x) == 'table' and getmetatable(x) == nil end

-- The arguments of a call in the order of the inputs: the last one may be a table of arguments by
-- name, and defaults fill the rest.
local function arranged(what, names, defaults, ...)
  local given = table.pack(...)
  local named = is_named(given[given.n]) and given[given.n] or nil
  if named then given[given.n], given.n = nil, given.n - 1 end
  for name in pairs(named or {}) do
    local known = false
    for _, input in ipairs(names) do known = known or input == name end
    if not known then C.refuse_name(what .. '()', name, names) end
  end
  for i, name in ipairs(names) do
    local by_name = named and named[name]
    if by_name ~= nil and i <= given.n then fail("%s(): argument '%s' was given by position and by name", what, name) end
    if i > given.n then given[i] = by_name end
    if given[i] == nil then given[i] = defaults[name] end
    if given[i] == nil then fail("%s(): argument '%s' is missing; the inputs are %s", what, name, table.concat(names, ', ')) end
  end
  return table.unpack(given, 1, math.max(given.n, #names))
end

local function check_defaults(what, names, defaults)
  local listed = {}
  for _, name in ipairs(names) do listed[name] = true end
  for name, value in pairs(defaults) do
    if not listed[name] then fail("elementwise(): defaults: the formula has no input '%s'; its inputs are %s", tostring(name), table.concat(names, ', ')) end
    if type(value) ~= 'number' and type(value) ~= 'boolean' then fail("%s(): the default of '%s' must be a number, not %s", what, name, torch.type(value)) end
  end
end

-- ---- compiled loops -----------------------------------------------------------------------------

-- The flags with which the vector kernels of the library are compiled (mk/toolchain.mk), so that the
-- results have the same bits.
local FLAGS = { '-std=gnu11', '-O3', '-fopenmp-simd', '-ffp-contract=off', '-fno-math-errno', '-fno-trapping-math' }
local SETS = {
  avx512 = { '-mavx512f', '-mavx512dq', '-mavx512bw', '-mavx512vl', '-mfma', '-mf16c', '-mprefer-vector-width=512' },
  avx2 = { '-mavx2', '-mfma', '-mf16c' },
}

local function flags()
  local all = table.move(FLAGS, 1, #FLAGS, 1, {})
  local set = torch.__config__.has 'avx512' and SETS.avx512 or torch.__config__.has 'avx2' and SETS.avx2 or {}
  return table.move(set, 1, #set, #all + 1, all)
end

-- Calls the formula; before the first call with each combination of dtypes its loop is compiled.
local function call_compiled(formula, ...)
  local source = C.formula_source(formula, ...)
  if source ~= nil then
    local path = source and host_compiler.library { what = 'elementwise()', name = 'formula', source = source,
      headers = require 'torch.formula_headers', flags = flags() }
    C.formula_set_loop(formula, path or nil, ...)
  end
  return C.formula_call(formula, ...)
end

-- ---- formulas -----------------------------------------------------------------------------------

--- Returns a function that computes a formula for each element of its tensors, in one pass over
-- memory: `torch.kernel.elementwise 'x * exp(-x / (y + 1))'`. Inputs are tensors and numbers, by
-- position or in a final table by name.
--
-- The formula has Lua's numbers and operators (+ - * / // % ^ and comparisons), `where(condition, a,
-- b)` and each elementwise operation of torch by its name: exp, erf, clamp, maximum, logical_and.
-- pi, inf and nan are numbers. Statements `name = expression` may come first. Results have the
-- dtype, the shape, the bits and the derivatives of these operations.
--
-- With compile = true the CPU runs one loop that the host's C compiler makes, as fast as a built-in
-- operation of the formula. The first call takes some tenths of a second, the first one in later
-- programs finds the loop in `~/.cache/ltensor/extensions`. Loops compute contiguous tensors of
-- one shape in float32; other calls, and formulas with sin, cos, tan, %, // or special functions,
-- run as without it.
local function elementwise(text, options)
  local name = options.name or 'elementwise'
  local formula, names = C.formula(text, name, options.inputs, options.outputs, options.dtype)
  local defaults = options.defaults or {}
  check_defaults(name, names, defaults)
  local call = options.compile and call_compiled or C.formula_call
  local steps, outputs, dtype = C.formula_steps(formula)
  local n = #names
  return function(...)
    local count = select('#', ...)
    if count ~= n or is_named((select(count, ...))) then
      if gethook() then return decomposed(steps, outputs, dtype, { arranged(name, names, defaults, ...) }) end
      return call(formula, arranged(name, names, defaults, ...))
    end
    if gethook() then return decomposed(steps, outputs, dtype, { ... }) end
    return call(formula, ...)
  end
end

M.elementwise = declare.with_options([[
  elementwise(string text, *, table? inputs, table? outputs, dtype? dtype, string? name, table? defaults, boolean compile=false)
]], elementwise)

return M
