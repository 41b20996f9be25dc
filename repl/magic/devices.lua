-- Magics about devices: GPUs, memory, copies. May use repl.echo; torch only through package.loaded.

local echo = require 'repl.echo'

local magics = {}

local function bytes_text(bytes)
  for _, unit in ipairs {'B', 'KB', 'MB', 'GB'} do
    if bytes < 1024 or unit == 'GB' then return (unit == 'B' and '%d %s' or '%.1f %s'):format(bytes, unit) end
    bytes = bytes / 1024
  end
end

local function cuda_table()
  local torch = package.loaded.torch
  local cuda = type(torch) == 'table' and rawget(torch, 'cuda')
  return type(cuda) == 'table' and cuda or {device_count = function() return 0 end}
end

magics.gpus = {'%gpus', 'lists the GPUs', function()
  local cuda = cuda_table()
  local count = cuda.device_count()
  if count == 0 then print 'no GPU' end
  for index = 0, count - 1 do
    local free, total = cuda.mem_get_info(index)
    print(('cuda:%d  %s  %s of %s free'):format(index, cuda.get_device_name(index), bytes_text(free), bytes_text(total)))
  end
end, varies = true}

magics.memory = {'%memory', 'shows the memory in use, on the host and on the GPUs', function()
  local file = io.open '/proc/self/status'
  if file then
    print('process  ' .. (file:read('a'):match 'VmRSS:%s*([^\n]*)' or 'unknown'))
    file:close()
  end
  print(('Lua      %s'):format(bytes_text(collectgarbage 'count' * 1024)))
  local cuda = cuda_table()
  for index = 0, cuda.device_count() - 1 do
    print(('cuda:%d   %s in tensors, %s reserved'):format(
      index, bytes_text(cuda.memory_allocated(index)), bytes_text(cuda.memory_reserved(index))))
  end
end, varies = true}

-- The entries of the ledger caused by the cell `origin`.
local function copies_of(ledger, origin)
  local part = {count = 0, bytes = 0, seconds = 0}
  for _, entry in ipairs(ledger) do
    if entry.origin:sub(1, #origin) == origin then
      part[#part + 1] = entry
      for _, name in ipairs {'count', 'bytes', 'seconds'} do part[name] = part[name] + entry[name] end
    end
  end
  return setmetatable(part, getmetatable(ledger))
end

magics.copies = {'%copies [n|cause]', 'lists copies between devices: all, of cell n, or of a cause',
function(_, what)
  local cuda = cuda_table()
  if not cuda.copies then print 'no copies' return end
  local number = math.tointeger(tonumber(what))
  local ledger = cuda.copies(what ~= '' and not number and what or nil)
  if number then ledger = copies_of(ledger, ('(cell %d)'):format(number)) end
  print(echo.value(ledger))
end}

return magics
