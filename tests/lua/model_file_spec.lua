-- model_file_spec.lua - safetensors files with a graph, as lt_model_save writes them (lib/model): the
-- tests in C compare their results (tests/core/model_lua_test.c).

local torch = require 'torch'
local host = require 'torch.model.host'

describe('a safetensors file with a graph #cpu', function()
  local folder, path

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    path = folder .. '.safetensors'
    local net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    torch.onnx.export(net, { torch.ones(1, 3) }, folder .. '.onnx', { input_names = { 'x' }, dynamic_axes = { x = { 'n' } } })
  end)
  after_each(function()
    for _, suffix in ipairs { '.onnx', '.pt2', '.safetensors' } do os.remove(folder .. suffix) end
  end)

  it('has the tensors by their names and keeps dynamic sizes', function()
    host.save(host.open(folder .. '.onnx'), path)
    local saved = torch.load(path)
    assert.same({ 2, 3 }, { table.unpack(saved['0.weight'].shape) })
    assert.equal(torch.uint8, saved['ltensor.model'].dtype)
    local again = host.open(path)
    assert.same({ -1, 3 }, again.inputs[1].sizes)
    local file = io.open(path, 'rb')
    local bytes = file:read 'a'
    file:close()
    local x = torch.rand(5, 3)
    assert.is_true(torch.equal(again.model(x), host.open(bytes, true).model(x)))
  end)

  for _, source in ipairs { 'onnx', 'pt2' } do
    it('is refused without a tensor of its graph, or with another shape: ' .. source, function()
      host.save(host.open(source == 'onnx' and folder .. '.onnx' or 'tests/core/models/mixer.pt2'), path)
      local saved, name = torch.load(path), source == 'onnx' and '0.weight' or 'up.weight'
      for _, change in ipairs { 'absent', 'other' } do
        local names, tensors = {}, {}
        for key, tensor in pairs(saved) do
          if key ~= name or change == 'other' then
            names[#names + 1], tensors[#tensors + 1] = key, key == name and torch.zeros(7) or tensor
          end
        end
        torch._C.save_safetensors(path, names, tensors, {})
        assert.error_matches(function() host.open(path) end, name, 1, true)
      end
    end)
  end

  it('of ordinary tensors is refused, and other suffixes are', function()
    torch.save({ a = torch.ones(1) }, path)
    assert.error_matches(function() host.open(path) end, 'safetensors without a graph', 1, true)
    local state = host.open(folder .. '.onnx')
    assert.error_matches(function() host.save(state, folder .. '.pth') end, 'the suffix is .onnx, .pt2 or .safetensors', 1, true)
  end)

  it('is not written if the file of the model is another one now', function()
    local state = host.open(folder .. '.onnx')
    torch.onnx.export(torch.nn.ReLU(), { torch.ones(1) }, folder .. '.onnx')
    assert.error_matches(function() host.save(state, path) end, "has no tensor '0.", 1, true)
  end)
end)
