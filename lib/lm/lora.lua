-- lora.lua - torch.lm.lora(net, {r = 8}): trains a model by small matrices beside its frozen linear
-- layers, y = W x + lora_alpha / r * B A x (LoRA, E. Hu et al. 2021). W may be quantized (QLoRA, T.
-- Dettmers et al. 2023). Names, defaults and files are those of Hugging Face's library PEFT.
--
--   local adapters = torch.lm.lora(model.net, { r = 8, target_modules = { 'q_proj', 'v_proj' } })
--   local optimizer = torch.optim.AdamW8bit(adapters:parameters(), { lr = 1e-4 })
--
-- The layers are replaced in the net by modules with the children base_layer, lora_A and lora_B.

--[=[ arguments
net: Module with linear layers, which is changed: all its parameters are frozen.
r: Rank: rows of A and columns of B.
lora_alpha: The product of A and B is multiplied by `lora_alpha / r`.
lora_dropout: Probability with which elements of the input of A are zeroed in training.
target_modules: Names of layers, with or without the path before them; or `'all-linear'` for all but the output.
use_rslora: Whether the factor is `lora_alpha / sqrt(r)`.
folder: Folder of an adapter: adapter_config.json and adapter_model.safetensors.
state_dict: Table of `state_dict()`.
mode: Whether to turn training on.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local files = require 'torch.lm.lora_files'
local kinds = require 'torch.support.argument_kinds'
local ordered_dict = require 'torch.support.ordered_dict'
local nn = torch.nn

local Lora = class.Object:extend 'Lora'

-- ---- one layer ----------------------------------------------------------------------------------

-- The weight of a linear layer, of a quantized one in float32.
local function dense(layer)
  local weight = layer.weight:detach()
  return layer.scheme and torch.dequantize_blocks(weight, layer.scheme) or weight
end

local Adapted = nn.Module:extend 'LoraLinear'

function Adapted:init(layer, config)
  local row = layer.weight:detach():narrow(1, 1, 1)
  local inputs = layer.scheme and torch.dequantize_blocks(row, layer.scheme):size(2) or row:size(2)
  local outputs, options = layer.weight:size(1), { bias = false, dtype = torch.float32 }
  self.base_layer = layer
  self.lora_dropout = nn.Dropout(config.lora_dropout)
  self.lora_A = nn.Linear(inputs, config.r, options) -- with its initial values, as in PEFT, of the CPU's generator
  self.lora_B = nn.utils.skip_init(nn.Linear, config.r, outputs, options)
  nn.init.zeros_(self.lora_B.weight)
  self.scaling = config.lora_alpha / (config.use_rslora and math.sqrt(config.r) or config.r)
  self:to(layer.weight.device):train(layer.training)
end

function Adapted:forward(x)
  local y = self.base_layer(x)
  local low = self.lora_A(self.lora_dropout(x:to(self.lora_A.weight.dtype)))
  return y + (self.lora_B(low) * self.scaling):to(y.dtype)
end

-- A linear layer with the sum of both weights.
function Adapted:merged()
  local weight, layer = dense(self.base_layer), self.base_layer
  local sum = weight:float():addmm(self.lora_B.weight:detach():float(), self.lora_A.weight:detach():float(), { alpha = self.scaling })
  local merged = nn.utils.skip_init(nn.Linear, weight:size(2), weight:size(1), { bias = layer.bias ~= nil, device = weight.device, dtype = weight.dtype })
  merged.weight.data = sum:to(weight.dtype)
  if layer.bias ~= nil then merged.bias = layer.bias end
  return merged:requires_grad_(false):train(self.training)
end

-- ---- the layers of a net ------------------------------------------------------------------------

-- Whether the path of a layer is in the list, or ends in a name of it.
local function is_listed(path, list)
  for _, name in ipairs(list) do
    if path == name or path:sub(-#name - 1) == '.' .. name then return true end
  end
  return false
end

local function check_free(net)
  for _, module in ipairs(net:modules()) do
    if Adapted:is_instance(module) then fail 'lora(): the net has adapters already; call unload() of these first' end
  end
end

-- The paths of the layers to replace.
local function targets(net, wanted)
  local paths = {}
  for path, module in net:named_modules() do
    if wanted == 'all-linear' then
      if files.is_linear(module) and module ~= net.output then paths[#paths + 1] = path end
    elseif path ~= '' and is_listed(path, wanted) then
      if not files.is_linear(module) then fail("lora(): '%s' is a %s, expected a linear layer", path, torch.type(module)) end
      paths[#paths + 1] = path
    end
  end
  if #paths == 0 then
    fail('lora(): Target modules %s not found in the base model. Please check the target modules and try again.',
      type(wanted) == 'table' and "{'" .. table.concat(wanted, "', '") .. "'}" or wanted)
  end
  return paths
end

local function check_config(config)
  if config.r < 1 then fail('lora(): r is %d, expected a positive integer', config.r) end
  if type(config.target_modules) == 'string' and config.target_modules ~= 'all-linear' then
    fail("lora(): target_modules is '%s', expected a list of names or 'all-linear'", config.target_modules)
  end
  for i, name in ipairs(type(config.target_modules) == 'table' and config.target_modules or {}) do
    kinds.check('lora', ('target_modules[%d]'):format(i), name, 'string')
  end
end

function Lora:init(net, config)
  check_config(config)
  check_free(net)
  local paths = targets(net, config.target_modules)
  net:requires_grad_(false)
  self.net, self.config, self._adapted = net, config, ordered_dict.new()
  for _, path in ipairs(paths) do self._adapted[path] = Adapted(net:get_submodule(path), config) end
  self:unmerge()
end

--- Puts linear layers with the sum of both weights into the net, which then computes without
--- adapters. Quantized weights become float32.
function Lora:merge()
  for path, adapted in pairs(self._adapted) do self.net:set_submodule(path, adapted:merged()) end
  return self
end

--- Puts the adapters into the net, also after merge() and unload().
function Lora:unmerge()
  for path, adapted in pairs(self._adapted) do self.net:set_submodule(path, adapted) end
  return self
end

--- Puts the layers before lora() back into the net, and returns it.
function Lora:unload()
  for path, adapted in pairs(self._adapted) do self.net:set_submodule(path, adapted.base_layer) end
  return self.net
end

-- ---- as a module --------------------------------------------------------------------------------

--- The result of the net.
function Lora:__call(...) return self.net(...) end

--- The matrices A and B of all layers.
function Lora:parameters()
  local list = {}
  for _, adapted in pairs(self._adapted) do
    list[#list + 1], list[#list + 2] = adapted.lora_A.weight, adapted.lora_B.weight
  end
  return list
end

--- The matrices by their paths in the net.
function Lora:state_dict()
  local dict = ordered_dict.new()
  for path, adapted in pairs(self._adapted) do
    for _, name in ipairs { 'lora_A', 'lora_B' } do dict[('%s.%s.weight'):format(path, name)] = adapted[name].weight:detach() end
  end
  return dict
end

--- Copies the matrices of a state_dict() into the adapters.
function Lora:load_state_dict(state_dict)
  local expected = self:state_dict()
  for name in pairs(state_dict) do
    if expected[name] == nil then fail("load_state_dict(): the state has '%s', which the adapters do not have", name) end
  end
  for name, matrix in pairs(expected) do
    local value = state_dict[name]
    if not torch.is_tensor(value) then fail("load_state_dict(): the state has no matrix '%s'", name) end
    if value.shape ~= matrix.shape then
      fail("load_state_dict(): the matrix '%s' has the shape %s, expected %s", name, tostring(value.shape), tostring(matrix.shape))
    end
  end
  torch.no_grad(function()
    for name, matrix in pairs(expected) do matrix:copy_(state_dict[name]) end
  end)
  return self
end

--- Turns training on or off in the net.
function Lora:train(mode)
  self.net:train(mode)
  return self
end

--- Turns training off in the net.
function Lora:eval() return self:train(false) end

-- ---- files --------------------------------------------------------------------------------------

--- Writes adapter_config.json and adapter_model.safetensors, which PEFT reads, into a folder. The
--- models of torch.lm have the names of Hugging Face's models there.
function Lora:save_pretrained(folder)
  local paths = {}
  for path in pairs(self._adapted) do paths[#paths + 1] = path end
  files.save(folder, self.net, self.config, paths, self:state_dict())
end

--- Adds the adapters of a folder, which may be from PEFT, to a net.
function Lora.from_pretrained(net, folder)
  check_free(net)
  local config, state = files.load(folder, net)
  local self = Lora(net, config)
  local ok, message = pcall(self.load_state_dict, self, state)
  if not ok then
    self:unload()
    fail('%s: %s', folder, message)
  end
  return self
end

function Lora:__tostring()
  return ('Lora(%d layers, r=%d, lora_alpha=%s, lora_dropout=%s)'):format(#self._adapted, self.config.r, self.config.lora_alpha, self.config.lora_dropout)
end

declare.methods(Lora, [[
  init(self, Module net, *, integer r=8, number lora_alpha=8, number lora_dropout=0, list|string target_modules={'q_proj', 'v_proj'},
    boolean use_rslora=false)
]], nil, 'options')
declare.methods(Lora, [[
  load_state_dict(self, table state_dict)
  train(self, boolean mode=true)
  save_pretrained(self, string folder)
]])
declare.functions(Lora, 'from_pretrained(Module net, string folder)')

return Lora
