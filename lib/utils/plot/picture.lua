-- picture.lua - pictures of raster.lua as PNG files and as the sequences of terminals that show
-- pictures: kitty's protocol (sw.kovidgoyal.net/kitty/graphics-protocol) and sixel (DEC STD 070).

local torch = require 'torch'
local base64 = require 'torch.support.base64'

local picture = {}

-- ---- PNG ----

local function chunk(kind, data)
  return string.pack('>I4', #data) .. kind .. data .. string.pack('>I4', torch._C.crc32(kind .. data))
end

--- The bytes of a PNG file: 8 bits of red, green and blue.
function picture.png(image)
  local rows, stride = {}, image.width * 3
  for y = 1, image.height do rows[y] = '\0' .. image.data:sub((y - 1) * stride + 1, y * stride) end
  return '\x89PNG\r\n\x1a\n'
    .. chunk('IHDR', string.pack('>I4I4BBBBB', image.width, image.height, 8, 2, 0, 0, 0))
    .. chunk('IDAT', torch._C.deflate(table.concat(rows), true))
    .. chunk('IEND', '')
end

-- ---- kitty ----

--- For kitty: the PNG file in chunks of base64.
function picture.kitty(image)
  local text, parts = base64(picture.png(image)), {}
  for i = 1, #text, 4096 do
    local more = i + 4096 <= #text and 1 or 0
    parts[#parts + 1] = ('\27_G%sm=%d;%s\27\\'):format(i == 1 and 'f=100,a=T,' or '', more, text:sub(i, i + 4095))
  end
  return table.concat(parts)
end

-- ---- sixel ----

local LEVELS = 6 -- of each colour

local function run(char, count)
  return count > 3 and ('!%d%s'):format(count, char) or char:rep(count)
end

-- A sixel band of six rows: for each colour, the mask of its pixels per column.
local function band(image, first, palette)
  local width, stride = image.width, image.width * 3
  local masks = {}
  for row = 0, math.min(6, image.height - first) - 1 do
    local at = (first + row) * stride
    for x = 0, width - 1 do
      local r, g, b = image.data:byte(at + x * 3 + 1, at + x * 3 + 3)
      local colour = (r * (LEVELS - 1) + 127) // 255 * 36 + (g * (LEVELS - 1) + 127) // 255 * 6 + (b * (LEVELS - 1) + 127) // 255
      local columns = masks[colour]
      if not columns then
        columns = {}
        masks[colour] = columns
        palette[colour] = true
      end
      columns[x] = (columns[x] or 0) | 1 << row
    end
  end
  local parts = {}
  for colour, columns in pairs(masks) do
    local line, last, count = { '#' .. colour }, nil, 0
    for x = 0, width - 1 do
      local char = string.char(63 + (columns[x] or 0))
      if char == last then
        count = count + 1
      else
        if last then line[#line + 1] = run(last, count) end
        last, count = char, 1
      end
    end
    if last ~= '?' then line[#line + 1] = run(last, count) end
    parts[#parts + 1] = table.concat(line)
  end
  table.sort(parts)
  return table.concat(parts, '$')
end

function picture.sixel(image)
  local bands, palette, colours = {}, {}, {}
  for first = 0, image.height - 1, 6 do bands[#bands + 1] = band(image, first, palette) end
  for colour = 0, LEVELS ^ 3 - 1 do
    if palette[colour] then
      colours[#colours + 1] = ('#%d;2;%d;%d;%d'):format(colour, colour // 36 * 20, colour // 6 % 6 * 20, colour % 6 * 20)
    end
  end
  return ('\27Pq"1;1;%d;%d%s%s\27\\'):format(image.width, image.height, table.concat(colours), table.concat(bands, '-'))
end

return picture
