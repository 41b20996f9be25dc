-- single_file.lua - writes the amalgamation OUT_DIR/ltensor.c, which `cc -O2 -c ltensor.c` compiles
-- with nothing but OUT_DIR/ltensor.h. For x86-64; Linux and the compilers gcc and clang, or Windows and
-- MinGW-w64.
--
-- - The text of a source is copied, and so is each header before the first source that includes it.
-- - A name that two files define at file scope is a macro for the extent of a source: next becomes
--   next_17 in source 17. A source's macros end with it.
-- - The vector kernels and the headers with static functions for them are written once per
--   instruction set; a pragma selects the set, and all their names get its suffix.
--
-- Usage: lua5.4 scripts/gen/single_file.lua OUT_DIR GEN_DIR CC SYSTEM HEADER... SOURCE...
--   SYSTEM: posix or windows
--   HEADER: the public headers, which become one, in this order

local folder = arg[0]:match '^(.*)/' or '.'
package.path = folder .. '/?.lua;' .. folder .. '/../?.lua;' .. package.path
local source_files = require 'source_files'
local c_names = require 'c_names'

local out_dir, gen, cc, for_system = arg[1], arg[2], arg[3], arg[4]
local opened = 'src/core/minimal/opened' -- headers in place of those of libraries
local search = { opened, 'include', 'src/core', 'src', gen }
-- Headers that the amalgamation does without.
local optional = { ['png.h'] = true, ['turbojpeg.h'] = true, ['arm_neon.h'] = true }

-- features: the macros that gcc defines by the pragma, and clang does not by the attribute.
local sets = {
  { name = 'baseline', flags = '', features = {} },
  { name = 'avx2', flags = '-mavx2 -mfma -mf16c', target = 'avx2,fma,f16c', features = { 'AVX', 'AVX2', 'FMA', 'F16C' } },
  { name = 'avx512', flags = '-mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mf16c',
    target = 'avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c', gcc = ',prefer-vector-width=512',
    features = { 'AVX', 'AVX2', 'FMA', 'F16C', 'AVX512F', 'AVX512DQ', 'AVX512BW', 'AVX512VL' } },
}

-- ---- files --------------------------------------------------------------------------------------

local texts = { -- the settings of the amalgamation
  [gen .. '/assert_config.h'] = '#define LT_ASSERTIONS 0\n',
  [gen .. '/build_config.h'] = [[
#define LT_BUILD_CUDA "single file"
#define LT_BUILD_ONEDNN "none"
#define LT_BUILD_READLINE "none"
#define LT_BUILD_MPI ""
]],
}

local function text_of(path)
  -- The compiler's option that would obey "omp simd" is not given.
  texts[path] = texts[path] or
    source_files.read(path):gsub('_Pragma%([%s\\]*"omp simd[^"]*"%)', 'LT_SIMD'):gsub('#pragma omp simd[^\n]*', 'LT_SIMD')
  return texts[path]
end

local function exists(path)
  local file = not texts[path] and io.open(path)
  if file then file:close() end
  return texts[path] ~= nil or file ~= nil
end

local function normal(path)
  path = path:gsub('^%./', ''):gsub('/%./', '/')
  while path:find '[^/]+/%.%./' do path = path:gsub('[^/]+/%.%./', '', 1) end
  return path
end

-- The path of a file that another one includes; nil: this build does not include it.
local function resolve(name, from)
  local beside = normal((from:match '^(.*/)' or '') .. name)
  if exists(beside) then return beside end
  for _, at in ipairs(search) do
    if exists(at .. '/' .. name) then return normal(at .. '/' .. name) end
  end
end

-- The macro of a header's include guard, or false: the file is inserted wherever it is included.
local guards = {}
local function guard_of(path)
  if guards[path] == nil then
    local name = path:find '%.h$' and text_of(path):match '#ifndef ([%w_]+)\n#define %1\n'
    guards[path] = name or false
  end
  return guards[path]
end

-- ---- names --------------------------------------------------------------------------------------

local function output_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read 'a'
  if not pipe:close() then error('failed: ' .. command, 0) end
  return text
end

