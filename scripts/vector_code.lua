-- vector_code.lua - counts the instructions in the innermost loops of the vector kernels of an arm64
-- build: those on vectors, those on single numbers of floating point, and calls of the C library's
-- mathematical functions (docs/results/arm64.md).
--
-- Usage: lua5.4 scripts/vector_code.lua [--check] BUILD
-- --check: prints nothing but faults: calls of a mathematical function in a loop of a file that computes
-- all elements by vectors. Exit status 1 if there are some.

local check = arg[1] == '--check'
local build = assert(arg[check and 2 or 1], 'usage: vector_code.lua [--check] BUILD')
local folder = build .. '/obj/src/core/cpu/vector'
local objdump = os.getenv 'OBJDUMP' or 'aarch64-linux-gnu-objdump'

-- Files with formulas of a single element: complex functions, polygamma and zeta, the last element of a
-- row in a norm of any order. x86-64 calls the same functions there.
local by_element = { ['pointwise/complex'] = true, ['pointwise/gamma'] = true, ['reduce/rows'] = true }

local function lines_of(command)
  local pipe <close> = assert(io.popen(command))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  return lines
end

-- The instructions of each function: { address, text, call = name }.
local function functions_of(object)
  local functions, current = {}, nil
  for _, line in ipairs(lines_of(('%s -dr --no-show-raw-insn %s'):format(objdump, object))) do
    local address, text = line:match '^ *(%x+):\t(%S.*)$'
    local called = line:match 'R_AARCH64_CALL26%s+(%S+)' or line:match 'R_AARCH64_JUMP26%s+(%S+)'
    if line:find '^%x+ <.*>:$' then
      current = {}
      functions[#functions + 1] = current
    elseif called then
      current[#current].call = called
    elseif address then
      current[#current + 1] = { tonumber(address, 16), text }
    end
  end
  return functions
end

-- The loops of a function that contain no other: first and last index.
local function innermost_loops(code)
  local at, loops = {}, {}
  for i, instruction in ipairs(code) do at[instruction[1]] = i end
  for i, instruction in ipairs(code) do
    local target = instruction[2]:match '^c?[bt][%a.]*\t.-(%x+) <'
    local first = not instruction.call and target and at[tonumber(target, 16)]
    if first and first <= i then loops[#loops + 1] = { first, i } end
  end
  local innermost = {}
  for _, loop in ipairs(loops) do
    local inner = true
    for _, other in ipairs(loops) do
      if other ~= loop and other[1] >= loop[1] and other[2] <= loop[2] and (other[1] > loop[1] or other[2] < loop[2]) then inner = false end
    end
    if inner then innermost[#innermost + 1] = loop end
  end
  return innermost
end

local function is_mathematical(name) return not name:find '^lt_' and not name:find '^mem' and not name:find '^[._]' and not name:find '^Sleef' end

local function count(object)
  local n = { loops = 0, vector = 0, scalar = 0, calls = 0 }
  for _, code in ipairs(functions_of(object)) do
    local in_loop = {} -- loops may overlap
    for _, loop in ipairs(innermost_loops(code)) do
      n.loops = n.loops + 1
      for i = loop[1], loop[2] do in_loop[i] = true end
    end
    for i, instruction in ipairs(code) do
      local text, call = instruction[2], instruction.call
      if not in_loop[i] then
        call = nil
      elseif text:find '[ \t{,]v%d+%.%d+[bhsd]' or text:find '[ \t,]q%d' then
        n.vector = n.vector + 1
      elseif text:find '^f%a+\t[sdh]%d' then
        n.scalar = n.scalar + 1
      end
      if call and is_mathematical(call) then n.calls = n.calls + 1 end
    end
  end
  return n
end

local total = { loops = 0, vector = 0, scalar = 0, calls = 0 }
local objects, faults = lines_of(('find %s -name "*.o" | sort'):format(folder)), 0
assert(#objects > 0, 'no objects in ' .. folder)
if not check then print '| file | innermost loops | vector | scalar | calls of libm |\n|---|---|---|---|---|' end
for _, object in ipairs(objects) do
  local name, n = object:sub(#folder + 2):gsub('%.%a%w*%.o$', ''), count(object)
  if not check then
    print(('| `%s` | %d | %d | %d | %d |'):format(name, n.loops, n.vector, n.scalar, n.calls))
    for key in pairs(total) do total[key] = total[key] + n[key] end
  elseif n.calls > 0 and not by_element[name] then
    faults = faults + 1
    io.stderr:write(('%s: %d calls of mathematical functions of the C library in loops; expected 0\n'):format(object, n.calls))
  end
end
if not check then print(('| all | %d | %d | %d | %d |'):format(total.loops, total.vector, total.scalar, total.calls)) end
os.exit(faults == 0)
