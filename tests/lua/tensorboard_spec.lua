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

local function doubles(bytes)
  local list = {}
  for at = 1, #bytes, 8 do list[#list + 1] = (string.unpack('<d', bytes, at)) end
  return list
end

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
