-- tensorboard_plugins.lua - the messages and files of TensorBoard's plugins for SummaryWriter:
-- hyperparameters (hparams), precision-recall curves (pr_curves) and embeddings (projector). The
-- messages have the bytes that PyTorch writes.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local fields = require 'torch.files.protobuf'
local kinds = require 'torch.support.argument_kinds'
local ordered_dict = require 'torch.support.ordered_dict'
local python = require 'torch.nn.python'

local integer, double, text = fields.integer, fields.double, fields.text

local M = {}

-- Field 9 of a summary's value: the plugin that shows it, with its data.
local function metadata(plugin, content) return text(9, text(1, text(1, plugin) .. text(2, content))) end

--- The names of a table; sorted, unless it is an ordered one.
function M.names_of(dict)
  if ordered_dict.is(dict) then return ordered_dict.names(dict) end
  local names = {}
  for name in pairs(dict) do
    if type(name) ~= 'string' then fail('add_hparams(): the names must be strings, got %s', kinds.described(name)) end
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- ---- hparams ------------------------------------------------------------------------------------

-- Codes of api.proto's DataType, and the fields of google.protobuf.Value.
local TYPES = {
  number = { code = 3, value = function(x) return double(2, x) end },
  string = { code = 1, value = function(x) return text(3, x) end },
  boolean = { code = 2, value = function(x) return integer(4, x and 1 or 0) end },
}

local function plain(name, value)
  if torch.is_tensor(value) and value:numel() == 1 then value = value:item() end
  if not TYPES[type(value)] then fail("add_hparams(): '%s' must be a number, a string, true or false, not %s", name, kinds.described(value)) end
  return value
end

-- ListValue of the values that a hyperparameter may have.
local function domain(name, list, value)
  local parts = {}
  kinds.check('add_hparams', 'hparam_domain_discrete.' .. name, list, 'table')
  for i, entry in ipairs(list) do
    if type(entry) ~= type(value) then
      fail("add_hparams(): the values of hparam_domain_discrete for '%s' must be of the type of its value, %s, not %s", name, type(value), type(entry))
    end
    parts[i] = text(1, TYPES[type(entry)].value(entry))
  end
  return text(5, table.concat(parts))
end

--- The three values that describe a run: its hyperparameters and the names of its metrics; the
--- start with the values; the successful end. Each is {tag, content}.
function M.hparams(hparam_dict, metric_dict, discrete)
  local infos, start, metrics = {}, {}, {}
  for name in pairs(discrete) do
    if hparam_dict[name] == nil then fail("add_hparams(): hparam_domain_discrete has '%s', which hparam_dict lacks", tostring(name)) end
  end
  for i, name in ipairs(M.names_of(hparam_dict)) do
    local value = plain(name, hparam_dict[name])
    local kind = TYPES[type(value)]
    infos[i] = text(4, text(1, name) .. integer(4, kind.code) .. (discrete[name] and domain(name, discrete[name], value) or ''))
    start[i] = text(1, text(1, name) .. text(2, kind.value(value)))
  end
  for i, name in ipairs(M.names_of(metric_dict)) do metrics[i] = text(5, text(1, text(2, name))) end
  return {
    { '_hparams_/experiment', metadata('hparams', text(2, table.concat(infos) .. table.concat(metrics))) },
    { '_hparams_/session_start_info', metadata('hparams', text(3, table.concat(start))) },
    { '_hparams_/session_end_info', metadata('hparams', text(4, integer(1, 1))) },
  }
end

-- ---- pr_curves ----------------------------------------------------------------------------------

local MOST_THRESHOLDS = 127 -- as in PyTorch
local LEAST_COUNT = 1e-7 -- avoids a division by 0

local function flat(what, values)
  if type(values) == 'table' then values = torch.tensor(values) end
  kinds.check('add_pr_curve', what, values, 'Tensor')
  return values:detach():cpu():flatten()
end

