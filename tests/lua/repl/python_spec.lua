-- Python typed by habit: the Lua spelling that the prompt shows after an error.

local input = require 'repl.input'
local printed = require 'repl.printed'
local python = require 'repl.python'
local session = require 'repl.session'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')

local globals = {}
for name in next, _G do globals[name] = true end

-- Forgets the globals of the cells.
local function forget()
  for name in next, _G do
    if not globals[name] then rawset(_G, name, nil) end
  end
end

-- Runs the cell and returns the lines of its error, or nil; the values of the cell are in the second
-- result.
local function type_cell(state, text)
  assert(not input.is_unfinished(state, text), 'the prompt waits after ' .. text)
  local result
  printed.by(function() result = input.run(state, text) end)
  return result.report and table.concat(state:error_lines(result.report), '\n'), result
end

-- The Lua code of a hint, or nil.
local function code_of(lines)
  local code = lines and lines:match '\nin Lua:%s*(.*)$'
  if not code then return nil end
  local note = code:match '^%(positions count from 1%)\n'
  code = code:gsub('^%(positions count from 1%)\n', ''):gsub('  %(positions count from 1%)', '')
  code = code:gsub('\n  %(cell %d+%):.*$', '')
  return code:gsub('^%s*', ''):gsub('\n  ', '\n'), note
end

