-- make launch-cost: counts the host's work for one op on a GPU, without a GPU: count.lua BUILD [OP]
--
-- Callgrind runs each op N and M times on a simulated GPU, from Lua (ops.lua) and through the C functions (ops.c).
-- The difference of both profiles of the calling thread, divided by M - N, is one op. Functions of src/cuda/sim stand
-- for NVIDIA's runtime and libraries: their calls are counted, but neither their instructions nor those of the
-- functions that they call. Prints a Markdown table with these columns:
--
--   instructions  of our code, Lua and the C library
--   runtime       calls of NVIDIA's runtime and libraries
--   locked        instructions of our code with a lock prefix, and exchanges with memory
--   mutexes       locked by our code
--   allocations   by our code, from the C library

local build, only = assert(arg[1], 'BUILD is missing'), arg[2] ~= '' and arg[2] or nil
local N, M = 1000, 11000
local OPS = {'a + b', 'add_', 'relu', 'sum', 'mm', 'empty, 512 B', 'empty, 1 MiB', 'empty, 16 MiB'}
local COLUMNS = {'instructions', 'runtime', 'locked', 'mutexes', 'allocations'}

local function run(command)
  local pipe = assert(io.popen(command .. ' 2>&1'))
  local text = pipe:read 'a'
  if not pipe:close() then error(('%s\n%s'):format(command, text)) end
  return text
end

local function simulated(file) return file:find('/cuda/sim/', 1, true) ~= nil end
-- The marks for the checker, and the limit of indices, are no calls on a GPU.
local function is_runtime(name) return not name:find 'lt_sim::memory_' and not name:find 'lt_sim::index_limit' end
local function is_allocation(name)
  return name:find '^malloc' or name:find '^calloc' or name:find '^realloc' or name:find '^operator new' or
    name:find '^aligned_alloc' or name:find '^posix_memalign'
end

-- The addresses of an object's instructions with a lock.
local locked_of = {}
local function locked(object)
  if locked_of[object] then return locked_of[object] end
  local places = {}
  locked_of[object] = places
  if not object:find 'ltensor' then return places end
  local pipe = assert(io.popen(("objdump -d --no-show-raw-insn '%s' 2>/dev/null"):format(object)))
  for line in pipe:lines() do
    local address, code = line:match '^%s*(%x+):%s+(.*)'
    if code and (code:find '^lock ' or code:find '^xchg.*%(') then places[tonumber(address, 16)] = true end
  end
  pipe:close()
  return places
end

-- Callgrind writes a name once, with a number, and then only the number.
local LISTS = {ob = 'ob', cob = 'ob', fl = 'fl', fi = 'fl', fe = 'fl', cfi = 'fl', cfl = 'fl', fn = 'fn', cfn = 'fn'}
local function name_reader()
  local lists = {ob = {}, fl = {}, fn = {}}
  return function(kind, text)
    local number, name = text:match '^%((%d+)%) ?(.*)'
    local list = lists[LISTS[kind]]
    if name ~= '' then list[number] = name end
    return list[number]
  end
end

-- A call from our code: adds it to the sums; `cost` includes the called function.
local function add_call(sums, at, count, cost)
  local within = simulated(at.fi)
  if within or simulated(at.cfi or at.fl) then
    sums.instructions = sums.instructions - cost
    if not within and is_runtime(at.cfn) then sums.runtime = sums.runtime + count end
  elseif at.ob:find 'ltensor' then
    if is_allocation(at.cfn) then sums.allocations = sums.allocations + count end
    if at.cfn:find '^pthread_mutex_lock' then sums.mutexes = sums.mutexes + count end
  end
end

local function read_profile(path)
  local sums = {}
  for _, column in ipairs(COLUMNS) do sums[column] = 0 end
  local read_name = name_reader()
  local at, calls, address = {}, nil, 0 -- `at`: the current name of each kind
  for line in io.lines(path) do
    local kind, text = line:match '^(%l+)=(.*)'
    if LISTS[kind] then
      if kind == 'cfl' then kind = 'cfi' elseif kind == 'fe' then kind = 'fi' end
      at[kind] = read_name(kind, text)
      if kind == 'fl' or kind == 'fn' then at.fi = at.fl end
    elseif kind == 'calls' then
      calls = tonumber(text:match '^%d+')
    else
      local sign, place, cost = line:match '^([+-]?)(%w+) %S+ (%d+)$'
      if not sign then sign, cost = line:match '^(%*) %S+ (%d+)$' end
      if sign and at.fn then
        place, cost = tonumber(place), tonumber(cost)
        address = sign == '*' and address or sign == '+' and address + place or sign == '-' and address - place or place
        if not calls then sums.instructions = sums.instructions + cost end
        if not simulated(at.fl) then
          if calls then
            add_call(sums, at, calls, cost)
          elseif simulated(at.fi) then
            sums.instructions = sums.instructions - cost
          elseif locked(at.ob)[address] then
            sums.locked = sums.locked + cost
          end
        end
        if calls then calls, at.cob, at.cfi, at.cfn = nil, nil, nil, nil end
      end
    end
  end
  return sums
end

local folder = run 'mktemp -d':gsub('%s+$', '')

local function profile(program, op, times)
  local path = folder .. '/profile'
  run(("LD_PRELOAD=%s/launch_membarrier.so LTENSOR_SIM_GPUS=1 LTENSOR_SIM_MEMORY=16G valgrind --tool=callgrind " ..
       "--separate-threads=yes --dump-instr=yes --callgrind-out-file=%s %s '%s' %d"):format(build, path, program, op, times))
  return read_profile(path .. '-01')
end

local function per_op(program, op)
  local few, many = profile(program, op, N), profile(program, op, M)
  local cells = {}
  for i, column in ipairs(COLUMNS) do
    cells[i] = (i == 1 and '%.0f' or '%.1f'):format((many[column] - few[column]) / (M - N))
  end
  return table.concat(cells, ' | ')
end

local PROGRAMS = {
  {'Lua', build .. '/ltensor --no-copies tests/bench/launch/ops.lua'},
  {'C', build .. '/launch_ops'},
}
print('| op | from | ' .. table.concat(COLUMNS, ' | ') .. ' |')
print('|---|---|' .. ('---:|'):rep(#COLUMNS))
for _, op in ipairs(OPS) do
  for _, program in ipairs(PROGRAMS) do
    if not only or only == op then print(('| %s | %s | %s |'):format(op, program[1], per_op(program[2], op))) end
  end
end
run(("rm -r '%s'"):format(folder))
