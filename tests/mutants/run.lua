-- run.lua - edits the source a line at a time and sees whether the tests notice: make mutants N=20 SEED=n FILES="src/core/mem.c ..."
--
--   lua5.4 run.lua BUILD N SEED KIND FILES...
--
-- The tree is copied with its build into BUILD-mutants; each edit is made there, what it touches is built, and the specs run, the likeliest to
-- notice first, until one fails. An edit that does not compile, or that makes the same program, does not count. A spec that does not end counts as
-- one that notices. FILES are paths or folders; without them those of the last commits (BASE=rev since which) are edited, or else all. KIND is random,
-- careless or both (by turns). What survives is listed with its line; the exit status is 0.

local here = arg[0]:match '^(.*)/'
package.path = here .. '/?.lua;' .. package.path
local edits, specs = require 'edits', require 'specs'

local build, most, seed, kind = arg[1], math.tointeger(tonumber(arg[2])), math.tointeger(tonumber(arg[3])), arg[4]
local SPEC_SECONDS = tonumber(os.getenv 'SPEC_SECONDS' or 150)
local MINUTES = tonumber(os.getenv 'MINUTES' or 1e9)
local tree = build .. '-mutants'

local function sh(command) return (os.execute(command)) end
local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function capture(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read 'a'
  pipe:close()
  return text
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read 'a'
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, 'w'))
  file:write(text)
  file:close()
end

-- ---- the copy --------------------------------------------------------------------------------------------------------

print(('mutants: seed %d, copying into %s'):format(seed, tree))
assert(sh(('mkdir -p %s && git ls-files -co --exclude-standard -z | tar -c --null -T - 2>/dev/null | tar -xm --keep-newer-files -C %s 2>/dev/null; git ls-files -z | tar -c --null -T - | tar -x -C %s && rm -rf %s/build && cp -a %s %s/build'):format(tree, tree, tree, tree, build, tree)))
local absolute = capture('cd ' .. tree .. ' && pwd'):gsub('\n', '')

local function make(targets)
  return sh(('cd %s && make --no-print-directory BUILD=build CUDA=no WERROR= %s >make.log 2>&1 </dev/null'):format(absolute, targets))
end
local ALL = '-j2 all'
assert(make(ALL), 'the copy does not build: see ' .. tree .. '/make.log')

-- ---- what may be edited ----------------------------------------------------------------------------------------------

