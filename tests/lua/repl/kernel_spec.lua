-- ltensor --kernel: what the kernel answers, on a wire that is a list here; the connection file; install. The sockets have
-- tests/jupyter/wire_test.c, the whole under Jupyter tests/jupyter/kernel_tests.py.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local json = require 'repl.notebook.json'
local jupyter = require 'repl.jupyter'
local kernel = require 'repl.jupyter.kernel'

-- A wire that keeps what is sent; `waiting` are requests that come when they are asked for.
local function new_wire()
  local wire = {sent = {}, waiting = {}}
  function wire.send(channel, identities, type, parent, content)
    wire.sent[#wire.sent + 1] = {channel = channel, identities = identities, type = type, parent = parent, content = json.decode(content)}
  end
  function wire.receive() return table.remove(wire.waiting, 1) end
  function wire.begin_request(_, _, takes_input) wire.takes_input = takes_input end
  function wire.settle() end
  return wire
end

local function request(type, content, header)
  return {channel = 'shell', identities = {'front'}, header = header or json.encode(json.object {{'msg_type', type}}), parent = '{}',
    metadata = '{}', content = type and json.encode(content) or content}
end

local function object(fields)
  local made = json.object()
  for key, value in pairs(fields) do made[key] = value end
  return made
end

describe('a kernel #cpu', function()
  local wire, state

  before_each(function()
    for _, name in ipairs {'_', '__', '___'} do rawset(_G, name, nil) end -- what a session before has left
    wire = new_wire()
    state = kernel.new(wire)
    state.history = {remember = function() end, entries = function() return {} end}
  end)

  -- The reply and what was published besides, by type.
  local function ask(type, fields)
    wire.sent = {}
    state:answer(request(type, object(fields)))
    local reply, published = nil, {}
    for _, message in ipairs(wire.sent) do
      if message.channel == 'shell' then reply = reply or message.content else published[#published + 1] = message end
    end
    return reply, published
  end

  local function types(messages)
    local list = {}
    for index, message in ipairs(messages) do
      list[index] = message.type .. (message.content.execution_state and ' ' .. message.content.execution_state or '')
    end
    return list
  end

  it('is busy while it answers', function()
    ask('kernel_info_request', {})
    assert.same({'status busy', 'kernel_info_reply', 'status idle'}, types(wire.sent))
    assert.equal('{"msg_type": "kernel_info_request"}', (wire.sent[1].parent:gsub('%s+', ' '):gsub('{ ', '{'):gsub(' } ?$', '}')))
    assert.same({'front'}, wire.sent[2].identities)
    assert.equal('lua', wire.sent[2].content.language_info.name)
  end)

  it('runs cells', function()
    local reply, published = ask('execute_request', {code = 'local a = 20; a + 1'})
    assert.same({'status busy', 'execute_input', 'execute_result', 'status idle'}, types(published))
    assert.equal('21', published[3].content.data['text/plain'])
    assert.equal('ok', reply.status)
    assert.equal(1, reply.execution_count)
    assert.equal('22', ask('execute_request', {code = '', user_expressions = object {n = 'a + 2'}}).user_expressions.n.data['text/plain'])
    assert.is_true(wire.takes_input)
    ask('execute_request', {code = '1', allow_stdin = false})
    assert.is_false(wire.takes_input)
  end)

  it('the kernel counts stored cells only', function()
    assert.equal(1, ask('execute_request', {code = '7'}).execution_count)
    local _, published = ask('execute_request', {code = '8', silent = true})
    assert.same({'status busy', 'status idle'}, types(published))
    _, published = ask('execute_request', {code = '9', store_history = false})
    assert.equal('execute_result', published[3].type)
    assert.equal(1, ask('execute_request', {code = ' \n'}).execution_count)
    _, published = ask('execute_request', {code = '_'})
    assert.equal('7', published[3].content.data['text/plain'])
    assert.equal(2, published[3].content.execution_count)
    assert.same({'7', '_'}, {table.unpack(state.session.inputs)})
  end)

  it('an error aborts the queued cells', function()
    wire.waiting = {request('execute_request', object {code = '1'}), request('comm_info_request', object {})}
    local reply, published = ask('execute_request', {code = "error 'no'"})
    assert.same({'error', 'no'}, {reply.status, reply.evalue})
    assert.equal('error', published[3].type)
    assert.is_truthy(reply.traceback[1]:find('\27[31m(cell 1):1: no\27[0m', 1, true))
    local replies = {}
    for _, message in ipairs(wire.sent) do
      if message.channel == 'shell' then replies[#replies + 1] = message.type .. ' ' .. message.content.status end
    end
    assert.same({'execute_reply error', 'execute_reply aborted', 'comm_info_reply ok'}, replies)
    wire.waiting = {request('execute_request', object {code = '1'})}
    ask('execute_request', {code = "error 'no'", stop_on_error = false})
    assert.equal(1, #wire.waiting)
  end)

  it('the kernel survives malformed requests', function()
    local hostile = {'', 'null', '[]', '7', '{', '"x"', '\xff', '{"msg_type": 1}', '{"msg_type": "nobody_request"}'}
    for _, header in ipairs(hostile) do
      wire.sent = {}
      state:answer(request(nil, '{}', header))
      assert.same({}, wire.sent)
    end
    for _, type in ipairs {'execute_request', 'complete_request', 'inspect_request', 'is_complete_request', 'history_request', 'comm_open',
      'comm_msg', 'comm_close', 'comm_info_request', 'kernel_info_request'} do
      for _, content in ipairs {'{}', '[]', 'null', '{', '{"code": [1], "cursor_pos": "x", "n": {}}', '{"code": "1", "cursor_pos": 1e9}',
        '{"code": "1", "cursor_pos": -5}', '{"code": "\\u0000é", "cursor_pos": 1, "user_expressions": 5, "hist_access_type": [], "comm_id": 1}'} do
        wire.sent = {}
        state:answer(request(nil, content, json.encode(object {msg_type = type})))
        local last = wire.sent[#wire.sent]
        assert.is_true(last == nil or last.content.execution_state == 'idle')
      end
    end
  end)

  it('completes and explains at places that count characters', function()
    local reply = ask('complete_request', {code = "'é'; torch.arang .. x", cursor_pos = 16})
    assert.same({'arange'}, reply.matches)
    assert.same({11, 16}, {reply.cursor_start, reply.cursor_end})
    for place, found in pairs {[6] = true, [12] = true, [18] = true, [19] = true, [3] = false} do
      assert.equal(found, ask('inspect_request', {code = "'é'; torch.arange(1", cursor_pos = place}).found, 'at ' .. place)
    end
    assert.is_truthy(ask('inspect_request', {code = 'torch.ones(2, ', cursor_pos = 14}).data['text/plain']:find 'ones')
    assert.is_false(ask('inspect_request', {code = 'no_such_name', cursor_pos = 3}).found)
  end)

  it('completes fields of tensors and reports the kinds', function()
    ask('execute_request', {code = 'kernel_tensor = torch.ones(2)'})
    local reply = ask('complete_request', {code = 'kernel_tensor.req', cursor_pos = 17})
    assert.same({'requires_grad'}, reply.matches)
    local entry = reply.metadata._jupyter_types_experimental[1]
    assert.same({'requires_grad', 'field', 14, 17}, {entry.text, entry.type, entry.start, entry['end']})
    kernel_tensor = nil -- luacheck: ignore
  end)

  it('is_complete reports if a cell is complete', function()
    for code, status in pairs {['x = 1'] = 'complete', [''] = 'complete', ['?print'] = 'complete', ['for i = 1, 2 do'] = 'incomplete',
      ['x = = 1'] = 'invalid', ['for i in range(3):'] = 'invalid', ['if x: print(x)'] = 'invalid', ['%time x = {'] = 'incomplete', ['%%writefile f\nx = {'] = 'incomplete', ['%%writefile f\nx = {\n'] = 'complete'} do
      assert.equal(status, ask('is_complete_request', {code = code}).status, code)
    end
    assert.equal('  ', ask('is_complete_request', {code = 'do'}).indent)
  end)

  it('shows help in the pager', function()
    local reply, published = ask('execute_request', {code = '?torch.arange'})
    assert.same({'status busy', 'execute_input', 'status idle'}, types(published))
    assert.equal('page', reply.payload[1].source)
    assert.is_truthy(reply.payload[1].data['text/plain']:find 'arange')
  end)

  it('returns a loaded file or an earlier cell as the next input', function()
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write 'print(1)'
    file:close()
    local payload = ask('execute_request', {code = '%load ' .. path}).payload
    assert.same({1, 'set_next_input', false}, {#payload, payload[1].source, payload[1].replace})
    assert.equal('print(1)', payload[1].text)
    assert.same({}, ask('execute_request', {code = '41 + 1'}).payload)
    assert.equal('41 + 1', ask('execute_request', {code = '%recall 2'}).payload[1].text)
    os.remove(path)
  end)

  it('shows values as HTML and pictures', function()
    local function data(code) return select(2, ask('execute_request', {code = code}))[3].content.data end
    assert.equal('<div><table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table><small>[2, 2], torch.int64, cpu</small></div>',
      data('torch.tensor {{1, 2}, {3, 4}}')['text/html'])
    assert.is_truthy(data('torch.zeros(2, 1, 1)')['text/html']:find('<div>[2, :, :]</div><table><tr><td>0.</td></tr></table>', 1, true))
    assert.is_truthy(data('torch.ones(2, {requires_grad = true}) * 2')['text/html']:find('torch.float32, cpu, grad_fn=&lt;MulBackward0&gt;', 1, true))
    for _, code in ipairs {'torch.tensor(1)', 'torch.ones(500)', 'torch.ones(0)', '{}', '5', "'<b>'", 'setmetatable({1}, {})', '1, 2', 'torch'} do
      assert.is_nil(data(code)['text/html'], code)
    end
    assert.equal('<table><tr><th>a</th><td>&#39;x&#39;</td></tr></table>', (data("{a = 'x'}")['text/html']:gsub("'", '&#39;')))
    local cycle = data('c = {1}; c[2] = c; c')['text/html']
    assert.is_truthy(cycle:find('cycle', 1, true), cycle)
    assert.is_truthy(data('nn.Sequential(nn.Linear(2, 3))')['text/html']:find('<summary>Sequential</summary>', 1, true))
    local figure = data 'torch.utils.plot.lines {1, 2}'
    assert.is_truthy(figure['image/svg+xml']:find '^<svg')
    assert.equal('iVBORw0KGgo', figure['image/png']:sub(1, 11))
    -- an object that fails to say how it looks is shown as text
    assert.equal('Odd', data("Odd = require 'torch.support.class'.Object:extend 'Odd'; function Odd:mime_bundle() error 'x' end; Odd()")['text/plain'])
  end)

  it('finds earlier cells', function()
    local history = require 'repl.jupyter.history'
    local some = setmetatable({earlier = {'1 + 2', 'a.b', 'x'}}, getmetatable(history.open()))
    ask('execute_request', {code = '1 + 2'})
    ask('execute_request', {code = '3'})
    local function found(content)
      local list = {}
      for index, entry in ipairs(some:entries(state.session, content)) do list[index] = ('%d/%d %s'):format(entry[1], entry[2], entry[3]) end
      return table.concat(list, ', ')
    end
    assert.equal('2/1 1 + 2, 2/2 3', found {hist_access_type = 'tail', n = 2})
    assert.equal('1/2 a.b', found {hist_access_type = 'range', session = 1, start = 2, stop = 3})
    assert.equal('2/2 3', found {hist_access_type = 'range', session = 0, start = 2})
    assert.equal('1/1 1 + 2, 2/1 1 + 2', found {hist_access_type = 'search', pattern = '1 + ?'})
    assert.equal('2/1 1 + 2', found {hist_access_type = 'search', pattern = '1*', unique = true})
    assert.equal('1/2 a.b', found {hist_access_type = 'search', pattern = 'a.*'})
    assert.same({'3', '3'}, some:entries(state.session, {hist_access_type = 'tail', n = 1, output = true})[1][3])
  end)

  it('the kernel ends at a shutdown request', function()
    assert.is_true(ask('shutdown_request', {restart = true}).restart)
    assert.is_true(state.ended)
  end)
end)

describe('--kernel #cpu', function()
  local folder = os.tmpname()
  os.remove(folder)
  os.execute('mkdir -p ' .. folder)
  teardown(function() os.execute('rm -rf ' .. folder) end)

  local function connection(text)
    local path = folder .. '/connection.json'
    local file = assert(io.open(path, 'w'))
    file:write(text)
    file:close()
    return path
  end

  it('reads the connection file', function()
    local ports = '"shell_port": 1, "control_port": 2, "stdin_port": 3, "iopub_port": 4, "hb_port": 5'
    local key, addresses = jupyter.connection(connection('{"key": "k", "transport": "tcp", "ip": "1.2.3.4", ' .. ports .. '}'))
    assert.equal('k', key)
    assert.same({shell = 'tcp://1.2.3.4:1', control = 'tcp://1.2.3.4:2', stdin = 'tcp://1.2.3.4:3', iopub = 'tcp://1.2.3.4:4',
      heartbeat = 'tcp://1.2.3.4:5'}, addresses)
    local _, files = jupyter.connection(connection('{"transport": "ipc", "ip": "/tmp/x", ' .. ports .. '}'))
    assert.equal('ipc:///tmp/x-5', files.heartbeat)
  end)

  it('--kernel reports invalid arguments', function()
    for text, message in pairs {['{'] = 'the text ends early', ['7'] = 'no connection file', ['{}'] = "_port' is to be a number, got nothing",
      ['{"signature_scheme": "hmac-md5"}'] = "not by 'hmac-md5'", ['{"transport": "udp"}'] = "not 'udp'"} do
      local ok, problem = pcall(jupyter.connection, connection(text))
      assert.is_false(ok)
      assert.is_truthy(problem:find(message, 1, true), problem)
    end
    local _, problem = pcall(jupyter.connection, folder .. '/absent.json')
    assert.is_truthy(problem:find('absent.json: No such file or directory; a connection file of Jupyter is expected, or the word install', 1, true))
  end)

  local function run(arguments, before) return process.run(('%s %s %s 2>&1'):format(before or '', process.quote(process.ltensor), arguments)) end

  it('--kernel needs a subcommand', function()
    assert.is_truthy(run '--kernel':find('needs a connection file, or the word install', 1, true))
    assert.is_truthy(run('--kernel ' .. connection '{}' .. ' more'):find("'more' is not expected", 1, true))
  end)

  it('--kernel names the packages for a missing plugin', function()
    local out = run('--kernel install --user', 'LTENSOR_LIB_DIR=/nowhere')
    assert.is_truthy(out:find('libltensor_jupyter.so could not be loaded', 1, true), out)
    assert.is_truthy(out:find('apt-get install', 1, true), out)
  end)

  local plugin = io.open((os.getenv 'LTENSOR_BUILD' or 'build') .. '/libltensor_jupyter.so')
  if plugin then plugin:close() end;
  (plugin and it or pending)('tells Jupyter of itself', function()
    local function read(path)
      local file = assert(io.open(path))
      local text = file:read 'a'
      file:close()
      return json.decode(text)
    end
    local unset = 'env -u JUPYTER_DATA_DIR -u XDG_DATA_HOME -u VIRTUAL_ENV -u CONDA_PREFIX '
    run('--sim-gpus 2 --kernel install --prefix ' .. folder .. '/a --name gpus')
    local spec = read(folder .. '/a/share/jupyter/kernels/gpus/kernel.json')
    assert.equal('lua', spec.language)
    assert.same({'--sim-gpus', '2', '--kernel', '{connection_file}'}, {table.unpack(spec.argv, 2)})
    assert.equal('/', spec.argv[1]:sub(1, 1))
    run('--kernel install --user', unset .. 'HOME=' .. folder .. '/home')
    read(folder .. '/home/.local/share/jupyter/kernels/ltensor/kernel.json')
    run('--kernel install --user', unset .. 'JUPYTER_DATA_DIR=' .. folder .. '/data')
    read(folder .. '/data/kernels/ltensor/kernel.json')
    run('--kernel install --sys-prefix', unset .. 'VIRTUAL_ENV=' .. folder .. '/env')
    read(folder .. '/env/share/jupyter/kernels/ltensor/kernel.json')
    for arguments, message in pairs {['--sys-prefix'] = 'no Python environment is active', ['--user --prefix x'] = 'exclude each other',
      ['--prefix'] = '--prefix needs a value', ['--name a/b'] = 'other characters', ['--all'] = "'--all' is none of"} do
      local out = run('--kernel install ' .. arguments, unset)
      assert.is_truthy(out:find(message, 1, true), out)
    end
  end)
end)
