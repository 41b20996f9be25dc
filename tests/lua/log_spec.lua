-- torch.utils.log: rows of measurements in CSV and JSON Lines.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local log = torch.utils.log

local path

local function content()
  local file = assert(io.open(path, 'rb'))
  local text = file:read 'a'
  file:close()
  return text
end

local function write(text)
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
end

local function logged(class, rows, options)
  local logger <close> = log[class](path, options)
  for _, row in ipairs(rows) do logger:log(row) end
end

describe('torch.utils.log', function()
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  it('writes rows of numbers, strings, booleans and tensors of one element', function()
    local row = { loss = torch.tensor({ 0.5 }), step = 7, epoch = 1, name = 'a "b", c', best = true, rate = 1.0 }
    logged('CSVLogger', { row })
    assert.equal('epoch,step,best,loss,name,rate\n1,7,true,0.5,"a ""b"", c",1.0\n', content())
    logged('JSONLogger', { row })
    assert.equal('{"epoch": 1, "step": 7, "best": true, "loss": 0.5, "name": "a \\"b\\", c", "rate": 1.0}\n', content())
  end)

  it('writes digits that are read as the same number', function()
    local numbers = { 0.1, 1 / 3, 1e300, 5e-324, -0.0, math.mininteger, 2.0 ^ 53 }
    for _, number in ipairs(numbers) do
      logged('CSVLogger', { { x = number } })
      local read = tonumber(content():match '\n(.*)\n')
      assert.equal(number, read)
      assert.equal(math.type(number), math.type(read))
    end
  end)

  it('a log writes nan and infinity as text', function()
    logged('CSVLogger', { { a = 0 / 0, b = math.huge, c = -math.huge } })
    assert.equal('a,b,c\nnan,inf,-inf\n', content())
    local read = torch.utils.data.csv.read(path)
    assert.is_true(read.a:isnan():all():item())
    assert.equal(math.huge, read.b:item())
    assert.equal(-math.huge, read.c:item())
    logged('JSONLogger', { { a = 0 / 0, b = math.huge, c = -math.huge } })
    assert.equal('{"a": "NaN", "b": "Infinity", "c": "-Infinity"}\n', content())
  end)

  it('keeps the order of an ordered table', function()
    local row = require 'torch.support.ordered_dict'.new { { 'z', 1 }, { 'a', 2 } }
    logged('CSVLogger', { row })
    assert.equal('z,a\n1,2\n', content())
  end)

  it('a log adds new columns at the end and leaves missing values empty', function()
    logged('CSVLogger', { { epoch = 1, note = 'two\nlines' }, { epoch = 2, accuracy = 0.5 }, { note = 'x' } })
    assert.equal('epoch,note,accuracy\n1,"two\nlines",\n2,,0.5\n,x,\n', content())
    logged('JSONLogger', { { epoch = 1 }, { epoch = 2, accuracy = 0.5 } })
    assert.equal('{"epoch": 1}\n{"epoch": 2, "accuracy": 0.5}\n', content())
  end)

  it('goes on with a file, else begins it anew', function()
    for _, case in ipairs { { 'CSVLogger', 'epoch,loss\n1,0.5\n2,0.25\n' }, { 'JSONLogger', '{"epoch": 1, "loss": 0.5}\n{"epoch": 2, "loss": 0.25}\n' } } do
      os.remove(path)
      logged(case[1], { { epoch = 1, loss = 0.5 } }, { append = true })
      logged(case[1], { { epoch = 2, loss = 0.25 } }, { append = true })
      assert.equal(case[2], content())
      logged(case[1], {})
      assert.equal('', content())
    end
  end)

  it('takes away the row that a crash has cut', function()
    write 'epoch,loss\n1,0.5\n2,0.2'
    logged('CSVLogger', { { epoch = 2, loss = 0.25, rate = 1 } }, { append = true })
    assert.equal('epoch,loss,rate\n1,0.5,\n2,0.25,1\n', content())
    write '{"epoch": 1}\n{"epo'
    logged('JSONLogger', { { epoch = 2 } }, { append = true })
    assert.equal('{"epoch": 1}\n{"epoch": 2}\n', content())
  end)

  it('has written every row when the program is killed', function()
    for _, class in ipairs { 'CSVLogger', 'JSONLogger' } do
      local _, _, status = process.lua(([[
        local logger = torch.utils.log.%s %q
        for i = 1, 3 do logger:log {step = i} end
        os.execute('kill -9 ' .. assert(io.open '/proc/self/stat'):read 'n')
      ]]):format(class, path))
      assert.not_equal(0, status)
      assert.is_truthy(content():find('3[}]?\n$'))
    end
  end)

  it('a log names the file in its errors', function()
    for _, class in ipairs { 'CSVLogger', 'JSONLogger' } do
      fails_with(class .. ': /nowhere/run: No such file or directory', log[class], '/nowhere/run')
      fails_with(class .. ': /tmp: Is a directory', log[class], '/tmp')
      fails_with("argument 'path' must be a string, not a number", log[class], 3)
      fails_with('append', log[class], path, { apend = true })
      local logger = log[class](path)
      fails_with('a row must be a table', logger.log, logger, 3)
      fails_with('the row has no values', logger.log, logger, {})
      fails_with('a column must have a name, not 1', logger.log, logger, { 5 })
      fails_with("'loss' must have one element, not the shape torch.Size([2])", logger.log, logger, { loss = torch.zeros(2) })
      fails_with("'loss' must be a number, a string, true or false", logger.log, logger, { loss = {} })
      assert.equal('', content())
      logger:close()
      fails_with(path .. ' is closed', logger.log, logger, { loss = 1 })
    end
    write 'epoch,loss\n1\n'
    fails_with(path .. ':2: got 1 fields, expected 2', log.CSVLogger, path, { append = true })
  end)

  it('a log reports a full disk', function()
    local full = io.open('/dev/full', 'w')
    if not full then return end
    full:close()
    local logger = log.JSONLogger '/dev/full'
    fails_with('/dev/full: No space left on device', logger.log, logger, { loss = 1 })
  end)
end)
