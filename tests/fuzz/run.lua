-- run.lua - runs child.lua with a fuzzer again and again, and tells what ended badly. See run.sh for the settings.
--
--   lua5.4 run.lua FUZZER PROGRAM WATCH MINUTES SEED
--
-- Batch i has the seed SEED * 1000 + i; every second batch has two simulated GPUs. A batch that ends by a signal, a sanitizer's report, a
-- hang or with processes left behind is run again with fewer and fewer lines, and what is left of it is printed as Lua.

local fuzzer, program, watch, minutes, seed = arg[1], arg[2], arg[3], tonumber(arg[4]), math.tointeger(tonumber(arg[5]))
local here = arg[0]:match '^(.*)/'
local LINES = 400
local sanitized = program:find 'asan' or os.getenv 'FUZZ_SANITIZED'
local MEGABYTES = sanitized and 0 or 6144

local scratch
do
  local pipe = io.popen("mktemp -d /tmp/fuzz-" .. fuzzer .. "-XXXXXX")
  scratch = pipe:read 'l'
  pipe:close()
end

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function read(path)
  local file = io.open(path)
  if not file then return '' end
  local text = file:read 'a'
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, 'w'))
  file:write(text)
  file:close()
end

local REPORTS = { 'ERROR: (%w+Sanitizer: [^\n]*)', '(runtime error: [^\n]*)', '(LeakSanitizer: [^\n]*)', '(stack smashing[^\n]*)', '(Assertion[^\n]*)', '(terminate called[^\n]*)', '(double free[^\n]*)', '(corrupted [^\n]*)', '(free%(%)[^\n]*)', '(malloc[^\n]*)' }

-- Where a sanitizer saw it: the first frames that are ours.
local function frames(output)
  local found = {}
  for name, place in output:gmatch '#%d+ 0x%x+ in (%S+) ([^\n]*)' do
    if place:find 'src/' or place:find 'repl/' then found[#found + 1] = name .. ' ' .. (place:match 'src/%S+' or place) end
    if #found == 4 then break end
  end
  return table.concat(found, ' < ')
end

-- Runs child.lua with the fuzzer and the arguments: how it ended, as text; nil when all was well. The lines, and the sanitizer's words.
local function run(gpus, arguments)
  local folder, log, output = scratch .. '/run', scratch .. '/log', scratch .. '/output'
  os.execute(('rm -rf %s %s; mkdir -p %s; chmod 777 %s %s; : >%s; chmod 666 %s'):format(folder, output, folder, scratch, folder, log, log))
  local command = ('OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 HOME=%s TMPDIR=%s TZ=UTC ASAN_OPTIONS=%s UBSAN_OPTIONS=%s LSAN_OPTIONS=%s %s -m %d %s %s %s %s %s --no-copies --sim-gpus %d %s/child.lua %s %s'):format(
    folder, folder,
    'detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1:max_allocation_size_mb=1500:soft_rss_limit_mb=3500:exitcode=99:handle_abort=1:allow_user_segv_handler=1',
    'halt_on_error=1:print_stacktrace=1:exitcode=99', 'use_tls=0', quote(watch), MEGABYTES, sanitized and '-s 20 -q 5' or '', log, output, folder, quote(program), gpus, here, fuzzer, arguments)
  local pipe = assert(io.popen(command))
  local status = pipe:read 'a'
  pipe:close()
  status = status:gsub('\n', ' '):gsub(' $', '')
  local text, printed = read(log), read(output)
  local lines, ended = {}, false
  for line in text:gmatch '[^\n]+' do
    if line == 'end' then ended = true
    elseif not line:find '^[+#-]' then lines[#lines + 1] = line end
  end
  local report
  for _, pattern in ipairs(REPORTS) do report = report or printed:match(pattern) end
  if status == 'exit 0' and ended and not report then return nil, lines, text, printed end
  if report then status = status .. ': ' .. report .. ' ' .. frames(printed) end
  return status, lines, text, printed
end

local function run_lines(gpus, lines)
  local path = scratch .. '/lines'
  write(path, table.concat(lines, '\n') .. '\n')
  return run(gpus, ('again %s/log %s'):format(scratch, path))
end

local function kind(status)
  local word = status and status:gsub(':.*', '')
  return word and (word:find 'hang' and 'hang' or word:find 'left' and 'left' or word)
end

-- The fewest lines that still end the same way, by leaving out ever smaller pieces.
local function smallest(gpus, lines, status)
  local wanted, tries = kind(status), 0
  local function fails(some)
    tries = tries + 1
    return kind((run_lines(gpus, some))) == wanted
  end
  if fails { lines[#lines] } then return { lines[#lines] } end
  for _ = 1, 2 do
    if fails(lines) then break end
    if _ == 2 then return lines, true end
  end
  local piece = #lines // 2
  while piece >= 1 and tries < 80 do
    local at = 1
    while at <= #lines and tries < 80 do
      local some = {}
      table.move(lines, 1, at - 1, 1, some)
      table.move(lines, at + piece, #lines, #some + 1, some)
      if #some > 0 and fails(some) then lines = some else at = at + piece end
    end
    piece = piece // 2
  end
  return lines
end

local start, batch, calls, refused = os.time(), 0, 0, 0
local known, found = {}, 0
local raw = {}
print(('%s: seed %d'):format(fuzzer, seed))
while os.difftime(os.time(), start) < minutes * 60 do
  batch = batch + 1
  local gpus = math.tointeger(tonumber(os.getenv 'FUZZ_GPUS')) or (batch % 2 == 0 and 2 or 0)
  local batch_seed = seed * 1000 + batch
  local status, lines, text = run(gpus, ('new %s/log %d %d'):format(scratch, batch_seed, LINES))
  calls = calls + #lines
  local previous
  for line in text:gmatch '[^\n]+' do
    if line:sub(1, 1) == '-' and previous then
      refused = refused + 1
      -- Errors that show the inside of the library rather than say what is wrong.
      if line:find 'attempt to' and line:find '%[ltensor' or line:find 'stack overflow' then
        local place = line:match '%[ltensor [^%]]*%]:%d+' or line:sub(1, 60)
        raw[place] = raw[place] or (line .. '   <- ' .. previous)
      end
    else
      previous = line
    end
  end
  if status then
    local last = lines[#lines] or text:match '#([^\n]*)\n?$' or '?'
    local place = status:match 'src/(%S+)'
    local key = place or (kind(status) .. ' ' .. (last:match '^return ([%w_%.]+)%(' or last:match '%):([%w_]+)%(' or last:sub(1, 40)))
    if not known[key] then
      known[key] = true
      found = found + 1
      local small, lost = lines, true
      if #lines > 0 then small, lost = smallest(gpus, lines, status) end
      print(('\n%s   (seed %d, %d GPUs%s)'):format(status, batch_seed, gpus, lost and ', not seen again' or ''))
      if lost then
        print('  last: ' .. last)
      else
        for _, line in ipairs(small) do print('  ' .. line) end
      end
      io.stdout:flush()
    else
      found = found + 1
    end
  end
end
os.execute('rm -rf ' .. quote(scratch))
print(('%s: %d lines in %d batches, %d refused, %d batches ended badly'):format(fuzzer, calls, batch, refused, found))
if os.getenv 'FUZZ_RAW' then
  for place, line in pairs(raw) do print('raw ' .. place .. '  ' .. line) end
end
os.exit(found == 0)
