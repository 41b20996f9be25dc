-- linear_cross_entropy_options.lua - nn.LinearCrossEntropyOptions{batch_chunk_size =,
-- chunking_method = 'auto', acc_policy = 'auto', acc_dtype =, allow_retain_graph = false}: makes
-- nn.functional.linear_cross_entropy process the batch in chunks of batch_chunk_size rows, or of
-- the size by the method 'aspect_ratio' or 'aspect_ratio:N', with logits as large as the input, or
-- an N-th of it. Logits are recomputed in backward, which may be called repeatedly while the graph
-- exists, and accumulate in the input's dtype: acc_policy, acc_dtype and allow_retain_graph are
-- PyTorch's, are validated, and have no effect.

--[=[ arguments
what: Name of the option, for the error message.
value: Value to check.
classes: Number of classes.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local Options = {}
Options.__index = Options
Options.__name = 'LinearCrossEntropyOptions'

local read = declare.reader [[
  LinearCrossEntropyOptions(*, boolean allow_retain_graph=false, any? batch_chunk_size, any chunking_method='auto', any acc_policy='auto', any? acc_dtype)]]
local POLICIES = { auto = true, accurate = true, balanced = true, compact = true }
local DTYPES = { [torch.float16] = true, [torch.bfloat16] = true, [torch.float32] = true, [torch.float64] = true }

-- The N of 'aspect_ratio:N'; nil for other texts.
local function factor_of(method)
  if method == 'aspect_ratio' then return 1 end
  local factor = math.tointeger(tonumber(method:match '^aspect_ratio:(%d+)$'))
  return factor and factor > 0 and factor or nil
end

local function new(_, ...)
  local o = setmetatable(read(...), Options)
  if not POLICIES[o.acc_policy] then fail('invalid acc_policy: %s', tostring(o.acc_policy)) end
  if o.chunking_method and o.chunking_method ~= 'auto' and not factor_of(o.chunking_method) then
    fail('invalid chunking_method: %s', tostring(o.chunking_method))
  end
  local size = o.batch_chunk_size
  if size ~= nil and (math.type(size) ~= 'integer' or size < 1) then fail('batch_chunk_size must be positive int or nil, got %s', tostring(size)) end
  if o.acc_dtype ~= nil and not DTYPES[o.acc_dtype] then
    fail('acc_dtype must be one of {nil, torch.float16, torch.bfloat16, torch.float32, torch.float64}, got %s', tostring(o.acc_dtype))
  end
  return o
end

--- Raises an error, which names the function `what`, if its argument `options` is neither nil nor
-- such an object.
function Options.check(what, value)
  if value ~= nil and getmetatable(value) ~= Options then
    fail("%s(): argument 'options' must be an nn.LinearCrossEntropyOptions, not %s", what, torch.type(value))
  end
end

--- The number of rows of input [rows, features] in a chunk, for this number of classes.
function Options:rows(input, classes)
  local n, features, size = input:size(1), input:size(2), self.batch_chunk_size
  local method = self.chunking_method
  if method == 'auto' then
    local half = input.dtype == torch.float16 or input.dtype == torch.bfloat16
    method = not size and (half and not input.is_cuda and 'aspect_ratio' or 'aspect_ratio:2') or nil
  end
  if not method then return math.min(size or n, n) end
  local times = math.max(-(-classes // math.max(features, 1)), 1)
  local most, power = -(-n // times), 1
  while power < most do power = power * 2 end
  local rows = math.min(power // factor_of(method), n)
  if size and size ~= rows then
    fail("batch_chunk_size (=%d) and chunking_method ('%s') give different chunk sizes (%d vs %d); pass only one.", size, method, size, rows)
  end
  return math.max(rows, 1)
end

return setmetatable(Options, { __call = new })
