-- nn_recurrent_spec.lua - recurrent layers: against PyTorch, packed sequences, second derivatives, errors.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local nn = torch.nn
local rnn = nn.utils.rnn
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local modules = dofile(here .. 'support/modules.lua')
local device = modules.device

describe('PyTorch\'s recurrent layers', function()
  for number, case in ipairs(modules.load 'recurrent') do
    it(modules.name(case, number), function() modules.run(case) end)
  end
end)

local function near(a, b, atol)
  assert.equal(a.shape, b.shape)
  assert.is_true(torch.allclose(a, b, { atol = atol or 1e-6 }), tostring(a) .. '\n' .. tostring(b))
end

describe('packed sequences', function()
  local function batch() return torch.arange(1, 13, { dtype = torch.float32, device = device }):reshape(4, 3) end

  it('are refused without a sequence, as PyTorch does', function()
    local ok, message = pcall(rnn.pack_padded_sequence, torch.zeros(2, 0, 3), {})
    assert.is_true(not ok and message:find('Cannot pack empty tensors.', 1, true) ~= nil)
    ok, message = pcall(rnn.pad_packed_sequence, rnn.PackedSequence(torch.zeros(0, 3), torch.zeros(0, { dtype = torch.int64 })))
    assert.is_true(not ok and message:find('batch_sizes can not be empty', 1, true) ~= nil)
  end)

  it('pack the steps of sequences that are that long, and unpack them', function()
    local packed = rnn.pack_padded_sequence(batch(), { 4, 2, 1 })
    assert.same({ 1, 2, 3, 4, 5, 7, 10 }, packed.data:tolist())
    assert.same({ 3, 2, 1, 1 }, packed.batch_sizes:tolist())
    local padded, lengths = rnn.pad_packed_sequence(packed, { padding_value = -1 })
    assert.same({ { 1, 2, 3 }, { 4, 5, -1 }, { 7, -1, -1 }, { 10, -1, -1 } }, padded:tolist())
    assert.same({ 4, 2, 1 }, lengths:tolist())
  end)

  it('pack_padded_sequence sorts the batch with enforce_sorted = false, and padding restores the order', function()
    local packed = rnn.pack_padded_sequence(batch(), torch.tensor { 1, 4, 2 }, { enforce_sorted = false })
    assert.same({ 2, 3, 1 }, packed.sorted_indices:tolist())
    assert.same({ 3, 1, 2 }, packed.unsorted_indices:tolist())
    local padded, lengths = rnn.pad_packed_sequence(packed, { batch_first = true, total_length = 5 })
    assert.same({ { 1, 0, 0, 0, 0 }, { 2, 5, 8, 11, 0 }, { 3, 6, 0, 0, 0 } }, padded:tolist())
    assert.same({ 1, 4, 2 }, lengths:tolist())
    fails_with('`lengths` array must be sorted in decreasing order', rnn.pack_padded_sequence, batch(), { 1, 4, 2 })
  end)

  it('are made of lists of sequences', function()
    local list = { torch.ones(2), torch.ones(3) * 2 }
    assert.same({ { 1, 1, 0 }, { 2, 2, 2 } }, rnn.pad_sequence(list, { batch_first = true }):tolist())
    assert.same({ { 0, 1, 1 }, { 2, 2, 2 } }, rnn.pad_sequence(list, { batch_first = true, padding_side = 'left' }):tolist())
    local parts = rnn.unpack_sequence(rnn.pack_sequence(list, { enforce_sorted = false }))
    assert.same({ { 1, 1 }, { 2, 2, 2 } }, { parts[1]:tolist(), parts[2]:tolist() })
  end)

  for _, name in ipairs { 'RNN', 'GRU', 'LSTM' } do
    it('each packed sequence gives the result of that sequence alone: ' .. name, function()
      torch.manual_seed(3)
      local net = nn[name](2, 3, 2, { bidirectional = true }):to(device):double()
      local x = torch.randn(4, 3, 2, { dtype = torch.float64 }):to(device):requires_grad_()
      local lengths = { 2, 4, 1 }
      local packed = rnn.pack_padded_sequence(x, lengths, { enforce_sorted = false })
      local output, state = net(packed)
      local padded = rnn.pad_packed_sequence(output)
      local h = name == 'LSTM' and state[1] or state
      for b, length in ipairs(lengths) do
        local alone, last = net(x:narrow(2, b, 1):narrow(1, 1, length))
        last = name == 'LSTM' and last[1] or last
        near(alone:squeeze(2), padded:select(2, b):narrow(1, 1, length))
        near(last:squeeze(2), h:select(2, b))
      end
      local weight = net.weight_hh_l1_reverse
      local together = torch.autograd.grad(padded:square():sum() + h:sum(), weight)
      local loss = 0
      for b, length in ipairs(lengths) do
        local alone, last = net(x:narrow(2, b, 1):narrow(1, 1, length))
        last = name == 'LSTM' and last[1] or last
        loss = loss + alone:square():sum() + last:sum()
      end
      near(torch.autograd.grad(loss, weight), together)
    end)
  end
end)

