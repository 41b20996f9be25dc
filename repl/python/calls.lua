-- Python's calls in Lua: methods with a colon, named arguments in a table, dimensions from 1, and
-- built-in functions.
--
-- Functions take the parser of repl.python.expressions as first argument. Whether a name is a
-- method is read from the value of its owner without running code. May use repl.lexer,
-- repl.edit.values, repl.python.indices, repl.python.strings and torch through package.loaded.

local keywords = require('repl.lexer').keywords
local indices = require 'repl.python.indices'
local strings = require 'repl.python.strings'
local values = require 'repl.edit.values'

local calls = {}

-- ---- arguments -----------------------------------------------------------------------------

-- Reads `(...)`: positional nodes, named arguments {name, node} and the node after `**`.
local function arguments(parser)
  local positional, named, table_node = {}, {}, nil
  parser:expect '('
  while not parser:accept ')' do
    if parser:accept '**' then
      parser.is_python = true
      table_node = parser:expression()
    elseif parser:accept '*' then
      parser.is_python = true
      local node = parser:expression()
      positional[#positional + 1] = parser:node(('table.unpack(%s)'):format(node.text), parser.PREFIX, {unpacked = true})
    elseif parser:token().kind == 'name' and parser:peek('=', 1) then
      local name = parser:name()
      parser:expect '='
      named[#named + 1] = {name = name, node = parser:expression()}
      parser.is_python = true
    else
      local node = parser:expression()
      if parser:peek 'for' then node = parser:comprehension(node) end
      positional[#positional + 1] = node
    end
    if not parser:accept ',' then
      parser:expect ')'
      break
    end
  end
  if table_node and #named > 0 then parser:fail() end
  for index = 1, #positional - 1 do
    if positional[index].unpacked then parser:fail() end
  end
  if positional[#positional] and positional[#positional].unpacked and (#named > 0 or table_node) then parser:fail() end
  return positional, named, table_node
end

-- ---- dimensions ----------------------------------------------------------------------------

local shifted_kinds = {Dim = true, Dims = true, Index = true}
local named_dimensions = {}
for name in ('dim axis dims dim0 dim1 start_dim end_dim ignore_index padding_idx'):gmatch '%S+' do named_dimensions[name] = true end

-- The declared arguments of each form of the operation: lists of {kind, name}.
local function forms_of(name)
  local torch = package.loaded.torch
  local docs = type(torch) == 'table' and rawget(torch, '_docs')
  local entry = docs and docs()[name]
  local forms = {}
  for inside in (entry and entry.signature or ''):gmatch '%b()' do
    local form = {}
    for kind, argument in inside:gmatch '([%a]+)[%[%]%?%d]* ([%a_][%w_]*)' do form[#form + 1] = {kind, argument} end
    forms[#forms + 1] = form
  end
  return forms
end

-- True if the argument at `index`, or named so, is a position.
local function is_position(name, index, argument)
  if argument and named_dimensions[argument] then return true end
  if name == 'size' or name == 'stride' then return index == 2 end -- 1: the tensor
  for _, form in ipairs(forms_of(name)) do
    local declared = form[index] or (form[#form] and form[#form][1] == 'Dims' and form[#form])
    if index and declared and shifted_kinds[declared[1]] then return true end
    for _, each in ipairs(argument and form or {}) do
      if each[2] == argument and shifted_kinds[each[1]] then return true end
    end
  end
  return false
end

-- ---- writing -------------------------------------------------------------------------------

-- Names of the parameters of the user's function, if all are known.
local function parameters_of(parser, text)
  local defined = parser.functions[text]
  if defined then return defined end
  local value = values.of_path(parser.state, text)
  if type(value) ~= 'function' then return nil end
  local info = debug.getinfo(value, 'Su')
  if info.what ~= 'Lua' or info.source:find '^=%[ltensor ' or info.isvararg then return nil end
  local names = {}
  for index = 1, info.nparams do names[index] = debug.getlocal(value, index) end
  return names
end

-- Named arguments as positional ones of a function with these parameters; false if one has another
-- name.
local function place(positional, named, parameters)
  local texts = {}
  for index, node in ipairs(positional) do texts[index] = node.text end
  for _, argument in ipairs(named) do
    local position
    for index, name in ipairs(parameters) do
      if name == argument.name then position = index end
    end
    if not position then return false end
    texts[position] = argument.node.text
    for index = 1, position do texts[index] = texts[index] or 'nil' end
  end
  return texts
end

-- The text of the arguments in parentheses, or in braces if there is only a table. name: of the
-- function; first: the index of the first argument in its declaration.
local function written(parser, name, first, positional, named, table_node)
  local texts = {}
  for index, node in ipairs(positional) do
    local shifts = (node.int or node.items) and not parser:keeps_positions() and is_position(name, first + index - 1)
    texts[index] = shifts and indices.position(parser, node) or node.text
  end
  local pairs_of = {}
  for index, argument in ipairs(named) do
    local node = argument.node
    local shifts = (node.int or node.items) and not parser:keeps_positions() and is_position(name, nil, argument.name)
    local key = keywords[argument.name] and ("['%s']"):format(argument.name) or argument.name
    pairs_of[index] = key .. ' = ' .. (shifts and indices.position(parser, node) or node.text)
  end
  local options = table_node and table_node.text or #named > 0 and '{' .. table.concat(pairs_of, ', ') .. '}' or nil
  if #positional == 0 and #named > 0 then return options end
  texts[#texts + 1] = options
  if #texts == 1 and positional[1] and positional[1].items and texts[1]:find '^{' then return texts[1] end
  return '(' .. table.concat(texts, ', ') .. ')'
end

-- ---- methods and functions -----------------------------------------------------------------

local modules = {}
for name in ('torch nn F np plt math os io sys time random optim init data transforms string table d2l'):gmatch '%S+' do modules[name] = true end

-- True if the text is a path of fields of a module.
local function is_module(parser, text)
  local root, rest = text:match '^([%a_][%w_]*)(.*)$'
  return root ~= nil and (modules[root] or parser.imported[root]) and not rest:find '[^%w_.]'
end

-- True for `owner.name(...)` where name is a method, which Lua calls with a colon.
local function is_method(parser, owner, name)
  local text = owner.text
  if owner.level < parser.PREFIX or owner.plain then return true end
  if parser.is_lua then return false end
  local value = values.of_path(parser.state, text)
  if parser.class and text == 'self' then
    if parser.fields[name] then return false end
    return name ~= 'net'
  end
  if type(value) == 'userdata' then
    local member = values.of_path(parser.state, text .. '.' .. name)
    return not (type(member) == 'userdata' or type(member) == 'table')
  end
  if values.is_object(value) or type(value) == 'string' then return true end
  if value == nil then return not is_module(parser, text) end
  local metatable = debug.getmetatable(value)
  local is_object = type(metatable) == 'table' and rawget(metatable, '__name') == nil and type(rawget(metatable, '__index')) == 'table'
  return is_object or owner.call ~= nil -- the value of a constructor's call is its class
end

-- `super().name(...)` in a method of a class.
local function super_call(parser, name)
  local positional, named, table_node = arguments(parser)
  local method = name == '__init__' and 'init' or name
  table.insert(positional, 1, parser:node('self', parser.PREFIX))
  local text = ('%s.super.%s%s'):format(parser.class, method, written(parser, method, 1, positional, named, table_node))
  return parser:node(text, parser.PREFIX, {call = {name = '', arguments = positional}, is_super_init = method == 'init' and #positional == 1})
end

-- Methods of Python's strings, lists and dicts: function(parser, owner, arguments) returns a node,
-- or nil.
local renamed = {}

function renamed.format(parser, owner, positional) return owner.plain and strings.format_method(parser, owner, positional) end

function renamed.join(parser, owner, positional)
  if not owner.is_string or #positional ~= 1 then return nil end
  return parser:node(('table.concat(%s, %s)'):format(positional[1].text, owner.text), parser.PREFIX)
end

function renamed.append(parser, owner, positional)
  if owner.level < parser.PREFIX or #positional ~= 1 then return nil end
  return parser:node(('table.insert(%s, %s)'):format(owner.text, positional[1].text), parser.PREFIX)
end

-- `owner.name(...)`, with the parser before the parenthesis; colon: it was written with a colon.
function calls.method(parser, owner, name, colon)
  if owner.is_super and parser.class then return super_call(parser, name) end
  local positional, named, table_node = arguments(parser)
  local other = renamed[name] and not colon and #named == 0 and not is_module(parser, owner.text) and renamed[name](parser, owner, positional)
  if other then
    other.call = {name = '', arguments = positional}
    return other
  end
  local method = colon or is_method(parser, owner, name)
  local prefix = parser:at_level(owner, parser.PREFIX)
  local text
  if keywords[name] then
    if method then table.insert(positional, 1, parser:node(prefix, parser.PREFIX)) end
    text = ("%s['%s']%s"):format(prefix, name, written(parser, name, 1, positional, named, table_node))
  else
    local parameters = not method and #named > 0 and not table_node and parameters_of(parser, prefix .. '.' .. name)
    local texts = parameters and place(positional, named, parameters)
    text = prefix .. (method and ':' or '.') .. name ..
      (texts and '(' .. table.concat(texts, ', ') .. ')' or written(parser, name, method and 2 or 1, positional, named, table_node))
  end
  local call = {name = name, method = method, owner = owner, arguments = positional, named = named}
  return parser:node(text, parser.PREFIX, {call = call, tensor = owner.text == 'torch' and name == 'tensor' or nil})
end

-- ---- built-in functions --------------------------------------------------------------------

local builtins = {}

local function simple(pattern, count)
  return function(parser, positional)
    if #positional ~= (count or 1) then parser:fail() end
    local texts = {}
    for index, node in ipairs(positional) do texts[index] = node.text end
    return parser:node(pattern:format(table.unpack(texts)), parser.PREFIX)
  end
end

function builtins.open(parser, positional)
  local texts = {}
  for index, node in ipairs(positional) do texts[index] = node.text end
  return parser:node(('io.open(%s)'):format(table.concat(texts, ', ')), parser.PREFIX)
end

builtins.str = simple 'tostring(%s)'
builtins.abs = simple 'math.abs(%s)'
builtins.getattr = simple('%s[%s]', 2)
builtins.round = simple 'math.floor(%s + 0.5)'

function builtins.len(parser, positional)
  if #positional ~= 1 then parser:fail() end
  return parser:node('#' .. parser:at_level(positional[1], parser.ATOM), 11)
end

function builtins.float(parser, positional)
  local node = positional[1] or parser:fail()
  local special = ({inf = 'math.huge', ['-inf'] = '-math.huge', nan = 'torch.nan'})[node.plain]
  if special then return parser:node(special, 11) end
  if parser:is_tensor(node) then return parser:method(node, 'item') end
  return parser:node(('tonumber(%s)'):format(node.text), parser.PREFIX)
end

function builtins.int(parser, positional)
  local node = positional[1] or parser:fail()
  return parser:node(('math.tointeger(%s)'):format(node.is_string and node.text or parser:binary('//', node, parser:node('1', parser.ATOM), 10).text), parser.PREFIX)
end

function builtins.list(parser, positional)
  if #positional == 0 then return parser:node('{}', parser.ATOM) end
  local call = positional[1].call
  if call and call.name == 'range' then
    return parser:node(('torch.arange(%s):tolist()'):format(call.inside), parser.PREFIX)
  end
  return #positional == 1 and positional[1] or parser:fail()
end

function builtins.dict(parser, positional, named)
  if #positional > 0 then parser:fail() end
  local parts = {}
  for index, argument in ipairs(named) do parts[index] = argument.name .. ' = ' .. argument.node.text end
  return parser:node('{' .. table.concat(parts, ', ') .. '}', parser.ATOM)
end

local kinds = {str = 'string', int = 'number', float = 'number', list = 'table', tuple = 'table', dict = 'table', bool = 'boolean'}

-- Whether the value is of the class; nodes.
function calls.is_instance(parser, value, class)
  local kind = kinds[class.text]
  if kind then return parser:node(("type(%s) == '%s'"):format(value.text, kind), parser.COMPARE) end
  if class.text == 'torch.Tensor' then return parser:node(('torch.is_tensor(%s)'):format(value.text), parser.PREFIX) end
  if class.level < parser.PREFIX then parser:fail() end
  return parser:node(('%s:is_instance(%s)'):format(class.text, value.text), parser.PREFIX)
end

function builtins.isinstance(parser, positional)
  if #positional ~= 2 then parser:fail() end
  return calls.is_instance(parser, positional[1], positional[2])
end

function builtins.hasattr(parser, positional)
  if #positional ~= 2 or not positional[2].plain then parser:fail() end
  return parser:node(('%s.%s ~= nil'):format(positional[1].text, positional[2].plain), parser.COMPARE)
end

function builtins.print(parser, positional, named)
  local texts = {}
  for index, node in ipairs(positional) do texts[index] = node.text end
  if #named == 0 then return parser:node(('print(%s)'):format(table.concat(texts, ', ')), parser.PREFIX) end
  local stop
  for _, argument in ipairs(named) do
    if argument.name == 'end' then stop = argument.node.text elseif argument.name ~= 'flush' then parser:fail() end
  end
  if not stop then return parser:node(('print(%s)'):format(table.concat(texts, ', ')), parser.PREFIX) end
  for index, node in ipairs(positional) do texts[index] = node.is_string and node.text or ('tostring(%s)'):format(node.text) end
  if stop ~= "''" then texts[#texts + 1] = stop end
  return parser:node(('io.write(%s)'):format(table.concat(texts, ', ')), parser.PREFIX)
end

for _, name in ipairs {'min', 'max'} do
  builtins[name] = function(parser, positional)
    if #positional < 2 then parser:fail() end
    local texts = {}
    for index, node in ipairs(positional) do texts[index] = node.text end
    return parser:node(('math.%s(%s)'):format(name, table.concat(texts, ', ')), parser.PREFIX)
  end
end

-- Built-in functions that only a loop can use.
local in_loops = {range = true, zip = true, enumerate = true, reversed = true}

-- Names whose absence in Lua shows that a line is Python's.
calls.python_names = {f = true}
for name in next, builtins do calls.python_names[name] = true end
for name in next, in_loops do calls.python_names[name] = true end

local function inside_of(positional)
  local texts = {}
  for index, node in ipairs(positional) do texts[index] = node.text end
  return table.concat(texts, ', ')
end

-- `callee(...)`, with the parser before the parenthesis.
function calls.call(parser, callee)
  local name = callee.variable
  local positional, named, table_node = arguments(parser)
  if name == 'super' and #positional == 0 then return parser:node('super', parser.PREFIX, {is_super = true}) end
  local is_own = name and (parser.functions[name] or (name ~= 'print' and values.of_path(parser.state, name) ~= nil))
  local builtin = name and not is_own and not table_node and builtins[name]
  local call = {name = name or '', arguments = positional, named = named, inside = inside_of(positional)}
  if builtin then
    parser.is_python = parser.is_python or name ~= 'print'
    local node = builtin(parser, positional, named)
    node.call = call
    return node
  end
  if name and not is_own and in_loops[name] then
    parser.is_python = true
    return parser:node('<' .. name .. '>', parser.PREFIX, {call = call}) -- only a loop can use it
  end
  if callee.plain then parser:fail() end
  local parameters = #named > 0 and not table_node and parameters_of(parser, callee.text)
  local texts = parameters and place(positional, named, parameters)
  local inside = texts and '(' .. table.concat(texts, ', ') .. ')' or written(parser, name or callee.name, 1, positional, named, table_node)
  return parser:node(parser:at_level(callee, parser.PREFIX) .. inside, parser.PREFIX, {call = call})
end

return calls
