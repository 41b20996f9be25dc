-- Runs the reference cases of tests/reference: turns their descriptions into values, calls the op
-- the ways a user can, compares with what PyTorch gave. Knows nothing about single ops: positions
-- in the data already count from 1. LTENSOR_TEST_DEVICE chooses the device (default: cpu).

local torch = require 'torch'

local M = {}

M.device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

-- Where IEEE arithmetic does not fix the result: a few units in the last place of the dtype, and
-- for sums a floor for what cancels.
local TOLERANCE = {
  float16 = {relative = 2e-3, absolute = 1e-3},
  bfloat16 = {relative = 1.6e-2, absolute = 1e-2},
  float32 = {relative = 5e-6, absolute = 2e-6},
  float64 = {relative = 1e-12, absolute = 1e-12},
  complex64 = {relative = 1e-5, absolute = 4e-6},
  complex128 = {relative = 2e-12, absolute = 2e-12},
}
local PART = {complex64 = torch.float32, complex128 = torch.float64}
local HALF = {float16 = true, bfloat16 = true}

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'

local obligations = dofile(here .. 'obligations.lua')

function M.load(group)
  return dofile(here .. '../../reference/' .. group .. '.lua')
end

local function shape_text(shape)
  local parts = {}
  for i = 1, #shape do parts[i] = tostring(shape[i]) end
  return '[' .. table.concat(parts, ', ') .. ']'
end

