-- board.lua - d2l: plots: the board on which a training draws its curves, and plots of lines,
-- images and matrices of weights.
--
-- A board draws through torch.utils.plot.live: it updates one output of a notebook, the same lines
-- of a terminal, or a file. The other functions return a figure, which a cell shows as its value
-- and print() draws.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local tools = require 'torch.d2l.tools'

local plot = torch.utils.plot

local M = {}

-- Converts a number or a tensor on any device. The copy is explicit, so the ledger does not count
-- it as a hidden one.
local function number(value) return torch.is_tensor(value) and value:detach():cpu():item() or value end

local function logarithms(values)
  local list = {}
  for i, value in ipairs(torch.is_tensor(values) and values:tolist() or values) do list[i] = value > 0 and math.log(value, 10) or 0 / 0 end
  return list
end

local function scaled(values, scale) return scale == 'log' and logarithms(values) or values end

local function named(label, scale) return scale == 'log' and ('log10 %s'):format(label or '') or label end

-- ---- incremental line plots ---------------------------------------------------------------------

local read_board = declare.reader [[
  d2l.ProgressBoard(string? xlabel, string? ylabel, table? xlim, table? ylim, string xscale='linear',
    string yscale='linear', boolean display=true, string? file)]]

--- ProgressBoard {xlabel =, ylabel =, xlim = {low, high}, ylim =, xscale = 'linear' | 'log', yscale
--- =, display = true, file = 'loss.svg'}: a line plot that grows point by point. figure() returns
--- the current figure; display = false does not draw it.
M.ProgressBoard = tools.HyperParameters:extend 'ProgressBoard'

function M.ProgressBoard:init(...)
  tools.keep(self, read_board(...))
  self._lines, self._order = {}, {}
  self._live = plot.live { file = self.file }
end

