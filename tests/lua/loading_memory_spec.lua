-- A small file cannot take much memory: every loader has a budget of 64 times the file's size, and at least 256 MB, which the option
-- max_memory raises or lowers.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local onnx = require 'support.onnx'
local process = require 'support.process'

local TOO_MUCH = "raise the loader's option max_memory"

local folder
local function path(name) return folder .. '/' .. name end
local function write(name, text)
  local file = assert(io.open(path(name), 'wb'))
  assert(file:write(text))
  assert(file:close())
  return path(name)
end

-- An error and the most memory that a fresh process has had, in MB.
local function outcome(code)
  local output, message = process.lua(([[
    local ok, problem = pcall(function() %s end)
    local status = io.open '/proc/self/status'
    print(status:read 'a':match 'VmHWM:%%s*(%%d+)' // 1024, ok and 'loaded' or problem)
  ]]):format(code))
  local memory, problem = output:match '^(%d+)%.?%d*\t(.*)\n$'
  assert(memory, output .. message)
  return problem, tonumber(memory)
end

local function refused(code)
  local problem, memory = outcome(code)
  assert(problem:find(TOO_MUCH, 1, true), problem)
  assert(memory < 600, ('%d MB were used'):format(memory))
end

describe('a file of a few bytes #cpu', function()
  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    os.execute('mkdir ' .. folder)
  end)
  teardown(function() os.execute('rm -r ' .. folder) end)

  it('an ONNX file of a few bytes cannot allocate a sparse tensor of gigabytes', function()
    local bytes, int = onnx.bytes, onnx.int
    local values = onnx.tensor('s', torch.tensor({ 1.0 }, { dtype = torch.float64 }))
    local indices = onnx.tensor('', torch.tensor({ 0 }))
    local sparse = bytes(1, values) .. bytes(2, indices) .. int(3, 1 << 28)
    local model = int(1, 8) .. bytes(8, int(2, 17)) .. bytes(7, bytes(2, 'g') .. bytes(15, sparse))
    assert(#model < 100)
    refused(('torch.onnx.load %q'):format(write('sparse.onnx', model)))
  end)

  it('of ONNX has constants computed at loading only where they are small', function()
    local nodes = { { 'Unsqueeze', { 'long', 'axis' }, { 'column' } }, { 'Add', { 'column', 'long' }, { 'square' } },
      { 'ReduceSum', { 'square' }, { 'y' }, keepdims = 0 } }
    local file = write('square.onnx', onnx.model { opset = 17, nodes = nodes, inputs = {}, outputs = { { 'y', 7, {} } },
      initializers = { { 'long', torch.zeros(50000, { dtype = torch.int64 }) }, { 'axis', torch.tensor { 1 } } } })
    local problem, memory = outcome(('torch.onnx.load %q'):format(file))
    assert.equal('loaded', problem)
    assert(memory < 500, ('%d MB were used'):format(memory))
  end)

  it('of ONNX cannot name the elements of another file again and again', function()
    local data = write('elements', ('\0'):rep(4000000))
    assert(data)
    local bytes, int = onnx.bytes, onnx.int
    local entry = bytes(13, bytes(1, 'location') .. bytes(2, 'elements'))
    local parts = {}
    for i = 1, 100 do parts[i] = bytes(5, int(1, 1000000) .. int(2, 1) .. bytes(8, 'w' .. i) .. entry .. int(14, 1)) end
    local model = int(1, 8) .. bytes(8, int(2, 17)) .. bytes(7, bytes(2, 'g') .. table.concat(parts))
    refused(('torch.onnx.load(%q, { max_memory = 200000000 })'):format(write('external.onnx', model)))
    -- 64 times the other file's size are more
    assert.equal('loaded', (outcome(('torch.onnx.load(%q)'):format(path 'external.onnx'))))
  end)

  it('of torch.export cannot spread an element over a tensor of gigabytes', function()
    local zip = require 'torch.files.zip'
    local archive <close> = zip.create(path 'x.pt2')
    archive:add('x/models/model.json', { '{"graph_module": {}}' })
    archive:add('x/data/weights/model_weights_config.json', { [[{"config": {"w": {"path_name": "w0", "tensor_meta": {"dtype": 7,
      "sizes": [{"as_int": 20000}, {"as_int": 20000}], "strides": [{"as_int": 0}, {"as_int": 0}], "storage_offset": {"as_int": 0}}}}}]] })
    archive:add('x/data/weights/w0', { '\0\0\0\0' })
    archive:finish()
    refused(('torch.export.load %q'):format(path 'x.pt2'))
  end)

  it('of torch.export cannot hold millions of values in its text', function()
    local zip = require 'torch.files.zip'
    local archive <close> = zip.create(path 'text.pt2')
    archive:add('x/models/model.json', { '[' .. ('0,'):rep(10000000) .. '0]' }, nil, true)
    archive:finish()
    refused(('torch.export.load %q'):format(path 'text.pt2'))
  end)

  it('of a zip archive cannot unpack to gigabytes #again', function()
    torch.save({ a = torch.zeros(300000000, { dtype = torch.uint8 }) }, path 'zeros.npz', { compressed = true })
    refused(('torch.load %q'):format(path 'zeros.npz'))
    local problem = outcome(('assert(torch.load(%q, { max_memory = 1000000000 }).a:numel() == 300000000)'):format(path 'zeros.npz'))
    assert.equal('loaded', problem)
  end)

  it('of PyTorch cannot have a pickle of many objects in few bytes', function()
    local zip = require 'torch.files.zip'
    local archive <close> = zip.create(path 'lists.pt')
    archive:add('x/data.pkl', { '\x80\2' .. (']'):rep(8000000) .. '.' }, nil, true)
    archive:add('x/version', { '3\n' })
    archive:finish()
    refused(('torch.load %q'):format(path 'lists.pt'))
  end)

  it('of gzip cannot unpack to more than the budget #again', function()
    assert(os.execute(('head -c 300000000 /dev/zero | gzip -1 > %s'):format(path 'zeros.gz')))
    refused(('assert(torch.utils.data.idx.read(%q))'):format(path 'zeros.gz'))
  end)

  it('of a table cannot unpack to more than the budget, as numbers or as texts #again', function()
    assert(os.execute(('yes 7 | head -c 60000000 | gzip -1 > %s'):format(path 'numbers.csv.gz')))
    refused(('torch.utils.data.csv.read %q'):format(path 'numbers.csv.gz'))
    assert(os.execute(('yes a | head -c 12000000 | gzip -1 > %s'):format(path 'texts.csv.gz')))
    refused(('torch.utils.data.csv.read %q'):format(path 'texts.csv.gz'))
    assert(os.execute(('(echo \'"\'; head -c 300000000 /dev/zero) | gzip -1 > %s'):format(path 'field.csv.gz')))
    refused(('torch.utils.data.csv.read %q'):format(path 'field.csv.gz'))
    assert.equal('loaded', (outcome(('torch.utils.data.csv.read(%q, { max_memory = 2000000000 })'):format(path 'texts.csv.gz'))))
  end)

  it('of a picture cannot unpack to more than the budget', function()
    local picture = require 'torch.utils.plot.picture'
    local png = picture.png { width = 2000, height = 1000, data = ('\0'):rep(6000000) }
    assert(#png < 100000)
    assert.equal(6000000, torch.utils.data.decode_image(png):numel())
    collectgarbage() -- what was garbage before makes room
    fails_with(TOO_MUCH, torch.utils.data.decode_image, png, 'rgb', { max_memory = 8000000 })
    fails_with(TOO_MUCH, torch.utils.data.read_image, write('x.png', png), { max_memory = 8000000 })
    fails_with('must be a number of bytes, at least 1', torch.utils.data.decode_image, png, 'rgb', { max_memory = -1 })
    local header = ('>I4I4BBBBB'):pack(16000, 16000, 8, 2, 0, 0, 0)
    local function chunk(kind, content) return ('>I4'):pack(#content) .. kind .. content .. ('>I4'):pack(torch._C.crc32(kind .. content)) end
    local large = '\x89PNG\r\n\x1a\n' .. chunk('IHDR', header) .. chunk('IDAT', ('\0'):rep(800000)) .. chunk('IEND', '')
    fails_with(TOO_MUCH, torch.utils.data.decode_image, large)
  end)
end)

describe('the budget of a loader #cpu', function()
  it('a loader\'s budget counts live memory, not freed memory', function()
    torch._C.within_budget(0, 10000000, function()
      for _ = 1, 100 do torch.zeros(1000000) end
    end)
    fails_with(TOO_MUCH, torch._C.within_budget, 0, 10000000, function()
      local kept = {}
      for i = 1, 100 do kept[i] = torch.zeros(1000000) end
    end)
  end)

  it('ends with the call, also by an error, and within another one', function()
    fails_with('mine', torch._C.within_budget, 0, 1000000, function()
      fails_with(TOO_MUCH, torch._C.within_budget, 0, 100000000, torch.zeros, 1000000)
      error 'mine'
    end)
    assert.equal(1000000, torch.zeros(1000000):numel())
    assert.same({ 1, nil, 3 }, { torch._C.within_budget(0, nil, function(...) return ... end, 1, nil, 3) })
  end)

  it('is kept in a coroutine, which cannot leave it open', function()
    local co = coroutine.wrap(function() return pcall(torch._C.within_budget, 0, 1000000, coroutine.yield) end)
    local ok, message = co()
    assert.is_false(ok)
    assert(message:find('attempt to yield across a C-call boundary', 1, true), message)
    assert.equal(1000000, torch.zeros(1000000):numel())
  end)
end)
