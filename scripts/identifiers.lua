-- identifiers.lua - checks names of the sources: part of `make lint`.
--
--   lua5.4 scripts/identifiers.lua         prints the faults, and fails if there is one
--   lua5.4 scripts/identifiers.lua list    also prints the repeated names of static functions
--
-- - A private word in an identifier is an error: use the standard term of the field.
-- - A C type has one definition in src, repl and include. C++ classes are local to their files.
-- - At most MAX_REPEATED names of static functions occur in three or more files of src and repl: a
--   specific name leads `grep` and a debugger to one function.

package.path = (arg[0]:match '^(.*)/' or '.') .. '/?.lua;' .. package.path
local source_files = require 'source_files'
local read = source_files.read

local MAX_REPEATED = 15

-- Private identifiers and their replacements. A name that ends in "*" stands for all names with
-- this beginning.
local replacements = {
  ['lt_apart*'] = 'lt_call_detached, lt_detached_count', ['lt_chain*'] = 'lt_fused_*, lt_fusion',
  lt_cpu_hand_out = 'lt_parallel_for_dynamic', lt_cpu_share = 'lt_parallel_for', ['lt_fed*'] = 'lt_fused_*',
  ['lt_guest*'] = 'lt_host_binding_*', lt_heard = 'lt_load_acquire', lt_here = 'lt_tls', lt_lanes = 'a name of the accumulators or view',
  lt_lines = 'a name of the rows', lt_mem_afford = 'lt_mem_reserve', lt_mem_give = 'lt_freelist_free', lt_mem_take = 'lt_freelist_alloc',
  lt_mem_weight = 'lt_mem_gc_pressure', ['lt_notes_*'] = 'lt_control_*', lt_plus = 'lt_add_sat', lt_refuse_hollow = 'lt_materialize',
  lt_refuse_read_only = 'lt_prepare_write', lt_say = 'lt_store_release', lt_shown = 'lt_user_index', lt_times = 'lt_mul_sat',
  lt_window_settle = 'lt_trace_flush', lt_window_spare = 'lt_trace_keep_deferred', lt_window_write = 'lt_trace_flush',
}
-- The name of torch.chain_matmul.
local allowed = { lt_chain_matmul = true, lt_chain_matmul_impl = true }

-- Every engine of src/comm defines these opaque types of its interface for itself; one engine is
-- loaded at a time.
local opaque_types = { lt_engine_world = true, lt_engine_group = true, lt_engine_request = true }

-- Macros that form a name from their argument, for sources that are instantiated several times.
local name_macros = { S = true, NAME = true }

local faults = 0
local function fault(format, ...)
  io.stderr:write('identifiers: ', format:format(...), '\n')
  faults = faults + 1
end

local function replacement_of(name)
  if allowed[name] then return nil end
  if replacements[name] then return replacements[name] end
  for pattern, replacement in pairs(replacements) do
    local beginning = pattern:match '^(.*)%*$'
    if beginning and name:sub(1, #beginning) == beginning then return replacement end
  end
end

local function check_private_words(path, text)
  local number = 0
  for line in (text .. '\n'):gmatch '(.-)\n' do
    number = number + 1
    for name in line:gmatch '%f[%w_]lt_[%w_]+' do
      local replacement = replacement_of(name)
      if replacement then fault('%s:%d: got %s, expected %s', path, number, name, replacement) end
    end
  end
end

-- Without comments and attributes; begins with a newline.
local function declarations_of(text)
  text = text:gsub('/%*.-%*/', ''):gsub('//[^\n]*', '')
  return '\n' .. text:gsub('__attribute__%s*%b()%s*', ''):gsub('__launch_bounds__%s*%b()', '')
end

-- Adds path to the files of a name; the files are distinct, in the order of the calls.
local function add(files_of, name, path)
  local files = files_of[name] or {}
  if files[#files] ~= path then files[#files + 1] = path end
  files_of[name] = files
end

local type_files, function_files = {}, {}

local function collect_types(path, text)
  for name in text:gmatch '\ntypedef%s[^;{}]*%b{}%s*([%w_]+)%s*;' do add(type_files, name, path) end
  for _, keyword in ipairs { 'struct', 'union', 'enum' } do
    for name in text:gmatch('\n' .. keyword .. '%s+([%w_]+)%s*{') do add(type_files, name, path) end
  end
end

local function collect_static_functions(path, text)
  for name in text:gmatch '\nstatic%f[^%w_][^;{}()=#]*%f[%w_]([%w_]+)%(' do
    if not name_macros[name] then add(function_files, name, path) end
  end
end

local function sorted_names(files_of)
  local names = {}
  for name in pairs(files_of) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- The headers of released versions in tests/abi do not change.
for _, path in ipairs(source_files.c_files('src include repl lib tests', 'lua')) do
  if not path:find '^tests/abi/' then check_private_words(path, read(path)) end
end

for _, path in ipairs(source_files.c_files 'src repl include') do
  local text = declarations_of(read(path))
  collect_types(path, text)
  collect_static_functions(path, text)
end

for _, name in ipairs(sorted_names(type_files)) do
  local files = type_files[name]
  if #files > 1 and not opaque_types[name] then
    fault('type %s is defined in %s: rename all but one of them', name, table.concat(files, ' and '))
  end
end

local repeated = {}
for _, name in ipairs(sorted_names(function_files)) do
  local files = function_files[name]
  if #files >= 3 then repeated[#repeated + 1] = ('  %s: %s'):format(name, table.concat(files, ', ')) end
end
if #repeated > MAX_REPEATED then
  fault('%d names of static functions occur in three or more files, at most %d are allowed: rename functions after ' ..
    'their subjects\n%s', #repeated, MAX_REPEATED, table.concat(repeated, '\n'))
end
if arg[1] == 'list' then io.stderr:write(table.concat(repeated, '\n'), '\n') end
os.exit(faults == 0)
