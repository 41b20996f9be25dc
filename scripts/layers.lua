-- layers.lua - checks the dependencies between the parts of the program
-- (docs/design/architecture.md), for `make layers`:
-- - includes point one way: repl -> src/lua -> src/core, src/lua -> src/comm -> src/core, src/cuda
--   -> src/core;
-- - so do references between the objects of the build in arg[1] (default 'build');
-- - core uses the system through src/core/system: only files of this folder include headers of the
--   system, and no line elsewhere is under an #if for a system;
-- - core has no include cycles (a source counts with its header), and few and small cycles of
--   references;
-- - files outside src/core/cpu use the CPU backend through its table;
-- - an op declared in src/ops/<group>.lua is implemented in src/core/ops/<group>/;
-- - a folder has at most 28 files.

local scripts = arg[0]:match '^(.*)/' or '.'
package.path = ('%s/?.lua;%s/gen/?.lua;'):format(scripts, scripts) .. package.path
local declarations = require 'declarations'
local links = require 'links'
local source_files = require 'source_files'
local BUILD = arg[1] or 'build'

local faults = 0
local function fault(format, ...)
  io.stderr:write('layers: ', format:format(...), '\n')
  faults = faults + 1
end

local files, text_of = source_files.c_files 'src repl', {}
for _, path in ipairs(files) do text_of[path] = source_files.read(path) end

-- ---- dependencies between the parts -------------------------------------------------------------

-- Includes that the files of a folder must not have: Lua patterns for the name between the quotes.
local refused = {
  { 'src/cuda/', 'a backend includes no header of process groups', 'comm/' },
  { 'src/core/', 'core includes no Lua, no CUDA and no engine header', '^lua', '^lauxlib', '^cuda', '^cublas', 'comm/', '^mpi%.h$' },
  { 'src/comm/', 'process groups include no Lua and no CUDA header', '^lua', '^lauxlib', '^cuda' },
  { 'src/comm/mpi/', 'an engine includes engine.h alone', '^tensor%.h$', '^memory/', '^error%.h$', 'comm%.h$', 'inside%.h$' },
  { 'src/lua/', 'the binding includes no CUDA and no readline header', '^cuda_', '^cublas', '^readline' },
  { 'src/cuda/', 'a backend includes only stateless headers of core: backend.h, iter.h, random.h, half.h, the formulas', '^lua', '^lauxlib',
    '^tensor%.h$', '^autograd', '^memory/', '^ops/' },
}

-- Files outside src/core/cpu use the CPU backend through its table only.
for _, path in ipairs(files) do
  if not path:find '^src/core/cpu/' and not path:find '^src/core/minimal/' then
    for name in text_of[path]:gmatch '#%s*include%s*"(cpu/[^"]+)"' do
      fault('%s includes %s: files outside src/core/cpu use it through lt_backends', path, name)
    end
  end
end

local function includes(path) return text_of[path]:gmatch '#%s*include%s*[<"]([^">]+)[>"]' end

