-- float8_spec.lua - floats of one byte: their numbers and their rounding beside PyTorch's (reference/float8.lua), what moves them, and
-- that nothing computes with them.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local reference = dofile(here .. '../reference/float8.lua')
local kinds = {}
for i, entry in ipairs(reference) do kinds[i] = entry.kind end

local function numbers(values, dtype) return torch.tensor(values, { dtype = dtype or torch.float32, device = device }) end
local function of_codes(codes, kind) return torch.tensor(codes, { dtype = torch.uint8, device = device }):view(torch[kind]) end
local function codes_of(x) return x:contiguous():view(torch.uint8):tolist() end

-- Whether two numbers are the same, with the sign of 0 and nan as a number.
local function is_same(a, b) return a ~= a and b ~= b or a == b and (a ~= 0 or 1 / a == 1 / b) end
local function same_values(expected, x, what)
  for i, value in ipairs(x:tolist()) do
    if not is_same(expected[i], value) then error(('%s, entry %d: %s, not %s'):format(what, i, value, expected[i]), 2) end
  end
end

local all_codes = {}
for code = 0, 255 do all_codes[code + 1] = code end

describe('a float of one byte', function()
  it('has the numbers that PyTorch gives its 256 codes', function()
    for _, entry in ipairs(reference) do
      local x = of_codes(all_codes, entry.kind)
      same_values(entry.values, x:float(), entry.kind .. ' as float32')
      same_values(entry.values, x:double(), entry.kind .. ' as float64')
      same_values(entry.values, x:bfloat16(), entry.kind .. ' as bfloat16')
      same_values(entry.values, x, entry.kind .. ' in tolist')
      assert(is_same(entry.values[71], x[71]:item()))
    end
  end)

  it('is rounded as PyTorch rounds float32, at every place where the result changes', function()
    for _, entry in ipairs(reference) do
      local x = numbers(entry.inputs)
      assert.same(entry.codes, codes_of(x:to(torch[entry.kind])), entry.kind)
      assert.same(entry.codes, codes_of(x:double():to(torch[entry.kind])), entry.kind .. ' from float64')
      local apart = torch.zeros(#entry.inputs, 2, { dtype = torch[entry.kind], device = device })
      apart:select(2, 2):copy_(x)
      assert.same(entry.codes, codes_of(apart:select(2, 2)), entry.kind .. ' with gaps')
      local made = torch.empty(1, { dtype = torch[entry.kind], device = device })
      for i = 1, #entry.inputs, 97 do
        assert.equal(entry.codes[i], codes_of(made:fill_(entry.inputs[i]))[1])
        assert.equal(entry.codes[i], codes_of(torch.tensor({ entry.inputs[i] }, { dtype = torch[entry.kind], device = device }))[1])
      end
    end
  end)

  it('is converted from and to every other dtype by way of float32', function()
    local values = { 0, 1, 2, 4, 64 }
    for _, kind in ipairs(kinds) do
      if kind == 'float8_e8m0fnu' then values = { 1, 2, 4, 64 } end
      local x = numbers(values):to(torch[kind])
      for _, other in ipairs { 'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64', 'complex32', 'complex64',
        'complex128', 'uint16', 'uint32', 'uint64', table.unpack(kinds) } do
        local there = x:to(torch[other])
        assert.equal(torch[other], there.dtype)
        if not (other == 'float8_e8m0fnu' and values[1] == 0) then
          local expected = numbers(values, torch[other == 'bool' and 'bool' or 'float64'])
          assert(expected:equal(there:to(expected.dtype)), kind .. ' to ' .. other)
          if other ~= 'bool' then assert.same(codes_of(x), codes_of(there:to(torch[kind])), other .. ' to ' .. kind) end
        end
      end
    end
  end)

  it('is printed as its numbers', function()
    local x = numbers({ 1, -2.5, 448 }):to(torch.float8_e4m3fn):cpu()
    assert.equal('tensor([  1.0000,  -2.5000, 448.0000], dtype=torch.float8_e4m3fn)', tostring(x))
    assert.equal('tensor(-2.5000, dtype=torch.float8_e4m3fn)', tostring(x[2]))
  end)

  it('has the limits that PyTorch gives, and is floating', function()
    assert.equal('finfo(resolution=1, min=-448, max=448, eps=0.125, smallest_normal=0.015625, tiny=0.015625, dtype=float8_e4m3fn)',
      tostring(torch.finfo(torch.float8_e4m3fn)))
    assert.equal(240.0, torch.finfo(torch.float8_e4m3fnuz).max)
    assert.equal(2.0 ^ -127, torch.finfo(torch.float8_e8m0fnu).min)
    assert.equal(8, torch.finfo(torch.float8_e5m2fnuz).bits)
    local x = numbers({ 1 }):to(torch.float8_e5m2)
    assert.is_true(x:is_floating_point() and x.dtype.is_floating_point and x.dtype.is_signed)
    assert.is_false(torch.float8_e8m0fnu.is_signed)
    assert.equal(1, x.dtype.itemsize)
  end)

  it('has no dtype in common with another, and takes no default from it', function()
      local x = numbers({ 1 }):to(torch.float8_e5m2)
    assert.equal(torch.float8_e5m2, torch.promote_types(torch.float8_e5m2, torch.float8_e5m2))
    assert.equal(torch.float8_e5m2, torch.result_type(x, 1.5))
    assert.has_error(function() torch.promote_types(torch.float8_e5m2, torch.float32) end,
      'Promotion for Float8 Types is not supported, attempted to promote Float8_e5m2 and Float')
    assert.error_matches(function() torch.cat { x, x:float() } end, 'Promotion for Float8 Types is not supported', 1, true)
    assert.error_matches(function() torch.set_default_dtype(torch.float8_e5m2) end, 'only floating-point types are supported', 1, true)
  end)

  it('passes a gradient through conversions', function()
    local x = numbers({ 1, 2 }):requires_grad_()
    x:to(torch.float8_e5m2):float():mul(numbers { 3, 4 }):sum():backward()
    assert.same({ 3, 4 }, x.grad:tolist())
  end)

  it('is filled and scattered with numbers, not with bits', function()
    local x = numbers({ 1, 2, 3, 4 }):to(torch.float8_e4m3fn)
    local at, mask = torch.tensor({ 1, 3 }, { device = device }), torch.tensor({ true, false, true, false }, { device = device })
    for name, result in pairs { scatter = x:scatter(1, at, 1.5), index_fill = x:index_fill(1, at, 1.5), masked_fill = x:masked_fill(mask, 1.5),
      where = torch.where(mask, 1.5, x) } do
      assert.same({ 1.5, 2, 1.5, 4 }, result:tolist(), name)
    end
    assert.same({ 1.5, 1, 2 }, torch.nn.functional.pad(x:narrow(1, 1, 2), { 1, 0 }, 'constant', 1.5):tolist())
  end)

  it('is equal as a number: 0 and -0 are, nan and nan are not', function()
    local x = of_codes({ 0x80, 0x7f, 0x38 }, 'float8_e4m3fn')
    assert.same({ true, false, true }, x:eq(numbers({ 0, 0 / 0, 1 }):to(torch.float8_e4m3fn)):tolist())
    assert.same({ false, true, false }, torch.isnan(x):tolist())
    for _, kind in ipairs(kinds) do assert.is_true(numbers({ 0 / 0 }):to(torch[kind]):isnan():item(), kind) end
  end)
end)

describe('a file', function()
  local process = dofile(here .. 'support/process.lua')
  local folder
  setup(function() folder = process.run('mktemp -d'):gsub('\n', '') end)
  teardown(function() process.run('rm -rf ' .. folder) end)

  it('of PyTorch with floats of one byte gives each of its tensors', function()
    local found = torch.load(here .. '../files/float8.pt')
    for _, kind in ipairs(kinds) do
      assert.equal(torch[kind], found[kind].dtype)
      assert.same(all_codes, codes_of(found[kind]))
    end
    assert.same({ 0, 16, 32 }, codes_of(found.matrix[1]:narrow(1, 1, 3)))
    assert.is_true(found.parameter.requires_grad)
    assert.same({ 1, 1 }, found.weight:tolist())
  end)

  for _, suffix in ipairs { 'pt', 'safetensors' } do
    it('keeps floats of one byte: .' .. suffix, function()
      local saved = { plain = torch.ones(2, { device = device }) }
      for _, kind in ipairs(kinds) do saved[kind] = of_codes(all_codes, kind) end
      torch.save(saved, folder .. '/x.' .. suffix)
      local found = torch.load(folder .. '/x.' .. suffix)
      for _, kind in ipairs(kinds) do
        assert.equal(torch[kind], found[kind].dtype)
        assert.same(all_codes, codes_of(found[kind]))
      end
    end)
  end

  it('of NumPy, which has no such numbers, is refused', function()
    assert.error_matches(function() torch.save(of_codes({ 1 }, kinds[1]), folder .. '/x.npy') end, 'NumPy has no torch.float8_e5m2', 1, true)
  end)
end)

-- Whatever function is called with such tensors refuses them, or gives what it gives for the same numbers as float32.
describe('every function', function()
  local skipped = {}
  for name in ([[element_size nbytes data_ptr type itemsize storage_offset manual_seed seed save load compile set_default_device
    set_default_dtype get_rng_state set_rng_state rand_like randn_like empty empty_like new_empty new_empty_strided empty_strided resize_ resize_as_ dtype to_dlpack
    from_dlpack view_as_complex hash vmap record_stream register_hook register_post_accumulate_grad_hook is_floating_point finfo typename cuda
    time memory_trim set_printoptions set_num_threads set_num_interop_threads]]):gmatch '%S+' do skipped[name] = true end

  local function agrees(one, other)
    if torch.is_tensor(one) then
      if not torch.is_tensor(other) or one.layout ~= torch.strided then return torch.is_tensor(other) end
      if one.dtype.is_floating_point and one.dtype.itemsize == 1 then one = one:float() end
      if other.dtype.is_floating_point and other.dtype.itemsize == 1 then other = other:float() end
      return torch.equal(one:double(), other:double())
    elseif type(one) == 'table' and not getmetatable(one) then
      for key, value in pairs(one) do
        if not agrees(value, other[key]) then return false end
      end
      return true
    end
    return type(one) == type(other) and (type(one) ~= 'number' and type(one) ~= 'boolean' or one == other)
  end

  local refusals
  local function try(name, f, make)
    local narrow, wide = table.pack(make(torch.float8_e4m3fn)), table.pack(make(torch.float32))
    local ok, one = pcall(f, table.unpack(narrow, 1, narrow.n))
    if not ok then
      if tostring(one):find("not implemented for 'Float8_e4m3fn'", 1, true) then refusals = refusals + 1 end
      return
    end
    local also, other = pcall(f, table.unpack(wide, 1, wide.n))
    if not also then error(('%s took float8, but of float32: %s'):format(name, other), 0) end
    assert(agrees(one, other), ('%s of float8: %s, of float32: %s'):format(name, one, other))
    assert(agrees(narrow[1], wide[1]), name .. ' wrote something else')
  end

  for _, where in ipairs { 'torch', 'Tensor', 'functional' } do
    it('of ' .. where .. ' refuses floats of one byte or only moves them', function()
      local functions = where == 'torch' and torch or where == 'functional' and torch.nn.functional or debug.getmetatable(torch.zeros(1)).__methods
      local names = {}
      for name, f in pairs(functions) do
        if type(f) == 'function' and type(name) == 'string' and name:find '^%l' and not skipped[name] then names[#names + 1] = name end
      end
      table.sort(names)
      assert(#names > 50, #names)
      refusals = 0
      local vector, square = { 1, 2, 4, 3 }, { { 1, 2 }, { 4, 3 } }
      for _, name in ipairs(names) do
        for _, values in ipairs { vector, square } do
          local function x(dtype) return torch.tensor(values, { dtype = torch.float32, device = device }):to(dtype) end
          local f = functions[name]
          try(name, f, function(dtype) return x(dtype) end)
          try(name, f, function(dtype) return x(dtype), x(dtype):flip(1) end)
          try(name, f, function(dtype) return x(dtype), 1 end)
          try(name, f, function(dtype) return x(dtype), x(dtype), x(dtype) end)
          try(name, f, function(dtype) return x(dtype), 1, 2 end)
        end
      end
      assert(refusals > 200, refusals)
    end)
  end
end)
