-- sass.lua - parses the machine code of kernels as printed by `nvdisasm -c`, and finds the path
-- through the control-flow graph that most elements of a tensor take.
--
--   local kernels = sass.parse(text)          by mangled name
--   local passes = sass.passes(kernel, want)  the instructions executed per chunk of elements
--
-- A kernel is a list of instructions: { address, op, operands, predicate, target, targets, width,
-- space }. Independent of files and of the toolkit.
local sass = {}

local spaces = {
  LDG = 'load', STG = 'store', LDL = 'local', STL = 'local', LDS = 'shared', STS = 'shared', ATOMG = 'atomic',
  ATOM = 'atomic', RED = 'atomic', REDG = 'atomic', LD = 'load', ST = 'store', LDSM = 'shared', LDGSTS = 'load',
}

-- Width of an access in bytes, per thread.
local function width_of(op)
  local bits = op:match('%.(%d+)%f[%.\0]') or op:match('%.(%d+)$')
  if op:find('%.[US]8%f[%.\0]') then return 1 end
  if op:find('%.[US]16%f[%.\0]') then return 2 end
  if bits == '64' then return 8 end
  if bits == '128' then return 16 end
  if bits == '256' then return 32 end
  return 4
end

local function instruction(address, text)
  local predicate, rest = text:match('^@(!?U?P%w+)%s+(.*)$')
  local op, operands = (rest or text):match('^(%S+)%s*(.*)$')
  local base = op:match('^[%w_]+')
  local i = { address = address, op = op, base = base, operands = operands, predicate = predicate }
  i.space = spaces[base]
  if i.space then i.width = width_of(op) end
  i.target = operands:match('`%(([^)]*)%)')
  return i
end

