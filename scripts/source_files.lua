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

return M
