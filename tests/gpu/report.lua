-- make gpu-report: tests and measures a GPU in eight minutes, and writes docs/results/gpu-<date>-<device>.md after each
-- step. Without a real GPU, or with SIM=1, it is a dry run with small sizes on two simulated ones, into BUILD.
--
--   report.lua BUILD     PYTHON: a Python with PyTorch (python3)
--
-- Each command has a time limit. One that fails or takes longer is recorded, and the next one runs. .ci/gpu-checked has a
-- hash of each spec that passed on a real GPU, and of each kernel's source that compute-sanitizer then checked: the next
-- run begins with the others. Commit it with the results.

local build = assert(arg[1], 'BUILD is missing')
local CHECKED = '.ci/gpu-checked'
local ltensor = build .. '/ltensor --no-copies'
local python = os.getenv 'PYTHON' or 'python3'

-- ---- commands ------------------------------------------------------------------------------------------------

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- The output of a command, and nil or the reason of its failure.
local function run(command, seconds)
  local pipe = assert(io.popen(('timeout -k 5 %d sh -c %s 2>&1 </dev/null'):format(seconds, quote(command))))
  local output = pipe:read 'a'
  local ok, _, status = pipe:close()
  if ok then return output end
  return output, status == 124 and ('took longer than %d s'):format(seconds) or ('failed with status %d'):format(status)
end

