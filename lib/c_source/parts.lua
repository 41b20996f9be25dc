-- parts.lua - the C text of the functions that a generated program uses (src/c_source/).
--
-- A file of src/c_source is a list of blocks that empty lines separate: a function, a struct or
-- macros, with the comment in front. A program gets the blocks that it names, after the ones that
-- these name. A block with NAME is a template: each instance replaces NAME, TYPE_A, FORMULA, ...

local texts = require 'torch.c_source_parts'

local M = {}

-- ---- blocks -------------------------------------------------------------------------------------

-- The texts between empty lines outside of braces, without the comment at the top of the file.
local function blocks_of(text)
  local blocks, lines, depth = {}, {}, 0
  for line in (text .. '\n'):gmatch '(.-)\n' do
    if line == '' and depth == 0 then
      if #lines > 0 then blocks[#blocks + 1] = table.concat(lines, '\n') end
      lines = {}
    else
      lines[#lines + 1] = line
      depth = depth + select(2, line:gsub('{', '')) - select(2, line:gsub('}', ''))
    end
  end
  return table.move(blocks, 2, #blocks, 1, {})
end

-- The names that a block defines.
local function names_of(block)
  local names = {}
  for name in block:gmatch '\n?#define ([%w_]+)' do names[#names + 1] = name end
  local code = block:gsub('/%*.-%*/', '')
  names[#names + 1] = code:match '^%s*struct ([%w_]+) {' or code:match '^%s*static [%w_ *]-([%w_]+)%('
  return names
end

local by_name
local function find(name)
  if not by_name then
    by_name = {}
    for _, text in pairs(texts) do
      for _, block in ipairs(blocks_of(text)) do
        for _, defined in ipairs(names_of(block)) do by_name[defined] = block end
      end
    end
  end
  return by_name[name]
end

-- ---- the parts of a program ---------------------------------------------------------------------

local Parts = {}
Parts.__index = Parts

function M.new() return setmetatable({ list = {}, known = {}, instances = {}, names = {} }, Parts) end

-- Adds a text after the blocks that it names.
local function add_text(self, text)
  for word in text:gsub('/%*.-%*/', ''):gmatch '[%a_][%w_]*' do self:add(word) end
  self.list[#self.list + 1] = text
end

--- Adds the block of a name; other words are ignored.
function Parts:add(name)
  local block = not self.known[name] and find(name)
  if not block or block:find 'NAME' then return end
  self.known[name] = true
  for _, other in ipairs(names_of(block)) do self.known[other] = true end
  add_text(self, block)
end

-- The blocks of a template: inner functions in front.
local inner = { apply_NAME = 'unary_NAME', combine_NAME = 'binary_NAME', select_NAME = 'ternary_NAME' }

--- Adds an instance of a template such as 'apply' with a name, and returns the name of its function. values: texts by
-- placeholder. Equal instances are one.
function Parts:instance(template, name, values)
  local keys = {}
  for key, value in pairs(values) do keys[#keys + 1] = key .. '=' .. value end
  table.sort(keys)
  local id = ('%s %s %s'):format(template, name, table.concat(keys, ' '))
  if self.instances[id] then return self.instances[id] end
  local count = (self.names[template .. name] or 0) + 1
  self.names[template .. name] = count
  local own = count > 1 and ('%s_%d'):format(name, count) or name
  local function put(which)
    local text = find(which):gsub('NAME', own)
    for key, value in pairs(values) do text = text:gsub(key, (value:gsub('%%', '%%%%'))) end
    add_text(self, text)
  end
  local outer = template .. '_NAME'
  if inner[outer] then put(inner[outer]) end
  put(outer)
  self.instances[id] = template .. '_' .. own
  return self.instances[id]
end

--- The text of all parts.
function Parts:text() return table.concat(self.list, '\n\n') end

return M
