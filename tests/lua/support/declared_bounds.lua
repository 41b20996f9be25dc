-- declared_bounds.lua - calls every public function and constructor in Lua with integers that nobody means, one argument at a time, where a
-- number that bounds a loop before it was checked would take for ever. Prints what takes more instructions of Lua or seconds than it may;
-- ended by bounds_spec.lua after a time.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local arguments = require 'torch.support.arguments'
local INTEGERS = { 1 << 40, math.maxinteger }
local INSTRUCTIONS, SECONDS = 20000000, 2
local nn, x = torch.nn, torch.ones(2, 2)

local samples = {
  Tensor = x, number = 1, integer = 1, boolean = true, string = 'mean', table = { 1 }, list = { 1 }, ['function'] = function(v) return v end,
  Module = nn.Linear(2, 2), Optimizer = torch.optim.SGD({ torch.ones(1, { requires_grad = true }) }), any = x, value = x, sizes = 1,
  numbers = 1, times = { 1 }, tensors = { x, x }, integers = { 1 }, device = 'cpu', dtype = torch.float32,
  data = torch.utils.data.TensorDataset(x), userdata = x, functions = { function(v) return v end }, named = {},
  Generator = torch.Generator and torch.Generator() or nil,
}
local by_name = { encoder_layer = nn.TransformerEncoderLayer(4, 2), decoder_layer = nn.TransformerDecoderLayer(4, 2), embed_dim = 4,
  d_model = 4, num_channels = 4, n_classes = 4, img_size = 4, patch_size = 2, cutoffs = { 2 }, dim = 2, mode = 'LSTM', path = '/nonexistent/x', f = '/nonexistent/x',
  filename = '/nonexistent/x', log_dir = '/nonexistent/x' }
-- How long something waits or repeats is the caller's affair.
local left_alone = { timeout = true, niter = true, max_iter = true, warmup = true, number = true, total = true }

local function sample_of(a)
  if by_name[a.name] ~= nil then return by_name[a.name] end
  return samples[a.kind and a.kind:match '^%a+' or 'any']
end

local function limited(f, ...)
  debug.sethook(function() error('too many instructions', 0) end, '', INSTRUCTIONS)
  local begin = os.clock()
  local ok, message = pcall(f, ...)
  debug.sethook()
  if not ok and tostring(message):find('too many instructions', 1, true) then return 'too many instructions' end
  if os.clock() - begin > SECONDS then return ('%.1f seconds'):format(os.clock() - begin) end
  return nil
end

local function signature_of(value)
  local reader = type(value) == 'table' and arguments.constructors[value.__classname]
  if reader then return type(reader) == 'table' and reader or arguments.parse(reader), 1 end
  return arguments.signature_of(value), type(value) == 'table' and 2 or 1
end

-- The values that an integer argument may have: the integer alone, and in a list where lists are taken.
local function values_of(kind, integer)
  if kind:find '^integers' then return { { integer } } end
  return kind:find 'sizes' and { integer, { integer, integer } } or { integer }
end

local calls = 0
for _, entry in ipairs(dofile(here .. 'public_functions.lua')(true)) do
  local signature, first = signature_of(entry.value)
  for i = first, not entry.is_method and signature and #signature or 0 do
    local a = signature[i]
    if a.kind and (a.kind:find 'integer' or a.kind:find 'sizes') and not left_alone[a.name] then
      for _, integer in ipairs(INTEGERS) do
        for _, value in ipairs(values_of(a.kind, integer)) do
          local named = {}
          for j = first, #signature do
            local b = signature[j]
            if j == i then named[b.name] = value elseif not b.optional then named[b.name] = sample_of(b) end
          end
          calls = calls + 1
          io.stderr:write(entry.name, ' ', a.name, ' = ', tostring(integer), '\n')
          local why = limited(entry.value, named)
          if why then print(('%s{%s = %d}: %s'):format(entry.name, a.name, integer, why)) end
        end
      end
    end
  end
end
print(calls .. ' calls')
