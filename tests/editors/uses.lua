-- uses.lua - what an editor knows of programs that are written with the annotations: read by check.py, run by nobody.
local torch = require 'torch'
local nn = torch.nn

-- ---- tensors ----
local y = torch.ones(2, 3) --: torch.Tensor
local a = y:sum() --: torch.Tensor
local b = y:sum { dim = 1, keepdim = true } --: torch.Tensor
local values, indices = y:max(1) --: torch.Tensor
local product = y * 2 + 1 --: torch.Tensor
local shape = y.shape --: torch.Size
local rows = y:size(1) --: integer
local number = y:item() --: number
local part = y[1] --: torch.Tensor
local block = y[{ { 1, 2 }, {} }] --: torch.Tensor
y[1] = torch.zeros(3)
torch.relu6('three') --! param-type-mismatch
print(y:nothing()) --! undefined-field

-- ---- modules keep their class through calls that return themselves ----
local net = nn.Sequential(nn.Linear(2, 3), nn.ReLU()) --: torch.nn.Sequential
local moved = net:to 'cpu' --: torch.nn.Sequential
local output = net(y) --: torch.Tensor
local layer = nn.Linear(2, 3, { bias = false }):eval() --: torch.nn.Linear
local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.1 })
optimizer:zero_grad()

-- ---- classes of one's own ----
local Net = nn.Module:extend 'Net'
function Net:init() self.layer = nn.Linear(2, 3) end
function Net:forward(x) return self.layer(x) end
local own = Net() --: torch.nn.Module
print(own(y), own:to 'cpu')

-- ---- the book's companion ----
local d2l = require 'd2l'
local vocab = d2l.Vocab({ 'a', 'b' }) --: d2l.Vocab
local trainer = d2l.Trainer { max_epochs = 3 } --: d2l.Trainer
trainer:fit(vocab, vocab)

-- ---- the scope of a guard, or a function's results ----
local guarded = torch.no_grad(function() return y:sum() end) --: torch.Tensor

print(a, b, values, indices, product, shape, rows, number, part, block, moved, output, layer, guarded)
