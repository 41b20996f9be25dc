-- csv_rows.lua - the fields of a CSV text: a list of rows, each a list of strings with its line
-- number in `line`. Rows without fields are skipped. path: for messages.

local fail = require 'torch.support.fail'

return function(text, separator, path)
  local rows, row, at, line = {}, {}, 1, 1
  row.line = 1
  local stops = '[' .. (separator:gsub('%W', '%%%0')) .. '\r\n]'
  if text:sub(1, 3) == '\xEF\xBB\xBF' then at = 4 end -- a byte order mark
  local function finish_row()
    if not (#row == 1 and row[1] == '') then rows[#rows + 1] = row end
    row = { line = line }
  end
  while at <= #text + 1 do
    local field
    if text:sub(at, at) == '"' then
      local start, stop = at + 1, at + 1
      while true do
        stop = text:find('"', stop, true)
        if not stop then fail('%s:%d: a quoted field does not end', path, row.line) end
        if text:sub(stop + 1, stop + 1) ~= '"' then break end
        stop = stop + 2
      end
      field = text:sub(start, stop - 1)
      local _, lines = field:gsub('\n', '')
      line = line + lines
      field = field:gsub('""', '"')
      at = stop + 1
      if at <= #text and not text:find('^' .. stops, at) then fail('%s:%d: text after a quoted field', path, line) end
    else
      local stop = text:find(stops, at) or #text + 1
      field = text:sub(at, stop - 1)
      at = stop
    end
    row[#row + 1] = field
    local char = text:sub(at, at)
    if char == separator then
      at = at + 1
    else
      if char == '\r' and text:sub(at + 1, at + 1) == '\n' then at = at + 1 end
      at = at + 1
      line = line + 1
      finish_row()
    end
  end
  return rows
end
