-- training.lua - helpers of the training scripts: options, Fashion-MNIST, and fit, the loop with a
-- progress bar, checkpoints, a record of the losses and their plot.
--
-- A checkpoint contains the complete state of a run: parameters, the optimizer's state, generators,
-- the order of the data and the position in it. Saving is atomic (torch.save), so a killed run
-- continues from the last complete checkpoint with the same numbers.

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local idx = require 'torch.utils.data.idx'
local text = require 'torch.utils.data.text'
local outside = require 'torch.files.outside'
local plain_number = require 'torch.files.plain_number'
local whole_file = require 'torch.files.whole_file'

local M = {}

-- ---- options ------------------------------------------------------------------------------------

--- The common options of these scripts, followed by `own`. defaults: replacements by name.
function M.options(own, defaults)
  local options = {
    { 'device', 'cpu', 'D', 'cpu, cuda, cuda:1 ...' },
    { 'epochs', 10, 'N', 'passes over the data', minimum = 1 },
    { 'batch-size', 64, 'N', 'samples per step', minimum = 1 },
    { 'lr', 0.1, 'X', 'learning rate' },
    { 'seed', 0, 'N', 'for the initial weights and the order of the samples' },
    { 'steps', 0, 'N', 'steps after which to stop; 0: at the end', minimum = 0 },
    { 'checkpoint', false, 'FILE', 'saved after every epoch; a run goes on from it when it is there' },
    { 'save-every', 0, 'N', 'steps between two checkpoints; 0: an epoch', minimum = 0 },
    { 'plot', false, 'FILE.svg', 'the losses as a picture' },
    { 'losses', false, 'FILE', 'the loss of every step, a line each' },
  }
  for _, option in ipairs(options) do
    if defaults and defaults[option[1]] ~= nil then option[2] = defaults[option[1]] end
  end
  return table.move(own or {}, 1, #(own or {}), #options + 1, options)
end

-- Options that may change when a run is resumed.
local FREE = { device = true, epochs = true, steps = true, checkpoint = true, ['save-every'] = true, plot = true,
  losses = true, data = true, text = true, sample = true, adapter = true }

-- ---- Fashion-MNIST ------------------------------------------------------------------------------

M.FASHION_MNIST = '/usr/share/datasets/fashion-mnist'

local HOW_TO_GET = [[
Fashion-MNIST is four files: {train,t10k}-{images-idx3,labels-idx1}-ubyte, gzipped (.gz) or not.
On Debian and Ubuntu: apt-get install --reinstall dataset-fashion-mnist
Elsewhere: download https://github.com/zalandoresearch/fashion-mnist and pass the folder with --data DIR]]

local function exists(path)
  local file = outside.open(path, 'rb')
  if file then file:close() end
  return file ~= nil
end

local function read(script, folder, name, shape)
  local path = folder .. '/' .. name
  if exists(path .. '.gz') then path = path .. '.gz' end
  local bytes, message = idx.read(path, shape)
  if not bytes then script:fail(message .. '\n' .. HOW_TO_GET) end
  return bytes
end

--- A split ('train', 't10k') of the data set in a folder: images as float32 in [0, 1], labels as
-- classes from 1, both on the device. limit: the number of images; 0: all.
function M.fashion_mnist(script, folder, split, device, limit)
  local images = read(script, folder, split .. '-images-idx3-ubyte', { false, 28, 28 })
  local labels = read(script, folder, split .. '-labels-idx1-ubyte', { #images })
  local n = limit and limit > 0 and math.min(limit, #images) or #images
  return {
    images = images:narrow(1, 1, n):to(torch.float32):div_(255):to(device),
    labels = labels:narrow(1, 1, n):to(torch.int64):add_(1):to(device),
    n = n,
  }
end

--- The accuracy of net on a split, in batches of 1000. shape: of one image; default 28 x 28.
function M.accuracy(net, split, shape)
  local _ <close> = torch.no_grad()
  local hits = torch.zeros(1, { device = split.images.device, dtype = torch.int64 })
  net:eval()
  for first = 1, split.n, 1000 do
    local size = math.min(1000, split.n - first + 1)
    local x = split.images:narrow(1, first, size)
    if shape then x = x:reshape(size, table.unpack(shape)) end
    hits:add_(net(x):argmax(2):eq(split.labels:narrow(1, first, size)):sum())
  end
  net:train()
  return hits:item() / split.n
end

-- ---- texts --------------------------------------------------------------------------------------

--- A text file that every Debian has.
M.TEXT = '/usr/share/common-licenses/GPL-3'

--- The bytes of a file as positions in its alphabet: data (int64, on the device), kinds (the size
-- of the alphabet), alphabet (a list of bytes as strings).
function M.text(script, path, device)
  local file, message = outside.open(path, 'rb')
  if not file then script:fail(message .. '; name a text file with --text FILE') end
  file:close()
  local bytes = text.tokenize(whole_file.read(path), 'byte')
  if #bytes < 2 then script:fail(path .. ' has no text to learn') end
  local vocabulary = text.Vocabulary(bytes, { unknown = false })
  return { data = vocabulary:ids(bytes):to(device), kinds = #vocabulary, alphabet = vocabulary.list }
end

--- Non-overlapping windows of `length` symbols in data: their number, and a function from positions
-- of windows to the symbols (n x length) and the symbols that follow each of them.
function M.windows(data, length)
  local count = (#data - 1) // length
  local offsets = torch.arange(1, length + 1, { device = data.device })
  return count, function(picked)
    local index = ((picked - 1) * length):unsqueeze(2) + offsets
    local function take(shift) return data:index_select(1, (index + shift):reshape(-1)):reshape(index.shape) end
    return take(0), take(1)
  end
end

--- Prints `count` bytes that net generates after the first bytes of the text, if any. scores: from
-- the symbols so far (1 x n) to scores of the next (1 x kinds).
function M.write(net, text, count, scores)
  if count == 0 then return end
  local _ <close> = torch.no_grad()
  net:eval()
  local symbols, parts = text.data:narrow(1, 1, 1):reshape(1, 1), {}
  for i = 1, count do
    local symbol = torch.multinomial(scores(symbols):softmax(2), 1)
    symbols = torch.cat({ symbols, symbol }, 2)
    parts[i] = text.alphabet[symbol:item()]
  end
  print(table.concat(parts))
end

-- ---- checkpoints --------------------------------------------------------------------------------

local function random_state(device)
  return { cpu = torch.get_rng_state(), cuda = device.type == 'cuda' and torch.cuda.get_rng_state(device) or nil }
end

local function set_random_state(state, device)
  torch.set_rng_state(state.cpu)
  if device.type == 'cuda' and state.cuda then torch.cuda.set_rng_state(state.cuda, device) end
end

local function save(task, run)
  torch.save({
    net = task.net:state_dict(), optimizer = task.optimizer:state_dict(),
    scheduler = task.scheduler and task.scheduler:state_dict() or nil,
    random = random_state(task.device), order = run.order, epoch = run.epoch, done = run.done, steps = run.steps,
    losses = run.losses:narrow(1, 1, run.steps), options = task.options,
  }, task.options.checkpoint)
end

local function check_options(task, saved)
  for name, value in pairs(task.options) do
    if not FREE[name] and type(value) ~= 'userdata' and saved[name] ~= nil and saved[name] ~= value then
      task.script:fail(('%s was saved by a run with --%s %s'):format(task.options.checkpoint, name, tostring(saved[name])))
    end
  end
end

local function resume(task, run)
  local path = task.options.checkpoint
  if not path or not exists(path) then return end
  local ok, saved = pcall(torch.load, path, { map_location = 'cpu' })
  if not ok then task.script:fail((tostring(saved):gsub('^[^\n]-:%d+: ', ''))) end
  check_options(task, saved.options)
  task.net:load_state_dict(saved.net)
  task.optimizer:load_state_dict(saved.optimizer)
  if task.scheduler then task.scheduler:load_state_dict(saved.scheduler) end
  set_random_state(saved.random, task.device)
  run.order, run.epoch, run.done, run.steps = saved.order, saved.epoch, saved.done, saved.steps
  run.losses:narrow(1, 1, #saved.losses):copy_(saved.losses)
  io.stderr:write(('%s: goes on from %s, epoch %d, step %d\n'):format(task.script.name, path, run.epoch, run.steps))
end

-- ---- the loop -----------------------------------------------------------------------------------

-- One training step on the samples at positions `picked`.
local function step(task, run, picked)
  local loss = 0
  task.optimizer:zero_grad()
  for _, part in ipairs(picked:chunk(task.parts or 1)) do
    local mean = task.loss(part) * (#part / #picked)
    mean:backward()
    loss = loss + mean:detach()
  end
  if task.clip then torch.nn.utils.clip_grad_norm_(task.net:parameters(), task.clip) end
  task.optimizer:step()
  run.steps = run.steps + 1
  run.losses:narrow(1, run.steps, 1):copy_(loss:reshape(1))
end

local function stopped(task, run) return task.options.steps > 0 and run.steps >= task.options.steps end

-- Runs the epoch from sample run.done + 1 on.
local function run_epoch(task, run)
  local options, batch = task.options, task.options['batch-size']
  local order = run.order:to(task.device)
  local left = (task.n - run.done + batch - 1) // batch
  local label = ('epoch %d/%d'):format(run.epoch, options.epochs)
  local steps = torch._C.terminal(2) and torch.utils.progress(left, { label = label }) or nil
  for _ = 1, left do
    if steps then steps() end
    local size = math.min(batch, task.n - run.done)
    step(task, run, order:narrow(1, run.done + 1, size))
    run.done = run.done + size
    if options.checkpoint and options['save-every'] > 0 and run.steps % options['save-every'] == 0 then save(task, run) end
    if stopped(task, run) then break end
  end
  if steps then steps() end
end

local function write_losses(path, losses)
  local lines = {}
  for i, loss in ipairs(losses) do lines[i] = plain_number('%.9g\n', loss) end
  outside.write_file(path, table.concat(lines))
end

-- At most 400 points, each the mean of a run of losses.
local function points(losses)
  local each, x, y = math.max(1, math.ceil(#losses / 400)), {}, {}
  for first = 1, #losses, each do
    local last, sum = math.min(first + each - 1, #losses), 0
    for i = first, last do sum = sum + losses[i] end
    x[#x + 1], y[#y + 1] = (first + last) / 2, sum / (last - first + 1)
  end
  return x, y
end

local function finish(task, run)
  local options = task.options
  local losses = run.losses:narrow(1, 1, run.steps):cpu():tolist()
  if options.losses then write_losses(options.losses, losses) end
  if #losses < 2 then return losses end
  local x, y = points(losses)
  local figure = torch.utils.plot.lines(x, y, { title = task.script.name .. ': loss by step' })
  print(figure)
  if options.plot then figure:save(options.plot) end
  return losses
end

--- Trains, and returns the losses of all steps. task: script (an Experiment), options (parsed, of
-- M.options), device, net, optimizer, scheduler (or nil; stepped after every epoch), n (number of
-- samples), loss(positions) (the mean loss of these samples), parts (number of parts of a batch whose
-- gradients are added, or nil), clip (maximum norm of the gradient, or nil), report(epoch) (a text,
-- after every epoch; or nil).
function M.fit(task)
  local options, device = task.options, task.device
  local per_epoch = (task.n + options['batch-size'] - 1) // options['batch-size']
  local run = { epoch = 1, done = 0, steps = 0, losses = torch.zeros(per_epoch * options.epochs, { device = device }) }
  task.net:train()
  resume(task, run)
  while run.epoch <= options.epochs and not stopped(task, run) do
    run.order = run.order or torch.randperm(task.n)
    local start, first = torch.time(), run.steps
    run_epoch(task, run)
    local seconds = torch.time() - start
    if run.done < task.n then break end
    local mean = run.losses:narrow(1, first + 1, run.steps - first):mean():item()
    print(('epoch %d  loss %.4f  %s  %s'):format(run.epoch, mean, task.report and task.report(run.epoch) or '',
      experiment.has_speed(device) and ('%.3f s'):format(seconds) or 'time not stated'))
    if task.scheduler then task.scheduler:step() end
    run.epoch, run.done, run.order = run.epoch + 1, 0, nil
    if options.checkpoint then save(task, run) end
  end
  if not experiment.has_speed(device) then print(experiment.NO_SPEED) end
  return finish(task, run)
end

return M
