-- legend.lua - the corner of a plot of lines that its legend covers least.

local INTERPOLATED = 2000 -- points of a line up to which the segments between them are examined
local STEPS = 32 -- points examined across the width or the height of the plot

local function is_finite(value) return value == value and math.abs(value) < math.huge end

-- Calls visit(x, y), from 0 to 1, for points of the line.
local function each_point(series, box, visit)
  local last_x, last_y
  for k, value in ipairs(series.y) do
    local x, y = (series.x[k] - box.x_low) / (box.x_high - box.x_low), (value - box.y_low) / (box.y_high - box.y_low)
    if is_finite(x) and is_finite(y) then
      local steps = 1
      if last_x and #series.y <= INTERPOLATED then
        steps = math.max(1, math.ceil(math.min(STEPS, STEPS * math.max(math.abs(x - last_x), math.abs(y - last_y)))))
      end
      for i = 1, steps do
        local part = i / steps
        visit(last_x and last_x + part * (x - last_x) or x, last_y and last_y + part * (y - last_y) or y)
      end
      last_x, last_y = x, y
    else
      last_x, last_y = nil, nil
    end
  end
end

-- The size of the legend of a figure in characters: the length of its longest label, and the
-- number of its lines.
local function size_of(figure)
  local longest = 0
  for _, series in ipairs(figure.series) do longest = math.max(longest, series.label and utf8.len(series.label) or 0) end
  return longest, #figure.series
end

--- Whether the legend belongs to the left and whether to the bottom of the figure. width, height:
--- the size of a character, as a fraction of the plot. Of equally free corners, the upper right one
--- comes first.
return function(figure, width, height)
  local columns, rows = size_of(figure)
  width, height = math.min(0.5, (columns + 2) * width), math.min(0.5, (rows + 0.5) * height)
  local counts = { 0, 0, 0, 0 } -- upper right, upper left, lower right, lower left
  for _, series in ipairs(figure.series) do
    each_point(series, figure.box, function(x, y)
      local side = x >= 1 - width and 1 or x <= width and 2
      if side and y >= 1 - height then counts[side] = counts[side] + 1 end
      if side and y <= height then counts[side + 2] = counts[side + 2] + 1 end
    end)
  end
  local best = 1
  for corner = 2, 4 do
    if counts[corner] < counts[best] then best = corner end
  end
  return best % 2 == 0, best > 2
end
