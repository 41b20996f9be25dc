-- Macros: cells with a name, made by %macro. A cell that is only the name of a macro runs them.
-- Depends on nothing.

local macro = {}

local Macro = {__name = 'Macro'}
function Macro.__tostring(value) return table.concat(value.cells, '\n') end

-- cells: a list of texts.
function macro.new(cells) return setmetatable({cells = cells}, Macro) end

-- The cells of the macro that the source names; nil if it names none.
function macro.named(session, source)
  local name = source:match '^%s*([%a_][%w_]*)%s*$'
  local value = name and rawget(session.environment, name)
  return value ~= nil and debug.getmetatable(value) == Macro and value.cells or nil
end

return macro
