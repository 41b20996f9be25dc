-- compile_programs_spec.lua - what is there to be run is run once more compiled: the bodies of other specs, the examples of the reference, the scripts, the
-- cells of the pages. The reference cases of ops are in compile_reference_spec.lua, random programs in compile_spec.lua.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local root = here .. '../../'
local process = dofile(here .. 'support/process.lua')
local reader = dofile(root .. 'scripts/gen/declarations.lua')
local examples = dofile(root .. 'scripts/gen/examples.lua')
local run_example = require 'support.run_example'
local sample = require 'support.sample'

-- On simulated GPUs each chain is compiled by the host's compiler: GENERATED=1 asks for the specs there (hours). Without one (CXX=none) they take
-- little longer than eager ones.
local simulated = os.getenv 'LTENSOR_SIM_GPUS' and (os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu') ~= 'cpu'
if simulated and not os.getenv 'GENERATED' and os.getenv 'CXX' ~= 'none' then return end

local function compiled(f) return torch.compile(f, { options = { min_numel = 1 } }) end

-- ---- specs --------------------------------------------------------------------------------------------------------------

-- Those that look at values.
local specs = { 'autograd', 'autograd_function', 'attention', 'complex', 'containers', 'convolution', 'distributions', 'draws', 'elementwise', 'fft', 'functional', 'functions',
  'grid_sample', 'indexing', 'inplace_activation', 'linalg', 'memory_format', 'nn', 'nn_attention', 'nn_composed', 'nn_init', 'nn_modules', 'nn_norms', 'nn_recurrent', 'nn_utils', 'optim',
  'out', 'overlap', 'random', 'random_pairs', 'reductions', 'saved_hooks', 'scheduler', 'sparse', 'strides', 'topk', 'transforms', 'unsigned', 'views' }

local environment = _ENV
for _, name in ipairs(sample(specs)) do
  local path = ('%s%s_spec.lua'):format(here, name)
  describe('compiled: #again', function()
    local function it_compiled(title, body) return environment.it(title, body and compiled(function() body() end)) end
    assert(loadfile(path, 't', setmetatable({ it = it_compiled }, { __index = environment })))()
  end)
end

if simulated then return end

-- ---- examples -------------------------------------------------------------------------------------------------------------

describe('compiled: the examples of ops #cpu #again', function()
  for _, folder in ipairs { 'src/ops', 'lib/ops' } do
    local model = folder == 'src/ops' and reader.load(root .. folder) or reader.load_scripted(root .. folder)
    it('in ' .. folder .. ' show what they say', function()
      local wrong, seen = {}, {}
      for _, op in ipairs(sample(model.ops)) do
        if op.example and not seen[op.name] then
          local problem
          compiled(function() problem = run_example(examples.cells(op.example)) end)()
          if problem then wrong[#wrong + 1] = op.name .. ': ' .. problem end
        end
        seen[op.name] = true
      end
      assert(#wrong == 0, table.concat(wrong, '\n'))
    end)
  end
end)

-- ---- scripts --------------------------------------------------------------------------------------------------------------

local function write(path, content)
  local file = assert(io.open(path, 'wb'))
  file:write(content)
  file:close()
end

local function read(path)
  local file = assert(io.open(path, 'rb'))
  local content = file:read 'a'
  file:close()
  return content
end

describe('compiled: scripts #cpu #again', function()
  local folder, text

  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute('mkdir ' .. folder))
    text = folder .. '/text'
    write(text, ('the sheep that sleeps there these three days needs sweets; '):rep(40))
    torch.manual_seed(1)
    for _, split in ipairs { 'train', 't10k' } do
      local bytes = {}
      for i, value in ipairs(torch.randint(0, 256, { 48 * 785 }):tolist()) do bytes[i] = string.char(i <= 48 and value % 10 or value) end
      write(('%s/%s-labels-idx1-ubyte'):format(folder, split), ('>I4I4'):pack(0x801, 48) .. table.concat(bytes, '', 1, 48))
      write(('%s/%s-images-idx3-ubyte'):format(folder, split), ('>I4I4I4I4'):pack(0x803, 48, 28, 28) .. table.concat(bytes, '', 49))
    end
    write(folder .. '/compiled.lua', [[
      local script = table.remove(arg, 1)
      arg[0] = script
      local torch = require 'torch'
      torch.compile(assert(loadfile(script)), { options = { min_numel = 1 } })(table.unpack(arg))
    ]])
  end)

  teardown(function() os.execute('rm -r ' .. folder) end)

  local function run(script, arguments, way, compile)
    local output, message, status = process.run(('%s %s %s%sscripts/%s.lua %s'):format(process.quote(process.ltensor), way,
      compile and folder .. '/compiled.lua ' or '', root, script, arguments))
    assert.equal(0, status, message)
    return (output:gsub('[%d.]+ ?[mun]?s%f[%W]', 'TIME'):gsub('[%d.]+ ?%w+/s', 'RATE'):gsub(' +', ' '):gsub('TIME [%d.]+', 'TIME'))
  end

  local trainings = {
    { 'mlp', '--hidden 32 --batch-size 8 --epochs 2' }, { 'mlp', '--model scratch --hidden 16 --batch-size 8 --epochs 1' },
    { 'lenet', '--batch-size 8 --epochs 1' }, { 'resnet18', '--width 4 --batch-size 16 --epochs 1' },
    { 'gpt', '--length 16 --width 32 --layers 1 --steps 8 --sample 20' }, { 'char_rnn', '--length 16 --hidden 16 --batch-size 8 --steps 12 --sample 20' },
  }
  for _, way in ipairs { '--disable-cuda', '--sim-gpus 1 --no-copies' } do
    for _, training in ipairs(sample(trainings)) do
      local script, arguments = table.unpack(training)
      it(('%s %s %s has the same losses, to the last digit'):format(way, script, arguments), function()
        local data = (script == 'gpt' or script == 'char_rnn') and '--text ' .. text or '--data ' .. folder
        local function losses(compile)
          local output = run(script, ('%s %s --losses %s/losses'):format(data, arguments, folder), way, compile)
          return read(folder .. '/losses'), output
        end
        local expected, output = losses(false)
        local others, shown = losses(true)
        assert.equal(expected, others)
        assert.equal(output, shown)
        assert(#expected > 30)
      end)
    end
  end

  for script, arguments in pairs {
    big_and_small = '--big 32 --small 2 --big-runs 2 --small-runs 3', two_gpus = '--size 8 --steps 3 --repeats 2', logging = '--size 8 --steps 30',
    parameters = '--hidden 16', softmax_regression = '--batch-size 8 --epochs 2 --data ',
  } do
    it(script .. ' says the same', function()
      if arguments:find '--data' then arguments = arguments .. folder end
      assert.equal(run(script, arguments, '--sim-gpus 2 --no-copies', false), run(script, arguments, '--sim-gpus 2 --no-copies', true))
    end)
  end
end)

-- ---- pages ----------------------------------------------------------------------------------------------------------------

describe('compiled: the cells of #cpu #again', function()
  local init

  setup(function()
    init = os.tmpname()
    write(init, [[
      local cell = require 'repl.cell'
      local compile = cell.compile
      function cell.compile(...)
        local compiled, message, more = compile(...)
        if compiled then compiled.run = torch.compile(compiled.run, { options = { min_numel = 1 } }) end
        return compiled, message, more
      end
    ]])
  end)

  teardown(function() os.remove(init) end)

  -- What a page of compile's own shows of passes is that of a call by itself, and start.md is typed, not run.
  local left_out = { README = true, start = true, compile = true }
  local listing = assert(io.popen(('cd "%s" && ls docs/index.md docs/notebooks/*.md docs/guide/*.md docs/book/*.md'):format(root)))
  local pages = {}
  for name in listing:lines() do pages[#pages + 1] = name end
  listing:close()
  for _, name in ipairs(sample(pages)) do
    local path = root .. name
    local folder, page = path:match '([^/]+)/([^/]+)%.md$'
    local ways = folder == 'book' and page ~= '06-gpus' and { '--disable-cuda' } or { '--disable-cuda', '--sim-gpus 1' }
    for _, way in ipairs(left_out[page] and {} or ways) do
      it(('%s %s show what the page says'):format(page, way), function()
        local output, message, status = process.run(('env LTENSOR_INIT=@%s %s %s --cells --check %s'):format(init, process.quote(process.ltensor), way, path))
        assert.equal(0, status, output .. message)
        assert.truthy(output:find '[1-9]%d* passed, 0 failed', output)
      end)
    end
  end
end)
