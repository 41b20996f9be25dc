-- declarations.lua - reads src/ops/*.lua into a checked model for the generators.
--
-- src/ops/README.md describes the form of a declaration. load() raises an error with the file and
-- entry of an invalid declaration, so a generator needs no checks. May use only Lua's standard
-- library.

local M = {}

local examples = dofile((debug.getinfo(1, 'S').source:match '^@(.*/)' or './') .. 'examples.lua')
local names = dofile((debug.getinfo(1, 'S').source:match '^@(.*/)' or './') .. 'names.lua')
local described = dofile((debug.getinfo(1, 'S').source:match '^@(.*/)' or './') .. 'described.lua')

-- Lua-side type -> C parameter type.
local c_types = {
  ['Tensor'] = 'lt_tensor *', ['Tensor?'] = 'lt_tensor *', ['Tensor|Scalar'] = 'lt_tensor *',
  ['IndexTensor'] = 'lt_tensor *', ['IndexTensor?'] = 'lt_tensor *',
  ['Tensor[]'] = 'const lt_tensor_list *', ['IndexTensor[]'] = 'const lt_tensor_list *',
  ['Scalar[]'] = 'lt_tensor *', ['Scalar[]?'] = 'lt_tensor *',
  ['Scalar'] = 'lt_scalar ', ['Scalar?'] = 'const lt_scalar *',
  ['int'] = 'int64_t ', ['int?'] = 'const int64_t *',
  ['float'] = 'double ', ['float?'] = 'const double *',
  ['bool'] = 'bool ', ['bool?'] = 'const bool *',
  ['string'] = 'const char *', ['string?'] = 'const char *',
  ['Dim'] = 'int64_t ', ['Dim?'] = 'const int64_t *',
  ['Dims'] = 'const lt_dims *', ['Dims?'] = 'const lt_dims *',
  ['Index'] = 'int64_t ', ['Index?'] = 'const int64_t *',
  ['Size'] = 'const lt_dims *', ['Size?'] = 'const lt_dims *',
  ['Dtype'] = 'lt_dtype ', ['Dtype?'] = 'lt_dtype ', ['Device?'] = 'const lt_device *', ['Generator?'] = 'lt_generator *',
}

local c_results = {
  Tensor = 'lt_tensor **', IndexTensor = 'lt_tensor **', ['Tensor[]'] = 'lt_tensor_list *',
  bool = 'bool *', Scalar = 'lt_scalar *', int = 'int64_t *',
}

local known_fields = {
  doc = true, variants = true, aliases = true, operator = true, pointwise = true, kernel = true, grad = true,
  view = true, composite = true, factory = true, reads = true, writes = true, records = true, grad_fn = true, grad_fn_number = true, grad_fn_inplace = true, positions = true, overlap = true,
  numbers = true, bool_as = true, refuses_bool = true, refuses_a_bool = true, refuses_complex = true, divides = true, exact_number = true, check = true, holomorphic = true,
  plain_numbers = true, batch = true, random = true, forward = true, run = true, sparse = true, constant = true, float8 = true, keeps_dtype = true, [1] = true,
}
local sparse_kinds = { [true] = true, values = true, form = true, ['form inplace'] = true }
local overlap_kinds = { elementwise = true, aside = true, copied = true, ['one value'] = true }
local pointwise_kinds = { promote = true, float = true, compare = true, integral = true, select = true }
-- int64: narrower integers are computed in int64; unsigned: uint16, uint32 and uint64 are computed
-- as signed integers of their size; order: uint64 is mapped to int64 with the same order.
local kernel_dtypes = { float = true, integer = true, int64 = true, bool = true, complex = true, unsigned = true, order = true, bfloat16 = true }
local variant_names = { ['function'] = true, method = true, inplace = true, out = true, c_out = true, copied_out = true, library = true, nn = true }

local function words(text)
  local set = {}
  for word in (text or ''):gmatch('%S+') do set[word] = true end
  return set
end

