-- layers.lua - the walls of the house (docs/design/house.md): `make layers` fails where one is broken.
--
-- Includes follow the arrows repl -> src/lua -> src/core, src/cuda -> src/core and src/lua -> src/comm -> src/core; inside core no two files lead to each other
-- (a source counts with its header); what declares an op in src/ops/<group>.lua is written in src/core/ops/<group>/; a folder is
-- seen at a glance.

package.path = (arg[0]:match('^(.*)/') or '.') .. '/gen/?.lua;' .. package.path
local declarations = require 'declarations'

local faults = 0
local function fault(format, ...)
  io.stderr:write('layers: ', format:format(...), '\n')
  faults = faults + 1
end

local function lines_of(command)
  local lines, pipe = {}, assert(io.popen(command))
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read 'a'
  file:close()
  return text
end

local files, text_of = lines_of 'find src repl -name "*.[ch]" -o -name "*.inc" -o -name "*.cu" -o -name "*.cuh" -o -name "*.cpp" | sort', {}
for _, path in ipairs(files) do text_of[path] = read(path) end

-- ---- arrows between the parts ----------------------------------------------------------------------------------------

-- What the files of a folder may not include, by patterns of the name between the quotes.
local refused = {
  { 'src/core/', 'core includes no Lua, no CUDA and no engine header', '^lua', '^lauxlib', '^cuda', '^cublas', 'comm/', '^mpi%.h$' },
  { 'src/comm/', 'what lies between processes includes no Lua and no CUDA header', '^lua', '^lauxlib', '^cuda' },
  { 'src/comm/mpi/', 'an engine includes engine.h alone', '^tensor%.h$', '^mem%.h$', '^error%.h$', 'comm%.h$', 'inside%.h$' },
  { 'src/lua/', 'the binding includes no CUDA and no readline header', '^cuda_', '^cublas', '^readline' },
  { 'src/cuda/', 'a backend includes of core what is without state: backend.h, iter.h, random.h, half.h, the formulas', '^lua', '^lauxlib',
    '^tensor%.h$', '^autograd', '^mem%.h$', '^ops/' },
}

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

-- ---- circles in core -------------------------------------------------------------------------------------------------

-- Where an include of core leads: relative to its own folder or to src/core.
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
      fault('a circle: %s -> %s', table.concat(trail, ' -> ', from), target)
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

-- ---- a folder per group of ops -----------------------------------------------------------------------------------------

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

-- ---- folders ---------------------------------------------------------------------------------------------------------------

-- About twenty files are seen at a glance. Of more, some are a subject that wants a folder.
local MOST = 28
local held = {}
for _, path in ipairs(lines_of 'find src lib repl -type f') do
  local folder = path:match '^(.*)/'
  held[folder] = (held[folder] or 0) + 1
end
for folder, count in pairs(held) do
  if count > MOST then fault('%s holds %d files, and %d at most are seen at a glance', folder, count, MOST) end
end

os.exit(faults == 0)
