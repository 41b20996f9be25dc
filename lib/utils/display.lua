-- display.lua - torch.utils.display(value): shows a value within a cell or a script; in a notebook
-- as an image, a table or a tree, elsewhere as print() does.
--
--   local shown = torch.utils.display(torch.utils.plot.lines(losses))
--   shown:update(torch.utils.plot.lines(losses))   -- replaces it in a notebook
--   torch.utils.display.clear()       -- clears the output of the cell in a notebook
--
-- An object defines its representations by a method mime_bundle(), which returns a table by MIME
-- type: {['image/svg+xml'] = text, ['text/html'] = text, ['image/png'] = bytes}. Figures of
-- torch.utils.plot have one.

--[=[ arguments
wait: Whether the output is cleared only when the next value is shown.
show_value: Function that shows a value; nil restores the default.
clear_output: Function that clears the output.
]=]

local declare = require 'torch.support.arguments'
local function print_value(value) print(value) end

local function nothing() end

local show, clear, front_end = print_value, nothing, false

local Shown = {}
Shown.__index = Shown

--- Replaces the displayed value.
function Shown:update(value) show(value, self.id) end

local display = {}

--- Clears the output of the cell; wait: when the next output arrives.
function display.clear(wait) clear(wait) end

--- Registers a front end: show_value(value, id) shows a value as display `id` (nil: a new one) and
-- returns the id; clear_output(wait) implements clear(). Without arguments: values are printed, as
-- without a front end.
function display.show_with(show_value, clear_output)
  show, clear, front_end = show_value or print_value, clear_output or nothing, show_value ~= nil
end

--- True if an update replaces the shown value, as in a notebook.
function display.in_place() return front_end end

declare.functions(display, 'clear(any? wait) show_with(function? show_value, function? clear_output) in_place()')

return setmetatable(display, {__call = function(_, value) return setmetatable({id = show(value)}, Shown) end})
