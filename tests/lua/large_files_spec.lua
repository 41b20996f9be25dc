-- Files of large models: safetensors in shards with an index, and files whose elements stay in them (mmap).

local torch = require 'torch'
local nn = require 'torch.nn'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local folder
setup(function() folder = process.run('mktemp -d'):gsub('\n', '') .. '/' end)
teardown(function() process.run('rm -rf ' .. folder) end)

local function write(name, text)
  local file = assert(io.open(folder .. name, 'wb'))
  file:write(text)
  file:close()
  return folder .. name
end

local function assert_fails(message, ...)
  local ok, got = pcall(...)
  assert.is_false(ok)
  assert.is_truthy(tostring(got):find(message, 1, true), tostring(got))
end

describe('safetensors in shards', function()
  it('are one value again', function()
    local net = nn.Sequential(nn.Linear(30, 20), nn.Linear(20, 10))
    local saved = { net = net:state_dict(), step = 7, sizes = { torch.ones(3, { dtype = torch.int64 }), true } }
    torch.save(saved, folder .. 'model.safetensors', { max_shard_size = '1KB' })
    assert.is_nil(io.open(folder .. 'model.safetensors'))
    local names = process.run('cd ' .. folder .. ' && ls model*')
    assert.is_truthy(names:find 'model%-00001%-of%-0000%d%.safetensors')
    for _, mmap in ipairs { false, true } do
      local loaded = torch.load(folder .. 'model.safetensors.index.json', { mmap = mmap })
      assert.are.equal(7, loaded.step)
      assert.is_true(torch.equal(saved.sizes[1], loaded.sizes[1]))
      assert.are.same({ '0.weight', '0.bias', '1.weight', '1.bias' }, table.move(loaded.net, 1, 4, 1, {}))
      for name, tensor in pairs(saved.net) do assert.is_true(torch.equal(tensor, loaded.net[name]), name) end
      net:load_state_dict(loaded.net)
    end
  end)

  it('are one file where they fit into it', function()
    torch.save({ x = torch.ones(3) }, folder .. 'small.safetensors', { max_shard_size = 100 })
    assert.is_nil(io.open(folder .. 'small.safetensors.index.json'))
    assert.is_true(torch.equal(torch.ones(3), torch.load(folder .. 'small.safetensors').x))
  end)

  it('of other programs come by name, in the order of the index', function()
    torch._C.save_safetensors(folder .. 'a.safetensors', { 'w', 'unused' }, { torch.ones(2), torch.zeros(1) }, {})
    torch._C.save_safetensors(folder .. 'b.safetensors', { 'v' }, { torch.zeros(3) }, {})
    local path = write('foreign.safetensors.index.json', '{"metadata": {"total_size": 20}, "weight_map": {"v": "b.safetensors", "w": "a.safetensors"}}')
    local loaded = torch.load(path)
    assert.are.same({ 'v', 'w' }, table.move(loaded, 1, #loaded, 1, {}))
    assert.is_true(torch.equal(torch.ones(2), loaded.w))
  end)

  it('are refused when the index is wrong', function()
    local function index(text) return write('bad.safetensors.index.json', text) end
    assert_fails("tensor 'w' is in '../a.safetensors', which is not in the index's folder", torch.load, index '{"weight_map": {"w": "../a.safetensors"}}')
    assert_fails("which is not in the index's folder", torch.load, index '{"weight_map": {"w": "/etc/passwd"}}')
    assert_fails("which is not in the index's folder", torch.load, index '{"weight_map": {"w": 3}}')
    assert_fails("tensor 'x' is not in 'a.safetensors'", torch.load, index '{"weight_map": {"x": "a.safetensors"}}')
    assert_fails("without a 'weight_map'", torch.load, index '[1, 2]')
    assert_fails('no JSON at byte', torch.load, index '{"weight_map": ')
    assert_fails('none.safetensors', torch.load, index '{"weight_map": {"x": "none.safetensors"}}')
  end)

  it('have sizes that make sense', function()
    assert_fails("max_shard_size must be a number of bytes, or a text such as '5GB' or '200MiB', got 5 pounds", torch.save, { torch.ones(1) }, folder .. 'x.safetensors', { max_shard_size = '5 pounds' })
    assert_fails("only safetensors are written in shards, not '.pt' files", torch.save, { torch.ones(1) }, folder .. 'x.pt', { max_shard_size = 100 })
  end)
end)

-- Bytes of a file that this process has in memory by mapping it; nil where the system does not tell.
local function resident(path)
  local file = io.open '/proc/self/smaps'
  if not file then return nil end
  local bytes, inside = 0, false
  for line in file:lines() do
    if line:find '^%x+%-%x+ ' then inside = line:find(path, 1, true) ~= nil
    elseif inside and line:find '^Rss:' then bytes = bytes + tonumber(line:match '%d+') * 1024 end
  end
  file:close()
  return bytes
end

describe('a mapped file', function()
  for _, suffix in ipairs { 'safetensors', 'pt' } do
    it('is read when its elements are looked at: ' .. suffix, function()
      local path = folder .. 'mapped.' .. suffix
      local x = torch.randn(1 << 20)
      torch.save({ x = x, flags = torch.tensor { true, false }, few = torch.arange(3), view = x:narrow(1, 5, 3) }, path)
      local loaded = torch.load(path, { mmap = true })
      local bytes = resident(path)
      if bytes then assert.is_true(bytes < 1 << 16, tostring(bytes)) end
      assert.is_true(torch.equal(x, loaded.x))
      assert.is_true(torch.equal(torch.tensor { true, false }, loaded.flags))
      assert.is_true(torch.equal(torch.arange(3), loaded.few))
      assert.is_true(torch.equal(x:narrow(1, 5, 3), loaded.view))
      if bytes then assert.is_true(resident(path) >= 1 << 22) end
    end)

    it('operations on its tensors do not change a mapped file: ' .. suffix, function()
      local path = folder .. 'kept.' .. suffix
      torch.save({ x = torch.ones(100) }, path)
      local loaded = torch.load(path, { mmap = true })
      loaded.x:fill_(5)
      assert.are.equal(500, loaded.x:sum():item())
      assert.are.equal(100, torch.load(path).x:sum():item())
    end)
  end

  it('lives as long as a tensor of it', function()
    local path = folder .. 'short.safetensors'
    torch.save({ a = torch.full({ 5000 }, 3.0), b = torch.ones(5000) }, path)
    local a = torch.load(path, { mmap = true }).a
    collectgarbage()
    os.remove(path)
    assert.are.equal(15000, a:sum():item())
  end)

  it('is read where elements are not aligned in it', function()
    local header = '{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"F32","shape":[2],"data_offsets":[3,11]},"c":{"dtype":"BOOL","shape":[1],"data_offsets":[11,12]}}'
    local path = write('odd.safetensors', ('<s8'):pack(header) .. '\1\2\3' .. ('<ff'):pack(1.5, 2.5) .. '\1')
    local loaded = torch.load(path, { mmap = true })
    assert.are.same({ 1, 2, 3 }, loaded.a:tolist())
    assert.are.same({ 1.5, 2.5 }, loaded.b:tolist())
    assert.are.same({ true }, loaded.c:tolist())
  end)

  it('a mapped file has a format that needs no conversion', function()
    torch.save(torch.ones(3), folder .. 'x.npy')
    assert_fails('this is a NumPy array, which is read', torch.load, folder .. 'x.npy', { mmap = true })
    torch.save({ x = torch.ones(3) }, folder .. 'x.npz')
    assert_fails('this is an archive of NumPy arrays, which is read', torch.load, folder .. 'x.npz', { mmap = true })
    assert_fails("argument 'mmap' must be", torch.load, folder .. 'x.npz', { mmap = 3 })
  end)
end)

describe('a program of PyTorch', function()
  -- An archive with an entry of that name, as torch.export writes one.
  local function archive(name, entry)
    local writer <close> = require 'torch.files.zip'.create(folder .. name)
    writer:add('m/data/weights/weight_0', { 'abcd' }, 64)
    writer:add(entry, { '{}' }, 64)
    writer:finish()
    return folder .. name
  end

  it('is refused with advice', function()
    for _, entry in ipairs { 'm/models/model.json', 'serialized_exported_program.json' } do
      local path = archive('m.pt2', entry)
      assert_fails('an archive of torch.export (.pt2), which is a program', torch.load, path)
      assert_fails('torch.export.load reads it', torch.load, path)
      assert_fails("a zip archive, no ONNX model: torch.load reads PyTorch's files", torch.onnx.load, path)
    end
  end)
end)
