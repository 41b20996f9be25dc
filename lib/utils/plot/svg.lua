-- svg.lua - figures as SVG files, with the same scales as in the terminal.

local axis = require 'torch.utils.plot.axis'
local legend_corner = require 'torch.utils.plot.legend'

local svg = {}

local WIDTH, HEIGHT = 640, 400
local LEFT, RIGHT, TOP, BOTTOM = 64, 16, 36, 36 -- margins
local colours = { '#1f5fbf', '#c2401f', '#2a8a3e', '#8a3fb5', '#14828c', '#a3720a' }

local function escape(text)
  return (tostring(text):gsub('[&<>"]', { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }))
end

local function label(x, y, anchor, text, more)
  return ('<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>'):format(x, y, anchor, more or '', escape(text))
end

local function document(width, height, title, parts)
  local head = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
    .. 'font-family="sans-serif" font-size="12">'):format(width, height, width, height)
  local title_text = title and label(width / 2, 22, 'middle', title, ' font-size="15"') or ''
  return table.concat({ head, '<rect width="100%" height="100%" fill="white"/>', title_text,
    table.concat(parts, '\n'), '</svg>' }, '\n') .. '\n'
end

local function scale(low, high, from, to)
  return function(value) return from + (value - low) / (high - low) * (to - from) end
end

local function grid(parts, box, x_of, y_of)
  for _, tick in ipairs(axis.ticks(box.y_low, box.y_high, 6)) do
    parts[#parts + 1] = ('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>'):format(
      LEFT, WIDTH - RIGHT, y_of(tick), y_of(tick))
    parts[#parts + 1] = label(LEFT - 6, y_of(tick) + 4, 'end', axis.text(tick))
  end
  for _, tick in ipairs(axis.ticks(box.x_low, box.x_high, 8)) do
    parts[#parts + 1] = label(x_of(tick), HEIGHT - BOTTOM + 18, 'middle', axis.text(tick))
  end
  parts[#parts + 1] = ('<path d="M%d %dV%dH%d" fill="none" stroke="#444"/>'):format(LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT)
end

local function is_finite(value) return value == value and math.abs(value) < math.huge end

function svg.lines(figure)
  local box, parts = figure.box, {}
  local x_of = scale(box.x_low, box.x_high, LEFT, WIDTH - RIGHT)
  local y_of = scale(box.y_low, box.y_high, HEIGHT - BOTTOM, TOP)
  grid(parts, box, x_of, y_of)
  local is_left, is_bottom = legend_corner(figure, 7 / (WIDTH - RIGHT - LEFT), 16 / (HEIGHT - BOTTOM - TOP))
  local legend_x, legend_y = is_left and LEFT + 8 or WIDTH - RIGHT - 8, is_bottom and HEIGHT - BOTTOM - 8 - 16 * #figure.series or TOP + 4
  for i, series in ipairs(figure.series) do
    local path, pen = {}, 'M'
    for k, y in ipairs(series.y) do
      if is_finite(y) and is_finite(series.x[k]) then
        path[#path + 1] = ('%s%.2f %.2f'):format(pen, x_of(series.x[k]), y_of(y))
        pen = 'L'
      else
        pen = 'M'
      end
    end
    local colour = colours[(i - 1) % #colours + 1]
    parts[#parts + 1] = ('<path d="%s" fill="none" stroke="%s" stroke-width="1.8"/>'):format(table.concat(path), colour)
    if series.label then
      parts[#parts + 1] = label(legend_x, legend_y + 16 * i, is_left and 'start' or 'end', series.label, (' fill="%s"'):format(colour))
    end
  end
  if figure.xlabel then parts[#parts + 1] = label(WIDTH - RIGHT, HEIGHT - 4, 'end', figure.xlabel) end
  if figure.ylabel then parts[#parts + 1] = label(8, TOP - 8, 'start', figure.ylabel) end
  return document(WIDTH, HEIGHT, figure.title, parts)
end

function svg.bars(figure)
  local low, high = axis.range { figure.values, { 0 } }
  local box = { x_low = 0, x_high = #figure.values, y_low = low, y_high = high }
  local parts, y_of = {}, scale(low, high, HEIGHT - BOTTOM, TOP)
  local x_of = scale(0, math.max(#figure.values, 1), LEFT, WIDTH - RIGHT)
  grid(parts, { x_low = 0, x_high = -1, y_low = box.y_low, y_high = box.y_high }, x_of, y_of)
  for i, value in ipairs(figure.values) do
    local x1, x2 = x_of(i - 0.9), x_of(i - 0.1)
    if is_finite(value) then
      parts[#parts + 1] = ('<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"/>'):format(
        x1, math.min(y_of(value), y_of(0)), x2 - x1, math.abs(y_of(value) - y_of(0)), colours[value < 0 and 2 or 1])
    end
    parts[#parts + 1] = label((x1 + x2) / 2, HEIGHT - BOTTOM + 18, 'middle', figure.labels[i])
  end
  return document(WIDTH, HEIGHT, figure.title, parts)
end

local function byte(part) return math.floor(math.max(0, math.min(part, 1)) * 255 + 0.5) end

-- A rectangle for each run of equal pixels. size: the length of a pixel's sides.
function svg.pixels(figure, size)
  size = size or math.max(1, math.min(16, 512 // math.max(figure.width, figure.height)))
  local top, parts = figure.title and TOP or 0, {}
  for y = 1, figure.height do
    local start, last
    local function finish(x)
      if last then
        parts[#parts + 1] = ('<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>'):format(
          (start - 1) * size, top + (y - 1) * size, (x - start) * size, size, last)
      end
    end
    for x = 1, figure.width do
      local r, g, b = figure.pixel(y, x)
      local colour = ('#%02x%02x%02x'):format(byte(r), byte(g), byte(b))
      if colour ~= last then
        finish(x)
        start, last = x, colour
      end
    end
    finish(figure.width + 1)
  end
  local pixels = ('<g shape-rendering="crispEdges">\n%s\n</g>'):format(table.concat(parts, '\n'))
  return document(figure.width * size, top + figure.height * size, figure.title, { pixels })
end

return svg