local function line_of(self, label)
  if not self._lines[label] then
    self._lines[label] = { x = {}, y = {}, waiting = {} }
    self._order[#self._order + 1] = label
  end
  return self._lines[label]
end

-- The mean of pending values, read from the device with one copy.
local function settle(line)
  local waiting, n = line.waiting, #line.waiting
  if n == 0 then return end
  local sum_x, sum_y, tensors = 0, 0, {}
  for _, point in ipairs(waiting) do
    sum_x = sum_x + number(point[1])
    if torch.is_tensor(point[2]) then tensors[#tensors + 1] = point[2] else sum_y = sum_y + point[2] end
  end
  if #tensors > 0 then sum_y = sum_y + number(torch.stack(tensors):sum()) end
  line.x[#line.x + 1], line.y[#line.y + 1], line.waiting = sum_x / n, sum_y / n, {}
end

--- Adds the point (x, y) to the line `label`: numbers, or tensors of one element on any device.
--- Every every_n points are averaged to one; until then tensors stay on their device, to avoid
--- synchronizing with a GPU.
function M.ProgressBoard:draw(x, y, label, every_n)
  local line = line_of(self, label)
  if torch.is_tensor(y) then y = y:detach():reshape({}) end
  line.waiting[#line.waiting + 1] = { x, y }
  if #line.waiting < (every_n or 1) then return end
  settle(line)
  if self.display and self._live:is_seen() and self._live:is_due() then self._live:show(self:figure()) end
end

--- The points of a line so far: two lists, x and y.
function M.ProgressBoard:points(label)
  local line = self._lines[label]
  if not line then fail("the board has no line '%s', only: %s", tostring(label), table.concat(self._order, ', ')) end
  return line.x, line.y
end

--- The current figure.
function M.ProgressBoard:figure()
  local xs, ys = {}, {}
  for i, label in ipairs(self._order) do
    xs[i], ys[i] = scaled(self._lines[label].x, self.xscale), scaled(self._lines[label].y, self.yscale)
  end
  if #xs == 0 then xs, ys = { {} }, { {} } end
  return plot.lines(xs, ys, { labels = self._order, xlabel = named(self.xlabel, self.xscale) or false,
    ylabel = named(self.ylabel, self.yscale) or false, xlim = self.xlim, ylim = self.ylim })
end

--- Draws all points, including the last ones that are fewer than every_n, and keeps the figure.
function M.ProgressBoard:finish()
  for _, label in ipairs(self._order) do settle(self._lines[label]) end
  if self.display and self._live:is_seen() and #self._order > 0 then self._live:show(self:figure()) end
  self._live:finish()
end

--- Writes the picture into an SVG or PNG file.
function M.ProgressBoard:save(path) self:figure():save(path) end

function M.ProgressBoard:mime_bundle() return self:figure():mime_bundle() end

M.ProgressBoard.__draws = true
function M.ProgressBoard:__tostring() return tostring(self:figure()) end

local read_animator = declare.reader [[
  d2l.Animator(string? xlabel, string? ylabel, table legend={}, table? xlim, table? ylim,
    string xscale='linear', string yscale='linear')]]

--- Animator {xlabel =, ylabel =, legend = {'train loss', …}, xlim =, ylim =}: a board with lines
-- that receive their points together.
M.Animator = M.ProgressBoard:extend 'Animator'

function M.Animator:init(...)
  local values = read_animator(...)
  local legend = values.legend
  values.legend = nil
  M.ProgressBoard.init(self, values)
  self.legend = legend
end

--- Adds a point to every line: y is a number or a list of them, nil (or false in a list) for a line
--- without one.
function M.Animator:add(x, y)
  if type(y) ~= 'table' then y = { y } end
  for i, value in ipairs(y) do
    if value then self:draw(x, value, self.legend[i] or tostring(i)) end
  end
end

-- ---- static figures -----------------------------------------------------------------------------

local read_plot = declare.reader [[
  d2l.plot(any X, any? Y, string? xlabel, string? ylabel, table legend={}, table? xlim, table? ylim,
    string xscale='linear', string yscale='linear')]]

local function is_list_of_lines(values)
  return torch.is_tensor(values) and values:dim() == 2 or type(values) == 'table' and (torch.is_tensor(values[1]) or type(values[1]) == 'table')
end

local function each(values, scale)
  if scale ~= 'log' then return values end
  if not is_list_of_lines(values) then return logarithms(values) end
  local list = {}
  for i = 1, #values do list[i] = logarithms(values[i]) end
  return list
end

--- plot(X, Y, xlabel, ylabel, legend, xlim, ylim, xscale, yscale), all but X also by name: the
--- lines Y (one or a list) over X (one for all, or one each); without Y the lines X over their
--- positions. Returns a figure.
function M.plot(...)
  local given = read_plot(...)
  local options = { xlabel = named(given.xlabel, given.xscale) or false, ylabel = named(given.ylabel, given.yscale) or false,
    labels = given.legend, xlim = given.xlim, ylim = given.ylim }
  if given.Y == nil then return plot.lines(each(given.X, given.yscale), options) end
  local X, Y = given.X, given.Y
  if is_list_of_lines(X) and #X == 1 then X = X[1] end
  return plot.lines(each(X, given.xscale), each(Y, given.yscale), options)
end

-- An image as (3, H, W) with values from 0 to 1: from (H, W), (1, H, W), (3, H, W) or (H, W, 3).
local function with_colours(image)
  image = image:detach():cpu()
  if image:dim() == 2 then image = image:unsqueeze(1) end
  if image:dim() ~= 3 then fail('show_images(): an image has two or three dimensions, not %d', image:dim()) end
  if image:size(1) ~= 1 and image:size(1) ~= 3 and image:size(3) == 3 then image = image:permute(3, 1, 2) end
  image = image:is_floating_point() and image:float() or image:float() / 255
  return image:expand(3, image:size(2), image:size(3))
end

--- Images in rows and columns as one figure: (n, H, W), (n, C, H, W), or a list of images of equal
--- size. Floats are shades from 0 to 1, bytes from 0 to 255. titles: a list, printed above the
--- figure row by row.
function M.show_images(imgs, num_rows, num_cols, titles, options)
  options = options or type(titles) == 'table' and titles.titles and titles or {}
  titles = titles ~= options and titles or options.titles
  local gap, rows = 2, {}
  for i = 1, num_rows do
    local row = {}
    for j = 1, num_cols do
      local image = imgs[(i - 1) * num_cols + j]
      local ok = torch.is_tensor(image)
      if not ok then fail('show_images(): expected %d images, but got %d', num_rows * num_cols, #imgs) end
      row[j] = torch.nn.functional.pad(with_colours(image), { 0, gap, 0, gap }, { value = 1 })
    end
    rows[i] = torch.cat(row, 3)
  end
  local picture = torch.cat(rows, 2)
  local title
  if titles then
    local lines = {}
    for i = 1, num_rows do lines[i] = table.concat(titles, ', ', (i - 1) * num_cols + 1, math.min(i * num_cols, #titles)) end
    title = table.concat(lines, ' | ')
  end
  return plot.image(picture:narrow(2, 1, picture:size(2) - gap):narrow(3, 1, picture:size(3) - gap):clamp(0, 1), { title = title or false })
end

--- Matrices in rows and columns, (rows, columns, queries, keys), as one figure, with an empty
-- column between matrices.
function M.show_heatmaps(matrices, xlabel, ylabel, titles)
  local num_rows, num_cols = matrices:size(1), matrices:size(2)
  local gap = num_rows * num_cols > 1 and 1 or 0
  local values = matrices:detach():cpu():float()
  local padded = torch.nn.functional.pad(values, { 0, gap, 0, gap }, { value = 0 })
  local height, width = padded:size(3), padded:size(4)
  local joined = padded:permute(1, 3, 2, 4):reshape(num_rows * height, num_cols * width)
  joined = joined:narrow(1, 1, num_rows * height - gap):narrow(2, 1, num_cols * width - gap)
  local title = titles and table.concat(titles, ', ') or xlabel and ('%s (down) by %s'):format(ylabel or '', xlabel) or false
  return plot.heatmap(joined, { title = title })
end

return M
