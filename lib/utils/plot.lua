-- plot.lua - torch.utils.plot: lines, bars, heatmap and image create figures, which the prompt and
-- print() draw in the terminal (with Unicode, or as images if it supports them); figure:save
-- 'name.svg' or 'name.png' writes a file.
--
-- Options of all: title. Values are tensors on any device, or lists of numbers. plot.live() redraws
-- figures in place.

--[=[ arguments
title: Text above the figure.
labels: Names of the lines or bars.
x: Coordinates, or the values if `y` is absent.
y: Values of a line, or a list with the values of each line.
xlabel: Name of the horizontal axis.
ylabel: Name of the vertical axis.
xlim: Ends of the horizontal axis, {left, right}.
ylim: Ends of the vertical axis, {bottom, top}.
values: Heights of the bars.
matrix: Matrix of numbers.
picture: Image, of shape [height, width] or [channels, height, width].
file: File that receives each figure.
pause: Seconds between two figures.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local axis = require 'torch.utils.plot.axis'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local outside = require 'torch.files.outside'

local plot = {}

local Figure = class.Object:extend('Figure')

-- ---- data ---------------------------------------------------------------------------------------

-- Numbers of a tensor or list, flat.
local function numbers(what, values)
  if torch.is_tensor(values) then
    values = values:detach():to(torch.device('cpu'), torch.float64):flatten():tolist()
  elseif type(values) ~= 'table' then
    fail(('%s(): expected a tensor or a list of numbers, got %s'):format(what, type(values)))
  end
  for i, value in ipairs(values) do
    if type(value) ~= 'number' then
      fail(('%s(): expected numbers, got %s at position %d'):format(what, torch.is_tensor(value) and 'a tensor' or type(value), i))
    end
  end
  return values
end

local function count_from_one(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end

-- Several series: a list of tensors or lists, or the rows of a matrix.
local function is_several(values)
  if torch.is_tensor(values) then return values:dim() == 2 end
  return type(values) == 'table' and (type(values[1]) == 'table' or torch.is_tensor(values[1]) and values[1]:dim() > 0)
end

local function rows_of(values)
  if not torch.is_tensor(values) then return values end
  local rows = {}
  for i = 1, values:size(1) do rows[i] = values[i] end
  return rows
end

local function make(kind, fields)
  local figure = Figure()
  figure.kind = kind
  for name, value in pairs(fields) do figure[name] = value end
  return figure
end

-- The limits {low, high} of an axis: `given`, or the range of the values.
local function limits(name, given, lists)
  if not given then return axis.range(lists) end
  local low, high = given[1], given[2]
  if #given ~= 2 or type(low) ~= 'number' or type(high) ~= 'number' or not (low < high) then
    fail("lines(): '%s' must be {low, high}, two numbers of which the first is the smaller", name)
  end
  return low, high
end

-- The values without points outside of the box.
local function within(box, x, y)
  local kept = {}
  for i = 1, #y do
    local inside = x[i] >= box.x_low and x[i] <= box.x_high and y[i] >= box.y_low and y[i] <= box.y_high
    kept[i] = inside and y[i] or 0 / 0
  end
  return kept
end

local OPTIONS_OF_LINES = { 'title', 'labels', 'xlabel', 'ylabel', 'xlim', 'ylim' }

-- Raises an error for the first unknown name of a table of options in the position of y.
local function refuse_options(options)
  local known = {}
  for _, name in ipairs(OPTIONS_OF_LINES) do known[name] = true end
  for name in pairs(options) do
    if not known[name] then kinds.refuse_name('lines', name, OPTIONS_OF_LINES) end
  end
end

--- A line plot of y, or of y over x; both may hold several series (a list, or the rows of a
-- matrix); a single x applies to all. plot.lines(y, {title =, labels = {...}, xlabel =, ylabel =,
-- xlim = {low, high}, ylim =}), plot.lines(x, y, {...}). Points outside of xlim and ylim are
-- omitted.
function plot.lines(x, y, options)
  if kinds.is_named(y) then refuse_options(y) end
  if y == nil then x, y = nil, x end
  local rows = is_several(y) and rows_of(y) or { y }
  local places_of = x ~= nil and is_several(x) and rows_of(x)
  if places_of and #places_of ~= #rows then fail('lines(): x has %d series and y has %d', #places_of, #rows) end
  local series, xs, ys = {}, {}, {}
  for i, row in ipairs(rows) do
    local values = numbers('lines', row)
    local places = x ~= nil and numbers('lines', places_of and places_of[i] or x) or count_from_one(#values)
    if #places ~= #values then
      fail(('lines(): x has %d numbers and y has %d'):format(#places, #values))
    end
    series[i] = { x = places, y = values, label = options.labels[i] }
    xs[i], ys[i] = places, values
  end
  local x_low, x_high = limits('xlim', options.xlim, xs)
  local y_low, y_high = limits('ylim', options.ylim, ys)
  local box = { x_low = x_low, x_high = x_high, y_low = y_low, y_high = y_high }
  if options.xlim or options.ylim then
    for _, row in ipairs(series) do row.y = within(box, row.x, row.y) end
  end
  return make('lines', { title = options.title, xlabel = options.xlabel, ylabel = options.ylabel, series = series, box = box })
end

--- A bar for each value: plot.bars(values, {title =, labels = {...}})
function plot.bars(values, options)
  values = numbers('bars', values)
  local labels = {}
  for i = 1, #values do labels[i] = tostring(options.labels[i] or i) end
  return make('bars', { title = options.title, values = values, labels = labels })
end

-- Points of the colour scale "viridis" (S. van der Walt, N. Smith; CC0), low to high.
local viridis = {
  { 0.267, 0.005, 0.329 }, { 0.283, 0.141, 0.458 }, { 0.254, 0.265, 0.530 }, { 0.207, 0.372, 0.553 },
  { 0.164, 0.471, 0.558 }, { 0.128, 0.567, 0.551 }, { 0.135, 0.659, 0.518 }, { 0.267, 0.749, 0.441 },
  { 0.478, 0.821, 0.318 }, { 0.741, 0.873, 0.150 }, { 0.993, 0.906, 0.144 },
}

local function colour_of(part)
  local at = math.max(0, math.min(part, 1)) * (#viridis - 1)
  local below = math.min(math.floor(at), #viridis - 2)
  local a, b, mix = viridis[below + 1], viridis[below + 2], at - below
  return a[1] + (b[1] - a[1]) * mix, a[2] + (b[2] - a[2]) * mix, a[3] + (b[3] - a[3]) * mix
end

--- A matrix in colours or shades: plot.heatmap(matrix, {title =})
function plot.heatmap(matrix, options)
  if not torch.is_tensor(matrix) then matrix = torch.tensor(matrix) end
  if matrix:dim() ~= 2 then fail(('heatmap(): expected a matrix, got %d dimensions'):format(matrix:dim())) end
  local height, width = matrix:size(1), matrix:size(2)
  local values = numbers('heatmap', matrix)
  local low, high = axis.range { values }
  return make('heatmap', {
    title = options.title, height = height, width = width, low = low, high = high,
    pixel = function(y, x)
      local value = values[(y - 1) * width + x]
      local part = value == value and (math.max(low, math.min(value, high)) - low) / (high - low) or 0
      local r, g, b = colour_of(part)
      return r, g, b, part
    end,
  })
end

--- A picture, (H, W), (1, H, W) or (3, H, W), of bytes or of numbers from 0 to 1:
--- plot.image(tensor, {title =})
function plot.image(picture, options)
  if not torch.is_tensor(picture) then
    fail(('image(): expected a tensor, got %s'):format(type(picture)))
  end
  if picture:dim() == 2 then picture = picture:unsqueeze(1) end
  local channels = picture:dim() == 3 and picture:size(1)
  if channels ~= 1 and channels ~= 3 then fail('image(): expected (H, W), (1, H, W) or (3, H, W)') end
  local height, width = picture:size(2), picture:size(3)
  local most = picture:is_floating_point() and 1 or 255
  local values = numbers('image', picture)
  local plane = height * width
  return make('image', {
    title = options.title, height = height, width = width,
    pixel = function(y, x)
      local at = (y - 1) * width + x
      local r = values[at] / most
      if channels == 1 then return r, r, r, r end
      local g, b = values[plane + at] / most, values[2 * plane + at] / most
      return r, g, b, 0.299 * r + 0.587 * g + 0.114 * b -- luma of ITU-R BT.601
    end,
  })
end

-- ---- showing ----

local drawn_by = { lines = 'lines', bars = 'bars', heatmap = 'pixels', image = 'pixels' }

local function has_colour(columns)
  local no_colour, term = os.getenv 'NO_COLOR', os.getenv 'TERM'
  return columns ~= nil and (not no_colour or no_colour == '') and term ~= nil and term ~= 'dumb'
end

-- The terminal's image protocol: 'kitty', 'sixel', or nil. LTENSOR_GRAPHICS overrides the
-- detection.
local function graphics()
  local set, term, program = os.getenv 'LTENSOR_GRAPHICS', os.getenv 'TERM' or '', os.getenv 'TERM_PROGRAM'
  if set and set ~= '' then return (set == 'kitty' or set == 'sixel') and set or nil end
  if os.getenv 'TMUX' or os.getenv 'STY' then return nil end -- multiplexers do not pass such sequences on
  if os.getenv 'KITTY_WINDOW_ID' or term == 'xterm-kitty' or program == 'ghostty' then return 'kitty' end
  if term:find 'sixel' or term:find '^foot' or term:find '^mlterm' or program == 'WezTerm' or program == 'iTerm.app' then
    return 'sixel'
  end
end

Figure.__draws = true -- its text contains escape sequences

function Figure:__tostring()
  local columns = torch._C.terminal(1)
  local kind = drawn_by[self.kind]
  local way = columns and graphics()
  if way then
    local picture = require('torch.utils.plot.picture')[way](require('torch.utils.plot.raster')[kind](self))
    local above = kind == 'pixels' and self.title
    return above and above .. '\n' .. picture or picture
  end
  return require('torch.utils.plot.terminal')[kind](self, math.min(columns or 80, 80) - 1, has_colour(columns))
end

-- size: the length of the sides of a picture's pixels; nil: small pictures are enlarged.
local function svg_of(figure, size) return require('torch.utils.plot.svg')[drawn_by[figure.kind]](figure, size) end

-- The figure as a picture {width, height, data} of raster.lua.
function Figure:_picture(size)
  local raster, kind = require 'torch.utils.plot.raster', drawn_by[self.kind]
  local picture = raster[kind](self, size)
  return kind == 'pixels' and self.title and raster.titled(picture, self.title) or picture
end

local function png_of(figure, size) return require('torch.utils.plot.picture').png(figure:_picture(size)) end

--- Redraws figures in place; see lib/utils/plot/live.lua.
function plot.live(file, pause) return require 'torch.utils.plot.live' { file = file, pause = pause } end

--- The representation of the figure in notebooks: torch.utils.display.
function Figure:mime_bundle() return { ['image/svg+xml'] = svg_of(self), ['image/png'] = png_of(self) } end

--- Writes the figure into an SVG or PNG file. A picture of plot.image keeps its size; a title is
--- added above it.
function Figure:save(path)
  local suffix = path:match '%.(%a+)$'
  if suffix ~= 'svg' and suffix ~= 'png' then fail(("save(): '%s' does not end in .svg or .png"):format(path)) end
  outside.write_file(path, (suffix == 'svg' and svg_of or png_of)(self, self.kind == 'image' and 1 or nil))
end

declare.functions(plot, [[
  lines(any x, any? y, *, string? title, table labels={}, string? xlabel, string? ylabel, table? xlim, table? ylim)
  bars(any values, *, string? title, table labels={})
  heatmap(any matrix, *, string? title)
  image(any picture, *, string? title)
]], 'options')

declare.functions(plot, 'live(*, string? file, number pause=0.1)')

return plot
