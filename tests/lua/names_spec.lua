-- names_spec.lua - every public name of PyTorch's modules is here, or on a list that says why not (tests/reference/names_left_out.lua).

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local names = dofile(here .. 'support/names.lua')

describe('the public names of PyTorch #cpu', function()
  local report, idle = names.look()

  it('all public names exist or have a reason in the list', function()
    local missing = {}
    for _, found in ipairs(report) do
      for _, name in ipairs(found.unexplained) do missing[#missing + 1] = found.module .. '.' .. name end
    end
    assert(#missing == 0, #missing .. ' neither here nor explained: ' .. table.concat(missing, ' '))
  end)

  it('are here where they were', function()
    local n = 0
    for _, found in ipairs(report) do n = n + #found.present end
    assert(n >= 1660, n .. ' names')
  end)

  it('names with a permanent reason do not exist', function()
    assert(#idle == 0, 'nothing that is missing has these names: ' .. table.concat(idle, ' '))
  end)
end)
