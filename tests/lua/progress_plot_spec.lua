-- torch.utils.progress, torch.utils.plot and torch.utils.display.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local terminal = dofile(here .. 'support/terminal.lua')

describe('torch.utils.progress', function()
  local function collect(source, options)
    local seen = {}
    for x in torch.utils.progress(source, options) do seen[#seen + 1] = x end
    return seen
  end

  -- What a script writes to stderr.
  local function shown(code)
    local _, err = process.lua(code)
    return err
  end

  it('goes through numbers, lists, loaders and functions', function()
    local _, err, status = process.lua [[
      local function all(...) local t = {} for x in torch.utils.progress(...) do t[#t + 1] = x end return table.concat(t, ' ') end
      assert(all(3) == '1 2 3')
      assert(all {'a', 'b'} == 'a b')
      local n = 0
      assert(all(function() n = n + 1 if n < 3 then return n end end) == '1 2')
      local data = torch.utils.data.TensorDataset(torch.arange(10), torch.arange(10))
      local loader = torch.utils.data.DataLoader(data, {batch_size = 4})
      local sizes = {}
      for x, y in torch.utils.progress(loader) do assert(x:equal(y)) sizes[#sizes + 1] = x:size(1) end
      assert(table.concat(sizes, ' ') == '4 4 2')
      assert(all(0) == '' and all {} == '')
    ]]
    assert.equal(0, status, err)
  end)

  it('writes one line at the end where there is no terminal', function()
    local err = shown "for _ in torch.utils.progress(4, {label = 'epoch 1'}) do end"
    assert.is_truthy(err:find '^epoch 1: 100%% 4/4 %[00:00, [%d.]+/s%]\n$')
  end)

  it('writes a line now and then in long runs', function()
    local err = shown [[
      local clock = torch._C.clock
      for _ in torch.utils.progress(4, {every = 0.02}) do local t = clock() while clock() < t + 0.03 do end end
    ]]
    local _, lines = err:gsub('\n', '')
    assert.is_true(lines >= 4)
    assert.is_truthy(err:find('25% 1/4', 1, true))
  end)

  it('ends the line when the loop is left #lua54', function()
    local err = shown 'for i in torch.utils.progress(4) do if i == 3 then break end end'
    assert.is_truthy(err:find '^50%% 2/4 .*\n$')
    err = shown 'pcall(function() for i in torch.utils.progress(4) do error "x" end end)'
    assert.is_truthy(err:find '^0%% 0/4 .*\n$')
  end)

  it('leaves nothing at the end where that is wanted', function()
    local slow = "local t = os.clock() while os.clock() < t + 0.15 do end end"
    assert.equal('', shown "for i in torch.utils.progress(4, {leave = false}) do end")
    local on_terminal = 'torch._C.terminal = function() return 50 end '
    local err = shown(on_terminal .. 'for i in torch.utils.progress(2, {leave = false}) do ' .. slow)
    local drawn, erased = err:match '\r([^\r]*█[^\r]*)\27%[K\r( +)\r$'
    assert.equal(utf8.len(drawn), #erased)
    assert.equal('', shown(on_terminal .. 'for i in torch.utils.progress(2, {leave = false}) do end'))
  end)

  it('refuses other things', function()
    assert.has_error(function() collect('x') end, 'progress(): expected a number, list, function or an object with iter(), got string')
    assert.has_error(function() collect(3, {lable = 'x'}) end)
  end)

  it('draws a bar on a terminal #pty', function()
    local folder = terminal.new_folder()
    terminal.follow(folder, [[
send for i in torch.utils.progress(30, {label = '训练'}) do local t = os.clock() while os.clock() < t + 0.02 do end end\r
expect 训练
expect █
expect 训练: 100% |
expect 30/30
expect In [2]: 
]], 'PTY_COLUMNS=60')
    terminal.remove_folder(folder)
  end)

  it('keeps out of the outputs of notebooks', function()
    local path = os.tmpname() .. '.md'
    local file = assert(io.open(path, 'w'))
    file:write '```lua\nfor i in torch.utils.progress(2) do end\nprint "done"\n```\n```text\ndone\n```\n'
    file:close()
    local out, err = process.run(('%s --cells %s --check'):format(process.quote(process.ltensor), path))
    assert.equal('1 passed, 0 failed\n', out)
    assert.is_truthy(err:find('100% 2/2', 1, true))
    os.remove(path)
  end)
end)

describe('torch.utils.plot', function()
  local plot = torch.utils.plot

  -- What the figure looks like without a terminal.
  local function drawn(code)
    local out, err, status = process.lua('print(' .. code .. ')')
    assert.equal(0, status, err)
    return out
  end

  it('refuses unknown options of lines', function()
    for _, call in ipairs { { { 1, 2 }, { legend = { 'a' } } }, { { 1, 2 }, { title = 'x', legend = { 'a' } } }, { { 1, 2 }, { 3, 4 }, { legend = { 'a' } } } } do
      local ok, text = pcall(plot.lines, table.unpack(call))
      assert.is_false(ok)
      assert.is_truthy(text:find("lines() got an unexpected keyword argument 'legend'; it accepts", 1, true), text)
    end
  end)

  local function saved(figure)
    local path = os.tmpname() .. '.svg'
    figure:save(path)
    local file = assert(io.open(path))
    local text = file:read 'a'
    file:close()
    os.remove(path)
    assert.is_truthy(text:find '^<svg xmlns="http://www.w3.org/2000/svg"' and text:find '</svg>\n$')
    return text
  end

  it('draws lines', function()
    local out = drawn "torch.utils.plot.lines({0, 1, 4, 9}, {title = 'squares', labels = {'n²'}})"
    assert.is_truthy(out:find('squares', 1, true) and out:find('━━ n²', 1, true))
    assert.is_truthy(out:find('8 ┤', 1, true) and out:find '[⠁-⣿]')
    for line in out:gmatch '[^\n]+' do assert.is_true(utf8.len(line) <= 79) end
  end)

  it('draws the rows of a matrix as it draws a list of lists, over numbers or over positions', function()
    local rows = { { 0, 1, 4 }, { 9, 4, 1 } }
    assert.equal(saved(plot.lines(rows)), saved(plot.lines(torch.tensor(rows))))
    assert.equal(saved(plot.lines(rows)), saved(plot.lines { torch.tensor(rows[1]), torch.tensor(rows[2]) }))
    assert.equal(saved(plot.lines({ 1, 2, 3 }, rows)), saved(plot.lines(rows)))
    assert.not_equal(saved(plot.lines({ 1, 2, 30 }, rows)), saved(plot.lines(rows)))
    assert.not_equal(saved(plot.lines { rows[1] }), saved(plot.lines(rows)))
  end)

  it('draws a line of the grid at each number of the vertical axis', function()
    local text = saved(plot.lines { 0, 1, 4, 9 })
    local _, lines = text:gsub('<line ', '')
    local _, numbers = text:gsub('text%-anchor="end"', '')
    assert.equal(numbers, lines)
    assert.is_true(lines >= 4)
  end)

  it('draws series over numbers of their own', function()
    local rows = { { 0, 1, 4 }, { 9, 4 } }
    local text = saved(plot.lines({ { 1, 2, 3 }, { 1, 3 } }, rows))
    assert.equal(saved(plot.lines({ { 1, 2, 3 }, { 1, 3 } }, { rows[1], { 9, 4 } })), text)
    assert.truthy(text:find('L624.00 ', text:find 'L624.00 ' + 1, true), 'both end at the right margin')
  end)

  it('a plot labels its axes and clips points beyond its limits', function()
    local named = plot.lines({ 0, 1, 1e300, 2 }, { xlabel = 'epoch', ylabel = 'loss', ylim = { 0, 4 }, xlim = { 1, 4 } })
    local text = saved(named)
    assert.truthy(text:find('>epoch</text>', 1, true) and text:find('>loss</text>', 1, true))
    local path = assert(text:match 'd="(M[^"]+)" fill="none" stroke="#1f')
    assert.equal(2, select(2, path:gsub('M', '')), 'a gap')
    local out = drawn "torch.utils.plot.lines({0, 1, 1e300, 2}, {xlabel = 'epoch', ylabel = 'loss', ylim = {0, 4}})"
    assert.truthy(out:find('epoch', 1, true) and out:find('loss', 1, true), out)
  end)

  it('draws bars, longest for the largest', function()
    local out = drawn "torch.utils.plot.bars({1, 2, 4}, {labels = {'a', '猫', 'ccc'}})"
    local _, first = out:match '^([^\n]*)\n':gsub('█', '')
    local _, last = out:match '\n([^\n]*)\n$':gsub('█', '')
    assert.is_true(last >= 4 * first and first > 0)
    assert.is_truthy(out:find(' 猫 ▕', 1, true))
  end)

  it('draws matrices and pictures', function()
    local out = drawn 'torch.utils.plot.heatmap(torch.arange(4):view(2, 2))'
    assert.is_truthy(out:find('░', 1, true) and out:find('█', 1, true) and out:find('0 to 3', 1, true))
    assert.is_truthy(drawn('torch.utils.plot.image(torch.ones(3, 4, 4))'):find('█', 1, true))
    assert.is_truthy(drawn('torch.utils.plot.image(torch.full({2, 2}, 255, {dtype = torch.uint8}))'):find('█', 1, true))
  end)

  it('bears nan, infinities, constants and nothing', function()
    for _, code in ipairs {
      'torch.utils.plot.lines({0/0, 1, 1/0, 2})', 'torch.utils.plot.lines({5, 5})', 'torch.utils.plot.lines({})',
      'torch.utils.plot.bars({})', 'torch.utils.plot.bars({0, 0/0, -1})',
      'torch.utils.plot.heatmap(torch.tensor({{0/0, 1/0}, {1, 1}}))', 'torch.utils.plot.heatmap(torch.zeros(2, 2))',
    } do
      drawn(code)
    end
  end)

  it('uses colours on a terminal #pty', function()
    local folder = terminal.new_folder()
    terminal.follow(folder, [[
send torch.utils.plot.heatmap(torch.arange(4):view(2, 2))\r
expect \e[38;2;
expect 0 to 3
expect In [2]: 
]], 'NO_COLOR=')
    terminal.remove_folder(folder)
  end)

  it('writes SVG files', function()
    local text = saved(plot.lines(torch.linspace(0, 1, 5), {torch.arange(5), torch.ones(5)}, {title = 'a < b', labels = {'x', 'y'}}))
    assert.is_truthy(text:find('a &lt; b', 1, true))
    local _, paths = text:gsub('<path d="M', '')
    assert.equal(3, paths)
    local _, bars = saved(plot.bars {1, -2, 3}):gsub('<rect x="%d', '')
    assert.equal(3, bars)
    local _, squares = saved(plot.heatmap(torch.arange(6):view(2, 3))):gsub('<rect x="%d', '')
    assert.equal(6, squares)
    assert.is_truthy(saved(plot.image(torch.zeros(1, 2, 2))):find('#000000', 1, true))
  end)

  -- Chunks of a PNG file: {kind, data}; their checksums are right.
  local function chunks_of(text)
    assert.equal('\x89PNG\r\n\x1a\n', text:sub(1, 8))
    local chunks, at = {}, 9
    while at <= #text do
      local data, kind, sum
      kind = text:sub(at + 4, at + 7)
      data = text:sub(at + 8, at + 7 + string.unpack('>I4', text, at))
      sum = string.unpack('>I4', text, at + 8 + #data)
      assert.equal(torch._C.crc32(kind .. data), sum)
      chunks[#chunks + 1] = {kind, data}
      at = at + 12 + #data
    end
    return chunks
  end

  it('puts the legend into the corner that the lines leave free', function()
    local rising, falling = torch.linspace(0, 1, 50), torch.linspace(1, 0, 50)
    local function place_of(lines)
      local path = os.tmpname() .. '.svg'
      plot.lines(lines, { labels = { 'first', 'second' } }):save(path)
      local file = assert(io.open(path))
      local x, y, anchor = file:read 'a':match 'x="([%d.]+)" y="([%d.]+)" text%-anchor="(%l+)" fill="#%x+">second'
      file:close()
      os.remove(path)
      return (anchor == 'end' and tonumber(x) > 500) and 'right' or (anchor == 'start' and tonumber(x) < 100) and 'left', tonumber(y) > 300 and 'lower' or tonumber(y) < 100 and 'upper'
    end
    assert.same({ 'right', 'upper' }, { place_of { falling, falling:pow(2) } })
    assert.same({ 'left', 'upper' }, { place_of { rising, rising:pow(2) } })
    assert.same({ 'right', 'lower' }, { place_of { rising, falling * 0 + 1 } })
    assert.same({ 'left', 'lower' }, { place_of { torch.tensor { 1, 0.9, 0.5, 0 }, torch.tensor { 1, 1, 1, 1 } } })
  end)

  it('writes PNG files', function()
    for _, figure in ipairs {
      plot.lines({0, 1, 0 / 0, 4}, {title = 'Zähler', labels = {'n'}}), plot.bars {1, -2, 3}, plot.heatmap(torch.arange(6):view(2, 3)),
      plot.image(torch.tensor {{0, 128}, {255, 7}}:to(torch.uint8)),
    } do
      local path = os.tmpname() .. '.png'
      figure:save(path)
      local file = assert(io.open(path, 'rb'))
      local chunks = chunks_of(file:read 'a')
      file:close()
      assert.same({'IHDR', 'IDAT', 'IEND'}, {chunks[1][1], chunks[2][1], chunks[3][1]})
      os.remove(path)
    end
  end)

  it('image():save keeps the size and the values of a picture', function()
    local path = os.tmpname()
    for _, picture in ipairs { torch.randint(0, 256, {3, 64, 96}, {dtype = torch.uint8}), torch.randint(0, 256, {1, 5, 3}, {dtype = torch.uint8}) } do
      plot.image(picture):save(path .. '.png')
      local written = torch.utils.data.read_image(path .. '.png')
      assert.is_true(torch.equal(picture:expand(3, -1, -1), written))
      local svg = saved(plot.image(picture))
      assert.is_truthy(svg:find(('width="%d" height="%d"'):format(picture:size(3), picture:size(2)), 1, true))
    end
    plot.heatmap(torch.arange(6):view(2, 3)):save(path .. '.png')
    assert.same({3, 170, 255}, {table.unpack(torch.utils.data.read_image(path .. '.png').shape)}) -- a matrix is enlarged
    os.remove(path .. '.png')
    os.remove(path)
  end)

  it('writes the title of a picture above it', function()
    local path = os.tmpname() .. '.png'
    local function written(title)
      plot.image(torch.zeros(32, 32), {title = title}):save(path)
      local image = torch.utils.data.read_image(path)
      os.remove(path)
      return image
    end
    local plain, titled, wide = written(nil), written 'T', written(('long '):rep(20))
    local _, height, width = plain.shape[1], plain.shape[2], plain.shape[3]
    assert.equal(width, titled.shape[3])
    local above = titled.shape[2] - height
    assert.is_true(above > 0)
    assert.is_true(torch.equal(plain, titled:narrow(2, above + 1, height)))
    local head = titled:narrow(2, 1, above)
    assert.equal(11, head[1]:eq(0):sum():item()) -- the bar and the stem of a T
    assert.is_true(wide.shape[3] > width)
    local left = (wide.shape[3] - width) // 2
    assert.is_true(torch.equal(plain, wide:narrow(2, above + 1, height):narrow(3, left + 1, width)))
  end)

  it('shows pictures on terminals that take them #pty', function()
    local folder = terminal.new_folder()
    terminal.follow(folder, [[
send torch.utils.plot.heatmap(torch.arange(4):view(2, 2), {title = 'h'})\r
expect h\r\n\e_Gf=100,a=T,m=
expect \e\\
expect In [2]: 
]], 'LTENSOR_GRAPHICS=kitty')
    terminal.follow(folder, [[
send torch.utils.plot.image(torch.tensor({{0., 1.}}))\r
expect \ePq"1;1;256;128#0;2;0;0;0#215;2;100;100;100#0!128~$#215!128?!128~-
expect \e\\
expect In [2]: 
]], 'LTENSOR_GRAPHICS=sixel')
    terminal.remove_folder(folder)
  end)

  it('a plot rejects values that it cannot draw', function()
    for message, call in pairs {
      ['lines(): expected a tensor or a list of numbers, got string'] = function() plot.lines 'x' end,
      ['lines(): x has 1 series and y has 2'] = function() plot.lines({ { 1, 2 } }, { { 1, 2 }, { 3, 4 } }) end,
      ["lines(): 'ylim' must be {low, high}, two numbers of which the first is the smaller"] = function() plot.lines({ 1, 2 }, { ylim = { 2, 1 } }) end,
      ['lines(): x has 2 numbers and y has 3'] = function() plot.lines({1, 2}, {1, 2, 3}) end,
      ['heatmap(): expected a matrix, got 1 dimensions'] = function() plot.heatmap(torch.ones(3)) end,
      ['image(): expected (H, W), (1, H, W) or (3, H, W)'] = function() plot.image(torch.ones(2, 3, 4)) end,
      ["save(): 'x.gif' does not end in .svg or .png"] = function() plot.bars({1}):save 'x.gif' end,
    } do
      local ok, err = pcall(call)
      assert.is_false(ok)
      assert(tostring(err):find(message, 1, true), tostring(err))
    end
  end)
end)

describe('torch.utils.display', function()
  it('prints where no notebook is', function()
    local out, err, status = process.lua [[
      local shown = torch.utils.display(torch.ones(2))
      shown:update 'two'
      torch.utils.display.clear()
      print(shown.id)
    ]]
    assert.equal(0, status, err)
    assert.equal('tensor([1., 1.])\ntwo\nnil\n', out)
  end)

  it('display calls the front end', function()
    local calls, last = {}, 0
    torch.utils.display.show_with(function(value, id)
      calls[#calls + 1] = ('%s in %s'):format(value, id)
      last = last + 1
      return id or last
    end, function(wait) calls[#calls + 1] = ('clear %s'):format(wait) end)
    torch.utils.display('a'):update 'b'
    torch.utils.display 'c'
    torch.utils.display.clear(true)
    local live = torch.utils.plot.live { pause = 0 }
    for i = 1, 2 do live:show(torch.utils.plot.bars { i }) end
    live:finish()
    live:show(torch.utils.plot.bars { 3 })
    torch.utils.display.show_with()
    assert.is_false(torch.utils.display.in_place())
    for i, call in ipairs(calls) do calls[i] = call:gsub('^.* in ', 'in ') end
    assert.same({ 'in nil', 'in 1', 'in nil', 'clear true', 'in nil', 'in 4', 'in nil' }, calls)
  end)
end)

describe('torch.utils.plot.live', function()
  it('draws nothing where stdout is no terminal, and writes its file', function()
    local path = os.tmpname() .. '.svg'
    local out, err, status = process.lua(([[
      local live = torch.utils.plot.live {file = %q}
      assert(live:is_seen() and not torch.utils.plot.live():is_seen())
      for i = 1, 9 do live:show(torch.utils.plot.lines({1, i}, {title = 'after ' .. i})) end
      live:finish()
    ]]):format(path))
    local file = assert(io.open(path))
    local text = file:read 'a'
    file:close()
    os.remove(path)
    assert.equal(0, status, err)
    assert.equal('', out)
    assert.truthy(text:find('after 9', 1, true))
  end)

  it('draws in the same lines of a terminal #pty', function()
    local folder = terminal.new_folder()
    terminal.follow(folder, [[
send live = torch.utils.plot.live {pause = 0}\r
expect In [2]: 
send for i = 1, 2 do live:show(torch.utils.plot.bars({i}, {title = 'figure ' .. i})) end\r
expect figure 1\r\n
expect \e[2A\r\e[J
expect figure 2\r\n
expect In [3]: 
]], 'NO_COLOR=1')
    terminal.remove_folder(folder)
  end)
end)
