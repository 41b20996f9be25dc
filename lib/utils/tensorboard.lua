-- tensorboard.lua - torch.utils.tensorboard.SummaryWriter: event files for TensorBoard. A file is a
-- sequence of records (length, masked CRC32C of the length, message, masked CRC32C of the message);
-- the messages are TensorFlow's Event protocol buffers, of which only the required fields are
-- written.

--[=[ arguments
log_dir: Folder of the event file; a new one below runs/ if absent.
comment: Text at the end of the default folder's name.
filename_suffix: Text at the end of the file's name.
tag: Name of the series.
main_tag: Name in front of the names of the series.
scalar_value: Number.
tag_scalar_dict: Numbers by the names of their series.
numbers: Values; their distribution is stored.
img_tensor: Image, of the shape that `dataformats` names.
add_images.img_tensor: Images, of shape (N, C, H, W).
dataformats: Order of the dimensions: `'CHW'`, `'HWC'` or `'HW'`.
snd_tensor: Samples from -1 to 1.
sample_rate: Number of samples per second.
text_string: Text.
model: Module with the graph to store.
input_to_model: Arguments of the module.
global_step: Number of the step.
walltime: Time in seconds since 1970; now if absent.
close(): Writes the pending records and closes the file.
get_logdir(): The folder of the event file.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local fields = require 'torch.support.protobuf'
local kinds = require 'torch.support.argument_kinds'
local outside = require 'torch.files.outside'

local M = {}

-- ---- records ------------------------------------------------------------------------------------

-- CRC32C (Castagnoli), its polynomial reversed.
local remainders = {}
for i = 0, 255 do
  local c = i
  for _ = 1, 8 do c = c & 1 == 1 and (c >> 1) ~ 0x82F63B78 or c >> 1 end
  remainders[i] = c
end

local function crc32c(bytes)
  local c, byte = 0xFFFFFFFF, string.byte
  for i = 1, #bytes do c = remainders[(c ~ byte(bytes, i)) & 0xFF] ~ (c >> 8) end
  return c ~ 0xFFFFFFFF
end

local function masked(bytes)
  local c = crc32c(bytes)
  return (((c >> 15) | (c << 17)) + 0xA282EAD8) & 0xFFFFFFFF
end

local function record(message)
  local length = string.pack('<I8', #message)
  return length .. string.pack('<I4', masked(length)) .. message .. string.pack('<I4', masked(message))
end

-- ---- protocol buffers ---------------------------------------------------------------------------

local integer, double, float, text, doubles = fields.integer, fields.double, fields.float, fields.text, fields.doubles
local function value(tag, content) return text(1, text(1, tag) .. content) end

-- ---- contents -----------------------------------------------------------------------------------

local function number_of(what, x)
  if torch.is_tensor(x) and x:numel() == 1 then x = x:item() end
  if type(x) == 'boolean' then x = x and 1 or 0 end
  kinds.check(what, 'scalar_value', x, 'number')
  return x
end

-- A picture [channels, height, width] of bytes, or of numbers from 0 to 1, as PNG.
local function image_content(what, image, form)
  kinds.check(what, 'img_tensor', image, 'Tensor')
  form = (form or 'CHW'):upper()
  image = image:detach():cpu()
  if form == 'HW' then image = image:unsqueeze(1) elseif form == 'HWC' then image = image:permute(3, 1, 2) elseif form ~= 'CHW' then
    fail("%s: dataformats must be 'CHW', 'HWC' or 'HW', got %s", what, form)
  end
  if image.ndim ~= 3 or image:size(1) ~= 1 and image:size(1) ~= 3 then
    fail('%s: expected an image of 1 or 3 channels, got %s', what, tostring(image.shape))
  end
  if image:is_floating_point() then image = (image * 255):clamp({ min = 0, max = 255 }) end
  local height, width = image:size(2), image:size(3)
  local pixels = image:to(torch.uint8):expand(3, height, width):permute(2, 3, 1):contiguous()
  local png = require('torch.utils.plot.picture').png { width = width, height = height, data = torch._C.tensor_bytes(pixels) }
  return text(4, integer(1, height) .. integer(2, width) .. integer(3, 3) .. text(4, png))
end

-- TensorFlow's edges of the parts of a histogram: 0, and on both sides powers of 1.1.
local edges
local function default_edges()
  if edges then return edges end
  local positive, v = {}, 1e-12
  while v < 1e20 do
    positive[#positive + 1] = v
    v = v * 1.1
  end
  edges = {}
  for i = #positive, 1, -1 do edges[#edges + 1] = -positive[i] end
  edges[#edges + 1] = 0.0
  table.move(positive, 1, #positive, #edges + 1, edges)
  return edges
end

-- The buckets from the first to the last nonempty one, preceded by an empty one.
local function histogram_content(values)
  local x = values:detach():cpu():reshape(-1):double()
  if x:numel() == 0 then fail 'The input has no element.' end
  if not x:isfinite():all():item() then fail 'The histogram is empty, please file a bug report: its values are not all finite.' end
  local limits = default_edges()
  local at = torch.bucketize(x, torch.tensor(limits, { dtype = torch.float64 }), { right = true }):tolist()
  local counts, first, last = {}, math.huge, 0
  for _, position in ipairs(at) do
    local part = math.max(position, 2)
    counts[part] = (counts[part] or 0) + 1
    first, last = math.min(first, part), math.max(last, part)
  end
  local rights, numbers = { limits[first - 1] }, { 0 }
  for part = first, math.min(last, #limits) do
    rights[#rights + 1], numbers[#numbers + 1] = limits[part], counts[part] or 0
  end
  return text(5, double(1, x:min():item()) .. double(2, x:max():item()) .. double(3, x:numel()) .. double(4, x:sum():item())
    .. double(5, x:square():sum():item()) .. doubles(6, rights) .. doubles(7, numbers))
end

-- A text for TensorBoard's text plugin: a tensor of one string.
local function text_content(s)
  local metadata = text(9, text(1, text(1, 'text')))
  return metadata .. text(8, integer(1, 7) .. text(2, text(2, integer(1, 1))) .. text(8, s))
end

-- ---- the writer ---------------------------------------------------------------------------------

local written = 0

--- SummaryWriter(log_dir, {comment = '', filename_suffix = ''}): writes a new file in log_dir (by
--- default runs/DATE_TIME and the comment). Steps are values, from 0. Call close(), or use a
--- <close> variable.
local SummaryWriter = class.Object:extend 'SummaryWriter'
M.SummaryWriter = SummaryWriter

function SummaryWriter:init(log_dir, comment, filename_suffix)
  self.log_dir = log_dir or os.date('runs/%b%d_%H-%M-%S') .. comment
  self._suffix, self._parts = filename_suffix, {}
  outside.make_folder(self.log_dir)
  self:_begin()
end
declare.methods(SummaryWriter, "init(self, string? log_dir, string comment='', *, string filename_suffix='')")

function SummaryWriter:_begin()
  written = written + 1
  self.path = ('%s/events.out.tfevents.%d.%s.%d%s'):format(self.log_dir, os.time(), os.getenv 'HOSTNAME' or 'localhost', written, self._suffix)
  local file, message = outside.open(self.path, 'wb')
  if not file then fail('SummaryWriter: %s', message) end
  self._file = file
  self:_event(text(3, 'brain.Event:2'))
end

function SummaryWriter:_event(content, step, walltime)
  if not self._file then self:_begin() end
  kinds.check('SummaryWriter', 'global_step', step, 'number?')
  local event = double(1, walltime or os.time())
  if step then event = event .. integer(2, math.tointeger(step) or fail('SummaryWriter: a step must be whole, not %s', tostring(step))) end
  self:_check(self._file:write(record(event .. content)))
end

function SummaryWriter:_check(ok, problem)
  if not ok then fail('%s: %s', self.path, problem) end
end

function SummaryWriter:_summary(tag, content, step, walltime)
  kinds.check('SummaryWriter', 'tag', tag, 'string')
  self:_event(text(5, value(tag, content)), step, walltime)
end

function SummaryWriter:get_logdir() return self.log_dir end

--- A number, or a one-element tensor.
function SummaryWriter:add_scalar(tag, scalar_value, global_step, walltime)
  self:_summary(tag, float(2, number_of('add_scalar', scalar_value)), global_step, walltime)
end

--- Several numbers by name, as lines of one chart; each has its own folder, as TensorBoard
--- requires.
function SummaryWriter:add_scalars(main_tag, tag_scalar_dict, global_step, walltime)
  kinds.check('add_scalars', 'tag_scalar_dict', tag_scalar_dict, 'table')
  for name, scalar in pairs(tag_scalar_dict) do
    local part = ('%s_%s'):format(main_tag:gsub('/', '_'), name)
    local folder = outside.path_inside(self.log_dir .. '/', part) or fail("add_scalars: '%s' is not a valid name of a folder in %s", part, self.log_dir)
    self._parts[folder] = self._parts[folder] or SummaryWriter(folder)
    self._parts[folder]:add_scalar(main_tag, scalar, global_step, walltime)
  end
end

--- How the values of a tensor, or of a list of numbers, are distributed.
function SummaryWriter:add_histogram(tag, numbers, global_step, walltime)
  if type(numbers) == 'table' then numbers = torch.tensor(numbers) end
  kinds.check('add_histogram', 'values', numbers, 'Tensor')
  self:_summary(tag, histogram_content(numbers), global_step, walltime)
end

--- A picture [channels, height, width] (dataformats 'HWC' and 'HW' too) of bytes, or of numbers
--- from 0 to 1.
function SummaryWriter:add_image(tag, img_tensor, global_step, walltime, dataformats)
  if type(walltime) == 'table' then walltime, dataformats = walltime.walltime, walltime.dataformats end
  self:_summary(tag, image_content('add_image', img_tensor, dataformats), global_step, walltime)
end

--- Several pictures [n, channels, height, width] of one size, side by side.
function SummaryWriter:add_images(tag, img_tensor, global_step, walltime)
  kinds.check('add_images', 'img_tensor', img_tensor, 'Tensor')
  if img_tensor.ndim ~= 4 then fail('add_images: expected a tensor of 4 dims, got %s', tostring(img_tensor.shape)) end
  self:_summary(tag, image_content('add_images', torch.cat(torch.unbind(img_tensor, 1), 3)), global_step, walltime)
end

--- Text, shown as Markdown.
function SummaryWriter:add_text(tag, text_string, global_step, walltime)
  kinds.check('add_text', 'text_string', text_string, 'string')
  kinds.check('add_text', 'tag', tag, 'string')
  self:_summary(tag .. '/text_summary', text_content(text_string), global_step, walltime)
end

--- Sound [channels, frames] of numbers from -1 to 1.
function SummaryWriter:add_audio(tag, snd_tensor, global_step, sample_rate, walltime)
  kinds.check('add_audio', 'snd_tensor', snd_tensor, 'Tensor')
  local sound = snd_tensor.ndim == 1 and snd_tensor:unsqueeze(1) or snd_tensor
  sample_rate = sample_rate or 44100
  local wav = torch.audio.wav_bytes(sound, sample_rate)
  self:_summary(tag, text(6, float(1, sample_rate) .. integer(2, sound:size(1)) .. integer(3, sound:size(2)) .. text(4, wav)
    .. text(5, 'audio/wav')), global_step, walltime)
end

--- The operations of model(input_to_model...), a tensor or a table of the arguments, as a graph
--- with a node for each input, parameter, operation and output, grouped by modules. The call is
--- recorded as for torch.onnx.export, with the same errors.
function SummaryWriter:add_graph(model, input_to_model)
  self:_event(text(4, require('torch.utils.tensorboard_graph')(model, input_to_model)))
end

--- Writes buffered events.
function SummaryWriter:flush()
  if self._file then self:_check(self._file:flush()) end
  for _, part in pairs(self._parts) do part:flush() end
end

function SummaryWriter:close()
  local file = self._file
  self._file = nil
  if file then self:_check(file:close()) end -- writes the buffered records
  for _, part in pairs(self._parts) do part:close() end
end
class.metatables[SummaryWriter].__close = function(self) self:close() end

return M
