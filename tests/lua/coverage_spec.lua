-- coverage_spec.lua - every op of src/ops that people see has vectors of PyTorch's results (each overload for
-- itself), a line of documentation, and, in gradcheck_spec.lua, a check of its derivatives. What is missing is
-- named here; the few ops that cannot have vectors are listed by reason.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local root = here .. '../../'
local reader = dofile(root .. 'scripts/gen/declarations.lua')
local declarations = reader.load(root .. 'src/ops')
for _, op in ipairs(reader.load_scripted(root .. 'lib/ops').ops) do -- those written in Lua
  declarations.ops[#declarations.ops + 1] = op
  declarations.by_name[op.name] = declarations.by_name[op.name] or {}
  table.insert(declarations.by_name[op.name], op)
end

-- ---- what needs no vector ------------------------------------------------------------------------------------------

local without_vector = {
  ['their values are whatever the memory holds'] = 'empty empty_strided empty_like new_empty empty_permuted new_empty_strided',
  ["PyTorch's CPU build has no such device: cuda_spec.lua"] = 'cuda',
  ['their values are sparse tensors: sparse_spec.lua runs expressions of them'] = [[sparse_coo_tensor sparse_compressed_tensor values stored_values indices
    stored_indices crow_indices col_indices ccol_indices row_indices nnz sparse_dim dense_dim is_coalesced coalesce to_dense to_sparse_coo
    to_sparse_compressed sparse_mask]],
  ['PyTorch has it on GPUs alone: sparse_spec.lua compares it with linalg.solve'] = 'sparse_solve',
  ['the signs of factors are free, linalg_spec.lua multiplies them'] = 'linalg_svd linalg_eigh',
  ['PyTorch has no such weights: gguf_spec.lua and quantized_spec.lua compare them with ggml'] = 'dequantize_blocks quantize_blocks linear_blocks',
  ['optim_spec.lua compares the steps of optimizers'] = [[fused_sgd_ fused_adam_ fused_nadam_ fused_radam_ fused_adagrad_ fused_adadelta_
    fused_adamax_ fused_rmsprop_ fused_asgd_ fused_rprop_]],
  ['nn_recurrent_spec.lua compares them with the modules, which have vectors'] = 'lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell recurrent_layer',
  ['nn_modules_spec.lua and nn_composed_spec.lua compare their modules with PyTorch'] = [[ctc_loss lp_pool3d
    fractional_max_pool2d fractional_max_pool3d fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices]],
  ['torch.nn.functional has vectors of the same functions'] = [[binary_cross_entropy_with_logits adaptive_max_pool1d adaptive_max_pool2d
    adaptive_max_pool3d]],
  ['they begin with random directions, linalg_spec.lua looks at what they find'] = 'svd_lowrank pca_lowrank',
}

local excused = {}
for _, names in pairs(without_vector) do
  for name in names:gmatch '%S+' do excused[name] = true end
end

-- Of a function of torch and one of torch.nn.functional with the same name, the first is excused.
local function is_excused(op) return excused[op.variants.nn and op.cname or op.name] end

-- ---- the vectors -----------------------------------------------------------------------------------------------------

local operators = { ['+'] = '__add', ['-'] = '__sub', ['*'] = '__mul', ['/'] = '__div', ['//'] = '__idiv', ['%'] = '__mod',
  ['^'] = '__pow', ['&'] = '__band', ['|'] = '__bor', ['~'] = '__bxor', ['<<'] = '__shl', ['>>'] = '__shr', neg = '__unm',
  bnot = '__bnot' }

local function is_tensor(spec) return type(spec) == 'table' and spec.dtype ~= nil end
local function is_index(spec) return is_tensor(spec) and spec.dtype:match '^u?int' ~= nil end
local function is_integer(spec) return math.type(spec) == 'integer' end
local function is_number(spec) return type(spec) == 'number' or type(spec) == 'boolean' end

local function is_list(spec, of)
  if type(spec) ~= 'table' or not spec.list then return false end
  for _, item in ipairs(spec.list) do
    if not of(item) then return false end
  end
  return true
end

local fits = {
  Tensor = is_tensor, IndexTensor = is_index, Scalar = is_number, int = is_integer, Dim = is_integer, Index = is_integer,
  ['Tensor|Scalar'] = function(spec) return is_tensor(spec) or is_number(spec) end,
  ['Tensor[]'] = function(spec) return is_list(spec, is_tensor) end,
  ['Scalar[]'] = function(spec) return is_list(spec, is_number) end,
  ['IndexTensor[]'] = function(spec) return is_list(spec, is_tensor) end,
  float = function(spec) return type(spec) == 'number' end,
  bool = function(spec) return type(spec) == 'boolean' end,
  Device = function(spec) return type(spec) == 'string' end,
  string = function(spec) return type(spec) == 'string' end,
  Dims = function(spec) return is_integer(spec) or is_list(spec, is_integer) end,
  Size = function(spec) return is_integer(spec) or is_list(spec, is_integer) end,
  Dtype = function(spec) return type(spec) == 'table' and spec.type ~= nil end,
}

local function fits_argument(argument, spec)
  if type(spec) == 'table' and spec.none then return argument.optional end
  if argument.name == 'scale_factor' and is_list(spec, is_number) then return argument.type == 'Tensor?' end -- nn.functional converts it
  local check = fits[(argument.type:gsub('%?$', ''))]
  return check ~= nil and check(spec)
end

-- Whether the call of a case is one of this overload: sizes and dimensions may come in a row.
local function calls(op, case)
  local at, named = 1, case.kwargs or {}
  for _, argument in ipairs(op.args) do
    local spec = case.args[at]
    if spec ~= nil and not argument.keyword_only then
      if not fits_argument(argument, spec) then return false end
      at = at + 1
      local rows = is_integer(spec) and (argument.type == 'Size' or argument.type:match '^Dims')
      while rows and is_integer(case.args[at]) do at = at + 1 end
    elseif named[argument.name] ~= nil then
      if not fits_argument(argument, named[argument.name]) then return false end
    elseif not argument.has_default then
      return false
    end
  end
  for name in pairs(named) do
    local known = name == 'dtype'
    for _, argument in ipairs(op.args) do known = known or argument.name == name end
    if not known then return false end
  end
  return at > #case.args
end

local by_operator, by_alias = {}, {}
for _, op in ipairs(declarations.ops) do
  if op.operator then by_operator[op.operator] = op.name end
  for _, alias in ipairs(op.aliases) do by_alias[alias] = op.name end
end

-- Functions of torch.nn.functional whose op has another name.
local functional = { unfold = 'im2col', fold = 'col2im' }

local function declared_name(case)
  if case.via == 'F' and functional[case.op] then return functional[case.op] end
  if case.kwargs and case.kwargs.return_indices and declarations.by_name[case.op .. '_with_indices'] then
    return case.op .. '_with_indices'
  end
  if case.via == 'S' and declarations.by_name['special_' .. case.op] then return 'special_' .. case.op end
  if case.via == 'M' and declarations.by_name['masked_' .. case.op] then return 'masked_' .. case.op end
  if case.via == 'T' and declarations.by_name['fft_' .. case.op] then return 'fft_' .. case.op end
  if case.via == 'L' and declarations.by_name['linalg_' .. case.op] then return 'linalg_' .. case.op end
  if case.via == 'o' then return by_operator[operators[case.op]] end
  if declarations.by_name[case.op] then return case.op end
  if by_alias[case.op] then return by_alias[case.op] end
  local base = case.op:match '^(.-)_$'
  return base and (declarations.by_name[base] and base or by_alias[base])
end

local vectors, total = {}, 0

local function count(case)
  total = total + 1
  local overloads = declarations.by_name[declared_name(case) or '']
  if not overloads then return end
  if #overloads == 1 then
    vectors[overloads[1].cname] = (vectors[overloads[1].cname] or 0) + 1
    return
  end
  local nn = false -- where torch.nn.functional has a function of its own, it is that one which is called there
  for _, op in ipairs(overloads) do nn = nn or op.variants.nn == true end
  for _, op in ipairs(overloads) do
    local meant = not nn or (op.variants.nn == true) == (case.via == 'F')
    if meant and calls(op, case) then
      vectors[op.cname] = (vectors[op.cname] or 0) + 1
      return
    end
  end
end

local listing = assert(io.popen('ls "' .. root .. 'tests/reference"'))
for file in listing:lines() do
  if file:match '%.lua$' and file ~= 'printing.lua' then
    for _, case in ipairs(dofile(root .. 'tests/reference/' .. file)) do
      for _, call in ipairs(type(case) == 'table' and case.calls or { case }) do
        if type(call) == 'table' and call.op and not call.error then count(call) end
        if type(call) == 'table' and call.name and call.inputs and call.after then -- draws_spec.lua
          count { op = call.name, args = call.inputs }
        end
      end
    end
  end
end
listing:close()

-- ---- the check -------------------------------------------------------------------------------------------------------

local function public(op) return op.name:sub(1, 1) ~= '_' and next(op.variants) ~= nil end

local function report(missing, what)
  assert(#missing == 0, ('%d without %s:\n  %s'):format(#missing, what, table.concat(missing, '\n  ')))
end

describe('every op #cpu', function()
  it("has vectors of PyTorch's results", function()
    local missing = {}
    for _, op in ipairs(declarations.ops) do
      if public(op) and not is_excused(op) and not vectors[op.cname] then missing[#missing + 1] = op.signature end
    end
    report(missing, 'a vector')
    assert(total >= 3000, total .. ' vectors')
  end)

  it('has no vector if it is excused from them', function()
    for name in pairs(excused) do
      assert(declarations.by_name[name], name .. ' is no op')
      for _, op in ipairs(declarations.by_name[name]) do assert(not is_excused(op) or not vectors[op.cname], name .. ' has vectors') end
    end
  end)

  it('is documented', function()
    local docs, missing = torch._docs(), {}
    for _, op in ipairs(declarations.ops) do
      local entry = docs[(op.variants.nn and 'nn.functional.' or '') .. op.name]
      local in_c_alone = op.variants.library and next(op.variants, 'library') == nil and next(op.variants) == 'library' -- documented in ltensor_ops.h
      if public(op) and not in_c_alone and not (entry and entry.doc:match '%S.*%.$' and entry.signature:find(op.name, 1, true)) then
        missing[#missing + 1] = op.signature
      end
    end
    report(missing, 'a sentence of documentation')
  end)
end)

describe('the annotations for editors #cpu', function()
  local build = os.getenv 'LTENSOR_BUILD' or root .. 'build'

  local function lines_of(path)
    local file = io.open(path)
    if not file then return nil end -- tests that were installed without the build
    local text = file:read 'a'
    file:close()
    assert(load(text, path))
    return text
  end

  it('are Lua, each function once with its own parameters, their types closed', function()
    for _, path in ipairs { build .. '/gen/ltensor.d.lua', root .. 'lib/meta/torch.lua', root .. 'lib/meta/modules.lua', root .. 'lib/meta/cuda.lua',
      root .. 'lib/meta/values.lua' } do
      local text, seen, parameters = lines_of(path), {}, {}
      for line in (text or ''):gmatch '[^\n]+' do
        local name = line:match '^%-%-%-@param ([%w_%.]+)%?? %S'
        if line:find '^%-%-%-@param' then parameters[#parameters + 1] = assert(name, line) end
        if line:find '^%-%-%-@overload' then
          assert(line:match '^%-%-%-@overload fun(%b()): [%w%._|%[%], ]+$', line)
          assert(select(2, line:gsub('{', '')) == select(2, line:gsub('}', '')), line)
        end
        local head, list = line:match '^function ([%w_%.:]+)(%b()) end$'
        if head then
          assert(not seen[head], head .. ' twice')
          seen[head] = true
          for _, parameter in ipairs(parameters) do assert(list:gsub('[^%w_%.]', ' '):find(' ' .. parameter .. ' ', 1, true), line) end
        end
        if line:find '^%-%-%-@' == nil then parameters = {} end
      end
    end
  end)
end)
