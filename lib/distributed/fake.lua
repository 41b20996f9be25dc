-- fake.lua - simulated worlds of any size in one process, for tests: run(size, f) calls f(rank,
-- size) for each rank, with torch.distributed as in a process of its own. Ranks switch when they
-- wait, in a deterministic order.

local torch = require 'torch'
local here = require 'torch.distributed.state'
local kinds = require 'torch.support.argument_kinds'

local M = {}

--- The results and the errors of the ranks: two tables, by rank (from 0). timeout: seconds, 20 by
--- default.
function M.run(size, f, timeout)
  kinds.check('run', 'size', size, 'integer')
  kinds.check('run', 'f', f, 'function')
  kinds.check('run', 'timeout', timeout, 'number?')
  timeout = timeout or 20
  local worlds = torch._C.comm_fake(size, timeout)
  local ranks, results, errors, left = {}, {}, {}, size
  for rank = 0, size - 1 do
    local world = worlds[rank + 1]
    local group = world:group()
    ranks[rank] = { routine = coroutine.create(f), world = world, recording = torch.is_grad_enabled(),
      current = { world = world, default = group, groups = { [group] = true }, backend = 'fake', timeout = timeout } }
  end
  local outer = { current = here.current, pause = here.pause }
  local function turn(rank, state)
    state.world:step()
    if not state.routine then return end
    here.current, here.pause = state.current, coroutine.yield
    local recording = torch._C.set_grad_enabled(state.recording) -- a rank may wait inside of no_grad
    local well, value = coroutine.resume(state.routine, rank, size)
    state.recording = torch._C.set_grad_enabled(recording)
    state.current = here.current
    here.current, here.pause = outer.current, outer.pause
    if coroutine.status(state.routine) ~= 'dead' then return end
    state.routine, left = nil, left - 1
    if well then results[rank] = value else errors[rank] = value end
  end
  while left > 0 do
    for rank = 0, size - 1 do turn(rank, ranks[rank]) end
  end
  return results, errors
end

return M
