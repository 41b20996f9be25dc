-- raster.lua - figures as pixels, with the scales of the SVG files: for PNG files and for terminals
-- that show pictures.
--
-- A picture is {width, height, data}, data three bytes a pixel, row by row. lines, bars and pixels
-- draw a figure of their kind; titled puts the title of pixels above them.

local axis = require 'torch.utils.plot.axis'
local legend_corner = require 'torch.utils.plot.legend'
local font = require 'torch.utils.plot.font'

local raster = {}

local WIDTH, HEIGHT = 640, 400
local LEFT, RIGHT, TOP, BOTTOM = 64, 16, 36, 36 -- margins
local PEN = 2 -- width of a line
local LETTER, LETTER_HEIGHT = 6, 7
local TITLE_HEIGHT = 24 -- above a picture
local SMALL = 256 -- pixels; smaller matrices and pictures are enlarged to this size
local WHITE, GREY, DARK, BLACK = 0xFFFFFF, 0xDDDDDD, 0x444444, 0x000000
local colours = { 0x1F5FBF, 0xC2401F, 0x2A8A3E, 0x8A3FB5, 0x14828C, 0xA3720A }

-- ---- drawing ----

local Canvas = {}
Canvas.__index = Canvas

local function canvas_new(width, height)
  local canvas = setmetatable({ width = width, height = height }, Canvas)
  for y = 0, height - 1 do
    local row = {}
    for x = 1, width do row[x] = WHITE end
    canvas[y] = row
  end
  return canvas
end

-- Fills the pixels from (x1, y1) to just before (x2, y2), counted from 0.
function Canvas:fill(x1, y1, x2, y2, colour)
  x1, x2 = math.max(x1, 0), math.min(x2, self.width)
  for y = math.max(y1, 0), math.min(y2, self.height) - 1 do
    local row = self[y]
    for x = x1 + 1, x2 do row[x] = colour end
  end
end

function Canvas:line(x1, y1, x2, y2, colour)
  local steps = math.max(math.abs(x2 - x1), math.abs(y2 - y1), 1)
  for i = 0, steps do
    local x = math.floor(x1 + (x2 - x1) * i / steps + 0.5)
    local y = math.floor(y1 + (y2 - y1) * i / steps + 0.5)
    self:fill(x, y, x + PEN, y + PEN, colour)
  end
end

