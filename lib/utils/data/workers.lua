-- workers.lua - background processes for the DataLoader.
--
-- A worker is a fork of this process with one thread, so it can use any dataset and the values that
-- its functions refer to, but not a GPU. It receives lists of positions and returns batches through
-- pipes: tensors (on the host), numbers, booleans, strings and tables of these (structure.lua).
-- Batches are requested and received round-robin, so their order does not depend on the speed of
-- the workers. With in_order = false the first batch that is ready is received, and its worker gets
-- the next request. A worker that ends, by an error or a signal, ends the iteration; the end of the
-- iteration ends the workers.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local parcel = require 'torch.files.parcel'

local M = {}

local info -- of this process, if it is a worker

--- In a worker: {id, num_workers, seed, dataset}; elsewhere nil. A stream of samples uses it to
-- select its part.
function M.get_worker_info() return info end
declare.functions(M, 'get_worker_info()')

-- ---- messages -----------------------------------------------------------------------------------

-- The message of a batch: its kind and a parcel.
local function pack(...) return 'b' .. parcel.pack(...) end
local function unpack_batch(message) return parcel.unpack(message, 2) end

-- ---- in the worker ------------------------------------------------------------------------------

local function serve(loader, receive, send, seed, id)
  torch.set_num_threads(1)
  torch.manual_seed(seed + id)
  math.randomseed(seed + id)
  info = { id = id, num_workers = loader.num_workers, seed = seed + id, dataset = loader.dataset }
  local where, next_batch = {}, nil
  local function answer(request)
    if not loader._streams then
      local positions = {}
      for i = 1, #request // 8 do positions[i] = string.unpack('<i8', request, 8 * i - 7) end
      return pack(loader:_fetch(loader.batch_sampler and positions or positions[1], where))
    end
    next_batch = next_batch or loader:_batches_of_stream()
    local values = table.pack(next_batch())
    if values.n == 0 or values[1] == nil then return 'e' end
    return pack(table.unpack(values, 1, values.n))
  end
  local function describe(message)
    local text = torch.is_tensor(message) and 'a tensor' or tostring(message)
    local at = where.position and (', at sample %s'):format(tostring(where.position)) or ''
    local trace = debug.traceback(text, 2):gsub('\n\t%[C%]:[^\n]*', ''):gsub('\n\t%[ltensor [^\n]*', '')
    return ('Caught an error in DataLoader worker process %d%s.\n%s'):format(id, at, (trace:gsub('\n\t%(%.%.%.tail calls%.%.%.%)', '')))
  end
  local ok, message = xpcall(loader.worker_init_fn or function() end, describe, id)
  while true do
    local request = receive()
    if not request then return end
    local result
    if ok and request == 'r' then -- restarts the iteration
      next_batch, result = nil, 'r'
    elseif ok then
      ok, message = xpcall(answer, describe, request)
      result = message
    end
    send(ok and result or 'x' .. message)
    if not ok then return end
  end
end

-- ---- in the main process ------------------------------------------------------------------------

local Pool = {}
Pool.__index = Pool

local function start(loader, seed)
  local pool = setmetatable({ workers = {}, loader = loader }, Pool)
  for id = 0, loader.num_workers - 1 do
    pool.workers[id + 1] = torch._C.fork_worker(function(receive, send) serve(loader, receive, send, seed, id) end)
  end
  return pool
end

function Pool:close()
  for _, worker in ipairs(self.workers) do worker:close() end
  self.workers = {}
end
Pool.__gc, Pool.__close = Pool.close, Pool.close

function Pool:fail_late()
  self:close()
  fail('DataLoader timed out after %s seconds', tostring(self.loader.timeout))
end

-- The first of these workers that has sent a message or has ended, by its number.
function Pool:first_of(numbers)
  local workers, timeout = {}, self.loader.timeout
  for i, number in ipairs(numbers) do workers[i] = self.workers[number] end
  local first = torch._C.first_worker(workers, timeout > 0 and timeout or nil)
  if not first then self:fail_late() end
  return numbers[first]
end

-- Receives the next message of the worker; raises an error if the worker has ended.
function Pool:receive(index)
  local worker, timeout = self.workers[index], self.loader.timeout
  local message, why = worker:receive(timeout > 0 and timeout or nil)
  if message and message:byte() ~= 0x78 then return message end -- 'x'
  local pid = worker:pid()
  if why == 'timeout' then self:fail_late() end
  self:close()
  if message then fail('%s', message:sub(2)) end
  fail('DataLoader worker (pid %d) exited unexpectedly: %s', pid, why)
end

local function request_of(positions)
  local parts = {}
  for i, position in ipairs(positions) do
    if math.type(position) ~= 'integer' then fail 'with num_workers, samplers must return integers' end
    parts[i] = string.pack('<i8', position)
  end
  return table.concat(parts)
end

--- An iterator over the loader's batches from workers, and a value that closes it.
function M.iter(loader, next_positions, seed)
  local pool = loader._pool
  if pool and #pool.workers > 0 then
    for i = 1, #pool.workers do pool.workers[i]:send 'r' end
    for i = 1, #pool.workers do
      while pool:receive(i) ~= 'r' do end -- drops batches of an iteration that was left early
    end
  else
    pool = start(loader, seed)
    loader._pool = loader.persistent_workers and pool or nil
  end
  local count = #pool.workers
  local turn, taken, ended, more = 0, 0, {}, true
  local pending, done = {}, {} -- by worker: number of unanswered requests; whether its stream has ended
  for worker = 1, count do pending[worker] = 0 end

  local function ask(worker)
    local request = 'n'
    if not loader._streams then
      local positions = more and next_positions()
      more = positions ~= nil and positions ~= false
      request = more and request_of(loader.batch_sampler and positions or { positions })
    end
    if request then
      pool.workers[worker]:send(request)
      turn, pending[worker] = worker, pending[worker] + 1
    end
    return request
  end

  local queue = {} -- the workers in the order of their requests

  -- The worker that gets the next request: round robin if in_order, otherwise any with a free slot;
  -- nil if none.
  local function worker_to_ask()
    if loader.in_order then return #queue - taken < count * loader.prefetch_factor and turn % count + 1 or nil end
    for i = turn, turn + count - 1 do
      local worker = i % count + 1
      if not done[worker] and pending[worker] < loader.prefetch_factor then return worker end
    end
  end

  local function fill()
    while more do
      local worker = worker_to_ask()
      if not worker or loader._streams and #ended == count or not ask(worker) then return end
      queue[#queue + 1] = worker
    end
  end

  -- The worker to receive the next message from.
  local function worker_to_hear()
    taken = taken + 1
    local worker = queue[taken]
    queue[taken] = false
    if not loader.in_order then
      local busy = {}
      for number = 1, count do
        if pending[number] > 0 then busy[#busy + 1] = number end
      end
      worker = pool:first_of(busy)
    end
    pending[worker] = pending[worker] - 1
    return worker
  end

  local function finish()
    if not loader.persistent_workers then pool:close() end
  end

  local function next_batch()
    fill()
    while taken < #queue do
      local worker = worker_to_hear()
      local message = pool:receive(worker)
      if message ~= 'e' then
        fill()
        return unpack_batch(message)
      elseif not done[worker] then
        done[worker] = true
        ended[#ended + 1] = worker
        if #ended == count then more = false end
      end
      fill()
    end
    finish()
  end
  return next_batch, nil, nil, setmetatable({}, { __close = finish })
end

return M
