-- The readers of whole files (csv.read, read_lines, read_image) stop at a limit: files that never end are errors.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local data = torch.utils.data

describe('a file that never ends #cpu', function()
  local readers = {
    ['csv.read'] = function(options) return data.csv.read('/dev/zero', options) end,
    read_lines = function(options) return data.text.read_lines('/dev/zero', options) end,
    read_image = function(options) return data.read_image('/dev/zero', 'rgb', options) end,
  }
  for name, read in pairs(readers) do
    it('is an error of ' .. name, function()
      fails_with('/dev/zero: more than 5000000 bytes; a larger file is read with {max_bytes = ...}', read, { max_bytes = 5000000 })
      fails_with("'max_bytes' must be a number", read, { max_bytes = 'many' })
    end)
  end

  it('is refused by the readers of other formats, which want files', function()
    fails_with('not a file', torch.load, '/dev/zero')
    local nothing, message = data.idx.read('/dev/zero')
    assert.is_nil(nothing)
    assert(message:find('not a file', 1, true), message)
  end)
end)

it('a directory is an error that names it #cpu', function()
  fails_with('/tmp: Is a directory', data.text.read_lines, '/tmp')
end)
