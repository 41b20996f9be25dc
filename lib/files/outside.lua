-- outside.lua - the only access of our modules to files and folders of the host. Each function
-- calls the authorizer of the interpreter's context, and raises an error if it denies access. No
-- other file of lib calls io.open, os.remove and similar functions.

local torch = require 'torch'

local C = torch._C

local M = {}

--- A file of Lua's io library; or nil, a message, the errno. mode: as in io.open. A file to read
--- must be a regular file: opening a pipe would block, and a device may have no end.
function M.open(path, mode) return C.open_stream(path, mode:sub(1, 1)) end

--- Removes a file. true; or nil, a message, the system's number.
M.remove = C.remove_file

--- Removes a file that is of no use any more. One that cannot be removed, or must not, stays.
function M.discard(path) pcall(C.remove_file, path) end

--- Creates a folder with its parents.
M.make_folder = C.make_folder

--- The names in a folder, in no order; or nil, a message, the system's number.
M.list_folder = C.list_folder

--- The path of a file named in another file, relative to the folder of that file, `beside`. nil if
--- it leads out of the folder, by the name itself or through symbolic links.
M.path_inside = C.path_inside

--- Writes a file that appears complete or not at all. ...: strings.
function M.write_file(path, ...)
  local file <close> = C.create_file(path)
  for i = 1, select('#', ...) do file:write((select(i, ...))) end
  file:commit()
end

return M
