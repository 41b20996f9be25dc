-- python_data_spec.lua - Python's data in PyTorch's files besides tensors (tests/files, made by its generate.py): what is always read,
-- what torch.serialization.add_safe_globals allows, and what a program may save.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local serialization = torch.serialization

local function load(name) return torch.load(here .. '../files/' .. name) end
local function refused(message, f, ...)
  local ok, got = pcall(f, ...)
  assert.is_false(ok)
  assert.truthy(tostring(got):find(message, 1, true), got)
end
local function same(expected, tensor, dtype)
  assert.equal(dtype, tensor.dtype)
  assert.same(expected, tensor:tolist())
end

describe('a file of PyTorch #cpu', function()
  after_each(function() serialization.clear_safe_globals() end)

  for _, protocol in ipairs { 2, 4, 5 } do
    it('may hold bytes, complex numbers, sets, dtypes, devices, marked views and any key: protocol ' .. protocol, function()
      local v = load(('python_data_%d.pt'):format(protocol))
      assert.equal('a\xff\0b', v.bytearray)
      assert.equal(torch.complex(1.5, -2), v.complex)
      assert.same({ 3 }, v.set)
      assert.same({ torch.complex(1, -2), torch.complex(3, 1) }, v.conj:tolist())
      assert.same({ -2 }, v.neg:tolist())
      assert.equal(torch.float32, v.dtype)
      assert.equal('cuda:1', tostring(v.device))
      assert.equal('tuple', v["('a', 1)"])
      assert.equal(2, v['(1,)'])
      assert.equal(3, v.None)
      assert.equal(4, v.nan)
      assert.equal(5, v['(1, (0.1, True, None, "it\'s\\n"))'])
      local long = {}
      for i = 0, 99 do long[i + 1] = i end
      assert.equal(6, v['(' .. table.concat(long, ', ') .. ')'])
    end)

    it('may hold containers that contain themselves: protocol ' .. protocol, function()
      local v = load(('python_data_%d.pt'):format(protocol))
      assert.equal(v.loop, v.loop[2])
      assert.equal(2, #v.loop)
      assert.equal(v, v.self)
    end)

    it('gives arrays, scalars, paths and namespaces where they are allowed: protocol ' .. protocol, function()
      local name = ('allowed_data_%d.pt'):format(protocol)
      refused("add_safe_globals{'numpy._core.multiarray.scalar'}", load, name)
      serialization.add_safe_globals { 'numpy', 'pathlib', 'argparse.Namespace', 'types.SimpleNamespace', 'builtins.frozenset', 'collections.deque' }
      local v = load(name)
      assert.same({ 2.5, -7, true, torch.complex(1, 2), 2.0 ^ 64, 'hé', 'ab' }, { v.f8, v.i4, v.bool, v.c8, v.u8, v.str, v.bytes })
      local rows = { { 0, 1, 2 }, { 3, 4, 5 } }
      same(rows, v.f4, torch.float32)
      same(rows, v.big, torch.int32)
      same(rows, v.fortran, torch.float64)
      assert.same({ 'ab', 'c' }, v.texts)
      assert.same({ 0, 3 }, { table.unpack(v.empty.shape) })
      assert.equal(5, v.zero:item())
      assert.equal(torch.float32, v.dtype)
      assert.same({ '/a/b', 'a/b' }, { v.path, v.relative })
      assert.same({ lr = 0.1, names = { 'x' } }, v.namespace)
      assert.same({ k = 1 }, v.simple)
      assert.same({ 1 }, v.frozen)
      assert.same({ 1, 2 }, v.deque)
    end)
  end
end)

describe('torch.serialization #cpu', function()
  after_each(function() serialization.clear_safe_globals() end)

  it('allows by the names of any version of Python and NumPy, and of whole modules', function()
    serialization.add_safe_globals { 'numpy.core.multiarray.scalar', 'pathlib._local.PosixPath', '__builtin__.frozenset', 'builtins.set' }
    assert.same({ 'builtins.frozenset', 'numpy._core.multiarray.scalar', 'pathlib.PosixPath' }, serialization.get_safe_globals())
    serialization.clear_safe_globals()
    serialization.add_safe_globals { 'argparse' }
    assert.same({ 'argparse.Namespace' }, serialization.get_safe_globals())
  end)

  it('allows for the time of a call', function()
    serialization.add_safe_globals { 'argparse' }
    local count, word = serialization.safe_globals({ 'numpy.dtype' }, function() return #serialization.get_safe_globals(), 'x' end)
    assert.same({ 2, 'x' }, { count, word })
    refused('a fault', serialization.safe_globals, { 'numpy' }, function() error 'a fault' end)
    assert.same({ 'argparse.Namespace' }, serialization.get_safe_globals())
  end)

  it('add_safe_globals allows only types that ltensor supports', function()
    refused("ltensor has no constructor 'os.system'; expected one of: argparse.Namespace", serialization.add_safe_globals, { 'os.system' })
    refused('must be strings', serialization.add_safe_globals, { print })
    assert.same({}, serialization.get_safe_globals())
  end)
end)

describe('a saved value #cpu', function()
  local folder
  setup(function() folder = process.run('mktemp -d'):gsub('\n', '') end)
  teardown(function() process.run('rm -rf ' .. folder) end)

  for _, suffix in ipairs { 'pt', 'safetensors' } do
    it('may be a dtype, a device or a complex number: .' .. suffix, function()
      local path = folder .. '/x.' .. suffix
      torch.save({ d = torch.bfloat16, f = torch.float8_e5m2, at = torch.device 'cuda:1', cpu = torch.device 'cpu', z = torch.complex(1, -0.1) }, path)
      local v = torch.load(path)
      assert.same({ torch.bfloat16, torch.float8_e5m2, torch.complex(1, -0.1) }, { v.d, v.f, v.z })
      assert.same({ 'cuda:1', 'cpu' }, { tostring(v.at), tostring(v.cpu) })
      assert.is_nil(v.cpu.index)
    end)
  end
end)

describe('a damaged file #cpu', function()
  local unpickle, pt_globals = require 'torch.files.unpickle', require 'torch.files.pt_globals'
  after_each(function() serialization.clear_safe_globals() end)

  local dtype = "cnumpy\ndtype\n(X\2\0\0\0%s\x89\x88tR"
  local array = 'cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\0tC\1btR'
  local state = array .. '(K\1(%st' .. dtype:format 'f4' .. '\x89C\4\0\0\0\0tb.'
  for _, case in ipairs {
    { 'an array without a state', array .. '.', 'an array without its state' },
    { 'an array without a state in a list', ']' .. array .. 'a.', 'an array without its state' },
    { 'another number of bytes', state:format 'K\2', 'does not match its shape' },
    { 'a shape too large', state:format '\x8a\8\0\0\0\0\0\0\0\127\x8a\8\0\0\0\0\0\0\0\127', 'the shape of an array' },
    { 'a shape of texts', state:format 'X\1\0\0\0a', 'the shape of an array' },
    { 'a negative shape', state:format 'J\255\255\255\255', 'the shape of an array' },
    { 'too many dimensions', state:format(('K\1'):rep(17)), '17 dimensions' },
    { 'objects', dtype:format 'O8' .. '.', "type 'O8'" },
    { 'texts of absurd length', "cnumpy\ndtype\n(X\20\0\0\0U9999999999999999999\x89\x88tR.", 'ltensor does not have' },
    { 'a scalar of nothing', 'cnumpy.core.multiarray\nscalar\n(NNtR.', 'without a dtype' },
    { 'a scalar without arguments', 'cnumpy.core.multiarray\nscalar\n)R.', 'without a dtype' },
    { 'a path of a number', 'cpathlib\nPosixPath\n(K\1tR.', 'a path' },
    { 'a namespace of a list', 'cargparse\nNamespace\n)\x81]b.', 'the state of a namespace' },
    { 'a namespace with arguments', 'cargparse\nNamespace\n(K\1t\x81.', 'the arguments of argparse.Namespace' },
    { 'a complex number of texts', '(cbuiltins\ncomplex\n(X\1\0\0\0aK\1tRt.', 'a complex number' },
    { 'bytes of a number', 'cbuiltins\nbytearray\n\x8a\8\255\255\255\255\255\255\255\127\x85R.', 'a bytearray' },
    { 'a set of a number', 'cbuiltins\nset\nK\1\x85R.', 'a set' },
  } do
    it('is refused: ' .. case[1], function()
      serialization.add_safe_globals { 'numpy', 'pathlib', 'argparse' }
      local ok, message = unpickle.load('\x80\2' .. case[2], pt_globals.make(), error)
      assert.is_false(ok)
      assert.truthy(message:find(case[3], 1, true), message)
    end)
  end

  it('with zeros inside a long text of NumPy is read in linear time', function()
    serialization.add_safe_globals { 'numpy' }
    local text = ('\0'):rep(200000) .. 'a'
    local ok, value = unpickle.load('\x80\2' .. array .. '(K\1(K\1tcnumpy\ndtype\n(X\7\0\0\0S200001\x89\x88tR\x89B' .. ('<I4'):pack(#text) .. text .. 'tb.',
      pt_globals.make(), error)
    assert.is_true(ok, value)
    assert.equal(text, value[1])
  end)

  it('a damaged file with an ever growing key is an error', function()
    local tuple = 'K\1\x85' .. ('2\x86'):rep(40) -- each twice in the next
    local ok, message = unpickle.load('\x80\2}' .. tuple .. 'K\1s.', pt_globals.make(), error)
    assert.is_false(ok)
    assert.truthy(message:find('again and again', 1, true), message)
  end)
end)
