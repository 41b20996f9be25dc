-- examples.lua - the examples of the operations (src/ops/README.md) in LuaJIT: their output is the declared one. Usage:
-- luajit examples.lua FILE... A table of numbers without a point gets the dtype int64, which LuaJIT's numbers do not have.

local torch = require 'ltensor-ffi'

local function with_dtypes(line)
  local function typed(call, data, close)
    if data:find 'dtype' or data:find '[%d]%.%d' or data:find '%de%-?%d' or data:find '%a' or not data:find '%d' then return nil end
    return call .. data:sub(1, -2) .. ', dtype = torch.int64}' .. close
  end
  line = line:gsub('(torch%.tensor%s*)(%b{})()', function(call, data) return typed(call, data, '') end)
  return (line:gsub('(torch%.tensor%()(%b{})(%))', typed))
end

local show

local function shown(v)
  if type(v) == 'number' then return ('%.4g'):format(v) end
  if type(v) == 'table' and not getmetatable(v) then
    local parts = {}
    for i, entry in ipairs(v) do parts[i] = shown(entry) end
    return '{' .. table.concat(parts, ', ') .. '}'
  end
  return type(v) == 'string' and "'" .. v .. "'" or tostring(v)
end

function show(n, ...)
  local parts = {}
  for i = 1, n do parts[i] = shown((select(i, ...))) end
  return n == 1 and parts[1] or n > 1 and '(' .. table.concat(parts, ', ') .. ')' or ''
end

-- Blanks and the form of numbers are those of the prompt.
local function plain(text) return (text:gsub('%s+', ' '):gsub('(%d)%.0+%f[^%d]', '%1'):gsub('^ ', ''):gsub(' $', '')) end

-- Examples with numbers, operators and functions that LuaJIT or the module does not have.
local other_language = { 'torch%.complex', 'sparse', ' // ', '} [&|~] ', '~torch', '<<', '>>', 'as_tuple', 'torch%.full%(', 'atleast_1d%(torch%.tensor%(5' }

local function is_possible(code)
  for _, pattern in ipairs(other_language) do
    if code:find(pattern) then return false end
  end
  return true
end

local passed, skipped, differ, failed = 0, 0, {}, {}

local function run(name, lines, expected)
  if not is_possible(table.concat(lines)) then
    skipped = skipped + 1
    return
  end
  local env = setmetatable({ torch = torch, nn = torch.nn, try_gpu = function() return 'cpu' end }, { __index = _G })
  env.table = setmetatable({ unpack = unpack }, { __index = table })
  local output
  for line in (table.concat(lines, '; ') .. ';'):gmatch '%s*([^;]+);' do
    line = with_dtypes(line:gsub('^local ', ''))
    local chunk, message = loadstring('return ' .. line)
    if not chunk then chunk, message = loadstring(line) end
    if not chunk then
      failed[#failed + 1] = ('%s: %s'):format(name, message)
      return
    end
    setfenv(chunk, env)
    local ok, text = (function(ok, ...) return ok, ok and show(select('#', ...), ...) or tostring((...)) end)(pcall(chunk))
    if not ok then
      failed[#failed + 1] = ('%s: %s'):format(name, text)
      return
    end
    if text ~= '' then output = text end
  end
  if plain(output or '') == plain(expected) then
    passed = passed + 1
  else
    differ[#differ + 1] = ('%s: expected %s, got %s'):format(name, expected, tostring(output))
  end
end

for _, path in ipairs(arg) do
  local file = assert(io.open(path))
  local text = file:read '*a'
  file:close()
  local name, lines, expected = nil, {}, nil
  for line in ((text:match 'examples = %[=%[\n(.-)%]=%]' or '') .. '\nend\n'):gmatch '([^\n]*)\n' do
    local out, code = line:match '^    %-%-> ?(.*)$', line:match '^    (.*)$'
    if expected and not out then
      run(name, lines, expected)
      expected = nil
      if not code then lines = {} end
    end
    if out then
      expected = (expected and expected .. '\n' or '') .. out
    elseif code then
      if name then lines[#lines + 1] = code end
    elseif line:find '%S' then
      name, lines = line, {}
    end
  end
end
for _, list in ipairs { differ, failed } do
  for _, text in ipairs(list) do io.stderr:write(text, '\n') end
end
print(('%d passed, %d failed'):format(passed, #differ + #failed))
if #differ + #failed > 0 or skipped > 40 or passed < 600 then os.exit(1) end
