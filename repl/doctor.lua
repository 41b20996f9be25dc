-- doctor.lua - `ltensor --doctor`: lists the optional libraries, whether they were found, and the
-- features that missing ones would add, one per line: status, name, purpose. main(write) queries
-- only; it changes nothing.

local torch = require 'torch'

local doctor = {}

-- Libraries that are opened on first use: their names (the first one found is used), their purpose,
-- and the Debian package. tests/lua/repl/doctor_spec.lua compares them with the names in the
-- sources.
doctor.libraries = {
  { 'libpng', { 'libpng16.so.16' }, 'reading and writing PNG images', 'libpng16-16' },
  { 'TurboJPEG', { 'libturbojpeg.so.0' }, 'reading and writing JPEG images', 'libturbojpeg0' },
  { 'CXSparse', { 'libcxsparse.so.4', 'libcxsparse.so.3' }, 'torch.sparse.spsolve', 'libcxsparse4 or libcxsparse3' },
}

-- Libraries of the NVIDIA backend; the driver first.
doctor.gpu_libraries = {
  { 'NVIDIA driver', { 'libcuda.so.1' }, 'GPUs', 'nvidia-driver' },
  { 'cuBLAS', { 'libcublas.so.13', 'libcublas.so.12' }, 'matrix products on a GPU' },
  { 'cuBLASLt', { 'libcublasLt.so.13', 'libcublasLt.so.12' }, 'linear layers with a fused bias on a GPU' },
  { 'cuDNN', { 'libcudnn.so.9' }, 'fast convolutions on a GPU' },
  { 'cuSOLVER', { 'libcusolver.so.12', 'libcusolver.so.11' }, 'torch.linalg on a GPU' },
  { 'cuFFT', { 'libcufft.so.12', 'libcufft.so.11' }, 'torch.fft on a GPU' },
  { 'cuSPARSE', { 'libcusparse.so.12' }, 'sparse matrix products with less memory on a GPU' },
  { 'NVRTC', { 'libnvrtc.so.13', 'libnvrtc.so.12' }, 'fused elementwise ops (torch.compile) on a GPU' },
}

-- The first name that can be opened, or nil. '*' only loads the library and runs its
-- initialization.
local function opens(names)
  for _, name in ipairs(names) do
    if package.loadlib(name, '*') then return name end
  end
end

local function on_path(command)
  for folder in (os.getenv 'PATH' or ''):gmatch '[^:]+' do
    local file = io.open(folder .. '/' .. command)
    if file then
      file:close()
      return folder .. '/' .. command
    end
  end
end

-- The values of torch.__config__.show() by name.
local function build_facts()
  local facts = {}
  for name, value in torch.__config__.show():gmatch '([^\n:]+): ([^\n]*)' do facts[name] = value end
  return facts
end

local function report_libraries(say, list)
  for _, library in ipairs(list) do
    local title, names, purpose, package_name = table.unpack(library)
    local found = opens(names)
    if found then
      say(true, title, ('%s: %s'):format(found, purpose))
    else
      say(false, title, ('%s not found; it adds %s%s'):format(table.concat(names, ' or '), purpose,
        package_name and (' (Debian: %s)'):format(package_name) or ''))
    end
  end
end

local function report_onednn(say, description)
  local found = description ~= 'none'
  say(found, 'oneDNN', found and description .. ': fast convolutions on the CPU'
    or 'libdnnl.so.2 or libdnnl.so.3 not found; it adds fast convolutions on the CPU (Debian: libdnnl2 or libdnnl3)')
end

-- LAPACK comes with one of several libraries; the config names the one that is open.
local function report_lapack(say, description)
  local found = description ~= 'none'
  say(found, 'LAPACK', found and description .. ': torch.linalg on the CPU'
    or 'no library with it was found; it adds torch.linalg on the CPU (Debian: libopenblas0-openmp)')
end

local function report_processor(say, facts)
  local kernels = facts.CPU:match '^%S+'
  local better = { baseline = 'no AVX2 or AVX-512, or disabled by LTENSOR_CPU: loops take two to eight times as long',
    avx2 = 'AVX-512 would halve the time of loops in the caches' }
  say(kernels ~= 'baseline', 'processor', facts.CPU .. (better[kernels] and '; ' .. better[kernels] or ''))
