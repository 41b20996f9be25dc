-- axis.lua - the scale of an axis: round numbers to label it with, and their texts.

local axis = {}

-- A step of 1, 2 or 5 times a power of ten that divides `span` into at most `most` parts.
local function step_for(span, most)
  local power = 10 ^ math.floor(math.log(span / most, 10))
  for _, factor in ipairs { 1, 2, 5, 10 } do
    if span / (factor * power) <= most then return factor * power end
  end
  return 10 * power
end

-- The finite range of lists of numbers; an empty one is widened.
function axis.range(lists)
  local low, high = math.huge, -math.huge
  for _, list in ipairs(lists) do
    for _, value in ipairs(list) do
      if value == value and math.abs(value) < math.huge then low, high = math.min(low, value), math.max(high, value) end
    end
  end
  if low > high then return 0, 1 end
  if low == high then
    local margin = low == 0 and 1 or math.abs(low) / 2
    return low - margin, high + margin
  end
  return low, high
end

-- Round numbers from low to high, at most `most` + 1.
function axis.ticks(low, high, most)
  local step = step_for(high - low, math.max(most, 1))
  local ticks, first = {}, math.ceil(low / step - 1e-9)
  for i = first, math.floor(high / step + 1e-9) do ticks[#ticks + 1] = i * step end
  return ticks
end

-- A number with up to four digits, for labels.
function axis.text(value)
  if value == 0 then return '0' end
  local text = ('%.4g'):format(value)
  return (text:gsub('e([+-])0+(%d)', 'e%1%2'):gsub('e%+', 'e'))
end

return axis
