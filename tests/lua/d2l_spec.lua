-- d2l_spec.lua - the book's companion: what its classes promise besides what the notebooks of docs/book show.

local torch = require 'torch'
local d2l = require 'd2l'
local nn = torch.nn
local device = os.getenv('LTENSOR_TEST_DEVICE') or 'cpu'

local function fails_with(text, fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  assert(tostring(message):find(text, 1, true), message)
end

describe('d2l', function()
  it('finds every name that it lists, and is one module under both of its names', function()
    for name in pairs(d2l.__names) do assert(d2l[name] ~= nil, name) end
    assert.is_true(rawequal(d2l, require 'torch.d2l'))
    assert.is_nil(d2l.no_such_name)
  end)

  it('keeps what init was called with, but not what is left out', function()
    local B = d2l.HyperParameters:extend 'B'
    function B:init(a, b, options) self:save_hyperparameters { ignore = { 'b' } } end
    local object = B(1, 2, { c = 3 })
    assert.same({ 1, nil, 3 }, { object.a, object.b, object.c })
    assert.same({ a = 1, c = 3 }, object.hparams)
  end)

  it('counts time and sums', function()
    local timer = d2l.Timer()
    local seconds = timer:stop()
    timer:start()
    local more = timer:stop()
    assert.near(seconds + more, timer:sum(), 1e-9)
    assert.near((seconds + more) / 2, timer:avg(), 1e-9)
    assert.near(seconds + more, timer:cumsum()[2], 1e-9)
    local metric = d2l.Accumulator(2)
    metric:add(1, torch.tensor(2., { device = device }))
    metric:add(1, torch.tensor(3., { device = device }))
    assert.same({ 2, 5 }, { metric[1], metric[2] })
    fails_with('2 sums are kept and 1 values were given', metric.add, metric, 1)
  end)
end)

describe('d2l.ProgressBoard', function()
  it('makes one point of every_n, and reads tensors where they are', function()
    torch.cuda.reset_copies()
    local board = d2l.ProgressBoard { xlabel = 'x', display = false }
    for i = 1, 4 do board:draw(i, torch.tensor(i * 1., { device = device }), 'y', 2) end
    board:draw(5, 7, 'z')
    local x, y = board:points 'y'
    assert.same({ { 1.5, 3.5 }, { 1.5, 3.5 } }, { x, y })
    assert.same({ { 5 }, { 7 } }, { board:points 'z' })
    fails_with("no line 'w', only: y, z", board.points, board, 'w')
    assert.equal(0, torch.cuda.copies('item').count)
    assert.truthy(tostring(board):find('━━ y   ━━ z', 1, true))
  end)

  it('shows what is left over when it ends, writes files, and takes logarithms', function()
    local path = os.tmpname() .. '.svg'
    local board = d2l.ProgressBoard { ylabel = 'loss', yscale = 'log', file = path }
    for i = 1, 3 do board:draw(i, 10 ^ i, 'y', 2) end
    board:finish()
    assert.same({ { 1.5, 3 }, { 55, 1000 } }, { board:points 'y' })
    local file = assert(io.open(path))
    local text = file:read 'a'
    file:close()
    os.remove(path)
    assert.truthy(text:find('>log10 loss<', 1, true))
  end)
end)

describe('d2l.Trainer', function()
  local function data(n)
    torch.manual_seed(0)
    return d2l.SyntheticRegressionData { w = torch.tensor { 2., -3.4 }, b = 4.2, num_train = n or 64, num_val = 32 }
  end

  it('trains as many epochs as it is told, on the first GPU where it may', function()
    local model = d2l.LinearRegression { lr = 0.1 }
    local trainer = d2l.Trainer { max_epochs = 3, num_gpus = 1 }
    trainer:fit(model, data(500))
    assert.equal(3 * 16, trainer.train_batch_idx)
    assert.equal(device == 'cpu' and not torch.cuda.is_available() and 'cpu' or 'cuda', model.net.weight.device.type)
    local w, b = model:get_w_b()
    assert.is_true(torch.allclose(w:cpu(), torch.tensor { { 2., -3.4 } }, { atol = 0.1 }))
    assert.near(4.2, b:cpu():item(), 0.1)
    local x = model.board:points 'val_loss'
    assert.same({ 1, 2, 3 }, x)
  end)

  it('clips gradients', function()
    local model = d2l.LinearRegressionScratch(2, 1)
    local seen = {}
    function model.configure_optimizers() return { zero_grad = function() end, step = function()
      seen[#seen + 1] = torch.nn.utils.clip_grad_norm_(model:parameters(), 1e9):item()
      model:zero_grad()
    end } end
    d2l.Trainer({ max_epochs = 1, gradient_clip_val = 0.5 }):fit(model, data())
    for _, norm in ipairs(seen) do assert.is_true(norm <= 0.5001) end
    assert.equal(2, #seen)
  end)

  it('says what it cannot train', function()
    local Stream = d2l.DataModule:extend 'Stream'
    function Stream:get_dataloader() return function() end end
    fails_with('train_dataloader() must give a loader', function() d2l.Trainer(1):fit(d2l.LinearRegression(0.1), Stream()) end)
    fails_with("a model and data are expected", function() d2l.Trainer(1):fit(d2l.LinearRegression(0.1)) end)
    fails_with("missing 1 required positional argument: 'max_epochs'", function() d2l.Trainer {} end)
    fails_with("unexpected keyword argument 'epochs'", function() d2l.Trainer { epochs = 1 } end)
    fails_with('has no method get_dataloader', function() d2l.DataModule():train_dataloader() end)
    fails_with('has neither a field net', function() d2l.Module()(1) end)
  end)
end)

describe('d2l.FashionMNIST #cpu', function()
  it('has pictures of the size that was asked for, and classes from 1', function()
    local data = d2l.FashionMNIST { batch_size = 4, resize = { 12, 10 }, num_train = 8, num_val = 4 }
    for X, y in data:train_dataloader() do
      assert.equal(torch.Size { 4, 1, 12, 10 }, X.shape)
      assert.is_true(y:min():item() >= 1 and y:max():item() <= 10)
    end
    assert.same({ 't-shirt', 'ankle boot' }, data:text_labels { 1, 10 })
    fails_with('classes are 1 to 10, not 0', data.text_labels, data, { 0 })
  end)

  it('says what is missing', function()
    fails_with('dataset-fashion-mnist', d2l.FashionMNIST, { folder = '/nonexistent' })
    fails_with('no part of this program, which downloads nothing', d2l.find_file, nil, 'timemachine.txt', 'get it')
  end)
end)

describe('pictures of d2l', function()
  it('are put side by side', function()
    local figure = d2l.show_images(torch.rand(4, 1, 3, 3), 2, 2, { 'a', 'b', 'c', 'd' })
    assert.same({ 8, 8, 'a, b | c, d' }, { figure.width, figure.height, figure.title })
    fails_with('4 images are wanted, there are 2', d2l.show_images, { torch.rand(3, 3), torch.rand(3, 3) }, 2, 2)
    assert.same({ 9, 7 }, { d2l.show_heatmaps(torch.rand(2, 2, 3, 4)).width, d2l.show_heatmaps(torch.rand(2, 2, 3, 4)).height })
  end)
end)
