-- run.lua - edits the source a line at a time and sees whether the tests notice: make mutants N=20 SEED=n FILES="src/core/memory ..."
--
--   lua5.4 run.lua BUILD N SEED KIND FILES...
--
-- The tree is copied with its build into BUILD-mutants; each edit is made there, what it touches is built, and the specs run, the likeliest to
-- notice first, until one fails. An edit that the compiler or luacheck refuses, or that makes the same program, does not count. A spec that does not end counts as
-- one that notices; one that fails before any edit is left out. TREE=path makes the copy elsewhere, for two runs at a time. FILES are paths or
-- folders; without them those of the last commits (BASE=rev since which) are edited, or else all. KIND is random, careless or both (by turns).
-- LIKELY=1 leaves out specs that take long and are not likely to notice. What survives is listed with its line; the exit status is 0.

local here = arg[0]:match '^(.*)/'
package.path = here .. '/?.lua;' .. package.path
local edits, specs = require 'edits', require 'specs'

local build, most, seed, kind = arg[1], math.tointeger(tonumber(arg[2])), math.tointeger(tonumber(arg[3])), arg[4]
local QUICK = 2 -- seconds
local LIKELY = os.getenv 'LIKELY' -- the likely specs and the quick ones alone
local SPEC_SECONDS = tonumber(os.getenv 'SPEC_SECONDS' or 150)
local MINUTES = tonumber(os.getenv 'MINUTES' or 1e9)
local tree = os.getenv 'TREE' or build .. '-mutants'

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
  return sh(('cd %s && make --no-print-directory BUILD=build CUDA=no WERROR=1 ASSERT=yes %s >make.log 2>&1 </dev/null'):format(absolute, targets))
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
      local opens, closes = line:find '/%*', line:find '%*/'
      if language == 'Lua' then opens, closes = line:find '%-%-%[=*%[', line:find '%]=*%]' end
      if opens and not closes then in_comment = true end
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

for path in capture('ls tests/core'):gmatch '[^\n]+' do
  local program = path:match '^(.*_test)%.c'
  if program then exists[program] = true end
end

local environment = ('LTENSOR_BIN=%s/build/ltensor LTENSOR_BUILD=%s/build LUA_PATH="%s/tests/?.lua;%s/tests/lua/?.lua;;" LUA_CPATH="%s/build/?.so;;" XDG_CACHE_HOME=%s/build/cache OMP_WAIT_POLICY=passive'):format(absolute, absolute, absolute, absolute, absolute, absolute)

local sound = {} -- those that have passed in this run

-- How long each took the last time; kept beside the copy for the next run.
local durations, durations_path = {}, tree .. '/durations.txt'
local noted = io.open(durations_path)
if noted then
  for key, seconds in noted:read 'a':gmatch '(%S+) (%S+)\n' do durations[key] = tonumber(seconds) end
  noted:close()
end

local function key_of(name, on_gpu) return name .. (on_gpu and '@' or '') end

local function now() return tonumber(capture 'date +%s.%N') end

-- An edit that makes a spec take many times as long as it does is noticed: nobody waits for the end.
local function limit_of(key) return math.min(SPEC_SECONDS, math.ceil(20 + 8 * (durations[key] or SPEC_SECONDS))) end

-- What depends on time or on other processes may fail by chance, and then does not fail twice.
local function may_fail_by_chance(name)
  for _, pattern in ipairs { '^repl/', 'memory', 'data', 'cuda', 'progress', 'training', 'scripts', 'interrupt', 'fault', ' ' } do
    if name:find(pattern) then return true end
  end
  return false
end

-- name may be several, which are run in one process. filter: options of busted that leave only some tests.
local function passes(name, on_gpu, filter)
  local key = key_of(name:gsub(' ', '+'), on_gpu)
  local command
  if name:find '_test$' then
    if not make '-j2 test-programs' then return false end
    command = ('build/tests/%s'):format(name)
  else
    command = ('busted --lua=%s/build/ltensor --helper=tests/lua/support/globals.lua -o plainTerminal --no-keep-going %s %s %s'):format(absolute,
      on_gpu and '--exclude-tags=cpu' or '', filter or '', (name:gsub('%S+', 'tests/lua/%0_spec.lua')))
  end
  local device = on_gpu and 'LTENSOR_SIM_GPUS=2 LTENSOR_TEST_DEVICE=cuda:1' or 'LTENSOR_TEST_DEVICE=cpu'
  local run = ('ulimit -v 20000000; cd %s && env %s %s timeout -k 5 %d %s >spec.log 2>&1 </dev/null'):format(absolute, environment, device, limit_of(key), command)
  for _ = 1, may_fail_by_chance(name) and 2 or 1 do
    local began = now()
    local passed, _, status = os.execute(run)
    if passed then
      if not filter then durations[key], sound[key] = now() - began, true end
      return true
    end
    if status == 124 then return false end
  end
  return false
end

-- What fails before anything is edited says nothing.
local broken = {}

