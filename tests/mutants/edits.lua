-- edits.lua - the edits of a line that a mutant is made by.
--
-- edits.of(line, kind, language) lists the lines that one edit makes of it. Kind 'random' changes an operator or a constant, whichever; 'careless'
-- makes the mistakes of a tired programmer: a check or a release forgotten, arguments swapped, a bound off by one, the wrong one of two
-- neighbours, a call dropped.

local M = {}

local function add(list, line, from, to, text)
  local new = line:sub(1, from - 1) .. text .. line:sub(to + 1)
  if new ~= line then list[#list + 1] = new end
end

-- Whether the position is outside of strings and comments.
local function in_code(line, at)
  local quote
  local i = 1
  while i < at do
    local c = line:sub(i, i)
    if quote then
      if c == '\\' then i = i + 1 elseif c == quote then quote = nil end
    elseif line:find('^/[/*]', i) or line:find('^%-%- ', i) then
      return false
    elseif c == '"' or c == "'" then
      quote = c
    end
    i = i + 1
  end
  return not quote
end

-- A list of { pattern with (), text () , replacements }: every place where the pattern stands in code.
local function replace_all(list, line, pattern, texts)
  local from = 1
  while true do
    local at, to = line:find(pattern, from)
    if not at then return end
    local start, stop = line:match('()' .. '', at), to
    local inner_from, inner_to = line:match('^' .. pattern, at)
    if inner_from then start, stop = inner_from, inner_to - 1 end
    if in_code(line, start) then
      for _, text in ipairs(texts) do add(list, line, start, stop, text) end
    end
    from = at + 1
  end
end

local OPERATORS = {
  C = {
    { '%s()<()%s', { '<=', '>' } }, { '%s()<=()%s', { '<' } }, { '%s()>()%s', { '>=', '<' } }, { '%s()>=()%s', { '>' } }, { '%s()==()%s', { '!=' } }, { '%s()!=()%s', { '==' } },
    { '[%w_%)%]]%s()%+()%s', { '-' } }, { '[%w_%)%]]%s()%-()%s', { '+' } }, { '[%w_%)%]]%s()%*()%s', { '/', '+' } }, { '[%w_%)%]]%s()/()%s', { '*' } }, { '%s()%%()%s', { '/' } },
    { '%s()&&()%s', { '||' } }, { '%s()||()%s', { '&&' } }, { '()!()[%w_%(]', { '' } }, { '%s()%+=()%s', { '-=', '=' } }, { '%s()%-=()%s', { '+=' } }, { '%s()%*=()%s', { '=' } },
    { '()%+%+()', { '--' } }, { '%f[%w]()true()%f[%W]', { 'false' } }, { '%f[%w]()false()%f[%W]', { 'true' } }, { '%s()<<()%s', { '>>' } }, { '%s()>>()%s', { '<<' } }, { '%s()&()%s', { '|' } },
    { '%s()|()%s', { '&' } }, { '%s()|=()%s', { '=' } }, { '()break;()', { '' } }, { '()continue;()', { '' } },
  },
  Lua = {
    { '%s()<()%s', { '<=', '>' } }, { '%s()<=()%s', { '<' } }, { '%s()>()%s', { '>=', '<' } }, { '%s()>=()%s', { '>' } }, { '%s()==()%s', { '~=' } }, { '%s()~=()%s', { '==' } },
    { '[%w_%)%]]%s()%+()%s', { '-' } }, { '[%w_%)%]]%s()%-()%s', { '+' } }, { '[%w_%)%]]%s()%*()%s', { '/', '+' } }, { '[%w_%)%]]%s()/()%s', { '*' } }, { '%f[%w]()and()%f[%W]', { 'or' } },
    { '%f[%w]()or()%f[%W]', { 'and' } }, { '%f[%w]()not ()', { '' } }, { '%f[%w]()true()%f[%W]', { 'false' } }, { '%f[%w]()false()%f[%W]', { 'true' } }, { '()#()[%w_]', { '-1 + #' } },
  },
}

local function numbers(list, line)
  replace_all(list, line, '%f[%w_%.]()%d+()%f[^%w_%.]', {})
  local from = 1
  while true do
    local at, to = line:find('%f[%w_%.]%d+%f[^%w_%.]', from)
    if not at then return end
    local number = math.tointeger(tonumber(line:sub(at, to)))
    if number and in_code(line, at) then
      add(list, line, at, to, tostring(number + 1))
      if number > 0 then add(list, line, at, to, tostring(number - 1)) end
    end
    from = to + 1
  end
end

-- Pairs of names that are taken for each other.
local NEIGHBOURS = { { 'src', 'dst' }, { 'i', 'j' }, { 'rows', 'columns' }, { 'rows', 'cols' }, { 'size', 'stride' }, { 'sizes', 'strides' }, { 'shape', 'stride' }, { 'input', 'output' }, { 'a', 'b' }, { 'x', 'y' }, { 'first', 'last' },
  { 'from', 'to' }, { 'begin', 'end' }, { 'n', 'count' }, { 'self', 'other' }, { 'row', 'column' }, { 'weight', 'bias' }, { 'min', 'max' }, { 'floor', 'ceil' }, { 'mean', 'var' }, { 'in', 'out' }, { 'left', 'right' }, { 'outer', 'inner' },
  { 'grad', 'value' }, { 'before', 'after' }, { 'height', 'width' }, { 'low', 'high' }, { 'key', 'value' }, { 'continue', 'break' } }

local function careless(list, line, language)
  local indent, code = line:match '^(%s*)(.*)$'
  -- A statement that is a call, or a check, is forgotten.
  if language == 'C' then
    if code:find '^[%w_%->%.]+%(.*%);$' and not code:find '^return' and not code:find '^sizeof' then list[#list + 1] = indent .. ';' end
    if code:find '^if %(.*%) return[^;]*;$' or code:find '^if %(.*%) goto [%w_]+;$' or code:find '^if %(.*%) [%w_]+%(.*%);$' then list[#list + 1] = indent .. ';' end
    if code:find '^[%w_%->%.%[%]%*]+ [%+%-|&]?= .*;$' then list[#list + 1] = indent .. ';' end
    local rest = code:match '^else (if %(.*)$' or code:match '^} else (if %(.*)$' and nil
    if rest then list[#list + 1] = indent .. rest end
  else
    if code:find '^[%w_%.:]+%b()$' and not code:find '^function' then list[#list + 1] = indent end
    if code:find '^if .* then return.* end$' or code:find '^if .* then [%w_%.:]+%b() end$' or code:find '^if .* then error.* end$' then list[#list + 1] = indent end
    if code:find '^[%w_%.%[%]]+ = [^{]*$' and not code:find ' function' then list[#list + 1] = indent end
  end
  -- Two arguments are swapped.
  local from = 1
  while true do
    local at, to, a, b = line:find('%f[%w_]([%w_%.%->%[%]]+), ([%w_%.%->%[%]]+)%f[^%w_%.%->%[%]]', from)
    if not at then break end
    if a ~= b and in_code(line, at) and not line:find '^%s*local' and not line:find '^static' then add(list, line, at, to, b .. ', ' .. a) end
    from = at + #a
  end
  -- A bound is off by one.
  replace_all(list, line, '()%s%+ 1()%f[%W]', { '' })
  replace_all(list, line, '()%s%- 1()%f[%W]', { '' })
  replace_all(list, line, '%s()<()%s', { '<=' })
  replace_all(list, line, '%s()<=()%s', { '<' })
  replace_all(list, line, '%s()>()%s', { '>=' })
  replace_all(list, line, '= ()0();', { '1' })
  -- One of two conditions is forgotten.
  if language == 'C' then
    replace_all(list, line, '%(?()[%w_%->%.!%[%]]+ && ()', { '' })
    replace_all(list, line, '() && [%w_%->%.!%[%]]+()[%)%s]', { '' })
    replace_all(list, line, '() || [%w_%->%.!%[%]]+()[%)%s]', { '' })
  else
    replace_all(list, line, '()[%w_%.#%[%]]+ and ()', { '' })
    replace_all(list, line, '() or [%w_%.#%[%]\'"{}]+()', { '' })
  end
  -- A neighbour's name.
  for _, names in ipairs(NEIGHBOURS) do
    for k = 1, 2 do replace_all(list, line, '%f[%w_]()' .. names[k] .. '()%f[^%w_]', { names[3 - k] }) end
  end
  -- Whether something is kept, copied or let go.
  replace_all(list, line, '%f[%w_]()[%w_]+_retain%(()', { '(' })
  replace_all(list, line, '()_retain()%f[^%w_]', { '' })
  replace_all(list, line, '():clone%(%)()', { '' })
  replace_all(list, line, '():detach%(%)()', { '' })
  replace_all(list, line, '():contiguous%(%)()', { '' })
end

function M.of(line, kind, language)
  local list = {}
  if kind == 'careless' then
    careless(list, line, language)
  else
    for _, operator in ipairs(OPERATORS[language]) do replace_all(list, line, operator[1], operator[2]) end
    numbers(list, line)
  end
  return list
end

-- Whether a line is code that can be edited: no comment, no declaration or text alone, no preprocessor.
function M.is_code(line, language)
  if line:find '^%s*$' then return false end
  if language == 'C' then
    return not (line:find '^%s*[/%*#]' or line:find 'LT_ASSERT' or line:find '^%S.*%)$' or line:find '^%s*[}{%)]+;?$' or line:find '^static.*[%(,]$' or line:find '^%s*"[^"]*"[,;%)]*$' or line:find '^typedef' or line:find '^enum' and not line:find '=')
  end
  return not (line:find '^%s*%-%-' or line:find '^%s*end[%)%s,]*$' or line:find '^%s*else$' or line:find '^local [%w_]+ = require')
end

return M
