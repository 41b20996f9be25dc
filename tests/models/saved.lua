-- saved.lua - exports networks for saved.py: FOLDER/NAME.pt2, and FOLDER/NAME.npz with the inputs, and the outputs, gradients and buffers that
-- the network has here after one call. Networks with dynamic sizes are called with other sizes than they are exported with.
-- Then trains FOLDER/python.pt2, which Python has saved, by one step on the inputs of FOLDER/python.npz, and saves it as FOLDER/trained.pt2.

local folder = arg[1]
local F = nn.functional

local networks = {}

function networks.mlp() return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Dropout(0.5), nn.Linear(16, 4), nn.LogSoftmax { dim = 2 }):eval(), { torch.randn(5, 6) } end

function networks.lenet()
  return nn.Sequential(nn.Conv2d(1, 6, 5, { padding = 2 }), nn.Sigmoid(), nn.AvgPool2d(2, { stride = 2 }), nn.Conv2d(6, 16, 5), nn.Sigmoid(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(400, 120), nn.Sigmoid(), nn.Linear(120, 84), nn.Sigmoid(), nn.Linear(84, 10)), { torch.randn(3, 1, 28, 28) }
end

local Residual = nn.Module:extend 'Residual'
function Residual:init(from, to, stride)
  self.conv1, self.bn1 = nn.Conv2d(from, to, 3, { stride = stride, padding = 1, bias = false }), nn.BatchNorm2d(to)
  self.conv2, self.bn2 = nn.Conv2d(to, to, 3, { padding = 1, bias = false }), nn.BatchNorm2d(to)
  self.skip = stride > 1 and nn.Sequential(nn.Conv2d(from, to, 1, { stride = stride, bias = false }), nn.BatchNorm2d(to)) or nn.Identity()
end
function Residual:forward(x)
  local y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
  return F.relu(y:add_(self.skip(x)))
end

local function resnet()
  return nn.Sequential(nn.Conv2d(3, 8, 3, { padding = 1, bias = false }), nn.BatchNorm2d(8), nn.ReLU { inplace = true }, Residual(8, 8, 1), Residual(8, 16, 2),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5))
end
function networks.resnet_eval()
  local net = resnet()
  net(torch.randn(4, 3, 12, 12))
  return net:eval(), { torch.randn(2, 3, 12, 12) }
end
function networks.resnet_train() return resnet(), { torch.randn(4, 3, 12, 12) } end

local Tagger = nn.Module:extend 'Tagger'
function Tagger:init(rnn, width)
  self.embedding, self.rnn, self.head = nn.Embedding(20, 7, { padding_idx = 1 }), rnn, nn.Linear(width, 3)
end
function Tagger:forward(words)
  local y, state = self.rnn(self.embedding(words))
  return self.head(y), state
end
function networks.lstm()
  return Tagger(nn.LSTM(7, 6, { num_layers = 2, bidirectional = true, batch_first = true }), 12), { torch.randint(1, 21, { 3, 5 }) }
end
function networks.gru() return Tagger(nn.GRU(7, 6, { batch_first = true }), 6), { torch.randint(1, 21, { 3, 5 }) } end
function networks.rnn() return nn.RNN(4, 5, { bias = false }), { torch.randn(6, 2, 4), torch.randn(1, 2, 5) } end

function networks.transformer()
  return nn.TransformerEncoderLayer(16, 4, 32, { batch_first = true, activation = 'gelu', dropout = 0.1 }):eval(), { torch.randn(2, 5, 16) }
end
function networks.transformer_train()
  return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, { norm_first = true, dropout = 0.0 }), 2), { torch.randn(5, 2, 8) }
end

local Matcher = nn.Module:extend 'Matcher'
function Matcher:init()
  self.words, self.bags = nn.Embedding(30, 8, { max_norm = 1.0 }), nn.EmbeddingBag(30, 8, { mode = 'mean' })
end
function Matcher:forward(a, b)
  local x, y = self.words(a):mean(2), self.bags(b)
  return F.cosine_similarity(x, y, { dim = 2 }), torch.einsum('ik,jk->ij', x, y), (x * y):sum(2):argmax(1)
end
function networks.embedding() return Matcher(), { torch.randint(1, 31, { 4, 6 }), torch.randint(1, 31, { 4, 3 }) } end

function networks.depthwise()
  return nn.Sequential(nn.Conv2d(3, 6, 1), nn.Hardswish(), nn.Conv2d(6, 6, 3, { groups = 6, padding = 'same' }), nn.ReLU6(), nn.Conv2d(6, 8, 1), nn.Hardsigmoid(),
    nn.Upsample { scale_factor = 2, mode = 'bilinear' }, nn.ConvTranspose2d(8, 4, 2, { stride = 2 }), nn.PReLU(), nn.ZeroPad2d(1), nn.MaxPool2d(3, 2, 1)),
    { torch.randn(2, 3, 6, 6) }
end

function networks.norms()
  return nn.Sequential(nn.Conv1d(4, 8, 3, { padding = 1 }), nn.GroupNorm(2, 8), nn.GELU(), nn.InstanceNorm1d(8, { affine = true }), nn.GELU { approximate = 'tanh' },
    nn.LayerNorm { 8, 10 }, nn.SiLU(), nn.Flatten(), nn.RMSNorm(80), nn.Softsign(), nn.Linear(80, 3)), { torch.randn(2, 4, 10) }
end

