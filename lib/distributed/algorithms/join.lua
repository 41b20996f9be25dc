-- join.lua - Join: training with different numbers of batches per rank. A rank without further
-- batches participates in the collectives of the others, with empty contributions, until all have
-- finished.
--
-- A joinable (DistributedDataParallel, ZeroRedundancyOptimizer) has the field process_group, calls
-- notify(self) once before the collectives of each step, and has join_hook(options), which returns
-- main_hook() (shadows the collectives of a step) and post_hook(is_last_joiner) (after all;
-- is_last_joiner: this rank was among the last). In one scope, only the first joinable notifies.

--[=[ arguments
joinables: List of modules and optimizers that take part.
enable: Whether the scope has an effect.
throw_on_early_termination: Whether the end of a rank's batches is an error on all ranks.
divide_by_initial_world_size: Whether gradients are divided by the number of all ranks instead of the ranks that still have batches.
joinable: Module or optimizer that begins a step.
]=]

local torch = require 'torch'
local dist = require 'torch.distributed'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local scope = require 'torch.autograd.scope'

local M = {}

-- How many ranks have a batch; mine: 1 or 0.
local function count(group, mine)
  local n = torch.tensor({ mine }, { dtype = torch.int64 })
  dist.all_reduce(n, { group = group })
  return n:item()
end

local function throw() fail 'Detected at least one rank that exhausted inputs. Throwing across all ranks.' end

--- Reports that this rank continues. For joinables.
function M.notify(joinable)
  local join = joinable._join
  if not join then return end
  if join.first ~= joinable then return end
  join.active = count(joinable.process_group, 1)
  if join.throws and join.active < dist.get_world_size(joinable.process_group) then throw() end
end

-- Runs when this rank has no more batches: shadows the collectives of the others.
local function shadow(join)
  local is_last, group = true, join.joinables[1].process_group
  while true do
    join.active = count(group, 0)
    if join.active == 0 then break end
    if join.throws then throw() end
    is_last = false
    for _, hook in ipairs(join.hooks) do hook.main_hook() end
  end
  for _, hook in ipairs(join.hooks) do hook.post_hook(is_last) end
end

-- Ends a scope. A rank that failed, or dropped its scope, does not participate in further steps.
local function leave(join, failure)
  local ok, message = true, nil
  if failure == nil then ok, message = pcall(shadow, join) end
  for _, joinable in ipairs(join.joinables) do joinable._join = nil end
  if not ok then error(message, 0) end
end

--- Join({joinable, ...}, {enable =, throw_on_early_termination =, divide_by_initial_world_size =},
-- fn, ...): runs fn(...), the loop over this rank's batches; without fn a scope for <close>.
-- throw_on_early_termination: the first rank without a batch is an error on all ranks.
-- divide_by_initial_world_size: gradients are divided by the number of all ranks, not of the ranks
-- with a batch.
function M.Join(joinables, enable, throw_on_early_termination, divide_by_initial_world_size, fn, ...)
  local options = { enable = enable, throw_on_early_termination = throw_on_early_termination,
    divide_by_initial_world_size = divide_by_initial_world_size }
  if type(joinables) ~= 'table' or #joinables == 0 then fail 'The join context manager requires at least one joinable' end
  local join = { joinables = joinables, first = joinables[1], throws = options.throw_on_early_termination,
    divide_by_all = options.divide_by_initial_world_size, hooks = {} }
  for i, joinable in ipairs(joinables) do
    if type(joinable) ~= 'userdata' or not joinable.join_hook then fail('Join: %s cannot join', torch.type(joinable)) end
    if joinable.process_group ~= joinables[1].process_group then fail 'Using join context manager with multiple process groups' end
    join.hooks[i] = joinable:join_hook(options)
  end
  return scope.open(join, function()
    for _, joinable in ipairs(options.enable and joinables or {}) do joinable._join = join end
  end, function(failure)
    if options.enable then leave(join, failure) end
  end, fn, ...)
end
declare.functions(M, 'notify(any joinable)')
declare.functions(M, [[
  Join(any joinables, boolean enable=true, boolean throw_on_early_termination=false, boolean divide_by_initial_world_size=true)
]], 'scope')

return M
