-- calls.lua - makes hostile calls, or makes again those of a file. Runs under watch.c.
--
--   ltensor [--sim-gpus 2] calls.lua new LOG SEED COUNT     draws COUNT lines from SEED and runs them
--   ltensor [--sim-gpus 2] calls.lua again LOG FILE         runs the lines of FILE
--
-- A line is written to LOG before it runs and its outcome, "+" or "-" and the message, after it: who reads the log knows which line ended
-- the program. Lines share the variables v1 to v8 and nothing else that they do not reach through the library.

local folder = arg[0]:match '^(.*)/' or '.'
package.path = folder .. '/?.lua;' .. package.path

local interrupt = require 'repl.interrupt'
local pcall, load, tostring, type, select, collectgarbage, pairs, ipairs = pcall, load, tostring, type, select, collectgarbage, pairs, ipairs
local gsub, sub, getmetatable = string.gsub, string.sub, debug.getmetatable
local is_tensor = torch.is_tensor

local mode, log_path = arg[1], arg[2]
local log = assert(io.open(log_path, 'a'))
log:setvbuf 'no'
interrupt.install()

-- Lines may write into the tables that they reach: the library is seen through tables of their own only where that costs nothing.
local environment = setmetatable({ nn = require 'torch.nn' }, { __index = _G })

-- What a line gives is looked at as a user would: shown, read to its last element, differentiated.
local function look(value)
  if is_tensor(value) then
    local text = tostring(value)
    if value:numel() < 100000 then
      local total = value:to(torch.float64):sum()
      if value.requires_grad and value.dtype.is_floating_point then value:sum():backward() end
      tostring(total)
    end
    return text
  elseif type(value) == 'table' then
    for _, item in pairs(value) do
      if is_tensor(item) then look(item) end
    end
  elseif type(value) == 'userdata' then
    return tostring(value)
  end
end

local function run_line(line)
  local chunk, message = load(line, '=line', 't', environment)
  if not chunk then return false, message end
  local results = table.pack(chunk())
  for i = 1, results.n do look(results[i]) end
  return true
end

local function shown(message)
  local ok, text = pcall(tostring, message)
  text = ok and type(text) == 'string' and text or '?'
  return (gsub(sub(text, 1, 400), '[%c]+', ' '))
end

local function handler(message) return shown(message) end

local count = 0
local function run(line)
  count = count + 1
  log:write(line, '\n')
  local ok, interrupted, message = interrupt.call(run_line, handler, line)
  log:write(ok and '+' or '-', interrupted and 'interrupted' or ok and '' or message or '', '\n')
  -- Modes that would make every later line alike.
  torch.set_grad_enabled(true)
  if count % 40 == 0 then pcall(collectgarbage) end
end

local function again(path)
  for line in io.lines(path) do run(line) end
end

local function new(seed, most)
  local hostile = require 'hostile'
  hostile.gpus = torch.cuda.device_count()
  math.randomseed(seed, hostile.gpus)
  torch.manual_seed(seed)
  local random = math.random
  local functions, objects = nil, nil
  local targets = require('targets').find(hostile.gpus)
  functions, objects = targets.functions, targets.objects
  function hostile.instance() return objects[random(#objects)].text end
  local docs = torch._docs()

  local function arguments_for(name, skip_self)
    local entry = random() < 0.8 and docs[name]
    local arguments = {}
    if entry then
      local signatures = {}
      for signature in entry.signature:gmatch '[^\n]+' do signatures[#signatures + 1] = signature end
      local inside = signatures[random(#signatures)]:match '%((.*)%) %->' or signatures[1]:match '%((.*)%)' or ''
      local named, options = false, {}
      for item in (inside .. ','):gmatch '%s*(.-),' do
        if item == '*' then
          named = true
        elseif item:find '^%S+ [%a_]' then
          local type_name, argument, default = item:match '^(%S+) ([%w_]+)=?(.*)$'
          if not (skip_self and argument == 'self') then
            if named or (default ~= '' and random() < 0.6) then
              named = true
              if random() < 0.4 then options[#options + 1] = argument .. ' = ' .. hostile.of(type_name) end
            else
              arguments[#arguments + 1] = hostile.of(type_name)
            end
          end
        end
      end
      if #options > 0 then arguments[#arguments + 1] = '{' .. table.concat(options, ', ') .. '}' end
    else
      for i = 1, random(0, 4) do arguments[i] = hostile.any() end
    end
    return table.concat(arguments, ', ')
  end

  local function draw()
    hostile.begin_line()
    local kind = random(100)
    if kind <= 55 then
      local target = functions[random(#functions)]
      -- Ops are a third of the functions and what most of the C code stands behind.
      for _ = 1, 2 do
        if not docs[target.name] then target = functions[random(#functions)] end
      end
      return ('%s(%s)'):format(target.text, arguments_for(target.name))
    elseif kind <= 78 then
      local name, tensor = nil, hostile.tensor()
      local methods = objects[1].methods
      name = methods[random(#methods)]
      return ('(%s):%s(%s)'):format(tensor, name, arguments_for(name, true))
    elseif kind <= 92 then
      local object = objects[random(#objects)]
      if #object.methods == 0 or random() < 0.2 then
        if #object.metamethods == 0 then return ('(%s)[%s]'):format(object.text, hostile.any()) end
        local name = object.metamethods[random(#object.metamethods)]
        if random() < 0.6 then
          return ('getmetatable(%s).%s(%s%s)'):format(object.text, name, random() < 0.6 and object.text or hostile.any(),
            random() < 0.8 and ', ' .. arguments_for '' or '')
        end
        return ('local o = %s getmetatable(o).%s(o, %s) return o'):format(object.text, name, hostile.any())
      end
      local name = object.methods[random(#object.methods)]
      if random() < 0.3 then
        local second = object.methods[random(#object.methods)]
        return ('local o = %s pcall(o.%s, o, %s) return o:%s(%s)'):format(object.text, name, arguments_for(name, true):gsub('^$', 'nil'), second, arguments_for(second, true))
      end
      return ('(%s):%s(%s)'):format(object.text, name, arguments_for(name, true))
    elseif kind <= 95 then
      return ('(%s)[%s]'):format(hostile.tensor(), hostile.any())
    elseif kind <= 98 then
      return ('local x = %s x[%s] = %s return x'):format(hostile.tensor(), hostile.any(), hostile.any())
    end
    local signs = { '+', '-', '*', '/', '//', '%', '^', '&', '|', '~', '<<', '>>', '..', '==', '<' }
    return ('(%s) %s (%s)'):format(hostile.tensor(), signs[random(#signs)], hostile.any())
  end

  local drawn = 0
  while drawn < most do
    local line = draw():gsub('[%c]', ' ')
    if not line:find '^local ' then
      line = (random() < 0.12 and 'v' .. random(hostile.variables) .. ' = ' or 'return ') .. line
    end
    if #line < 4000 then
      run(line)
      drawn = drawn + 1
    end
  end
end

if mode == 'again' then again(arg[3]) else new(math.tointeger(arg[3]), math.tointeger(arg[4])) end
log:write 'end\n'
