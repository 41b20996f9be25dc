-- d2l_spec.lua - the book's companion: what its classes promise besides what the notebooks of docs/book show.

local torch = require 'torch'
local d2l = require 'd2l'
local fails_with = require 'support.fails_with'
local process = require 'support.process'
local device = os.getenv('LTENSOR_TEST_DEVICE') or 'cpu'

describe('d2l', function()
  it('finds every name that it lists, and is one module under both of its names', function()
    for name in pairs(d2l.__names) do assert(d2l[name] ~= nil, name) end
    assert.is_true(rawequal(d2l, require 'torch.d2l'))
    assert.is_nil(d2l.no_such_name)
  end)

  it('save_hyperparameters stores the arguments of init except ignored ones', function()
    local B = d2l.HyperParameters:extend 'B'
    function B:init(a, b, options) self:save_hyperparameters { ignore = { 'b' } } end
    local object = B(1, 2, { c = 3 })
    assert.same({ 1, nil, 3 }, { object.a, object.b, object.c })
    assert.same({ a = 1, c = 3 }, object.hparams)
  end)

  it('takes the book\'s sizes where the environment asks for them, and no more than it allows', function()
    local code = "print(pcall(require 'd2l'.sized, 1, 10, 'D2L_EPOCHS'))"
    local function sized(environment) return (process.lua(code, '--disable-cuda', environment):gsub('\n$', '')) end
    assert.equal('true\t1', sized 'D2L_FULL= D2L_EPOCHS=3')
    assert.equal('true\t10', sized 'env -u D2L_EPOCHS D2L_FULL=1')
    assert.equal('true\t3', sized 'D2L_FULL=1 D2L_EPOCHS=3')
    assert.equal('true\t10', sized 'D2L_FULL=1 D2L_EPOCHS=30')
    for _, wrong in ipairs { '0', '1.5', 'many' } do
      assert.matches("D2L_EPOCHS must be a positive integer, not '" .. wrong .. "'", sized('D2L_FULL=1 D2L_EPOCHS=' .. wrong), 1, true)
    end
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
    fails_with('expected 2 values, one per sum, but got 1', metric.add, metric, 1)
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

  it('a ProgressBoard shows the remaining points at its end, writes files, and supports log scales', function()
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

  it('a Trainer trains for max_epochs, on the first GPU if there is one', function()
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

  it('SGD subtracts lr times the gradient and zeroes each gradient', function()
    local function leaf(t) return torch.tensor(t, { device = device, requires_grad = true }) end
    local w, b, unused = leaf { 1, 2. }, leaf { 3. }, leaf { 0. };
    (w * w):sum():add(b:sum()):backward()
    d2l.SGD({ w, b }, 0.5):step()
    assert.same({ { 0, 0 }, { 2.5 } }, { w:tolist(), b:tolist() })
    d2l.SGD({ unused, w, b }, 1):zero_grad()
    assert.same({ { 0, 0 }, { 0 } }, { w.grad:tolist(), b.grad:tolist() })
  end)

  it('a Trainer rejects a model or data that it cannot train', function()
    local Stream = d2l.DataModule:extend 'Stream'
    function Stream:get_dataloader() return function() end end
    fails_with('train_dataloader() must return a loader', function() d2l.Trainer(1):fit(d2l.LinearRegression(0.1), Stream()) end)
    fails_with("a model and data are expected", function() d2l.Trainer(1):fit(d2l.LinearRegression(0.1)) end)
    fails_with("missing 1 required argument: 'max_epochs'", function() d2l.Trainer {} end)
    fails_with("unexpected keyword argument 'epochs'", function() d2l.Trainer { epochs = 1 } end)
    fails_with('has no method get_dataloader', function() d2l.DataModule():train_dataloader() end)
    fails_with('has neither a field net', function() d2l.Module()(1) end)
  end)
end)

describe('d2l.FashionMNIST #cpu', function()
  it('FashionMNIST resizes its images and counts classes from 1', function()
    local data = d2l.FashionMNIST { batch_size = 4, resize = { 12, 10 }, num_train = 8, num_val = 4 }
    for X, y in data:train_dataloader() do
      assert.equal(torch.Size { 4, 1, 12, 10 }, X.shape)
      assert.is_true(y:min():item() >= 1 and y:max():item() <= 10)
    end
    assert.same({ 't-shirt', 'ankle boot' }, data:text_labels { 1, 10 })
    fails_with('classes are 1 to 10, not 0', data.text_labels, data, { 0 })
  end)

  it('FashionMNIST names missing files', function()
    fails_with('dataset-fashion-mnist', d2l.FashionMNIST, { folder = '/nonexistent' })
    fails_with("pass the folder with {folder = 'DIR'}", d2l.FashionMNIST, { folder = '/nonexistent' })
    fails_with('does not exist, and ltensor downloads nothing', d2l.find_file, nil, 'timemachine.txt', 'get it')
  end)
end)

describe('pictures of d2l', function()
  it('are put side by side', function()
    local figure = d2l.show_images(torch.rand(4, 1, 3, 3), 2, 2, { 'a', 'b', 'c', 'd' })
    assert.same({ 8, 8, 'a, b | c, d' }, { figure.width, figure.height, figure.title })
    fails_with('expected 4 images, but got 2', d2l.show_images, { torch.rand(3, 3), torch.rand(3, 3) }, 2, 2)
    assert.same({ 9, 7 }, { d2l.show_heatmaps(torch.rand(2, 2, 3, 4)).width, d2l.show_heatmaps(torch.rand(2, 2, 3, 4)).height })
  end)
end)

describe('d2l.Vocab', function()
  it('counts from 1, the unknown token first', function()
    local vocab = d2l.Vocab({ { 'a', 'b', 'a' }, { 'c' } }, 2, { '<pad>' })
    assert.same({ '<unk>', '<pad>', 'a' }, vocab.idx_to_token)
    assert.same({ 3, { 1, 2 } }, vocab { 'a', { 'zebra', '<pad>' } })
    assert.equal(1, vocab 'b')
    assert.same({ 'a', '<unk>' }, vocab:to_tokens(torch.tensor { 3, 1 }))
    assert.same({ 'a', 2 }, vocab.token_freqs[1])
    fails_with('positions are 1 to 3, not 0', vocab.to_tokens, vocab, 0)
  end)
end)

describe('texts of d2l', function()
  local function with_file(text, body)
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write(text)
    file:close()
    body(path)
    os.remove(path)
  end

  it('TimeMachine yields windows of characters and the following characters', function()
    with_file('The Time-Machine\n', function(path)
      local data = d2l.TimeMachine { batch_size = 2, num_steps = 3, num_train = 4, num_val = 2, path = path }
      assert.equal('the time machine ', table.concat(data.vocab:to_tokens(data.corpus)))
      for X, Y in data:val_dataloader() do
        assert.equal('tim', table.concat(data.vocab:to_tokens(X[1])))
        assert.equal('ime', table.concat(data.vocab:to_tokens(Y[1])))
      end
      fails_with('fewer than a window', d2l.TimeMachine, 2, 100, { path = path })
    end)
    fails_with('downloads nothing', d2l.TimeMachine, 2, 3)
  end)

  it('are pairs of sentences, cut and filled', function()
    with_file('Go.\tVa !\nRun fast!\tCours vite !\n', function(path)
      local data = d2l.MTFraEng { batch_size = 1, num_steps = 3, num_train = 1, num_val = 1, path = path }
      local source, target, len, label = data:build({ 'go .' }, { 'va !' })
      assert.same({ '<unk>', '<unk>', '<eos>' }, data.src_vocab:to_tokens(source[1]))
      assert.same({ '<bos>', '<unk>', '!' }, data.tgt_vocab:to_tokens(target[1]))
      assert.same({ '<unk>', '!', '<eos>' }, data.tgt_vocab:to_tokens(label[1]))
      assert.same({ 3 }, len:tolist())
      fails_with('fewer than num_train + num_val (9)', d2l.MTFraEng, { batch_size = 1, num_train = 8, num_val = 1, path = path })
    end)
    assert.same({ 1, 2 }, d2l.truncate_pad({ 1, 2, 3 }, 2, 9))
    assert.same({ 1, 9 }, d2l.truncate_pad({ 1 }, 2, 9))
  end)

  it('are compared by BLEU', function()
    assert.equal(1, d2l.bleu('a b c', 'a b c', 2))
    assert.near(math.exp(1 - 3 / 2), d2l.bleu('a b', 'a b c', 2), 1e-12)
    assert.near((2 / 3) ^ 0.5 * (1 / 2) ^ 0.25, d2l.bleu('a b x', 'a b c', 2), 1e-12)
    assert.equal(0, d2l.bleu('', 'a', 2))
    assert.equal(0.5 ^ 0.5, d2l.bleu('a a', 'a b', 1), 'a token matches once')
  end)

  it('are judged: files in the form of SNLI', function()
    with_file('gold_label\tsentence1\tsentence2\nneutral\t( A ( man sleeps ) )\t( He dreams )\n-\t( x )\t( y )\n', function(path)
      local folder = path .. '.d'
      os.execute(('mkdir %s && cp %s %s/snli_1.0_test.txt'):format(folder, path, folder))
      assert.same({ { 'A man sleeps' }, { 'He dreams' }, { 3 } }, { d2l.read_snli(folder, false) })
      os.execute('rm -r ' .. folder)
    end)
    fails_with('holds no reviews', d2l.read_imdb, '/nonexistent', true)
  end)
end)

describe('attention of d2l', function()
  it('masked_softmax ignores positions beyond the valid length, on every device', function()
    local X = torch.zeros(2, 1, 3, { device = device })
    local weights = d2l.masked_softmax(X, torch.tensor({ 1, 2 }, { device = device })):cpu()
    assert.same({ { { 1, 0, 0 } }, { { 0.5, 0.5, 0 } } }, weights:tolist())
    assert.same({ 3 }, { d2l.masked_softmax(X):cpu():gt(0):sum(3)[{ 1, 1 }]:item() })
    fails_with('one or two dimensions', d2l.masked_softmax, X, X)
    fails_with('cannot be parted into 3 heads', d2l.MultiHeadAttention, 4, 3)
  end)

  it('in several heads is that of torch.nn with the same weights', function()
    torch.manual_seed(0)
    local mine, theirs = d2l.MultiHeadAttention(8, 2):to(device), nn.MultiheadAttention(8, 2, { bias = false, batch_first = true }):to(device)
    local q, k = torch.randn(2, 3, 8, { device = device }), torch.randn(2, 5, 8, { device = device })
    mine(q, k, k)
    torch.no_grad(function()
      theirs.in_proj_weight:copy_(torch.cat { mine.W_q.weight, mine.W_k.weight, mine.W_v.weight })
      theirs.out_proj.weight:copy_(mine.W_o.weight)
    end)
    assert.is_true(torch.allclose(mine(q, k, k), (theirs(q, k, k)), { atol = 1e-5 }))
  end)
end)

describe('boxes of d2l', function()
  local function tensor(values) return torch.tensor(values, { device = device, dtype = torch.float32 }) end

  it('each true box is assigned its best anchor, the other anchors by overlap', function()
    local anchors = tensor { { 0, 0, 0.5, 0.5 }, { 0.5, 0.5, 1, 1 }, { 0, 0, 0.45, 0.5 }, { 0.9, 0, 1, 0.1 } }
    local truth = tensor { { 0, 0, 0.5, 0.5 }, { 0.6, 0.7, 0.7, 0.8 } }
    assert.same({ 1, 2, 1, 0 }, d2l.assign_anchor_to_bbox(truth, anchors):cpu():tolist())
  end)

  it('come back from their offsets', function()
    local anchors, boxes = tensor { { 0.1, 0.2, 0.5, 0.6 } }, tensor { { 0.2, 0.1, 0.5, 0.9 } }
    assert.is_true(torch.allclose(d2l.offset_inverse(anchors, d2l.offset_boxes(anchors, boxes)), boxes, { atol = 1e-4 }))
  end)

  it('are all background in a picture without objects', function()
    local anchors = tensor { { 0, 0, 0.5, 0.5 }, { 0.5, 0.5, 1, 1 } }:unsqueeze(1)
    local _, masks, classes = d2l.multibox_target(anchors, tensor { { { 0, 0, 0, 0, 0 } } })
    assert.same({ { 1, 1 } }, classes:cpu():tolist())
    assert.equal(0, masks:sum():item())
  end)

  it('anchors are centred on their pixels with the given sizes and ratios', function()
    local prior = d2l.multibox_prior(torch.zeros(1, 1, 2, 4, { device = device }), { 0.5, 0.25 }, { 1, 4 }):cpu()
    assert.equal(torch.Size { 1, 2 * 4 * 3, 4 }, prior.shape)
    local expected = { { 0, 0, 0.25, 0.5 }, { 0.0625, 0.125, 0.1875, 0.375 }, { -0.125, 0.125, 0.375, 0.375 } }
    assert.is_true(torch.allclose(prior['1, 1:3'], torch.tensor(expected)))
  end)
end)

describe('the search of d2l for hyperparameters #cpu', function()
  it('halves the field from rung to rung', function()
    local searcher = d2l.RandomSearcher { x = d2l.LogUniform(0.1, 10) }
    local scheduler, tried = d2l.SuccessiveHalvingScheduler(searcher, 2, 1, 4), {}
    local tuner = d2l.HPOTuner(scheduler, function(config)
      tried[config.max_epochs] = tried[config.max_epochs] or {}
      table.insert(tried[config.max_epochs], config.x)
      return config.x
    end)
    tuner:run(7)
    assert.same({ 4, 2, 1 }, { #tried[1], #tried[2], #tried[4] })
    table.sort(tried[1])
    assert.equal(tried[1][1], tried[4][1])
    assert.equal(tried[1][1], tuner.incumbent_error)
    fails_with('not a rung of this scheduler', scheduler.update, scheduler, { max_epochs = 3 }, 0)
    fails_with('0 < low <= high', d2l.LogUniform, 0, 1)
  end)
end)

describe('d2l.FrozenLake #cpu', function()
  it('ends in holes and at the goal, and stays on the ice', function()
    local lake = d2l.FrozenLake()
    assert.same({ 1, 0, false }, { lake:step(1) })
    for state = 1, lake.num_states do
      for action = 1, lake.num_actions do
        local sum = 0
        for _, outcome in ipairs(d2l.FrozenLake({ is_slippery = true }).mdp[state][action]) do sum = sum + outcome[1] end
        assert.near(1, sum, 1e-12)
      end
    end
    lake:step(3)
    assert.same({ 6, 0, true }, { lake:step(2) })
    fails_with('actions are 1 to 4, not 5', lake.step, lake, 5)
    fails_with("'4x4', '8x8' or a list of rows", d2l.FrozenLake, { map = '5x5' })
  end)
end)
