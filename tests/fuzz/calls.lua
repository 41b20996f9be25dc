-- calls.lua - draws calls of everything that targets.lua finds, with the arguments of hostile.lua. See child.lua.
--
-- Half of the calls of an op take their arguments from its declaration, of the right types, so that they come past the checks.

local torch = require 'torch'
local hostile = require 'hostile'

local M = {}
local random = math.random

function M.open(note)
  hostile.gpus = torch.cuda.device_count()
  local targets = require('targets').find(hostile.gpus, note)
  local functions, objects = targets.functions, targets.objects
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
      local tensor, methods = hostile.tensor(), objects[1].methods
      local name = methods[random(#methods)]
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

  return function()
    local line = draw()
    if line:find '^local ' then return line end
    return (random() < 0.12 and 'v' .. random(hostile.variables) .. ' = ' or 'return ') .. line
  end
end

return M
