-- Trains LeNet on Fashion-MNIST, or a small GPT on a text, over ranks: each rank computes its part
-- of each batch, and gradients are averaged. A batch and the seeds of its random numbers do not
-- depend on the number of ranks, so a run continues from its last checkpoint with any number of
-- ranks.
--
--   ltensor --nproc 4 --max-restarts 3 scripts/distributed.lua --model gpt \
--     --checkpoint run.safetensors --save-every 50
--   mpirun -n 64 ltensor scripts/distributed.lua --device cuda

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local models = require 'torch.utils.models'
local training = require 'torch.utils.training'
local dist, F, optim = torch.distributed, torch.nn.functional, torch.optim

local script = experiment.new {
  name = 'distributed',
  summary = 'Trains LeNet or a small GPT over ranks.',
  options = {
    { 'model', 'lenet', 'NAME', 'lenet or gpt' },
    { 'backend', 'mpi', 'NAME', 'what moves the bytes: mpi, or nccl for those of GPUs' },
    { 'timeout', 600, 'S', 'seconds that a rank is waited for', minimum = 1 },
    { 'device', 'cpu', 'D', 'cpu or cuda: then each rank of a machine has a GPU of its own' },
    { 'epochs', 2, 'N', 'passes over the data', minimum = 1 },
    { 'batch-size', 64, 'N', 'samples per step, of all ranks together', minimum = 1 },
    { 'lr', 0.0, 'X', 'learning rate; 0: 0.01 for lenet, 0.003 for gpt' },
    { 'seed', 0, 'N', 'for the initial weights and the order of the samples' },
    { 'steps', 0, 'N', 'steps after which to stop; 0: at the end', minimum = 0 },
    { 'parallel', 'ddp', 'WAY', 'ddp: all ranks have all; zero: the optimizer shares its state out; fully_shard: and parameters' },
    { 'compress', 'no', 'DTYPE', 'gradients are sent as bfloat16 or float16; no: as they are' },
    { 'checkpoint', false, 'FILE', "the index of the ranks' files; a run goes on from it when it is there" },
    { 'save-every', 0, 'N', 'steps between two checkpoints; 0: an epoch', minimum = 0 },
    { 'losses', false, 'FILE', 'the loss of every step, a line each' },
    { 'data', training.FASHION_MNIST, 'DIR', 'folder of the four idx files' },
    { 'limit', 0, 'N', 'images to use; 0: all', minimum = 0 },
    { 'text', training.TEXT, 'FILE', 'what the gpt is to learn' },
    { 'length', 64, 'N', 'bytes that it sees at a time', minimum = 1 },
    { 'width', 64, 'N', 'numbers that stand for a byte', minimum = 1 },
    { 'heads', 4, 'N', 'of the attention', minimum = 1 },
    { 'layers', 2, 'N', 'blocks', minimum = 1 },
  },
}

-- ---- tasks --------------------------------------------------------------------------------------

-- A task: net; n, samples; loss(net, positions), the mean loss; test_n; measure(net, positions), a
-- number for each test sample, reported as the mean; measured, its name; optimizer; clip, maximum
-- norm or nil.
local tasks = {}

function tasks.lenet(options, device)
  local train = training.fashion_mnist(script, options.data, 'train', device, options.limit)
  local test = training.fashion_mnist(script, options.data, 't10k', device, options.limit)
  local function images(split, picked) return split.images:index_select(1, picked):unsqueeze(2) end
  return {
    net = models.lenet():to(device), n = train.n, test_n = test.n, measured = 'test acc',
    loss = function(net, picked) return F.cross_entropy(net(images(train, picked)), train.labels:index_select(1, picked)) end,
    measure = function(net, picked) return net(images(test, picked)):argmax(2):eq(test.labels:index_select(1, picked)) end,
    optimizer = function(parameters) return optim.SGD(parameters, { lr = options.lr > 0 and options.lr or 0.01, momentum = 0.9 }) end,
  }
end