describe('the derivative of a recurrent layer', function()
  for _, cell in ipairs { 'tanh', 'relu', 'gru', 'lstm' } do
    it('is right, and so is the second: ' .. cell, function()
      torch.manual_seed(7)
      local recurrent = require 'torch.nn.functional.recurrent'
      local groups = recurrent.groups[cell]
      local function leaf(...)
        return torch.randn(..., { dtype = torch.float64 }):to(device):requires_grad_()
      end
      local inputs = { leaf { 5, 2 * groups }, leaf { 3, 2 }, leaf { 2 * groups, 2 }, leaf { 2 * groups } }
      if cell == 'lstm' then inputs[5] = leaf { 3, 2 } end
      for _, reverse in ipairs { false, true } do
        local function run(x, h, w, b, c)
          return recurrent.layer(x, h, c, w, b, cell, reverse, torch.tensor { 3, 1, 1 })
        end
        assert.is_true(torch.autograd.gradcheck(run, inputs))
        assert.is_true(torch.autograd.gradgradcheck(run, inputs))
        local steps = table.pack(recurrent.by_steps(inputs[1], inputs[2], inputs[5], inputs[3], inputs[4], cell, reverse,
          torch.tensor { 3, 1, 1 }))
        for i, result in ipairs(table.pack(run(table.unpack(inputs, 1, 5)))) do near(steps[i], result, 1e-12) end
      end
    end)
  end
end)

-- Two functions without arguments, which return the output and the last states, and the leaves.
local function module_and_operation(name, cell)
  torch.manual_seed(5)
  local net = nn[name](3, 4, 2, { bidirectional = true, batch_first = true }):to(device):double()
  local weights = net:parameters()
  local h = torch.randn(4, 2, 4, { dtype = torch.float64 }):to(device):requires_grad_()
  local states = name == 'LSTM' and { h, h } or h -- the same tensor twice
  local x = torch.randn(2, 5, 3, { dtype = torch.float64 }):to(device):requires_grad_()
  local function by_module()
    local output, last = net(x, states)
    return output, table.unpack(name == 'LSTM' and last or { last })
  end
  local function by_operation() return torch[cell](x, states, weights, true, 2, 0.0, true, true, true) end
  return by_module, by_operation, { x, h, table.unpack(weights) }
end

