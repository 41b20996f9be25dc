-- nn.lua - torch.nn: finds each class in its own module when it is first named, so that a program that
-- uses three layers loads three files.

local where = {
  Module = 'module', Parameter = 'parameter', Linear = 'linear', Flatten = 'flatten', Identity = 'identity',
  Dropout = 'dropout', Embedding = 'embedding',
  Sequential = 'sequential', ModuleList = 'module_list', ModuleDict = 'module_dict',
  ReLU = 'activation', Sigmoid = 'activation', Tanh = 'activation', Softmax = 'activation',
  LogSoftmax = 'activation', GELU = 'activation', SiLU = 'activation', LeakyReLU = 'activation', Softplus = 'activation',
  CrossEntropyLoss = 'loss', NLLLoss = 'loss', MSELoss = 'loss', L1Loss = 'loss', BCEWithLogitsLoss = 'loss',
  DataParallel = 'data_parallel',
  init = 'init', functional = 'functional', parallel = 'parallel', utils = 'utils',
}
-- Modules that are one value; the others are tables of several classes.
local several = { activation = true, loss = true }

local nn = { __names = where }

return setmetatable(nn, {
  __index = function(_, name)
    local file = where[name]
    if not file then return nil end
    local value = require('torch.nn.' .. file)
    if several[file] then value = value[name] end
    rawset(nn, name, value)
    return value
  end,
})
