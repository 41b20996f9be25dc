-- Python's imports in Lua: the program has loaded torch, so most become assignments of its parts.
--
-- Functions take the parser of repl.python.expressions, after the first word. Depends on nothing.

local imports = {}

-- The expression in Lua for a module of Python; nil if the program has none.
local function module_expression(path)
  if path == 'torch' or path:find '^torch%.' then return path end
  if path == 'd2l' or path == 'd2l.torch' then return "require 'd2l'" end
  if path == 'math' or path == 'os' then return path end
end

local function module_path(self)
  local path = self:name()
  while self:accept '.' do path = path .. '.' .. self:name() end
  return path
end

-- `import a.b as c`
function imports.import(self)
  local lines = {}
  repeat
    local path = module_path(self)
    local alias = self:accept 'as' and self:variable()
    self.imported[alias or path:match '^[^.]*'] = true
    local expression = module_expression(path)
    self.is_import = true
    if not expression then
      lines[#lines + 1] = ('-- ltensor has no module %s'):format(path)
    elseif alias and alias ~= expression then
      lines[#lines + 1] = ('%s%s = %s'):format(self:declare {alias}, alias, expression)
    elseif path == 'd2l' then
      lines[#lines + 1] = "d2l = require 'd2l'"
    else
      lines[#lines + 1] = ('-- %s is loaded: no import is needed'):format(path)
    end
  until not self:accept ','
  return lines
end

-- `from a.b import c, d as e`
function imports.from(self)
  local path = module_path(self)
  self:expect 'import'
  local expression = module_expression(path)
  if self:accept '*' then
    self.is_import = true
    return {('-- write names with their module: %s.name'):format(path)}
  end
  local bracket = self:accept '('
  local names, texts = {}, {}
  repeat
    if bracket and self:peek ')' then break end
    local name = self:name()
    local alias = self:accept 'as' and self:variable() or name
    self.imported[alias] = true
    names[#names + 1] = alias
    texts[#texts + 1] = path == 'd2l' and "require 'd2l'" or expression and expression .. '.' .. name
  until not self:accept ','
  if bracket then self:expect ')' end
  self.is_import = true
  if #texts < #names then return {('-- ltensor has no module %s'):format(path)} end
  return {('%s%s = %s'):format(self:declare(names), table.concat(names, ', '), table.concat(texts, ', '))}
end

return imports
