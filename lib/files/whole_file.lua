-- whole_file.lua - reads a file as a string, up to a maximum size, so that an endless device or
-- pipe is an error instead of exhausting memory. Reads in pieces, so that Ctrl-C works.

local fail = require 'torch.support.fail'
local outside = require 'torch.files.outside'
local torch = require 'torch'

local PIECE = 1 << 20

local M = {}

--- Maximum size for readers of whole files, unless their option max_bytes changes it.
M.MAX_BYTES = 1 << 30

--- @param path  the file
-- @param max_bytes  how many bytes it may have; nil: MAX_BYTES
function M.read(path, max_bytes)
  max_bytes = max_bytes or M.MAX_BYTES
  if type(max_bytes) ~= 'number' or max_bytes < 0 then fail('max_bytes must be a number of bytes, got %s', tostring(max_bytes)) end
  local file <close>, message = outside.open(path, 'rb')
  if not file then fail('%s', message) end
  local pieces, total = {}, 0
  while true do
    local piece, problem = file:read(PIECE)
    if problem then fail('%s: %s', path, problem) end
    if not piece then return table.concat(pieces) end
    total = total + #piece
    if total > max_bytes then
      fail('%s: more than %d bytes; a larger file is read with {max_bytes = ...}', path, math.floor(max_bytes))
    end
    pieces[#pieces + 1] = piece
  end
end

--- The object in a JSON file, with null as an absent value; nil: it has none, and the reason in
--- parentheses.
function M.json_object(path, max_bytes)
  local text = M.read(path, max_bytes)
  if not utf8.len(text) then return nil, ' (not UTF-8)' end
  local value, problem = torch._C.read_json(text, function() return {} end, nil)
  if type(value) == 'table' then return value end
  return nil, problem and ' (' .. problem .. ')' or ''
end

return M
