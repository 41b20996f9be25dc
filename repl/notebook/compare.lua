-- Compares the output of a cell with the notebook, and describes differences.
--
-- Expected lines may contain `<f>` (one printed number of any width) and `<...>` (any text on the
-- line), or be `<***>` (any number of lines). Blanks at the ends of lines are ignored. Depends on
-- nothing.

local compare = {}

local function trimmed(line) return (line:gsub('%s+$', '')) end

-- The position after a printed number that starts at `position`, including blanks before it.
local function after_number(text, position)
  local start = text:match('^%s*[+-]?()', position)
  local word = text:match('^inf()', start) or text:match('^nan()', start)
  if word then return word end
  local after = text:match('^%d+%.?%d*()', start) or text:match('^%.%d+()', start)
  if not after then return nil end
  return text:match('^[eE][+-]?%d+()', after) or after
end

-- Matches `text` from `position` against the pattern's parts from `index` on.
local function match_parts(parts, index, text, position)
  local part = parts[index]
  if not part then return position > #text end
  if part == '<f>' then
    local after = after_number(text, position)
    return after ~= nil and match_parts(parts, index + 1, text, after)
  elseif part == '<...>' then
    for after = position, #text + 1 do
      if match_parts(parts, index + 1, text, after) then return true end
    end
    return false
  end
  return text:sub(position, position + #part - 1) == part and
    match_parts(parts, index + 1, text, position + #part)
end

-- True if a printed line matches an expected line.
function compare.line(expected, got)
  expected, got = trimmed(expected), trimmed(got)
  if expected == got then return true end
  if not expected:find('<f>', 1, true) and not expected:find('<...>', 1, true) then return false end
  if expected:find('<f>', 1, true) then
    -- columns are padded to the widest number, which may be hidden by <f>
    expected, got = expected:gsub('%s+', ' '), got:gsub('%s+', ' ')
  end
  local parts, position = {}, 1
  while position <= #expected do
    local number_at = expected:find('<f>', position, true) or #expected + 1
    local any_at = expected:find('<...>', position, true) or #expected + 1
    local at = math.min(number_at, any_at)
    if at > position then
      local literal = expected:sub(position, at - 1)
      -- a blank before a number belongs to the number's column
      if at == number_at then literal = literal:gsub('%s+$', '') end
      if literal ~= '' then parts[#parts + 1] = literal end
    end
    if at > #expected then break end
    local marker = at == number_at and '<f>' or '<...>'
    parts[#parts + 1] = marker
    position = at + #marker
  end
  return match_parts(parts, 1, got, 1)
end

local function match_lines(expected, i, got, j)
  while i <= #expected do
    if trimmed(expected[i]) == '<***>' then
      for rest = j, #got + 1 do
        if match_lines(expected, i + 1, got, rest) then return true end
      end
      return false
    end
    if not got[j] or not compare.line(expected[i], got[j]) then return false end
    i, j = i + 1, j + 1
  end
  return j > #got
end

-- True if the printed lines match the expected lines.
function compare.lines(expected, got) return match_lines(expected, 1, got, 1) end

-- Lines that show how the two differ: "-" expected only, "+" printed only, " " both. A shortest
-- difference, by the length of the longest common subsequence.
function compare.difference(expected, got)
  local n, m = #expected, #got
  local same = {}
  for i = n + 1, 1, -1 do
    same[i] = {}
    for j = m + 1, 1, -1 do
      if i > n or j > m then same[i][j] = 0
      elseif compare.line(expected[i], got[j]) then same[i][j] = same[i + 1][j + 1] + 1
      else same[i][j] = math.max(same[i + 1][j], same[i][j + 1]) end
    end
  end
  local lines, i, j = {}, 1, 1
  while i <= n or j <= m do
    if i <= n and j <= m and compare.line(expected[i], got[j]) then
      lines[#lines + 1] = '  ' .. got[j]
      i, j = i + 1, j + 1
    elseif i <= n and (j > m or same[i + 1][j] >= same[i][j + 1]) then
      lines[#lines + 1] = '- ' .. expected[i]
      i = i + 1
    else
      lines[#lines + 1] = '+ ' .. got[j]
      j = j + 1
    end
  end
  return lines
end

return compare
