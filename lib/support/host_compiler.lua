-- host_compiler.lua - shared libraries that the C compiler of the host makes when a program runs, for
-- torch.utils.cpp_extension and torch.kernel. They are kept in a folder of the cache. Its name is
-- a hash of everything that determines them.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local outside = require 'torch.files.outside'
local C = torch._C

local M = {}

-- 64 bits of FNV-1a.
local function hash(text, h)
  for i = 1, #text do h = (h ~ text:byte(i)) * 0x100000001b3 end
  return h
end

local function key_of(texts)
  local text = table.concat(texts, '\0')
  return ('%016x%016x'):format(hash(text, 0xcbf29ce484222325 | 0), hash(text, 0x9e3779b97f4a7c15 | 0))
end

local function cache_folder(what)
  local base = os.getenv 'XDG_CACHE_HOME'
  if not base or base == '' then
    local home = os.getenv 'HOME'
    if not home then fail('%s: neither XDG_CACHE_HOME nor HOME is set', what) end
    base = home .. '/.cache'
  end
  return base .. '/ltensor/extensions'
end

local function exists(path)
  local file = outside.open(path, 'r')
  if file then file:close() end
  return file ~= nil
end

local function compile(options, compiler, folder, path)
  outside.make_folder(folder)
  for name, text in pairs(options.headers) do outside.write_file(folder .. '/' .. name, text) end
  local file = path:gsub('%.so$', '.c')
  outside.write_file(file, options.source)
  local command = { compiler, '-shared', '-fPIC', '-I' .. folder, file }
  table.move(options.flags, 1, #options.flags, #command + 1, command)
  if options.verbose then io.stderr:write('[', options.what, '] ', table.concat(command, ' '), '\n') end
  local done, messages = C.compile_library(command, path)
  if done then return end
  if not messages then
    fail("%s: the C compiler '%s' was not found; install one (Debian: apt install gcc), or set CC to its path", options.what, compiler)
  end
  fail("%s: the compiler '%s' failed on the sources of '%s':\n%s", options.what, compiler, options.name, messages)
end

--- The path of a compiled library. options: what, the function in messages, "load_inline()"; name of
--- the library; source in C; headers, texts by the names that the source includes; flags of the
--- compiler and the linker; folder, nil: one of the cache; verbose, whether to print the command.
function M.library(options)
  local compiler = os.getenv 'CC'
  if not compiler or compiler == '' then compiler = 'cc' end
  local texts, names = { options.source, compiler, table.concat(options.flags, '\0') }, {}
  for name in pairs(options.headers) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do texts[#texts + 1] = options.headers[name] end
  local key = key_of(texts)
  local folder = options.folder or ('%s/%s-%s'):format(cache_folder(options.what), options.name, key)
  local path = ('%s/%s-%s.so'):format(folder, options.name, key)
  if not exists(path) then compile(options, compiler, folder, path) end
  return path
end

return M
