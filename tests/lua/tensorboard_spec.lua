-- tensorboard_spec.lua - torch.utils.tensorboard: the files are read again here, record by record, checksums included;
-- torch.hub of a local folder.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local SummaryWriter = torch.utils.tensorboard.SummaryWriter

-- CRC32C bit by bit, as its definition has it.
local function crc32c(bytes)
  local c = 0xFFFFFFFF
  for i = 1, #bytes do
    c = c ~ bytes:byte(i)
    for _ = 1, 8 do c = c & 1 == 1 and (c >> 1) ~ 0x82F63B78 or c >> 1 end
  end
  return c ~ 0xFFFFFFFF
end

local function unmasked(c)
  c = (c - 0xA282EAD8) & 0xFFFFFFFF
  return ((c >> 17) | (c << 15)) & 0xFFFFFFFF
end

-- The fields of a protocol buffer: { [number] = { values } }.
local function fields_of(bytes)
  local fields, at = {}, 1
  local function varint()
    local n, shift = 0, 0
    repeat
      local b = bytes:byte(at)
      n, shift, at = n | (b & 0x7F) << shift, shift + 7, at + 1
    until b < 0x80
    return n
  end
  while at <= #bytes do
    local key = varint()
    local field, kind, value = key >> 3, key & 7, nil
    if kind == 0 then value = varint()
    elseif kind == 1 then value, at = string.unpack('<d', bytes, at)
    elseif kind == 5 then value, at = string.unpack('<f', bytes, at)
    else
      local n = varint()
      value, at = bytes:sub(at, at + n - 1), at + n
    end
    fields[field] = fields[field] or {}
    table.insert(fields[field], value)
  end
  return fields
end

