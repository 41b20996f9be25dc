-- `?name`: the description of a name and its call.
--
-- Descriptions of operations come from the declarations (torch._docs), of Lua functions from the
-- comment above them, of classes from the comment of their file, of C functions from lib/meta. May
-- use repl.edit, repl.annotations, repl.echo, repl.errors, repl.wrapped and repl.notebook.markdown.

local echo = require 'repl.echo'
local width = require 'torch.utils.width'
local wrapped = require 'repl.wrapped'

local help = {}

local overview = 'A cell is Lua code; the prompt shows the value of its last expression and keeps top-level locals.'

local forms = {
  {'x;', 'runs without showing the value'},
  {'_, __, Out[n], In[n]', 'earlier values and cells'},
  {'?name name?', 'help; ??name: source; torch.*sum*? lists names'},
  {'Tab', 'completes names, fields and paths'},
  {'!command', 'runs a shell command with {expr} replaced by its value; files = !ls keeps its lines'},
  {'%name', 'a magic: %lsmagic lists them, %name? explains one'},
  {'Ctrl-C', 'stops the cell after the current library call or GPU kernel; the third one kills'},
  {'Up', 'finds cells that begin like the line'},
  {'Right', 'accepts the dimmed suggestion'},
}

-- The documentation of the op named by `name` (torch.sum, x:sum, sum).
local function documented(name)
  local torch = package.loaded.torch
  local docs = type(torch) == 'table' and rawget(torch, '_docs')
  if type(docs) ~= 'function' then return nil end
  docs = docs()
  local inside = name:match '^torch%.(.+)$' or name
  return docs[name] or docs[inside] or docs[(inside:gsub('%.', '_'))] or docs[name:match '[.:]([%w_]+)$']
end

-- The value of a dotted name, read without running user code if possible.
local function value_of(session, name)
  local method = name:match '^torch%.Tensor[.:]([%w_]+)$'
  if method then return require('repl.edit.values').tensor_members()[method] end
  local first, rest = name:match '^([%w_]+)(.*)$'
  if not first then return nil end
  local value, found = session.scope:get(first)
  if not found then value = rawget(session.environment, first) end
  for key in rest:gmatch '[.:]([%w_]+)' do
    if value == nil then return nil end
    local ok, member = pcall(function() return value[key] end)
    value = ok and member or nil
  end
  return value
end

local markdown = require 'repl.notebook.markdown'

-- The source lines of one of our chunks, a file or a cell; nil if unknown.
local function lines_of(session, info)
  local module = info.source:match '^=%[ltensor (torch%..+)%]$'
  local torch = package.loaded.torch
  if module and type(torch) == 'table' then
    local text = rawget(torch, '_C').module_source(module)
    return text and markdown.lines(text)
  end
  if info.source:sub(1, 1) == '@' then
    local file = io.open(info.source:sub(2))
    if not file then return nil end
    local text = file:read 'a'
    file:close()
    return markdown.lines(text)
  end
  local number = tonumber(info.source:match '^=%(cell (%d+)%)$')
  return number and markdown.lines(session.inputs[number] or '')
end