function tasks.gpt(options, device)
  if options.width % options.heads ~= 0 then script:fail('--width must be a multiple of --heads') end
  local text = training.text(script, options.text, device)
  local n = #text.data * 9 // 10
  local count, window = training.windows(text.data:narrow(1, 1, n), options.length)
  local test_count, test_window = training.windows(text.data:narrow(1, n + 1, #text.data - n), options.length)
  if test_count < 1 then script:fail(('%s is too short for windows of %d bytes'):format(options.text, options.length)) end
  local function losses(net, x, y, reduction)
    return F.cross_entropy(net(x):reshape(-1, text.kinds), y:reshape(-1), { reduction = reduction })
  end
  options.dropout = 0.0
  return {
    net = models.GPT(text.kinds, options):to(device), n = count, test_n = test_count, measured = 'test loss', clip = 1,
    loss = function(net, picked)
      local x, y = window(picked)
      return losses(net, x, y, 'mean')
    end,
    measure = function(net, picked)
      local x, y = test_window(picked)
      return losses(net, x, y, 'none'):view(#picked, -1):mean(2)
    end,
    optimizer = function(parameters) return optim.AdamW(parameters, { lr = options.lr > 0 and options.lr or 0.003 }) end,
  }
end

-- ---- ranks --------------------------------------------------------------------------------------

local function device_of(options)
  if options.device ~= 'cuda' then return script:device(options.device) end
  local gpus = torch.cuda.device_count()
  local device = script:device(('cuda:%d'):format(gpus > 0 and dist.get_node_local_rank(0) % gpus or 0))
  torch.cuda.set_device(device)
  return device
end

-- Kinds of data parallelism: the module, its optimizer, and the function that clips gradients.
local ways = {}

function ways.ddp(task, options)
  local net = torch.nn.parallel.DistributedDataParallel(task.net, { gradient_as_bucket_view = true })
  local hooks = dist.algorithms.ddp_comm_hooks.default_hooks
  local hook = ({ bfloat16 = hooks.bf16_compress_hook, float16 = hooks.fp16_compress_hook })[options.compress]
  if hook then net:register_comm_hook(nil, hook) elseif options.compress ~= 'no' then script:fail '--compress wants bfloat16, float16 or no' end
  return net, task.optimizer(net:parameters()), torch.nn.utils.clip_grad_norm_
end

function ways.zero(task, options)
  local net, plain, clip = ways.ddp(task, options)
  local class, given = torch.type(plain), {}
  for name, value in pairs(plain.defaults) do given[name] = value end
  if class == 'AdamW' then given.decoupled_weight_decay = nil end -- AdamW sets it itself
  return net, dist.optim.ZeroRedundancyOptimizer(net:parameters(), torch.optim[class], given), clip
end

function ways.fully_shard(task, options)
  if options.compress ~= 'no' then script:fail '--compress is for ddp and zero' end
  for _, part in ipairs(task.net.blocks or {}) do dist.fsdp.fully_shard(part) end
  local net = dist.fsdp.fully_shard(task.net)
  return net, task.optimizer(net:parameters()), dist.fsdp.clip_grad_norm_
end

-- The mean over the test set. Each rank processes the same number of batches; the padding of the
-- last batch is excluded.
local function measured(task, net, device)
  local _ <close> = torch.no_grad()
  local rank, size = dist.get_rank(), dist.get_world_size()
  local sum, each = torch.zeros(1, { device = device }), (task.test_n + size - 1) // size
  net:eval()
  for first = 0, each - 1, 250 do
    local places = torch.arange(first, math.min(first + 250, each), { device = device }) * size + rank + 1
    local values = task.measure(net, places:clamp { max = task.test_n }):to(torch.float32)
    sum:add_((values * places:le(task.test_n)):sum())
  end
  net:train()
  dist.all_reduce(sum)
  return sum:item() / task.test_n
end

-- ---- training -----------------------------------------------------------------------------------

local function say(...)
  if dist.get_rank() == 0 then print(string.format(...)) end
end

local function exists(path)
  local file = path and io.open(path, 'rb')
  if file then file:close() end
  return file and true or false
end

-- A run: task, net, optimizer, scheduler, and its position: epoch, done (steps of the epoch),
-- steps, losses.
local function save(run, options)
  dist.checkpoint.save({ model = run.net, optimizer = run.optimizer, scheduler = run.scheduler,
    at = { epoch = run.epoch, done = run.done, steps = run.steps }, losses = run.losses:narrow(1, 1, run.steps) }, options.checkpoint)
end

local function resume(run, options)
  if not exists(options.checkpoint) then return end
  local saved = dist.checkpoint.load({ model = run.net, optimizer = run.optimizer, scheduler = run.scheduler }, options.checkpoint)
  run.epoch, run.done, run.steps = saved.at.epoch, saved.at.done, saved.at.steps
  run.losses:narrow(1, 1, run.steps):copy_(saved.losses)
  say('goes on from %s, epoch %d, step %d, on %d ranks', options.checkpoint, run.epoch, run.steps, dist.get_world_size())
end

local function step(run, options, picked)
  torch.manual_seed(options.seed * 1000003 + run.steps * dist.get_world_size() + dist.get_rank())
  local loss = run.task.loss(run.net, picked)
  run.optimizer:zero_grad()
  loss:backward()
  if run.task.clip then run.clip(run.net:parameters(), run.task.clip) end
  run.optimizer:step()
  run.steps, run.done = run.steps + 1, run.done + 1
  local mean = loss:detach():clone()
  dist.all_reduce(mean, { op = dist.ReduceOp.AVG })
  run.losses:narrow(1, run.steps, 1):copy_(mean)
end

local function run_epoch(run, options, device)
  local mine = options['batch-size'] // dist.get_world_size()
  run.sampler:set_epoch(run.epoch)
  local order = {}
  for position in run.sampler:iter() do order[#order + 1] = position end
  order = torch.tensor(order, { dtype = torch.int64, device = device })
  while run.done < run.per_epoch and not (options.steps > 0 and run.steps >= options.steps) do
    step(run, options, order:narrow(1, run.done * mine + 1, mine))
    local every = options['save-every']
    if options.checkpoint and every > 0 and run.steps % every == 0 then save(run, options) end
  end
end

local function main(argv)
  local options = script:parse(argv)
  dist.init_process_group(options.backend, { timeout = options.timeout })
  local size = dist.get_world_size()
  if options['batch-size'] % size ~= 0 then script:fail(('--batch-size must be a multiple of the number of ranks, %d'):format(size)) end
  local device = device_of(options)
  torch.manual_seed(options.seed)
  local task = (tasks[options.model] or function() script:fail '--model wants lenet or gpt' end)(options, device)
  local per_epoch = task.n // options['batch-size']
  if per_epoch == 0 then script:fail(('there are %d samples, fewer than a batch'):format(task.n)) end
  local data = torch.utils.data.TensorDataset(torch.arange(task.n))
  local run = { task = task, epoch = 1, done = 0, steps = 0, losses = torch.zeros(per_epoch * options.epochs), per_epoch = per_epoch,
    sampler = torch.utils.data.DistributedSampler(data, { seed = options.seed, drop_last = true }) }
  local way = ways[options.parallel] or function() script:fail '--parallel wants ddp, zero or fully_shard' end
  run.net, run.optimizer, run.clip = way(task, options)
  run.scheduler = optim.lr_scheduler.CosineAnnealingLR(run.optimizer, options.epochs)
  run.net:train()
  resume(run, options)
  while run.epoch <= options.epochs and not (options.steps > 0 and run.steps >= options.steps) do
    local start, first = torch.time(), run.steps
    run_epoch(run, options, device)
    if run.done < run.per_epoch then break end
    say('epoch %d  loss %.4f  %s %.4f  %s', run.epoch, run.losses:narrow(1, first + 1, run.steps - first):mean():item(), task.measured,
      measured(task, run.net, device), experiment.has_speed(device) and ('%.3f s'):format(torch.time() - start) or 'time not stated')
    run.scheduler:step()
    run.epoch, run.done = run.epoch + 1, 0
    if options.checkpoint then save(run, options) end
  end
  if options.losses and dist.get_rank() == 0 then
    local file = assert(io.open(options.losses, 'w'))
    for _, loss in ipairs(run.losses:narrow(1, 1, run.steps):tolist()) do file:write(('%.9g\n'):format(loss)) end
    file:close()
  end
  dist.barrier()
end

main(arg)
