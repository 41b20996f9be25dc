-- torch.utils.data.csv: types, missing values, quotes, and what is no table.

local csv = torch.utils.data.csv

local function read(text, options)
  local path = os.tmpname()
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
  local ok, result = pcall(csv.read, path, options)
  os.remove(path)
  if not ok then error((tostring(result):gsub(path:gsub('%p', '%%%0'), 'FILE')), 0) end
  return result
end

local function fails(message, text, options)
  local ok, err = pcall(read, text, options)
  assert.is_false(ok)
  assert(err:find(message, 1, true), err)
end

describe('csv.read', function()
  it('finds the types of columns', function()
    local t = read 'rooms,area,"the, kind"\r\n1,2.5,"a ""b"""\r\n3,NA,"two\nlines"\r\n'
    assert.same({'rooms', 'area', 'the, kind'}, {t[1], t[2], t[3]})
    assert.equal(torch.int64, t.rooms.dtype)
    assert.same({1, 3}, t.rooms:tolist())
    assert.equal(torch.float32, t.area.dtype)
    assert.is_true(t.area[2]:isnan():item())
    assert.same({'a "b"', 'two\nlines'}, t['the, kind'])
  end)

  it('takes other separators, no header, types and what stands for nothing', function()
    local t = read('\xEF\xBB\xBF1;x;-\n\n2;y;7', {separator = ';', header = false, missing = {'-'}, fill = 0, types = {column_1 = 'float', column_3 = 'integer'}})
    assert.equal(torch.float32, t.column_1.dtype)
    assert.same({0, 7}, t.column_3:tolist())
    assert.same({'x', 'y'}, t.column_2)
    assert.same({1, 2}, read('1\n2\n', {header = {'n'}}).n:tolist())
    assert.equal(0, #read '')
    assert.same({0}, {table.unpack(read('a\n').a.shape)})
  end)

  it('names the line of what is no table', function()
    fails('FILE:3: 1 fields, 2 wanted', 'a,b\n1,2\n3\n')
    fails('FILE:2: a quoted field does not end', 'a\n"b\n')
    fails('FILE:2: text behind a quoted field', 'a\n"b"c\n')
    fails("FILE: two columns are called 'a'", 'a,a\n')
    fails("FILE:3: column 'a': \"x\" is no number", 'a\n1\nx\n', {types = {a = 'float'}})
    fails("there is no type 'word'", 'a\n1\n', {types = {a = 'word'}})
  end)
end)
