-- checkpoint.lua - the folder of a model in the form of Hugging Face's library transformers: its
-- config.json and its tensors, from model.safetensors, shards of it or pytorch_model.bin. Tensors
-- stay mapped until they are read. It has the methods of torch.lm.gguf.

local torch = require 'torch'
local class = require 'torch.support.class'
local outside = require 'torch.files.outside'
local shown = require 'torch.support.printable_format'
local whole_file = require 'torch.files.whole_file'

local MAX_JSON = 16 << 20 -- bytes

local Folder = class.Object:extend 'ModelFolder'

local function exists(path)
  local file <close> = outside.open(path, 'rb')
  return file ~= nil
end

--- The object in a JSON file of the folder, with null as an absent value. nil: there is no such file.
function Folder:json(name)
  local path = self.path .. name
  if not exists(path) then return nil end
  local value, reason = whole_file.json_object(path, MAX_JSON)
  if not value then self:_fail('no JSON object in %s%s', name, reason) end
  return value
end

function Folder:_fail(format, ...) torch._C.raise(self.path .. ': ' .. shown(format, ...)) end

local function entry(self, name) return self.entries[name] or self:_fail("no tensor has the name '%s'", name) end

--- The shape of a tensor, and its dtype.
function Folder:info(name)
  local tensor = entry(self, name)
  return table.move(tensor.shape, 1, #tensor.shape, 1, {}), tensor.dtype
end

--- The tensor as it is in the file, and its dtype.
function Folder:stored(name)
  local tensor = entry(self, name)
  return tensor, tensor.dtype
end

--- path: the folder.
function Folder:init(path)
  self.path = path:gsub('/*$', '') .. '/'
  self.config = self:json 'config.json' or self:_fail 'no config.json, expected a model of Hugging Face'
  local found
  for _, name in ipairs { 'model.safetensors', 'model.safetensors.index.json', 'pytorch_model.bin' } do
    found = found or exists(self.path .. name) and name
  end
  if not found then self:_fail 'no model.safetensors, model.safetensors.index.json or pytorch_model.bin' end
  local tensors = torch.load(self.path .. found, { mmap = found ~= 'pytorch_model.bin', map_location = 'cpu' })
  self.entries, self.count = {}, 0
  for name, tensor in pairs(tensors) do
    if torch.is_tensor(tensor) then self.entries[name], self.count = tensor, self.count + 1 end
  end
end

function Folder:__tostring() return ('ModelFolder(%s)'):format(self.path) end

return Folder
