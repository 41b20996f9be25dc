-- index_text.lua - parses the text of an index, x['2:4, :'].

local function number_of(text, refuse)
  if text == '' then return nil end
  return math.tointeger(tonumber(text)) or refuse(text)
end

--- The entries: numbers, 'None', '...', and tables { first, last, step, is_slice = true }. refuse(text)
-- raises an error about a part that is none of these.
return function(text, refuse)
  local list = {}
  for part in (text .. ','):gmatch '%s*(.-)%s*,' do
    if part == 'None' or part == '...' then
      list[#list + 1] = part
    elseif part:find ':' then
      local first, last, step = part:match '^(%-?%d*):(%-?%d*):?(%-?%d*)$'
      if not first then refuse(text) end
      list[#list + 1] = { number_of(first, refuse), number_of(last, refuse), number_of(step, refuse), is_slice = true }
    else
      list[#list + 1] = number_of(part, refuse)
    end
  end
  return list
end
