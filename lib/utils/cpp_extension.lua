-- cpp_extension.lua - torch.utils.cpp_extension: operations in C that are compiled when the program
-- runs. The compiler of the host makes a plugin (ltensor_plugin.h) in the folder of the cache, whose
-- name is a hash of everything that determines it.

--[=[ arguments
name: Namespace of the operations in `torch.ops`.
c_sources: The source in C, or a table of sources.
functions: Declarations of the operations: `'twice(Tensor x) -> Tensor'`, which the C function `twice` computes. A table `{'twice(Tensor x) -> Tensor', derivative = 'twice_derivative', saves = 'x', meta = 'twice_meta'}` names more functions. nil: the source has its own lt_plugin_open.
extra_cflags: Table of options for the compiler.
extra_ldflags: Table of options for the linker.
build_directory: Folder for the compiled plugin; nil: a folder in `$XDG_CACHE_HOME` or `~/.cache`.
verbose: Whether the command is printed to stderr.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local outside = require 'torch.files.outside'
local C = torch._C

local M = {}

-- ---- the source ---------------------------------------------------------------------------------

local PRELUDE = [[
#include "ltensor_plugin.h"
static const lt_plugin_api *lt; /* the functions of the library */
]]

local function quoted(text) return '"' .. text:gsub('[\\"]', '\\%0'):gsub('\n', '\\n') .. '"' end

-- The entry point of a plugin that registers the functions.
local function entry_point(name, functions)
  local lines = { 'LT_PLUGIN lt_status lt_plugin_open(const lt_plugin_api *api)\n{\n    lt_op_definition d;\n    lt = api;' }
  for i, entry in ipairs(functions) do
    local f = type(entry) == 'table' and entry or { entry }
    local declaration = f[1]
    local function_name = type(declaration) == 'string' and declaration:match '^%s*([%a_][%w_]*)%s*%('
    if not function_name then
      fail("load_inline(): entry %d of functions must be a declaration such as 'twice(Tensor x) -> Tensor', got %s", i, tostring(declaration))
    end
    for key in pairs(f) do
      if key ~= 1 and key ~= 'derivative' and key ~= 'saves' and key ~= 'meta' then
        fail("load_inline(): entry %d of functions has the unknown name '%s'; derivative, saves and meta are possible", i, tostring(key))
      end
    end
    lines[#lines + 1] = ('    d = lt_op_definition_of(%s, %s);'):format(quoted(name .. '::' .. declaration:match '^%s*(.*)$'), function_name)
    if f.derivative then lines[#lines + 1] = ('    d.derivative = %s;'):format(f.derivative) end
    if f.saves then lines[#lines + 1] = ('    d.saves = %s;'):format(quoted(f.saves)) end
    if f.meta then lines[#lines + 1] = ('    d.meta = %s;'):format(f.meta) end
    lines[#lines + 1] = '    if (api->op_register(&d) != LT_OK) return LT_ERR_RUNTIME;'
  end
  lines[#lines + 1] = '    return LT_OK;\n}\nLT_PLUGIN_DECLARE\n'
  return table.concat(lines, '\n')
end

local function source_of(options)
  local sources = options.c_sources
  if type(sources) == 'string' then sources = { sources } end
  local parts = { PRELUDE }
  for i, source in ipairs(sources) do
    if type(source) ~= 'string' then fail('load_inline(): entry %d of c_sources must be a string, got %s', i, torch.type(source)) end
    parts[#parts + 1] = ('#line 1 "%s_%d.c"\n%s\n'):format(options.name, i, source)
  end
  local functions = options.functions
  if type(functions) == 'string' then functions = { functions } end
  if functions then
    parts[#parts + 1] = '#line 1 "lt_plugin_open"\n' .. entry_point(options.name, functions)
  else
    parts[#parts + 1] = 'LT_PLUGIN_DECLARE\n'
  end
  return table.concat(parts)
end

-- ---- the cache ----------------------------------------------------------------------------------

-- 64 bits of FNV-1a.
local function hash(text, h)
  for i = 1, #text do h = (h ~ text:byte(i)) * 0x100000001b3 end
  return h
end

local function key_of(...)
  local text = table.concat({ ... }, '\0')
  return ('%016x%016x'):format(hash(text, 0xcbf29ce484222325 | 0), hash(text, 0x9e3779b97f4a7c15 | 0))
end

local function cache_folder()
  local base = os.getenv 'XDG_CACHE_HOME'
  if not base or base == '' then
    local home = os.getenv 'HOME'
    if not home then fail 'load_inline(): neither XDG_CACHE_HOME nor HOME is set; pass build_directory' end
    base = home .. '/.cache'
  end
  return base .. '/ltensor/extensions'
end

local function exists(path)
  local file = outside.open(path, 'r')
  if file then file:close() end
  return file ~= nil
end

-- ---- compiling ----------------------------------------------------------------------------------

local function compile(options, folder, source, path, flags)
  outside.make_folder(folder)
  for name, text in pairs(require 'torch.plugin_headers') do outside.write_file(folder .. '/' .. name, text) end
  local file = path:gsub('%.so$', '.c')
  outside.write_file(file, source)
  local command = { options.compiler, '-shared', '-fPIC', '-O2', '-I' .. folder, file }
  for _, flag in ipairs(flags) do command[#command + 1] = flag end
  if options.verbose then io.stderr:write('[cpp_extension] ', table.concat(command, ' '), '\n') end
  local done, messages = C.compile_library(command, path)
  if done then return end
  if not messages then
    fail("load_inline(): the C compiler '%s' was not found; install one (Debian: apt install gcc), or set CC to its path", options.compiler)
  end
  fail("load_inline(): the compiler '%s' failed on the sources of '%s':\n%s", options.compiler, options.name, messages)
end

--- Compiles operations that are written in C, loads them, and returns their namespace of torch.ops.
--- The result is cached: the compiler runs again only if the sources or options change. Sources
--- call the library by `lt->`, the table of ltensor_plugin.h.
function M.load_inline(options)
  local name = options.name
  if not name:find '^[%a_][%w_]*$' then fail("load_inline(): the name '%s' is no namespace: letters, digits and _ are possible", name) end
  local compiler = os.getenv 'CC'
  if not compiler or compiler == '' then compiler = 'cc' end
  local flags = {}
  for _, list in ipairs { options.extra_cflags or {}, options.extra_ldflags or {} } do
    for _, flag in ipairs(list) do flags[#flags + 1] = flag end
  end
  local source, headers = source_of(options), require 'torch.plugin_headers'
  local key = key_of(source, compiler, table.concat(flags, '\0'), headers['ltensor.h'], headers['ltensor_register.h'], headers['ltensor_plugin.h'])
  local folder = options.build_directory or cache_folder() .. '/' .. name .. '-' .. key
  local path = ('%s/%s-%s.so'):format(folder, name, key)
  if not exists(path) then
    compile({ name = name, compiler = compiler, verbose = options.verbose }, folder, source, path, flags)
  end
  torch.ops.load_library(path)
  return torch.ops[name]
end

M.load_inline = declare.declare([[
  load_inline(string name, string|list c_sources, any? functions, list? extra_cflags, list? extra_ldflags, string? build_directory, boolean verbose=false)
]], M.load_inline, 'names')

return M
