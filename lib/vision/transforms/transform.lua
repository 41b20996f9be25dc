-- transform.lua - torch.vision.transforms.Transform: the base class of transforms. Derive a class
-- and define transform(image, params); define make_params(image) if the transform is random.
--
-- A call changes the first tensor among its arguments, or in lists among them, and returns the
-- other arguments unchanged: image, label = transform(image, label).

--[=[ arguments
image: Image or batch of images, of shape (..., C, H, W).
params: Parameters that `make_params` returned.
transform(): The changed image; each transform defines it.
make_params(): The random parameters of one call, as a table; each random transform defines it.
]=]

local torch = require 'torch'
local Module = require 'torch.nn.module'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local python = require 'torch.nn.python'

--- The base class of transforms. Derive a class and define transform(image, params); define
--- make_params(image) if it is random.
local Transform = Module:extend 'Transform'

-- The constructor's arguments in the printed form, in order; name[] for a list in Python.
Transform._shown = ''

function Transform:make_params() return {} end

function Transform:transform() fail("%s has no method 'transform'", self.__classname) end
declare.methods(Transform, 'make_params(self, Tensor image) transform(self, Tensor image, table params)')

-- The first tensor among n values, depth-first.
local function first_image(values, n)
  for i = 1, n do
    local value = values[i]
    if torch.is_tensor(value) then return value end
    local found = type(value) == 'table' and first_image(value, #value)
    if found then return found end
  end
end

-- A copy of n values with the image replaced.
local function replaced(values, n, image, result)
  local copy, done = table.move(values, 1, n, 1, {}), false
  for i = 1, n do
    if rawequal(values[i], image) then
      copy[i] = result
      return copy, true
    elseif type(values[i]) == 'table' and not done then
      copy[i], done = replaced(values[i], #values[i], image, result)
      if done then return copy, true end
    end
  end
  return copy, false
end

-- Whether a call changes the image.
function Transform:_applies() return true end

function Transform:forward(...)
  local n, given = select('#', ...), { ... }
  local image = first_image(given, n)
  if not image then
    fail('%s(): expected an image as a tensor of shape (..., C, H, W), or a list that contains one, got %s', self.__classname, torch.type((...)))
  end
  if not self:_applies() then return ... end
  local result = self:transform(image, self:make_params(image))
  if n == 1 and rawequal(image, given[1]) then return result end
  return table.unpack((replaced(given, n, image, result)), 1, n)
end

local function text_of(value, is_list)
  if type(value) == 'string' then return value end
  local text = python.repr(value)
  return is_list and type(value) == 'table' and text:gsub('^%((.-),?%)$', '[%1]') or text
end

function Transform:extra_repr()
  local parts = {}
  for name, list in self._shown:gmatch '([%w_]+)(%[?%]?)' do
    local value = self[name]
    if value ~= nil then parts[#parts + 1] = ('%s=%s'):format(name, text_of(value, list ~= '')) end
  end
  return table.concat(parts, ', ')
end

-- Derives the class of a transform that is applied with probability p.
function Transform._with_probability(name)
  local class = Transform:extend(name)
  class._shown = 'p'
  function class:_set_probability(p)
    if p < 0 or p > 1 then fail('%s(): p must be a probability from 0 to 1, got %s', name, tostring(p)) end
    self.p = p
  end
  function class:_applies() return torch.rand(1):item() < self.p end
  return class
end

return Transform