end

local function report_gpus(say, facts)
  local works, why = pcall(torch.zeros, 1, { device = 'cuda' })
  local built, absent = not facts.GPU:find '^no ', tostring(why):find('could not be loaded (not found)', 1, true) ~= nil
  say(built and not absent, 'CUDA backend', facts.GPU .. (built and absent and '; its library is not installed' or ''))
  if not works then
    say(false, 'GPUs', (tostring(why):gsub('^[^:]*:%d+: ', '')))
    return report_libraries(say, { doctor.gpu_libraries[1] })
  end
  for i = 0, torch.cuda.device_count() - 1 do
    say(true, 'cuda:' .. i, torch.cuda.get_device_name(i) .. (torch.cuda.is_simulated() and ', simulated: LTENSOR_SIM_GPUS' or ''))
  end
  if not torch.cuda.is_simulated() then report_libraries(say, doctor.gpu_libraries) end
end

-- The engines of torch.distributed in this build are facts.MPI; each has a library and an mpirun.
local function report_ranks(say, facts)
  if facts.MPI == 'none' then
    return say(false, 'MPI', 'built without Open MPI and MPICH; one of them adds torch.distributed on several processes and machines')
  elseif not torch.distributed.is_mpi_available() then
    return say(false, 'MPI', ('built with %s, but %s not found; it adds torch.distributed on several processes and machines'):format(
      facts.MPI:gsub(' ', ' and '), (facts.MPI:gsub('%a+', 'libltensor_%0.so'):gsub(' ', ' or '))))
  end
  local command
  for name in facts.MPI:gmatch '%a+' do command = command or on_path('mpirun.' .. name) end
  command = command or on_path 'mpirun'
  say(command ~= nil, 'MPI', command and command .. ': torch.distributed, ltensor --nproc'
    or ('no mpirun of %s on the PATH; it starts the ranks of torch.distributed (Debian: %s)'):format(facts.MPI:gsub(' ', ' or '),
      (facts.MPI:gsub('openmpi', 'openmpi-bin'):gsub(' ', ' or '))))
end

local function report_terminal(say, facts)
  say(facts['line editing'] ~= 'none', 'line editing', facts['line editing'])
  local term, locale = os.getenv 'TERM' or '', os.getenv 'LC_ALL' or os.getenv 'LC_CTYPE' or os.getenv 'LANG' or ''
  local colour = term ~= '' and term ~= 'dumb' and not os.getenv 'NO_COLOR'
  say(colour, 'colours', colour and 'TERM=' .. term or 'none: TERM is ' .. (term == '' and 'not set' or term) .. (os.getenv 'NO_COLOR' and ', NO_COLOR is set' or ''))
  local unicode = locale:upper():find 'UTF%-?8' ~= nil
  say(unicode, 'characters', unicode and locale or ('the locale (%s) is not UTF-8: typed non-ASCII letters are read as single bytes'):format(locale == '' and 'C' or locale))
end

-- open_plugin() raises an error that names the missing package.
local function report_jupyter(say, open_plugin)
  local works, why = pcall(open_plugin)
  say(works, 'Jupyter', works and 'to register the kernel, run ltensor --kernel install' or tostring(why))
end

--- Writes the report by write(text); open_plugin: opens the kernel's library if it was built. True
--- if nothing is missing.
function doctor.main(write, open_plugin)
  write = write or function(text) io.stdout:write(text) end
  local missing = 0
  local function say(good, title, text)
    if not good then missing = missing + 1 end
    write(('%-8s %-14s %s\n'):format(good and 'ok' or 'missing', title, text))
  end
  local facts = build_facts()
  write(('ltensor %s, %s\n'):format(torch.__version__, _VERSION))
  report_processor(say, facts)
  report_lapack(say, facts.BLAS)
  report_libraries(say, doctor.libraries)
  report_onednn(say, facts.oneDNN)
  report_gpus(say, facts)
  report_ranks(say, facts)
  report_terminal(say, facts)
  if open_plugin then report_jupyter(say, open_plugin) end
  write(missing == 0 and 'Nothing is missing.\n' or 'All that is missing can be done without; each line names the feature that it adds.\n')
  return missing == 0
end

return doctor
