-- width.lua - torch.utils.width: the number of terminal columns of a text: East Asian characters
-- and emoji take two, combining ones none.
--
-- For UTF-8; other bytes count one each. The ranges are from Unicode 15's EastAsianWidth.txt (W and
-- F), merged over unassigned gaps. Depends on nothing.

local width = {}

local wide = {
  0x1100, 0x115F, 0x231A, 0x231B, 0x23E9, 0x23EC, 0x2614, 0x2615, 0x26AA, 0x26AB, 0x2705, 0x2705, 0x274C, 0x274C,
  0x2753, 0x2757, 0x2E80, 0x303E, 0x3041, 0x4DBF, 0x4E00, 0xA4CF, 0xA960, 0xA97C, 0xAC00, 0xD7A3, 0xF900, 0xFAFF,
  0xFE30, 0xFE6F, 0xFF01, 0xFF60, 0xFFE0, 0xFFE6, 0x16FE0, 0x18CFF, 0x1AFF0, 0x1B2FF, 0x1F300, 0x1F64F,
  0x1F680, 0x1F6FF, 0x1F7E0, 0x1F7F0, 0x1F90C, 0x1FAFF, 0x20000, 0x3FFFD,
}
local none = {0x300, 0x36F, 0x200B, 0x200F, 0x20D0, 0x20F0, 0xFE00, 0xFE0F, 0xE0100, 0xE01EF}

local function within(ranges, code)
  for index = 1, #ranges, 2 do
    if code < ranges[index] then return false end
    if code <= ranges[index + 1] then return true end
  end
  return false
end

-- The width of one character in columns.
function width.of_code(code)
  if code < 0x300 then return 1 end
  if within(none, code) then return 0 end
  return within(wide, code) and 2 or 1
end

-- The columns of a text without line ends.
function width.of(text)
  if not text:find '[\xCC-\xF4]' or not utf8.len(text) then return utf8.len(text) or #text end
  local total = 0
  for _, code in utf8.codes(text) do total = total + width.of_code(code) end
  return total
end

-- Truncates a text to at most `columns`, with `...` at its end.
function width.cut(text, columns)
  if width.of(text) <= columns then return text end
  if not utf8.len(text) then return text:sub(1, columns - 3) .. '...' end
  local total = 0
  for position, code in utf8.codes(text) do
    total = total + width.of_code(code)
    if total > columns - 3 then return text:sub(1, position - 1) .. '...' end
  end
  return text
end

return width
