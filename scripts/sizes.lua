-- sizes.lua - limits of functions, parameter lists, files and macros: part of `make lint`.
--
--   lua5.4 scripts/sizes.lua         fails if the number of excesses is above a ceiling
--   lua5.4 scripts/sizes.lua list    prints all excesses
--
-- The sources are formatted by clang-format: a function begins with a line in the first column, its
-- "{" opens the body, and it ends with a "}" in the same column; within namespaces and classes at
-- the column of its first line.

package.path = (arg[0]:match '^(.*)/' or '.') .. '/?.lua;' .. package.path
local source_files = require 'source_files'

local FUNCTION_LINES, PARAMETERS, FILE_LINES, MACRO_LINES = 80, 7, 600, 10

-- How many may exceed a limit. The file is the public header: hosts include one file, as they do of
-- SQLite and Lua.
local ceilings = { ['function'] = 0, parameters = 0, file = 1, macro = 0 }

-- Replaces comments, strings and characters by blanks; the line structure is kept.
local function code_of(text)
  local out, at = {}, 1
  for from in text:gmatch '()[/"\']' do
    local last = from >= at and source_files.token_at(text, from, false)
    if last then
      out[#out + 1] = text:sub(at, from - 1)
      out[#out + 1] = text:sub(from, last):gsub('[^\n]', ' ')
      at = last + 1
    end
  end
  out[#out + 1] = text:sub(at)
  return table.concat(out)
end

local function lines_of(text)
  local lines = {}
  for line in (text .. '\n'):gmatch '(.-)\n' do lines[#lines + 1] = line end
  if lines[#lines] == '' then lines[#lines] = nil end
  return lines
end

-- The number of parameters between the parentheses; commas in nested parentheses and templates do
-- not count.
local function count_parameters(list)
  list = list:sub(2, -2)
  if list:match '^%s*$' or list:match '^%s*void%s*$' then return 0 end
  local depth, n = 0, 1
  for c in list:gmatch '[(){}<>%[%],]' do
    if c:find '[({<%[]' then depth = depth + 1
    elseif c ~= ',' then depth = depth - 1
    elseif depth == 0 then n = n + 1 end
  end
  return n
end

local found = { ['function'] = {}, parameters = {}, file = {}, macro = {} }
local function note(kind, path, line, name, count)
  local list = found[kind]
  list[#list + 1] = ('%s:%d: %s %s: %d'):format(path, line, kind, name, count)
end

-- Whether the parameters of a function are fixed elsewhere: by the declaration of an op, the public
-- header, or, in the simulator, NVIDIA's API.
local public = source_files.read 'include/ltensor.h' .. source_files.read 'include/ltensor_register.h'
local function is_given(path, name)
  return name:find '^lt_.*_impl$' or path:find '^src/cuda/sim/' or public:find('%f[%w_]' .. name:gsub('%p', '%%%0') .. '%(')
end

-- Functions: a header (the lines since the end of the previous declaration) followed by a body.
local function measure_functions(path, lines)
  local header, first
  local i = 1
  while i <= #lines do
    local line = lines[i]
    local indent = line:match '^(%s*)'
    if line:find '^%s*#' or line:find '^%s*$' then
      header = nil
    else
      if not header then header, first = '', i end
      header = header .. ' ' .. line
      local opens = line:find '{%s*$'
      local name, list = header:match '([%w_:~]+)%s*(%b())[^()=;]-{%s*$'
      if not name then name, list = header:match '(%b())%s*(%b())[^()=;]-{%s*$' end -- NAME(add)(...)
      if opens and name and not header:find '=%s*{%s*$' and not name:find '^%u[%u%d_]+$'
        and name ~= 'if' and name ~= 'for' and name ~= 'while' and name ~= 'switch' then
        local close = '^' .. indent .. '}'
        local last = i + 1
        while last <= #lines and not lines[last]:find(close) do last = last + 1 end
        if last - first + 1 > FUNCTION_LINES then note('function', path, first, name, last - first + 1) end
        local n = count_parameters(list)
        if n > PARAMETERS and not is_given(path, name) then note('parameters', path, first, name, n) end
        i, header = last, nil
      elseif line:find '[;{}]%s*$' or line:find '^%s*[%w_]+:%s*$' then
        header = nil
      end
    end
    i = i + 1
  end
end

-- Macros with control flow: a #define and its continuation lines.
local function measure_macros(path, lines)
  local i = 1
  while i <= #lines do
    local name = lines[i]:match '^%s*#%s*define%s+([%w_]+)'
    if name then
      local first, text = i, lines[i]
      while lines[i]:find '\\%s*$' and i < #lines do
        i = i + 1
        text = text .. '\n' .. lines[i]
      end
      local flow = text:find '%f[%w_]if%f[^%w_]' or text:find '%f[%w_]for%f[^%w_]' or text:find '%f[%w_]while%f[^%w_]'
        or text:find '%f[%w_]switch%f[^%w_]' or text:find '%f[%w_]goto%f[^%w_]'
      if flow and i - first + 1 > MACRO_LINES then note('macro', path, first, name, i - first + 1) end
    end
    i = i + 1
  end
end

for _, path in ipairs(source_files.c_files 'src repl include') do
  local text = source_files.read(path)
  local lines = lines_of(code_of(text))
  if #lines > FILE_LINES then note('file', path, 1, path:match '[^/]+$', #lines) end
  measure_functions(path, lines)
  measure_macros(path, lines)
end

local failed = false
for _, kind in ipairs { 'function', 'parameters', 'file', 'macro' } do
  local list = found[kind]
  if #list > ceilings[kind] or arg[1] == 'list' then
    io.stderr:write(table.concat(list, '\n'), #list > 0 and '\n' or '')
  end
  if #list > ceilings[kind] then
    failed = true
    io.stderr:write(('sizes: %d exceed the limit of %s, %d may\n'):format(#list, kind, ceilings[kind]))
  end
end
os.exit(not failed)
