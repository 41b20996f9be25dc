-- Names that come from files cannot give orders to the terminal: control characters in messages, in printed modules and values are escaped.

local torch = require 'torch'
local onnx = require 'support.onnx'
local process = require 'support.process'

local TITLE = '\27]0;owned\7' -- sets the title of a terminal
local EIGHT_BITS = '\xC2\x9B31m' -- U+009B begins a sequence, too
local NAME = 'a' .. TITLE .. 'b' .. EIGHT_BITS

-- Whether a text has a control character that is no line end or tab.
local function controls(text) return text:find '[\0-\8\11-\31\127]' ~= nil or text:find '\xC2[\x80-\x9F]' ~= nil end

local folder
local function write(name, text)
  local path = folder .. '/' .. name
  local file = assert(io.open(path, 'wb'))
  assert(file:write(text))
  assert(file:close())
  return path
end

-- JSON leaves control characters as \u escapes; readers give them back as they are.
local JSON_NAME = NAME:gsub('[\27\7]', function(c) return ('\\u%04x'):format(c:byte()) end)

describe('a name with control characters #cpu', function()
  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    os.execute('mkdir ' .. folder)
  end)
  teardown(function() os.execute('rm -r ' .. folder) end)

  local function safetensors(name)
    local header = ('{"%s": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}'):format(name)
    return write('x.safetensors', ('<I8'):pack(#header) .. header .. '0000')
  end
  local zip = require 'torch.files.zip'
  local function archive(name, ...)
    local path = folder .. '/' .. name
    local writer <close> = zip.create(path)
    for i = 1, select('#', ...), 2 do writer:add((select(i, ...)), { (select(i + 1, ...)) }) end
    writer:finish()
    return path
  end

  local cases = {
    ['of a safetensors file'] = function() torch.load(safetensors(JSON_NAME)) end,
    ['of an index of shards'] = function() torch.load(write('x.index.json', ('{"weight_map": {"%s": "../%s"}}'):format(JSON_NAME, JSON_NAME))) end,
    ['of an archive of NumPy'] = function() torch.load(archive('x.npz', NAME .. '.npy', 'nothing')) end,
    ['of a NumPy dtype'] = function()
      local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (1,)}\n"):format(NAME)
      torch.load(write('x.npy', '\x93NUMPY\1\0' .. ('<I2'):pack(#header) .. header))
    end,
    ['of a pickle'] = function() torch.load(archive('x.pt', 'x/data.pkl', '\x80\2c' .. NAME .. '\n' .. NAME .. '\n.', 'x/version', '3\n')) end,
    ['of a node of ONNX'] = function()
      torch.onnx.load(write('x.onnx', onnx.model { nodes = { { NAME, {}, { NAME } } }, inputs = {}, outputs = { { NAME, 1, {} } } }))
    end,
    ['of an input of ONNX'] = function()
      torch.onnx.load(write('y.onnx', onnx.model { nodes = { { 'Relu', { NAME }, { 'y' } } }, inputs = { { NAME, 1, { 2 } } },
        outputs = { { 'y', 1, { 2 } } } }))(torch.ones(3))
    end,
    ['of external data of ONNX'] = function()
      local data = onnx.bytes(13, onnx.bytes(1, 'location') .. onnx.bytes(2, '../' .. NAME)) .. onnx.int(14, 1)
      torch.onnx.load(write('z.onnx', onnx.model { nodes = {}, inputs = {}, outputs = {},
        initializers = { { NAME, torch.ones(2), { data = data } } } }))
    end,
    ['of a program of torch.export'] = function() torch.export.load(archive('x.pt2', 'x/models/m.json', ('{"graph_module": "%s"}'):format(JSON_NAME))) end,
    ['of a column of a table'] = function() torch.utils.data.csv.read(write('x.csv', NAME .. ',' .. NAME .. '\n1,2\n')) end,
    ['of a key of a state_dict'] = function() torch.nn.Linear(1, 1):load_state_dict { [NAME] = torch.ones(1) } end,
    ['of a file'] = function() torch.load('/none/' .. NAME) end,
    ['of an argument'] = function() torch.ones(2, { [NAME] = 1 }) end,
    ['of a device'] = function() torch.device(NAME) end,
    ['of a dimension of einsum'] = function() torch.einsum(NAME, torch.ones(2)) end,
    ['of a hub model'] = function()
      write('hubconf.lua', 'return {}')
      torch.hub.load(folder, NAME)
    end,
  }
  for what, f in pairs(cases) do
    it('is escaped in the error ' .. what, function()
      local ok, message = pcall(f)
      assert.is_false(ok)
      assert.is_false(controls(message), ('%q'):format(message))
    end)
  end

  it('is escaped in a printed module', function()
    local net = torch.nn.Sequential()
    net:add_module(NAME, torch.nn.Linear(1, 1))
    local dict = torch.nn.ParameterDict { [NAME] = torch.nn.Parameter(torch.ones(1)) }
    local model = torch.onnx.load(write('m.onnx', onnx.model { nodes = { { 'Relu', { NAME }, { 'y' } } }, inputs = { { NAME, 1, { 2 } } },
      outputs = { { 'y', 1, { 2 } } } }))
    for _, value in ipairs { net, dict, model } do
      local text = tostring(value)
      assert(text:find('a\\x1b]0;owned\\x07b\\x9b31m', 1, true), text)
      assert.is_false(controls(text))
    end
  end)

  it('is escaped where the program prints an error or a value', function()
    local path = safetensors(JSON_NAME)
    for _, code in ipairs { ('torch.load %q'):format(path), ('error %q'):format(NAME), ('x = { [%q] = %q } x.%s()'):format(NAME, NAME, 'y'),
      ('error(setmetatable({}, { __tostring = function() return %q end }))'):format(NAME) } do
      local output, message, status = process.lua(code)
      assert.is_not.equal(0, status)
      assert.is_false(controls(output .. message), ('%q'):format(output .. message))
      output, message = process.run(('printf "%%s\\n" %s | %s'):format(process.quote(code), process.ltensor))
      assert.is_false(controls(output .. message), ('%q'):format(output .. message))
    end
    local output, message = process.run(("printf '%%s\\n' %s | %s"):format(process.quote(('x = { [%q] = %q }\nx'):format(NAME, NAME)), process.ltensor))
    assert.is_false(controls(output .. message), ('%q'):format(output .. message))
  end)

  it('leaves line ends, tabs and characters of all languages as they are', function()
    local printable = torch._C.printable
    for _, text in ipairs { '', 'a\n\tb', 'äöü €', '😀 é', 'Ż', '\xC2', '\xFF' } do assert.equal(text, printable(text)) end
    assert.equal('\\x00\\x0d\\x7f\\x85', printable '\0\r\127\xC2\x85')
    assert.equal(('\\x1b'):rep(5000), printable(('\27'):rep(5000)))
  end)
end)
