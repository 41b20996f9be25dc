-- adam8bit.lua - optim.Adam8bit(params, {lr = 0.001, betas = {0.9, 0.999}, eps = 1e-8, weight_decay =
-- 0, min_8bit_size = 4096}): Adam with a state of 8 bits per number, as in the library bitsandbytes
-- (T. Dettmers et al. 2021). A weight decay is decoupled, as in AdamW.
--
-- The two means of a parameter are bytes: codes of a table of 256 numbers in [-1, 1] or [0, 1], spaced
-- by their magnitude, times the largest magnitude of each block of 256 elements (absmax). A step
-- decodes, updates and encodes a part of a parameter at a time, in float32. Parameters with fewer than
-- min_8bit_size elements have a float32 state.

--[=[ arguments
weight_decay: Factor of the weight decay, which acts on the parameters directly.
min_8bit_size: Minimum number of elements of parameters with a state of 8 bits.
]=]

--[=[ examples
Adam8bit
    w = torch.ones(64, 64):requires_grad_()
    optimizer = torch.optim.Adam8bit({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    optimizer.state[w].state1.dtype, optimizer.state[w].absmax1.shape
    --> (torch.uint8, torch.Size([16]))
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fail = require 'torch.support.fail'
local fused_adam = torch._C.fused_adam_

local BLOCK = 256          -- fixed: elements with one absmax, of bitsandbytes' format
local PART = 1 << 18       -- tuning: elements per part, 1 MB of float32: temporaries stay small, calls cost nothing; a multiple of BLOCK

local Adam8bit = Optimizer:extend('Adam8bit')
Adam8bit.keeps_dtypes = true

function Adam8bit:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options,
    { lr = 'learning rate', eps = 'epsilon value', weight_decay = 'weight_decay value', min_8bit_size = 'min_8bit_size' })
  Optimizer.check_betas(options)
  Optimizer.init(self, params, options)
end

-- ---- codes --------------------------------------------------------------------------------------

-- The table of a dynamic data type (T. Dettmers 2015): 0, 1, and for each of seven powers of ten twice as
-- many numbers as for the one below, in the middle of equal parts of [0.1, 1] times the power.
local function dynamic_map(signed)
  local values = { torch.tensor({ 0, 1 }, { dtype = torch.float64 }) }
  for i = 0, 6 do
    local n = 1 << (signed and i or i + 1)
    local edges = torch.linspace(0.1, 1, n + 1)
    local middles = (edges:narrow(1, 1, n) + edges:narrow(1, 2, n)):div(2):double() * 10.0 ^ (i - 6)
    values[#values + 1] = middles
    if signed then values[#values + 1] = -middles end
  end
  return (torch.sort(torch.cat(values):float()))
end

local maps = {} -- by device and sign: the numbers, and the limits between nearest ones

local function map_of(device, signed)
  local key = tostring(device) .. tostring(signed)
  if not maps[key] then
    local numbers = dynamic_map(signed)
    local limits = (numbers:narrow(1, 1, 255) + numbers:narrow(1, 2, 255)) / 2
    if not signed then limits[1] = 0 end -- a step divides by the root: a small mean does not become 0
    maps[key] = { numbers = numbers:to(device), limits = limits:to(device) }
  end
  return maps[key]
end

-- The numbers of codes [blocks, elements].
local function decoded(codes, absmax, map)
  return map.numbers:index_select(1, codes:flatten():long() + 1):view(codes.shape) * absmax:unsqueeze(2)
end

-- Writes the nearest codes of numbers [blocks, elements].
local function encode(numbers, codes, absmax, map)
  absmax:copy_(numbers:abs():amax(2))
  local scale = torch.where(absmax:gt(0), absmax, 1):unsqueeze(2)
  codes:copy_(torch.bucketize(numbers / scale, map.limits) - 1)
end

-- ---- steps --------------------------------------------------------------------------------------

function Adam8bit:new_state(parameter, group)
  local numel = parameter:numel()
  if parameter.dtype.is_complex then fail('%s does not support complex parameters', self.__classname) end
  local dtype = numel < group.min_8bit_size and torch.float32 or torch.uint8
  local state = { step = 0 }
  for i = 1, 2 do
    state['state' .. i] = torch.zeros(parameter.shape, { dtype = dtype, device = parameter.device })
    if dtype == torch.uint8 then state['absmax' .. i] = torch.zeros((numel + BLOCK - 1) // BLOCK, { device = parameter.device }) end
  end
  return state
end

-- A step of float32 arrays.
local function step_of(w, g, m, v, step, group)
  fused_adam({ w }, { g }, { m }, { v }, {}, step, group.lr, group.betas[1], group.betas[2], group.weight_decay, group.eps, true, false, false)
end

-- The step of elements [from, from + n) of flat arrays; n is a multiple of a block, or less than one.
local function update_part(w, g, state, from, n, step, group)
  local width = math.min(n, BLOCK)
  local function part(array) return array:narrow(1, from + 1, n):view(-1, width) end
  local function sizes(array) return array:narrow(1, from // BLOCK + 1, n // width) end
  local codes1, codes2, absmax1, absmax2 = part(state.state1), part(state.state2), sizes(state.absmax1), sizes(state.absmax2)
  local signed, unsigned = map_of(w.device, true), map_of(w.device, false)
  local m, v, target = decoded(codes1, absmax1, signed), decoded(codes2, absmax2, unsigned), part(w)
  local values = target:float()
  step_of(values, part(g):float(), m, v, step, group)
  if values.dtype ~= target.dtype then target:copy_(values) end
  encode(m, codes1, absmax1, signed)
  encode(v, codes2, absmax2, unsigned)
end

function Adam8bit:update(parameter, grad, group, state)
  self:_refuse_recording "it counts its steps in the host's memory, and replays would repeat this one"
  state.step = state.step + 1
  local w, g, n = parameter:contiguous(), grad:contiguous():view(-1), parameter:numel()
  local flat = w:view(-1)
  if state.state1.dtype == torch.float32 then
    local values = flat:float()
    step_of(values, g:float(), state.state1:view(-1), state.state2:view(-1), state.step, group)
    if values.dtype ~= flat.dtype then flat:copy_(values) end
  else
    local arrays = { state1 = state.state1:view(-1), state2 = state.state2:view(-1), absmax1 = state.absmax1, absmax2 = state.absmax2 }
    local whole = n // BLOCK * BLOCK
    for from = 0, whole - 1, PART do update_part(flat, g, arrays, from, math.min(PART, whole - from), state.step, group) end
    if n > whole then update_part(flat, g, arrays, whole, n - whole, state.step, group) end
  end
  if not parameter:is_contiguous() then parameter:copy_(w) end
end

Optimizer.declare(Adam8bit, 'number|Tensor lr=0.001, times betas={0.9, 0.999}, number eps=1e-8, number weight_decay=0, *, integer min_8bit_size=4096')

return Adam8bit
