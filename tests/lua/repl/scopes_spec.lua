-- Scopes that a cell opens and does not close: they end after the cell, and the prompt shows the line to write.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')

-- The output and the errors of cells at a prompt without a terminal.
local function prompt(cells)
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write(cells)
  file:close()
  local pipe = assert(io.popen(('%s -i < %s 2>&1'):format(process.quote(process.ltensor), path)))
  local output = pipe:read 'a'
  pipe:close()
  os.remove(path)
  return output
end

describe('a scope at the prompt #cpu', function()
  for _, call in ipairs { 'torch.no_grad()', 'torch.enable_grad()', 'torch.inference_mode()', "torch.autocast('cpu')", 'torch.cuda.device(-1)', 'torch.profiler.profile()',
    "torch.profiler.record_function('f')" } do
    it('from ' .. call .. ' alone in a cell ends and shows the line to write', function()
      local out = prompt(call .. '\ntorch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), torch.is_inference_mode_enabled()\n')
      assert.matches('this scope ended with the call', out, 1, true)
      assert.matches('    local _ <close> = ' .. call .. '\n', out, 1, true)
      assert.matches('Out[2]: (true, false, false)', out, 1, true)
      assert.is_nil(out:find 'Out%[1%]')
      assert.is_nil(out:find 'warning')
    end)
  end

  it('from a call that is a statement ends after the cell, with a warning that names it', function()
    local out = prompt 'torch.no_grad() y = 1\ntorch.is_grad_enabled()\n'
    assert.matches('warning: the scope opened at (cell 1):1 was not closed and ended when it was collected: write local _ <close> = before the call', out, 1, true)
    assert.matches('Out[2]: true', out, 1, true)
  end)

  it('in a local without <close> is reported after the cell', function()
    local out = prompt "local g = torch.no_grad()\ntorch.is_grad_enabled()\n"
    assert.matches('the scope opened at (cell 1):1 stays open after the cell; it ends with the cell if you write local _ <close> = before the call', out, 1, true)
    assert.matches('Out[2]: false', out, 1, true)
  end)

  it('that is closed, or that a function closes, is not mentioned', function()
    local out = prompt 'co = coroutine.wrap(function() local _ <close> = torch.no_grad(); coroutine.yield() end) co()\nco()\n'
    assert.is_nil(out:find 'scope')
    out = prompt 'local _ <close> = torch.no_grad(); torch.is_grad_enabled()\ntorch.no_grad(torch.is_grad_enabled)\ntorch.set_grad_enabled(false);\ntorch.is_grad_enabled()\nprof = torch.profiler.profile()\nprof:stop();\n'
    assert.matches('Out[1]: false', out, 1, true)
    assert.matches('Out[2]: false', out, 1, true)
    assert.matches('Out[4]: false', out, 1, true)
    assert.is_nil(out:find 'scope')
  end)
end)

describe('a scope in a script #cpu', function()
  it('that is dropped ends when it is collected, with a warning that names its line', function()
    for _, call in ipairs { 'torch.no_grad()', "torch.autocast('cpu')", 'local g = torch.inference_mode()', "torch.profiler.record_function('f')" } do
      local out, err = process.lua(([[
        local function f()
          %s
        end
        f()
        collectgarbage()
        print(torch.is_grad_enabled(), torch.is_autocast_enabled 'cpu', torch.is_inference_mode_enabled())
      ]]):format(call))
      assert.equal('true\tfalse\tfalse\n', out)
      assert.matches('warning: the scope opened at %S+:2 was not closed', err)
    end
  end)

  it('that is dropped many times warns once for its line', function()
    local out, err = process.lua 'local function f() for _ = 1, 5000 do torch.no_grad() end end f() collectgarbage() print(torch.is_grad_enabled())'
    assert.equal('true\n', out)
    assert.equal(1, select(2, err:gsub('warning', '')))
  end)

  it('that is reachable until the end warns then', function()
    local _, err = process.lua 'g = torch.no_grad()'
    assert.matches('warning: the scope opened at %S+:1 was not closed', err)
  end)
end)
