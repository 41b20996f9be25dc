-- ltensor --doctor: what is here, and what each missing piece would give.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')

local function run(arguments, before)
  return process.run(('%s %s %s'):format(before or '', process.quote(process.ltensor), arguments))
end

local function contents(path)
  local file = assert(io.open(here .. '../../../' .. path))
  local text = file:read 'a'
  file:close()
  return text
end

describe('--doctor', function()
  it('--doctor prints one line for each feature', function()
    local out = run '--doctor'
    local first, last
    for line in out:gmatch '[^\n]+' do
      first, last = first or line, line
      assert.is_truthy(line == first or line:find '^ok ' or line:find '^missing ' or line:find 'missing', line)
    end
    assert.is_truthy(first:find '^ltensor %d', first)
    assert.is_truthy(out:find 'ok +processor', out)
    assert.is_truthy(last:find '^Nothing is missing' or last:find '^All that is missing can be done without', last)
  end)

  it('names the GPUs, simulated ones as such', function()
    local out = run '--sim-gpus 2 --doctor'
    assert.is_truthy(out:find('ok       cuda:1         Simulated GPU, simulated', 1, true), out)
    assert.is_truthy(run '--disable-cuda --doctor':find('missing  GPUs', 1, true))
  end)

  it('names the oneDNN that is open, and the package to install without it', function()
    local found = torch.__config__.show():match 'oneDNN: ([^\n]+)'
    assert.is_truthy(run '--doctor':find('ok       oneDNN         ' .. found .. ': fast convolutions', 1, true))
    local out = run('--doctor', 'LTENSOR_ONEDNN=0')
    assert.is_truthy(out:find('missing  oneDNN         libdnnl.so.2 or libdnnl.so.3 not found', 1, true), out)
  end)

  it('names the LAPACK that is open, and the package to install without any', function()
    local found = torch.__config__.show():match 'BLAS: ([^\n]+)'
    assert.is_truthy(run '--doctor':find('ok       LAPACK         ' .. found .. ': torch.linalg', 1, true))
    local out = run('--doctor', 'LTENSOR_LAPACK=/nowhere/liblapack.so')
    assert.is_truthy(out:find('missing  LAPACK         no library with it was found', 1, true), out)
    assert.is_truthy(out:find('(Debian: libopenblas0-openmp)', 1, true), out)
  end)

  it('reports the MPI engines of the build, and a missing engine', function()
    local built = torch.__config__.show():match 'MPI: ([^\n]+)'
    local out = run('--doctor', 'LTENSOR_LIB_DIR=/nowhere')
    if built == 'none' then
      assert.is_truthy(out:find('missing  MPI            built without Open MPI and MPICH', 1, true), out)
    else
      local first = 'libltensor_' .. built:match '%a+' .. '.so'
      assert.is_truthy(out:find('missing  MPI            built with ' .. built:gsub(' ', ' and ') .. ', but ' .. first, 1, true), out)
    end
    assert.equal('false\n', (run("-e 'print(torch.distributed.is_mpi_available())'", 'LTENSOR_LIB_DIR=/nowhere')))
    assert.equal(built ~= 'none', torch.distributed.is_mpi_available())
  end)

  it('--doctor explains the effect of missing libraries', function()
    local out = run('--doctor', 'TERM=dumb LC_ALL=C PATH=/nowhere')
    assert.is_truthy(out:find('missing  colours        none: TERM is dumb', 1, true), out)
    assert.is_truthy(out:find('missing  characters     the locale (C) is not UTF-8', 1, true), out)
    assert.is_truthy(out:find('missing  MPI ', 1, true), out)
    assert.is_truthy(run('--doctor', 'LTENSOR_LIB_DIR=/nowhere'):find('missing  Jupyter        libltensor_jupyter.so', 1, true))
  end)

  -- A packed ltensor has no sources.
  local sources = io.open(here .. '../../../repl/doctor.lua')
  if sources then sources:close() end;
  (sources and it or pending)('knows the libraries that the sources open, by their names', function()
    local text = contents 'repl/doctor.lua'
    local n = 0
    for _, path in ipairs { 'src/core/libraries/cxsparse.c', 'src/core/files/image.c', 'src/cuda/libraries/cublas_api.h',
      'src/cuda/libraries/cusolver_api.h', 'src/cuda/libraries/cudnn_api.h', 'src/cuda/libraries/cufft_api.h',
      'src/cuda/libraries/cusparse_api.h' } do
      local function expect(name)
        n = n + 1
        assert.is_truthy(text:find("'" .. name .. "'", 1, true), path .. ' opens ' .. name)
      end
      local source = contents(path)
      for name in source:gmatch '"(lib[%w_]+%.so%.%d+)"' do expect(name) end
      for name, version in source:gmatch 'LT_SHARED_NAME%("([%w_]+)", "(%d+)"%)' do expect(('lib%s.so.%s'):format(name, version)) end
    end
    assert.is_true(n >= 12)
  end)
end)