local paths = {}
for i = 5, #arg do
  for path in capture('git ls-files ' .. quote(arg[i])):gmatch '[^\n]+' do paths[#paths + 1] = path end
end
if #paths == 0 and os.getenv 'BASE' then
  for path in capture('git diff --name-only --diff-filter=d ' .. quote(os.getenv 'BASE') .. ' -- src lib repl'):gmatch '[^\n]+' do paths[#paths + 1] = path end
end
if #paths == 0 then
  for path in capture 'git ls-files src lib repl':gmatch '[^\n]+' do paths[#paths + 1] = path end
end

-- Parts of the source with the share of the edits that each gets: by lines alone the kernels would get most.
local function part_of(path)
  if path:find '^src/ops' or path:find '^lib/meta' or path:find 'README' then return nil end
  if not (path:find '%.c$' or path:find '%.lua$' or path:find '%.cuh?$' or path:find '%.inc$' or path:find '%.cpp$') then return nil end
  return path:match '^(src/%w+/%w+)/' or path:match '^(src/%w+)/' or path:match '^(%w+)/'
end

local parts, part_names = {}, {}
for _, path in ipairs(paths) do
  local part = part_of(path)
  if part then
    if not parts[part] then
      parts[part] = {}
      part_names[#part_names + 1] = part
    end
    local language = path:find '%.lua$' and 'Lua' or 'C'
    local number, in_comment = 0, false
    for line in (read(path) .. '\n'):gmatch '(.-)\n' do
      number = number + 1
      local opens, closes = line:find('/*', 1, true), line:find('*/', 1, true)
      if language == 'C' and opens and not closes then in_comment = true end
      if not in_comment and edits.is_code(line, language) then
        table.insert(parts[part], { path = path, number = number, line = line, language = language })
      end
      if closes then in_comment = false end
    end
  end
end
table.sort(part_names)
assert(#part_names > 0, 'no file to edit')

math.randomseed(seed)
local random = math.random
local function pick(list) return list[random(#list)] end

local function weight(part) return math.sqrt(#parts[part]) end
local total = 0
for _, part in ipairs(part_names) do total = total + weight(part) end
local function draw_part()
  local at = random() * total
  for _, part in ipairs(part_names) do
    at = at - weight(part)
    if at <= 0 then return part end
  end
  return part_names[1]
end

-- ---- running the specs -------------------------------------------------------------------------------------------------

local exists = {}
for path in capture 'find tests/lua -name "*_spec.lua"':gmatch '[^\n]+' do exists[path:match 'tests/lua/(.*)_spec%.lua'] = true end

local environment = ('LTENSOR_BIN=%s/build/ltensor LTENSOR_BUILD=%s/build LUA_PATH="%s/tests/?.lua;%s/tests/lua/?.lua;;" LUA_CPATH="%s/build/?.so;;" OMP_WAIT_POLICY=passive'):format(absolute, absolute, absolute, absolute, absolute)

local function spec_passes(name, on_gpu)
  local device = on_gpu and 'LTENSOR_SIM_GPUS=2 LTENSOR_TEST_DEVICE=cuda:1' or 'LTENSOR_TEST_DEVICE=cpu'
  return sh(('ulimit -v 20000000; cd %s && env %s %s timeout -k 5 %d busted --lua=%s/build/ltensor -o plainTerminal --no-keep-going %s tests/lua/%s_spec.lua >spec.log 2>&1 </dev/null'):format(
    absolute, environment, device, SPEC_SECONDS, absolute, on_gpu and '--exclude-tags=cpu' or '', name))
end

-- Specs that fail before anything is edited say nothing.
local broken = {}
local function baseline(name, on_gpu)
  local key = name .. (on_gpu and '@' or '')
  return broken[key]
end

-- The name of the spec that notices, or nil.
local function noticed(path)
  local names, first, gpu = specs.of(path, exists)
  local stages = {}
  for i = 1, first do
    if gpu then stages[#stages + 1] = { names[i], true } end
    stages[#stages + 1] = { names[i], false }
  end
  for i = first + 1, #names do
    stages[#stages + 1] = { names[i], false }
    if gpu and (names[i]:find 'cuda' or names[i] == 'reference' or names[i] == 'optim' or names[i] == 'data_parallel') then stages[#stages + 1] = { names[i], true } end
  end
  for _, stage in ipairs(stages) do
    if not baseline(stage[1], stage[2]) and not spec_passes(stage[1], stage[2]) then return stage[1] .. (stage[2] and ' on a GPU' or '') end
  end
  if path:find '^src/core' or path:find '^src/cuda/sim' then
    if not make '-j2 test-programs' then return 'test programs' end
    for program in capture(('ls %s/build/tests/*_test'):format(absolute)):gmatch '[^\n]+' do
      if not sh(('cd %s && %s timeout -k 5 %d %s >spec.log 2>&1 </dev/null'):format(absolute, environment, SPEC_SECONDS, program)) then return program:match '[^/]+$' end
    end
  end
end

local start = os.time()
for name in pairs(exists) do
  if os.getenv 'BASELINE' then
    if not spec_passes(name, false) then broken[name] = true print('fails before any edit: ' .. name) end
  end
end

local count, killed, kinds = 0, 0, {}
local survivors = {}
local tries = 0
local built = capture(('md5sum <%s/build/ltensor; md5sum <%s/build/libltensor_sim.so'):format(tree, tree))
while count < most and os.difftime(os.time(), start) < MINUTES * 60 and tries < most * 40 do
  tries = tries + 1
  local this_kind = kind == 'both' and (count % 2 == 0 and 'random' or 'careless') or kind
  local place = pick(parts[draw_part()])
  local list = edits.of(place.line, this_kind, place.language)
  if #list > 0 then
    local new = pick(list)
    local target = absolute .. '/' .. place.path
    local original = read(place.path)
    local lines = {}
    for line in (original:gsub('\n$', '') .. '\n'):gmatch '(.-)\n' do lines[#lines + 1] = line end
    lines[place.number] = new
    write(target, table.concat(lines, '\n') .. '\n')
    local compiles = place.language == 'C' or loadfile(target)
    if compiles and make(ALL) and capture(('md5sum <%s/build/ltensor; md5sum <%s/build/libltensor_sim.so'):format(tree, tree)) ~= built then
      count = count + 1
      local began = os.time()
      local by = noticed(place.path)
      kinds[this_kind] = kinds[this_kind] or { 0, 0 }
      kinds[this_kind][1] = kinds[this_kind][1] + 1
      local text = ('%s:%d [%s]\n  - %s\n  + %s'):format(place.path, place.number, this_kind, place.line:match '^%s*(.*)', new:match '^%s*(.*)')
      if by then
        killed = killed + 1
        kinds[this_kind][2] = kinds[this_kind][2] + 1
        print(('%d noticed by %s (%d s)  %s:%d'):format(count, by, os.time() - began, place.path, place.number))
      else
        survivors[#survivors + 1] = text
        print(('%d SURVIVES (%d s)  %s'):format(count, os.time() - began, text))
      end
      io.stdout:flush()
    end
    write(target, original)
    sh(('touch %s'):format(quote(target)))
  end
end
make(ALL)

print(('\nmutants: seed %d, %d of %d noticed'):format(seed, killed, count))
for name, numbers in pairs(kinds) do print(('  %s: %d of %d'):format(name, numbers[2], numbers[1])) end
if #survivors > 0 then print '\nWhat survived:' end
for _, text in ipairs(survivors) do print(text) end