local function lines_of(command)
  local lines = {}
  for line in run(command, 60):gmatch '[^\n]+' do lines[#lines + 1] = line end
  return lines
end

local function number_of_gpus(environment)
  local output = run(environment .. ltensor .. " -e 'print(torch.cuda.is_simulated() and 0 or torch.cuda.device_count())'", 60)
  return tonumber(output:match '(%d+)%s*$') or 0
end

local gpus = os.getenv 'SIM' == '1' and 0 or number_of_gpus ''
local simulated = gpus == 0
-- The begin of commands on the GPU.
local on_gpu = simulated and 'export LTENSOR_SIM_GPUS=2; ' or ''
local torch_version = simulated and '' or
  run(python .. " -c 'import torch; assert torch.cuda.is_available(); print(torch.__version__)'", 60):match '^%d[%w.+]*' or ''
local has_torch = torch_version ~= ''

-- ---- the report ----------------------------------------------------------------------------------------------

local device = simulated and 'simulated' or run(ltensor .. " -e 'print(torch.cuda.get_device_name(0))'", 60):match '[^\n]+$'
local folder = simulated and build or 'docs/results'
local path = ('%s/gpu-%s-%s.md'):format(folder, os.date '!%Y-%m-%d', device:lower():gsub('[^%w]+', '-'))
local begun = os.time()
local text = {('# %s, %s\n\nCommit %s. %s\n'):format(device, os.date '!%Y-%m-%d', run('git rev-parse --short HEAD', 60):match '%w+' or 'unknown',
  simulated and 'A dry run on simulated GPUs: its times have no meaning.' or has_torch and ('PyTorch %s in the same run.'):format(torch_version) or
  ('No PyTorch was found (PYTHON=%s), so the tables have the figures of ltensor alone.'):format(python))}

local function write(format, ...)
  text[#text + 1] = select('#', ...) > 0 and format:format(...) or format
  local file = assert(io.open(path, 'w'))
  assert(file:write(table.concat(text, '\n'), '\n'))
  assert(file:close())
end

-- A command's output as a block, and why it failed.
local function report(title, command, seconds)
  local output, failure = run(on_gpu .. command, seconds)
  write('%s%s\n\n```text\n%s\n```\n', title, failure and ': **' .. failure .. '**' or '', (output:gsub('%s+$', '')))
  return output, failure
end

-- ---- files that passed before ----------------------------------------------------------------------------------

local checked = {}
for line in (io.open(CHECKED) and io.lines(CHECKED) or function() end) do checked[line] = true end

-- Lines "hash path" of files that have changed since they were checked.
local function unchecked(files)
  local changed = {}
  for _, line in ipairs(lines_of('sha256sum ' .. files .. " | sed 's/^\\(.\\{32\\}\\)[^ ]*  /\\1 /'")) do
    if not checked[line] then changed[#changed + 1] = line end
  end
  return changed
end

local function set_checked(line)
  if simulated then return end
  local file_of = line:match ' (.*)'
  for old in pairs(checked) do
    if old:match ' (.*)' == file_of then checked[old] = nil end
  end
  checked[line] = true
  local list = {}
  for entry in pairs(checked) do list[#list + 1] = entry end
  table.sort(list, function(a, b) return a:match ' (.*)' < b:match ' (.*)' end)
  local file = assert(io.open(CHECKED, 'w'))
  assert(file:write(table.concat(list, '\n'), '\n'))
  assert(file:close())
end

local function run_spec(name, gpu, seconds)
  local output, failure = run(('BUILD=%s SPEC=%s GPUS=%s sh tests/run.sh spec'):format(build, name, simulated and '2' or gpu), seconds)
  local counts = output:match '[^\n]*success[^\n]*pending' or 'no counts'
  write('| %s | %s |', name, failure and failure .. '; ' .. counts or counts)
  if failure then io.stderr:write(output:sub(-3000), '\n') end
  return not failure
end

-- ---- steps ---------------------------------------------------------------------------------------------------

-- Specs of GPUs come first.
local function new_specs(seconds)
  local specs, last = unchecked 'tests/lua/*_spec.lua', os.time() + seconds
  table.sort(specs, function(a, b)
    local first, second = a:find '/cuda_' ~= nil, b:find '/cuda_' ~= nil
    if first ~= second then return first end
    return a:match ' (.*)' < b:match ' (.*)'
  end)
  write('%d specs are new or have changed since they passed on a GPU.\n\n| spec | result |\n|---|---|', #specs)
  for i, line in ipairs(specs) do
    local left = last - os.time()
    if left < 5 or simulated and i > 3 then
      write('| %d others | no time left |', #specs - i + 1)
      break
    end
    if run_spec(line:match '/([^/]*)_spec', 'real', math.min(left, 60)) then set_checked(line) end
  end
end

local function changed_kernels(seconds)
  local files = unchecked "$(find src/cuda/kernels -name '*.cu')"
  local folders, seen = {}, {}
  for _, line in ipairs(files) do
    local name = line:match 'kernels/([^/]*)/'
    if not seen[name] then folders[#folders + 1] = name end
    seen[name] = true
  end
  table.sort(folders)
  local tool = run('command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer', 60):match '[^\n]*compute%-sanitizer'
  if not tool or simulated then write '\nThere is no compute-sanitizer for this GPU: the kernels run without it.' end
  local command = tool and not simulated and tool .. ' --error-exitcode 9 ' or ''
  local _, failure = report(('%d sources of kernels are new or have changed'):format(#files), ('%s%s tests/gpu/kernels.lua %s'):format(
    command, ltensor, table.concat(folders, ' ')), seconds)
  if not failure and command ~= '' then
    for _, line in ipairs(files) do set_checked(line) end
  end
end

-- Rows "name TAB unit TAB value" of both programs, side by side.
local function beside(ours, theirs, seconds)
  local output, failure = run(on_gpu .. ours, seconds)
  local other = has_torch and theirs and run(theirs, seconds) or ''
  write('%s| | unit | ltensor | PyTorch | ratio |\n|---|---|---:|---:|---:|', failure and '**ltensor ' .. failure .. '**\n\n' or '')
  local values = {}
  for name, value in other:gmatch '([^\n\t]+)\t[^\n\t]+\t([^\n]+)' do values[name] = tonumber(value) end
  for name, unit, value in output:gmatch '([^\n\t]+)\t([^\n\t]+)\t([^\n]+)' do
    local mine = tonumber(value)
    write('| %s | %s | %.4g | %s | %s |', name, unit, mine, values[name] and ('%.4g'):format(values[name]) or '',
      values[name] and ('%.2f'):format(mine / values[name]) or '')
  end
  write ''
end

local CHAINS = {'sum of gelu', 'logsumexp of rows', 'masked softmax of rows', 'log_softmax of rows'}

local function rows(seconds)
  if simulated then
    report('The rows of make bench-cuda', ltensor .. ' tests/bench/bench_cuda.lua --dry-run=yes', seconds)
  else
    beside(ltensor .. ' tests/bench/bench_cuda.lua --samples 5 --seconds 0.02', python .. ' tests/bench/bench_cuda.py', seconds // 2)
  end
end

local function chains(seconds)
  local elements = simulated and 4000 or 64000000
  if has_torch then
    return report('Chains beside Inductor', ("DEVICE=cuda ROWS='%s' %s tests/bench/compile/beside.py %s/ltensor --elements %d --processes 1 --rounds 2"):format(
      table.concat(CHAINS, '|'), python, build, elements), seconds)
  end
  report('Milliseconds of the first compiled call, a compiled one and an eager one: ' .. table.concat(CHAINS, ', '),
    ("printf '%s\\n' | DEVICE=cuda %s tests/bench/compile/chains.lua %d 5"):format(table.concat(CHAINS, '\\n'), ltensor, elements), seconds)
end

local function programs(seconds)
  if has_torch then
    return report('Programs beside PyTorch', ('DEVICE=cuda %s tests/bench/programs/beside.py %s/ltensor --plain --rounds 1'):format(python, build), seconds)
  end
  report('Milliseconds of the first compiled step, a compiled one and an eager one', ('DEVICE=cuda %s%s tests/bench/programs/times.lua'):format(
    simulated and "ROWS='LSTM, inf' " or '', ltensor), seconds)
end

local function decode(seconds) beside(ltensor .. ' tests/gpu/decode.lua' .. (simulated and ' tiny' or ''), nil, seconds) end

local function user_kernels(seconds)
  write '| spec | result |\n|---|---|'
  run_spec('cuda_user_kernel', 'real', seconds // 2)
  report('\nThe cells of the guide', build .. '/ltensor --cells --check docs/guide/cuda-kernels.md', seconds // 2)
end

-- Everything that needs two GPUs: streams and copies between them, DataParallel, and below NCCL.
local TWO_GPUS = {'cuda', 'cuda_copies', 'cuda_memory', 'cuda_order', 'cuda_pinned', 'data_parallel', 'dlpack', 'random_pairs'}

local function two_gpus(seconds)
  if not simulated and gpus < 2 then return write('There is %d GPU.\n', gpus) end
  write '| spec | result |\n|---|---|'
  for _, name in ipairs(TWO_GPUS) do run_spec(name, 'real:1', seconds // (#TWO_GPUS + 2)) end
  report('\nNCCL', ltensor .. ' --nproc 2 tests/gpu/nccl.lua', seconds // (#TWO_GPUS + 2))
  if not simulated then report('\nscripts/two_gpus.lua', ltensor .. ' scripts/two_gpus.lua', seconds // (#TWO_GPUS + 2)) end
end

-- Seconds of each: with one GPU 425 in all.
local STEPS = {
  {'New specs', 70, new_specs}, {'Changed kernels', 40, changed_kernels}, {'Operations', 100, rows}, {'Compiled expressions', 75, chains},
  {'Programs', 80, programs}, {'Decoding by a language model', 20, decode}, {'Kernels of users', 40, user_kernels}, {'Two GPUs', 120, two_gpus},
}

for _, step in ipairs(STEPS) do
  local start = os.time()
  io.stderr:write(step[1], '\n')
  write('## %s\n', step[1])
  local ok, failure = pcall(step[3], step[2])
  if not ok then write('**%s**\n', failure) end
  write('%d of %d s\n', os.time() - start, step[2])
end
write('Total: %d s.', os.time() - begun)
print(path)
