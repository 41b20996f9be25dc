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
add_histogram.values: Tensor, list or number whose distribution is stored.
bins: Edges of the bins: `'tensorflow'`, powers of 1.1; `'auto'`, `'fd'`, `'sturges'` or `'sqrt'`, as in NumPy; their number; or a list of edges.
max_bins: Number of bins above which neighbours are joined.
img_tensor: Image, of the shape that `dataformats` names.
add_images.img_tensor: Images, of shape (N, C, H, W).
dataformats: Order of the dimensions: `'CHW'`, `'HWC'` or `'HW'`.
snd_tensor: Samples from -1 to 1.
sample_rate: Number of samples per second.
text_string: Text.
figure: Figure of `torch.utils.plot`, or a list of figures, which are drawn side by side.
close: Without effect, since a figure need not be closed.
labels: Whether each element is of the class: 1 or 0.
predictions: Probability of the class for each element, from 0 to 1.
num_thresholds: Number of thresholds of the curve, at most 127.
weights: Weight of each element; 1 if absent.
hparam_dict: Hyperparameters: numbers, strings and booleans by their names.
metric_dict: Metrics of the run: numbers by their names.
hparam_domain_discrete: Lists of the values that hyperparameters may have, by their names.
run_name: Folder of the run in the folder of the writer; the time if absent.
mat: Points, of shape (N, D).
metadata: List with the label of each point, or with a list of labels for each.
label_img: Image of each point, of shape (N, C, H, W).
add_embedding.tag: Name of the embedding.
metadata_header: Names of the labels, if each point has a list of them.
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
local fields = require 'torch.files.protobuf'
local kinds = require 'torch.support.argument_kinds'
local outside = require 'torch.files.outside'
local histogram = require 'torch.utils.tensorboard_histogram'
local pictures = require 'torch.utils.plot.picture'
local plugins = require 'torch.utils.tensorboard_plugins'

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

local integer, double, float, text = fields.integer, fields.double, fields.float, fields.text
local function value(tag, content) return text(1, text(1, tag) .. content) end

-- ---- contents -----------------------------------------------------------------------------------

local function number_of(what, name, x)
  if torch.is_tensor(x) then
    if x:numel() ~= 1 then
      fail("%s(): argument '%s' must be a number or a tensor of one element, got shape [%s]", what, name, table.concat(x.shape, ', '))
    end
    x = x:item()
  end
  if type(x) == 'boolean' then x = x and 1 or 0 end
  kinds.check(what, name, x, 'number')
  return x
end

-- The content of a picture {width, height, data} of raster.lua.
local function picture_content(picture)
  return text(4, integer(1, picture.height) .. integer(2, picture.width) .. integer(3, 3) .. text(4, pictures.png(picture)))
end

-- A picture [channels, height, width] of bytes, or of numbers from 0 to 1, with its bytes.
local function picture_of(what, image)
  if image.ndim ~= 3 or image:size(1) ~= 1 and image:size(1) ~= 3 then
    fail('%s: expected an image of 1 or 3 channels, got %s', what, tostring(image.shape))
  end
  image = image:detach():cpu()
  if image:is_floating_point() then image = (image * 255):clamp({ min = 0, max = 255 }) end
  local height, width = image:size(2), image:size(3)
  local pixels = image:to(torch.uint8):expand(3, height, width):permute(2, 3, 1):contiguous()
  return { width = width, height = height, data = torch._C.tensor_bytes(pixels) }
end

local function image_content(what, image, form)
  form = form:upper()
  if form == 'HW' then image = image:unsqueeze(1) elseif form == 'HWC' then image = image:permute(3, 1, 2) elseif form ~= 'CHW' then
    fail("%s: dataformats must be 'CHW', 'HWC' or 'HW', got %s", what, form)
  end
  return picture_content(picture_of(what, image))
end

