-- outside.lua - the one way from our own modules to files and folders of the host. Each function asks the context that the interpreter
-- works in (lt_context's authorizer), and raises what that does not permit. No other file of lib calls io.open, os.remove and the like.

local torch = require 'torch'

local C = torch._C

local M = {}

--- A file of Lua's io library; or nil, a message, the system's number. mode: as io.open has it. What is read must be a regular file: a pipe
--- would be waited for, a device may never end.
function M.open(path, mode) return C.open_stream(path, mode:sub(1, 1)) end

--- Removes a file. true; or nil, a message, the system's number.
M.remove = C.remove_file

--- Removes a file that is of no use any more. One that cannot be removed, or must not, stays.
function M.discard(path) pcall(C.remove_file, path) end

--- Makes a folder, and those around it, where there are none.
M.make_folder = C.make_folder

--- The names in a folder, in no order; or nil, a message, the system's number.
M.list_folder = C.list_folder

--- The path of a file that another file names: relative to the folder of `beside`. nil where that leads out of the folder, by the name
--- itself or through symbolic links.
M.path_inside = C.path_inside

--- Writes a file that appears complete or not at all. ...: strings.
function M.write_file(path, ...)
  local file <close> = C.create_file(path)
  for i = 1, select('#', ...) do file:write((select(i, ...))) end
  file:commit()
end

return M
