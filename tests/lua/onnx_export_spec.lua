-- torch.onnx.export: the models of tests/onnx/exported.lua, written and loaded again, and what export refuses. Where Python has
-- onnx and onnxruntime, they check and run them too (tests/onnx/export.py).

local torch = require 'torch'
local nn = require 'torch.nn'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local cases = dofile(here .. '../onnx/exported.lua')
local flatten = require 'torch.onnx.export.record'.flatten

local folder
setup(function() folder = process.run('mktemp -d'):gsub('\n', '') end)
teardown(function() process.run('rm -rf ' .. folder) end)

local function results(module, args)
  local _ <close> = torch.no_grad()
  return flatten({ module(table.unpack(args)) }, {})
end

local function assert_equal(wanted, got)
  assert.are.equal(#wanted, #got)
  for i, tensor in ipairs(wanted) do
    assert.are.equal(tensor.dtype, got[i].dtype)
    assert.are.equal(tostring(tensor.shape), tostring(got[i].shape))
    assert.is_true(torch.allclose(got[i]:double(), tensor:double(), { rtol = 1e-4, atol = 1e-5, equal_nan = true }), 'output ' .. i)
  end
end

local function export(module, args, options)
  local path = folder .. '/model.onnx'
  torch.onnx.export(module, args, path, options)
  return torch.onnx.load(path)
end

local function assert_fails(message, ...)
  local ok, got = pcall(torch.onnx.export, ...)
  assert.is_false(ok)
  assert.is_truthy(tostring(got):find(message, 1, true), tostring(got))
end

local function of(f)
  local class = nn.Module:extend 'Function'
  class.forward = f
  return class()
end

describe('an exported model', function()
  for i, case in ipairs(cases) do
    it('is the module again: ' .. case[1], function()
      torch.manual_seed(i)
      local module, args, options = table.unpack(case[2](), 1, 3)
      local loaded = export(module, args, options)
      assert_equal(results(module:eval(), args), results(loaded, flatten(args, {})))
    end)
  end

  it('is taken by onnx and onnxruntime, where they are', function()
    local _, _, status = process.run 'python3 -c "import numpy, onnx, onnxruntime"'
    if status ~= 0 then return end -- the round trip above is what is tested then
    for _, opset in ipairs { '', 13, 15, 17 } do
      process.run(('rm -f %s/*'):format(folder))
      local output, message, code = process.run(("%s %s../onnx/export.lua %s '' %s && python3 %s../onnx/export.py %s"):format(process.quote(process.ltensor), here, folder, opset, here, folder))
      assert.are.equal(0, code, output .. message)
    end
  end)
end)

describe('an older opset', function()
  local lacking = { [13] = 0, [17] = 0 }

  it('gives the same results, or an error with the operator and the needed opset', function()
    for opset in pairs(lacking) do
      for i, case in ipairs(cases) do
        torch.manual_seed(i)
        local module, args, options = table.unpack(case[2](), 1, 3)
        options = options or {}
        options.opset_version = opset
        local ok, loaded = pcall(export, module, args, options)
        if ok then
          assert_equal(results(module:eval(), args), results(loaded, flatten(args, {})))
        else
          assert.is_truthy(loaded:find(('^[^:]*:?%%d*:? ?torch.onnx.export: \'[%%w_]+\' in .*needs opset_version 1[4-8] or newer, got %d$'):format(opset)), loaded)
          lacking[opset] = lacking[opset] + 1
        end
      end
    end
    assert.same({ [13] = 10, [17] = 0 }, lacking)
  end)

  it('accepts dtypes that its operators lack', function()
    local small, half = torch.tensor({ -100, 3, 100 }, { dtype = torch.int8 }), torch.tensor({ -1, 0.5, 2 }, { dtype = torch.float16 })
    local programs = {
      { of(function(_, x) return x + x, x * 2 - x end), small }, { of(function(_, x) return x:relu() end), small },
      { of(function(_, x) return x:relu() end), small:long() }, { of(function(_, x) return x:cumsum(1) end), half },
      { of(function(_, x) return torch.where(x:gt(0), x, -x), x:le(0.5), x:pow(3) end), half:bfloat16() }, { nn.LayerNorm(3):half(), half },
      { nn.Mish(), half }, { nn.Mish(), torch.tensor({ -1000, -30, -1, 0, 1, 30, 1000 }, { dtype = torch.float64 }) },
    }
    for i, program in ipairs(programs) do
      for _, opset in ipairs { 13, 14, 15, 16, 17 } do
        local loaded = export(program[1], { program[2] }, { opset_version = opset })
        local wanted, got = results(program[1], { program[2] }), results(loaded, { program[2] })
        for k, tensor in ipairs(wanted) do
          assert.are.equal(tensor.dtype, got[k].dtype)
          assert.is_true(torch.allclose(got[k]:double(), tensor:double(), { rtol = 2e-3, atol = 1e-9 }), ('program %d, opset %d'):format(i, opset))
        end
      end
    end
  end)

  it('names the operator that it lacks', function()
    local path = folder .. '/x.onnx'
    assert_fails("'bitwise_and' in the module (Function): the operator BitwiseAnd needs opset_version 18 or newer, got 17",
      of(function(_, x) return x & 3 end), { torch.tensor { 5, 6 } }, path, { opset_version = 17 })
    assert_fails("the operator GridSample needs opset_version 16 or newer, got 15",
      of(function(_, x, grid) return nn.functional.grid_sample(x, grid) end), { torch.rand(1, 1, 3, 3), torch.rand(1, 2, 2, 2) }, path, { opset_version = 15 })
    assert_fails("the attribute 'reduction' of the operator ScatterElements needs opset_version 16 or newer, got 13",
      of(function(_, x, y) return x:scatter_add(1, torch.tensor { 1, 1 }, y) end), { torch.rand(3), torch.rand(2) }, path, { opset_version = 13 })
    assert_fails("the attribute 'allowzero' of the operator Reshape needs opset_version 14 or newer, got 13",
      of(function(_, x) return x:reshape(0, 2) end), { torch.rand(0, 3) }, path, { opset_version = 13 })
  end)
end)

describe('dynamic sizes', function()
  it('may be others than the recorded ones', function()
    local models = require 'torch.utils.models'
    local gpt = models.GPT(20, { width = 16, heads = 2, layers = 1, length = 12, dropout = 0 }):eval()
    local loaded = export(gpt, { torch.randint(1, 21, { 4, 9 }) }, { input_names = { 'x' }, dynamic_axes = { x = { [1] = 'n', [2] = 'length' } } })
    for _, sizes in ipairs { { 1, 1 }, { 2, 12 }, { 7, 3 } } do
      local x = torch.randint(1, 21, sizes)
      assert_equal(results(gpt, { x }), results(loaded, { x }))
    end
  end)

  it('exported dynamic sizes keep the program\'s arithmetic on them', function()
    local module = of(function(_, x)
      local n, m = x:size(1), x:size(2)
      return x:reshape(n * m, 6):view(n, m * 2, 3), torch.arange(2 * m + 1), x:narrow(2, 2, m // 2), torch.full({ m, n }, 7), x:var(1)
    end)
    local loaded = export(module, { torch.randn(5, 8, 6) }, { input_names = { 'x' }, dynamic_axes = { x = { [1] = 'n' } } })
    local x = torch.randn(3, 8, 6)
    assert_equal(results(module, { x }), results(loaded, { x }))
  end)

  it('of one name are one', function()
    local module = of(function(_, x, y) return x + y end)
    local options = { input_names = { 'x', 'y' }, dynamic_shapes = { x = { [1] = 'n' }, y = { [1] = 'n' } } }
    local loaded = export(module, { torch.randn(4, 2), torch.randn(4, 2) }, options)
    assert_equal({ torch.full({ 9, 2 }, 2.0) }, results(loaded, { torch.ones(9, 2), torch.ones(9, 2) }))
    assert_fails("the dynamic size 'n' is 4 in input 'x' and 1 in 'y'", module, { torch.randn(4, 2), torch.randn(1, 2) }, folder .. '/x.onnx', options)
  end)

  it('must be of a form that a graph can compute', function()
    local options = { input_names = { 'x' }, dynamic_axes = { x = { 1 } } }
    assert_fails("'full' in the module (Function): a size, 25, 16, 9 in the recordings, is no multiple or fraction", of(function(_, x)
      return torch.full({ x:size(1) ^ 2 // 1 | 0 }, 1.0)
    end), { torch.randn(5) }, folder .. '/x.onnx', options)
    assert_fails('other operations where the sizes of the inputs differ', of(function(_, x)
      for _ = 1, x:size(1) do x = x * 2 end
      return x
    end), { torch.randn(5) }, folder .. '/x.onnx', options)
    assert_fails("dim 3 of input 'x', which has 1", nn.ReLU(), { torch.randn(5) }, folder .. '/x.onnx', { input_names = { 'x' }, dynamic_axes = { x = { [3] = 'n' } } })
    assert_fails("names 'y', which is no input", nn.ReLU(), { torch.randn(5) }, folder .. '/x.onnx', { dynamic_axes = { y = { [1] = 'n' } } })
  end)
end)

describe('export', function()
  it('keeps the names of parameters, and the module as it was', function()
    local module = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.LSTM(4, 2)):train()
    module[3]:eval()
    local loaded = export(nn.Sequential(module[1], module[2]), { torch.randn(2, 3) }, { input_names = { 'x' }, output_names = { 'y' } })
    assert.are.same({ '0.weight', '0.bias' }, table.move(loaded:state_dict(), 1, 2, 1, {}))
    assert.are.equal('x', loaded.inputs[1].name)
    assert.are.equal('y', loaded.outputs[1].name)
    assert.is_true(module[1].training)
    assert.is_true(module[2].training)
    assert.is_false(module[3].training)
  end)

  it('names the operation that ONNX does not have, and the module', function()
    local net = nn.Sequential(nn.ReLU(), of(function(_, x) return x:igamma(x) end))
    assert_fails('a Fourier transform (torch.fft, torch.stft) in the module (Function): ltensor cannot export it; compute it before the module',
      of(function(_, x) return torch.fft.rfft(x):abs() end), { torch.rand(8) }, folder .. '/x.onnx')
    assert_fails("'igamma' in 1 (Function): ONNX has no equivalent", net, { torch.rand(3) }, folder .. '/x.onnx')
    assert.is_nil(io.open(folder .. '/x.onnx'))
  end)

  it('export rejects programs that depend on values or random numbers', function()
    assert_fails("'item' reads numbers that depend on the inputs", of(function(_, x) return x * x:sum():item() end), { torch.rand(3) }, folder .. '/x.onnx')
    assert_fails("'rand' in the module (Function): ONNX has no equivalent", of(function(_, x) return x + torch.rand(3) end), { torch.rand(3) }, folder .. '/x.onnx')
    assert_fails('x[...] = value has no equivalent', of(function(_, x)
      local y = x * 1
      y[1] = 0
      return y
    end), { torch.rand(3) }, folder .. '/x.onnx')
    assert_fails('changed through another one that shares its memory', of(function(_, x)
      local y = x * 1
      local view = y:view(3)
      y:add_(1)
      return view
    end), { torch.rand(3) }, folder .. '/x.onnx')
  end)

  it('export names the invalid argument', function()
    assert_fails("argument 'model' must be a Module", 5, { torch.rand(3) }, 'x.onnx')
    assert_fails('opset_version 9; ltensor writes 13 to 23', nn.ReLU(), { torch.rand(3) }, folder .. '/x.onnx', { opset_version = 9 })
    assert_fails('input_names has 2 names for 1 tensors', nn.ReLU(), { torch.rand(3) }, folder .. '/x.onnx', { input_names = { 'a', 'b' } })
    assert_fails('unexpected', nn.ReLU(), { torch.rand(3) }, folder .. '/x.onnx', { inputs = { 'a', 'b' } })
    assert_fails('the module returns no tensors', of(function() return 3 end), { torch.rand(3) }, folder .. '/x.onnx')
  end)
end)
