-- models.lua - writes the models of latency.py: ltensor models.lua FOLDER. The inputs have one image or one sequence.

local nn, folder = torch.nn, arg[1]
torch.manual_seed(1)

local function write(name, net, ...) torch.onnx.export(net:eval(), { ... }, folder .. '/' .. name .. '.onnx', { input_names = { 'x' } }) end

write('lenet', nn.Sequential(nn.Conv2d(1, 6, 5, { padding = 2 }), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
  nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)), torch.rand(1, 1, 28, 28))

write('mlp', nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10), nn.Softmax { dim = -1 }), torch.rand(1, 64))

-- A stack of residual blocks.
local Residual = nn.Module:extend 'Residual'
function Residual:init(channels)
  self.layers = nn.Sequential(nn.Conv2d(channels, channels, 3, { padding = 1 }), nn.BatchNorm2d(channels), nn.ReLU(),
    nn.Conv2d(channels, channels, 3, { padding = 1 }), nn.BatchNorm2d(channels))
end
function Residual:forward(x) return torch.relu(x + self.layers(x)) end
write('residual', nn.Sequential(nn.Conv2d(3, 32, 3, { padding = 1 }), nn.ReLU(), Residual(32), Residual(32), Residual(32), nn.AdaptiveAvgPool2d(1),
  nn.Flatten(), nn.Linear(32, 10)), torch.rand(1, 3, 32, 32))

local function separable(inputs, outputs, stride)
  return nn.Sequential(nn.Conv2d(inputs, inputs, 3, { stride = stride, padding = 1, groups = inputs }), nn.BatchNorm2d(inputs), nn.ReLU6(),
    nn.Conv2d(inputs, outputs, 1), nn.BatchNorm2d(outputs), nn.ReLU6())
end
write('separable', nn.Sequential(nn.Conv2d(3, 16, 3, { stride = 2, padding = 1 }), nn.ReLU6(), separable(16, 32, 1), separable(32, 64, 2),
  separable(64, 64, 1), separable(64, 128, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)), torch.rand(1, 3, 96, 96))

write('transformer', nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 256, { batch_first = true }), 2), torch.rand(1, 32, 128))
write('gru', nn.GRU(32, 64, { batch_first = true }), torch.rand(1, 20, 32))