local include_options = {}
for i, path in ipairs(search) do include_options[i] = '-I' .. path end
local absent = out_dir .. '/absent'
local preprocessor = ('%s -E -std=gnu11 -D_GNU_SOURCE -DLT_OPS_BY_NAME -DLT_SINGLE_FILE %s -isystem %s '):format(cc,
  table.concat(include_options, ' '), absent)
-- Empty files in place of the optional headers.
for name in pairs(optional) do
  os.execute(("mkdir -p '%s/%s' && : >'%s/%s'"):format(absent, name:match '^(.*)/' or '.', absent, name))
end

local header_names = {} -- by header, and by instruction set or '': names and their kinds

-- Preprocesses a source for an instruction set or ''. Returns its names, and the headers that it
-- includes, in order.
local function analyse(path, of_set, flags)
  local parts, order, stack = { [path] = {} }, {}, { path }
  for line in output_of(preprocessor .. flags .. ' ' .. path):gmatch '([^\n]*)\n' do
    local file, marks = line:match '^# %d+ "([^"]+)"(.*)$'
    if file then
      file = normal(file)
      if marks:find '^ 1' then
        local header = file:find '^/' and '' or guard_of(file) and file or stack[#stack]
        stack[#stack + 1] = header
        if header ~= '' and not parts[header] then
          parts[header] = {}
          order[#order + 1] = header
        end
      elseif marks:find '^ 2' then
        table.remove(stack)
      end
    elseif stack[#stack] ~= '' and line:find '%S' then
      table.insert(parts[stack[#stack]], line)
    end
  end
  for _, header in ipairs(order) do
    local text = table.concat(parts[header], '\n')
    header_names[header] = header_names[header] or {}
    local known = header_names[header]
    if known[of_set] ~= text then known[of_set] = c_names.find(text, known[of_set] or {}) end
  end
  return c_names.find(table.concat(parts[path], '\n'), {}), order
end

-- Whether a header is written once per instruction set.
local function is_of_set(header)
  if not (header:find 'core/cpu/vector/' or header:find 'core/formulas/' or header:find '/kernels_%w+%.h$') then return false end
  for _, names in pairs(header_names[header]) do
    for _, kind in pairs(names) do
      if kind == 'static' then return true end
    end
  end
  return false
end

-- Whether a header has only macros for vector kernels: some change those of another header, so they
-- are inserted in each source.
local function is_inserted(header)
  if not guard_of(header) then return true end
  if not header:find 'core/cpu/vector/' then return false end
  for _, names in pairs(header_names[header] or {}) do
    if next(names) then return false end
  end
  return true
end

local given = {}
for i = 5, #arg do given[arg[i]] = true end
-- Whether a file is part of the amalgamation, or may be: not the services of another system.
local function is_used(path) return given[path] or not path:find '^src/core/system/%w+/' end

-- Names of the C library: functions and macros of the headers that sources include.
local function names_of_system()
  local names, list = {}, {}
  for _, path in ipairs(source_files.c_files 'src/core') do
    for name in (is_used(path) and source_files.read(path) or ''):gmatch '#%s*include%s*<([^>]+)>' do
      if not optional[name] and not exists(opened .. '/' .. name) then list[name] = true end
    end
  end
  local path = out_dir .. '/system.c'
  local file = assert(io.open(path, 'w'))
  for name in pairs(list) do file:write('#include <', name, '>\n') end
  file:close()
  for name in output_of(preprocessor .. path):gmatch '([%a_][%w_]*)%s*%(' do names[name] = true end
  for name in output_of(preprocessor .. '-dM ' .. path):gmatch '#define ([%w_]+)' do names[name] = true end
  os.remove(path)
  return names
end
local system_names = names_of_system()

-- ---- output -------------------------------------------------------------------------------------

local out = {}
local function put(...) table.insert(out, string.format(...)) end

local system, system_order = {}, {}
local function add_system(name)
  if not optional[name] and not system[name] then
    system[name] = true
    table.insert(system_order, name)
  end
end

local set         -- the instruction set that is written; nil: the other sources
local emitted     -- headers that were written; for a set, its own table, which inherits from the common one
local loops = {}  -- values of macros that name a file to include

-- Writes a file with the files that it inserts. on_header is called for the headers that it
-- includes, on_macro for the macros that it defines, and with true for those that end.
local function put_file(path, on_header, on_macro)
  for line in text_of(path):gmatch '([^\n]*)\n' do
    local word, rest = line:match '^%s*#%s*(%l+)%s*(.*)$'
    if word == 'include' then
      local name = rest:match '^"([^"]+)"' or loops[rest:match '^%w+' or '']
      local header = rest:match '^<([^>]+)>'
      if header and exists(opened .. '/' .. header) then name = header end
      local file = name and resolve(name, path)
      if name and not file then
        put('/* without %s */\n', name)
      elseif not file then
        add_system(header)
        on_header(header)
      elseif is_inserted(file) then
        put_file(file, on_header, on_macro)
      else
        on_header(file)
      end
    else
      if word == 'define' then
        local macro, value = rest:match '^([%w_]+)%s*(.*)$'
        on_macro(macro)
        loops[macro] = value:match '^"([^"]+)"' or loops[macro]
      elseif word == 'undef' then
        on_macro(rest:match '^[%w_]+', true)
      end
      table.insert(out, line .. '\n')
    end
  end
end

-- Writes a header that was not written yet. included: the set of headers of the current source.
-- macros: gets the macros of the instruction set's headers.
local header_macros = {} -- the header by macro
local function put_header(path, included, macros)
  if emitted[path] then return end
  emitted[path] = true
  put('\n/* ---- %s ---- */\n', path)
  local first = #out + 1
  put_file(path, function(file)
    if included[file] then put_header(file, included, macros) end
  end, function(name, ends) macros[name] = not ends and path or nil end)
  if set then
    local guard = guard_of(path)
    for i = first, #out do out[i] = out[i]:gsub('%f[%w_]' .. guard .. '%f[^%w_]', guard .. '_' .. set.name) end
  end
end

local function sorted(names)
  local list = {}
  for name in pairs(names) do list[#list + 1] = name end
  table.sort(list)
  return list
end

-- Replaces names outside of literals and comments that are no member: not after "." or "->".
local function replace_names(text, new)
  local parts, at, last = {}, 1, ''
  while at <= #text do
    local stop = source_files.token_at(text, at)
    if not stop then
      stop = select(2, text:find('^[%w_]+', at)) or select(2, text:find('^%s+', at)) or at
    end
    local token = text:sub(at, stop)
    local is_member = last:find '%.$' or last:find '%->$'
    parts[#parts + 1] = not is_member and new[token] or token
    if not token:find '^%s' then last = (last .. token):sub(-2) end
    at = stop + 1
  end
  return table.concat(parts)
end

-- The macros of <complex.h> that are common names in other sources.
local complex_macros = { I = '_Complex_I', complex = '_Complex' }

-- Functions of the library whose names do not have its prefix: a program may have others of these names.
local prefixed = {}

-- Writes a source. renamed: new names. outer: the set's renamed names, of which some may be renamed again.
local function put_source(source, renamed, outer)
  local macros, is_complex = {}, false
  local included = {}
  for _, header in ipairs(source.headers) do included[header] = true end
  for _, header in ipairs(source.headers) do
    if not is_inserted(header) then put_header(header, included, set and set.macros or header_macros) end
  end
  local before = out
  out = {}
  put_file(source.path, function(file) is_complex = is_complex or file == 'complex.h' end, function(name) macros[name] = true end)
  local body = table.concat(out)
  out = before
  -- Names that are also members of structs are replaced in the text.
  local replaced = {}
  for name in body:gmatch '[%.>]%s*([%a_][%w_]*)' do
    replaced[name] = replaced[name] or renamed[name]
    renamed[name] = nil
  end
  if next(replaced) then body = replace_names(body, replaced) end
  put('\n/* ---- %s ---- */\n', source.path)
  -- Macros that are defined before it and that it defines, too, have their values again after it.
  local function owner_of(name)
    return system_names[name] or prefixed[name] or header_macros[name] or set and set.macros[name] or outer[name]
  end
  local defined = {}
  for name in pairs(macros) do defined[name] = true end
  for name in pairs(renamed) do defined[name] = true end
  if is_complex then
    for name in pairs(complex_macros) do defined[name] = true end
  end
  for _, name in ipairs(sorted(defined)) do
    local owner = owner_of(name)
    if owner then
      put('#pragma push_macro("%s")\n', name)
      if not included[owner] then put('#undef %s\n', name) end
    end
    local value = renamed[name] or is_complex and complex_macros[name]
    if value then put('#define %s %s\n', name, value) end
  end
  table.insert(out, body)
  for _, name in ipairs(sorted(defined)) do
    put(owner_of(name) and '#pragma pop_macro("%s")\n' or '#undef %s\n', name)
  end
end

-- ---- analysis -----------------------------------------------------------------------------------

local public_headers, sources, kernels = {}, {}, {}
for i = 5, #arg do
  local list = arg[i]:find '%.h$' and public_headers or arg[i]:find 'core/cpu/vector/' and kernels or sources
  list[#list + 1] = { path = arg[i], of_set = {} }
end
for _, source in ipairs(sources) do source.names, source.headers = analyse(source.path, '', '') end
for _, one in ipairs(sets) do
  for _, source in ipairs(kernels) do
    local names, headers = analyse(source.path, one.name, one.flags .. ' -DLT_ISA=' .. one.name)
    source.of_set[one.name] = { path = source.path, names = names, headers = headers }
  end
end

-- The number of files that define each name, of tags apart.
local count, tag_count = {}, {}
local function add_definitions(names)
  for name, kind in pairs(names) do
    local to = kind == 'tag' and tag_count or count
    to[name] = (to[name] or 0) + 1
  end
end
for _, source in ipairs(sources) do add_definitions(source.names) end
for _, names_of in pairs(header_names) do
  local names = {}
  for _, one in pairs(names_of) do
    for name, kind in pairs(one) do names[name] = kind end
  end
  add_definitions(names)
end

for _, source in ipairs(sources) do
  for name, kind in pairs(source.names) do
    if kind == 'external' and not name:find '^lt_' then prefixed[name] = true end
  end
end

local function new_names(source, number)
  local renamed = {}
  for name, kind in pairs(source.names) do
    local is_shared = system_names[name] or (kind == 'tag' and tag_count or count)[name] > 1
    if kind ~= 'external' and is_shared then renamed[name] = name .. '_' .. number end
  end
  return renamed
end

-- ---- the file -----------------------------------------------------------------------------------

local common = {}
emitted = common

-- ltensor.h: the public headers.
local before = out
out = {}
local function put_public(path)
  common[path] = true
  put_file(path, function(file)
    if not file:find '/' then
      put('#include <%s>\n', file)
    elseif not common[file] then
      put_public(file)
    end
  end, function() end)
end
for _, public in ipairs(public_headers) do
  if not common[public.path] then put_public(public.path) end
end
local header = table.concat(out)
out = before

for i, source in ipairs(sources) do
  put_source(source, new_names(source, i), {})
end
for _, one in ipairs(sets) do
  for _, kernel in ipairs(kernels) do
    for _, path in ipairs(kernel.of_set[one.name].headers) do
      if not is_of_set(path) and not is_inserted(path) then put_header(path, {}, header_macros) end
    end
  end
end

local function put_set(one)
  set = one
  set.macros = {}
  emitted = setmetatable({}, { __index = function(_, path) return not is_of_set(path) and common[path] end })
  local outer, kernel_count = {}, {}
  for _, kernel in ipairs(kernels) do
    local source = kernel.of_set[one.name]
    for _, path in ipairs(source.headers) do
      if is_of_set(path) then
        for name, kind in pairs(header_names[path][one.name]) do
          if kind ~= 'external' and kind ~= 'alias' then outer[name] = name .. '_' .. one.name end
        end
      end
    end
    for name in pairs(source.names) do kernel_count[name] = (kernel_count[name] or 0) + 1 end
  end
  put('\n/* ==== vector kernels: %s ==== */\n', one.name)
  if one.target then
    put('#if defined(__clang__)\n#pragma clang attribute push(__attribute__((target("%s"))), apply_to = function)\n', one.target)
    for _, feature in ipairs(one.features) do put('#define __%s__ 1\n', feature) end
    put('#else\n#pragma GCC push_options\n#pragma GCC target("%s%s")\n#endif\n', one.target, one.gcc or '')
  end
  put('#define LT_ISA %s\n', one.name)
  for _, name in ipairs(sorted(outer)) do put('#define %s %s\n', name, outer[name]) end
  for i, kernel in ipairs(kernels) do
    local source = kernel.of_set[one.name]
    local renamed = {}
    for name, kind in pairs(source.names) do
      local is_shared = kernel_count[name] > 1 or outer[name]
      if kind ~= 'external' and (kind ~= 'alias' or is_shared) then
        renamed[name] = name .. (is_shared and '_' .. i or '') .. '_' .. one.name
      end
    end
    put_source(source, renamed, outer)
  end
  for _, name in ipairs(sorted(outer)) do put('#undef %s\n', name) end
  for _, name in ipairs(sorted(set.macros)) do put('#undef %s\n', name) end
  put '#undef LT_ISA\n'
  if one.target then
    put '#if defined(__clang__)\n#pragma clang attribute pop\n'
    for _, feature in ipairs(one.features) do put('#undef __%s__\n', feature) end
    put '#else\n#pragma GCC pop_options\n#endif\n'
  end
end
for _, one in ipairs(sets) do put_set(one) end

local systems = {
  posix = { name = 'Linux', macro = '__linux__', link = '-lm -ldl -lpthread' },
  windows = { name = 'Windows', macro = '_WIN32', link = '-lpthread', options = [[
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#define _WIN32_WINNT 0x0601
#define __USE_MINGW_ANSI_STDIO 1
]], undefined = { 'near', 'far', 'small', 'hyper', 'interface', 'IN', 'OUT', 'OPTIONAL' } },
}
local target = systems[for_system]

local head = { ([[
/* ltensor.c - the amalgamation of libltensor: the library in one file, for x86-64 and %s. Compile it
 * with `cc -O2 -c ltensor.c`; link with %s. Generated by `make single-file`. */
#if !defined(__x86_64__) || !defined(%s)
#error "this file is for x86-64 and %s; for others, build the library"
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
]]):format(target.name, target.link, target.macro, target.name), target.options or '', [[
#define LT_SINGLE_FILE
#define LT_INLINE LT_API /* helpers of the header are functions of the library, too */

/* The options of the library's build. */
#if defined(__clang__)
#define LT_SIMD _Pragma("clang loop vectorize(assume_safety)")
#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpass-failed"
#pragma clang diagnostic ignored "-Wpsabi"
#pragma clang diagnostic ignored "-Wignored-attributes" /* declared with a target, compiled without */
#pragma clang diagnostic ignored "-Wtautological-compare" /* x != x: NaN */
#pragma clang diagnostic ignored "-Wbitwise-conditional-parentheses"
#else
#define LT_SIMD _Pragma("GCC ivdep")
#pragma GCC optimize("fp-contract=off,no-math-errno,no-trapping-math,tree-vectorize,vect-cost-model=dynamic")
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wattributes" /* declared with a target, compiled without */
#endif

]] }
for _, name in ipairs(system_order) do head[#head + 1] = ('#include <%s>\n'):format(name) end
head[#head + 1] = [[
#undef I
#undef complex
#undef linux
#undef unix
]]
for _, name in ipairs(target.undefined or {}) do head[#head + 1] = ('#undef %s\n'):format(name) end
head[#head + 1] = [[
#if !defined(__clang__) /* no errno, which the pragma comes too late for: loops with roots are vectorized */
extern __attribute__((const)) float sqrtf(float);
extern __attribute__((const)) double sqrt(double);
#endif

#include "ltensor.h"

#pragma GCC visibility push(hidden)
]]
for _, name in ipairs(sorted(prefixed)) do head[#head + 1] = ('#define %s lt_%s\n'):format(name, name) end

local function write(name, ...)
  local file <close> = assert(io.open(out_dir .. '/' .. name, 'w'))
  assert(file:write(...))
end
write('ltensor.h', header)
write('ltensor.c', table.concat(head), table.concat(out), '\n#pragma GCC visibility pop\n')
