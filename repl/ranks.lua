-- The prompt and notebooks over several processes (`ltensor --nproc 2`): rank 0 has the prompt; the
-- other ranks wait for the cells that `%%ranks` sends to all, and run them in their own sessions.
--
-- Ranks communicate through the default group, independently of the cells' use of
-- torch.distributed, without a timeout. May use repl.session, repl.system, repl.notebook.plain and
-- torch.

local ranks = {}

local FOR_EVER = 1e9 -- seconds
local LAUNCHERS = {'OMPI_COMM_WORLD_SIZE', 'PMI_SIZE', 'SLURM_STEP_NUM_TASKS'}

local own -- the state of torch.distributed of this module; nil: a single process
local at_exit -- its finalizer ends the other ranks if a cell ends the program

-- The number of processes that the launcher started, and the rank of this one.
local function place()
  for _, name in ipairs(LAUNCHERS) do
    if os.getenv(name) then
      local _ = require('torch').distributed -- sets the two
      return math.tointeger(tonumber(os.getenv 'WORLD_SIZE')) or 1, math.tointeger(tonumber(os.getenv 'RANK')) or 0
    end
  end
  return 1, 0
end

-- Runs f(...) with the default group, independently of the group that the cells have set.
local function among_ranks(f, ...)
  local here = require 'torch.distributed.state'
  local users = here.current
  here.current = own
  own.default:set_timeout(FOR_EVER)
  local results = table.pack(pcall(f, ...))
  here.current = users
  own.default:set_timeout(users and users.timeout or own.timeout)
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

-- Broadcasts a value of rank 0 to all ranks.
local function from_first(value)
  return among_ranks(function()
    local list = {value}
    require('torch').distributed.broadcast_object_list(list, 0)
    return list[1]
  end)
end

-- Gathers the values of all ranks on rank 0, by rank from 0.
local function to_first(value)
  return among_ranks(function()
    local list = {}
    require('torch').distributed.gather_object(value, list, 0)
    return table.move(list, 1, #list, 0, {})
  end)
end

-- The number of ranks.
function ranks.count() return own and own.world:size() or 1 end

-- Joins the other ranks, if there are any. On ranks above 0, serves cells until rank 0 ends, then
-- returns true.
function ranks.begin()
  local size, rank = place()
  if size == 1 then return false end
  local here = require 'torch.distributed.state'
  local dist = require('torch').distributed
  dist.init_process_group 'mpi'
  own, here.current = here.current, nil
  if rank > 0 then ranks.serve() end
  at_exit = rank == 0 and setmetatable({}, {__gc = ranks.finish})
  return rank > 0
end

-- Makes the other ranks stop serving, once.
function ranks.finish()
  if not at_exit then return end
  at_exit = nil
  pcall(from_first, false)
end

-- Runs the cells that rank 0 sends, until it ends.
function ranks.serve()
  local system = require 'repl.system'
  local state = require('repl.session').new()
  while true do
    local well, cell = pcall(from_first, false)
    if not well then
      if cell:find('rank 0 has left, with exit status 0', 1, true) then return end
      error(cell, 0)
    end
    if not cell then return end
    local code = cell.code
    state.count = cell.number - 1
    local number = state:begin_cell(code)
    system.start_capture()
    local ran, result = pcall(state.run, state, code, number)
    local out, err = system.end_capture()
    io.stderr:write(err)
    local text = require('repl.notebook.plain').text(out)
    if not ran then
      text = text .. tostring(result)
    elseif result.report then
      text = text .. table.concat(state:error_lines(result.report), '\n')
    elseif result.text then
      text = text .. result.text
    end
    to_first {text = text, failed = not ran or result.report ~= nil}
  end
end

-- Prints lines, each prefixed with their rank.
local function show(rank, text)
  for line in (text:gsub('\n$', '') .. '\n'):gmatch '([^\n]*)\n' do print(('[%d] %s'):format(rank, line)) end
end

-- Runs the cell on all ranks and shows their outputs; the output of rank 0 has no prefix, because
-- it is printed directly.
function ranks.run(session, code)
  if not own then return session:run(code, session.count) end
  from_first {code = code, number = session.count}
  local result = session:run(code, session.count)
  local all, failed = to_first {text = '', failed = false}, {}
  if result.text then show(0, result.text) end
  result.text = nil
  for rank = 1, #all do
    if all[rank].text ~= '' then show(rank, all[rank].text) end
    if all[rank].failed then failed[#failed + 1] = tostring(rank) end
  end
  if #failed > 0 and not result.report then error(('the cell has failed on rank %s'):format(table.concat(failed, ', ')), 0) end
  return result
end

return ranks
