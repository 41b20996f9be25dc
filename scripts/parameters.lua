-- Reads and writes the parameters of a network on a GPU in several ways: prints the time of each,
-- and checks that the values survive saving and loading.
--
--   ltensor scripts/parameters.lua --hidden 256
--
-- A file stores values without their device: map_location selects it. Times are medians, with the
-- device synchronized at both ends; the copies between devices are counted in a single call.

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local nn = torch.nn

local script = experiment.new {
  name = 'parameters',
  summary = 'Saves, loads and copies the parameters of a network on a device.',
  options = {
    {'device', false, 'D', 'of the network: cpu, cuda, cuda:1 ... (the first GPU, else the CPU)'},
    {'inputs', 20, 'N', 'inputs of the network', minimum = 1},
    {'hidden', 256, 'N', 'units of its hidden layer', minimum = 1},
    {'outputs', 10, 'N', 'outputs', minimum = 1},
    {'repeats', 20, 'N', 'runs of each way', minimum = 1},
    {'file', false, 'FILE', 'where to save (a temporary file, removed at the end)'},
    {'seed', 0, 'N', 'for the initial weights'},
  },
}

local function network(options)
  return nn.Sequential(nn.Linear(options.inputs, options.hidden), nn.ReLU(),
    nn.Linear(options.hidden, options.outputs))
end

local function parameters_bytes(net)
  local bytes, count = 0, 0
  for _, p in net:named_parameters() do bytes, count = bytes + p:numel() * p:element_size(), count + 1 end
  return bytes, count
end

-- The number and bytes of copies between devices in one call, and its median time.
local function measure(way, options)
  torch.cuda.reset_copies()
  way()
  local copies = torch.cuda.copies()
  return copies.count, copies.bytes, experiment.median(way, options.repeats)
end

local function run(options, device, path)
  local net, clone = network(options):to(device), network(options)
  local on_device = network(options):to(device)
  local ways = {
    {'save from the device', function() torch.save(net:state_dict(), path) end},
    {'load to the CPU', function() clone:load_state_dict(torch.load(path, {map_location = 'cpu'})) end},
    {'load to the device', function() on_device:load_state_dict(torch.load(path, {map_location = device})) end},
    {'copy all to the CPU', function()
      for _, p in net:named_parameters() do p:detach():cpu() end
    end},
    {'read one value', function() return net[1].bias[1]:item() end},
    {'write one value', function() net[1].bias:detach()[1] = 0.5 end},
  }
  local rows, seconds = {}, {}
  for i, way in ipairs(ways) do
    local count, bytes, time = measure(way[2], options)
    rows[i], seconds[i] = {way[1], count, bytes, experiment.time_on(device, time)}, time
  end
  -- Save again: the last of the ways has changed a value.
  ways[1][2]()
  ways[2][2]()
  ways[3][2]()
  local x = torch.rand(8, options.inputs)
  local expected = net(x:to(device))
  local same = torch.allclose(clone(x), expected:cpu(), {atol = 1e-5})
    and torch.equal(on_device(x:to(device)), expected)
  return rows, seconds, same
end

local function explain(options, device, seconds)
  if not experiment.has_speed(device) then
    print(experiment.NO_SPEED)
  elseif device.type == 'cpu' then
    print 'No GPU took part: nothing was copied between devices. `--device cuda` names one.'
  else
    local _, count = parameters_bytes(network(options))
    local values = parameters_bytes(network(options)) // 4
    print(('Reading one value takes %s, all %d of them in %d copies %s: a copy costs its fixed price, whatever\n'
      .. 'its size. Read whole tensors, and seldom.'):format(
      experiment.seconds(seconds[5]), values, count, experiment.seconds(seconds[4])))
  end
end

local function main(argv)
  local options = script:parse(argv)
  local device = script:device(options.device)
  torch.manual_seed(options.seed)
  local path = options.file or os.tmpname() .. '.safetensors'
  local bytes, count = parameters_bytes(network(options))
  print(experiment.describe(device))
  print(('%d parameters, %d bytes'):format(count, bytes))
  local ok, rows, seconds, same = xpcall(run, debug.traceback, options, device, path)
  if not options.file then os.remove(path) end
  if not ok then script:fail(rows) end
  experiment.print_table({'way', 'copies', 'bytes', 'median'}, rows)
  print(same and 'The networks that were loaded compute what the saved one does.'
    or 'The networks that were loaded do NOT compute what the saved one does.')
  explain(options, device, seconds)
  if not same then os.exit(1, true) end
end

main(arg)