-- Views of a base, by the names that generator/cases.py gives them.
local LAYOUT = {
  transpose = function(base) return base:transpose(-2, -1) end,
  step = function(base)
    local subscript = {}
    for i = 1, base.ndim - 1 do subscript[i] = {} end
    subscript[base.ndim] = {1, -1, 2}
    return base[subscript]
  end,
  offset = function(base) return base:narrow(1, 2, #base - 1) end,
  expand = function(base) return base:expand(2, table.unpack(base.shape)) end,
  strided = function(base, spec) return base:as_strided(spec.size, spec.strides) end,
}

local function tensor(spec, device)
  local t = torch.tensor(spec.data, {dtype = PART[spec.dtype] or torch[spec.dtype], device = device or M.device})
  if PART[spec.dtype] then t = torch.view_as_complex(t:reshape(-1, 2)) end
  t = t:reshape(spec.shape)
  if spec.layout then t = LAYOUT[spec.layout](t, spec) end
  if spec.grad then t:requires_grad_() end
  return t
end
M.tensor = tensor

--- Waits for the device of the tests, which reports what its kernels found in the values of arguments.
function M.wait()
  if M.device ~= 'cpu' then torch.cuda.synchronize(M.device) end
end

--- pcall(f, ...), of which what a kernel finds in the values of arguments is a part.
function M.attempt(f, ...)
  return pcall(function(...)
    local results = table.pack(f(...))
    M.wait()
    return table.unpack(results, 1, results.n)
  end, ...)
end

local function subscript(entries)
  local list = {}
  for i, entry in ipairs(entries) do
    if entry.dtype then list[i] = tensor(entry)
    elseif entry.at then list[i] = entry.at
    elseif entry.all then list[i] = {}
    elseif entry.newaxis then list[i] = torch.newaxis
    elseif entry.step == 1 then list[i] = {entry.from, entry.to}
    else list[i] = {entry.from, entry.to, entry.step} end
  end
  -- x[2] and x[mask] as people write them; everything else in a list
  if #entries == 1 and (entries[1].at or entries[1].dtype) then return list[1] end
  return list
end

-- The value of one argument; tensors are appended to leaves.tensors, those that want a gradient to leaves.
local function value(spec, leaves)
  if type(spec) ~= 'table' then return spec end
  if spec.dtype then
    local t = tensor(spec)
    leaves.tensors[#leaves.tensors + 1] = t
    if spec.grad then leaves[#leaves + 1] = t end
    return t
  end
  if spec.type then return torch[spec.type] end
  if spec.complex then return torch.complex(table.unpack(spec.complex)) end
  if spec.none then return nil end
  if spec.subscript then return subscript(spec.subscript) end
  local list = {}
  for i, item in ipairs(spec.list) do list[i] = value(item, leaves) end
  return list
end

-- The named arguments; their tensors follow in the order of the names.
local function named_values(specs, leaves)
  local names, values = {}, {}
  for name in pairs(specs) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do values[name] = value(specs[name], leaves) end
  return values
end

local function describe_value(spec)
  if type(spec) ~= 'table' then return tostring(spec) end
  if spec.dtype then
    local text = spec.dtype .. shape_text(spec.shape)
    if #spec.data <= 4 then
      local items = {}
      for i, v in ipairs(spec.data) do items[i] = tostring(v) end
      text = text .. '{' .. table.concat(items, ',') .. '}'
    end
    if spec.layout then text = text .. ' ' .. spec.layout end
    if spec.grad then text = text .. ' grad' end
    return text
  end
  if spec.type then return spec.type end
  if spec.complex then return tostring(torch.complex(table.unpack(spec.complex))) end
  if spec.none then return 'nil' end
  if spec.at then return tostring(spec.at) end
  if spec.all then return '{}' end
  if spec.newaxis then return 'newaxis' end
  if spec.from then return ('{%d,%d,%d}'):format(spec.from, spec.to, spec.step) end
  local parts = {}
  for i, item in ipairs(spec.list or spec.subscript) do parts[i] = describe_value(item) end
  return '{' .. table.concat(parts, ', ') .. '}'
end

function M.describe(case)
  local parts = {}
  for i, arg in ipairs(case.args) do parts[i] = describe_value(arg) end
  for name, arg in pairs(case.kwargs or {}) do
    parts[#parts + 1] = name .. '=' .. describe_value(arg)
  end
  for name, option in pairs(case.options or {}) do
    parts[#parts + 1] = name .. '=' .. tostring(option)
  end
  return case.op .. '(' .. table.concat(parts, ', ') .. ')'
end

-- Of complex elements the parts.
local function flat(t)
  t = t:detach():cpu()
  return (t:is_complex() and torch.view_as_real(t) or t):reshape(-1):tolist()
end

local function close(got, want, relative, absolute)
  if type(want) == 'boolean' or type(got) == 'boolean' then return got == want end
  if want ~= want then return got ~= got end
  if got == want then return true end
  if want == math.huge or want == -math.huge then return false end
  return math.abs(got - want) <= absolute + relative * math.abs(want)
end

-- Their results lie as the last step of an algorithm or a library left them.
local OTHER_LAYOUT = {}
for name in ([[nonzero argwhere cholesky inverse linalg_eigvalsh linalg_qr linalg_solve linalg_solve_triangular
  linalg_svdvals qr matrix_power logsigmoid sort unique adaptive_avg_pool1d adaptive_max_pool1d einsum
  scatter_add index_add index_copy pad addbmm put unique_consecutive msort argsort lstsq index inv eigvalsh svdvals fft ifft rfft irfft hfft ihfft
  fftn ifftn rfftn irfftn hfftn ihfftn fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 stft istft
  select_scatter slice_scatter diagonal_scatter renorm unravel_index orgqr cholesky_ex lu ormqr triangular_solve householder_product lu_factor lu_factor_ex
  lu_solve inv_ex tensorinv linalg_inv_ex linalg_cholesky_ex linalg_matrix_exp linalg_ldl_factor linalg_ldl_factor_ex linalg_lu_factor
  linalg_householder_product linalg_lu_solve linalg_eig]]):gmatch '%S+' do
  OTHER_LAYOUT[name] = true
end

-- Raises unless got lies in memory as PyTorch's result, which is contiguous where no strides are given.
local function compare_strides(got, want, what)
  local strides, dense = got:stride(), 1
  if got:numel() == 0 then return end
  for d = #want.shape, 1, -1 do
    local wanted = want.strides and want.strides[d] or dense
    if want.shape[d] > 1 and strides[d] ~= wanted then
      error(('%s: strides %s, expected %s'):format(what, shape_text(strides), shape_text(want.strides or {'dense'})), 0)
    end
    dense = dense * want.shape[d]
  end
end

-- Raises with what differs; `what` names the value ("result 1", "gradient 2").
function M.compare(got, want, what, exact, loose)
  if want.value ~= nil then
    local value = type(want.value) == 'table' and torch.complex(table.unpack(want.value.complex)) or want.value
    if got ~= value then error(('%s: %s, expected %s'):format(what, got, want.value), 0) end
    return
  end
  if torch.type(got) ~= 'Tensor' then
    error(what .. ': expected a tensor, got ' .. tostring(got), 0)
  end
  local dtype, shape = tostring(got.dtype):gsub('^torch%.', ''), shape_text(got.shape)
  if dtype ~= want.dtype then
    error(('%s: dtype %s, expected %s'):format(what, dtype, want.dtype), 0)
  end
  if shape ~= shape_text(want.shape) then
    error(('%s: shape %s, expected %s'):format(what, shape, shape_text(want.shape)), 0)
  end
  local relative, absolute = 0, 0
  if not exact and TOLERANCE[want.dtype] then
    local scale = HALF[want.dtype] and 1 or loose or 1
    relative = TOLERANCE[want.dtype].relative * scale
    absolute = TOLERANCE[want.dtype].absolute * scale
  end
  local values = flat(got)
  if #values ~= #want.data then
    error(('%s: %d elements, expected %d'):format(what, #values, #want.data), 0)
  end
  -- The data have just the digits that make a value of the dtype; for equality they must become one.
  local expected = want.data
  if exact and TOLERANCE[want.dtype] and #expected > 0 then
    expected = torch.tensor(expected, {dtype = PART[want.dtype] or torch[want.dtype]}):tolist()
  end
  for i, wanted in ipairs(expected) do
    if not close(values[i], wanted, relative, absolute) then
      error(('%s: element %d is %s, expected %s'):format(what, i, values[i], wanted), 0)
    end
  end
end

-- The upstream gradient of generator/cases.py.
local function upstream(out)
  local values = {}
  for i = 0, out:numel() - 1 do values[i + 1] = (i * 7) % 5 - 1.5 end
  local weights = torch.tensor(values, {dtype = torch.float64})
  if out:is_complex() then weights = torch.complex(weights, 0.5 - weights / 2) end
  weights = weights:to(out.dtype)
  return weights:reshape(out.shape):to(out.device)
end

local OPERATOR = {
  ['+'] = function(a, b) return a + b end,
  ['-'] = function(a, b) return a - b end,
  ['*'] = function(a, b) return a * b end,
  ['/'] = function(a, b) return a / b end,
  ['//'] = function(a, b) return a // b end,
  ['%'] = function(a, b) return a % b end,
  ['^'] = function(a, b) return a ^ b end,
  ['&'] = function(a, b) return a & b end,
  ['|'] = function(a, b) return a | b end,
  ['~'] = function(a, b) return a ~ b end,
  ['<<'] = function(a, b) return a << b end,
  ['>>'] = function(a, b) return a >> b end,
  neg = function(a) return -a end,
  bnot = function(a) return ~a end,
}

local function index(x, at) return x[at] end

local function assign(x, at, v)
  if x.requires_grad then x = x:clone() end
  x[at] = v
  return x
end

local function linear(inputs, outputs)
  return table.unpack(torch.nn.Linear(inputs, outputs):parameters())
end

-- The function a user would call, by the case's `via`.
local function callee(op, via, self)
  if via == 'o' then return OPERATOR[op] end
  if via == 'i' then return op == 'index' and index or assign end
  if via == 'nn' then return linear end
  if via == 'F' then return torch.nn.functional[op] end
  if via == 'L' then return torch.linalg[op] end
  if via == 'T' then return torch.fft[op] end
  if via == 'S' then return torch.special[op] end
  if via == 'M' then return torch.masked[op] end
  if via == 'W' then return torch.signal.windows[op] end
  if via == 'm' then return self[op] end
  return torch[op]
end

-- ---- the other forms of an op: in place, and with out= ---------------------------------------------------------------

local declarations = dofile(here .. '../../../scripts/gen/declarations.lua')
local declared = declarations.load(here .. '../../../src/ops')
for name, ops in pairs(declarations.load_scripted(here .. '../../../lib/ops').by_name) do declared.by_name[name] = ops end

-- Whether every op of this name has a form, so that any overload does.
local function has_form(name, form)
  for _, op in ipairs(declared.by_name[name] or {}) do
    if not op.variants[form] and not (form == 'out' and op.variants.copied_out) then return false end
  end
  return declared.by_name[name] ~= nil
end

local PREFIX = { L = 'linalg_', S = 'special_', T = 'fft_', f = '', m = '' }

-- Whether the function of the case takes out=.
local function takes_out(case)
  local via = case.via or 'f'
  for _, op in ipairs(declared.by_name[case.op] or {}) do
    for _, a in ipairs(op.args) do
      if a.type == 'Generator?' then return false end -- it would draw other numbers
    end
  end
  return PREFIX[via] ~= nil and (has_form(PREFIX[via] .. case.op, 'out') or has_form(case.op, 'out'))
end

local function same_shape(a, b) return shape_text(a) == shape_text(b) end

-- A result with holes, which must stay nan.
local function with_holes(want)
  local shape = table.move(want.shape, 1, #want.shape, 1, {})
  if #shape == 0 then return torch.empty({}, {dtype = torch[want.dtype], device = M.device}) end
  shape[#shape] = shape[#shape] * 2
  local fill = PART[want.dtype] and torch.complex(0 / 0, 0 / 0) or TOLERANCE[want.dtype] and 0 / 0 or want.dtype == 'bool' or 7
  local whole = torch.full(shape, fill, {dtype = torch[want.dtype], device = M.device})
  local part = LAYOUT.step(whole)
  return part, whole
end

-- What is written between the elements of a result with holes must be what was there.
local function check_holes(whole, want)
  for i, item in ipairs(flat(whole)) do
    local hole = (PART[want.dtype] and (i - 1) // 2 + 1 or i) % 2 == 0
    if hole and item == item and item ~= 7 and item ~= true then error('written between its elements', 0) end
  end
end

-- Whether an overload of the case's op has several results.
local function gives_several(case)
  for _, name in ipairs { case.op, (PREFIX[case.via or 'f'] or '') .. case.op } do
    for _, op in ipairs(declared.by_name[name] or {}) do
      if #op.returns > 1 then return true end
    end
  end
  return false
end

-- The tensors that a form of out= gives, and those that they are part of.
local given_out = {
  out = function(want) return with_holes(want) end,
  ['out, resized'] = function(want) return torch.empty(0, { dtype = torch[want.dtype], device = M.device }) end,
  ['out, of another dtype'] = function(want)
    return torch.empty(want.shape, { dtype = want.dtype == 'bool' and torch.float64 or torch.bool, device = M.device })
  end,
}

local function run_form(case, form)
  local leaves = { tensors = {} }
  local args = {}
  for i, spec in ipairs(case.args) do args[i] = value(spec, leaves) end
  local named = named_values(case.kwargs or {}, leaves)
  local outs, wholes = { args[1] }, {}
  local n = #case.args
  if given_out[form] then
    for i, want in ipairs(case.out) do outs[i], wholes[i] = given_out[form](want) end
  end
  if form ~= 'inplace' then named.out = #outs > 1 and outs or outs[1] end
  if next(named) then
    n = n + 1
    args[n] = named
  end
  local call
  if form ~= 'inplace' then
    call = case.via and callee(case.op, case.via, args[1]) or torch[case.op] or args[1][case.op]
  else
    call = args[1][case.op .. '_']
  end
  if form ~= 'inplace' and gives_several(case) then
    named.out = nil
    if select('#', call(table.unpack(args, 1, next(named) and n or n - 1))) ~= #case.out then return end -- vectors that have the first results alone
    named.out = #outs > 1 and outs or outs[1]
  end
  local seen, versions = obligations.watch(case.op, leaves.tensors), {}
  for i, out in ipairs(outs) do versions[i] = out._version end
  local other = form == 'out, of another dtype'
  for _, want in ipairs(case.out) do other = other and want.dtype == 'bool' end -- which every dtype can hold
  if form == 'out, of another dtype' and not other then
    local ok, message = pcall(call, table.unpack(args, 1, n))
    local refused = not ok and (message:find("can't be cast", 1, true) or message:find('Expected out tensor to have dtype', 1, true))
    if not refused then error('a dtype that cannot hold the result: ' .. tostring(message), 0) end
    obligations.unchanged(seen)
    return
  end
  local got = table.pack(call(table.unpack(args, 1, n)))
  obligations.unchanged(seen, outs[1])
  for i, want in ipairs(case.out) do
    if not rawequal(got[i], outs[i]) then error(('result %d is not the tensor given'):format(i), 0) end
    obligations.written(outs[i], versions[i])
    if outs[i].dtype ~= torch[want.dtype] then got[i] = got[i]:to(torch[want.dtype]) end
    M.compare(got[i], want, 'result ' .. i, case.exact, case.loose)
    if wholes[i] then check_holes(wholes[i], want) end
  end
end

-- Whether its results are made before they are copied to out=, which may then be an argument.
local function copies_out(case)
  local ops = declared.by_name[(PREFIX[case.via or 'f'] or '') .. case.op] or declared.by_name[case.op]
  return ops ~= nil and ops[1].variants.copied_out
end

local seen_out = {} -- ops whose out= was tried in all forms: once is enough

-- The forms that the case fits: what it gives must fit into self, or into a tensor of its dtype.
local function forms_of(case)
  local list, self = {}, case.args[1]
  if case.error or case.grads or not case.out or #case.out == 0 or (case.kwargs or {}).as_tuple then return list end
  for _, want in ipairs(case.out) do
    if not want.dtype or want.layout then return list end
  end
  if takes_out(case) then
    list[1] = 'out'
    if not seen_out[case.op] then
      seen_out[case.op] = true
      list[2] = 'out, resized'
      local op = (declared.by_name[case.op] or {})[1]
      if not (op and op.factory) then list[#list + 1] = 'out, of another dtype' end -- factories make what out= holds
      if #case.out == 1 and copies_out(case) and type(self) == 'table' and self.dtype == case.out[1].dtype and not self.layout
        and same_shape(self.shape, case.out[1].shape) then
        list[#list + 1] = 'out, self'
      end
    end
  end
  if #case.out > 1 or case.via and case.via ~= 'f' and case.via ~= 'm' then return list end
  local fits = type(self) == 'table' and self.dtype == case.out[1].dtype and not self.layout
    and same_shape(self.shape, case.out[1].shape)
  if fits and has_form(case.op, 'inplace') and not declared.by_name[case.op][1].view then list[#list + 1] = 'inplace' end
  return list
end

-- The tensor that a call changes, if it should.
local function changed_by(case, via, self)
  if case.op:sub(-1) == '_' or via == 'i' and case.op ~= 'index' then return self end
end

--- The function of a case by its `via`, its arguments, packed, and the tensors in them.
function M.call_of(case, via)
  local leaves = { tensors = {} }
  local args = {n = #case.args}
  for i, spec in ipairs(case.args) do args[i] = value(spec, leaves) end
  local named = case.kwargs and named_values(case.kwargs, leaves)
  if #leaves.tensors == 0 and via ~= 'nn' and M.device ~= 'cpu' then -- a factory
    named = named or {}
    named.device = M.device
  end
  if named then
    args.n = args.n + 1
    args[args.n] = named
  end
  return callee(case.op, via, args[1]), args, leaves
end

--- The first case of each op that PyTorch has a result for.
function M.first_cases()
  local list, known = {}, {}
  local listing = assert(io.popen('ls "' .. here .. '../../reference"'))
  for file in listing:lines() do
    local group = file:match '^(.*)%.lua$'
    local cases = group and group ~= 'printing' and group ~= 'random' and M.load(group)
    for _, case in ipairs(cases and type(cases[1]) == 'table' and cases[1].op and cases or {}) do
      local name = case.op .. (case.via or '')
      if not known[name] and not case.error and case.op ~= 'optimize' and case.out then
        known[name] = true
        list[#list + 1] = case
      end
    end
  end
  listing:close()
  return list
end

local function run_once(case, via)
  local call, args, leaves = M.call_of(case, via)
  if call == nil then
    error(('there is no %s%s'):format(via == 'm' and 'method ' or 'function ', case.op), 0)
  end
  local changed = changed_by(case, via, args[1])
  local seen, version = obligations.watch(case.op, leaves.tensors), changed and changed._version
  if case.error then
    local ok, message = pcall(function()
      call(table.unpack(args, 1, args.n))
      if M.device ~= 'cpu' then torch.cuda.synchronize(M.device) end -- what kernels find is reported when one waits
    end)
    if ok then error('did not fail; expected: ' .. case.error, 0) end
    if not tostring(message):find(case.error, 1, true) then
      error(('failed with: %s\nexpected:    %s'):format(message, case.error), 0)
    end
    obligations.unchanged(seen, changed)
    return
  end
  local out = table.pack(call(table.unpack(args, 1, args.n)))
  if type(out[1]) == 'table' then out = out[1] end -- a list of tensors
  if type(out[2]) == 'table' then out = table.move(out[2], 1, #out[2], 2, { out[1] }) end -- a tensor and a list
  obligations.unchanged(seen, changed)
  if not changed then
    obligations.check_memory(case.op, out, leaves.tensors)
  elseif rawequal(out[1], changed) then
    obligations.written(changed, version)
  end
  for i, want in ipairs(case.out) do
    M.compare(out[i], want, 'result ' .. i, case.exact, case.loose)
    if want.shape and not OTHER_LAYOUT[case.op] then compare_strides(out[i], want, 'result ' .. i) end
  end
  if case.op:sub(-1) == '_' and not rawequal(out[1], args[1]) then
    error('an in-place op must return the tensor it changed', 0)
  end
  if case.grads then
    local given = upstream(out[1])
    out[1]:backward(given)
    obligations.unchanged(seen, changed)
    obligations.check_gradients(leaves, { given, out[1] })
    for i, want in ipairs(case.grads) do
      M.compare(leaves[i].grad, want, 'gradient ' .. i, false, case.loose)
    end
  end
end

-- Steps of an optimizer on sum((w - goal)^2).
local function optimize(case)
  local w, goal = tensor(case.args[1]), tensor(case.args[2])
  w:requires_grad_()
  local optimizer = torch.optim[case.class]({w}, case.options)
  for i, want in ipairs(case.out) do
    optimizer:zero_grad()
    local difference = w - goal
    ;(difference * difference):sum():backward()
    optimizer:step()
    M.compare(w, want, 'after step ' .. i, false, 2)
  end
end

local VIA_TEXT = {
  f = 'as a function', m = 'as a method', F = 'from nn.functional', L = 'from linalg', T = 'from fft', S = 'from special',
  M = 'from masked', W = 'from signal.windows', o = 'as an operator',
  i = 'as a subscript', nn = 'as a module',
}

local function complain(case, number, text, message)
  error(('case %d, %s, %s on %s:\n%s'):format(number, M.describe(case), text, M.device, tostring(message)), 0)
end

-- Raises with the case's number, call and difference when the library disagrees with PyTorch.
function M.run(case, number)
  local ways = case.via and {case.via} or {'f', 'm'}
  for _, via in ipairs(ways) do
    local ok, message
    if case.op == 'optimize' then
      ok, message = pcall(optimize, case)
    else
      ok, message = pcall(run_once, case, via)
    end
    if not ok then complain(case, number, VIA_TEXT[via] or '', message) end
  end
  for _, form in ipairs(forms_of(case)) do
    local ok, message = pcall(run_form, case, form)
    if not ok then complain(case, number, form == 'inplace' and 'in place' or 'with ' .. form, message) end
  end
end

return M