-- The comment that ends above line `number`, as text without its dashes; nil if there is none.
local function comment_above(lines, number)
  local first = number
  while first > 1 and lines[first - 1]:find '^%s*%-%-' do first = first - 1 end
  if first == number then return nil end
  local text = {}
  for index = first, number - 1 do text[#text + 1] = lines[index]:gsub('^%s*%-%-+ ?', '') end
  return table.concat(text, '\n')
end

local function print_lines(lines, first, last)
  for index = first, math.min(last, #lines) do print(lines[index]) end
end

-- The comment at the head of a file, without the file's name.
local function comment_of_file(lines)
  local last = 1
  while lines[last] and lines[last]:find '^%-%-' do last = last + 1 end
  local comment = comment_above(lines, last)
  return comment and comment:gsub('^[%w_]+%.lua %- ', '')
end

local function print_all(lines)
  for _, line in ipairs(lines) do print(line) end
end

local FILLED = 72 -- columns: a longer comment line was wrapped, so the next one continues it

-- Prints text in paragraphs: a line of full width is joined with the next one.
local function print_text(text)
  local lines, was_full = {}, false
  for line in (text .. '\n'):gmatch '([^\n]*)\n' do
    if was_full and line:find '^[%w%p]' and not line:find '^[-*] ' then
      lines[#lines] = lines[#lines] .. ' ' .. line
    else
      lines[#lines + 1] = line
    end
    was_full = width.of(line) >= FILLED and not line:find '^%s'
  end
  print_all(wrapped.lines(table.concat(lines, '\n'), ''))
end

-- The text after `label` in a line of a file's long comment `arguments`, such as 'LSTM(): text' or
-- 'bias: text'; nil without one.
local function described_in(lines, label)
  local inside = false
  for _, line in ipairs(lines) do
    if line == '--[=[ arguments' then
      inside = true
    elseif inside and line == ']=]' then
      return nil
    elseif inside and line:sub(1, #label + 2) == label .. ': ' then
      return line:sub(#label + 3)
    end
  end
  return nil
end

-- ---- declarations --------------------------------------------------------------------------

local function checked_original(f) return require('torch.support.argument_checks').original(f) end

-- The function behind wrappers of the library, which have it as an upvalue: `f`, or `target` that
-- loads it.
local function original(f)
  for _ = 1, 4 do
    local found = checked_original(f)
    if found == f and debug.getinfo(f, 'S').source:find('^=%[ltensor torch%.support%.') then
      for i = 1, 6 do
        local name, value = debug.getupvalue(f, i)
        if type(value) == 'function' and (name == 'f' or name == 'target') then found = name == 'f' and value or value() end
      end
    end
    if found == f or type(found) ~= 'function' then break end
    f = found
  end
  return f
end

-- The declared arguments of a function or a class of the library, from `first` on; nil without a
-- declaration.
local function declared_arguments(value)
  local torch = package.loaded.torch
  if type(torch) ~= 'table' then return nil end
  local arguments = require 'torch.support.arguments'
  local signature, first = arguments.signature_of(value), type(value) == 'table' and 2 or 1
  if not signature and type(value) == 'table' then
    local init = rawget(value, 'init')
    local is_ours = type(init) == 'function' and debug.getinfo(init, 'S').source:find '^=%[ltensor '
    local reader = is_ours and arguments.constructors[value.__classname]
    signature, first = type(reader) == 'string' and arguments.parse(reader) or reader or nil, 1
  end
  if not signature then return nil end
  return table.move(signature, first, #signature, 1, {positional = signature.positional - first + 1, rest = signature.rest})
end

local function declared_argument(argument)
  local kind = argument.kind and argument.kind ~= 'any' and argument.kind .. ' ' or ''
  local default = argument.default
  return kind .. argument.name .. (default ~= nil and '=' .. echo.value(default) or '')
end

-- The declared arguments in parentheses, as PyTorch writes them: keyword-only ones follow a star.
local function signature_text(arguments)
  local texts = {}
  for index, argument in ipairs(arguments) do
    if index == arguments.positional + 1 then texts[#texts + 1] = arguments.rest and '...' or '*' end
    texts[#texts + 1] = declared_argument(argument)
  end
  if arguments.rest and arguments.positional >= #arguments then texts[#texts + 1] = '...' end
  return '(' .. table.concat(texts, ', ') .. ')'
end

-- The parameters of a Lua function in parentheses, from number `first` on.
local function parameters_text(f, first)
  local info, names = debug.getinfo(f, 'u'), {}
  for index = first, info.nparams do names[#names + 1] = debug.getlocal(f, index) end
  if info.isvararg then names[#names + 1] = '...' end
  return '(' .. table.concat(names, ', ') .. ')'
end

-- A comment without its lines `@param name text`, and these as rows.
local function without_parameters(comment)
  local words, rows, in_row = {}, {}, false
  for line in (comment .. '\n'):gmatch '([^\n]*)\n' do
    local name, about = line:match '^@param ([%w_.]+)%?? +(.*)$'
    if name then
      rows[#rows + 1] = {name, about}
    elseif in_row and line:find '^%s+%S' then
      rows[#rows][2] = rows[#rows][2] .. ' ' .. line:match '^%s+(.*)$'
    elseif not line:find '^@' then
      words[#words + 1] = line
    end
    in_row = name ~= nil or in_row and line:find '^%s+%S' ~= nil
  end
  return table.concat(words, '\n'), rows
end

-- Prints the descriptions of the arguments that the file describes, after `rows`; those of the
-- function or class `owner` come first.
local function print_arguments(lines, arguments, owner, rows)
  local known, declared = {}, {}
  for _, argument in ipairs(arguments or {}) do declared[argument.name] = true end
  for i = #rows, 1, -1 do
    known[rows[i][1]] = true
    if arguments and not declared[rows[i][1]] then table.remove(rows, i) end
  end
  for _, argument in ipairs(arguments or {}) do
    local text = not known[argument.name] and (described_in(lines, owner .. '.' .. argument.name) or described_in(lines, argument.name))
    if text then rows[#rows + 1] = {argument.name, text} end
  end
  if #rows > 0 then print_all(wrapped.rows(rows, '  ')) end
end

-- ---- functions -----------------------------------------------------------------------------

local manual = 'https://www.lua.org/manual/5.4/manual.html#pdf-'

-- Prints the op's declaration: signatures, description, example.
local function show_op(entry, without_signature)
  if entry.signature and not without_signature then print_all(wrapped.lines(entry.signature, '    ')) end
  if entry.doc then print_text(entry.doc) end
  if entry.example then print_all(wrapped.lines('\n  ' .. entry.example:gsub('\n', '\n  '), '  ')) end
end

-- The description in the source of a Lua function: the comment above it; of a module that is a
-- single function the first comment; or an entry of the file's `arguments`.
local function comment_of(lines, info, value, name, last_name)
  local comment = comment_above(lines, info.linedefined)
  local module = info.source:match '^=%[ltensor (.*)%]$'
  if not comment and module and package.loaded[module] == value then comment = comment_of_file(lines) end
  return comment or described_in(lines, (name:match '[%w_]+[.:][%w_]+$' or name) .. '()') or described_in(lines, last_name .. '()')
end

-- The description of a library function that is written elsewhere: in the annotations, or of the op
-- that it calls: {text, rows} or {op}.
local function described_elsewhere(name, value, last_name)
  local library = echo.library_name(value, last_name)
  if not library or not library:find '^torch' then return nil end
  local found = require('repl.annotations').of_function(library)
  if found and found.text ~= '' then return {text = found.text, rows = found.arguments} end
  local nested = library:find '^torch%.nn%.functional%.' or library:find '^torch%.linalg%.' or library:find '^torch%.[%w_]+$'
  local entry = nested and (documented(name) or documented(last_name:gsub('_with_indices$', '')))
  if entry then return {op = entry} end
  entry = nested and documented((last_name:gsub('_$', '')))
  return entry and {text = 'In place: ' .. entry.doc} or nil
end

local function show_function(session, name, value, with_source)
  local ops = package.loaded['torch.library.ops']
  local registered = ops and ops.__describe(value)
  if registered then return show_op(registered) end
  local own = original(value)
  local info = debug.getinfo(own, 'Su')
  local text = echo.value(value)
  local arguments, last_name = declared_arguments(value), name:match '[%w_]+$' or name
  local lines = info.what ~= 'C' and lines_of(session, info) or nil
  local comment = lines and comment_of(lines, info, value, name, last_name)
  local found = not comment and described_elsewhere(name, value, last_name) or {}
  if arguments or not found.op then
    print_all(wrapped.lines(arguments and name .. signature_text(arguments) or ('%s = %s'):format(name, text), '    '))
  end
  local library_name = text:match '^<function ([%w_.]+)>$'
  if library_name and not library_name:find '^torch' then print(manual .. library_name) end
  if found.op then show_op(found.op, arguments ~= nil) end
  local rows = found.rows or {}
  if comment then comment, rows = without_parameters(comment) end
  if comment or found.text then print_text(comment or found.text) end
  print_arguments(lines or {}, arguments, last_name, rows)
  local op = comment and name:find 'linalg[.:]' and documented(name)
  if op and op.example then show_op({example = op.example}) end
  if lines and with_source then print_lines(lines, info.linedefined, info.lastlinedefined) end
end

-- ---- classes -------------------------------------------------------------------------------

-- The description of a class: the comment above the line that creates it, otherwise the first
-- comment of the file.
local function comment_of_class(lines, class_name)
  for number, line in ipairs(lines) do
    if line:find(":extend%s*%(?%s*['\"]" .. class_name .. "['\"]") or line:find("__classname = '" .. class_name .. "'", 1, true) then
      local comment = comment_above(lines, number)
      if comment then return comment end
    end
  end
  local description, about = described_in(lines, class_name .. '()'), comment_of_file(lines)
  return description and about and description .. '\n\n' .. about or description or about
end

-- Prints the example of the class from its file's long comment.
local function print_example(lines, class_name)
  local inside, found = false, false
  for _, line in ipairs(lines) do
    if line == '--[=[ examples' then
      inside = true
    elseif inside and line == ']=]' then
      break
    elseif inside and not line:find '^ ' then
      found = line == class_name
      if found then print '' end
    elseif found then
      print_all(wrapped.lines(line:gsub('^  ', ''), '  '))
    end
  end
  if inside then print '' end
end

-- Where a class is written: what debug.getinfo knows of its init, or else of another method; nil
-- if it has none.
local info_of_class
function info_of_class(class)
  local names = {}
  for name, method in next, class do
    if type(name) == 'string' and type(method) == 'function' then names[#names + 1] = name end
  end
  table.sort(names, function(a, b)
    if (a == 'init') ~= (b == 'init') then return a == 'init' end
    return a < b
  end)
  for _, name in ipairs(names) do
    local info = debug.getinfo(original(rawget(class, name)), 'Su')
    if info.what ~= 'C' and not info.source:find '^=%[ltensor torch%.support%.' then return info end
  end
  local parent = #names == 0 and rawget(class, 'super')
  local info = parent and info_of_class(parent)
  return info and info.source:find '^=%[ltensor torch%.' and info or nil
end

local function show_class(session, name, class, with_source)
  local init = class.init
  if init == require('torch.support.class').Object.init then init = nil end
  local arguments = declared_arguments(class)
  local text = arguments and signature_text(arguments) or type(init) == 'function' and parameters_text(original(init), 2) or '()'
  print_all(wrapped.lines(('class %s%s'):format(name, text), '    '))
  local info = info_of_class(class)
  local lines = info and lines_of(session, info)
  local comment = lines and comment_of_class(lines, class.__classname)
  if comment then print_text(comment) end
  if lines then
    print_arguments(lines, arguments, class.__classname, {})
    print_example(lines, class.__classname)
    if with_source then print_lines(lines, info.linedefined, info.lastlinedefined) end
  end
  print_all(wrapped.words('members:', (require('repl.edit.values').members(class, ''))))
end

local function is_class(value)
  local metatable = debug.getmetatable(value)
  if type(value) ~= 'table' then return false end
  return type(metatable) == 'table' and rawget(metatable, '__name') == 'class' or type(rawget(value, '__classname')) == 'string'
end

-- The candidates for a misspelled name.
local function names_near(session, name)
  local owner = name:match '^(.*)[.:][%w_]+$'
  local values = require 'repl.edit.values'
  if owner then return values.members(value_of(session, owner) or package.loaded.torch, '') end
  local names = values.members(package.loaded.torch, '')
  table.move(values.members(session.environment, ''), 1, 1000, #names + 1, names)
  return names
end

-- The kind of the value, in a few words.
local function kind_of(value)
  local kind, text = echo.kind(value)
  if kind == 'tensor' then return 'tensor of size ' .. text end
  if type(value) == 'table' and debug.getmetatable(value) ~= nil then return (echo.value(value):match '^[^\n]*') end
  if type(value) == 'table' or type(value) == 'userdata' then return kind end
  return ('%s, %s'):format(type(value), text)
end

-- The annotations of a function written in C, or of a method: nil without them. `owner`: the object
-- of a method.
local function annotated(value, name, owner)
  local last = name:match '[%w_]+$'
  local library = echo.library_name(value, last)
  local annotations = require 'repl.annotations'
  local metatable = owner ~= nil and debug.getmetatable(owner)
  local class = name:find '^torch%.Tensor[.:]' and 'Tensor' or type(metatable) == 'table' and rawget(metatable, '__name')
  return library and annotations.of_function(library:match '([%w_]+%.[%w_]+)$' or library)
    or type(class) == 'string' and annotations.of_function(class .. ':' .. last) or nil
end

-- Prints the annotations as a declaration is printed.
local function show_annotated(found)
  print_all(wrapped.lines(found.signature, '    '))
  if found.text ~= '' then print_text(found.text) end
  if #found.arguments > 0 then print_all(wrapped.rows(found.arguments, '  ')) end
end

-- Prints a module of the library: its description and its members by their kinds.
local function show_module(session, name, value)
  local module = require('repl.edit.lazy').module_of(value, '^torch')
  print('module ' .. module)
  local lines = lines_of(session, {source = '=[ltensor ' .. module .. ']'})
  local comment = lines and comment_of_file(lines)
  if comment then print_text(comment) end
  local members, kinds = require('repl.edit.values').members(value, '')
  print_all(require('repl.edit.menu').lines(members, kinds, wrapped.columns(), function(label) return label end))
  if name ~= module then print(('?%s.name explains a member'):format(name)) end
end

-- Whether the value is one of torch's ops or methods, which its declaration documents.
local function is_op(name, value)
  if type(value) ~= 'function' then return false end
  local last = name:match '[%w_]+$'
  local torch = package.loaded.torch
  if type(torch) ~= 'table' then return false end
  local values = require 'repl.edit.values'
  for _, owner in ipairs {torch, values.tensor_members()} do
    if rawequal(rawget(owner, last), value) then return true end
  end
  local module = name:match '(%l+)%.[%w_]+$'
  return module ~= nil and rawequal(rawget(torch, module .. '_' .. last), value)
end

-- The documentation of an op with the same value: torch.linalg.inv is torch.inverse.
local function documented_by_value(value)
  local torch = package.loaded.torch
  local docs = type(torch) == 'table' and rawget(torch, '_docs')
  local found
  local library = type(docs) == 'function' and echo.library_name(value)
  local own = library and docs()[library:match '^torch%.(.+)$' or '']
  if own then return own end
  for name in next, type(docs) == 'function' and docs() or {} do
    if rawequal(rawget(torch, name), value) and (not found or #name < #found or #name == #found and name < found) then found = name end
  end
  return found and docs()[found]
end

-- Shows help on a name; with_source also shows the text of a Lua function. No name: an overview.
-- Returns false if the name does not exist.
function help.show(session, name, with_source)
  if name == '' then
    print_all(wrapped.lines(overview, ''))
    print_all(wrapped.rows(forms, '  '))
    return true
  end
  -- The value comes first; only a name without a value, or the name of an op, is looked up in the
  -- declarations.
  local value = value_of(session, name)
  local entry = (value == nil or is_op(name, value)) and documented(name) or nil
  if not entry and type(value) == 'function' then entry = documented_by_value(value) end
  local annotations = not entry and type(value) == 'function' and debug.getinfo(original(value), 'S').what == 'C'
    and annotated(value, name, value_of(session, name:match '^(.*)[.:]' or '')) or nil
  if entry then show_op(entry) end
  if annotations then show_annotated(annotations) end
  if type(value) == 'function' and (not (entry or annotations) or with_source) then
    show_function(session, name, value, with_source)
  elseif is_class(value) then
    show_class(session, name, value, with_source)
  elseif type(value) == 'table' and not entry and require('repl.edit.lazy').module_of(value, '^torch') then
    show_module(session, name, value)
  elseif value ~= nil and not entry and not annotations then
    print(('%s: %s'):format(name, kind_of(value)))
    local about = name:find '^torch%.[%w_]+$' and require('repl.annotations').of_field(name:match '[%w_]+$')
    if about then print_text(about) end
    local members = require('repl.edit.values').members(value, '')
    if #members > 0 and type(value) ~= 'string' then print_all(wrapped.words('members:', members)) end
  elseif not entry and not annotations then
    local near = require('repl.errors').nearest(name:match '[%w_]+$' or name, names_near(session, name))
    print(('nothing is called %s%s'):format(name, near and ("; did you mean '%s'?"):format(near) or ''))
    return false
  end
  return true
end

-- The first page of the documentation (make site): in the build folder or in the installation; nil
-- if neither exists.
local function first_page()
  local system = require 'repl.system'
  local folder = system.program_folder()
  for _, place in ipairs(folder and { '/site/html/index.html', '/../share/doc/ltensor/html/index.html' } or {}) do
    if system.modified(folder .. place) then return folder .. place end
  end
  return nil
end

-- Prints the path of the documentation, and opens it if there is a desktop.
local function open_documentation()
  local page = first_page()
  if not page then return print 'to build the documentation for a browser, run make site in the source' end
  print('the documentation: file://' .. page)
  if os.getenv 'DISPLAY' or os.getenv 'WAYLAND_DISPLAY' then
    os.execute(("xdg-open '%s' >/dev/null 2>&1 &"):format((page:gsub("'", "'\\''"))))
  end
end

-- help(topic) at the prompt: the text of show() for a name or, for functions and classes, for a
-- value; without a topic, an overview and the pages of the documentation.
function help.of(session, topic)
  if topic == nil then
    help.show(session, '')
    return open_documentation()
  end
  local name = type(topic) == 'string' and topic
  if type(topic) == 'function' then
    local entry = documented_by_value(topic)
    name = echo.value(topic):match '^<function ([%w_.]+)>$'
    if entry then
      show_op(entry)
    elseif name then
      help.show(session, name)
    else
      show_function(session, 'function', topic)
    end
  elseif is_class(topic) then
    show_class(session, topic.__classname, topic)
  elseif name then
    help.show(session, name)
  else
    print(kind_of(topic))
  end
end

-- The text that show() prints, or nil if the name does not exist.
function help.text(session, name, with_source)
  local found
  local text = require('repl.printed').by(function() found = help.show(session, name, with_source) end)
  return found and text or nil
end

return help
