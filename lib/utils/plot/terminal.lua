-- terminal.lua - draws figures with Unicode: Braille dots for lines, blocks for bars, shades or
-- colours for matrices and images. picture.lua serves terminals that show images.
--
-- A figure comes from lib/utils/plot.lua. Colours are used only if `colour` is true; each function
-- returns text without a line end.

local axis = require 'torch.utils.plot.axis'
local text_columns = require('torch.utils.width').of

local terminal = {}

local HEIGHT = 15 -- rows of a line plot
local SMALL = 24 -- pixels; smaller matrices and pictures are enlarged up to this size
local series_colours = { 34, 31, 32, 35, 36, 33 }

local function paint(code, text, colour) return colour and ('\27[%sm%s\27[0m'):format(code, text) or text end

local function pad_left(text, columns) return (' '):rep(columns - text_columns(text)) .. text end

local function centred(text, columns) return (' '):rep((columns - text_columns(text)) // 2) .. text end

-- ---- lines ----

-- Dots: a grid of 2 by 4 dots per character, and the series that drew last in each character.
local dot_bits = { { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 } }

local function canvas_new(columns, rows)
  local canvas = { columns = columns, rows = rows, bits = {}, owner = {} }
  for row = 1, rows do canvas.bits[row], canvas.owner[row] = {}, {} end
  return canvas
end

local function set_dot(canvas, x, y, owner) -- from 0
  local column, row = x // 2 + 1, y // 4 + 1
  if column < 1 or column > canvas.columns or row < 1 or row > canvas.rows then return end
  canvas.bits[row][column] = (canvas.bits[row][column] or 0) | dot_bits[x % 2 + 1][y % 4 + 1]
  canvas.owner[row][column] = owner
end

local function draw_segment(canvas, x1, y1, x2, y2, owner)
  local steps = math.max(math.abs(x2 - x1), math.abs(y2 - y1), 1)
  for i = 0, steps do
    set_dot(canvas, math.floor(x1 + (x2 - x1) * i / steps + 0.5), math.floor(y1 + (y2 - y1) * i / steps + 0.5), owner)
  end
end

local function is_finite(value) return value == value and math.abs(value) < math.huge end

local function draw_series(canvas, series, owner, box)
  local last_x, last_y
  for i, y in ipairs(series.y) do
    local x = series.x[i]
    if is_finite(x) and is_finite(y) then
      local px = math.floor((x - box.x_low) / (box.x_high - box.x_low) * (canvas.columns * 2 - 1) + 0.5)
      local py = math.floor((box.y_high - y) / (box.y_high - box.y_low) * (canvas.rows * 4 - 1) + 0.5)
      draw_segment(canvas, last_x or px, last_y or py, px, py, owner)
      last_x, last_y = px, py
    else
      last_x, last_y = nil, nil
    end
  end
end

-- Labels of the rows nearest to round numbers.
local function row_labels(low, high, rows)
  local labels, widest = {}, 0
  for _, tick in ipairs(axis.ticks(low, high, 5)) do
    local row = math.floor((high - tick) / (high - low) * (rows - 1) + 0.5) + 1
    labels[row] = axis.text(tick)
    widest = math.max(widest, #labels[row])
  end
  return labels, widest
end

local function x_axis(low, high, columns)
  local line, next_free = '', 0
  for _, tick in ipairs(axis.ticks(low, high, math.max(columns // 12, 1))) do
    local text = axis.text(tick)
    local at = math.floor((tick - low) / (high - low) * (columns - 1) + 0.5) - #text // 2
    at = math.max(0, math.min(at, columns - #text))
    if at >= next_free then
      line = line .. (' '):rep(at - #line) .. text
      next_free = at + #text + 1
    end
  end
  return line
end

local function legend(figure, colour)
  local names = {}
  for i, series in ipairs(figure.series) do
    if series.label then
      names[#names + 1] = paint(series_colours[(i - 1) % #series_colours + 1], '━━', colour) .. ' ' .. series.label
    end
  end
  return #names > 0 and table.concat(names, '   ') or nil
end

function terminal.lines(figure, columns, colour)
  local box, lines = figure.box, {}
  local labels, widest = row_labels(box.y_low, box.y_high, HEIGHT)
  local canvas = canvas_new(math.max(columns - widest - 2, 10), HEIGHT)
  for i, series in ipairs(figure.series) do draw_series(canvas, series, i, box) end
  if figure.title then lines[1] = centred(figure.title, columns) end
  if figure.ylabel then lines[#lines + 1] = figure.ylabel end
  for row = 1, HEIGHT do
    local parts = { pad_left(labels[row] or '', widest), labels[row] and ' ┤' or ' │' }
    for column = 1, canvas.columns do
      local bits, owner = canvas.bits[row][column], canvas.owner[row][column]
      parts[#parts + 1] = bits and paint(series_colours[(owner - 1) % #series_colours + 1], utf8.char(0x2800 + bits), colour) or ' '
    end
    lines[#lines + 1] = table.concat(parts):gsub(' +$', '')
  end
  lines[#lines + 1] = (' '):rep(widest + 1) .. '└' .. ('─'):rep(canvas.columns)
  lines[#lines + 1] = (' '):rep(widest + 2) .. x_axis(box.x_low, box.x_high, canvas.columns)
  if figure.xlabel then lines[#lines + 1] = (' '):rep(widest + 2) .. centred(figure.xlabel, canvas.columns) end
  lines[#lines + 1] = legend(figure, colour)
  return table.concat(lines, '\n')
end

-- ---- bars ----

local eighths = { [0] = '', '▏', '▎', '▍', '▌', '▋', '▊', '▉' }

function terminal.bars(figure, columns, colour)
  local widest, widest_value, most = 0, 0, 0
  for i, value in ipairs(figure.values) do
    widest = math.max(widest, text_columns(figure.labels[i]))
    widest_value = math.max(widest_value, #axis.text(value))
    if is_finite(value) then most = math.max(most, math.abs(value)) end
  end
  local room = math.max(columns - widest - widest_value - 3, 4)
  local lines = { figure.title and centred(figure.title, columns) }
  for i, value in ipairs(figure.values) do
    local length = is_finite(value) and most > 0 and math.floor(math.abs(value) / most * room * 8 + 0.5) or 0
    local bar = ('█'):rep(length // 8) .. eighths[length % 8]
    lines[#lines + 1] = ('%s ▕%s %s'):format(pad_left(figure.labels[i], widest),
      bar ~= '' and paint(value < 0 and 31 or 34, bar, colour) or '', axis.text(value))
  end
  return table.concat(lines, '\n')
end

-- ---- matrices and pictures ----

local shades = { ' ', '░', '▒', '▓', '█' }

-- Shrinks an image to `height` by `width`, by the means of the pixels.
local function shrink(figure, height, width)
  local small = {}
  for i = 1, height do
    local top, bottom = (i - 1) * figure.height // height + 1, math.max(i * figure.height // height, (i - 1) * figure.height // height + 1)
    small[i] = {}
    for j = 1, width do
      local left, right = (j - 1) * figure.width // width + 1, math.max(j * figure.width // width, (j - 1) * figure.width // width + 1)
      local r, g, b, grey, n = 0, 0, 0, 0, 0
      for y = top, bottom do
        for x = left, right do
          local pr, pg, pb, pgrey = figure.pixel(y, x)
          r, g, b, grey, n = r + pr, g + pg, b + pb, grey + pgrey, n + 1
        end
      end
      small[i][j] = { r / n, g / n, b / n, grey / n }
    end
  end
  return small
end

local function byte(part) return math.floor(math.max(0, math.min(part, 1)) * 255 + 0.5) end

local function rgb(pixel) return ('%d;%d;%d'):format(byte(pixel[1]), byte(pixel[2]), byte(pixel[3])) end

-- Draws two pixels per character, one above the other.
local function half_blocks(small)
  local lines = {}
  for i = 1, #small, 2 do
    local parts, upper, lower = {}, small[i], small[i + 1]
    for j = 1, #upper do
      parts[j] = ('\27[38;2;%s%sm▀'):format(rgb(upper[j]), lower and ';48;2;' .. rgb(lower[j]) or '')
    end
    lines[#lines + 1] = table.concat(parts) .. '\27[0m'
  end
  return lines
end

-- A shade, two columns wide, for each pixel.
local function shaded(small)
  local lines = {}
  for i, row in ipairs(small) do
    local parts = {}
    for j, pixel in ipairs(row) do
      parts[j] = shades[math.min(math.floor(math.max(pixel[4], 0) * #shades) + 1, #shades)]:rep(2)
    end
    lines[i] = table.concat(parts)
  end
  return lines
end

function terminal.pixels(figure, columns, colour)
  local lines = { figure.title and centred(figure.title, math.min(columns, figure.width * 2)) }
  -- A character is about twice as high as wide: a pixel takes one column and half a row, or two
  -- columns and a row.
  local most = colour and columns or columns // 2
  local enlarged = math.max(1, math.min(SMALL // figure.width, SMALL // figure.height))
  local width = math.min(figure.width * enlarged, most)
  local height = math.max(math.floor(figure.height * width / figure.width + 0.5), 1)
  local drawn = (colour and half_blocks or shaded)(shrink(figure, height, width))
  table.move(drawn, 1, #drawn, #lines + 1, lines)
  if figure.kind == 'heatmap' then
    lines[#lines + 1] = ('%s to %s'):format(axis.text(figure.low), axis.text(figure.high))
  end
  return table.concat(lines, '\n')
end

return terminal