-- The kernels of a text by name: { name, instructions, labels = label -> index of an instruction }.
function sass.parse(text)
  local kernels, kernel, last = {}, nil, nil
  for line in text:gmatch('[^\n]+') do
    local first = line:byte(1)
    if first == 32 then -- an instruction is indented and begins with its address
      local address, code = line:match('^%s+/%*(%x+)%*/%s+(.-)%s*;')
      if address and kernel then
        last = instruction(tonumber(address, 16), code)
        kernel.instructions[#kernel.instructions + 1] = last
      end
      -- `BRX R2 ... (*"BRANCH_TARGETS .L_x_1,.L_x_2"*)`
      local targets = line:match('BRANCH_TARGETS ([^"]*)"')
      if targets and last then
        last.targets = {}
        for label in targets:gmatch('[^,%s]+') do last.targets[#last.targets + 1] = label end
      end
    else
      local section = line:match('^%s*%.section%s+%.text%.([^,%s]+)')
      local label = line:match('^([%.%w_%$]+):')
      if section then
        kernel = { name = section, instructions = {}, labels = {} }
        kernels[section] = kernel
      elseif label and kernel then
        kernel.labels[label] = #kernel.instructions + 1
      elseif line:find('^%s*%.section%s') then -- not .sectioninfo, of a kernel for sm_75
        kernel = nil
      end
    end
  end
  return kernels
end

-- ---- basic blocks -------------------------------------------------------------------------------

local function ends_block(i) return i.base == 'BRA' or i.base == 'BRX' or i.base == 'EXIT' or i.base == 'RET' or i.base == 'JMP' end

-- Basic blocks, each with the indices of its successors in `follow`.
local function blocks_of(kernel)
  local list, starts = kernel.instructions, { [1] = true }
  for _, at in pairs(kernel.labels) do starts[at] = true end
  for n, i in ipairs(list) do
    if ends_block(i) then starts[n + 1] = true end
  end
  local blocks, at = {}, {}
  for n = 1, #list do
    if starts[n] then blocks[#blocks + 1] = { first = n, follow = {} } end
    blocks[#blocks].last = n
    at[n] = #blocks
  end
  for b, block in ipairs(blocks) do
    local i = list[block.last]
    local function to(label)
      local n = label and kernel.labels[label]
      if n and at[n] then block.follow[#block.follow + 1] = at[n] end
    end
    local conditional = i.predicate or (i.base == 'BRA' and not i.operands:find('^`'))
    if i.base == 'BRA' or i.base == 'JMP' then to(i.target) end
    for _, label in ipairs(i.targets or {}) do to(label) end
    local goes_on = not ends_block(i) or (conditional and i.base ~= 'BRX')
    if goes_on and blocks[b + 1] then block.follow[#block.follow + 1] = b + 1 end
    block.leaves = #block.follow == 0 or (i.base == 'EXIT' and true) or false
  end
  return blocks
end

-- Whether an access moves elements of `element` bytes, one at a time or as vectors.
local function moves(i, element)
  return (i.space == 'load' or i.space == 'store') and (i.width == element or i.width >= 16 or (i.width == 8 and element < 4))
end

-- Marks the loops that convert an element's index to an offset: they multiply by reciprocals and
-- access no elements.
local function mark_place_loops(kernel, blocks, loops, element)
  for _, loop in ipairs(loops) do
    local reciprocal, moving = false, false
    for n = blocks[loop.first].first, blocks[loop.last].last do
      local i = kernel.instructions[n]
      reciprocal = reciprocal or i.op:find('^IMAD%.HI') or i.op:find('^IMAD%.WIDE%.U32')
      moving = moving or moves(i, element)
    end
    if reciprocal and not moving then
      for b = loop.first, loop.last do blocks[b].places = true end
      blocks[loop.first].enters = true
    end
  end
end

-- The forward path from block `from` to block `to` (nil: to an exit of the kernel) that moves the
-- most bytes; among equals, the shortest, but (rounds > 0) through the loops marked by
-- mark_place_loops, repeated `rounds` times. Returns its instructions and the bytes.
local function best_way(kernel, blocks, from, to, want)
  local element, rounds = want.element, (want.dims or 1) - 1
  local list, best = kernel.instructions, {}
  for b = #blocks, 1, -1 do
    local block, bytes, count, stored = blocks[b], 0, 0, 0
    if b >= from and (not to or b <= to) then
      for n = block.first, block.last do
        local i = list[n]
        count = count + 1
        if moves(i, element) then
          bytes = bytes + i.width
          if i.space == 'store' then stored = stored + i.width end
        end
        if i.space == 'local' then count = count + 64 end -- most elements do not take a path with spills
        if i.base == 'CALL' then count = count + 100 end
      end
      -- In a kernel that switches on the dtype, only the branch for the wanted dtype counts.
      if want.stored and stored > 0 and stored ~= want.stored then bytes = 0 end
      if block.enters and rounds > 0 then count = count - 1e6 end
      local choice
      for _, next_block in ipairs(block.follow) do
        local after = next_block > b and best[next_block]
        if after and (not choice or after.bytes > choice.bytes or (after.bytes == choice.bytes and after.count < choice.count)) then
          choice = after
        end
      end
      local ends = not to and block.leaves or to == b
      if choice and ends and not to and choice.bytes == 0 then choice = nil end
      if choice or ends then
        best[b] = { bytes = bytes + (choice and choice.bytes or 0), count = count + (choice and choice.count or 0), block = b,
          after = choice }
      end
    end
  end
  local way, at = {}, best[from]
  local bytes = at and at.bytes or 0
  while at do
    for _ = 1, blocks[at.block].places and math.max(rounds, 1) or 1 do
      for n = blocks[at.block].first, blocks[at.block].last do way[#way + 1] = list[n] end
    end
    at = at.after
  end
  return way, bytes
end

-- The passes over the elements. want = { element = bytes per element, passes = number of loops over
-- the elements, dims = dimensions of the layout (1), stored = bytes that a thread stores at once
-- (any) }. A pass is a list of instructions: the innermost loops that move elements, by bytes in
-- descending order; without such a loop, the path through the kernel that moves the most bytes.
function sass.passes(kernel, want)
  local blocks = blocks_of(kernel)
  if #blocks == 0 then return {} end
  local loops = {}
  for b, block in ipairs(blocks) do
    for _, next_block in ipairs(block.follow) do
      -- A branch to itself at the end of a function is padding.
      if next_block <= b and not (next_block == b and block.first == block.last) then
        loops[#loops + 1] = { first = next_block, last = b }
      end
    end
  end
  mark_place_loops(kernel, blocks, loops, want.element)
  local found = {}
  for _, loop in ipairs(loops) do
    local innermost = true
    local way, bytes = best_way(kernel, blocks, loop.first, loop.last, want)
    for _, other in ipairs(loops) do
      if other ~= loop and other.first >= loop.first and other.last <= loop.last then
        local _, inside = best_way(kernel, blocks, other.first, other.last, want)
        if inside > 0 then innermost = false end
      end
    end
    if innermost and bytes > 0 then found[#found + 1] = { way = way, bytes = bytes, loop = true } end
  end
  table.sort(found, function(x, y)
    if x.bytes ~= y.bytes then return x.bytes > y.bytes end
    return x.way[1].address < y.way[1].address
  end)
  local passes = {}
  for n = 1, math.min(#found, want.passes or 1) do passes[n] = found[n] end
  -- A loop that moves fewer bytes than the straight path beside it handles the remainder of a row
  -- only.
  local way, bytes = best_way(kernel, blocks, 1, nil, want)
  local inside, straight = {}, 0
  for _, pass in ipairs(found) do
    for _, i in ipairs(pass.way) do inside[i] = true end
  end
  for _, i in ipairs(way) do
    if not inside[i] and moves(i, want.element) then straight = straight + i.width end
  end
  if #passes == 0 or ((want.passes or 1) == 1 and straight > passes[1].bytes) then return { { way = way, bytes = bytes } } end
  return passes
end

-- ---- metrics ------------------------------------------------------------------------------------

-- Widths of the widest load and store.
function sass.widest(instructions)
  local load, store = 0, 0
  for _, i in ipairs(instructions) do
    if i.space == 'load' and i.width > load then load = i.width end
    if i.space == 'store' and i.width > store then store = i.width end
  end
  return load, store
end

-- 64-bit integer divisions: calls of the division routine. For a path, all calls between its first
-- and last address count, because small operands skip the call by a 32-bit division.
local function divides(i) return i.base == 'CALL' and i.operands:find('__cuda_sm%d+_%a+_[su]64') ~= nil end

function sass.divisions(kernel, way)
  local first, last, n = 0, math.huge, 0
  if way then
    first, last = math.huge, 0
    for _, i in ipairs(way) do first, last = math.min(first, i.address), math.max(last, i.address) end
  end
  for _, i in ipairs(kernel.instructions) do
    if i.address >= first and i.address <= last and divides(i) then n = n + 1 end
  end
  return n
end

return sass
