-- Numbers under a host's locale with a decimal comma: files, formulas, declarations and printed tensors have points.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local DEFINITION = [[
comment_char %
escape_char /
LC_NUMERIC
decimal_point "<U002C>"
thousands_sep ""
grouping -1
END LC_NUMERIC
]]

describe('a locale with a decimal comma #cpu', function()
  local folder, environment

  -- localedef of the C library compiles the definition into a folder that LOCPATH names.
  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    process.run(('mkdir %s && cat >%s/comma.txt <<"END"\n%sEND\nlocaledef -c -i %s/comma.txt -f ANSI_X3.4-1968 %s/comma'):format(folder, folder,
      DEFINITION, folder, folder))
    environment = 'LOCPATH=' .. folder .. ' FOLDER=' .. folder
  end)
  teardown(function() process.run('rm -rf ' .. folder) end)

  -- Prints the values of a chunk that runs after os.setlocale.
  local function printed(chunk)
    local output, message, status = process.lua("assert(os.setlocale('comma', 'numeric') and tostring(1.5) == '1,5', 'no locale')\n" .. chunk, '',
      environment)
    if message:find 'no locale' then pending 'localedef cannot compile a locale' end
    assert.equal('', message)
    assert.equal(0, status)
    return output
  end

  it('is not that of printed tensors', function()
    assert.equal('tensor([1.5000, 2.2500])\n', printed 'print(torch.tensor {1.5, 2.25})')
  end)

  it('is not that of formulas, also of compiled ones', function()
    assert.equal('tensor([1.3500])\n', printed "print(torch.kernel.elementwise 'x * 1.1 + 2.5e-1'(torch.ones(1)))")
    assert.equal('tensor([1.3500])\n', printed "print(torch.kernel.elementwise('x * 1.1 + 2.5e-1', {compile = true})(torch.ones(1)))")
  end)

  it('is not that of declarations of operations', function()
    assert.equal('tensor([3.5000])\n', printed [[
      local library = torch.library.Library('mine', 'DEF')
      library:define 'scale(Tensor x, float by=3.5) -> Tensor'
      library:impl('scale', function(x, by) return x * by end)
      print(torch.ops.mine.scale(torch.ones(1)))]])
  end)

  it('is not that of CSV files that are read', function()
    assert.equal('tensor([1.2346, 0.5000], dtype=torch.float64)\n', printed [[
      local file = assert(io.open(os.getenv 'FOLDER' .. '/a.csv', 'w'))
      file:write 'x\n1.23456789012345678901234\n0.5\n'
      file:close()
      print(torch.utils.data.csv.read(os.getenv 'FOLDER' .. '/a.csv', {dtype = torch.float64}).x)]])
  end)

  it('is not that of checkpoints, logs and profiles that are written', function()
    for _, suffix in ipairs { 'safetensors', 'pt' } do
      assert.equal('true\n', printed(([[
        local path = os.getenv 'FOLDER' .. '/a.%s'
        torch.save({rate = 1.1, name = 'x', weight = torch.ones(1)}, path)
        print(torch.load(path).rate == 1.1)]]):format(suffix)))
    end
    assert.equal('{"loss": 0.5, "rate": 1.1}\n', printed [[
      local path = os.getenv 'FOLDER' .. '/log.json'
      local logger = torch.utils.log.JSONLogger(path)
      logger:log {loss = 0.5, rate = 1.1}
      logger:close()
      io.write((io.open(path):read 'a'))]])
    assert.equal('true\ttrue\tnil\n', printed [[
      local path = os.getenv 'FOLDER' .. '/trace.json'
      local profile <close> = torch.profiler.profile()
      torch.ones(100):exp()
      profile:stop()
      profile:export_chrome_trace(path)
      local text = io.open(path):read 'a'
      print(text:match '"ts":%d+%.%d%d%d,' ~= nil, text:match '"dur":%d+%.%d%d%d,' ~= nil, text:match '%d,%d%d%d,')]])
  end)
end)
