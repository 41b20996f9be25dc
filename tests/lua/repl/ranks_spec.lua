-- The prompt and notebooks over several processes: `%%ranks` cells run on all of them.

local process = require 'support.process'
local ranks = require 'support.ranks'

local ltensor = process.quote(process.ltensor)
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'

describe('#cpu %%ranks', function()
  local function prompt(cells, options, environment)
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write(cells)
    file:close()
    local output, errors, status = process.run(('%s OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 timeout -k 5 40 %s --disable-cuda %s < %s'):format(
      environment or '', ltensor, options, path))
    os.remove(path)
    return output, errors, status
  end

  it('is any cell where there is one process', function()
    local output, errors, status = prompt('%%ranks x = 3\n%%ranks x + 1\nx\n', '-i')
    assert.equal(0, status, errors)
    assert.matches('Out[2]: 4', output, 1, true)
    assert.matches('Out[3]: 3', output, 1, true)
  end)

  for _, mpi in ipairs(ranks.installed()) do
    local environment = 'LTENSOR_MPI=' .. mpi

    it('runs on all processes of --nproc, with ' .. mpi, function()
      local output, errors, status = prompt(table.concat({
        '%%ranks dist = torch.distributed dist.init_process_group()', '%%ranks local mine = torch.tensor {dist.get_rank() + 1}',
        '%%ranks dist.all_reduce(mine) mine', 'mine * 10', '%%ranks print("here") error("deliberate " .. dist.get_rank())', '%%ranks mine:item()',
        '%%ranks if dist.get_rank() == 1 then error "one alone" end', '%%ranks :', '' }, '\n'), '--nproc 2', environment)
      assert.equal(0, status, errors)
      assert.matches('[0] tensor([3])\n[1] tensor([3])', output, 1, true)
      assert.matches('Out[4]: tensor([30])', output, 1, true) -- on rank 0 alone
      assert.matches('here\n[1] here\n[1] (cell 5):1: deliberate 1', output, 1, true)
      assert.matches('(cell 5):1: deliberate 0', errors, 1, true)
      assert.matches('[0] 3\n[1] 3', output, 1, true)
      assert.matches('[1] (cell 7):1: one alone', output, 1, true)
      assert.matches('the cell has failed on rank 1', errors, 1, true)
    end)

    it('checks the guide with two processes, with ' .. mpi, function()
      local output, errors, status = process.run(('%s OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 timeout -k 5 60 %s --disable-cuda --nproc 2 '
        .. '--cells --check %s../../../docs/guide/distributed.md'):format(environment, ltensor, here))
      assert.equal(0, status, output .. errors)
      assert.matches('^%d+ passed, 0 failed\n$', output)
    end)

    it('ends with the prompt, however that ends, with ' .. mpi, function()
      local _, errors, status = prompt('%%ranks 1\nos.exit(0, true)\n', '--nproc 2', environment)
      assert.equal(0, status, errors)
    end)
  end
end)
