-- words_spec.lua - whatever of the library's Lua code is called with what it cannot take answers in its own words, at the
-- caller's line: no message of Lua's about the insides of a file that the user never sees (support/prober.lua).
--
-- A part of all wrong calls is drawn anew from a seed in every run: WORDS_SEED repeats one, WORDS_SHARE=1 makes them all.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local prober = dofile(here .. 'support/prober.lua')
local torch = require 'torch'
local nn, optim, data, distributions = torch.nn, torch.optim, torch.utils.data, torch.distributions

local seed = tonumber(os.getenv 'WORDS_SEED') or os.time()
local share = tonumber(os.getenv 'WORDS_SHARE') or 0.1

-- What prints does so to nowhere.
local function quietly(body)
  local print_before = print
  print = function() end
  local results = table.pack(pcall(body))
  print = print_before
  assert(table.unpack(results, 1, results.n))
  return table.unpack(results, 2, results.n)
end

local layers = {
  Linear = { 2, 3 }, Conv2d = { 1, 1, 1 }, BatchNorm2d = { 2 }, LayerNorm = { 3 }, Dropout = {}, LSTM = { 2, 3 }, LSTMCell = { 2, 3 },
  Embedding = { 3, 2 }, MaxPool2d = { 2 }, CrossEntropyLoss = {}, Sequential = {}, ModuleList = {}, ModuleDict = {}, Flatten = {}, PReLU = {},
  Identity = {}, LazyLinear = { 3 }, ParameterList = {}, ParameterDict = {}, GroupNorm = { 1, 2 },
}

local function optimizer(name) return optim[name or 'SGD'](nn.Linear(2, 3):parameters(), { lr = 1 }) end

local parts = {
  ['torch.nn'] = function() prober.part('nn', nn) end,
  ['torch.nn.functional'] = function() prober.part('nn.functional', nn.functional) end,
  ['torch.nn.init'] = function() prober.part('nn.init', nn.init) end,
  ['torch.nn.utils'] = function()
    for _, name in ipairs { 'rnn', 'parametrize', 'parametrizations' } do prober.part('nn.utils.' .. name, nn.utils[name]) end
    prober.part('nn.utils', nn.utils)
    prober.part('nn.parallel', nn.parallel)
  end,
  ['torch.optim'] = function()
    prober.part('optim', optim)
    prober.part('optim.lr_scheduler', optim.lr_scheduler)
    for _, name in ipairs { 'SGD', 'Adam', 'LBFGS' } do prober.methods(optimizer(name), name) end
    prober.methods(optim.lr_scheduler.StepLR(optimizer(), 1), 'StepLR')
    prober.methods(optim.lr_scheduler.ReduceLROnPlateau(optimizer()), 'ReduceLROnPlateau')
  end,
  ['torch.utils'] = function()
    prober.part('utils.data', data)
    for _, name in ipairs { 'csv', 'text', 'idx' } do prober.part('utils.data.' .. name, data[name]) end
    prober.part('utils', torch.utils)
    prober.part('utils.benchmark', torch.utils.benchmark)
    prober.part('utils.plot', torch.utils.plot)
    local rows = data.TensorDataset(torch.ones(4, 2))
    prober.methods(data.DataLoader(rows, { batch_size = 2 }), 'DataLoader')
    prober.methods(data.RandomSampler(rows), 'RandomSampler')
    prober.methods(data.Subset(rows, { 1, 2 }), 'Subset')
    prober.methods(torch.utils.epochs(), 'epochs')
    for _, name in ipairs { 'CSVLogger', 'JSONLogger' } do
      local path = os.tmpname()
      prober.methods(torch.utils.log[name](path), name)
      os.remove(path)
    end
  end,
  ['torch.distributions'] = function() prober.part('distributions', distributions) end,
  ['torch.vision'] = function() prober.part('torch.vision', torch.vision) end,
  ['torch.audio'] = function() prober.part('torch.audio', torch.audio) end,
  ['torch'] = function()
    for _, name in ipairs { 'autograd', 'amp', 'cuda', 'linalg', 'profiler' } do prober.part(name, torch[name]) end
    prober.part('torch', torch)
    prober.methods(torch.amp.GradScaler(), 'GradScaler')
  end,
  ['layers'] = function()
    for name, arguments in pairs(layers) do
      local layer = nn[name](table.unpack(arguments))
      prober.calls(layer, name .. '()')
      prober.methods(layer, name)
    end
  end,
}

describe('wrong arguments of', function()
  for name, body in pairs(parts) do
    it(name .. ' are told in words of ours #again', function()
      math.randomseed(seed)
      torch.manual_seed(0)
      local faults, looked = quietly(function() return prober.run(body, share) end)
      local lines = {}
      for i, fault in ipairs(faults) do lines[i] = ('%s\n    %s'):format(fault.call, fault.message) end
      assert(looked > 0, 'nothing was looked at')
      assert(torch.is_grad_enabled() and not torch.is_inference_mode_enabled(), 'a wrong call changed a mode for good')
      assert(#faults == 0, ('%d of %d errors (seed %d):\n%s'):format(#faults, looked, seed, table.concat(lines, '\n')))
    end)
  end
end)
