-- report.lua - measures the machine code of the CUDA kernels: `make ptx-report`.
--
--   lua5.4 scripts/ptx/report.lua <arch> <temporary folder> <list of hot kernels> <object>...
--
-- Each object was compiled by nvcc for that architecture, with the output of ptxas in
-- <object>.usage. Prints a table of the hot kernels (the list: hot.lua), then the kernels with a
-- stack frame or spills, then violations of rules.lua (exit status 1). Lists all kernels in
-- <folder>/kernels.tsv. Needs cuobjdump, nvdisasm and c++filt; if one is missing, prints its name
-- and exits with status 3.
package.path = (arg[0]:match('^(.*)/') or '.') .. '/?.lua;' .. package.path
local sass = require 'sass'
local model = require 'model'
local rules = require 'rules'

local function quoted(word) return "'" .. word:gsub("'", "'\\''") .. "'" end

local function output(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read 'a'
  local ok = pipe:close()
  return ok and text
end

local function tool(name)
  local found = output('command -v ' .. name)
  if found and found ~= '' then return quoted(found:match '[^\n]+') end
  io.stderr:write('ptx-report: ', name, ' was not found (the CUDA Toolkit has it): nothing is measured\n')
  os.exit(3)
end

local arch, folder, hot = arg[1], arg[2], dofile(arg[3])
model.choose(arch)
local cuobjdump, nvdisasm = tool 'cuobjdump', tool 'nvdisasm'

-- ---- facts of one object ------------------------------------------------------------------------

-- { [kernel] = { registers, stack, shared } }
local function resources(cubin)
  local found, name = {}, nil
  for line in output(cuobjdump .. ' -res-usage ' .. quoted(cubin) .. ' 2>/dev/null'):gmatch '[^\n]+' do
    name = line:match 'Function ([^:]+):' or name
    local registers, stack, shared = line:match 'REG:(%d+) STACK:(%d+) SHARED:(%d+)'
    if registers then found[name] = { registers = tonumber(registers), stack = tonumber(stack), shared = tonumber(shared) } end
  end
  return found
end

-- Bytes of spill stores by kernel, as reported by ptxas.
local function spills(path)
  local found, name, file = {}, nil, io.open(path)
  if not file then return found end
  for line in file:lines() do
    name = line:match "Compiling entry function '([^']+)'" or line:match 'Function properties for (%S+)' or name
    local stores = line:match '(%d+) bytes spill stores'
    if stores then found[name] = tonumber(stores) end
  end
  file:close()
  return found
end

-- Demangled names, without the result and the parameters.
local function readable(names)
  local path = folder .. '/names'
  local file = assert(io.open(path, 'w'))
  file:write(table.concat(names, '\n'), '\n')
  file:close()
  local short, n = {}, 0
  for demangled in output('c++filt < ' .. quoted(path)):gmatch '[^\n]+' do
    n = n + 1
    local line = demangled:gsub('%(anonymous namespace%)::', ''):gsub('_GLOBAL__N__[%w_]*::', ''):gsub('^void ', '')
    local depth, cut = 0, #line + 1
    for at = 1, #line do -- the parameters begin at the parenthesis outside < >
      local c = line:sub(at, at)
      if c == '<' then depth = depth + 1 end
      if c == '>' then depth = depth - 1 end
      if c == '(' and depth == 0 then
        cut = at
        break
      end
    end
    short[names[n]] = line:sub(1, cut - 1)
  end
  return short
end

-- ---- all objects --------------------------------------------------------------------------------

-- The entries of the list for a kernel: several if it is estimated for several layouts.
local function entries_of(file, name)
  local entries = {}
  for _, entry in ipairs(hot) do
    if entry.file == file and entry.name == name then entries[#entries + 1] = entry end
  end
  return entries
end

local rows = {}
for n = 4, #arg do
  local object = arg[n]
  local file = object:match '([^/]+)%.cuda%.o$'
  local place = folder .. '/' .. file
  output(('mkdir -p %s && rm -f %s/*.cubin && cd %s && %s -xelf all %s >/dev/null 2>&1'):format(quoted(place), quoted(place), quoted(place),
    cuobjdump, quoted(output('realpath ' .. quoted(object)):match '[^\n]+')))
  local cubin = output(('ls %s/*sm_%s*.cubin 2>/dev/null'):format(quoted(place), arch))
  cubin = cubin and cubin:match '[^\n]+'
  if cubin then
    local text = output(nvdisasm .. ' -c ' .. quoted(cubin) .. ' 2>/dev/null')
    local spilled, names, kernels = spills(object .. '.usage'), {}, sass.parse(text)
    local used = resources(cubin)
    for name in pairs(used) do
      if kernels[name] then names[#names + 1] = name end
    end
    table.sort(names)
    local short = readable(names)
    for _, name in ipairs(names) do
      local kernel, usage = kernels[name], used[name]
      local row = { file = file, name = short[name], arch = arch, registers = usage.registers, stack = usage.stack, shared = usage.shared,
        spills = spilled[name], instructions = #kernel.instructions, divisions = sass.divisions(kernel) }
      row.load, row.store = sass.widest(kernel.instructions)
      local entries = entries_of(file, row.name)
      row.hot = entries[1]
      row.warps = model.warps(row.registers, row.shared, row.hot and row.hot.threads or 256)
      row.estimates = {}
      for _, entry in ipairs(entries) do row.estimates[entry] = model.estimate(kernel, entry, row.registers, row.shared) or false end
      rows[#rows + 1] = row
    end
  end
end
table.sort(rows, function(x, y)
  if x.file ~= y.file then return x.file < y.file end
  return x.name < y.name
end)

-- ---- output -------------------------------------------------------------------------------------

local function written(row) return row.spills and tostring(row.spills) or '?' end

local list = assert(io.open(folder .. '/kernels.tsv', 'w'))
list:write 'file\tkernel\tregisters\tstack\tspills\tshared\tload\tstore\twarps\tinstructions\tdivisions\n'
for _, row in ipairs(rows) do
  list:write(table.concat({ row.file, row.name, row.registers, row.stack, written(row), row.shared, row.load, row.store, row.warps,
    row.instructions, row.divisions }, '\t'), '\n')
end
list:close()

print(('## sm_%s: %d kernels'):format(arch, #rows))
print()
print(([[Estimates for the GPU %s, not measurements: the larger of what memory, the busiest unit and waiting for memory take for the
instructions that most elements go through (scripts/ptx/model.lua). Elements are taken to be contiguous, unless dimensions are named;
occupancy is what registers and shared memory allow. Loads and stores: the widest, in bytes.]]):format(model.gpu.name))
print()
print '| kernel | regs | stack | spills | shared | occupancy | load | store | instr./element | 64-bit div./element | limit | estimated share |'
print '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|'
for _, entry in ipairs(hot) do
  for _, row in ipairs(rows) do
    local e = row.estimates[entry]
    if e ~= nil then
      print(('| %s: `%s` (%s) | %d | %d | %s | %d | %d%% | %d | %d | %s | %s | %s | %s |'):format(row.file, row.name, entry.what,
        row.registers, row.stack, written(row), row.shared, 100 * row.warps // model.gpu.warps, row.load, row.store,
        e and ('%.1f'):format(e.instructions) or '-', e and ('%.2g'):format(e.divisions) or '-', e and e.limit or '-',
        e and ('%.0f%%'):format(100 * e.share) or '-'))
    end
  end
end

local framed = {}
for _, row in ipairs(rows) do
  if row.stack > 0 or (row.spills or 0) > 0 then framed[#framed + 1] = row end
end
print(('\n%d of the kernels have a stack frame or spills%s'):format(#framed, #framed > 0 and ':' or '.'))
table.sort(framed, function(x, y)
  if x.stack ~= y.stack then return x.stack > y.stack end
  return x.file .. x.name < y.file .. y.name
end)
for n = 1, math.min(#framed, 40) do
  local row = framed[n]
  print(('- %s: `%s`: stack %d, spills %s'):format(row.file, row.name, row.stack, written(row)))
end
if #framed > 40 then print(('- and %d more, none with a larger frame: %s/kernels.tsv'):format(#framed - 40, folder)) end

local faults = rules.faults(rows)
for _, text in ipairs(rules.missing(rows, hot)) do faults[#faults + 1] = text end
if #faults > 0 then
  io.stdout:flush()
  for _, text in ipairs(faults) do io.stderr:write('ptx-report: ', text, '\n') end
  os.exit(1)
end