-- The events of a file, whose checksums must be right.
local function events_of(path)
  local file = assert(io.open(path, 'rb'))
  local bytes, at, events = file:read 'a', 1, {}
  file:close()
  while at <= #bytes do
    local length, length_crc, data_crc, data
    length, length_crc, at = string.unpack('<I8I4', bytes, at)
    assert.equal(crc32c(string.pack('<I8', length)), unmasked(length_crc))
    data, at = bytes:sub(at, at + length - 1), at + length
    data_crc, at = string.unpack('<I4', bytes, at)
    assert.equal(crc32c(data), unmasked(data_crc))
    events[#events + 1] = fields_of(data)
  end
  return events
end

local function summary_of(event) return fields_of(fields_of(event[5][1])[1][1]) end

local function hex(bytes) return (bytes:gsub('.', function(c) return ('%02x'):format(c:byte()) end)) end

-- The summaries of a file, as PyTorch's Summary in hexadecimal.
local function summaries_of(path)
  local list = {}
  for _, event in ipairs(events_of(path)) do
    if event[5] then list[#list + 1] = hex(event[5][1]) end
  end
  return list
end

local function doubles(bytes)
  local list = {}
  for at = 1, #bytes, 8 do list[#list + 1] = (string.unpack('<d', bytes, at)) end
  return list
end

describe('SummaryWriter\'s plugins', function()
  local folder, writer

  local function content_of(name)
    local file = assert(io.open(folder .. '/' .. name, 'rb'))
    local bytes = file:read 'a'
    file:close()
    return bytes
  end

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    writer = SummaryWriter(folder)
  end)
  after_each(function()
    writer:close()
    os.execute(("rm -r '%s'"):format(folder))
  end)

  -- The expected bytes are PyTorch 2.13's.
  it('add_hparams writes a run with hyperparameters and metrics, with the bytes of PyTorch', function()
    writer:add_hparams({ lr = 0.1, name = 'adam', layers = 2 }, { acc = torch.tensor(0.5) }, { lr = { 0.1, 0.2 } }, 'run', 7)
    local list = io.popen(("ls '%s'/run"):format(folder))
    local path = folder .. '/run/' .. list:read 'l'
    list:close()
    local written = summaries_of(path)
    assert.equal(4, #written)
    assert.equal('0a660a145f68706172616d735f2f6578706572696d656e744a4e0a4c0a0768706172616d731241123f220a0a066c61796572732003221e0a026c7220032a160a09119a9999999999b93f0a'
      .. '09119a9999999999c93f22080a046e616d6520012a070a051203616363', written[1])
    assert.equal('0a650a1c5f68706172616d735f2f73657373696f6e5f73746172745f696e666f4a450a430a0768706172616d7312381a360a130a066c61796572731209110000000000000040'
      .. '0a0f0a026c721209119a9999999999b93f0a0e0a046e616d6512061a046164616d', written[2])
    assert.equal('0a2f0a1a5f68706172616d735f2f73657373696f6e5f656e645f696e666f4a110a0f0a0768706172616d73120422020801', written[3])
    local events = events_of(path)
    assert.same({ 'acc', 0.5, 7 }, { summary_of(events[5])[1][1], summary_of(events[5])[2][1], events[5][2][1] })
    writer:add_hparams({ flag = true }, {})
    writer:add_hparams({ flag = false }, {})
    local count = io.popen(("ls '%s' | wc -l"):format(folder))
    assert.equal(4, tonumber(count:read 'l')) -- the writer's file and three runs
    count:close()
    fails_with("add_hparams(): 'f' must be a number, a string, true or false, not a function", writer.add_hparams, writer, { f = print }, {})
    fails_with("hparam_domain_discrete has 'x', which hparam_dict lacks", writer.add_hparams, writer, { lr = 1 }, {}, { x = { 1 } })
    fails_with("must be of the type of its value, number, not string", writer.add_hparams, writer, { lr = 1 }, {}, { lr = { 'a' } })
    fails_with("'../x' is not a valid name of a folder", writer.add_hparams, writer, { lr = 1 }, {}, { run_name = '../x' })
  end)

  it('add_pr_curve writes the counts at each threshold, with the bytes of PyTorch', function()
    writer:add_pr_curve('pr', torch.tensor { 1, 0, 1, 1, 0, 0 }, torch.tensor { .9, .1, .6, .4, .5, 1.0 }, 3, 5)
    writer:add_pr_curve('more', { 1, 0 }, { 0.25, 0.75 }, { weights = { 2, 3 }, num_thresholds = 500 })
    writer:flush()
    local written = summaries_of(writer.path)
    assert.equal('0aa0010a0270724286010801120812020806120208052a780000404000004040000000400000803f000000000000404000000040000000400000803f0000803f000000000000803f'
      .. '0000803f000000400000004000000000000000000000803f00000040000040400000003f9a99193f0000003f0000003f000000000000803f0000803fabaa2a3fabaaaa3e00000000'
      .. '4a110a0f0a0970725f63757276657312021005', written[1])
    assert.truthy(written[2]:find('4a110a0f0a0970725f6375727665731202107f', 1, true)) -- 127 thresholds
    fails_with('predictions must be probabilities from 0 to 1, got -1 to 3; call sigmoid() for logits', writer.add_pr_curve, writer, 'x', { 0, 1 }, { -1, 3 })
    fails_with('3 labels for 2 predictions', writer.add_pr_curve, writer, 'x', { 0, 1, 1 }, { 0, 1 })
    fails_with('num_thresholds must be at least 2, got 1', writer.add_pr_curve, writer, 'x', { 0 }, { 1 }, { num_thresholds = 1 })
  end)

  it('add_embedding writes the files of the projector', function()
    local images = torch.arange(3):reshape(3, 1, 1, 1):expand(3, 3, 4, 5):to(torch.uint8)
    writer:add_embedding(torch.arange(6, { dtype = torch.float32 }):reshape(3, 2) / 3, { 'a', 'b', 'c\td' }, images, 2, 'em/"b"')
    writer:add_embedding(torch.arange(6):reshape(3, 2), { { 'a', 1 }, { 'b', 2 }, { 'c', 3 } }, { metadata_header = { 'x', 'n' } })
    assert.equal('0.0\t0.3333333432674408\n0.6666666865348816\t1.0\n1.3333333730697632\t1.6666666269302368\n', content_of '00002/em%2f"b"/tensors.tsv')
    assert.equal('a\nb\nc d\n', content_of '00002/em%2f"b"/metadata.tsv')
    assert.equal('x\tn\na\t1\nb\t2\nc\t3\n', content_of '00000/default/metadata.tsv')
    assert.equal('embeddings {\n  tensor_name: "em/\\"b\\":00002"\n  metadata_path: "00002/em%2f\\"b\\"/metadata.tsv"\n  sprite {\n'
      .. '    image_path: "00002/em%2f\\"b\\"/sprite.png"\n    single_image_dim: 5\n    single_image_dim: 4\n  }\n'
      .. '  tensor_path: "00002/em%2f\\"b\\"/tensors.tsv"\n}\nembeddings {\n  tensor_name: "default:00000"\n  metadata_path: "00000/default/metadata.tsv"\n'
      .. '  tensor_path: "00000/default/tensors.tsv"\n}\n', content_of 'projector_config.pbtxt')
    local sprite = torch.utils.data.read_image(folder .. '/00002/em%2f"b"/sprite.png')
    assert.same({ 3, 10, 10 }, { table.unpack(sprite.shape) })
    assert.same({ 0, 1, 2, 0 }, { sprite[{ 1, 1, 1 }]:item(), sprite[{ 2, 4, 10 }]:item(), sprite[{ 3, 8, 1 }]:item(), sprite[{ 1, 10, 10 }]:item() })
    fails_with('metadata has 2 labels for 3 points', writer.add_embedding, writer, torch.ones(3, 2), { 'a', 'b' })
    fails_with('label_img has 2 images for 3 points', writer.add_embedding, writer, torch.ones(3, 2), { label_img = torch.ones(2, 3, 4, 4) })
    fails_with('mat must have the shape (N, D) and at least one point, got torch.Size([3])', writer.add_embedding, writer, torch.ones(3))
    fails_with('label 1 of metadata must be a list of 2 values', writer.add_embedding, writer, torch.ones(1, 2), { 'a' }, { metadata_header = { 'x', 'y' } })
    fails_with("'00000/..' is not a valid name of a folder", writer.add_embedding, writer, torch.ones(1, 2), { tag = '..' })
  end)

  it('add_figure draws figures of torch.utils.plot', function()
    local plot = torch.utils.plot
    local lines, image = plot.lines { 1, 3, 2 }, plot.image(torch.full({ 1, 2, 2 }, 7, { dtype = torch.uint8 }))
    writer:add_figure('one', lines, 4)
    writer:add_figure('two', { image, lines }, 5)
    writer:flush()
    local events = events_of(writer.path)
    local one, two = fields_of(summary_of(events[2])[4][1]), fields_of(summary_of(events[3])[4][1])
    assert.same({ 400, 640 }, { one[1][1], one[2][1] })
    assert.same({ 400, 640 + 256 }, { two[1][1], two[2][1] })
    local drawn = torch.utils.data.decode_image(two[4][1])
    assert.is_true(torch.equal(torch.utils.data.decode_image(one[4][1]), drawn:narrow(3, 257, 640)))
    assert.same({ 7, 255 }, { drawn[{ 1, 256, 256 }]:item(), drawn[{ 1, 257, 1 }]:item() })
    fails_with('expected a figure of torch.utils.plot or a list of them, got a Tensor', writer.add_figure, writer, 'x', torch.ones(3))
  end)
end)

describe('SummaryWriter', function()
  it('draws a module by its operations', function()
    local folder = os.tmpname()
    os.remove(folder)
    local writer = SummaryWriter(folder)
    writer:add_graph(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU()), torch.ones(3, 4))
    writer:close()
    local graph = fields_of(events_of(writer.path)[2][4][1])
    os.execute(("rm -r '%s'"):format(folder))
    local seen = {}
    for i, bytes in ipairs(graph[1]) do
      local node = fields_of(bytes)
      seen[i] = ('%s %s <- %s'):format(node[2][1], node[1][1], table.concat(node[3] or {}, ' '))
    end
    assert.same({ 'IO Node input/input_1 <- ', 'Parameter Sequential/0/weight <- ', 'Parameter Sequential/0/bias <- ',
      'aten::linear Sequential/0/linear <- input/input_1 Sequential/0/weight Sequential/0/bias',
      'aten::relu Sequential/1/relu <- Sequential/0/linear', 'IO Node output/output_1 <- Sequential/1/relu' }, seen)
    fails_with("add_graph(): argument 'model' must be", writer.add_graph, writer, 3, torch.ones(2))
  end)

  local folder = os.tmpname()
  os.remove(folder)

  it('SummaryWriter computes the masked CRC-32C', function() assert.equal(0xE3069283, crc32c '123456789') end)

  it('SummaryWriter writes files that TensorBoard reads', function()
    local writer = SummaryWriter(folder .. "/it's")
    writer:add_scalar('loss', torch.tensor(0.5), 3)
    writer:add_scalar('rate', 2, 300, 12.5)
    writer:add_histogram('weights', torch.tensor { 0.5, 0.5, -1.0, 0.0 }, 1)
    writer:add_text('note', 'hello', 2)
    writer:add_image('picture', torch.ones(3, 2, 4), 5)
    writer:add_audio('sound', torch.zeros(1, 8), 6, 8000)
    writer:add_images('pictures', torch.zeros(2, 1, 2, 2), 7)
    writer:close()
    local events = events_of(writer.path)
    assert.equal(8, #events)
    assert.equal('brain.Event:2', events[1][3][1])
    local loss = summary_of(events[2])
    assert.equal('loss', loss[1][1])
    assert.equal(0.5, loss[2][1])
    assert.equal(3, events[2][2][1])
    assert.equal(300, events[3][2][1])
    assert.equal(12.5, events[3][1][1])
    local histogram = fields_of(summary_of(events[4])[5][1])
    assert.same({ -1, 0.5, 4, 0, 1.5 }, { histogram[1][1], histogram[2][1], histogram[3][1], histogram[4][1], histogram[5][1] })
    local limits, counts, total = doubles(histogram[6][1]), doubles(histogram[7][1]), 0
    assert.equal(#limits, #counts)
    for i, n in ipairs(counts) do
      total = total + n
      if i > 1 then assert(limits[i] > limits[i - 1]) end
    end
    assert.equal(4, total)
    assert(limits[1] <= -1 and limits[#limits] > 0.5 and limits[#limits] < 0.6)
    assert.equal('note/text_summary', summary_of(events[5])[1][1])
    assert.equal('hello', fields_of(summary_of(events[5])[8][1])[8][1])
    local image = fields_of(summary_of(events[6])[4][1])
    assert.same({ 2, 4, 3 }, { image[1][1], image[2][1], image[3][1] })
    assert.equal('\x89PNG', image[4][1]:sub(1, 4))
    local sound = fields_of(summary_of(events[7])[6][1])
    assert.same({ 8000, 1, 8, 'audio/wav' }, { sound[1][1], sound[2][1], sound[3][1], sound[5][1] })
    assert.equal('RIFF', sound[4][1]:sub(1, 4))
    assert.equal(4, fields_of(summary_of(events[8])[4][1])[2][1])
  end)

  it('add_histogram has the bins of NumPy', function()
    local writer <close> = SummaryWriter(folder)
    local x = torch.tensor { 0.5, 0.5, -1, 0, 2, 3, 4, 4.5, 9, 1.25, 1.5, 1.75 }
    local function histogram_of(values, options)
      writer:add_histogram('h', values, 0, options)
      writer:flush()
      local events = events_of(writer.path)
      local fields = fields_of(summary_of(events[#events])[5][1])
      return { doubles(fields[7][1]), doubles(fields[6][1]) }
    end
    local five = { { 0, 4, 4, 3, 0, 1 }, { -1, 1, 3, 5, 7, 9 } }
    for _, bins in ipairs { 'auto', 'fd', 'sturges' } do assert.same(five, histogram_of(x, { bins = bins })) end
    local four = { { 0, 5, 4, 2, 1 }, { -1, 1.5, 4, 6.5, 9 } }
    assert.same(four, histogram_of(x, { bins = 'sqrt' }))
    assert.same(four, histogram_of(x, { bins = 4 }))
    assert.same({ { 0, 3, 3, 5 }, { 0, 1, 2, 9 } }, histogram_of(x, { bins = { 0, 1, 2, 9 } }))
    assert.same({ { 0, 9, 3 }, { -1, 4, 9 } }, histogram_of(x, { bins = 4, max_bins = 2 }))
    assert.same({ 0, 4, 3, 3, 3, 3, 4 }, histogram_of(torch.arange(20), { bins = 'auto' })[1])
    assert.same({ { 0, 4 }, { 0.5, 1.5 } }, histogram_of({ 1, 1, 1, 1 }, { bins = 'auto' }))
    fails_with("'square'", writer.add_histogram, writer, 'h', x, 1, { bins = 'square' })
    fails_with('the edges in bins must increase', writer.add_histogram, writer, 'h', x, 1, { bins = { 2, 1 } })
    fails_with('bins must have at least two edges, got 1', writer.add_histogram, writer, 'h', x, 1, { bins = { 2 } })
    fails_with('bins must be at least 1, got 0', writer.add_histogram, writer, 'h', x, 1, { bins = 0 })
    fails_with('max_bins must be at least 1, got 0', writer.add_histogram, writer, 'h', x, 1, { max_bins = 0 })
    fails_with('no value is between the edges', writer.add_histogram, writer, 'h', x, 1, { bins = { 20, 21 } })
  end)

  it('names the function and the argument of a wrong value', function()
    local writer <close> = SummaryWriter(folder)
    fails_with("add_scalar(): argument 'walltime' must be a number, not 'now'", writer.add_scalar, writer, 'x', 1, 3, 'now')
    fails_with("argument 'scalar_value' must be a number or a tensor of one element, got shape [2]", writer.add_scalar, writer, 'x', torch.ones(2), 1)
    fails_with("add_scalar() missing 1 required argument: 'tag'", writer.add_scalar, writer, nil, 3, 3)
    fails_with("add_hparams(): argument 'metric_dict.a' must be a number, not 'x'", writer.add_hparams, writer, { lr = 1 }, { a = 'x' })
    fails_with("add_scalars(): argument 'tag_scalar_dict.a' must be a number, not 'x'", writer.add_scalars, writer, 'm', { a = 'x' })
    fails_with("add_text(): argument 'walltime' must be a number", writer.add_text, writer, 't', 'x', 1, 'now')
  end)

  it('has a file for each line of a chart, and goes on in another after close', function()
    local writer = SummaryWriter(folder)
    writer:add_scalars('run', { sin = 0.1, cos = 0.9 }, 1)
    writer:close()
    local first = writer.path
    writer:add_scalar('x', 1)
    writer:close()
    assert.are_not.equal(first, writer.path)
    assert.equal('x', summary_of(events_of(writer.path)[2])[1][1])
    do
      local scope <close> = SummaryWriter(folder .. '/run_sin')
      scope:add_scalar('y', 1, 1)
    end
    fails_with("argument 'scalar_value' must be a number", function() writer:add_scalar('x', 'a') end)
    fails_with('expected an image of 1 or 3 channels', function() writer:add_image('x', torch.ones(2, 2, 2)) end)
    os.execute("rm -r '" .. folder .. "'")
  end)
end)

describe('torch.hub', function()
  it('makes models of a local folder', function()
    local folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir '" .. folder .. "'")
    local function write(name, text)
      local file = io.open(folder .. '/' .. name, 'w')
      file:write(text)
      file:close()
    end
    write('parts_of_hub.lua', 'return { size = 3 }')
    write('hubconf.lua', [[
      local parts = require 'parts_of_hub'
      local M = { dependencies = { 'torch' } }
      --- A layer
      -- of some width.
      function M.layer(width, options) return torch.nn.Linear(parts.size, width, options) end
      function M._hidden() end
      return M]])
    assert.same({ 'layer' }, torch.hub.list(folder))
    assert.equal(torch.Size { 5, 3 }, torch.hub.load(folder, 'layer', 5, { bias = false, source = 'local' }).weight.shape)
    assert.equal('A layer\nof some width.', torch.hub.help(folder, 'layer'))
    fails_with('Cannot find callable other in hubconf', torch.hub.load, folder, 'other')
    fails_with('Unknown source: "github". Allowed values: "local".', torch.hub.load, folder, 'layer', { source = 'github' })
    fails_with('has no hubconf.lua', torch.hub.list, folder .. '/none')
    os.execute("rm -r '" .. folder .. "'")
  end)
end)
