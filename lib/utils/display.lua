-- display.lua - torch.utils.display(value): shows a value in the middle of a cell or a script; in a notebook as its value would be,
-- as a picture, a table or a tree, elsewhere as print() does.
--
--   local shown = torch.utils.display(torch.utils.plot.lines(losses))
--   shown:update(torch.utils.plot.lines(losses))   -- in the same place of the notebook; printed once more elsewhere
--   torch.utils.display.clear()                     -- takes away what the cell has shown; nothing happens elsewhere
--
-- An object says how it looks by a method mime_bundle(), which returns a table of representations by their types:
-- {['image/svg+xml'] = text, ['text/html'] = text, ['image/png'] = bytes}. Figures of torch.utils.plot have one.

local declare = require 'torch.support.arguments'
local function print_value(value) print(value) end

local function nothing() end

local show, clear, front_end = print_value, nothing, false

local Shown = {}
Shown.__index = Shown

--- Shows another value in the place of the one before.
function Shown:update(value) show(value, self.id) end

local display = {}

--- Takes away what the cell has shown so far; wait: not before it shows something else.
function display.clear(wait) clear(wait) end

--- What a front end gives: show_value(value, id) shows a value in the place `id` (nil: a new one) and returns the place's id;
-- clear_output(wait) as clear() is described. Without arguments: values are printed, as where there is no front end.
function display.show_with(show_value, clear_output)
  show, clear, front_end = show_value or print_value, clear_output or nothing, show_value ~= nil
end

--- Whether an update takes the place of what was shown, as in a notebook.
function display.in_place() return front_end end

declare.functions(display, 'clear(any? wait) show_with(function? show_value, function? clear_output) in_place()')

return setmetatable(display, {__call = function(_, value) return setmetatable({id = show(value)}, Shown) end})
