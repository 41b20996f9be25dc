-- default_hooks.lua - communication hooks for DistributedDataParallel:register_comm_hook, which
-- compute the mean of a bucket of gradients over the ranks. state: the group of the ranks; nil:
-- all.

--[=[ arguments
bucket: Bucket of gradients.
hook: Hook to run on the converted gradients.
fp16_compress_hook(): Sums the gradients of a bucket as float16.
bf16_compress_hook(): Sums the gradients of a bucket as bfloat16.
fp16_compress_wrapper(): A hook that converts the gradients to float16 for another hook.
bf16_compress_wrapper(): A hook that converts the gradients to bfloat16 for another hook.
]=]

local torch = require 'torch'
local dist = require 'torch.distributed'
local declare = require 'torch.support.arguments'

local M = {}

local function mean(group, tensor)
  return dist.all_reduce(tensor, { op = dist.ReduceOp.AVG, group = group, async_op = true }):get_future()
end

--- The default behaviour without a hook.
function M.allreduce_hook(group, bucket) return mean(group, bucket:buffer()) end

-- Sends gradients as `dtype`; they are summed in float, rounded once, and converted back.
local function compressed(dtype)
  return function(group, bucket)
    local buffer = bucket:buffer()
    return mean(group, buffer:to(dtype)):next(function(future) return buffer:copy_(future:value()[1]) end)
  end
end

--- Sends half of the bytes, as bfloat16, which has the range of float32.
M.bf16_compress_hook = compressed(torch.bfloat16)

--- Half of the bytes: float16, which is finer and overflows above 65504.
M.fp16_compress_hook = compressed(torch.float16)

-- Wraps another hook, which receives buffers converted to dtype.
local function wrapper(dtype)
  return function(hook)
    return function(state, bucket)
      local buffer = bucket:buffer()
      local small = buffer:to(dtype)
      local inner = setmetatable({
        buffer = function() return small end,
        set_buffer = function(_, tensor) small:copy_(tensor) end,
      }, { __index = function(_, name) return function(_, ...) return bucket[name](bucket, ...) end end })
      return hook(state, inner):next(function(future)
        local value = future:value()
        return buffer:copy_(torch.is_tensor(value) and value or value[1])
      end)
    end
  end
end

--- Wraps another hook with bfloat16 buckets.
M.bf16_compress_wrapper = wrapper(torch.bfloat16)

--- Wraps another hook with float16 buckets.
M.fp16_compress_wrapper = wrapper(torch.float16)

declare.functions(M, [[
  allreduce_hook(value? process_group, any bucket)
  bf16_compress_hook(value? process_group, any bucket)
  fp16_compress_hook(value? process_group, any bucket)
  bf16_compress_wrapper(function hook)
  fp16_compress_wrapper(function hook)
]])

return M