for _, path in ipairs(files) do
  for _, rule in ipairs(refused) do
    if path:sub(1, #rule[1]) == rule[1] and not path:find '/sim/include/' then
      for name in includes(path) do
        for i = 3, #rule do
          if name:find(rule[i]) then fault('%s includes %s: %s', path, name, rule[2]) end
        end
      end
    end
  end
end

-- ---- the system ---------------------------------------------------------------------------------

-- Headers that are not part of C11.
local system_headers = { '^sys/', '^linux/', '^windows%.h$', '^malloc%.h$' }
for name in ([[dirent dlfcn execinfo fcntl glob io link netdb poll process pthread pwd sched semaphore signal spawn termios
  ucontext unistd xlocale]]):gmatch '%w+' do
  system_headers[#system_headers + 1] = '^' .. name .. '%.h$'
end

-- The number of lines under an #if that names a system.
local function lines_for_systems(text)
  local count, open, inside = 0, {}, 0
  for line in text:gmatch '[^\n]+' do
    local word, condition = line:match '^%s*#%s*(%l+)(.*)$'
    if word == 'if' or word == 'ifdef' or word == 'ifndef' then
      local names = condition:find '__linux__' or condition:find '_WIN32' or condition:find '__APPLE__' or
        condition:find '__GLIBC__' or condition:find '__EMSCRIPTEN__' or condition:find '__MINGW' or condition:find '__unix__'
      open[#open + 1] = names and 1 or 0
      inside = inside + open[#open]
    elseif word == 'endif' then
      inside = inside - (table.remove(open) or 0)
    elseif inside > 0 then
      count = count + 1
    end
  end
  return count
end

for _, path in ipairs(files) do
  if path:find '^src/core/' and not path:find '^src/core/system/' then
    for name in text_of[path]:gmatch '#%s*include%s*<([^>]+)>' do
      for _, pattern in ipairs(system_headers) do
        if name:find(pattern) then fault('%s includes %s: use a header of src/core/system', path, name) end
      end
    end
    local count = lines_for_systems(text_of[path])
    if count > 0 then fault('%s has %d lines for one system: move them to src/core/system', path, count) end
  end
end

-- ---- include cycles in core ---------------------------------------------------------------------

-- The file of core that an include refers to, relative to the folder of the including file or to
-- src/core.
local function target_of(path, name)
  for _, folder in ipairs { path:match '^(.*/)', 'src/core/' } do
    if text_of[folder .. name] then return folder .. name end
  end
end

local function unit_of(path) return (path:gsub('%.%w+$', '')) end

local leads_to = {}
for _, path in ipairs(files) do
  if path:find '^src/core/' then
    local unit = unit_of(path)
    leads_to[unit] = leads_to[unit] or {}
    for name in includes(path) do
      local target = target_of(path, name)
      if target and unit_of(target) ~= unit then leads_to[unit][unit_of(target)] = true end
    end
  end
end

local state, trail = {}, {}
local function visit(unit)
  state[unit] = 'open'
  trail[#trail + 1] = unit
  for target in pairs(leads_to[unit] or {}) do
    if state[target] == 'open' then
      local from = #trail
      while trail[from] ~= target do from = from - 1 end
      fault('an include cycle: %s -> %s', table.concat(trail, ' -> ', from), target)
    elseif not state[target] then
      visit(target)
    end
  end
  trail[#trail] = nil
  state[unit] = 'done'
end
for _, path in ipairs(files) do
  local unit = unit_of(path)
  if leads_to[unit] and not state[unit] then visit(unit) end
end

-- ---- references between objects -----------------------------------------------------------------

local is_unit = {}
for _, path in ipairs(files) do
  if path:find '%.cp?p?u?$' then is_unit[unit_of(path)] = true end
end
local uses = links.read(BUILD, function(unit) return is_unit[unit] end)
if next(uses) == nil then fault('%s/obj holds no objects to read by nm: build first, with make', BUILD) end

local function begins(name, prefix) return name:sub(1, #prefix) == prefix end

-- Per folder: the folders with symbols that its objects must not use. Plugins (backends, engines)
-- receive core's functions in a table.
local unlinked = {
  { 'src/core/', 'src/comm/', 'src/lua/', 'src/cuda/', 'repl/' },
  { 'src/comm/', 'src/lua/', 'src/cuda/', 'repl/' },
  { 'src/comm/mpi/', 'src/', 'repl/' },
  { 'src/cuda/', 'src/core/', 'src/comm/', 'src/lua/', 'repl/' },
  { 'src/lua/', 'src/cuda/', 'repl/' },
}
for unit, targets in pairs(uses) do
  for target, symbol in pairs(targets) do
    if begins(target, 'src/core/cpu/') and not begins(unit, 'src/core/cpu/') then
      fault('%s refers to %s of %s: objects outside src/core/cpu use it through lt_backends', unit, symbol, target)
    end
    for _, rule in ipairs(unlinked) do
      for i = 2, #rule do
        if begins(unit, rule[1]) and begins(target, rule[i]) and not begins(target, rule[1]) then
          fault('%s refers to %s of %s: objects of %s may not refer to %s', unit, symbol, target, rule[1], rule[i])
        end
      end
    end
  end
end

-- Per part: the maximum number of units in its largest cycle, and of cycles.
local ceilings = {
  { 'src/core/', units = 9, cycles = 3 },
  { 'src/comm/', units = 0, cycles = 0 },
  { 'src/lua/', units = 0, cycles = 0 },
}
for _, part in ipairs(ceilings) do
  local cycles = links.cycles(uses, part[1])
  for _, cycle in ipairs(cycles) do
    if #cycle > part.units then
      fault('a link-level cycle of %d units, at most %d are allowed in %s:\n%s', #cycle, part.units, part[1],
        links.describe(uses, cycle))
    end
  end
  if #cycles > part.cycles then
    fault('%s has %d link-level cycles, at most %d are allowed:', part[1], #cycles, part.cycles)
    for _, cycle in ipairs(cycles) do io.stderr:write(links.describe(uses, cycle), '\n') end
  end
end

-- ---- a folder per group of ops ------------------------------------------------------------------

local model = declarations.load()
for _, path in ipairs(files) do
  local group = path:match '^src/core/ops/(%w+)/[^/]+%.c$'
  if group then
    for name in text_of[path]:gmatch 'lt_status lt_([%w_]-)_impl%(' do
      local op = model.by_cname[name]
      if op and op.group ~= group then fault('%s: %s is declared in src/ops/%s.lua', path, op.name, op.group) end
    end
  end
end

-- ---- folders ------------------------------------------------------------------------------------

-- A folder has about twenty files. If it has more, move a coherent group into a subfolder.
local MOST = 28
local held = {}
for _, path in ipairs(source_files.lines_of 'find src lib repl -type f') do
  local folder = path:match '^(.*)/'
  held[folder] = (held[folder] or 0) + 1
end
for folder, count in pairs(held) do
  if count > MOST then fault('%s has %d files, at most %d are allowed: move some into a subfolder', folder, count, MOST) end
end

os.exit(faults == 0)