-- Pictures side by side, on white.
local function beside(list)
  local height, width, rows = 0, 0, {}
  for _, picture in ipairs(list) do height, width = math.max(height, picture.height), width + picture.width end
  for y = 1, height do
    local parts = {}
    for i, picture in ipairs(list) do
      local stride = 3 * picture.width
      parts[i] = y <= picture.height and picture.data:sub((y - 1) * stride + 1, y * stride) or ('\255'):rep(stride)
    end
    rows[y] = table.concat(parts)
  end
  return { width = width, height = height, data = table.concat(rows) }
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
  self._suffix, self._parts, self._embeddings = filename_suffix, {}, ''
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
  local event = double(1, walltime or os.time())
  if step then event = event .. integer(2, step) end
  self:_check(self._file:write(record(event .. content)))
end

function SummaryWriter:_check(ok, problem)
  if not ok then fail('%s: %s', self.path, problem) end
end

function SummaryWriter:_summary(tag, content, step, walltime)
  self:_event(text(5, value(tag, content)), step, walltime)
end

function SummaryWriter:get_logdir() return self.log_dir end

--- A number, or a one-element tensor.
function SummaryWriter:add_scalar(tag, scalar_value, global_step, walltime)
  self:_summary(tag, float(2, number_of('add_scalar', 'scalar_value', scalar_value)), global_step, walltime)
end

--- Several numbers by name, as lines of one chart; each has its own folder, as TensorBoard
--- requires.
function SummaryWriter:add_scalars(main_tag, tag_scalar_dict, global_step, walltime)
  for name, scalar in pairs(tag_scalar_dict) do
    local part = ('%s_%s'):format(main_tag:gsub('/', '_'), name)
    local folder = outside.path_inside(self.log_dir .. '/', part) or fail("add_scalars: '%s' is not a valid name of a folder in %s", part, self.log_dir)
    self._parts[folder] = self._parts[folder] or SummaryWriter(folder)
    self._parts[folder]:add_scalar(main_tag, number_of('add_scalars', 'tag_scalar_dict.' .. name, scalar), global_step, walltime)
  end
end

--- How the values of a tensor, or of a list of numbers, are distributed.
function SummaryWriter:add_histogram(tag, values, global_step, bins, walltime, max_bins)
  self:_summary(tag, histogram(torch.is_tensor(values) and values or torch.tensor(values), bins, max_bins), global_step, walltime)
end

--- A picture [channels, height, width] (dataformats 'HWC' and 'HW' too) of bytes, or of numbers
--- from 0 to 1.
function SummaryWriter:add_image(tag, img_tensor, global_step, walltime, dataformats)
  self:_summary(tag, image_content('add_image', img_tensor, dataformats), global_step, walltime)
end

--- Several pictures [n, channels, height, width] of one size, side by side.
function SummaryWriter:add_images(tag, img_tensor, global_step, walltime)
  if img_tensor.ndim ~= 4 then fail('add_images: expected a tensor of 4 dims, got %s', tostring(img_tensor.shape)) end
  self:_summary(tag, image_content('add_images', torch.cat(torch.unbind(img_tensor, 1), 3), 'CHW'), global_step, walltime)
end

--- Figures of torch.utils.plot as a picture.
function SummaryWriter:add_figure(tag, figure, global_step, _, walltime)
  local list = {}
  for i, entry in ipairs(type(figure) == 'table' and figure or { figure }) do
    if torch.type(entry) ~= 'Figure' then fail('add_figure(): expected a figure of torch.utils.plot or a list of them, got %s', kinds.described(entry)) end
    list[i] = entry:_picture()
  end
  if #list == 0 then fail 'add_figure(): the list of figures is empty' end
  self:_summary(tag, picture_content(beside(list)), global_step, walltime)
end

--- A precision-recall curve of a class: the counts of right and wrong decisions at each threshold.
function SummaryWriter:add_pr_curve(tag, labels, predictions, global_step, num_thresholds, weights, walltime)
  self:_summary(tag, plugins.pr_curve(labels, predictions, num_thresholds, weights), global_step, walltime)
end

-- A folder below that of the writer.
function SummaryWriter:_folder(what, name)
  return outside.path_inside(self.log_dir .. '/', name) or fail("%s(): '%s' is not a valid name of a folder in %s", what, name, self.log_dir)
