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
    assert.equal(torch.float64, t.area.dtype)
    assert.is_true(t.area[2]:isnan():item())
    assert.same({'a "b"', 'two\nlines'}, t['the, kind'])
  end)

  it('csv.read accepts separators, no header, types and markers of missing values', function()
    local t = read('\xEF\xBB\xBF1;x;-\n\n2;y;7', {separator = ';', header = false, missing = {'-'}, fill = 0, types = {column_1 = 'float', column_3 = 'integer'}})
    assert.equal(torch.float32, t.column_1.dtype)
    assert.same({0, 7}, t.column_3:tolist())
    assert.same({'x', 'y'}, t.column_2)
    assert.same({1, 2}, read('1\n2\n', {header = {'n'}}).n:tolist())
    assert.equal(0, #read '')
    assert.same({0}, {table.unpack(read('a\n').a.shape)})
  end)

  it('csv.read names the line of a malformed table', function()
    fails('FILE:3: got 1 fields, expected 2', 'a,b\n1,2\n3\n')
    fails('FILE:2: a quoted field does not end', 'a\n"b\n')
    fails('FILE:2: text after a quoted field', 'a\n"b"c\n')
    fails("FILE: two columns are called 'a'", 'a,a\n')
    fails("FILE:3: column 'a': \"x\" is no number", 'a\n1\nx\n', {types = {a = 'float'}})
    fails("unknown type 'word'", 'a\n1\n', {types = {a = 'word'}})
    fails("FILE: unknown column 'b' in types; the first column is 'a'", 'a\n1\n', {types = {b = 'float'}})
    fails("FILE: unknown column 'b' in types", '', {types = {b = 'float'}})
    fails("separator must be one or several characters", 'a\n1\n', {separator = ''})
    fails("comment must be one character", 'a\n1\n', {comment = '//'})
    fails("skip must be at least 0", 'a\n1\n', {skip = -1})
  end)

  it('keeps all digits of numbers: int64 where all are integers, else float64', function()
    local t = read('id,gap,point,mixed,wide,small\n9007199254740993,16777217,1700000001.5,16777217,9223372036854775808,1e-320\n'
      .. '-9223372036854775808,NA,-122.419415512,0.5,1,-0.0\n')
    assert.same({9007199254740993, math.mininteger}, t.id:tolist())
    for _, name in ipairs {'gap', 'point', 'mixed', 'wide', 'small'} do assert.equal(torch.float64, t[name].dtype) end
    assert.equal(16777217, t.gap[1]:item())
    assert.is_true(t.gap[2]:isnan():item())
    assert.same({1700000001.5, -122.419415512}, t.point:tolist())
    assert.same({16777217, 0.5}, t.mixed:tolist())
    assert.same({2.0 ^ 63, 1}, t.wide:tolist())
    assert.equal(1e-320, t.small[1]:item())
    assert.equal(-math.huge, 1 / t.small[2]:item())
  end)

  it('rounds every number as Lua does', function()
    math.randomseed(7)
    -- The product in 64 bits is half way between two doubles, the exact one is not.
    local function any_bits() return math.random(0, 0xffffffff) << 32 | math.random(0, 0xffffffff) end -- random(0) of Lua 5.4
    local texts, numbers = {'133226612379173655e8', '713020635011978375e18', '167115551294662176e16', '-657226024326662736e22'}, {}
    for i, text in ipairs(texts) do numbers[i] = tonumber(text) end
    for i = #texts + 1, 3000 do
      local x = string.unpack('d', string.pack('i8', any_bits()))
      if x ~= x or x - x ~= 0 then x = math.random() end
      local form = ({'%.17g', '%.16e', '%.3f', '%.15f', '%d.%d'})[i % 5 + 1]
      if form:find 'f' then x = math.fmod(x, 1e15) end
      texts[i] = form == '%d.%d' and form:format(any_bits(), any_bits() >> 1) or form:format(x)
      numbers[i] = tonumber(texts[i])
    end
    local found = read('x\n' .. table.concat(texts, '\n') .. '\n').x:tolist()
    for i, number in ipairs(numbers) do
      if found[i] ~= number then error(('%s became %.17g, not %.17g'):format(texts[i], found[i], number)) end
    end
  end)

  it('takes a column for text where one field is no number, the numbers before it included', function()
    local t = read 'a,b,c,d,e\n01,1.50,NA,1,0x10\n2,,x,2,1\nx,nan?,7,1e,2\n'
    assert.same({'01', '2', 'x'}, t.a)
    assert.same({'1.50', '', 'nan?'}, t.b)
    assert.same({'NA', 'x', '7'}, t.c)
    assert.same({'1', '2', '1e'}, t.d)
    assert.same({'0x10', '1', '2'}, t.e)
    assert.same({math.huge, -math.huge, 1}, read('a\nInfinity\n-inf\n 1 \n').a:tolist())
  end)

  it('csv.read makes columns of the requested dtypes', function()
    local text = 'a,b,c\n1,2.5,3\n4,5,6\n'
    local t = read(text, {types = {a = 'double', b = torch.float16, c = torch.int8}, dtype = torch.float32})
    assert.same({torch.float64, torch.float16, torch.int8}, {t.a.dtype, t.b.dtype, t.c.dtype})
    assert.equal(torch.float32, read(text, {dtype = torch.float32}).b.dtype)
    assert.equal(torch.int64, read(text, {dtype = torch.float32}).a.dtype)
    assert.same({'1', '4'}, read(text, {types = {a = 'string'}}).a)
    fails("column 'c' has integers that torch.int8 does not hold", 'c\n300\n', {types = {c = torch.int8}})
    fails('FILE:2: column \'a\': "NA" is no integer', 'a\nNA\n', {types = {a = 'integer'}})
    fails('FILE:2: column \'a\': "1.5" is no integer', 'a\n1.5\n', {types = {a = 'integer'}})
  end)

  it('leaves out comments and lines at the beginning', function()
    local t = read('made by a program\n\n# columns "\na,b # two\n1,2\n# 3,4\n5,"#6"\n', {comment = '#', skip = 2})
    assert.same({1, 5}, t.a:tolist())
    assert.same({'2', '#6'}, t['b '])
    assert.equal(0, #read('a\n', {skip = 5}))
    fails('FILE:4: got 1 fields, expected 2', '\n#\na,b\n1\n', {comment = '#'})
  end)

  it('parts fields by several characters and by runs of blanks', function()
    local t = read('a||b|c||d\n1||"x||y"||3\n2||z||4', {separator = '||'})
    assert.same({'x||y', 'z'}, t['b|c'])
    assert.same({3, 4}, t.d:tolist())
    local blanks = read('  a \tb  c\n1  2 \t 3  \n\t4 "5 6" 7\n   \n', {separator = 'blanks'})
    assert.same({1, 4}, blanks.a:tolist())
    assert.same({'2', '5 6'}, blanks.b)
    assert.same({3, 7}, blanks.c:tolist())
    fails('FILE:1: text after a quoted field', '"a"|b\n', {separator = '||'})
  end)

  it('reads records longer than its buffer, and lines that end in any way', function()
    local long = ('x'):rep(700000)
    local t = read('a,b\r\n"' .. long .. '\n""",1\r2,3\r\n4,5')
    assert.equal(long .. '\n"', t.a[1])
    assert.same({1, 3, 5}, t.b:tolist())
    local rows = {}
    for i = 1, 60000 do rows[i] = ('%d,"%s",%.2f'):format(i, ('y'):rep(i % 23), i / 4) end
    t = read('a,b,c\r\n' .. table.concat(rows, '\r\n') .. '\r\n')
    assert.equal(60000 * 60001 // 2, t.a:sum():item())
    assert.equal(60000, #t.b)
    for i = 1, 60000, 997 do assert.equal(i % 23, #t.b[i]) end
  end)

  it('reads many columns of few rows', function()
    local names, values = {}, {}
    for i = 1, 5000 do names[i], values[i] = 'c' .. i, i end
    local t = read(table.concat(names, ',') .. '\n' .. table.concat(values, ',') .. '\n')
    assert.equal(5000, #t)
    assert.equal(4711, t.c4711:item())
  end)

  it('csv.read reads gzip and reports damaged data', function()
    local path = os.tmpname()
    assert(os.execute(("printf 'a,b\\n1,x\\n2,y\\n' | gzip -c > %s"):format(path)))
    local t = csv.read(path)
    local file <close> = assert(io.open(path, 'rb'))
    local whole = file:read 'a'
    os.remove(path)
    assert.same({1, 2}, t.a:tolist())
    assert.same({'x', 'y'}, t.b)
    fails('FILE: its gzip data end early', whole:sub(1, -12))
  end)

  it('names the encoding that it does not read', function()
    fails('FILE: the text is UTF-16', '\xff\xfea\0,\0b\0\n\0')
    fails('FILE: the text is UTF-16', '\0a\0,\0b\0\n')
  end)

  it('does not wait for a pipe', function()
    local path = os.tmpname()
    os.remove(path)
    assert(os.execute('mkfifo ' .. path))
    local ok, message = pcall(csv.read, path)
    os.remove(path)
    assert.is_false(ok)
    assert(message:find('not a file', 1, true), message)
  end)
end)

describe('columns of csv', function()
  local HOUSES = 'NumRooms,RoofType,Price\nNA,NA,127500\n2,NA,106000\n4,Slate,178100\nNA,NA,140000\n'

  local function names_of(columns)
    local names = {}
    for name in pairs(columns) do names[#names + 1] = name end
    return names
  end

  local function refuses(message, f, ...)
    local ok, err = pcall(f, ...)
    assert.is_false(ok)
    assert(err:find(message, 1, true), err)
  end

  it('become the tensor of the book: one-hot roofs, missing rooms filled with the mean', function()
    local houses = read(HOUSES)
    local inputs = csv.get_dummies(csv.select(houses, {'NumRooms', 'RoofType'}), {dummy_na = true})
    assert.same({'NumRooms', 'RoofType_Slate', 'RoofType_nan'}, names_of(inputs))
    assert.equal(torch.bool, inputs.RoofType_nan.dtype)
    local X = csv.to_tensor(csv.fillna(inputs, 'mean'))
    assert.equal(torch.float32, X.dtype)
    assert.same({{3, 0, 1}, {2, 0, 1}, {4, 1, 0}, {3, 0, 1}}, X:tolist())
    assert.same({{127500}, {106000}, {178100}, {140000}}, csv.to_tensor(houses, {'Price'}, {dtype = torch.float64}):tolist())
    assert.is_true(houses.NumRooms[1]:isnan():item()) -- the table itself is unchanged
    assert.same({'NumRooms', 'RoofType', 'Price'}, names_of(houses))
  end)

  it('fillna fills numbers and texts', function()
    local t = read('a,b,c\n1,x,1.5\nNA,,NaN\n4,x,7\n7,y,2\n')
    assert.same({1, 4, 4, 7}, csv.fillna(t, 'mean').a:tolist())
    assert.same({1.5, 2, 7, 2}, csv.fillna(t, 'median').c:tolist())
    assert.same({1, 0, 4, 7}, csv.fillna(t, 0).a:tolist())
    local filled = csv.fillna(t, 'mode')
    assert.same({'x', 'x', 'x', 'y'}, filled.b)
    assert.same({1, 1, 4, 7}, filled.a:tolist())
    filled = csv.fillna(t, {b = 'z', c = 'mean'})
    assert.same({'x', 'z', 'x', 'y'}, filled.b)
    assert.same({1.5, 3.5, 7, 2}, filled.c:tolist())
    assert.is_true(filled.a[2]:isnan():item())
    assert.same({'x', '', 'x', 'y'}, csv.fillna(t, 'mean').b)
  end)

  it('get_dummies orders, names and leaves out columns as pandas does', function()
    local t = read('rooms,kind,big\n2,new,1\n10,old,0\nNA,NA,1\n2,bad,0\n')
    assert.same({'rooms', 'big', 'kind_bad', 'kind_new', 'kind_old'}, names_of(csv.get_dummies(t)))
    local dummies = csv.get_dummies(t, {'rooms'}, {dummy_na = true, dtype = torch.int64})
    assert.same({'kind', 'big', 'rooms_2.0', 'rooms_10.0', 'rooms_nan'}, names_of(dummies))
    assert.same({1, 0, 0, 1}, dummies['rooms_2.0']:tolist())
    assert.same({0, 0, 1, 0}, dummies.rooms_nan:tolist())
    assert.same({'rooms', 'kind', 'big_1'}, names_of(csv.get_dummies(t, {'big'}, {drop_first = true})))
    assert.same({false, false, false, true}, csv.get_dummies(t).kind_bad:tolist())
  end)

  it('are on the CPU under another default device, or on the device of the given columns', function()
    local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
    local _ <close> = setmetatable({}, { __close = function() torch.set_default_device(nil) end })
    torch.set_default_device(device)
    local t = read 'price,city\n1.5,a\n2,b\n'
    local x = csv.to_tensor(csv.get_dummies(t))
    assert.equal('cpu', tostring(x.device))
    assert.same({ { 1.5, 1, 0 }, { 2, 0, 1 } }, x:tolist())
    t.price = t.price:to(device)
    assert.equal(t.price.device, csv.to_tensor(csv.get_dummies(t)).device)
    assert.equal('cpu', tostring(csv.get_dummies({ city = { 'a', 'b' } }).city_a.device))
  end)

  it('refuse unknown names and columns that do not fit', function()
    local t = read(HOUSES)
    refuses("select(): no column is called 'NumRoms'; did you mean 'NumRooms'?", csv.select, t, {'NumRoms'})
    refuses("to_tensor(): column 'RoofType' has texts; call get_dummies() first, or name the columns", csv.to_tensor, t)
    refuses("value must be a number, 'mean', 'median', 'mode' or a table by names, got 'avg'", csv.fillna, t, 'avg')
    refuses("no column is called 'NumRoms'; did you mean 'NumRooms'?", function() return t.NumRoms end)
    refuses("no column is called 'Area'; the columns are NumRooms, RoofType, Price", function() return csv.fillna(t, 0).Area end)
    assert.truthy(tostring(t):find('RoofType +list of %d strings\n'), tostring(t))
    refuses("no column is called 'x'; the columns are NumRooms, RoofType, Price", csv.fillna, t, {x = 1})
    refuses("column 'RoofType' has texts; fill it with a text or 'mode', not a number", csv.fillna, t, {RoofType = 0})
    refuses("column 'a' has no values, so it has no mean; fill it with a number", csv.fillna, read 'a,b\nNA,1\n', 'mean')
    t.more = torch.zeros(3)
    refuses("column 'more' has 3 rows and column 'Price' has 4", csv.to_tensor, t, {'Price', 'more'})
    t.RoofType_Slate = torch.zeros(4)
    refuses("two columns would be called 'RoofType_Slate'; rename the column 'RoofType'", csv.get_dummies, t)
  end)
end)
