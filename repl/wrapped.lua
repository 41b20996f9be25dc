-- Text in lines no wider than the terminal, broken between words. Returns lists of lines and prints
-- nothing. May use repl.system and torch.utils.width.

local width = require 'torch.utils.width'

local wrapped = {}

local MIN_COLUMNS, MAX_COLUMNS = 20, 79

-- The width of text, in columns.
function wrapped.columns() return math.max(MIN_COLUMNS, math.min(MAX_COLUMNS, (require('repl.system').size()) - 1)) end

-- The lines of the text; lines that continue one are indented by `hanging` more.
function wrapped.lines(text, hanging, columns)
  columns = columns or wrapped.columns()
  local lines = {}
  for line in (text .. '\n'):gmatch '([^\n]*)\n' do
    local indent = line:match '^%s*'
    local current
    for word in width.of(line) > columns and line:gmatch '%S+' or function() end do
      if current and width.of(current) + 1 + width.of(word) > columns then
        lines[#lines + 1] = current
        current = indent .. hanging .. word
      else
        current = current and current .. ' ' .. word or indent .. word
      end
    end
    lines[#lines + 1] = current or line
  end
  return lines
end

-- A label and a list of words, separated by one blank; continuation lines are indented by two.
function wrapped.words(label, words, columns)
  columns = columns or wrapped.columns()
  local lines, line = {}, label
  for _, word in ipairs(words) do
    if width.of(line) + 1 + width.of(word) > columns then
      lines[#lines + 1] = line
      line = ' '
    end
    line = line .. ' ' .. word
  end
  lines[#lines + 1] = line
  return lines
end

-- Rows {label, text} as two columns: the text is wrapped beside its label.
function wrapped.rows(rows, indent, columns)
  columns = columns or wrapped.columns()
  local label_width, lines = 0, {}
  for _, row in ipairs(rows) do label_width = math.max(label_width, width.of(row[1])) end
  label_width = math.min(label_width, columns // 3)
  local beside = #indent + label_width + 2
  for _, row in ipairs(rows) do
    local start = indent .. row[1]
    if width.of(row[1]) > label_width then
      lines[#lines + 1] = start
      start = ''
    end
    for index, line in ipairs(wrapped.lines(row[2], '', columns - beside)) do
      local before = index == 1 and start or ''
      lines[#lines + 1] = before .. (' '):rep(beside - width.of(before)) .. line
    end
  end
  return lines
end

-- The widths of `count` columns that hold the words row by row; nil if they need more than `room`.
local function column_widths(words, count, room)
  local widths, total = {}, 2 * (count - 1)
  for index, word in ipairs(words) do
    local column = (index - 1) % count + 1
    local before = widths[column] or 0
    widths[column] = math.max(before, width.of(word))
    total = total + widths[column] - before
    if total > room then return nil end
  end
  return widths
end

-- Words beside a label, in as many aligned columns as fit; if a few long words would leave little
-- room for columns, the words follow each other.
function wrapped.grid(label, words, columns)
  local room, used, widths = math.max(1, columns - width.of(label)), -2, nil
  for _, word in ipairs(words) do used = used + 2 + width.of(word) end
  local packed_rows = used // room + 1
  for count = math.max(1, math.min(#words, (room + 2) // 3)), 1, -1 do
    widths = column_widths(words, count, room)
    if widths and #words > 1.5 * packed_rows * count then widths = nil break end
    if widths then break end
  end
  local lines, line, column = {}, nil, 0
  for _, word in ipairs(words) do
    column = column + 1
    if not line or widths and column > #widths or not widths and width.of(line) + 2 + width.of(word) > columns then
      lines[#lines + 1] = line
      line, column = (#lines == 0 and label or (' '):rep(width.of(label))) .. word, 1
    else
      line = line .. '  ' .. word
    end
    if widths then line = line .. (' '):rep(widths[column] - width.of(word)) end
  end
  lines[#lines + 1] = line
  for index, each in ipairs(lines) do lines[index] = each:match '^(.-)%s*$' end
  return lines
end

return wrapped