--- The content of a precision-recall curve: a tensor of six rows, true and false positives, true
--- and false negatives, precision, recall, at each threshold.
function M.pr_curve(labels, predictions, num_thresholds, weights)
  labels, predictions = flat('labels', labels):double(), flat('predictions', predictions)
  local n = math.min(num_thresholds, MOST_THRESHOLDS)
  if n < 2 then fail('add_pr_curve(): num_thresholds must be at least 2, got %d', num_thresholds) end
  if labels:numel() ~= predictions:numel() then
    fail('add_pr_curve(): %d labels for %d predictions', labels:numel(), predictions:numel())
  end
  if predictions:numel() == 0 then fail 'add_pr_curve(): there must be at least one prediction' end
  local low, high = predictions:min():item(), predictions:max():item()
  if not (low >= 0 and high <= 1) then
    fail('add_pr_curve(): predictions must be probabilities from 0 to 1, got %.4g to %.4g; call sigmoid() for logits', low, high)
  end
  local weight = weights and flat('weights', weights):double() or torch.ones(1, { dtype = torch.float64 })
  local bucket = (predictions * (n - 1)):floor():long() + 1
  -- The sums of all buckets from each one on.
  local function from_each(values)
    local sums = torch.zeros(n, { dtype = torch.float64 }):index_add(1, bucket, (values * weight):expand(bucket:numel()))
    return sums:flip(1):cumsum(1):flip(1)
  end
  local tp, fp = from_each(labels), from_each(1 - labels)
  local tn, fn = fp[1] - fp, tp[1] - tp
  local curve = torch.stack { tp, fp, tn, fn, tp / (tp + fp):clamp { min = LEAST_COUNT }, tp / (tp + fn):clamp { min = LEAST_COUNT } }
  local shape = text(2, text(2, integer(1, 6)) .. text(2, integer(1, n)))
  return text(8, integer(1, 1) .. shape .. text(5, torch._C.tensor_bytes(curve:float()))) .. metadata('pr_curves', integer(2, n))
end

-- ---- projector ----------------------------------------------------------------------------------

--- The lines of tensors.tsv: a row for each point.
function M.table_of(mat)
  local lines = {}
  for i, row in ipairs(mat:tolist()) do
    for j, value in ipairs(row) do row[j] = python.repr(value) end
    lines[i] = table.concat(row, '\t')
  end
  return table.concat(lines, '\n') .. '\n'
end

local function word(value) return (tostring(value):gsub('[\t\r\n]', ' ')) end

--- The lines of metadata.tsv: the label of each point, or its labels under a header.
function M.labels_of(labels, header, n)
  if #labels ~= n then fail('add_embedding(): metadata has %d labels for %d points', #labels, n) end
  local lines = {}
  for i, label in ipairs(labels) do
    if not header then
      lines[i] = word(label)
    else
      if type(label) ~= 'table' or #label ~= #header then
        fail('add_embedding(): label %d of metadata must be a list of %d values, as metadata_header, not %s', i, #header, kinds.described(label))
      end
      local words = {}
      for j, value in ipairs(label) do words[j] = word(value) end
      lines[i] = table.concat(words, '\t')
    end
  end
  if header then table.insert(lines, 1, table.concat(header, '\t')) end
  return table.concat(lines, '\n') .. '\n'
end

--- The images of all points in one, row by row, as many in a row as in a column; the remainder is
--- black.
function M.sprite_of(images, n)
  if images.ndim ~= 4 then fail('add_embedding(): label_img must have the shape (N, C, H, W), got %s', tostring(images.shape)) end
  if images:size(1) ~= n then fail('add_embedding(): label_img has %d images for %d points', images:size(1), n) end
  local height, width, side = images:size(3), images:size(4), math.ceil(math.sqrt(n))
  local sprite = torch.zeros({ images:size(2), math.max(side * height, side * width), side * width }, { dtype = images.dtype })
  for i = 0, n - 1 do
    sprite:narrow(2, i // side * height + 1, height):narrow(3, i % side * width + 1, width):copy_(images[i + 1])
  end
  return sprite
end

local function quoted(s)
  return '"' .. s:gsub('["\\]', '\\%0'):gsub('\n', '\\n'):gsub('[^\x20-\x7E]', function(c) return ('\\%03o'):format(c:byte()) end) .. '"'
end

--- An entry of projector_config.pbtxt. image: {width, height} of the image of a point.
function M.embedding_entry(name, folder, has_labels, image)
  local lines = { 'embeddings {', '  tensor_name: ' .. quoted(name) }
  if has_labels then lines[#lines + 1] = '  metadata_path: ' .. quoted(folder .. '/metadata.tsv') end
  if image then
    lines[#lines + 1] = ('  sprite {\n    image_path: %s\n    single_image_dim: %d\n    single_image_dim: %d\n  }'):format(quoted(folder .. '/sprite.png'), image[1], image[2])
  end
  lines[#lines + 1] = ('  tensor_path: %s\n}\n'):format(quoted(folder .. '/tensors.tsv'))
  return table.concat(lines, '\n')
end

return M
