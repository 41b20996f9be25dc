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
local host_compiler = require 'torch.support.host_compiler'

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

-- ---- loading ------------------------------------------------------------------------------------

--- Compiles operations that are written in C, loads them, and returns their namespace of torch.ops.
--- The result is cached: the compiler runs again only if the sources or options change. Sources
--- call the library by `lt->`, the table of ltensor_plugin.h.
function M.load_inline(options)
  local name = options.name
  if not name:find '^[%a_][%w_]*$' then fail("load_inline(): the name '%s' is no namespace: letters, digits and _ are possible", name) end
  local flags = { '-O2' }
  for _, list in ipairs { options.extra_cflags or {}, options.extra_ldflags or {} } do
    for _, flag in ipairs(list) do flags[#flags + 1] = flag end
  end
  local path = host_compiler.library { what = 'load_inline()', name = name, source = source_of(options), headers = require 'torch.plugin_headers',
    flags = flags, folder = options.build_directory, verbose = options.verbose }
  torch.ops.load_library(path)
  return torch.ops[name]
end

M.load_inline = declare.declare([[
  load_inline(string name, string|list c_sources, any? functions, list? extra_cflags, list? extra_ldflags, string? build_directory, boolean verbose=false)
]], M.load_inline, 'names')

return M
