-- bounds_spec.lua - numbers are checked before they bound a loop.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local fails_with = dofile(here .. 'support/fails_with.lua')

-- f, which must not take as many instructions as a loop up to such a number would.
local function briefly(f, ...)
  debug.sethook(function() error('too many instructions', 0) end, '', 10000000)
  local results = table.pack(pcall(f, ...))
  debug.sethook()
  assert(results[1], results[2])
  return table.unpack(results, 2, results.n)
end

describe('a huge number #cpu', function()
  it('as batch_size makes one batch of all samples', function()
    local data = torch.utils.data
    for _, size in ipairs { 1000000000, math.maxinteger } do
      local loader = data.DataLoader(data.TensorDataset(torch.arange(5)), { batch_size = size })
      assert.equal(1, #loader)
      local n = 0
      briefly(function()
        for batch in loader do n = n + #batch end
      end)
      assert.equal(5, n)
    end
  end)

  it('of columns or steps is refused by the tensor that would hold them', function()
    fails_with('memory', briefly, torch.vander, torch.ones(3), 1 << 40)
    local packed = torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 4), { 3, 1 })
    fails_with('memory', briefly, torch.nn.utils.rnn.pad_packed_sequence, packed, { total_length = 1 << 40 })
    local padded, lengths = torch.nn.utils.rnn.pad_packed_sequence(packed, { total_length = 5, padding_value = 7.0 })
    assert.equal(torch.Size { 5, 2, 4 }, padded.shape)
    assert.equal(7.0, padded[5][1][1]:item())
    assert.same({ 3, 1 }, lengths:tolist())
    assert.same({ { 1, 2, 4 }, { 1, 3, 9 } }, torch.vander(torch.tensor { 2, 3 }, 3, true):tolist())
  end)

  -- Runs a file of support/, which prints what took too long, and how many calls there were: more than `least`.
  local function answered(file, least)
    local output, message, status = process.run(('ulimit -v 8000000; timeout 400 %s --no-copies %s'):format(process.quote(process.ltensor),
      process.quote(here .. 'support/' .. file)))
    assert.equal(0, status, message:match '([^\n]*)\n*$')
    local calls = tonumber(output:match '(%d+) calls')
    assert.equal('', (output:gsub('%d+ calls\n', '')))
    assert(calls > least, calls)
  end

  it('as any integer argument of an op is answered within two seconds', function() answered('bounds.lua', 2000) end)

  it('as any integer argument of a function or constructor in Lua is answered within two seconds #again', function()
    answered('declared_bounds.lua', 1200)
  end)
end)
