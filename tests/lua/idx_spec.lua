-- Reading idx files and the experiment that uses them: good, missing and damaged input.

local torch = require 'torch'
local idx = require 'torch.utils.data.idx'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local FASHION = '/usr/share/datasets/fashion-mnist'

local function with_file(content, run)
  local path = os.tmpname()
  local file = assert(io.open(path, 'wb'))
  file:write(content)
  file:close()
  local results = table.pack(pcall(run, path))
  os.remove(path)
  assert(results[1], results[2])
  return table.unpack(results, 2, results.n)
end

local function read(content, shape)
  return with_file(content, function(path) return idx.read(path, shape) end)
end

local function read_gzipped(content, cut)
  return with_file(content, function(path)
    process.run(('gzip -c %s | head -c -%d > %s.gz'):format(path, cut, path))
    local t, message = idx.read(path .. '.gz')
    os.remove(path .. '.gz')
    return t, message
  end)
end

local function header(kind, ...)
  return ('\0\0%c%c'):format(kind, select('#', ...)) .. (('>I4'):rep(select('#', ...))):pack(...)
end

describe('an idx file #cpu', function()
  it('gives a uint8 tensor of its sizes', function()
    local t = read(header(8, 2, 3) .. '\1\2\3\4\5\255')
    assert.equal(torch.uint8, t.dtype)
    assert.equal('torch.Size([2, 3])', tostring(t.shape))
    assert.same({ {1, 2, 3}, {4, 5, 255} }, t:tolist())
  end)

  it('may be gzipped', function()
    assert.same({7, 8}, read_gzipped(header(8, 2) .. '\7\8', 0):tolist())
  end)

  it('may hold nothing', function()
    assert.equal(0, read(header(8, 0)):numel())
  end)

  local damaged = {
    {'cut within the elements', header(8, 2, 3) .. '\1\2\3\4', 'got 4 bytes of elements, expected 2 x 3'},
    {'with bytes too many', header(8, 2) .. '\1\2\3', 'got 3 bytes of elements, expected 2'},
    {'cut within the header', header(8, 2, 3):sub(1, 9), 'the header is cut short'},
    {'with no header', '\0', 'too short'},
    {'of another kind', 'hello, world', 'not an idx file'},
    {'of floats', header(13, 1) .. '\0\0\0\0', 'type 0x0d'},
    {'without dimensions', header(8), '0 dimensions'},
    {'with sizes that overflow', header(8, 0xffffffff, 0xffffffff, 0xffffffff), 'elements'},
  }
  for _, case in ipairs(damaged) do
    it(case[1] .. ' is refused', function()
      local t, message = read(case[2])
      assert.is_nil(t)
      assert.truthy(message:find(case[3], 1, true), message)
    end)
  end

  it('an idx file with unexpected sizes is an error', function()
    local t, message = read(header(8, 2, 1) .. '\1\2', {false, 3})
    assert.is_nil(t)
    assert.truthy(message:find('sizes 2 x 1 do not fit', 1, true), message)
  end)

  it('an idx file with truncated gzip data is an error', function()
    local t, message = read_gzipped(header(8, 1000) .. ('x'):rep(1000), 9)
    assert.is_nil(t)
    assert.truthy(message:find('.gz', 1, true), message)
  end)

  it('that is missing gives its name and the reason', function()
    local t, message = idx.read '/nonexistent/images.gz'
    assert.is_nil(t)
    assert.truthy(message:find '/nonexistent/images.gz.*No such file', message)
  end)

  it('that is a folder is refused', function()
    assert.is_nil((idx.read '/tmp'))
  end)
end)

describe('softmax regression #cpu', function()
  local images = io.open(FASHION .. '/train-images-idx3-ubyte.gz')
  if not images then return pending 'needs the package dataset-fashion-mnist' end
  images:close()

  local script = process.quote(process.ltensor) .. ' scripts/softmax_regression.lua '

  local function train(options)
    local output, message, status = process.run(script .. options)
    assert.equal(0, status, message)
    return tonumber(output:match 'test acc ([%d.]+)[^\n]*\n$'), output, message
  end

  it('reaches 83% on Fashion-MNIST in five epochs, quietly when not on a terminal #again', function()
    local accuracy, output, message = train '--epochs 5'
    assert.is_true(accuracy >= 0.83, output)
    assert.equal('', message)
    assert.equal(5, select(2, output:gsub('epoch %d', '')))
  end)

  it('gives the same numbers for the same seed', function()
    local options = '--epochs 1 --batch-size 1000 --seed 3'
    assert.equal((train(options)), (train(options)))
  end)

  it('runs on a simulated GPU without implicit copies in the loop #again', function()
    local output, message, status = process.run(process.quote(process.ltensor)
      .. ' --sim-gpus 1 scripts/softmax_regression.lua --device cuda --epochs 1 --batch-size 1000')
    assert.equal(0, status, message)
    assert.is_true(tonumber(output:match 'test acc ([%d.]+)') > 0.7, output)
    assert.is_nil(message:find('softmax_regression.lua:%d+ index_select', 1), message)
  end)

  it('softmax regression names a missing file and its source', function()
    local _, message, status = process.run(script .. '--data /nonexistent')
    assert.equal(1, status)
    assert.truthy(message:find('/nonexistent/train-images-idx3-ubyte', 1, true), message)
    assert.truthy(message:find('dataset-fashion-mnist', 1, true), message)
  end)

  it('softmax regression names a damaged file', function()
    local folder = os.tmpname()
    os.remove(folder)
    process.run(('mkdir %s && cp %s/* %s/ && truncate -s 1000 %s/t10k-labels-idx1-ubyte.gz'):format(
      folder, FASHION, folder, folder))
    local _, message, status = process.run(script .. '--data ' .. folder)
    process.run('rm -r ' .. folder)
    assert.equal(1, status)
    assert.truthy(message:find('t10k-labels-idx1-ubyte.gz', 1, true), message)
  end)

  it('softmax regression rejects unknown options', function()
    for _, options in ipairs {'--epoch 3', '--epochs', '--epochs x', '--lr=abc', 'file'} do
      local _, message, status = process.run(script .. options)
      assert.equal(1, status, options)
      assert.truthy(message:find '^softmax_regression: ', message)
    end
  end)

  it('explains itself', function()
    local output, _, status = process.run(script .. '--help')
    assert.equal(0, status)
    assert.truthy(output:find('--batch-size', 1, true))
  end)
end)
