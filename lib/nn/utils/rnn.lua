-- rnn.lua - torch.nn.utils.rnn: sequences of different lengths in one batch, padded or packed.
--
-- A PackedSequence contains the steps of all sequences, longest first, one time step after the
-- other: `data`, the number of sequences of each step (`batch_sizes`, on the CPU), and the
-- permutations that sort and unsort the batch.

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local rnn = {}

-- ---- PackedSequence -----------------------------------------------------------------------------

local PackedSequence = class.Object:extend('PackedSequence')
rnn.PackedSequence = PackedSequence

function rnn.invert_permutation(permutation)
  if permutation == nil then return nil end
  local inverse = torch.empty_like(permutation)
  inverse:scatter_(1, permutation, torch.arange(1, #permutation + 1, { device = permutation.device }))
  return inverse
end

function PackedSequence:init(data, batch_sizes, sorted_indices, unsorted_indices)
  if sorted_indices ~= nil and unsorted_indices == nil then unsorted_indices = rnn.invert_permutation(sorted_indices) end
  if batch_sizes.device.type ~= 'cpu' then
    fail('batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They should '
      .. 'be instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn.')
  end
  self.data, self.batch_sizes = data, batch_sizes
  self.sorted_indices, self.unsorted_indices = sorted_indices, unsorted_indices
end

local function moved(tensor, device) return tensor ~= nil and tensor:to(device) or nil end

-- to(device), to(dtype): converts the data; a device also applies to the permutations.
function PackedSequence:to(...)
  local data = self.data:to(...)
  return PackedSequence(data, self.batch_sizes, moved(self.sorted_indices, data.device),
    moved(self.unsorted_indices, data.device))
end

function PackedSequence:cuda(...) return self:to(self.data:cuda(...).device) end
function PackedSequence:cpu() return self:to(torch.device 'cpu') end
function PackedSequence:double() return self:to(torch.float64) end
function PackedSequence:float() return self:to(torch.float32) end

function PackedSequence:__tostring()
  return ('PackedSequence(data=%s, batch_sizes=%s, sorted_indices=%s, unsorted_indices=%s)'):format(tostring(self.data),
    tostring(self.batch_sizes), tostring(self.sorted_indices or 'None'), tostring(self.unsorted_indices or 'None'))
end

-- ---- packing ------------------------------------------------------------------------------------

local function check_lengths(lengths, batch, enforce_sorted)
  if #lengths ~= batch then
    fail('Expected `len(lengths)` to be equal to batch_size, but got %d (batch_size=%d)', #lengths, batch)
  end
  for i, length in ipairs(lengths) do
    kinds.check('pack_padded_sequence', 'lengths', length, 'number')
    if length < 1 then
      fail('Length of all samples has to be greater than 0, but found an element in \'lengths\' that is <= 0')
    end
    if enforce_sorted and i > 1 and length > lengths[i - 1] then
      fail('`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass '
        .. '{enforce_sorted = false} to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do '
        .. 'not need ONNX exportability.')
    end
  end
end

-- lengths are a table or a tensor.
function rnn.pack_padded_sequence(input, lengths, batch_first, enforce_sorted)
  if torch.is_tensor(lengths) then lengths = lengths:tolist() end
  if batch_first then input = input:transpose(1, 2) end
  local batch, sorted = input:size(2), nil
  check_lengths(lengths, batch, enforce_sorted)
  if input:numel() == 0 then fail 'Cannot pack empty tensors.' end
  if not enforce_sorted then
    local order
    lengths, order = torch.sort(torch.tensor(lengths), { descending = true, stable = true })
    sorted = order:to(input.device)
    lengths = lengths:tolist()
    input = input:index_select(2, sorted)
  end
  if lengths[1] > input:size(1) then
    fail('Expected the largest of `lengths` to be at most %d, the number of steps, but got %d', input:size(1), lengths[1])
  end
  local sizes, rows, count = {}, {}, batch
  for t = 1, lengths[1] do
    while lengths[count] < t do count = count - 1 end
    sizes[t] = count
    for b = 1, count do rows[#rows + 1] = (t - 1) * batch + b end
  end
  local data = input:reshape(input:size(1) * batch, table.unpack(input.shape, 3))
  data = data:index_select(1, torch.tensor(rows, { device = input.device }))
  return PackedSequence(data, torch.tensor(sizes), sorted)
end

-- Returns the padded batch and the lengths.
function rnn.pad_packed_sequence(sequence, batch_first, padding_value, total_length)
  local sizes = sequence.batch_sizes:tolist()
  if #sizes == 0 then fail 'batch_sizes can not be empty' end
  local steps, batch = #sizes, sizes[1]
  local total = total_length or steps
  if total < steps then
    fail('Expected total_length to be at least the length of the longest sequence in input, but got total_length=%d and '
      .. 'max sequence length being %d', total, steps)
  end
  local rows, padding, lengths, row = {}, {}, {}, 0
  for t = 1, steps do
    local size = sizes[t]
    for b = 1, batch do
      rows[#rows + 1] = b <= size and row + b or 1
      padding[#padding + 1] = b > size
      if b <= size then lengths[b] = t end
    end
    row = row + size
  end
  local data = sequence.data
  local padded = data:index_select(1, torch.tensor(rows, { device = data.device }))
  local shape = { steps, batch, table.unpack(data.shape, 2) }
  local mask = torch.tensor(padding, { device = data.device })
  for _ = 2, data.ndim do mask = mask:unsqueeze(-1) end
  padded = padded:masked_fill(mask, padding_value):reshape(shape)
  if total > steps then -- total_length is any number; allocation fails if it is too large
    shape[1] = total - steps
    padded = torch.cat { padded, torch.full(shape, padding_value, { dtype = data.dtype, device = data.device }) }
  end
  local counts = torch.tensor(lengths)
  if sequence.unsorted_indices ~= nil then
    padded = padded:index_select(2, sequence.unsorted_indices)
    counts = counts:index_select(1, sequence.unsorted_indices:cpu())
  end
  if batch_first then padded = padded:transpose(1, 2) end
  return padded, counts
end

-- ---- lists of sequences -------------------------------------------------------------------------

function rnn.pad_sequence(sequences, batch_first, padding_value, side)
  if side ~= 'left' and side ~= 'right' then fail 'Expected padding_side to be one of left or right' end
  if type(sequences) ~= 'table' or #sequences == 0 then
    fail 'pad_sequence(): received an empty list of sequences'
  end
  local longest = 0
  for _, sequence in ipairs(sequences) do longest = math.max(longest, #sequence) end
  local padded = {}
  for i, sequence in ipairs(sequences) do
    local missing = longest - #sequence
    local pad = {}
    for _ = 2, sequence.ndim do
      pad[#pad + 1] = 0
      pad[#pad + 1] = 0
    end
    pad[#pad + 1] = side == 'left' and missing or 0
    pad[#pad + 1] = side == 'right' and missing or 0
    padded[i] = torch.nn.functional.pad(sequence, pad, 'constant', padding_value)
  end
  return torch.stack(padded, batch_first and 1 or 2)
end

-- The list that pad_sequence took.
function rnn.unpad_sequence(padded, lengths, batch_first)
  if torch.is_tensor(lengths) then lengths = lengths:tolist() end
  if not batch_first then padded = padded:transpose(1, 2) end
  local sequences = {}
  for i, length in ipairs(lengths) do sequences[i] = padded:select(1, i):narrow(1, 1, length) end
  return sequences
end

function rnn.pack_sequence(sequences, enforce_sorted)
  local lengths = {}
  for i, sequence in ipairs(sequences) do lengths[i] = #sequence end
  return rnn.pack_padded_sequence(rnn.pad_sequence(sequences), lengths, false, enforce_sorted)
end

function rnn.unpack_sequence(packed)
  local padded, lengths = rnn.pad_packed_sequence(packed)
  return rnn.unpad_sequence(padded, lengths)
end

declare.methods(PackedSequence, 'init(self, Tensor data, Tensor batch_sizes, Tensor? sorted_indices, Tensor? unsorted_indices)')

return declare.functions(rnn, [[
  invert_permutation(Tensor? permutation)
  pack_padded_sequence(Tensor input, Tensor|table lengths, boolean batch_first=false, boolean enforce_sorted=true)
  pad_packed_sequence(PackedSequence sequence, boolean batch_first=false, number padding_value=0.0, integer? total_length)
  pad_sequence(tensors sequences, boolean batch_first=false, number padding_value=0.0, string padding_side='right')
  unpad_sequence(Tensor padded_sequences, Tensor|table lengths, boolean batch_first=false)
  pack_sequence(tensors sequences, boolean enforce_sorted=true)
  unpack_sequence(PackedSequence packed_sequences)
]])
