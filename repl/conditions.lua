-- Notes on conditions of a cell that are tensors: `if x:eq(y) then`. Lua converts no object to a
-- boolean, so that every tensor is true, also one of zeros.
--
-- The source decides: a condition is reported if its last call returns a tensor, or if it is a
-- variable that holds a tensor after the cell and is not assigned after the condition. Parameters
-- and variables of loops and inner blocks are unknown, and not reported. No user code runs. May use
-- repl.edit.values and torch through package.loaded.

local conditions = {}

local function set(names)
  local result = {}
  for name in names:gmatch '%S+' do result[name] = true end
  return result
end

-- Methods and functions that compare element by element.
local compares = set [[eq ne lt le gt ge greater greater_equal less less_equal not_equal isnan isinf isfinite isposinf isneginf
  isclose isin logical_and logical_or logical_not logical_xor signbit]]
-- Methods that return a tensor for each tensor, and may be methods of other objects too.
local reduces = set 'any all sum mean max min abs prod bool float int detach cpu'

local opens, closes = set '( { [', set ') } ]'
local operators = set '+ - * / // ^ % & ~ | >> << .. < <= > >= == ~='

local function is_tensor(value)
  local torch = package.loaded.torch
  return type(torch) == 'table' and rawget(torch, 'is_tensor')(value)
end

-- The index of the bracket that `tokens[at]` closes.
local function opening(tokens, at)
  local depth = 0
  for index = at, 1, -1 do
    local kind = tokens[index].kind
    if closes[kind] then depth = depth + 1 elseif opens[kind] then depth = depth - 1 end
    if depth == 0 then return index end
  end
end

-- Splits the tokens first..last at `and`, `or` and `not` outside of brackets into ranges; a range
-- with another operator is left out.
local function operands(tokens, first, last)
  local list, depth, start, plain = {}, 0, first, true
  local function finish(stop)
    while start < stop and tokens[start].kind == '(' and opening(tokens, stop) == start do start, stop = start + 1, stop - 1 end
    if plain and stop >= start then list[#list + 1] = {start, stop} end
    plain = true
  end
  for index = first, last do
    local kind = tokens[index].kind
    if opens[kind] then depth = depth + 1 elseif closes[kind] then depth = depth - 1 end
    if depth == 0 and (kind == 'and' or kind == 'or' or kind == 'not') then
      finish(index - 1)
      start = index + 1
    elseif depth == 0 and operators[kind] then
      plain = false
    end
  end
  finish(last)
  return list
end

-- Whether the expression tokens[first..last], a chain of suffixes, returns a tensor: its last call
-- compares, or reduces a tensor. value_of(first, last) is the value of a path, if it is known.
local function returns_tensor(tokens, first, last, value_of)
  if tokens[last].kind ~= ')' then
    local value = value_of(first, last)
    return value ~= nil and is_tensor(value)
  end
  local open = opening(tokens, last)
  local name = open and open - 1 > first and tokens[open - 1]
  if not name or name.kind ~= 'name' then return false end
  local mark = tokens[open - 2].kind
  if mark == '.' then return compares[name.text] and tokens[first].text == 'torch' and open - 3 == first end
  if mark ~= ':' then return false end
  if reduces[name.text] then return returns_tensor(tokens, first, open - 3, value_of) end
  if not compares[name.text] then return false end
  local object = value_of(first, open - 3) -- of a chain: unknown
  return object == nil or is_tensor(object)
end

-- Whether tokens[at], a name, is followed by `=`, perhaps after more names.
local function is_assigned(tokens, at)
  while tokens[at + 1] and tokens[at + 1].kind == ',' and tokens[at + 2] and tokens[at + 2].kind == 'name' do at = at + 2 end
  return tokens[at + 1] ~= nil and tokens[at + 1].kind == '='
end

-- A function value_of(first, last) for the outline of a cell that has run.
local function reader(session, outline)
  local tokens, last_assigned = outline.tokens, {}
  for index, token in ipairs(tokens) do
    if token.kind == 'name' and is_assigned(tokens, index) then last_assigned[token.text] = index end
  end
  return function(first, last)
    local name = tokens[first].text
    if tokens[first].kind ~= 'name' or outline.inner[name] or (last_assigned[name] or 0) > first then return nil end
    for index = first + 1, last do
      local kind = tokens[index].kind
      if kind ~= '.' and kind ~= 'name' then return nil end
      if kind == 'name' and (last_assigned[tokens[index].text] or 0) > first then return nil end
    end
    return require('repl.edit.values').of_path(session, outline.source:sub(tokens[first].start, tokens[last].stop))
  end
end

-- The conditions of an outline as pairs {first, last} of indices in their order; also the first
-- arguments of assert.
local function ranges_of(outline)
  local tokens, list = outline.tokens, {}
  for first, last in pairs(outline.conditions) do list[#list + 1] = {first, last} end
  for index = 1, #tokens - 2 do
    local before = index > 1 and tokens[index - 1].kind
    if tokens[index].text == 'assert' and tokens[index + 1].kind == '(' and before ~= '.' and before ~= ':' then
      local depth, last = 0, index + 1
      repeat
        last = last + 1
        local kind = tokens[last] and tokens[last].kind
        if opens[kind] then depth = depth + 1 elseif closes[kind] then depth = depth - 1 end
      until not kind or depth < 0 or depth == 0 and kind == ','
      if last > index + 2 then list[#list + 1] = {index + 2, last - 1} end
    end
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

--- A note for each condition that is a tensor, as one text; nil if there is none. outline:
--- repl.parser's of the cell's source, which has run; name: the chunk name of the cell.
function conditions.notes(session, source, outline, name)
  if not next(outline.conditions) and not source:find('assert', 1, true) then return nil end
  local tokens, notes = outline.tokens, {}
  outline.source = source
  local value_of = reader(session, outline)
  for _, range in ipairs(ranges_of(outline)) do
    for _, operand in ipairs(operands(tokens, range[1], range[2])) do
      local first, last = operand[1], operand[2]
      if returns_tensor(tokens, first, last, value_of) then
        local text = source:sub(tokens[first].start, tokens[last].stop)
        local _, lines = source:sub(1, tokens[first].start):gsub('\n', '')
        local remedy = text:find ':a[nl][yl]%(.*%)$' and text .. ':item()' or ('%s:all():item() or %s:any():item()'):format(text, text)
        notes[#notes + 1] = ('%s:%d: %s is a tensor, and every tensor is true, also one of zeros; write %s'):format(name, lines + 1, text, remedy)
      end
    end
  end
  return notes[1] and table.concat(notes, '\n') or nil
end

return conditions
