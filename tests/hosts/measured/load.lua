-- load.lua - a module of docs/examples/hosts for the tests: measures how long require takes, and uses the threads of the library when
-- the module is loaded, that is in some hosts before a fork, and in each request.

local function resident()
  for line in io.lines '/proc/self/status' do
    local kilobytes = line:match '^VmRSS:%s*(%d+)'
    if kilobytes then return kilobytes end
  end
end

return function(library, name)
  local folder = os.getenv 'HOST_FOLDER'
  local before, begin = resident(), os.clock()
  local torch = require(library)
  local seconds, after = os.clock() - begin, resident()

  -- The first process of a run that loads the module; others inherit its memory, or load it again.
  local known = io.open(folder .. '/measured')
  local file = not known and io.open(folder .. '/measured', 'w')
  if known then known:close() end
  if file then
    file:write(('%.4f %d %d\n'):format(seconds, before, after))
    file:close()
  end

  local function use_threads()
    if torch.set_num_threads then torch.set_num_threads(2) end
    local y = torch.rand(1000000):exp():mean():item()
    assert(y > 1.6 and y < 1.8)
  end
  use_threads()

  local network = dofile(folder .. '/' .. name)
  local answer = network.answer
  function network.answer(request)
    use_threads()
    return answer(request)
  end
  return network
end
