-- tuning.lua - checks the tuning constants of src: numbers chosen by measurement, which affect
-- speed but not results. `make lint` fails if there are more than MAX of them, or if one lacks a
-- reason:
--
--   /* tuning: elements; a buffer on the stack leaves room in L1; half as many 3 % slower
--    * (Zen 5, 2026-11-28) */
--   #define LT_BLOCK 512
--
-- A marker has three parts: unit, reason, and measurement with machine and date. In kernel folders,
-- every named literal of at least 8 needs such a marker, or `/* fixed: reason */` if a register, a
-- format or a guarantee determines it. A number derived from another constant or from lt_cpu_info
-- (src/core/cpu_info.h) needs none.

package.path = (arg[0]:match '^(.*)/' or '.') .. '/?.lua;' .. package.path
local source_files = require 'source_files'

local MAX = 60

-- Fusion has its own folders and markers.
local KERNELS, EXCLUDED = '^src/core/cpu/', { 'chain', 'fused', '/compile/', '/roll%.' }

local faults, names, count = 0, {}, 0
local function fault(path, line, format, ...)
  io.stderr:write(('tuning: %s:%d: '):format(path, line), format:format(...), '\n')
  faults = faults + 1
end

-- The text of a comment, without its delimiters.
local function words_of(comment) return (comment:gsub('^/%*%s*', ''):gsub('%s*%*/$', ''):gsub('%s*\n%s*%*?%s*', ' ')) end

local function check_marker(path, line, words)
  local parts = {}
  for part in (words:gsub('^tuning:', '') .. ';'):gmatch '%s*([^;]*);' do parts[#parts + 1] = part end
  if #parts ~= 3 or parts[1] == '' or parts[2] == '' or not parts[3]:find '%d%d%d%d%-%d%d%-%d%d' then
    fault(path, line, 'got "%s", expected "tuning: unit; reason; measurement (machine, year-month-day)"', words)
  end
end

-- The largest number of an expression without names; nil if it contains names.
local function literal(value)
  value = value:gsub('%(%s*[us]?%w+_t%s*%)', ''):gsub('%f[%w](%d+)[uUlL]+', '%1')
  if value:find '%d%.' or value:find '0x%x*p' then return nil end -- a factor of a formula
  if value:gsub('0x%x+', ''):find '[%a_]' then return nil end
  local f = load('return ' .. value:gsub('/', '//'))
  local ok, result = pcall(f or error)
  return ok and math.tointeger(result) or nil
end

-- Checks a definition with the comments before and after it.
local function check_definition(path, line, name, value, before, behind)
  local marker = (before:find '^tuning:' and before) or (behind:find '^tuning:' and behind)
  if marker then
    check_marker(path, line, marker)
    if not names[path .. name] then count = count + 1 end
    names[path .. name] = true
    return
  end
  local number = literal(value)
  if not path:find(KERNELS) or not number or number < 8 or name:find '_F%d%d$' then return end
  for _, pattern in ipairs(EXCLUDED) do
    if path:find(pattern) then return end
  end
  if before:find '^fixed:' or behind:find '^fixed:' then return end
  fault(path, line, '%s is %s without a reason; begin its comment with "tuning: unit; reason; measurement" or "fixed: reason"', name, value)
end

local function check(path)
  local text = source_files.read(path)
  -- Joins each comment into one line, next to its definition; its newlines are kept after it for
  -- the line numbers.
  local flat = text:gsub('/%*.-%*/', function(comment) return '/*' .. words_of(comment):gsub('%*/', '') .. '*/' .. ('\1'):rep(select(2, comment:gsub('\n', ''))) end)
  local line, before = 1, ''
  for row in (flat .. '\n'):gmatch '([^\n]*)\n' do
    local code, behind = row:gsub('\1', ''), ''
    code = code:gsub('/%*(.-)%*/', function(words)
      behind = words
      return ''
    end)
    local name, value = code:match '^%s*#%s*define%s+([%u%d_]+)%s+(.-)%s*$'
    if name then check_definition(path, line, name, value, before, behind) end
    if not name then
      for enumerator, number in code:gmatch '%f[%w_](%u[%u%d_]+)%s*=%s*([^,;}=]+)' do
        if code:find '^%s*enum' or code:find('^%s*' .. enumerator) then check_definition(path, line, enumerator, number, before, behind) end
      end
    end
    line = line + 1 + select(2, row:gsub('\1', ''))
    if code:match '%S' then before = '' elseif behind ~= '' then before = behind end
  end
end

for _, path in ipairs(source_files.c_files 'src') do check(path) end

if count > MAX then
  io.stderr:write(('tuning: %d tuning constants, at most %d are allowed: delete one, or derive it from another or from lt_cpu_info\n'):format(count, MAX))
  faults = faults + 1
end
os.exit(faults == 0)