local function list_of(text)
  local list = {}
  for word in (text or ''):gmatch('%S+') do list[#list + 1] = word end
  return list
end

-- Splits at commas outside brackets and quotes.
local function split_args(text)
  local parts, depth, quote, start = {}, 0, false, 1
  for i = 1, #text do
    local c = text:sub(i, i)
    if c == "'" then quote = not quote
    elseif not quote and c:match('[%(%[{]') then depth = depth + 1
    elseif not quote and c:match('[%)%]}]') then depth = depth - 1
    elseif c == ',' and depth == 0 and not quote then
      parts[#parts + 1] = text:sub(start, i - 1)
      start = i + 1
    end
  end
  if text:sub(start):match('%S') then parts[#parts + 1] = text:sub(start) end
  return parts
end

local function parse_arg(text, fail)
  local type_name, name, default = text:match('^%s*(%S+)%s+([%a_][%w_]*)%s*=%s*(.-)%s*$')
  if not type_name then type_name, name = text:match('^%s*(%S+)%s+([%a_][%w_]*)%s*$') end
  if not type_name then fail("cannot read argument '" .. text .. "'") end
  if not c_types[type_name] then fail("unknown type '" .. type_name .. "' of argument '" .. name .. "'") end
  local optional = type_name:sub(-1) == '?'
  return {
    type = type_name, name = name, default = default, has_default = default ~= nil, optional = optional,
  }
end

local function parse_result(text, fail)
  local results = {}
  text = text:match('^%s*(.-)%s*$')
  if text == 'self' then return results end
  local inner = text:match('^%((.*)%)$')
  for _, part in ipairs(split_args(inner or text)) do
    local type_name, name = part:match('^%s*(%S+)%s*(%S*)%s*$')
    if not c_results[type_name] then fail("unknown result type '" .. tostring(type_name) .. "'") end
    results[#results + 1] = { type = type_name, name = name ~= '' and name or nil }
  end
  return results
end

-- 'functions: float(POWER) int64': the family of the kernel, and the dtypes of the computation,
-- each with its loop shape if that is not derived from the arguments.
local function parse_kernel(text, fail)
  local family, words_of = text:match('^(%l+): (.+)$')
  if not family then fail("kernel = '" .. text .. "': write 'family: dtypes'") end
  local kernel = { family = family, dtypes = {} }
  for word in words_of:gmatch('%S+') do
    local name, shape = word:match('^(%w+)%(?([%u_]*)%)?$')
    if not kernel_dtypes[name] then fail("kernel: unknown dtype '" .. word .. "'") end
    table.insert(kernel.dtypes, { name = name, shape = shape ~= '' and shape or nil })
  end
  return kernel
end

local function parse_op(entry, group, where)
  local function fail(message) error(where .. ': ' .. message, 0) end
  local signature = entry[1]
  if type(signature) ~= 'string' then fail('the first field must be the signature') end
  for field in pairs(entry) do
    if not known_fields[field] then fail("unknown field '" .. tostring(field) .. "'") end
  end
  local head, arguments, result = signature:match('^([%w_%.]+)(%b())%s*%->%s*(.-)$')
  if not head then fail("cannot read the signature '" .. signature .. "'") end
  local name, overload = head:match('^([%w_]+)%.?([%w_]*)$')
  local op = {
    name = name, overload = overload ~= '' and overload or nil,
    cname = overload ~= '' and (name .. '_' .. overload):gsub('__', '_') or name,
    group = group, signature = signature, line = where,
    args = {}, returns = parse_result(result, fail),
    inplace_only = name:sub(-1) == '_' and not name:match('^__'),
    variants = words(entry.variants or 'function method'), aliases = list_of(entry.aliases),
    operator = entry.operator, pointwise = entry.pointwise, view = entry.view,
    composite = entry.composite, factory = entry.factory, reads = entry.reads, records = entry.records or entry.pointwise ~= nil, grad = entry.grad, grad_fn = entry.grad_fn,
    grad_fn_number = entry.grad_fn_number, grad_fn_inplace = entry.grad_fn_inplace,
    doc = entry.doc, positions = entry.positions, batch = entry.batch, random = entry.random, forward = entry.forward, sparse = entry.sparse, constant = words(entry.constant), writes = words(entry.writes), float8 = entry.float8,
    overlap = entry.overlap or entry.pointwise and 'elementwise' or nil,
    numbers = entry.numbers, bool_as = entry.bool_as, refuses_bool = entry.refuses_bool, refuses_a_bool = entry.refuses_a_bool, refuses_complex = entry.refuses_complex, divides = entry.divides,
    exact_number = entry.exact_number, keeps_dtype = entry.keeps_dtype, plain_numbers = entry.plain_numbers, holomorphic = entry.holomorphic,
    check = entry.check, kernel = entry.kernel and parse_kernel(entry.kernel, fail),
  }
  if type(entry.doc) ~= 'string' or entry.doc == '' then fail("'doc' is missing") end
  if op.pointwise and not pointwise_kinds[op.pointwise] then
    fail("pointwise must be promote, float, compare, integral or select")
  end
  if op.sparse ~= nil and not sparse_kinds[op.sparse] then fail("sparse must be true, 'values', 'form' or 'form inplace'") end
  if op.overlap and not overlap_kinds[op.overlap] then fail("overlap must be 'elementwise', 'aside', 'copied' or 'one value'") end
  if (op.pointwise ~= nil) ~= (op.kernel ~= nil) then fail("pointwise and kernel go together") end
  for variant in pairs(op.variants) do
    if not variant_names[variant] then fail("unknown variant '" .. variant .. "'") end
  end
  local n_outs = (op.variants.out and 1 or 0) + (op.variants.c_out and 1 or 0) + (op.variants.copied_out and 1 or 0)
  if n_outs > 1 then fail("the variants 'out', 'c_out' and 'copied_out' exclude each other") end
  local keyword_only = false
  for _, part in ipairs(split_args(arguments:sub(2, -2))) do
    if part:match('^%s*%*%s*$') then
      keyword_only = true
    else
      local arg = parse_arg(part, fail)
      arg.keyword_only = keyword_only
      op.args[#op.args + 1] = arg
    end
  end
  for names in pairs(op.grad or {}) do
    for argument in names:gmatch('%S+') do
      local found = false
      for _, arg in ipairs(op.args) do found = found or arg.name == argument end
      if not found then fail("grad names '" .. argument .. "', which is no argument") end
    end
  end
  for argument in pairs(op.writes) do
    local found = false
    for _, arg in ipairs(op.args) do found = found or arg.name == argument end
    if not found then fail("writes names '" .. argument .. "', which is no argument") end
  end
  if #op.returns == 0 and not op.inplace_only then fail("only names that end in '_' may return self") end
  return op
end

local function c_join(type_name, name) return type_name .. name end

-- C parameter list of the arguments, without the results: 'lt_tensor *self, lt_scalar alpha'.
function M.c_params(op)
  local parts = {}
  for _, arg in ipairs(op.args) do parts[#parts + 1] = c_join(c_types[arg.type], arg.name) end
  return table.concat(parts, ', ')
end

function M.c_type(arg) return c_types[arg.type] end

-- The C type of the parameter that receives a result.
function M.c_result(result) return c_results[result.type] end

-- True if the operation writes to an argument: the first one of the in-place form, and the ones of
-- the declaration's `writes`.
function M.is_written(op, i, in_place) return in_place and i == 1 or op.writes[op.args[i].name] == true end

-- True if a tensor argument of a public function is const: the function only reads it. Internal
-- operations and implementations take it without const, because autograd retains it.
function M.is_const(op, i, in_place)
  return op.name:sub(1, 1) ~= '_' and c_types[op.args[i].type] == 'lt_tensor *' and not M.is_written(op, i, in_place)
end

-- c_params of the public function: operands that are only read are const. prefix: of their names.
function M.public_params(op, in_place, prefix)
  local parts = {}
  for i, arg in ipairs(op.args) do
    local is_const = M.is_const(op, i, in_place)
    parts[i] = c_join((is_const and 'const ' or '') .. c_types[arg.type], (is_const and prefix or '') .. arg.name)
  end
  return table.concat(parts, ', ')
end

-- C output parameters, names out or out_<name>: 'lt_tensor **out_values, lt_tensor **out_indices'.
function M.c_outputs(op)
  local parts = {}
  for _, result in ipairs(op.returns) do
    parts[#parts + 1] = c_join(c_results[result.type], M.output_name(result))
  end
  return table.concat(parts, ', ')
end

function M.output_name(result) return result.name and 'out_' .. result.name or 'out' end

local function with_outputs(params, op)
  local outputs = M.c_outputs(op)
  return params .. (params ~= '' and outputs ~= '' and ', ' or '') .. outputs
end

-- All parameters of the function that creates a new result.
function M.c_prototype(op) return with_outputs(M.c_params(op), op) end

-- The parameters of the public function of a form: 'NEW' (new results), 'INPLACE', 'INPLACE_VIEW',
-- 'OUT'. prefix: of the names of const operands.
function M.public_prototype(op, form, prefix)
  local in_place = op.inplace_only or form:match '^INPLACE' ~= nil
  local params = M.public_params(op, in_place, prefix or '')
  if form == 'NEW' then return with_outputs(params, op) end
  return form == 'OUT' and M.with_out(op, params) or params
end

-- The results of an operation are tensors, of which each may be given as out=.
local function has_tensor_results(op)
  for _, result in ipairs(op.returns) do
    if result.type ~= 'Tensor' and result.type ~= 'IndexTensor' then return false end
  end
  return #op.returns > 0
end

-- Whether the implementation writes to the given tensors.
function M.writes_out(op) return op.variants.out or op.variants.c_out end

-- Whether C has lt_<op>_out. Factories without it take the dtype of out= in Lua.
function M.has_out(op)
  return M.writes_out(op) or op.variants.copied_out and not op.factory and not op.scripted and has_tensor_results(op) or false
end

-- The names of the tensors that lt_<op>_out writes to.
function M.out_names(op)
  local names = {}
  for i, result in ipairs(op.returns) do names[i] = M.output_name(result) end
  return names
end

-- The parameters of lt_<op>_out: the arguments, then the tensors.
function M.with_out(op, params)
  for _, name in ipairs(M.out_names(op)) do params = params .. ', lt_tensor *' .. name end
  return params
end

-- C name of the in-place variant: lt_add_, and for overloads lt_masked_fill_scalar_.
function M.inplace_name(op) return op.cname .. '_' end

-- The #include lines for the ops that C text calls.
function M.op_includes(model, text)
  local headers, lines = {}, {}
  for name in text:gmatch '%f[%w_]lt_([%w_]+)' do
    local op = model.by_function[name:gsub('_impl$', '')]
    if op then headers[op.name] = true end
  end
  for name in pairs(headers) do lines[#lines + 1] = ('#include "op/%s.h"\n'):format(name) end
  table.sort(lines)
  return table.concat(lines)
end

local function sorted_files(dir)
  local pipe = assert(io.popen('ls "' .. dir .. '"'))
  local files = {}
  for file in pipe:lines() do
    if file:match('%.lua$') then files[#files + 1] = file end
  end
  pipe:close()
  table.sort(files)
  return files
end

-- Marks the ops of a library of selected ops (make MINIMAL=1): words of the file $LT_OPS, with #
-- comments. Without $LT_OPS, all ops.
local function choose(model)
  local path = os.getenv 'LT_OPS'
  for _, op in ipairs(model.ops) do op.chosen = path == nil end
  if not path then return end
  for line in assert(io.open(path)):lines() do
    for name in line:gsub('#.*', ''):gmatch '%S+' do
      local ops = model.by_name[name] or error(('%s: there is no op %s'):format(path, name), 0)
      for _, op in ipairs(ops) do op.chosen = true end
    end
  end
end

-- Operations written in Lua (lib/ops), as a separate model: the files also contain functions, which
-- are not called here, so they may require any module.
function M.load_scripted(dir)
  local function nothing() return setmetatable({}, { __index = function() return function() end end, __call = function() end }) end
  local function find(name) return name:find '^torch' and nothing or nil end
  local function swap(others)
    local ours = {}
    for name, value in pairs(package.loaded) do
      if name:find '^torch' then ours[name] = value end
    end
    for name in pairs(ours) do package.loaded[name] = nil end
    for name, value in pairs(others) do package.loaded[name] = value end
    return ours
  end
  local before = swap {}
  table.insert(package.searchers, 1, find)
  local model = M.load(dir or 'lib/ops', true)
  table.remove(package.searchers, 1)
  swap(before)
  return model
end

-- Adds op.synonyms: the other C names of a public operation without their overload, each with the name that users know:
-- { c = 'absolute', known = 'absolute' }, { c = 'special_expit', known = 'special.expit' }.
local function add_synonyms(model)
  local shared = names.shared()
  for name, ops in pairs(model.by_name) do
    local list = {}
    local function add(known)
      local candidates = names.of_c(known)
      for _, c in ipairs(candidates) do
        if c == name then return end
        if not model.by_name[c] then
          list[#list + 1] = { c = c, known = known }
          return
        end
      end
      error(("%s: there is another operation of the C name '%s'"):format(known, candidates[#candidates]), 0)
    end
    for _, op in ipairs(ops) do
      for _, alias in ipairs(op.aliases) do add(alias) end
    end
    for _, known in ipairs(shared[name] or {}) do add(known) end
    for _, op in ipairs(ops) do op.synonyms = list end
  end
end

-- The C name of an operation by another name.
function M.synonym(op, c) return op.overload and (c .. '_' .. op.overload):gsub('__', '_') or c end

-- Reads every declaration file of dir (default: src/ops). scripted: ops in Lua, excluded from a
-- library of selected ops.
function M.load(dir, scripted)
  dir = dir or 'src/ops'
  local model = { groups = {}, ops = {}, by_name = {}, by_cname = {}, by_function = {} }
  for _, file in ipairs(sorted_files(dir)) do
    local group = file:gsub('%.lua$', '')
    model.groups[#model.groups + 1] = group
    local entries, named = dofile(dir .. '/' .. file), {}
    for i, entry in ipairs(entries) do
      local where = ('%s/%s: entry %d (%s)'):format(dir, file, i, tostring(entry[1]):match('^[^%(]*'))
      local op = parse_op(entry, group, where)
      if model.by_cname[op.cname] then error(where .. ': declared twice', 0) end
      model.ops[#model.ops + 1] = op
      model.by_cname[op.cname] = op
      model.by_function[op.cname] = op
      if op.variants.inplace then model.by_function[M.inplace_name(op)] = op end
      if M.has_out(op) then model.by_function[op.cname .. '_out'] = op end
      model.by_name[op.name] = model.by_name[op.name] or {}
      table.insert(model.by_name[op.name], op)
      named[op.name] = true
    end
    for name, example in pairs(examples.read(entries.examples or '', dir .. '/' .. file)) do
      if not named[name] then error(('%s/%s: an example of %s, which is not declared there'):format(dir, file, name), 0) end
      for _, op in ipairs(model.by_name[name]) do op.example = example end
    end
    local sentences = described.read(entries.arguments or '', dir .. '/' .. file)
    for _, op in ipairs(model.ops) do
      if op.group == group then op.described = sentences end
    end
  end
  add_synonyms(model)
  if scripted then
    for _, op in ipairs(model.ops) do op.chosen, op.scripted = os.getenv 'LT_OPS' == nil, true end
  else
    choose(model)
  end
  return model
end

-- Writes text to path only if it differs, so that make rebuilds as little as possible.
function M.write(path, text)
  local old = io.open(path, 'rb')
  if old then
    local same = old:read('a') == text
    old:close()
    if same then return end
  end
  local file = assert(io.open(path, 'wb'))
  assert(file:write(text))
  assert(file:close())
end

return M
