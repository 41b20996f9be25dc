-- The readers of whole files (csv.read, read_lines, read_image) stop at a limit, and take nothing but files: a pipe would be waited for, a device
-- may never end.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local process = require 'support.process'
local data = torch.utils.data

describe('a file that is too large #cpu', function()
  local path
  setup(function()
    path = os.tmpname()
    local file = assert(io.open(path, 'wb'))
    file:seek('set', 5000000)
    file:write 'x'
    file:close()
  end)
  teardown(function() os.remove(path) end)

  for _, name in ipairs { 'csv.read', 'read_lines', 'read_image' } do
    it('is an error of ' .. name, function()
      local function read(options)
        if name == 'csv.read' then return data.csv.read(path, options) end
        if name == 'read_lines' then return data.text.read_lines(path, options) end
        return data.read_image(path, 'rgb', options)
      end
      fails_with(path .. ': more than 5000000 bytes; a larger file is read with {max_bytes = ...}', read, { max_bytes = 5000000 })
      fails_with("'max_bytes' must be a number", read, { max_bytes = 'many' })
    end)
  end
end)

-- Every reader that is given a path, of files that users name and of those that files name.
local READERS = {
  ['torch.load'] = 'torch.load(P)', ['torch.load of .npy'] = "torch.load(P .. '.npy')", ['torch.load of shards'] = "torch.load(P .. '.index.json')",
  ['torch.load with mmap'] = 'torch.load(P, { mmap = true })', ['torch.from_file'] = 'torch.from_file(P, { size = 3 })',
  ['torch.onnx.load'] = 'torch.onnx.load(P)', ['torch.export.load'] = 'torch.export.load(P)', ['torch.hub.list'] = 'torch.hub.list(P)',
  ['csv.read'] = 'torch.utils.data.csv.read(P)', ['read_lines'] = 'torch.utils.data.text.read_lines(P)',
  ['read_image'] = 'torch.utils.data.read_image(P)', ['idx.read'] = 'assert(torch.utils.data.idx.read(P))', ['audio.load'] = 'torch.audio.load(P)',
  ['checkpoint.load'] = "torch.distributed.checkpoint.load(nil, { checkpoint_id = P })",
  ['CSVLogger'] = 'torch.utils.log.CSVLogger(P, { append = true })', ['JSONLogger'] = 'torch.utils.log.JSONLogger(P)',
}

describe('a path that is not a regular file #cpu', function()
  local folder
  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    -- a pipe under each name that a reader looks at
    assert(os.execute(('mkdir %s && cd %s && mkfifo pipe pipe.npy pipe.index.json && mkdir pipes && mkfifo pipes/hubconf.lua'):format(folder, folder)))
  end)
  teardown(function() os.execute('rm -r ' .. folder) end)

  it('is an error in every reader without waiting for the writer of a pipe', function()
    local chunks = {}
    for name, chunk in pairs(READERS) do
      local path = name == 'torch.hub.list' and 'pipes' or 'pipe'
      chunks[#chunks + 1] = ('P = %q io.write(%q, ": ", tostring(select(2, pcall(function() %s end))), "\\n") io.flush()'):format(folder .. '/' .. path, name, chunk)
    end
    local output, message, status = process.lua("torch = require 'torch'\n" .. table.concat(chunks, '\n'), '', 'timeout 60')
    assert.equal(0, status, message .. output)
    for name in pairs(READERS) do
      local said = ('\n' .. output):match('\n' .. name:gsub('%p', '%%%0') .. ': ([^\n]*)')
      assert(said and (said:find('not a file', 1, true) or said:find('not a regular file', 1, true) or said:find('No such device', 1, true)),
        name .. ': ' .. tostring(said))
    end
  end)

  it('such as a device is refused by the readers', function()
    fails_with('not a file', torch.load, '/dev/zero')
    fails_with('not a file', data.text.read_lines, '/dev/zero')
    local nothing, message = data.idx.read('/dev/zero')
    assert.is_nil(nothing)
    assert(message:find('not a file', 1, true), message)
  end)
end)

it('a directory is an error that names it #cpu', function()
  fails_with('/tmp: Is a directory', data.text.read_lines, '/tmp')
end)