local Nested = nn.Module:extend 'Nested'
function Nested:init()
  self.a, self.b = nn.Linear(4, 4), nn.Parameter(torch.randn(4))
  self:register_buffer('steps', torch.zeros(1))
  self:register_buffer('scale', torch.tensor { 0.5 }, false)
end
function Nested:forward(x, parts, options)
  self.steps:add_(1)
  local y = self.a(x) * self.scale
  for _, part in ipairs(parts.list) do y = y + part end
  if options.mask then y = torch.where(options.mask, y, self.b) end
  y = y:clone()
  y[{ 1, { 2, 3 } }] = 0
  y['2:, 4'] = y[{ {}, 1 }]['2:'] * 2
  y[y:gt(1.5)] = 1.5
  local z = 1 / (2 - y:detach() * 0.1) + 3 ^ self.b - torch.tensor { 1.0, 2.0, 3.0, 4.0 }
  local values, places = y:max(2)
  local chosen = y[torch.tensor { 2, 1 }][{ {}, { 1, 3 } }]
  local frozen = torch.no_grad(function() return self.a(x):exp() end)
  return { sum = (y * frozen):sum(), more = { values, places } }, z:gather(2, places:unsqueeze(2)), chosen:double(), torch.zeros(2, 3) + torch.arange(3), y:masked_fill(y:lt(0), 0)
end
function networks.nested()
  return Nested(), { torch.randn(3, 4), { list = { torch.randn(3, 4), torch.randn(4) } } }, { mask = torch.rand(3, 4):gt(0.3) }
end

local Sequence = nn.Module:extend 'Sequence'
function Sequence:init()
  self.embedding, self.rnn, self.attention = nn.Embedding(20, 8), nn.GRU(8, 8, { batch_first = true }), nn.MultiheadAttention(8, 2, { batch_first = true })
  self.places = nn.Parameter(torch.randn(16, 8))
end
function Sequence:forward(words, mask)
  local x = self.embedding(words) + self.places[{ { 1, words:size(2) } }]
  local y = self.rnn(x)
  local z = self.attention(y, y, y, { need_weights = false })
  return z * mask:unsqueeze(3), torch.arange(words:size(2)) * 2, z:reshape(words:size(1) * words:size(2), 8), words:new_zeros(words:size(1), 2 * words:size(2) + 1)
end
function networks.dynamic()
  return Sequence(), { torch.randint(1, 21, { 3, 7 }), torch.rand(3, 7) }, nil,
    { shapes = { words = { 'batch', 'length' }, mask = { 'batch', 'length' } }, args = { torch.randint(1, 21, { 4, 5 }), torch.rand(4, 5) } }
end
function networks.dynamic_batch()
  return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)), { torch.randn(6, 1, 8, 8) }, nil,
    { shapes = { x = { 'n' } }, args = { torch.randn(5, 1, 8, 8) } }
end

-- The modules with which the export of ONNX is tried, in evaluation.
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
for _, case in ipairs(dofile(here .. '../onnx/exported.lua')) do
  local name, make = table.unpack(case)
  if name ~= 'activations of hostile numbers' then -- PyTorch's gelu(inf) is nan
    networks['module ' .. name:gsub('[^%w]+', '_')] = function()
      local module, args = table.unpack(make(), 1, 2)
      return module:eval(), torch.is_tensor(args) and { args } or args
    end
  end
end

-- ---- one network --------------------------------------------------------------------------------

local function weight_of(i, x) return ((torch.arange(x:numel(), { dtype = torch.float64 }) * 0.7 + i):cos()):reshape(x.shape):to(x.dtype) end

local function leaves(x, list)
  if torch.is_tensor(x) then list[#list + 1] = x return list end
  local names = {}
  for key in pairs(x) do
    if type(key) == 'string' and key ~= 'n' then names[#names + 1] = key end
  end
  table.sort(names)
  for _, name in ipairs(names) do leaves(x[name], list) end
  for _, entry in ipairs(x) do leaves(entry, list) end
  return list
end

local function write(name)
  torch.manual_seed(7)
  local net, args, kwargs, dynamic = networks[name]()
  local saved = {}
  local program = torch.export.export(net, args, kwargs or {}, { dynamic_shapes = dynamic and dynamic.shapes })
  torch.export.save(program, ('%s/%s.pt2'):format(folder, name))
  if dynamic then args = dynamic.args end
  for i, x in ipairs(leaves({ args, kwargs or {} }, {})) do saved['input ' .. i] = x end
  if kwargs then args[#args + 1] = kwargs end
  local loss
  for i, y in ipairs(leaves(table.pack(net(table.unpack(args))), {})) do
    saved['output ' .. i] = y:detach():clone()
    if y.requires_grad then loss = (loss or 0) + (y * weight_of(i, y)):sum() end
  end
  if loss then loss:backward() end
  for key, p in net:named_parameters() do saved['gradient of ' .. key] = p.grad end
  for key, b in net:named_buffers() do saved['buffer ' .. key] = b end
  torch.save(saved, ('%s/%s.npz'):format(folder, name))
end

local function train()
  local given = torch.load(folder .. '/python.npz')
  local program = torch.export.load(folder .. '/python.pt2')
  local optimizer = torch.optim.SGD(program:parameters(), { lr = 0.1 })
  program(given.x):square():mean():backward()
  optimizer:step()
  torch.export.save(program, folder .. '/trained.pt2')
end

local names = {}
for name in pairs(networks) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local ok, message = xpcall(write, debug.traceback, name)
  if not ok then print(name, message) end
end
local ok, message = xpcall(train, debug.traceback)
if not ok then print('python', message) end
