-- Help and displayed values: signatures, modules, settings of objects, lines that fit the terminal.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local terminal = dofile(here .. '../support/terminal.lua')

-- Runs the lines through the prompt without a terminal: stdout, stderr.
local function type_lines(lines, options)
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write(lines)
  file:close()
  local out, err = process.run(('XDG_CONFIG_HOME=/nonexistent %s %s -i < %s'):format(process.quote(process.ltensor), options or '', path))
  os.remove(path)
  return out, err
end

local function has(text, part) assert(text:find(part, 1, true), ('%q is not in\n%s'):format(part, text)) end

describe('help #cpu', function()
  it('shows the declared arguments of a class, its own and not those of its parent', function()
    local out = type_lines '?nn.LSTM\n?nn.GRU\n?torch.optim.SGD\n?torch.utils.data.DataLoader\n'
    has(out, 'class nn.LSTM(integer input_size, integer hidden_size, integer num_layers=1,')
    has(out, 'bidirectional=false, integer proj_size=0, device? device, dtype? dtype)')
    has(out, 'class nn.GRU(integer input_size,')
    has(out, 'class torch.optim.SGD(parameters params, number|Tensor lr=0.001,')
    has(out, 'stochastic gradient descent')
    has(out, 'momentum   Factor of the momentum.')
    has(out, 'class torch.utils.data.DataLoader(data dataset, integer|boolean batch_size=1,')
    assert.is_nil(out:find('declares functions written in Lua', 1, true))
  end)

  it('describes the arguments of the function itself where functions of a file share names', function()
    local out = type_lines '?torch.vision.roi_align\n?torch.vision.nms\n?torch.utils.data.write_image\n?torch.vision.transforms.Resize\n'
    has(out, '  boxes           Regions, of shape (K, 5): the position of the image from 1,')
    has(out, '  boxes          Boxes {x1, y1, x2, y2}, of shape (N, 4).')
    has(out, '  input     Image, of shape (C, H, W) or (H, W): uint8, or floats from 0 to 1.')
    has(out, 'one number is the length')
  end)

  it("shows the parameters of a user's class, and of functions of the library", function()
    local out = type_lines 'Net = nn.Module:extend "Net"\nfunction Net:init(width, depth) self.width = width end\n?Net\n?torch.try_gpu\n?nn.functional.relu\n'
    has(out, 'class Net(width, depth)')
    has(out, 'torch.try_gpu(integer i=0)\nThe i-th GPU (from 0), otherwise the CPU.')
    has(out, 'nn.functional.relu(input, boolean inplace=false)')
  end)

  it('describes functions and constants that are written in C', function()
    local out = type_lines '?torch.tensor\nx = torch.ones(2)\n?x.item\n?torch.float32\n?torch.cuda.is_available\n?nn.functional.dropout\n?torch.cuda.Stream\n'
    has(out, 'tensor(data, options) -> torch.Tensor\nA tensor from a number, or from a table of numbers, nested by dimension.')
    has(out, 'data     Numbers, or a tensor to copy.')
    has(out, 'The only element as a number.')
    has(out, '32-bit float.')
    has(out, 'Whether there is a GPU, real or simulated.')
    has(out, 'In training zeroes elements with probability p')
    has(out, 'A new stream: a queue of work on a GPU that runs beside others.')
  end)

  it('has a sentence for every public function and class, without raw annotations', function()
    local names, lines = {}, {}
    for _, entry in ipairs(dofile(here .. '../support/public_functions.lua')()) do
      if not entry.is_method or entry.name:find '^torch%.Tensor' then
        names[#names + 1] = entry.name
        lines[#lines + 1] = ("print '=#=%s'\n?%s\n"):format(entry.name, entry.name)
      end
    end
    assert(#names > 1500, #names)
    local bare, n = {}, 0
    for name, text in type_lines(table.concat(lines)):gsub('=#=', '\1'):gmatch '\1(%S+)\n([^\1]*)' do
      n = n + 1
      local words = {}
      for line in text:gsub('In %[%d+%]: ?', ''):gsub('\nmembers:.*', ''):gmatch '[^\n]+' do
        if not line:find '^  ' then words[#words + 1] = line end
      end
      if not table.concat(words, ' ', 2):find '%a.*[.:;]' then bare[#bare + 1] = name end
    end
    assert(n > 1500, n)
    assert.same({}, bare)
    assert.is_nil(type_lines('?torch.onnx.load\n?torch.cuda.memory_summary\n?torch.save\n'):find('@param', 1, true))
  end)

  it('finds descriptions behind wrappers, of methods and of the op that a function calls', function()
    local out = type_lines '?torch.save\n?torch.nn.functional.max_pool2d\n?torch.Tensor.register_hook\n?torch.linalg.lstsq\n?torch.autograd.Function\n?torch.onnx.load\n'
    has(out, 'Saves a tensor, or a (nested) table')
    has(out, 'The largest elements of the windows of self')
    has(out, "nn.functional.max_pool2d(torch.arange(16)")
    assert.is_nil(out:find('nothing is called', 1, true))
    has(out, "string driver='gelsy'")
    assert(out:find 'singular_values%s+are%s+empty%s+unless')
    has(out, 'solution:round{decimals = 3}')
    assert(out:find 'define%s+forward%(ctx, %.%.%.%)%s+and%s+backward')
    has(out, '  path        the file')
  end)

  it("hides the members that only the library's classes use", function()
    local out = type_lines '?torch.optim.Adam\n?torch.distributions.Normal\nprof = torch.profiler.profile()\nprof:stop();\n?prof\n'
    has(out, ' step ')
    assert(out:find '%sload_state_dict%s')
    for _, name in ipairs {'FIRST', 'columns', 'declare', 'key', 'new_state', 'rate', 'rounded', 'state_of', 'lazies', 'action', 'began', 'gpu', 'list'} do
      assert.is_nil(out:match('members:[^=]*%s' .. name .. '%s'), name)
    end
  end)

  it('shows a module with its description and the kinds of its members', function()
    local out = type_lines '?nn\n?torch.hub\n'
    has(out, 'module torch.nn\n')
    has(out, '\nclass   AdaptiveAvgPool1d')
    has(out, '\nmodule  attention  functional  init')
    has(out, 'function  help  list  load')
  end)

  it('names a function the same in every start', function()
    for _ = 1, 8 do has((type_lines 'torch.cuda.is_available\nmath.type\n'), '<function torch.cuda.is_available>\nIn [2]: Out[2]: <function math.type>') end
  end)
end)

describe('displayed objects #cpu', function()
  it('are folded if they are modules of the library', function()
    local out = type_lines 'nn\ntorch.optim\ntorch.cuda\n{nn}\n{a = 1}\nmath.pi\n'
    has(out, 'Out[1]: <module torch.nn: ?torch.nn lists its 170 members>')
    has(out, 'Out[2]: <module torch.optim: ?torch.optim lists its')
    has(out, 'Out[3]: <module torch.cuda: ?torch.cuda lists its')
    has(out, 'Out[4]: {<module torch.nn: ?torch.nn lists its 170 members>}')
    has(out, 'Out[5]: {a = 1}')
  end)

  it('state dicts are tables of names and sizes, echoed and printed', function()
    local out = type_lines 'sd = nn.Linear(2, 3):state_dict()\nsd\nprint(sd)\n'
    local shown = 'OrderedDict with 2 entries:\n  weight  [3, 2]  torch.float32\n  bias    [3]     torch.float32\n'
    has(out, 'Out[2]:\n' .. shown)
    has(out, 'In [3]: ' .. shown)
  end)

  it('loaders, data sets, samplers and schedulers show their settings', function()
    local out = type_lines [[
data = torch.utils.data
set = data.TensorDataset(torch.ones(4, 2), torch.ones(4)); set
data.DataLoader(set, {batch_size = 2, shuffle = true, drop_last = true})
data.Subset(set, {1, 3})
data.RandomSampler(set, {replacement = true})
optimizer = torch.optim.SGD(nn.Linear(2, 2):parameters(), {lr = 0.1});
schedulers = torch.optim.lr_scheduler
schedulers.StepLR(optimizer, 30, 0.5)
schedulers.CosineAnnealingLR(optimizer, 10)
schedulers.ReduceLROnPlateau(optimizer, {patience = 3})
Mine = data.Dataset:extend 'Mine'
function Mine:init(n, label) self.n, self.label = n, label end
function Mine:__len() return self.n end
Mine(3, 'cats')
]]
    has(out, 'DataLoader(dataset=TensorDataset(4 samples), batch_size=2, sampler=RandomSampler, drop_last=true)')
    has(out, 'Subset(2 samples, dataset=TensorDataset(4 samples), indices={1, 3})')
    has(out, 'RandomSampler(data_source=TensorDataset(4 samples), replacement=true')
    has(out, 'StepLR(optimizer=SGD, step_size=30, gamma=0.5, last_epoch=0)')
    has(out, 'CosineAnnealingLR(optimizer=SGD, T_max=10')
    has(out, "ReduceLROnPlateau(optimizer=SGD, mode='min', factor=0.1, patience=3")
    has(out, "Mine(3 samples, n=3, label='cats')")
  end)
end)

describe('the caret under an error #pty #cpu', function()
  local state
  before_each(function() state = terminal.new_folder() end)
  after_each(function() terminal.remove_folder(state) end)

  for _, columns in ipairs {60, 80, 100} do
    it(('points at the name in a line that is longer than %d columns'):format(columns), function()
      for _, before in ipairs {0, 30, 90} do
        local cell = 'x = 1; ' .. ('y = 12; '):rep(before // 8) .. 'prnit(x)' .. ('; y = 12'):rep(12)
        local out = terminal.follow(state, ('send %s\\r\nexpect nil value\nexpect ^\nprint\nexpect In [2]: \n'):format(cell), 'PTY_COLUMNS=' .. columns)
        local line, caret = out:match '\r?\n( +1 | [^\r\n]*)\r?\n( *)%z'
        assert(line, out)
        assert(#line <= columns, line)
        assert.equal('prnit', line:sub(#caret + 1, #caret + 5))
      end
    end)
  end
end)

describe('the calls of an error #cpu', function()
  it('are left out if the error is in the cell itself', function()
    local _, err = type_lines "error 'here'\nfunction f() error 'inside' end\nf()\n"
    assert.equal("(cell 1):1: here\n     1 | error 'here'\n(cell 2):1: inside\n     1 | function f() error 'inside' end\n"
      .. "  (cell 3):1: in the cell\n  (cell 2):1: in function 'f'\n", err)
  end)
end)

describe('lines of the prompt #pty #cpu', function()
  local state
  before_each(function() state = terminal.new_folder() end)
  after_each(function() terminal.remove_folder(state) end)

  for _, columns in ipairs {60, 80, 100} do
    it(('fit %d columns and break between words'):format(columns), function()
      local cells = {'?', '?nn.LSTM', '?torch.utils.data.DataLoader', '?torch.cat', '?nn', '%lsmagic', '%config', '%psearch torch.*sum*', '%gpus', '%memory',
        '%copies', 'long_name_of_a_tensor = torch.ones(100, 100)', '%who', '%prun torch.ones(4, 4):matmul(torch.ones(4, 4)):sum()',
        '{torch.float32, nn, {1, 2, 3}, "a rather long string, longer than most", print, torch.Size{1, 2}}',
        'torch.profiler.profile(function() torch.ones(3):sum() end):key_averages()', '%timeit?', 'nn.Transformer(8, 2):state_dict()'}
      local script = {}
      for index, cell in ipairs(cells) do
        script[#script + 1] = ('send %s\\r'):format(cell)
        script[#script + 1] = ('expect In [%d]: '):format(index + 1)
        script[#script + 1] = 'print'
      end
      local out = terminal.follow(state, table.concat(script, '\n') .. '\n', ('PTY_COLUMNS=%d PTY_ROWS=500'):format(columns), '--sim-gpus 1')
      local text = {}
      for shown in out:gmatch '([^%z]*)%z' do
        -- the first line is the typed cell, which the terminal wraps
        local lines = shown:gsub('\27%[[%d;?]*%a', ''):gsub('\r', '')
        text[#text + 1] = lines
        for line in lines:match '^[^\n]*\n?(.*)$':gmatch '[^\n]+' do
          assert(utf8.len(line) <= columns, ('%d columns: %s'):format(utf8.len(line), line))
        end
      end
      assert.equal(#cells, #text)
      has(text[1]:gsub('%s+', ' '), 'the prompt shows the value of its last expression and keeps top-level locals')
      has(text[2]:gsub('%s+', ' '), 'class nn.LSTM(integer input_size, integer hidden_size, integer num_layers=1, boolean bias=true')
      has(text[14], 'Calls')
    end)
  end
end)