-- The chapter on GPUs of Dive into Deep Learning, typed as Python: {cell, Lua of the hint, nil if the
-- cell works; options}. Options: gpus: the number that the cell needs, fails: the Lua raises an error
-- that contains the text.
local chapter = {
  {'!true'},
  {'import torch', false},
  {'from torch import nn', 'nn = torch.nn'},
  {'from d2l import torch as d2l', "d2l = require 'd2l'"},
  {'import torch.nn.functional as F', 'F = torch.nn.functional'},
  {"torch.device('cpu'), torch.device('cuda'), torch.device('cuda:1')"},
  {"def cpu():  #@save\n    \"\"\"Get the CPU device.\"\"\"\n    return torch.device('cpu')",
    "function cpu()\n  -- @save\n  -- Get the CPU device.\n  return torch.device('cpu')\nend"},
  {"def gpu(i=0):  #@save\n    \"\"\"Get a GPU device.\"\"\"\n    return torch.device(f'cuda:{i}')",
    "function gpu(i)\n  i = i or 0\n  -- @save\n  -- Get a GPU device.\n  return torch.device(('cuda:%s'):format(i))\nend"},
  {'cpu(), gpu(), gpu(1)'},
  {'torch.cuda.device_count()'},
  {'def num_gpus():  #@save\n    return torch.cuda.device_count()', 'function num_gpus()\n  -- @save\n  return torch.cuda.device_count()\nend'},
  {'num_gpus()'},
  {'def try_gpu(i=0):', 'function try_gpu(i)\n  i = i or 0\n  -- ...\nend'},
  {'def try_gpu(i=0):\n    if num_gpus() >= i + 1:\n        return gpu(i)\n    return cpu()',
    'function try_gpu(i)\n  i = i or 0\n  if num_gpus() >= i + 1 then\n    return gpu(i)\n  end\n  return cpu()\nend'},
  {'def try_all_gpus():\n    return [gpu(i) for i in range(num_gpus())]',
    'function try_all_gpus()\n  local list = {}\n  for i = 0, num_gpus() - 1 do list[#list + 1] = gpu(i) end\n  return list\nend'},
  {"def try_all_gpus():\n    devices = [torch.device(f'cuda:{i}') for i in range(num_gpus())]\n    return devices if devices else [torch.device('cpu')]",
    "function try_all_gpus()\n  local devices = {}\n  for i = 0, num_gpus() - 1 do devices[#devices + 1] = torch.device(('cuda:%s'):format(i)) end\n" ..
      "  return #devices > 0 and devices or {torch.device('cpu')}\nend"},
  {'try_gpu(), try_gpu(10), try_all_gpus()'},
  {'x = torch.tensor([1, 2, 3])', 'x = torch.tensor{1, 2, 3}'},
  {'x.device'},
  {'X = torch.ones(2, 3, device=try_gpu())', 'X = torch.ones(2, 3, {device = try_gpu()})'},
  {'Y = torch.rand(2, 3, device=try_gpu(1))', 'Y = torch.rand(2, 3, {device = try_gpu(1)})'},
  {'# the two are on different devices', '-- the two are on different devices'},
  {'Z = X.cuda(1)', 'Z = X:cuda(1)', gpus = 2},
  {'print(X)'},
  {'print(Z)'},
  {'Y + Z', gpus = 2},
  {'Z.cuda(1) is Z', 'Z:cuda(1) == Z', gpus = 2},
  {'Z = X', nil},
  {'Z is X', 'Z == X'},
  {'Z is not None', 'Z ~= nil'},
  {'net = nn.Sequential(nn.LazyLinear(1))'},
  {'net = net.to(device=try_gpu())', 'net = net:to{device = try_gpu()}'},
  {'net(X)'},
  {'net[0].weight.data.device', 'net[1].weight.data.device'},
  {'net[0].bias.shape == (1,)', 'net[1].bias.shape == torch.Size{1}'},
  {'X.sum(0), X.mean(dim=1)', 'X:sum(1), X:mean{dim = 2}'},
  {'for i in range(num_gpus()):\n    print(gpu(i))', 'for i = 0, num_gpus() - 1 do\n  print(gpu(i))\nend'},
  {'for i in range(num_gpus()):', 'for i = 0, num_gpus() - 1 do\n  -- ...\nend'},
  {'with torch.no_grad():\n    Y = net(X)', 'do\n  local _ <close> = torch.no_grad()\n  Y = net(X)\nend'},
  {'if torch.cuda.is_available(): print(torch.cuda.get_device_name(0))',
    'if torch.cuda.is_available() then\n  print(torch.cuda.get_device_name(0))\nend'},
  {'X.T @ Y', 'X.T:matmul(Y)'},
  {'X[:, 1] += 2', "X[':, 2']:add_(2)"},
  {'X[0, 1], X[1:, ::2], X[-1]', "X[{1, 2}], X['2:, ::2'], X[-1]"},
  {'X ** 2, X.T', 'X ^ 2, X.T'},
  {'len(X), str(X.device)', '#X, tostring(X.device)'},
  {"print(f'on {X.device}: {X.sum().item():.2f}')", "print(('on %s: %.2f'):format(X.device, X:sum():item()))"},
  {'@d2l.add_to_class(d2l.Trainer)', 'function d2l.Trainer:name(...)\n  -- ...\nend'},
  {'@d2l.add_to_class(d2l.Trainer)  #@save\ndef prepare_batch(self, batch):\n    if self.gpus:\n        batch = [a.to(self.gpus[0]) for a in batch]\n    return batch',
    'function d2l.Trainer:prepare_batch(batch)\n  if self.gpus then\n    batch = (function() local list = {} for _, a in ipairs(batch) do ' ..
      'list[#list + 1] = a:to(self.gpus[1]) end return list end)()\n  end\n  return batch\nend'},
  {'class MLP(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.fc = nn.Linear(3, n)\n\n    def forward(self, X):\n        return F.relu(self.fc(X))',
    "MLP = nn.Module:extend('MLP')\nfunction MLP:init(n)\n  self.fc = nn.Linear(3, n)\nend\nfunction MLP:forward(X)\n  return F.relu(self.fc(X))\nend"},
  {'mlp = MLP(4).to(try_gpu())', 'mlp = MLP(4):to(try_gpu())'},
  {'mlp(X).sum().backward()', 'mlp(X):sum():backward()'},
  {'try:\n    X + torch.ones(7, 7)\nexcept RuntimeError as e:\n    print(e)',
    'local ok, e = pcall(function()\n  local _ = X + torch.ones(7, 7)\nend)\nif not ok then\n  print(e)\nend'},
  {'exit', nil, skips = true},
}

describe('the chapter on GPUs, typed as Python', function()
  after_each(forget)

  it('each cell works, or the prompt shows the Lua line, which works', function()
    local state = session.new()
    local count = 0
    for _, row in ipairs(chapter) do
      local text, expected = row[1], row[2]
      if not row.skips and torch.cuda.device_count() >= (row.gpus or 0) then
        count = count + 1
        local lines = type_cell(state, text)
        if expected == nil then
          assert.is_nil(lines, text)
        elseif expected == false then
          assert.is_truthy(lines and not lines:find 'in Lua', lines)
        else
          local code = code_of(lines)
          assert.equal(expected, code, lines)
          local failed = type_cell(state, code)
          assert.is_nil(failed, failed and text .. '\n' .. failed)
        end
      end
    end
    assert.is_true(count >= 48)
  end)
end)

