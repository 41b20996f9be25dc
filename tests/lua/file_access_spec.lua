-- Files and folders of the host: every access goes through one place that asks the authorizer, and a file that another file names is
-- in its folder.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local process = require 'support.process'

local inside = torch._C.path_inside

local function lines_of(command)
  local lines, pipe = {}, assert(io.popen(command))
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines
end

local function write(path, text)
  local file = assert(io.open(path, 'wb'))
  assert(file:write(text))
  assert(file:close())
end

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

-- A tarball has no sources.
if exists 'src/core/tensor.h' then describe('the sources #cpu', function()
  it('of lib open, remove and rename files and start processes through torch.files.outside alone', function()
    local files, found = lines_of 'find lib -name "*.lua"', {}
    assert(#files > 300)
    for _, path in ipairs(files) do
      local number = 0
      for line in io.lines(path) do
        number = number + 1
        local code = line:gsub('%-%-.*$', '')
        for _, name in ipairs { 'io%.open', 'io%.lines', 'io%.popen', 'io%.input', 'io%.output', 'io%.tmpfile', 'os%.remove', 'os%.rename', 'os%.execute',
          'os%.tmpname', 'package%.loadlib', '%f[%w_]dofile', '%f[%w_]loadfile', '_C%.open_stream', '_C%.make_folder', '_C%.list_folder' } do
          if code:find(name) and path ~= 'lib/files/outside.lua' then found[#found + 1] = ('%s:%d: %s'):format(path, number, line) end
        end
      end
    end
    assert.same({}, found)
  end)

  it('files are opened only by functions that call the authorizer', function()
    local known = {
      ['src/core/files/paths.c'] = true, ['src/core/files/mapped_file.c'] = true,
      ['src/core/api/devices.c'] = true, -- /proc/meminfo
      ['src/core/context/processors.c'] = true, -- the limits of /proc/self/cgroup
      ['src/lua/system/worker.c'] = true, -- fork
      ['src/lua/own/compiler.c'] = true, -- the C compiler
      ['src/lua/script/script.c'] = true, ['src/core/devices/loader.c'] = true, -- functions named open
    }
    local names = 'lt_fd_open_[a-z]+|lt_fd_create_private|lt_path_remove|lt_folder_make|lt_folder_open|open|openat|fopen|creat|unlink|rename|mkdir|rmdir|opendir|popen|system|fork|execvp?|posix_spawn'
    local found = {}
    for _, line in ipairs(lines_of(([[grep -rnE '(^|[^_a-zA-Z0-9.>*:])(%s) ?\(' src/core src/lua src/comm --include='*.c' --include='*.h']]):format(names))) do
      local path, code = line:match '^([^:]*):%d+:(.*)$'
      local is_comment = code:find '^%s*/?%*' or code:match '/%*.*' and not code:gsub('/%*.*', ''):find '[%w_] ?%('
      if not known[path] and not path:find '^src/core/system/' and not is_comment then found[#found + 1] = line end
    end
    assert.same({}, found)
  end)
end) end

describe('a file that another file names #cpu', function()
  local folder
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute(('mkdir -p %s/model/deep %s/secret %s/blobs %s/snapshot'):format(folder, folder, folder, folder)))
    write(folder .. '/secret/file', 'secret')
    write(folder .. '/model/deep/part', '')
  end)
  after_each(function() os.execute('rm -r ' .. folder) end)

  it('a file that another file names must be in the same folder or below it', function()
    local index = folder .. '/model/index'
    write(index, '')
    for _, name in ipairs { 'part', 'deep/part', './part', '..part', 'a..b', 'deep/none/none' } do
      assert.equal(folder .. '/model/' .. name, inside(index, name), name)
    end
    for _, name in ipairs { '', '/etc/passwd', '../secret/file', 'deep/../../secret/file', 'deep/../part', '..', 'deep/..', '..\\secret\\file',
      '\\x', 'a\0b', ('x/'):rep(3000) } do
      assert.is_nil(inside(index, name), name)
    end
    assert.equal('part', inside('index', 'part')) -- of the current folder
  end)

  it('is not beyond a symbolic link that leaves the folder', function()
    local index = folder .. '/model/index'
    write(index, '')
    assert(os.execute(('cd %s/model && ln -s ../secret away && ln -s ../secret/file leak && ln -s deep near && ln -s nowhere broken'):format(folder)))
    assert.is_nil(inside(index, 'away/file'))
    assert.is_nil(inside(index, 'away/new'))
    assert.is_nil(inside(index, 'leak'))
    assert.is_nil(inside(index, 'broken'))
    assert.equal(folder .. '/model/near/part', inside(index, 'near/part'))
  end)

  it('may be where the index is a symbolic link to, as in the caches of downloads', function()
    write(folder .. '/blobs/1a', '')
    write(folder .. '/blobs/2b', '')
    assert(os.execute(('cd %s/snapshot && ln -s ../blobs/1a index && ln -s ../blobs/2b shard && ln -s ../secret/file leak'):format(folder)))
    assert.equal(folder .. '/snapshot/shard', inside(folder .. '/snapshot/index', 'shard'))
    assert.is_nil(inside(folder .. '/snapshot/index', 'leak'))
  end)

  it('is refused outside by every format that names files', function()
    torch.save(torch.ones(2), folder .. '/secret/x.safetensors')
    assert(os.execute(('cd %s/model && ln -s ../secret away'):format(folder)))
    for _, name in ipairs { '../secret/x.safetensors', 'away/x.safetensors', folder .. '/secret/x.safetensors' } do
      local index = folder .. '/model/x.safetensors.index.json'
      write(index, ('{"weight_map": {"value": "%s"}}'):format(name))
      fails_with("which is not in the index's folder", torch.load, index)
      torch.save({ checkpoint = 1, number = 1, values = {}, files = { name },
        tensors = { value = { path = { 'value' }, shape = { 2 }, dtype = 'float32', pieces = { { file = 1, first = 1, n = 2 } } } } }, folder .. '/model/ck')
      fails_with("is not in the index's folder", torch.distributed.checkpoint.load, nil, { checkpoint_id = folder .. '/model/ck' })
    end
  end)

  it('and is in an index of a checkpoint is not removed when the checkpoint is saved over', function()
    local output, message, status = process.lua(([[
      local folder = %q
      local checkpoint = torch.distributed.checkpoint
      torch.distributed.init_process_group()
      local function index(files, number)
        torch.save({ checkpoint = 1, number = number, tensors = {}, values = {}, files = files }, folder .. '/model/ck')
      end
      for number, name in ipairs { '../secret/file', folder .. '/secret/file', 'deep/part', 'other.1.rank-0-of-1.safetensors' } do
        index({ name }, number)
        checkpoint.save({ x = torch.ones(2) }, { checkpoint_id = folder .. '/model/ck' })
      end
      index({ 'x' }, 'name') -- no number: no index
      checkpoint.save({ x = torch.full({ 2 }, 7.0) }, { checkpoint_id = folder .. '/model/ck' })
      print(checkpoint.load(nil, { checkpoint_id = folder .. '/model/ck' }).x[1]:item())
    ]]):format(folder))
    assert.equal(0, status, message)
    assert.equal('7.0\n', output)
    assert(exists(folder .. '/secret/file') and exists(folder .. '/model/deep/part'))
  end)

  it('of shards is removed by saving over them only when it is one of them', function()
    local path = folder .. '/model/x.safetensors'
    local function count() return #lines_of(('ls -A %s/model'):format(folder)) end
    local function save(v, size) torch.save({ a = torch.full({ 100 }, v), b = torch.full({ 100 }, v) }, path, { max_shard_size = size }) end
    for _, other in ipairs { 'x-00001-of-00009.bin', 'xy-00001-of-00002.safetensors', 'x.save-2-00001.safetensors', 'x-00001-of-00007.safetensors' } do
      write(folder .. '/model/' .. other, '')
    end
    local before = count()
    for v = 1, 3 do
      save(v, 400)
      assert.equal(before + 3, count())
      assert.equal(v, torch.load(path .. '.index.json').b[100]:item())
    end
    -- Shards of the first save, left by a run that was killed after it had replaced the index.
    save(6, 10000)
    save(1, 400)
    local copy = lines_of(('cd %s/model && cat x-00001-of-00002.safetensors | base64 -w0'):format(folder))[1]
    save(2, 400)
    os.execute(('cd %s/model && echo %s | base64 -d >x-00001-of-00002.safetensors'):format(folder, copy))
    assert.equal(before + 4, count())
    save(3, 400)
    assert.equal(before + 3, count())
    write(path .. '.index.json', '{"weight_map": {"a": "deep/part", "b": "../secret/file"}}')
    save(4, 400)
    assert(exists(folder .. '/secret/file') and exists(folder .. '/model/deep/part'))
    save(5, 10000) -- one file: no index of old shards is left
    assert.equal(before + 1, count())
    assert.equal(5, torch.load(path).a[1]:item())
    save(6, 400) -- and no old file beside an index
    assert.equal(before + 3, count())
  end)
end)

describe('a full disk #cpu', function()
  local WRITERS = {
    CSVLogger = "local log = torch.utils.log.CSVLogger 'x' for i = 1, 1000 do log:log { step = i } end log:close()",
    JSONLogger = "local log = torch.utils.log.JSONLogger 'x' for i = 1, 1000 do log:log { step = i } end log:close()",
    ['SummaryWriter, flush'] = "local w = torch.utils.tensorboard.SummaryWriter '.' for i = 1, 90 do w:add_scalar('loss', i, i) end w:flush()",
    ['SummaryWriter, close'] = "local w = torch.utils.tensorboard.SummaryWriter '.' for i = 1, 90 do w:add_scalar('loss', i, i) end w:close()",
    ['torch.save'] = "torch.save(torch.ones(10000), 'x')",
    ['audio.save'] = "torch.audio.save('x', torch.ones(1, 10000), 8000)",
  }
  for name, code in pairs(WRITERS) do
    it('is an error of ' .. name, function()
      local folder = os.tmpname()
      os.remove(folder)
      -- no file has more than a block
      local output = process.run(("mkdir %s && cd %s && trap '' XFSZ && ulimit -f 1 && %s -e %s; echo $?"):format(folder, folder,
        process.quote(process.ltensor), process.quote(('print(pcall(function() %s end))'):format(code))))
      os.execute('rm -r ' .. folder)
      assert(output:find 'false\t.*File too large' and output:find '\n0\n$', output)
    end)
  end
end)

describe('SummaryWriter #cpu', function()
  it('SummaryWriter creates folders without a shell and one folder for each series of add_scalars', function()
    local folder = os.tmpname()
    os.remove(folder)
    local name = folder .. "/it's $(touch " .. folder .. ") `x`;\nnew"
    local writer = torch.utils.tensorboard.SummaryWriter(name)
    writer:add_scalars('loss', { ['train/first'] = 1 }, 1)
    fails_with('is not a valid name of a folder in', writer.add_scalars, writer, 'loss', { ['/../../../escaped'] = 1 }, 1)
    writer:close()
    assert.equal(2, #lines_of(('find %s -name "events*" -printf "x\\n"'):format(folder)))
    os.execute('rm -r ' .. folder)
  end)

  it('SummaryWriter reports the cause if it cannot create a folder', function()
    fails_with('Not a directory', torch.utils.tensorboard.SummaryWriter, '/dev/null/x')
  end)
end)
