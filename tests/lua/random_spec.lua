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

    -- The uniform numbers that they are made of, drawn anew; more than blocks of 256 and 64, and an end.
    it('exponential_ is minus a logarithm, never -0', function()
      for _, dtype in ipairs { torch.float64, torch.float32 } do
        torch.manual_seed(11)
        local u = torch.rand(1003, { dtype = torch.float64 })
        torch.manual_seed(11)
        local drawn = torch.empty(1003, { dtype = dtype }):exponential_(2.5)
        local expected = torch.log1p(-u) / -2.5
        local unit = dtype == torch.float64 and 2.0 ^ -51 or 2.0 ^ -24
        assert.is_true((drawn:double() - expected):abs():le(expected * unit):all():item())
        assert.is_true(torch.ones(1003, { dtype = dtype }):copysign(drawn):eq(1):all():item())
      end
    end)

    it('randperm exchanges each with one that comes not before it', function()
      for _, n in ipairs { 1, 2, 63, 64, 65, 1000 } do
        torch.manual_seed(5)
        local expected, raw = {}, {}
        for i = 1, n - 1 do raw[i] = torch.randint(0, 2 ^ 27, { 1 }) end -- moves the generator by one draw each
        torch.manual_seed(5)
        local first = torch.randperm(n)
        local after = torch.rand(1):item()
        torch.manual_seed(5)
        for _ = 1, n - 1 do torch.randint(0, 2 ^ 27, { 1 }) end
        assert.equal(after, torch.rand(1):item())
        for _, v in ipairs(first:tolist()) do expected[v] = true end
        assert.equal(n, #expected)
      end
    end)

    it('multinomial finds the first running sum that is not less', function()
      for _, n in ipairs { 1, 2, 3, 7, 8, 9, 1000 } do
        torch.manual_seed(4)
        local p = torch.rand(n, { dtype = torch.float64 })
        if n > 3 then p:narrow(1, 2, 2):zero_() end
        local sums = (p:cumsum(1) / p:sum()):tolist()
        torch.manual_seed(6)
        local u = torch.rand(300, { dtype = torch.float64 }):tolist()
        torch.manual_seed(6)
        for i, v in ipairs(p:multinomial(300, true):tolist()) do
          assert.is_true((v == n or sums[v] >= u[i] - 1e-14) and (v == 1 or sums[v - 1] < u[i] + 1e-14))
        end
      end
    end)

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
