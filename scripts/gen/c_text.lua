-- c_text.lua - the text of a generated C file, as a list of lines. Uses only Lua's standard
-- library.

local Text = {}
Text.__index = Text

-- An empty text.
local function new() return setmetatable({}, Text) end

function Text:line(format, ...) self[#self + 1] = select('#', ...) > 0 and format:format(...) or format end
function Text:lines(list, indent) for _, line in ipairs(list) do self[#self + 1] = (indent or '') .. line end end
function Text:join() return table.concat(self, '\n') .. '\n' end

return { new = new }