-- {Python, Lua}: one form each.
local forms = {
  {'import math, os', 'math is loaded'}, {'import numpy as np', 'ltensor has no module numpy'},
  {'from torch.utils.data import DataLoader, TensorDataset', 'DataLoader, TensorDataset = torch.utils.data.DataLoader, torch.utils.data.TensorDataset'},
  {'from math import *', 'write names with their module: math.name'},
  {'def f(x, n=2, *rest, **options):', nil},
  {'def f(x, *rest): return x', 'function f(x, ...)\n  local rest = {...}\n  return x\nend'},
  {'def f(x: int, on=True, off=None) -> int:\n    global total\n    total = x\n    if on:\n        y = x\n    else:\n        y = 0\n    return y',
    'function f(x, on, off)\n  if on == nil then on = true end\n  local y\n  total = x\n  if on then\n    y = x\n  else\n    y = 0\n  end\n  return y\nend'},
  {'class Point:\n    def __init__(self, x): self.x = x\n    def __len__(self): return 2\np = Point(3)',
    'Point = setmetatable({}, {__call = function(class, ...)\n  local self = setmetatable({}, class)\n  class.init(self, ...)\n  return self\nend})\n' ..
      'Point.__index = Point\nfunction Point:init(x)\n  self.x = x\nend\nfunction Point:__len()\n  return 2\nend\np = Point(3)'},
  {'f = lambda x, y: x + y', 'f = function(x, y) return x + y end'},
  {'x = [1, 2.5, "three"]', "x = {1, 2.5, 'three'}"}, {'x = [[1, 2], [3, 4]]', 'x = {{1, 2}, {3, 4}}'},
  {'x = [i ** 2 for i in range(1, 4) if i != 2]', 'x = {}\nfor i = 1, 3 do if i ~= 2 then x[#x + 1] = i ^ 2 end end'},
  {'x = {k: v for k, v in d.items()}', 'x = {}\nfor k, v in pairs(d) do x[k] = v end'},
  {"d = {'a': 1, 'b c': [2]}", "d = {a = 1, ['b c'] = {2}}"}, {'d = dict(a=1, b=None)', 'd = {a = 1, b = nil}'},
  {'t[:, 1]', "t[':, 2']"}, {'t[1, 2]', 't[{2, 3}]'}, {'t[1:3]', "t['2:3']"}, {'t[:-1]', "t[':-2']"}, {'t[..., 0, None]', "t['..., 1, None']"},
  {'t[i:j, k]', 't[{ {i + 1, j}, k }]'}, {'t[:, [2, 0]]', 't[{ {}, torch.tensor{3, 1} }]'}, {'t[t > 2, 0]', 't[{t:gt(2), 1}]'},
  {'t[2:, 0] = 5', "t['3:, 1'] = 5"},
  {'f(a, dim=0, keepdim=True)', 'f(a, {dim = 1, keepdim = true})'}, {'f(*args, **kw)', nil}, {'f(1, **kw)', 'f(1, kw)'}, {'f(1, *args)', 'f(1, table.unpack(args))'},
  {'t.permute(1, 0) != 2', 't:permute(2, 1):ne(2)'}, {'t.repeat(2, 1) ** 2', "t['repeat'](t, 2, 1) ^ 2"},
  {'torch.cat((t, t), dim=0)', 'torch.cat({t, t}, {dim = 1})'}, {'x = 5  # five times', 'x = 5  -- five times'}, {'#: a note', '-- : a note'},
  {'n += 1', 'n = n + 1'}, {'n -= a - b', 'n = n - (a - b)'}, {'n **= 2', 'n = n ^ 2'}, {'t *= 2', 't:mul_(2)'}, {"s += 'x'", "s = s .. 'x'"},
  {'2 ** -n', '2 ^ -n'}, {'-n ** 2', '-n ^ 2'}, {'(a + b) @ c', '(a + b):matmul(c)'}, {'a != b', 'a ~= b'}, {'a is b', 'a == b'}, {'a is not None', 'a ~= nil'},
  {'not a is None', 'a ~= nil'}, {"k in d, 'x' not in d", "d[k] ~= nil, d['x'] == nil"}, {"mode in ('a', 'b')", "mode == 'a' or mode == 'b'"},
  {'1 < n <= 3 != m', '1 < n and n <= 3 and 3 ~= m'}, {'a if n != 1 else b', 'n ~= 1 and a or b'}, {'None if n is None else 3', 'n ~= nil and 3 or nil'},
  {'(2, 3)', '{2, 3}'}, {'a, b = (1, 2)', 'a, b = 1, 2'}, {'x = 1, [2]', 'x = {1, {2}}'}, {'a = b = None', 'b = nil\na = b'},
  {'print n', 'print(n)'}, {"print 'a', n", "print('a', n)"}, {"print(n, end='')", 'io.write(tostring(n))'},
  {'if n:', 'if n then\n  -- ...\nend'}, {'if t.any(): pass', 'if t:any():item() then\nend'}, {'while n != 1: n -= 1', 'while n ~= 1 do\n  n = n - 1\nend'},
  {'elif n == 2:', 'elseif n == 2 then\n  -- ...'}, {'else:', 'else\n  -- ...'},
  {'for i in range(10, 0, -1): print(i)', 'for i = 10, 1, -1 do\n  print(i)\nend'}, {'for i in range(len(t)): print(t[i])', 'for i = 0, #t - 1 do\n  print(t[i + 1])\nend'},
  {'for i, (a, b) in enumerate(data): print(a)', 'for i, entry in ipairs(data) do\n  local a, b = table.unpack(entry)\n  print(a)\nend'},
  {'for a, b in zip(u, v): print(a, b)', 'for position, a in ipairs(u) do\n  local b = v[position]\n  print(a, b)\nend'},
  {'for row in t: print(row)', 'for _, row in t:iter() do\n  print(row)\nend'}, {'for X, y in loader: print(y)', 'for X, y in loader do\n  print(y)\nend'},
  {'for n in names:\n    if n is None: continue\n    print(n)', 'for _, n in ipairs(names) do\n  if n == nil then\n    goto continue\n  end\n  print(n)\n  ::continue::\nend'},
  {'with torch.no_grad(), torch.autocast("cuda") as scope: f()',
    "do\n  local _ <close> = torch.no_grad()\n  local scope <close> = torch.autocast('cuda')\n  f()\nend"},
  {"if __name__ == '__main__':\n    f(x=1)", 'f{x = 1}'}, {'try:', 'local ok, message = pcall(function()\n  -- ...\nend)'}, {"raise ValueError('no')", "error('no')"}, {"assert n == 1, 'no'", "assert(n == 1, 'no')"},
  {'del a, b', 'a, b = nil, nil'}, {"f'{n}%'", "('%s%%'):format(n)"}, {"f'{n:.3f} {n:>5d} {{}}' != s", "('%.3f %5d {}'):format(n, n) ~= s"},
  {"'%d of %d' % (a, b) != s", "('%d of %d'):format(a, b) ~= s"}, {"'{} {:.1f}'.format(a, b) is s", "('%s %.1f'):format(a, b) == s"},
  {"', '.join([a, b])", "table.concat({a, b}, ', ')"}, {'"""a\nb""" != s', "'a\\nb' ~= s"}, {"r'\\d' != \"it's\"", "'\\\\d' ~= \"it's\""},
  {'1_000 != 0b101', '1000 ~= 5'}, {'1j != 2.', 'torch.complex(0, 1) ~= 2.0'}, {"isinstance(x, torch.Tensor) is True", 'torch.is_tensor(x) == true'},
  {'type(m) is nn.Linear', 'nn.Linear:is_instance(m)'},
  {'if type(n) == int: pass', "if type(n) == 'number' then\nend"}, {"with open('f', 'w') as f: f.write('a')", "do\n  local f <close> = io.open('f', 'w')\n  f:write('a')\nend"},
  {'a = torch.tensor([1.5])\na += float(a)', 'a = torch.tensor{1.5}\na:add_(a:item())'}, {'x: int = 5', nil}, {'def f():\n    x = 5\n  y = 6', nil}, {'n++', nil}, {'a ? b : c', nil},
}