-- The likely ones in their order, then the others, quick ones first.
local function stages_of(path)
  local stages, likely = specs.of(path, exists)
  local rest = table.move(stages, likely + 1, #stages, 1, {})
  local function seconds(stage) return durations[key_of(stage[1], stage[2])] or 0 end
  table.sort(rest, function(a, b)
    if seconds(a) ~= seconds(b) then return seconds(a) < seconds(b) end
    return key_of(a[1], a[2]) < key_of(b[1], b[2])
  end)
  return table.move(rest, 1, #rest, likely + 1, stages), likely
end

-- The quick ones of the others, on the CPU or on a GPU, in one process: the start of each costs as much as what it looks at.
-- Whether all pass.
local function quick_ones_pass(stages, likely, on_gpu)
  local names = {}
  for i = likely + 1, #stages do
    local name = stages[i][1]
    local seconds = durations[key_of(name, on_gpu)] or on_gpu and durations[name] and 4 * durations[name]
    if stages[i][2] == on_gpu and not name:find '_test$' and seconds and seconds < QUICK and not broken[key_of(name, on_gpu)] then
      names[#names + 1] = name
      stages[i].quick = true
    end
  end
  table.sort(names)
  return #names == 0 or passes(table.concat(names, ' '), on_gpu)
end

-- Options that leave the reference's cases of the ops that a file declares; nil where it declares none.
local function filter_of(path)
  local filters, seen = {}, {}
  for implemented in read(path):gmatch 'lt_([%w_]-)_impl%(' do
    local name = implemented:gsub('^_+', ''):gsub('_backward$', '')
    if not seen[name] then filters[#filters + 1], seen[name] = "--filter=': _*" .. name .. "_?,'", true end
  end
  return #filters > 0 and table.concat(filters, ' ') or nil
end

-- What notices, or nil. Whatever fails must pass on the program as it was, or it is left out from then on.
local function noticed(path, restore, edit)
  local stages, likely = stages_of(path)
  local skip_quick = {}
  local filter = path:find '^src/core/ops/' and filter_of(path)
  if filter and sound.reference and not passes('reference', false, filter) then return 'reference' end
  for i, stage in ipairs(stages) do
    local name, on_gpu = stage[1], stage[2]
    local key = key_of(name, on_gpu)
    if i == likely + 1 then
      skip_quick[false], skip_quick[true] = quick_ones_pass(stages, likely, false), quick_ones_pass(stages, likely, true)
    end
    local quick_program = name:find '_test$' and (durations[key] or 0) < QUICK
    local wanted = i <= likely or stage.quick or quick_program or not LIKELY
    if wanted and not broken[key] and not (skip_quick[on_gpu] and stage.quick) and not passes(name, on_gpu) then
      if sound[key] then return name .. (on_gpu and ' on a GPU' or '') end
      restore()
      if passes(name, on_gpu) then return name .. (on_gpu and ' on a GPU' or '') end
      broken[key] = true
      print('fails before any edit: ' .. key)
      edit()
    end
  end
end

local start = os.time()
local count, killed, kinds = 0, 0, {}
local survivors = {}
local tries = 0

-- Of the program without debug information, which has the names of folders: an edit of a file that this build does not compile, or
-- one that makes the same instructions, does not change it.
local function fingerprint()
  return capture(([[for f in ltensor libltensor_sim.so; do
    objcopy -g -R .note.gnu.build-id -R .gnu_debuglink %s/build/$f %s/build/stripped && md5sum <%s/build/stripped; done]]):format(tree, tree, tree))
end
local built = fingerprint()
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
    local edited = table.concat(lines, '\n') .. '\n'
    write(target, edited)
    local building = os.time()
    local compiles = place.language == 'C' or loadfile(target) and sh(('luacheck -q %s >/dev/null'):format(quote(target)))
    if compiles and make(ALL) and fingerprint() ~= built then
      sh(('rm -rf %s/build/cache'):format(tree)) -- kernels that another edit has compiled
      count = count + 1
      local began = os.time()
      local function put(text)
        write(target, text)
        sh(('touch %s'):format(quote(target)))
        assert(make(ALL))
      end
      local by = noticed(place.path, function() put(original) end, function() put(edited) end)
      kinds[this_kind] = kinds[this_kind] or { 0, 0 }
      kinds[this_kind][1] = kinds[this_kind][1] + 1
      local text = ('%s:%d [%s]\n  - %s\n  + %s'):format(place.path, place.number, this_kind, place.line:match '^%s*(.*)', new:match '^%s*(.*)')
      if by then
        killed = killed + 1
        kinds[this_kind][2] = kinds[this_kind][2] + 1
        print(('%d noticed by %s (built in %d s, %d s)  %s:%d'):format(count, by, began - building, os.time() - began, place.path, place.number))
      else
        survivors[#survivors + 1] = text
        print(('%d SURVIVES (built in %d s, %d s)  %s'):format(count, began - building, os.time() - began, text))
      end
      io.stdout:flush()
    end
    write(target, original)
    sh(('touch %s'):format(quote(target)))
  end
end
make(ALL)
local lines = {}
for key, seconds in pairs(durations) do lines[#lines + 1] = ('%s %.2f\n'):format(key, seconds) end
write(durations_path, table.concat(lines))

print(('\nmutants: seed %d, %d of %d noticed'):format(seed, killed, count))
for name, numbers in pairs(kinds) do print(('  %s: %d of %d'):format(name, numbers[2], numbers[1])) end
if #survivors > 0 then print '\nWhat survived:' end
for _, text in ipairs(survivors) do print(text) end
