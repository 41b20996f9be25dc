-- ranks.lua - runs a chunk of Lua on several ranks, started by the mpirun of an MPI, with a time limit. Ranks share processors.
--
-- Under AddressSanitizer (LTENSOR_ASAN=1, which make test-asan sets) a chunk that has come to its end looks for leaks: before MPI ends, whose
-- libraries lose much then and are closed before they could be named. Stacks are whole, so that tests/lsan.supp knows what is MPI's.

local process = require 'support.process'

local M = {}

local launchers = {
  openmpi = 'mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none',
  mpich = 'mpirun.mpich',
}

local asan = os.getenv 'LTENSOR_ASAN' == '1'

local settings = 'ASAN_OPTIONS=detect_stack_use_after_return=0:'
  .. (asan and 'detect_leaks=1:leak_check_at_exit=0:fast_unwind_on_malloc=0' or 'detect_leaks=0')

local NO_LEAKS = asan and [[

  do
    local library
    for line in io.lines '/proc/self/maps' do library = library or line:match '%S+/libasan%.so%S*' end
    -- C's function takes nothing and returns 1 where it has found leaks, which Lua takes for the number of results
    local look = assert(package.loadlib(library, '__lsan_do_recoverable_leak_check'))
    if look(true) then error 'memory is lost: see above' end
  end
]] or ''

local function is_file(path)
  local file = io.open(path)
  return file ~= nil and file:close()
end

--- The MPIs that are installed, and for which ltensor was built.
function M.installed()
  local names = {}
  for _, name in ipairs { 'openmpi', 'mpich' } do
    local folder = os.getenv 'LTENSOR_LIB_DIR' or os.getenv 'LTENSOR_BUILD' or 'build'
    local found = os.execute(('command -v mpirun.%s >/dev/null'):format(name))
    if found and (is_file(('%s/libltensor_%s.so'):format(folder, name))) then names[#names + 1] = name end
  end
  return names
end

--- stdout, stderr and exit status (124: it was too slow) of a chunk that n ranks run. In it `dist` is torch.distributed, begun with
-- options.timeout (20 s), and `rank`, `size` are its own. options: seconds (30), timeout, environment, program (what is run instead).
function M.run(mpi, n, code, options)
  options = options or {}
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write(([[
    torch = require 'torch' dist = torch.distributed
    dist.init_process_group('mpi', { timeout = %g })
    rank, size = dist.get_rank(), dist.get_world_size()
  ]]):format(options.timeout or 20):gsub('\n', ' '), code, NO_LEAKS)
  file:close()
  local output, errors, status = process.run(('%s %s OMP_NUM_THREADS=1 timeout -k 5 %d %s -n %d %s %s'):format(options.environment or '', settings,
    (options.seconds or 30) * (asan and 5 or 1), launchers[mpi], n, options.program or process.quote(process.ltensor), path))
  os.remove(path)
  return output, errors, status
end

return M
