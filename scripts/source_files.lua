-- source_files.lua - lists and reads the files that a script checks or assembles. Paths are
-- relative to the working directory. Uses only Lua's standard library.

local M = {}

-- The text of a file; an error if it cannot be read.
function M.read(path)
  local file <close> = assert(io.open(path, 'rb'))
  return assert(file:read 'a')
end

-- The lines that a shell command prints; an error if it fails.
function M.lines_of(command)
  local lines, pipe = {}, assert(io.popen(command))
  for line in pipe:lines() do lines[#lines + 1] = line end
  assert(pipe:close(), 'failed: ' .. command)
  return lines
end

local extensions = { 'c', 'h', 'inc', 'cu', 'cuh', 'cpp' }

-- The sorted paths of the C, C++ and CUDA files below folders ('src repl'), and of the files with
-- another extension.
function M.c_files(folders, another)
  local names = {}
  for _, extension in ipairs(extensions) do names[#names + 1] = ("-name '*.%s'"):format(extension) end
  if another then names[#names + 1] = ("-name '*.%s'"):format(another) end
  return M.lines_of(('find %s %s | sort'):format(folders, table.concat(names, ' -o ')))
end

-- The end of the comment or literal of C or Lua that begins at `at`, and the text of the literal;
-- nil for other text, such as the digit separators of C++.
function M.token_at(text, at, is_lua)
  local two = text:sub(at, at + 1)
  if is_lua then
    local comment, level = text:match('^(%-?%-?)%[(=*)%[', at)
    if comment == '--' or comment == '' then
      local first, last = text:find(']' .. level .. ']', at, true)
      return last or #text, comment == '' and text:sub(at, (first or #text) - 1) or nil
    end
    if two == '--' then return (text:find('\n', at, true) or #text) end
  elseif two == '/*' then
    return select(2, text:find('*/', at + 2, true)) or #text
  elseif two == '//' then
    return (text:find('\n', at, true) or #text)
  end
  local quote = text:match('^["\']', at)
  if not quote or not is_lua and quote == "'" and text:find('^%w', at - 1) then return nil end
  local last = at + 1
  while last < #text and text:sub(last, last) ~= quote do
    last = last + (text:sub(last, last) == '\\' and 2 or 1)
  end
  return last, text:sub(at + 1, last - 1)
end

return M