local function code_points(text)
  local codes = {}
  if utf8.len(text) then
    for _, code in utf8.codes(text) do codes[#codes + 1] = code end
  else
    codes = { text:byte(1, -1) }
  end
  return codes
end

-- Writes text around (x, y), which is its left, middle or right end at half its height.
function Canvas:text(x, y, anchor, text, colour)
  local codes = code_points(tostring(text))
  local width = #codes * LETTER
  if anchor == 'middle' then x = x - width // 2 elseif anchor == 'end' then x = x - width end
  y = y - LETTER_HEIGHT // 2
  for i, code in ipairs(codes) do
    for column, bits in ipairs { font.of(code):byte(1, -1) } do
      for row = 0, LETTER_HEIGHT - 1 do
        if bits >> row & 1 == 1 then
          local at = x + (i - 1) * LETTER + column - 1
          self:fill(at, y + row, at + 1, y + row + 1, colour)
        end
      end
    end
  end
end

function Canvas:picture()
  local rows, known = {}, {}
  for y = 0, self.height - 1 do
    local row, parts = self[y], {}
    for x = 1, self.width do
      local colour = row[x]
      local bytes = known[colour]
      if not bytes then
        bytes = string.char(colour >> 16 & 255, colour >> 8 & 255, colour & 255)
        known[colour] = bytes
      end
      parts[x] = bytes
    end
    rows[y + 1] = table.concat(parts)
  end
  return { width = self.width, height = self.height, data = table.concat(rows) }
end

-- ---- figures ----

local function is_finite(value) return value == value and math.abs(value) < math.huge end

local function scale(low, high, from, to)
  return function(value) return math.floor(from + (value - low) / (high - low) * (to - from) + 0.5) end
end

local function chart(figure, box, y_of, x_of)
  local canvas = canvas_new(WIDTH, HEIGHT)
  for _, tick in ipairs(axis.ticks(box.y_low, box.y_high, 6)) do
    canvas:fill(LEFT, y_of(tick), WIDTH - RIGHT, y_of(tick) + 1, GREY)
    canvas:text(LEFT - 6, y_of(tick), 'end', axis.text(tick), BLACK)
  end
  if x_of then
    for _, tick in ipairs(axis.ticks(box.x_low, box.x_high, 8)) do
      canvas:text(x_of(tick), HEIGHT - BOTTOM + 14, 'middle', axis.text(tick), BLACK)
    end
  end
  canvas:fill(LEFT, TOP, LEFT + 1, HEIGHT - BOTTOM, DARK)
  canvas:fill(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM + 1, DARK)
  if figure.title then canvas:text(WIDTH // 2, 18, 'middle', figure.title, BLACK) end
  return canvas
end

function raster.lines(figure)
  local box = figure.box
  local x_of = scale(box.x_low, box.x_high, LEFT, WIDTH - RIGHT)
  local y_of = scale(box.y_low, box.y_high, HEIGHT - BOTTOM, TOP)
  local canvas = chart(figure, box, y_of, x_of)
  local is_left, is_bottom = legend_corner(figure, 7 / (WIDTH - RIGHT - LEFT), 14 / (HEIGHT - BOTTOM - TOP))
  local legend_x, legend_y = is_left and LEFT + 8 or WIDTH - RIGHT - 8, is_bottom and HEIGHT - BOTTOM - 8 - 14 * #figure.series or TOP
  for i, series in ipairs(figure.series) do
    local colour = colours[(i - 1) % #colours + 1]
    local last_x, last_y
    for k, y in ipairs(series.y) do
      if is_finite(y) and is_finite(series.x[k]) then
        local px, py = x_of(series.x[k]), y_of(y)
        canvas:line(last_x or px, last_y or py, px, py, colour)
        last_x, last_y = px, py
      else
        last_x, last_y = nil, nil
      end
    end
    if series.label then canvas:text(legend_x, legend_y + 14 * i, is_left and 'start' or 'end', series.label, colour) end
  end
  if figure.xlabel then canvas:text(WIDTH - RIGHT, HEIGHT - 7, 'end', figure.xlabel, BLACK) end
  if figure.ylabel then canvas:text(8, TOP - 12, 'start', figure.ylabel, BLACK) end
  return canvas:picture()
end

function raster.bars(figure)
  local low, high = axis.range { figure.values, { 0 } }
  local y_of = scale(low, high, HEIGHT - BOTTOM, TOP)
  local x_of = scale(0, math.max(#figure.values, 1), LEFT, WIDTH - RIGHT)
  local canvas = chart(figure, { y_low = low, y_high = high }, y_of)
  for i, value in ipairs(figure.values) do
    local x1, x2 = x_of(i - 0.9), math.max(x_of(i - 0.1), x_of(i - 0.9) + 1)
    if is_finite(value) then
      local y1, y2 = math.min(y_of(value), y_of(0)), math.max(y_of(value), y_of(0))
      canvas:fill(x1, y1, x2, y2, colours[value < 0 and 2 or 1])
    end
    canvas:text((x1 + x2) // 2, HEIGHT - BOTTOM + 14, 'middle', figure.labels[i], BLACK)
  end
  return canvas:picture()
end

local function byte(part) return math.floor(math.max(0, math.min(part, 1)) * 255 + 0.5) end

-- Draws the pixels of an image, enlarged to squares of `size` pixels; by default to the size of a
-- figure if there are few.
function raster.pixels(figure, size)
  size = size or math.max(1, SMALL // math.max(figure.width, figure.height))
  local rows = {}
  for y = 1, figure.height do
    local parts = {}
    for x = 1, figure.width do
      local r, g, b = figure.pixel(y, x)
      parts[x] = string.char(byte(r), byte(g), byte(b)):rep(size)
    end
    rows[y] = table.concat(parts):rep(size)
  end
  return { width = figure.width * size, height = figure.height * size, data = table.concat(rows) }
end

-- Combines a picture with its title above, centred, in the width that both need.
function raster.titled(picture, title)
  local width = math.max(picture.width, #code_points(title) * LETTER + 2 * LETTER)
  local head = canvas_new(width, TITLE_HEIGHT)
  head:text(width // 2, TITLE_HEIGHT // 2, 'middle', title, BLACK)
  local left = (width - picture.width) // 2
  local before, after = ('\255'):rep(3 * left), ('\255'):rep(3 * (width - picture.width - left))
  local rows = { head:picture().data }
  for y = 1, picture.height do
    rows[y + 1] = before .. picture.data:sub((y - 1) * picture.width * 3 + 1, y * picture.width * 3) .. after
  end
  return { width = width, height = TITLE_HEIGHT + picture.height, data = table.concat(rows) }
end

return raster