describe('the Lua spelling', function()
  after_each(forget)

  it('of each form of Python is shown', function()
    rawset(_G, 't', torch.arange(12):reshape(3, 4))
    local state = session.new()
    for _, row in ipairs(forms) do
      local hint = python.hint(state, row[1], 1)
      local code = hint and hint:gsub('^in Lua:%s*', ''):gsub('%(positions count from 1%)\n?%s*', ''):gsub('%s+$', ''):gsub('\n  ', '\n')
      if row[2] and not load(row[1]) then
        assert.is_truthy(code == row[2] or code and code:find(row[2], 1, true) == 1 and row[1]:find 'import', row[1] .. '\n' .. tostring(code))
      elseif not row[2] and code then
        assert.equal(nil, code, row[1])
      end
    end
  end)

  it('is not shown for valid Lua, and not for other mistakes', function()
    local state = session.new()
    for _, text in ipairs {'x = = 1', 'foo bar', 'x = {1, 2', 'if x then', 'local function f(', 'for i = 1, 3 do', 'print("a" "b")', 'x = 5 y = = 6', '%matplotlib inline',
      'return return', 'f(a, )', 'x = 3 +', "'unfinished", 'function f() end end', 'x.y:z', 'a.b.c d', 'return #a > 0 and b(', 'x #b', 'x = #b c', ')', 'end'} do
      assert.is_nil(python.hint(state, text, 1), text)
    end
    for _, text in ipairs {'local s = "a: b" -- note:', 'function f() -- returns:', 'f(function() x:y(', 'for word in text:gmatch("%a+")', 'if x:any()', 'while queue:size() > 0',
      'local t = {a = 1, -- first:', 'x:', 'goto done; ::done', 'for i = 1, 3 do -- loop: three'} do
      assert.is_false(python.is_block(state, text), text)
    end
  end)

  it('of a line inside Lua is shown, with positions as typed', function()
    local state = session.new()
    for line, expected in pairs {
      ['  total += i'] = 'total = total + i', ['local y = x[1, 2]'] = 'local y = x[{1, 2}]', ['if x != 3 then print(x) end'] = 'if x ~= 3 then print(x) end',
      ["local t = torch.ones(2, device='cpu')"] = "local t = torch.ones(2, {device = 'cpu'})", ['x:sum(dim=1)'] = 'x:sum{dim = 1}', ['  return x is None end'] = 'return x == nil end',
      ['while n ** 2 < 5 do n = n + 1 end'] = 'while n ^ 2 < 5 do n = n + 1 end', ['until a != b'] = 'until a ~= b', ['local f = x if y else z'] = 'local f = y and x or z',
    } do
      local hint = python.hint(state, 'do local a = nil\n' .. line .. '\nend', 2)
      assert.equal('in Lua: ' .. expected, hint, line)
    end
  end)

  it('of a valid line that failed is shown', function()
    local state = session.new()
    for text, expected in pairs {
      ["print(f'{1 + 1}')"] = "in Lua: print(('%s'):format(1 + 1))", ['len({1, 2})'] = 'in Lua: #{1, 2}', ['# note'] = 'in Lua: -- note',
      ['for i in range(3) do print(i) end'] = 'in Lua: for i = 0, 2 do print(i) end', ['isinstance(1, 2)'] = 'in Lua: 2:is_instance(1)',
      ['torch.ones(2, 3).sum(2)'] = 'in Lua: torch.ones(2, 3):sum(2)  (positions count from 1)',
      ['torch.ones(2, 3).sum(0)'] = 'in Lua: torch.ones(2, 3):sum(1)  (positions count from 1)', ['torch.ones(2)[0]'] = 'in Lua: torch.ones(2)[1]  (positions count from 1)',
    } do
      local lines = assert(type_cell(state, text))
      if text:find 'isinstance' then assert.is_nil(lines:find('in Lua', 1, true)) else assert.is_truthy(lines:find('\n' .. expected, 1, true), lines) end
    end
    for name, value in pairs {True = 'true', False = 'false', None = 'nil'} do
      local _, result = type_cell(state, name)
      assert.equal(('%s is not defined; in Lua: %s'):format(name, value), result.hint)
    end
  end)

  it('is shown at the prompt and for scripts', function()
    local _, err = process.run(("printf 'for i in range(3):\\nx = 5\\n' | %s -i"):format(process.quote(process.ltensor)))
    assert.equal("(cell 1):1: <name> expected near <eof>\n     1 | for i in range(3):\nin Lua:\n  for i = 0, 2 do\n    -- ...\n  end\n", err)
    local _, message, status = process.lua "def f(x):\n    return x != 1\n"
    assert.is_truthy(message:find("\n     1 | def f(x):\n", 1, true) and
      message:find('\nin Lua:\n  function f(x)\n    return x ~= 1\n  end\n', 1, true), message)
    assert.equal(1, status)
  end)
end)
