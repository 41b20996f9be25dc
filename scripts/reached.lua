-- reached.lua - finds the CPU kernels that a library of selected ops can reach, for
-- `make MINIMAL=1`.
--
-- Kernels are referenced by tables (cpu/backend.c, cpu/common/loops.c), which the linker keeps
-- whole. So this script computes reachability without them: it links the exported functions with
-- --gc-sections, scans the kept sources for the table entries that they use (`->softmax`,
-- `lt_loops.rows`, LT_PW_EXP), adds these as roots, and repeats until nothing changes. A source
-- counts as a whole, since its functions may be inlined into one another.
--
-- Writes OUT/absent.h, which defines the unreached functions and tables as NULL for the two tables,
-- and for each family of elementwise kernels OUT/kernels_<family>.h, a copy of $GEN's with loops
-- for the reached kernels only.
--
-- Usage: lua5.4 scripts/reached.lua GEN OUT KEEP 'FAMILY ...' OBJECT...
--   KEEP lists the exported names; the objects are core without the two tables and the families

package.path = (arg[0]:match '^(.*)/' or '.') .. '/?.lua;' .. package.path
local read = require('source_files').read

local gen, out, keep = arg[1], arg[2], arg[3]
local objects = table.concat(arg, ' ', 5)

local function write(path, text)
  local file <close> = assert(io.open(path, 'w'))
  assert(file:write(text))
end

-- ---- the tables ---------------------------------------------------------------------------------

local function uncommented(path) return (read(path):gsub('/%*.-%*/', ''):gsub('\n#[^\n]*', '')) end

local members, fields = {}, {} -- of the backend: name -> function; of the loops: name -> true
for member, name in uncommented('src/core/cpu/backend.c'):gmatch '%.([%w_]+) = (lt_cpu_[%w_]+)' do members[member] = name end
for field in uncommented('src/core/cpu/common/loops.h'):match 'typedef struct lt_cpu_loops {(.-)} lt_cpu_loops;':gmatch '([%w_]+)%)?[%[%]%w_]*[;,]' do
  fields[field] = true
end
fields.isa = nil
local families = {}
for family in arg[4]:gmatch '%S+' do
  families[#families + 1] = family
  fields[family] = nil -- always kept, with fewer entries
end
local sets = { 'baseline', 'avx2', 'avx512' }

-- ---- reachability by the linker -----------------------------------------------------------------

local roots = {}
for name in io.lines(keep) do roots[name] = true end

-- The objects of which the linker keeps a section, and the names of the kept functions.
local function reached()
  local list = {}
  for name in pairs(roots) do list[#list + 1] = '-u ' .. name end
  write(out .. '/roots', table.concat(list, '\n') .. '\n')
  assert(os.execute(('ld -r -d --unique --gc-sections @%s/roots -Map=%s/map -o %s/reached.o %s'):format(out, out, out, objects)))
  local kept, functions, discarded, wrapped = {}, {}, false, nil
  for line in io.lines(out .. '/map') do
    if line:find '^Discarded input sections' then discarded = true
    elseif line:find '^Memory Configuration' then discarded = false
    elseif not discarded then
      local section, object = line:match '^ (%.%S+)%s+0x%x+%s+0x%x+ (%S+%.o)$'
      if not section and wrapped then section, object = wrapped, line:match '^%s+0x%x+%s+0x%x+ (%S+%.o)$' end
      wrapped = line:match '^ (%.%S+)$'
      local name = object and section:match '^%.text%.(.+)$'
      if name then kept[object], functions[name] = true, true end
    end
  end
  return kept, functions
end

local function source_of(object)
  local own = object:match '/(src/.-)%.o$'
  if not own then return nil end -- generated: uses the tables only through calls
  return (own:gsub('%.baseline$', ''):gsub('%.avx2$', ''):gsub('%.avx512$', '')) .. '.c'
end

local kernels, scanned = {}, {}
local function add(name)
  if roots[name] then return false end
  roots[name] = true
  return true
end

local function scan(path)
  if scanned[path] then return false end
  scanned[path] = true
  local text, more = read(path):gsub('/%*.-%*/', ''), false
  for member in text:gmatch '[.>]%s*([%w_]+)' do -- also of a->b->c
    if members[member] and add(members[member]) then more = true end
  end
  for field in text:gmatch 'lt_loops%.([%w_]+)' do
    if fields[field] then
      for _, set in ipairs(sets) do more = add(('lt_%s_%s'):format(field, set)) or more end
    end
  end
  for kernel in text:gmatch '%f[%w_]LT_PW_([%u%d_]+)' do kernels[kernel] = true end
  -- Our headers that contain code.
  for header in text:gmatch '#include "([%w_/]+%.[hi]n?c?)"' do
    for _, folder in ipairs { path:match '^(.*/)', 'src/core/' } do
      local file = io.open(folder .. header)
      if file then
        file:close()
        if header:find '^cpu/common/' or folder:find 'cpu/common/$' then more = scan(folder .. header) or more end
        break
      end
    end
  end
  return more
end

local functions
repeat
  local more, kept = false
  kept, functions = reached()
  for object in pairs(kept) do
    local source = source_of(object)
    if source then more = scan(source) or more end
  end
until not more
for name in pairs(functions) do
  local kernel = name:match '^lt_(.+)_impl$'
  if kernel then kernels[kernel:gsub('^_', ''):upper()] = true end
end

-- ---- unreached kernels --------------------------------------------------------------------------

local absent = {}
local function leave_out(name)
  if not roots[name] then absent[#absent + 1] = ('#define %s NULL'):format(name) end
end
for _, name in pairs(members) do leave_out(name) end
for field in pairs(fields) do
  for _, set in ipairs(sets) do leave_out(('lt_%s_%s'):format(field, set)) end
end
table.sort(absent)
write(out .. '/absent.h', table.concat(absent, '\n') .. '\n')

for _, family in ipairs(families) do
  local text = read(('%s/kernels_%s.h'):format(gen, family))
  local upper = family:upper()
  text = text:gsub('(#define LT_' .. upper .. '_L[^\n]+\\\n)(.-)\n\n', function(head, body)
    local lines = {}
    for line in (body .. '\n'):gmatch '([^\n]*)\n' do
      local kernel = line:match ', ([%u%d_]+)%)'
      if kernel and kernels[kernel] then lines[#lines + 1] = (line:gsub(' \\$', '')) end
    end
    return head .. table.concat(lines, ' \\\n') .. '\n\n'
  end, 1)
  write(('%s/kernels_%s.h'):format(out, family), text)
end
os.remove(out .. '/reached.o')
