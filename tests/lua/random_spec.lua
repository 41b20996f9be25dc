-- After torch.manual_seed(n) the CPU's generator gives PyTorch's numbers, call after call, whatever
-- the order of the calls. Only the CPU: CUDA's generator is another one.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')

if reference.device == 'cpu' then
  describe('random numbers #cpu', function()
    for number, sequence in ipairs(reference.load 'random') do
      local first = sequence.calls[1]
      it(('sequence %d, seed %d, from %s'):format(number, sequence.seed, first.op), function()
        torch.manual_seed(sequence.seed)
        for i, case in ipairs(sequence.calls) do
          case.via = case.via or 'f' -- each call once, the generator moves on
          reference.run(case, i)
        end
      end)
    end

    it('start again from the seed, dropping a kept normal', function()
      torch.manual_seed(7)
      local first = torch.randn(1):item()
      torch.manual_seed(7)
      assert.equal(first, torch.randn(1):item())
    end)

    it('differ from seed to seed', function()
      torch.manual_seed(1)
      local one = torch.rand(1):item()
      torch.manual_seed(2)
      assert.not_equal(one, torch.rand(1):item())
    end)
  end)
end
