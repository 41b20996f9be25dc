-- default_device_spec.lua - torch.set_default_device: what makes tensors makes them there, unless it is told another place.

local torch = require 'torch'
local device = tostring(torch.zeros(1, { device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu' }).device) -- 'cuda' is the current one

describe('the default device', function()
  after_each(function() torch.set_default_device(nil) end)

  it('is where lazy layers make their parameters and buffers', function()
    torch.set_default_device(device)
    for _, layer in ipairs { torch.nn.LazyLinear(3), torch.nn.LazyBatchNorm1d() } do
      assert.equal(device, tostring(layer(torch.ones(2, 5)).device))
      for _, tensor in ipairs(layer:parameters()) do assert.equal(device, tostring(tensor.device)) end
      for _, tensor in ipairs(layer:buffers()) do assert.equal(device, tostring(tensor.device)) end
    end
  end)

  it('is where tensors are made that name none', function()
    assert.equal('cpu', tostring(torch.get_default_device()))
    local plain = torch.zeros
    torch.set_default_device(device)
    assert.equal(torch.device(device), torch.get_default_device())
    local like = torch.ones({ 2 }, { device = 'cpu' })
    for name, x in pairs {
      zeros = torch.zeros(2, 3), shape = torch.zeros({ 2, 3 }), none = torch.zeros({}), ones = torch.ones(2, { dtype = torch.float64 }),
      tensor = torch.tensor { 1, 2 }, empty = torch.tensor {}, full = torch.full({ 2 }, 7), arange = torch.arange(3), eye = torch.eye(2),
      options = torch.tensor { 1, 2, dtype = torch.float64 }, sizes = torch.zeros { 2, 3, dtype = torch.int32 },
      rand = torch.rand(2), randint = torch.randint(0, 5, { 2 }), randperm = torch.randperm(4), number = torch.tensor(3.0),
    } do
      assert.equal(device, tostring(x.device), name)
    end
    assert.equal('cpu', tostring(torch.zeros(2, { device = 'cpu' }).device))
    assert.equal('cpu', tostring(torch.tensor({ 1, device = 'cpu' }).device))
    assert.equal('cpu', tostring(torch.zeros_like(like).device))
    assert.equal(device, tostring(torch.nn.Linear(2, 3).weight.device))
    assert.equal(torch.float64, torch.ones(2, { dtype = torch.float64 }).dtype)
    torch.set_default_device 'cpu'
    assert.equal('cpu', tostring(torch.zeros(2).device))
    assert.equal(plain, torch.zeros)
  end)

  it('does not change the meaning of an empty table', function()
    local calls = [[zeros({}) zeros(2,{}) zeros({},{}) ones({}) empty({}) empty(2,{}) rand({}) rand(2,3,{}) randn({}) randn({2},{}) full({},7)
      full({},7,{}) full({2},7,{}) randint(9,{}) randint(1,9,{}) randint(9,{},{}) randint(1,9,{2},{}) empty_strided({},{})
      empty_strided({},{},{}) empty_strided({2},{1},{}) arange(3,{}) arange(1,3,{}) linspace(0,1,3,{}) logspace(0,1,3,{}) eye(2,{})
      randperm(4,{}) tril_indices(3,3,{}) triu_indices(3,3,{}) tensor({}) tensor({},{}) as_tensor({}) asarray({})]]
    for call in calls:gmatch '%S+' do
      local create = load('return torch.' .. call, call, 't', { torch = torch })
      torch.set_default_device(nil)
      local shape = tostring(create().shape)
      torch.set_default_device(device)
      local x = create()
      assert.equal(shape, tostring(x.shape), call)
      assert.equal(device, tostring(x.device), call)
    end
  end)

  it('does not matter to the positions that samplers and loaders draw', function()
    local data = torch.utils.data
    local function positions()
      torch.manual_seed(5)
      local found, dataset = {}, data.TensorDataset(torch.arange(6, { device = 'cpu' }))
      for _, sampler in ipairs { data.RandomSampler(dataset), data.SubsetRandomSampler { 1, 2, 3, 4 } } do
        for i in sampler:iter() do found[#found + 1] = i end
      end
      for x in data.DataLoader(dataset, { shuffle = true }) do found[#found + 1] = x:item() end
      for _, part in ipairs { data.random_split(dataset, { 2, 4 }) } do
        for i = 1, #part do found[#found + 1] = part[i]:item() end
      end
      return found
    end
    local expected = positions()
    torch.set_default_device(device)
    assert.same(expected, positions())
  end)

  it('must be one', function()
    local ok, message = pcall(torch.set_default_device, 1.5)
    assert.is_false(ok)
    assert(message:find("argument 'device' must be a device", 1, true), message)
  end)
end)
