-- Names and constructor arguments of modules that are not loaded yet, read from their sources.
--
-- A table that loads its members on first use lists them in `__names` (torch's metatable in
-- `__parts`), with the module if that has another name. Completion loads no module: it reads the
-- embedded source text. Depends on torch._C.module_source only.

local lazy = {}

-- A member that is not loaded: {module, name}, without name if the member is the module itself.
local Part = {}
lazy.Part = Part

local function source_of(module)
  local torch = package.loaded.torch
  local read = type(torch) == 'table' and rawget(torch, '_C').module_source
  local ok, text = pcall(read or error, module)
  return ok and type(text) == 'string' and text or ''
end

-- The name under which a table is loaded: the shortest one that matches the pattern, of several the
-- first in the alphabet.
function lazy.module_of(value, pattern)
  local found
  for name, loaded in next, package.loaded do
    if rawequal(loaded, value) and type(name) == 'string' and name:find(pattern or '') and
      (not found or #name < #found or #name == #found and name < found) then
      found = name
    end
  end
  return found
end

-- The tables of names in a table of torch.
local function tables_of_names(holder)
  local metatable = debug.getmetatable(holder)
  local found = {rawget(holder, '__names')}
  found[#found + 1] = type(metatable) == 'table' and rawget(metatable, '__parts') or nil
  return found
end

-- Calls add(name) for every member that the table can load.
function lazy.each_name(holder, add)
  for _, names in ipairs(tables_of_names(holder)) do
    if type(names) == 'table' then
      for name in next, names do add(name) end
    end
  end
end

-- The unloaded member `name` of the table or of another Part; a part of torch that another module has
-- loaded; nil if there is none.
function lazy.member(holder, name)
  if getmetatable(holder) == Part then
    local file = lazy.names(holder)[name]
    return file and setmetatable({module = holder.module .. '.' .. (file == true and name or file), name = name}, Part) or nil
  end
  for _, names in ipairs(tables_of_names(holder)) do
    local file = type(names) == 'table' and names[name]
    local module = file and lazy.module_of(holder, '^torch')
    if module then
      file = type(file) == 'string' and file or name
      local loaded = package.loaded[module .. '.' .. file]
      if type(loaded) == 'table' and names ~= rawget(holder, '__names') then return loaded end
      return setmetatable({module = module .. '.' .. file, name = name}, Part)
    end
  end
end

local function add_quoted(text, found)
  text = text:gsub('%[%[(.-)%]%]', "'%1'")
  for quoted in text:gmatch "'([^']*)'" do
    for word in quoted:gmatch '[%a_][%w_]*' do found[word] = true end
  end
end

local function add_keys(text, found)
  for key in text:gmatch '([%a_][%w_]*)%s*=' do found[key] = true end
end

-- The same for a table that maps each name to its file.
local function add_files(text, found)
  add_keys(text, found)
  for key, file in text:gmatch "([%a_][%w_]*)%s*=%s*'([%w_.]+)'" do found[key] = file end
end

-- The names of a module as a set; the value of a name is its file, or true.
function lazy.names(part)
  if part.known then return part.known end
  local found, text = {}, source_of(part.module)
  local returned = text:match '\nreturn%s+([%a_]+)%s*$' or text:match '\nreturn%s+setmetatable%(checked%.functions%(([%a_]+)' or
    text:match '\nreturn%s+setmetatable%(([%a_]+)' or text:match '\nreturn%s+checked%.functions%(([%a_]+)' or
    text:match '\nreturn%s+declare%.functions%(([%a_]+)'
  if returned then
    for name in text:gmatch('\nfunction ' .. returned .. '[.:]([%a_][%w_]*)') do found[name] = true end
    for targets in text:gmatch '\n([%a_][%w_., ]*)=' do
      for name in targets:gmatch('%f[%w_]' .. returned .. '%.([%a_][%w_]*)') do found[name] = true end
    end
    add_keys(text:match('\nlocal ' .. returned .. '%s*=%s*(%b{})') or '', found)
    add_files(text:match '\nlocal where%s*=%s*(%b{})' or '', found)
    add_quoted(text:match '\nlocal families%s*=%s*(%b{})' or text:match '\nlocal groups%s*=%s*(%b{})' or '', found)
  end
  add_keys(text:match '\nreturn (%b{})%s*$' or '', found)
  local ops = ({ ['torch.linalg'] = '^linalg_(.+)', ['torch.fft'] = '^fft_(.+)', ['torch.special'] = '^special_(.+)' })[part.module]
  if ops then
    for name in next, (package.loaded.torch._docs()) do
      local own = name:match(ops)
      if own then found[own] = true end
    end
  end
  for name in next, found do
    if name:find '^__' then found[name] = nil end
  end
  part.known = found
  return found
end

-- The kind of the unloaded member `name`: 'class', 'module' or 'function'.
function lazy.kind(holder, name)
  if name:find '^%u' then return 'class' end
  local part = lazy.member(holder, name)
  return part and source_of(part.module) ~= '' and 'module' or 'function'
end

-- ---- constructors --------------------------------------------------------------------------

local function plain(name) return (name:gsub('%d', '')) end

-- The documented arguments in parentheses: positional ones, then named ones.
local function add_arguments(text, add)
  for word, after in text:gmatch '([%a_][%w_]*)%s*([=,})]?)' do
    if after ~= '' and word ~= 'true' and word ~= 'false' and word ~= 'nil' and word ~= 'none' then add(word) end
  end
end

-- Adds the names of a declaration's arguments in parentheses.
local function add_declared(declared, add)
  for part in (declared or '()'):sub(2, -2):gmatch '[^,]+' do
    local word = part:match '^[^=]*':match '([%a_][%w_]*)%s*$'
    if word then add(word) end
  end
end

-- Named arguments of the constructor of class `name`, from the first comment of its module and its
-- declaration.
function lazy.arguments(module, name)
  local text, found, seen = source_of(module), {}, {}
  local function add(word)
    if not seen[word] then
      seen[word] = true
      found[#found + 1] = word
    end
  end
  local comment = (text:match '^(.-)\n[^-]' or ''):gsub('\n%-%-+ ?', ' ')
  local near
  for documented, arguments in comment:gmatch '([%a_][%w_]*)(%b())' do
    if documented == name then add_arguments(arguments, add)
    elseif plain(documented) == plain(name) then near = near or arguments end
  end
  if #found == 0 and near then add_arguments(near, add) end
  -- declare.reader 'Name(kind argument=default, *, ...)'
  add_declared(text:match("%f[%w_]reader%W+[%w_.]-%f[%w_]" .. name .. '(%b())'), add)
  -- several classes with the same arguments: declare.reader(name .. [[(kind argument, ...)]])
  if #found == 0 then add_declared(text:match '%f[%w_]reader%(name %.%. ?%[?%[?%s*\'?(%b())', add) end
  return found
end

-- Named arguments of a function of a module, from its declaration in the source: name(kind
-- argument=default, *, ...).
function lazy.function_arguments(module, name)
  local found = {}
  for declared in source_of(module):gmatch('%f[%w_]' .. name .. '(%b())') do
    if declared:find '^%(%s*[%a|]+%??%s+[%a_]' then
      add_declared(declared, function(word) found[#found + 1] = word end)
      return found
    end
  end
  return found
end

return lazy
