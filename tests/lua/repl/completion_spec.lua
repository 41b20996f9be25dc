-- Completion: fields of objects, the kinds of the candidates, the menu on the terminal.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local terminal = dofile(here .. '../support/terminal.lua')

-- The completions of the text in a session that ran `setup`, each followed by its kind.
local function words(text, setup, options)
  local out, err = process.lua(([[
    local complete, session = require 'repl.edit.complete', require('repl.session').new()
    %s
    local text, parts = %q, {}
    local words, kinds = complete.words(session, text, text:match '[%%w_]*$')
    for index, word in ipairs(words) do parts[index] = word .. ' ' .. kinds[word] end
    print(table.concat(parts, ', '))
  ]]):format(setup or 'x = torch.ones(2)', text), options)
  assert.equal('', err)
  return (out:gsub('\n$', ''))
end

local function sorted(text)
  local parts = {}
  for part in (text .. ', '):gmatch '(.-), ' do parts[#parts + 1] = part end
  table.sort(parts)
  return table.concat(parts, ', ')
end

describe('completion of fields #cpu', function()
  it('offers every field of a tensor', function()
    for name in ('shape dtype device grad T data requires_grad is_leaf layout ndim grad_fn mT H mH real imag nbytes itemsize'):gmatch '%S+' do
      local found = words('x.' .. name)
      assert.truthy((', ' .. found .. ','):find(', ' .. name .. ' field,', 1, true), name .. ' is not in ' .. found)
    end
    assert.equal('shape field', words 'x.sh')
    assert.equal('short method', words 'x:sh')
    assert.equal('cumsum method, cumsum_ method', words 'x.cums') -- a method, if no field begins so
  end)

  it('offers own operations and their namespaces', function()
    local setup = [[
      torch.library.define('spec_ops::triple', '(Tensor x) -> Tensor')
      torch.library.define('spec_ops::twice', '(Tensor x) -> Tensor')
      torch.library.define('spec_other::f', '(Tensor x) -> Tensor')]]
    assert.equal('triple function, twice function', words('torch.ops.spec_ops.', setup))
    assert.equal('twice function', words('torch.ops.spec_ops.tw', setup))
    assert.matches('spec_ops %a+, spec_other %a+', words('torch.ops.spec_', setup))
    assert.equal('', words('torch.ops.absent.', setup))
  end)

  it('continues behind fields and results of a tensor without reading them', function()
    assert.equal('is_complex field, is_floating_point field, is_signed field', words 'x.dtype.is_')
    assert.equal('index field, type field', words 'torch.rand(2):sum().device.')
    assert.equal('shape field', words 'torch.tensor({1}).sh')
    assert.equal('index field, type field', words "torch.device('cpu').")
    assert.equal('numel method', words 'x.shape:nu')
    assert.equal('numel method', words 'x:size():nu')
    assert.equal('sum method, sum_to_size method', words 'x.grad:sum')
    assert.equal('next_functions field', words 'x.grad_fn.ne')
  end)

  -- Objects with computed fields: an expression, then the start of a name and its completions.
  for expression, case in pairs {
    ['torch.float32'] = {'item', 'itemsize field'},
    ["torch.device 'cpu'"] = {'ty', 'type field'},
    ['torch.default_generator'] = {'dev', 'device field'},
    ['torch.complex(1, 2)'] = {'', 'imag field, real field'},
    ['torch.ones(1):__dlpack__()'] = {'', 'used field, versioned field'},
    ['torch.finfo(torch.float32)'] = {'e', 'eps field'},
    ['torch.backends.cudnn'] = {'en', 'enabled field'},
    ['torch.nn.attention.SDPBackend'] = {'MA', 'MATH field'},
    ['torch.distributions.Normal(0, 1)'] = {'st', 'stddev field'},
    ['torch.distributions.Categorical{probs = torch.ones(2)}'] = {'log', 'logits field'},
    ['nn.utils.parametrizations.spectral_norm(nn.Linear(2, 2))'] = {'wei', 'weight field'},
    ['nn.Linear(2, 2)'] = {'bi', 'bias field'},
    ['torch.ones(2).shape'] = {'', 'numel method'},
  } do
    it('offers the fields of ' .. expression, function()
      assert.equal(case[2], words('x.' .. case[1], 'x = ' .. expression))
    end)
  end

  it('knows the fields or methods of every type of the library that computes them', function()
    local out = process.lua [[
      local unknown = {}
      for name, metatable in pairs(debug.getregistry()) do
        if type(name) == 'string' and name:find '^ltensor%.' and type(metatable) == 'table' and type(rawget(metatable, '__index')) == 'function'
          and not rawget(metatable, '__methods') and not rawget(metatable, '__fields') then
          unknown[#unknown + 1] = name
        end
      end
      print(table.concat(unknown, ' '))
    ]]
    assert.equal('\n', out)
  end)

  it('offers the fields of streams and events', function()
    assert.equal('cuda_stream field', words('x.cuda', 'x = torch.cuda.Stream()', '--sim-gpus 1'))
    assert.equal('device field', words('x.dev', 'x = torch.cuda.Event()', '--sim-gpus 1'))
  end)
end)

describe('the kinds of completions #cpu', function()
  it('are known without loading a module', function()
    assert.equal('functional module', words 'nn.functio')
    assert.equal('Linear class, LinearCrossEntropyLoss class, LinearCrossEntropyOptions class', words 'nn.Lin')
    assert.equal('relu function, relu6 function', words 'nn.functional.rel')
    assert.equal('lr_scheduler module', words 'torch.optim.lr')
    assert.equal('profile function', words 'torch.profiler.profile')
    assert.equal('float16 dtype, float32 dtype, float64 dtype', (words 'torch.float':match 'float16.*float64 dtype'))
  end)

  it('distinguish locals, globals, keywords, functions, arguments and magics', function()
    local setup = "count, session.scope = 1, require('repl.cell').scope() session.scope:declare('counted', 2)"
    assert.equal('count global, counted local', words('coun', setup))
    assert.equal('print function', words 'prin')
    assert.equal('repeat keyword', words 'repea')
    assert.equal('dtype =  argument, dim =  argument', words 'torch.ones(2):sum{d')
    assert.equal('mean =  argument', words 'nn.init.normal_(x, {m')
    assert.equal('batch_first =  argument, bias =  argument, bidirectional =  argument', sorted(words 'nn.LSTM(4, 8, {b'))
    assert.equal('dtype =  argument', words 'torch.tensor({1, 2}, {dt')
    assert.equal('requires_grad =  argument', words 'torch.as_tensor(x, {requ')
    assert.equal('priority =  argument', words 'torch.cuda.Stream{pri')
    assert.equal('timeit  magic', words '%timei')
    assert.equal('writefile  magic', words '%%writ')
    assert.equal('cpu device, cuda device', words "torch.device('c")
  end)
end)

describe('completion behind magics #cpu', function()
  it('offers settings and their values', function()
    assert.equal('traceback value', words '%config tra')
    assert.equal('full value, minimal value, user value', words '%config traceback ')
    assert.equal('dark value', words '%colors da')
    assert.equal('minimal value', words '%xmode mi')
    assert.equal('off value, on value', words '%autoreload o')
  end)

  it('offers names where a name or code follows', function()
    assert.equal('Linear class, LinearCrossEntropyLoss class, LinearCrossEntropyOptions class', words '%pinfo nn.Lin')
    assert.equal('Linear class, LinearCrossEntropyLoss class, LinearCrossEntropyOptions class', words '?nn.Lin')
    assert.equal('shape field', words '%debug x.sha')
    assert.equal('shape field', words '%debug 2 x.sha')
    assert.truthy(words('%%writefile /etc/passw'):find '^passwd file')
  end)
end)

describe('completion of paths #cpu', function()
  it('ends folders with a slash', function()
    local folder = os.tmpname()
    os.remove(folder)
    process.run(('mkdir -p %s/inner && touch %s/inside'):format(folder, folder))
    assert.equal('inner/ folder, inside file', words(("io.open('%s/in"):format(folder)))
    assert.equal('inner/ folder, inside file', words(('%%run %s/in'):format(folder)))
    assert.equal('inner/ folder, inside file', words(('files = !cat %s/in'):format(folder)))
    process.run('rm -r ' .. folder)
  end)
end)

describe('a menu #cpu', function()
  it('has lines for any width', function()
    local menu = require 'repl.edit.menu'
    local kinds = {first = 'function', second = 'function', ['a_name_of_many_letters'] = 'module'}
    for columns = 1, 40 do
      local lines = menu.lines({'a_name_of_many_letters', 'first', 'second'}, kinds, columns, function(label) return label end)
      assert.truthy(table.concat(lines, ' '):find 'first +.*second +.*a_name_of_many_letters')
    end
  end)
end)

describe('the menu of completions #pty #cpu', function()
  local state
  before_each(function() state = terminal.new_folder() end)
  after_each(function() terminal.remove_folder(state) end)

  -- The rows of the last `screen` from the row of the second prompt on.
  local function rows_after(script, environment)
    local out = terminal.follow(state, script .. 'sleep 300\nscreen\n', environment)
    local shown = out:match '([^%z]*)%z$':gsub('\ncursor %d+ %d+$', ''):gsub('%s+$', '')
    return shown:match '(In %[2%].*)$'
  end

  it('completes the only candidate', function()
    assert.equal('In [2]: x.shape', rows_after 'send x = torch.ones(2)\\r\nexpect In [2]: \nsend x.sh\\t\n')
  end)

  it('shows the candidates by their kinds at the first Tab that completes nothing', function()
    assert.equal('In [2]: things.a\nfield     apple\nfunction  add  answer\nmodule    again\nIn [2]: things.a',
      rows_after('send things = {add = print, answer = print, again = torch, apple = 1}\\r\nexpect In [2]: \nsend things.a\\t\n'))
  end)

  for _, columns in ipairs {60, 80, 100} do
    it(('has no line wider than %d columns'):format(columns), function()
      local shown = rows_after('send nets = nn\\r\nexpect In [2]: \nsend nets.L\\t\n', 'PTY_ROWS=60 PTY_COLUMNS=' .. columns)
      assert.truthy(shown:find('\nclass  L1Loss', 1, true))
      for line in shown:gmatch '[^\n]+' do assert(#line < columns, line) end
    end)
  end

  it('is paged, and q leaves it', function()
    local shown = rows_after('send 1\\r\nexpect In [2]: \nsend torch.\\t\nexpect possibilities? (y or n)\nsend y\nexpect --More--\nsend  \n'
      .. 'expect --More--\nsend q\n', 'PTY_ROWS=12')
    assert.equal('In [2]: torch.', shown:match '[^\n]*$')
  end)

  it('leaves a cell of several lines whole if the only candidate is typed completely #again', function()
    local cell = 'send if torch then\\r\nexpect ...: \nsend print(1)\\r\nsend end\\r\nexpect In [2]: \n'
    for tabs = 1, 3 do
      assert.equal('In [2]: if torch then\n   ...:   print(1)\n   ...: end', rows_after(cell .. 'send \\e[A\\e[B\\e[B\\x05' .. ('\\t'):rep(tabs) .. '\n'))
      assert.equal('In [2]: if torch then\n   ...:   print(1)\n   ...: end', rows_after(cell .. 'send if torc' .. ('\\t'):rep(tabs) .. '\n', 'NO_COLOR='))
    end
  end)

  it('leaves a suggestion of several lines whole, however often Tab is pressed #again', function()
    local cell = 'send if torch then\\r\nexpect ...: \nsend print(1)\\r\nsend end\\r\nexpect In [2]: \n'
    local suggested = 'In [2]: if torch then\n   ...:   print(1)\n   ...: end'
    for _, rows in ipairs {24, 9} do
      for tabs = 0, 3 do
        local out = terminal.follow(state, cell .. 'send if t' .. ('\\t'):rep(tabs) .. '\nsleep 300\nscreen\n',
          ('NO_COLOR= PTY_COLUMNS=60 PTY_ROWS=%d'):format(rows))
        local shown = out:match '([^%z]*)%z$':gsub('\ncursor %d+ %d+$', ''):gsub('%s+$', '')
        assert.equal(suggested, shown:sub(-#suggested))
        local _, menus = shown:gsub('\nkeyword   then  true\nIn %[2%]: if t', '')
        assert(menus == math.min(tabs, menus) and (rows == 9 or menus == tabs), shown)
      end
    end
  end)
end)
