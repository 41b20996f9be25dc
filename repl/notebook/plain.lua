-- The visible text of terminal output: without colours and other escape sequences, and with the
-- final state of overwritten lines, such as progress bars. Depends on nothing.

local plain = {}

local CUT = '\24' -- stands for the sequence that erases the rest of the line

-- The visible text of a line with parts, separated by \r, that overwrite each other.
local function written_over(line)
  local shown = ''
  for written in (line .. '\r'):gmatch '([^\r]*)\r' do
    local part, cuts = written:gsub(CUT, '')
    local kept = cuts == 0
    local whole = utf8.len(part) and utf8.len(shown)
    local after = whole and utf8.offset(shown, utf8.len(part) + 1) or not whole and #part + 1 or #shown + 1
    shown = kept and part .. shown:sub(after) or part
  end
  return shown
end

function plain.text(text)
  if not text:find '[\27\r]' then return text end
  text = text:gsub('\r\n', '\n'):gsub(CUT, '')
  text = text:gsub('\27%][^\7\27]*\27?[\7\\]', '')
  text = text:gsub('\27%[[0-?]*[ -/]*([@-~])', function(final) return final == 'K' and CUT or '' end)
  text = text:gsub('\27[ -/]*[0-~]', '')
  return (text:gsub('[^\n]*[\r\24][^\n]*', written_over))
end

return plain
