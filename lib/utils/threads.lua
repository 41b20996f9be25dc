-- threads.lua - torch.threads: the threads that the library starts in this process to compute on the
-- CPU. torch.set_num_threads sets how many of them an operation uses.

--[=[ arguments
limit: Maximum number of threads of an operation, the calling one included, in all contexts of the process; unlimited if absent. With 1, the library starts no thread.
cpus: Numbers of the processors on which the threads run, from 0; those of the process if absent.
nice: Number that is added to the niceness of the process, 0 to 19: larger values yield to other programs.
]=]

local torch = require 'torch'
local arguments = require 'torch.support.arguments'

local threads = {}

--- Configures the threads of the process: torch.threads.configure{limit = 4, cpus = {0, 1}, nice = 5}.
--- A call replaces the previous configuration; configure() restores the defaults. Threads that
--- exist end, and later operations start new ones.
function threads.configure(limit, cpus, nice) torch._C.threads_configure(limit, cpus, nice) end

--- The number of worker threads that exist.
function threads.count() return torch._C.threads_count() end

--- The number of processors that the library may use: at most those of the affinity mask, of the
--- quota of the cgroup, and of `cpus`.
function threads.processors() return torch._C.threads_processors() end

arguments.functions(threads, 'configure(integer? limit, integers? cpus, integer nice=0) count() processors()')

return threads