describe('torch.lstm, gru and rnn_tanh have the numbers of the modules:', function()
  for name, cell in pairs { LSTM = 'lstm', GRU = 'gru', RNN = 'rnn_tanh' } do
    it(name .. ', in results and derivatives of both orders', function()
      local by_module, by_operation, leaves = module_and_operation(name, cell)
      local found = {}
      for i, run in ipairs { by_module, by_operation } do
        local results = { run() }
        local loss = 0
        for _, t in ipairs(results) do loss = loss + t:square():sum() end
        local first = { torch.autograd.grad(loss, leaves, { create_graph = true }) }
        local again = 0
        for _, t in ipairs(first) do again = again + t:square():sum() end
        local kernels = {}
        loss = 0
        for _, t in ipairs { run() } do loss = loss + t:square():sum() end
        for k, t in ipairs { torch.autograd.grad(loss, leaves) } do
          near(first[k], t, 1e-10) -- by steps and by kernels
          kernels[k] = t
        end
        found[i] = { results, kernels, { torch.autograd.grad(again, leaves) } }
      end
      for part = 1, 3 do
        assert.equal(#found[1][part], #found[2][part])
        for k, t in ipairs(found[1][part]) do assert.is_true(torch.equal(t, found[2][part][k])) end
      end
    end)
  end
end)

describe('recurrent layers', function()
  it('work under vmap and in forward mode', function()
    torch.manual_seed(2)
    for _, name in ipairs { 'LSTM', 'GRU', 'RNN' } do
      local net = nn[name](3, 4):to(device):double()
      local function run(x) return (net(x)) end
      local x = torch.randn(2, 5, 1, 3, { dtype = torch.float64 }):to(device)
      local together = torch.func.vmap(run)(x)
      for i = 1, 2 do near(run(x[i]), together[i], 1e-12) end
      local _, tangents = torch.func.jvp(run, { x[1] }, { torch.ones_like(x[1]) })
      local step = 1e-6
      near((run(x[1] + step) - run(x[1] - step)) / (2 * step), tangents, 1e-8)
    end
  end)

  it('take a state of the right shape only', function()
    local gru = nn.GRU(3, 4)
    fails_with('Expected hidden size (1, 2, 4), got [1, 3, 4]', gru, torch.ones(5, 2, 3), torch.ones(1, 3, 4))
    fails_with('input.size(-1) must be equal to input_size. Expected 3, got 2', gru, torch.ones(5, 2, 2))
    fails_with('GRU: Expected input to be 2D or 3D, got 1D instead', gru, torch.ones(3))
    fails_with('For batched 3-D input, hx should also be 3-D but got 2-D tensor', gru, torch.ones(5, 2, 3), torch.ones(2, 4))
    fails_with('For unbatched 2-D input, hx and cx should also be 2-D but got (3-D, 3-D) tensors', nn.LSTM(3, 4),
      torch.ones(5, 3), { torch.ones(1, 1, 4), torch.ones(1, 1, 4) })
    fails_with('Expected sequence length to be larger than 0 in RNN', gru, torch.ones(0, 2, 3))
    fails_with('proj_size has to be smaller than hidden_size', nn.LSTM, 2, 3, { proj_size = 3 })
    fails_with("doesn't match hidden batch size 3", nn.GRUCell(3, 4), torch.ones(2, 3), torch.ones(3, 4))
  end)

  it('compute in half types as in float', function()
    torch.manual_seed(1)
    local lstm = nn.LSTM(3, 4):to(device)
    local x = torch.randn(5, 2, 3):to(device)
    local expected = lstm(x)
    local output = lstm:bfloat16()(x:bfloat16())
    assert.equal(torch.bfloat16, output.dtype)
    near(expected, output:float(), 0.02)
  end)

  it('drop between layers in training', function()
    torch.manual_seed(1)
    local net = nn.RNN(3, 4, 2, { dropout = 0.9 }):to(device)
    local x = torch.ones(5, 2, 3, { device = device })
    assert.is_false(torch.equal((net(x)), (net(x))))
    net:eval()
    assert.is_true(torch.equal((net(x)), (net(x))))
  end)
end)

describe('nn.RNNBase', function()
  it('takes the kind of its cells as its first argument', function()
    for mode, parameters in pairs { GRU = { 24, 4 }, LSTM = { 32, 4 }, RNN_TANH = { 8, 4 }, RNN_RELU = { 8, 4 } } do
      local layer = torch.nn.RNNBase(mode, 4, 8)
      assert.equal('RNNBase(4, 8)', tostring(layer))
      assert.same(parameters, { table.unpack(layer.weight_ih_l0.shape) })
    end
    assert.equal('RNNBase(4, 8, num_layers=2, bidirectional=True)', tostring(torch.nn.RNNBase('GRU', 4, 8, 2, { bidirectional = true })))
    assert.has_error(function() torch.nn.RNNBase('FOO', 4, 8) end)
  end)
end)

describe('recurrent layers and cells', function()
  it('take a batch without sequences, give no rows and gradients of zeros', function()
    for _, name in ipairs { 'LSTM', 'GRU', 'RNN' } do
      for _, options in ipairs { {}, { num_layers = 2, bidirectional = true }, { batch_first = true }, name == 'LSTM' and { proj_size = 2 } or {} } do
        local layer = nn[name](3, 4, options):to(device)
        local x = torch.zeros(options.batch_first and { 0, 5, 3 } or { 5, 0, 3 }, { device = device, requires_grad = true })
        local output, state = layer(x)
        local width = (options.proj_size or 4) * (options.bidirectional and 2 or 1)
        assert.same(options.batch_first and { 0, 5, width } or { 5, 0, width }, { table.unpack(output.shape) })
        local h = name == 'LSTM' and state[1] or state
        assert.same({ options.bidirectional and 4 or 1, 0, options.proj_size or 4 }, { table.unpack(h.shape) })
        output:sum():backward()
        assert.equal(x.shape, x.grad.shape)
        for key, parameter in layer:named_parameters() do assert.equal(0, parameter.grad:abs():sum():item(), key) end
        assert.same({ 0 }, { torch.no_grad(function() return layer(x):numel() end) })
      end
      local cell = nn[name .. 'Cell'](3, 4):to(device)
      local h = cell(torch.zeros(0, 3, { device = device }))
      assert.same({ 0, 4 }, { table.unpack(h.shape) })
      h:sum():backward()
      assert.equal(0, cell.bias_hh.grad:abs():sum():item())
    end
    assert.error_matches(function() nn.GRU(3, 4):to(device)(torch.zeros(0, 0, 3, { device = device })) end, 'Expected sequence length to be larger than 0 in RNN')
  end)
end)

describe('torch.lstm, gru, rnn_tanh and rnn_relu', function()
  local functions = { LSTM = 'lstm', GRU = 'gru', RNN_TANH = 'rnn_tanh', RNN_RELU = 'rnn_relu' }

  -- The weights of a module in the order of the functions.
  local function weights_of(layer, options)
    local list = {}
    for i = 0, (options.num_layers or 1) - 1 do
      for _, suffix in ipairs(options.bidirectional and { '', '_reverse' } or { '' }) do
        for _, name in ipairs { 'weight_ih', 'weight_hh', 'bias_ih', 'bias_hh', 'weight_hr' } do
          list[#list + 1] = layer[('%s_l%d%s'):format(name, i, suffix)]
        end
      end
    end
    return list
  end

  local function near(a, b, what) assert(torch.allclose(a, b, 1e-5, 1e-6), what) end

  it('return the results and the gradients of the modules', function()
    torch.manual_seed(3)
    for mode, name in pairs(functions) do
      for _, options in ipairs { {}, { num_layers = 2, bidirectional = true }, { batch_first = true, bias = false },
        mode == 'LSTM' and { proj_size = 2, bidirectional = true } or { bidirectional = true } } do
        local layer = torch.nn.RNNBase(mode, 3, 4, options):to(device)
        local directions = (options.num_layers or 1) * (options.bidirectional and 2 or 1)
        local x = torch.randn(options.batch_first and { 2, 5, 3 } or { 5, 2, 3 }, { device = device, requires_grad = true })
        local h = torch.randn(directions, 2, options.proj_size or 4, { device = device })
        local state = mode == 'LSTM' and { h, torch.randn(directions, 2, 4, { device = device }) } or h
        local weights = weights_of(layer, options)
        local function call()
          return torch[name](x, state, weights, options.bias ~= false, options.num_layers or 1, 0.0, false, options.bidirectional or false, options.batch_first or false)
        end
        local expected, last = layer(x, state)
        local output, hn, cn = call()
        near(expected, output, name)
        near(mode == 'LSTM' and last[1] or last, hn, name)
        if cn then near(last[2], cn, name) end
        local without = torch.no_grad(call)
        near(expected, without, name .. ' without gradients')
        local leaves = { x, table.unpack(weights) }
        local given = { torch.autograd.grad(output:sum() + hn:sum(), leaves) }
        local wanted = { torch.autograd.grad(expected:sum() + (mode == 'LSTM' and last[1] or last):sum(), leaves) }
        for i = 1, #leaves do near(wanted[i], given[i], name .. ': gradient ' .. i) end
      end
    end
  end)

  it('run under vmap as sample by sample, with and without gradients', function()
    for _, name in ipairs { 'LSTM', 'GRU', 'RNN' } do
      local net = torch.nn[name](3, 4, 2, { bidirectional = true }):to(device)
      local x = torch.randn(3, 5, 2, 3, { device = device })
      local function outputs(sample) return (net(sample)) end
      for _, grad in ipairs { true, false } do
        local _ <close> = torch.set_grad_enabled(grad)
        local mapped = torch.vmap(outputs)(x)
        for i = 1, 3 do near(outputs(x[i]), mapped[i], name) end
      end
    end
  end)

  it('have single cells, as the modules', function()
    for _, name in ipairs { 'LSTM', 'GRU', 'RNN' } do
      local cell = torch.nn[name .. 'Cell'](3, 4):to(device)
      local x, h = torch.randn(2, 3, { device = device }), torch.randn(2, 4, { device = device })
      local f = torch[name == 'RNN' and 'rnn_tanh_cell' or name:lower() .. '_cell']
      local state = name == 'LSTM' and { h, h } or h
      local expected, given = table.pack(cell(x, state)), table.pack(f(x, state, cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh))
      if name == 'LSTM' and not torch.is_tensor(expected[1]) then expected = expected[1] end
      for i = 1, #given do near(expected[i], given[i], name) end
    end
  end)

  it('name wrong numbers and sizes of weights and states', function()
    local x, h, w = torch.zeros(5, 2, 3, { device = device }), torch.zeros(1, 2, 4, { device = device }), torch.zeros(12, 3, { device = device })
    local function gru(weights, state) return torch.gru(x, state or h, weights, false, 1, 0.0, false, false, false) end
    assert.error_matches(function() gru { w } end, 'gru(): Expected 2 weights, got 1', 1, true)
    assert.error_matches(function() gru { x:select(1, 1), w } end, 'gru(): Expected w_ih with 12 rows, got size [2, 3]', 1, true)
    assert.error_matches(function() gru({ w, w }, x) end, 'gru(): Expected hx of size [1, 2, ...], got [5, 2, 3]', 1, true)
    assert.error_matches(function() torch.lstm(x, { h }, { w, w }, false, 1, 0.0, false, false, false) end, 'lstm expects two hidden states, got 1', 1, true)
  end)
end)
