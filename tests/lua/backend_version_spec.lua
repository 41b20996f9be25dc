-- A backend library that was built for another program is refused before anything in it runs.
-- It is made here from the one at hand by changing what it says of itself.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local function read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read 'a'
  file:close()
  return text
end

-- What a program says that finds `library` as the simulated backend.
local function says_with(library)
  local folder = os.tmpname()
  os.remove(folder)
  assert(os.execute('mkdir ' .. process.quote(folder)))
  local file = assert(io.open(folder .. '/libltensor_sim.so', 'wb'))
  file:write(library)
  file:close()
  local output, errors, status = process.run(('LTENSOR_LIB_DIR=%s %s --no-copies --sim-gpus 1 -e %s'):format(
    process.quote(folder), process.quote(process.ltensor),
    process.quote 'print(pcall(torch.ones, 2, {device = "cuda"})) print(torch.ones(2):sum():item())'))
  os.execute('rm -r ' .. process.quote(folder))
  return output, errors, status
end

describe('#cpu a backend library', function()
  local folder = os.getenv 'LTENSOR_LIB_DIR' or os.getenv 'TEST_BACKENDS' or os.getenv 'LTENSOR_BUILD' or 'build'
  local library = read(folder .. '/libltensor_sim.so')
  -- the version, filled up to 20 bytes, then the hash
  local at = library:find('[%d.]+%z+' .. ('%x'):rep(16) .. '%z%z%z%z')
  assert(at, 'the library does not say for what it was built')
  local hash = library:match('^[%d.]+%z+(' .. ('%x'):rep(16) .. ')', at)

  it('of the same declarations is taken', function()
    local output = says_with(library)
    assert.matches("device='cuda:0'", output, 1, true)
  end)

  it('of other declarations is refused with both named', function()
    local other = hash:reverse()
    local output, _, status = says_with((library:gsub(hash, other)))
    assert.equal(0, status)
    assert.matches('libltensor_sim.so was built for ltensor', output, 1, true)
    assert.matches(other, output, 1, true)
    assert.matches(hash, output, 1, true)
    assert.matches('\n2.0\n', output, 1, true)
  end)

  it('a backend library without a version is an error #plain', function()
    local output = says_with((library:gsub('lt_backend_abi_of_library', 'lt_backend_abi_of_librarx')))
    assert.matches('an unknown version', output, 1, true)
  end)
end)
