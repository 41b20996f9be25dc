-- The report of the machine code of CUDA kernels (scripts/ptx, `make ptx-report`), run on code that is kept as text
-- (tests/files/ptx): tools that print it stand in for the toolkit's.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local root = here .. '../../'
local files = process.run("realpath '" .. here .. "../files/ptx'"):gsub('\n', '')

local folder
setup(function()
  folder = process.run('mktemp -d'):gsub('\n', '')
  local function tool(name, text)
    local file = assert(io.open(folder .. '/' .. name, 'w'))
    file:write('#!/bin/sh\n', text, '\n')
    file:close()
    process.run('chmod +x ' .. folder .. '/' .. name)
  end
  tool('cuobjdump', ([[case $1 in -xelf) : >kernels.1.sm_90.cubin ;; *) cat '%s/kernels.resources' ;; esac]]):format(files))
  tool('nvdisasm', ("cat '%s/kernels.sass'"):format(files))
  process.run(("cp '%s/kernels.usage' %s/kernels.cuda.o.usage; : >%s/kernels.cuda.o"):format(files, folder, folder))
end)
teardown(function() process.run('rm -rf ' .. folder) end)

-- What the report prints of these hot kernels (Lua, the list's entries), faults included, and whether it is content.
local function report(entries)
  local list = folder .. '/hot.lua'
  local file = assert(io.open(list, 'w'))
  file:write('return {', entries, '}')
  file:close()
  local pipe = assert(io.popen(('PATH=%s:$PATH lua5.4 %sscripts/ptx/report.lua 90 %s/out %s %s/kernels.cuda.o 2>&1'):format(folder, root,
    folder, list, folder)))
  local text = pipe:read 'a'
  return text, pipe:close() == true
end

local wide = "{ file = 'kernels', name = '%s', what = 'add', element = 4, loads = 8, stores = 4, wide = true },"

-- The cells of a kernel's row.
local function row(text, name)
  local cells = {}
  for cell in text:match('| kernels: `' .. name .. '`[^\n]*'):gmatch '|%s*([^|]+)' do cells[#cells + 1] = cell:match '^(.-)%s*$' end
  return { registers = cells[2], stack = cells[3], spills = cells[4], load = cells[7], store = cells[8], instructions = tonumber(cells[9]),
    divisions = tonumber(cells[10]), share = tonumber((cells[12]:gsub('%%', ''))) }
end

describe('the report of the kernels\' machine code', function()
  it('has registers, stack, spills and the width of accesses of each hot kernel', function()
    local found = row(report(wide:format 'wide'), 'wide')
    assert.same({ '18', '0', '0', '16', '16' }, { found.registers, found.stack, found.spills, found.load, found.store })
    assert.equal(0, found.divisions)
    assert.is_true(found.instructions > 3 and found.instructions < 10, found.instructions)
  end)

  it('the report counts 64-bit divisions per element and estimates the cost of their replacement', function()
    local text = report(wide:format 'wide' .. "{ file = 'kernels', name = 'divides', what = '', element = 4, loads = 4, stores = 4 },")
    local fast, slow = row(text, 'wide'), row(text, 'divides')
    assert.equal(1, slow.divisions)
    assert.is_true(fast.share > 85 and slow.share < fast.share - 10, fast.share .. ' ' .. slow.share)
  end)

  it('follows the loop of a kernel that reads more than it writes', function()
    local found = row(report "{ file = 'kernels', name = 'sums', what = '', element = 4, loads = 4, wide = true },", 'sums')
    assert.equal('16', found.load)
    assert.is_true(found.instructions > 1 and found.instructions < 6, found.instructions)
  end)

  it('a kernel with parameters that are copied to a stack frame is an error', function()
    local text, content = report ''
    assert.is_false(content)
    assert.truthy(text:find('sm_90 kernels.cu: framed: a stack frame of 344 bytes (less than 256 are allowed)', 1, true))
    assert.falsy(text:find('kernels.cu: wide', 1, true))
  end)

  it('refuses a hot kernel that has lost its accesses of 16 bytes', function()
    local text, content = report(wide:format 'divides')
    assert.is_false(content)
    assert.truthy(text:find('divides: its widest load has 4 bytes', 1, true))
    assert.truthy(text:find('divides: its widest store has 4 bytes', 1, true))
  end)

  it('a listed kernel that does not exist is an error', function()
    local text, content = report(wide:format 'renamed')
    assert.is_false(content)
    assert.truthy(text:find('kernels.cu has no kernel renamed', 1, true))
  end)
end)

describe('estimates', function()
  package.path = root .. 'scripts/ptx/?.lua;' .. package.path
  local model = require 'model'

  it('are for a T4 where code is for its generation, and else for an H100', function()
    local function way(...)
      local list = {}
      for n, op in ipairs { ... } do list[n] = { op = op, base = op:match '^[%w_]+' } end
      return list
    end
    local adds, converts, floats = way('DADD', 'DADD'), way('F2F.F64.F32', 'DADD'), way('FADD', 'FFMA')
    assert.same({ 1, 'double' }, { model.cycles(adds) })
    assert.same({ 0.5, 'issue' }, { model.cycles(floats) })
    model.choose '75'
    finally(function() model.choose '90' end)
    assert.same({ 32, 'double' }, { model.cycles(adds) })
    assert.same({ 32, 'double' }, { model.cycles(converts) })
    assert.same({ 1, 'float' }, { model.cycles(floats) })
    assert.same({ 2, 'special' }, { model.cycles(way 'MUFU.RCP64H') })
    assert.equal(32, model.warps(64, 0, 256))
    assert.equal(16, model.warps(128, 0, 256))
  end)
end)

describe('the rules', function()
  local rules = require 'rules'
  local function kernel(change)
    local made = { file = 'f', name = 'k', arch = '90', stack = 0, spills = 0, load = 16, store = 16 }
    for key, value in pairs(change) do made[key] = value end
    return made
  end

  it('allow frames below 256 bytes and 32 bytes of spills', function()
    assert.same({}, rules.faults { kernel { stack = 248, spills = 32 } })
    assert.equal(1, #rules.faults { kernel { stack = 256 } })
    assert.equal(1, #rules.faults { kernel { spills = 36 } })
  end)

  it('the rules require wide stores only for stored elements, of the listed width', function()
    local hot = { wide = true, loads = 4, stores = 2, store_width = 8 }
    assert.same({}, rules.faults { kernel { hot = hot, store = 8 } })
    assert.equal(1, #rules.faults { kernel { hot = hot, store = 4 } })
    assert.same({}, rules.faults { kernel { hot = { wide = true, loads = 4 }, store = 4 } })
  end)
end)