end

--- The hyperparameters of a run and its metrics, which TensorBoard compares between runs. Each call
--- writes a run of its own.
function SummaryWriter:add_hparams(hparam_dict, metric_dict, hparam_domain_discrete, run_name, global_step)
  local metrics = {}
  for name, metric in pairs(metric_dict) do metrics[name] = number_of('add_hparams', 'metric_dict.' .. name, metric) end
  local values = plugins.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
  written = written + 1
  local run <close> = SummaryWriter(self:_folder('add_hparams', run_name or ('%d.%d'):format(os.time(), written)))
  for _, value_of in ipairs(values) do run:_summary(value_of[1], value_of[2], global_step) end
  for _, name in ipairs(plugins.names_of(metric_dict)) do run:add_scalar(name, metrics[name], global_step) end
end

--- Points for TensorBoard's projector, with labels and images; as files in the folder of the writer.
function SummaryWriter:add_embedding(mat, metadata, label_img, global_step, tag, metadata_header)
  if mat.ndim ~= 2 or mat:numel() == 0 then
    fail('add_embedding(): mat must have the shape (N, D) and at least one point, got %s', tostring(mat.shape))
  end
  local step = ('%05d'):format(global_step or 0)
  local name = step .. '/' .. tag:gsub('[%%/\\]', function(c) return ('%%%02x'):format(c:byte()) end)
  local folder, n = self:_folder('add_embedding', name), mat:size(1)
  local labels = metadata and plugins.labels_of(metadata, metadata_header, n)
  local sprite = label_img and picture_of('add_embedding', plugins.sprite_of(label_img:detach():cpu(), n))
  outside.make_folder(folder)
  outside.write_file(folder .. '/tensors.tsv', plugins.table_of(mat:detach():cpu()))
  if labels then outside.write_file(folder .. '/metadata.tsv', labels) end
  if sprite then outside.write_file(folder .. '/sprite.png', pictures.png(sprite)) end
  self._embeddings = self._embeddings .. plugins.embedding_entry(tag .. ':' .. step, name, labels ~= nil,
    label_img and { label_img:size(4), label_img:size(3) })
  outside.write_file(self.log_dir .. '/projector_config.pbtxt', self._embeddings)
end

--- Text, shown as Markdown.
function SummaryWriter:add_text(tag, text_string, global_step, walltime)
  self:_summary(tag .. '/text_summary', text_content(text_string), global_step, walltime)
end

--- Sound [channels, frames] of numbers from -1 to 1.
function SummaryWriter:add_audio(tag, snd_tensor, global_step, sample_rate, walltime)
  local sound = snd_tensor.ndim == 1 and snd_tensor:unsqueeze(1) or snd_tensor
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

declare.methods(SummaryWriter, [[
  add_scalar(self, string tag, any scalar_value, integer? global_step, number? walltime)
  add_scalars(self, string main_tag, table tag_scalar_dict, integer? global_step, number? walltime)
  add_histogram(self, string tag, Tensor|times|number values, integer? global_step, string|integer|times bins='tensorflow', number? walltime, integer? max_bins)
  add_image(self, string tag, Tensor img_tensor, integer? global_step, number? walltime, string dataformats='CHW')
  add_images(self, string tag, Tensor img_tensor, integer? global_step, number? walltime)
  add_text(self, string tag, string text_string, integer? global_step, number? walltime)
  add_audio(self, string tag, Tensor snd_tensor, integer? global_step, integer sample_rate=44100, number? walltime)
  add_figure(self, string tag, userdata|table figure, integer? global_step, boolean close=true, number? walltime)
  add_pr_curve(self, string tag, Tensor|table labels, Tensor|table predictions, integer? global_step, integer num_thresholds=127, Tensor|table? weights,
    number? walltime)
  add_hparams(self, table hparam_dict, table metric_dict, table hparam_domain_discrete={}, string? run_name, integer? global_step)
  add_embedding(self, Tensor mat, list? metadata, Tensor? label_img, integer? global_step, string tag='default', list? metadata_header)
]])

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
