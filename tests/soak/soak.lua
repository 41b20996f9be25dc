-- soak.lua - does COUNT operations (a million by default), of thirty kinds in turn, and prints the resident memory ten
-- times meanwhile. Fails when it has grown by more than a sixteenth and two megabytes after the first tenth.
--
-- Usage: make soak [COUNT=n], or: LUA_PATH='tests/lua/?.lua;;' build/ltensor tests/soak/soak.lua [COUNT]
-- LTENSOR_TEST_DEVICE and LTENSOR_SIM_GPUS choose the device.

local soak = require 'support.soak'

local count = math.tointeger(tonumber(arg[1] or 1000000))
if not count then error('usage: soak.lua [COUNT]') end

local function resident_kilobytes()
  for line in io.lines '/proc/self/status' do
    local kilobytes = line:match '^VmRSS:%s+(%d+) kB'
    if kilobytes then return tonumber(kilobytes) end
  end
end

local rounds = count // #soak.names
local first
print(('%d operations of %d kinds'):format(rounds * #soak.names, #soak.names))
for tenth = 1, 10 do
  soak.run(math.ceil(rounds / 10))
  local now = resident_kilobytes()
  first = first or now
  print(('%3d %%  %7.1f MB'):format(tenth * 10, now / 1024))
  if tenth == 10 and now > first * 17 / 16 + 2048 then
    io.stderr:write(('soak: %.1f MB more than after the first tenth\n'):format((now - first) / 1024))
    os.exit(1)
  end
end
