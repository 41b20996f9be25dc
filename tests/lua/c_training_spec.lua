-- c_training_spec.lua - docs/examples/training: networks trained in C have the numbers of the same programs in Lua.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local quote = process.quote
local root = here .. '../../'
local build = os.getenv 'LTENSOR_BUILD' or root .. 'build'
local programs = root .. 'docs/examples/training/'

local compiler = os.getenv 'CC' or 'cc'

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

-- Without a compiler or the library beside its headers, as in a tarball, the programs cannot be built.
local can_build = exists(build .. '/libltensor.so') and exists(build .. '/gen/ltensor_ops.h')
  and os.execute(compiler .. ' --version >/dev/null 2>&1')

local function run(command)
  local output, message, status = process.run(command)
  assert.equal(0, status, command .. '\n' .. message)
  return output
end

-- The environment of a program that uses a simulated GPU: its order of threads is fixed.
local SIMULATED = 'env -u LTENSOR_SIM_SEED LTENSOR_SIM_GPUS=1 '

describe('a network trained in C #cpu', function()
  local folder = os.tmpname() .. '.d'
  setup(function() assert(os.execute('mkdir ' .. quote(folder))) end)
  teardown(function() os.execute('rm -rf ' .. quote(folder)) end)

  local function file(name) return quote(folder .. '/' .. name) end

  local function compile(name)
    if exists(folder .. '/' .. name) then return end
    run(('%s -std=c99 -Wall -Wextra -pedantic -Werror %s %s -I%s -I%s -L%s -Wl,-rpath,%s -lltensor -lm -o %s'):format(
      compiler, os.getenv 'LTENSOR_ASAN' and '-fsanitize=address,undefined' or '', quote(programs .. name .. '.c'), quote(root .. 'include'),
      quote(build .. '/gen'), quote(build), quote(build), file(name)))
  end

  -- The lines of both programs, which also write their parameters to NAME.c.safetensors and NAME.lua.safetensors.
  local function train(name, environment, device)
    compile(name)
    local in_c = run(('%s%s %s %s %s'):format(environment, process.emulator, file(name), file(name .. '.c.safetensors'), device))
    local in_lua = run(('%s%s --no-copies %s %s %s'):format(environment, quote(process.ltensor), quote(programs .. name .. '.lua'),
      file(name .. '.lua.safetensors'), device))
    return in_c, in_lua
  end

  for name, steps in pairs { lenet = 10, resnet18 = 5, tagger = 20, transformer = 20 } do
    it(name .. ' has the losses, parameters and statistics of the program in Lua, bit for bit', function()
      if not can_build then return pending 'no C compiler, or no library to link' end
      local in_c, in_lua = train(name, '', '')
      assert.equal(in_lua, in_c)
      local losses = {}
      for loss in in_c:gmatch 'loss ([%d.]+)' do losses[#losses + 1] = tonumber(loss) end
      assert.equal(steps, #losses)
      assert.is_true(losses[steps] < 0.8 * losses[1])
      local c, lua = torch.load(folder .. '/' .. name .. '.c.safetensors'), torch.load(folder .. '/' .. name .. '.lua.safetensors')
      for key, t in pairs(lua) do
        if not key:find 'num_batches_tracked$' then assert.is_true(torch.equal(t, c[key]), key) end -- counted by modules only
      end
      for key in pairs(c) do assert.is_not_nil(lua[key], key) end
    end)
  end

  for _, name in ipairs { 'lenet', 'tagger', 'transformer' } do
    it(name .. ' has the losses of the program in Lua on a simulated GPU, too #again', function()
      if not can_build then return pending 'no C compiler, or no library to link' end
      local in_c, in_lua = train(name, SIMULATED, 'cuda')
      assert.equal(in_lua, in_c)
    end)
  end
end)
