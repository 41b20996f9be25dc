-- The prompt inside another program: tests/repl/prompt_host.c starts it twice.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local terminal = dofile(here .. '../support/terminal.lua')

local host = (os.getenv 'LTENSOR_BUILD' or 'build') .. '/tests/prompt_host'

describe('the prompt in a host', function()
  it('uses the host\'s globals and leaves everything as it was #pty', function()
    local state = terminal.new_folder()
    terminal.follow(state, [[
send from_host + 1\r
expect Out[1]: 8
send print('be' .. 'gun') while true do end\r
expect begun
send \x03
expect interrupted
send exit()\r
expect prompt 1 has returned
expect In [1]: 
send torch.ones(2):sum()\r
expect Out[1]: tensor(2.)
send pcall(quit)\r
expect prompt 2 has returned
expect the host is as it was
wait
]], nil, nil, nil, host)
    terminal.remove_folder(state)
  end)

  it('reads a pipe too', function()
    local out, err, status = process.run(("printf 'from_host * 2\\n%%%%quit\\n' | %s"):format(host))
    assert.equal(0, status, err)
    assert.is_truthy(out:find('Out[1]: 14', 1, true) and out:find('the host is as it was', 1, true))
  end)
end)
