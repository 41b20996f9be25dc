-- `ltensor build SCRIPT.lua [MODEL...] -o FILE`: an executable with the script, its modules and models.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')

local folder
setup(function() folder = process.run 'mktemp -d':gsub('\n$', '') end)
teardown(function() os.execute('rm -rf ' .. process.quote(folder)) end)

local function write(name, text)
  local file <close> = assert(io.open(folder .. '/' .. name, 'w'))
  assert(file:write(text))
end

-- Runs a command in the folder, in which the program is $LT and $RUN stands in front of programs that it wrote.
local function run(command)
  return process.run(('LT=$(realpath %s); RUN=%s; cd %s; %s'):format(process.quote(process.ltensor), process.quote(process.emulator), folder, command))
end

describe('a program of ltensor build #cpu', function()
  it('contains its script, modules of modules and models, and passes its arguments', function()
    os.execute(('mkdir -p %s/parts %s/elsewhere; cp tests/core/models/mixer.pt2 %s/net.pt2'):format(folder, folder, folder))
    write('main.lua', [[#!/usr/bin/env ltensor
local outer = require 'parts.outer'
local net = torch.export.load 'net.pt2'
print(outer.name, #net:parameters(), arg[0]:match '[^/]*$', arg[1], ...)]])
    write('parts/outer.lua', "return {name = require 'parts.inner'}")
    write('parts/inner.lua', "return 'inner'")
    assert.same({ '', '', 0 }, { run '$LT build main.lua net.pt2 -o app && rm -r parts net.pt2 main.lua' })
    assert.same({ 'inner\t6\tapp\t--help\t--help\tx y\n', '', 0 }, { run "cd elsewhere; $RUN ../app --help 'x y'" })
  end)

  it('reports an error with the line of the script and the status 1 #again', function()
    write('failing.lua', "local x = 1\nerror 'this fails'")
    run '$LT build failing.lua -o app'
    local _, message, status = run '$RUN ./app'
    assert.equal(1, status)
    assert.truthy(message:find('failing.lua:2: this fails', 1, true), message)
  end)

  it('includes a module of a computed name by --module, and names one that does not exist', function()
    write('computed.lua', "print(require('com' .. 'puted_part'))")
    write('computed_part.lua', 'return 7')
    run '$LT build computed.lua --module computed_part -o app && rm computed_part.lua'
    assert.equal('7\t:program:\n', (run '$RUN ./app'))
    assert.same({ '', "ltensor build: '--module absent': no such module in package.path and package.cpath\n", 1 }, { run '$LT build computed.lua --module absent -o app2' })
  end)

  it('needs an output and existing files', function()
    write('short.lua', '')
    assert.same({ '', 'ltensor build: the output is missing: -o FILE\n', 1 }, { run '$LT build short.lua' })
    assert.same({ '', 'ltensor build: absent.pt2: No such file or directory\n', 1 }, { run '$LT build short.lua absent.pt2 -o app3' })
    assert.same({ '', '', 1 }, { run 'test -e app3' })
  end)
end)
