-- app.lua - programs with a script, modules and models inside (`ltensor build app.lua -o app`): the
-- archive behind a copy of the executable, and what the copy does with it.
--
-- The archive is the bytes of the entries, an index and a trailer. The index has a kind ('script',
-- 'module' or 'model'), a name, an offset and a size for each entry; the trailer has the offset and
-- the size of the index and the mark that app.c finds. May use repl.system; torch through
-- require.

local app = {}

local MARK = 'ltensapp' -- fixed: the last 8 bytes of the file, as in app.c
local ENTRY, TRAILER = '<s4s4I8I8', '<I8I8c8'
local TRAILER_SIZE = string.packsize(TRAILER)
local CHUNK = 1 << 20 -- bytes that are copied at a time

-- ---- writing ------------------------------------------------------------------------------------

-- Copies the bytes of a file to another one; returns their number.
local function copy(from, to)
  local total = 0
  for bytes in function() return from:read(CHUNK) end do
    assert(to:write(bytes))
    total = total + #bytes
  end
  return total
end

-- Opens a file to read; an error is a text.
local function opened(path)
  local file, message = io.open(path, 'rb')
  return file or error(message, 0)
end

--- Writes a program: the running executable with entries {kind, name, path of the file}.
function app.write(path, entries)
  for _, entry in ipairs(entries) do opened(entry[3]):close() end
  local out <close> = assert(io.open(path, 'wb'))
  local own <close> = opened '/proc/self/exe'
  local at, index = copy(own, out), {}
  for i, entry in ipairs(entries) do
    local file <close> = opened(entry[3])
    local size = copy(file, out)
    index[i] = string.pack(ENTRY, entry[1], entry[2], at, size)
    at = at + size
  end
  local text = table.concat(index)
  assert(out:write(text, string.pack(TRAILER, at, #text, MARK)))
  assert(out:flush())
end

-- ---- the modules of a script --------------------------------------------------------------------

-- The names in calls of require with a text.
local function required(text)
  local names = {}
  for name in text:gmatch 'require%s*%(?%s*["\']([%w_.-]+)["\']' do names[#names + 1] = name end
  return names
end

local function text_of(path)
  local file <close> = opened(path)
  return assert(file:read 'a')
end

--- The entries of a script: the script, the modules in Lua that it requires, directly or through
-- others, and models. more: names of further modules. Also returns the names of libraries in C that
-- stay outside.
function app.entries(script, more, models)
  local entries, known, outside = {{'script', script, script}}, {}, {}
  local folder = script:match '^(.*)/' or '.'
  -- Returns whether the module exists outside of ltensor.
  local function add(name)
    if known[name] ~= nil then return known[name] end
    local path = package.searchpath(name, package.path .. (';%s/?.lua;%s/?/init.lua'):format(folder, folder))
    known[name] = path ~= nil or package.searchpath(name, package.cpath) ~= nil
    if path then
      entries[#entries + 1] = {'module', name, path}
      for _, inner in ipairs(required(text_of(path))) do add(inner) end
    elseif known[name] then
      outside[#outside + 1] = name
    end
    return known[name]
  end
  for _, name in ipairs(required(text_of(script))) do add(name) end
  for _, name in ipairs(more) do
    if not add(name) then error(("'--module %s': no such module in package.path and package.cpath"):format(name), 0) end
  end
  for _, path in ipairs(models) do entries[#entries + 1] = {'model', path, path} end
  return entries, outside
end

-- ---- running ------------------------------------------------------------------------------------

-- The entries of the running program by kind and name: {offset, size}; the script's name.
local function read_index(file)
  assert(file:seek('end', -TRAILER_SIZE))
  local offset, size = string.unpack(TRAILER, file:read(TRAILER_SIZE))
  assert(file:seek('set', offset))
  local text, at, entries, script = file:read(size), 1, {module = {}, model = {}, script = {}}, nil
  while at <= #text do
    local kind, name, from, n
    kind, name, from, n, at = string.unpack(ENTRY, text, at)
    entries[kind][name] = {from, n}
    if kind == 'script' then script = name end
  end
  return entries, script
end

--- Makes the modules and models of the running program available, and returns the text of its
-- script and the name of its chunk. A name is the one that `ltensor build` was given.
function app.open()
  local torch = require 'torch'
  local file = assert(io.open('/proc/self/exe', 'rb'))
  local entries, script = read_index(file)
  local function bytes_of(kind, name)
    local entry = entries[kind][name]
    if not entry then return nil end
    assert(file:seek('set', entry[1]))
    return file:read(entry[2])
  end
  table.insert(package.searchers, 2, function(name)
    local text = bytes_of('module', name)
    if not text then return ("\n\tno module '%s' in the program"):format(name) end
    return assert(load(text, '@' .. name:gsub('%.', '/') .. '.lua')), ':program:'
  end)
  for _, library in ipairs {torch, torch.onnx, torch.export} do
    local load_file = library.load
    library.load = function(path, ...) return load_file(bytes_of('model', path) or path, ...) end
  end
  return bytes_of('script', script):gsub('^#[^\n]*', ''), '@' .. script
end

return app
