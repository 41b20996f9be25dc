-- groups.lua - init_process_group and its end, groups of ranks, and the numbering of ranks in them.

--[=[ arguments
backend: `'mpi'` or `'nccl'`; with `'nccl'` tensors on GPUs use NCCL and others MPI.
init_method: Accepted for compatibility; the launcher connects the ranks.
timeout: Seconds after which an operation that has not ended is an error on every rank.
world_size: Number of ranks; it must be that of the launcher.
rank: Number of this rank, from 0; it must be that of the launcher.
native_reductions: Whether MPI's own reductions are used; then the bits of a sum depend on the MPI.
ranks: Ranks of the group, from 0; all if absent.
group_rank: Rank within the group, from 0.
global_rank: Rank within the world, from 0.
fallback_rank: Result without a launcher.
get_backend(): The name of the group's backend: `'mpi'` or `'nccl'`.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local here = require 'torch.distributed.state'

local M = {}

-- A group that this rank is not in.
local NON_GROUP_MEMBER = setmetatable({}, { __name = 'GroupMember', __tostring = function() return 'NON_GROUP_MEMBER' end })
M.GroupMember = { NON_GROUP_MEMBER = NON_GROUP_MEMBER }

local DEFAULT_TIMEOUT = 1800 -- seconds, as in PyTorch

--- True: torch.distributed is part of every build; init_process_group reports a missing engine.
function M.is_available() return true end

--- Whether init_process_group was called, and destroy_process_group not since.
function M.is_initialized() return here.current ~= nil end

--- Whether the build has an engine for Open MPI or MPICH. Without one, and without a launcher, a
--- process is a world of one.
function M.is_mpi_available() return torch.__config__.has 'mpi' end

--- Whether init_process_group supports 'nccl': there are a GPU and NCCL.
function M.is_nccl_available()
  return (pcall(require('torch.distributed.nccl').check))
end

local function number_of(name)
  local text = os.getenv(name)
  return text and math.tointeger(tonumber(text))
end

--- Makes this process a rank of the world that its launcher (mpirun, srun, `ltensor --nproc`) has
--- started.
-- - backend: 'mpi', or 'nccl': NCCL for tensors on GPUs, MPI for others
-- - timeout: seconds after which an unfinished operation is an error on every rank
-- - rank, world_size: checked, if present
-- - native_reductions: all_reduce uses the MPI's own for its dtypes; then the order of a sum, and
--   so its bits, depend on the MPI
function M.init_process_group(a)
  if here.current then fail 'trying to initialize the default process group twice!' end
  local timeout = a.timeout or DEFAULT_TIMEOUT
  if not (timeout > 0) then fail('init_process_group(): timeout must be a positive number of seconds, got %s', timeout) end
  if a.backend == 'nccl' then require('torch.distributed.nccl').check() end
  local world = torch._C.comm_open(a.backend == 'nccl' and 'mpi' or a.backend or 'mpi', timeout)
  local rank, size = a.rank or number_of 'RANK', a.world_size or number_of 'WORLD_SIZE'
  if (size or world:size()) ~= world:size() or (rank or world:rank()) ~= world:rank() then
    fail('init_process_group(): this is to be rank %s of %s, and it was started as rank %d of %d: mpirun or ltensor --nproc start ranks',
      rank, size, world:rank(), world:size())
  end
  world:set_native(a.native_reductions or false)
  local group = world:group()
  group:set_timeout(timeout)
  here.current = { world = world, default = group, groups = { [group] = true }, backend = a.backend or 'mpi', timeout = timeout }
end

--- Ends the default group. The process remains a rank until it ends and may initialize again.
function M.destroy_process_group(group)
  if not here.current then fail 'Default process group has not been initialized, please make sure to call init_process_group.' end
  if group == nil or group == here.current.default then here.current = nil end
end

--- For other files of this folder: the group, by default of all ranks; nil if this rank is not in
--- it.
function M._group(group)
  if not here.current then fail 'Default process group has not been initialized, please make sure to call init_process_group.' end
  if group == nil then return here.current.default end
  if group == NON_GROUP_MEMBER then return nil end
  if not here.current.groups[group] then fail("argument 'group' must be a result of new_group(), got %s", torch.type(group)) end
  return group
end
local group_of = M._group

M.group = setmetatable({}, { __index = function(_, name) return name == 'WORLD' and here.current and here.current.default or nil end })

--- This process's rank in the group; -1 if it is not a member.
function M.get_rank(group)
  local g = group_of(group)
  return g and g:me() or -1
end

--- The number of ranks of the group; -1 if this process is not a member.
function M.get_world_size(group)
  local g = group_of(group)
  return g and g:size() or -1
end

--- This process's rank on its machine, from the launcher (LOCAL_RANK), or `otherwise`.
function M.get_node_local_rank(otherwise)
  local rank = number_of 'LOCAL_RANK' or otherwise
  if rank == nil then fail 'LOCAL_RANK is not in the environment. Consider passing a value for `otherwise`.' end
  return rank
end

function M.get_backend(group)
  group_of(group)
  return here.current.backend
end

--- The ranks of the group, by their numbers in the world.
function M.get_process_group_ranks(group)
  local g, ranks = group_of(group), {}
  for i = 1, g and g:size() or 0 do ranks[i] = g:global(i - 1) end
  return ranks
end

--- The number in the group of a rank of the world.
function M.get_group_rank(group, global_rank)
  local g = group_of(group)
  for i = 0, g and g:size() - 1 or -1 do
    if g:global(i) == global_rank then return i end
  end
  fail('Global rank %s is not part of group', tostring(global_rank))
end

--- The number in the world of a rank of the group.
function M.get_global_rank(group, group_rank)
  local g = group_of(group)
  if not g or math.type(group_rank) ~= 'integer' or group_rank < 0 or group_rank >= g:size() then
    fail('Group rank %s is not part of group', tostring(group_rank))
  end
  return g:global(group_rank)
end

--- A group of these ranks (all of them when ranks is nil). Every rank of the world calls it, in the
--- same order.
function M.new_group(a)
  local Work = require 'torch.distributed.work'
  local world, ranks, seen = group_of(nil), {}, {}
  for i = 1, a.ranks and #a.ranks or world:size() do
    local rank = a.ranks and a.ranks[i] or i - 1
    if rank < 0 or rank >= world:size() then
      fail("the new group's rank should be within the world_size set by init_process_group: %d of %d", rank, world:size())
    end
    if seen[rank] then fail("the new group's rank %d occurs twice", rank) end
    seen[rank], ranks[i] = true, rank
  end
  if #ranks == 0 then fail 'new_group(): a group has at least one rank' end
  table.sort(ranks)
  local inner = world:begin('new_group', nil, nil, 0, 0, 0, nil, nil, ranks)
  Work(inner, here.current.world):wait()
  local group = inner:group()
  if not group then return NON_GROUP_MEMBER end
  group:set_timeout(a.timeout or here.current.timeout)
  here.current.groups[group] = true
  return group
end

declare.functions(M, [[
  init_process_group(string? backend, string? init_method, number? timeout, integer? world_size, integer? rank, boolean? native_reductions)
  new_group(integers? ranks, number? timeout)
]], 'names')

declare.functions(M, [[
  is_available() is_initialized() is_mpi_available() is_nccl_available()
  destroy_process_group(value? group)
  get_rank(value? group)
  get_world_size(value? group)
  get_node_local_rank(value? fallback_rank)
  get_backend(value? group)
  get_process_group_ranks(value? group)
  get_group_rank(value? group, any global_rank)
  get_global_rank(value? group, any group_rank)
]])

return M
